"""Which columns depend on others: of expressions by elimination, of numbers by a decomposition.

**Expressions** of the parameters (`Elimination`): whether an entry is zero is decided at random values of the
parameters; the entries themselves stay exact. What is found holds for almost every value; where two parameters must
have a relation to each other, it has to be in the description.

**Numbers** (`identifiable`; Gautier 1991, annex A of Maakaroun, A.2 and A.3): the regressor at many random states, one
under the other, W = Q R P'. The rank r is the number of diagonal entries of R above the level of rounding; the first r
columns of the permutation are independent, and the others are combinations of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.dynamics.tree.system import System
from torseur.errors import ArgumentError
from torseur.graph import Expr, Function, evaluate

__all__ = ["Elimination", "Identifiable", "Row", "identifiable"]

Row = list[Expr]

_SAMPLES = 3
_TOLERANCE = 1e-9


class Elimination:
    """Gauss-Jordan on expressions of a system's parameters."""

    def __init__(self, system: System) -> None:
        self.graph, self._block = system.graph, system.p
        rng = np.random.default_rng(20)
        self._values = rng.uniform(0.3, 1.3, (_SAMPLES, len(system.p)))

    def sample(self, rows: Sequence[Row]) -> NDArray[np.float64]:
        """The rows at the random values: (samples, rows, columns)."""
        inputs = [self._block] if len(self._block) else []
        rows_there = evaluate(Function("rows", inputs, {"rows": rows}), *([self._values] if inputs else []))[0]
        return np.broadcast_to(rows_there, (_SAMPLES, len(rows), len(rows[0]))).copy()

    def reduced(self, rows: Sequence[Row], order: Sequence[int] | None = None) -> dict[int, Row]:
        """Pivot column -> its row; pivots are sought along `order`, every pivot is one and alone in its column."""
        if not rows:
            return {}
        n, table = len(rows[0]), [list(row) for row in rows]
        values = self.sample(rows)
        sizes = np.abs(values).max(axis=(0, 2))
        left, pivots = [i for i in range(len(table)) if sizes[i] > 0.0], dict[int, int]()
        for column in range(n) if order is None else order:
            pivot = self._pivot(table, values, sizes, left, column)
            if pivot is None:
                continue
            left.remove(pivot)
            pivots[column] = pivot
            self._clear(table, values, sizes, pivot, column)
        if len(pivots) == n:
            one, zero = self.graph.one, self.graph.zero
            return {c: [one if c == k else zero for k in range(n)] for c in pivots}
        return {column: table[i] for column, i in pivots.items()}

    def _pivot(
        self, table: list[Row], values: NDArray[np.float64], sizes: NDArray[np.float64], left: list[int], column: int
    ) -> int | None:
        """The row with the plainest entry that is not zero: a number before a formula, a large one before a small."""
        good = [i for i in left if np.abs(values[:, i, column]).max() > _TOLERANCE * sizes[i]]
        if not good:
            return None
        return max(good, key=lambda i: (table[i][column].is_number, np.abs(values[:, i, column]).min() / sizes[i]))

    def _clear(
        self,
        table: list[Row],
        values: NDArray[np.float64],
        sizes: NDArray[np.float64],
        pivot: int,
        column: int,
    ) -> None:
        """Make the pivot one and the rest of its column zero."""
        head, at = table[pivot][column], values[:, pivot, column].copy()
        table[pivot] = [x / head for x in table[pivot]]
        values[:, pivot] /= at[:, None]
        sizes[pivot] = np.abs(values[:, pivot]).max()
        for i in range(len(table)):
            factor, weight = table[i][column], values[:, i, column].copy()
            if i == pivot or factor is self.graph.zero:
                continue
            sizes[i] = max(sizes[i], np.abs(weight).max() * sizes[pivot])
            values[:, i] -= weight[:, None] * values[:, pivot]
            small = np.abs(values[:, i]).max(axis=0) <= _TOLERANCE * sizes[i]
            values[:, i, small] = 0.0
            mixed = zip(table[i], table[pivot], small, strict=True)
            table[i] = [self.graph.zero if none else x - factor * y for x, y, none in mixed]

    def without_zeros(self, rows: Sequence[dict[int, Expr]]) -> list[dict[int, Expr]]:
        """Sparse rows, entries left out that are zero."""
        values = iter(np.abs(self.sample([[x for row in rows for x in row.values()]])).max(axis=(0, 1)))
        return [{k: x for k, x in row.items() if next(values) > _TOLERANCE} for row in rows]

    def basis(self, rows: Sequence[Row]) -> list[Row]:
        """Independent rows that span the same space."""
        return list(self.reduced(rows).values())

    def closure(self, rows: Sequence[Row], maps: Sequence[Callable[[Row], Row]]) -> list[Row]:
        """A basis of the smallest space that holds the rows and is taken into itself by every map."""
        known, fresh = self.basis(rows), list(rows)
        while fresh:
            fresh = [image for row in fresh for map in maps if not self._is_nothing(image := map(row))]
            wider = self.basis([*known, *fresh])
            if len(wider) == len(known):
                break
            known = wider
        return known

    def _is_nothing(self, row: Row) -> bool:
        return all(x is self.graph.zero for x in row)


# -- of numbers --------------------------------------------------------------------------------------------------------
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
