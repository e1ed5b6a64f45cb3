"""What ties bodies together beyond the tree: loops, rolling, couplings, prescribed motion, free equations."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, StrictBool, field_validator, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.annotations import (
    Anything,
    CoordinateName,
    Driven,
    FrameName,
    GeometricTriple,
    Positional,
    RoadName,
    Signal,
    SpeedName,
)
from torseur.describe.bodies import WORLD, known_joints
from torseur.describe.fields import FrozenDict, Record, Scalar
from torseur.describe.place import exactly_one
from torseur.spatial.joints import KINDS, JointKind

__all__ = ["Constraint", "Contact", "Coupling", "Loop", "NoSideSlip", "Prescribed", "Rolling", "SpeedRow"]


class Loop(Record):
    """A cut joint: it closes a chain between two frames (bodies' own or named ones)."""

    joint: str = Field("revolute", description="its kind", json_schema_extra=known_joints)
    between: tuple[FrameName, FrameName] = Field(description="frames a and b of the joint")
    pitch: Scalar | None = Field(None, description="of a screw, m/rad")

    @field_validator("joint")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in KINDS or not KINDS[value].closes_loops:
            known = ", ".join(name for name, kind in KINDS.items() if kind.closes_loops)
            parts = {"got": value, "known": known}
            if value in KINDS and KINDS[value].nv < 6:
                text = "a {got} joint cannot close a loop: its kind gives no equations for it; expected one of {known}"
                raise PydanticCustomError("kind", text, parts)
            raise PydanticCustomError("kind", "no cut joint '{got}'; expected one of {known}", parts)
        return value

    @property
    def algebra(self) -> JointKind:
        return KINDS[self.joint]

    @property
    def is_own(self) -> bool:
        return super().is_own and self.joint in KINDS.core


class Rolling(Record):
    """A wheel or disc that rolls without slipping on a plane or road: its lowest point has no velocity."""

    wheel: FrameName = Field(description="body or frame at the wheel's centre, with the axle along one of its axes")
    axle: Literal["x", "y", "z"] = Field("z", description="the axis of the wheel's frame along the axle")
    radius: Scalar = Field(description="m")
    crown: Scalar = Field(0.0, description="radius of the tread's cross-section, m: 0 is a disc")
    ground: FrameName = Field(WORLD, description="frame whose xy plane is the ground")
    road: RoadName | None = Field(None, description="in place of the ground: a road of this model")
    under: FrameName | None = Field(
        None,
        description="frame that does not spin: the point of contact is fixed at the radius below it, along its z axis; "
        "by default it is the lowest point of the tread",
    )
    stiffness: Scalar | None = Field(
        None, description="N/m: the tread is pressed in by the normal force; by default it is rigid"
    )
    damping: Scalar = Field(0.0, description="of the tread pressed in, N s/m")
    slides: StrictBool | Literal["freely"] = Field(
        False,
        description="true: only the sideways slip is forbidden, as for a locked-out drive; freely: no slip is, as for "
        "a wheel whose tyre or creep forces are loads",
    )
    lifts: bool = Field(False, strict=True, description="true: in a simulation it may lift off, and land again")
    friction: Anything | None = Field(
        None,
        description="coefficient of Coulomb friction: in a simulation the wheel slips where it would take more than "
        "this times the normal force; by default it never does",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.road is not None and self.ground != WORLD:
            raise PydanticCustomError("choice", "give ground or road, not both")
        if self.stiffness is not None and (self.slides != "freely" or self.friction is not None):
            text = "a tread with stiffness has tyre forces as loads: it needs slides: freely, and no friction here"
            raise PydanticCustomError("choice", text)
        return self


class Contact(Record):
    """A one-sided constraint: a gap that can close but not become negative; what closes it can push, not pull.

    A simulation opens and closes it; functions of a model take it as closed.
    """

    frame: FrameName | None = Field(None, description="the gap is the height of its origin above the ground")
    ground: FrameName = Field(WORLD, description="frame whose xy plane is the ground")
    gap: Driven | None = Field(None, description="the gap as a formula of coordinates, t and inputs, m")
    restitution: Scalar = Field(0.0, description="speed after an impact over speed before it, 0 to 1")
    friction: Anything | None = Field(
        None, description="coefficient of Coulomb friction, with stick and slip in a simulation; none by default"
    )

    @model_validator(mode="after")
    def _one_gap(self) -> Self:
        if (self.frame is None) == (self.gap is None):
            raise PydanticCustomError("choice", "give exactly one of frame, gap", {})
        return self


class NoSideSlip(Record):
    """A point that cannot move sideways: knife edge, wheel of a planar vehicle."""

    frame: FrameName = Field(description="its origin is the point")
    direction: GeometricTriple = Field((0.0, 1.0, 0.0), description="the forbidden direction, in that frame's axes")


class SpeedRow(Record):
    """sum of coefficients times speeds = value."""

    coefficients: Annotated[dict[SpeedName, Driven], AfterValidator(FrozenDict)] = Field(
        description="speed -> coefficient, a formula of coordinates, t and inputs", min_length=1
    )
    equals: Driven = Field(0.0, description="formula of coordinates, t and inputs")


class Coupling(Record):
    """A coordinate that follows others."""

    coordinate: CoordinateName = Field(description="the one that follows")
    equals: Positional = Field(description="formula of the other coordinates, e.g. K*roll")


class Prescribed(Record):
    """A coordinate with a given motion."""

    coordinate: CoordinateName = Field(description="the one whose motion is given")
    equals: Signal = Field(description="formula of t and inputs")


class Constraint(Record):
    """One constraint; exactly one field is given."""

    rolling: Rolling | None = Field(None, description="rolling without slipping")
    contact: Contact | None = Field(None, description="a gap that cannot become negative")
    no_side_slip: NoSideSlip | None = Field(None, description="a point that cannot move sideways")
    speeds: SpeedRow | None = Field(None, description="a row that is linear in the speeds")
    coupling: Coupling | None = Field(None, description="a coordinate that follows others")
    prescribed: Prescribed | None = Field(None, description="a coordinate with a given motion")
    zero: Driven | None = Field(None, description="an equation h = 0: formula of coordinates, t and inputs")

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        return exactly_one(self)

    @property
    def form(self) -> Any:
        """The one that is given."""
        return next(v for n in type(self).model_fields if (v := getattr(self, n)) is not None)
