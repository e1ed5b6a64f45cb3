"""Steps of one run or of several side by side, until one of them has to be looked at.

Written as routines are (`torseur.emit.calling`): the same text is native code, and what Python does where it takes the
steps itself. Arithmetic and order are those of the text, so both give the same bits, alone or in lanes.
"""

from __future__ import annotations

from torseur.emit.calling import Call
from torseur.graph.routine import EPSILON, In, Out
from torseur.simulation.solvers.sheet import ERROR, GROWTH, HEAD, LOOK, NOW, WORK_DONE

__all__ = ["NUMBERS", "march"]

# The numbers of a run, a row of `numbers`:
T, H = 0, 1  # the time, and how long the next step is to be, s
INSTANT, BASE, COUNT = 2, 3, 4  # where steps lead to; where they were counted from, and how many there were since
STEPS, MOST, REJECTED, NEWTON = 5, 6, 7, 8  # steps in all, and how many there may be; refused ones; Newton iterations
LONGEST, SHORTEST, ADAPTIVE = 9, 10, 11  # limits of steps; whether they are adaptive
TRIED, AFTER, ENDS, WAS_REFUSED = 12, 13, 14, 15  # the step tried: its length, its end, whether it leads to the instant
FRESH, DUE, ROWS, STATUS = 16, 17, 18, 19  # no step since a restart; the next time to record, by place; rows; see below
NUMBERS = 20

IDLE, AIM, TAKEN = -1, 0, 1
"""Statuses of runs that go on: nobody is there; the next step is to be tried; the step tried counts."""

REACHED, PAUSED, FULL, AT_EVENT, REFUSED = 2, 3, 4, 5, 6
"""Why a run has to be looked at: it is at its instant; it took as many steps as it may; there is no room to record; an
event may lie in the step tried; the step tried is not good enough, and a shorter one may be too short, or the control
asks for none."""

CHUNK = 32
"""Times that are recorded by one call at most."""

NEARLY = 0.9999999999  # of what is left to an instant: no crumb of a step remains
TINY = 1e-300

N, SIZE, EVENTS, TIMES, ROOM, APART, WIDTH = 0, 1, 2, 3, 4, 5, 6
"""The places in `shape`: size of a state, of a record; how many events; how many times to record (-1: the end of every
step), and rows there is room for; whether dense output is extended (0 or 1); the size of what `states` gives."""
SHAPE = 7


def march(
    runs: int,
    shape: In,
    grid: In,
    numbers: Out,
    now: Out,
    record: Out,
    tried: Out,
    page: Out,
    theta: Out,
    seen: Out,
    step: Call,
    extend: Call,
    states: Call,
) -> None:
    """Steps of all runs, until one has to be looked at.

    `grid` has the times to record, and infinity behind them; `record` and `tried` are what steps begin with and what
    they give; `page` has the rows that are recorded, a time and a state each; `theta` and `seen` are places in a step
    and what `states` gives there.
    """
    stopped = 0
    for k in range(runs):
        if numbers[k * NUMBERS + STATUS] == TAKEN:
            _take(k, shape, grid, tried, numbers, now, record, page, theta, seen, extend, states)
        _aim(k, shape, numbers, now)
        if numbers[k * NUMBERS + STATUS] > TAKEN:
            stopped += 1
    while stopped == 0:
        step(0, runs)
        for k in range(runs):
            if numbers[k * NUMBERS + STATUS] == AIM:
                _judge(k, shape, tried, numbers)
                if numbers[k * NUMBERS + STATUS] == TAKEN:
                    _take(k, shape, grid, tried, numbers, now, record, page, theta, seen, extend, states)
                _aim(k, shape, numbers, now)
                if numbers[k * NUMBERS + STATUS] > TAKEN:
                    stopped += 1


def _aim(k: int, shape: In, numbers: Out, now: Out) -> None:
    """How long the next step of a run is; or why there is none."""
    at = k * NUMBERS
    if numbers[at + STATUS] == AIM:
        if numbers[at + T] >= numbers[at + INSTANT]:
            numbers[at + STATUS] = REACHED
        elif numbers[at + STEPS] >= numbers[at + MOST]:
            numbers[at + STATUS] = PAUSED
        elif shape[TIMES] < 0 and numbers[at + ROWS] >= shape[ROOM]:
            numbers[at + STATUS] = FULL
        else:
            left = numbers[at + INSTANT] - numbers[at + T]
            h = numbers[at + H]
            if h > numbers[at + LONGEST]:
                h = numbers[at + LONGEST]
            numbers[at + ENDS] = 0.0
            if h >= left * NEARLY:
                h = left
                numbers[at + ENDS] = 1.0
            elif numbers[at + ADAPTIVE] > 0.0 and 2.0 * h > left:
                h = 0.5 * left
            numbers[at + TRIED] = h
            now[k * NOW + 1] = h


