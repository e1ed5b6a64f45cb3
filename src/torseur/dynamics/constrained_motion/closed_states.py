"""Closed states near the start, and constraint rows in numbers there, while a mechanism is derived: no native code.

Parameters without a value get one by chance, and inputs a little of it, so that no special value passes for the rule.

Closed states are reached from the start by small steps along the allowed motion. Steps that keep to the motion stay on
the branch of the start, which random guesses would not. All states of one call have the same parameters; a step that
cannot be closed, or ends where the rows lose rank, is taken back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from torseur.dynamics.constraints.closing import NumericRows, newton
from torseur.dynamics.constraints.rank import FLOOR, ClosedStates, equilibrated, most_ranks, rank_here, rank_over
from torseur.dynamics.constraints.rows import Constraints, sides_of
from torseur.dynamics.tree.system import displaced
from torseur.dynamics.workbench import Workbench
from torseur.graph import Expr, Function, Role, evaluate, tangents

__all__ = ["AllowedMotions", "Motions", "SampledRows", "angle_rows", "length_speeds"]


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
        p = self._rng.uniform(0.5, 1.5, self.w.system.p.size)
        for k, name in enumerate(self.w.system.p.names):
            value = self.w.system.mechanism.parameters[name].value
            if isinstance(value, (int, float)):
                p[k] = value
        return p

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
            Function(name, self._blocks, {name: rows})
            for name, rows in (("h", c.h), ("A", c.A), ("sides", [*sides, system.graph.one]))
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
        attempt = newton(self.rows, self.rows.moved(np.tile(self._start, (_TRIALS - 1, 1)), steps))
        return attempt.q[attempt.closed]

    @cached_property
    def _closed(self) -> ClosedStates | None:
        """Around the start, or around a closed position beside it."""
        q = self.rows.moved(self._start, np.zeros((1, self.w.tree.nv))) if self.w.system.q.size else self._start
        attempt = newton(self.rows, q)
        if attempt.closed[0]:
            return ClosedStates(self.rows, attempt.q[0])
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
        return [] if self._closed is None else [component.rank for component in self._closed.ranks()]

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


_STEPS, _LENGTH = 12, 0.25
_NEWTON, _CLOSED = 12, 1e-12
_REGULAR = 1e-4
"""Rows of unit length whose smallest singular value that counts is below this are at a singular position."""


@dataclass(frozen=True)
class Motions:
    """Allowed motions: q, v, vdot, a basis N of the allowed speeds (states, nv, freedoms), and the other inputs."""

    q: Array
    v: Array
    vdot: Array
    N: Array
    inputs: dict[str, Array]

    def at(self, function: Function) -> Array:
        """The first result of a function of q, v, vdot, t, inputs and parameters at every state."""
        values = {"q": self.q, "v": self.v, "vdot": self.vdot, **self.inputs}
        values_there = evaluate(function, *(values[b.name] for b in function.inputs))[0]
        return np.broadcast_to(values_there, (len(self.q), *function.outputs[0].shape))


class AllowedMotions:
    """Allowed states of a mechanism, near its start and far from it; what is driven is driven in any way."""

    def __init__(self, w: Workbench) -> None:
        self.w, system, g = w, w.system, w.system.graph
        self._sampled = SampledRows(w)
        n = len(system.u)
        known = g.blocks
        names = ("u_rate", "u_rate_rate") if n else ()
        self._pushes = [known[x] if x in known else g.block(x, n, Role.INPUT) for x in names]
        blocks = (system.q, system.v, g.blocks["t"], system.u, system.p, *self._pushes)
        self._blocks = [b for b in blocks if b.size]

    @property
    def exist(self) -> bool:
        """Whether any is known."""
        return len(self._sampled.states) > 0

    @property
    def freedoms(self) -> int:
        return self.w.tree.nv - self._sampled.rank

    @property
    def parameters(self) -> Array:
        """Their values in the description, or by chance where it has none."""
        return self._sampled.values["p"]

    def value_at_start(self, x: Expr) -> float:
        """An expression of q, t, inputs and parameters at the closed state nearest to the start."""
        drive = {name: value[None] for name, value in self._sampled.values.items()}
        return float(
            self._evaluated(Function("x", self._blocks, {"x": x}), self._sampled.states[:1], None, drive)[0][0]
        )

    def rows(self, n: int) -> Array:
        """The matrix A at up to n random states: (states, rows, nv)."""
        motions = self.motions(n, self.parameters)
        return self._evaluated(self._matrix, motions.q, None, motions.inputs)[0]

    def scaled(self, A: Array) -> Array:
        """Rows in one unit, and columns too."""
        return self._sampled.rows.scaled(A)

    def motions(self, n: int, p: Array, seed: int = 0) -> Motions:
        """Up to n random motions at parameters p; fewer where states cannot be reached."""
        rng, values = np.random.default_rng(seed), self._sampled.values | {"p": p}
        begin = {name: np.tile(x, (n, *(1 for _ in x.shape))) for name, x in values.items()}
        end = begin | {"t": rng.uniform(0, 2, n), "u": begin["u"] + 0.5 * rng.uniform(-1, 1, begin["u"].shape)}
        q, ok = self._closed(np.tile(self._sampled.states[0], (n, 1)), begin)
        reach = rng.uniform(0.3, 1.0, (n, 1)) * _LENGTH
        for k in range(1, _STEPS + 1):
            drive = {name: x + k / _STEPS * (end[name] - x) for name, x in begin.items()}
            turn = np.einsum("kij,kj->ki", self._basis(q, drive)[0], rng.normal(size=(n, self.freedoms)))
            step = reach * turn / np.maximum(np.linalg.norm(turn, axis=1, keepdims=True), 1e-300)
            trial, near = self._closed(self._moved(q, step, drive), drive)
            still, there = self._closed(q, drive)  # where the step fails: only what is driven moves
            q, ok = np.where(near[:, None], trial, still), ok & (near | there)
        return self._moving(q[ok], {name: x[ok] for name, x in end.items()}, rng)

    def _moving(self, q: Array, drive: dict[str, Array], rng: np.random.Generator) -> Motions:
        """Random speeds and accelerations that the rows allow."""
        drive = drive | {block.name: rng.normal(size=(len(q), block.size)) for block in self._pushes}
        N, inverse, _ = self._basis(q, drive)
        a, adot = rng.normal(size=(2, len(q), self.freedoms))
        asked = -self._evaluated(self._rates, q, None, drive)[0]
        v = np.einsum("kij,kj->ki", N, a) + np.einsum("kij,kj->ki", inverse, asked)
        asked = -self._evaluated(self._rates, q, v, drive)[1]
        vdot = np.einsum("kij,kj->ki", N, adot) + np.einsum("kij,kj->ki", inverse, asked)
        return Motions(q, v, vdot, N, drive)

    # -- details -------------------------------------------------------------------------------------------------------
    def _basis(self, q: Array, drive: dict[str, Array]) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Of the allowed speeds; the inverse of the rows at their rank; and which states are regular."""
        A, r, rows = self._evaluated(self._matrix, q, None, drive)[0], self._sampled.rank, self._sampled.rows
        if not A.shape[1] or not len(q):
            n = self.w.tree.nv
            return np.tile(np.eye(n), (len(q), 1, 1)), np.zeros((len(q), n, A.shape[1])), np.ones(len(q), bool)
        scaled = rows.scaled(A)
        lengths = np.maximum(np.linalg.norm(scaled, axis=-1).max(axis=0), FLOOR)
        U, s, Vt = np.linalg.svd(scaled / lengths[:, None])
        inverse = np.einsum("kri,kr,kjr->kij", Vt[:, :r], 1.0 / np.maximum(s[:, :r], 1e-300), U[:, :, :r])
        factors = rows.scaled(np.ones(A.shape[1:])) / rows.columns / lengths[:, None]
        inverse = rows.columns[:, None] * inverse * factors[:, 0]
        regular = s[:, r - 1] > _REGULAR * s[:, 0] if r else np.ones(len(q), bool)
        return rows.columns[:, None] * np.swapaxes(Vt[:, r:], 1, 2), inverse, regular

    def _closed(self, q: Array, drive: dict[str, Array]) -> tuple[Array, NDArray[np.bool_]]:
        """The states after Newton's steps, and which of them are closed and regular."""
        if not len(self.w.constraints.holonomic):
            return q, self._basis(q, drive)[2]
        for _ in range(_NEWTON):
            A, h = self._evaluated(self._closing, q, None, drive)
            good = np.asarray(np.isfinite(A).all(axis=(1, 2)) & np.isfinite(h).all(axis=1))
            A, h = np.where(good[:, None, None], A, 0.0), np.where(good[:, None], h, 0.0)
            if np.abs(h).max(initial=0.0) < 0.01 * _CLOSED:
                break
            q = self._moved(q, -np.einsum("kij,kj->ki", np.linalg.pinv(A, rcond=1e-9), h), drive)
        h = self._evaluated(self._closing, q, None, drive)[1]
        closed = np.asarray(good & np.isfinite(h).all(axis=1) & (np.abs(h).max(axis=1) < _CLOSED))
        closed[closed] = self._basis(q[closed], {name: x[closed] for name, x in drive.items()})[2]
        return q, closed

    def _moved(self, q: Array, step: Array, drive: dict[str, Array]) -> Array:
        return self._evaluated(self._displacement, q, step, drive)[0]

    def _evaluated(self, function: Function, q: Array, v: Array | None, drive: dict[str, Array]) -> tuple[Array, ...]:
        n, still = len(q), np.zeros((len(q), self.w.tree.nv))
        values = {block.name: np.zeros((n, block.size)) for block in self._pushes}
        values |= {"q": q, "v": still if v is None else v, **drive}
        result = evaluate(function, *(values[block.name] for block in function.inputs))
        shapes = [output.shape for output in function.outputs]
        return tuple(np.broadcast_to(x, (n, *shape)) for x, shape in zip(result, shapes, strict=True))

    @cached_property
    def _matrix(self) -> Function:
        return Function("matrix", self._blocks, {"A": self.w.constraints.A})

    @cached_property
    def _rates(self) -> Function:
        """The rows at the levels of velocity and acceleration (vdot = 0), inputs moving at any rate."""
        seeds, u = dict(self.w.constraints.seeds), self.w.system.u
        for block, rate in zip((u, *self._pushes), self._pushes, strict=False):
            seeds |= dict(zip(block, rate, strict=True))
        rows = self.w.constraints.rows
        r = [row.rate if row.position is None else tangents([row.position], seeds)[0] for row in rows]
        return Function("rates", self._blocks, {"r": r, "rdot": tangents(r, seeds)})

    @cached_property
    def _closing(self) -> Function:
        rows = self.w.constraints
        return Function("closing", self._blocks, {"A": [rows.A[k] for k in rows.holonomic], "h": rows.h})

    @cached_property
    def _displacement(self) -> Function:
        system = self.w.system
        return Function("moved", self._blocks, {"q": displaced(system, list(system.q), list(system.v))})
