"""Implicit methods for the second-order form: Newmark, HHT and generalised alpha are one step with different numbers.

With a the pseudo-accelerations and vdot, lambda the unknowns at the end of the step:

    (1 - alpha_m) a1 + alpha_m a0 = (1 - alpha_f) vdot1 + alpha_f vdot0
    q1 = q0 displaced along  h v0 + h^2 ((1/2 - beta) a0 + beta a1)
    v1 = v0 + h ((1 - gamma) a0 + gamma a1)
    r(t1, q1, v1, vdot1, lambda1) = 0,   h(t1, q1) = 0 where holonomic,   A v1 + ... = 0 where not

solved by Newton-Raphson with the exact matrix M + gamma h C + beta h^2 K (a factor (1 - alpha_f)/(1 - alpha_m) aside).
States z follow the rule of v. Constraints are met at the level they are written at, index 3 for holonomic ones; their
rows are divided by beta h^2 or gamma h, which keeps the matrix well conditioned for short steps.

References: Newmark, J. Eng. Mech. Div. 85 (1959) 67; Hilber, Hughes & Taylor, Earthq. Eng. Struct. Dyn. 5 (1977) 283;
Chung & Hulbert, J. Appl. Mech. 60 (1993) 371; Arnold & Bruls, Multibody Syst. Dyn. 18 (2007) 185; on Lie groups Bruls
& Cardona, J. Comput. Nonlinear Dyn. 5 (2010) 031002; scaling: Bottasso, Bauchau & Cardona, SIAM J. Sci. Comput. 29
(2007) 397.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torseur.errors import ArgumentError
from torseur.graph import Expr, Function, absolute, maximum, select, sqrt
from torseur.graph.linear import largest
from torseur.simulation.solvers.chord import Chord, Kept
from torseur.simulation.solvers.control import EasyDynControl, StepControl
from torseur.simulation.solvers.explicit import finite_or_infinite, hermite
from torseur.simulation.solvers.newton import Ends, Newton
from torseur.simulation.solvers.problem import Problem
from torseur.simulation.solvers.sheet import ERROR, NOW, Layout, Sheet
from torseur.simulation.solvers.stepper import Pieces

__all__ = ["EASYDYN", "NEWMARK", "GeneralisedAlpha", "generalised_alpha", "hht", "newmark"]


@dataclass(frozen=True)
class GeneralisedAlpha:
    """The numbers of a method of this family.

    Attributes:
        alpha_m, alpha_f, beta, gamma: as above.
        control: of the step, from the error h^2 |beta - 1/6| |a1 - a0| of positions; None keeps the step given.
        precision: of Newton's method, on the last correction of the speeds, relative to 1 + their size in the step.
        iterations: allowed.
    """

    name: str
    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float
    control: StepControl | None = None
    precision: float = 1e-9
    iterations: int = 15

    def __post_init__(self) -> None:
        good = self.alpha_m < 1.0 and self.alpha_f < 1.0 and self.beta > 0.0 and self.gamma > 0.0
        if not (good and self.precision > 0.0 and self.iterations >= 1):
            raise ArgumentError(
                f"wrong numbers of '{self.name}'",
                expected="alpha_m and alpha_f below 1; beta, gamma and precision above 0; at least one iteration",
                got=repr(self),
            )

    @property
    def order(self) -> int:
        """2 where gamma = 1/2 + alpha_f - alpha_m, else 1."""
        return 2 if math.isclose(self.gamma, 0.5 + self.alpha_f - self.alpha_m, abs_tol=1e-12) else 1

    @property
    def share(self) -> float:
        """da1/dvdot1."""
        return (1.0 - self.alpha_f) / (1.0 - self.alpha_m)

    def moved(
        self, h: Expr, y: list[Expr], before: Sequence[Expr], pseudo: Sequence[Expr], rates: Sequence[Expr]
    ) -> tuple[list[Expr], list[Expr]]:
        """Speeds, or states, at the end of the step from their rates there, and their pseudo-accelerations a1."""
        a = [
            self.share * r1 + (self.alpha_f * r0 - self.alpha_m * a0) * (1.0 / (1.0 - self.alpha_m))
            for r1, r0, a0 in zip(rates, before, pseudo, strict=True)
        ]
        changes = [(1.0 - self.gamma) * a0 + self.gamma * a1 for a0, a1 in zip(pseudo, a, strict=True)]
        return [yi + h * change for yi, change in zip(y, changes, strict=True)], a

    def pieces(self, problem: Problem) -> Pieces:
        implicit = problem.implicit
        if implicit is None:
            raise ArgumentError(
                f"{self.name} needs the second-order form of the problem",
                where="Problem.implicit",
                expected="residual, tangent and displacement",
                got="None",
                remedy="use a Runge-Kutta method, or a Rosenbrock method where the problem is stiff",
            )
        newton, rates = Newton(self, problem, implicit), problem.size - problem.columns("v").start
        kept = Kept.size(newton)
        layout = Layout(problem.size, problem.event_count, 4, rates + newton.rows + kept)
        begin = _begin(problem, layout, newton.rows + kept)
        step = _Step(self, newton, layout).function()
        return Pieces(layout, step, 0, begin=begin, iterates=True)


def newmark(beta: float = 0.25, gamma: float = 0.5, *, control: StepControl | None = None) -> GeneralisedAlpha:
    """Newmark's method; by default with constant mean acceleration, which keeps the energy of linear models."""
    return GeneralisedAlpha("Newmark", 0.0, 0.0, beta, gamma, control)


