"""From where a mechanism is looked at: face on if it is planar, else from the direction that shows most of it."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.describe import Mechanism
from torseur.views.scheme.skeleton import Skeleton

__all__ = ["View", "best_view"]

Array = NDArray[np.float64]

AZIMUTHS = range(-180, 180, 10)
HEIGHTS = (18, 26, 35)
USUAL = (-60, 26)
"""Azimuth and height (deg) of the view that wins if all else is equal: x to the front, y to the back, z up."""
MOST_POINTS = 60


@dataclass(frozen=True)
class View:
    """An orthographic projection: unit vectors to the right, up, and towards the eye."""

    right: Array
    up: Array
    eye: Array
    planar: bool = False

    def flat(self, points: Array) -> Array:
        """Points or directions (..., 3) in the plane of the picture (..., 2)."""
        return np.stack([points @ self.right, points @ self.up], axis=-1)


def looking_from(eye: Array, up: Array, planar: bool = False) -> View:
    """The view of an eye in a direction, with a direction that should point up."""
    eye = eye / np.linalg.norm(eye)
    right = np.cross(up, eye)
    right /= np.linalg.norm(right)
    return View(right, np.cross(eye, right), eye, planar)


def best_view(skeleton: Skeleton, mechanism: Mechanism) -> View:
    """The view of a planar mechanism along its axes; of others the one that keeps what is apart apart."""
    up = _upwards(mechanism)
    normal = _normal(skeleton)
    if normal is not None:
        return _face_on(normal, up)
    points = _distinct(skeleton.points())
    directions = [joint.direction for joint in skeleton.joints if joint.has_axis]
    side = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    front = np.cross(side, up)
    views: list[tuple[float, int, View]] = []
    for azimuth, height in itertools.product(AZIMUTHS, HEIGHTS):
        a, h = math.radians(azimuth), math.radians(height)
        level = math.cos(a) * side - math.sin(a) * front
        view = looking_from(math.cos(h) * level + math.sin(h) * up, up)
        unusual = abs((azimuth - USUAL[0] + 180) % 360 - 180) / 180 + 0.3 * abs(height - USUAL[1]) / 20
        views.append((_clarity(view, points, directions) - 0.05 * unusual, -len(views), view))
    return max(views, key=lambda entry: entry[:2])[2]


def _upwards(mechanism: Mechanism) -> Array:
    """Against gravity, where it is known and along an axis; else z."""
    gravity = [part if isinstance(part, float) else 0.0 for part in mechanism.gravity]
    size = math.hypot(*gravity)
    return np.array([0.0, 0.0, 1.0]) if size == 0.0 else -np.array(gravity) / size + 0.0


def _normal(skeleton: Skeleton) -> Array | None:
    """The direction all rotations of a planar mechanism share and all translations avoid."""
    joints = [joint for joint in skeleton.joints if not joint.cut or joint.kind in ("revolute", "prismatic")]
    turning = [joint.direction for joint in joints if joint.kind in ("revolute", "planar", "planar base")]
    sliding = [joint.direction for joint in joints if joint.kind == "prismatic"]
    if not turning or len(turning) + len(sliding) < len(joints):
        return None
    normal = turning[0] if sum(float(turning[0] @ other) for other in turning) >= 0.0 else -turning[0]
    parallel = all(abs(float(normal @ other)) > 1.0 - 1e-6 for other in turning)
    across = all(abs(float(normal @ other)) < 1e-6 for other in sliding)
    points = skeleton.points()
    spread = np.ptp(points, axis=0)
    flat = float(np.ptp(points @ normal)) <= 0.5 * float(np.max(spread))
    return normal if parallel and across and flat else None


def _face_on(normal: Array, up: Array) -> View:
    """Seen against the normal, so that positive angles turn left; up stays up unless it is the normal itself."""
    if abs(float(normal @ up)) > 0.7:
        up = np.array([0.0, 1.0, 0.0]) if abs(normal[1]) < 0.7 else np.array([0.0, 0.0, 1.0])
    return looking_from(normal, up, planar=True)


def _distinct(points: Array) -> Array:
    """Points that differ, and not too many."""
    size = max(float(np.max(np.ptp(points, axis=0))), 1e-12)
    _, first = np.unique(np.round(points / size, 3), axis=0, return_index=True)
    kept = points[np.sort(first)] / size
    return kept[:: max(1, math.ceil(len(kept) / MOST_POINTS))]


def _clarity(view: View, points: Array, directions: list[Array]) -> float:
    """How far apart points that are apart stay, and how clear it is where axes point."""
    flat = view.flat(points)
    i, j = np.triu_indices(len(points), 1)
    if len(i) == 0:
        return 0.0
    true = np.linalg.norm(points[i] - points[j], axis=-1)
    seen = np.linalg.norm(flat[i] - flat[j], axis=-1)
    close = np.minimum(seen, 0.35) / np.minimum(true, 0.35)
    kept = float(np.mean(close)) + 0.7 * float(np.min(close)) + 0.5 * float(np.sum(seen) / np.sum(true))
    slanted = [max(0.0, abs(float(direction @ view.eye)) - 0.7) for direction in directions]
    end_on = sum(slanted) / max(len(slanted), 1)
    flattened = max(0.0, 0.3 - float(np.min(np.abs(view.eye))))  # two axes of the world fall together
    return kept - 2.5 * end_on - 1.5 * flattened
