"""Solving with the inertia matrix along the branches of the tree.

M = L' D L with L unit lower triangular (Featherstone, Rigid Body Dynamics Algorithms, section 6.5): eliminated from
the tips, the zeros between branches stay zeros, so a factor has no more entries than the matrix. No pivoting is
needed: M is positive definite wherever the mechanism has mass.
"""

from __future__ import annotations

from collections.abc import Sequence

from torseur.graph import Expr

__all__ = ["Factors", "ZeroPivot", "factorise", "solve_with"]

Factors = tuple[list[list[Expr]], list[Expr]]
"""L below the diagonal, and the inverses of D."""


class ZeroPivot(ArithmeticError):
    """A pivot that is zero whatever the values of the symbols."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


def factorise(M: Sequence[Sequence[Expr]], order: Sequence[int], parents: Sequence[int]) -> Factors:
    """L and 1/D; `order` lists the speeds from the root on, parents[i] is the one next below i on its branch, or -1."""
    H = [list(row) for row in M]
    inverse: list[Expr] = [row[0] for row in H]
    for k in reversed(order):
        if H[k][k] is H[k][k].graph.zero:
            raise ZeroPivot(k)
        inverse[k] = 1.0 / H[k][k]
        i = parents[k]
        while i >= 0:
            a = H[k][i] * inverse[k]
            j = i
            while j >= 0:
                H[i][j] = H[i][j] - a * H[k][j]
                j = parents[j]
            H[k][i] = a
            i = parents[i]
    return H, inverse


def solve_with(factors: Factors, b: Sequence[Expr], order: Sequence[int], parents: Sequence[int]) -> list[Expr]:
    """x with M x = b."""
    (L, inverse), x = factors, list(b)
    for i in reversed(order):
        j = parents[i]
        while j >= 0:
            x[j] = x[j] - L[i][j] * x[i]
            j = parents[j]
    x = [xi * d for xi, d in zip(x, inverse, strict=True)]
    for i in order:
        j = parents[i]
        while j >= 0:
            x[i] = x[i] - L[i][j] * x[j]
            j = parents[j]
    return x
