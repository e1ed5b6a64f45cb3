"""Poses, where a frame is, as seen from another; and the motions and wrenches that they bring from frame to frame.

A pose is made of a rotation R (axes of the frame, by columns, in the other frame) and a position P (its origin, in the
other frame). ``X @ x`` brings what is known in the frame (a pose, motion, wrench or inertia) to the other frame, which
is called its parent; ``X.inv @ x`` brings what is known in the parent to the frame. Elementary steps, multiplied from
left to right, make every pose of the source documents: modified and standard Denavit-Hartenberg rows, CAGeM's products,
roll-pitch-yaw.

Motions and wrenches are pairs of vectors at a frame's origin, in its axes (Featherstone's spatial vectors):

============  =====================================================  ==========================================
Motion        linear, angular                                        velocity, acceleration, column of a joint
Wrench        force, moment                                          what acts on a body, or its momentum
============  =====================================================  ==========================================

The linear part is that of the origin. ``dot(V, F)`` is a power; ``cross(V, x)`` is the rate of a motion or wrench x
that a velocity V carries along.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, Self, TypeVar

from torseur.graph import Expr, Graph, atan2, cos, sin, sqrt
from torseur.spatial.vectors import Linear, Matrix, Vector, cross, dot

__all__ = [
    "Inverse",
    "Motion",
    "Pose",
    "Step",
    "StepKind",
    "Wrench",
    "about_axis",
    "from_quaternion",
    "product",
    "turn_to",
]


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


class _Carried(Protocol):
    """What may be brought from a frame to its parent."""

    def to_parent(self, X: Pose, /) -> Self: ...


class _Brought(Protocol):
    """What may be brought from a parent to a frame."""

    def to_child(self, X: Pose, /) -> Self: ...


C = TypeVar("C", bound=_Carried)
B = TypeVar("B", bound=_Brought)


@dataclass(frozen=True)
class Pose:
    """The pose of a frame in another, its parent: R (3, 3), P (3,) in the parent's axes, m."""

    R: Matrix
    P: Vector

    @classmethod
    def identity(cls, g: Graph) -> Pose:
        return cls(Matrix.identity(g), Vector.zero(g))

    @classmethod
    def turn(cls, R: Matrix) -> Pose:
        """A rotation alone."""
        return cls(R, Vector.zero(R.graph))

    @property
    def graph(self) -> Graph:
        return self.P.graph

    def __matmul__(self, other: C) -> C:
        """What is known in the frame, in its parent: ``a @ b`` is the pose of b's frame where b is given in a's."""
        return other.to_parent(self)

    @property
    def inv(self) -> Inverse:
        """``X.inv @ x``: what is known in the parent, in the frame."""
        return Inverse(self)

    def inverse(self) -> Pose:
        """The pose of the parent in the frame."""
        return Pose(self.R.T, -(self.R.T @ self.P))

    def to_parent(self, X: Pose) -> Pose:
        return Pose(X.R @ self.R, X.P + X.R @ self.P)

    def point(self, p: Vector) -> Vector:
        """A point of the frame, seen from its parent."""
        return self.P + self.R @ p

    def matrix(self) -> list[list[Expr]]:
        """The homogeneous matrix (4, 4)."""
        g = self.graph
        rows = [[*row, p] for row, p in zip(self.R, self.P, strict=True)]
        return [*rows, [g.zero, g.zero, g.zero, g.one]]


@dataclass(frozen=True)
class Inverse:
    """The way from a parent to a frame, without the inverse pose being worked out."""

    pose: Pose

    def __matmul__(self, other: B) -> B:
        return other.to_child(self.pose)


_AXES = {"x": 0, "y": 1, "z": 2}


def product(g: Graph, steps: Iterable[Step]) -> Pose:
    """The pose after some elementary transforms, each in the axes the ones before have left."""
    pose = Pose.identity(g)
    for step in steps:
        pose = pose @ elementary(g, step)
    return pose


def elementary(g: Graph, step: Step) -> Pose:
    """The pose of one elementary transform."""
    axis = _AXES[step.kind.value[1]]
    if step.kind.value[0] == "t":
        return Pose(Matrix.identity(g), Vector(*(step.amount if k == axis else g.zero for k in range(3))))
    (c, s), o, i = _turn(step.amount), g.zero, g.one
    if axis == 0:
        return Pose.turn(Matrix.of(((i, o, o), (o, c, -s), (o, s, c))))
    if axis == 1:
        return Pose.turn(Matrix.of(((c, o, s), (o, i, o), (-s, o, c))))
    return Pose.turn(Matrix.of(((c, -s, o), (s, c, o), (o, o, i))))


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
    rows = (
        (c + k * x * x, k * x * y - s * z, k * x * z + s * y),
        (k * x * y + s * z, c + k * y * y, k * y * z - s * x),
        (k * x * z - s * y, k * y * z + s * x, c + k * z * z),
    )
    return Matrix.of(rows)


def from_quaternion(w: Expr, x: Expr, y: Expr, z: Expr) -> Matrix:
    """The rotation of a quaternion w + x i + y j + z k of any length but zero."""
    xx, yy, zz = x * x, y * y, z * z
    s = 2.0 / (w * w + xx + yy + zz)
    rows = (
        (1.0 - s * (yy + zz), s * (x * y - w * z), s * (x * z + w * y)),
        (s * (x * y + w * z), 1.0 - s * (xx + zz), s * (y * z - w * x)),
        (s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (xx + yy)),
    )
    return Matrix.of(rows)