def _judge(k: int, shape: In, tried: In, numbers: Out) -> None:
    """Whether the step tried counts, and how long the next one is to be."""
    at = k * NUMBERS
    head = k * int(shape[SIZE])
    growth = tried[head + GROWTH]
    h = numbers[at + TRIED]
    numbers[at + NEWTON] += tried[head + WORK_DONE]
    if not tried[head + ERROR] <= 1.0:
        numbers[at + REJECTED] += 1.0
        h = h * growth
        least = 4.0 * EPSILON * abs(numbers[at + T])
        if least < TINY:
            least = TINY
        if numbers[at + ADAPTIVE] > 0.0 and growth < 1.0 and h >= numbers[at + SHORTEST] and h >= least:
            numbers[at + H] = h
            numbers[at + WAS_REFUSED] = 1.0
        else:
            numbers[at + STATUS] = REFUSED
    else:
        numbers[at + COUNT] += 1.0
        numbers[at + STEPS] += 1.0
        if numbers[at + ENDS] > 0.0:
            numbers[at + AFTER] = numbers[at + INSTANT]
        elif numbers[at + ADAPTIVE] > 0.0:
            numbers[at + AFTER] = numbers[at + T] + h
        else:  # a fixed step does not drift
            numbers[at + AFTER] = numbers[at + BASE] + numbers[at + COUNT] * h
        cut = numbers[at + ENDS] + numbers[at + WAS_REFUSED]  # short for an instant, or after a bad one: no longer
        if numbers[at + ADAPTIVE] > 0.0 and (growth < 1.0 or cut == 0.0):
            numbers[at + H] = h * growth
        numbers[at + WAS_REFUSED] = 0.0
        numbers[at + STATUS] = TAKEN
        if shape[EVENTS] > 0 and (numbers[at + FRESH] > 0.0 or tried[head + LOOK] != 0.0):
            numbers[at + STATUS] = AT_EVENT


def _take(
    k: int,
    shape: In,
    grid: In,
    tried: In,
    numbers: Out,
    now: Out,
    record: Out,
    page: Out,
    theta: Out,
    seen: Out,
    extend: Call,
    states: Call,
) -> None:
    """Go on from the end of the step tried, once what is to be recorded of it is."""
    at = k * NUMBERS
    n = int(shape[N])
    size = int(shape[SIZE])
    ends = 1
    if shape[TIMES] >= 0:
        _record_inside(k, shape, grid, numbers, page, theta, seen, extend, states)
        ends = 0
        if grid[int(numbers[at + DUE])] == numbers[at + AFTER]:
            ends = 1
    if ends == 1:
        row = (k * int(shape[ROOM]) + int(numbers[at + ROWS])) * (n + 1)
        page[row] = numbers[at + AFTER]
        for i in range(n):
            page[row + 1 + i] = tried[k * size + HEAD + i]
        numbers[at + ROWS] += 1.0
        numbers[at + DUE] += 1.0
    for i in range(size):
        record[k * size + i] = tried[k * size + i]
    numbers[at + T] = numbers[at + AFTER]
    now[k * NOW] = numbers[at + AFTER]
    numbers[at + FRESH] = 0.0
    numbers[at + STATUS] = AIM


def _record_inside(
    k: int,
    shape: In,
    grid: In,
    numbers: Out,
    page: Out,
    theta: Out,
    seen: Out,
    extend: Call,
    states: Call,
) -> None:
    """Record what lies within the step tried, before its end, by dense output."""
    at = k * NUMBERS
    n = int(shape[N])
    due = int(numbers[at + DUE])
    last = due
    while grid[last] < numbers[at + AFTER]:
        last += 1
    if last > due and shape[APART] > 0:
        extend(k, 1)
    while due < last:
        count = last - due
        if count > CHUNK:
            count = CHUNK
        for i in range(count):
            theta[i] = (grid[due + i] - numbers[at + T]) / numbers[at + TRIED]
        states(k, count)
        row = (k * int(shape[ROOM]) + int(numbers[at + ROWS])) * (n + 1)
        for i in range(count):
            page[row] = grid[due + i]
            for j in range(n):
                page[row + 1 + j] = seen[i * int(shape[WIDTH]) + j]
            row += n + 1
        numbers[at + ROWS] += count
        due += count
    numbers[at + DUE] = due
