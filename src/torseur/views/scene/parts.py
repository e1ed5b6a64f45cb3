"""What pictures in space are made of: shapes as triangles, and the parts that the shapes of a description give.

Everything round is a profile turned about z. Parts ride on bodies, each in its body's own frame; rods span from a point
of one body to a point of another.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.describe import BASE, Mechanism
from torseur.describe.bodies import Mesh, Shape
from torseur.errors import ArgumentError, MissingExtra, TorseurWarning
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
    "Triangles",
    "arrow",
    "ball",
    "box",
    "cone",
    "cylinder",
    "has_shapes",
    "joined",
    "placed_at",
    "pointing",
    "polyline",
    "rim",
    "shape_parts",
    "tyre",
]

Array = NDArray[np.float64]
Strip = Sequence[tuple[float, float]]

SECTORS = 32


@dataclass(frozen=True, eq=False)
class Triangles:
    """Corners (n, 3) in m, and three of them for each triangle (m, 3), counter-clockwise seen from outside."""

    corners: Array
    faces: NDArray[np.int64]

    def moved(self, pose: Array) -> Triangles:
        """The same at a pose (4, 4)."""
        return Triangles(self.corners @ pose[:3, :3].T + pose[:3, 3], self.faces)

    def scaled(self, factors: ArrayLike) -> Triangles:
        """The same, longer along x, y, z; turned inside out again where a factor mirrors it."""
        along = np.asarray(factors, dtype=float)
        return Triangles(self.corners * along, self.faces[:, ::-1] if np.prod(along) < 0.0 else self.faces)


def joined(parts: Iterable[Triangles]) -> Triangles:
    """Several as one."""
    corners, faces, start = [], [], 0
    for part in parts:
        corners.append(part.corners)
        faces.append(part.faces + start)
        start += len(part.corners)
    return Triangles(np.concatenate(corners), np.concatenate(faces))


def _turned(strips: Iterable[Strip], sectors: int = SECTORS) -> Triangles:
    """Profiles (radius, height) turned about z, from the lower pole outwards to the upper one.

    Each strip has its own corners: it is smooth in itself, and the edge to the next one is sharp.
    """
    angle = 2.0 * np.pi * np.arange(sectors) / sectors
    around = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    parts = []
    for strip in strips:
        rings = [np.column_stack([radius * around, np.full(sectors, height)]) for radius, height in strip]
        k, j = np.meshgrid(np.arange(len(strip) - 1), np.arange(sectors), indexing="ij")
        a, b = k * sectors + j, k * sectors + (j + 1) % sectors
        quads = np.stack([a, b, b + sectors, a, b + sectors, a + sectors], axis=-1)
        parts.append(Triangles(np.concatenate(rings), quads.reshape(-1, 3)))
    return _cleaned(joined(parts))


def _cleaned(shape: Triangles) -> Triangles:
    """Without triangles that have shrunk to a line, as those at a pole."""
    a, b, c = (shape.corners[shape.faces[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    return Triangles(shape.corners, shape.faces[area > 1e-14 * max(float(area.max()), 1e-300)])


def box(size: ArrayLike) -> Triangles:
    """Its middle at the origin, its edges along x, y, z (m)."""
    corners, faces = [], []
    for axis in range(3):
        for side in (-1.0, 1.0):
            u, w = ((axis + 1) % 3, (axis + 2) % 3) if side > 0 else ((axis + 2) % 3, (axis + 1) % 3)
            for s, t in ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)):
                corner = np.zeros(3)
                corner[[axis, u, w]] = side, s, t
                corners.append(0.5 * corner)
            k = len(corners) - 4
            faces += [(k, k + 1, k + 2), (k, k + 2, k + 3)]
    return Triangles(np.array(corners) * np.asarray(size, float), np.array(faces))


def cylinder(radius: float, length: float) -> Triangles:
    """Along z, its middle at the origin."""
    h = 0.5 * length
    return _turned([((0.0, -h), (radius, -h)), ((radius, -h), (radius, h)), ((radius, h), (0.0, h))])


def cone(radius: float, length: float) -> Triangles:
    """Along z, its foot at the origin."""
    return _turned([((0.0, 0.0), (radius, 0.0)), ((radius, 0.0), (0.0, length))])


def ball(radius: float) -> Triangles:
    """About the origin."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, SECTORS // 2 + 1)
    profile = [(abs(radius * float(np.cos(a))), radius * float(np.sin(a))) for a in angles]
    profile[0], profile[-1] = (0.0, -radius), (0.0, radius)
    return _turned([profile])


def tyre(radius: float, width: float) -> Triangles:
    """A wheel that turns about z: rounded shoulders, and a rim that is set back."""
    h, rim, shoulder = 0.5 * width, 0.6 * radius, 0.9 * radius
    tread = [(shoulder, -h), (0.97 * radius, -0.85 * h), (radius, -0.55 * h)]
    strips: list[Strip] = [
        ((0.0, -0.7 * h), (rim, -0.7 * h)),
        ((rim, -0.7 * h), (rim, -h)),
        ((rim, -h), (shoulder, -h)),
        (*tread, *((r, -z) for r, z in reversed(tread))),
        ((shoulder, h), (rim, h)),
        ((rim, h), (rim, 0.7 * h)),
        ((rim, 0.7 * h), (0.0, 0.7 * h)),
    ]
    return _turned(strips)


