"""One driver for all methods: steps, events, samples, output, and every way a run can end.

>>> from torseur.graph import Function, Graph
>>> from torseur.simulation.solvers.problem import Problem
>>> g = Graph()
>>> q, v = g.block("q", 1), g.block("v", 1)
>>> swing = Problem(Function("swing", [q, v], {"dq": [v[0]], "dv": [-q[0]]}))
>>> run = integrate(swing, [1.0, 0.0], (0.0, 3.0), output=[0.0, 1.5, 3.0])
>>> [round(float(x), 4) for x in run.states[:, 0]]
[1.0, 0.0707, -0.99]
>>> run.outcome.value
'the run reached its end'

Runs with a fixed step that need nobody on the way are one native loop.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from torseur.emit import Integrator, Tableau
from torseur.emit.ahead import needed
from torseur.errors import ArgumentError
from torseur.graph import Function
from torseur.simulation.integrate.drive import Drive
from torseur.simulation.integrate.hooks import Hooks, Limits, Schedule
from torseur.simulation.integrate.recording import Counts, End, Outcome, Recorder, Trajectory, checked_grid
from torseur.simulation.solvers.control import Tolerance
from torseur.simulation.solvers.explicit import RungeKutta
from torseur.simulation.solvers.lanes import MARCH, Course, Lanes, alone
from torseur.simulation.solvers.methods import DOPRI5
from torseur.simulation.solvers.problem import Array, Held, Memory, Solvable, kept
from torseur.simulation.solvers.stepper import Method, StepCode, Stepper

__all__ = ["UniformSteps", "course", "integrate", "integrator_of", "lanes_of", "native_run", "step_code"]


@dataclass(frozen=True)
class UniformSteps:
    """Steps that lead from the begin to the end of a span, and which of their ends are recorded."""

    span: tuple[float, float]
    step: float
    every: int
    rows: int

    @classmethod
    def of(cls, span: tuple[float, float], step: float, grid: Array | None) -> UniformSteps | None:
        """None where the times to record are not regular, or not ends of steps."""
        begin, end = span
        steps = round((end - begin) / step)
        if steps < 1 or abs(begin + steps * step - end) > 1e-9 * step:
            return None
        if grid is None:
            return cls(span, step, 1, steps)
        rows = grid.size - 1
        if rows < 1 or steps % rows:
            return None
        every = steps // rows
        close = np.abs(grid - (begin + step * every * np.arange(rows + 1))) <= 1e-9 * step
        return cls(span, step, every, rows) if close.all() else None


class _Diverged(Exception):
    pass


def integrator_of(problem: Solvable, tableau: Tableau) -> Integrator:
    """Whole runs of a problem in native code, corrected after each step."""

    def build() -> tuple[Function, Function | None]:
        derived = problem.derived()
        return derived.rate, derived.correct

    return problem.store.part("run").integrator(problem.inputs, build, tableau)


def native_run(
    problem: Solvable,
    tableau: Tableau,
    start: Array,
    held: Held,
    steps: UniformSteps,
    most: int,
    hooks: Hooks,
    memory: Memory | None = None,
) -> Trajectory:
    """The run; it ends early where the state is no longer finite, after too many steps, or on an interruption.

    Args:
        most: steps it may take.
        hooks: those that look at the run; what the checkpoint is offered are the rows so far.
        memory: what an earlier run remembered, to go on from there.
    """
    run = kept(problem, tableau, lambda: integrator_of(problem, tableau))
    wanted, begun = min(steps.rows, most // steps.every), 0
    out = tuple(np.full((wanted + 1, *b.shape), np.nan) for b in problem.states)
    if memory is not None:
        begun = len(memory["states"]) - 1
        for b, o in zip(problem.states, out, strict=True):
            o[: begun + 1] = memory["states"][:, problem.columns(b.name)].reshape(-1, *b.shape)
    given: dict[str, Any] = {b.name: start[problem.columns(b.name)].reshape(b.shape) for b in problem.states}
    given |= {b.name: held[b.name].reshape(b.shape) for b in problem.inputs if b.name in ("u", "m", "p")}
    run(**given, step=steps.step, steps=0)  # compiles what is not compiled yet
    began, done, outcome, why = clock.perf_counter(), begun, Outcome.COMPLETE, None
    if wanted < steps.rows:
        outcome = Outcome.TOO_MANY_STEPS
    span = steps.step * steps.every

    def rows() -> Array:
        return np.concatenate([o[: done + 1].reshape(done + 1, -1) for o in out], axis=1)

    def report(fresh: int, wanted: int) -> None:
        nonlocal done
        done = begun + fresh
        if not all(np.isfinite(o[done]).all() for o in out):
            raise _Diverged
        if hooks.monitor is not None:
            hooks.monitor(steps.span[0] + done * span, rows()[-1], held)
        if hooks.progress is not None:
            hooks.progress(steps.span[0] + done * span)
        if hooks.checkpoint is not None:
            hooks.checkpoint(lambda: {"state": rows()[-1], "states": rows()})

    try:
        run(
            **given,
            step=steps.step,
            steps=(wanted - begun) * steps.every,
            every=steps.every,
            time=steps.span[0],
            first=begun * steps.every,
            progress=report,
            out=tuple(o[begun:] for o in out),
        )
    except _Diverged:
        pass
    except End as end:
        outcome, why = end.outcome, end.why
    except KeyboardInterrupt:
        outcome = Outcome.INTERRUPTED
    states = rows()
    counts = _counts(steps, tableau, done, began)
    return replace(_trajectory(steps, states, outcome, counts), why=why)


def _counts(steps: UniformSteps, tableau: Tableau, rows: int, began: float) -> Counts:
    taken = rows * steps.every
    return Counts(taken, 0, taken * len(tableau.b), 0, 1, clock.perf_counter() - began)


def _trajectory(steps: UniformSteps, states: Array, outcome: Outcome, counts: Counts) -> Trajectory:
    """What is finite of a run."""
    bad, blame = ~np.isfinite(states), None
    if bad.any():
        first = int(np.argmax(bad.any(axis=1)))
        blame, outcome, states = int(np.argmax(bad[first])), Outcome.NOT_FINITE, states[:first]
    times: Array = steps.span[0] + steps.step * steps.every * np.arange(len(states), dtype=np.float64)
    if outcome is Outcome.COMPLETE:
        times[-1] = steps.span[1]
    return Trajectory(times, states, (), outcome, float(times[-1]), states[-1].copy(), blame, counts)


STEPS = "steps"


def integrate(
    problem: Solvable,
    start: Any,
    span: tuple[float, float],
    *,
    method: Method = DOPRI5,
    held: Held | None = None,
    tolerance: Tolerance | None = None,
    output: Sequence[float] | Array | None = None,
    limits: Limits | None = None,
    hooks: Hooks | None = None,
    memory: Memory | None = None,
    native: bool = True,
) -> Trajectory:
    """Integrate a problem; whatever happens, what was computed is returned.

    Args:
        start: the state: flat, or a mapping of blocks.
        span: from, to, in s.
        held: see `Problem.held`; changed in place by handlers and samplings.
        output: times to record, by dense output; None records the end of every step.
        limits: of the steps.
        hooks: what acts on the run and looks at it.
        memory: what an earlier run with the same arguments remembered, to go on from there; `start` is not looked at.
        native: whether the loop over the steps is native code; otherwise Python takes each of them, to the same bits.
    """
    given = limits or Limits(), hooks or Hooks(), tolerance or Tolerance()
    held = held if held is not None else problem.held()
    return alone(course(problem, start, span, method, held, output, *given, memory=memory, native=native))


def course(
    problem: Solvable,
    start: Any,
    span: tuple[float, float],
    method: Method,
    held: Held,
    output: Sequence[float] | Array | None,
    limits: Limits,
    hooks: Hooks,
    tolerance: Tolerance,
    *,
    memory: Memory | None = None,
    native: bool = True,
    place: tuple[Lanes, int] | None = None,
) -> Course[Trajectory]:
    """The same run, under way: beside others in a lane, or in one of its own.

    Args:
        problem, start, span, method, held, output, limits, hooks, tolerance, memory, native: see `integrate`.
        place: lanes made for the same method, problem, tolerance and output, and which one of them.
    """
    begin, end = (float(s) for s in span)
    if not (math.isfinite(begin) and math.isfinite(end) and begin <= end):
        raise ArgumentError("wrong span", expected="two finite times in order, s", got=repr(span))
    grid = checked_grid(output, begin, end) if place is None else place[0].times
    if method.control is None and limits.first is None:
        raise ArgumentError(
            f"{method.name} has no adaptive step", where="limits.first", expected="a step, s", got="None"
        )
    if isinstance(method, RungeKutta) and method.control is None and limits.first is not None:
        lonely = not problem.event_count and not hooks.samplings and not any(begin < b < end for b in hooks.breaks)
        steps = UniformSteps.of((begin, end), limits.first, grid) if lonely else None
        if steps is not None:
            return native_run(problem, method.tableau, problem.start(start), held, steps, limits.steps, hooks, memory)
    schedule = Schedule(begin, end, hooks)
    lanes, row = place or (lanes_of(method, problem, tolerance, grid, native=native), 0)
    drive = Drive(Stepper(method, problem, held, tolerance, lanes, row), grid, schedule, limits, hooks)
    return (yield from drive.run(begin, problem.start(start), memory))


def lanes_of(
    method: Method,
    problem: Solvable,
    tolerance: Tolerance,
    grid: Array | None,
    count: int = 1,
    *,
    native: bool = True,
) -> Lanes:
    """Lanes for so many runs."""
    needed(STEPS)
    code, errors = StepCode.of(method, problem), tolerance.array(problem.size)
    return Lanes(code, errors, count, grid, pack=Recorder.PACK, native=native)


def step_code(method: Method, problem: Solvable) -> dict[str, Callable[[], object]]:
    """What makes the code of runs by the steps of a method, by name; see `torseur.emit.ahead`."""
    if isinstance(method, RungeKutta) and method.control is None:
        return {}  # most of these runs are one native loop

    def steps() -> None:
        for native in StepCode.of(method, problem).functions.values():
            native.ready()

    return {STEPS: steps, MARCH.body.__name__: MARCH.ready}
