"""What loops and constraints leave free at one position: degrees of freedom, redundancy, contradiction, singularity.

The matrix A of the velocity rows tells the motions that are possible at this instant. Some of its rows may repeat
others (redundant constraints) everywhere; at a singular position the rank is less than beside it, so that more motions
are possible for an instant: the mechanism may go on in several ways, or the additional motions may end as they begin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.dynamics.constraints.rank import ClosedStates, dependent_columns, followers, rank_here, redundant_rows
from torseur.model.assembly import Attempt, Closing, Loops, coordinates_from
from torseur.model.rows import ConstraintRow, moved, numeric_rows, owners_in_words

if TYPE_CHECKING:
    from torseur.model.model import Model

__all__ = ["Mobility", "mobility"]

Array = NDArray[np.float64]

STEP = 1e-2
TRIALS = 6


@dataclass(frozen=True)
class Mobility:
    """What is free at a position.

    Attributes:
        q: the position.
        nv: speeds of the open tree.
        rows: of loops and constraints.
        rank: how many of the rows count, here.
        usual_rank: how many count at positions beside this one.
        position_rank: how many of the position rows count, here.
        redundant: rows that add nothing to those before them, here.
        contradictory: rows that no speeds can meet together.
        motions: the allowed motions: for each independent speed what every speed is while that is 1.
        stuck: whether none of the allowed motions can be followed for more than an instant.
        massless: speeds along which an allowed motion moves no mass.
    """

    q: Array
    nv: int
    rows: tuple[ConstraintRow, ...]
    rank: int
    usual_rank: int
    position_rank: int
    redundant: tuple[ConstraintRow, ...]
    contradictory: tuple[ConstraintRow, ...]
    motions: dict[str, dict[str, float]]
    stuck: bool = False
    massless: tuple[str, ...] = ()

    @property
    def freedoms(self) -> int:
        """Degrees of freedom: independent speeds of the mechanism, away from singular positions.

        >>> closed.mobility().freedoms
        1
        """
        return 0 if self.stuck else self.nv - self.usual_rank

    @property
    def free_coordinates(self) -> int:
        """Independent coordinates; more than independent speeds where constraints are not integrable.

        >>> closed.mobility().free_coordinates
        1
        """
        return self.nv - self.position_rank

    @property
    def is_singular(self) -> bool:
        """Whether more motions are possible here than beside this position.

        >>> closed.mobility().is_singular
        False
        """
        return self.rank < self.usual_rank or self.stuck

    def __repr__(self) -> str:
        return f"<Mobility: {next(iter(self.lines()))}>"

    def lines(self) -> Iterator[str]:
        """In words, one statement a line.

        >>> print(next(iter(closed.mobility().lines())))
        1 degree of freedom: 3 speeds, 2 equations of which 2 independent
        """
        speeds = f"{self.nv} speed{'s' * (self.nv != 1)}"
        rows = f"{len(self.rows)} equation{'s' * (len(self.rows) != 1)}"
        freedoms = f"{self.freedoms} degree{'s' * (self.freedoms != 1)} of freedom"
        yield f"{freedoms}: {speeds}, {rows} of which {self.usual_rank} independent"
        if self.free_coordinates > self.nv - self.rank:
            more = self.free_coordinates - (self.nv - self.rank)
            yield f"{more} of the equations cannot be integrated: {self.free_coordinates} coordinates stay independent"
        if self.redundant and not self.is_singular:
            yield f"redundant here: {owners_in_words(self.redundant)}; their forces are not unique"
        if self.is_singular:
            yield from self._singular()
        if self.contradictory:
            yield f"contradictory: {owners_in_words(self.contradictory)}; no speeds satisfy them all"
        if self.massless:
            yield f"no mass moves along {', '.join(self.massless)}: accelerations are not defined"

    def __str__(self) -> str:
        return "; ".join(self.lines())

    def _repr_html_(self) -> str:
        """For notebooks."""
        return str(import_module("torseur.views.notebook").mobility_html(self))

    def _singular(self) -> Iterator[str]:
        words = [_in_words(motion) for motion in self.motions.values()]
        if self.stuck:
            yield "a singular position: no finite motion, but infinitesimal motions along " + "; ".join(words)
        else:
            here, extra = self.nv - self.rank, self.usual_rank - self.rank
            yield f"a singular position: {here} motions are possible at this instant, {extra} more than beside it"
            yield "possible: " + "; ".join(words)


def mobility(
    model: Model,
    q: ArrayLike | Mapping[str, float] | None = None,
    *,
    closing: Closing | None = None,
    **keywords: Any,
) -> Mobility:
    """The mobility of a model at a closed position; by default at the start of the description, assembled.

    Args:
        model: of the mechanism.
        q: a position (nq,) at which loops are closed.
        closing: how loops are closed, at the start and at positions beside it.
        keywords: t, inputs, parameters.
    """
    loops = Loops(model, closing or Closing(), [], keywords)
    position = coordinates_from(model, q)
    return _Position(model, loops.closed_one(position).q[0] if q is None else position, loops, keywords).mobility


def _in_words(motion: dict[str, float]) -> str:
    return ", ".join(f"{name} {x:.4g}" for name, x in motion.items() if abs(x) > 1e-9)


@dataclass(frozen=True)
class _Position:
    model: Model
    q: Array
    loops: Loops
    keywords: dict[str, Any]

    def matrix(self, q: Array) -> Array:
        if not self.model.constraint_rows:
            return np.zeros((*q.shape[:-1], 0, self.model.nv))
        return np.asarray(self.model.function("constraint_jacobian")(q, **self.keywords))

    @cached_property
    def A(self) -> Array:
        return self.matrix(self.q)

    @cached_property
    def around(self) -> ClosedStates:
        """Closed states around this one, which tell how long rows usually are."""
        return ClosedStates(numeric_rows(self.model, self.keywords), self.q)

    @property
    def scaled(self) -> Array:
        """The rows in one unit: what ranks and choices are judged by."""
        return self.around.here

    @property
    def mobility(self) -> Mobility:
        model, rows = self.model, self.model.constraint_rows
        H = self.scaled[list(self.around.rows.holonomic)]
        mobility = Mobility(
            q=self.q,
            nv=model.nv,
            rows=rows,
            rank=rank_here(self.scaled),
            usual_rank=rank_here(self.scaled),
            position_rank=rank_here(H),
            redundant=tuple(rows[k] for k in redundant_rows(self.scaled)),
            contradictory=self.contradictory,
            motions=self.motions,
            massless=self.massless,
        )
        # Rows that all count cannot gain beside this position.
        return self.compared(mobility) if mobility.rank < len(rows) and mobility.rank < model.nv else mobility

    @property
    def contradictory(self) -> tuple[ConstraintRow, ...]:
        if not self.model.constraint_rows:
            return ()
        c = np.asarray(self.model.function("constraint_rates")(self.q, np.zeros(self.model.nv), **self.keywords))
        U = np.linalg.svd(self.A)[0][:, : rank_here(self.scaled)]
        left = c - U @ (U.T @ c)
        bad = np.abs(left) > 1e-9 * max(1.0, float(np.abs(c).max(initial=0.0)))
        return tuple(row for row, is_bad in zip(self.model.constraint_rows, bad, strict=True) if is_bad)

    @property
    def motions(self) -> dict[str, dict[str, float]]:
        names = [x.name for x in self.model.speeds]
        dependent = dependent_columns(self.scaled)
        independent = [k for k in range(self.model.nv) if k not in dependent]
        F = followers(self.A, dependent) if dependent else np.zeros((0, len(independent)))
        motions = {}
        for j, k in enumerate(independent):
            motions[names[k]] = {names[k]: 1.0} | {names[d]: float(F[i, j]) for i, d in enumerate(dependent)}
        return motions

    @property
    def massless(self) -> tuple[str, ...]:
        """The speeds of an allowed motion without inertia; none as long as inertias have no values."""
        inertia = self.model.function("mass_matrix")
        if not inertia.has_values(self.keywords.get("parameters")):
            return ()
        M = np.asarray(inertia(self.q[None], **self.keywords))[0]
        if not np.isfinite(M).all():
            return ()
        Z = self.around.null_space
        values, vectors = np.linalg.eigh(Z.T @ M @ Z)
        if not values.size or values[0] > 1e-12 * max(float(np.abs(M).max()), 1e-300):
            return ()
        share = np.abs(Z @ vectors[:, 0])
        return tuple(x.name for x, s in zip(self.model.speeds, share, strict=True) if s > 0.1 * share.max())

    def compared(self, mobility: Mobility) -> Mobility:
        """With positions beside this one, a small step along the allowed motions and closed again."""
        rng, Z = np.random.default_rng(0), self.around.null_space
        steps = rng.normal(size=(TRIALS, Z.shape[1]))
        steps = STEP * (steps / np.linalg.norm(steps, axis=1, keepdims=True)) @ Z.T
        there = moved(self.model, np.broadcast_to(self.q, (TRIALS, self.model.nq)), steps)
        beside = self.loops.newton(there) if self.loops.rows else Attempt.of(there)
        closed = beside.closed
        if not closed.any():
            return mobility
        far = np.linalg.norm(beside.q[closed] - self.q, axis=-1)
        if (far < 0.1 * STEP).all() and any(row.holonomic for row in mobility.rows):
            return replace(mobility, stuck=True)
        there = self.around.rows.scaled(self.matrix(beside.q[closed])) / self.around.row_lengths[:, None]
        return replace(mobility, usual_rank=max(mobility.rank, *(rank_here(A) for A in there)))
