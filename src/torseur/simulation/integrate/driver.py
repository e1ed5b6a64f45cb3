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
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from torseur.emit.ahead import needed
from torseur.errors import ArgumentError
from torseur.simulation.integrate.courses import Course, alone
from torseur.simulation.integrate.drive import Drive
from torseur.simulation.integrate.hooks import Hooks, Limits, Schedule
from torseur.simulation.integrate.native_loop import UniformSteps, native_run
from torseur.simulation.integrate.outcome import Trajectory
from torseur.simulation.integrate.recording import Recorder, checked_grid
from torseur.simulation.solvers.control import Tolerance
from torseur.simulation.solvers.explicit import RungeKutta
from torseur.simulation.solvers.lanes import MARCH, Lanes
from torseur.simulation.solvers.methods import DOPRI5
from torseur.simulation.solvers.problem import Array, Held, Memory, Solvable
from torseur.simulation.solvers.stepper import Method, StepCode, Stepper

__all__ = ["course", "integrate", "lanes_of", "step_code"]

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
