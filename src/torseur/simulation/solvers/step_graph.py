"""Where the arithmetic of a step is written down: a graph with the blocks of a step, in which a problem's functions
are called.

A step is one native function ``record' = step(now, record, tolerance, u, m, p)``; everything a method carries from
step to step is in its record, laid out by `Layout`. A callee sees its arguments as plain numbers, so parameter work
inside a rate that a step calls many times would be done at every call. Functions are cut in two before: what parameters
alone decide is parameter work of the step itself, done once per run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from torseur.graph import (
    Block,
    Function,
    Graph,
    Role,
    Truth,
    absolute,
    call,
    maximum,
    minimum,
    ops,
    select,
    sqrt,
    substitute,
    tangents,
)
from torseur.graph.function import Stage
from torseur.graph.linear import largest
from torseur.graph.nodes import Bundle, Expr
from torseur.graph.structure import structural_order
from torseur.simulation.solvers.problem import Problem

__all__ = ["ERROR", "GROWTH", "HEAD", "LOOK", "NOW", "WORK_DONE", "Layout", "StepGraph", "hoisted", "nested"]

WORK = "work__"
"""The block that takes the place of the parameters."""


def hoisted(function: Function) -> tuple[Function | None, Function]:
    """(p -> work, inputs with work in place of p -> outputs); no first part where there are no parameters."""
    parameters = [b for b in function.inputs if b.role is Role.PARAMETER]
    if not parameters:
        return None, function
    known: tuple[Function, Function] | None = function.__dict__.get("_hoisted")
    if known is None:
        known = function.__dict__["_hoisted"] = _cut(function)
    return known


def _cut(function: Function) -> tuple[Function, Function]:
    parameters = [b for b in function.inputs if b.role is Role.PARAMETER]
    kept = _carried(function)
    name = WORK
    while name in function.graph.blocks:
        name += "_"
    work = function.graph.block(name, len(kept), Role.INPUT)
    results = iter(substitute(list(function.results), dict(zip(kept, work, strict=True))))
    outputs = {o.name: [next(results) for _ in o.exprs] for o in function.outputs}
    inputs = [b for b in function.inputs if b.role is not Role.PARAMETER]
    first = Function(f"{function.name}_prologue", parameters, {"work": kept})
    return first, Function(function.name, [*inputs, work], outputs)


def _carried(function: Function) -> list[Expr]:
    """The expressions of parameters that later work needs.

    Conditions and bundles cannot be handed over as numbers: what they are made of is, and they are made again. The
    order is that of `torseur.graph.structure`: values that depend on it must not depend on what else is carried.
    """
    late = {n.id for n, stage in zip(function.nodes, function.stages, strict=True) if stage is not Stage.PARAMETER}
    wanted = {e.id: e for e in function.results}
    for node in reversed(function.nodes):
        again = node.id in wanted and (isinstance(node, (Bundle, Truth)) or node.op is ops.CONST)
        if node.id in late or again:
            wanted.pop(node.id, None)
            wanted |= {a.id: a for a in node.args}
    order = structural_order(node for node in function.nodes if node.id not in late)
    return sorted(wanted.values(), key=lambda e: (order[e.id], e.id))


NOW = 4
"""Numbers of the block "now": time at the beginning of the step, its length, and the interval its stages stay in.

