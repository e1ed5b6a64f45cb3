"""What was held when: modes and samples, parameters."""

from __future__ import annotations

import numpy as np

from torseur.simulation.problem import Array, Held

__all__ = ["Log"]


class Log:
    """The held numbers of a run, noted whenever they may have changed."""

    def __init__(self) -> None:
        self._times: list[float] = []
        self._m: list[Array] = []
        self._p: list[Array] = []
        self.u: Array = np.zeros(0)
        """Inputs that nothing drives: the same all the time."""

    def note(self, t: float, held: Held) -> None:
        self._times.append(t)
        self._m.append(held.m.copy())
        self._p.append(held.p)
        self.u = held.u

    def at(self, times: Array) -> tuple[Array, Array]:
        """m and p at some times, as they were after whatever happened there."""
        place = np.searchsorted(np.array(self._times), times, side="right") - 1
        return np.array(self._m)[place], np.array(self._p)[place]
