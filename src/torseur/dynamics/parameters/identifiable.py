"""Base parameters by the numerical way: which columns of the regressor are independent, found from numbers.

Gautier 1991 (annex A of Maakaroun, A.2 and A.3): the regressor at many random states, one under the other, W = Q R P'.
The rank r is the number of diagonal entries of R above the level of rounding; the first r columns of the permutation
are independent, and the others are combinations of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.errors import ArgumentError

__all__ = ["Identifiable", "identifiable"]

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Identifiable:
    """What a stack of regressors can tell.

    Attributes:
        kept: the places of independent columns, ascending.
        combination: (len(kept), number of columns) B with W = W[:, kept] B; base parameters are B times the parameters.
        gap: the smallest diagonal entry of R that counts over the largest that does not (inf if all count).
    """

    kept: tuple[int, ...]
    combination: NDArray[np.float64]
    gap: float

    @property
    def rank(self) -> int:
        return len(self.kept)


def identifiable(W: NDArray[np.float64], prefer: Sequence[int] | None = None) -> Identifiable:
    """The independent columns of stacked regressors and how the others follow from them.

    Args:
        W: (rows, columns), more rows than columns.
        prefer: places of columns to be kept where they can be, in order of preference.
    """
    if W.ndim != 2 or W.shape[0] < W.shape[1]:
        raise ArgumentError("too few states", expected="at least as many rows as columns", got=str(W.shape))
    sizes = np.linalg.norm(W, axis=0)
    seen = np.flatnonzero(sizes > _ROUNDING * max(sizes.max(initial=0.0), 1e-300))
    scaled = W[:, seen] / sizes[seen]
    from scipy.linalg import qr

    _, R, order = qr(scaled, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(R))
    rank = int((diagonal > _ROUNDING * diagonal[:1]).sum()) if len(seen) else 0
    gap = float(diagonal[rank - 1] / max(diagonal[rank], 1e-300)) if 0 < rank < len(seen) else np.inf
    first = list(order[:rank]) if prefer is None else _preferred(scaled, [int(i) for i in seen], prefer, rank)
    kept = sorted(int(seen[i]) for i in first)
    B = np.zeros((rank, W.shape[1]))
    if rank:
        B[:, seen] = np.linalg.lstsq(W[:, kept], W[:, seen], rcond=None)[0]
    return Identifiable(tuple(kept), B, gap)


def _preferred(scaled: NDArray[np.float64], seen: list[int], prefer: Sequence[int], rank: int) -> list[int]:
    """Columns taken one after the other, each that is independent of those taken before."""
    rest = [i for i in range(len(seen)) if seen[i] not in set(prefer)]
    order = [seen.index(k) for k in prefer if k in seen] + rest
    R = np.linalg.qr(scaled[:, order]).R
    chosen: list[int] = []
    basis = np.zeros((R.shape[0], 0))
    for i in range(len(order)):
        left = R[:, i] - basis @ (basis.T @ R[:, i])
        left -= basis @ (basis.T @ left)
        size = np.linalg.norm(left)
        if size > _ROUNDING and len(chosen) < rank:
            chosen.append(order[i])
            basis = np.column_stack([basis, left / size])
    return chosen
