"""What a run writes down on its way: states by dense output or at every step, counts, events, held numbers."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.errors import ArgumentError
from torseur.simulation.integrate.outcome import Counts, EventRecord
from torseur.simulation.solvers.problem import Array, Held, Memory
from torseur.simulation.solvers.stepper import Stepper

__all__ = ["Counters", "HeldHistory", "ParameterChange", "Recorder"]

_MANY = 128
"""Times in one step from which on a batch is quicker than one call each."""


class Recorder:
    """Rows of times and states, growing.

    Args:
        grid: times in order, within the span; None records the end of every step and both sides of every jump.
        begin, end: the span.
    """

    PACK = 512  # rows that are gathered before they are copied: a row alone keeps the whole record of its step

    def __init__(self, grid: Array | None, begin: float, end: float) -> None:
        self._grid: list[float] | None = None
        self._next = 0
        self._times: list[float] = []
        self._rows: list[Array] = []
        self._packs: list[Array] = []
        self.due = -math.inf
        """Nothing is to be recorded before this time."""
        if grid is None:
            return
        inside = grid.ndim == 1 and np.isfinite(grid).all() and (np.diff(grid) > 0.0).all()
        if not inside or (grid.size and (grid[0] < begin or grid[-1] > end)):
            raise ArgumentError(
                "wrong output times", expected=f"finite, rising, from {begin} to {end} s", got=repr(grid)
            )
        self._grid = grid.tolist()
        self._advance(0)

    def _advance(self, upto: int) -> None:
        assert self._grid is not None
        self._next = upto
        self.due = self._grid[upto] if upto < len(self._grid) else math.inf

    @property
    def is_on_grid(self) -> bool:
        return self._grid is not None

    def begin(self, t: float, x: Array) -> None:
        """The start, and the state after a jump: on a grid it takes the place of the state before it."""
        if self._grid is None:
            self._row(t, x.copy())
        elif self.due == t:
            self._row(t, x.copy())
            self._advance(self._next + 1)
        elif self._times and self._times[-1] == t:
            (self._rows or self._packs[-1])[-1] = x.copy()

    def step(self, t: float, h: float, upto: float, stepper: Stepper, end: Array) -> None:
        """A step from t, of length h, of which the part until a time counts; at that time the state is `end`."""
        grid = self._grid
        if grid is None:
            self._row(upto, end)
            return
        k = self._next
        last = bisect_right(grid, upto, k)
        inner = last - (last > k and grid[last - 1] == upto)
        if inner - k > _MANY:
            for time, x in zip(grid[k:inner], stepper.states((np.array(grid[k:inner]) - t) / h), strict=True):
                self._row(time, x)
        else:
            for time in grid[k:inner]:
                self._row(time, stepper.state((time - t) / h))
        if inner < last:
            self._row(upto, end)
        self._advance(last)

    def close(self, t: float, x: Array) -> None:
        """The last instant of a run that ends before its time, on the grid or not."""
        if self._grid is not None and (not self._times or self._times[-1] < t):
            self._row(t, x.copy())

    def _row(self, t: float, x: Array) -> None:
        self._times.append(t)
        self._rows.append(x)
        if len(self._rows) >= self.PACK:
            self._packs.append(np.array(self._rows))
            self._rows = []

    def memory(self, n: int) -> Memory:
        times, states = self.arrays(n)
        return {"times": times, "states": states, "next": self._next}

    def recall(self, memory: Memory) -> None:
        self._times, self._rows, self._packs = memory["times"].tolist(), [], [memory["states"]]
        if self._grid is not None:
            self._advance(memory["next"])

    def arrays(self, n: int) -> tuple[Array, Array]:
        """Everything so far; an interruption may have come between two lists."""
        states = np.concatenate([*self._packs, np.array(self._rows).reshape(-1, n)])
        rows = min(len(self._times), len(states))
        return np.array(self._times[:rows]), states[:rows]


@dataclass
class Counters:
    """Steps taken and refused, Newton iterations, restarts, steps that were tried only to begin; events."""

    steps: int = 0
    rejected: int = 0
    newton: int = 0
    restarts: int = 0
    starts: int = 0
    events: list[EventRecord] = field(default_factory=list)

    def counts(self, evaluations: int, seconds: float) -> Counts:
        """What a run cost, from the evaluations of one step and the time it took."""
        tried = self.steps + self.rejected + self.starts
        evaluated = tried * evaluations + self.newton
        return Counts(self.steps, self.rejected, evaluated, self.newton, self.restarts, seconds)

    def memory(self) -> Memory:
        passed = self.events
        return {
            "counts": [self.steps, self.rejected, self.newton, self.restarts, self.starts],
            "passages": [[e.time, e.event, e.rising] for e in passed],
            "before": np.array([e.before for e in passed]),
            "after": np.array([e.after for e in passed]),
        }

    def recall(self, memory: Memory) -> None:
        self.steps, self.rejected, self.newton, self.restarts, self.starts = memory["counts"]
        passed = zip(memory["passages"], memory["before"], memory["after"], strict=True)
        self.events = [EventRecord(t, k, rising, before, after) for (t, k, rising), before, after in passed]


@dataclass(frozen=True)
class ParameterChange:
    """A change of parameters: when, in which state (n,), what was held, parameters before and after."""

    time: float
    state: Array
    m: Array
    before: Array
    after: Array


class HeldHistory:
    """The held numbers of a run, noted whenever they may have changed."""

    def __init__(self) -> None:
        self._times: list[float] = []
        self._m: list[Array] = []
        self._p: list[Array] = []
        self.u: Array = np.zeros(0)
        """Inputs that nothing drives: the same all the time."""
        self.changes: list[ParameterChange] = []
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
        self.changes = [ParameterChange(*change) for change in memory["changes"]]
        self.start = memory["start"]
        self.jumps = [tuple(jump) for jump in memory["jumps"]]
        self.impacts = [(t, before, after) for t, before, after in memory["impacts"]]

    def impact(self, t: float, before: float, after: float) -> None:
        """Note an impact and its kinetic energies."""
        self.impacts.append((t, before, after))

    def change(self, t: float, x: Array, before: Held, after: Held) -> None:
        """Note a change of parameters."""
        self.changes.append(ParameterChange(t, x.copy(), before.m.copy(), before.p, after.p))

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
