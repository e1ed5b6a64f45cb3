"""What pictures in space are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.views.scene.meshes import Triangles

__all__ = ["ACCENT", "ARROW", "COLOURS", "GREY", "Drawing", "Part", "Point", "Rod"]

Array = NDArray[np.float64]

COLOURS = ("#2F6FB0", "#D98C2B", "#3E9678", "#B5597F", "#6BA9D6", "#8C6BB1", "#B3A03A", "#5B6770")
"""Of bodies, in turn: muted, and told apart with any kind of colour vision."""
GREY = "#6E7479"
ACCENT = "#C0392B"
"""Of joints that close loops, and of forces."""
ARROW = 0.012
"""Radius of the shaft of an arrow, in units of the size of the mechanism."""


@dataclass(frozen=True, eq=False)
class Part:
    """Triangles that ride on a body, in its frame."""

    body: str
    triangles: Triangles
    colour: str


@dataclass(frozen=True, eq=False)
class Point:
    """A point of a body, in its frame, m."""

    body: str
    place: Array


@dataclass(frozen=True, eq=False)
class Rod:
    """A straight rod between two points of two bodies, as long as it has to be."""

    start: Point
    end: Point
    radius: float
    colour: str


@dataclass(frozen=True, eq=False)
class Drawing:
    """All that is drawn of a mechanism; `size` is its typical extent, m; `notes` say what was assumed."""

    parts: tuple[Part, ...]
    rods: tuple[Rod, ...]
    size: float
    notes: tuple[str, ...] = ()

    @property
    def bodies(self) -> tuple[str, ...]:
        """The bodies on which something is drawn."""
        points = [point for rod in self.rods for point in (rod.start, rod.end)]
        return tuple(dict.fromkeys([part.body for part in self.parts] + [point.body for point in points]))
