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

import itertools
import math
import time as clock
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from torseur.errors import ArgumentError, ModelError, NumericalError
from torseur.simulation.integrate.crossings import PRECISION, EventSigns, ZeroCrossing
from torseur.simulation.integrate.hooks import EventSeen, Hooks, Limits, Response, Sampling, Schedule
from torseur.simulation.integrate.native_loop import UniformSteps, native_run
from torseur.simulation.integrate.outcome import End, EventRecord, Outcome, Trajectory
from torseur.simulation.integrate.recording import Counters, Recorder
from torseur.simulation.solvers.control import Tolerance
from torseur.simulation.solvers.explicit import RungeKutta
from torseur.simulation.solvers.problem import Array, Held, Memory, Solvable
from torseur.simulation.solvers.sheet import GROWTH, LOOK
from torseur.simulation.solvers.stepper import Method, Stepper
from torseur.simulation.solvers.tableaux import DOPRI5

__all__ = ["integrate"]


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
    """
    begin, end = (float(s) for s in span)
    if not (math.isfinite(begin) and math.isfinite(end) and begin <= end):
        raise ArgumentError("wrong span", expected="two finite times in order, s", got=repr(span))
    grid = None if output is None else np.asarray(output, dtype=float)
    limits, hooks = limits or Limits(), hooks or Hooks()
    if method.control is None and limits.first is None:
        raise ArgumentError(
            f"{method.name} does not find its step", where="limits.first", expected="a step, s", got="None"
        )
    held = held if held is not None else problem.held()
    if isinstance(method, RungeKutta) and method.control is None and limits.first is not None:
        alone = not problem.event_count and not hooks.samplings and not any(begin < b < end for b in hooks.breaks)
        steps = UniformSteps.of((begin, end), limits.first, grid) if alone else None
        if steps is not None:
            return native_run(problem, method.tableau, problem.start(start), held, steps, limits.steps, hooks, memory)
    stepper = Stepper(method, problem, held, tolerance or Tolerance())
    drive = _Drive(stepper, Recorder(grid, begin, end), Schedule(begin, end, hooks), limits, hooks)
    return drive.run(begin, problem.start(start), memory)


class _Drive:
    """One run."""

    CROWD = 100  # events in a row, hardly apart in time

    def __init__(self, stepper: Stepper, recorder: Recorder, schedule: Schedule, limits: Limits, hooks: Hooks) -> None:
        self.stepper, self.recorder, self.schedule = stepper, recorder, schedule
        self.limits, self.hooks, self.control = limits, hooks, stepper.method.control
        self.signs = EventSigns(stepper.layout.events, hooks.invariants)
        self.counters = Counters()
        self.h = limits.first or 0.0
        self._crowded = 0
        self._moved: Array | None = None
        self._leg: tuple[float, int] | None = None  # where a segment was left
        self._fresh = True  # no step was accepted since the last restart: signs are not those of the record
        self._looked = clock.perf_counter()

    def run(self, t: float, x: Array, memory: Memory | None = None) -> Trajectory:
        began = clock.perf_counter()
        self.t, self._moved = t, x
        outcome, blame, why = Outcome.COMPLETE, None, None
        try:
            self._whole(memory)
        except End as end:
            outcome, blame, why = end.outcome, end.blame, end.why
        except KeyboardInterrupt:
            outcome = Outcome.INTERRUPTED
        except (NumericalError, ModelError) as error:  # of a handler, a review or a sampling: what there is is kept
            outcome, why = Outcome.UNDECIDED, f"{error.what}; {error.remedy}" if error.remedy else error.what
        stepper = self.stepper
        counts = self.counters.counts(stepper.evaluations, clock.perf_counter() - began)
        times, states = self.recorder.arrays(stepper.layout.n)
        return Trajectory(times, states, tuple(self.counters.events), outcome, self.t, self.x, blame, counts, why)

    @property
    def x(self) -> Array:
        """The state at the time: where the last accepted step ended, unless it was moved since."""
        return self.stepper.accepted if self._moved is None else self._moved

    def _whole(self, memory: Memory | None) -> None:
        """Segments between the instants of the schedule."""
        if memory is None:
            self._begin()
        else:
            self.recall(memory)
        for count in itertools.count():
            if self.t >= self.schedule.end:
                break
            if count >= self.limits.steps:
                raise End(Outcome.TOO_MANY_STEPS)
            self._segment(self.schedule.next())
            broken, acting = self.schedule.due(self.t)
            if self.t < self.schedule.end:
                changed = self._sample(acting)
                if changed or broken:
                    changed |= self._reviewed(broken)
                if changed:
                    self.recorder.begin(self.t, self.x)
                if changed or broken:
                    self._restart(broken)
                else:
                    self.stepper.bound(latest=self._latest())
        if self.hooks.monitor is not None:
            self.hooks.monitor(self.t, self.x, self.stepper.held)

    # -- what is remembered between two steps --------------------------------------------------------------------------
    def memory(self, base: float, count: int) -> Memory:
        return {
            "state": self.x,
            "numbers": [self.t, self.h, base, count, self._crowded],
            "signs": self.signs.memory(),
            "schedule": self.schedule.memory(),
            "recorder": self.recorder.memory(self.stepper.layout.n),
            "stepper": self.stepper.memory(),
            "counters": self.counters.memory(),
        }

    def recall(self, memory: Memory) -> None:
        self.t, self.h, base, count, self._crowded = memory["numbers"]
        self._moved, self._leg, self._fresh = None, (base, count), False
        for name in ("signs", "schedule", "recorder", "stepper", "counters"):
            getattr(self, name).recall(memory[name])

    # -- beginnings ----------------------------------------------------------------------------------------------------
    def _begin(self) -> None:
        broken, acting = self.schedule.due(self.t)
        if self._sample(acting):
            self._reviewed(broken)
        x = self.x.copy()  # as it is: the first stage may see it corrected
        self._restart(broken)
        self.recorder.begin(self.t, x)

    def _latest(self) -> float:
        return math.nextafter(self.schedule.next(), -math.inf)

    def _restart(self, broken: bool = False, fired: tuple[int, ...] = ()) -> None:
        """Begin anew where we are."""
        earliest = math.nextafter(self.t, math.inf) if broken else self.t
        stepper = self.stepper
        stepper.restart(self.t, self.x, earliest, max(earliest, self._latest()))
        self.counters.starts += 1
        self.counters.restarts += 1
        record = stepper.record
        if not np.isfinite(record).all():
            raise End(Outcome.NOT_FINITE, self._first_not_finite())
        self._moved, self._fresh = None, True
        self.signs.begin(stepper, fired)
        if self.control is not None:
            self.h = self._first_step()

    def _first_step(self) -> float:
        """Hairer, Norsett & Wanner, Solving ODEs I, II.4: a first guess by sizes, then one by the error it makes."""
        stepper, control = self.stepper, self.control
        assert control is not None
        left = min(self.limits.longest, self.schedule.next() - self.t)
        if self.limits.first is not None and self.counters.steps == 0:
            return self.limits.first
        if left <= 0.0:
            return 0.0
        size, slope = stepper.sizes()
        h = min(0.01 * size / slope if size > 1e-5 and slope > 1e-5 else 1e-6, left)
        error = stepper.attempt(h)
        stepper.forget()
        self.counters.starts += 1
        grown = 100.0 if error < 1e-20 else (0.01 / error) ** (1.0 / control.order) if error < math.inf else 0.1
        return min(h * min(max(grown, 0.1), 100.0), left)

    def _sample(self, acting: Sequence[Sampling]) -> bool:
        """Let samplings act; whether anything changed."""
        if not acting:
            return False
        held = self.stepper.held
        before = held.u.copy(), held.m.copy()
        changed = False
        for sampling in acting:
            changed |= self._obey(sampling.act(self.t, self.x.copy(), self.stepper.held))
        held = self.stepper.held
        return changed or not (np.array_equal(before[0], held.u) and np.array_equal(before[1], held.m))

    def _reviewed(self, broken: bool) -> bool:
        """Let go on otherwise what cannot go on as it did, at a break by what comes after it; whether anything did."""
        if self.hooks.review is None:
            return False
        t = math.nextafter(self.t, math.inf) if broken else self.t
        return self._obey(self.hooks.review(t, self.x.copy(), self.stepper.held))

    def _obey(self, response: Response | None) -> bool:
        """Do what a handler asks; whether anything changed."""
        if response is None:
            return False
        if response.state is not None:
            self._moved = self.stepper.problem.start(response.state)
        if response.held is not None:
            self.stepper.hold(response.held)
        if response.stop:
            self.recorder.close(self.t, self.x)
            raise End(Outcome.STOPPED)
        return response.state is not None or response.held is not None

    # -- steps ---------------------------------------------------------------------------------------------------------
    def _segment(self, instant: float) -> None:
        """Steps from here to an instant, exactly."""
        stepper, recorder, counters, longest = self.stepper, self.recorder, self.counters, self.limits.longest
        attempt, accept, adaptive = stepper.attempt, stepper.accept, self.control is not None
        rejected, iterates = False, stepper.iterates
        (base, count), self._leg = self._leg or (self.t, 0), None
        most = self.limits.steps
        while self.t < instant:
            if counters.steps >= most:
                raise End(Outcome.TOO_MANY_STEPS)
            t, h = self.t, self.h
            left = instant - t
            if h > longest:
                h = longest
            ends = h >= left * 0.9999999999
            if ends:
                h = left
            elif adaptive and 2.0 * h > left:
                h = 0.5 * left
            error = attempt(h)
            if not error <= 1.0:
                self._refuse(h, error)
                rejected = True
                continue
            count += 1
            after = instant if ends else t + h if adaptive else base + count * h  # a given step does not drift
            record = stepper.record
            if adaptive:
                growth = record.item(GROWTH)
                if growth < 1.0 or not (ends or rejected):  # cut short by an instant, or after a bad one: no longer
                    self.h = h * growth
            rejected = False
            counters.steps += 1
            if iterates:
                counters.newton += stepper.work_done
            if (self._fresh or record.item(LOOK)) and self._events(h, after):
                instant, base, count = self.schedule.next(), self.t, 0
                continue
            if recorder.due <= after:
                recorder.step(t, h, after, stepper, stepper.x)
            accept(after)
            self.t, self._moved, self._fresh = after, None, False
            if not counters.steps & 15:
                self._look_around(base, count)

    def _refuse(self, h: float, error: float) -> None:
        """A step that is not good enough: the next one is shorter, or the run is over."""
        self.counters.rejected += 1
        self.counters.newton += self.stepper.work_done
        control, is_number = self.control, error < math.inf
        if control is not None:
            h *= control.shrinkage(error)
            if h >= max(self.limits.shortest, 4.0 * math.ulp(self.t)):
                self.h = h
                return
        if is_number:
            change = np.abs(self.stepper.x - self.x) / self.stepper.scale(self.x)
            raise End(Outcome.STEP_UNDERFLOW, int(np.argmax(change)))
        blame = self._first_not_finite()
        raise End(Outcome.NEWTON if blame is None else Outcome.NOT_FINITE, blame)

    def _first_not_finite(self) -> int | None:
        """Which state is not a number, or has a rate that is not."""
        record, layout = self.stepper.record, self.stepper.layout
        bad = ~(np.isfinite(record[layout.x]) & np.isfinite(record[layout.rate]))
        return int(np.argmax(bad)) if bad.any() else None

    def _look_around(self, base: float, count: int) -> None:
        if self.hooks.monitor is not None:
            self.hooks.monitor(self.t, self.x, self.stepper.held)
        if self.hooks.progress is not None:
            now = clock.perf_counter()
            if now - self._looked > 0.05:
                self._looked = now
                self.hooks.progress(self.t)
        if self.hooks.checkpoint is not None:
            self.hooks.checkpoint(partial(self.memory, base, count))

    # -- events --------------------------------------------------------------------------------------------------------
    def _events(self, h: float, after: float) -> bool:
        """Meet the events of the step tried last, in order; whether the motion goes on from one of them anew."""
        start = 0.0
        while True:
            found = self.signs.in_step(self.stepper, h, start)
            if not found:
                self.signs.accept(self.stepper)
                return False
            group = [c for c in found if c.theta <= found[0].theta + PRECISION / h]
            theta = group[-1].theta
            time = after if theta >= 1.0 else min(self.t + theta * h, after)
            if self._meet(group, h, theta, time):
                return True
            for crossing in group:
                self.signs.passed(crossing.event)
            start = theta

    def _meet(self, group: Sequence[ZeroCrossing], h: float, theta: float, time: float) -> bool:
        """Ask the handler about events of one instant; whether anything changed."""
        stepper, t = self.stepper, self.t
        arrived = stepper.x.copy() if theta >= 1.0 else stepper.state(theta).copy()
        if self.recorder.is_on_grid and self.recorder.due <= time:  # before the handler changes what is held
            self.recorder.step(t, h, time, stepper, arrived)
        responses = self._ask(group, time, arrived)
        if responses is None:
            return False
        if self.recorder.due <= time:
            self.recorder.step(t, h, time, stepper, arrived)
        self._crowded = self._crowded + 1 if time - t < 10.0 * PRECISION else 0
        self.t = time
        if self._crowded > self.CROWD:
            raise End(Outcome.CHATTERING)
        if any(response.stop for response in responses):
            self.recorder.close(time, arrived)
            raise End(Outcome.STOPPED)
        self.recorder.begin(time, self.x)
        self._restart(fired=tuple(c.event for c in group))
        return True

    def _ask(self, group: Sequence[ZeroCrossing], time: float, arrived: Array) -> list[Response] | None:
        """The responses of the handler; None where it lets the motion go on as it is."""
        stepper, x, responses = self.stepper, arrived, []
        u, m = stepper.held.u.copy(), stepper.held.m.copy()
        for k, crossing in enumerate(group):
            held, response = stepper.held, None
            if self.hooks.handler is not None:
                response = self.hooks.handler(EventSeen(time, crossing.event, crossing.rising, x.copy(), held, k == 0))
            before = x
            if response is not None:
                responses.append(response)
                x = x if response.state is None else stepper.problem.start(response.state)
                if response.held is not None:
                    stepper.hold(response.held)
            self.counters.events.append(EventRecord(time, crossing.event, crossing.rising, before, x))
        held = stepper.held
        if not responses and np.array_equal(u, held.u) and np.array_equal(m, held.m):
            return None
        self._moved = x
        return responses
