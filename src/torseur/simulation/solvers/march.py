"""Steps of one run or of several side by side, until one of them has to be looked at.

Written as routines are (`torseur.emit.calling`): the same text is native code, and what Python does where it takes the
steps itself. Arithmetic and order are those of the text, so both give the same bits, alone or in lanes.
"""

from __future__ import annotations

from torseur.emit.calling import Call
from torseur.graph.routine import EPSILON, In, Out, sqrt
from torseur.simulation.solvers.step_graph import ERROR, GROWTH, HEAD, LOOK, NOW, WORK_DONE

__all__ = ["NUMBERS", "PRECISION", "march", "narrow", "seek"]

# The numbers of a run, a row of `numbers`:
T, H = 0, 1  # the time, and how long the next step is to be, s
INSTANT, BASE, COUNT = 2, 3, 4  # where steps lead to; where they were counted from, and how many there were since
STEPS, MOST, REJECTED, NEWTON = 5, 6, 7, 8  # steps in all, and how many there may be; refused ones; Newton iterations
LONGEST, SHORTEST, ADAPTIVE = 9, 10, 11  # limits of steps; whether they are adaptive
TRIED, AFTER, ENDS, WAS_REFUSED = 12, 13, 14, 15  # the step tried: its length, its end, whether it leads to the instant
FRESH, DUE, ROWS, STATUS = 16, 17, 18, 19  # no step since a restart; the next time to record, by place; rows; see below
FROM = 20  # where in the step tried events are looked for, from 0 to 1
NUMBERS = 21

IDLE, SEEK, AIM, TAKEN = -2, -1, 0, 1
"""Statuses of runs that go on: nobody is there; events are to be looked for in the rest of the step tried; the next
step is to be tried; the step tried counts."""

REACHED, PAUSED, FULL, AT_EVENT, REFUSED = 2, 3, 4, 5, 6
"""Why a run has to be looked at: it is at its instant; it took as many steps as it may; there is no room to record; an
event lies in the step tried; the step tried is not good enough, and a shorter one may be too short, or the control
asks for none."""

CHUNK = 32
"""Times that are recorded by one call at most."""

NEARLY = 0.9999999999  # of what is left to an instant: no crumb of a step remains
TINY = 1e-300
HUGE = 1.7976931348623157e308

PRECISION = 1e-12
"""Events closer than this are one instant, s."""

FINENESS = 2e-14
"""How exactly an event is located, s: much finer, since what is left of it grows from event to event."""

NEVER = 2.0
"""The place of an event that is not in the step tried; others are from 0 to 1."""

A, B, AT_A, AT_B, SIDE, WIDTH_SOUGHT, SPOT = 0, 1, 2, 3, 4, 5, 6
"""The numbers of `spot`: a bracket and the event function at its ends, on which side it was (1 or -1), how narrow the
bracket is to be; behind them event functions and their rates at both ends of what is left of the step."""

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
    marks: Out,
    probed: Out,
    spot: Out,
    step: Call,
    extend: Call,
    states: Call,
    events: Call,
) -> None:
    """Steps of all runs, until one has to be looked at.

    `grid` has the times to record, and infinity behind them; `record` and `tried` are what steps begin with and what
    they give; `page` has the rows that are recorded, a time and a state each; `theta` and `seen` are places in a step
    and what `states` gives there; `probed` is what `events` gives: a state, event functions, their rates. `marks` has
    the signs of the event functions of a run, their rates when last looked at, and where they cross zero in the step
    tried.
    """
    stopped = 0
    for k in range(runs):
        if numbers[k * NUMBERS + STATUS] == SEEK:
            seek(k, shape, tried, numbers, theta, marks, probed, spot, extend, events)
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
                if numbers[k * NUMBERS + STATUS] == SEEK:
                    seek(k, shape, tried, numbers, theta, marks, probed, spot, extend, events)
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
            numbers[at + FROM] = 0.0
            numbers[at + STATUS] = SEEK


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


