"""Which lines share a panel: those of one unit and of a like size, so that none is flat beside a larger one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_LINES", "START", "WIDENED", "Curve", "curve_of", "seen_range", "shared_out"]

Array = NDArray[np.float64]

MOST_LINES = 8
"""In one panel; what has the same unit and does not fit goes into a second one."""
FLAT = 12.0
"""A line whose values vary by less than the span of its panel over this looks constant: 10 points of 126."""
STEADY = 1e-8
"""Share of the largest size of its unit below which what varies counts as constant."""
WIDENED = 4.0
"""How many times what is constant may widen the span of lines that vary."""
START = 0.02
"""Share of a run in which a transient of the start is over."""
PEAK = 4.0, 1000.0
"""How many times larger than all that follows such a transient is, for its panel to show what follows."""


@dataclass(frozen=True)
class Curve:
    """What of a line decides where it is drawn."""

    label: str
    low: float
    high: float

    @property
    def variation(self) -> float:
        return self.high - self.low

    @property
    def kind(self) -> str:
        """The last word: alpha of 'front left alpha'."""
        return self.label.split()[-1] if self.label.split() else ""


def curve_of(label: str, drawn: Sequence[tuple[Array, Array]]) -> Curve:
    """Of all the lines of one label: times and values."""
    ranges = [seen_range([line]) for line in drawn]
    return Curve(label, min(low for low, _ in ranges), max(high for _, high in ranges))


def seen_range(lines: Sequence[tuple[Array, Array]]) -> tuple[float, float]:
    """The range of values that a panel shows: all, or what follows a transient of the start that dwarfs it."""
    low, high = _range(lines)
    begin, end = min(float(x[0]) for x, _ in lines), max(float(x[-1]) for x, _ in lines)
    later = [(x[x > begin + START * (end - begin)], y[x > begin + START * (end - begin)]) for x, y in lines]
    after = _range(later)
    least, most = PEAK
    is_dwarfed = least * (after[1] - after[0]) < high - low < most * (after[1] - after[0])
    return after if is_dwarfed else (low, high)


def _range(lines: Sequence[tuple[Array, Array]]) -> tuple[float, float]:
    values = np.concatenate([y[np.isfinite(y)] for _, y in lines])
    return (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)


def shared_out(curves: Sequence[Curve]) -> list[list[str]]:
    """The labels of one unit in groups, each a panel.

    In a group every line that varies does so by a thirtieth of the span or more. What is constant stands where it
    widens no span too much. More than `MOST_LINES` are divided, curves of one kind (by their last word) together.
    """
    size = max((max(abs(c.low), abs(c.high)) for c in curves), default=0.0)
    moving = [c for c in curves if c.variation > STEADY * size]
    groups: list[list[Curve]] = []
    for curve in sorted(moving, key=lambda c: -c.variation):
        _join(groups, curve)
    for curve in (c for c in curves if c not in moving):
        _join(groups, curve)
    place = {curve.label: k for k, curve in enumerate(curves)}
    ordered = [sorted(group, key=lambda c: place[c.label]) for group in groups]
    ordered.sort(key=lambda group: place[group[0].label])
    return [part for group in ordered for part in _divided(group)]


def _join(groups: list[list[Curve]], curve: Curve) -> None:
    """Into the first group where nothing becomes flat, or a new one."""
    for group in groups:
        together = [*group, curve]
        span = max(c.high for c in together) - min(c.low for c in together)
        varying = [c.variation for c in together if c.variation > STEADY * span]
        before = max(c.high for c in group) - min(c.low for c in group)
        if curve.variation <= STEADY * span < before and span > WIDENED * before:
            continue
        if FLAT * min(varying, default=span) >= span:
            group.append(curve)
            return
    groups.append([curve])


def _divided(group: Sequence[Curve]) -> Iterator[list[str]]:
    """A group in parts of at most `MOST_LINES`, of about the same size, kinds together where that is possible."""
    parts = -(-len(group) // MOST_LINES)
    kinds = list(dict.fromkeys(c.kind for c in group))
    if parts == 1 or len(kinds) == len(group):
        yield from ([c.label for c in part] for part in np.array_split(np.array(group, dtype=object), parts))
        return
    part: list[str] = []
    for kind in kinds:
        labels = [c.label for c in group if c.kind == kind]
        if part and len(part) + len(labels) > MOST_LINES:
            yield part
            part = []
        while len(part) + len(labels) > MOST_LINES:
            yield labels[:MOST_LINES]
            labels = labels[MOST_LINES:]
        part += labels
    if part:
        yield part
