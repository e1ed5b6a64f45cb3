"""Which way the motion under constraints is solved; and the ways for many independent rows, loop after loop.

Rows are solved as they stand while few of them are coupled, all together in loops of native code otherwise
(`torseur.dynamics.constraints.solvers`). Many rows that are independent are solved by coordinate partitioning. With
x = N z + x_b, A N = 0 and A x_b = b, the least of 1/2 x' M x - f' x under A x = b is

    (N' M N) z = N' (f - M x_b),   A' lambda = M x - f

(Maakaroun 2.39-2.40). N and x_b follow from loop to loop, so the work grows with the number of loops and not with its
cube. The independent speeds are chosen once, which cannot suit every position: a loop may lose rank where the whole set
of rows does not, and a speed that describes the motion well here may stand still there. Where the choice is bad, and
where the rank given is not the number of rows, all rows are solved together with pivots of that instant. Nothing is
chosen or compiled anew.

Many rows that are always there may stand beside a few that come and go: loops, and the contacts they stand on. P are
the rows that are always there, S those with a switch; N are the motions that P allows, and D = N' M N their
inertia (`reduction`). With x = N z + x_P, A_P x_P = b_P and G = A_S N,

    D z = N' (f - M x_P) + G' lambda_S,   G z = b_S - A_S x_P = beta
    W lambda_S = beta - G D^-1 N' (f - M x_P),   W = G D^-1 G'

W has as many rows as S. A row that is switched off is zero in G and in beta; a one on the diagonal of W in its place
makes its multiplier zero. Where the rank given is not the number of rows that are there, all rows are solved together
with pivots of that instant, as in `PartitioningSolver`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from torseur.dynamics.constrained_motion.closed_states import SampledRows
from torseur.dynamics.constrained_motion.range_space import componentwise, range_space
from torseur.dynamics.constrained_motion.reduction import Reduction
from torseur.dynamics.constraints.solvers import FEW_ROWS, FEW_SPEEDS, ConstraintSolver, NullSpaceSolver, are_few
from torseur.dynamics.matrices import Matrix, dot, times, transposed
from torseur.dynamics.workbench import Workbench
from torseur.graph import Expr, equal, select, solve

__all__ = ["PartitioningSolver", "SwitchedRowsSolver", "constraint_solver", "switched_rows"]


MANY_ROWS = 12
"""Coupled rows beyond which they are solved along the loops if they are independent."""


def constraint_solver(w: Workbench) -> ConstraintSolver:
    """The motions that loops and constraints of a mechanism allow; chosen once for each workbench."""
    return w.once(_chosen)


def _chosen(w: Workbench) -> ConstraintSolver:
    """Few rows on many speeds by the inertia of the tree, or by the freedoms of each component; along the loops where
    many are coupled and independent, with those that come and go on top; all rows at once otherwise."""
    solver: ConstraintSolver | None = None
    if are_few(w.constraints):
        solver = range_space(w) or (componentwise(w) if w.tree.nv > FEW_SPEEDS else None)
    elif max(len(rows) for rows, _ in w.constraints.components) > MANY_ROWS:
        solver = partitioned(w) or switched_rows(w)
    return solver or w.dense_solver


def partitioned(w: Workbench) -> PartitioningSolver | None:
    """None where rows come and go, where they repeat others, or where no speeds can be chosen."""
    if any(row.switch is not None for row in w.constraints.rows) or not _rows_are_independent(w):
        return None
    solver = PartitioningSolver(w)
    return solver if solver.is_complete else None


def _rows_are_independent(w: Workbench) -> bool:
    """Whether no row repeats others, as far as allowed states near the start tell."""
    sampled = SampledRows(w)
    return len(sampled.states) > 0 and sampled.rank == len(w.constraints.rows)


class PartitioningSolver:
    """The motions that constraints allow; a `ConstraintSolver`."""

    def __init__(self, w: Workbench) -> None:
        self.w, self.M = w, w.matrix
        self._found = Reduction(w)
        g = w.system.graph
        rows = g.number(float(len(w.constraints.rows)))
        self._good = equal(sum(w.ranks, g.zero), rows) & self._found.is_well_chosen
        bad = select(self._good, 0.0, 1.0)
        self._together = NullSpaceSolver(w.constraints, self.M, w.ranks, w.position_ranks, w.weak_pivots, w.length, bad)

    @property
    def is_complete(self) -> bool:
        """Whether the independent speeds and the rows together give each speed once."""
        return self._found.is_square

    @property
    def rank(self) -> Expr:
        return select(self._good, float(len(self.w.constraints.rows)), self._together.rank)

    def _chosen(self, fast: Sequence[Expr], together: Sequence[Expr]) -> list[Expr]:
        return [x if x is y else select(self._good, x, y) for x, y in zip(fast, together, strict=True)]

    def solve(self, f: Sequence[Expr], b: Sequence[Expr]) -> list[Expr]:
        """x with the least 1/2 x' M x - f' x under A x = b."""
        return self._chosen(self._solved(f, b), self._together.solve(f, b))

    def _solved(self, f: Sequence[Expr], b: Sequence[Expr]) -> list[Expr]:
        start = self._found.particular(b)
        if not self._found.k:
            return start
        rest = [fi - dot(row, start) for fi, row in zip(f, self.M, strict=True)]
        z = self._found.solve(times(transposed(self._found.N), rest))
        return [s + dot(row, z) for s, row in zip(start, self._found.N, strict=True)]

    def multipliers(self, x: Sequence[Expr], f: Sequence[Expr]) -> list[Expr]:
        """lambda with M x = f + A' lambda."""
        fast = self._found.multipliers([dot(row, x) - fi for row, fi in zip(self.M, f, strict=True)])
        return self._chosen(fast, self._together.multipliers(x, f))

    def closing(self, misses: Sequence[Expr]) -> list[Expr]:
        """A step x with A x = misses in the holonomic rows and zero in the others, the independent speeds zero."""
        zero, rows = self.w.system.graph.zero, self.w.constraints
        wanted = [m if row.position is not None else zero for m, row in zip(misses, rows.rows, strict=True)]
        return self._chosen(self._found.particular(wanted), self._together.closing(misses))


