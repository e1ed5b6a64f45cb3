"""What a joint kind is: the names of its coordinates and speeds, the algebra of its motion, and what it forbids.

A joint takes its frame *a* (fixed in the parent) to its frame *b* (fixed in the child). With coordinates q and speeds
v:

- ``pose(q)`` is the pose of b in a;
- the velocity of b relative to a, (linear; angular) of b's origin in b's axes, is ``S(q) v``; its derivative, in b's
  axes, is ``S(q) vdot + c(q, v)``;
- ``dq/dt = rates(q, v)``; q and v have different lengths where a quaternion is involved.

A cut joint has no coordinates; its equations of closure say where frame b may be, seen from frame a, by the entries of
the relative pose (R, P). Beside each equation stands its rate as a product with the relative velocity of b, (V; w) in
the axes of a, so that its multiplier is a force or torque on b:

    d/dt P = V        d/dt R = [w]x R, hence d/dt R_ij = w . (column j of R  x  axis i)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from torseur.errors import ModelError
from torseur.graph import Expr, Graph
from torseur.spatial.inertia import Inertia
from torseur.spatial.pose import Motion, Pose, Wrench
from torseur.spatial.vectors import Vector, cross

__all__ = [
    "Closing",
    "CoordinateInfo",
    "JointKind",
    "Quantity",
    "along",
    "no_shift",
    "no_tilt",
    "no_turn",
    "square_axes",
    "together",
    "unturned",
]

_AXES = "xyz"


@dataclass(frozen=True)
class Closing:
    """One equation, value = 0: along which axis of a it pushes or about which it turns; rate = dot((V; w), wrench).

    `value` is in metres if it is a force, without unit (an angle, nearby) if it is a torque.
    """

    part: str
    value: Expr
    wrench: Wrench

    @property
    def is_torque(self) -> bool:
        return self.wrench.force.is_zero


def _force(part: str, value: Expr, force: Vector) -> Closing:
    return Closing(part, value, Wrench(force, Vector.zero(value.graph)))


def _torque(part: str, value: Expr, torque: Vector) -> Closing:
    return Closing(part, value, Wrench(Vector.zero(value.graph), torque))


def _entry(pose: Pose, i: int, j: int) -> tuple[Expr, Vector]:
    """R_ij and the gradient of its rate by w."""
    return pose.R[i][j], cross(pose.R.T[j], Vector.unit(pose.graph, i))


def no_shift(pose: Pose, *axes: int) -> list[Closing]:
    """b's origin stays on a's, along these axes of a."""
    return [_force(_AXES[k], pose.P[k], Vector.unit(pose.graph, k)) for k in axes]


def no_tilt(pose: Pose) -> list[Closing]:
    """b's z stays along a's z: its x and y parts vanish, held by torques about y and x of a."""
    rows = []
    for part, i, sense in (("about_x", 1, -1.0), ("about_y", 0, 1.0)):
        value, torque = _entry(pose, i, 2)
        rows.append(_torque(part, sense * value, sense * torque))
    return rows


def no_turn(pose: Pose) -> list[Closing]:
    """The axes of b stay those of a: the antisymmetric part of R vanishes."""
    rows = []
    for part, i, j in (("about_x", 2, 1), ("about_y", 0, 2), ("about_z", 1, 0)):
        (one, by_one), (other, by_other) = _entry(pose, i, j), _entry(pose, j, i)
        rows.append(_torque(part, 0.5 * (one - other), 0.5 * (by_one - by_other)))
    return rows


def square_axes(pose: Pose) -> list[Closing]:
    """b's y stays square to a's x: what is left of the turn about z in a Hooke joint."""
    value, torque = _entry(pose, 0, 1)
    return [_torque("about_z", -value, -torque)]


def together(pose: Pose, pitch: Expr, sine: Expr, cosine: Expr) -> Closing:
    """The turn about z follows the shift along it: pitch times sin(turn - shift / pitch) vanishes.

    Args:
        pose: of b in a.
        pitch: m/rad.
        sine: of shift / pitch.
        cosine: of shift / pitch.
    """
    (s, by_s), (c, by_c) = _entry(pose, 1, 0), _entry(pose, 0, 0)
    along = s * sine + c * cosine  # = cos(turn - shift / pitch)
    force, torque = along * Vector.unit(pose.graph, 2), -pitch * (cosine * by_s - sine * by_c)
    return Closing("z", -pitch * (s * cosine - c * sine), Wrench(force, torque))


class Quantity(Enum):
    """What a coordinate or speed measures; the value is its unit."""

    ANGLE = "rad"
    LENGTH = "m"
    ANGULAR_SPEED = "rad/s"
    SPEED = "m/s"
    NUMBER = ""


@dataclass(frozen=True)
class CoordinateInfo:
    """A coordinate or speed of a joint kind: the ending of its name, what it measures, what it means."""

    suffix: str
    quantity: Quantity
    meaning: str
    neutral: float = 0.0


class JointKind(ABC):
    """One kind of joint. The instances are stateless: one per kind."""

    name: str
    coordinates: tuple[CoordinateInfo, ...]
    speeds: tuple[CoordinateInfo, ...]
    settings: tuple[str, ...] = ()
    """Numbers a joint of this kind needs besides its coordinates, such as the pitch of a screw."""

    turns_its_columns: bool = False
    """Whether S changes with q in the child's axes."""

    @property
    def nq(self) -> int:
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        return len(self.speeds)

    @abstractmethod
    def pose(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> Pose:
        """The pose of frame b in frame a."""

    @abstractmethod
    def subspace(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> list[Motion]:
        """The columns of S(q)."""

    def bias(self, g: Graph, q: Sequence[Expr], v: Sequence[Expr], settings: Sequence[Expr] = ()) -> Motion:
        """c(q, v) = dS/dt v: zero unless S changes with q."""
        return Motion.zero(g)

    def closure(self, pose: Pose, settings: Sequence[Expr] = ()) -> list[Closing]:
        """What holds between frames a and b when they are joined so: 6 - nv equations on the pose of b in a.

        A kind that does not say so is for the tree of bodies alone.
        """
        if self.nv == 6:
            return []
        raise ModelError(
            f"a {self.name} joint cannot close a loop",
            expected=f"a kind with equations of closure: {6 - self.nv} of them",
            remedy=f"define {type(self).__name__}.closure, or cut the loop at another joint",
        )

    @property
    def closes_loops(self) -> bool:
        """Whether it can be a cut joint: it leaves something to constrain, and says what."""
        return self.nv < 6 and type(self).closure is not JointKind.closure

    def displaced(self, g: Graph, q: Sequence[Expr], d: Sequence[Expr]) -> list[Expr]:
        """The coordinates after a small motion d along the speeds; what must have unit length keeps it."""
        return [x + r for x, r in zip(q, self.rates(g, q, d), strict=True)]

    def rates(self, g: Graph, q: Sequence[Expr], v: Sequence[Expr]) -> list[Expr]:
        """dq/dt; v itself unless the kind says otherwise."""
        return list(v)

    def coupling(self, g: Graph, v: Sequence[Expr], p: Sequence[Expr]) -> list[Expr]:
        """ad(v, p): what body-fixed speeds add to the rate of the momenta p; zero where the speeds are rates of q."""
        return [g.zero] * self.nv

    def unnoticed(self, inertia: Inertia) -> Inertia:
        """The part of a child's inertia that does not notice the motion: it may as well be the parent's.

        This is the closed rule of base parameters (Khalil & Dombre 9.4) seen from the joint: what is moved to the
        parent has the same energy there, whatever the coordinates and speeds.
        """
        return Inertia.zero(inertia.graph)

    def __repr__(self) -> str:
        return f"<joint kind {self.name}>"


def unturned(inertia: Inertia) -> Inertia:
    """A tensor that a rotation about z leaves alone and that resists no spin about z: diag(YY, YY, 0)."""
    o, yy = inertia.graph.zero, inertia.J[1][1]
    return Inertia.from_ten(yy, o, o, yy, o, o, o, o, o, o)


def along(g: Graph, linear: int | None, angular: int | None, pitch: Expr | None = None) -> Motion:
    """A column of S made of unit vectors: along axis `linear` (times a pitch), about axis `angular`."""
    v = Vector.zero(g) if linear is None else Vector.unit(g, linear) * (1.0 if pitch is None else pitch)
    return Motion(v, Vector.zero(g) if angular is None else Vector.unit(g, angular))
