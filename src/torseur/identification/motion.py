"""From measurements to motions: q, v, vdot, efforts, inputs and forces of constraints at every instant.

On a floating base with an IMU, f = R'(a - g) at the sensor gives the acceleration of the base,

    vdot + w x V = f_base + R'g,      f_base = f - wd x r - w x (w x r),                                        (I.1)

with r from the origin of the base to the sensor. Without measured speeds V is taken as zero: dynamics is the same for
all observers that move steadily, so that V only matters to drag. The place of the base is not needed either.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.describe import BASE, BaseKind
from torseur.errors import ArgumentError, NumericalError
from torseur.identification.columns import AXES, Columns, check_columns
from torseur.identification.measurements import Measurements
from torseur.identification.signals import (
    Filtering,
    Stretch,
    derivative,
    fourier_motion,
    motion_band,
    smooth,
    smooth_motion,
    stretches,
)
from torseur.model.model import Model
from torseur.model.rows import numbers, quaternions, rates_of, start_of, unit
from torseur.spatial.joints import Quantity

__all__ = ["Motion", "continued", "is_wrapped", "motions_of"]

Array = NDArray[np.float64]

_LINGERS = 0.03
"""Of the period of the fastest motion."""
SHORTEST = 50
"""Samples of a stretch below which it is left out."""


@dataclass(frozen=True, eq=False)
class Motion:
    """A stretch of motion.

    Attributes:
        time: (nt,), s.
        step: s.
        q, v, vdot: (nt, nq), (nt, nv), (nt, nv).
        tau: (nt, nv), efforts that are not inputs.
        inputs: (nt, number of inputs).
        multipliers: (nt, rows) of constraints, if they were measured.
        lost: (nt, nv), equations that are not to be used.
        trim: samples at either end that filters spoil.
        band: highest frequency of the motion, Hz.
    """

    time: Array
    step: float
    q: Array
    v: Array
    vdot: Array
    tau: Array
    inputs: Array
    multipliers: Array | None
    lost: NDArray[np.bool_]
    trim: int
    band: float


def is_wrapped(angle: Array) -> bool:
    """Whether an angle jumps by a whole turn from one sample to the next, and hardly moves between the others.

    >>> t = np.linspace(0.0, 20.0, 401)
    >>> is_wrapped(np.mod(t, 2 * np.pi)), is_wrapped(t)
    (True, False)
    """
    step = np.abs(np.diff(angle[np.isfinite(angle)]))
    jumps = step > 0.75 * 2.0 * np.pi
    near = np.abs(step[jumps] - 2.0 * np.pi) < 0.25 * np.pi
    return bool(jumps.any() and near.all() and step[~jumps].max(initial=0.0) < 0.25 * np.pi)


def continued(angle: Array) -> Array:
    """An angle without jumps by a turn."""
    if not is_wrapped(angle):
        return angle
    turned_on, is_known = angle.copy(), np.isfinite(angle)
    turned_on[is_known] = np.unwrap(angle[is_known])
    return turned_on


def motions_of(
    model: Model,
    data: Measurements,
    filtering: Filtering,
    *,
    imu_frame: str = BASE,
    lost: dict[str, NDArray[np.bool_]] | None = None,
    is_dry: bool = False,
) -> list[Motion]:
    """The motions that measurements show, one for each stretch without a gap.

    Args:
        model: what moved.
        data: what was measured.
        filtering: how.
        imu_frame: the frame of the sensor.
        lost: by column instants whose equations are not to be used, such as those of a saturated effort.
        is_dry: whether dry friction is sought on joints that have none in the description.
    """
    columns = Columns.of(model, list(data.columns))
    check_columns(model, columns, imu_frame, data.source)
    used = [n for n in data.columns if n not in columns.unused]
    holes = np.asarray(~np.isfinite(np.stack([data.columns[n] for n in used], axis=1)).all(axis=1))
    pieces, step = stretches(data.time, holes)
    rest = [s for s in pieces if len(s) >= SHORTEST]
    if not rest:
        longest = max((len(s) for s in pieces), default=0)
        expected = f"a stretch of {SHORTEST} samples without a gap"
        raise ArgumentError("too few samples", where=data.source, expected=expected, got=f"at most {longest}")
    return [_Reader(model, data, columns, filtering, imu_frame, lost or {}, is_dry, s, step).motion() for s in rest]


@dataclass(frozen=True)
class _Reader:
    """Makes one motion."""

    model: Model
    data: Measurements
    columns: Columns
    filtering: Filtering
    imu_frame: str
    lost: dict[str, NDArray[np.bool_]]
    is_dry: bool
    stretch: Stretch
    step: float

    def _raw(self, name: str) -> Array:
        return self.data.columns[name][self.stretch.begin : self.stretch.end]

    def motion(self) -> Motion:
        model, nt = self.model, len(self.stretch)
        time = self.data.time[self.stretch.begin] + self.step * np.arange(nt)
        raw = self._coordinates(nt)
        moving = [k for k in self.columns.coordinates if model.coordinates[k].owner != BASE] or list(range(model.nq))
        band = motion_band(raw[:, moving], self.step)
        cutoff = self.filtering.cutoff or 5.0 * band
        q, v, vdot = self._kinematics(time, raw, cutoff)
        known = list(self.columns.inputs)
        inputs = np.tile(model.input_values, (nt, 1))
        tau, lost = np.zeros((nt, model.nv)), np.zeros((nt, model.nv), dtype=bool)
        for k in known:
            inputs[:, k] = self._raw(self.columns.inputs[k])
        for k, name in self.columns.efforts.items():
            tau[:, k] = self._raw(name)
        for name, bad in self.lost.items():
            lost |= bad[self.stretch.begin : self.stretch.end, None] & self._rows_of(name)
        lost |= self._lingering(raw, q, v, cutoff, band)
        rows = None
        if self.columns.multipliers:
            rows = np.stack([self._raw(self.columns.multipliers[k]) for k in sorted(self.columns.multipliers)], axis=1)
        exact = self.filtering.period is not None or self._all_measured
        trim = 0 if exact else min(nt // 4, int(4.0 / (cutoff * self.step)))
        return Motion(time, self.step, q, v, vdot, tau, inputs, rows, lost, trim, band)

    @property
    def _all_measured(self) -> bool:
        """Whether nothing is filtered or derived."""
        n = self.model.nv
        return self.filtering.measured_rates and len(self.columns.speeds) == len(self.columns.accelerations) == n

    def _lingering(self, raw: Array, q: Array, v: Array, cutoff: float, band: float) -> NDArray[np.bool_]:
        """Where a speed stays so near zero that noise decides its sign, and with it that of dry friction.

        What the filter took off the position tells the noise of the speed.
        """
        lingering = np.zeros(v.shape, dtype=bool)
        if self._all_measured:
            return lingering
        from scipy.ndimage import binary_opening

        rough = {
            getattr(load, "coordinate", None)
            for load in self.model.mechanism.loads.values()
            if any(getattr(load, n, 0.0) != 0.0 for n in ("friction", "motor_friction", "joint_friction"))
        }
        share = 2.0 * np.pi * cutoff * np.sqrt(2.0 * cutoff * self.step / 3.0)
        for k, c in rates_of(self.model.mechanism).items():
            if not (self.is_dry or self.model.coordinates[c].name in rough):
                continue
            noise = 1.4826 * float(np.median(np.abs(raw[:, c] - q[:, c]))) * share
            near = np.abs(v[:, k]) < 4.0 * noise
            if not near.all():
                lingering[:, k] = binary_opening(near, np.ones(max(2, int(_LINGERS / (band * self.step))), dtype=bool))
        return lingering

    def _rows_of(self, name: str) -> NDArray[np.bool_]:
        """The equations that a column enters: those of its effort, all of them for an input."""
        rows = np.zeros(self.model.nv, dtype=bool)
        places = [k for k, n in self.columns.efforts.items() if n == name]
        if places:
            rows[places] = True
            return rows
        mechanism = self.model.mechanism
        pushing = [load for load in mechanism.loads.values() if name in mechanism.names_in(load)]
        coordinates, rates = {getattr(load, "coordinate", None) for load in pushing}, rates_of(mechanism)
        names = {self.model.coordinates[c].name: k for k, c in rates.items()}
        known = [names[c] for c in coordinates if c in names]
        if len(known) == len(coordinates) and known:
            rows[known] = True
        else:
            rows[:] = True
        return rows

    # -- the motion ----------------------------------------------------------------------------------------------------
    def _coordinates(self, nt: int) -> Array:
        """As measured, without jumps by turns or signs; where only the speed is known, its integral."""
        q = np.tile(start_of(self.model), (nt, 1))
        for k, name in self.columns.coordinates.items():
            raw = self._raw(name)
            q[:, k] = continued(raw) if self.model.coordinates[k].quantity is Quantity.ANGLE else raw
        for k in quaternions(self.model.mechanism):  # q and -q are one attitude: the one near the instant before
            turns = np.where(np.sum(q[1:, k : k + 4] * q[:-1, k : k + 4], axis=1) < 0.0, -1.0, 1.0)
            q[1:, k : k + 4] *= np.cumprod(turns)[:, None]
        for c, name in self.columns.integrated(self.model).items():
            rate = self._raw(name)
            q[1:, c] += np.cumsum(0.5 * (rate[1:] + rate[:-1])) * self.step
        return q

    def _kinematics(self, time: Array, raw: Array, cutoff: float) -> tuple[Array, Array, Array]:
        model, plan = self.model, self.filtering
        if self._all_measured:
            v = np.stack([self._raw(self.columns.speeds[k]) for k in range(model.nv)], axis=1)
            return raw, v, np.stack([self._raw(self.columns.accelerations[k]) for k in range(model.nv)], axis=1)
        if plan.period is not None:
            harmonics = plan.harmonics or max(1, int(np.floor(cutoff * plan.period)))
            q, qdot, qddot = fourier_motion(time, raw, plan.period, harmonics)
        else:
            q, qdot, qddot = smooth_motion(raw, self.step, cutoff)
        q = unit(model.mechanism, q)
        v, vdot = self._speeds(q, qdot, qddot)
        if plan.measured_rates:
            for k, name in self.columns.speeds.items():
                v[:, k] = smooth(self._raw(name), self.step, cutoff)
                vdot[:, k] = derivative(v[:, k], self.step)
            for k, name in self.columns.accelerations.items():
                vdot[:, k] = smooth(self._raw(name), self.step, cutoff)
        if self.columns.imu:
            self._with_imu(q, v, vdot, cutoff)
        return q, v, vdot

    def _speeds(self, q: Array, qdot: Array, qddot: Array) -> tuple[Array, Array]:
        """v and vdot from rates of q: as they are where speeds are rates, by dq/dt = G v where not."""
        model, rates = self.model, rates_of(self.model.mechanism)
        v, vdot = np.zeros((len(q), model.nv)), np.zeros((len(q), model.nv))
        for k, c in rates.items():
            v[:, k], vdot[:, k] = qdot[:, c], qddot[:, c]
        others = [k for k in range(model.nv) if k not in rates]
        if not others:
            return v, vdot
        of_rates = model.function("rates")
        G = np.stack([np.asarray(of_rates(q, np.eye(model.nv)[k])) for k in others], axis=2)
        mine = [c for c in range(model.nq) if c not in rates.values()]
        v[:, others] = np.einsum("tij,tj->ti", np.linalg.pinv(G[:, mine]), qdot[:, mine])
        vdot[:, others] = derivative(v[:, others], self.step)
        return v, vdot

    def _with_imu(self, q: Array, v: Array, vdot: Array, cutoff: float) -> None:
        """(I.1), in place."""
        model = self.model
        places = _base_speeds(model)
        shown = {axis: smooth(self._raw(n), self.step, cutoff) for axis, n in self.columns.imu.items()}
        pose = np.linalg.inv(model.pose(q[0], BASE)) @ model.pose(q[0], self.imu_frame)
        R, r = pose[:3, :3], pose[:3, 3]
        f = np.stack([shown[a] for a in AXES[:3]], axis=1) @ R.T
        w = np.stack([shown[a] for a in AXES[3:]], axis=1) @ R.T
        wd = derivative(w, self.step)
        V = v[:, places[:3]] if self.columns.has_base_velocity(model) else np.zeros_like(f)
        gravity = np.asarray(_gravity(model))
        at_rest = np.einsum("tji,j->ti", np.asarray(model.pose(q, BASE))[:, :3, :3], gravity)
        there = f - np.cross(wd, r) - np.cross(w, np.cross(w, r))
        v[:, places[:3]], v[:, places[3:]] = V, w
        vdot[:, places[:3]], vdot[:, places[3:]] = there + at_rest - np.cross(w, V), wd


def _base_speeds(model: Model) -> list[int]:
    base = model.mechanism.base
    if base.kind is not BaseKind.FLOATING:
        expected = "base: {kind: floating}, whose speeds are those in its own axes"
        raise ArgumentError(
            "an IMU needs a floating base", where=model.mechanism.name, expected=expected, got=base.kind.value
        )
    return [k for k, x in enumerate(model.speeds) if x.owner == BASE]


def _gravity(model: Model) -> Array:
    gravity = numbers(model, list(model.mechanism.gravity))
    if not np.isfinite(gravity).all():
        raise NumericalError("gravity has no value", where=model.mechanism.name)
    return gravity
