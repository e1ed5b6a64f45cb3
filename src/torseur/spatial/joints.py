"""The joint kinds: fixed; of one axis, z (revolute, prismatic, screw, cylindrical); and of several axes.

To add one to the core: write its class, add it to `KINDS`; packages: `torseur.extensions`.
"""

from __future__ import annotations

from collections.abc import Sequence

from torseur.extensions import Kinds
from torseur.graph import Expr, Graph, cos, sin, sqrt
from torseur.spatial.inertia import Inertia
from torseur.spatial.joint_kind import (
    Closing,
    CoordinateInfo,
    JointKind,
    Quantity,
    along,
    no_shift,
    no_tilt,
    no_turn,
    square_axes,
    together,
    unturned,
)
from torseur.spatial.pose import Motion, Pose, Step, StepKind, Wrench, elementary, from_quaternion, product
from torseur.spatial.vectors import Matrix, Vector, cross

__all__ = [
    "CYLINDRICAL",
    "FIXED",
    "FREE",
    "FREE_RPY",
    "KINDS",
    "PLANAR",
    "PRISMATIC",
    "QUATERNION",
    "REVOLUTE",
    "SCREW",
    "SPHERICAL",
    "TURN",
    "UNIVERSAL",
    "CoordinateInfo",
    "JointKind",
    "Quantity",
    "quaternion_rates",
    "unit",
]


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


class _Universal(JointKind):
    """A Hooke joint: rotation about x of the parent, then about y of the cross.

    With R = Rx(q1) Ry(q2), the angular velocity in the child's axes is Ry(-q2) x v1 + y v2.
    """

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


class _Planar(JointKind):
    """Motion in the xy plane of the parent: x, y and a rotation about z. Speeds are in the child's axes."""

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
    """A ball joint: orientation by unit quaternion, dq/dt = 1/2 q * (0, w).

    Featherstone, Rigid Body Dynamics Algorithms, section 4.5.
    """

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


_PLACE = tuple(CoordinateInfo(axis, Quantity.LENGTH, f"position along {axis} of the parent") for axis in "xyz")
_VELOCITY = tuple(CoordinateInfo(f"v{axis}", Quantity.SPEED, f"velocity along {axis} of the child") for axis in "xyz")


class _Free(JointKind):
    """All six motions. Speeds are (V, w) of the child's origin in the child's axes."""

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


_CORE = REVOLUTE, PRISMATIC, FIXED, UNIVERSAL, SPHERICAL, CYLINDRICAL, PLANAR, SCREW, FREE, FREE_RPY

KINDS: Kinds[JointKind] = Kinds("joints", {kind.name: kind for kind in _CORE})
"""The kinds of the core, and those of extensions."""
