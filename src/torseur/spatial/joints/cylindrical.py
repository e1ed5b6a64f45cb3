"""Rotation about z and, independently, translation along z."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.graph import Expr, Graph
from torseur.spatial.inertia import Inertia
from torseur.spatial.joints.closure import Closing, no_shift, no_tilt
from torseur.spatial.joints.kind import CoordinateInfo, JointKind, Quantity, along, unturned
from torseur.spatial.motion import Motion
from torseur.spatial.pose import Pose, Step, StepKind, product

__all__ = ["CYLINDRICAL"]


class _Cylindrical(JointKind):
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
