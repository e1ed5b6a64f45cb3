"""What was held when: modes and samples, parameters; and the impacts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.simulation.solvers.problem import Array, Held, Memory

__all__ = ["Changed", "Log"]


@dataclass(frozen=True)
class Changed:
    """A change of parameters: when, in which state (n,), what was held, parameters before and after."""

    time: float
    state: Array
    m: Array
    before: Array
    after: Array


class Log:
    """The held numbers of a run, noted whenever they may have changed."""

    def __init__(self) -> None:
        self._times: list[float] = []
        self._m: list[Array] = []
        self._p: list[Array] = []
        self.u: Array = np.zeros(0)
        """Inputs that nothing drives: the same all the time."""
        self.changes: list[Changed] = []
        self.start: dict[str, Any] = {}
        """How the run began, as plain data."""
        self.jumps: list[tuple[float, Array, Array, Array, Array]] = []
        """Time, m, p, and the state before and after what drives a constraint jumped."""
        self.impacts: list[tuple[float, float, float]] = []
        """Of each: time, and kinetic energy (J) before and after, relative to what was hit."""

    def note(self, t: float, held: Held) -> None:
        self._times.append(t)
        self._m.append(held.m.copy())
        self._p.append(held.p)
        self.u = held.u

    @property
    def first(self) -> Held:
        """What was held at the start."""
        return Held(self.u.copy(), self._m[0].copy(), self._p[0])

    def memory(self) -> Memory:
        changes = [[c.time, c.state, c.m, c.before, c.after] for c in self.changes]
        found = {"times": self._times, "m": np.array(self._m), "p": np.array(self._p), "u": self.u}
        jumps = [list(jump) for jump in self.jumps]
        return {**found, "changes": changes, "jumps": jumps, "start": self.start, "impacts": self.impacts}

    def recall(self, memory: Memory) -> None:
        self._times, self.u = memory["times"], memory["u"]
        self._m, self._p = list(memory["m"]), list(memory["p"])
        self.changes = [Changed(*change) for change in memory["changes"]]
        self.start = memory["start"]
        self.jumps = [tuple(jump) for jump in memory["jumps"]]
        self.impacts = [(t, before, after) for t, before, after in memory["impacts"]]

    def impact(self, t: float, before: float, after: float) -> None:
        """Note an impact and its kinetic energies."""
        self.impacts.append((t, before, after))

    def change(self, t: float, x: Array, before: Held, after: Held) -> None:
        """Note a change of parameters."""
        self.changes.append(Changed(t, x.copy(), before.m.copy(), before.p, after.p))

    def jump(self, t: float, before: Array, after: Array, held: Held) -> None:
        """Note that speeds jumped with what drives them."""
        self.jumps.append((t, held.m.copy(), held.p, before.copy(), after.copy()))

    def at(self, times: Array) -> tuple[Array, Array]:
        """m and p at some times, as they were after whatever happened there."""
        return self._of(np.searchsorted(np.array(self._times), times, side="right"))

    def before(self, times: Array) -> tuple[Array, Array]:
        """m and p just before some times."""
        return self._of(np.maximum(np.searchsorted(np.array(self._times), times, side="left"), 1))

    def _of(self, counts: NDArray[np.intp]) -> tuple[Array, Array]:
        """Of the last of so many notes."""
        return np.array(self._m)[counts - 1], np.array(self._p)[counts - 1]
