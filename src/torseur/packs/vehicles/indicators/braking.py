"""Indicators of braking and acceleration: straight ahead, on split adherence, and in a turn (ISO 7975)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from torseur.describe.fields import Scalar
from torseur.packs.vehicles.indicators.motion import Array, Motion, after, crossing, mean_over
from torseur.simulation.results.indicators import Indicator, Measure, number
from torseur.simulation.results.result import Run

__all__ = ["Acceleration", "Braking", "BrakingInTurn"]

STANDSTILL = 0.1
"""Speed below which a vehicle counts as stopped, m/s."""
LOCKED = 0.05
"""A wheel is locked if it rolls slower than this share of the speed of the vehicle."""


class Braking(Indicator):
    """Stopping distance and time, mean fully developed deceleration, yaw and side deviation, locked wheels."""

    kind = "braking"
    begin: Scalar = Field(description="when braking begins, s")
    to_rest: bool = Field(True, strict=True, description="whether the vehicle is to come to rest")

    def measured(self, run: Run) -> Iterator[Measure]:
        motion, begin = Motion.of(run), number(self.begin)
        v0 = float(np.interp(begin, motion.t, motion.V))
        yield Measure("initial_speed", v0, "m/s", "speed when braking begins", begin)
        if self.to_rest:
            yield from _stop(motion, begin, v0)
        t, ax = after(motion.t, motion.ax, begin)
        k = int(np.argmin(ax))
        words = "largest deceleration of the centre of mass"
        yield Measure("max_deceleration", -float(ax[k]), "m/s2", words, float(t[k]))
        yield from _deviations(motion, begin)
        yield from _locked(motion, begin)


def _stop(motion: Motion, begin: float, v0: float) -> Iterator[Measure]:
    t, V = after(motion.t, motion.V, begin)
    _, way = after(motion.t, motion.travelled, begin)
    s0 = float(np.interp(begin, motion.t, motion.travelled))
    stop = crossing(t, -V, -STANDSTILL)
    words = "from the beginning of braking until the speed falls below 0.1 m/s"
    said = None if stop is not None else f"not reached: still {V[-1]:.4g} m/s at {t[-1]:.4g} s"
    distance = None if stop is None else float(np.interp(stop, t, way)) - s0
    yield Measure("stopping_distance", distance, "m", f"way {words}", stop, said, fails=stop is None)
    yield Measure("stopping_time", None if stop is None else stop - begin, "s", f"time {words}", stop, said)
    yield _developed(t, V, way, v0)


def _developed(t: Array, V: Array, way: Array, v0: float) -> Measure:
    """(vb^2 - ve^2)/(2 (se - sb)), vb = 0.8 v0, ve = 0.1 v0."""
    times = [crossing(t, -V, -share * v0) for share in (0.8, 0.1)]
    definition = "(vb^2 - ve^2)/(2 (se - sb)) between vb = 0.8 v0 and ve = 0.1 v0 (UN R13-H)"
    begin, end = times
    if begin is None or end is None:
        said = f"not reached: the speed does not fall to {'0.8' if begin is None else '0.1'} of the initial one"
        return Measure("mean_fully_developed_deceleration", None, "m/s2", definition, said=said)
    sb, se = (float(np.interp(x, t, way)) for x in (begin, end))
    value = (0.8**2 - 0.1**2) * v0**2 / (2.0 * (se - sb))
    return Measure("mean_fully_developed_deceleration", value, "m/s2", definition, end)


def _deviations(motion: Motion, begin: float) -> Iterator[Measure]:
    t, yaw = after(motion.t, motion.yaw - np.interp(begin, motion.t, motion.yaw), begin)
    k = int(np.argmax(np.abs(yaw)))
    yield Measure(
        "yaw_deviation", float(yaw[k]), "rad", "largest change of the heading since braking began", float(t[k])
    )
    heading = float(np.interp(begin, motion.t, motion.yaw))
    x, y = (motion.place[:, i] - np.interp(begin, motion.t, motion.place[:, i]) for i in range(2))
    _, aside = after(motion.t, -np.sin(heading) * x + np.cos(heading) * y, begin)
    k = int(np.argmax(np.abs(aside)))
    definition = "largest distance of the centre of mass from the line it was driving on, positive to the left"
    yield Measure("side_deviation", float(aside[k]), "m", definition, float(t[k]))


def _locked(motion: Motion, begin: float) -> Iterator[Measure]:
    """The wheels that lock while the vehicle moves, in the order they do."""
    found = []
    moves = (motion.t >= begin) & (motion.V > 10.0 * STANDSTILL)
    for wheel in motion.layout.wheels:
        slow = moves & (motion.spin(wheel) * wheel.radius < LOCKED * motion.V) & (motion.loads[wheel.name] > 0.0)
        if slow.any():
            found.append((float(motion.t[int(np.argmax(slow))]), wheel.name))
    said = ", ".join(f"{name} at {time:.4g} s" for time, name in sorted(found)) or "none"
    definition = "wheels that roll slower than 5 % of the speed, which is above 1 m/s"
    yield Measure("locked_wheels", float(len(found)), "", definition, min(found)[0] if found else None, said)


class BrakingInTurn(Indicator):
    """Yaw rate, lateral acceleration and side slip a time after braking in a turn began, beside before (ISO 7975)."""

    kind = "braking_in_turn"
    begin: Scalar = Field(description="when braking begins, s")
    later: Scalar = Field(1.0, description="time after which values are compared, s")

    def measured(self, run: Run) -> Iterator[Measure]:
        motion, begin, later = Motion.of(run), number(self.begin), number(self.later)
        t = motion.t

        def before(values: Array) -> float:
            return mean_over(t, values, max(begin - 0.2, float(t[0])), begin)

        v0, r0, ay0, beta0 = (before(x) for x in (motion.V, motion.r, motion.ay, motion.beta))
        yield Measure("initial_speed", v0, "m/s", "mean over the 0.2 s before braking", begin)
        yield Measure("initial_lateral_acceleration", ay0, "m/s2", "mean over the 0.2 s before braking", begin)
        said = None if r0 else "not defined: the vehicle did not turn before"
        radius = abs(v0 / r0) if r0 else None
        yield Measure("initial_radius", radius, "m", "speed over yaw rate before braking", begin, said)
        if t[-1] < begin + later:
            why = f"not reached: the run ends at {t[-1]:.4g} s"
            yield Measure("yaw_rate_ratio", None, "", "yaw rate after over that before", said=why, fails=True)
            return
        at = begin + later
        r, ay, beta, V = (float(np.interp(at, t, x)) for x in (motion.r, motion.ay, motion.beta, motion.V))
        words = f"{later:g} s after braking began"
        yield Measure("mean_deceleration", (v0 - V) / later, "m/s2", f"loss of speed over the time, {words}", at)
        yield Measure("yaw_rate_ratio", r / r0 if r0 else None, "", f"yaw rate {words} over that before", at, said)
        reference = V * r0 / v0 if v0 else 0.0
        definition = f"yaw rate {words} less that of the same circle at the speed then, V r0/V0 (ISO 7975)"
        yield Measure("yaw_rate_deviation", r - reference, "rad/s", definition, at)
        ratio = ay / ay0 if ay0 and r0 else None
        definition = f"lateral acceleration {words} over that before"
        yield Measure("lateral_acceleration_ratio", ratio, "", definition, at, said)
        yield Measure("side_slip_change", beta - beta0, "rad", f"side slip angle {words} less that before", at)
        times, rates = after(t, motion.r / r0 if r0 else motion.r, begin)
        k = int(np.argmax(rates))
        definition = "largest yaw rate after braking began over that before"
        yield Measure("max_yaw_rate_ratio", float(rates[k]) if r0 else None, "", definition, float(times[k]), said)
        yield from _locked(motion, begin)


class Acceleration(Indicator):
    """Time and way to a speed, and the mean and largest acceleration."""

    kind = "acceleration"
    begin: Scalar = Field(description="when acceleration begins, s")
    speed: Scalar = Field(description="that is to be reached, m/s")

    def measured(self, run: Run) -> Iterator[Measure]:
        motion, begin, wanted = Motion.of(run), number(self.begin), number(self.speed)
        t, V = after(motion.t, motion.V, begin)
        _, way = after(motion.t, motion.travelled, begin)
        v0, s0 = (float(np.interp(begin, motion.t, x)) for x in (motion.V, motion.travelled))
        when = crossing(t, V, wanted)
        words = f"from the beginning of acceleration to {wanted:g} m/s"
        said = None if when is not None else f"not reached: {V.max():.4g} m/s is the most"
        yield Measure("initial_speed", v0, "m/s", "speed when acceleration begins", begin)
        took = None if when is None else when - begin
        yield Measure("time_to_speed", took, "s", f"time {words}", when, said, fails=when is None)
        distance = None if when is None else float(np.interp(when, t, way)) - s0
        yield Measure("distance_to_speed", distance, "m", f"way {words}", when, said)
        mean = None if took is None or took <= 0.0 else (wanted - v0) / took
        said = "not defined: the speed is there already" if took is not None and took <= 0.0 else said
        yield Measure("mean_acceleration", mean, "m/s2", f"gain of speed over the time {words}", when, said)
        _, ax = after(motion.t, motion.ax, begin)
        k = int(np.argmax(ax))
        yield Measure("max_acceleration", float(ax[k]), "m/s2", "largest acceleration ahead", float(t[k]))
