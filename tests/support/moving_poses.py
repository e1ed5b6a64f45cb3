"""Rigid transforms in plain NumPy, and transforms that move: with first and second derivatives in time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.jets import Jet

__all__ = [
    "Moving",
    "about",
    "hat",
    "joint_motion",
    "joint_rates",
    "product_of_steps",
    "quaternion",
    "rotation",
    "skew",
    "translation",
    "unskew",
    "z_along",
]

Array = NDArray[np.float64]


def skew(w: Any) -> Array:
    x, y, z = w
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def rotation(axis: int, angle: float) -> Array:
    T = np.eye(4)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    T[i, i] = T[j, j] = math.cos(angle)
    T[i, j], T[j, i] = -math.sin(angle), math.sin(angle)
    return T


def translation(axis: int, distance: float) -> Array:
    T = np.eye(4)
    T[axis, 3] = distance
    return T


def about(axis: Array, angle: float) -> Array:
    """Rodrigues, with the square of the skew matrix."""
    K, T = skew(axis / np.linalg.norm(axis)), np.eye(4)
    T[:3, :3] += math.sin(angle) * K + (1 - math.cos(angle)) * K @ K
    return T


def quaternion(w: float, x: float, y: float, z: float) -> Array:
    T, K = np.eye(4), skew((x, y, z))
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
            H[:3, :3] = skew(np.eye(3)[axis])
            T = rotation(axis, x)
        else:
            H[axis, 3] = 1.0
            T = translation(axis, x)
        one, two = np.asarray(dx)[..., None, None], np.asarray(ddx)[..., None, None]
        return cls(T, one * (H @ T), two * (H @ T) + one**2 * (H @ H @ T))

    @classmethod
    def about(cls, axis: Array, angle: Jet) -> Moving:
        """A rotation about a vector that stays."""
        H, T = np.zeros((4, 4)), about(axis, angle.x)
        H[:3, :3] = skew(axis / np.linalg.norm(axis))
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
        twist, rate = hat(V, w), hat(Vd, wd)
        return cls(T, T @ twist, T @ (twist @ twist + rate))


def product_of_steps(steps: list[tuple[str, Jet]]) -> Moving:
    """A product of elementary transforms: rx, tz, ..."""
    found = Moving.still(np.eye(4))
    for (way, axis), amount in steps:
        kind = "turn" if way == "r" else "shift"
        found = found @ Moving.scalar(kind, "xyz".index(axis), amount.x, amount.d, amount.dd)
    return found


def hat(V: Array, w: Array) -> Array:
    found = np.zeros((*V.shape[:-1], 4, 4))
    for index in np.ndindex(V.shape[:-1]):
        found[index][:3, :3] = skew(w[index])
        found[index][:3, 3] = V[index]
    return found


def joint_motion(kind: str, q: Array, v: Array, vdot: Array, pitch: float) -> Moving:
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
        return Moving.twist(quaternion(*q), zero, v, zero, vdot)
    if kind == "planar":
        T, flat, z = (
            translation(0, q[0]) @ translation(1, q[1]) @ rotation(2, q[2]),
            np.array([1, 1, 0]),
            np.array([0, 0, 1]),
        )
        return Moving.twist(T, v * flat, v * z, vdot * flat, vdot * z)
    place = translation(0, q[0]) @ translation(1, q[1]) @ translation(2, q[2])
    if kind == "free":
        turn = quaternion(*q[3:7])
    else:
        assert kind == "free_rpy"
        turn = rotation(2, q[5]) @ rotation(1, q[4]) @ rotation(0, q[3])
    return Moving.twist(place @ turn, v[..., :3], v[..., 3:], vdot[..., :3], vdot[..., 3:])


def joint_rates(kind: str, q: Array, v: Array) -> Array:
    """dq/dt for one v."""
    if kind == "planar":
        return np.array([*rotation(2, q[2])[:2, :2] @ v[:2], v[2]])
    if kind == "spherical":
        return _quaternion_rate(q, v)
    if kind == "free":
        return np.concatenate([quaternion(*q[3:])[:3, :3] @ v[:3], _quaternion_rate(q[3:], v[3:])])
    if kind == "free_rpy":
        roll, pitch, yaw = q[3:]
        R = (rotation(2, yaw) @ rotation(1, pitch) @ rotation(0, roll))[:3, :3]
        x, y, z = np.eye(3)
        back = rotation(0, -roll)[:3, :3]
        E = np.column_stack([x, back @ y, back @ rotation(1, -pitch)[:3, :3] @ z])  # w = E d(roll, pitch, yaw)/dt
        return np.concatenate([R @ v[:3], np.linalg.solve(E, v[3:])])
    return np.array(v)


def _quaternion_rate(q: Array, w: Array) -> Array:
    """Half the product of q and (0, w)."""
    s, r = q[0], q[1:]
    return 0.5 * np.concatenate([[-r @ w], s * w + np.cross(r, w)])


def unskew(S: Array) -> Array:
    return 0.5 * np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]])


def z_along(axis: Array) -> Array:
    """A transform whose z is along a direction."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    T = np.eye(4)
    T[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    return T
