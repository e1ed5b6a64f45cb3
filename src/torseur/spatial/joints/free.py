"""All six motions. Speeds are (V, w) of the child's origin in the child's axes.

Orientation by unit quaternion, or by roll, pitch and yaw with R = Rz(yaw) Ry(pitch) Rx(roll) (Maakaroun 2.41), whose
rates (2.43) fail at pitch = +-pi/2.
"""

from __future__ import annotations

from collections.abc import Sequence

from torseur.graph import Expr, Graph, cos, sin
from torseur.spatial.joints.kind import CoordinateInfo, JointKind, Quantity, along
from torseur.spatial.joints.spherical import QUATERNION, TURN, quaternion_rates, unit
from torseur.spatial.motion import Motion, Wrench
from torseur.spatial.pose import Pose, Step, StepKind, from_quaternion, product
from torseur.spatial.vectors import Vector, cross

__all__ = ["FREE", "FREE_RPY"]

_PLACE = tuple(CoordinateInfo(axis, Quantity.LENGTH, f"position along {axis} of the parent") for axis in "xyz")
_VELOCITY = tuple(CoordinateInfo(f"v{axis}", Quantity.SPEED, f"velocity along {axis} of the child") for axis in "xyz")


class _Free(JointKind):
    name = "free"
    coordinates = (*_PLACE, *QUATERNION)
    speeds = (*_VELOCITY, *TURN)

    def pose(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> Pose:
        return Pose(from_quaternion(*q[3:7]), Vector(*q[:3]))

    def subspace(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> list[Motion]:
        return [along(g, axis, None) for axis in range(3)] + [along(g, None, axis) for axis in range(3)]

    def turning(self, q: Sequence[Expr], w: Sequence[Expr]) -> list[Expr]:
        """The rates of the coordinates of orientation."""
        return quaternion_rates(q[3:7], w)

    def rates(self, g: Graph, q: Sequence[Expr], v: Sequence[Expr]) -> list[Expr]:
        R = self.pose(g, q).R
        return [*(R @ Vector(*v[:3])), *self.turning(q, v[3:6])]

    def displaced(self, g: Graph, q: Sequence[Expr], d: Sequence[Expr]) -> list[Expr]:
        """The shift is along axes that have made half of the turn: right to second order, and the same way back."""
        half = self._turned(q, [0.5 * x for x in d[3:6]])
        shift = self.pose(g, [*q[:3], *half]).R @ Vector(*d[:3])
        return [*(x + s for x, s in zip(q[:3], shift, strict=True)), *self._turned(q, d[3:6])]

    def _turned(self, q: Sequence[Expr], turn: Sequence[Expr]) -> list[Expr]:
        """The coordinates of orientation after a small turn, given in the child's axes."""
        return unit([x + r for x, r in zip(q[3:], self.turning(q, turn), strict=True)])

    def coupling(self, g: Graph, v: Sequence[Expr], p: Sequence[Expr]) -> list[Expr]:
        """Kirchhoff: p x w for the linear part, p x V + l x w for the angular one."""
        (V, w), (f, n) = Motion.of(v), Wrench.of(p)
        return [*cross(f, w), *(cross(f, V) + cross(n, w))]


class _FreeRollPitchYaw(_Free):
    name = "free_rpy"
    coordinates = (
        *_PLACE,
        CoordinateInfo("roll", Quantity.ANGLE, "rotation about x, positive leaning right"),
        CoordinateInfo("pitch", Quantity.ANGLE, "rotation about y, positive nose down"),
        CoordinateInfo("yaw", Quantity.ANGLE, "rotation about z, positive to the left"),
    )

    def pose(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> Pose:
        turn = ((StepKind.ROTATE_Z, q[5]), (StepKind.ROTATE_Y, q[4]), (StepKind.ROTATE_X, q[3]))
        return Pose(product(g, [Step(kind, angle) for kind, angle in turn]).R, Vector(*q[:3]))

    def _turned(self, q: Sequence[Expr], turn: Sequence[Expr]) -> list[Expr]:
        """By the rates half way on."""
        half = [x + 0.5 * r for x, r in zip(q[3:], self.turning(q, turn), strict=True)]
        return [x + r for x, r in zip(q[3:], self.turning([*q[:3], *half], turn), strict=True)]

    def turning(self, q: Sequence[Expr], w: Sequence[Expr]) -> list[Expr]:
        """Maakaroun (2.43): p, q, r are the components of w."""
        (sr, cr), (sp, cp) = ((sin(a), cos(a)) for a in (q[3], q[4]))
        yaw_rate = (sr * w[1] + cr * w[2]) / cp
        return [w[0] + sp * yaw_rate, cr * w[1] - sr * w[2], yaw_rate]


FREE = _Free()
FREE_RPY = _FreeRollPitchYaw()
