"""Two runs beside each other: where they differ most, channel by channel.

>>> import numpy as np
>>> from torseur.simulation.results.channels import Channel
>>> from torseur.simulation.results.result import Run
>>> time = np.linspace(0.0, 1.0, 5)
>>> a, b = (Run(None, time, {"x": Channel("x", "m", "", time**k)}) for k in (1, 2))
>>> print(compare(a, b))
channel  unit  largest difference     at s        rms  relative
x        m                   0.25      0.5     0.1822      0.25
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.errors import ArgumentError
from torseur.simulation.results.channels import Channel
from torseur.simulation.results.result import Run

__all__ = ["Comparison", "Difference", "compare"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """How far one channel of two runs differs.

    Attributes:
        name, unit: of the channel.
        largest: the largest difference.
        time: when it is, s.
        rms: root of the mean square of the difference over time.
        scale: the largest magnitude of the channel in either run.
    """

    name: str
    unit: str
    largest: float
    time: float
    rms: float
    scale: float

    @property
    def relative(self) -> float:
        """The largest difference over the largest magnitude."""
        return self.largest / self.scale if self.scale > 0.0 else 0.0


@dataclass(frozen=True)
class Comparison:
    """The differences of two runs over the time both cover; what cannot be compared is named.

    Attributes:
        differences: one per channel of both, in order.
        start, end: the time both cover, s.
        only_first, only_second: channels of one run.
        unlike: channels of both whose units or shapes differ.
    """

    differences: tuple[Difference, ...]
    start: float
    end: float
    only_first: tuple[str, ...] = ()
    only_second: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Difference:
        for difference in self.differences:
            if difference.name == name:
                return difference
        raise ArgumentError(f"no channel '{name}' was compared", expected=", ".join(d.name for d in self.differences))

    def within(self, relative: float) -> bool:
        """Whether every channel of both agrees to so much of its largest magnitude."""
        return all(d.relative <= relative for d in self.differences)

    def __str__(self) -> str:
        width = max([7, *(len(d.name) for d in self.differences)])
        units = max([4, *(len(d.unit) for d in self.differences)])
        lines = [f"{'channel':<{width}}  {'unit':<{units}}  largest difference     at s        rms  relative"]
        lines += [
            f"{d.name:<{width}}  {d.unit:<{units}}  {d.largest:18.6g}  {d.time:7.6g}  {d.rms:9.4g}  {d.relative:8.3g}"
            for d in self.differences
        ]
        notes = {"only in the first": self.only_first, "only in the second": self.only_second}
        notes["of different unit or shape"] = self.unlike
        return "\n".join([*lines, *(f"{what}: {', '.join(names)}" for what, names in notes.items() if names)])


def compare(a: Run, b: Run) -> Comparison:
    """Where two runs differ, on all instants of either within the time both cover."""
    start, end = max(a.time[0], b.time[0]), min(a.time[-1], b.time[-1])
    if start > end:
        raise ArgumentError("these runs have no time in common", got=f"{a} and {b}")
    instants = np.unique(np.concatenate([a.time, b.time]))
    times = instants[(instants >= start) & (instants <= end)]
    both = [name for name in a.channels if name in b.channels]
    unlike = tuple(name for name in both if not _alike(a.channels[name], b.channels[name]))
    first, second = a.at(times), b.at(times)
    return Comparison(
        tuple(_difference(a.channels[n], times, first[n], second[n]) for n in both if n not in unlike),
        float(start),
        float(end),
        tuple(name for name in a.channels if name not in b.channels),
        tuple(name for name in b.channels if name not in a.channels),
        unlike,
    )


def _alike(a: Channel, b: Channel) -> bool:
    return a.unit == b.unit and a.values.shape[1:] == b.values.shape[1:]


def _difference(channel: Channel, times: Array, a: Array, b: Array) -> Difference:
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.abs(a - b).reshape(len(times), -1)
    # Two that are both not a number, or infinite alike, agree; one alone differs without bound.
    same = ((a == b) | (np.isnan(a) & np.isnan(b))).reshape(gap.shape)
    gap = np.where(same, 0.0, np.where(np.isnan(gap), np.inf, gap)).max(axis=1, initial=0.0)
    worst = int(np.argmax(gap))
    span = times[-1] - times[0]
    rms = np.sqrt(np.trapezoid(gap**2, times) / span) if span > 0.0 else gap[worst]
    finite = np.abs(np.concatenate([a.ravel(), b.ravel()]))
    scale = np.max(finite[np.isfinite(finite)], initial=0.0)
    return Difference(channel.name, channel.unit, float(gap[worst]), float(times[worst]), float(rms), float(scale))
