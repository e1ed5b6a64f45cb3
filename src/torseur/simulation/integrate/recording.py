"""How a run ended and what came of it; and what it writes down on its way.

That is states by dense output or at every step, counts, events, held numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.errors import ArgumentError
from torseur.simulation.solvers import march
from torseur.simulation.solvers.problem import Array, Held, Memory
from torseur.simulation.solvers.stepper import Stepper

__all__ = [
    "Counters",
    "Counts",
    "End",
    "EventRecord",
    "HeldHistory",
    "Outcome",
    "ParameterChange",
    "Recorder",
    "Trajectory",
    "checked_grid",
]


class Outcome(Enum):
    """How a run ended; where it did not end well, the value says what to do."""

    COMPLETE = "the run reached its end"
    STOPPED = "an event asked the run to stop"
    INTERRUPTED = "the run was interrupted; what was computed until then is kept"
    STEP_UNDERFLOW = (
        "the step became too small to go on: the motion is singular or discontinuous there, or the model is stiff; "
        "try a stiff method, a looser tolerance, or declare the discontinuity as an event or a break"
    )
    NOT_FINITE = (
        "the state or its rate is not a number there: look for a division by zero, a singular mass matrix or a "
        "motion that diverges; a fixed step may also be too long"
    )
    NEWTON = (
        "Newton's method did not converge: take a shorter step, or look for a discontinuity or a singular matrix there"
    )
    TOO_MANY_STEPS = (
        "the limit of steps or samples is reached; raise it (solver.steps), or take longer steps, a "
        "longer period or a stiff method"
    )
    CHATTERING = (
        "events accumulate at one instant: the model needs a mode of its own for that situation "
        "(rest, sticking), or a little compliance"
    )
    BLOCK = "a block written in Python failed"
    OPEN = (
        "loops or constraints are violated: the motion after this would be wrong; take a tighter tolerance or a "
        "shorter step, or look for a singular position or rows that contradict each other there"
    )
    JAMMED = (
        "forces and the normal forces they depend on have no solution or several, as in Painleve's paradox: use less "
        "friction, or a contact with compliance"
    )
    UNDECIDED = "the motion after this instant is not determined"

    SINGULAR = (
        "a singular position, at which a constraint does not determine the motion; end the run before, or describe "
        "what happens there by other constraints"
    )

    @property
    def is_good(self) -> bool:
        return self in (Outcome.COMPLETE, Outcome.STOPPED)


class End(Exception):
    """The run is over, for some reason: what there is is kept.

    Args:
        outcome: how it ended.
        blame: the state component that is to blame, if one is.
        why: more in words.
    """

    def __init__(self, outcome: Outcome, blame: int | None = None, why: str | None = None) -> None:
        super().__init__(outcome.value)
        self.outcome, self.blame, self.why = outcome, blame, why


@dataclass(frozen=True)
class EventRecord:
    """A zero of an event function that the run passed.

    Attributes:
        time: s.
        event: which one, from 0.
        rising: whether it went from below to above zero.
        before, after: the state (n,) as the run came there and as it left.
    """

    time: float
    event: int
    rising: bool
    before: Array
    after: Array


@dataclass(frozen=True)
class Counts:
    """What a run cost: steps taken and refused, evaluations of the rate or the residual, Newton iterations, restarts,
    seconds.
    """

    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    newton: int = 0
    restarts: int = 0
    wall_time: float = 0.0


@dataclass(frozen=True)
class Trajectory:
    """What was computed, to the end or to where it stopped.

    Attributes:
        times: (nt,), s.
        states: (nt, n).
        events: in order.
        outcome: how it ended.
        end: the time that was reached.
        final: the state there (n,).
        blame: after a failure, the state component that is not finite or has the largest error, if one can be named.
        counts: what it cost.
        why: what a handler said when it could not decide, or what failed.
    """

    times: Array
    states: Array
    events: tuple[EventRecord, ...]
    outcome: Outcome
    end: float
    final: Array
    blame: int | None
    counts: Counts
    why: str | None = None


def checked_grid(grid: Sequence[float] | Array | None, begin: float, end: float) -> Array | None:
    """Times to record: finite, in order, within the span."""
    if grid is None:
        return None
    times = np.asarray(grid, dtype=float)
    inside = times.ndim == 1 and np.isfinite(times).all() and (np.diff(times) > 0.0).all()
    if not inside or (times.size and (times[0] < begin or times[-1] > end)):
        raise ArgumentError("wrong output times", expected=f"finite, rising, from {begin} to {end} s", got=repr(grid))
    return times


class Recorder:
    """Rows of times and states: native steps write them into a page, and so does what happens between them.

    Args:
        grid: times in order, within the span; None records the end of every step and both sides of every jump.
        page: (rows, 1 + n); on a grid there is room for all of it.
        numbers: of the run, which tell how many rows there are, and which time is next.
    """

    PACK = 512
    """Rows of a page without a grid."""

    def __init__(self, grid: Array | None, page: Array, numbers: Array) -> None:
        self._grid = None if grid is None else grid.tolist()
        self._page, self._numbers = page, numbers
        self._packs: list[Array] = []
        numbers[[march.ROWS, march.DUE]] = 0.0

    @property
    def is_on_grid(self) -> bool:
        return self._grid is not None

    @property
    def _rows(self) -> int:
        return int(self._numbers[march.ROWS])

    @property
    def due(self) -> float:
        """Nothing is to be recorded before this time."""
        if self._grid is None:
            return -math.inf
        place = int(self._numbers[march.DUE])
        return self._grid[place] if place < len(self._grid) else math.inf

    def begin(self, t: float, x: Array) -> None:
        """The start, and the state after a jump: on a grid it takes the place of the state before it."""
        if self._grid is None:
            self._row(t, x)
        elif self.due == t:
            self._row(t, x)
            self._numbers[march.DUE] += 1.0
        elif self._rows and self._page[self._rows - 1, 0] == t:
            self._page[self._rows - 1, 1:] = x

    def step(self, t: float, h: float, upto: float, stepper: Stepper, end: Array) -> None:
        """A step from t, of length h, of which the part until a time counts; at that time the state is `end`."""
        if self._grid is None:
            self._row(upto, end)
            return
        while self.due < upto:
            self._row(self.due, stepper.state((self.due - t) / h))
            self._numbers[march.DUE] += 1.0
        if self.due == upto:
            self._row(upto, end)
            self._numbers[march.DUE] += 1.0

    def close(self, t: float, x: Array) -> None:
        """The last instant of a run that ends before its time, on the grid or not."""
        if self._grid is not None and (not self._rows or self._page[self._rows - 1, 0] < t):
            self._row(t, x)

    def make_room(self) -> None:
        """For one more row at least."""
        if self._rows >= len(self._page):
            self._packs.append(self._page.copy())
            self._numbers[march.ROWS] = 0.0

    def _row(self, t: float, x: Array) -> None:
        self.make_room()
        self._page[self._rows, 0] = t
        self._page[self._rows, 1:] = x
        self._numbers[march.ROWS] += 1.0

    def memory(self) -> Memory:
        times, states = self.arrays()
        return {"times": times, "states": states, "next": int(self._numbers[march.DUE])}

    def recall(self, memory: Memory) -> None:
        rows = np.column_stack([memory["times"], memory["states"]])
        if self._grid is None:
            self._packs, self._numbers[march.ROWS] = [rows], 0.0
        else:
            self._page[: len(rows)] = rows
            self._numbers[march.ROWS] = float(len(rows))
        self._numbers[march.DUE] = float(memory["next"])

    def arrays(self) -> tuple[Array, Array]:
        """Everything so far."""
        rows = np.concatenate([*self._packs, self._page[: self._rows]])
        return rows[:, 0].copy(), rows[:, 1:].copy()


class Counters:
    """What a run cost so far: steps taken and refused and Newton iterations, which native steps count among the
    numbers of the run; restarts, and steps that were tried only to begin; events.
    """

    def __init__(self, numbers: Array) -> None:
        self._numbers = numbers
        self.restarts = self.starts = 0
        self.events: list[EventRecord] = []

    @property
    def steps(self) -> int:
        return int(self._numbers[march.STEPS])

    @property
    def _counted(self) -> list[int]:
        return [int(k) for k in self._numbers[[march.STEPS, march.REJECTED, march.NEWTON]]]

    def counts(self, evaluations: int, seconds: float) -> Counts:
        """What a run cost, from the evaluations of one step and the time it took."""
        steps, rejected, newton = self._counted
        evaluated = (steps + rejected + self.starts) * evaluations + newton
        return Counts(steps, rejected, evaluated, newton, self.restarts, seconds)

    def memory(self) -> Memory:
        passed = self.events
        return {
            "counts": [*self._counted, self.restarts, self.starts],
            "passages": [[e.time, e.event, e.rising] for e in passed],
            "before": np.array([e.before for e in passed]),
            "after": np.array([e.after for e in passed]),
        }

    def recall(self, memory: Memory) -> None:
        *counted, self.restarts, self.starts = memory["counts"]
        self._numbers[[march.STEPS, march.REJECTED, march.NEWTON]] = counted
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
        """m and p at some times, as they were after whatever happened there.

        What follows from a break of inputs is noted at the next number after its time, where inputs have jumped.
        """
        return self._of(np.searchsorted(np.array(self._times), np.nextafter(times, np.inf), side="right"))

    def before(self, times: Array) -> tuple[Array, Array]:
        """m and p just before some times."""
        return self._of(np.maximum(np.searchsorted(np.array(self._times), times, side="left"), 1))

    def _of(self, counts: NDArray[np.intp]) -> tuple[Array, Array]:
        """Of the last of so many notes."""
        return np.array(self._m)[counts - 1], np.array(self._p)[counts - 1]
