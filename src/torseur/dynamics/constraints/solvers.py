"""Motion under constraints: accelerations and multipliers of any number of rows, redundant ones included.

The acceleration of a constrained mechanism is the allowed one nearest to the free one (Gauss 1829):

    minimise 1/2 x' M x - f' x   under   A x = b,      M x = f + A' lambda

All rows take part, always. The rank of A is a number that whoever calls gives at run time (`rank` says how it is
found): which rows are redundant is a matter of the position, and a threshold would be wrong slightly off closure. Where
rows are redundant, x is unique and lambda is the shortest: in N, and N m over the length of the mechanism.

- `ProjectionSolver`: with A^+ the inverse of Moore and Penrose and P = I - A^+ A the projector on the allowed motions,

      x = A^+ b + P z,   (P M P + a (I - P)) z = P (f - M A^+ b),   lambda = A^+' (M x - f)

  written out, so that it works in lanes (Udwadia & Kalaba 1992; de Jalon & Bayo 1994, section 5.1). a is any positive
  number. Rows that share no speed are inverted apart from each other.
- `NullSpaceSolver`: the null-space method in loops of native code (`torseur.graph.constrained`).
- `torseur.dynamics.constrained_motion`: few rows on many speeds by the inertia of the tree (`range_space`), few rows at
  a time on long chains by the freedoms of each component (`componentwise`), many rows that are independent loop after
  loop (`solver`).

Only the inertia of allowed motions must be regular: coordinates without mass may take part as long as a constraint
carries them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from torseur.dynamics.constraints.rows import Constraints
from torseur.dynamics.matrices import Matrix, dot
from torseur.dynamics.tree.inertia_matrix import Factors, ZeroPivot, factorise, solve_with
from torseur.graph import ConstrainedSystem, Expr, Graph, minimum, pseudo_inverse, select
from torseur.graph.rank import LEFT_OVER

__all__ = [
    "FEW_ROWS",
    "FEW_SPEEDS",
    "FLOOR",
    "ConstraintSolver",
    "NullSpaceSolver",
    "Projection",
    "ProjectionSolver",
    "are_few",
    "is_written_out",
    "project",
]

FEW_ROWS = 6
"""Coupled rows up to which their solution is written out."""

FEW_SPEEDS = 16
"""Speeds that few rows may couple, and speeds in all, up to which their solution is written out as it stands: the code
grows with the cube of their number."""

FLOOR = 1e-12
"""Rows below this hold nothing but rounding: those of a loop that forbids only what its tree forbids already."""

SMALLEST_PIVOT = 1e-12
"""Pivots below this part of the first are rounding: there the rank is lost for an instant."""


class ConstraintSolver(Protocol):
    """The motions that constraints allow, and the inertia they see."""

    @property
    def rank(self) -> Expr:
        """Of A, at the instant."""

    def solve(self, f: Sequence[Expr], b: Sequence[Expr]) -> list[Expr]:
        """x with the least 1/2 x' M x - f' x under A x = b."""

    def multipliers(self, x: Sequence[Expr], f: Sequence[Expr]) -> list[Expr]:
        """The shortest lambda with M x = f + A' lambda."""

    def closing(self, misses: Sequence[Expr]) -> list[Expr]:
        """The shortest step x with A x = misses, in the holonomic rows; the others take no part."""


@dataclass(frozen=True)
class Projection:
    """A^+ (nv, rows), P (nv, nv) and the rank of some rows: of each component, and of all."""

    inverse: Matrix
    P: Matrix
    ranks: Sequence[Expr]
    rank: Expr

    def met(self, b: Sequence[Expr]) -> list[Expr]:
        """The shortest x with A x = b."""
        return [dot(row, b) for row in self.inverse] if b else [self.rank.graph.zero] * len(self.inverse)


