"""Where a run can be acted on: at events, at sample times, at breaks of its inputs; where event functions change sign.

Signs are kept from step to step. Where a step begins on a zero, as after an event, the slope of the event function
says on which side the motion is. Native steps look for the crossings; see `torseur.simulation.solvers.march`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.errors import ArgumentError
from torseur.simulation.solvers.march import NEVER, PRECISION
from torseur.simulation.solvers.problem import Array, Held, Memory
from torseur.simulation.solvers.stepper import Stepper

__all__ = [
    "EventSeen",
    "EventSigns",
    "Hooks",
    "Limits",
    "Response",
    "Sampling",
    "Schedule",
    "ZeroCrossing",
    "resolution",
]


@dataclass(frozen=True)
class ZeroCrossing:
    """An event in the step tried last: where (0 to 1), which, and whether it rises."""

    theta: float
    event: int
    rising: bool


class EventSigns:
    """On which side of zero each event function is.

    Args:
        marks: where the numbers are: signs, rates when last looked at, whose size tells how far from zero rounding can
            put a function, and the places of crossings.
        invariants: those that are positive while a mode is right: resting on zero, they have yet to fall.
    """

    def __init__(self, marks: Array, invariants: Sequence[int] = ()) -> None:
        self._invariants = list(invariants)
        self.sign, self._slope, self._places = marks
        marks[:] = 0.0

    def begin(self, stepper: Stepper, fired: tuple[int, ...] = ()) -> None:
        """Read the signs at a restart. Of those that just fired, and of zeros, the slope decides.

        What fired and then rests on its zero is still on the side it came from: should it go across, it fires again.
        An invariant that is below zero, if only by rounding, has still to be met: it counts as positive; so does one
        that fired and is on its way out, which may turn back before it is.
        """
        g, slope = stepper.g, stepper.record[stepper.layout.slopes]
        near = np.maximum(np.abs(slope), np.abs(self._slope)) * (10.0 * PRECISION) + 1e-15
        after = np.where(g == 0.0, np.sign(slope), np.sign(g))
        seen = after.copy()
        after[self._invariants] = 1.0
        for k in fired:
            after[k] = (np.sign(slope[k]) or self.sign[k]) if abs(g[k]) <= near[k] else seen[k]
            if k in self._invariants and (after[k] == 0.0 or (after[k] < 0.0 < slope[k])):
                after[k] = 1.0
        self.sign[:], self._slope[:] = after, slope

    def crossings(self) -> list[ZeroCrossing]:
        """Those that were found in the step tried last, in order."""
        met = np.flatnonzero(self._places < NEVER).tolist()
        found = [ZeroCrossing(self._places.item(k), k, self.sign.item(k) < 0.0) for k in met]
        return sorted(found, key=lambda c: (c.theta, c.event))

    def passed(self, event: int) -> None:
        self.sign[event] = -self.sign[event]

    def memory(self) -> Memory:
        return {"sign": self.sign.copy(), "slope": self._slope.copy()}

    def recall(self, memory: Memory) -> None:
        self.sign[:], self._slope[:] = memory["sign"], memory["slope"]


def resolution(begin: float, end: float) -> float:
    """The shortest time that can be told apart within a span, with room for a step, s."""
    return 4.0 * math.ulp(max(abs(begin), abs(end)))


@dataclass(frozen=True)
class EventSeen:
    """What a handler is shown: the event (from 0), whether its function rises, the time, the state, what is held.

    The state is a copy; `held.u` and `held.m` may be changed in place. Of events that come together, `is_first` marks
    the first; the others see what its handling has changed.
    """

    time: float
    event: int
    rising: bool
    state: Array
    held: Held
    is_first: bool = True


@dataclass(frozen=True)
class Response:
    """What a handler or a sampling wants changed: the state, the held numbers (a new p), or the end of the run."""

    state: Array | None = None
    held: Held | None = None
    stop: bool = False


Handler = Callable[[EventSeen], Response | None]

Review = Callable[[float, Array, Held], Response | None]
"""Called with the time, a copy of the state and what is held, like a sampling."""

Monitor = Callable[[float, Array, Held], object]
"""Shown the time, the state and what is held, now and then; it raises an `End` where the run must not go on."""

Offer = Callable[[Callable[[], Memory]], object]
"""Offered what gives the memory of a run, now and then, when nothing is under way; it need not be called."""


@dataclass(frozen=True)
class Sampling:
    """Something done at t = offset + k period, k = 0, 1, ...: a sampled controller, a block written in Python.

    Attributes:
        act: called with the time, a copy of the state and what is held; it changes `held.u` or `held.m` in place, or
            replies.
    """

    period: float
    act: Callable[[float, Array, Held], Response | None]
    offset: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.offset) and 0.0 < self.period < math.inf):
            raise ArgumentError(
                "wrong sampling",
                expected="a period above 0 and a finite offset, s",
                got=f"period = {self.period!r}, offset = {self.offset!r}",
            )


@dataclass(frozen=True)
class Limits:
    """Of steps, s: the first (of a method without error control: all of them), the longest, the shortest; their number.

    The shortest is never below what the time can resolve.
    """

    first: float | None = None
    longest: float = math.inf
    shortest: float = 0.0
    steps: int = 10**9

    def __post_init__(self) -> None:
        good = (self.first is None or 0.0 < self.first < math.inf) and self.longest > 0.0
        if not (good and 0.0 <= self.shortest <= self.longest and self.steps >= 1):
            raise ArgumentError("wrong limits of steps", expected="0 <= shortest <= longest, first > 0", got=repr(self))


@dataclass(frozen=True)
class Hooks:
    """Everything that acts on a run, or looks at it.

    Attributes:
        handler: decides at each event; without one, events are noted and the run goes on.
        breaks: times at which inputs jump: steps end there, and no stage sees across.
        samplings: what is done at regular times.
        review: asked after each break, and after each sampling that changed something, what goes on otherwise.
        invariants: events whose function is positive as long as the mode of the motion is the right one.
        progress: called now and then with the time; an exception it raises other than KeyboardInterrupt goes through.
        monitor: shown the state now and then, and at the end; it may end the run.
        checkpoint: offered, now and then, what the run remembers.
    """

    handler: Handler | None = None
    breaks: Sequence[float] = ()
    samplings: Sequence[Sampling] = ()
    review: Review | None = None
    invariants: Sequence[int] = ()
    progress: Callable[[float], object] | None = None
    monitor: Monitor | None = None
    checkpoint: Offer | None = None


class Schedule:
    """The instants a step must end on: breaks, samples, the end."""

    def __init__(self, begin: float, end: float, hooks: Hooks) -> None:
        self.end, samplings = end, hooks.samplings
        shortest = resolution(begin, end)
        if any(s.period < shortest for s in samplings):
            period = min(s.period for s in samplings)
            raise ArgumentError("a period below the resolution of time", expected=f"{shortest:g} s", got=f"{period:g}")
        self.breaks = sorted({float(b) for b in hooks.breaks if begin < b < end}, reverse=True)
        self.samplings = list(samplings)
        self.ticks = [max(0, math.ceil((begin - s.offset) / s.period - 1e-9)) for s in samplings]

    def memory(self) -> Memory:
        return {"breaks": self.breaks, "ticks": self.ticks}

    def recall(self, memory: Memory) -> None:
        self.breaks, self.ticks = memory["breaks"], memory["ticks"]

    def _tick(self, k: int) -> float:
        return self.samplings[k].offset + self.ticks[k] * self.samplings[k].period

    def next(self) -> float:
        times = [self._tick(k) for k in range(len(self.ticks))]
        return min([self.end, *times, *self.breaks[-1:]])

    def due(self, t: float) -> tuple[bool, list[Sampling]]:
        """What happens at a time that was reached: whether inputs break, and who samples."""
        broken = bool(self.breaks) and self.breaks[-1] <= t
        while self.breaks and self.breaks[-1] <= t:
            self.breaks.pop()
        acting = []
        for k, sampling in enumerate(self.samplings):
            if self._tick(k) <= t:
                acting.append(sampling)
                self.ticks[k] += 1
        return broken, acting
