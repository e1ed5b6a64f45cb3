"""A ball joint: orientation by unit quaternion, speeds the angular velocity in the child's axes.

dq/dt = 1/2 q * (0, w): Featherstone, Rigid Body Dynamics Algorithms, section 4.5.
"""

from __future__ import annotations

from collections.abc import Sequence

from torseur.graph import Expr, Graph, sqrt
from torseur.spatial.inertia import Inertia
from torseur.spatial.joints.closure import Closing, no_shift
from torseur.spatial.joints.kind import CoordinateInfo, JointKind, Quantity, along
from torseur.spatial.motion import Motion
from torseur.spatial.pose import Pose, from_quaternion
from torseur.spatial.vectors import Matrix, Vector, cross

__all__ = ["QUATERNION", "SPHERICAL", "TURN", "quaternion_rates", "unit"]

QUATERNION = (
    CoordinateInfo("qw", Quantity.NUMBER, "scalar part of the unit quaternion of the child's axes", 1.0),
    CoordinateInfo("qx", Quantity.NUMBER, "its x part"),
    CoordinateInfo("qy", Quantity.NUMBER, "its y part"),
    CoordinateInfo("qz", Quantity.NUMBER, "its z part"),
)
TURN = tuple(
    CoordinateInfo(f"w{axis}", Quantity.ANGULAR_SPEED, f"angular velocity about {axis} of the child") for axis in "xyz"
)


def unit(q: Sequence[Expr]) -> list[Expr]:
    """The quaternion made of unit length again."""
    s, x, y, z = q
    length = sqrt(s * s + x * x + y * y + z * z)
    return [c / length for c in q]


def quaternion_rates(q: Sequence[Expr], w: Sequence[Expr]) -> list[Expr]:
    """d/dt of the quaternion whose frame turns at w, given in that frame."""
    s, x, y, z = q
    p, r, t = w
    return [
        -0.5 * (x * p + y * r + z * t),
        0.5 * (s * p + y * t - z * r),
        0.5 * (s * r + z * p - x * t),
        0.5 * (s * t + x * r - y * p),
    ]


class _Spherical(JointKind):
    name = "spherical"
    coordinates = QUATERNION
    speeds = TURN

    def pose(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> Pose:
        return Pose.turn(from_quaternion(*q))

    def subspace(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> list[Motion]:
        return [along(g, None, axis) for axis in range(3)]

    def closure(self, pose: Pose, settings: Sequence[Expr] = ()) -> list[Closing]:
        return no_shift(pose, 0, 1, 2)

    def rates(self, g: Graph, q: Sequence[Expr], v: Sequence[Expr]) -> list[Expr]:
        return quaternion_rates(q, v)

    def displaced(self, g: Graph, q: Sequence[Expr], d: Sequence[Expr]) -> list[Expr]:
        return unit(super().displaced(g, q, d))

    def unnoticed(self, inertia: Inertia) -> Inertia:
        """The mass: at the centre of the joint it stays where it is."""
        g = inertia.graph
        return Inertia(Matrix.zero(g), Vector.zero(g), inertia.M)

    def coupling(self, g: Graph, v: Sequence[Expr], p: Sequence[Expr]) -> list[Expr]:
        """Euler: p x w."""
        return list(cross(Vector(*p), Vector(*v)))


SPHERICAL = _Spherical()
