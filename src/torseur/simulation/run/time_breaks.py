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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from torseur.graph import Block, Expr, Function, evaluate, ops, select, sign
from torseur.graph.function import reachable
from torseur.graph.nodes import Node
from torseur.simulation.integrate.hooks import resolution
from torseur.simulation.solvers.problem import Array

__all__ = ["TimeFormulas", "merged"]

POINTS = 20_001
"""Of the grid over a run."""

MOST = 20_000
"""Instants at which steps may be made to end."""

STANDS_OUT = 0.02
"""A peak differs from the line through its neighbours on the grid by more than this share of all values."""

Levels = NDArray[np.float64]


@dataclass(frozen=True)
class TimeFormulas:
    """The formulas of time alone in some expressions.

    Attributes:
        exprs: what decides the motion.
        t, p: the blocks of time and of parameters; none where there are no parameters.
    """

    exprs: tuple[Expr, ...]
    t: Block
    p: Block | None

    @cached_property
    def _nodes(self) -> tuple[list[Node], list[Expr]]:
        """Nodes that only time and parameters decide; and those of them that enter something else, or the results."""
        every = reachable(self.exprs)
        known = {"t", self.p.name if self.p is not None else "t"}
        fixed: set[int] = set()
        timed: set[int] = set()
        for node in every:
            if node.op in (ops.CALL, ops.ITEM):
                continue
            is_leaf = node.op in (ops.CONST, ops.TRUTH) or (node.op is ops.SYMBOL and node.data[0] in known)
            if is_leaf or (node.args and all(a.id in fixed for a in node.args)):
                fixed.add(node.id)
                if (node.op is ops.SYMBOL and node.data[0] == "t") or any(a.id in timed for a in node.args):
                    timed.add(node.id)
        used = {a.id for node in every if node.id not in fixed for a in node.args} | {e.id for e in self.exprs}
        inner = [n for n in every if n.id in timed and n.op is not ops.SYMBOL]
        return inner, [n for n in inner if n.id in used and isinstance(n, Expr)]

    @cached_property
    def _switching(self) -> Function | None:
        """levels: change by whole numbers where something switches. gaps: what decides, where that is continuous."""
        levels: list[Expr] = []
        gaps: list[Expr] = []
        for node in self._nodes[0]:
            a, b = (*node.args, None)[:2]
            if node.op in (ops.LT, ops.LE, ops.MIN, ops.MAX):
                assert isinstance(a, Expr)
                assert isinstance(b, Expr)
                gaps.append(a - b)
                levels.append(select(a <= b if node.op is ops.LE else a < b, 1.0, 0.0))
            elif node.op in (ops.SIGN, ops.ABS):
                assert isinstance(a, Expr)
                gaps.append(a)
                levels.append(sign(a))
            elif node.op is ops.FLOOR:
                assert isinstance(node, Expr)
                levels.append(node)
        return self._function("switching", {"levels": levels, "gaps": gaps})

    @cached_property
    def _tables(self) -> tuple[Function | None, list[Array]]:
        nodes = [n for n in self._nodes[0] if n.op is ops.PIECEWISE]
        function = self._function("tables", {"x": [x for n in nodes if isinstance(x := n.args[0], Expr)]})
        return function, [np.array(n.data.breaks) for n in nodes]

    @cached_property
    def _values(self) -> Function | None:
        return self._function("values", {"values": self._nodes[1]})

    def _function(self, name: str, outputs: dict[str, list[Expr]]) -> Function | None:
        given = {n: list(dict.fromkeys(x)) for n, x in outputs.items() if x}
        return Function(name, [self.t, *([self.p] if self.p is not None else [])], given) if given else None

    # -- numbers -------------------------------------------------------------------------------------------------------
    def instants(self, begin: float, end: float, p: Array) -> list[float]:
        """Times within a span at which steps must end, s, in order; none where they would be too many."""
        grid = np.linspace(begin, end, POINTS)
        found: list[Array] = [np.zeros(0)]
        if self._switching is not None:
            found += self._changes(grid, p)
        function, knots = self._tables
        if function is not None:
            found += _level_changes(grid, lambda t: _intervals(self._at(function, t, p)["x"], knots))
        times = np.unique(np.concatenate(found))
        if self._values is not None:
            peaks = self._peaks(grid, p)
            apart = _distances(peaks, times) > 1.5 * (end - begin) / (POINTS - 1)  # what switches stands out as well
            times = np.unique(np.concatenate([times, peaks[apart]]))
        inside = times[(times > begin) & (times < end)]
        return inside.tolist() if len(inside) <= MOST else []

    def _at(self, function: Function, t: Array, p: Array) -> dict[str, Levels]:
        values = evaluate(function, t.reshape(len(t), *self.t.shape), *([p] if self.p is not None else []))
        return {o.name: v.reshape(len(t), -1) for o, v in zip(function.outputs, values, strict=True)}

    def _changes(self, grid: Array, p: Array) -> list[Array]:
        function = self._switching
        assert function is not None

        def levels(t: Array) -> Levels:
            return self._at(function, t, p)["levels"]

        points = grid
        if any(o.name == "gaps" for o in function.outputs):
            points = np.unique(np.concatenate([grid, _dips(grid, lambda t: self._at(function, t, p)["gaps"])]))
        return _level_changes(points, levels)

    def _peaks(self, grid: Array, p: Array) -> Array:
        function = self._values
        assert function is not None

        def values(t: Array) -> Levels:
            return self._at(function, t, p)["values"]

        seen = values(grid)
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
    near = (size[1:-1] <= size[:-2]) & (size[1:-1] <= size[2:]) & (np.sign(seen[:-2]) == np.sign(seen[2:]))
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
