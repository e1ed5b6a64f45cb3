"""Indicators of courses: gates of cones that a vehicle must pass through, and speeds it must keep."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from torseur.describe.fields import FrozenDict, Name, Record, Scalar, Table
from torseur.packs.vehicles.indicators.motion import Array, Motion, since, turned
from torseur.simulation.results.indicators import Indicator, Measure, number
from torseur.simulation.results.result import Run

__all__ = ["Course", "Gate", "HeldSpeed", "Unit"]


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
