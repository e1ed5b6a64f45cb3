"""All speeds by the independent ones, to be read: what `reduction` gives to be computed.

Rows and results are simplified as they come, by whoever can (`simplify`); rows that repeat others for all positions are
left out; prescribed speeds and accelerations stay symbols. Independent speeds that nobody named are those whose choice
is equally good everywhere, if there are any: then nothing stands below a fraction line that could vanish.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from torseur.dynamics.constrained_motion.closed_states import AllowedMotions
from torseur.dynamics.constrained_motion.reduction import (
    Independent,
    actuated_speeds,
    independent_speeds,
    prescribed_speeds,
    row_solver,
)
from torseur.dynamics.constraints.rank import rank_over
from torseur.dynamics.matrices import Matrix, RowSolver, transposed
from torseur.dynamics.workbench import Workbench
from torseur.graph import Expr, jacobian, solve, substitute, tangents
from torseur.graph.function import reachable

__all__ = ["Reading", "Simplify", "as_it_is", "solved", "steady_speeds"]

Simplify = Callable[[Sequence[Expr]], list[Expr]]

_STATES, _MOST_CHOICES = 12, 2000
_STEADY = 0.999
_CRAMER, _SHORT = 3, 40
"""Rows up to which quotients of determinants, with at most so many nodes below the line, are easier to read than
factors."""


def as_it_is(exprs: Sequence[Expr]) -> list[Expr]:
    """No simplification."""
    return list(exprs)


class Reading:
    """v = N alpha + n, vdot = N alphadot + N_dot alpha + n_dot; alpha and the rows that count."""

    def __init__(self, w: Workbench, simplify: Simplify) -> None:
        self.w, self.graph, self.simplify = w, w.system.graph, simplify
        self.constraints, self.nv = w.constraints, w.tree.nv
        self.independent: Independent = independent_speeds(steady_speeds(w))
        values, v = list(self.independent.values), list(w.system.v)
        self.A = self.simplified(self.constraints.A)
        self.Y = self.simplified(jacobian(values, v).dense()) if values else []
        self._offsets = simplify(substitute(values, dict.fromkeys(v, 0.0)))
        self.counting = self._counting()
        kept = prescribed_speeds(w)
        self._kept = {i: k for i in self.counting for k in kept if self._is_unit(self.A[i], k)}

    @property
    def k(self) -> int:
        return len(self.independent.names)

    @property
    def repeating(self) -> list[int]:
        """The rows that others imply, or that hold by themselves."""
        return [i for i in range(len(self.A)) if i not in self.counting]

    def simplified(self, rows: Matrix) -> Matrix:
        flat = iter(self.simplify([x for row in rows for x in row]))
        return [[next(flat) for _ in row] for row in rows]

    @cached_property
    def right_sides(self) -> list[Expr]:
        """Of all rows: A v = right_sides."""
        v, c = self.w.system.v.symbols, self.simplify(self.constraints.c)
        return [v[self._kept[i]] if i in self._kept else -x for i, x in enumerate(c)]

    @cached_property
    def N(self) -> Matrix:
        zero, one, m = self.graph.zero, self.graph.one, len(self.counting)
        units = [[zero] * m + [one if i == j else zero for i in range(self.k)] for j in range(self.k)]
        columns = [self._solve(self._solver, unit) for unit in units]
        return self.simplified([[column[i] for column in columns] for i in range(self.nv)])

    @cached_property
    def n(self) -> list[Expr]:
        right = [*(self.right_sides[i] for i in self.counting), *(-x for x in self._offsets)]
        return self.simplify(self._solve(self._solver, right))

    @cached_property
    def seeds(self) -> dict[Expr, Expr]:
        """What coordinates, time and prescribed speeds change by in a unit of time."""
        v, vdot = self.w.system.v.symbols, self.w.block("vdot").symbols
        return self.constraints.seeds | {v[k]: vdot[k] for k in self._kept.values()}

    @cached_property
    def N_dot(self) -> Matrix:
        flat = iter(tangents([x for row in self.N for x in row], self.seeds))
        return self.simplified([[next(flat) for _ in row] for row in self.N])

    @cached_property
    def n_dot(self) -> list[Expr]:
        return self.simplify(tangents(self.n, self.seeds))

    def multipliers(self, f: Sequence[Expr]) -> list[Expr]:
        """lambda with A' lambda = f, for an f that allowed motions feel nothing of; zero for rows that do not count."""
        rows = transposed([*(self.A[i] for i in self.counting), *self.Y])
        multipliers = self._solve(RowSolver(rows, self.nv, self.graph), f)
        known = dict(zip(self.counting, multipliers, strict=False))
        return [known.get(i, self.graph.zero) for i in range(len(self.A))]

    # -- details -------------------------------------------------------------------------------------------------------
    @cached_property
    def _solver(self) -> RowSolver:
        rows = [*(self.A[i] for i in self.counting), *self.Y]
        return row_solver(self.w, rows, self.independent.names)

    def _solve(self, rows: RowSolver, right: Sequence[Expr]) -> list[Expr]:
        """Part by part, each by quotients of determinants where it is small."""
        x: dict[int, Expr] = {}
        for part in rows.parts:
            rest = []
            for i in part.rows:
                known = (rows.rows[i][j] * x[j] for j in sorted(x) if rows.rows[i][j] is not self.graph.zero)
                rest.append(right[i] - sum(known, self.graph.zero))
            matrix = [[rows.rows[i][j] for j in part.unknowns] for i in part.rows]
            x |= zip(part.unknowns, solved(matrix, rest, self.simplify), strict=True)
        return [x[j] for j in range(rows.n)]

    def _counting(self) -> list[int]:
        """The rows that are not combinations of those before them, whatever the state."""
        zero, states = self.graph.zero, AllowedMotions(self.w)
        live = [i for i, row in enumerate(self.A) if any(x is not zero for x in row)]
        if not states.exist or len(live) + self.k <= self.nv:
            return live
        return _independent_rows(states.scaled(states.rows(_STATES)), live)

    def _is_unit(self, row: Sequence[Expr], place: int) -> bool:
        return all(x is (self.graph.one if k == place else self.graph.zero) for k, x in enumerate(row))


