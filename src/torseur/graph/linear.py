"""Small linear systems inside expressions.

`solve` is a pivoted LU: factoring and substituting are two calls, so that systems with one matrix share its factors.
Small ones are written as expressions and work in lanes, because every exchange of rows is a `select`; larger ones are
routines. Reference: Golub & Van
Loan, Matrix Computations, 4th ed., 3.4. Systems of any shape, and ranks: `torseur.graph.rank`.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from functools import cache
from itertools import chain
from math import prod
from typing import Any

import numpy as np

from torseur.errors import GraphError
from torseur.graph.calls import Callee, Tangent
from torseur.graph.function import Function
from torseur.graph.functions import absolute, maximum, select, sign
from torseur.graph.linear_routines import LU, LU_SOLUTION, LU_TRANSPOSED, lu_size
from torseur.graph.nodes import Bundle, Expr, Graph, Node, Truth
from torseur.graph.routine import Loops

__all__ = [
    "Factor",
    "Matrix",
    "Substitute",
    "cut_in_rows",
    "dot",
    "exchange",
    "largest",
    "matrix_of",
    "orientation",
    "solve",
]

Matrix = list[list[Expr]]

WRITTEN_OUT = 8
"""Rows up to which an elimination is written out, to work in lanes; beyond, it is done in loops."""


def solve(A: Sequence[Sequence[Expr | float]], b: Sequence[Any]) -> list[Any]:
    """x with A x = b, for a square A (n, n) and b of n entries or n rows. A singular A gives inf or nan.

    >>> from torseur.graph import Function, Graph, evaluate, solve
    >>> g = Graph()
    >>> a = g.block("a", (2, 2))
    >>> x = solve([[a[0], a[1]], [a[2], a[3]]], [1.0, 0.0])
    >>> evaluate(Function("f", [a], {"x": x}), [[0.0, 2.0], [1.0, 0.0]])[0].tolist()
    [0.0, 0.5]
    """
    g, rows = matrix_of(A, b)
    n = len(rows)
    if any(len(row) != n for row in rows):
        raise GraphError(
            "solve needs a square matrix",
            expected=f"{n} rows of {n} entries",
            got=f"{n} rows of {len(rows[0])} entries",
            remedy="minimum_norm_solve takes any shape",
        )
    if len(b) != n:
        raise GraphError("wrong number of right-hand sides", expected=str(n), got=str(len(b)))
    if isinstance(b[0], (list, tuple, np.ndarray)):
        if len({len(row) for row in b}) != 1:
            raise GraphError(
                "the right-hand side is ragged",
                expected="rows of one length",
                got=f"rows of {[len(row) for row in b]} entries",
            )
        columns = [solve(rows, [row[j] for row in b]) for j in range(len(b[0]))]
        return [list(row) for row in zip(*columns, strict=True)]
    right = [g.expr(x) for x in b]
    if n == 1:
        return [right[0] / rows[0][0]]
    factor = g.call(_factor(n), [e for row in rows for e in row])
    return _substituted(n, False, factor, right)


def orientation(A: Sequence[Sequence[Expr | float]]) -> Expr:
    """The sign of the determinant of a square A, by the factors that `solve` has; of a singular A it says nothing.

    For what callees are lowered to: the reference evaluator has no factors.
    """
    g, rows = matrix_of(A, [])
    n = len(rows)
    if n == 1:
        return sign(rows[0][0])
    factor = g.call(_factor(n), [e for row in rows for e in row])
    swaps = (
        [1.0 - 2.0 * factor[k] for k in range(n * n, factor.data.n_out)] if n <= WRITTEN_OUT else [factor[n * n + n]]
    )
    return prod([*(sign(factor[k * n + k]) for k in range(n)), *swaps], start=g.one)


def matrix_of(A: Sequence[Sequence[Expr | float]], b: Sequence[Any]) -> tuple[Graph, Matrix]:
    """The graph that a matrix or its right-hand side belongs to, and the matrix as expressions of it."""
    if not _is_list(A) or not all(map(_is_list, A)):
        raise GraphError(
            "not a matrix",
            expected="a list of rows",
            got=f"{len(A)} entries in one row" if _is_list(A) else repr(A),
            remedy="cut a block M into rows: [[M[i, j] for j in range(n)] for i in range(m)]",
        )
    if not _is_list(b):
        raise GraphError("the right-hand side is not a sequence", expected=f"{len(A)} entries", got=repr(b))
    if len({len(row) for row in A}) != 1 or not len(A[0]):
        raise GraphError(
            "not a matrix", expected="rows of one length", got=f"rows of {[len(row) for row in A]} entries"
        )
    right = (e for row in b for e in (row if isinstance(row, (list, tuple, np.ndarray)) else (row,)))
    graph = next((e.graph for e in chain(chain.from_iterable(A), right) if isinstance(e, Node)), None)
    if graph is None:
        raise GraphError(
            "a linear system without any expression",
            expected="at least one expression in the matrix or the right-hand side",
            remedy="use numpy.linalg for numbers",
        )
    return graph, [[graph.expr(e) for e in row] for row in A]


def _is_list(x: object) -> bool:
    return isinstance(x, Sized) and getattr(x, "ndim", 1) > 0


def cut_in_rows(flat: Sequence[Any], n: int) -> list[list[Any]]:
    return [list(flat[i * n : (i + 1) * n]) for i in range(len(flat) // n)]


def dot(u: Sequence[Expr], v: Sequence[Expr], zero: Expr) -> Expr:
    total = zero
    for a, b in zip(u, v, strict=True):
        total = total + a * b
    return total


# -- pivoted LU --------------------------------------------------------------------------------------------------------
class Factor(Callee):
    """A -> L, U and the exchanges. Its derivative is that of A: substitution knows what to do with it."""

    def __init__(self, n: int) -> None:
        self.n, self.name = n, f"factor{n}"
        self.meaning = f"the factors of a {n} x {n} matrix"
        self.n_out = n * n + n * (n - 1) // 2 if n <= WRITTEN_OUT else lu_size(n)

    @property
    def digest(self) -> str:
        return self.name

    def lowering(self) -> Function | Loops:
        return _factor_function(self.n) if self.n <= WRITTEN_OUT else _factor_loops(self.n)

    def tangent(self, bundle: Bundle, tangents: Sequence[Tangent]) -> list[Expr]:
        return [t if isinstance(t, Expr) else bundle.graph.zero for t in tangents]

    def adjoint(self, bundle: Bundle, weights: Sequence[Expr]) -> list[Tangent]:
        return list(weights)

    def reference(self, args: Sequence[Any]) -> Any:
        flat = np.stack(np.broadcast_arrays(*args), axis=-1)
        return flat.reshape(*flat.shape[:-1], self.n, self.n)


class Substitute(Callee):
    """x = A^-1 b, or A^-T b, from the factors of A."""

    def __init__(self, n: int, transposed: bool) -> None:
        self.n, self.n_out, self.transposed = n, n, transposed
        self.name = f"substitute{n}{'t' if transposed else ''}"
        self.meaning = f"x with {'the transpose of A' if transposed else 'A'} times x = b, from the factors of A, and b"

    @property
    def digest(self) -> str:
        return self.name

    def lowering(self) -> Function | Loops:
        write = _substitute_function if self.n <= WRITTEN_OUT else _substitute_loops
        return write(self.n, self.transposed)

    def tangent(self, bundle: Bundle, tangents: Sequence[Tangent]) -> list[Expr]:
        g, x = bundle.graph, list(bundle)
        right = [t if isinstance(t, Expr) else g.zero for t in tangents[1:]]
        dA = tangents[0]
        if isinstance(dA, list):  # A dx = db - dA x
            rows = cut_in_rows(dA, self.n)
            if self.transposed:
                rows = [list(c) for c in zip(*rows, strict=True)]
            right = [r - dot(row, x, g.zero) for r, row in zip(right, rows, strict=True)]
        return _substituted(self.n, self.transposed, bundle.args[0], right)

    def adjoint(self, bundle: Bundle, weights: Sequence[Expr]) -> list[Tangent]:
        x = list(bundle)
        u = _substituted(self.n, not self.transposed, bundle.args[0], weights)  # b_bar = A^-T x_bar, A_bar = -b_bar x'
        left, right = (x, u) if self.transposed else (u, x)
        return [[-(a * b) for a in left for b in right], *u]

    def reference(self, args: Sequence[Any]) -> Any:
        A = np.swapaxes(args[0], -1, -2) if self.transposed else args[0]
        b = np.stack(np.broadcast_arrays(*args[1:]), axis=-1)
        batch = np.broadcast_shapes(A.shape[:-2], b.shape[:-1])
        A, b = np.broadcast_to(A, (*batch, self.n, self.n)), np.broadcast_to(b, (*batch, self.n))
        good = np.isfinite(A).all(axis=(-1, -2))
        good &= np.linalg.slogdet(np.where(good[..., None, None], A, 0.0))[0] != 0.0
        x = np.linalg.solve(np.where(good[..., None, None], A, np.eye(self.n)), b[..., None])[..., 0]
        return list(np.moveaxis(np.where(good[..., None], x, np.nan), -1, 0))


@cache
def _factor_loops(n: int) -> Loops:
    return Loops(LU, (n,), (Graph().block("A", (n, n)),))


@cache
def _substitute_loops(n: int, transposed: bool) -> Loops:
    g = Graph()
    blocks = g.block("factor", lu_size(n)), g.block("b", n)
    return Loops(LU_TRANSPOSED if transposed else LU_SOLUTION, (n,), blocks)


@cache
def _factor(n: int) -> Factor:
    return Factor(n)


@cache
def _substitute(n: int, transposed: bool) -> Substitute:
    return Substitute(n, transposed)


def _substituted(n: int, transposed: bool, factor: Node, right: Sequence[Expr]) -> list[Expr]:
    """Substitution; a right-hand side that is zero by structure gives zero, like 0 / x."""
    g = factor.graph
    if all(r is g.zero for r in right):
        return [g.zero] * n
    return list(g.call(_substitute(n, transposed), [factor, *right]))


def exchange(swap: Truth, a: list[Expr], b: list[Expr]) -> tuple[list[Expr], list[Expr]]:
    """Two rows, exchanged where `swap` holds."""
    pairs = list(zip(a, b, strict=True))
    return [select(swap, y, x) for x, y in pairs], [select(swap, x, y) for x, y in pairs]


@cache
def _factor_function(n: int) -> Function:
    """P A = L U in place, the diagonal inverted; then, pair by pair, whether rows k and i were exchanged."""
    g = Graph()
    block = g.block("A", (n, n))
    A, swaps = cut_in_rows(list(block), n), []
    for k in range(n):
        for i in range(k + 1, n):
            swap = absolute(A[i][k]) > absolute(A[k][k])
            A[k], A[i] = exchange(swap, A[k], A[i])
            swaps.append(select(swap, 1.0, 0.0))
        A[k][k] = 1.0 / A[k][k]
        for i in range(k + 1, n):
            A[i][k] = A[i][k] * A[k][k]
            for j in range(k + 1, n):
                A[i][j] = A[i][j] - A[i][k] * A[k][j]
    return Function(f"factor{n}", [block], {"factor": [e for row in A for e in row] + swaps})


@cache
def _substitute_function(n: int, transposed: bool) -> Function:
    g = Graph()
    factor, right = g.block("factor", n * n + n * (n - 1) // 2), g.block("b", n)
    F, x = cut_in_rows(list(factor)[: n * n], n), list(right)
    pairs = [(k, i) for k in range(n) for i in range(k + 1, n)]
    swaps = dict(zip(pairs, (s > 0.5 for s in list(factor)[n * n :]), strict=True))
    if transposed:  # U' L' P x = b
        for k in range(n):
            x[k] = (x[k] - dot([F[i][k] for i in range(k)], x[:k], g.zero)) * F[k][k]
        for k in reversed(range(n)):
            x[k] = x[k] - dot([F[i][k] for i in range(k + 1, n)], x[k + 1 :], g.zero)
        pairs.reverse()
    else:
        x = _unscramble(x, pairs, swaps)
        for k in range(n):
            x[k] = x[k] - dot(F[k][:k], x[:k], g.zero)
        for k in reversed(range(n)):
            x[k] = (x[k] - dot(F[k][k + 1 :], x[k + 1 :], g.zero)) * F[k][k]
        pairs = []
    x = _unscramble(x, pairs, swaps)
    return Function(f"substitute{n}{'t' if transposed else ''}", [factor, right], {"x": x})


def _unscramble(x: list[Expr], pairs: list[tuple[int, int]], swaps: dict[tuple[int, int], Truth]) -> list[Expr]:
    """Exchange entries pair by pair."""
    x = list(x)
    for k, i in pairs:
        (x[k],), (x[i],) = exchange(swaps[k, i], [x[k]], [x[i]])
    return x


def largest(values: Sequence[Expr]) -> Expr:
    """The largest of some values, signs counting; two by two, so that comparisons do not wait for each other."""
    left = list(values)
    while len(left) > 1:
        pairs = [maximum(a, b) for a, b in zip(left[::2], left[1::2], strict=False)]
        left = pairs + left[2 * len(pairs) :]
    return left[0]