def project(
    A: Matrix,
    components: Sequence[tuple[Sequence[int], Sequence[int]]],
    ranks: Sequence[Expr],
    scales: Sequence[Expr],
    graph: Graph,
    n: int,
    *,
    weak: Sequence[Expr],
    checked: bool = True,
) -> Projection:
    """A^+, P and rank, each component by itself.

    Args:
        A: rows.
        components: rows and speeds of each.
        ranks: of each.
        scales: of the rows, which give them one unit.
        graph: of the expressions.
        n: how many columns there are.
        weak: of each component, the part of its first pivot below which the last one is lost for an instant.
        checked: whether a rank that is too small gives nan; off closure, rows have more rank than on it.
    """
    zero, one = graph.zero, graph.one
    inverse = [[zero] * len(A) for _ in range(n)]
    P = [[one if i == j else zero for j in range(n)] for i in range(n)]
    columns = []
    for (rows, speeds), rank, least in zip(components, ranks, weak, strict=True):
        scaled = len({scales[i] for i in rows}) > 1  # rows of one unit need none
        part = [[A[i][j] * scales[i] if scaled else A[i][j] for j in speeds] for i in rows]
        X, live = _inverse(part, rank, least, checked)
        columns.append(live)
        for a, j in enumerate(speeds):
            for c, i in enumerate(rows):
                inverse[j][i] = X[a][c] * scales[i] if scaled else X[a][c]
            for d, k in enumerate(speeds):
                P[j][k] = P[j][k] - dot(X[a], [row[d] for row in part])
    return Projection(inverse, P, columns, sum(columns, zero))


def _inverse(part: Matrix, rank: Expr, weak: Expr, checked: bool) -> tuple[Matrix, Expr]:
    """A^+ and the rank; of one row without any decomposition."""
    if len(part) > 1:
        return pseudo_inverse(part, tolerance=SMALLEST_PIVOT, floor=FLOOR, rank=rank, weak=weak, checked=checked)
    row = part[0]
    g, square = row[0].graph, dot(row, row)
    if any(x.is_number and abs(float(x)) > FLOOR for x in row):  # it cannot vanish
        return [[x / square] for x in row], g.one
    live = square > FLOOR * FLOOR
    factor = select(live, 1.0 / select(live, square, 1.0), 0.0)
    return [[x * factor] for x in row], select(live, 1.0, 0.0)


def are_few(constraints: Constraints) -> bool:
    """Whether coupled rows, and the speeds they couple, are few."""
    sizes = [(len(rows), len(speeds)) for rows, speeds in constraints.components]
    return all(rows <= FEW_ROWS and speeds <= FEW_SPEEDS for rows, speeds in sizes)


def is_written_out(constraints: Constraints) -> bool:
    """Whether the solution of all rows is written out; in loops of native code otherwise."""
    return are_few(constraints) and (constraints.tree.nv <= 2 * FEW_SPEEDS or not constraints.rows)


class ProjectionSolver:
    """By projection, written out.

    Args:
        constraints: the rows.
        M: inertia matrix (nv, nv).
        ranks: of the components of the rows.
        position_ranks: of the holonomic rows of each component.
        weak: of each component, the part of its first pivot below which the last one is lost for an instant.
        length: of the mechanism.
    """

    def __init__(
        self,
        constraints: Constraints,
        M: Matrix,
        ranks: Sequence[Expr],
        position_ranks: Sequence[Expr],
        weak: Sequence[Expr],
        length: Expr,
    ) -> None:
        self.constraints, self.M, self._position_ranks = constraints, M, position_ranks
        self._weak = _without_lengths(constraints, weak)
        tree = constraints.tree
        self._graph, self._scales = tree.system.graph, row_scales(constraints, length)
        self.projection = project(
            constraints.A, constraints.components, ranks, self._scales, self._graph, tree.nv, weak=self._weak
        )
        self._order = tree.order
        self._below = dict(zip(self._order, [-1, *self._order], strict=False))

    @cached_property
    def _factors(self) -> Factors:
        P, M, n = self.projection.P, self.M, len(self.M)
        g = self.projection.rank.graph
        if not n:
            return [], []
        level = self._levels
        MP = [[dot(M[i], [P[k][j] for k in range(n)]) for j in range(n)] for i in range(n)]
        K = [[g.zero] * n for _ in range(n)]
        for i in range(n):
            for j in range(i + 1):
                off = (g.one if i == j else g.zero) - P[i][j]
                K[i][j] = K[j][i] = dot(P[i], [MP[k][j] for k in range(n)]) + level[i] * off
        try:
            return factorise(K, self._order, [self._below[k] for k in range(n)])
        except ZeroPivot as pivot:
            raise self.constraints.tree.without_mass(pivot.place) from None

    @property
    def _levels(self) -> list[Expr]:
        """a for each speed: the mean inertia of its component, since components may differ by many orders."""
        g, n = self._graph, len(self.M)
        levels = [g.one] * n
        for _, speeds in self.constraints.components:
            level = sum((self.M[i][i] for i in speeds), g.zero) / float(len(speeds))
            for i in speeds:
                levels[i] = g.one if level is g.zero else level
        return levels

    @property
    def rank(self) -> Expr:
        return self.projection.rank

    def solve(self, f: Sequence[Expr], b: Sequence[Expr]) -> list[Expr]:
        P, n = self.projection.P, len(self.M)
        start = self.projection.met(b)
        rest = [fi - dot(row, start) for fi, row in zip(f, self.M, strict=True)]
        right = [dot(row, rest) for row in P]
        z = solve_with(self._factors, right, self._order, [self._below[k] for k in range(n)])
        return [s + dot(row, z) for s, row in zip(start, P, strict=True)]

    def multipliers(self, x: Sequence[Expr], f: Sequence[Expr]) -> list[Expr]:
        rest = [dot(row, x) - fi for fi, row in zip(f, self.M, strict=True)]
        return [dot(column, rest) for column in zip(*self.projection.inverse, strict=True)]

    def closing(self, misses: Sequence[Expr]) -> list[Expr]:
        rows = self.constraints
        places = {k: i for i, k in enumerate(rows.holonomic)}
        groups = [([places[k] for k in some if k in places], speeds) for some, speeds in rows.components]
        given = zip(groups, self._position_ranks, self._weak, strict=True)
        some, ranks, weak = zip(*((group, r, w) for group, r, w in given if group[0]), strict=True)
        A, scales = ([table[k] for k in rows.holonomic] for table in (rows.A, self._scales))
        projected = project(A, some, ranks, scales, self._graph, len(self.M), weak=weak, checked=False)  # type: ignore[arg-type]
        return projected.met([misses[k] for k in rows.holonomic])