def switched_rows(w: Workbench) -> SwitchedRowsSolver | None:
    """None where no row or too many rows come and go, where rows repeat others, or where no speeds can be chosen."""
    c = w.constraints
    switched = [k for k, row in enumerate(c.rows) if row.switch is not None]
    if not 0 < len(switched) <= min(FEW_ROWS, len(c.rows) - 1):
        return None
    closed = SampledRows(w.under(c.only(range(len(c.rows)))))
    if not len(closed.states) or closed.rank < len(c.rows):
        return None
    solver = SwitchedRowsSolver(w, switched)
    return solver if solver.is_complete else None


class SwitchedRowsSolver:
    """The motions that constraints allow; a `ConstraintSolver`."""

    def __init__(self, w: Workbench, switched: Sequence[int]) -> None:
        self.w, self.M, c = w, w.matrix, w.constraints
        self.S, self.P = list(switched), [k for k in range(len(c.rows)) if k not in switched]
        self._found = Reduction(w.under(c.only(self.P)))
        switches = [c.rows[k].switch for k in self.S]
        self._on = [x for x in switches if x is not None]
        self._count = sum(self._on, w.system.graph.number(float(len(self.P))))
        self._good = equal(sum(w.ranks, w.system.graph.zero), self._count) & self._found.is_well_chosen
        bad = select(self._good, 0.0, 1.0)
        self._together = NullSpaceSolver(c, self.M, w.ranks, w.position_ranks, w.weak_pivots, w.length, bad)

    @property
    def is_complete(self) -> bool:
        """Whether the independent speeds and the rows together give each speed once."""
        return self._found.is_square

    @property
    def rank(self) -> Expr:
        return select(self._good, self._count, self._together.rank)

    # -- the parts -----------------------------------------------------------------------------------------------------
    @cached_property
    def G(self) -> Matrix:
        """(S, freedoms)."""
        columns = transposed(self._found.N)
        return [[dot(self.w.constraints.A[k], column) for column in columns] for k in self.S]

    @cached_property
    def _carried(self) -> Matrix:
        """D^-1 G', a row for each of S."""
        return [self._found.solve(row) for row in self.G]

    def _pushes(self, right: Sequence[Expr]) -> list[Expr]:
        """W^-1 right."""
        one = self.w.system.graph.one
        W = [[dot(row, column) for column in self._carried] for row in self.G]
        W = [[x + (one - self._on[i]) if i == j else x for j, x in enumerate(row)] for i, row in enumerate(W)]
        return solve(W, right)

    def _moved(self, start: Sequence[Expr], z: Sequence[Expr]) -> list[Expr]:
        return [s + dot(row, z) for s, row in zip(start, self._found.N, strict=True)]

    def _chosen(self, fast: Sequence[Expr], together: Sequence[Expr]) -> list[Expr]:
        return [x if x is y else select(self._good, x, y) for x, y in zip(fast, together, strict=True)]

    # -- what a solver gives -------------------------------------------------------------------------------------------
    def solve(self, f: Sequence[Expr], b: Sequence[Expr]) -> list[Expr]:
        """x with the least 1/2 x' M x - f' x under A x = b."""
        start = self._found.particular([b[k] for k in self.P])
        rest = [fi - dot(row, start) for fi, row in zip(f, self.M, strict=True)]
        free = self._found.solve(times(transposed(self._found.N), rest))
        return self._chosen(self._closed(start, free, b), self._together.solve(f, b))

    def _closed(self, start: Sequence[Expr], free: Sequence[Expr], b: Sequence[Expr]) -> list[Expr]:
        """x from the z that P alone allows, with the rows S met as well."""
        A = self.w.constraints.A
        beta = [b[k] - dot(A[k], start) for k in self.S]
        pushes = self._pushes([x - dot(row, free) for x, row in zip(beta, self.G, strict=True)])
        z = [x + dot(pushes, column) for x, column in zip(free, transposed(self._carried), strict=True)]
        return self._moved(start, z)

    def multipliers(self, x: Sequence[Expr], f: Sequence[Expr]) -> list[Expr]:
        """lambda with M x = f + A' lambda."""
        A, felt = self.w.constraints.A, [dot(row, x) - fi for row, fi in zip(self.M, f, strict=True)]
        along = times(transposed(self._found.N), felt)
        of_S = self._pushes([dot(row, along) for row in self._carried])
        rest = [fi - dot(of_S, [A[k][j] for k in self.S]) for j, fi in enumerate(felt)]
        of_P = self._found.multipliers(rest)
        by_row = dict(zip([*self.P, *self.S], [*of_P, *of_S], strict=True))
        return self._chosen([by_row[k] for k in range(len(A))], self._together.multipliers(x, f))

    def closing(self, misses: Sequence[Expr]) -> list[Expr]:
        """A step x with A x = misses in the holonomic rows and zero in the others; the rows S move what is lightest."""
        g, rows = self.w.system.graph, self.w.constraints.rows
        wanted = [m if row.position is not None else g.zero for m, row in zip(misses, rows, strict=True)]
        start = self._found.particular([wanted[k] for k in self.P])
        fast = self._closed(start, [g.zero] * self._found.k, wanted)
        return self._chosen(fast, self._together.closing(misses))
