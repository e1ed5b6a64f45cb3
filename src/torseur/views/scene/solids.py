"""Shapes as triangles. Everything round is a profile turned about z."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Triangles",
    "arrow",
    "ball",
    "box",
    "cone",
    "cylinder",
    "joined",
    "placed_at",
    "pointing",
    "polyline",
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
        if length > 1e-9
    ]
    corners = [ball(radius).moved(placed_at(point)) for point in (points[1:-1] if bars else points[:1])]
    return joined([*bars, *corners])


def placed_at(point: Array) -> Array:
    """The pose (4, 4) with its origin at a point, not turned."""
    pose = np.eye(4)
    pose[:3, 3] = point
    return pose
