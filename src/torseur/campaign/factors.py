"""Factors of a campaign: what varies, over which levels or by which distribution. Frozen data.

>>> Grid(low=0.0, high=1.0, count=3).levels
array([0. , 0.5, 1. ])
>>> Uniform(low=2.0, high=4.0).quantile(np.array([0.25]))
array([2.5])
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from scipy import stats

from torseur.describe.fields import Record
from torseur.simulation.study.study import Value

__all__ = [
    "KINDS",
    "Distribution",
    "Factor",
    "Grid",
    "Integers",
    "Levels",
    "ListOfValues",
    "LogNormal",
    "Normal",
    "Range",
    "Triangular",
    "Uniform",
]

Array = NDArray[np.float64]
MOST_LEVELS = 1_000_000


class Factor(Record):
    """Something that varies from run to run."""

    kind: ClassVar[str]


class Levels(Factor):
    """A factor with given values, each combined with those of the others."""

    @property
    @abstractmethod
    def levels(self) -> Array:
        """The values, in order."""


class Distribution(Factor):
    """A factor with a distribution, of which samples are drawn."""

    @abstractmethod
    def quantile(self, u: Array) -> Array:
        """The values below which shares u of all lie, 0 < u < 1."""


def _ordered(low: float, high: float, names: str = "low, high") -> None:
    if not low < high:
        raise PydanticCustomError(
            "range", "an empty range: {names} must increase, got {got}", {"names": names, "got": f"{low:g}, {high:g}"}
        )


class Grid(Levels):
    """Values at equal distances, or in equal ratios, both ends included."""

    kind = "grid"
    low: Value = Field(description="first value")
    high: Value = Field(description="last value")
    count: int = Field(ge=2, le=MOST_LEVELS, description="how many")
    scale: Literal["linear", "log"] = Field("linear", description="log: in equal ratios")

    @model_validator(mode="after")
    def _check(self) -> Grid:
        _ordered(self.low, self.high)
        if self.scale == "log" and not self.low > 0.0:
            raise PydanticCustomError("range", "equal ratios need low > 0, got {got}", {"got": f"{self.low:g}"})
        return self

    @property
    def levels(self) -> Array:
        space = np.geomspace if self.scale == "log" else np.linspace
        return np.asarray(space(self.low, self.high, self.count), dtype=np.float64)


class Range(Levels):
    """Values from low in given steps, not beyond high."""

    kind = "range"
    low: Value = Field(description="first value")
    high: Value = Field(description="no value lies beyond it")
    step: Value = Field(gt=0.0, description="from value to value")

    @model_validator(mode="after")
    def _check(self) -> Range:
        _ordered(self.low, self.high)
        if self.step > (self.high - self.low) * (1.0 + 1e-12):
            raise PydanticCustomError("range", "the step is longer than the range: it has one value")
        if (self.high - self.low) / self.step > MOST_LEVELS:
            raise PydanticCustomError("range", "more than {most} values", {"most": MOST_LEVELS})
        return self

    @property
    def levels(self) -> Array:
        count = int(np.floor((self.high - self.low) / self.step * (1.0 + 1e-12))) + 1
        return self.low + self.step * np.arange(count, dtype=np.float64)


class ListOfValues(Levels):
    """Values one by one."""

    kind = "list"
    values: tuple[Value, ...] = Field(min_length=1, max_length=MOST_LEVELS, description="in order")

    @model_validator(mode="before")
    @classmethod
    def _short(cls, given: Any) -> Any:
        return {"values": given} if isinstance(given, (list, tuple)) else given

    @property
    def levels(self) -> Array:
        return np.array(self.values, dtype=np.float64)


class Uniform(Distribution):
    """All values between two are equally likely."""

    kind = "uniform"
    low: Value = Field(description="least value")
    high: Value = Field(description="largest value")

    @model_validator(mode="after")
    def _check(self) -> Uniform:
        _ordered(self.low, self.high)
        return self

    def quantile(self, u: Array) -> Array:
        return self.low + (self.high - self.low) * u


class Integers(Distribution):
    """Whole numbers, all equally likely, both ends included: seeds."""

    kind = "integers"
    low: int = Field(0, description="least value")
    high: int = Field(2**31 - 1, lt=2**53, description="largest value")

    @model_validator(mode="after")
    def _check(self) -> Integers:
        _ordered(self.low, self.high)
        return self

    def quantile(self, u: Array) -> Array:
        return np.asarray(np.minimum(self.low + np.floor((self.high - self.low + 1.0) * u), self.high))


class Normal(Distribution):
    """The normal distribution; with low or high, what lies beyond is cut off and the rest scaled."""

    kind = "normal"
    mean: Value = Field(description="of the whole distribution")
    deviation: Value = Field(gt=0.0, description="standard deviation of the whole distribution")
    low: Value | None = Field(None, description="least value")
    high: Value | None = Field(None, description="largest value")

    @model_validator(mode="after")
    def _check(self) -> Normal:
        if self.low is not None and self.high is not None:
            _ordered(self.low, self.high)
        a, b = self._ends
        if not b - a > 1e-9:
            raise PydanticCustomError("range", "nearly nothing of the distribution lies between low and high")
        return self

    @property
    def _ends(self) -> tuple[float, float]:
        """The shares of the whole distribution below low and below high."""
        a = 0.0 if self.low is None else float(stats.norm.cdf((self.low - self.mean) / self.deviation))
        b = 1.0 if self.high is None else float(stats.norm.cdf((self.high - self.mean) / self.deviation))
        return a, b

    def quantile(self, u: Array) -> Array:
        a, b = self._ends
        found = self.mean + self.deviation * stats.norm.ppf(a + (b - a) * u)
        return np.asarray(np.clip(found, self.low, self.high) if (a, b) != (0.0, 1.0) else found)


class LogNormal(Distribution):
    """A positive value whose logarithm is normal."""

    kind = "lognormal"
    median: Value = Field(gt=0.0, description="half of all lie below it")
    deviation: Value = Field(gt=0.0, description="standard deviation of the natural logarithm")

    def quantile(self, u: Array) -> Array:
        return np.asarray(self.median * np.exp(self.deviation * stats.norm.ppf(u)))


class Triangular(Distribution):
    """A density that rises to the mode and falls from there."""

    kind = "triangular"
    low: Value = Field(description="least value")
    mode: Value = Field(description="most likely value")
    high: Value = Field(description="largest value")

    @model_validator(mode="after")
    def _check(self) -> Triangular:
        _ordered(self.low, self.high)
        if not self.low <= self.mode <= self.high:
            raise PydanticCustomError("range", "the mode lies outside of low and high")
        return self

    def quantile(self, u: Array) -> Array:
        width = self.high - self.low
        return np.asarray(stats.triang.ppf(u, (self.mode - self.low) / width, loc=self.low, scale=width))


KINDS: dict[str, type[Factor]] = {
    kind.kind: kind for kind in (Grid, ListOfValues, Range, Uniform, Integers, Normal, LogNormal, Triangular)
}
"""The kinds that campaigns may use."""
