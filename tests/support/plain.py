"""A mechanism as point masses that obey Newton's law: plain NumPy on the records of the description, nothing of ours.

Each body becomes six points with its mass, centre and tensor (an equimomental system); d'Alembert's principle over all
points gives the generalised forces. Poses are moved along with their first and second derivatives in time, so nothing
is differenced. It is slow, has no recursion and shares no formula with the package.

A rotor is a ring of four points that spins on its carrier, less the same ring at rest, because a description counts a
rotor at rest as part of its carrier.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.jets import Jet, jet_of
from torseur.describe import (
    BASE,
    WORLD,
    BaseKind,
    CentralInertia,
    Drag,
    Effort,
    Formula,
    Mechanism,
    Motor,
    Place,
    SpringDamper,
    StandardInertia,
    Transmission,
    Wrench,
)
from torseur.describe.fields import names_in

__all__ = ["Plain", "parameter_values"]

Array = NDArray[np.float64]


# -- numbers -----------------------------------------------------------------------------------------------------------
_FUNCTIONS = (math.sin, math.cos, math.tan, math.asin, math.acos, math.atan, math.atan2, math.sqrt, abs)
_WORDS = {"pi": math.pi, "deg": math.pi / 180, **{f.__name__: f for f in _FUNCTIONS}}


def _number(value: Any, names: Mapping[str, float]) -> float:
    """A number or formula, read as Python reads it."""
    if not isinstance(value, Formula):
        return float(value)
    return float(eval(value.text.replace("^", "**"), {"__builtins__": {}}, {**_WORDS, **names}))


def parameter_values(mechanism: Mechanism, given: Mapping[str, float] | None = None) -> dict[str, float]:
    """Every parameter of a mechanism as a number."""
    known = dict(given or {})
    waiting = {name: p.value for name, p in mechanism.parameters.items() if name not in known}
    while waiting:
        for name, value in list(waiting.items()):
            if not isinstance(value, Formula) or value.names <= known.keys():
                known[name] = _number(waiting.pop(name), known)
    return known


# -- transforms and how they move --------------------------------------------------------------------------------------
def _skew(w: Any) -> Array:
    x, y, z = w
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _turn(axis: int, angle: float) -> Array:
    T = np.eye(4)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    T[i, i] = T[j, j] = math.cos(angle)
    T[i, j], T[j, i] = -math.sin(angle), math.sin(angle)
    return T


def _shift(axis: int, distance: float) -> Array:
    T = np.eye(4)
    T[axis, 3] = distance
    return T


def _about(axis: Array, angle: float) -> Array:
    """Rodrigues, with the square of the skew matrix."""
    K, T = _skew(axis / np.linalg.norm(axis)), np.eye(4)
    T[:3, :3] += math.sin(angle) * K + (1 - math.cos(angle)) * K @ K
    return T


def _quaternion(w: float, x: float, y: float, z: float) -> Array:
    T, K = np.eye(4), _skew((x, y, z))
    T[:3, :3] += 2 * w * K + 2 * K @ K
    return T


@dataclass(frozen=True)
class Moving:
    """A transform with its first and second derivative; leading dimensions are several motions at once."""

    T: Array
    d: Array
    dd: Array

    @classmethod
    def still(cls, T: Array) -> Moving:
        return cls(T, np.zeros((4, 4)), np.zeros((4, 4)))

    def __matmul__(self, other: Moving) -> Moving:
        return Moving(
            self.T @ other.T,
            self.d @ other.T + self.T @ other.d,
            self.dd @ other.T + 2 * self.d @ other.d + self.T @ other.dd,
        )

    @classmethod
    def scalar(cls, kind: str, axis: int, x: float, dx: Array, ddx: Array) -> Moving:
        """A rotation or translation by x(t): T' = x' H T, T'' = (x'' H + x'^2 H H) T with H the generator."""
        H = np.zeros((4, 4))
        if kind == "turn":
            H[:3, :3] = _skew(np.eye(3)[axis])
            T = _turn(axis, x)
        else:
            H[axis, 3] = 1.0
            T = _shift(axis, x)
        one, two = np.asarray(dx)[..., None, None], np.asarray(ddx)[..., None, None]
        return cls(T, one * (H @ T), two * (H @ T) + one**2 * (H @ H @ T))

    @classmethod
    def about(cls, axis: Array, angle: Jet) -> Moving:
        """A rotation about a vector that stays."""
        H, T = np.zeros((4, 4)), _about(axis, angle.x)
        H[:3, :3] = _skew(axis / np.linalg.norm(axis))
        one, two = (np.asarray(x)[..., None, None] for x in (angle.d, angle.dd))
        return cls(T, one * (H @ T), two * (H @ T) + one**2 * (H @ H @ T))

    @classmethod
    def entries(cls, rows: list[list[Jet]]) -> Moving:
        """A matrix (3, 4) whose entries move."""
        found = []
        for part in ("x", "d", "dd"):
            parts = [[np.asarray(getattr(e, part), float) for e in row] for row in rows]
            shape = np.broadcast_shapes(*(e.shape for row in parts for e in row))
            M = np.zeros((*shape, 4, 4))
            for i, row in enumerate(parts):
                for k, e in enumerate(row):
                    M[..., i, k] = e
            M[..., 3, 3] = part == "x"
            found.append(M)
        return cls(*found)

    @classmethod
    def twist(cls, T: Array, V: Array, w: Array, Vd: Array, wd: Array) -> Moving:
        """T' = T hat, T'' = T (hat hat + hat'), with the velocity (V, w) in the moving axes."""
        hat, rate = _hat(V, w), _hat(Vd, wd)
        return cls(T, T @ hat, T @ (hat @ hat + rate))


def _moved(steps: list[tuple[str, Jet]]) -> Moving:
    """A product of elementary transforms: rx, tz, ..."""
    found = Moving.still(np.eye(4))
    for (way, axis), amount in steps:
        kind = "turn" if way == "r" else "shift"
        found = found @ Moving.scalar(kind, "xyz".index(axis), amount.x, amount.d, amount.dd)
    return found


def _hat(V: Array, w: Array) -> Array:
    found = np.zeros((*V.shape[:-1], 4, 4))
    for index in np.ndindex(V.shape[:-1]):
        found[index][:3, :3] = _skew(w[index])
        found[index][:3, 3] = V[index]
    return found


def _joint_motion(kind: str, q: Array, v: Array, vdot: Array, pitch: float) -> Moving:
    """The motion of one joint; v and vdot are (..., nv)."""
    s = Moving.scalar
    if kind == "revolute":
        return s("turn", 2, q[0], v[..., 0], vdot[..., 0])
    if kind == "prismatic":
        return s("shift", 2, q[0], v[..., 0], vdot[..., 0])
    if kind == "screw":
        slide = s("shift", 2, pitch * q[0], pitch * v[..., 0], pitch * vdot[..., 0])
        return s("turn", 2, q[0], v[..., 0], vdot[..., 0]) @ slide
    if kind == "cylindrical":
        return s("turn", 2, q[0], v[..., 0], vdot[..., 0]) @ s("shift", 2, q[1], v[..., 1], vdot[..., 1])
    if kind == "universal":
        return s("turn", 0, q[0], v[..., 0], vdot[..., 0]) @ s("turn", 1, q[1], v[..., 1], vdot[..., 1])
    zero = np.zeros((*v.shape[:-1], 3))
    if kind == "spherical":
        return Moving.twist(_quaternion(*q), zero, v, zero, vdot)
    if kind == "planar":
        T, flat, z = _shift(0, q[0]) @ _shift(1, q[1]) @ _turn(2, q[2]), np.array([1, 1, 0]), np.array([0, 0, 1])
        return Moving.twist(T, v * flat, v * z, vdot * flat, vdot * z)
    place = _shift(0, q[0]) @ _shift(1, q[1]) @ _shift(2, q[2])
    if kind == "free":
        turn = _quaternion(*q[3:7])
    else:
        assert kind == "free_rpy"
        turn = _turn(2, q[5]) @ _turn(1, q[4]) @ _turn(0, q[3])
    return Moving.twist(place @ turn, v[..., :3], v[..., 3:], vdot[..., :3], vdot[..., 3:])


def _joint_rates(kind: str, q: Array, v: Array) -> Array:
    """dq/dt for one v."""
    if kind == "planar":
        return np.array([*_turn(2, q[2])[:2, :2] @ v[:2], v[2]])
    if kind == "spherical":
        return _quaternion_rate(q, v)
    if kind == "free":
        return np.concatenate([_quaternion(*q[3:])[:3, :3] @ v[:3], _quaternion_rate(q[3:], v[3:])])
    if kind == "free_rpy":
        roll, pitch, yaw = q[3:]
        R = (_turn(2, yaw) @ _turn(1, pitch) @ _turn(0, roll))[:3, :3]
        x, y, z = np.eye(3)
        back = _turn(0, -roll)[:3, :3]
        E = np.column_stack([x, back @ y, back @ _turn(1, -pitch)[:3, :3] @ z])  # w = E d(roll, pitch, yaw)/dt
        return np.concatenate([R @ v[:3], np.linalg.solve(E, v[3:])])
    return np.array(v)


def _quaternion_rate(q: Array, w: Array) -> Array:
    """Half the product of q and (0, w)."""
    s, r = q[0], q[1:]
    return 0.5 * np.concatenate([[-r @ w], s * w + np.cross(r, w)])


# -- the mechanism -----------------------------------------------------------------------------------------------------
class Plain:
    """The description read as numbers."""

    def __init__(self, mechanism: Mechanism, parameters: Mapping[str, float] | None = None) -> None:
        self.mechanism = mechanism
        self.names = parameter_values(mechanism, parameters)
        self.g = np.array([_number(x, self.names) for x in mechanism.gravity])
        self.nv = len(mechanism.v)
        self.q_of = self._places(mechanism.q)
        self.v_of = self._places(mechanism.v)

    @staticmethod
    def _places(variables: Any) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for k, x in enumerate(variables):
            found.setdefault(x.owner, []).append(k)
        return found

    def value(self, scalar: Any) -> float:
        return _number(scalar, self.names)

    # -- places
    def _place(self, place: Place) -> tuple[Array, Array]:
        """Before and after the motion of the joint."""
        x, T = self.value, np.eye(4)
        if place.mdh is not None:
            r = place.mdh
            T = _turn(2, x(r.gamma)) @ _shift(2, x(r.b)) @ _turn(0, x(r.alpha)) @ _shift(0, x(r.d))
            return T @ _turn(2, x(r.theta)) @ _shift(2, x(r.r)), np.eye(4)
        if place.dh is not None:
            r = place.dh
            return _turn(2, x(r.theta)) @ _shift(2, x(r.d)), _shift(0, x(r.a)) @ _turn(0, x(r.alpha))
        if place.pose is not None:
            p = place.pose
            if p.quaternion is not None:
                T = _quaternion(*(x(c) for c in p.quaternion))
            elif p.matrix is not None:
                T[:3, :3] = [[x(c) for c in row] for row in p.matrix]
            elif p.rpy is not None:
                roll, pitch, yaw = (x(c) for c in p.rpy)
                T = _turn(2, yaw) @ _turn(1, pitch) @ _turn(0, roll)
            T[:3, 3] = [x(c) for c in p.position]
            return T, np.eye(4)
        for step in place.steps or ():
            for k, axis in enumerate("xyz"):
                if getattr(step, f"r{axis}") is not None:
                    T = T @ _turn(k, x(getattr(step, f"r{axis}")))
                if getattr(step, f"t{axis}") is not None:
                    T = T @ _shift(k, x(getattr(step, f"t{axis}")))
            if step.rn is not None:
                T = T @ _about(np.array([x(c) for c in step.rn.axis]), x(step.rn.angle))
        return T, np.eye(4)

    def _place_of(self, body: str, q: Array, v: Array, vdot: Array) -> tuple[Moving, Moving]:
        """Of a body, before and after the motion of its joint; its formulas may move with coordinates."""
        place = self.mechanism.bodies[body].place
        if not self._drivers(body):
            before, after = self._place(place)
            return Moving.still(before), Moving.still(after)
        speeds, names = [x.name for x in self.mechanism.v], dict[str, Any](self.names)
        for k, x in enumerate(self.mechanism.q):
            if f"d{x.name}" in speeds:  # others have rates that are not speeds: such formulas fail here
                i = speeds.index(f"d{x.name}")
                names[x.name] = Jet(float(q[k]), v[..., i], vdot[..., i])

        def jet(scalar: Any) -> Jet:
            return jet_of(scalar, names)

        if place.mdh is not None:
            r = place.mdh
            steps = [("rz", r.gamma), ("tz", r.b), ("rx", r.alpha), ("tx", r.d), ("rz", r.theta), ("tz", r.r)]
            return _moved([(kind, jet(x)) for kind, x in steps]), Moving.still(np.eye(4))
        if place.dh is not None:
            r = place.dh
            before, after = [("rz", r.theta), ("tz", r.d)], [("tx", r.a), ("rx", r.alpha)]
            return _moved([(k, jet(x)) for k, x in before]), _moved([(k, jet(x)) for k, x in after])
        return self._rigid_or_steps(place, jet), Moving.still(np.eye(4))

    def _rigid_or_steps(self, place: Place, jet: Any) -> Moving:
        if place.pose is None:
            moving = Moving.still(np.eye(4))
            for step in place.steps or ():
                if step.rn is not None:
                    moving = moving @ Moving.about(np.array([jet(c).x for c in step.rn.axis]), jet(step.rn.angle))
                else:
                    kind = next(name for name in type(step).model_fields if getattr(step, name) is not None)
                    moving = moving @ _moved([(kind, jet(getattr(step, kind)))])
            return moving
        p = place.pose
        x, y, z = (jet(c) for c in p.position)
        shift = _moved([("tx", x), ("ty", y), ("tz", z)])
        if p.matrix is not None:
            return shift @ Moving.entries([[*(jet(c) for c in row), Jet(0.0)] for row in p.matrix])
        if p.quaternion is not None:
            w, a, b, c = (jet(e) for e in p.quaternion)
            rows = [
                [1 - 2 * (b * b + c * c), 2 * (a * b - w * c), 2 * (a * c + w * b), Jet(0.0)],
                [2 * (a * b + w * c), 1 - 2 * (a * a + c * c), 2 * (b * c - w * a), Jet(0.0)],
                [2 * (a * c - w * b), 2 * (b * c + w * a), 1 - 2 * (a * a + b * b), Jet(0.0)],
            ]
            return shift @ Moving.entries(rows)
        roll, pitch, yaw = (jet(c) for c in p.rpy or (0.0, 0.0, 0.0))
        return shift @ _moved([("rz", yaw), ("ry", pitch), ("rx", roll)])

    def _drivers(self, body: str) -> set[str]:
        """The coordinates in the place of a body."""
        return set(names_in(self.mechanism.bodies[body].place)) & {x.name for x in self.mechanism.q}

    # -- motion
    def motion(self, q: Array, v: Array, vdot: Array) -> dict[str, Moving]:
        """Every body and frame; v and vdot (..., nv)."""
        m = self.mechanism
        before, after = self._place(m.base.place)
        base = Moving.still(before @ after) @ self._base(q, v, vdot)
        found = {WORLD: Moving.still(np.eye(4)), BASE: base}
        waiting = dict(m.bodies)
        while waiting:
            for name, body in list(waiting.items()):
                if body.parent in found:
                    before, after = self._place_of(name, q, v, vdot)
                    inner = self._joint(name, body.joint.kind, body.joint.pitch, q, v, vdot)
                    found[name] = found[body.parent] @ before @ inner @ after
                    del waiting[name]
        for owner, frames in [(BASE, m.base.frames), *((n, b.frames) for n, b in m.bodies.items())]:
            for name, frame in frames.items():
                before, after = self._place(frame.place)
                found[name] = found[owner] @ Moving.still(before @ after)
        return found

    def _joint(self, owner: str, kind: str, pitch: Any, q: Array, v: Array, vdot: Array) -> Moving:
        if kind == "fixed":
            return Moving.still(np.eye(4))
        i, j = self.q_of[owner], self.v_of[owner]
        return _joint_motion(kind, q[i], v[..., j], vdot[..., j], 0.0 if pitch is None else self.value(pitch))

    def _base(self, q: Array, v: Array, vdot: Array) -> Moving:
        base = self.mechanism.base
        if base.kind is not BaseKind.CARRIER:
            return self._joint(BASE, base.joint_kind.name, None, q, v, vdot)
        found = Moving.still(np.eye(4))
        for kind, axis, k in (
            ("shift", 0, 0),
            ("shift", 1, 1),
            ("shift", 2, 2),
            ("turn", 2, 5),
            ("turn", 1, 4),
            ("turn", 0, 3),
        ):
            found = found @ Moving.scalar(kind, axis, q[k], v[..., k], vdot[..., k])
        return found

    def along_speeds(self, q: Array) -> dict[str, Moving]:
        """How everything moves when one speed at a time is one: derivatives (nv, 4, 4)."""
        return self.motion(q, np.eye(self.nv), np.zeros((self.nv, self.nv)))

    def rates(self, q: Array, v: Array) -> Array:
        """dq/dt."""
        m, found = self.mechanism, np.zeros(len(q))
        kinds = {BASE: m.base.joint_kind.name, **{n: b.joint.kind for n, b in m.bodies.items()}}
        if m.base.kind is BaseKind.CARRIER:
            kinds[BASE] = "carrier"
        for owner, i in self.q_of.items():
            found[i] = _joint_rates(kinds.get(owner, "free form"), q[i], v[self.v_of[owner]])
        return found

    def moved(self, q: Array, v: Array, step: float) -> Array:
        """q after a small step along v, unit quaternions kept so (second order)."""
        middle = self._kept(q + 0.5 * step * self.rates(q, v))
        return self._kept(q + step * self.rates(middle, v))

    def _kept(self, q: Array) -> Array:
        names = [x.name for x in self.mechanism.q]
        for k, name in enumerate(names):
            if name.endswith("qw"):
                q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        return q

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
            R = (_turn(2, yaw) @ _turn(1, pitch) @ _turn(0, roll))[:3, :3]
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
            stand = Moving.still(_z_along(axis))
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

    def jacobian(self, q: Array, frame: str) -> Array:
        """(6, nv) in the frame's own axes."""
        return _velocity(self.along_speeds(q)[frame], self.nv).T

    def acceleration(self, q: Array, v: Array, vdot: Array, frame: str) -> Array:
        """Of the origin, then angular, in the frame's own axes."""
        m = self.motion(q, v, vdot)[frame]
        R, Rd, Rdd = m.T[:3, :3], m.d[:3, :3], m.dd[:3, :3]
        spin = Rd @ R.T
        return np.concatenate([R.T @ m.dd[:3, 3], R.T @ _unskew(Rdd @ R.T - spin @ spin)])

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
            return _number(scalar, values)

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


def _z_along(axis: Array) -> Array:
    """A transform whose z is along a direction."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    T = np.eye(4)
    T[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    return T


def _unskew(S: Array) -> Array:
    return 0.5 * np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]])


def _velocity(m: Moving, n: int) -> Array:
    """(n, 6) in the frame's own axes."""
    R, d = m.T[:3, :3], np.broadcast_to(m.d, (n, 4, 4))
    return np.array([[*(R.T @ e[:3, 3]), *_unskew(R.T @ e[:3, :3])] for e in d])
