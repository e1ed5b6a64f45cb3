"""On which side of zero event functions are, and where they cross it within a step.

Signs are kept from step to step. Where a step begins on a zero, as after an event, the slope of the event function
says on which side the motion is. Native steps look for the crossings; see `torseur.simulation.solvers.march`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.simulation.solvers.march import NEVER, PRECISION
from torseur.simulation.solvers.problem import Array, Memory
from torseur.simulation.solvers.stepper import Stepper

__all__ = ["EventSigns", "ZeroCrossing"]


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