The interval keeps a step on its side of a discontinuity of the inputs: no stage sees what begins where it ends.
"""

ERROR, GROWTH, LOOK, WORK_DONE = 0, 1, 2, 3
"""Where in a record its scaled error is (at most 1 is good, inf is a step that has no result), by what the next step
may be longer, whether an event may lie within the step (0: surely not), and how many Newton iterations it took."""

HEAD = 4
"""Numbers at the beginning of a record, before the state."""

_LARGE = 2000
"""Nodes of event functions from which on their slopes are differences."""


@dataclass(frozen=True)
class Layout:
    """Where things are in a record: four numbers, the state x, its rate, the events, their rates, then the method's.

    Attributes:
        n: size of x.
        events: how many.
        terms: rows of the dense output, n each.
        extra: further numbers of the method.
    """

    n: int
    events: int
    terms: int
    extra: int = 0

    @property
    def x(self) -> slice:
        return slice(HEAD, HEAD + self.n)

    @property
    def rate(self) -> slice:
        return _after(self.x, self.n)

    @property
    def g(self) -> slice:
        return _after(self.rate, self.events)

    @property
    def slopes(self) -> slice:
        return _after(self.g, self.events)

    @property
    def dense(self) -> slice:
        return _after(self.slopes, self.terms * self.n)

    @property
    def rest(self) -> slice:
        return _after(self.dense, self.extra)

    @property
    def size(self) -> int:
        return int(self.rest.stop)


def _after(part: slice, size: int) -> slice:
    return slice(part.stop, part.stop + size)


def nested(theta: Expr, rows: Sequence[Sequence[Expr]]) -> list[Expr]:
    """x(theta) = r1 + th (r2 + (1 - th) (r3 + th (r4 + (1 - th) (r5 + ...)))), theta from 0 to 1 over the step.

    The form of Hairer, Norsett & Wanner, Solving ODEs I, II.6: the first four rows are a cubic Hermite interpolant.
    """
    x = list(rows[-1])
    for k in range(len(rows) - 2, -1, -1):
        factor = theta if k % 2 == 0 else 1.0 - theta
        x = [r + factor * s for r, s in zip(rows[k], x, strict=True)]
    return x


class StepGraph:
    """A graph with the blocks of a step.

    Args:
        problem: whose functions are called.
        blocks: name -> size, before the held ones; a block named "t" or as one of the problem's would clash.
    """

    def __init__(self, problem: Problem, **blocks: int) -> None:
        self.problem = problem
        self.graph = Graph()
        own = [self.graph.block(name, size, Role.INPUT) for name, size in blocks.items()]
        self.held = {b.name: self.graph.block(b.name, b.size, b.role) for b in _held_blocks(problem)}
        self.inputs = [*own, *self.held.values()]
        self._prologues: dict[int, list[Expr]] = {}

    def block(self, name: str) -> list[Expr]:
        return list(self.graph.blocks[name])

    def function(self, name: str, y: Sequence[Expr | float]) -> Function:
        return Function(name, self.inputs, {"y": list(y)})

    @cached_property
    def now(self) -> list[Expr]:
        """Beginning, length, earliest and latest time."""
        return self.block("now")

    def time(self, c: Expr | float) -> Expr:
        """The time of a stage, kept within the interval of the step."""
        t, h, earliest, latest = self.now
        return minimum(maximum(t + c * h, earliest), latest)

    def call(self, function: Function, time: Expr, state: Sequence[Expr], **more: Sequence[Expr]) -> list[Expr]:
        """A function of the problem at a time and a state; blocks beside the usual ones by name."""
        first, rest = hoisted(function)
        given = {"t": [time], **{k: list(v) for k, v in self.held.items()}, **more}
        for block in self.problem.states:
            given[block.name] = list(state[self.problem.columns(block.name)])
        if first is not None:
            given[rest.inputs[-1].name] = self.prologue(function)
        return call(rest, *(given[b.name] for b in rest.inputs))

    def prologue(self, function: Function) -> list[Expr]:
        """The parameter work of a function; none where it has no parameters."""
        first, _ = hoisted(function)
        if first is None:
            return []
        if id(first) not in self._prologues:
            self._prologues[id(first)] = call(first, *(list(self.held[b.name]) for b in first.inputs))
        return self._prologues[id(first)]

    def inner(self, functions: Sequence[Function], **blocks: int) -> StepGraph:
        """A graph of its own for a part that is called from this one, with the parameter work of some functions as a
        block instead of the parameters: done out here, once.
        """
        works = {f"work{k}": len(self.prologue(f)) for k, f in enumerate(functions)}
        inner = StepGraph(self.problem, **blocks, **works)
        inner.inputs = [b for b in inner.inputs if b.role is not Role.PARAMETER]
        for k, function in enumerate(functions):
            first, _ = hoisted(function)
            if first is not None:
                inner._prologues[id(first)] = inner.block(f"work{k}")
        return inner

    def rate(self, t: Expr, x: Sequence[Expr]) -> list[Expr]:
        both = self.problem.rate_and_events
        return self.call(self.problem.rate, t, x) if both is None else self.call(both, t, x)[: self.problem.size]

    def corrected(self, t: Expr, x: list[Expr]) -> list[Expr]:
        return x if self.problem.correct is None else self.call(self.problem.correct, t, x)

    def events(self, t: Expr, x: Sequence[Expr]) -> list[Expr]:
        if self.problem.events is None:
            return []
        both = self.problem.rate_and_events
        return self.call(self.problem.events, t, x) if both is None else self.call(both, t, x)[self.problem.size :]

    def event_slopes(self, t: Expr, x: Sequence[Expr], rate: Sequence[Expr]) -> list[Expr]:
        """dg/dt along the motion, where there are events.

        Exact where that is short. Of events that take the whole motion to compute it would be more code than all the
        rest of a step: there, the difference over a short way along the motion.
        """
        problem = self.problem
        if problem.events is None:
            return []
        if not self.has_large_events:
            return self.call(_slopes(problem), t, x, x=x, dx=rate)
        forth = self._short_time(x, rate)
        dt = select(t + forth <= self.now[3], forth, -forth)  # a step does not look beyond its interval
        moved = self.events(t + dt, [a + dt * b for a, b in zip(x, rate, strict=True)])
        return [(b - a) / dt for a, b in zip(self.events(t, x), moved, strict=True)]

    @property
    def has_large_events(self) -> bool:
        """Whether events are computed with the rate, and take so much of it that steps do without their slopes."""
        events = self.problem.events
        return events is not None and self.problem.rate_and_events is not None and len(events.nodes) >= _LARGE

    def _short_time(self, x: Sequence[Expr], rate: Sequence[Expr]) -> Expr:
        """In which no state that steers moves by more than a millionth of 1 + |x|; at rest a millisecond."""
        shares = [absolute(rate[k]) / (1.0 + absolute(x[k])) for k in self.problem.steering]
        return 1e-6 / maximum(largest(shares), 1e-3)

    def record(
        self,
        layout: Layout,
        error: Expr,
        growth: Expr | float,
        x: list[Expr],
        rate: list[Expr],
        rows: Sequence[Sequence[Expr]],
        extra: Sequence[Expr] = (),
        work_done: Expr | float = 0.0,
        inside: Sequence[Sequence[Expr]] = (),
    ) -> list[Expr | float]:
        """The record of a step: its error, the state at its end with its rate, and what the method keeps.

        An event may lie within the step where its function changes sign, or comes closer to zero and goes away again:
        seen by its slopes at both ends, or by its values `inside`, at the stages, where these are given.
        """
        end = self.time(1.0)
        g, before = self.events(end, x), self.block("last")
        g0, s0 = before[layout.g], before[layout.slopes]
        if inside:
            slopes = [self.graph.zero] * len(g)
            dips = [_dips(a, [row[k] for row in inside], b) for k, (a, b) in enumerate(zip(g0, g, strict=True))]
        else:
            slopes = self.event_slopes(end, x, rate)
            dips = [(a * s <= 0.0) & (b * r > 0.0) for a, s, b, r in zip(g0, s0, g, slopes, strict=True)]
        look = self.graph.zero
        for a, b, dip in zip(g0, g, dips, strict=True):
            look = select((a * b <= 0.0) | dip, 1.0, look)
        return [error, growth, look, work_done, *x, *rate, *g, *slopes, *(e for row in rows for e in row), *extra]

    def norm(self, error: Sequence[Expr], before: Sequence[Expr], after: Sequence[Expr]) -> Expr:
        """sqrt of the mean of (e / (atol + rtol max(|x|)))^2, from the block "tolerance" (rtol, then atol of each)."""
        return sqrt(self.mean_square(error, before, after))

    def mean_square(self, error: Sequence[Expr], before: Sequence[Expr], after: Sequence[Expr]) -> Expr:
        """The square of the norm, over the states that steer."""
        rtol, *atol = self.block("tolerance")
        total, counted = self.graph.zero, self.problem.steering
        for k in counted:
            a, b = before[k], after[k]
            size = maximum(maximum(a, -a), maximum(b, -b))
            part = error[k] / (atol[k] + rtol * size)
            total = total + part * part
        return total * (1.0 / max(len(counted), 1))


def _dips(first: Expr, inside: Sequence[Expr], last: Expr) -> Truth:
    """Whether values come closer to zero than half of the smaller end."""
    near = 0.5 * minimum(absolute(first), absolute(last))
    lowest = -largest([select(last < 0.0, value, -value) for value in inside])
    return lowest < near


def _held_blocks(problem: Problem) -> list[Block]:
    return [b for b in problem.rate.inputs if b.name in ("u", "m", "p")]


def _slopes(problem: Problem) -> Function:
    """(t, x, dx, held) -> dg/dt."""
    step_graph = StepGraph(problem, t=1, x=problem.size, dx=problem.size)
    t, x, dx = (step_graph.block(name) for name in ("t", "x", "dx"))
    g = step_graph.events(t[0], x)
    seeds = {t[0]: step_graph.graph.one, **dict(zip(x, dx, strict=True))}
    return step_graph.function("event_slopes", tangents(g, seeds))
