"""A study: a mechanism, where it starts, what drives it, for how long, and how it is integrated. Frozen data.

>>> from torseur.describe import Mechanism
>>> cart = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}
>>> slide = Mechanism(name="slide", bodies={"cart": cart}, gravity=(0.0, 0.0, 0.0))
>>> study = Study(model=slide, until=2.0, start={"x": 1.0})
>>> study.until, study.solver.method
(2.0, 'dop853')
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Protocol

from pydantic import (
    BeforeValidator,
    Field,
    SerializeAsAny,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from torseur.describe import Mechanism
from torseur.describe.annotations import KindOf
from torseur.describe.fields import FrozenDict, Number, Record, Table
from torseur.describe.formulas import Formula
from torseur.describe.mechanism import Output
from torseur.errors import GraphError, ModelError
from torseur.simulation.blocks import Block, block_of
from torseur.simulation.results.indicators import KINDS as INDICATORS
from torseur.simulation.results.indicators import Indicator

__all__ = ["Change", "FrictionChoice", "Scenario", "Solver", "StopChoice", "Study", "Value", "study_of_listing"]


def _value(given: Any) -> Any:
    """A formula without names, such as 30*deg, as its value."""
    if not isinstance(given, (str, Formula)):
        return given
    try:
        formula = given if isinstance(given, Formula) else Formula(given)
        if formula.names:
            names = ", ".join(sorted(formula.names))
            raise PydanticCustomError(
                "value", "expected a number or a formula without names, got {got}", {"got": names}
            )
        return formula.value()
    except (ModelError, GraphError) as error:
        raise PydanticCustomError("formula", "{text}", {"text": str(error), "error": error}) from error


Value = Annotated[
    Number,
    BeforeValidator(_value),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "description": "a formula, e.g. 30*deg"}]}),
]
"""A number; a formula without names, such as 30*deg or pi/4, is read as one."""


class Solver(Record):
    """How a study is integrated; which methods there are, `torseur.simulation.solvers.methods` says."""

    method: str = Field("dop853", description="dop853, dopri5, rk4, rodas, newmark, easydyn, hht or generalised_alpha")
    step: Value | None = Field(None, gt=0.0, description="of a fixed-step method, s; else the first one")
    rtol: Value = Field(1e-9, ge=0.0, description="relative error allowed in a step")
    atol: Value = Field(1e-11, gt=0.0, description="absolute error allowed in a step, in the unit of each state")
    longest: Value | None = Field(None, gt=0.0, description="longest step, s; by default a fiftieth of the duration")
    steps: int = Field(10_000_000, gt=0, description="largest number of steps, or samples")
    beta: Value | None = Field(None, gt=0.0, le=1.0, description="of newmark and easydyn; 1/4 by default")
    gamma: Value | None = Field(
        None, ge=0.5, le=1.0, description="of newmark and easydyn; 1/2 by default, larger values add damping"
    )
    alpha: Value | None = Field(None, ge=0.0, le=1.0 / 3.0, description="of hht: 0 to 1/3, 0.1 by default")
    rho: Value | None = Field(
        None, ge=0.0, le=1.0, description="of generalised_alpha: 1 (no damping) to 0, 0.8 by default"
    )

    @property
    def numbers(self) -> dict[str, float]:
        """The numbers of the method that are given."""
        return {name: x for name in ("beta", "gamma", "alpha", "rho") if (x := getattr(self, name)) is not None}


class FrictionChoice(Record):
    """How dry friction is computed."""

    model: Literal["stick", "smooth", "sign"] = Field(
        "stick",
        description="stick: true stick and slip by events; smooth: tanh(rate/width); "
        "sign: the discontinuous law, without events",
    )
    width: Value = Field(1e-3, gt=0.0, description="of the smooth one, m/s or rad/s")


class StopChoice(Record):
    """What lower and upper limits of coordinates do."""

    model: Literal["report", "hard", "ignore"] = Field(
        "report", description="report: passing one is an event; hard: they hold; ignore"
    )
    restitution: Value = Field(0.0, ge=0.0, le=1.0, description="speed after a hard stop is hit over that before")


class Change(Record):
    """Parameters that change on the way: at a time, or whenever an event happens."""

    at: Value | None = Field(None, description="time, s")
    event: str | None = Field(None, description="name of an event")
    set: Table[Value] = Field(FrozenDict(), description="parameters and their new values")
    stop: bool = Field(False, strict=True, description="true: the run ends there")

    @model_validator(mode="after")
    def _one(self) -> Change:
        if (self.at is None) == (self.event is None):
            raise PydanticCustomError("choice", "give exactly one of at, event")
        return self


class Study(Record):
    """All that a simulation needs."""

    model: Mechanism = Field(description="what moves")
    name: str | None = Field(None, max_length=120, description="name of the study")
    title: str | None = Field(None, max_length=500, description="description")
    parameters: Table[Value] = Field(FrozenDict(), description="values in place of those of the model")
    start: Table[Value] = Field(
        FrozenDict(), description="initial values of coordinates and speeds, by name; they are kept exactly"
    )
    guess: Table[Value] = Field(
        FrozenDict(), description="approximate initial values, by name; they are adjusted to the constraints"
    )
    start_from: Literal["assembled", "equilibrium", "given"] = Field(
        "assembled",
        description="assembled: values under start are kept, the others are adjusted to the constraints; "
        "equilibrium: at rest, near what is named; given: as it is, or refused",
    )
    inputs: Table[SerializeAsAny[Block]] = Field(FrozenDict(), description="input -> signal or block that drives it")
    blocks: Table[SerializeAsAny[Block]] = Field(FrozenDict(), description="controllers, sensors, filters, signals")
    begin: Value = Field(0.0, description="time at the start, s")
    until: Value = Field(10.0, validate_default=True, description="time at the end, s")
    every: Value | None = Field(
        None, gt=0.0, description="time between records, s; by default a thousandth of the duration"
    )
    solver: Solver = Field(Solver(), description="how it is integrated")
    friction: FrictionChoice = Field(FrictionChoice(), description="dry friction")
    stops: StopChoice = Field(StopChoice(), description="limits of coordinates")
    independent: tuple[str, ...] = Field(
        (),
        description="independent speeds of a mechanism with many loops; chosen automatically by default",
    )
    outputs: Table[Output] = Field(FrozenDict(), description="further formulas to record")
    changes: tuple[Change, ...] = Field((), description="parameters that change on the way")
    indicators: Table[Annotated[Indicator, KindOf(INDICATORS)]] = Field(
        FrozenDict(), description="what is measured when the run has ended"
    )
    audit: Value | None = Field(
        None,
        gt=0.0,
        description="tolerance of the balances, relative to the energy exchanged; by default that of the method",
    )
    figures: bool = Field(True, strict=True, description="whether `torseur simulate` draws figures")
    playback: bool = Field(True, strict=True, description="whether `torseur simulate` writes a 3-D playback")
    reports: tuple[Literal["en", "fr"], ...] = Field(
        (), description="languages of the reports that `torseur simulate` writes: en, fr"
    )

    @field_validator("inputs", "blocks", mode="before")
    @classmethod
    def _short(cls, given: Any) -> Any:
        """Blocks in their short forms: a number, a formula, a mapping from a kind to its fields."""
        return {n: block_of(x, where=(str(n),)) for n, x in given.items()} if isinstance(given, dict) else given

    @field_validator("blocks")
    @classmethod
    def _once(cls, blocks: Any, info: ValidationInfo) -> Any:
        twice = sorted(set(info.data.get("inputs", ())) & set(blocks))
        if twice:
            raise PydanticCustomError("twice", "both an input and a block: {names}", {"names": ", ".join(twice)})
        return blocks

    @property
    def called(self) -> str:
        return self.name or self.model.name

    @property
    def interval(self) -> float:
        """Between records, s."""
        return self.every if self.every is not None else (self.until - self.begin) / 1000.0


class Scenario(Protocol):
    """What is done with a machine: it makes the study of one a study of that."""

    def applied(self, study: Study) -> Study:
        """The study with what the scenario says."""


# -- CAGeM listings ----------------------------------------------------------------------------------------------------
_TOLERANCE = 1e-6
"""Relative and absolute, of EasyDyn's integration."""
_REPORTS = {"LATEX": "en", "LATEX_EN": "en", "LATEX_FR": "fr"}


