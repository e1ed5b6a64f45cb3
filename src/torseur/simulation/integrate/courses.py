"""Runs under way: each asks for native steps by yielding the lanes it is in, alone or beside others."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

import numpy as np

from torseur.simulation.solvers import march
from torseur.simulation.solvers.lanes import Lanes

__all__ = ["Course", "alone", "side_by_side"]

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