_QUARTER = math.pi / 2
_TURNS = {
    (1.0, 0.0, 0.0): (StepKind.ROTATE_Y, _QUARTER),
    (-1.0, 0.0, 0.0): (StepKind.ROTATE_Y, -_QUARTER),
    (0.0, 1.0, 0.0): (StepKind.ROTATE_X, -_QUARTER),
    (0.0, -1.0, 0.0): (StepKind.ROTATE_X, _QUARTER),
    (0.0, 0.0, 1.0): (StepKind.ROTATE_X, 0.0),
    (0.0, 0.0, -1.0): (StepKind.ROTATE_X, math.pi),
}


def turn_to(axis: Vector) -> Pose:
    """C with C z along an axis of any length, in numbers or not.

    A joint about or along a unit vector n is C J C', J the joint about z. By quarter turns for x, y, -x, -y and -z, so
    that zeros stay zeros.

    >>> g = Graph()
    >>> turn_to(Vector(g.zero, g.number(2.0), g.zero)).R
    ((1, 0, 0), (0, 0, 1), (0, -1, 0))
    """
    g = axis.graph
    if all(x.is_number for x in axis):
        return _turn_of_numbers(g, float(axis[0]), float(axis[1]), float(axis[2]))
    x, y, z = axis
    about_z, about_y = atan2(y, x), atan2(sqrt(x * x + y * y), z)
    return product(g, [Step(StepKind.ROTATE_Z, about_z), Step(StepKind.ROTATE_Y, about_y)])


def _turn_of_numbers(g: Graph, x: float, y: float, z: float) -> Pose:
    size = math.hypot(x, y, z)
    unit = (x / size + 0.0, y / size + 0.0, z / size + 0.0)
    if unit in _TURNS:
        kind, angle = _TURNS[unit]
        return product(g, [Step(kind, g.number(angle))])
    if z < 0.0:
        half = product(g, [Step(StepKind.ROTATE_X, g.number(math.pi))])
        return half @ Pose.turn(_shortest_turn(g, unit[0], -unit[1], -unit[2]))
    return Pose.turn(_shortest_turn(g, *unit))


def _shortest_turn(g: Graph, x: float, y: float, z: float) -> Matrix:
    """The turn from z to a unit vector about the normal of both: R = I + [w]x + [w]x^2 / (1 + z), w = z cross n."""
    k = 1.0 / (1.0 + z)
    rows = ((1.0 - k * x * x, -k * x * y, x), (-k * x * y, 1.0 - k * y * y, y), (-x, -y, z))
    return Matrix.of((g.number(x) for x in row) for row in rows)


class _Pair(Linear[Vector]):
    """Two vectors at one origin, in the same axes."""

    __slots__ = ()

    def __new__(cls, a: Vector, b: Vector) -> Self:
        return tuple.__new__(cls, (a, b))

    @classmethod
    def zero(cls, g: Graph) -> Self:
        return cls(Vector.zero(g), Vector.zero(g))

    @classmethod
    def of(cls, six: Iterable[Expr]) -> Self:
        """From six components."""
        a, b, c, d, e, f = six
        return cls(Vector(a, b, c), Vector(d, e, f))

    @property
    def six(self) -> tuple[Expr, ...]:
        """All components."""
        return (*self[0], *self[1])

    def turned(self, R: Matrix) -> Self:
        """At the same origin, in axes where these are the columns of R."""
        return type(self)(R @ self[0], R @ self[1])


class Motion(_Pair):
    """A velocity, an acceleration, or a column of a joint's subspace."""

    __slots__ = ()

    @property
    def linear(self) -> Vector:
        return self[0]

    @property
    def angular(self) -> Vector:
        return self[1]

    def to_parent(self, X: Pose) -> Motion:
        """R v + P x R w, R w."""
        w = X.R @ self[1]
        return Motion(X.R @ self[0] + cross(X.P, w), w)

    def to_child(self, X: Pose) -> Motion:
        """R' (v + w x P), R' w."""
        v, w = self
        Rt = X.R.T
        return Motion(Rt @ (v + cross(w, X.P)), Rt @ w)

    def dot(self, F: Wrench) -> Expr:
        """The power of a wrench."""
        return dot(self[0], F[0]) + dot(self[1], F[1])

    def cross(self, x: P) -> P:
        """Featherstone (2.31), (2.32)."""
        (v, w), (a, b) = self, x
        if isinstance(x, Motion):
            return type(x)(cross(w, a) + cross(v, b), cross(w, b))
        return type(x)(cross(w, a), cross(w, b) + cross(v, a))


class Wrench(_Pair):
    """A force and its moment at the origin; or a momentum."""

    __slots__ = ()

    @property
    def force(self) -> Vector:
        return self[0]

    @property
    def moment(self) -> Vector:
        return self[1]

    def to_parent(self, X: Pose) -> Wrench:
        """R f, R n + P x R f."""
        f = X.R @ self[0]
        return Wrench(f, X.R @ self[1] + cross(X.P, f))

    def to_child(self, X: Pose) -> Wrench:
        """R' f, R' (n - P x f)."""
        f, n = self
        Rt = X.R.T
        return Wrench(Rt @ f, Rt @ (n - cross(X.P, f)))


P = TypeVar("P", Motion, Wrench)
