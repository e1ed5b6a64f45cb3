"""Which way the motion under constraints is solved; and the way for many independent rows, loop after loop.

Rows are solved as they stand while few of them are coupled, all together in loops of native code otherwise
(`torseur.dynamics.constraints.solvers`). Many rows that are independent are solved by coordinate partitioning. With
x = N z + x_b, A N = 0 and A x_b = b, the least of 1/2 x' M x - f' x under A x = b is

    (N' M N) z = N' (f - M x_b),   A' lambda = M x - f

(Maakaroun 2.39-2.40). N and x_b follow from loop to loop, so the work grows with the number of loops and not with its
cube. The independent speeds are chosen once, which cannot suit every position: a loop may lose rank where the whole set
of rows does not, and a speed that describes the motion well here may stand still there. Where the choice is bad, and
where the rank given is not the number of rows, all rows are solved together with pivots of that instant. Nothing is
chosen or compiled anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from torseur.dynamics.constrained_motion.componentwise import componentwise
from torseur.dynamics.constrained_motion.range_space import range_space
from torseur.dynamics.constrained_motion.reduction import Reduction
from torseur.dynamics.constrained_motion.sampled_rows import SampledRows
from torseur.dynamics.constrained_motion.switched_rows import switched_rows
from torseur.dynamics.constraints.solvers import FEW_SPEEDS, ConstraintSolver, NullSpaceSolver, are_few
from torseur.dynamics.matrices import dot, times, transposed
from torseur.dynamics.workbench import Workbench
from torseur.graph import Expr, equal, select

__all__ = ["PartitioningSolver", "constraint_solver"]

MANY_ROWS = 12
"""Coupled rows beyond which they are solved along the loops if they are independent."""


def constraint_solver(w: Workbench) -> ConstraintSolver:
    """The motions that loops and constraints of a mechanism allow; chosen once for each workbench."""
    return w.once(_chosen)


def _chosen(w: Workbench) -> ConstraintSolver:
    """Few rows on many speeds by the inertia of the tree, or by the freedoms of each component; along the loops where
    many are coupled and independent, with those that come and go on top; all rows at once otherwise."""
    found: ConstraintSolver | None = None
    if are_few(w.constraints):
        found = range_space(w) or (componentwise(w) if w.tree.nv > FEW_SPEEDS else None)
    elif max(len(rows) for rows, _ in w.constraints.components) > MANY_ROWS:
        found = partitioned(w) or switched_rows(w)
    return found or w.dense_solver


def partitioned(w: Workbench) -> PartitioningSolver | None:
    """None where rows come and go, where they repeat others, or where no speeds can be chosen."""
    if any(row.switch is not None for row in w.constraints.rows) or not _rows_are_independent(w):
        return None
    found = PartitioningSolver(w)
    return found if found.is_complete else None


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
