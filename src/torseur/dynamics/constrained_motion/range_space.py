"""Motion under few rows at a time on many speeds: the range-space method, and the freedoms of each component.

The range-space method keeps the inertia factorised along the tree:

    x = y + Z lambda,   y = M^-1 f,   Z = M^-1 A',   S lambda = b - A y,   S = A Z

(Nocedal & Wright, Numerical Optimization, 2nd ed., 16.2.) The factors of M keep the zeros between branches, so that a
car on its wheels takes a fifth of the operations of a projection, which mixes all speeds. What it asks for must hold at
the instant: M is regular, the rows that count are independent, and none is nearly a combination of others, since S has
the square of their condition. Elsewhere all rows are solved together (`NullSpaceSolver`), at that instant only.

A row that is switched off is zero; one on its diagonal in S makes its multiplier zero.

Loops along a chain are solved by the freedoms of each component. With B the allowed speeds of all components side by
side, and x_b the shortest x with A x = b,

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

from torseur.dynamics.constrained_motion.closed_states import SampledRows
from torseur.dynamics.constraints.rows import Row
from torseur.dynamics.constraints.solvers import FLOOR, NullSpaceSolver, ProjectionSolver, are_few
from torseur.dynamics.matrices import Matrix, dot, times, transposed
from torseur.dynamics.tree.inertia_matrix import Factors, ZeroPivot, factorise, solve_with
from torseur.dynamics.workbench import Workbench
from torseur.graph import Expr, Function, Graph, Truth, call, equal, select, sqrt
from torseur.graph.linear import cut_in_rows

__all__ = ["ComponentwiseSolver", "RangeSpaceSolver", "componentwise", "range_space"]


FREE_SPEEDS = 2
"""So many speeds for each row, at least: with fewer, the allowed motions are the smaller problem."""

FEWEST_SPEEDS = 8
"""With fewer speeds a projection takes no more operations, and needs no other way beside it."""

SMALLEST_PIVOT = 1e-3
"""Of S beside its diagonal: the square of the sine of the angle of a row with those before it, seen by the inertia."""

SMALLEST_INERTIA = 1e-10
"""Pivots of M beside its diagonal: less is a speed that moves next to no mass of its own."""


def range_space(w: Workbench) -> RangeSpaceSolver | None:
    """None where rows are not few, where some repeat others, or where a speed moves no mass."""
    fits = max(FEWEST_SPEEDS, FREE_SPEEDS * len(w.constraints.rows)) <= w.tree.nv
    if not (are_few(w.constraints) and fits and _are_independent(w)):
        return None
    try:
        return RangeSpaceSolver(w)
    except ZeroPivot:
        return None


def _are_independent(w: Workbench) -> bool:
    """As far as allowed states near the start tell; of rows that come and go it is seen when they do."""
    if any(row.switch is not None for row in w.constraints.rows):
        return True
    sampled = SampledRows(w)
    return len(sampled.states) > 0 and sampled.rank == len(w.constraints.rows)


class RangeSpaceSolver:
    """The motions that constraints allow; a `ConstraintSolver`."""

    def __init__(self, w: Workbench) -> None:
        self.w, self.M, self.A = w, w.matrix, w.constraints.A
        L, inverse = factorise(self.M, *w.chain)
        self._inertia: Factors = L, inverse
        self._graph = g = w.system.graph
        Z = [self._by_inertia(row) for row in self.A]
        self._schur = _Schur(self.A, Z, w.constraints.rows)
        regular = _are_large(inverse, self.M, SMALLEST_INERTIA)
        self._good = regular & self._schur.is_regular(sum(w.ranks, g.zero))
        self._together = self._dense(self._good)

    def _dense(self, good: Truth) -> NullSpaceSolver:
        """All rows together; nothing is computed where the fast way is good."""
        w = self.w
        given = w.constraints, self.M, w.ranks, w.position_ranks, w.weak_pivots, w.length
        return NullSpaceSolver(*given, select(good, 0.0, 1.0))

    def _by_inertia(self, f: Sequence[Expr]) -> list[Expr]:
        return solve_with(self._inertia, f, *self.w.chain)

    @property
    def rank(self) -> Expr:
        return select(self._good, self._schur.count, self._together.rank)

    def solve(self, f: Sequence[Expr], b: Sequence[Expr]) -> list[Expr]:
        """x with the least 1/2 x' M x - f' x under A x = b."""
        y = self._by_inertia(f)
        lam = self._schur.solve([bi - dot(row, y) for bi, row in zip(b, self.A, strict=True)])
        fast = [yi + dot(row, lam) for yi, row in zip(y, transposed(self._schur.Z), strict=True)]
        return _chosen(self._good, fast, self._together.solve(f, b))

    def multipliers(self, x: Sequence[Expr], f: Sequence[Expr]) -> list[Expr]:
        """lambda with M x = f + A' lambda: S lambda = Z' (M x - f)."""
        rest = [dot(row, x) - fi for row, fi in zip(self.M, f, strict=True)]
        return _chosen(self._good, self._schur.solve(times(self._schur.Z, rest)), self._together.multipliers(x, f))

    def closing(self, misses: Sequence[Expr]) -> list[Expr]:
        """The shortest step x with A x = misses in the holonomic rows: x = A' (A A')^-1 misses."""
        schur, good, together = self._closing
        lam = schur.solve([misses[k] for k in self.w.constraints.holonomic])
        return _chosen(good, [dot(column, lam) for column in transposed(schur.Z)], together.closing(misses))

    @cached_property
    def _closing(self) -> tuple[_Schur, Truth, NullSpaceSolver]:
        rows, zero = self.w.constraints, self._graph.zero
        A = [self.A[k] for k in rows.holonomic]
        schur = _Schur(A, A, [rows.rows[k] for k in rows.holonomic])
        good = schur.is_regular(sum(self.w.position_ranks, zero))
        return schur, good, self._dense(good)


class _Schur:
    """S = A Z, symmetric and positive definite while the rows that count are independent.

    Args:
        A: rows.
        Z: what each row moves, a row for each.
        rows: whose they are.
    """

    def __init__(self, A: Matrix, Z: Matrix, rows: Sequence[Row]) -> None:
        g = A[0][0].graph
        counts = [g.one if row.switch is None else row.switch for row in rows]
        self.Z, self.count = Z, sum(counts, g.zero)
        n = len(A)
        S = [[dot(A[max(i, j)], Z[min(i, j)]) for j in range(n)] for i in range(n)]
        for i, is_on in enumerate(counts):
            S[i][i] = S[i][i] + (1.0 - is_on)
        self._chain = list(range(n)), list(range(-1, n - 1))
        self._S, self._factors = S, factorise(S, *self._chain)
        self._squares = [dot(row, row) + (1.0 - is_on) for row, is_on in zip(A, counts, strict=True)]

    def is_regular(self, rank: Expr) -> Truth:
        """Whether a rank is the number of rows that count, and these are far from combinations of each other."""
        there = reduce(and_, [square > FLOOR * FLOOR for square in self._squares])
        return equal(rank, self.count) & there & _are_large(self._factors[1], self._S, SMALLEST_PIVOT)

    def solve(self, right: Sequence[Expr]) -> list[Expr]:
        return solve_with(self._factors, right, *self._chain)


def _are_large(inverse_pivots: Sequence[Expr], matrix: Matrix, least: float) -> Truth:
    """Whether all pivots are positive, and more than a part of the diagonal; not of nan."""
    sizes = [p * row[k] for k, (p, row) in enumerate(zip(inverse_pivots, matrix, strict=True))]
    return reduce(and_, [test for x in sizes for test in (x > 0.0, x < 1.0 / least)])


def _chosen(good: Truth, fast: Sequence[Expr], together: Sequence[Expr]) -> list[Expr]:
    return [x if x is y else select(good, x, y) for x, y in zip(fast, together, strict=True)]


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
        columns = [_Column([i], [self._graph.one]) for i in range(len(self.M)) if i not in held]
        for (_, speeds), rank in zip(components, self._counted, strict=True):
            Z = basis([[P[i][j] for j in speeds] for i in speeds], len(speeds) - rank)
            columns += [_Column(speeds, column) for column in Z]
        place = {i: k for k, i in enumerate(self._order)}
        return sorted(columns, key=lambda column: min(place[i] for i in column.speeds))

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
