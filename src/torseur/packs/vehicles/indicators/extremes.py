"""Indicators of what a vehicle goes through on any way: extremes, load transfer, lift-off, spinning."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from torseur.describe.fields import Scalar
from torseur.packs.vehicles.indicators.motion import Array, Mask, Motion, since
from torseur.simulation.results.indicators import Indicator, Measure, number
from torseur.simulation.results.result import Run

__all__ = ["OVERTURNED", "Extremes"]

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
