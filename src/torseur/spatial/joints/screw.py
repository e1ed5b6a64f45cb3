"""Rotation about z with a translation along z in proportion."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.graph import Expr, Graph, cos, sin
from torseur.spatial.inertia import Inertia
from torseur.spatial.joints.closure import Closing, no_shift, no_tilt, together
from torseur.spatial.joints.kind import CoordinateInfo, JointKind, Quantity, along, unturned
from torseur.spatial.motion import Motion
from torseur.spatial.pose import Pose, Step, StepKind, product

__all__ = ["SCREW"]


class _Screw(JointKind):
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
