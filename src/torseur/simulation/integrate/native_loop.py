"""Runs of a given step that need nobody on the way: the whole loop is native."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from torseur.emit import Tableau, integrator
from torseur.simulation.integrate.hooks import Keep, Watch
from torseur.simulation.integrate.outcome import Counts, End, Outcome, Trajectory
from torseur.simulation.solvers.kept import kept
from torseur.simulation.solvers.problem import Array, Held, Memory, Problem

__all__ = ["Course", "native_run"]


@dataclass(frozen=True)
class Course:
    """Steps that lead from the begin to the end of a span, and which of their ends are recorded."""

    span: tuple[float, float]
    step: float
    every: int
    rows: int

    @classmethod
    def of(cls, span: tuple[float, float], step: float, grid: Array | None) -> Course | None:
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


def native_run(
    problem: Problem,
    tableau: Tableau,
    start: Array,
    held: Held,
    course: Course,
    most: int,
    progress: Callable[[float], object] | None,
    watch: Watch | None = None,
    keep: Keep | None = None,
    memory: Memory | None = None,
) -> Trajectory:
    """The run; it ends early where the state is no longer finite, after too many steps, or on an interruption.

    Args:
        most: steps it may take.
        watch: shown the state now and then, and at the end; it may end the run.
        keep: offered, now and then, what the run remembers: the rows it has.
        memory: what an earlier run remembered, to go on from there.
    """
    run = kept(problem, tableau, lambda: integrator(problem.rate, tableau, correct=problem.correct))
    wanted, begun = min(course.rows, most // course.every), 0
    out = tuple(np.full((wanted + 1, *b.shape), np.nan) for b in problem.states)
    if memory is not None:
        begun = len(memory["states"]) - 1
        for b, o in zip(problem.states, out, strict=True):
            o[: begun + 1] = memory["states"][:, problem.columns(b.name)].reshape(-1, *b.shape)
    given: dict[str, Any] = {b.name: start[problem.columns(b.name)].reshape(b.shape) for b in problem.states}
    given |= {b.name: held[b.name].reshape(b.shape) for b in problem.rate.inputs if b.name in ("u", "m", "p")}
    run(**given, step=course.step, steps=0)  # compiles what is not compiled yet
    began, done, outcome, why = clock.perf_counter(), begun, Outcome.COMPLETE, None
    if wanted < course.rows:
        outcome = Outcome.TOO_MANY_STEPS
    span = course.step * course.every

    def rows() -> Array:
        return np.concatenate([o[: done + 1].reshape(done + 1, -1) for o in out], axis=1)

    def report(fresh: int, wanted: int) -> None:
        nonlocal done
        done = begun + fresh
        if not all(np.isfinite(o[done]).all() for o in out):
            raise _Diverged
        if watch is not None:
            watch(course.span[0] + done * span, rows()[-1], held)
        if progress is not None:
            progress(course.span[0] + done * span)
        if keep is not None:
            keep(lambda: {"state": rows()[-1], "states": rows()})

    try:
        run(
            **given,
            step=course.step,
            steps=(wanted - begun) * course.every,
            every=course.every,
            time=course.span[0],
            first=begun * course.every,
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
    counts = _counts(course, tableau, done, began)
    return replace(_trajectory(course, states, outcome, counts), why=why)


def _counts(course: Course, tableau: Tableau, rows: int, began: float) -> Counts:
    taken = rows * course.every
    return Counts(taken, 0, taken * len(tableau.b), 0, 1, clock.perf_counter() - began)


def _trajectory(course: Course, states: Array, outcome: Outcome, counts: Counts) -> Trajectory:
    """What is finite of a run."""
    bad, blame = ~np.isfinite(states), None
    if bad.any():
        first = int(np.argmax(bad.any(axis=1)))
        blame, outcome, states = int(np.argmax(bad[first])), Outcome.NOT_FINITE, states[:first]
    times: Array = course.span[0] + course.step * course.every * np.arange(len(states), dtype=np.float64)
    if outcome is Outcome.COMPLETE:
        times[-1] = course.span[1]
    return Trajectory(times, states, (), outcome, float(times[-1]), states[-1].copy(), blame, counts)
