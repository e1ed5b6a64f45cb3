"""Motion under few rows at a time on many speeds, by the freedoms of each component: loops along a chain.

With B the allowed speeds of all components side by side, and x_b the shortest x with A x = b,

    x = x_b + B z,   (B' M B) z = B' (f - M x_b)

The projectors of `ProjectionSolver` would do as B; but they have as many columns as there are speeds, and so has the
matrix that is factorised, however few freedoms are left. Here B is an orthonormal basis, with as many columns as the
components have freedoms at the closed states near the start. Where the rank of a component is not the one counted on,
on another branch, for other parameters or for an instant, all rows are solved together (`NullSpaceSolver`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from operator import and_

from torseur.dynamics.constrained_motion.sampled_rows import SampledRows
from torseur.dynamics.constraints.solvers import NullSpaceSolver, ProjectionSolver
from torseur.dynamics.matrices import Matrix, dot
from torseur.dynamics.tree.composite_body import Factors, ZeroPivot, factorise, solve_with
from torseur.dynamics.workbench import Workbench
from torseur.graph import Expr, Function, Graph, call, equal, select, sqrt
from torseur.graph.linear import cut_in_rows

__all__ = ["ComponentwiseSolver", "componentwise"]


def componentwise(w: Workbench) -> ComponentwiseSolver | None:
    """None where ranks are not known, or where most of the speeds are free."""
    if any(row.switch is not None for row in w.constraints.rows):
        return None
    ranks = SampledRows(w).component_ranks
    return ComponentwiseSolver(w, ranks) if ranks and 2 * sum(ranks) >= w.tree.nv else None


@dataclass(frozen=True)
class _Column:
    """A direction of B: the speeds that take part, and their values."""

    speeds: Sequence[int]
    values: Sequence[Expr]

    def along(self, x: Sequence[Expr]) -> Expr:
        return dot(self.values, [x[i] for i in self.speeds])


class ComponentwiseSolver(ProjectionSolver):
    """The motions that constraints allow.

    Args:
        w: the mechanism.
        ranks: of the components of its rows, as far as allowed states near the start tell.
    """

    def __init__(self, w: Workbench, ranks: Sequence[int]) -> None:
        given = w.constraints, w.matrix, w.ranks, w.position_ranks, w.weak_pivots, w.length
        super().__init__(*given)
        self._counted = ranks
        as_counted = [equal(r, float(n)) for r, n in zip(self.projection.ranks, ranks, strict=True)]
        self._good = reduce(and_, as_counted)
        self._together = NullSpaceSolver(*given, select(self._good, 0.0, 1.0))

    @property
    def rank(self) -> Expr:
        return select(self._good, float(sum(self._counted)), self._together.rank)

    @cached_property
    def _columns(self) -> list[_Column]:
        """B, in the order of the tree."""
        components, P = self.constraints.components, self.projection.P
        held = {i for _, speeds in components for i in speeds}
        found = [_Column([i], [self._graph.one]) for i in range(len(self.M)) if i not in held]
        for (_, speeds), rank in zip(components, self._counted, strict=True):
            Z = basis([[P[i][j] for j in speeds] for i in speeds], len(speeds) - rank)
            found += [_Column(speeds, column) for column in Z]
        place = {i: k for k, i in enumerate(self._order)}
        return sorted(found, key=lambda column: min(place[i] for i in column.speeds))

    @cached_property
    def _chain(self) -> tuple[list[int], list[int]]:
        """All columns in a row: the order of elimination, and which is below which."""
        n = len(self._columns)
        return list(range(n)), list(range(-1, n - 1))

    @cached_property
    def _factors(self) -> Factors:
        K: Matrix = []
        for i, a in enumerate(self._columns):
            Ma = [dot([row[j] for j in a.speeds], a.values) for row in self.M]
            K.append([b.along(Ma) for b in self._columns[: i + 1]])
        n = len(K)
        full = [[K[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]
        try:
            return factorise(full, *self._chain)
        except ZeroPivot as pivot:
            raise self.constraints.tree.without_mass(self._columns[pivot.place].speeds[0]) from None

    def solve(self, f: Sequence[Expr], b: Sequence[Expr]) -> list[Expr]:
        fast, together = self._solved(f, b), self._together.solve(f, b)
        return [x if x is y else select(self._good, x, y) for x, y in zip(fast, together, strict=True)]

    def _solved(self, f: Sequence[Expr], b: Sequence[Expr]) -> list[Expr]:
        x = self.projection.met(b)
        if not self._columns:
            return x
        rest = [fi - dot(row, x) for fi, row in zip(f, self.M, strict=True)]
        z = solve_with(self._factors, [column.along(rest) for column in self._columns], *self._chain)
        for zk, column in zip(z, self._columns, strict=True):
            for i, value in zip(column.speeds, column.values, strict=True):
                x[i] = x[i] + value * zk
        return x


def basis(P: Matrix, count: int) -> list[list[Expr]]:
    """So many orthonormal columns Z with Z Z' = P, a projector of that rank."""
    n = len(P)
    if not count:
        return []
    flat = call(_basis(n, count), [x for row in P for x in row])
    return cut_in_rows(flat, n)


@cache
def _basis(n: int, count: int) -> Function:
    """Cholesky's factor with pivots of the instant: that of a projector is orthonormal, and no pivot is small."""
    g = Graph()
    block = g.block("P", (n, n))
    left, columns = cut_in_rows(list(block), n), []
    for k in range(count):
        pivot, column = left[0][0], [row[0] for row in left]
        for j in range(1, n):
            is_larger = left[j][j] > pivot
            pivot = select(is_larger, left[j][j], pivot)
            column = [select(is_larger, row[j], x) for row, x in zip(left, column, strict=True)]
        size = 1.0 / sqrt(pivot)
        column = [x * size for x in column]
        columns.append(column)
        if k + 1 < count:
            left = [[x - a * b for x, b in zip(row, column, strict=True)] for row, a in zip(left, column, strict=True)]
    return Function(f"basis{n}_{count}", [block], {"Z": columns})
