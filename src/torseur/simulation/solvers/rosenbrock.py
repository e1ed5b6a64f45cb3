"""Rosenbrock methods for stiff problems: no iteration, one matrix a step, its Jacobian exact.

With U_i the increments, J = df/dx and f_t = df/dt at the beginning of the step, stage i solves

    (I - h gamma J) U_i = h gamma f(t + a_i h, x + sum_j a_ij U_j) + gamma sum_j c_ij U_j + h^2 gamma d_i f_t

The form without products of matrices and vectors of Hairer & Wanner, Solving Ordinary Differential Equations II,
2nd ed., IV.7, (7.25), multiplied by h gamma so that it also holds for h = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torseur.graph import Expr, Function, Role, jacobian, ops, solve, tangents
from torseur.simulation.solvers.control import PIControl, StepControl
from torseur.simulation.solvers.newton import named
from torseur.simulation.solvers.problem import Problem
from torseur.simulation.solvers.step_graph import ERROR, NOW, Layout, StepGraph
from torseur.simulation.solvers.stepper import StepFunctions

__all__ = ["RODAS4", "Rosenbrock"]

Row = tuple[float, ...]

_LARGE = 30_000
"""Nodes of a Jacobian written out, from which on it is made of calls instead: longer to run, quicker to compile."""


@dataclass(frozen=True)
class Rosenbrock:
    """A stiffly accurate method: each of the last two stages begins where the increments before it lead.

    Attributes:
        gamma: on the diagonal.
        a: weights of increments in the argument of the stages, the last two left out: they are those of the stage
            before plus its increment.
        c: weights of increments on the right-hand side, row i with i entries.
        times: a_i, of the stages of `a`; the others are at the end of the step.
        slopes: d_i, likewise; the others are 0.
        dense: weights of the increments in the third and fourth row of the dense output.
        order: of the method; the error is the last increment.
    """

    name: str
    gamma: float
    a: tuple[Row, ...]
    c: tuple[Row, ...]
    times: Row
    slopes: Row
    dense: tuple[Row, Row]
    order: int
    control: StepControl

    def step_functions(self, problem: Problem) -> StepFunctions:
        n = problem.size
        layout = Layout(n, problem.event_count, 4)
        step_graph = StepGraph(problem, now=NOW, last=layout.size, tolerance=1 + n)
        last = step_graph.block("last")
        x, rate = last[layout.x], last[layout.rate]
        U = self._increments(step_graph, x, rate)
        end = step_graph.time(1.0)
        raw = [xi + _sum(self.a[-1], U, i) + sum(u[i] for u in U[len(self.a) - 1 :]) for i, xi in enumerate(x)]
        after = step_graph.corrected(end, raw)
        after_rate = step_graph.rate(end, after)
        error = step_graph.norm(U[-1], x, raw)
        difference = [b - a for a, b in zip(x, after, strict=True)]
        zero = step_graph.graph.zero
        rows = [x, difference, *([zero + _sum(weights, U, i) for i in range(n)] for weights in self.dense)]
        growth = self.control.growth(error, last[ERROR])
        record = step_graph.record(layout, error, growth, after, after_rate, rows)
        return StepFunctions(layout, step_graph.function("rosenbrock", record), len(self.c))

    def _increments(self, step_graph: StepGraph, x: list[Expr], rate: list[Expr]) -> list[list[Expr]]:
        h, n = step_graph.now[1], len(x)
        U: list[list[Expr]] = []
        scale, argument, problem = h * self.gamma, x, step_graph.problem
        matrix = (
            _ByMass(step_graph, scale, x, rate)
            if _ByMass.is_possible(problem)
            else _Matrix(problem, scale, *_derivatives(step_graph, step_graph.time(0.0), x))
        )
        for stage, c in enumerate(self.c):
            if stage < len(self.a):
                argument = [xi + _sum(self.a[stage], U, i) for i, xi in enumerate(x)]
                time, d = step_graph.time(self.times[stage]), self.slopes[stage]
            else:
                argument = [yi + U[-1][i] for i, yi in enumerate(argument)]
                time, d = step_graph.time(1.0), 0.0
            f = step_graph.rate(time, argument) if stage else rate
            U.append(matrix.solve(matrix.right(f, h * d, [self.gamma * _sum(c, U, i) for i in range(n)])))
        return U


class _Matrix:
    """I - scale J, in blocks.

    Rates of coordinates depend on no coordinates where these are lengths and angles; with e these coordinates and r the
    rest, J_ee = 0 leaves (I - scale J_rr - scale^2 J_re J_er) u_r = b_r + scale J_re b_e, then
    u_e = b_e + scale J_er u_r. Nothing depends on bystanders: their rows are solved already.
    """

    def __init__(self, problem: Problem, scale: Expr, J: list[list[Expr]], slope: list[Expr]) -> None:
        self.problem, self.scale, self.J, self.slope = problem, scale, J, slope
        q = range(*problem.columns("q").indices(problem.size))
        known = _constant_entries(problem)
        self.first = [i for i in q if all(known.get((i, j)) == 0.0 for j in q)]
        self.rest = [i for i in problem.steering if i not in self.first]
        self.entries = {i: self._not_zero(i, known) for i in self.first}
        self.W = [[self._entry(i, j) for j in self.rest] for i in self.rest]

    def _not_zero(self, i: int, known: Mapping[tuple[int, int], float]) -> list[tuple[int, Expr | float]]:
        """What is not zero in a row of J_er, by column."""
        return [(j, known.get((i, j), self.J[i][j])) for j in self.rest if known.get((i, j)) != 0.0]

    def _entry(self, i: int, j: int) -> Expr:
        through = [self.J[i][k] * a for k in self.first for column, a in self.entries[k] if column == j]
        entry = float(i == j) - self.scale * self.J[i][j]
        return entry - self.scale * self.scale * _total(through) if through else entry

    def right(self, f: list[Expr], along: Expr | float, before: list[Expr | float]) -> list[Expr]:
        """scale (f + along f_t) + before."""
        return [self.scale * (a + along * b) + c for a, b, c in zip(f, self.slope, before, strict=True)]

    def solve(self, right: list[Expr]) -> list[Expr]:
        scale, J, u = self.scale, self.J, list(right)
        reduced = [
            right[i] + scale * _total([J[i][k] * right[k] for k in self.first]) if self.first else right[i]
            for i in self.rest
        ]
        for i, value in zip(self.rest, solve(self.W, reduced), strict=True):
            u[i] = value
        for i, entries in self.entries.items():
            u[i] = right[i] + scale * _total([u[j] * a for j, a in entries]) if entries else right[i]
        for i in self.problem.bystanders:
            u[i] = right[i] + scale * _total([J[i][j] * u[j] for j in self.problem.steering])
        return u


class _ByMass:
    """The same where accelerations follow from r(t, q, v, vdot) = 0 alone, and rates of coordinates are the speeds.

    J has -M^-1 times K = dr/dq and C = dr/dv, f_t has -M^-1 r_t. Multiplied by M, with u_q = b_q + scale u_v, no
    Jacobian of accelerations is left: (M + scale C + scale^2 K) u_v = M b_v - scale K b_q.
    """

    def __init__(self, step_graph: StepGraph, scale: Expr, x: list[Expr], rate: list[Expr]) -> None:
        self.problem, self.scale, t = step_graph.problem, scale, step_graph.time(0.0)
        implicit = self.problem.implicit
        assert implicit is not None
        self.q, self.v, self.w = (self.problem.columns(name) for name in ("q", "v", "w"))
        vdot, n = rate[self.v], len(rate[self.v])
        found = named(implicit.tangent, step_graph.call(implicit.tangent, t, x, vdot=vdot))
        self.M, self.C, self.K = ([found[m][i * n : (i + 1) * n] for i in range(n)] for m in ("M", "C", "K"))
        rows = zip(self.M, self.C, self.K, strict=True)
        self.W = [[m + scale * (c + scale * k) for m, c, k in zip(*row, strict=True)] for row in rows]
        by_time = jacobian(implicit.residual.results, [s for b in implicit.residual.inputs if b.name == "t" for s in b])
        self.r_t: list[Expr] = []
        if by_time.entries:
            slope = Function("residual_rate", implicit.residual.inputs, {"r": by_time.dense()})
            self.r_t = step_graph.call(slope, t, x, vdot=vdot)
        self.J, self.slope = _bystanders(step_graph, t, x)

    @staticmethod
    def is_possible(problem: Problem) -> bool:
        """Whether it is so: no constraints, no further states, coordinates that are lengths and angles."""
        implicit, rate = problem.implicit, problem.rate
        v = [s for b in rate.inputs if b.name == "v" for s in b]
        dq = rate.results[problem.columns("q")]
        free = implicit is not None and not implicit.holonomic and len(problem.steering) == 2 * len(v) > 0
        return free and all(a is b for a, b in zip(dq, v, strict=True))

    def right(self, f: list[Expr], along: Expr | float, before: list[Expr | float]) -> list[Expr]:
        """scale (f + along f_t) + before; that of the speeds multiplied by M."""
        b = [self.scale * a + c for a, c in zip(f, before, strict=True)]
        b[self.v] = [_dot(row, b[self.v]) for row in self.M]
        for i, r_t in enumerate(self.r_t, self.v.start):
            b[i] = b[i] - self.scale * along * r_t
        for i, slope in zip(self.problem.bystanders, self.slope, strict=True):
            b[i] = b[i] + self.scale * along * slope
        return b

    def solve(self, right: list[Expr]) -> list[Expr]:
        scale, u = self.scale, list(right)
        b_q = right[self.q]
        reduced = [b - scale * _dot(row, b_q) for b, row in zip(right[self.v], self.K, strict=True)]
        u[self.v] = solve(self.W, reduced)
        u[self.q] = [b + scale * a for b, a in zip(b_q, u[self.v], strict=True)]
        for i, row in zip(self.problem.bystanders, self.J, strict=True):
            u[i] = right[i] + scale * _dot(row, u[: len(row)])
        return u


def _bystanders(step_graph: StepGraph, t: Expr, x: list[Expr]) -> tuple[list[list[Expr]], list[Expr]]:
    """Derivatives of the rates of bystanders by what steers, and by time."""
    problem, n = step_graph.problem, len(step_graph.problem.steering)
    if not problem.bystanders:
        return [], []
    rows = [row[:n] + row[-1:] for _, row in _written_out(problem, problem.bystanders)]
    flat = step_graph.call(Function(f"{problem.rate.name}_bystanders", problem.rate.inputs, {"J": rows}), t, x)
    table = [flat[k : k + n + 1] for k in range(0, len(flat), n + 1)]
    return [row[:-1] for row in table], [row[-1] for row in table]


def _dot(a: Sequence[Expr], b: Sequence[Expr]) -> Expr:
    return _total([x * y for x, y in zip(a, b, strict=True)])


def _total(terms: Sequence[Expr]) -> Expr:
    found = terms[0]
    for term in terms[1:]:
        found = found + term
    return found


def _constant_entries(problem: Problem) -> dict[tuple[int, int], float]:
    """The derivatives of the rates of coordinates by what steers that are numbers, by row and column."""
    rows = range(*problem.columns("q").indices(problem.size))
    if not rows:
        return {}
    table = _written_out(problem, rows)
    return {(i, j): e.data for i, entries in table for j, e in enumerate(entries[:-1]) if e.op is ops.CONST}


def _sum(weights: Sequence[float], U: Sequence[Sequence[Expr]], i: int) -> Expr | float:
    total: Expr | float = 0.0
    for w, u in zip(weights, U, strict=False):
        if w:
            total = total + w * u[i]
    return total


def _derivatives(step_graph: StepGraph, t: Expr, x: list[Expr]) -> tuple[list[list[Expr]], list[Expr]]:
    """df/dx (n, n) and df/dt (n)."""
    n = len(x)
    flat = step_graph.call(_derivative_function(step_graph.problem), t, x)
    return [flat[i * n : (i + 1) * n] for i in range(n)], flat[n * n :]


def _derivative_function(problem: Problem) -> Function:
    """The derivatives of the rate, written out, or made of calls of its directional derivative.

    Which of the two, and how they are written out, is decided without the bystanders: they change nothing of the rest.
    """
    rate, n = problem.rate, problem.size
    steering = Function(rate.name, rate.inputs, {"f": [rate.results[k] for k in problem.steering]})
    if len(steering.nodes) * len(problem.steering) < _LARGE:
        rows = [problem.steering, problem.bystanders]
        table = dict(entry for part in rows if part for entry in _written_out(problem, part))
        J, slopes = [table[k][:-1] for k in range(n)], [table[k][-1] for k in range(n)]
        return Function(f"{rate.name}_jacobian", rate.inputs, {"J": J, "slope": slopes})
    step_graph = StepGraph(problem, t=1, **{b.name: b.size for b in problem.states})
    t, x = step_graph.block("t")[0], [s for b in problem.states for s in step_graph.block(b.name)]
    f = step_graph.rate(t, x)
    columns = [tangents(f, {s: 1.0}) for s in [*x, t]]
    J = [[columns[j][i] for j in range(n)] for i in range(n)]
    return Function(f"{rate.name}_jacobian", step_graph.inputs, {"J": J, "slope": columns[-1]})


def _written_out(problem: Problem, rows: Sequence[int]) -> list[tuple[int, list[Expr]]]:
    """Rows of the derivatives of the rate by all states, and by time at last, with their places."""
    rate, zero = problem.rate, problem.rate.graph.zero
    f, states = [rate.results[k] for k in rows], [s for b in rate.inputs if b.role is Role.STATE for s in b]
    time = [s for b in rate.inputs if b.name == "t" for s in b]
    by_steering = jacobian(f, [states[k] for k in problem.steering]).dense()
    by_time = jacobian(f, time).dense() if time else [[zero]] * len(f)
    found = []
    for place, entries, slope in zip(rows, by_steering, by_time, strict=True):
        known = dict(zip(problem.steering, entries, strict=True))
        found.append((place, [*(known.get(k, zero) for k in range(problem.size)), *slope]))
    return found


RODAS4 = Rosenbrock(
    name="RODAS 4(3)",
    gamma=0.25,
    a=(
        (),
        (1.544,),
        (0.9466785280815826, 0.2557011698983284),
        (3.314825187068521, 2.896124015972201, 0.9986419139977817),
        (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950),
    ),
    c=(
        (),
        (-5.6688,),
        (-2.430093356833875, -0.2063599157091915),
        (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
        (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
        (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054),
    ),
    times=(0.0, 0.386, 0.21, 0.63, 1.0),
    slopes=(0.25, -0.1043, 0.1035, -0.0362, 0.0),
    dense=(
        (10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823, 1.025137723295662),
        (-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386, -6.594389125716872),
    ),
    order=4,
    control=PIControl(order=4, largest=6.0),
)
"""L-stable and stiffly accurate, order 4 with an estimate of order 3; dense output of order 3.

Hairer & Wanner, Solving Ordinary Differential Equations II, 2nd ed., VI.4, the coefficients of their program RODAS.
"""
