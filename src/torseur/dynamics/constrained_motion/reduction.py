"""Reduced forms: the motion under constraints in as many equations as there are freedoms.

With a the independent speeds (DeSantis' alpha, Maakaroun's active joints),

======  =========================  ===========================================================================
v       = N a + n                  all speeds from the independent ones: (nv, k), (nv,)
vdot    = N adot + g               (2.38): N holds J_ap, g holds -J_p^-1 Psi, in the rows of passive joints
D       = N' M N                   reduced inertia matrix, (2.39): A_m; DeSantis (5.12)
h       = N' (M g + bias)          reduced bias, (2.39): H_m
adot    = D^-1 (N' tau - h)        (2.40)
======  =========================  ===========================================================================

(2.n) are equations of Maakaroun 2011, chapter 2. The rows A v + c = 0 and the definitions Y v = a are solved together,
so quasi-speeds need nothing of their own. Constraint forces do no work along N: A N = 0, whence N' A' lambda = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from torseur.dynamics.constrained_motion.independent_speeds import (
    Independent,
    independent_speeds,
)
from torseur.dynamics.matrices import Matrix, RowSolver, Undetermined, dot, times, transposed
from torseur.dynamics.tree.composite_body import Factors, ZeroPivot, factorise, solve_with
from torseur.dynamics.workbench import Workbench
from torseur.errors import ArgumentError, ModelError
from torseur.graph import Expr, absolute, jacobian, substitute, tangents
from torseur.graph.linear import largest
from torseur.graph.nodes import Truth

__all__ = ["LARGEST_GROWTH", "Reduction", "row_solver"]

LARGEST_GROWTH = 1e3
"""How much faster than the independent speeds the others may be, lengths measured by that of the mechanism, before the
choice is a bad one."""


class Reduction:
    """All speeds by the independent ones, to be computed; `readable_reduction` has them to be read."""

    def __init__(self, w: Workbench) -> None:
        self.w, self.graph = w, w.system.graph
        self.constraints, self.nv = w.constraints, w.tree.nv
        self.independent: Independent = independent_speeds(w)
        values, v = list(self.independent.values), list(w.system.v)
        self.A = self.constraints.A
        self.Y = jacobian(values, v).dense() if values else []
        self._offsets = substitute(values, dict.fromkeys(v, 0.0))
        self._turns = tangents(values, self.constraints.seeds)
        self._solver = row_solver(w, [*self.A, *self.Y], self.independent.names)

    @property
    def is_square(self) -> bool:
        """Whether rows and independent speeds are as many as speeds."""
        return self._solver.is_square

    @property
    def is_well_chosen(self) -> Truth:
        """Whether no speed is much faster than the independent ones, at the instant."""
        w, one = self.w, self.graph.one
        unit = [w.length if x.unit == "m/s" else one for x in w.system.mechanism.v]
        sizes = [
            absolute(x) * ((one if k is None else unit[k]) / unit[i])
            for i, row in enumerate(self.N)
            for x, k in zip(row, self.independent.places, strict=True)
            if not x.is_number
        ]
        return (largest(sizes) if sizes else self.graph.zero) < LARGEST_GROWTH

    @property
    def k(self) -> int:
        """How many freedoms there are."""
        return len(self.independent.names)

    @cached_property
    def N(self) -> Matrix:
        """(nv, k)."""
        zero, one, m = self.graph.zero, self.graph.one, len(self.A)
        units = [[zero] * m + [one if i == j else zero for i in range(self.k)] for j in range(self.k)]
        return _columns([self._solver.solve(unit) for unit in units], self.nv)

    @cached_property
    def right_sides(self) -> list[Expr]:
        """Of the rows: A v = right_sides."""
        return [-c for c in self.constraints.c]

    @cached_property
    def n(self) -> list[Expr]:
        """What is left of v where a = 0: driven motions."""
        return self._solver.solve([*self.right_sides, *(-x for x in self._offsets)])

    @cached_property
    def g(self) -> list[Expr]:
        """What is left of vdot where adot = 0, at a state q, v that the constraints allow."""
        return self._solver.solve([*self.constraints.b, *(-x for x in self._turns)])

    @cached_property
    def N_dot(self) -> Matrix:
        """dN/dt: from the rows differentiated, B N = [0; 1], B' = [A' Y']."""
        rates, zero = self._row_rates, self.graph.zero
        columns = [self._solver.solve([zero - dot(row, column) for row in rates]) for column in transposed(self.N)]
        return _columns(columns, self.nv)

    @cached_property
    def n_dot(self) -> list[Expr]:
        """dn/dt."""
        fall = tangents([*self.constraints.c, *self._offsets], self.constraints.seeds)
        return self._solver.solve([-x - dot(row, self.n) for x, row in zip(fall, self._row_rates, strict=True)])

    def particular(self, b: Sequence[Expr]) -> list[Expr]:
        """x with A x = b and independent parts of zero."""
        return self._solver.solve([*b, *([self.graph.zero] * self.k)])

    def multipliers(self, f: Sequence[Expr]) -> list[Expr]:
        """lambda with A' lambda = f, for an f that allowed motions feel nothing of; the shortest if not unique."""
        if not self._solver.is_square:
            return self.w.dense_solver.multipliers([self.graph.zero] * self.nv, [-x for x in f])
        rows = transposed([*self.A, *self.Y])
        return RowSolver(rows, self.nv, self.graph).solve(f)[: len(self.A)]

    # -- inertia -------------------------------------------------------------------------------------------------------
    @cached_property
    def mass_matrix(self) -> Matrix:
        """D = N' M N."""
        columns = transposed(self.N)
        carried = [times(self.w.matrix, column) for column in columns]
        zero, k = self.graph.zero, range(self.k)
        upper = [[dot(columns[i], carried[j]) if i <= j else zero for j in k] for i in k]
        return [[upper[min(i, j)][max(i, j)] for j in k] for i in k]

    def solve(self, right: Sequence[Expr]) -> list[Expr]:
        """D^-1 right."""
        return solve_with(self._factors, list(right), *self._chain)

    @cached_property
    def _factors(self) -> Factors:
        try:
            return factorise(self.mass_matrix, *self._chain)
        except ZeroPivot as zero:
            raise ModelError(
                f"{self.independent.names[zero.place]} moves no mass: the reduced inertia matrix is singular",
                where=self.w.system.mechanism.name,
                remedy="give what it moves an inertia, or prescribe the motion",
            ) from None

    @property
    def _chain(self) -> tuple[list[int], list[int]]:
        """The order of elimination, and which is below which: all in a row."""
        return list(range(self.k)), list(range(-1, self.k - 1))

    # -- details -------------------------------------------------------------------------------------------------------
    @cached_property
    def _row_rates(self) -> Matrix:
        rows = [*self.A, *self.Y]
        flat = iter(tangents([x for row in rows for x in row], self.constraints.seeds))
        return [[next(flat) for _ in row] for row in rows]


def row_solver(w: Workbench, rows: Matrix, independent: Sequence[str]) -> RowSolver:
    """Of rows that, with the independent speeds, must give all speeds."""
    names = w.system.v.names
    try:
        return RowSolver(rows, len(names), w.system.graph)
    except Undetermined as error:
        raise ArgumentError(
            "the independent speeds do not give all others",
            where=w.system.mechanism.name,
            expected=f"speeds that give {', '.join(names[j] for j in error.unknowns)} as well",
            got=", ".join(independent) or "none",
        ) from None


def _columns(columns: Sequence[Sequence[Expr]], rows: int) -> Matrix:
    return [[column[i] for column in columns] for i in range(rows)]
