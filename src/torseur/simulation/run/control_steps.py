"""Runs in step with something outside: a control period, or the clock.

Many runs of one study side by side are advanced by one control period at a time, for learning and sampled control. All
of them go in one native loop, in lanes: the method has a fixed step, and nothing happens between the ends of steps. In
a run that is paced to the clock every step waits for its time, and one that comes too late is counted.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.describe.annotations import FormulaUse, walk
from torseur.describe.faults import guess
from torseur.emit.ufunc import checked_threads
from torseur.errors import ArgumentError
from torseur.simulation.integrate.driver import integrator_of
from torseur.simulation.integrate.hooks import Response, Sampling
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.run.timetable import Timetable
from torseur.simulation.run.variants import Variants, starting_states
from torseur.simulation.solvers.explicit import RungeKutta
from torseur.simulation.solvers.problem import Array, Held
from torseur.simulation.study.study import Study

__all__ = ["ControlSteps", "Figures", "Pace", "Places", "undisturbed"]


Places = NDArray[np.intp]
"""Of runs."""

WHOLE = 1e-9
"""How far from whole the number of steps in a control period may be, and an instant from the end of a step, steps."""


class ControlSteps:
    """The states of many runs, and how they go on while inputs are held.

    Args:
        study: with a fixed-step method; its `every` is the control period, its `until` the end of a run.
        runs: how many.
        threads: how many share them.
    """

    def __init__(self, study: Study, runs: int, threads: int = 1) -> None:
        if runs < 1:
            raise ArgumentError("at least one run is needed", got=str(runs))
        self.simulation = simulation = Simulation(study, audit=False)
        method, step = self._method(), simulation.step
        self.threads, self.period = checked_threads(threads), study.interval
        assert step is not None
        self.steps = round(self.period / step)
        if self.steps < 1 or abs(self.steps - self.period / step) > WHOLE * self.steps:
            raise ArgumentError(
                "the control period is not a whole number of steps",
                where=("every",),
                expected=f"a multiple of {step:g} s",
                got=f"{self.period:g} s",
            )
        self.step, self.last = step, round((study.until - study.begin) / self.period)
        driven = simulation.plant.facts.driven
        self.inputs = tuple(n for n in simulation.model.mechanism.inputs if n not in driven)
        self.names = (*simulation.state_names, *(item.name for item in simulation.plant.facts.items))
        self._breaks = self._checked_breaks()
        self._is_timeless = _is_timeless(study)
        self._run = integrator_of(simulation.problem, method.tableau)
        self.x = np.zeros((runs, simulation.problem.size))
        self.u = np.tile(simulation.input_values, (runs, 1))
        self.p = np.tile(simulation.model.parameter_values, (runs, 1))
        self.m = np.zeros((runs, len(simulation.plant.facts.held)))
        self.count = np.zeros(runs, dtype=np.int64)
        """Control periods since the start, of each run."""

    def _method(self) -> RungeKutta:
        """The method, or why these runs cannot go side by side."""
        simulation, facts = self.simulation, self.simulation.plant.facts
        method = simulation.method.method
        reasons = {
            f"the method {method.name} chooses its steps": not isinstance(method, RungeKutta) or method.control,
            "events: " + ", ".join(facts.events): facts.events or simulation.problem.event_count,
            "sampled blocks": facts.samples,
            "changes at instants": simulation.study.changes,
            "a constraint that an input drives": facts.is_driven,
        }
        found = [reason for reason, is_there in reasons.items() if is_there]
        if found or not isinstance(method, RungeKutta):
            raise ArgumentError(
                "these runs cannot go side by side",
                where=simulation.study.called,
                got="; ".join(found),
                expected="an explicit fixed-step method, and no events",
                remedy="solver: {method: rk4, step: 1e-3}, and friction: {model: smooth} where there is dry friction",
            )
        return method

    def _checked_breaks(self) -> list[float]:
        """The instants at which signals are not smooth: each the end of a step."""
        simulation, begin = self.simulation, self.simulation.study.begin
        p = simulation.model.parameter_values
        found = [b for b in simulation.breaks(Timetable(simulation.plant, p).breaks, p) if b > begin]
        off = [b for b in found if abs(round((b - begin) / self.step) - (b - begin) / self.step) > WHOLE]
        if off:
            got = ", ".join(f"{b:g} s" for b in off[:4])
            raise ArgumentError("signals switch within a step", got=got, remedy="choose a step that ends there")
        return found

    def _places(self, names: Sequence[str]) -> list[int]:
        for name in names:
            if name not in self.names:
                expected, remedy = guess(name, self.names)
                raise ArgumentError(f"no channel '{name}'", expected=expected, remedy=remedy)
        return [self.names.index(name) for name in names]

    def begin(self, which: Places, starts: Mapping[str, ArrayLike]) -> None:
        """Start runs anew: each is what it would be alone, with these coordinates and speeds.

        Args:
            which: the places of the runs.
            starts: coordinates and speeds by name, one value each or one for each of these runs.
        """
        if not len(which):
            return
        simulation = self.simulation
        if not starts and len(which) > 1:  # all alike: computed once
            self.begin(which[:1], {})
            for array in (self.x, self.m, self.u):
                array[which[1:]] = array[which[0]]
            self.count[which] = 0
            return
        given = {n: np.broadcast_to(np.asarray(x, dtype=float), (len(which),)) for n, x in starts.items()}
        variants = Variants(simulation, given, {}, {})
        x = starting_states(simulation, variants)
        self.x[which], self.count[which] = x, 0
        self.u[which] = simulation.input_values
        self.m[which] = simulation.ranks.of_many(simulation.study.begin, x, variants.u, variants.p)

    def go_on(self, which: Places, inputs: Mapping[str, ArrayLike]) -> None:
        """Advance runs by one control period.

        Args:
            which: the places of the runs.
            inputs: by name, one value for each of these runs; held for the period.
        """
        names = list(self.simulation.model.mechanism.inputs)
        for name, values in inputs.items():
            self.u[which, names.index(name)] = values
        counts = np.zeros(1, dtype=np.int64) if self._is_timeless else np.unique(self.count[which])
        for count in counts:
            self._advance(which if self._is_timeless else which[self.count[which] == count], int(count))
        self.count[which] += 1

    def _advance(self, which: Places, count: int) -> None:
        problem, begin = self.simulation.problem, self.simulation.study.begin
        if not len(which):
            return
        given: dict[str, Any] = {b.name: self.x[which, problem.columns(b.name)] for b in problem.states}
        held = {"u": self.u[which], "m": self.m[which], "p": self.p[which]}
        given |= {b.name: held[b.name] for b in problem.inputs if b.name in held}
        motion = self._run(
            **given,
            step=self.step,
            steps=self.steps,
            every=self.steps,
            time=begin,
            first=count * self.steps,
            breaks=self._breaks,
            threads=self.threads,
        )
        for b, recorded in zip(problem.states, motion.states, strict=True):
            self.x[which, problem.columns(b.name)] = recorded[:, -1]

    def values(self, names: Sequence[str]) -> Array:
        """What is called so, in all runs now: (runs, names); coordinates, speeds, states and outputs."""
        places, size = self._places(names), len(self.simulation.state_names)
        found = np.empty((len(self.x), len(places)))
        items = self._items() if any(k >= size for k in places) else None
        for column, k in enumerate(places):
            found[:, column] = self.x[:, k] if k < size or items is None else items[:, k - size]
        return found

    def _items(self) -> Array:
        plant = self.simulation.plant
        native = plant.native("record", batches=True)
        assert native is not None
        times: Array = self.simulation.study.begin + self.period * self.count.astype(np.float64)
        found = plant.evaluate(native, times, self.x, Held(self.u, self.m, self.p))
        outputs = [a.name for a in native.interface.outputs]
        return np.asarray(dict(zip(outputs, found if isinstance(found, tuple) else (found,), strict=True))["items"])


def _is_timeless(study: Study) -> bool:
    """Whether it surely does not matter at which time a motion begins."""
    formulas = (found for found in walk(study.model) if isinstance(found, FormulaUse))
    return not study.inputs and not study.blocks and all("t" not in found.formula.names for found in formulas)


SPIN = 3e-4
"""The last part of a wait, s, is spent looking at the clock: sleep comes back late."""


@dataclass(frozen=True)
class Figures:
    """How a paced run kept its time, s.

    Attributes:
        steps: how many.
        overruns: those that were ready after their time.
        work: of a step, mean and largest.
        latency: from the time of a step to its begin: mean, 99 of 100 are below, largest.
        jitter: standard deviation of the time from one begin to the next.
        behind: the largest lag of the run behind the clock.
    """

    steps: int
    overruns: int
    work: tuple[float, float]
    latency: tuple[float, float, float]
    jitter: float
    behind: float

    def lines(self) -> list[str]:
        """In words, microseconds."""
        mean, high, most = (1e6 * x for x in self.latency)
        return [
            f"real time: {self.steps} steps, {self.overruns} overruns, at most {1e3 * self.behind:.3g} ms behind",
            f"  work of a step: mean {1e6 * self.work[0]:.1f} us, largest {1e6 * self.work[1]:.1f} us",
            f"  latency: mean {mean:.1f} us, 99 % below {high:.1f} us, largest {most:.1f} us",
            f"  jitter: {1e6 * self.jitter:.1f} us",
        ]


class Pace:
    """Makes a run wait for the clock at the end of every step; the clock starts at the end of the first.

    Args:
        simulation: with a fixed-step method.
    """

    def __init__(self, simulation: Simulation) -> None:
        step = simulation.step
        if step is None or simulation.method.method.control is not None:
            raise ArgumentError(
                "a run in real time has steps of a given length",
                where=("solver", "method"),
                got=simulation.study.solver.method,
                remedy="choose a method and a step: --solver rk4 --step 1e-3",
            )
        self._begin, self._zero = simulation.study.begin, 0.0
        count = int((simulation.study.until - self._begin) / step) + 2
        self._ready, self._woken, self._due = (np.zeros(count) for _ in range(3))
        self._count = -1
        self.sampling = Sampling(step, self._wait, self._begin)

    def _wait(self, t: float, x: Array, held: Held) -> Response | None:
        clock = time.perf_counter
        now = clock()
        if self._count <= 0:  # the first step may still compile something: the clock starts at its end
            self._zero = now - (t - self._begin)
        due = self._zero + (t - self._begin)
        ready = now
        if due - now > SPIN:
            time.sleep(due - now - SPIN)
        while (now := clock()) < due:
            pass
        if 0 <= self._count < len(self._ready):
            k = self._count
            self._ready[k], self._woken[k], self._due[k] = ready, now, due
        self._count += 1
        return None

    @property
    def figures(self) -> Figures:
        n = min(max(self._count, 0), len(self._ready))
        ready, woken, due = self._ready[:n], self._woken[:n], self._due[:n]
        late, work = woken - due, ready[1:] - woken[:-1]
        if n < 2:
            return Figures(max(n - 1, 0), 0, (0.0, 0.0), (0.0, 0.0, 0.0), 0.0, 0.0)
        return Figures(
            n - 1,
            int(np.count_nonzero(ready[1:] > due[1:])),
            (float(work.mean()), float(work.max())),
            (float(late.mean()), float(np.percentile(late, 99)), float(late.max())),
            float(np.diff(woken).std()),
            float(np.maximum(ready - due, 0.0).max()),
        )


@contextmanager
def undisturbed() -> Iterator[None]:
    """Without the collection of garbage, and ahead of other programs where the system lets us."""
    was, before = gc.isenabled(), None
    gc.collect()
    gc.disable()
    if hasattr(os, "sched_setscheduler"):
        with suppress(OSError):
            before = os.sched_getscheduler(0), os.sched_getparam(0)
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(os.sched_get_priority_min(os.SCHED_FIFO)))
    try:
        yield
    finally:
        if before is not None:
            with suppress(OSError):
                os.sched_setscheduler(0, *before)
        if was:
            gc.enable()
