"""Products of matrices of which some entries are wanted, such as those of speeds on one branch of a tree.

Few are written out, many are computed in a loop: straight-line code of thousands of entries is slow to compile, and to
fetch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from torseur.graph.calls import Callee, Tangent
from torseur.graph.linear import Matrix, cut_in_rows, dot
from torseur.graph.linear_routines import PRODUCTS
from torseur.graph.nodes import Bundle, Expr, Graph
from torseur.graph.routine import Loops

__all__ = ["products_at"]

MANY_PAIRS = 200
"""Pairs beyond which products are computed in a loop."""

Rows = Sequence[Sequence[Expr]]

Places = frozenset[tuple[int, int]]
"""Rows and columns of entries."""


def products_at(pairs: Sequence[tuple[int, int]], A: Rows, B: Rows, C: Rows, D: Rows) -> Matrix:
    """T (n, n): T_ij = A_i . B_j and T_ji = C_j . D_i for some pairs (i, j) of different rows, 0 elsewhere.

    Few products are written out, many are computed in a loop.

    Args:
        pairs: i and j, each pair once.
        A, B, C, D: n rows each, those of A and B of one length, those of C and D too.
    """
    g, n = A[0][0].graph, len(A)
    (A, B), (C, D) = _without_zeros(A, B), _without_zeros(C, D)
    T = [[g.zero] * n for _ in range(n)]
    if len(pairs) <= MANY_PAIRS:
        for i, j in pairs:
            T[i][j], T[j][i] = dot(A[i], B[j], g.zero), dot(C[j], D[i], g.zero)
        return T
    first, second = frozenset(pairs), frozenset((j, i) for i, j in pairs)
    return _called(g, _products(n, len(A[0]), len(C[0]), first, second), A, B, C, D)


def _called(g: Graph, callee: _Products, A: Rows, B: Rows, C: Rows, D: Rows) -> Matrix:
    n = callee.n
    T = g.call(callee, [e for M in (A, zip(*B, strict=True), C, zip(*D, strict=True)) for row in M for e in row])
    return [[T[i * n + j] if (i, j) in callee.places else g.zero for j in range(n)] for i in range(n)]


def _without_zeros(A: Rows, B: Rows) -> tuple[Matrix, Matrix]:
    """Without the components that are zero in all rows of A or in all of B; one is left at least."""
    zero = A[0][0].graph.zero
    kept = [k for k in range(len(A[0])) if all(any(row[k] is not zero for row in M) for M in (A, B))] or [0]
    return [[row[k] for k in kept] for row in A], [[row[k] for k in kept] for row in B]


class _Products(Callee):
    """T = A B at some places, C D at others."""

    def __init__(self, n: int, r: int, s: int, first: Places, second: Places) -> None:
        self.n, self.r, self.s, self.first, self.second = n, r, s, first, second
        self.places, self.n_out = first | second, n * n
        g, runs = Graph(), (_runs(first), _runs(second))
        blocks = g.block("A", (n, r)), g.block("B", (r, n)), g.block("C", (n, s)), g.block("D", (s, n))
        a, b = len(first), len(second)
        counted = {"products": a * r + b * s, "sums": a * (r - 1) + b * (s - 1)}
        tables = tuple(tuple(float(x) for run in table for x in run) for table in runs)
        whole = n, r, s, len(runs[0]), len(runs[1])
        self._lowering = Loops(PRODUCTS, whole, blocks, tables, len(self.places) == n * n, counted)
        self.name = f"products{n}_{hashlib.sha256(self.digest.encode()).hexdigest()[:6]}"
        self.meaning = (
            f"T ({n} x {n}): A B at {a} places, C D at {b}, 0 elsewhere, "
            f"from A ({n} x {r}), B ({r} x {n}), C ({n} x {s}) and D ({s} x {n}), each row by row"
        )

    @property
    def digest(self) -> str:
        return self._lowering.digest

    def lowering(self) -> Loops:
        return self._lowering

    def tangent(self, bundle: Bundle, tangents: Sequence[Tangent]) -> list[Expr]:
        """dT = dA B + A dB, dC D + C dD."""
        zero = bundle.graph.zero
        given = self._matrices(list(bundle.args))
        moved = self._matrices([t if isinstance(t, Expr) else zero for t in tangents])
        parts = [self._changed((0, 2), given, moved, zero), self._changed((1, 3), given, moved, zero)]
        return [x + y for x, y in zip(*parts, strict=True)]

    def _changed(self, which: tuple[int, int], given: list[Matrix], moved: list[Matrix], zero: Expr) -> list[Expr]:
        """The derivative by two of the matrices."""
        A, B, C, D = (moved[k] if k in which else given[k] for k in range(4))
        first = self.first if any(e is not zero for row in moved[which[0]] for e in row) else frozenset()
        second = self.second if any(e is not zero for row in moved[which[1]] for e in row) else frozenset()
        if not first and not second:
            return [zero] * self.n_out
        callee = _products(self.n, self.r, self.s, first, second)
        return [e for row in _called(zero.graph, callee, A, B, C, D) for e in row]

    def adjoint(self, bundle: Bundle, weights: Sequence[Expr]) -> list[Tangent]:
        """A_bar = T_bar B', B_bar = A' T_bar at the places of their product, C_bar and D_bar at those of theirs."""
        zero, W = bundle.graph.zero, cut_in_rows(list(weights), self.n)
        A, B, C, D = self._matrices(list(bundle.args))
        bars: list[Tangent] = []
        for places, left, right in ((self.first, A, B), (self.second, C, D)):
            bar_left = [[zero] * len(row) for row in left]
            bar_right = [[zero] * len(row) for row in right]
            for i, j in sorted(places):
                for k in range(len(left[0])):
                    bar_left[i][k] = bar_left[i][k] + W[i][j] * right[j][k]
                    bar_right[j][k] = bar_right[j][k] + W[i][j] * left[i][k]
            bars += [e for row in bar_left for e in row]
            bars += [row[k] for k in range(len(right[0])) for row in bar_right]
        return bars

    def _matrices(self, flat: list[Any]) -> list[Matrix]:
        """A, B, C, D, n rows each, from the arguments or what belongs to them."""
        n, r, s = self.n, self.r, self.s
        A, B = flat[: n * r], flat[n * r : 2 * n * r]
        C, D = flat[2 * n * r : 2 * n * r + n * s], flat[2 * n * r + n * s :]
        return [cut_in_rows(A, r), _columns(B, n), cut_in_rows(C, s), _columns(D, n)]

    def reference(self, args: Sequence[Any]) -> Any:
        flat = np.stack(np.broadcast_arrays(*args), axis=-1)
        n, r, s = self.n, self.r, self.s
        A, B, C, D = np.split(flat, np.cumsum([n * r, r * n, n * s]), axis=-1)
        lead = flat.shape[:-1]
        T = np.zeros((*lead, n, n))
        for places, left, right, m in ((self.first, A, B, r), (self.second, C, D, s)):
            if places:
                i, j = np.array(sorted(places)).T
                T[..., i, j] = (left.reshape(*lead, n, m) @ right.reshape(*lead, m, n))[..., i, j]
        return list(np.moveaxis(T.reshape(*lead, n * n), -1, 0))


def _columns(flat: Sequence[Any], n: int) -> list[list[Any]]:
    """The columns of a matrix that is given row by row, n in a row."""
    return [list(flat[j::n]) for j in range(n)]


def _runs(places: Places) -> list[tuple[int, int, int]]:
    """Places in rows without gaps: the row, the first column, the one behind the last."""
    runs: list[tuple[int, int, int]] = []
    for i, j in sorted(places):
        if runs and runs[-1][0] == i and runs[-1][2] == j:
            runs[-1] = (i, runs[-1][1], j + 1)
        else:
            runs.append((i, j, j + 1))
    return runs


@cache
def _products(n: int, r: int, s: int, first: Places, second: Places) -> _Products:
    return _Products(n, r, s, first, second)
