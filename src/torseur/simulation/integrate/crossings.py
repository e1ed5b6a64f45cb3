"""Where event functions change sign within a step.

EventSigns are kept from step to step. Where a step begins on a zero, as after an event, the slope of the event function
says on which side the motion is; a zero that is passed and passed back within one step is found from its slopes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.simulation.solvers.problem import Array, Memory
from torseur.simulation.solvers.stepper import Stepper

__all__ = ["PRECISION", "EventSigns", "ZeroCrossing", "bracketed_zero"]

PRECISION = 1e-12
"""Crossings closer than this are one instant, s."""

FINENESS = 2e-14
"""How exactly a crossing is located, s: much finer, since what is left of it grows from event to event."""


@dataclass(frozen=True)
class ZeroCrossing:
    """An event in the step tried last: where (0 to 1), which, and whether it rises."""

    theta: float
    event: int
    rising: bool


class EventSigns:
    """On which side of zero each event function is.

    Args:
        count: how many there are.
        invariants: those that are positive while a mode is right: resting on zero, they have yet to fall.
    """

    def __init__(self, count: int, invariants: Sequence[int] = ()) -> None:
        self._invariants = list(invariants)
        self.sign = np.zeros(count)
        self._slope = np.zeros(count)  # when last looked at; its size tells how far from zero rounding can put g
        self._probed: dict[float, Array] = {}  # what was seen in the step tried last, by place
        self._has_begun = False  # and no step was accepted since: the slopes are those of the motion where it begins

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
        self.sign, self._slope, self._has_begun = after, slope.copy(), True

    def in_step(self, stepper: Stepper, h: float, start: float = 0.0) -> list[ZeroCrossing]:
        """All first crossings after a place in the step tried last, in order."""
        found, self._probed = [], dict[float, Array]()
        for k, after in enumerate(np.sign(stepper.g).tolist()):
            before = float(self.sign[k])
            if before == 0.0:
                continue
            end = 1.0 if before * after < 0.0 else self._dip(stepper, h, k, start)
            if end is not None:
                found.append(ZeroCrossing(self._locate(stepper, h, k, start, end), k, before < 0.0))
        return sorted(found, key=lambda c: (c.theta, c.event))

    def memory(self) -> Memory:
        return {"sign": self.sign, "slope": self._slope}

    def recall(self, memory: Memory) -> None:
        self.sign, self._slope, self._has_begun = memory["sign"], memory["slope"], False

    def passed(self, event: int) -> None:
        self.sign[event] = -self.sign[event]

    def accept(self, stepper: Stepper) -> None:
        """Take over what was zero at the beginning of the step and is not at its end."""
        self._slope, self._has_begun = stepper.record[stepper.layout.slopes].copy(), False
        self.sign = np.where(self.sign == 0.0, np.sign(stepper.g), self.sign)

    def _look(self, stepper: Stepper, k: int) -> Callable[[float], tuple[float, float]]:
        """The event function and its rate (1/s) at a place of the step, counted from the side it was on."""
        side, place, rate = float(self.sign[k]), stepper.layout.n + k, stepper.layout.n + stepper.layout.events + k

        def look(theta: float) -> tuple[float, float]:
            if theta not in self._probed:
                self._probed[theta] = stepper.probe(theta)
            found = self._probed[theta]
            return side * found.item(place), side * found.item(rate)

        return look

    def _dip(self, stepper: Stepper, h: float, k: int, start: float) -> float | None:
        """Where, between two values of one sign, the function is on the other side; None if it is not.

        Where a motion begins its slope is that of the motion: where friction lets go or a contact opens it is almost
        nothing, and that of the interpolation may have the other sign. Of later steps it is that of the interpolation:
        not every step is looked at, and not every record has slopes.
        """
        look, width = self._look(stepper, k), 1.0 - start
        (g0, slope0), (g1, slope1) = look(start), look(1.0)
        if start == 0.0 and self._has_begun:
            slope0 = float(self.sign[k] * self._slope[k])
        if slope0 >= 0.0 or slope1 <= 0.0:
            return None
        place = start + width * _lowest(g0, g1, slope0 * h * width, slope1 * h * width)
        return place if look(place)[0] < 0.0 else None

    def _locate(self, stepper: Stepper, h: float, k: int, start: float, end: float) -> float:
        """A place just behind the zero."""
        look, precision = self._look(stepper, k), FINENESS / h
        first = start
        while look(first)[0] <= 0.0:  # it begins on the zero: go where the sign is what it was said to be
            first = start + 0.5 * ((end if first == start else first) - start)
            if first - start < precision:
                return self._turned(look, start, end, PRECISION / h)
        return bracketed_zero(lambda theta: look(theta)[0], first, end, precision)

    @staticmethod
    def _turned(look: Callable[[float], tuple[float, float]], start: float, end: float, width: float) -> float:
        """The way to its side and back is too short to be seen: the first place where the motion is on its way back."""
        while start + width < end and look(start + width)[1] >= 0.0:
            width *= 2.0
        return min(start + width, end)


def _lowest(g0: float, g1: float, slope0: float, slope1: float) -> float:
    """Where, from 0 to 1, the cubic with these values and slopes at the ends is lowest."""
    c = 3.0 * (g1 - g0) - 2.0 * slope0 - slope1
    d = slope0 + slope1 - 2.0 * (g1 - g0)
    root = c * c - 3.0 * d * slope0
    if root < 0.0:
        return 0.5
    bottom = c + math.sqrt(root)
    place = -slope0 / bottom if bottom != 0.0 else 0.5
    return place if 0.0 < place < 1.0 else 0.5


def bracketed_zero(g: Callable[[float], float], a: float, b: float, precision: float) -> float:
    """A place within a precision behind a zero between a, where g > 0, and b, where g <= 0.

    The ITP method: Oliveira & Takahashi, ACM Trans. Math. Softw. 47 (2021) 5. It needs no more evaluations than
    bisection, and as few as the secant where the function is smooth.
    """
    ga, gb = g(a), g(b)
    scale = 0.2 / (b - a)
    limit = math.ceil(math.log2(max((b - a) / (2.0 * precision), 1.0))) + 1
    for count in range(2 * limit + 60):
        if b - a <= 2.0 * precision or not a < 0.5 * (a + b) < b:
            break
        middle = 0.5 * (a + b)
        radius = max(precision * 2.0 ** (limit - count) - 0.5 * (b - a), 0.0)
        delta = scale * (b - a) ** 2
        secant = (b * ga - a * gb) / (ga - gb) if math.isfinite(ga - gb) else middle
        toward = math.copysign(1.0, middle - secant)
        trial = secant + toward * delta if delta <= abs(middle - secant) else middle
        place = trial if abs(trial - middle) <= radius else middle - toward * radius
        value = g(place)
        if value > 0.0:
            a, ga = place, value
        else:
            b, gb = place, value
    return b
