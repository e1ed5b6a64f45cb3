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
from torseur.dynamics.kinematics import displaced
from torseur.dynamics.workbench import Workbench
from torseur.graph import Expr, Function, evaluate

__all__ = ["RANK_TOLERANCE", "SampledRows", "rank_of"]

RANK_TOLERANCE = 1e-7
"""Singular values below this fraction of the largest are zero: states are closed to about 1e-10."""

_STATES, _TRIALS, _STEPS = 3, 30, 40
_CLOSED = 1e-10
_LONGEST = 0.5

Array = NDArray[np.float64]


def rank_of(A: Array) -> int:
    """The rank of a matrix whose rows are first brought to unit length."""
    if not A.size:
        return 0
    lengths = np.linalg.norm(A, axis=1, keepdims=True)
    s = np.linalg.svd(A / np.where(lengths > 0.0, lengths, 1.0), compute_uv=False)
    return int(np.count_nonzero(s > RANK_TOLERANCE * max(s[0], 1e-300)))


@dataclass(frozen=True)
class _State:
    q: Array
    u: Array
    p: Array

    t = 0.3


class SampledRows:
    """Rows at allowed states; there is none where no closed position was found near the start."""

    def __init__(self, w: Workbench, seed: int = 5) -> None:
        self.w, self.constraints, self._rng = w, w.constraints, np.random.default_rng(seed)
        system = w.system
        self._blocks = [b for b in (system.q, system.v, system.graph.blocks["t"], system.u, system.p) if b.size]

    @cached_property
    def states(self) -> list[_State]:
        """The first is the start itself, if it can be closed; the others are near it."""
        found: list[_State] = []
        for trial in range(_TRIALS):
            state = self._closed(self._near_start(0.0 if trial == 0 else 0.2 + 0.05 * trial))
            if state is not None:
                found.append(state)
            if len(found) == _STATES:
                break
        return found

    def at_states(self, rows: list[list[Expr]]) -> list[Array]:
        """A matrix of expressions of q, t, inputs and parameters at every state."""
        if not rows:
            return [np.zeros((0, len(self.constraints.system.v))) for _ in self.states]
        function = Function("rows", self._blocks, {"rows": rows})
        return [self._evaluated(function, state)[0] for state in self.states]

    @cached_property
    def A(self) -> list[Array]:
        return self.at_states(self.constraints.A)

    @property
    def rank(self) -> int:
        """Of the rows, at the states where it is largest."""
        return max(rank_of(A) for A in self.A)

    # -- states --------------------------------------------------------------------------------------------------------
    def _near_start(self, spread: float) -> _State:
        system, rng = self.constraints.system, self._rng
        mechanism = system.mechanism
        known = [mechanism.parameters[name].value for name in system.p.names]
        p = np.array([rng.uniform(0.5, 1.5) if not isinstance(x, (int, float)) else float(x) for x in known])
        u = np.array([x.default for x in mechanism.inputs.values()]) + spread * rng.uniform(-1, 1, system.u.size)
        q = np.zeros(system.q.size)
        if q.size:
            start = [system.scalar(variable.start) for variable in mechanism.q]
            q = self._evaluated(Function("start", self._blocks, {"q": start}), _State(q, u, p))[0]
        return _State(self._moved(_State(q + spread * rng.uniform(-1, 1, q.size), u, p), None), u, p)

    @cached_property
    def _displacement(self) -> Function:
        system = self.constraints.system
        return Function("moved", self._blocks, {"q": displaced(system, list(system.q), list(system.v))})

    def _moved(self, state: _State, step: Array | None) -> Array:
        return self._evaluated(self._displacement, state, step)[0] if state.q.size else state.q

    @cached_property
    def _closing(self) -> Function:
        rows = self.constraints
        sides = [side for cut in rows.cuts for side in sides_of(self.w, cut)]
        outputs = {"A": [rows.A[k] for k in rows.holonomic], "h": rows.h, "sides": [*sides, self.w.system.graph.one]}
        return Function("closing", self._blocks, outputs)

    def _closed(self, state: _State) -> _State | None:
        """The state with its holonomic rows met; None if that fails."""
        if not self.constraints.holonomic:
            return state
        for _ in range(_STEPS):
            A, h, sides = self._evaluated(self._closing, state)
            if not (np.isfinite(A).all() and np.isfinite(h).all()):
                return None
            if np.abs(h).max() < _CLOSED:
                return state if sides.min() > 0.0 else None
            step = np.asarray(-np.linalg.lstsq(A, h, rcond=1e-9)[0], dtype=np.float64)
            step *= min(1.0, _LONGEST / max(float(np.linalg.norm(step)), 1e-300))
            state = _State(self._moved(state, step), state.u, state.p)
        return None

    def _evaluated(self, function: Function, state: _State, v: Array | None = None) -> tuple[Array, ...]:
        values = {"q": state.q, "v": np.zeros(len(self.constraints.system.v)) if v is None else v}
        values |= {"t": np.asarray(state.t), "u": state.u, "p": state.p}
        return evaluate(function, *(values[block.name] for block in function.inputs))
