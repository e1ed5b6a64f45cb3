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

**The chord method** is Newton's with the inverse of its matrix kept from step to step, as long as it converges.

With N from an earlier step, y <- y - N rho(y). Such steps converge linearly, by the rate theta at which corrections
fall; what is left after one of size s is theta / (1 - theta) s. Where they do not fall to half each time, N is made
anew; where that is no better, the step is solved by Newton's method. Slow convergence has the next step make it anew.

References: Hairer & Wanner, Solving Ordinary Differential Equations II, 2nd ed., IV.8, "stopping criterion" and
"simplified Newton"; Hindmarsh et al., SUNDIALS, ACM Trans. Math. Softw. 31 (2005) 363, on when to renew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torseur.errors import ArgumentError
from torseur.graph import Expr, Function, Graph, Truth, absolute, maximum, select, sqrt
from torseur.graph.linear import largest
from torseur.simulation.solvers.control import EasyDynControl, StepControl
from torseur.simulation.solvers.explicit import finite_or_infinite, hermite
from torseur.simulation.solvers.newton import Ends, Loop, Newton, NewtonResult
from torseur.simulation.solvers.problem import Problem
from torseur.simulation.solvers.step_graph import ERROR, NOW, Layout, StepGraph
from torseur.simulation.solvers.stepper import StepFunctions

__all__ = ["EASYDYN", "NEWMARK", "Chord", "ChordMatrix", "GeneralisedAlpha", "generalised_alpha", "hht", "newmark"]


REST = 1e-2
"""What may be left of the precision of Newton's method, which converges quadratically and leaves far less."""

CLOSED = 1e-4
"""The same where there are constraints, which are to hold to rounding."""

ROUNDING = 1e-5
"""A correction below this share of the precision is rounding."""

MOST = 6
"""Iterations under one matrix."""

SLOW = 3
"""Iterations above which the next step begins with a new matrix."""

DRIFT = 0.25
"""By what share of it steps may become longer or shorter under one matrix; that of CVODE is 0.3."""


@dataclass(frozen=True)
class ChordMatrix:
    """What goes from step to step, in this order: for which length the matrix was made (0: there is none), by what the
    rates rose in a second, and the matrix N, row by row.
    """

    made: Expr
    rise: Sequence[Expr]
    N: Sequence[Expr]

    @staticmethod
    def size(newton: Newton) -> int:
        return 1 + newton.nv + newton.nz + newton.size**2

    @classmethod
    def of(cls, newton: Newton, flat: Sequence[Expr]) -> ChordMatrix:
        n = 1 + newton.nv + newton.nz
        return cls(flat[0], flat[1:n], flat[n:])

    @property
    def flat(self) -> list[Expr]:
        return [self.made, *self.rise, *self.N]


@dataclass(frozen=True)
class _Tried:
    """What a chord iteration came to: unknowns, how many iterations, whether it converged."""

    unknowns: list[Expr]
    count: Expr
    good: Truth


