"""Runs with a fixed step that need nobody on the way: the whole loop is native."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from torseur.emit import Integrator, Tableau
from torseur.graph import Function
from torseur.simulation.integrate.hooks import Hooks
from torseur.simulation.integrate.outcome import Counts, End, Outcome, Trajectory
from torseur.simulation.solvers.problem import Array, Held, Memory, Solvable, kept

__all__ = ["UniformSteps", "integrator_of", "native_run"]


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
