"""A mechanism as point masses that obey Newton's law: plain NumPy on the records of the description, nothing of ours.

Each body becomes six points with its mass, centre and tensor (an equimomental system); d'Alembert's principle over all
points gives the generalised forces. Poses are moved along with their first and second derivatives in time, so nothing
is differenced. It is slow, has no recursion and shares no formula with the package.

A rotor is a ring of four points that spins on its carrier, less the same ring at rest, because a description counts a
rotor at rest as part of its carrier.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.moving_poses import Moving, rotation, unskew, z_along
from support.plain_motion import PlainMotion, number
from torseur.describe import (
    BASE,
    WORLD,
    BaseKind,
    CentralInertia,
    Drag,
    Effort,
    Motor,
    SpringDamper,
    StandardInertia,
    Transmission,
    Wrench,
)

__all__ = ["Plain"]

Array = NDArray[np.float64]


class Plain(PlainMotion):
    """The description read as numbers: masses, quantities and loads."""

    # -- masses
    @cached_property
    def points(self) -> list[tuple[str, float, Array]]:
        """Body, mass, place in the body's frame (homogeneous), of all bodies that can move."""
        m, found = self.mechanism, []
        for name, body in [(BASE, m.base), *m.bodies.items()]:
            if body.inertia is not None and self._can_move(name):
                found += [(name, mass, np.array([*p, 1.0])) for mass, p in self._six_points(body.inertia)]
        return found

    def _can_move(self, body: str) -> bool:
        m = self.mechanism
        if body in (BASE, WORLD):
            return body == BASE and m.base.kind is not BaseKind.FIXED
        moves = m.bodies[body].joint.kind != "fixed" or bool(self._drivers(body))
        return moves or self._can_move(m.bodies[body].parent)

    def _six_points(self, inertia: StandardInertia | CentralInertia) -> list[tuple[float, Array]]:
        x = self.value
        if isinstance(inertia, StandardInertia):
            M = x(inertia.M)
            J = [
                [inertia.XX, inertia.XY, inertia.XZ],
                [inertia.XY, inertia.YY, inertia.YZ],
                [inertia.XZ, inertia.YZ, inertia.ZZ],
            ]
            c = np.array([x(inertia.MX), x(inertia.MY), x(inertia.MZ)]) / M
            second = _second_moments(np.array([[x(e) for e in row] for row in J])) - M * np.outer(c, c)
        else:
            M, t = x(inertia.mass), inertia.tensor
            c = np.array([x(e) for e in inertia.centre])
            roll, pitch, yaw = (x(e) for e in inertia.rpy)
            R = (rotation(2, yaw) @ rotation(1, pitch) @ rotation(0, roll))[:3, :3]
            J = [[t.xx, t.xy, t.xz], [t.xy, t.yy, t.yz], [t.xz, t.yz, t.zz]]
            second = R @ _second_moments(np.array([[x(e) for e in row] for row in J])) @ R.T
        sizes, axes = np.linalg.eigh(second)
        assert sizes[0] > -1e-9 * max(1.0, sizes[2]), "an inertia that no body can have"
        arms = axes * np.sqrt(3 * np.maximum(sizes, 0.0) / M)
        return [(M / 6, c + sign * arm) for arm in arms.T for sign in (1, -1)]

    def _rings(self) -> list[tuple[str, float, int, float, Array, Array]]:
        """Carrier, mass of a point, place in v, ratio, centre and arm of the points of rotors; axis along."""
        found = []
        for load in self.mechanism.loads.values():
            if isinstance(load, Motor):
                speed = [v.name for v in self.mechanism.v].index(f"d{load.coordinate}")
                owner = self.mechanism.v[speed].owner
                parent = self.mechanism.bodies[owner].parent if owner in self.mechanism.bodies else WORLD
                axis = np.array([self.value(e) for e in load.axis])
                found.append((load.carrier or parent, self.value(load.inertia), speed, self.value(load.ratio), axis))
        return found

    def _moving_points(self, q: Array, v: Array, vdot: Array) -> list[tuple[float, Array, Array, Array]]:
        """Mass, place, velocity, acceleration (..., 3) of every point, those of rotors included."""
        frames = self.motion(q, v, vdot)
        found = [
            (mass, *((M @ p)[..., :3] for M in (frames[name].T, frames[name].d, frames[name].dd)))
            for name, mass, p in self.points
        ]
        for carrier, inertia, k, ratio, axis in self._rings():
            angle = ratio * self._coordinate_of(k, q)
            turn = Moving.scalar("turn", 2, angle, ratio * v[..., k], ratio * vdot[..., k])
            stand = Moving.still(z_along(axis))
            for moving, sign in ((frames[carrier] @ stand @ turn, 1), (frames[carrier] @ stand, -1)):
                for arm in ((1, 0), (0, 1), (-1, 0), (0, -1)):
                    p = np.array([*arm, 0.0, 1.0])
                    mass = sign * inertia / 4
                    found.append((mass, *((M @ p)[..., :3] for M in (moving.T, moving.d, moving.dd))))
        return found

    def _coordinate_of(self, speed: int, q: Array) -> float:
        name = self.mechanism.v[speed].name.removeprefix("d")
        return float(q[[x.name for x in self.mechanism.q].index(name)])

    # -- quantities
    def inverse_dynamics(self, q: Array, v: Array, vdot: Array, t: float = 0.0, u: Any = ()) -> Array:
        """Sum over points of m J'(a - g), and of drives, less what the loads do."""
        return self._inertial(q, v, vdot) - self.load_forces(q, v, t, u)

    def _inertial(self, q: Array, v: Array, vdot: Array) -> Array:
        tau = np.zeros(self.nv)
        moving = self._moving_points(q, v, vdot)
        unit = self._moving_points(q, np.eye(self.nv), np.zeros((self.nv, self.nv)))
        for (m, _, _, a), (_, _, J, _) in zip(moving, unit, strict=True):
            tau += m * np.broadcast_to(J, (self.nv, 3)) @ (a - self.g)
        for k, inertia in self._drives():
            tau[k] += inertia * vdot[k]
        return tau

    def _drives(self) -> list[tuple[int, float]]:
        speeds = [x.name for x in self.mechanism.v]
        loads = self.mechanism.loads.values()
        return [(speeds.index(f"d{x.coordinate}"), self.value(x.inertia)) for x in loads if isinstance(x, Transmission)]

    def mass_matrix(self, q: Array) -> Array:
        M = np.zeros((self.nv, self.nv))
        for m, _, J, _ in self._moving_points(q, np.eye(self.nv), np.zeros((self.nv, self.nv))):
            J = np.broadcast_to(J, (self.nv, 3))
            M += m * J @ J.T
        for k, inertia in self._drives():
            M[k, k] += inertia
        return M

    def kinetic_energy(self, q: Array, v: Array) -> float:
        T = sum(0.5 * m * d @ d for m, _, d, _ in self._moving_points(q, v, 0 * v))
        return float(T + sum(0.5 * inertia * v[k] ** 2 for k, inertia in self._drives()))

    def potential_energy(self, q: Array) -> float:
        U = -sum(m * self.g @ x for m, x, _, _ in self._moving_points(q, np.zeros(self.nv), np.zeros(self.nv)))
        for load in self.mechanism.loads.values():
            if isinstance(load, SpringDamper):
                s, _ = self._path(load, q)
                U += 0.5 * self.value(load.stiffness) * (s - self.value(load.rest)) ** 2
        return float(U)

    def momentum(self, q: Array, v: Array) -> Array:
        """Linear, then angular about the world origin."""
        points = self._moving_points(q, v, 0 * v)
        p = sum((m * d for m, _, d, _ in points), np.zeros(3))
        return np.concatenate([p, sum((m * np.cross(x, d) for m, x, d, _ in points), np.zeros(3))])

    def centre_of_mass(self, q: Array) -> Array:
        """Of all that has a mass."""
        points = self._moving_points(q, np.zeros(self.nv), np.zeros(self.nv))
        return sum((m * x for m, x, _, _ in points), np.zeros(3)) / sum(m for m, _, _, _ in points)

    def jacobian(self, q: Array, frame: str) -> Array:
        """(6, nv) in the frame's own axes."""
        return _velocity(self.along_speeds(q)[frame], self.nv).T

    def acceleration(self, q: Array, v: Array, vdot: Array, frame: str) -> Array:
        """Of the origin, then angular, in the frame's own axes."""
        m = self.motion(q, v, vdot)[frame]
        R, Rd, Rdd = m.T[:3, :3], m.d[:3, :3], m.dd[:3, :3]
        spin = Rd @ R.T
        return np.concatenate([R.T @ m.dd[:3, 3], R.T @ unskew(Rdd @ R.T - spin @ spin)])

    # -- loads
    def load_forces(self, q: Array, v: Array, t: float = 0.0, u: Any = ()) -> Array:
        """The generalised force of all loads."""
        return sum((self.load_force(name, q, v, t, u) for name in self.mechanism.loads), np.zeros(self.nv))

    def load_force(self, name: str, q: Array, v: Array, t: float = 0.0, u: Any = ()) -> Array:
        """Of one load: force times how its path changes with each speed."""
        load, m = self.mechanism.loads[name], self.mechanism
        values = dict(zip([x.name for x in (*m.q, *m.v)], [*q, *v], strict=True))
        inputs = u if len(u) else [x.default for x in m.inputs.values()]
        values |= dict(zip(m.inputs, inputs, strict=True)) | {"t": t} | self.names

        def x(scalar: Any) -> float:
            return number(scalar, values)

        if isinstance(load, SpringDamper):
            s, slope = self._path(load, q)
            rate = slope @ v
            force = -x(load.stiffness) * (s - x(load.rest)) - x(load.damping) * rate - x(load.friction) * np.sign(rate)
            return force * slope
        if isinstance(load, Effort):
            return x(load.value) * self._path(load, q)[1]
        if isinstance(load, Motor):
            k = [y.name for y in m.v].index(f"d{load.coordinate}")
            ratio, speed = x(load.ratio), v[k]
            shaft = (
                x(load.torque) - x(load.motor_damping) * ratio * speed - x(load.motor_friction) * np.sign(ratio * speed)
            )
            joint = -x(load.joint_damping) * speed - x(load.joint_friction) * np.sign(speed)
            return (ratio * shaft + joint) * np.eye(self.nv)[k]
        if isinstance(load, (Wrench, Drag)):
            return self._wrench(load, q, v, x)
        assert isinstance(load, Transmission)
        return np.zeros(self.nv)

    def _wrench(self, load: Wrench | Drag, q: Array, v: Array, x: Any) -> Array:
        R = self.motion(q, v, 0 * v)[load.frame].T[:3, :3]
        J = self.jacobian(q, load.frame)
        if isinstance(load, Wrench):
            force, torque = np.array([x(e) for e in load.force]), np.array([x(e) for e in load.torque])
            if load.axes == "world":
                force, torque = R.T @ force, R.T @ torque
            return J.T @ np.concatenate([force, torque])
        V = J[:3] @ v - R.T @ np.array([x(e) for e in load.wind])
        return -0.5 * x(load.density) * x(load.coefficient) * x(load.area) * np.linalg.norm(V) * J[:3].T @ V

    def _path(self, load: SpringDamper | Effort, q: Array) -> tuple[float, Array]:
        """The length of a path and its derivative along each speed."""
        if load.between is not None:
            frames = self.along_speeds(q)
            a, b = (frames[name] for name in load.between)
            span = b.T[:3, 3] - a.T[:3, 3]
            length = float(np.linalg.norm(span))
            slope = np.broadcast_to(b.d - a.d, (self.nv, 4, 4))[:, :3, 3] @ span / length
            return length, slope
        names = [y.name for y in self.mechanism.q]
        factors = load.combination or {load.coordinate: 1.0}
        rates = np.array([self.rates(q, e) for e in np.eye(self.nv)])
        s, slope = 0.0, np.zeros(self.nv)
        for name, factor in factors.items():
            s += self.value(factor) * q[names.index(name)]
            slope += self.value(factor) * rates[:, names.index(name)]
        return s, slope


def _second_moments(J: Array) -> Array:
    """The integral of r r' dm from the tensor."""
    return 0.5 * np.trace(J) * np.eye(3) - J


def _velocity(m: Moving, n: int) -> Array:
    """(n, 6) in the frame's own axes."""
    R, d = m.T[:3, :3], np.broadcast_to(m.d, (n, 4, 4))
    return np.array([[*(R.T @ e[:3, 3]), *unskew(R.T @ e[:3, :3])] for e in d])