# -- events ------------------------------------------------------------------------------------------------------------
def seek(
    k: int,
    shape: In,
    tried: In,
    numbers: Out,
    theta: Out,
    marks: Out,
    probed: Out,
    spot: Out,
    extend: Call,
    events: Call,
) -> None:
    """Where event functions change sign in the rest of the step tried, each for the first time; it counts if none does.

    Then what was zero at the beginning of the step takes the sign it has at its end.
    """
    at = k * NUMBERS
    count = int(shape[EVENTS])
    own = 3 * k * count
    ends = k * int(shape[SIZE]) + HEAD + 2 * int(shape[N])
    if shape[APART] > 0:
        extend(k, 1)
    for end in range(2):
        theta[0] = numbers[at + FROM]
        if end == 1:
            theta[0] = 1.0
        events(k, 1)
        for i in range(2 * count):
            spot[SPOT + 2 * end * count + i] = probed[int(shape[N]) + i]
    met = 0
    for i in range(count):
        _cross(k, i, shape, tried, numbers, theta, marks, probed, spot, events)
        if marks[own + 2 * count + i] < NEVER:
            met += 1
    numbers[at + STATUS] = AT_EVENT
    if met == 0:
        numbers[at + STATUS] = TAKEN
        for i in range(count):
            marks[own + count + i] = tried[ends + count + i]
            if marks[own + i] == 0.0:
                if tried[ends + i] > 0.0:
                    marks[own + i] = 1.0
                elif tried[ends + i] < 0.0:
                    marks[own + i] = -1.0


def _cross(
    k: int,
    i: int,
    shape: In,
    tried: In,
    numbers: In,
    theta: Out,
    marks: Out,
    probed: Out,
    spot: Out,
    events: Call,
) -> None:
    """The place of an event: where its function is on the other side at the end of the step, or in between."""
    count = int(shape[EVENTS])
    own = 3 * k * count
    place = own + 2 * count + i
    side = marks[own + i]
    spot[SIDE] = side
    marks[place] = NEVER
    if side * tried[k * int(shape[SIZE]) + HEAD + 2 * int(shape[N]) + i] < 0.0:
        spot[B] = 1.0
        spot[AT_B] = side * spot[SPOT + 2 * count + i]
        marks[place] = 1.0
    elif side != 0.0:
        _dip(k, i, shape, numbers, theta, marks, probed, spot, events)
    if marks[place] < NEVER:
        spot[A] = numbers[k * NUMBERS + FROM]
        spot[AT_A] = side * spot[SPOT + i]
        spot[WIDTH_SOUGHT] = FINENESS / numbers[k * NUMBERS + TRIED]
        _locate(k, int(shape[N]) + i, int(shape[N]) + count + i, theta, probed, spot, events)
        marks[place] = spot[B]


def _dip(k: int, i: int, shape: In, numbers: In, theta: Out, marks: Out, probed: Out, spot: Out, events: Call) -> None:
    """Whether, between two values of one sign, the function is on the other side where the cubic with its values and
    slopes at the ends is lowest.

    Where a motion begins its slope is that of the motion: where friction lets go or a contact opens it is almost
    nothing, and that of the interpolation may have the other sign. Of later steps it is that of the interpolation:
    not every step is looked at, and not every record has slopes.
    """
    at = k * NUMBERS
    count = int(shape[EVENTS])
    own = 3 * k * count
    side = spot[SIDE]
    start = numbers[at + FROM]
    g0 = side * spot[SPOT + i]
    slope0 = side * spot[SPOT + count + i]
    g1 = side * spot[SPOT + 2 * count + i]
    slope1 = side * spot[SPOT + 3 * count + i]
    if start == 0.0 and numbers[at + FRESH] > 0.0:
        slope0 = side * marks[own + count + i]
    if not (slope0 >= 0.0 or slope1 <= 0.0):
        slope0 = slope0 * numbers[at + TRIED] * (1.0 - start)
        slope1 = slope1 * numbers[at + TRIED] * (1.0 - start)
        c = 3.0 * (g1 - g0) - 2.0 * slope0 - slope1
        d = slope0 + slope1 - 2.0 * (g1 - g0)
        root = c * c - 3.0 * d * slope0
        lowest = 0.5
        if root >= 0.0:
            bottom = c + sqrt(root)
            if bottom != 0.0:
                lowest = -slope0 / bottom
            if not (lowest > 0.0 and lowest < 1.0):
                lowest = 0.5
        theta[0] = start + (1.0 - start) * lowest
        events(k, 1)
        if side * probed[int(shape[N]) + i] < 0.0:
            spot[B] = theta[0]
            spot[AT_B] = side * probed[int(shape[N]) + i]
            marks[own + 2 * count + i] = theta[0]


