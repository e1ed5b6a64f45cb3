"""What pictures in space are made of, and the parts that the shapes of a description give.

Parts ride on bodies, each in its body's own frame; rods span from a point of one body to a point of another.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.describe import BASE, Mechanism
from torseur.describe.bodies import Mesh, Shape
from torseur.errors import ArgumentError, MissingExtra, TorseurWarning
from torseur.views.scene.solids import Triangles, ball, box, cone, cylinder, polyline, tyre
from torseur.views.values import Values

__all__ = [
    "ACCENT",
    "ARROW",
    "COLOURS",
    "GREY",
    "Drawing",
    "ForceArrow",
    "Part",
    "Point",
    "Rod",
    "has_shapes",
    "rim",
    "shape_parts",
]

Array = NDArray[np.float64]

COLOURS = ("#2F6FB0", "#D98C2B", "#3E9678", "#B5597F", "#6BA9D6", "#8C6BB1", "#B3A03A", "#5B6770")
"""Of bodies, in turn: muted, and told apart with any kind of colour vision."""
GREY = "#6E7479"
ACCENT = "#C0392B"
"""Of joints that close loops, and of forces."""
ARROW = 0.012
"""Radius of the shaft of an arrow, in units of the size of the mechanism."""
THIN = 2.0
"""A cylinder whose radius is more than so many times its length is a disc."""


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
class ForceArrow:
    """An arrow in every picture: foot and tip (n, 3)."""

    name: str
    feet: Array
    tips: Array
    colour: str = ACCENT
    thickness: float = 1.0
    """In units of that of other arrows."""
    legend: str = ""
    """What all arrows of its kind are; its name by default."""


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


# -- shapes of a description -------------------------------------------------------------------------------------------
def has_shapes(mechanism: Mechanism) -> bool:
    return bool(mechanism.base.shapes) or any(body.shapes for body in mechanism.bodies.values())


def shape_parts(values: Values, folder: Path, line_radius: float) -> Iterator[Part]:
    """Every shape of a mechanism as a part.

    Args:
        values: numbers for its parameters.
        folder: where files of triangles are looked for.
        line_radius: of what the description calls lines, m.
    """
    mechanism = values.system.mechanism
    carriers = [(BASE, mechanism.base.shapes, GREY)]
    for k, (name, body) in enumerate(mechanism.bodies.items()):
        carriers.append((name, body.shapes, COLOURS[k % len(COLOURS)]))
    for body_name, shapes, colour in carriers:
        for shape in shapes:
            pose = values.numbers({"pose": values.system.place(shape.place).matrix()})["pose"]
            chosen = shape.colour or colour
            yield Part(body_name, _triangles(values, shape, folder, line_radius).moved(pose), chosen)
            if shape.tyre is not None:
                marks = rim(*_numbers(values, shape.tyre.radius, shape.tyre.width))
            elif shape.cylinder is not None and len(shapes) == 1:
                marks = _disc_marks(*_numbers(values, shape.cylinder.radius, shape.cylinder.length))
            else:
                continue
            for solid, look in marks:
                yield Part(body_name, solid.moved(pose), look)


def rim(radius: float, width: float) -> Iterator[tuple[Triangles, str]]:
    """What shows that a wheel turns, and which way: a light rim with two bars, one end of which is marked."""
    yield cylinder(0.58 * radius, 0.74 * width), "#C9CDD1"
    for bar in (box((1.1 * radius, 0.14 * radius, 0.8 * width)), box((0.14 * radius, 1.1 * radius, 0.8 * width))):
        yield bar, "#5B6167"
    mark = np.eye(4)
    mark[0, 3] = 0.42 * radius
    yield box((0.2 * radius, 0.16 * radius, 0.84 * width)).moved(mark), "#D98C2B"


def _disc_marks(radius: float, length: float) -> Iterator[tuple[Triangles, str]]:
    """What shows that a thin disc turns: a bar across both faces, one end of which is marked."""
    if radius < THIN * length:
        return
    proud = length + 0.02 * radius
    yield box((1.7 * radius, 0.09 * radius, proud)), "#C9CDD1"
    mark = np.eye(4)
    mark[0, 3] = 0.7 * radius
    yield box((0.26 * radius, 0.13 * radius, proud + 0.01 * radius)).moved(mark), "#D98C2B"


def _numbers(values: Values, *scalars: Any) -> Array:
    return np.array(values.numbers({"x": [values.system.scalar(scalar) for scalar in scalars]})["x"], dtype=float)


def _triangles(values: Values, shape: Shape, folder: Path, line_radius: float) -> Triangles:
    if shape.box is not None:
        return box(_numbers(values, *shape.box.size))
    if shape.cylinder is not None:
        return cylinder(*_numbers(values, shape.cylinder.radius, shape.cylinder.length))
    if shape.cone is not None:
        return cone(*_numbers(values, shape.cone.radius, shape.cone.length))
    if shape.sphere is not None:
        return ball(*_numbers(values, shape.sphere.radius))
    if shape.tyre is not None:
        return tyre(*_numbers(values, shape.tyre.radius, shape.tyre.width))
    if shape.line is not None:
        return polyline(np.array([_numbers(values, *point) for point in shape.line.points]), line_radius)
    assert shape.mesh is not None  # a shape has exactly one form
    return _from_file(shape.mesh, folder).scaled(_numbers(values, *shape.mesh.scale))


def _from_file(mesh: Mesh, folder: Path) -> Triangles:
    """The triangles of a file; one that is not there is replaced by a small box, with a warning."""
    name = mesh.file.partition("://")[2] or mesh.file
    tried = [Path(name), *(folder / Path(*Path(name).parts[k:]) for k in range(len(Path(name).parts)))]
    file = next((path for path in tried if path.is_file()), None)
    if file is None:
        warnings.warn(
            f"the file of triangles '{mesh.file}' was not found in {folder}; a small box stands for it",
            TorseurWarning,
            stacklevel=2,
        )
        return box((0.05, 0.05, 0.05))
    try:
        import trimesh
    except ImportError:
        raise MissingExtra("trimesh", extra="scene", purpose="drawing files of triangles") from None
    try:
        loaded = trimesh.load(file, force="mesh")
        return Triangles(np.asarray(loaded.vertices, float), np.asarray(loaded.faces, np.int64))
    except Exception as error:  # whatever its many readers raise
        raise ArgumentError("this file of triangles cannot be read", where=str(file), got=str(error)) from error
