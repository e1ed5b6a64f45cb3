"""Rotation about z."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.graph import Expr, Graph
from torseur.spatial.inertia import Inertia
from torseur.spatial.joints.closure import Closing, no_shift, no_tilt
from torseur.spatial.joints.kind import CoordinateInfo, JointKind, Quantity, along
from torseur.spatial.motion import Motion
from torseur.spatial.pose import Pose, Step, StepKind, elementary

__all__ = ["REVOLUTE"]


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
