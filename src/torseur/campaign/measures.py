"""Indicators of a campaign: one number of a run each. Frozen data.

Values of a channel are an array (runs, nt) of instants that all runs have in common, or of one run. Every row is
reduced by itself, so that a number does not depend on the runs beside it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from torseur.describe.faults import guess
from torseur.describe.fields import Record
from torseur.describe.formulas import Formula
from torseur.errors import ArgumentError
from torseur.simulation.results.result import Run
from torseur.simulation.study.study import Value

__all__ = [
    "KINDS",
    "AuditError",
    "CountOfEvents",
    "FormulaOfIndicators",
    "Measurement",
    "OfChannel",
    "OfRun",
    "OfStudy",
    "Smooth",
    "TimeOfEvent",
    "unit_of",
]

Array = NDArray[np.float64]


class Measurement(Record):
    """One number of a run."""

    kind: ClassVar[str]
    main: ClassVar[str] = "channel"
    """The field that a single word stands for."""

    @model_validator(mode="before")
    @classmethod
    def _short(cls, given: Any) -> Any:
        return {cls.main: given} if isinstance(given, (str, Formula)) else given


class OfChannel(Measurement):
    """Something of a channel; `reduced` says what."""

    channel: str = Field(max_length=200, description="name of a channel of the run")

    @abstractmethod
    def reduced(self, time: Array, values: Array) -> Array:
        """One number per row: time (nt,), values (runs, nt) -> (runs,)."""


class Smooth(OfChannel):
    """Something of a channel that has a derivative where the channel has one."""

    @abstractmethod
    def slope(self, time: Array, values: Array, slopes: Array) -> Array:
        """Derivatives: time (nt,), values (runs, nt), their derivatives (runs, nt, d) -> (runs, d)."""


def _at(places: NDArray[np.int64], slopes: Array) -> Array:
    """Where an extreme value is, it does not matter how it moves in time: (runs,), (runs, nt, d) -> (runs, d)."""
    return np.asarray(slopes[np.arange(len(places)), places])


class Minimum(Smooth):
    """The smallest value among the records."""

    kind = "minimum"

    def reduced(self, time: Array, values: Array) -> Array:
        return np.asarray(values.min(axis=1))

    def slope(self, time: Array, values: Array, slopes: Array) -> Array:
        return _at(values.argmin(axis=1), slopes)


class Maximum(Smooth):
    """The largest value among the records."""

    kind = "maximum"

    def reduced(self, time: Array, values: Array) -> Array:
        return np.asarray(values.max(axis=1))

    def slope(self, time: Array, values: Array, slopes: Array) -> Array:
        return _at(values.argmax(axis=1), slopes)


class Final(Smooth):
    """The value at the end."""

    kind = "final"

    def reduced(self, time: Array, values: Array) -> Array:
        return values[:, -1].copy()

    def slope(self, time: Array, values: Array, slopes: Array) -> Array:
        return np.array(slopes[:, -1])


class Rms(Smooth):
    """The root of the mean square over time: sqrt(1/T int y^2 dt) by the trapezoidal rule."""

    kind = "rms"

    def reduced(self, time: Array, values: Array) -> Array:
        if not time[-1] > time[0]:
            return np.abs(values[:, -1])
        square = values * values
        square *= self._weights(time)
        return np.asarray(np.sqrt(square.sum(axis=1) / (time[-1] - time[0])))

    @staticmethod
    def _weights(time: Array) -> Array:
        halves = 0.5 * np.diff(time)
        return np.asarray(np.append(halves, 0.0) + np.append(0.0, halves))

    def slope(self, time: Array, values: Array, slopes: Array) -> Array:
        """Of a channel that is zero throughout: 0, between the slopes to both sides."""
        if not time[-1] > time[0]:
            return np.asarray(np.sign(values[:, -1:]) * slopes[:, -1])
        change = np.einsum("t,rt,rtd->rd", self._weights(time), values, slopes) / (time[-1] - time[0])
        size = self.reduced(time, values)[:, None]
        return np.asarray(np.divide(change, size, out=np.zeros_like(change), where=size > 0.0))


class SettlingTime(OfChannel):
    """The time, from the begin, after which the channel stays within a band about its target; infinite if it is outside
    at the end."""

    kind = "settling_time"
    band: Value = Field(
        gt=0.0, description="distance from the target that counts as settled, in the unit of the channel"
    )
    target: Value | None = Field(None, description="by default the value at the end")

    def reduced(self, time: Array, values: Array) -> Array:
        target = values[:, -1:] if self.target is None else self.target
        outside = np.abs(values - target) > self.band
        last = outside.shape[1] - 1 - np.argmax(outside[:, ::-1], axis=1)
        after = np.append(time[1:], np.inf)[last] - time[0]
        return np.where(outside.any(axis=1), after, 0.0)


class OfRun(Measurement):
    """Something of a whole run, with its events and its audit."""

    @abstractmethod
    def measured(self, run: Run) -> float:
        """The number."""


class TimeOfEvent(OfRun):
    """The time at which an event happens first, s; infinite if it does not."""

    kind = "time_of"
    main = "event"
    event: str = Field(max_length=200, description="name of what it happens to")

    def measured(self, run: Run) -> float:
        return min((e.time for e in run.events if e.name == self.event), default=np.inf)


class CountOfEvents(OfRun):
    """How often an event happens."""

    kind = "count"
    main = "event"
    event: str = Field(max_length=200, description="name of what it happens to")

    def measured(self, run: Run) -> float:
        return float(sum(e.name == self.event for e in run.events))


class AuditError(OfRun):
    """The largest error of a balance of the audit, or the largest relative one of all that have one."""

    kind = "audit"
    main = "balance"
    balance: str | None = Field(None, max_length=200, description="name of a balance; by default all")

    def measured(self, run: Run) -> float:
        rows = run.audit().table
        if self.balance is not None:
            return next(float(row["error"]) for row in rows if row["balance"] == self.balance)
        return max((float(row["relative"]) for row in rows if "relative" in row), default=np.nan)


class OfStudy(OfRun):
    """What an indicator of the study measures, by its name in `torseur simulate`; no number where it is not reached."""

    kind = "measure"
    main = "measure"
    measure: str = Field(max_length=200, description="name of a measure, such as understeer_gradient")

    def measured(self, run: Run) -> float:
        one = run.indicators.get(self.measure)
        if one is None:
            expected, remedy = guess(self.measure, run.indicators)
            raise ArgumentError(f"the run has no measure '{self.measure}'", expected=expected, remedy=remedy)
        return np.nan if one.value is None else one.value


class FormulaOfIndicators(Measurement):
    """A formula of indicators and factors."""

    kind = "formula"
    main = "value"
    value: str = Field(
        max_length=2000,
        description="formula; names are those of indicators, of factors without a dot, and of parameters",
    )
    unit: str = Field("", max_length=40, description="of the result, for tables and figures")

    @property
    def formula(self) -> Formula:
        return Formula(self.value)


KINDS: dict[str, type[Measurement]] = {
    kind.kind: kind
    for kind in (
        Minimum,
        Maximum,
        Final,
        Rms,
        SettlingTime,
        TimeOfEvent,
        CountOfEvents,
        AuditError,
        OfStudy,
        FormulaOfIndicators,
    )
}
"""The kinds that campaigns may use."""


def unit_of(one: Measurement, channels: Mapping[str, str], measures: Mapping[str, str]) -> str:
    """The unit of an indicator, from those of channels and of measures of the study."""
    if isinstance(one, (SettlingTime, TimeOfEvent)):
        return "s"
    if isinstance(one, OfStudy):
        return measures.get(one.measure, "")
    if isinstance(one, FormulaOfIndicators):
        return one.unit
    return channels.get(one.channel, "") if isinstance(one, OfChannel) else ""
