"""The motion of a vehicle out of the channels of a run, as its indicators need it.

======  ==========================================================================================  ======
V       horizontal speed of the centre of mass of the first unit, along the heading                  m/s
beta    side slip angle there: from the heading to the horizontal velocity, positive to the left     rad
ax, ay  horizontal acceleration there, along the heading and to the left of it                       m/s2
r       yaw rate, the rate of the heading, positive to the left                                      rad/s
delta   mean angle of the steered wheels, positive to the left                                       rad
======  ==========================================================================================  ======

The axes are the intermediate ones of ISO 8855: x along the heading and level, y to the left and level.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from torseur.errors import ArgumentError
from torseur.packs.vehicles.layout import STEERING_ANGLE, WANTED_STEERING, Layout, Wheel
from torseur.simulation.results.result import Run

__all__ = ["Array", "Mask", "Motion", "after", "crossing", "fitted_slope", "mean_over", "since"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Motion:
    """A run seen as the motion of a vehicle."""

    run: Run
    layout: Layout

    @classmethod
    def of(cls, run: Run) -> Motion:
        if run.mechanism is None:
            raise ArgumentError("this run has no mechanism", where=str(run))
        return cls(run, Layout(run.mechanism, run.parameters))

    @property
    def t(self) -> Array:
        return self.run.time

    def channel(self, name: str) -> Array:
        """A channel; zeros where the vehicle does not have that motion."""
        return self.run[name] if name in self.run else np.zeros(len(self.run))

    def _triple(self, *names: str) -> Array:
        return np.stack([self.channel(name) for name in names], axis=1)

    @cached_property
    def _turn(self) -> Array:
        """Ry(pitch) Rx(roll), (nt, 3, 3): from the chassis to the intermediate axes."""
        (sr, cr), (sp, cp) = ((np.sin(angle), np.cos(angle)) for angle in (self.channel("roll"), self.channel("pitch")))
        zero = np.zeros_like(sr)
        rows = [[cp, sp * sr, sp * cr], [zero, cr, -sr], [-sp, cp * sr, cp * cr]]
        return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)

    @cached_property
    def _w(self) -> Array:
        return self._triple("wx", "wy", "wz")

    def _level(self, vectors: Array) -> Array:
        """Vectors of the chassis in intermediate axes."""
        level: Array = np.einsum("tij,tj->ti", self._turn, vectors)
        return level

    @cached_property
    def velocity(self) -> Array:
        """Of the centre of mass in intermediate axes, (nt, 3)."""
        V = self._triple("vx", "vy", "vz") + np.cross(self._w, self.layout.centre)
        return self._level(V)

    @cached_property
    def acceleration(self) -> Array:
        """Of the centre of mass in intermediate axes, (nt, 3): dV/dt + w x V + dw/dt x c + w x (w x c)."""
        c, w = np.array(self.layout.centre), self._w
        V, Vd, wd = self._triple("vx", "vy", "vz"), self._triple("dvx", "dvy", "dvz"), self._triple("dwx", "dwy", "dwz")
        return self._level(Vd + np.cross(w, V) + np.cross(wd, c) + np.cross(w, np.cross(w, c)))

    @cached_property
    def place(self) -> Array:
        """Of the centre of mass over the ground, (nt, 2)."""
        level = self._level(np.tile(self.layout.centre, (len(self.run), 1)))
        return self._triple("x", "y") + turned(level[:, :2], self.yaw)

    @property
    def V(self) -> Array:
        return self.velocity[:, 0]

    @property
    def beta(self) -> Array:
        return np.arctan2(self.velocity[:, 1], self.velocity[:, 0])

    @property
    def ax(self) -> Array:
        return self.acceleration[:, 0]

    @property
    def ay(self) -> Array:
        return self.acceleration[:, 1]

    @property
    def yaw(self) -> Array:
        return self.channel("yaw")

    @cached_property
    def r(self) -> Array:
        """(w_y sin(roll) + w_z cos(roll))/cos(pitch)."""
        roll, pitch = self.channel("roll"), self.channel("pitch")
        return (self._w[:, 1] * np.sin(roll) + self._w[:, 2] * np.cos(roll)) / np.cos(pitch)

    @property
    def roll(self) -> Array:
        return self.channel("roll")

    @property
    def pitch(self) -> Array:
        return self.channel("pitch")

    @property
    def delta(self) -> Array:
        if STEERING_ANGLE not in self.run:
            raise ArgumentError(
                "the run has no steering angle", where=str(self.run), remedy="give an axle `steered: true`"
            )
        return self.run[STEERING_ANGLE]

    @property
    def wanted_delta(self) -> Array:
        """The steering angle that a driver asks for, where wheels are turned by a torque; else that of the wheels."""
        if WANTED_STEERING in self.run:
            return self.run[WANTED_STEERING]
        return self.delta

    @cached_property
    def travelled(self) -> Array:
        """Way of the centre of mass over the ground, m."""
        speed = np.hypot(self.velocity[:, 0], self.velocity[:, 1])
        steps = 0.5 * (speed[1:] + speed[:-1]) * np.diff(self.t)
        return np.concatenate([[0.0], np.cumsum(steps)])

    @cached_property
    def loads(self) -> Mapping[str, Array]:
        """Wheel -> its normal load, N."""
        return {wheel.name: self.run[f"{wheel.load}_Fz"] for wheel in self.layout.wheels}

    def spin(self, wheel: Wheel) -> Array:
        """Of a wheel, positive rolling forward, rad/s."""
        return np.zeros(len(self.run)) if wheel.spin is None else wheel.sign * self.run[wheel.spin]


def turned(points: Array, yaw: Array) -> Array:
    """Points (nt, 2) turned about the vertical."""
    s, c = np.sin(yaw), np.cos(yaw)
    return np.stack([c * points[:, 0] - s * points[:, 1], s * points[:, 0] + c * points[:, 1]], axis=1)


def after(t: Array, values: Array, time: float) -> tuple[Array, Array]:
    """The part of a channel from a time on."""
    on = since(t, time)
    return t[on], values[on]


def since(t: Array, time: float) -> Mask:
    """Which instants are not before a time; there must be some."""
    if t[-1] < time:
        raise ArgumentError(f"not reached: the run ends at {t[-1]:.4g} s, before {time:.4g} s")
    return np.asarray(t >= time)


def crossing(t: Array, values: Array, level: float) -> float | None:
    """When values first reach a level from below, between instants by a straight line; none if never."""
    above = np.nonzero(values >= level)[0]
    if not len(above):
        return None
    k = int(above[0])
    if k == 0 or values[k] == values[k - 1]:
        return float(t[k])
    share = (level - values[k - 1]) / (values[k] - values[k - 1])
    return float(t[k - 1] + share * (t[k] - t[k - 1]))


def mean_over(t: Array, values: Array, begin: float, end: float) -> float:
    """The mean over a span of time, s; the value there if the span is empty."""
    inside = np.linspace(begin, end, 201) if end > begin else np.array([end])
    return float(np.mean(np.interp(inside, t, values)))


def fitted_slope(x: Array, y: Array) -> tuple[float, float]:
    """Slope and intercept of the straight line through points with the least squares of distances along y."""
    slope, intercept = np.polyfit(x, y, 1)
    return float(slope), float(intercept)
