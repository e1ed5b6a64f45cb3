"""What a run writes down: states at given times by dense output, or at every step."""

from __future__ import annotations

import math

import numpy as np

from torseur.errors import ArgumentError
from torseur.simulation.problem import Array
from torseur.simulation.solvers.stepper import Stepper

__all__ = ["Recorder"]


class Recorder:
    """Rows of times and states, growing.

    Args:
        grid: times in order, within the span; None records the end of every step and both sides of every jump.
        begin, end: the span.
    """

    def __init__(self, grid: Array | None, begin: float, end: float) -> None:
        self._grid = grid
        self._next = 0
        self.times: list[float] = []
        self.states: list[Array] = []
        self.due = -math.inf if grid is None else math.inf
        """Nothing is to be recorded before this time."""
        if grid is None:
            return
        inside = np.isfinite(grid).all() and (np.diff(grid) > 0.0).all()
        if grid.ndim != 1 or not inside or (grid.size and (grid[0] < begin or grid[-1] > end)):
            raise ArgumentError(
                "wrong output times", expected=f"finite, rising, from {begin} to {end} s", got=f"{grid!r}"
            )
        self._advance(0)

    def _advance(self, upto: int) -> None:
        assert self._grid is not None
        self._next = upto
        self.due = float(self._grid[upto]) if upto < self._grid.size else math.inf

    def begin(self, t: float, x: Array) -> None:
        """The start, and the state after a jump."""
        if self._grid is None:
            self._row(t, x.copy())
        elif self.due == t:
            self._row(t, x.copy())
            self._advance(self._next + 1)

    def step(self, t: float, h: float, upto: float, stepper: Stepper, end: Array) -> None:
        """A step from t, of length h, of which the part until a time counts.

        Args:
            end: the state at that time.
        """
        if self._grid is None:
            self._row(upto, end.copy())
            return
        last = int(np.searchsorted(self._grid, upto, side="right"))
        wanted = self._grid[self._next : last]
        if wanted.size == 0:
            return
        found = stepper.states((wanted - t) / h)
        if wanted[-1] == upto:
            found[-1] = end
        self.times += wanted.tolist()
        self.states += list(found)
        self._advance(last)

    def _row(self, t: float, x: Array) -> None:
        self.times.append(t)
        self.states.append(x)

    def arrays(self, n: int) -> tuple[Array, Array]:
        """Everything so far; an interruption may have come between the two lists."""
        rows = min(len(self.times), len(self.states))
        return np.array(self.times[:rows]), np.array(self.states[:rows]).reshape(rows, n)
