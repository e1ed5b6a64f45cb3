"""Where the numbers of steps are, for one run or for several side by side, and the native loop over them.

Each run has a row of every array. What happens between steps, such as events, is done by Python on the same arrays.

A run under way asks for native steps by yielding the lanes it is in, alone or beside others.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from torseur.emit import NativeFunction
from torseur.emit.calling import Call, NativeLoop, Rows
from torseur.emit.jit import host
from torseur.simulation.solvers import march
from torseur.simulation.solvers.problem import Array, Held
from torseur.simulation.solvers.step_graph import NOW, Layout

__all__ = ["MARCH", "Code", "Course", "Lanes", "StepFacts", "alone", "side_by_side"]


MARCH = NativeLoop(march.march)
"""Steps of runs in lanes, the same for every study."""


@dataclass(frozen=True)
class StepFacts:
    """What is known of the steps of a method on a problem without their functions; see `StepFunctions`."""

    layout: Layout
    evaluations: int
    iterates: bool
    functions: tuple[str, ...]


class Code(Protocol):
    """The native functions of a method on a problem."""

    facts: StepFacts
    functions: dict[str, NativeFunction]
    in_lanes: NativeFunction

    @property
    def layout(self) -> Layout: ...

    def bound(self, p: Array) -> dict[str, NativeFunction]:
        """The functions at some parameters."""


class Lanes:
    """The arrays of some runs.

    Args:
        code: what steps are.
        tolerance: rtol, then atol of each state.
        count: how many runs; more than one go in vector lanes.
        grid: the times that are recorded; None records the end of every step.
        pack: rows there is room for without a grid.
        native: whether the loop over the steps is native code; otherwise Python steers them.
    """

    def __init__(
        self,
        code: Code,
        tolerance: Array,
        count: int = 1,
        grid: Array | None = None,
        *,
        pack: int = 1,
        native: bool = True,
    ) -> None:
        self.code, self.tolerance, self.count, self.is_native = code, tolerance, count, native
        self.width = host().lanes.width if count > 1 else 1
        layout, n = code.layout, code.layout.n
        self.times = grid
        self.grid = np.array([*(() if grid is None else grid), np.inf])
        self.room = pack if grid is None else len(self.grid)  # one more: a run may end between two times
        self.numbers = np.zeros((count, march.NUMBERS))
        self.numbers[:, march.STATUS] = march.IDLE
        self.now = np.zeros((count, NOW))
        self.record, self.tried = np.zeros((2, count, layout.size))
        self.page = np.empty((count, self.room, 1 + n))
        self.marks = np.zeros((count, 3, layout.events))
        """Of event functions: signs, rates when last looked at, and where they cross zero in the step tried."""
        self.works = {name: np.zeros((count, max(1, f.work_size))) for name, f in code.functions.items()}
        step = code.functions["step"]
        self.held = {a.name: np.zeros((count, a.size)) for a in step.interface.free if a.name in ("u", "m")}
        self._calls: dict[str, Call] = {}
        self._march = self._prepared()

    def hold(self, place: int, held: Held, bound: Mapping[str, NativeFunction]) -> None:
        """Let the steps of a run see what is held."""
        self.see(place, held)
        for name, native in bound.items():
            if native.work is not None:
                self.works[name][place, : native.work.size] = native.work
        for name, call in self._calls.items():
            call.bound = bound[name]

    def see(self, place: int, held: Held) -> None:
        """Look at inputs and modes again: they are changed in place."""
        for name, array in self.held.items():
            array[place] = held[name]

    def leave(self, place: int) -> None:
        """Nobody is in a lane any more: its steps stand still."""
        self.numbers[place, march.STATUS] = march.IDLE
        self.now[place, 1] = 0.0

    def march(self) -> None:
        """Steps of all runs that are under way, until one of them has to be looked at."""
        self._march()

    def _prepared(self) -> Callable[[], None]:
        code, layout = self.code, self.code.layout
        apart = "extend" in code.functions
        name = "states" if "states" in code.functions else "at"
        states = code.functions[name]
        now, record, tried = Rows(self.now), Rows(self.record), Rows(self.tried)
        tolerance = Rows(self.tolerance[None, :], begins=False, goes_on=False)
        rows = self.tried[:, layout.dense]
        if apart:
            rows = np.zeros((self.count, code.functions["extend"].interface.outputs[0].size))
        theta, seen = np.zeros((march.CHUNK, 1)), np.zeros((march.CHUNK, states.interface.outputs[0].size))
        inside = [Rows(theta, begins=False), Rows(self.now, goes_on=False), Rows(rows, goes_on=False)]
        self._calls["step"] = self._call("step", [now, record, tolerance], tried, width=self.width)
        self._calls[name] = self._call(name, inside, Rows(seen, begins=False), goes_on=False)
        probed = seen
        if name != "at" and layout.events:
            probed = np.zeros((1, code.functions["at"].interface.outputs[0].size))
            self._calls["at"] = self._call("at", inside, Rows(probed, begins=False), goes_on=False)
        if apart:
            self._calls["extend"] = self._call("extend", [now, tried], Rows(rows))
        shape, times = np.zeros(march.SHAPE), len(self.grid) - 1 if self.times is not None else -1
        shape[[march.N, march.SIZE, march.EVENTS, march.TIMES]] = layout.n, layout.size, layout.events, times
        shape[[march.ROOM, march.APART, march.WIDTH]] = self.room, apart, seen.shape[1]
        arrays = [shape, self.grid, self.numbers, self.now, self.record, self.tried, self.page, theta, seen]
        arrays += [self.marks, probed, np.zeros(march.SPOT + 4 * layout.events)]
        calls = [self._calls[x] for x in ("step", "extend" if apart else "step", name, "at" if layout.events else name)]
        return MARCH.prepared(self.count, *arrays, *calls, native=self.is_native)

    def _call(self, name: str, first: Sequence[Rows], out: Rows, *, goes_on: bool = True, width: int = 1) -> Call:
        """A function of the code: its first blocks, then what is held."""
        native = self.code.functions[name] if width == 1 else self.code.in_lanes
        ins = [*first, *(Rows(array, goes_on=goes_on) for array in self.held.values())]
        if native.interface.parameters:
            ins.append(Rows(self.works[name], goes_on=goes_on))
        return Call(native, ins, out, width)


Found = TypeVar("Found")

Course = Generator[Lanes, None, Found]
"""A run: it yields where it wants native steps in its lane, and returns what came of it."""


def alone(course: Course[Found]) -> Found:
    """What comes of one run; an interruption is the run's own affair."""
    try:
        lanes = next(course)
        while True:
            try:
                lanes.march()
                next(course)
            except KeyboardInterrupt as interruption:
                course.throw(interruption)
    except StopIteration as end:
        found: Found = end.value
        return found


def side_by_side(waiting: Iterable[Callable[[int], Course[object]]], lanes: Lanes) -> None:
    """Runs in all lanes; where one is finished, the next one that waits takes its place.

    Args:
        waiting: begin a run in the lane that is told.
        lanes: all of them free.
    """
    queue, under_way = iter(waiting), dict[int, Course[object]]()

    def fill(place: int) -> None:
        for begin in queue:
            course = begin(place)
            if _goes_on(course):
                under_way[place] = course
                return
        under_way.pop(place, None)
        lanes.leave(place)

    for place in range(lanes.count):
        fill(place)
    while under_way:
        lanes.march()
        for place in np.flatnonzero(lanes.numbers[:, march.STATUS] > march.TAKEN).tolist():
            if not _goes_on(under_way[place]):
                fill(place)


def _goes_on(course: Course[object]) -> bool:
    """Let a run decide what it has to; whether it wants further steps."""
    try:
        next(course)
    except StopIteration:
        return False
    return True
