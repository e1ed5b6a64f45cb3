"""Products of small matrices of expressions, where zeros cost nothing; a matrix is a list of rows."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.graph import Expr

__all__ = ["Matrix", "dot", "times", "transposed"]

Matrix = list[list[Expr]]


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
