"""Poses: where a frame is, as seen from another.

A pose is made of a rotation R (axes of the frame, by columns, in the other frame) and a position P (its origin, in the
other frame). Elementary steps, multiplied from left to right, make every pose of the source documents: modified and
standard Denavit-Hartenberg rows, CAGeM's products, roll-pitch-yaw.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from torseur.graph import Expr, Graph, cos, sin
from torseur.spatial.vectors import (
    Matrix,
    Vector,
    add,
    identity,
    matmul,
    minus,
    rotate,
    rotate_back,
    transpose,
    zero_vector,
)

__all__ = ["Pose", "Step", "StepKind", "about_axis", "from_quaternion", "product"]


class StepKind(Enum):
    """The elementary transforms."""

    ROTATE_X = "rx"
    ROTATE_Y = "ry"
    ROTATE_Z = "rz"
    MOVE_X = "tx"
    MOVE_Y = "ty"
    MOVE_Z = "tz"


@dataclass(frozen=True)
class Step:
    """One elementary transform by an angle (rad) or a distance (m)."""

    kind: StepKind
    amount: Expr


@dataclass(frozen=True)
class Pose:
    """The pose of a frame in another: R (3, 3), P (3,) in the other frame's axes, m.

    ``a * b`` is the pose of b's frame where b is given in a's frame.
    """

    R: Matrix
    P: Vector

    @classmethod
    def identity(cls, g: Graph) -> Pose:
        return cls(identity(g), zero_vector(g))

    def __mul__(self, other: Pose) -> Pose:
        return Pose(matmul(self.R, other.R), add(self.P, rotate(self.R, other.P)))

    def inverse(self) -> Pose:
        return Pose(transpose(self.R), minus(rotate_back(self.R, self.P)))

    def point(self, p: Vector) -> Vector:
        """A point of the frame, seen from the other."""
        return add(self.P, rotate(self.R, p))

    def matrix(self) -> list[list[Expr]]:
        """The homogeneous matrix (4, 4)."""
        g = self.P[0].graph
        rows = [[*row, p] for row, p in zip(self.R, self.P, strict=True)]
        return [*rows, [g.zero, g.zero, g.zero, g.one]]


_AXES = {"x": 0, "y": 1, "z": 2}


def product(g: Graph, steps: Iterable[Step]) -> Pose:
    """The pose after some elementary transforms, each in the axes the ones before have left."""
    pose = Pose.identity(g)
    for step in steps:
        pose = pose * elementary(g, step)
    return pose


def elementary(g: Graph, step: Step) -> Pose:
    """The pose of one elementary transform."""
    axis = _AXES[step.kind.value[1]]
    if step.kind.value[0] == "t":
        place = list(zero_vector(g))
        place[axis] = step.amount
        return Pose(identity(g), (place[0], place[1], place[2]))
    (c, s), o, i = _turn(step.amount), g.zero, g.one
    if axis == 0:
        return Pose(((i, o, o), (o, c, -s), (o, s, c)), zero_vector(g))
    if axis == 1:
        return Pose(((c, o, s), (o, i, o), (-s, o, c)), zero_vector(g))
    return Pose(((c, -s, o), (s, c, o), (o, o, i)), zero_vector(g))


def _turn(angle: Expr) -> tuple[Expr, Expr]:
    """Cosine and sine; exact where the angle is a number that stands for a multiple of pi/2."""
    if angle.is_number:
        quarters = float(angle) / (math.pi / 2)
        nearest = round(quarters)
        if abs(quarters - nearest) <= 4.0 * math.ulp(quarters):
            c, s = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[nearest % 4]
            return angle.graph.number(c), angle.graph.number(s)
    return cos(angle), sin(angle)


def about_axis(axis: Vector, angle: Expr) -> Matrix:
    """Rodrigues: the rotation by an angle about a unit vector, R = c I + s [n]x + (1 - c) n n'."""
    x, y, z = axis
    c, s = cos(angle), sin(angle)
    k = 1.0 - c
    return (
        (c + k * x * x, k * x * y - s * z, k * x * z + s * y),
        (k * x * y + s * z, c + k * y * y, k * y * z - s * x),
        (k * x * z - s * y, k * y * z + s * x, c + k * z * z),
    )


def from_quaternion(w: Expr, x: Expr, y: Expr, z: Expr) -> Matrix:
    """The rotation of a quaternion w + x i + y j + z k of any length but zero."""
    xx, yy, zz = x * x, y * y, z * z
    s = 2.0 / (w * w + xx + yy + zz)
    return (
        (1.0 - s * (yy + zz), s * (x * y - w * z), s * (x * z + w * y)),
        (s * (x * y + w * z), 1.0 - s * (xx + zz), s * (y * z - w * x)),
        (s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (xx + yy)),
    )
