"""Where a frame sits in another: four ways to write one product of elementary transforms.

A place is a product of factors: those before the motion of the joint and, in a standard Denavit-Hartenberg row, those
after it. `to_steps` makes expressions of them, and is the only way from a place to a pose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Self, TypeVar

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.fields import Record, Scalar, Triple
from torseur.graph import Expr, Graph, sqrt
from torseur.spatial.pose import Pose, Step, StepKind, about_axis, from_quaternion, product
from torseur.spatial.vectors import Matrix, Vector, dot

__all__ = [
    "AxisTurn",
    "Dh",
    "Elementary",
    "Evaluator",
    "Factor",
    "Mdh",
    "Place",
    "RigidPose",
    "Turn",
    "exactly_one",
    "pose_after",
    "pose_before",
    "pose_of",
    "pose_of_steps",
    "to_steps",
    "vector",
]

R = TypeVar("R", bound=Record)


class Mdh(Record):
    """A row of modified Denavit-Hartenberg parameters (Khalil & Kleinfinger 1986).

    Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r); the motion of the joint, about or along z, comes on top.
    """

    gamma: Scalar = Field(0.0, description="rotation about z of the antecedent, rad")
    b: Scalar = Field(0.0, description="translation along it, m")
    alpha: Scalar = Field(0.0, description="rotation about x, rad")
    d: Scalar = Field(0.0, description="translation along x, m")
    theta: Scalar = Field(0.0, description="rotation about z: the offset of a revolute joint, rad")
    r: Scalar = Field(0.0, description="translation along z: the offset of a prismatic joint, m")


class Dh(Record):
    """A row of standard Denavit-Hartenberg parameters: Rz(theta) Tz(d) Tx(a) Rx(alpha).

    The joint moves about or along z of the parent, before a and alpha.
    """

    theta: Scalar = Field(0.0, description="rotation about z of the parent: the offset of a revolute joint, rad")
    d: Scalar = Field(0.0, description="translation along it: the offset of a prismatic joint, m")
    a: Scalar = Field(0.0, description="translation along x, m")
    alpha: Scalar = Field(0.0, description="rotation about x, rad")


class RigidPose(Record):
    """A position and an orientation."""

    position: Triple = Field((0.0, 0.0, 0.0), description="origin in the parent's axes, m")
    rpy: Triple | None = Field(None, description="roll, pitch, yaw: Rz(yaw) Ry(pitch) Rx(roll), rad")
    quaternion: tuple[Scalar, Scalar, Scalar, Scalar] | None = Field(None, description="w x y z, of unit length")
    matrix: tuple[Triple, Triple, Triple] | None = Field(None, description="rotation matrix by rows")

    @model_validator(mode="after")
    def _one_orientation(self) -> Self:
        given = [n for n in ("rpy", "quaternion", "matrix") if getattr(self, n) is not None]
        if len(given) > 1:
            raise PydanticCustomError(
                "orientation", "give one of rpy, quaternion, matrix; got {got}", {"got": ", ".join(given)}
            )
        return self


class AxisTurn(Record):
    """A rotation about any direction."""

    axis: Triple = Field(description="direction, of any length")
    angle: Scalar = Field(description="rad")


class Elementary(Record):
    """One elementary transform: exactly one field is given."""

    rx: Scalar | None = Field(None, description="rotation about x, rad")
    ry: Scalar | None = Field(None, description="rotation about y, rad")
    rz: Scalar | None = Field(None, description="rotation about z, rad")
    tx: Scalar | None = Field(None, description="translation along x, m")
    ty: Scalar | None = Field(None, description="translation along y, m")
    tz: Scalar | None = Field(None, description="translation along z, m")
    rn: AxisTurn | None = Field(None, description="rotation about a given direction")

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        return exactly_one(self)


class Place(Record):
    """A pose, written one of four ways; none of them means no displacement at all."""

    mdh: Mdh | None = Field(None, description="modified Denavit-Hartenberg parameters")
    dh: Dh | None = Field(None, description="standard Denavit-Hartenberg parameters")
    pose: RigidPose | None = Field(None, description="position and orientation")
    steps: tuple[Elementary, ...] | None = Field(None, description="a product of elementary transforms, left to right")

    @model_validator(mode="after")
    def _at_most_one(self) -> Self:
        return exactly_one(self, or_none=True)

    @property
    def before(self) -> tuple[Factor, ...]:
        """Its factors, left to right, up to the motion of the joint; those of rows and poses that do nothing are left
        out.
        """
        if self.mdh is not None:
            return _row(self.mdh, _MDH)
        if self.dh is not None:
            return _row(self.dh, _DH)
        return self.steps or () if self.pose is None else _rigid(self.pose)

    @property
    def after(self) -> tuple[Elementary, ...]:
        """Its factors behind the motion of the joint: a and alpha of a standard Denavit-Hartenberg row."""
        return () if self.dh is None else _row(self.dh, _DH_AFTER)


def exactly_one(record: R, *, or_none: bool = False) -> R:
    """Refuse a record of alternatives with more than one of them given, or none."""
    fields = list(type(record).model_fields)
    given = [n for n in fields if getattr(record, n) is not None]
    if len(given) > 1 or (not given and not or_none):
        text = "give exactly one of {fields}; got {got}"
        raise PydanticCustomError("choice", text, {"fields": ", ".join(fields), "got": ", ".join(given) or "none"})
    return record


Factor = Elementary | RigidPose
"""A factor of a place: an elementary transform, or an orientation that is none."""

_MDH = (("rz", "gamma"), ("tz", "b"), ("rx", "alpha"), ("tx", "d"), ("rz", "theta"), ("tz", "r"))
_DH = (("rz", "theta"), ("tz", "d"))
_DH_AFTER = (("tx", "a"), ("rx", "alpha"))


def _row(row: Mdh | Dh, pattern: Iterable[tuple[str, str]]) -> tuple[Elementary, ...]:
    return _elementary((kind, getattr(row, field)) for kind, field in pattern)


def _rigid(pose: RigidPose) -> tuple[Factor, ...]:
    """A position, then an orientation; Rz(yaw) Ry(pitch) Rx(roll) is three factors."""
    moves = _elementary(zip(("tx", "ty", "tz"), pose.position, strict=True))
    if pose.quaternion is not None or pose.matrix is not None:
        return (*moves, RigidPose(quaternion=pose.quaternion, matrix=pose.matrix))
    return (*moves, *_turns(pose.rpy or (0.0, 0.0, 0.0)))


def _turns(rpy: Triple) -> tuple[Elementary, ...]:
    return _elementary(zip(("rz", "ry", "rx"), reversed(rpy), strict=True))


def _elementary(amounts: Iterable[tuple[str, Scalar]]) -> tuple[Elementary, ...]:
    return tuple(Elementary.model_validate({kind: amount}) for kind, amount in amounts if amount != 0.0)


# -- expressions -------------------------------------------------------------------------------------------------------
Evaluator = Callable[[Scalar], Expr]
"""Makes an expression of a number or formula."""


@dataclass(frozen=True)
class Turn:
    """A rotation by an angle about a unit vector."""

    axis: Vector
    angle: Expr


def to_steps(factors: Iterable[Factor], scalar: Evaluator) -> Iterator[Step | Turn | Pose]:
    """The factors of a place as expressions.

    Args:
        factors: `Place.before` or `Place.after`.
        scalar: evaluates numbers and formulas.
    """
    for factor in factors:
        if isinstance(factor, RigidPose):
            yield _orientation(factor, scalar)
        elif factor.rn is not None:
            axis = vector(factor.rn.axis, scalar)
            yield Turn(axis / sqrt(dot(axis, axis)), scalar(factor.rn.angle))
        else:
            kind, amount = next((k, a) for k in StepKind if (a := getattr(factor, k.value)) is not None)
            yield Step(kind, scalar(amount))


def _orientation(pose: RigidPose, scalar: Evaluator) -> Pose:
    if pose.quaternion is not None:
        w, x, y, z = (scalar(part) for part in pose.quaternion)
        return Pose.turn(from_quaternion(w, x, y, z))
    assert pose.matrix is not None  # angles are elementary
    return Pose.turn(Matrix(*(vector(row, scalar) for row in pose.matrix)))


def vector(triple: Triple, scalar: Evaluator) -> Vector:
    """Three scalars as expressions."""
    return Vector(*(scalar(part) for part in triple))


def pose_of_steps(g: Graph, factors: Iterable[Step | Turn | Pose]) -> Pose:
    """The product of steps."""
    pose = Pose.identity(g)
    for factor in factors:
        if isinstance(factor, Turn):
            factor = Pose.turn(about_axis(factor.axis, factor.angle))
        pose = pose @ (product(g, [factor]) if isinstance(factor, Step) else factor)
    return pose


def pose_before(g: Graph, place: Place, scalar: Evaluator) -> Pose:
    """Of the part of a place before the motion of the joint."""
    return pose_of_steps(g, to_steps(place.before, scalar))


def pose_after(g: Graph, place: Place, scalar: Evaluator) -> Pose:
    """Of the part behind it."""
    return pose_of_steps(g, to_steps(place.after, scalar))


def pose_of(g: Graph, place: Place, scalar: Evaluator) -> Pose:
    """Of a whole place, without motion."""
    return pose_before(g, place, scalar) @ pose_after(g, place, scalar)
