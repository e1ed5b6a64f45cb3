"""What a run writes down: states at given times by dense output, or at every step."""

from __future__ import annotations

import math
from bisect import bisect_right

import numpy as np

from torseur.errors import ArgumentError
from torseur.simulation.solvers.problem import Array, Memory
from torseur.simulation.solvers.stepper import Stepper

__all__ = ["Recorder"]

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
        n, k = stepper.layout.n, self._next
        last = bisect_right(grid, upto, k)
        inner = last - (last > k and grid[last - 1] == upto)
        if inner - k > _MANY:
            for time, x in zip(grid[k:inner], stepper.states((np.array(grid[k:inner]) - t) / h), strict=True):
                self._row(time, x)
        else:
            for time in grid[k:inner]:
                self._row(time, stepper.probe((time - t) / h)[:n])
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
