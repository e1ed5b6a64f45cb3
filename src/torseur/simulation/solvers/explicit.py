"""Explicit Runge-Kutta methods: one step for all of them, the tableau and its companions being data.

References: Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, 2nd ed., II.1, II.4-II.6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torseur.emit import Tableau
from torseur.errors import ArgumentError
from torseur.graph import Expr, Function, absolute, select, sqrt
from torseur.graph.linear import largest
from torseur.simulation.solvers.control import StepControl
from torseur.simulation.solvers.problem import Problem
from torseur.simulation.solvers.step_graph import ERROR, NOW, Layout, StepGraph
from torseur.simulation.solvers.stepper import StepFunctions

__all__ = ["RungeKutta", "combined", "finite_or_infinite", "hermite"]

Row = tuple[float, ...]


@dataclass(frozen=True)
class RungeKutta:
    """An explicit method with, where it has them, error estimates and dense output.

    With s stages, k_(s+1) is the rate at the end of the step; weights of k may count it.

    Attributes:
        tableau: stages and result.
        errors: weights of the error on k_1 ... k_(s+1); one row, or two as in DOP853: the first is of higher order,
            err = h e5^2 / sqrt(e5^2 + 0.01 e3^2).
        control: of the step; None without an estimate.
        more_stages: (c, weights on k_1 ... k_(s+1) and on the stages before), for dense output only.
        dense: weights on all k of the rows of the dense output from the fifth on; with more stages they are computed
            apart, when they are asked for.
    """

    tableau: Tableau
    errors: tuple[Row, ...] = ()
    control: StepControl | None = None
    more_stages: tuple[tuple[float, Row], ...] = ()
    dense: tuple[Row, ...] = ()

    def __post_init__(self) -> None:
        s = len(self.tableau.b) + 1
        fits = all(len(e) == s for e in self.errors) and len(self.errors) <= 2
        fits = fits and all(len(row) == s + i for i, (_, row) in enumerate(self.more_stages))
        fits = fits and all(len(row) == s + len(self.more_stages) for row in self.dense)
        if not fits or bool(self.errors) != (self.control is not None):
            raise ArgumentError(
                f"the parts of '{self.tableau.name}' do not fit",
                expected=f"at most 2 rows of {s} error weights and a control with them; dense rows on all stages",
                got=f"{len(self.errors)} rows of error weights, {self.control}, {len(self.dense)} dense rows",
            )

    @property
    def name(self) -> str:
        return self.tableau.name

    @property
    def order(self) -> int:
        return self.tableau.order

    def step_functions(self, problem: Problem) -> StepFunctions:
        n, apart = problem.size, bool(self.more_stages)
        terms = 4 + len(self.dense)
        kept = _used(self) if apart else ()
        layout = Layout(n, problem.event_count, 4 if apart else terms, n * len(kept))
        evaluations = len(self.tableau.b)
        writer = _Step(self, problem, layout)
        begin = writer.begin() if writer.step_graph.has_large_events else None
        extend = _extension(self, problem, layout, kept) if apart else None
        return StepFunctions(layout, writer.function(kept), evaluations, begin, extend, terms)


def _used(method: RungeKutta) -> tuple[int, ...]:
    """The stages that the apart dense output reads: all but the ends, which are in the record anyway."""
    rows = [row for _, row in method.more_stages] + list(method.dense)
    s = len(method.tableau.b)
    return tuple(k for k in range(s) if any(row[k] for row in rows))


def combined(
    start: Sequence[Expr] | None, h: Expr, weights: Sequence[float], k: Sequence[Sequence[Expr]]
) -> list[Expr]:
    """start + h sum_j weights_j k_j."""
    factors = [(h * w, kj) for w, kj in zip(weights, k, strict=False) if w]
    found = []
    for i in range(len(k[0])):
        total = None if start is None else start[i]
        for factor, kj in factors:
            total = factor * kj[i] if total is None else total + factor * kj[i]
        assert total is not None
        found.append(total)
    return found


class _Step:
    """Writes the step of a method for a problem."""

    def __init__(self, method: RungeKutta, problem: Problem, layout: Layout) -> None:
        self.method, self.layout = method, layout
        self.step_graph = StepGraph(problem, now=NOW, last=layout.size, tolerance=1 + problem.size)

    def begin(self) -> Function:
        """The record where a motion begins, with the slopes of events, which its steps do without."""
        step_graph, zero = self.step_graph, self.step_graph.graph.zero
        t, n = step_graph.time(1.0), self.layout.n
        x = step_graph.corrected(t, step_graph.block("last")[self.layout.x])
        rest = [zero] * (self.layout.size - self.layout.dense.start)
        head = step_graph.record(Layout(n, self.layout.events, 0), zero, 1.0, x, step_graph.rate(t, x), ())
        return step_graph.function("begin", [*head, *rest])

    def function(self, kept: Sequence[int]) -> Function:
        step_graph, last, h = self.step_graph, self.step_graph.block("last"), self.step_graph.now[1]
        x, first = last[self.layout.x], last[self.layout.rate]
        k, inside = self._stages(x, first)
        end = step_graph.time(1.0)
        raw = combined(x, h, self.method.tableau.b, k)
        after = step_graph.corrected(end, raw)
        rate = step_graph.rate(end, after)
        k.append(rate)  # of the corrected state: it is off by less than the error that is estimated with it
        rows = hermite(x, after, k[0], rate, h)
        if not self.method.more_stages:
            rows += [combined(None, h, weights, k) for weights in self.method.dense]
        extra = [e for i in kept for e in k[i]]
        error, control = self._error(x, raw, k), self.method.control
        growth = 1.0 if control is None else control.growth(error, last[ERROR])
        return step_graph.function(
            "runge_kutta", step_graph.record(self.layout, error, growth, after, rate, rows, extra, inside=inside)
        )

    def _stages(self, x: list[Expr], first: list[Expr]) -> tuple[list[list[Expr]], list[list[Expr]]]:
        """Rates, and the events that are computed with them where they are large."""
        step_graph, tableau, k, inside = self.step_graph, self.method.tableau, [first], []
        for row, c in list(zip(tableau.a, tableau.c, strict=True))[1:]:
            t, stage = step_graph.time(c), combined(x, step_graph.now[1], row, k)
            k.append(step_graph.rate(t, stage))
            if step_graph.has_large_events:
                inside.append(step_graph.events(t, stage))
        return k, inside

    def _error(self, x: list[Expr], after: list[Expr], k: list[list[Expr]]) -> Expr:
        """The scaled norm; without an estimate, 0 of a finite state."""
        step_graph, h = self.step_graph, self.step_graph.now[1]
        squares = [step_graph.mean_square(combined(None, h, e, k), x, after) for e in self.method.errors]
        if not squares:
            return finite_or_infinite([after[k] for k in self.step_graph.problem.steering])
        if len(squares) == 1:
            return sqrt(squares[0])
        bottom = squares[0] + 0.01 * squares[1]
        return select(bottom > 0.0, squares[0] / sqrt(bottom), bottom)


def finite_or_infinite(x: Sequence[Expr]) -> Expr:
    """The error of a step whose error is not known: 0, or inf where the state is not finite."""
    return select(largest([absolute(xi) for xi in x]) < math.inf, 0.0, math.inf)


def _extension(method: RungeKutta, problem: Problem, layout: Layout, kept: Sequence[int]) -> Function:
    """All rows of a dense output that needs further stages, from the record of a step."""
    step_graph = StepGraph(problem, now=NOW, last=layout.size)
    n, last, h = problem.size, step_graph.block("last"), step_graph.now[1]
    rows = _cut(last[layout.dense], n)
    zero = [step_graph.graph.zero] * n
    k = [zero] * len(method.tableau.b) + [last[layout.rate]]
    for place, values in zip(kept, _cut(last[layout.rest], n), strict=True):
        k[place] = values
    for c, weights in method.more_stages:
        k.append(step_graph.rate(step_graph.time(c), combined(rows[0], h, weights, k)))
    rows += [combined(None, h, weights, k) for weights in method.dense]
    return step_graph.function("dense_rows", [e for row in rows for e in row])


def _cut(flat: list[Expr], n: int) -> list[list[Expr]]:
    return [flat[i : i + n] for i in range(0, len(flat), n)]


def hermite(
    x: Sequence[Expr], after: Sequence[Expr], k: Sequence[Expr], rate: Sequence[Expr], h: Expr
) -> list[list[Expr]]:
    """The four rows of `nested` that meet the states and their rates at both ends."""
    difference = [b - a for a, b in zip(x, after, strict=True)]
    third = [h * ki - d for ki, d in zip(k, difference, strict=True)]
    fourth = [d - h * r - c for d, r, c in zip(difference, rate, third, strict=True)]
    return [list(x), difference, third, fourth]
