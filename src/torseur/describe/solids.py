"""Shapes that can be drawn, and solids made of them, from which inertias follow."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.fields import Record, Scalar, Triple
from torseur.describe.place import Place

__all__ = ["Box", "Cone", "Cylinder", "Solid", "Sphere", "Tube"]


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
