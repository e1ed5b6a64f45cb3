"""Parts from the shapes of a description."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from torseur.describe import BASE, Mechanism
from torseur.describe.bodies import Mesh, Shape
from torseur.errors import ArgumentError, MissingExtra, TorseurWarning
from torseur.views.scene.meshes import Triangles, ball, box, cone, cylinder, joined, pointing, tyre
from torseur.views.scene.parts import COLOURS, GREY, Array, Part
from torseur.views.scheme.values import Values

__all__ = ["has_shapes", "shape_parts"]


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
                # Without it one could not see a wheel turn.
                radius, width = _numbers(values, shape.tyre.radius, shape.tyre.width)
                bar = box((1.1 * radius, 0.14 * radius, 0.78 * width))
                yield Part(body_name, bar.moved(pose), "#C9CDD1")


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


def polyline(points: Array, radius: float) -> Triangles:
    """A round bar along points (n, 3), rounded at the corners; a ball if they are all one."""
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    bars = [
        cylinder(radius, length).moved(pointing((a + b) / 2, b))
        for a, b, length in zip(points, points[1:], lengths, strict=False)
        if length > 1e-9
    ]
    corners = [ball(radius).moved(_at(point)) for point in (points[1:-1] if bars else points[:1])]
    return joined([*bars, *corners])


def _at(point: Array) -> Array:
    pose = np.eye(4)
    pose[:3, 3] = point
    return pose


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
