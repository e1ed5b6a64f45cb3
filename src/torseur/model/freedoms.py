"""Small matrices of constraint rows at one state: rank, independent columns, and how the others follow.

Rows keep their lengths here, for at a singular position some may vanish; those of rounding are none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from torseur.dynamics.constrained import FLOOR

__all__ = ["dependent_columns", "followers", "null_space", "rank_of", "redundant_rows", "smallest"]

Array = NDArray[np.float64]

TOLERANCE = 1e-6
"""Singular values below this part of the largest are zeros: loops that are closed to 1e-12 meet a singular position to
the square root of that only."""


def smallest(size: float) -> float:
    """What still counts beside a largest of this size."""
    return max(TOLERANCE * size, FLOOR)


def rank_of(A: Array) -> int:
    """The rank of rows."""
    s = np.linalg.svd(A, compute_uv=False) if A.size else np.zeros(0)
    return int(np.count_nonzero(s > smallest(s.max(initial=0.0))))


def null_space(A: Array, n: int) -> Array:
    """An orthonormal basis (n, k) of the motions that rows allow."""
    if not A.size:
        return np.eye(n)
    return np.linalg.svd(A)[2][rank_of(A) :].T


def redundant_rows(A: Array) -> list[int]:
    """The rows that add nothing to those before them."""
    basis: list[Array] = []
    found = []
    least = smallest(float(np.linalg.norm(A, axis=1).max(initial=0.0)))
    for k, row in enumerate(A):
        rest = np.array(row)
        for _ in range(2):  # once more against rounding
            for u in basis:
                rest -= (u @ rest) * u
        size = float(np.linalg.norm(rest))
        if size <= least:
            found.append(k)
        else:
            basis.append(rest / size)
    return found


def dependent_columns(A: Array, first: Sequence[int] = (), keep: Sequence[int] = ()) -> list[int]:
    """As many columns as the rank, which the rows can be solved for; chosen by pivoting.

    Args:
        A: rows.
        first: columns that are dependent in any case.
        keep: columns that are only taken if the others do not suffice.
    """
    left, chosen = np.array(A), list[int]()
    least = smallest(float(np.abs(A).max(initial=0.0)))
    rank = rank_of(A)
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
