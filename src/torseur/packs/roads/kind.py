"""What all kinds of roads have: a height over the plane, and regions of another adherence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from torseur.describe.annotations import FrameName, OnRoad
from torseur.describe.bodies import WORLD, Road
from torseur.describe.fields import Record, Scalar
from torseur.describe.formulas import Formula
from torseur.describe.mechanism import LookupTable

__all__ = ["Height", "MadeRoad", "Patch", "RoadKind", "text"]


def text(value: Scalar) -> str:
    """A scalar inside a longer formula."""
    return f"({value.text})" if isinstance(value, Formula) else repr(float(value))


@dataclass(frozen=True)
class Height:
    """A height as a formula of x and y, and the tables that it looks up."""

    formula: str
    tables: Mapping[str, LookupTable] = field(default_factory=dict)
    is_smooth: bool = True
    """Whether it is twice continuously differentiable, whatever its formula is made of."""


@dataclass(frozen=True)
class MadeRoad:
    """A road and the tables of a model that its formulas look up."""

    road: Road
    tables: Mapping[str, LookupTable]


class Patch(Record):
    """A region of another adherence; it has no end where none is given."""

    adherence: OnRoad = Field(description="what the friction of tyres is multiplied by: formula of x and y")
    x_from: Scalar | None = Field(None, description="m")
    x_to: Scalar | None = Field(None, description="m")
    y_from: Scalar | None = Field(None, description="m")
    y_to: Scalar | None = Field(None, description="m")

    def around(self, rest: str) -> str:
        """The adherence here, and that of the rest elsewhere."""
        edges = ((self.x_from, "x >="), (self.x_to, "x <"), (self.y_from, "y >="), (self.y_to, "y <"))
        inside = " and ".join(f"{what} {text(edge)}" for edge, what in edges if edge is not None)
        return f"if({inside}, {text(self.adherence)}, {rest})" if inside else text(self.adherence)


class RoadKind(Record):
    """A road by its kind."""

    kind: ClassVar[str]
    frame: FrameName = Field(WORLD, description="the road lies over its xy plane, z upwards")
    adherence: OnRoad = Field(1.0, description="what the friction of tyres is multiplied by: formula of x and y")
    patches: tuple[Patch, ...] = Field((), description="regions of another adherence; the last one that holds counts")

    def height(self, name: str, folder: Path | None) -> Height:
        """The height; tables are called after a name, files are looked for in a folder."""
        raise NotImplementedError

    def made(self, name: str = "road", folder: Path | None = None) -> MadeRoad:
        """The road as models have it.

        Args:
            name: of the road; its tables are called NAME_...
            folder: of files that it names; none: it may name none.
        """
        found, grip = self.height(name, folder), text(self.adherence)
        for patch in self.patches:
            grip = patch.around(grip)
        road = Road(
            frame=self.frame,
            height=0.0 if found.formula == "0" else Formula(found.formula),
            adherence=Formula(grip) if self.patches else self.adherence,
            smooth=found.is_smooth,
            description=(type(self).__doc__ or "").partition("\n")[0],
        )
        return MadeRoad(road, found.tables)
