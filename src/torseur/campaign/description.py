"""A campaign: a study, what varies in it, what is measured, and what counts as failure. Frozen data.

>>> from torseur.describe import Mechanism
>>> from torseur.simulation.study.study import Study
>>> cart = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}
>>> study = Study(model=Mechanism(name="slide", bodies={"cart": cart}))
>>> campaign = Campaign(study=study, factors={"x": [0.0, 1.0]}, indicators={"end": {"final": "x"}})
>>> campaign.factors["x"].levels
array([0., 1.])
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.campaign.factors import KINDS as FACTORS
from torseur.campaign.factors import Factor
from torseur.campaign.measures import KINDS as MEASURES
from torseur.campaign.measures import Measurement
from torseur.describe.annotations import KindOf
from torseur.describe.fields import FrozenDict, Number, Record, Table
from torseur.simulation.study.study import Study, Value

__all__ = ["Between", "Campaign", "Correlation", "Done", "Goal", "Keep", "Limit", "Rows", "Sampling", "Search"]


def _lists(given: Any) -> Any:
    """A list of values is a factor."""
    if not isinstance(given, dict):
        return given
    return {n: {"list": {"values": x}} if isinstance(x, (list, tuple)) else x for n, x in given.items()}


def _formulas(given: Any) -> Any:
    """A text is a formula of indicators."""
    if not isinstance(given, dict):
        return given
    return {n: {"formula": {"value": x}} if isinstance(x, str) else x for n, x in given.items()}


class Correlation(Record):
    """Two factors that go together: the correlation of the normal variables behind them (a Gaussian copula)."""

    between: tuple[str, str] = Field(description="two factors with a distribution")
    value: Value = Field(gt=-1.0, lt=1.0, description="of the normal variables behind them, between -1 and 1")


class Sampling(Record):
    """How samples of distributions are drawn."""

    kind: Literal["random", "latin_hypercube", "sobol", "saltelli", "morris"] = Field(
        "random", description="saltelli and morris are the designs that Sobol's and Morris' sensitivities need"
    )
    count: int = Field(
        ge=1, le=10**12, description="number of samples; of saltelli the base count, of morris the trajectories"
    )
    seed: int = Field(0, ge=0, lt=2**63, description="the same seed gives the same samples")
    correlations: tuple[Correlation, ...] = Field((), description="of pairs of factors with a distribution")


class Rows(Record):
    """Sets of values of factors, one after the other."""

    file: str | None = Field(None, max_length=500, description="CSV file beside the campaign; its first line has names")
    columns: tuple[str, ...] = Field(min_length=1, description="factors, which are the names of columns")
    values: tuple[tuple[Number, ...], ...] = Field((), description="the rows themselves, where there is no file")


class Done(Record):
    """What a vehicle does: in files alone, where it makes the study of a vehicle a study of that."""

    name: str = Field(max_length=500, description="name of a scenario, or its file")
    parameters: Table[Value] = Field(FrozenDict(), description="values of parameters of the scenario")


class Limit(Record):
    """What an indicator must meet; a run that does not has failed."""

    at_least: Value | None = Field(None, description="least value allowed")
    at_most: Value | None = Field(None, description="largest value allowed")

    @model_validator(mode="after")
    def _check(self) -> Limit:
        if self.at_least is None and self.at_most is None:
            raise PydanticCustomError("choice", "give at_least, at_most or both")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise PydanticCustomError("range", "no value meets this: at_least is more than at_most")
        return self


class Keep(Record):
    """Channels that are kept of every run."""

    channels: tuple[str, ...] = Field(min_length=1, description="names of channels")


class Between(Record):
    """Where a factor is searched."""

    low: Value = Field(description="least value")
    high: Value = Field(description="largest value")
    scale: Literal["linear", "log"] = Field("linear", description="log: the logarithm is sampled")

    @model_validator(mode="after")
    def _check(self) -> Between:
        if not self.low < self.high:
            raise PydanticCustomError("range", "an empty range: low, high must increase")
        if self.scale == "log" and not self.low > 0.0:
            raise PydanticCustomError("range", "equal ratios need low > 0")
        return self

    @property
    def middle(self) -> float:
        return (self.low * self.high) ** 0.5 if self.scale == "log" else 0.5 * (self.low + self.high)


class Goal(Record):
    """What an indicator is to become."""

    aim: Literal["target", "least", "most"] = Field("target", description="what is wanted")
    target: Value = Field(0.0, description="of aim target: the value to reach")
    weight: Value = Field(1.0, gt=0.0, description="of aim target: factor of the distance from it")
    over: Literal["mean", "worst"] = Field("mean", description="mean of the runs of a candidate, or the worst of them")


class Search(Record):
    """Factors that are searched, not given."""

    factors: Annotated[dict[str, Between], AfterValidator(FrozenDict)] = Field(
        min_length=1, description="factor -> low, high, scale"
    )
    goals: Table[Goal] = Field(min_length=1, description="indicator -> what it is to become")
    method: Literal["tpe", "nsga2", "random", "minimise", "least_squares"] = Field(
        "tpe", description="by samples (Optuna): tpe, nsga2, random; along slopes (SciPy): minimise, least_squares"
    )
    evaluations: int = Field(ge=1, le=10**6, description="candidates at most; the points of differences count")
    batch: int = Field(
        32, ge=1, le=10**5, description="of tpe, nsga2 and random: candidates that are computed together"
    )
    seed: int = Field(0, ge=0, lt=2**63, description="the same seed gives the same candidates")
    starts: int = Field(1, ge=1, le=1000, description="of minimise and least_squares: starts, the first in the middle")
    slopes: Literal["exact", "differences"] = Field(
        "exact", description="of minimise and least_squares: by sensitivities, where runs have such, or by differences"
    )


class Campaign(Record):
    """All that a campaign needs."""

    study: Study = Field(description="what is simulated")
    name: str | None = Field(None, max_length=120, description="name of the campaign")
    title: str | None = Field(None, max_length=500, description="description")
    factors: Annotated[
        dict[str, Annotated[Factor, KindOf(FACTORS)]], BeforeValidator(_lists), AfterValidator(FrozenDict)
    ] = Field(FrozenDict(), description="what varies: a parameter, start, input or field of a block, by name")
    sampling: Sampling | None = Field(None, description="how samples of distributions are drawn")
    rows: Rows | None = Field(None, description="further factors, by rows of a table")
    indicators: Annotated[Table[Annotated[Measurement, KindOf(MEASURES)]], BeforeValidator(_formulas)] = Field(
        FrozenDict(), description="what is measured in every run"
    )
    limits: Table[Limit] = Field(FrozenDict(), description="indicator -> what it must meet")
    keep: Keep | None = Field(None, description="channels that are kept of every run")
    search: Search | None = Field(None, description="further factors, which are searched")
    chunk: int | None = Field(None, ge=1, le=1_000_000, description="runs in a chunk; chosen where it is not given")
    timeout: Value | None = Field(
        None, gt=0.0, description="time that a run may take by the clock, s; none: as long as it takes"
    )

    @property
    def called(self) -> str:
        return self.name or self.study.called

    @property
    def names(self) -> tuple[str, ...]:
        """Of all factors, in order."""
        searched = self.search.factors if self.search else ()
        return (*searched, *self.factors, *(self.rows.columns if self.rows else ()))
