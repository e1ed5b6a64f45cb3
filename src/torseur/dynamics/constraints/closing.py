"""Closing loops in numbers: from a guess to a position where the ends meet.

Steps of Gauss and Newton on all rows, damped (Levenberg, Marquardt) where they do not bring the ends closer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Attempt", "NumericRows", "Patience", "newton"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class NumericRows:
    """Constraint rows as functions of numbers; states come in batches (k, nq).

    Attributes:
        h: q -> position rows (k, number of holonomic rows).
        A: q -> matrix of the velocity rows (k, rows, nv).
        moved: q, step (k, nv) along the speeds -> q.
        holonomic: the places of the rows with a position.
        angles: for each row whether it is an angle rather than a length.
        lengths: for each speed whether it is that of a length.
        components: rows and speeds that are coupled, each component apart from all others.
        L: the length of the mechanism.
        sides: q -> a cosine (k,), negative where a joint is closed upside down.
    """

    h: Callable[[Array], Array]
    A: Callable[[Array], Array]
    moved: Callable[[Array, Array], Array]
    holonomic: Sequence[int]
    angles: NDArray[np.bool_]
    lengths: NDArray[np.bool_]
    components: Sequence[tuple[Sequence[int], Sequence[int]]]
    L: float = 1.0
    sides: Callable[[Array], Array] = lambda q: np.ones(q.shape[:-1])

    @property
    def columns(self) -> Array:
        """The factor of each column: L for speeds of lengths."""
        return np.where(self.lengths, self.L, 1.0)

    def scaled(self, A: Array) -> Array:
        """Rows in metres over L, columns in radians."""
        return np.asarray(A * np.where(self.angles, 1.0, 1.0 / self.L)[:, None] * self.columns)


@dataclass(frozen=True)
class Patience:
    """How patiently loops are closed: the largest gap left, the largest step of a coordinate, the number of steps."""

    tolerance: float = 1e-12
    largest_step: float = 0.5
    iterations: int = 200


@dataclass(frozen=True)
class Attempt:
    """Where a batch of starts ended.

    Attributes:
        q: (k, nq).
        gap: the largest position row left (k,).
        side: see `NumericRows.sides` (k,).
        closed: whether the gap is within the tolerance, on the right side.
        iterations: steps.
        starts: how many starts there were.
    """

    q: Array
    gap: Array
    side: Array
    closed: NDArray[np.bool_]
    iterations: int
    starts: int = 1

    @classmethod
    def of(cls, q: Array) -> Attempt:
        """States that nothing has to close."""
        here = q.shape[:-1]
        return cls(q, np.zeros(here), np.ones(here), np.ones(here, dtype=bool), 0)


def newton(
    rows: NumericRows,
    q: Array,
    patience: Patience | None = None,
    projector: Callable[[Array], Array | None] | None = None,
) -> Attempt:
    """Damped steps until the ends meet or come no nearer.

    Args:
        rows: what is to be closed.
        q: where to start.
        patience: when to stop.
        projector: q -> a matrix that leaves of a step what may move; None for all.
    """
    settings, allowed = patience or Patience(), projector or (lambda q: None)
    if not len(rows.holonomic):
        return Attempt.of(q)
    h = _finite(rows.h(q))
    damping = np.zeros(q.shape[:-1])
    done, count = np.zeros(q.shape[:-1], dtype=bool), 0
    floor = 1e-3 * settings.tolerance
    while count < settings.iterations and not (done := done | (_largest(h) <= floor)).all():
        count += 1
        step, scale = _step(rows, q, h, damping, allowed(q), settings.largest_step)
        trial = rows.moved(q, step)
        there = _finite(rows.h(trial))
        nearer = ~done & (np.linalg.norm(there, axis=-1) < np.linalg.norm(h, axis=-1))
        q, h = np.where(nearer[..., None], trial, q), np.where(nearer[..., None], there, h)
        small = np.where(damping > 1e-9 * scale, damping / 8.0, 0.0)
        damping = np.where(nearer, small, np.maximum(4.0 * damping, 1e-4 * scale))
        done |= (damping > 1e12 * scale) | (~nearer & (_largest(h) <= settings.tolerance))
    gap, side = _largest(h), rows.sides(q)
    return Attempt(q, gap, side, (gap <= settings.tolerance) & (side > 0.0), count)


def _step(
    rows: NumericRows, q: Array, h: Array, damping: Array, P: Array | None, largest_step: float
) -> tuple[Array, Array]:
    """A cut and damped step, and the scale of the damping."""
    H = np.nan_to_num(rows.A(q)[..., list(rows.holonomic), :])
    U, s, Vt = np.linalg.svd(H if P is None else H @ P, full_matrices=False)
    largest = s.max(axis=-1, initial=0.0, keepdims=True)
    live = s > 1e-10 * np.maximum(largest, 1e-300)
    factor = np.where(live, s, 0.0) / np.where(live, s * s + damping[..., None], 1.0)
    d = -np.einsum("...ki,...k->...i", Vt, factor * np.einsum("...ik,...i->...k", U, h))
    cut = np.minimum(1.0, largest_step / np.maximum(np.abs(d).max(axis=-1, keepdims=True), 1e-300))
    return d * cut, np.maximum(largest[..., 0] ** 2, 1e-300)


def _finite(h: Array) -> Array:
    return np.where(np.isfinite(h), h, 1e150)


def _largest(h: Array) -> Array:
    return np.asarray(np.abs(h).max(axis=-1, initial=0.0))
