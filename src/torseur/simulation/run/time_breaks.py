"""Where formulas of time switch or peak: instants at which steps must end, found before the run.

A method of any order passes over a pulse that is shorter than its steps and never knows. So expressions of time (and
parameters) alone are looked at beforehand, on a fine grid over the whole run:

- what switches (a comparison, a sign, a floor, an absolute value, a minimum or maximum, a table): every change between
  two points of the grid is located to the last bit, also one that comes and goes between two points if the difference
  that decides is continuous;
- what peaks: a value that stands out of its neighbours on the grid.

What is shorter than the grid and no switch is not found, nor is what depends on the state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.emit import NativeFunction
from torseur.simulation.integrate.hooks import resolution
from torseur.simulation.solvers.problem import Array

__all__ = ["TimeBreaks", "merged"]

POINTS = 20_001
"""Of the grid over a run."""

MOST = 20_000
"""Instants at which steps may be made to end."""

STANDS_OUT = 0.02
"""A peak differs from the line through its neighbours on the grid by more than this share of all values."""

Levels = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TimeBreaks:
    """Where formulas of time switch or peak.

    Attributes:
        functions: native functions of t and, where there are any, parameters; see `TimeFormulas.functions`.
        knots: of the tables among them.
    """

    functions: Mapping[str, NativeFunction]
    knots: Sequence[Sequence[float]] = ()

    def instants(self, begin: float, end: float, p: Array) -> list[float]:
        """Times within a span at which steps must end, s, in order; none where they would be too many."""
        if not self.functions:
            return []
        grid = np.linspace(begin, end, POINTS)
        found: list[Array] = [np.zeros(0)]
        if "switching" in self.functions:
            found += self._changes(grid, p)
        if "looked_up" in self.functions:
            knots = [np.array(some) for some in self.knots]
            found += _level_changes(grid, lambda t: _intervals(self._at("looked_up", t, p)["x"], knots))
        times = np.unique(np.concatenate(found))
        if "peaking" in self.functions:
            peaks = self._peaks(grid, p)
            apart = _distances(peaks, times) > 1.5 * (end - begin) / (POINTS - 1)  # what switches stands out as well
            times = np.unique(np.concatenate([times, peaks[apart]]))
        inside = times[(times > begin) & (times < end)]
        return inside.tolist() if len(inside) <= MOST else []

    def _at(self, name: str, t: Array, p: Array) -> dict[str, Levels]:
        native = self.functions[name]
        shape = native.interface.inputs[0].shape
        found = native(t.reshape(len(t), *shape), *([p] if len(native.interface.inputs) > 1 else []))
        values = found if isinstance(found, tuple) else (found,)
        return {o.name: x.reshape(len(t), -1) for o, x in zip(native.interface.outputs, values, strict=True)}

    def _changes(self, grid: Array, p: Array) -> list[Array]:
        def levels(t: Array) -> Levels:
            return self._at("switching", t, p)["levels"]

        points = grid
        if any(o.name == "gaps" for o in self.functions["switching"].interface.outputs):
            points = np.unique(np.concatenate([grid, _dips(grid, lambda t: self._at("switching", t, p)["gaps"])]))
        return _level_changes(points, levels)

    def _peaks(self, grid: Array, p: Array) -> Array:
        seen = self._at("peaking", grid, p)["values"]
        with np.errstate(all="ignore"):
            bend = np.abs(seen[1:-1] - 0.5 * (seen[:-2] + seen[2:]))
            size = np.ptp(np.where(np.isfinite(seen), seen, 0.0), axis=0)
            sharp = np.argwhere((bend > STANDS_OUT * size) & (size > 0.0))
        return grid[1:-1][np.unique(sharp[:, 0])]


def _distances(points: Array, others: Array) -> Array:
    """From each point to the nearest of the others, which are in order."""
    if not others.size:
        return np.full(points.shape, np.inf)
    k = np.searchsorted(others, points)
    return np.minimum(
        np.abs(points - others[np.maximum(k - 1, 0)]), np.abs(others[np.minimum(k, len(others) - 1)] - points)
    )


def _intervals(x: Levels, knots: Sequence[Array]) -> Levels:
    """In which interval of its table each argument is."""
    return np.stack([np.searchsorted(b, x[:, k], side="right") for k, b in enumerate(knots)], axis=1).astype(float)


def _level_changes(points: Array, levels: Callable[[Array], Levels]) -> list[Array]:
    """Where any of some levels changes between two points: the first number of time at which it has."""
    seen = levels(points)
    found = []
    for k in range(seen.shape[1]):
        where = np.flatnonzero(seen[1:, k] != seen[:-1, k])
        found.append(_located(points[where], points[where + 1], lambda t, k=k: levels(t)[:, k]))  # type: ignore[misc]
    return found


def _located(low: Array, high: Array, level: Callable[[Array], Array]) -> Array:
    """The last changes in some intervals, by bisection of all of them at once, and those before in the same way."""
    if not low.size:
        return low
    found, first = [], level(low)
    for _ in range(8):  # so many changes between two points at most
        a, b = low.copy(), high.copy()
        last = level(b)
        while True:
            middle = 0.5 * (a + b)
            inside = (middle > a) & (middle < b)
            if not inside.any():
                break
            is_last = level(middle) == last
            a, b = np.where(inside & ~is_last, middle, a), np.where(inside & is_last, middle, b)
        found.append(b)
        more = level(a) != first
        low, high, first = low[more], a[more], first[more]
        if not low.size:
            break
    return np.concatenate(found)


def _dips(grid: Array, gaps: Callable[[Array], Levels]) -> Array:
    """Points between those of the grid where a continuous function comes closest to zero, and may pass it."""
    seen = gaps(grid)
    size = np.abs(seen)
    before, here, after = size[:-2], size[1:-1], size[2:]
    near = (here <= before) & (here <= after) & (here < np.maximum(before, after))  # what does not change has no dip
    near &= np.sign(seen[:-2]) == np.sign(seen[2:])
    found = []
    for k in range(seen.shape[1]):
        where = np.flatnonzero(near[:, k]) + 1
        if where.size and where.size <= MOST:
            low, high = grid[where - 1], grid[where + 1]
            side = np.sign(seen[where, k])
            found.append(_lowest(low, high, lambda t, k=k, side=side: side * gaps(t)[:, k]))  # type: ignore[misc]
    return np.concatenate(found) if found else np.zeros(0)


def _lowest(low: Array, high: Array, g: Callable[[Array], Array]) -> Array:
    """Where functions are lowest in some intervals, by golden sections of all of them at once."""
    ratio = 0.5 * (5.0**0.5 - 1.0)
    for _ in range(80):
        width = ratio * (high - low)
        left, right = high - width, low + width
        is_left = g(left) < g(right)
        low, high = np.where(is_left, low, left), np.where(is_left, right, high)
    return 0.5 * (low + high)


def merged(declared: Sequence[float], located: Sequence[float], begin: float, end: float) -> list[float]:
    """Declared breaks, and located ones that are not the same instants, or the begin or end, but for rounding."""
    near = 16.0 * resolution(begin, end)
    known = np.sort(np.array([begin, end, *declared], dtype=float))
    kept: list[float] = list(declared)
    for time in located:
        k = int(np.searchsorted(known, time))
        beside = known[max(k - 1, 0) : k + 1]
        if not beside.size or np.min(np.abs(beside - time)) > near:
            kept.append(time)
            known = np.insert(known, k, time)
    return kept