class Chord:
    """Solves the equations at the end of a step: with the matrix at hand, with a new one, or by Newton's method."""

    def __init__(self, newton: Newton) -> None:
        self.newton = newton

    def solve(
        self, step_graph: StepGraph, where: Ends, lam: Sequence[Expr], kept: ChordMatrix
    ) -> tuple[NewtonResult, ChordMatrix]:
        """The rates and multipliers at the end of a step, and what the next step is to know."""
        newton, h, zero, n = self.newton, where.h, step_graph.graph.zero, self.newton.nv + self.newton.nz
        moves = h > 0.0  # a run that stands still beside others asks for nothing
        guess = [a + h * rise for a, rise in zip(where.before, kept.rise, strict=True)]
        given = {"rates": guess, "lam": lam, **where.blocks}
        stale = absolute(h - kept.made) > DRIFT * kept.made
        first = self._tried(step_graph, moves & ~stale, given, kept.N)
        renewed = moves & ~first.good
        N = self._renewed(step_graph, renewed, given, kept.N)
        second = self._tried(step_graph, renewed, given, N)
        fails = renewed & ~second.good
        exact = newton.solve(step_graph, _number(fails), where, where.before, lam)
        by_newton = [*exact.rates, *exact.lam]
        unknowns = [
            select(first.good, a, select(second.good, b, c))
            for a, b, c in zip(first.unknowns, second.unknowns, by_newton, strict=True)
        ]
        count = first.count + second.count
        lasts = select(first.good, first.count, second.count) <= float(SLOW)
        made = select((first.good | second.good) & lasts, select(first.good, kept.made, h), zero)
        rates = unknowns[:n]
        rise = [select(moves, (b - a) / h, zero) for a, b in zip(where.before, rates, strict=True)]
        converged = select(fails, exact.converged, _number(moves))
        total = count + select(fails, exact.count, zero)
        return NewtonResult(rates, unknowns[n:], total, converged), ChordMatrix(made, rise, N)

    def _tried(
        self, step_graph: StepGraph, wanted: Truth, given: dict[str, Sequence[Expr]], N: Sequence[Expr]
    ) -> _Tried:
        newton, blocks = self.newton, {"wanted": [_number(wanted)], **given, "N": N}
        found = newton.iterated(step_graph, self._iteration(step_graph, blocks), blocks)
        count = select(wanted, found[newton.size], 0.0)
        return _Tried(found[: newton.size], count, wanted & (found[-1] > 0.5))

    def _renewed(
        self, step_graph: StepGraph, wanted: Truth, given: dict[str, Sequence[Expr]], N: Sequence[Expr]
    ) -> list[Expr]:
        """A matrix of this step where it is wanted."""
        blocks = {"wanted": [_number(wanted)], **given}
        fresh = self.newton.iterated(step_graph, self._renewal(step_graph, blocks), blocks)
        return [select(wanted, a, b) for a, b in zip(fresh, N, strict=True)]

    def _renewal(self, outer: StepGraph, given: dict[str, Sequence[Expr]]) -> Loop:
        """N where the motion is guessed to lead, as a loop that is run through once."""
        newton, sizes = self.newton, {name: len(block) for name, block in given.items()}
        size = newton.size**2
        step_graph = outer.inner(newton.functions, **sizes)
        start = Function("renewal_start", step_graph.inputs, {"state": [step_graph.graph.zero] * size})
        step_graph = outer.inner(newton.functions, state=size, **sizes)
        where, rates = Ends.of(step_graph), step_graph.block("rates")
        N = newton.inverse(step_graph, where, newton.end(where, rates)[0], rates, step_graph.block("lam"))
        step = Function(
            "renewal", step_graph.inputs, {"state": [e for row in N for e in row], "done": step_graph.graph.one}
        )
        g = Graph()
        state, done = g.block("state", size), g.block("done", 1)
        return Loop("renewal", start, step, Function("renewal_end", [state, done], {"N": state}), 1, is_gated=True)

    def _iteration(self, outer: StepGraph, given: dict[str, Sequence[Expr]]) -> Loop:
        """The state: rates, multipliers, count, size of the last correction, whether that was small enough."""
        newton, sizes = self.newton, {name: len(block) for name, block in given.items()}
        step_graph = outer.inner(newton.functions, **sizes)
        zero = step_graph.graph.zero
        begin = [*step_graph.block("rates"), *step_graph.block("lam"), zero, zero, zero]
        start = Function("chord_start", step_graph.inputs, {"state": begin})
        g = Graph()
        state, done = g.block("state", newton.size + 3), g.block("done", 1)
        finish = Function("chord_end", [state, done], {"found": state})
        return Loop("chord", start, self._step(outer, sizes), finish, MOST, is_gated=True)

    def _step(self, outer: StepGraph, sizes: dict[str, int]) -> Function:
        newton = self.newton
        step_graph = outer.inner(newton.functions, state=newton.size + 3, **sizes)
        n, state, where = newton.nv + newton.nz, step_graph.block("state"), Ends.of(step_graph)
        unknowns, (count, last, _) = state[: newton.size], state[newton.size :]
        rates, lam = unknowns[:n], unknowns[n:]
        x, _ = newton.end(where, rates)
        rho, values = newton.residual(step_graph, where.t, x, rates, lam)
        F, N = [*rho, *newton.scaled(where.h, values)], step_graph.block("N")
        steps = [_dot(N[i * len(F) : (i + 1) * len(F)], F) for i in range(len(F))]
        after = [a - d for a, d in zip(unknowns, steps, strict=True)]
        size = newton.excess(where, x, rates, steps[:n])
        rest = CLOSED if newton.rows else REST
        # theta / (1 - theta) size <= rest; a first correction says nothing yet of how they fall.
        good = (size * size <= rest * (last - size)) | (size <= ROUNDING)
        falls = (count < 0.5) | (size <= 0.5 * last)
        done = good | ~(falls & (size < math.inf)) | ~(step_graph.block("wanted")[0] > 0.5)
        more = [count + 1.0, size, select(good, 1.0, 0.0)]
        return Function("chord_step", step_graph.inputs, {"state": [*after, *more], "done": done})


def _number(truth: Truth) -> Expr:
    return select(truth, 1.0, 0.0)


