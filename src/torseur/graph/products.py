"""Linear algebra of matrices with a row and a column for each speed of a tree, in loops.

Products of which the entries of pairs on one branch are wanted; factors M = L' D L along the tree, and what is solved
with them. Straight-line code of thousands of entries is slow to compile, and to fetch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from torseur.graph.calls import Callee, Tangent
from torseur.graph.linear import Matrix, cut_in_rows, dot
from torseur.graph.linear_routines import PRODUCTS, TREE_FACTORS, TREE_SOLUTIONS
from torseur.graph.nodes import Bundle, Expr, Graph
from torseur.graph.routine import Loops

__all__ = ["are_many", "products_at", "tree_factors", "tree_solutions"]

MANY_PAIRS = 200
"""Pairs beyond which products are computed in a loop."""

Rows = Sequence[Sequence[Expr]]

Places = frozenset[tuple[int, int]]
"""Rows and columns of entries."""


def are_many(pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether what is done for each of them is done in a loop."""
    return len(pairs) > MANY_PAIRS


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
    if not are_many(pairs):
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
        self.name = f"products{n}_{_short(self.digest)}"
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


# -- systems along a tree ----------------------------------------------------------------------------------------------
def tree_factors(M: Rows, order: Sequence[int], parents: Sequence[int]) -> Bundle:
    """The factors of a symmetric M (n, n) whose entries between branches are zero.

    Args:
        M: the matrix; its lower part and its diagonal are read.
        order: the rows from the root on.
        parents: for each row the one next below it on its branch, or -1.
    """
    return M[0][0].graph.call(_tree_factors(tuple(order), tuple(parents)), [e for row in M for e in row])


def tree_solutions(factors: Bundle, B: Rows) -> Matrix:
    """X (n, m) with M X + B = 0, from the factors of M."""
    g, m = factors.graph, len(B[0])
    callee: _TreeFactors = factors.data
    X = g.call(_tree_solutions(callee, m), [factors, *(e for row in B for e in row)])
    return cut_in_rows(list(X), m)


class _TreeFactors(Callee):
    """M -> L and the inverses of D. Its derivative is that of M: what solves with it knows what to do with it."""

    def __init__(self, order: tuple[int, ...], parents: tuple[int, ...]) -> None:
        self.n, self.n_out = len(order), len(order) ** 2
        self.tables = tuple(map(float, order)), tuple(map(float, parents))
        self.depths: list[int] = [0] * self.n  # how many are below each
        for i in order:
            self.depths[i] = self.depths[parents[i]] + 1 if parents[i] >= 0 else 0
        pairs = sum(self.depths)
        updates = sum(d * (d + 1) // 2 for d in self.depths)
        counted = {"products": pairs + updates, "sums": updates, "divisions": self.n}
        blocks = (Graph().block("M", (self.n, self.n)),)
        self._lowering = Loops(TREE_FACTORS, (self.n,), blocks, self.tables, sets_all=True, counted=counted)
        self.name = f"tree_factors{self.n}_{_short(self.digest)}"
        self.meaning = f"L and the inverses of D of M = L' D L ({self.n} x {self.n}), from M row by row"

    @property
    def digest(self) -> str:
        return self._lowering.digest

    def lowering(self) -> Loops:
        return self._lowering

    def tangent(self, bundle: Bundle, tangents: Sequence[Tangent]) -> list[Expr]:
        return [t if isinstance(t, Expr) else bundle.graph.zero for t in tangents]

    def adjoint(self, bundle: Bundle, weights: Sequence[Expr]) -> list[Tangent]:
        return list(weights)

    def reference(self, args: Sequence[Any]) -> Any:
        flat = np.stack(np.broadcast_arrays(*args), axis=-1)
        return flat.reshape(*flat.shape[:-1], self.n, self.n)


class _TreeSolutions(Callee):
    """X with M X + B = 0."""

    def __init__(self, factors: _TreeFactors, m: int) -> None:
        self.n, self.m, self.n_out = factors.n, m, factors.n * m
        g, each = Graph(), m * sum(factors.depths)
        blocks = g.block("L", (self.n, self.n)), g.block("B", (self.n, m))
        counted = {"products": 2 * each + self.n_out, "sums": 2 * each}
        self._lowering = Loops(TREE_SOLUTIONS, (self.n, m), blocks, factors.tables, sets_all=True, counted=counted)
        self.name = f"tree_solutions{self.n}_{m}_{_short(self.digest)}"
        self.meaning = (
            f"X with M X + B = 0, from the factors of M ({self.n} x {self.n}) and B ({self.n} x {m}) row by row"
        )

    @property
    def digest(self) -> str:
        return self._lowering.digest

    def lowering(self) -> Loops:
        return self._lowering

    def tangent(self, bundle: Bundle, tangents: Sequence[Tangent]) -> list[Expr]:
        """M dX + dB + dM X = 0."""
        zero, dM = bundle.graph.zero, tangents[0]
        right = cut_in_rows([t if isinstance(t, Expr) else zero for t in tangents[1:]], self.m)
        if isinstance(dM, list):
            X = cut_in_rows(list(bundle), self.m)
            for row, moved in zip(right, cut_in_rows(dM, self.n), strict=True):
                row[:] = [x + dot(moved, [y[c] for y in X], zero) for c, x in enumerate(row)]
        if all(x is zero for row in right for x in row):
            return [zero] * self.n_out
        return [x for row in tree_solutions(bundle.args[0], right) for x in row]

    def adjoint(self, bundle: Bundle, weights: Sequence[Expr]) -> list[Tangent]:
        """B_bar = -M^-1 X_bar, M_bar = B_bar X'."""
        zero, X = bundle.graph.zero, cut_in_rows(list(bundle), self.m)
        B_bar = tree_solutions(bundle.args[0], cut_in_rows(list(weights), self.m))
        M_bar = [dot(b, x, zero) for b in B_bar for x in X]
        return [M_bar, *(x for row in B_bar for x in row)]

    def reference(self, args: Sequence[Any]) -> Any:
        M, flat = args[0], np.stack(np.broadcast_arrays(*args[1:]), axis=-1)
        B = flat.reshape(*flat.shape[:-1], self.n, self.m)
        batch = np.broadcast_shapes(M.shape[:-2], B.shape[:-2])
        M, B = np.broadcast_to(M, (*batch, self.n, self.n)), np.broadcast_to(B, (*batch, self.n, self.m))
        good = np.isfinite(M).all(axis=(-1, -2))
        good &= np.linalg.slogdet(np.where(good[..., None, None], M, 0.0))[0] != 0.0
        X = -np.linalg.solve(np.where(good[..., None, None], M, np.eye(self.n)), B)
        X = np.where(good[..., None, None], X, np.nan).reshape(*batch, self.n_out)
        return list(np.moveaxis(X, -1, 0))


def _short(digest: str) -> str:
    return hashlib.sha256(digest.encode()).hexdigest()[:6]


@cache
def _tree_factors(order: tuple[int, ...], parents: tuple[int, ...]) -> _TreeFactors:
    return _TreeFactors(order, parents)


@cache
def _tree_solutions(factors: _TreeFactors, m: int) -> _TreeSolutions:
    return _TreeSolutions(factors, m)
