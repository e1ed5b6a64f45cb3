"""Motion under constraints: accelerations and multipliers of any number of rows, redundant ones included.

The acceleration of a constrained mechanism is the allowed one nearest to the free one (Gauss 1829):

    minimise 1/2 x' M x - f' x   under   A x = b

With A^+ the inverse of Moore and Penrose and P = I - A^+ A the projector on the allowed motions,

    x = A^+ b + P z,   (P M P + a (I - P)) z = P (f - M A^+ b),   lambda = A^+' (M x - f)

A^+ tells the rank, so redundant rows and positions where rows lose their rank give finite results: x is exact, and
lambda is the shortest of all the multipliers that hold x. Only P M P need be regular on the allowed motions:
coordinates without mass may take part as long as a constraint carries them. a, any positive number, keeps the matrix
regular off the allowed motions. Rows that share no speed are inverted apart from each other (Udwadia & Kalaba 1992;
the projector form: de Jalon & Bayo 1994, section 5.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from torseur.dynamics.constraints import Constraints
from torseur.dynamics.factorisation import Factors, ZeroPivot, factorise, solve_with
from torseur.dynamics.matrices import Matrix, dot
from torseur.graph import Expr, Graph, pseudo_inverse, select

__all__ = ["Allowed", "Projection", "project"]

FLOOR = 1e-12
"""Rows below this hold nothing but rounding: those of a loop that forbids only what its tree forbids already."""


@dataclass(frozen=True)
class Projection:
    """A^+ (nv, rows), P (nv, nv) and the rank of some rows."""

    inverse: Matrix
    P: Matrix
    rank: Expr

    def met(self, b: Sequence[Expr]) -> list[Expr]:
        """The shortest x with A x = b."""
        return [dot(row, b) for row in self.inverse] if b else [self.rank.graph.zero] * len(self.inverse)


def project(A: Matrix, components: Sequence[tuple[list[int], list[int]]], graph: Graph, n: int) -> Projection:
    """A^+, P and rank, each group of rows by itself."""
    zero, one = graph.zero, graph.one
    inverse = [[zero] * len(A) for _ in range(n)]
    P = [[one if i == j else zero for j in range(n)] for i in range(n)]
    rank = zero
    for rows, speeds in components:
        part = [[A[i][j] for j in speeds] for i in rows]
        X, live = _inverse(part)
        rank = rank + live
        for a, j in enumerate(speeds):
            for c, i in enumerate(rows):
                inverse[j][i] = X[a][c]
            for d, k in enumerate(speeds):
                P[j][k] = P[j][k] - dot(X[a], [row[d] for row in part])
    return Projection(inverse, P, rank)


def _inverse(part: Matrix) -> tuple[Matrix, Expr]:
    """A^+ and the rank; of one row without any decomposition."""
    if len(part) > 1:
        return pseudo_inverse(part, floor=FLOOR)
    row = part[0]
    g, square = row[0].graph, dot(row, row)
    if any(x.is_number and abs(float(x)) > FLOOR for x in row):  # it cannot vanish
        return [[x / square] for x in row], g.one
    live = square > FLOOR * FLOOR
    factor = select(live, 1.0 / select(live, square, 1.0), 0.0)
    return [[x * factor] for x in row], select(live, 1.0, 0.0)


class Allowed:
    """The motions that constraints allow, and the inertia they see.

    Args:
        constraints: the rows.
        M: inertia matrix (nv, nv).
    """

    def __init__(self, constraints: Constraints, M: Matrix) -> None:
        self.constraints, self.M = constraints, M
        tree = constraints.tree
        self.projection = project(constraints.A, constraints.components, tree.system.graph, tree.nv)
        self._order = tree.order
        self._below = dict(zip(self._order, [-1, *self._order], strict=False))

    @cached_property
    def _factors(self) -> Factors:
        P, M, n = self.projection.P, self.M, len(self.M)
        g = self.projection.rank.graph
        if not n:
            return [], []
        level = sum((M[i][i] for i in range(n)), g.zero) / float(n)
        level = g.one if level is g.zero else level
        MP = [[dot(M[i], [P[k][j] for k in range(n)]) for j in range(n)] for i in range(n)]
        K = [[g.zero] * n for _ in range(n)]
        for i in range(n):
            for j in range(i + 1):
                off = (g.one if i == j else g.zero) - P[i][j]
                K[i][j] = K[j][i] = dot(P[i], [MP[k][j] for k in range(n)]) + level * off
        try:
            return factorise(K, self._order, [self._below[k] for k in range(n)])
        except ZeroPivot as pivot:
            raise self.constraints.tree.without_mass(pivot.place) from None

    @property
    def rank(self) -> Expr:
        """Of A."""
        return self.projection.rank

    def solve(self, f: Sequence[Expr], b: Sequence[Expr]) -> list[Expr]:
        """x with the least 1/2 x' M x - f' x under A x = b."""
        P, n = self.projection.P, len(self.M)
        start = self.projection.met(b)
        rest = [fi - dot(row, start) for fi, row in zip(f, self.M, strict=True)]
        right = [dot(row, rest) for row in P]
        z = solve_with(self._factors, right, self._order, [self._below[k] for k in range(n)])
        return [s + dot(row, z) for s, row in zip(start, P, strict=True)]

    def multipliers(self, x: Sequence[Expr], f: Sequence[Expr]) -> list[Expr]:
        """The shortest lambda with M x = f + A' lambda."""
        rest = [dot(row, x) - fi for fi, row in zip(f, self.M, strict=True)]
        return [dot(column, rest) for column in zip(*self.projection.inverse, strict=True)]
