"""Joints of one axis, z: revolute, prismatic, screw and cylindrical; and the fixed one, which has none."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.graph import Expr, Graph, cos, sin
from torseur.spatial.inertia import Inertia
from torseur.spatial.joints.kind import (
    Closing,
    CoordinateInfo,
    JointKind,
    Quantity,
    along,
    no_shift,
    no_tilt,
    no_turn,
    together,
    unturned,
)
from torseur.spatial.motion import Motion
from torseur.spatial.pose import Pose, Step, StepKind, elementary, product
from torseur.spatial.vectors import Vector

__all__ = ["CYLINDRICAL", "FIXED", "PRISMATIC", "REVOLUTE", "SCREW"]


class _Fixed(JointKind):
    name = "fixed"
    coordinates = ()
    speeds = ()

    def pose(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> Pose:
        return Pose.identity(g)

    def subspace(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> list[Motion]:
        return []

    def closure(self, pose: Pose, settings: Sequence[Expr] = ()) -> list[Closing]:
        return [*no_shift(pose, 0, 1, 2), *no_turn(pose)]


FIXED = _Fixed()


class _Revolute(JointKind):
    name = "revolute"
    coordinates = (CoordinateInfo("", Quantity.ANGLE, "rotation about z, by the right-hand rule"),)
    speeds = (CoordinateInfo("", Quantity.ANGULAR_SPEED, "its rate"),)

    def pose(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> Pose:
        return elementary(g, Step(StepKind.ROTATE_Z, q[0]))

    def subspace(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> list[Motion]:
        return [along(g, None, 2)]

    def closure(self, pose: Pose, settings: Sequence[Expr] = ()) -> list[Closing]:
        return [*no_shift(pose, 0, 1, 2), *no_tilt(pose)]

    def unnoticed(self, inertia: Inertia) -> Inertia:
        """Masses spread evenly round the axis, without inertia about it: YY, MZ and M."""
        o, (_, _, MZ) = inertia.graph.zero, inertia.MS
        yy = inertia.J[1][1]
        return Inertia.from_ten(yy, o, o, yy, o, o, o, o, MZ, inertia.M)


REVOLUTE = _Revolute()


class _Prismatic(JointKind):
    name = "prismatic"
    coordinates = (CoordinateInfo("", Quantity.LENGTH, "translation along z"),)
    speeds = (CoordinateInfo("", Quantity.SPEED, "its rate"),)

    def pose(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> Pose:
        return elementary(g, Step(StepKind.MOVE_Z, q[0]))

    def subspace(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> list[Motion]:
        return [along(g, 2, None)]

    def closure(self, pose: Pose, settings: Sequence[Expr] = ()) -> list[Closing]:
        return [*no_shift(pose, 0, 1), *no_turn(pose)]

    def unnoticed(self, inertia: Inertia) -> Inertia:
        """The whole tensor: the axes do not turn."""
        g = inertia.graph
        return Inertia(inertia.J, Vector.zero(g), g.zero)


PRISMATIC = _Prismatic()


class _Screw(JointKind):
    """Rotation about z with a translation along z in proportion."""

    name = "screw"
    coordinates = (CoordinateInfo("", Quantity.ANGLE, "rotation about z; pitch times it is the translation along z"),)
    speeds = (CoordinateInfo("", Quantity.ANGULAR_SPEED, "its rate"),)
    settings = ("pitch",)  # m/rad

    def pose(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> Pose:
        return product(g, [Step(StepKind.ROTATE_Z, q[0]), Step(StepKind.MOVE_Z, settings[0] * q[0])])

    def subspace(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> list[Motion]:
        return [along(g, 2, 2, settings[0])]

    def closure(self, pose: Pose, settings: Sequence[Expr] = ()) -> list[Closing]:
        pitch, shift = settings[0], pose.P[2] / settings[0]
        return [*no_shift(pose, 0, 1), *no_tilt(pose), together(pose, pitch, sin(shift), cos(shift))]

    def unnoticed(self, inertia: Inertia) -> Inertia:
        """The part of the tensor that a turn about z leaves alone."""
        return unturned(inertia)


SCREW = _Screw()


class _Cylindrical(JointKind):
    """Rotation about z and, independently, translation along z."""

    name = "cylindrical"
    coordinates = (
        CoordinateInfo("angle", Quantity.ANGLE, "rotation about z"),
        CoordinateInfo("slide", Quantity.LENGTH, "translation along z"),
    )
    speeds = (
        CoordinateInfo("angle", Quantity.ANGULAR_SPEED, "rate of the rotation"),
        CoordinateInfo("slide", Quantity.SPEED, "rate of the translation"),
    )

    def pose(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> Pose:
        return product(g, [Step(StepKind.ROTATE_Z, q[0]), Step(StepKind.MOVE_Z, q[1])])

    def subspace(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> list[Motion]:
        return [along(g, None, 2), along(g, 2, None)]

    def closure(self, pose: Pose, settings: Sequence[Expr] = ()) -> list[Closing]:
        return [*no_shift(pose, 0, 1), *no_tilt(pose)]

    def unnoticed(self, inertia: Inertia) -> Inertia:
        """The part of the tensor that a turn about z leaves alone."""
        return unturned(inertia)


CYLINDRICAL = _Cylindrical()