class NullSpaceSolver:
    """By the null-space method, in loops; the arguments are those of `ProjectionSolver`.

    Args:
        wanted: nothing is computed where this is 0.
    """

    def __init__(
        self,
        constraints: Constraints,
        M: Matrix,
        ranks: Sequence[Expr],
        position_ranks: Sequence[Expr],
        weak: Sequence[Expr],
        length: Expr,
        wanted: Expr | None = None,
    ) -> None:
        self.constraints, self.M, self._wanted = constraints, M, wanted
        self._graph = g = constraints.system.graph
        self._position_rank = sum(position_ranks, g.zero)
        self._rows = row_scales(constraints, length)
        lengths = [x.unit == "m/s" for x in constraints.system.mechanism.v]
        self._columns = [length if is_length else g.one for is_length in lengths]
        self._least = smallest(weak) if weak else g.zero
        self._system = ConstrainedSystem(
            M, constraints.A, sum(ranks, g.zero), self._rows, self._columns, wanted, self._least
        )

    @property
    def rank(self) -> Expr:
        return self._system.effective_rank

    def solve(self, f: Sequence[Expr], b: Sequence[Expr]) -> list[Expr]:
        # Else the rank is too small for this position; beside a rank of zero there is nothing to measure by.
        right = (self._system.left_over <= LEFT_OVER) | (self._system.rank < 0.5)
        lost = self._graph.zero / self._graph.zero
        return [x if x.is_number else select(right, x, lost) for x in self._system.solve(f, b)]

    def multipliers(self, x: Sequence[Expr], f: Sequence[Expr]) -> list[Expr]:
        return self._system.multipliers([dot(row, x) - fi for row, fi in zip(self.M, f, strict=True)])

    def closing(self, misses: Sequence[Expr]) -> list[Expr]:
        g, rows, n = self._graph, self.constraints, len(self.M)
        metric = [[1.0 / (c * c) if i == j else g.zero for j in range(n)] for i, c in enumerate(self._columns)]
        A, scales = [rows.A[k] for k in rows.holonomic], [self._rows[k] for k in rows.holonomic]
        system = ConstrainedSystem(metric, A, self._position_rank, scales, self._columns, self._wanted, self._least)
        return system.solve([g.zero] * n, [misses[k] for k in rows.holonomic])


def _without_lengths(constraints: Constraints, weak: Sequence[Expr]) -> list[Expr]:
    """Zero for components with speeds of lengths: their columns are not in one unit here, and pivots not comparable."""
    v, zero = constraints.system.mechanism.v, constraints.system.graph.zero
    pairs = zip(constraints.components, weak, strict=True)
    return [zero if any(v[k].unit == "m/s" for k in speeds) else x for (_, speeds), x in pairs]


def smallest(values: Sequence[Expr]) -> Expr:
    least = values[0]
    for value in values[1:]:
        least = minimum(least, value)
    return least


def row_scales(constraints: Constraints, length: Expr) -> list[Expr]:
    """Factors that turn rows into lengths."""
    one = constraints.system.graph.one
    return [length if row.unit == "N m" else one for row in constraints.rows]
