"""Constraint rows in numbers, at a few states that the constraints allow: what rank and choices are judged by.

The states are near the start of the description, with a little chance in every coordinate and input, so that no
special position passes for the rule. Holonomic rows are closed by Newton's method with the shortest steps; a joint that
closes upside down does not count. Parameters without a value get one by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from torseur.dynamics.closing_sides import sides_of
from torseur.dynamics.constrained import FLOOR
from torseur.dynamics.kinematics import displaced
from torseur.dynamics.workbench import Workbench
from torseur.graph import Expr, Function, evaluate

__all__ = ["RANK_TOLERANCE", "SampledRows", "rank_of", "unit_rows"]

RANK_TOLERANCE = 1e-7
"""Singular values of rows of unit length below this fraction of the largest are zero: states are closed to about 1e-10.
"""

_STATES, _TRIALS, _STEPS = 3, 30, 40
_CLOSED = 1e-10
_LONGEST = 0.5

Array = NDArray[np.float64]


def unit_rows(A: Array) -> Array:
    """The rows brought to unit length; those that hold nothing but rounding become zero."""
    lengths = np.linalg.norm(A, axis=-1, keepdims=True)
    return np.asarray(A / np.where(lengths > FLOOR, lengths, np.inf))


def rank_of(A: Array) -> int:
    """The rank of a matrix, by its rows at unit length."""
    s = np.linalg.svd(unit_rows(A), compute_uv=False) if A.size else np.zeros(0)
    return int(np.count_nonzero(s > RANK_TOLERANCE * s.max(initial=1e-300)))


@dataclass(frozen=True)
class States:
    """Coordinates, inputs and parameters of some states: (states, n) each."""

    q: Array
    u: Array
    p: Array

    t = 0.3

    def __len__(self) -> int:
        return len(self.q)

    def some(self, which: NDArray[np.intp]) -> States:
        return States(self.q[which], self.u[which], self.p[which])


class SampledRows:
    """Rows at allowed states; there is none where no closed position was found near the start."""

    def __init__(self, w: Workbench, seed: int = 5) -> None:
        self.w, self.constraints, self._rng = w, w.constraints, np.random.default_rng(seed)
        system = w.system
        self._blocks = [b for b in (system.q, system.v, system.graph.blocks["t"], system.u, system.p) if b.size]

    @cached_property
    def states(self) -> States:
        """The start itself, if it can be closed, and others near it."""
        found, closed = self._closed(self._near_start())
        return found.some(np.flatnonzero(closed)[:_STATES].astype(np.intp))

    def at_states(self, rows: list[list[Expr]]) -> Array:
        """A matrix of expressions of q, t, inputs and parameters at every state: (states, rows, columns)."""
        if not rows:
            return np.zeros((len(self.states), 0, self.w.tree.nv))
        return self._evaluated(Function("rows", self._blocks, {"rows": rows}), self.states)[0]

    @cached_property
    def A(self) -> Array:
        return self.at_states(self.constraints.A)

    @property
    def rank(self) -> int:
        """Of the rows, at the states where it is largest."""
        return max(rank_of(A) for A in self.A)

    # -- states --------------------------------------------------------------------------------------------------------
    def _near_start(self) -> States:
        """The first is the start; the others are farther and farther off."""
        system, rng = self.w.system, self._rng
        mechanism = system.mechanism
        spread = np.array([0.0, *(0.2 + 0.05 * k for k in range(1, _TRIALS))])[:, None]
        p = rng.uniform(0.5, 1.5, (_TRIALS, system.p.size))
        for k, name in enumerate(system.p.names):
            value = mechanism.parameters[name].value
            if isinstance(value, (int, float)):
                p[:, k] = value
        u = spread * rng.uniform(-1, 1, (_TRIALS, system.u.size))
        u += np.array([x.default for x in mechanism.inputs.values()])
        q = np.zeros((_TRIALS, system.q.size))
        if system.q.size:
            start = [system.scalar(variable.start) for variable in mechanism.q]
            q = self._evaluated(Function("start", self._blocks, {"q": start}), States(q, u, p))[0]
        q = q + spread * rng.uniform(-1, 1, q.shape)
        return States(self._moved(States(q, u, p), np.zeros((_TRIALS, self.w.tree.nv))), u, p)

    @cached_property
    def _displacement(self) -> Function:
        system = self.w.system
        return Function("moved", self._blocks, {"q": displaced(system, list(system.q), list(system.v))})

    def _moved(self, states: States, steps: Array) -> Array:
        return self._evaluated(self._displacement, states, steps)[0] if states.q.size else states.q

    @cached_property
    def _closing(self) -> Function:
        rows = self.constraints
        sides = [side for cut in rows.cuts for side in sides_of(self.w, cut)]
        outputs = {"A": [rows.A[k] for k in rows.holonomic], "h": rows.h, "sides": [*sides, self.w.system.graph.one]}
        return Function("closing", self._blocks, outputs)

    def _closed(self, states: States) -> tuple[States, NDArray[np.bool_]]:
        """The states after steps that close their holonomic rows, and for which of them that succeeded."""
        if not self.constraints.holonomic:
            return states, np.ones(len(states), dtype=bool)
        closed = np.zeros(len(states), dtype=bool)
        for _ in range(_STEPS):
            A, h, sides = self._evaluated(self._closing, states)
            good = np.asarray(np.isfinite(A).all(axis=(1, 2)) & np.isfinite(h).all(axis=1))
            A, h = np.where(good[:, None, None], A, 0.0), np.where(good[:, None], h, 0.0)
            met = good & (np.abs(h).max(axis=1) < _CLOSED)
            closed = met & (sides.min(axis=1) > 0.0)
            done = met | ~good
            if done.all() or (done[0] and np.count_nonzero(closed) >= _STATES):
                break
            steps = -np.einsum("kij,kj->ki", np.linalg.pinv(A, rcond=1e-9), h)
            lengths = np.linalg.norm(steps, axis=1, keepdims=True)
            steps *= np.minimum(1.0, _LONGEST / np.maximum(lengths, 1e-300)) * (1.0 - met)[:, None]
            states = States(self._moved(states, steps), states.u, states.p)
        return states, closed

    def _evaluated(self, function: Function, states: States, v: Array | None = None) -> tuple[Array, ...]:
        values = {"q": states.q, "v": np.zeros((len(states), self.w.tree.nv)) if v is None else v}
        values |= {"t": np.full(len(states), states.t), "u": states.u, "p": states.p}
        return evaluate(function, *(values[block.name] for block in function.inputs))
