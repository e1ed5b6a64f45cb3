"""Bodies, the joints that carry them, the frames and shapes on them; the base, and roads, fixed in the world."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.annotations import BodyName, FrameName, OnRoad, Symbols, Uses
from torseur.describe.faults import meant
from torseur.describe.fields import FrozenDict, Record, Scalar, Table, Triple
from torseur.describe.inertia import Box, Cone, Cylinder, Inertia, Sphere
from torseur.describe.place import Place
from torseur.spatial.joints import KINDS, JointKind

__all__ = [
    "BASE",
    "WORLD",
    "Axis",
    "Base",
    "BaseKind",
    "Body",
    "Box",
    "Cone",
    "Coordinate",
    "Cylinder",
    "Frame",
    "Joint",
    "Line",
    "Mesh",
    "Road",
    "Shape",
    "Sphere",
    "Tyre",
]

WORLD = "world"
"""The frame that does not move."""
BASE = "base"
"""The body the tree hangs on; the world itself when the base is fixed."""


Axis = Literal["x", "y", "z"] | Triple
"""A direction: an axis of a frame, or three components of any length."""

PositionalPlace = Annotated[Place, Uses(Symbols.COORDINATES)]
SignalPlace = Annotated[Place, Uses(Symbols.TIME | Symbols.INPUTS)]


class Coordinate(Record):
    """One coordinate: where it starts and how far it goes."""

    start: Scalar | None = Field(None, description="initial value, kept exactly when loops are closed")
    start_speed: Scalar | None = Field(None, description="initial rate, kept exactly as well")
    guess: Scalar | None = Field(
        None,
        description="approximate initial value, adjusted until loops close; by default the neutral value of the joint",
    )
    guess_speed: Scalar | None = Field(
        None, description="approximate initial rate, adjusted to the constraints; by default 0"
    )
    lower: Scalar | None = Field(None, description="lower stop")
    upper: Scalar | None = Field(None, description="upper stop")
    speed_limit: Scalar | None = Field(None, description="largest rate, in magnitude")
    effort_limit: Scalar | None = Field(None, description="largest generalised force, in magnitude")
    unit: str | None = Field(None, description="of a coordinate of free-form kinematics: m or rad")
    meaning: str | None = Field(None, description="what it is, with its positive sense")

    @model_validator(mode="after")
    def _once(self) -> Self:
        for start, guess in (("start", "guess"), ("start_speed", "guess_speed")):
            if getattr(self, start) is not None and getattr(self, guess) is not None:
                raise PydanticCustomError(
                    "twice", f"give {start}, which is kept exactly, or {guess}, which is adjusted; not both"
                )
        return self


_DIRECTIONS: dict[str, Triple] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_WITH_AXIS = ("revolute", "prismatic", "screw", "cylindrical", "planar")


def known_joints(schema: dict[str, Any]) -> None:
    """The joint kinds there are, into a JSON schema."""
    schema["enum"] = list(KINDS)


class Joint(Record):
    """How a body moves in its parent."""

    kind: str = Field("fixed", description=f"one of {', '.join(KINDS.core)}", json_schema_extra=known_joints)
    coordinates: Table[Coordinate] = Field(
        FrozenDict(), description="in the order of the kind; by default named after the body"
    )
    pitch: Scalar | None = Field(None, description="of a screw: translation per angle, m/rad")
    axis: Axis = Field(
        "z", description="of the motion: x, y, z, or a direction in the joint's frames; planar: its normal"
    )

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, value: Any) -> Any:
        """`revolute`, or {kind: revolute, coordinate: q1, lower: -1, ...}."""
        if isinstance(value, str):
            return {"kind": value}
        if isinstance(value, dict) and "coordinate" in value:
            one = {k: value[k] for k in Coordinate.model_fields if k in value}
            rest = {k: v for k, v in value.items() if k not in one and k != "coordinate"}
            return {**rest, "coordinates": {value["coordinate"]: one}}
        return value

    @field_validator("kind")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in KINDS:
            near = meant(value, KINDS)
            words = {"got": value, "known": ", ".join(KINDS), "near": f"; did you mean '{near}'?" if near else ""}
            raise PydanticCustomError("kind", "no joint kind '{got}'; expected one of {known}{near}", words)
        return value

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.coordinates and len(self.coordinates) != self.algebra.nq:
            text = "a {kind} joint has {expected} coordinates, got {got}"
            raise PydanticCustomError(
                "coordinates", text, {"kind": self.kind, "expected": self.algebra.nq, "got": len(self.coordinates)}
            )
        if (self.pitch is None) != ("pitch" not in self.algebra.settings):
            text = "a screw joint needs its pitch, and only a screw has one"
            raise PydanticCustomError("pitch", text)
        if self.axis != "z" and self.kind not in _WITH_AXIS:
            text = "a {kind} joint has no axis; only {known} have one"
            raise PydanticCustomError("axis", text, {"kind": self.kind, "known": ", ".join(_WITH_AXIS)})
        return self

    @property
    def direction(self) -> Triple:
        """The axis by components."""
        return _DIRECTIONS[self.axis] if isinstance(self.axis, str) else self.axis

    @property
    def algebra(self) -> JointKind:
        """What the kind knows of motion."""
        return KINDS[self.kind]

    @property
    def is_own(self) -> bool:
        return super().is_own and self.kind in KINDS.core


class Frame(Record):
    """A named frame on a body. If its place depends on coordinates, only its position is meant (no velocity of its
    own).
    """

    place: PositionalPlace = Field(Place(), description="in the body's frame")


class Tyre(Record):
    """A wheel, its axle along z, its middle at the origin."""

    radius: Scalar = Field(description="of the tread, m")
    width: Scalar = Field(description="along z, the axle, m")


class Line(Record):
    """Straight lines from point to point."""

    points: tuple[Triple, ...] = Field(min_length=2, description="m")


class Mesh(Record):
    """A file of triangles."""

    file: str = Field(description="relative to the model file; read only when it is drawn")
    scale: Triple = Field((1.0, 1.0, 1.0), description="factors along x, y, z")


class Shape(Record):
    """Something to draw, carried by a body."""

    box: Box | None = Field(None, description="a box, its middle at the origin")
    cylinder: Cylinder | None = Field(None, description="a cylinder along z")
    cone: Cone | None = Field(None, description="a cone along z")
    sphere: Sphere | None = Field(None, description="a sphere")
    tyre: Tyre | None = Field(None, description="a wheel whose axle is z")
    line: Line | None = Field(None, description="straight lines from point to point")
    mesh: Mesh | None = Field(None, description="a file of triangles")
    place: Place = Field(Place(), description="in the body's frame")
    colour: str | None = Field(None, description="#rrggbb", pattern=r"^#[0-9a-fA-F]{6}$")

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        forms = ("box", "cylinder", "cone", "sphere", "tyre", "line", "mesh")
        given = [n for n in forms if getattr(self, n) is not None]
        if len(given) != 1:
            text = "give exactly one of {fields}; got {got}"
            raise PydanticCustomError("choice", text, {"fields": ", ".join(forms), "got": ", ".join(given) or "none"})
        return self


class Body(Record):
    """A rigid body: its parent, the joint between them, and what it carries.

    The body's frame is frame b of its joint. A fixed joint whose place depends on coordinates is free-form kinematics.
    """

    parent: BodyName = Field(BASE, description="a body, 'base' or 'world'")
    place: PositionalPlace = Field(Place(), description="frame a of the joint in the parent's frame")
    joint: Joint = Field(Joint(), description="the joint that carries it; fixed by default")
    inertia: Inertia | None = Field(None, description="mass and inertia tensor; none for a massless body")
    shapes: tuple[Shape, ...] = Field((), description="shapes, for pictures only")
    frames: Table[Frame] = Field(FrozenDict(), description="named frames on it")


class BaseKind(Enum):
    """How the base of the tree moves in the world."""

    FIXED = "fixed"
    FLOATING = "floating"
    PLANAR = "planar"
    MOVING = "moving"  # its pose is given in time
    CARRIER = "carrier"  # six massless joints (Maakaroun): the same motion as floating, in other coordinates


class Base(Record):
    """The body the tree hangs on."""

    kind: BaseKind = Field(BaseKind.FIXED, description="how it moves in the world")
    orientation: Literal["quaternion", "rpy"] = Field("quaternion", description="coordinates of a floating base")
    place: SignalPlace = Field(Place(), description="where the base is; of a moving base in terms of t")
    coordinates: Table[Coordinate] = Field(FrozenDict(), description="names and starts; x y z ... by default")
    inertia: Inertia | None = Field(None, description="mass and inertia tensor")
    shapes: tuple[Shape, ...] = Field((), description="shapes, for pictures only")
    frames: Table[Frame] = Field(FrozenDict(), description="named frames on it")

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        return {"kind": value} if isinstance(value, (str, BaseKind)) else value

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        expected = len(self.default_names)
        if self.coordinates and len(self.coordinates) != expected:
            text = "a {kind} base has {expected} coordinates, got {got}"
            raise PydanticCustomError(
                "coordinates", text, {"kind": self.kind.value, "expected": expected, "got": len(self.coordinates)}
            )
        return self

    @property
    def joint_kind(self) -> JointKind:
        """The kind of joint between world and base (of a carrier: the floating one that moves alike)."""
        if self.kind is BaseKind.FLOATING:
            return KINDS["free" if self.orientation == "quaternion" else "free_rpy"]
        if self.kind is BaseKind.CARRIER:
            return KINDS["free_rpy"]
        return KINDS["planar" if self.kind is BaseKind.PLANAR else "fixed"]

    @property
    def default_names(self) -> tuple[str, ...]:
        return tuple(info.suffix for info in self.joint_kind.coordinates)


class Road(Record):
    """Ground over the xy plane of a frame. In its formulas x and y are the place on that plane, in metres."""

    frame: FrameName = Field(WORLD, description="the road lies over its xy plane, z upwards")
    height: OnRoad = Field(0.0, description="above that plane: formula of x, y and parameters, m")
    adherence: OnRoad = Field(1.0, description="what the friction of tyres is multiplied by: formula of x and y")
    smooth: bool = Field(
        False,
        strict=True,
        description="true: slope and curvature of the height are continuous although its formula has if, abs, min or "
        "max, which a rigid wheel refuses otherwise",
    )
    description: str | None = Field(None, max_length=500, description="what it is")

    @property
    def is_flat(self) -> bool:
        """Whether the road is the plane itself."""
        return self.height == 0.0
