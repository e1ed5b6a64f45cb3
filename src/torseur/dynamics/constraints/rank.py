"""Rank and choice: what numbers say of constraint rows. The one place where such things are decided.

======  ================================================================================================
h, A    position rows and matrix of the velocity rows, at a state
r       rank of A: how many of the rows count
======  ================================================================================================

**Scale.** Rows are compared in metres and columns in radians: rows that are angles are multiplied by the mechanism's
length L, columns of lengths by L, and all divided by L. Then each row is divided by its largest length over the states
at hand. So neither units nor the sizes of links decide.

**Rank.** Which rows are redundant changes from position to position; their number belongs to a branch of the
configuration space, to values of the parameters and to a set of active rows. It is found at states that are closed to
rounding and reached from a closed one by continuation along the allowed motion: other assemblies may lie on other
branches, and open states have spurious rank (Bricard's linkage has rank 6 off closure and 5 on it). Singular values
of all these states tell it by their widest gap, above the level at which the states are closed.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.dynamics.constraints.closing import Array, Attempt, NumericRows, Patience, newton
from torseur.errors import TorseurWarning

__all__ = [
    "ClosedStates",
    "Rank",
    "dependent_columns",
    "equilibrated",
    "followers",
    "most_ranks",
    "null_space",
    "rank_here",
    "rank_over",
    "redundant_rows",
]

ROUNDING = 1e-14
"""Singular values of scaled rows below this part of the largest are rounding, however well states are closed."""

SINGULAR = 1e-6
"""At one position, singular values of rows of usual length below this are zeros: positions that are closed to 1e-12
meet a singular one to the square root of that only."""


_WALKS, _STEPS, _FAR = 4, 3, 0.08
"""Continuation: how many ways are followed, with how many steps each, of what length (rad, or a part of L)."""

CLEAR = 1e2
"""How much wider than any other the gap between singular values must be, or the rank is in doubt."""

WEAK = 1e-4
"""The last pivot is lost for an instant where it is below this part of its usual size: near a singular position it
would divide what is off closure by ever less. Passing it, the motion has one freedom more for a moment."""

FLOOR = 0.05
"""Rows shorter than this, scaled, are not lengthened to one: they may hold nothing but rounding, or vanish where the
mechanism is stuck in a singular position."""


@dataclass(frozen=True)
class Rank:
    """How many rows count.

    Attributes:
        rank: the number.
        gap: the smallest singular value that counts over the largest that does not, or over the noise.
        other: the next widest gap, for another rank.
    """

    rank: int
    gap: float
    other: float = 1.0

    @property
    def is_clear(self) -> bool:
        return self.gap >= CLEAR * self.other


def equilibrated(A: Array) -> Array:
    """Scaled rows (k, m, n), each divided by its largest length over the states."""
    lengths = np.linalg.norm(A, axis=-1).max(axis=0, initial=0.0)
    return np.asarray(A / np.maximum(lengths, FLOOR)[:, None])


def rank_over(A: Array, noise: float = 0.0) -> Rank:
    """The rank of scaled rows at several states (k, m, n), by the widest gap of singular values above the noise."""
    if not A.size:
        return Rank(0, np.inf)
    s = np.linalg.svd(equilibrated(A), compute_uv=False).max(axis=0)
    if not s[0] > 10.0 * max(ROUNDING, noise):
        return Rank(0, np.inf)
    floor = s[0] * max(ROUNDING, noise)
    levels = np.maximum(np.append(s, 0.0), floor)
    gaps = levels[:-1] / levels[1:]
    rank = 1 + int(np.argmax(gaps))
    return Rank(rank, float(gaps[rank - 1]), float(np.delete(gaps, rank - 1).max(initial=1.0)))


def rank_here(A: Array) -> int:
    """The rank of rows (m, n) of usual length at one position, which may be a singular one."""
    s = np.linalg.svd(A, compute_uv=False) if A.size else np.zeros(0)
    return int(np.count_nonzero(s > _least(float(s.max(initial=0.0)))))


def _least(size: float) -> float:
    """What still counts beside a largest of this size, of rows that are usually of length one."""
    return SINGULAR * max(size, 1.0)


def null_space(A: Array, n: int, rank: int | None = None) -> Array:
    """An orthonormal basis (n, k) of the motions that rows allow."""
    if not A.size:
        return np.eye(n)
    return np.asarray(np.linalg.svd(A)[2][rank_here(A) if rank is None else rank :].T)


def redundant_rows(A: Array) -> list[int]:
    """The rows that add nothing to those before them."""
    basis: list[Array] = []
    redundant = []
    least = _least(float(np.linalg.norm(A, axis=1).max(initial=0.0)))
    for k, row in enumerate(A):
        rest = np.array(row)
        for _ in range(2):  # once more against rounding
            for u in basis:
                rest -= (u @ rest) * u
        size = float(np.linalg.norm(rest))
        if size <= least:
            redundant.append(k)
        else:
            basis.append(rest / size)
    return redundant


def dependent_columns(A: Array, first: Sequence[int] = (), keep: Sequence[int] = ()) -> list[int]:
    """As many columns as the rank, which the rows can be solved for; chosen by pivoting.

    Args:
        A: rows.
        first: columns that are dependent in any case.
        keep: columns that are only taken if the others do not suffice.
    """
    left, chosen = np.array(A), list[int]()
    least = _least(float(np.abs(A).max(initial=0.0)))
    rank = rank_here(A)
    groups = [list(first), [k for k in range(A.shape[1]) if k not in keep], list(range(A.shape[1]))]
    for group in groups:
        while len(chosen) < rank and (open_ := [k for k in group if k not in chosen]):
            sizes = np.linalg.norm(left[:, open_], axis=0)
            best = int(np.argmax(sizes))
            if sizes[best] <= least:
                break
            column = left[:, open_[best]] / sizes[best]
            left = left - np.outer(column, column @ left)
            chosen.append(open_[best])
    return chosen


def followers(A: Array, dependent: Sequence[int], right: Array | None = None) -> Array:
    """How the dependent columns follow: x_dependent = F x_independent with A x = 0, or with A x = right y: F y."""
    others = [k for k in range(A.shape[1]) if k not in dependent]
    solved = np.linalg.pinv(A[:, list(dependent)])  # of full rank
    return np.asarray(solved @ (-A[:, others] if right is None else right))


class ClosedStates:
    """Closed states around one, reached by continuation; what the rank is judged by.

    Args:
        rows: of the mechanism.
        q: a closed position (nq,).
        seed: of the directions.
    """

    def __init__(self, rows: NumericRows, q: Array, seed: int = 0) -> None:
        self.rows, self.first, self._rng = rows, np.asarray(q, dtype=float), np.random.default_rng(seed)

    @cached_property
    def q(self) -> Array:
        """(k, nq), the given one first."""
        states = [self.first[None]]
        here = np.broadcast_to(self.first, (_WALKS, len(self.first))).copy()
        alive = np.ones(_WALKS, dtype=bool)
        for _ in range(_STEPS):
            there = self._farther(here)
            alive &= there.closed & np.isfinite(there.q).all(axis=1)
            here = np.where(alive[:, None], there.q, here)
            if not alive.any():
                break
            states.append(here[alive])
        return np.concatenate(states)

    def _farther(self, q: Array) -> Attempt:
        """One step along an allowed motion each, and closed again."""
        A = np.nan_to_num(self.rows.scaled(self.rows.A(q)))
        n = A.shape[-1]
        size = self.rows.columns
        steps = np.zeros((len(q), n))
        for k, one in enumerate(A):
            Z = null_space(equilibrated(one[None])[0], n)
            if Z.shape[1]:
                d = Z @ self._rng.normal(size=Z.shape[1])
                steps[k] = _FAR * size * d / max(float(np.abs(d).max()), 1e-300)
        return newton(self.rows, self.rows.moved(q, steps), Patience(tolerance=self.tolerance))

    @cached_property
    def tolerance(self) -> float:
        """What counts as closed: rounding, or what the given position itself leaves open."""
        if not len(self.rows.holonomic):
            return 1e-12
        return max(1e-12, 3.0 * float(np.abs(self.rows.h(self.first[None])).max(initial=0.0)))

    @cached_property
    def A(self) -> Array:
        """Scaled rows at all of them."""
        return np.nan_to_num(self.rows.scaled(self.rows.A(self.q)))

    @cached_property
    def noise(self) -> float:
        """The level at which singular values mean nothing: that at which the states are closed."""
        if not len(self.rows.holonomic):
            return ROUNDING
        left = np.abs(self.rows.h(self.q)) * np.where(
            self.rows.angles[list(self.rows.holonomic)], 1.0, 1.0 / self.rows.L
        )
        return max(ROUNDING, 10.0 * float(left.max(initial=0.0)))

    @cached_property
    def row_lengths(self) -> Array:
        """The largest length of each scaled row over the states, none below `FLOOR`."""
        return np.asarray(np.maximum(np.linalg.norm(self.A, axis=-1).max(axis=0, initial=0.0), FLOOR))

    @property
    def here(self) -> Array:
        """The rows at the given position, scaled and divided by these lengths: what ranks there are judged by."""
        return np.asarray(self.A[0] / self.row_lengths[:, None])

    @property
    def null_space(self) -> Array:
        """An orthonormal basis (nv, k) of the motions that are allowed at the given position."""
        Z = self.rows.columns[:, None] * null_space(self.here, self.A.shape[-1])
        return np.asarray(np.linalg.qr(Z)[0])

    def ranks(self, which: Sequence[bool] | None = None) -> list[Rank]:
        """Of each component, of all its rows or of some."""
        ranks = []
        for rows, speeds in self.rows.components:
            part = [k for k in rows if which is None or which[k]]
            ranks.append(rank_over(self.A[:, part][:, :, list(speeds)], self.noise))
        return ranks

    def shares(self, row: int) -> list[int]:
        """The rows that a row has its multiplier in common with: none where that multiplier is determined.

        It is, if the row is independent of all others.
        """
        for rows, speeds in self.rows.components:
            if row not in rows:
                continue
            A = self.A[:, list(rows)][:, :, list(speeds)]
            others = [k for k, i in enumerate(rows) if i != row]
            rank = rank_over(A, self.noise).rank
            if rank > rank_over(A[:, others], self.noise).rank or not A[:, rows.index(row)].any():
                return []
            U = np.linalg.svd(equilibrated(A)[0])[0][:, rank:]  # forces that hold each other
            mine = U @ U[rows.index(row)]
            return [i for k, i in enumerate(rows) if i != row and abs(mine[k]) > 1e-6]
        return []

    def all_ranks(self, names: Sequence[str]) -> Array:
        """Ranks of the components, of their holonomic rows, and weak pivots; a warning where a rank is in doubt.

        Args:
            names: of the rows, for the warning.
        """
        position = [k in self.rows.holonomic for k in range(len(self.rows.angles))]
        ranks = [*self.ranks(), *self.ranks(position)]
        for (rows, _), rank in zip(self.rows.components, ranks, strict=False):
            if not rank.is_clear:
                which = ", ".join(names[k] for k in rows)
                warnings.warn(
                    f"the rank of constraint rows is in doubt, and taken as {rank.rank} ({which}): singular values "
                    f"have a gap of {rank.gap:.2g} there and of {rank.other:.2g} elsewhere; start away from singular "
                    "positions, and look for rows that are nearly, but not exactly, redundant",
                    TorseurWarning,
                    stacklevel=2,
                )
        pairs = zip(self.rows.components, ranks, strict=False)
        weak = [WEAK * self._usual(rows, speeds, rank) for (rows, speeds), rank in pairs]
        return np.array([*(rank.rank for rank in ranks), *weak], dtype=float)

    def _usual(self, rows: Sequence[int], speeds: Sequence[int], rank: Rank) -> float:
        """The smallest singular value that counts beside the largest, where it is largest: away from singularities."""
        if not rank.rank or not rank.is_clear:
            return 0.0
        s = np.linalg.svd(self.A[:, list(rows)][:, :, list(speeds)], compute_uv=False)
        return float((s[:, rank.rank - 1] / np.maximum(s[:, 0], 1e-300)).max())


def most_ranks(rows: NumericRows) -> Array:
    """What `ClosedStates.all_ranks` cannot exceed, for where nothing is known."""
    sizes = [(some, len(speeds)) for some, speeds in rows.components]
    most = [min(len(some), n) for some, n in sizes]
    position = [min(sum(k in rows.holonomic for k in some), n) for some, n in sizes]
    return np.array([*most, *position, *([0.0] * len(most))], dtype=float)
