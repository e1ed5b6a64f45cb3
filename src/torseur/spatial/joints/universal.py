"""A Hooke joint: rotation about x of the parent, then about y of the cross.

With R = Rx(q1) Ry(q2), the angular velocity in the child's axes is Ry(-q2) x v1 + y v2.
"""

from __future__ import annotations

from collections.abc import Sequence

from torseur.graph import Expr, Graph, cos, sin
from torseur.spatial.inertia import Inertia
from torseur.spatial.joints.closure import Closing, no_shift, square_axes
from torseur.spatial.joints.kind import CoordinateInfo, JointKind, Quantity, along
from torseur.spatial.motion import Motion
from torseur.spatial.pose import Pose, Step, StepKind, product
from torseur.spatial.vectors import Matrix, Vector

__all__ = ["UNIVERSAL"]


class _Universal(JointKind):
    name = "universal"
    coordinates = (
        CoordinateInfo("x", Quantity.ANGLE, "rotation about x of the parent"),
        CoordinateInfo("y", Quantity.ANGLE, "then rotation about y of the cross"),
    )
    speeds = (
        CoordinateInfo("x", Quantity.ANGULAR_SPEED, "rate of the first rotation"),
        CoordinateInfo("y", Quantity.ANGULAR_SPEED, "rate of the second rotation"),
    )

    turns_its_columns = True

    def pose(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> Pose:
        return product(g, [Step(StepKind.ROTATE_X, q[0]), Step(StepKind.ROTATE_Y, q[1])])

    def subspace(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> list[Motion]:
        return [Motion(Vector.zero(g), Vector(cos(q[1]), g.zero, sin(q[1]))), along(g, None, 1)]

    def closure(self, pose: Pose, settings: Sequence[Expr] = ()) -> list[Closing]:
        return [*no_shift(pose, 0, 1, 2), *square_axes(pose)]

    def bias(self, g: Graph, q: Sequence[Expr], v: Sequence[Expr], settings: Sequence[Expr] = ()) -> Motion:
        both = v[0] * v[1]
        return Motion(Vector.zero(g), Vector(-(sin(q[1]) * both), g.zero, cos(q[1]) * both))

    def unnoticed(self, inertia: Inertia) -> Inertia:
        """The mass: at the centre of the joint it stays where it is."""
        g = inertia.graph
        return Inertia(Matrix.zero(g), Vector.zero(g), inertia.M)


UNIVERSAL = _Universal()
