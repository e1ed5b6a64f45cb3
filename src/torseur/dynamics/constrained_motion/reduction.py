"""Reduced forms: the motion under constraints in as many equations as there are freedoms.

Independent speeds are named by whoever asks, defined by formulas as quasi-speeds, or chosen. A choice is good if the
constraints give all other speeds; it is judged by numbers, at states the constraints allow (`sampled_rows`). With a the
independent speeds (DeSantis' alpha, Maakaroun's active joints),

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

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.describe import Effort, Formula, Load, Motor, Transmission
from torseur.describe.constraints import Prescribed, SpeedRow
from torseur.dynamics.constrained_motion.closed_states import SampledRows
from torseur.dynamics.constraints.rank import SINGULAR
from torseur.dynamics.matrices import Matrix, RowSolver, Undetermined, dot, times, transposed
from torseur.dynamics.tree.inertia_matrix import Factors, ZeroPivot, factorise, solve_with
from torseur.dynamics.workbench import Workbench
from torseur.errors import ArgumentError, ModelError
from torseur.graph import Expr, absolute, jacobian, ops, substitute, tangents
from torseur.graph.function import reachable
from torseur.graph.linear import largest
from torseur.graph.nodes import Truth

__all__ = [
    "LARGEST_GROWTH",
    "Independent",
    "Reduction",
    "actuated_coordinates",
    "actuated_speeds",
    "independent_speeds",
    "prescribed_speeds",
    "row_solver",
    "speed_named",
]

_COMFORTABLE = 1e-2
"""Dependent speeds are sought first among those that the rows fix at least this well."""


@dataclass(frozen=True)
class Independent:
    """The independent speeds: their names, and each as an expression of v, linear in it.

    `places` are those in v of plain speeds; None for a quasi-speed.
    """

    names: tuple[str, ...]
    values: tuple[Expr, ...]
    places: tuple[int | None, ...]


def independent_speeds(w: Workbench) -> Independent:
    """Those of the options, checked, or a choice."""
    sampled = SampledRows(w)
    if w.options.independent is None:
        return _parsed(w, [w.system.v.names[k] for k in _chosen(w, sampled)])
    speeds = _parsed(w, w.options.independent)
    _check(w, speeds, sampled)
    return speeds


# -- by name or formula ------------------------------------------------------------------------------------------------
def speed_named(w: Workbench, name: str) -> int:
    """The place in v of a speed, or of the rate of a coordinate."""
    names = list(w.system.v.names)
    speed = w.system.mechanism.rates.get(name, name)
    if speed in names:
        return names.index(speed)
    near = difflib.get_close_matches(name, names, 1)
    raise ArgumentError(
        f"no speed '{name}'",
        where=w.system.mechanism.name,
        expected=", ".join(names),
        remedy=f"did you mean {near[0]}?" if near else None,
    )


def _parsed(w: Workbench, given: Sequence[str]) -> Independent:
    names, values, places = [], [], list[int | None]()
    for text in given:
        name, equals, formula = (part.strip() for part in text.partition("="))
        if equals:
            values.append(_quasi_speed(w, name, formula))
            places.append(None)
        else:
            places.append(speed_named(w, text.strip()))
            values.append(w.system.v.symbols[places[-1] or 0])
            name = w.system.v.names[places[-1] or 0]
        names.append(name)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ArgumentError("independent speeds named twice", where=w.system.mechanism.name, got=", ".join(twice))
    return Independent(tuple(names), tuple(values), tuple(places))


def _quasi_speed(w: Workbench, name: str, text: str) -> Expr:
    """A formula that is linear in the speeds."""
    formula = Formula(text)
    known, where = w.system.scope, f"independent speed '{name}'"
    if not name.isidentifier() or name in known:
        raise ArgumentError("a quasi-speed needs a name of its own", where=where, expected="a new word", got=name)
    unknown = sorted(formula.names - known.keys())
    if unknown:
        raise ArgumentError("unknown names", where=where, got=", ".join(unknown))
    value = formula.expr(w.system.graph, known, w.system.tables)
    slopes = jacobian([value], list(w.system.v)).entries
    if not slopes or any(x.op is ops.SYMBOL and x.data[0] == "v" for x in reachable(slopes)):
        raise ArgumentError(
            "not linear in the speeds",
            where=where,
            expected=f"a sum of {', '.join(w.system.v.names)} times formulas of coordinates and t",
            got=text,
        )
    return value


def _check(w: Workbench, given: Independent, sampled: SampledRows) -> None:
    """An error if the speeds given depend on each other, or leave others open."""
    if not len(sampled.states):
        return  # nothing known that could be held against them
    n, where = w.tree.nv, f"independent speeds of {w.system.mechanism.name}"
    freedoms = n - sampled.rank
    if len(given.names) != freedoms:
        raise ArgumentError(
            f"{len(given.names)} independent speeds for {freedoms} freedoms",
            where=where,
            expected=f"{freedoms}, such as {', '.join(w.system.v.names[k] for k in _chosen(w, sampled))}",
            got=", ".join(given.names) or "none",
        )
    if sampled.rank_with(jacobian(list(given.values), list(w.system.v)).dense() if given.values else []) < n:
        raise ArgumentError(
            "these speeds are not independent: constraints relate them",
            where=where,
            expected=f"for example {', '.join(w.system.v.names[k] for k in _chosen(w, sampled))}",
            got=", ".join(given.names),
        )


# -- a choice ----------------------------------------------------------------------------------------------------------
def actuated_coordinates(w: Workbench) -> list[str]:
    """The coordinates that actuators act on: those with an effort or a motor that has a torque; where there is none,
    those with a motor; and where there is none either, those with the inertia of a drive.

    An inertia alone says little: the gears of passive joints have one too.
    """
    loads = list(w.system.mechanism.loads.values())
    pushes: list[Load] = [x for x in loads if isinstance(x, Effort) or (isinstance(x, Motor) and x.torque != 0.0)]
    motors: list[Load] = [x for x in loads if isinstance(x, Motor)]
    drives: list[Load] = [x for x in loads if isinstance(x, Transmission)]
    for some in (pushes, motors, drives):
        if unknown := [name for x in some if (name := getattr(x, "coordinate", None)) is not None]:
            return list(dict.fromkeys(unknown))
    return []


def actuated_speeds(w: Workbench) -> set[int]:
    """Places in v of the rates of actuated coordinates."""
    names = set(actuated_coordinates(w))
    return {k for k, x in enumerate(w.system.mechanism.v) if x.rate_of in names}


def prescribed_speeds(w: Workbench) -> set[int]:
    """Places in v of the speeds of prescribed coordinates, and of speeds that a row gives by themselves."""
    forms = [constraint.form for constraint in w.system.mechanism.constraints.values()]
    rates = w.system.mechanism.rates
    names = {rates.get(form.coordinate, "") for form in forms if isinstance(form, Prescribed)}
    names |= {
        n for form in forms if isinstance(form, SpeedRow) and len(form.coefficients) == 1 for n in form.coefficients
    }
    return {k for k, name in enumerate(w.system.v.names) if name in names}


def _chosen(w: Workbench, sampled: SampledRows) -> list[int]:
    """Independent speeds: actuated ones if they can be, then the first of v; prescribed ones last."""
    if not len(sampled.states):
        raise ModelError(
            "no closed position was found near the start, so no independent speeds can be chosen",
            where=w.system.mechanism.name,
            remedy="start values of coordinates nearer to a closed position, or name the independent speeds",
            option="independent",
        )
    n, actuated, given = w.tree.nv, actuated_speeds(w), prescribed_speeds(w)
    wanted = sorted(range(n), key=lambda k: (k not in given, k in actuated, -k))
    dependent: list[int] = []
    for least in (_COMFORTABLE, SINGULAR):
        for k in wanted:
            if len(dependent) < sampled.rank and k not in dependent and _fixes(sampled, [*dependent, k], least):
                dependent.append(k)
    return [k for k in range(n) if k not in dependent]


def _fixes(sampled: SampledRows, speeds: list[int], least: float) -> bool:
    """Whether the rows give these speeds, at every state or, for lack of better, at some."""
    smallest = []
    for A in sampled.A:
        s = np.linalg.svd(A[:, speeds], compute_uv=False)
        smallest.append(float(s[-1]) if len(s) == len(speeds) else 0.0)
    return min(smallest) > least if least == _COMFORTABLE else max(smallest) > least


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