def arrow(length: float, radius: float) -> Triangles:
    """Along z from the origin, for pictures that do not move."""
    head = min(6.0 * radius, 0.5 * length)
    shaft = length - head
    return _turned(
        [
            ((0.0, 0.0), (radius, 0.0)),
            ((radius, 0.0), (radius, shaft)),
            ((radius, shaft), (2.4 * radius, shaft)),
            ((2.4 * radius, shaft), (0.0, length)),
        ],
        16,
    )


def pointing(start: ArrayLike, end: ArrayLike) -> Array:
    """The pose (4, 4) with its origin at `start` and z towards `end`; its x is as good as any.

    >>> pointing([0, 0, 1], [5, 0, 1])[:3, 2]
    array([1., 0., 0.])
    """
    a, b = np.asarray(start, float), np.asarray(end, float)
    length = float(np.linalg.norm(b - a))
    z = (b - a) / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    pose = np.eye(4)
    pose[:3] = np.column_stack([x, np.cross(z, x), z, a])
    return pose


def polyline(points: Array, radius: float) -> Triangles:
    """A round bar along points (n, 3), rounded at the corners; a ball if they are all one."""
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    bars = [
        cylinder(radius, length).moved(pointing((a + b) / 2, b))
        for a, b, length in zip(points, points[1:], lengths, strict=False)
        if length > 1e-6 * radius
    ]
    corners = [ball(radius).moved(placed_at(point)) for point in (points[1:-1] if bars else points[:1])]
    return joined([*bars, *corners])


def placed_at(point: Array) -> Array:
    """The pose (4, 4) with its origin at a point, not turned."""
    pose = np.eye(4)
    pose[:3, 3] = point
    return pose


COLOURS = ("#2F6FB0", "#D98C2B", "#3E9678", "#B5597F", "#6BA9D6", "#8C6BB1", "#B3A03A", "#5B6770")
"""Of bodies, in turn: muted, and told apart with any kind of colour vision."""
GREY = "#6E7479"
ACCENT = "#C0392B"
"""Of joints that close loops, and of forces."""
ARROW = 0.012
"""Radius of the shaft of an arrow, in units of the size of the mechanism."""
THIN = 1.0
"""A cylinder whose radius is more than so many times its length is a disc."""


@dataclass(frozen=True, eq=False)
class Part:
    """Triangles that ride on a body, in its frame."""

    body: str
    triangles: Triangles
    colour: str

    def scaled(self, factor: float) -> Part:
        """With all lengths times a factor."""
        return replace(self, triangles=self.triangles.scaled((factor, factor, factor)))


@dataclass(frozen=True, eq=False)
class Point:
    """A point of a body, in its frame, m."""

    body: str
    place: Array

    def scaled(self, factor: float) -> Point:
        """With all lengths times a factor."""
        return replace(self, place=factor * self.place)


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

    def scaled(self, factor: float) -> Drawing:
        """With all lengths times a factor."""
        rods = [Rod(x.start.scaled(factor), x.end.scaled(factor), factor * x.radius, x.colour) for x in self.rods]
        parts = tuple(part.scaled(factor) for part in self.parts)
        return replace(self, parts=parts, rods=tuple(rods), size=factor * self.size)

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
        stands = body_name == BASE and not mechanism.has_moving_base
        turned = None if stands else _widest(values, shapes)
        for shape in shapes:
            pose = values.numbers({"pose": values.system.place(shape.place).matrix()})["pose"]
            chosen = shape.colour or colour
            yield Part(body_name, _triangles(values, shape, folder, line_radius).moved(pose), chosen)
            if shape.tyre is not None:
                marks = rim(*_numbers(values, shape.tyre.radius, shape.tyre.width))
            elif shape.cylinder is not None and shape is turned:
                marks = _disc_marks(*_numbers(values, shape.cylinder.radius, shape.cylinder.length))
            else:
                continue
            for solid, look in marks:
                yield Part(body_name, solid.moved(pose), look)


def _widest(values: Values, shapes: Sequence[Shape]) -> Shape | None:
    """The widest cylinder of a body whose shapes all are round about one axis: nobody would see how it turns."""
    if any(shape.cylinder is None and shape.cone is None and shape.sphere is None for shape in shapes):
        return None
    cylinders = [shape for shape in shapes if shape.cylinder is not None]
    if not cylinders:
        return None
    radii = [_numbers(values, shape.cylinder.radius)[0] for shape in cylinders if shape.cylinder is not None]
    widest = cylinders[int(np.argmax(radii))]
    places = {"axis": values.system.place(widest.place).matrix()}
    places |= {f"s{k}": values.system.place(shape.place).matrix() for k, shape in enumerate(shapes)}
    axis, *others = values.numbers(places).values()
    for shape, pose in zip(shapes, others, strict=True):
        aside = np.cross(pose[:3, 3] - axis[:3, 3], axis[:3, 2])
        tilt = np.zeros(3) if shape.sphere is not None else np.cross(pose[:3, 2], axis[:3, 2])
        if np.linalg.norm(aside) > 1e-6 * max(radii) or np.linalg.norm(tilt) > 1e-6:
            return None
    return widest


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