def study_of_listing(model: Mechanism, settings: Mapping[str, float | str]) -> tuple[Study, tuple[str, ...]]:
    """A study that runs as EasyDyn would, and what of the listing it does not do, in words.

    Args:
        model: the mechanism of the listing.
        settings: FinalTime, StepSave, StepMax and the flags, as far as they are given.

    >>> study, notes = study_of_listing(Mechanism(name="arm"), {"FinalTime": 5.0, "StepMax": 0.005, "LATEX_EN": 1.0})
    >>> study.until, study.solver.method, study.solver.longest, study.reports
    (5.0, 'easydyn', 0.005, ('en',))
    >>> notes
    ()
    """
    solver: dict[str, Any] = {"method": "easydyn", "rtol": _TOLERANCE, "atol": _TOLERANCE}
    fields: dict[str, Any] = {"model": model, "stops": {"model": "ignore"}}  # a listing knows none
    if "StepMax" in settings:
        solver["longest"] = settings["StepMax"]
    for key, field in (("FinalTime", "until"), ("StepSave", "every")):
        if key in settings:
            fields[field] = settings[key]
    for key, field in (("PLOT", "figures"), ("ANIM", "playback")):
        if key in settings:
            fields[field] = settings[key] != 0.0
    asked = [language for key, language in _REPORTS.items() if settings.get(key, 0.0) != 0.0]
    fields["reports"] = tuple(dict.fromkeys(asked))
    if settings.get("STATIC", 0.0) != 0.0:
        fields["start_from"] = "equilibrium"
    return Study.model_validate({**fields, "solver": solver}), tuple(_not_done(model, settings))


def _not_done(model: Mechanism, settings: Mapping[str, float | str]) -> list[str]:
    notes = []
    if settings.get("FORCES", 0.0) != 0.0:
        names = ", ".join(model.inputs)
        notes.append(f"FORCES asks for efforts: they are the inputs {names}, zero unless a study drives them")
    return notes
