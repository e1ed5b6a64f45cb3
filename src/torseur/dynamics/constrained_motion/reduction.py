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
from typing import Any

from torseur.dynamics.constrained_motion.independent_speeds import (
    Independent,
    actuated_coordinates,
    independent_speeds,
    speed_named,
)
from torseur.dynamics.constrained_motion.motion import moved_by
from torseur.dynamics.constrained_motion.normal_forces import normals_read
from torseur.dynamics.matrices import Matrix, dot, times, transposed
from torseur.dynamics.row_solver import RowSolver, Undetermined
from torseur.dynamics.tree.factorisation import Factors, ZeroPivot, factorise, solve_with
from torseur.dynamics.workbench import Workbench
from torseur.errors import ArgumentError, ModelError
from torseur.graph import Expr, jacobian, minimum_norm_solve, solve, substitute, tangents

__all__ = [
    "Reduction",
    "actuator_efforts",
    "efforts_of_motion",
    "reduced_bias",
    "reduced_factors",
    "reduced_forward_dynamics",
    "reduced_mass_matrix",
    "reduction",
    "solve_reduced",
]


class Reduction:
    """All speeds by the independent ones, to be computed; `reading` has them to be read."""

    def __init__(self, w: Workbench) -> None:
        self.w, self.graph = w, w.system.graph
        self.constraints, self.nv = w.constraints, w.tree.nv
        self.independent: Independent = independent_speeds(w)
        values, v = list(self.independent.values), list(w.system.v)
        self.A = self.constraints.A
        self.Y = jacobian(values, v).dense() if values else []
        self._offsets = substitute(values, dict.fromkeys(v, 0.0))
        self._turns = tangents(values, self.constraints.seeds)
        self._solver = self._solver_of([*self.A, *self.Y])

    @property
    def is_square(self) -> bool:
        """Whether rows and independent speeds are as many as speeds."""
        return self._solver.is_square

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
            return self.w.allowed.multipliers([self.graph.zero] * self.nv, [-x for x in f])
        rows = transposed([*self.A, *self.Y])
        return RowSolver(rows, self.nv, self.graph).solve(f)[: len(self.A)]

    # -- details -------------------------------------------------------------------------------------------------------
    @cached_property
    def _row_rates(self) -> Matrix:
        rows = [*self.A, *self.Y]
        flat = iter(tangents([x for row in rows for x in row], self.constraints.seeds))
        return [[next(flat) for _ in row] for row in rows]

    def _solver_of(self, rows: Matrix) -> RowSolver:
        try:
            return RowSolver(rows, self.nv, self.graph)
        except Undetermined as error:
            names = self.w.system.v.names
            raise ArgumentError(
                "the independent speeds do not give all others",
                where=self.w.system.mechanism.name,
                expected=f"speeds that give {', '.join(names[j] for j in error.unknowns)} as well",
                got=", ".join(self.independent.names) or "none",
            ) from None


# -- quantities --------------------------------------------------------------------------------------------------------
def reduction(w: Workbench) -> dict[str, Any]:
    """N and n with v = N a + n. The rows of passive joints in N are J_ap (2.37)."""
    found = _some(w)
    return {"reduction": found.N, "drift": found.n}


def reduced_mass_matrix(w: Workbench) -> dict[str, Any]:
    """D = N' M N."""
    return {"reduced_mass_matrix": _inertia(w, _some(w))}


def reduced_bias(w: Workbench) -> dict[str, Any]:
    """h = N' (M g + bias): the reduced inverse dynamics where adot = 0."""
    found = _some(w)
    return {"reduced_bias": times(transposed(found.N), w.inverse(found.g))}


def reduced_forward_dynamics(w: Workbench) -> dict[str, Any]:
    """adot, and vdot of all speeds."""
    found = _some(w)
    f = [t - h for t, h in zip(w.block("tau"), w.inverse(found.g), strict=True)]
    if normals_read(w, f):
        normals = moved_by(w, list(w.block("tau"))).normals
        assert normals is not None
        f = substitute(f, normals.pushes)
    adot = solve_reduced(reduced_factors(w, found), times(transposed(found.N), f))
    return {"adot": adot, "vdot": [x + y for x, y in zip(times(found.N, adot), found.g, strict=True)]}


def actuator_efforts(w: Workbench) -> dict[str, Any]:
    """Efforts of the actuated coordinates for a motion, in their order."""
    return {"efforts": list(efforts_of_motion(w, _some(w)).values())}


def efforts_of_motion(w: Workbench, found: Reduction) -> dict[int, Expr]:
    """Place in v -> effort: N_a' Gamma = N' tau, tau that of the open tree (2.35)-(2.37).

    With actuated coordinates as the independent ones it is Gamma_a + J_ap' Gamma_p. More actuators than freedoms share
    the effort so that the sum of squares is least.
    """
    names = w.options.actuated
    if names is None:
        names = tuple(actuated_coordinates(w)) or found.independent.names
    active = [speed_named(w, name) for name in names]
    if len(active) < found.k:
        raise ArgumentError(
            f"{len(active)} actuated coordinates cannot hold {found.k} freedoms",
            where=w.system.mechanism.name,
            got=", ".join(names) or "none",
            expected=f"at least {found.k} coordinates, such as those of {', '.join(found.independent.names)}",
        )
    felt = times(transposed(found.N), w.inverse(list(w.block("vdot"))))
    if sorted(active) == sorted(p for p in found.independent.places if p is not None):
        return {k: felt[found.independent.places.index(k)] for k in active}
    arms = transposed([found.N[k] for k in active])
    efforts = solve(arms, felt) if len(active) == found.k else minimum_norm_solve(arms, felt)[0]
    return dict(zip(active, efforts, strict=True))


def _some(w: Workbench) -> Reduction:
    found = Reduction(w)
    if not found.k:
        raise ModelError("the constraints leave nothing free to move", where=w.system.mechanism.name)
    return found


def reduced_factors(w: Workbench, found: Reduction) -> Factors:
    """Of D; an error where a freedom moves no mass."""
    try:
        return factorise(_inertia(w, found), range(found.k), [i - 1 for i in range(found.k)])
    except ZeroPivot as zero:
        raise ModelError(
            f"{found.independent.names[zero.place]} moves no mass: the reduced inertia matrix is singular",
            where=w.system.mechanism.name,
            remedy="give what it moves an inertia, or prescribe the motion",
        ) from None


def solve_reduced(factors: Factors, right: Sequence[Expr]) -> list[Expr]:
    """D^-1 right."""
    return solve_with(factors, list(right), range(len(right)), [i - 1 for i in range(len(right))])


def _inertia(w: Workbench, found: Reduction) -> Matrix:
    columns = transposed(found.N)
    carried = [times(w.matrix, column) for column in columns]
    upper = [
        [dot(columns[i], carried[j]) if i <= j else w.system.graph.zero for j in range(found.k)] for i in range(found.k)
    ]
    return [[upper[min(i, j)][max(i, j)] for j in range(found.k)] for i in range(found.k)]


def _columns(columns: Sequence[Sequence[Expr]], rows: int) -> Matrix:
    return [[column[i] for column in columns] for i in range(rows)]
