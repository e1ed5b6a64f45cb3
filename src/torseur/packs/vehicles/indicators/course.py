"""Indicators of courses, gates of cones that a vehicle must pass through and speeds it must keep; and of what it goes
through on any way: extremes, load transfer, lift-off, spinning.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from torseur.describe.fields import FrozenDict, Name, Record, Scalar, Table
from torseur.packs.vehicles.indicators.motion import Array, Mask, Motion, since, turned
from torseur.simulation.results.indicators import Indicator, Measure, number
from torseur.simulation.results.result import Run

__all__ = ["OVERTURNED", "Course", "Extremes", "Gate", "HeldSpeed", "Unit"]


class Gate(Record):
    """A lane between two rows of cones, along x."""

    begin: Scalar = Field(description="x of its first cones, m")
    end: Scalar = Field(description="x of its last cones, m")
    left: Scalar = Field(description="y of the cones on the left, m")
    right: Scalar = Field(description="y of the cones on the right, m")


class Unit(Record):
    """The outline of a unit, as points in its own frame, and the block that tells where the frame is."""

    points: tuple[tuple[Scalar, Scalar], ...] = Field(description="x and y, m", min_length=1)
    place: Name | None = Field(None, description="a block of kind pose; none: the chassis itself")


class Course(Indicator):
    """Clearance to the cones of each gate, speeds at the first and last, and where the course is left."""

    kind = "course"
    gates: Table[Gate] = Field(description="in the order in which they are passed", min_length=1)
    units: Table[Unit] = Field(FrozenDict(), description="what passes through them")

    def measured(self, run: Run) -> Iterator[Measure]:
        motion = Motion.of(run)
        tracks = [track for unit in self.units.values() for track in _tracks(motion, unit)]
        failures = []
        for name, gate in self.gates.items():
            measure = _clearance(motion.t, tracks, name, gate)
            yield measure
            if measure.fails:
                failures.append(measure)
        yield from self._speeds(motion, tracks)
        definition = "whether all outlines stay between the cones of all gates: 1 if so"
        first = min((m for m in failures if m.at is not None), key=lambda m: m.at or 0.0, default=None)
        if failures:
            worst = first or failures[0]
            yield Measure("course_passed", 0.0, "", definition, worst.at, worst.said)
        else:
            yield Measure("course_passed", 1.0, "", definition)

    def _speeds(self, motion: Motion, tracks: list[Array]) -> Iterator[Measure]:
        nose = np.max([track[:, 0] for track in tracks], axis=0)
        first, *_, last = (*self.gates.values(), *self.gates.values())
        for name, x, words in (("gate_entry_speed", first.begin, "first"), ("gate_exit_speed", last.end, "last")):
            passed = nose >= number(x)
            definition = f"speed when the front passes the {words} cones"
            if not passed.any():
                yield Measure(name, None, "m/s", definition, said="not reached", fails=True)
                continue
            k = int(np.argmax(passed))
            yield Measure(name, float(motion.V[k]), "m/s", definition, float(motion.t[k]))


def _tracks(motion: Motion, unit: Unit) -> Iterator[Array]:
    """The ways of the points of an outline over the ground, (nt, 2) each; roll and pitch are left aside."""
    prefix = "" if unit.place is None else f"{unit.place}_"
    x, y, yaw = (motion.run[f"{prefix}{name}"] for name in ("x", "y", "yaw"))
    for point in unit.points:
        own = np.tile([number(point[0]), number(point[1])], (len(yaw), 1))
        yield np.stack([x, y], axis=1) + turned(own, yaw)


def _clearance(t: Array, tracks: list[Array], name: str, gate: Gate) -> Measure:
    """The least distance from the cones of a gate while a point is within it; negative outside."""
    begin, end, left, right = (number(x) for x in (gate.begin, gate.end, gate.left, gate.right))
    definition = "least distance of the outline from the rows of cones while it is within the gate; negative: outside"
    key, found = f"clearance_{name}", []
    for track in tracks:
        times, ys = _within(t, track, begin, end)
        if len(times):
            rooms = np.minimum(left - ys, ys - right)
            k = int(np.argmin(rooms))
            found.append((float(rooms[k]), float(times[k]), "left" if left - ys[k] < ys[k] - right else "right"))
    if not found or max(float(track[:, 0].max()) for track in tracks) < end:
        said = f"not reached: the vehicle does not come to the end of gate '{name}' at x = {end:g} m"
        return Measure(key, None, "m", definition, said=said, fails=True)
    room, when, side = min(found)
    if room < 0.0:
        said = f"leaves gate '{name}' on the {side} by {-room:.3g} m at {when:.4g} s"
        return Measure(key, room, "m", definition, when, said, fails=True)
    return Measure(key, room, "m", definition, when, f"on the {side}")


def _within(t: Array, track: Array, begin: float, end: float) -> tuple[Array, Array]:
    """Times and y of a way between two x, its ends by straight lines between instants."""
    x, y = track[:, 0], track[:, 1]
    ends = []
    for edge in (begin, end):
        for k in np.nonzero((x[:-1] - edge) * (x[1:] - edge) < 0.0)[0]:
            share = (edge - x[k]) / (x[k + 1] - x[k])
            ends.append((t[k] + share * (t[k + 1] - t[k]), y[k] + share * (y[k + 1] - y[k])))
    inside = (x >= begin) & (x <= end)
    more = np.array(ends).reshape(-1, 2)
    return np.concatenate([t[inside], more[:, 0]]), np.concatenate([y[inside], more[:, 1]])


class HeldSpeed(Indicator):
    """Whether a speed was held: the largest deviation from it."""

    kind = "held_speed"
    speed: Scalar = Field(description="that was to be held, m/s")
    begin: Scalar = Field(0.0, description="from when on, s")
    end: Scalar | None = Field(None, description="until when, s; by default the end of the run")
    tolerance: Scalar = Field(0.05, description="share of the speed that it may be off by")

    def measured(self, run: Run) -> Iterator[Measure]:
        motion, wanted = Motion.of(run), number(self.speed)
        end = float(motion.t[-1]) if self.end is None else number(self.end)
        on = since(motion.t, number(self.begin)) & (motion.t <= end)
        off = motion.V[on] - wanted
        k = int(np.argmax(np.abs(off)))
        when, most = float(motion.t[on][k]), number(self.tolerance) * wanted
        lost = np.abs(off) > most
        said = None
        if lost.any():
            first = float(motion.t[on][int(np.argmax(lost))])
            said = f"the speed of {wanted:.4g} m/s is not held from {first:.4g} s on: {motion.V[on][k]:.4g} m/s"
        definition = f"largest deviation from {wanted:.4g} m/s; more than {most:.3g} m/s is not held"
        yield Measure("speed_deviation", float(off[k]), "m/s", definition, when, said, fails=said is not None)


SPUN = np.pi / 2.0
"""Side slip from which a vehicle counts as spun."""
OVERTURNED = 1.3
"""Roll from which a vehicle counts as turned over, rad: further on its wheels lie flat and touch nowhere."""
MOVING = 1.0
"""Speed below which side slip means nothing, m/s."""
SOON = 0.1
"""Time from the start within which every wheel is to touch the road, s."""
LIFTED = 1e-9
"""A wheel has lifted off if its load is below this share of the weight."""


class Extremes(Indicator):
    """Speeds at the begin and the end, largest accelerations, angles and load transfers, wheels that lift off, spin."""

    kind = "extremes"
    begin: Scalar = Field(0.0, description="from when on, s")

    def measured(self, run: Run) -> Iterator[Measure]:
        motion = Motion.of(run)
        on = since(motion.t, number(self.begin))
        t = motion.t[on]

        def largest(name: str, values: Array, unit: str, words: str) -> Measure:
            k = int(np.argmax(np.abs(values[on])))
            return Measure(name, float(values[on][k]), unit, f"{words} of the largest amount", float(t[k]))

        yield Measure("entry_speed", float(motion.V[on][0]), "m/s", "speed at the beginning", float(t[0]))
        yield Measure("exit_speed", float(motion.V[on][-1]), "m/s", "speed at the end", float(t[-1]))
        yield largest("peak_lateral_acceleration", motion.ay, "m/s2", "lateral acceleration of the centre of mass")
        yield largest("peak_longitudinal_acceleration", motion.ax, "m/s2", "acceleration along the heading")
        yield largest("peak_yaw_rate", motion.r, "rad/s", "yaw rate")
        rolls = motion.V > MOVING
        yield largest("peak_side_slip", np.where(rolls, motion.beta, 0.0), "rad", "side slip angle above 1 m/s")
        if not motion.layout.is_planar:
            yield largest("peak_roll", motion.roll, "rad", "roll, positive leaning right,")
            yield largest("peak_pitch", motion.pitch, "rad", "pitch, positive nose down,")
            yield from _transfers(motion, on)
            yield _lifted(motion, on)
            yield _overturned(motion, on)
        yield _spun(motion, on)


def _transfers(motion: Motion, on: Mask) -> Iterator[Measure]:
    """Share of the load that has moved to one side, or to the front, since the run began."""
    loads, wheels = motion.loads, motion.layout.own_wheels
    total = sum(loads[w.name] for w in wheels)
    t = motion.t[on]
    whole = np.where(total > 0.0, total, np.inf)
    sides = [(w, np.sign(w.place[1])) for w in wheels if abs(w.place[1]) > 1e-6]
    if len({side for _, side in sides}) == 2:
        across = -sum(side * loads[w.name] for w, side in sides) / whole
        k = int(np.argmax(np.abs(across[on])))
        definition = "(right - left)/sum of the normal loads of the first unit, of the largest amount: 1 is lift-off"
        yield Measure("lateral_load_transfer_ratio", float(across[on][k]), "", definition, float(t[k]))
    middle = 0.5 * (max(w.place[0] for w in wheels) + min(w.place[0] for w in wheels))
    front = sum((loads[w.name] for w in wheels if w.place[0] > middle), np.zeros_like(motion.t)) / whole
    moved = front - front[0]
    k = int(np.argmax(np.abs(moved[on])))
    definition = "change of the share of the front wheels in the load of the first unit, of the largest amount"
    yield Measure("front_load_share_change", float(moved[on][k]), "", definition, float(t[k]))


def _lifted(motion: Motion, on: Mask) -> Measure:
    """Wheels that were loaded and are no more, and those that are not soon after the start."""
    weight, t = motion.layout.mass * motion.layout.gravity, motion.t
    begins = t <= t[0] + SOON
    found, never = [], []
    for name, load in motion.loads.items():
        pressed = load > LIFTED * weight
        if not pressed[begins].any():
            never.append(name)
        off = on & ~pressed & np.maximum.accumulate(pressed)
        if off.any():
            found.append((float(t[int(np.argmax(off))]), name))
    said = ", ".join(f"{name} at {time:.4g} s" for time, name in sorted(found)) or "none"
    if never:
        said = f"{', '.join(never)}: no contact with the road at the start; lifted later: {said}"
    first = min(found)[0] if found else None
    definition = "wheels that were on the road and whose normal load falls to zero"
    return Measure("lifted_wheels", float(len(found)), "", definition, first, said, fails=bool(never))


def _overturned(motion: Motion, on: Mask) -> Measure:
    roll = np.abs(motion.roll[on])
    definition = f"whether the roll passes {OVERTURNED:g} rad: 1 if so"
    k = int(np.argmax(roll >= OVERTURNED - 1e-9))
    if roll[k] < OVERTURNED - 1e-9:
        return Measure("overturned", 0.0, "", definition)
    when = float(motion.t[on][k])
    return Measure("overturned", 1.0, "", definition, when, f"the vehicle turns over at {when:.4g} s", fails=True)


def _spun(motion: Motion, on: Mask) -> Measure:
    slip = np.abs(motion.beta[on]) * (np.hypot(*motion.velocity[on, :2].T) > MOVING)
    definition = "whether the side slip angle passes 90 degrees above 1 m/s: 1 if so"
    k = int(np.argmax(slip >= SPUN))
    if slip[k] < SPUN:
        return Measure("spun", 0.0, "", definition)
    when = float(motion.t[on][k])
    return Measure("spun", 1.0, "", definition, when, f"the vehicle spins at {when:.4g} s", fails=True)
