"""Places and solids as expressions: what they are where every scalar is one.

The moments of inertia are those at the middle of a shape, in its own axes; a cone's centre of mass is a quarter of its
length above its foot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torseur.describe.fields import Scalar
from torseur.describe.inertia import CompositeInertia, Solid
from torseur.describe.place import Place, RigidPose
from torseur.graph import Expr, Graph, sqrt
from torseur.spatial.inertia import Inertia, central
from torseur.spatial.pose import Pose, Step, StepKind, about_axis, from_quaternion, product
from torseur.spatial.vectors import Vector, identity, zero_vector

__all__ = ["Values"]

MDH = (("rz", "gamma"), ("tz", "b"), ("rx", "alpha"), ("tx", "d"), ("rz", "theta"), ("tz", "r"))
DH = (("rz", "theta"), ("tz", "d"))
DH_AFTER = (("tx", "a"), ("rx", "alpha"))
_TURNS = (StepKind.ROTATE_Z, StepKind.ROTATE_Y, StepKind.ROTATE_X)


@dataclass(frozen=True)
class Values:
    """A way to make expressions of scalars, and what follows for records of them."""

    g: Graph
    scalar: Callable[[Scalar], Expr]

    def vector(self, values: Sequence[Scalar]) -> Vector:
        x, y, z = (self.scalar(value) for value in values)
        return (x, y, z)

    # -- places --------------------------------------------------------------------------------------------------------
    def before(self, place: Place) -> Pose:
        """The part of a place before the motion of the joint."""
        if place.mdh is not None:
            return self._row(place.mdh, MDH)
        if place.dh is not None:
            return self._row(place.dh, DH)
        if place.pose is not None:
            return self._rigid(place.pose)
        pose = Pose.identity(self.g)
        for step in place.steps or ():
            if step.rn is not None:
                axis = _unit(self.vector(step.rn.axis))
                pose = pose * Pose(about_axis(axis, self.scalar(step.rn.angle)), zero_vector(self.g))
            else:
                kind, amount = next((k, a) for k in StepKind if (a := getattr(step, k.value)) is not None)
                pose = pose * product(self.g, [Step(kind, self.scalar(amount))])
        return pose

    def after(self, place: Place) -> Pose:
        """The part after it: a and alpha of a standard Denavit-Hartenberg row."""
        return Pose.identity(self.g) if place.dh is None else self._row(place.dh, DH_AFTER)

    def whole(self, place: Place) -> Pose:
        return self.before(place) * self.after(place)

    def _row(self, row: object, pattern: tuple[tuple[str, str], ...]) -> Pose:
        return product(self.g, [Step(StepKind(kind), self.scalar(getattr(row, field))) for kind, field in pattern])

    def _rigid(self, pose: RigidPose) -> Pose:
        P = self.vector(pose.position)
        if pose.quaternion is not None:
            w, x, y, z = (self.scalar(part) for part in pose.quaternion)
            return Pose(from_quaternion(w, x, y, z), P)
        if pose.matrix is not None:
            a, b, c = (self.vector(row) for row in pose.matrix)
            return Pose((a, b, c), P)
        angles = reversed(pose.rpy or (0.0, 0.0, 0.0))
        return Pose(product(self.g, [Step(k, self.scalar(a)) for k, a in zip(_TURNS, angles, strict=True)]).R, P)

    # -- solids --------------------------------------------------------------------------------------------------------
    def inertia(self, record: Solid | CompositeInertia) -> Inertia:
        """The ten parameters at the body's frame."""
        if isinstance(record, CompositeInertia):
            total = Inertia.zero(self.g)
            for solid in record.solids:
                total = total + self.inertia(solid)
            return total
        volume, centre, moments = self._shape(record)
        mass = self.scalar(record.mass) if record.mass is not None else self.scalar(record.density or 0.0) * volume
        x, y, z = (mass * moment for moment in moments)
        o = self.g.zero
        own = central(mass, (o, o, centre), ((x, o, o), (o, y, o), (o, o, z)), identity(self.g))
        return own.seen_from(self.whole(record.place))

    def _shape(self, solid: Solid) -> tuple[Expr, Expr, Vector]:
        """Volume, height of the centre of mass, and moments of inertia there for a mass of 1."""
        scalar, o = self.scalar, self.g.zero
        if solid.box is not None:
            a, b, c = self.vector(solid.box.size)
            k = 1.0 / 12.0
            return a * b * c, o, (k * (b * b + c * c), k * (a * a + c * c), k * (a * a + b * b))
        if solid.sphere is not None:
            r = scalar(solid.sphere.radius)
            J = 0.4 * (r * r)
            return (4.0 / 3.0 * math.pi) * (r * r * r), o, (J, J, J)
        if solid.cone is not None:
            r, h = scalar(solid.cone.radius), scalar(solid.cone.length)
            J = 0.15 * (r * r) + 0.0375 * (h * h)
            return (math.pi / 3.0) * (r * r * h), 0.25 * h, (J, J, 0.3 * (r * r))
        if solid.tube is not None:
            r, i, h = scalar(solid.tube.radius), scalar(solid.tube.inner), scalar(solid.tube.length)
            area, square = r * r - i * i, r * r + i * i
        else:
            assert solid.cylinder is not None  # a solid has exactly one form
            r, h = scalar(solid.cylinder.radius), scalar(solid.cylinder.length)
            area = square = r * r
        J = 0.25 * square + (1.0 / 12.0) * (h * h)
        return math.pi * (area * h), o, (J, J, 0.5 * square)


def _unit(axis: Vector) -> Vector:
    size = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2])
    return (axis[0] / size, axis[1] / size, axis[2] / size)
