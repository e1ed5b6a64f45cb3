"""One run on its way: steps, events, samples, and every way it can end."""

from __future__ import annotations

import itertools
import math
import time as clock
from collections.abc import Iterator, Sequence

import numpy as np

from torseur.errors import ArgumentError, ModelError, NumericalError
from torseur.simulation.integrate.hooks import (
    EventSeen,
    EventSigns,
    Hooks,
    Limits,
    Response,
    Sampling,
    Schedule,
    ZeroCrossing,
)
from torseur.simulation.integrate.recording import Counters, End, EventRecord, Outcome, Recorder, Trajectory
from torseur.simulation.solvers import march
from torseur.simulation.solvers.lanes import Course, Lanes
from torseur.simulation.solvers.problem import Array, Memory
from torseur.simulation.solvers.step_graph import ERROR, GROWTH
from torseur.simulation.solvers.stepper import Stepper

__all__ = ["Drive"]

LOOK = 16
"""Steps after which the monitor, the progress and the checkpoint are looked at, at the end of a step."""


class Drive:
    """One run."""

    CROWD = 100  # events in a row, hardly apart in time

    def __init__(self, stepper: Stepper, grid: Array | None, schedule: Schedule, limits: Limits, hooks: Hooks) -> None:
        self.stepper, self.schedule, self.limits, self.hooks = stepper, schedule, limits, hooks
        self.control, self.numbers = stepper.method.control, stepper.numbers
        self.signs = EventSigns(stepper.marks, hooks.invariants)
        self.numbers[:] = 0.0
        self.numbers[[march.LONGEST, march.SHORTEST, march.ADAPTIVE]] = (
            limits.longest,
            limits.shortest,
            self.control is not None,
        )
        self.recorder, self.counters = Recorder(grid, stepper.page, self.numbers), Counters(self.numbers)
        self.h = limits.first or 0.0
        self._crowded = 0
        self._moved: Array | None = None
        self._leg: tuple[float, int] | None = None  # where a segment was left
        self._looked = clock.perf_counter()
        self._seen = 0  # steps when we looked around last
        self._pause = LOOK if hooks.monitor or hooks.progress or hooks.checkpoint else 4096

    @property
    def t(self) -> float:
        return float(self.numbers[march.T])

    @t.setter
    def t(self, t: float) -> None:
        self.numbers[march.T] = t

    @property
    def h(self) -> float:
        """How long the next step is to be."""
        return float(self.numbers[march.H])

    @h.setter
    def h(self, h: float) -> None:
        self.numbers[march.H] = h

    def run(self, t: float, x: Array, memory: Memory | None = None) -> Course[Trajectory]:
        began = clock.perf_counter()
        self.t, self._moved = t, x
        outcome, blame, why = Outcome.COMPLETE, None, None
        try:
            yield from self._whole(memory)
        except End as end:
            outcome, blame, why = end.outcome, end.blame, end.why
        except KeyboardInterrupt:
            outcome = Outcome.INTERRUPTED
        except (NumericalError, ModelError) as error:  # of a handler, a review or a sampling: what there is is kept
            outcome, why = Outcome.UNDECIDED, error.brief()
        stepper = self.stepper
        counts = self.counters.counts(stepper.evaluations, clock.perf_counter() - began)
        times, states = self.recorder.arrays()
        return Trajectory(times, states, tuple(self.counters.events), outcome, self.t, self.x, blame, counts, why)

    @property
    def x(self) -> Array:
        """The state at the time: where the last accepted step ended, unless it was moved since."""
        return self.stepper.accepted if self._moved is None else self._moved

    def _whole(self, memory: Memory | None) -> Iterator[Lanes]:
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
            yield from self._segment(self.schedule.next())
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
        self._watch()

    # -- what is remembered between two steps --------------------------------------------------------------------------
    def memory(self) -> Memory:
        base, count = self.numbers.item(march.BASE), int(self.numbers[march.COUNT])
        return {
            "state": self.x,
            "numbers": [self.t, self.h, base, count, self._crowded],
            "signs": self.signs.memory(),
            "schedule": self.schedule.memory(),
            "recorder": self.recorder.memory(),
            "stepper": self.stepper.memory(),
            "counters": self.counters.memory(),
        }

    def recall(self, memory: Memory) -> None:
        self.t, self.h, base, count, self._crowded = memory["numbers"]
        self._moved, self._leg, self.numbers[march.FRESH] = None, (base, count), 0.0
        for name in ("signs", "schedule", "recorder", "stepper", "counters"):
            getattr(self, name).recall(memory[name])
        self._seen = self.counters.steps  # a checkpoint is left where we look around

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
        self._moved, self.numbers[march.FRESH] = None, 1.0
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
    def _segment(self, instant: float) -> Iterator[Lanes]:
        """Steps from here to an instant, exactly."""
        numbers, leg = self.numbers, self._leg
        self._leg = None
        self._aim(instant, *(leg or (self.t, 0)))
        while self.t < numbers[march.INSTANT]:
            numbers[march.MOST] = min(self.limits.steps, self._seen + self._pause)
            self.stepper.ready()
            yield self.stepper.lanes
            status, numbers[march.STATUS] = int(numbers[march.STATUS]), march.AIM
            if status == march.REFUSED:
                self._refuse()
            elif status == march.FULL:
                self.recorder.make_room()
            elif status == march.AT_EVENT:
                if self._events(numbers.item(march.TRIED), numbers.item(march.AFTER)):
                    self._aim(self.schedule.next(), self.t, 0)
                else:
                    self.recorder.make_room()
                    numbers[march.STATUS] = march.SEEK
            else:
                self._moved = None
                if self.counters.steps - self._seen >= LOOK:
                    self._look_around()
                if status == march.PAUSED and self.counters.steps >= self.limits.steps:
                    raise End(Outcome.TOO_MANY_STEPS)

    def _aim(self, instant: float, base: float, count: int) -> None:
        """Steps lead to an instant from now on; where they are given, they are counted from a time."""
        self.numbers[[march.INSTANT, march.BASE, march.COUNT]] = instant, base, count
        self.numbers[[march.WAS_REFUSED, march.STATUS]] = 0.0, march.AIM

    def _refuse(self) -> None:
        """A step that is not good enough: the next one is shorter, or the run is over."""
        record, numbers, control = self.stepper.record, self.numbers, self.control
        error = record.item(ERROR)
        if control is not None:
            growth = record.item(GROWTH)
            if not growth < 1.0:
                raise _no_shorter(self.stepper.method.name, error, growth)
            h = numbers.item(march.TRIED) * growth
            if h >= max(self.limits.shortest, 4.0 * math.ulp(self.t)):
                self.h, numbers[march.WAS_REFUSED] = h, 1.0
                return
        if error < math.inf:
            change = np.abs(self.stepper.x - self.x) / self.stepper.scale(self.x)
            raise End(Outcome.STEP_UNDERFLOW, int(np.argmax(change)))
        blame = self._first_not_finite()
        raise End(Outcome.NEWTON if blame is None else Outcome.NOT_FINITE, blame)

    def _first_not_finite(self) -> int | None:
        """Which state is not a number, or has a rate that is not."""
        record, layout = self.stepper.record, self.stepper.layout
        bad = ~(np.isfinite(record[layout.x]) & np.isfinite(record[layout.rate]))
        return int(np.argmax(bad)) if bad.any() else None

    def _watch(self) -> None:
        """Show the state to the monitor, as what came before it: what jumps at a break has not been followed yet."""
        if self.hooks.monitor is not None:
            self.hooks.monitor(min(self.t, self._latest()), self.x, self.stepper.held)

    def _look_around(self) -> None:
        self._seen = self.counters.steps
        self._watch()
        if self.hooks.progress is not None:
            now = clock.perf_counter()
            if now - self._looked > 0.05:
                self._looked = now
                self.hooks.progress(self.t)
        if self.hooks.checkpoint is not None:
            self.hooks.checkpoint(self.memory)

    # -- events --------------------------------------------------------------------------------------------------------
    def _events(self, h: float, after: float) -> bool:
        """Meet the first events in what is left of the step tried last; whether the motion goes on from them anew."""
        found = self.signs.crossings()
        group = [c for c in found if c.theta <= found[0].theta + march.PRECISION / h]
        theta = group[-1].theta
        if self._meet(group, h, theta, after if theta >= 1.0 else min(self.t + theta * h, after)):
            return True
        for crossing in group:
            self.signs.passed(crossing.event)
        self.numbers[march.FROM] = theta
        return False

    def _meet(self, group: Sequence[ZeroCrossing], h: float, theta: float, time: float) -> bool:
        """Ask the handler about events of one instant; whether anything changed."""
        stepper, t = self.stepper, self.t
        arrived = stepper.x if theta >= 1.0 else stepper.state(theta).copy()
        if self.recorder.is_on_grid and self.recorder.due <= time:  # before the handler changes what is held
            self.recorder.step(t, h, time, stepper, arrived)
        responses = self._ask(group, time, arrived)
        if responses is None:
            return False
        if self.recorder.due <= time:
            self.recorder.step(t, h, time, stepper, arrived)
        self._crowded = self._crowded + 1 if time - t < 10.0 * march.PRECISION else 0
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


def _no_shorter(method: str, error: float, growth: float) -> ArgumentError:
    """The error for a control that would have a refused step tried again as it was."""
    return ArgumentError(
        f"the step control of {method} does not shorten a step that is refused",
        where="control.growth",
        expected="below 1 for errors above 1, inf and nan",
        got=f"{growth:g} for an error of {error:g}",
    )
