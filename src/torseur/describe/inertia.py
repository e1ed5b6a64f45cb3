"""Mass and how it is spread, in four ways; all lead to the ten standard parameters, in which dynamics is linear.

Solids are shapes, which can be drawn too, with a mass or a density. Their moments of inertia are those at the middle of
the shape, in its own axes; a cone's centre of mass is a quarter of its length above its foot.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.fields import Record, Scalar, Triple
from torseur.describe.place import Evaluator, Place, RigidPose, pose_of, vector
from torseur.graph import Expr, Graph
from torseur.spatial import inertia as spatial
from torseur.spatial.vectors import Matrix, Vector

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
    "ten_parameters",
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


# -- expressions -------------------------------------------------------------------------------------------------------
def ten_parameters(record: Inertia, g: Graph, scalar: Evaluator) -> spatial.Inertia:
    """The ten parameters at the body's frame, of any form.

    Args:
        record: how mass is spread.
        g: where the expressions belong.
        scalar: evaluates numbers and formulas.
    """
    if isinstance(record, StandardInertia):
        return spatial.Inertia.from_ten(*(scalar(getattr(record, name)) for name in StandardInertia.model_fields))
    if isinstance(record, CentralInertia):
        t = {name: scalar(getattr(record.tensor, name)) for name in Tensor.model_fields}
        tensor = Matrix.symmetric(*(t[name] for name in ("xx", "xy", "xz", "yy", "yz", "zz")))
        axes = pose_of(g, Place(pose=RigidPose(rpy=record.rpy)), scalar).R
        return spatial.central(scalar(record.mass), vector(record.centre, scalar), tensor, axes)
    if isinstance(record, Solid):
        return _of_solid(record, g, scalar)
    total = spatial.Inertia.zero(g)
    for solid in record.solids:
        total = total + _of_solid(solid, g, scalar)
    return total


def _of_solid(solid: Solid, g: Graph, scalar: Evaluator) -> spatial.Inertia:
    volume, centre, moments = _unit_mass(solid, g, scalar)
    mass = scalar(solid.mass) if solid.mass is not None else scalar(solid.density or 0.0) * volume
    tensor = Matrix.diagonal(*(mass * moments))
    own = spatial.central(mass, Vector(g.zero, g.zero, centre), tensor, Matrix.identity(g))
    return pose_of(g, solid.place, scalar) @ own


def _unit_mass(solid: Solid, g: Graph, scalar: Evaluator) -> tuple[Expr, Expr, Vector]:
    """Volume, height of the centre of mass, and moments of inertia there for a mass of 1."""
    o = g.zero
    if solid.box is not None:
        a, b, c = vector(solid.box.size, scalar)
        k = 1.0 / 12.0
        return a * b * c, o, Vector(k * (b * b + c * c), k * (a * a + c * c), k * (a * a + b * b))
    if solid.sphere is not None:
        r = scalar(solid.sphere.radius)
        J = 0.4 * (r * r)
        return (4.0 / 3.0 * math.pi) * (r * r * r), o, Vector(J, J, J)
    if solid.cone is not None:
        r, h = scalar(solid.cone.radius), scalar(solid.cone.length)
        J = 0.15 * (r * r) + 0.0375 * (h * h)
        return (math.pi / 3.0) * (r * r * h), 0.25 * h, Vector(J, J, 0.3 * (r * r))
    if solid.tube is not None:
        r, i, h = scalar(solid.tube.radius), scalar(solid.tube.inner), scalar(solid.tube.length)
        area, square = r * r - i * i, r * r + i * i
    else:
        assert solid.cylinder is not None  # a solid has exactly one form
        r, h = scalar(solid.cylinder.radius), scalar(solid.cylinder.length)
        area = square = r * r
    J = 0.25 * square + (1.0 / 12.0) * (h * h)
    return math.pi * (area * h), o, Vector(J, J, 0.5 * square)
