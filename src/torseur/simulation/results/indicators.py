"""Indicators: numbers that say in short what a run is about, each with its unit and definition.

A study names the indicators that are measured when its run has ended. The core has one kind; packs add theirs through
`torseur.extensions`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from torseur.describe.fields import Record, Scalar
from torseur.describe.formulas import Formula
from torseur.errors import ModelError, TorseurError
from torseur.extensions import Kinds

if TYPE_CHECKING:
    from torseur.simulation.results.result import Run

__all__ = ["KINDS", "Extreme", "Indicator", "Measure", "measures_of", "number"]


@dataclass(frozen=True)
class Measure:
    """What an indicator found.

    Attributes:
        name: of the quantity.
        value: none if it was not reached, or if the run does not have it; `said` then says why.
        unit: of the value.
        definition: how it is measured.
        at: the time it belongs to, s.
        said: what else there is to say, such as which wheel it is.
        fails: whether it says that the run did not do what it was meant to do.
    """

    name: str
    value: float | None
    unit: str
    definition: str
    at: float | None = None
    said: str | None = None
    fails: bool = False


class Indicator(Record):
    """Something that is measured in a run; a new kind is a record with a `kind` and `measured`."""

    kind: ClassVar[str]

    @abstractmethod
    def measured(self, run: Run) -> Iterable[Measure]:
        """What the run shows."""


def number(value: Scalar) -> float:
    """A field of an indicator as a number; a formula there has no names."""
    if not isinstance(value, Formula):
        return value
    if value.names:
        raise ModelError("an indicator needs numbers", expected="a formula without names", got=value.text)
    return value.value()


class Extreme(Indicator):
    """The largest or smallest value of a channel, and when."""

    kind = "extreme"
    channel: str = Field(max_length=200, description="name of a channel of the run")
    least: bool = Field(False, strict=True, description="true: the smallest value")

    def measured(self, run: Run) -> Iterator[Measure]:
        channel = run.channel(self.channel)
        k = int(np.argmin(channel.values) if self.least else np.argmax(channel.values))
        word = "smallest" if self.least else "largest"
        name = f"{'min' if self.least else 'max'}_{self.channel}"
        definition = f"{word} value of {self.channel}: {channel.meaning}"
        yield Measure(name, float(channel.values[k]), channel.unit, definition, float(run.time[k]))


KINDS: Kinds[type[Indicator]] = Kinds("indicators", {Extreme.kind: Extreme})
"""The kinds that studies may use."""


def measures_of(run: Run, indicators: Mapping[str, Indicator]) -> list[dict[str, Any]]:
    """All measures of a run as plain data; of two with one name, the later has that of its indicator in front.

    One that cannot be measured costs nothing but itself: what is wrong stands in its place.
    """
    measures: dict[str, Measure] = {}
    for key, indicator in indicators.items():
        try:
            made = list(indicator.measured(run))
        except TorseurError as error:
            parts = [part for part in (error.got, error.remedy) if part]
            why = f"{error.what} ({'; '.join(parts)})" if parts else error.what
            made = [Measure(key, None, "", type(indicator).__doc__ or "", said=why, fails=True)]
        for one in made:
            measures[f"{key}_{one.name}" if one.name in measures else one.name] = one
    return [{**asdict(one), "name": name} for name, one in measures.items()]
