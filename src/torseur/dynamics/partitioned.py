"""Motion under many constraints, by independent speeds: what `constrained` does densely, along the loops.

With x = N z + x_b, A N = 0 and A x_b = b, the least of 1/2 x' M x - f' x under A x = b is

    (N' M N) z = N' (f - M x_b),   A' lambda = M x - f

(Maakaroun 2.39-2.40). N and x_b follow from loop to loop, so the work grows with the number of loops and not with its
cube. Ranks are not found here: rows must be independent, which `rows_are_independent` judges, and the choice of speeds
good, which `independent` sees to.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from torseur.dynamics.factorisation import Factors
from torseur.dynamics.matrices import dot, times, transposed
from torseur.dynamics.reduction import Reduction, reduced_factors, solve_reduced
from torseur.dynamics.sampled_rows import SampledRows
from torseur.dynamics.workbench import Workbench
from torseur.graph import Expr, absolute
from torseur.graph.linear import largest

__all__ = ["Partitioned", "rows_are_independent"]


def rows_are_independent(w: Workbench) -> bool:
    """Whether no row repeats others, as far as allowed states near the start tell."""
    sampled = SampledRows(w)
    return len(sampled.states) > 0 and sampled.rank == len(w.constraints.rows)


class Partitioned:
    """The motions that constraints allow; the same questions as `constrained.Allowed`."""

    def __init__(self, w: Workbench) -> None:
        self.w, self.M = w, w.matrix
        self._found = Reduction(w)

    @property
    def rank(self) -> Expr:
        return self.w.system.graph.number(float(len(self.w.constraints.rows)))

    @property
    def growth(self) -> Expr:
        """How much faster the fastest speed is than the independent ones: large where the choice is bad."""
        return largest([absolute(x) for row in self._found.N for x in row])

    def met(self, b: Sequence[Expr]) -> list[Expr]:
        """An x with A x = b, the independent speeds zero."""
        return self._found.particular(b)

    @cached_property
    def _factors(self) -> Factors:
        return reduced_factors(self.w, self._found)

    def solve(self, f: Sequence[Expr], b: Sequence[Expr]) -> list[Expr]:
        """x with the least 1/2 x' M x - f' x under A x = b."""
        start = self.met(b)
        if not self._found.k:
            return start
        rest = [fi - dot(row, start) for fi, row in zip(f, self.M, strict=True)]
        z = solve_reduced(self._factors, times(transposed(self._found.N), rest))
        return [s + dot(row, z) for s, row in zip(start, self._found.N, strict=True)]

    def multipliers(self, x: Sequence[Expr], f: Sequence[Expr]) -> list[Expr]:
        """lambda with M x = f + A' lambda."""
        return self._found.multipliers([dot(row, x) - fi for row, fi in zip(self.M, f, strict=True)])
