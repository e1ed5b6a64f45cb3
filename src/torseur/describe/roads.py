"""Roads: the ground that wheels touch, as a height and an adherence over a plane."""

from __future__ import annotations

from pydantic import Field

from torseur.describe.annotations import FrameName, OnRoad
from torseur.describe.bodies import WORLD
from torseur.describe.fields import Record

__all__ = ["Road"]


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