def hht(alpha: float = 0.1, *, control: StepControl | None = None) -> GeneralisedAlpha:
    """Hilber, Hughes & Taylor: order 2 with damping of high frequencies, alpha from 0 (none) to 1/3."""
    if not 0.0 <= alpha <= 1.0 / 3.0:
        raise ArgumentError("wrong alpha of HHT", expected="0 to 1/3", got=repr(alpha))
    return GeneralisedAlpha("HHT", 0.0, alpha, 0.25 * (1.0 + alpha) ** 2, 0.5 + alpha, control)


def generalised_alpha(rho: float = 0.8, *, control: StepControl | None = None) -> GeneralisedAlpha:
    """Chung & Hulbert: rho is the spectral radius at infinite frequency, from 1 (no damping) to 0 (all in one step)."""
    if not 0.0 <= rho <= 1.0:
        raise ArgumentError("wrong spectral radius of generalised alpha", expected="0 to 1", got=repr(rho))
    alpha_m, alpha_f = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    gamma = 0.5 + alpha_f - alpha_m
    return GeneralisedAlpha("generalised alpha", alpha_m, alpha_f, 0.25 * (gamma + 0.5) ** 2, gamma, control)


NEWMARK = newmark()
EASYDYN = newmark(control=EasyDynControl())
"""Newmark with the step control of EasyDyn."""


def _begin(problem: Problem, layout: Layout, more: int) -> Function:
    """The record at a start: accelerations from the rate, no multipliers and nothing kept yet."""
    sheet = Sheet(problem, now=NOW, last=layout.size, tolerance=1 + problem.size)
    t, h = sheet.time(0.0), sheet.now[1]
    x = sheet.corrected(t, sheet.block("last")[layout.x])
    rate = sheet.rate(t, x)
    extra = [*rate[problem.columns("v").start :], *[sheet.graph.zero] * more]
    record = sheet.record(layout, sheet.graph.zero, 1.0, x, rate, hermite(x, x, rate, rate, h), extra)
    return sheet.function("second_order_start", record)


class _Step:
    """Writes the step of a method for a problem."""

    def __init__(self, method: GeneralisedAlpha, newton: Newton, layout: Layout) -> None:
        self.method, self.newton, self.layout = method, newton, layout
        self.problem = problem = newton.problem
        self.sheet = Sheet(problem, now=NOW, last=layout.size, tolerance=1 + problem.size)

    def function(self) -> Function:
        sheet, layout, problem = self.sheet, self.layout, self.problem
        last, h, end = sheet.block("last"), sheet.now[1], sheet.time(1.0)
        x, rate, extra = last[layout.x], last[layout.rate], last[layout.rest]
        before = rate[problem.columns("v").start :]
        ends = len(before), len(before) + self.newton.rows
        pseudo, lam, flat = extra[: ends[0]], extra[ends[0] : ends[1]], extra[ends[1] :]
        n = len(problem.steering)
        k = n - problem.columns("v").start
        where = Ends(end, h, x[:n], before[:k], pseudo[:k])
        found, kept = Chord(self.newton).solve(sheet, where, lam, Kept.of(self.newton, flat))
        raw, a = self.newton.end(where, found.rates)
        error = select(found.converged > 0.5, self._error(h, raw, pseudo, a, found.rates), math.inf)
        dw = self._part(-1, end, raw) if problem.bystanders else []
        w, aw = self.method.moved(h, x[n:], before[k:], pseudo[k:], dw)
        after = sheet.corrected(end, [*raw, *w])
        after_rate = [*self._part(0, end, after), *found.rates, *dw]
        rows = hermite(x, after, rate, after_rate, h)
        control = self.method.control
        growth = 1.0 if control is None else control.growth(error, last[ERROR])
        extra = [*a, *aw, *found.lam, *kept.flat]
        record = sheet.record(layout, error, growth, after, after_rate, rows, extra, found.count)
        return sheet.function("second_order", record)

    def _part(self, which: int, t: Expr, x: list[Expr]) -> list[Expr]:
        """The rates of one block of states alone: dq, which needs no accelerations, or dw."""
        rate = self.problem.rate
        output, inputs = rate.outputs[which], [b for b in rate.inputs if b.name != "w"]
        return self.sheet.call(Function(output.name, inputs, {output.name: output.exprs}), t, x)

    def _error(self, h: Expr, x: list[Expr], a0: list[Expr], a1: list[Expr], rates: list[Expr]) -> Expr:
        """Of positions, in EasyDyn's measure: e / max(atol, rtol max(|q|, |h v|, |h^2 vdot|)), root mean square.

        Where the coordinates are not as many as the speeds, 1 stands for |q|.
        """
        if self.method.control is None:
            return finite_or_infinite([*x, *rates])
        q, v = x[self.problem.columns("q")], x[self.problem.columns("v")]
        rtol, *atol = self.sheet.block("tolerance")
        same = len(q) == len(v)
        floors = atol[self.problem.columns("q" if same else "v")]
        factor, total = abs(self.method.beta - 1.0 / 6.0) * h * h, self.sheet.graph.zero
        for i, (vi, floor) in enumerate(zip(v, floors, strict=True)):
            size = maximum(absolute(h * vi), absolute(h * h * rates[i]))
            size = maximum(absolute(q[i]), size) if same else maximum(size, 1.0)
            part = factor * (a1[i] - a0[i]) / maximum(floor, rtol * size)
            total = total + part * part
        error = sqrt(total * (1.0 / len(v)))
        return select(largest([absolute(e) for e in [*x, *rates]]) < math.inf, error, math.inf)