def _dot(u: Sequence[Expr], v: Sequence[Expr]) -> Expr:
    total = u[0] * v[0]
    for a, b in zip(u[1:], v[1:], strict=True):
        total = total + a * b
    return total


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

    def step_functions(self, problem: Problem) -> StepFunctions:
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
        kept = ChordMatrix.size(newton)
        layout = Layout(problem.size, problem.event_count, 4, rates + newton.rows + kept)
        begin = _begin(problem, layout, newton.rows + kept)
        step = _Step(self, newton, layout).function()
        return StepFunctions(layout, step, 0, begin=begin, iterates=True)


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
    step_graph = StepGraph(problem, now=NOW, last=layout.size, tolerance=1 + problem.size)
    t, h = step_graph.time(0.0), step_graph.now[1]
    x = step_graph.corrected(t, step_graph.block("last")[layout.x])
    rate = step_graph.rate(t, x)
    extra = [*rate[problem.columns("v").start :], *[step_graph.graph.zero] * more]
    record = step_graph.record(layout, step_graph.graph.zero, 1.0, x, rate, hermite(x, x, rate, rate, h), extra)
    return step_graph.function("second_order_start", record)


class _Step:
    """Writes the step of a method for a problem."""

    def __init__(self, method: GeneralisedAlpha, newton: Newton, layout: Layout) -> None:
        self.method, self.newton, self.layout = method, newton, layout
        self.problem = problem = newton.problem
        self.step_graph = StepGraph(problem, now=NOW, last=layout.size, tolerance=1 + problem.size)

    def function(self) -> Function:
        step_graph, layout, problem = self.step_graph, self.layout, self.problem
        last, h, end = step_graph.block("last"), step_graph.now[1], step_graph.time(1.0)
        x, rate, extra = last[layout.x], last[layout.rate], last[layout.rest]
        before = rate[problem.columns("v").start :]
        ends = len(before), len(before) + self.newton.rows
        pseudo, lam, flat = extra[: ends[0]], extra[ends[0] : ends[1]], extra[ends[1] :]
        n = len(problem.steering)
        k = n - problem.columns("v").start
        where = Ends(end, h, x[:n], before[:k], pseudo[:k])
        found, kept = Chord(self.newton).solve(step_graph, where, lam, ChordMatrix.of(self.newton, flat))
        raw, a = self.newton.end(where, found.rates)
        error = select(found.converged > 0.5, self._error(h, raw, pseudo, a, found.rates), math.inf)
        dw = self._part(-1, end, raw) if problem.bystanders else []
        w, aw = self.method.moved(h, x[n:], before[k:], pseudo[k:], dw)
        after = step_graph.corrected(end, [*raw, *w])
        after_rate = [*self._part(0, end, after), *found.rates, *dw]
        rows = hermite(x, after, rate, after_rate, h)
        control = self.method.control
        growth = 1.0 if control is None else control.growth(error, last[ERROR])
        extra = [*a, *aw, *found.lam, *kept.flat]
        record = step_graph.record(layout, error, growth, after, after_rate, rows, extra, found.count)
        return step_graph.function("second_order", record)

    def _part(self, which: int, t: Expr, x: list[Expr]) -> list[Expr]:
        """The rates of one block of states alone: dq, which needs no accelerations, or dw."""
        rate = self.problem.rate
        output, inputs = rate.outputs[which], [b for b in rate.inputs if b.name != "w"]
        return self.step_graph.call(Function(output.name, inputs, {output.name: output.exprs}), t, x)

    def _error(self, h: Expr, x: list[Expr], a0: list[Expr], a1: list[Expr], rates: list[Expr]) -> Expr:
        """Of positions, in EasyDyn's measure: e / max(atol, rtol max(|q|, |h v|, |h^2 vdot|)), root mean square.

        Where the coordinates are not as many as the speeds, 1 stands for |q|.
        """
        if self.method.control is None:
            return finite_or_infinite([*x, *rates])
        q, v = x[self.problem.columns("q")], x[self.problem.columns("v")]
        rtol, *atol = self.step_graph.block("tolerance")
        same = len(q) == len(v)
        floors = atol[self.problem.columns("q" if same else "v")]
        factor, total = abs(self.method.beta - 1.0 / 6.0) * h * h, self.step_graph.graph.zero
        for i, (vi, floor) in enumerate(zip(v, floors, strict=True)):
            size = maximum(absolute(h * vi), absolute(h * h * rates[i]))
            size = maximum(absolute(q[i]), size) if same else maximum(size, 1.0)
            part = factor * (a1[i] - a0[i]) / maximum(floor, rtol * size)
            total = total + part * part
        error = sqrt(total * (1.0 / len(v)))
        return select(largest([absolute(e) for e in [*x, *rates]]) < math.inf, error, math.inf)
