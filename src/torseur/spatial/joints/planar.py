"""Motion in the xy plane of the parent: x, y and a rotation about z. Speeds are in the child's axes."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.graph import Expr, Graph, cos, sin
from torseur.spatial.inertia import Inertia
from torseur.spatial.joints.closure import Closing, no_shift, no_tilt
from torseur.spatial.joints.kind import CoordinateInfo, JointKind, Quantity, along, unturned
from torseur.spatial.motion import Motion
from torseur.spatial.pose import Pose, Step, StepKind, product

__all__ = ["PLANAR"]


class _Planar(JointKind):
    name = "planar"
    coordinates = (
        CoordinateInfo("x", Quantity.LENGTH, "position along x of the parent"),
        CoordinateInfo("y", Quantity.LENGTH, "position along y of the parent"),
        CoordinateInfo("yaw", Quantity.ANGLE, "rotation about z, positive to the left"),
    )
    speeds = (
        CoordinateInfo("vx", Quantity.SPEED, "velocity along x of the child"),
        CoordinateInfo("vy", Quantity.SPEED, "velocity along y of the child"),
        CoordinateInfo("wz", Quantity.ANGULAR_SPEED, "rate of the rotation"),
    )

    def pose(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> Pose:
        kinds = (StepKind.MOVE_X, StepKind.MOVE_Y, StepKind.ROTATE_Z)
        return product(g, [Step(kind, amount) for kind, amount in zip(kinds, q, strict=True)])

    def subspace(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> list[Motion]:
        return [along(g, 0, None), along(g, 1, None), along(g, None, 2)]

    def closure(self, pose: Pose, settings: Sequence[Expr] = ()) -> list[Closing]:
        return [*no_shift(pose, 2), *no_tilt(pose)]

    def displaced(self, g: Graph, q: Sequence[Expr], d: Sequence[Expr]) -> list[Expr]:
        """Along axes that have made half of the turn."""
        x, y, yaw = self.rates(g, [q[0], q[1], q[2] + 0.5 * d[2]], d)
        return [q[0] + x, q[1] + y, q[2] + yaw]

    def rates(self, g: Graph, q: Sequence[Expr], v: Sequence[Expr]) -> list[Expr]:
        c, s = cos(q[2]), sin(q[2])
        return [c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]]

    def unnoticed(self, inertia: Inertia) -> Inertia:
        """The part of the tensor that a turn about z leaves alone."""
        return unturned(inertia)

    def coupling(self, g: Graph, v: Sequence[Expr], p: Sequence[Expr]) -> list[Expr]:
        """The axes turn at wz under the momenta."""
        return [p[1] * v[2], -(p[0] * v[2]), v[1] * p[0] - v[0] * p[1]]


PLANAR = _Planar()
