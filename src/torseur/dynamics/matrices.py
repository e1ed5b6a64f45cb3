"""Products of small matrices of expressions, where zeros cost nothing; a matrix is a list of rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from torseur.graph import Expr

__all__ = ["Matrix", "determinant", "dot", "times", "transposed"]

Matrix = list[list[Expr]]

FEW = 8


def dot(u: Sequence[Expr], v: Sequence[Expr]) -> Expr:
    """u . v."""
    total = u[0].graph.zero
    for a, b in zip(u, v, strict=True):
        total = total + a * b
    return total


def times(A: Sequence[Sequence[Expr]], x: Sequence[Expr]) -> list[Expr]:
    """A x."""
    return [dot(row, x) for row in A]


def transposed(A: Sequence[Sequence[Expr]]) -> Matrix:
    """A'."""
    return [list(column) for column in zip(*A, strict=True)]


def determinant(A: Matrix) -> Expr:
    """Of a few rows by minors of the last ones, each computed once; of more by elimination as they stand."""
    n, g = len(A), A[0][0].graph
    if n > FEW:
        return _product_of_pivots(A)
    minors: dict[tuple[int, ...], Expr] = {(): g.one}
    for k in range(n - 1, -1, -1):
        found: dict[tuple[int, ...], Expr] = {}
        for columns in combinations(range(n), n - k):
            total = g.zero
            for place, j in enumerate(columns):
                term = A[k][j] * minors[columns[:place] + columns[place + 1 :]]
                total = total - term if place % 2 else total + term
            found[columns] = total
        minors = found
    return minors[tuple(range(n))]


def _product_of_pivots(A: Matrix) -> Expr:
    left, found = [list(row) for row in A], A[0][0].graph.one
    for k in range(len(A)):
        found = found * left[k][k]
        for i in range(k + 1, len(A)):
            factor = left[i][k] / left[k][k]
            left[i] = [x if j <= k else x - factor * y for j, (x, y) in enumerate(zip(left[i], left[k], strict=True))]
    return found