def _locate(k: int, g: int, slope: int, theta: Out, probed: Out, spot: Out, events: Call) -> None:
    """A place just behind the zero, for `B`; `g` and `slope` say where the function and its rate are in `probed`."""
    start = spot[A]
    first = start
    turned = 0
    while spot[AT_A] <= 0.0 and turned == 0:  # it begins on the zero: go where the sign is what it was said to be
        if first == start:
            first = spot[B]
        first = start + 0.5 * (first - start)
        if first - start < spot[WIDTH_SOUGHT]:
            turned = 1
        else:
            theta[0] = first
            events(k, 1)
            spot[AT_A] = spot[SIDE] * probed[g]
    spot[A] = first
    if turned == 0:
        narrow(k, g, theta, probed, spot, events)
    else:  # the way to its side and back is too short to be seen: the first place where it is on its way back
        width = spot[WIDTH_SOUGHT] * (PRECISION / FINENESS)
        back = 0
        while start + width < spot[B] and back == 0:
            theta[0] = start + width
            events(k, 1)
            if spot[SIDE] * probed[slope] >= 0.0:
                width = 2.0 * width
            else:
                back = 1
        if start + width < spot[B]:
            spot[B] = start + width


def narrow(k: int, g: int, theta: Out, probed: Out, spot: Out, events: Call) -> None:
    """The bracket of a zero made as narrow as it is to be; at A the function is above 0, at B it is not.

    The ITP method: Oliveira & Takahashi, ACM Trans. Math. Softw. 47 (2021) 5. It needs no more evaluations than
    bisection, and as few as the secant where the function is smooth.
    """
    scale = 0.2 / (spot[B] - spot[A])
    most = 2.0 * spot[WIDTH_SOUGHT]
    tries = 62
    while most < spot[B] - spot[A]:
        most = 2.0 * most
        tries += 2
    middle = 0.5 * (spot[A] + spot[B])
    while tries > 0 and spot[B] - spot[A] > 2.0 * spot[WIDTH_SOUGHT] and spot[A] < middle and middle < spot[B]:
        width = spot[B] - spot[A]
        radius = most - 0.5 * width
        if radius < 0.0:
            radius = 0.0
        secant = middle
        if abs(spot[AT_A] - spot[AT_B]) <= HUGE:
            secant = (spot[B] * spot[AT_A] - spot[A] * spot[AT_B]) / (spot[AT_A] - spot[AT_B])
        toward = 1.0
        if middle < secant:
            toward = -1.0
        place = middle
        delta = scale * (width * width)
        if delta <= abs(middle - secant):
            place = secant + toward * delta
        if not abs(place - middle) <= radius:
            place = middle - toward * radius
        theta[0] = place
        events(k, 1)
        value = spot[SIDE] * probed[g]
        if value > 0.0:
            spot[A] = place
            spot[AT_A] = value
        else:
            spot[B] = place
            spot[AT_B] = value
        middle = 0.5 * (spot[A] + spot[B])
        most = 0.5 * most
        tries -= 1
