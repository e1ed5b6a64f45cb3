"""Mass and how it is spread, in four ways; all lead to the ten standard parameters, in which dynamics is linear.

Solids are shapes, which can be drawn too, with a mass or a density.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.fields import Record, Scalar, Triple
from torseur.describe.place import Place

__all__ = [
    "Box",
    "CentralInertia",
    "CompositeInertia",
    "Cone",
    "Cylinder",
    "Inertia",
    "Solid",
    "Sphere",
    "StandardInertia",
    "Tensor",
    "Tube",
]


class Box(Record):
    """A box, its middle at the origin."""

    size: Triple = Field(description="along x, y, z, m")


class Cylinder(Record):
    """A cylinder, its axis along z, its middle at the origin."""

    radius: Scalar = Field(description="m")
    length: Scalar = Field(description="along z, middle at z = 0, m")


class Cone(Record):
    """A cone, its axis along z."""

    radius: Scalar = Field(description="of the foot, m")
    length: Scalar = Field(description="along z, foot at z = 0, m")


class Sphere(Record):
    """A sphere, its middle at the origin."""

    radius: Scalar = Field(description="m")


class Tube(Record):
    """A hollow cylinder, its axis along z, its middle at the origin."""

    radius: Scalar = Field(description="outside, m")
    inner: Scalar = Field(description="radius of the hole, m")
    length: Scalar = Field(description="along z, middle at z = 0, m")


_FORMS = ("box", "cylinder", "tube", "cone", "sphere")


class Solid(Record):
    """A homogeneous solid: a shape with its mass or density."""

    box: Box | None = Field(None, description="a box, its middle at the origin")
    cylinder: Cylinder | None = Field(None, description="a cylinder along z, its middle at the origin")
    tube: Tube | None = Field(None, description="a hollow cylinder along z, its middle at the origin")
    cone: Cone | None = Field(None, description="a cone along z, its foot at the origin")
    sphere: Sphere | None = Field(None, description="a sphere, its middle at the origin")
    density: Scalar | None = Field(None, description="kg/m3; negative for a hole in another solid")
    mass: Scalar | None = Field(None, description="in place of the density, kg")
    place: Place = Field(Place(), description="of the shape in the body's frame")

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        for fields in (_FORMS, ("density", "mass")):
            given = [name for name in fields if getattr(self, name) is not None]
            if len(given) != 1:
                text = "give exactly one of {fields}; got {got}"
                names = {"fields": ", ".join(fields), "got": ", ".join(given) or "none"}
                raise PydanticCustomError("choice", text, names)
        return self


class StandardInertia(Record):
    """The ten standard parameters, at the origin and in the axes of the body's frame (Maakaroun 2.18, 2.19).

    XY, XZ, YZ are entries of the tensor: XY = -integral of x y dm. MX, MY, MZ are mass times centre of mass.
    """

    XX: Scalar = Field(0.0, description="kg m2")
    XY: Scalar = Field(0.0, description="kg m2")
    XZ: Scalar = Field(0.0, description="kg m2")
    YY: Scalar = Field(0.0, description="kg m2")
    YZ: Scalar = Field(0.0, description="kg m2")
    ZZ: Scalar = Field(0.0, description="kg m2")
    MX: Scalar = Field(0.0, description="kg m")
    MY: Scalar = Field(0.0, description="kg m")
    MZ: Scalar = Field(0.0, description="kg m")
    M: Scalar = Field(0.0, description="kg")


class Tensor(Record):
    """A symmetric inertia tensor, kg m2; xy = -integral of x y dm."""

    xx: Scalar = Field(0.0, description="about x, kg m2")
    yy: Scalar = Field(0.0, description="about y, kg m2")
    zz: Scalar = Field(0.0, description="about z, kg m2")
    xy: Scalar = Field(0.0, description="product of inertia, kg m2")
    xz: Scalar = Field(0.0, description="product of inertia, kg m2")
    yz: Scalar = Field(0.0, description="product of inertia, kg m2")


class CentralInertia(Record):
    """Mass, centre of mass, and the tensor at the centre of mass."""

    mass: Scalar = Field(description="kg")
    centre: Triple = Field((0.0, 0.0, 0.0), description="centre of mass in the body's frame, m")
    tensor: Tensor = Field(Tensor(), description="at the centre of mass, in its own axes")
    rpy: Triple = Field((0.0, 0.0, 0.0), description="those axes in the body's: roll, pitch, yaw, rad")


class CompositeInertia(Record):
    """Several solids that are one body: their masses and inertias add up (Kanyiki & Ntambwe, equation 1)."""

    solids: tuple[Solid, ...] = Field(min_length=1, description="the parts, each with its place")


_OF_SOLIDS = {"box", "cylinder", "tube", "cone", "sphere", "density"}


def _form(value: Any) -> str:
    if isinstance(value, Record):
        return next((tag for kind, tag in _TAGS.items() if isinstance(value, kind)), "standard")
    keys = set(value) if isinstance(value, dict) else set()
    if "solids" in keys:
        return "composite"
    if keys & _OF_SOLIDS:
        return "solid"
    return "central" if {"mass", "centre", "tensor", "rpy"} & keys else "standard"


_TAGS: dict[type[Record], str] = {CentralInertia: "central", Solid: "solid", CompositeInertia: "composite"}

Inertia = Annotated[
    Annotated[StandardInertia, Tag("standard")]
    | Annotated[CentralInertia, Tag("central")]
    | Annotated[Solid, Tag("solid")]
    | Annotated[CompositeInertia, Tag("composite")],
    Discriminator(_form),
]
"""Any of the forms; which one is told from the fields."""
