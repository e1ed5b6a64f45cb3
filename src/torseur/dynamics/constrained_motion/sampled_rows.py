"""Constraint rows in numbers while a mechanism is being derived: closed states near its start, without native code.

Parameters without a value get one by chance, and inputs a little of it, so that no special value passes for the rule.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from torseur.dynamics.constraints.closing import NumericRows, newton
from torseur.dynamics.constraints.rank import ClosedStates, equilibrated, most_ranks, rank_here, rank_over
from torseur.dynamics.constraints.rows import Constraints, sides_of
from torseur.dynamics.tree.coordinates import displaced
from torseur.dynamics.workbench import Workbench
from torseur.graph import Expr, Function, evaluate

__all__ = ["SampledRows", "angle_rows", "length_speeds"]

_TRIALS, _INSTANT = 30, 0.3

Array = NDArray[np.float64]


def angle_rows(constraints: Constraints) -> NDArray[np.bool_]:
    """Which rows are angles rather than lengths."""
    return np.array([row.unit == "N m" for row in constraints.rows], dtype=bool)


def length_speeds(w: Workbench) -> NDArray[np.bool_]:
    """Which speeds are those of lengths."""
    return np.array([x.unit == "m/s" for x in w.system.mechanism.v], dtype=bool)


class SampledRows:
    """Rows at allowed states; there is none where no closed position was found near the start.

    Args:
        w: the mechanism.
        start: coordinates in place of those of the description (nq,).
        seed: of what is left to chance.
    """

    def __init__(self, w: Workbench, start: Array | None = None, seed: int = 5) -> None:
        self.w, self.constraints, self._rng = w, w.constraints, np.random.default_rng(seed)
        self._given = start
        system = w.system
        self._blocks = [b for b in (system.q, system.v, system.graph.blocks["t"], system.u, system.p) if b.size]

    # -- values --------------------------------------------------------------------------------------------------------
    @cached_property
    def _p(self) -> Array:
        found = self._rng.uniform(0.5, 1.5, self.w.system.p.size)
        for k, name in enumerate(self.w.system.p.names):
            value = self.w.system.mechanism.parameters[name].value
            if isinstance(value, (int, float)):
                found[k] = value
        return found

    @cached_property
    def _u(self) -> Array:
        defaults = np.array([x.default for x in self.w.system.mechanism.inputs.values()])
        return defaults + 0.1 * self._rng.uniform(-1, 1, self.w.system.u.size)

    @property
    def values(self) -> dict[str, Array]:
        """Time, inputs and parameters at all states, by the names of their blocks."""
        return {"t": np.asarray(_INSTANT), "u": self._u, "p": self._p}

    def _evaluated(self, function: Function, q: Array, v: Array | None = None) -> tuple[Array, ...]:
        k = len(q)
        values = {"q": q, "v": np.zeros((k, self.w.tree.nv)) if v is None else v, "t": np.full(k, _INSTANT)}
        values |= {"u": np.tile(self._u, (k, 1)), "p": np.tile(self._p, (k, 1))}
        return evaluate(function, *(values[block.name] for block in function.inputs))

    # -- rows ----------------------------------------------------------------------------------------------------------
    @cached_property
    def rows(self) -> NumericRows:
        """For `torseur.dynamics.constraints.closing`."""
        c, system = self.constraints, self.w.system
        sides = [side for cut in c.cuts for side in sides_of(self.w.tree, cut)]
        h, A, side = (
            Function(name, self._blocks, {name: found})
            for name, found in (("h", c.h), ("A", c.A), ("sides", [*sides, system.graph.one]))
        )
        step = Function("moved", self._blocks, {"q": displaced(system, list(system.q), list(system.v))})
        return NumericRows(
            h=lambda q: self._evaluated(h, q)[0] if c.h else np.zeros((len(q), 0)),
            A=lambda q: self._evaluated(A, q)[0],
            moved=lambda q, d: self._evaluated(step, q, d)[0],
            holonomic=c.holonomic,
            angles=angle_rows(c),
            lengths=length_speeds(self.w),
            components=c.components,
            L=self._length,
            sides=lambda q: np.asarray(self._evaluated(side, q)[0].min(axis=-1)),
        )

    @property
    def _length(self) -> float:
        nowhere = np.zeros((1, self.w.system.q.size))
        return float(self._evaluated(Function("length", self._blocks, {"length": self.w.length}), nowhere)[0][0])

    @cached_property
    def _start(self) -> Array:
        """(1, nq)."""
        system = self.w.system
        if self._given is not None:
            return np.asarray(self._given, dtype=float)[None]
        if not system.q.size:
            return np.zeros((1, 0))
        start = Function("start", self._blocks, {"q": [system.scalar(x.start) for x in system.mechanism.q]})
        return self._evaluated(start, np.zeros((1, system.q.size)))[0]

    @cached_property
    def _beside(self) -> Array:
        """Closed positions beside the start, farther and farther off; they may lie on other branches."""
        spread = np.array([0.2 + 0.05 * k for k in range(1, _TRIALS)])[:, None]
        steps = spread * self._rng.uniform(-1, 1, (_TRIALS - 1, self.w.tree.nv))
        found = newton(self.rows, self.rows.moved(np.tile(self._start, (_TRIALS - 1, 1)), steps))
        return found.q[found.closed]

    @cached_property
    def _closed(self) -> ClosedStates | None:
        """Around the start, or around a closed position beside it."""
        q = self.rows.moved(self._start, np.zeros((1, self.w.tree.nv))) if self.w.system.q.size else self._start
        found = newton(self.rows, q)
        if found.closed[0]:
            return ClosedStates(self.rows, found.q[0])
        return ClosedStates(self.rows, self._beside[0]) if len(self._beside) else None

    @cached_property
    def states(self) -> Array:
        """(k, nq): around the start; around it and beside it where the start is singular, and says little."""
        if self._closed is None:
            return np.zeros((0, self.w.system.q.size))
        if rank_here(self._closed.here) == self.rank or not self.constraints.holonomic:
            return self._closed.q
        return np.concatenate([self._closed.q, self._beside])

    def at_states(self, rows: list[list[Expr]]) -> Array:
        """A matrix of expressions of q, t, inputs and parameters at every state: (states, rows, columns)."""
        if not rows:
            return np.zeros((len(self.states), 0, self.w.tree.nv))
        return self._evaluated(Function("rows", self._blocks, {"rows": rows}), self.states)[0]

    @cached_property
    def A(self) -> Array:
        """The rows at every state, scaled and equilibrated."""
        return equilibrated(np.nan_to_num(self.rows.scaled(self.rows.A(self.states))))

    @property
    def rank(self) -> int:
        return sum(self.component_ranks)

    @cached_property
    def component_ranks(self) -> list[int]:
        """Of the components of the rows; none where no state is closed."""
        return [] if self._closed is None else [found.rank for found in self._closed.ranks()]

    @property
    def ranks(self) -> Array:
        """Of the components, then of their holonomic rows; as many as there can be where no state is closed."""
        if self._closed is None:
            return most_ranks(self.rows)
        return self._closed.all_ranks([row.name for row in self.constraints.rows])

    def rank_with(self, rows: list[list[Expr]]) -> int:
        """Of the rows and some more of speeds, together."""
        more = self.rows_in_columns(self.at_states(rows))
        return rank_over(np.concatenate([self.A, more], axis=1)).rank

    def rows_in_columns(self, Y: Array) -> Array:
        """Rows of speeds with lengths measured like those of the constraints."""
        return equilibrated(np.asarray(Y * self.rows.columns))
