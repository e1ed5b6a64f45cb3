"""Where a frame sits in another: four ways to write one product of elementary transforms."""

from __future__ import annotations

from typing import Self, TypeVar

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.fields import Record, Scalar, Triple

__all__ = ["AxisTurn", "Dh", "Elementary", "Mdh", "Place", "RigidPose", "exactly_one"]

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


def exactly_one(record: R, *, or_none: bool = False) -> R:
    """Refuse a record of alternatives with more than one of them given, or none."""
    fields = list(type(record).model_fields)
    given = [n for n in fields if getattr(record, n) is not None]
    if len(given) > 1 or (not given and not or_none):
        text = "give exactly one of {fields}; got {got}"
        raise PydanticCustomError("choice", text, {"fields": ", ".join(fields), "got": ", ".join(given) or "none"})
    return record
