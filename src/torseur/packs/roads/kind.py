"""What all kinds of roads have, a height over the plane and regions of another adherence; and roads of simple shapes:
planes, waves, bumps, steps, and sums of roads.

With u the way along a bump or step as a share of its length, held between 0 and 1,

    smooth bump   h sin^4(pi u),    cosine bump   h (1 - cos 2 pi u)/2,    step   h (u - sin(2 pi u)/(2 pi))       (R.1)

The smooth bump and the step have a continuous curvature, which a rigid wheel needs. The curvature of the cosine bump,
common in the literature, jumps at its ends by 2 pi^2 h/l^2. The step is a sharp one seen through an envelope: the mean
of the road over the length of the contact with the weight 1 - cos(2 pi u).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from torseur.describe.annotations import FrameName, KindOf, OnRoad
from torseur.describe.bodies import WORLD, Road
from torseur.describe.fields import Record, Scalar
from torseur.describe.formulas import Formula
from torseur.describe.mechanism import LookupTable

__all__ = ["Bump", "Bumps", "Height", "MadeRoad", "Patch", "Plane", "RoadKind", "Sine", "Step", "Steps", "Sum", "text"]


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


class Plane(RoadKind):
    """A plane, level, inclined or banked."""

    kind = "plane"
    slope: Scalar = Field(0.0, description="rise along x over the way: 0.1 is 10 %")
    bank: Scalar = Field(0.0, description="rise along y, to the left, over the way")

    def height(self, name: str, folder: Path | None) -> Height:
        parts = [f"{text(rise)}*{axis}" for rise, axis in ((self.slope, "x"), (self.bank, "y")) if rise != 0.0]
        return Height(" + ".join(parts) or "0")


class Sine(RoadKind):
    """A wave along x: amplitude sin(2 pi x/length + phase)."""

    kind = "sine"
    amplitude: Scalar = Field(description="m")
    length: Scalar = Field(description="of a wave, m")
    phase: Scalar = Field(0.0, description="rad")

    def height(self, name: str, folder: Path | None) -> Height:
        return Height(f"{text(self.amplitude)}*sin(2*pi*x/{text(self.length)} + {text(self.phase)})")


class Bump(Record):
    """One bump across the road; negative heights are holes."""

    at: Scalar = Field(description="x where it begins, m")
    length: Scalar = Field(description="m")
    height: Scalar = Field(description="m")
    y_from: Scalar | None = Field(None, description="its right edge, sharp: for wheels on one side, m")
    y_to: Scalar | None = Field(None, description="its left edge, sharp, m")


class Bumps(RoadKind):
    """Bumps on a level road (R.1)."""

    kind = "bumps"
    bumps: tuple[Bump, ...] = Field(description="one after another; where they overlap they add up", min_length=1)
    shape: Literal["smooth", "cosine"] = Field(
        "smooth", description="smooth: its curvature is continuous; cosine: it jumps, for compliant wheels only"
    )

    def height(self, name: str, folder: Path | None) -> Height:
        sharp = any(edge is not None for b in self.bumps for edge in (b.y_from, b.y_to))
        return Height(" + ".join(map(self._one, self.bumps)), is_smooth=self.shape == "smooth" and not sharp)

    def _one(self, bump: Bump) -> str:
        u = _held(bump.at, bump.length)
        form = f"sin(pi*{u})^4" if self.shape == "smooth" else f"(1 - cos(2*pi*{u}))/2"
        edges = ((bump.y_from, "y >="), (bump.y_to, "y <"))
        inside = " and ".join(f"{what} {text(edge)}" for edge, what in edges if edge is not None)
        return f"{text(bump.height)}*" + (f"if({inside}, {form}, 0)" if inside else form)


class Step(Record):
    """One step up, or down if its height is negative."""

    at: Scalar = Field(description="x of its middle, m")
    height: Scalar = Field(description="m")


class Steps(RoadKind):
    """Steps and kerbs across the road (R.1)."""

    kind = "steps"
    steps: tuple[Step, ...] = Field(description="one after another", min_length=1)
    envelope: Scalar | None = Field(
        None,
        description="length of the contact that passes over them, m; none: sharp, for compliant wheels only, which a "
        "step presses in at once by all its height",
    )

    def height(self, name: str, folder: Path | None) -> Height:
        return Height(" + ".join(map(self._one, self.steps)), is_smooth=self.envelope is not None)

    def _one(self, step: Step) -> str:
        if self.envelope is None:
            return f"if(x >= {text(step.at)}, {text(step.height)}, 0)"
        length = text(self.envelope)
        u = _held(f"({text(step.at)} - {length}/2)", length)
        return f"{text(step.height)}*({u} - sin(2*pi*{u})/(2*pi))"


def _held(at: Scalar | str, length: Scalar | str) -> str:
    """The way along a length as a share of it, held at its ends."""
    begin, over = (x if isinstance(x, str) else text(x) for x in (at, length))
    return f"min(max((x - {begin})/{over}, 0), 1)"


SUMMANDS: dict[str, type[RoadKind]] = {}
"""Filled by the package: kinds that may be summands are all kinds."""


class Sum(RoadKind):
    """Several roads on top of each other: their heights add up."""

    kind = "sum"
    of: tuple[Annotated[RoadKind, KindOf(SUMMANDS)], ...] = Field(
        description="roads by their kinds; only their heights count", min_length=1
    )

    def height(self, name: str, folder: Path | None) -> Height:
        parts = [part.height(f"{name}_{k}", folder) for k, part in enumerate(self.of, 1)]
        tables = {key: table for part in parts for key, table in part.tables.items()}
        return Height(" + ".join(f"({p.formula})" for p in parts), tables, all(p.is_smooth for p in parts))
