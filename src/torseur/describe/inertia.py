"""Mass and how it is spread, in four ways; all lead to the ten standard parameters, in which dynamics is linear."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from torseur.describe.fields import Record, Scalar, Triple
from torseur.describe.solids import Solid

__all__ = ["CentralInertia", "CompositeInertia", "Inertia", "StandardInertia", "Tensor"]


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