def solved(A: Matrix, b: Sequence[Expr], simplify: Simplify) -> list[Expr]:
    """x with A x = b; by Cramer's rule up to three rows, each determinant simplified, so that it can be read."""
    n = len(A)
    if n == 1 or n > _CRAMER or simplify is as_it_is:
        return solve(A, list(b))
    parts = [[[b[i] if j == k else A[i][j] for j in range(n)] for i in range(n)] for k in range(n)]
    whole, *tops = simplify([_determinant(part) for part in (A, *parts)])
    if len(reachable([whole])) > _SHORT:
        return solve(A, list(b))
    return [x / whole for x in tops]


def _determinant(A: Matrix) -> Expr:
    if len(A) == 1:
        return A[0][0]
    total = A[0][0].graph.zero
    for j, x in enumerate(A[0]):
        minor = [[y for k, y in enumerate(row) if k != j] for row in A[1:]]
        total = total + x * _determinant(minor) if j % 2 == 0 else total - x * _determinant(minor)
    return total


def _independent_rows(A: NDArray[np.float64], among: Sequence[int]) -> list[int]:
    """Those that no others before them give, at some state."""
    rows: list[int] = []
    for i in among:
        if rank_over(A[:, [*rows, i]]).rank > len(rows):
            rows.append(i)
    return rows


def steady_speeds(w: Workbench) -> Workbench:
    """A workbench whose options name independent speeds that serve alike at all states, where nobody named any.

    A choice is as good as the least determinant of the dependent columns is, next to the largest: no unit enters.
    """
    states = AllowedMotions(w) if w.options.independent is None and w.constraints.rows else None
    if states is None or not states.exist or not states.freedoms:
        return w
    A, nv = states.rows(_STATES), w.tree.nv
    A = A[:, _independent_rows(states.scaled(A), range(A.shape[1]))]
    places = [k for k in independent_speeds(w).places if k is not None]
    actuated = actuated_speeds(w)
    fixed = [k for k in places if k in actuated]
    free = [k for k in range(nv) if k not in fixed]
    if _evenness(A, places) > _STEADY or comb(len(free), A.shape[1]) > _MOST_CHOICES:
        return w
    dependent = combinations(reversed(free), A.shape[1])
    best = max(([k for k in range(nv) if k not in some] for some in dependent), key=lambda c: round(_evenness(A, c), 3))
    if _evenness(A, best) <= _STEADY or prescribed_speeds(w) & set(best):
        return w
    names = tuple(w.system.v.names[k] for k in best)
    return Workbench(w.system.mechanism, replace(w.options, independent=names), system=w.system)


def _evenness(A: NDArray[np.float64], independent: Sequence[int]) -> float:
    sizes = np.abs(np.linalg.det(np.delete(A, independent, axis=2)))
    return float(sizes.min() / max(sizes.max(), 1e-300))
