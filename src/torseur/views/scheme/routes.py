"""From space to the sheet: from where a mechanism is looked at, how large it is drawn, where its joints and links run.

It is seen face on if it is planar, else from the direction that shows most of it. A joint may be drawn anywhere on its
axis. Joints that share a point, as those of a wrist do, are drawn apart: each slides along its own axis, at the least
cost in overlap and in length of line.
"""

from __future__ import annotations

import itertools
import math
import textwrap
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from torseur.describe import Mechanism
from torseur.views.scheme.svg import width_of
from torseur.views.skeleton import Joint, Link, Path, Skeleton

__all__ = ["Layout", "Pen", "Route", "Routing", "View", "best_view", "laid_out", "routed"]

Array = NDArray[np.float64]

AZIMUTHS = range(-180, 180, 10)
HEIGHTS = (18, 26, 35)
USUAL = (-60, 26)
"""Azimuth and height (deg) of the view that wins if all else is equal: x to the front, y to the back, z up."""
MOST_POINTS = 60
UNIT = 11.0
"""Pixels: half the length of a joint symbol."""
MARGIN = 75.0
HEAD = 44.0
WISHED = 85.0
"""Pixels between neighbouring joints."""
SMALLEST, PER_JOINT, LARGEST = 420.0, 45.0, 1500.0
"""Pixels of the mechanism's larger extent: from the smallest to as much more as its joints need."""
NOTE, TITLE = 11.0, 15.0
WIDEST_TITLE = 560.0


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


@dataclass(frozen=True)
class Pen:
    """Draws things of space on the sheet: `unit` pixels are the half-length of a joint symbol."""

    view: View
    origin: Array
    scale: float
    """Pixels per unit of length."""
    unit: float

    def at(self, points: Array) -> Array:
        """Points of space (..., 3) on the sheet (..., 2)."""
        return np.asarray(self.origin + self.along(points) * self.scale)

    def along(self, directions: Array) -> Array:
        """Directions of space on the sheet, without scale."""
        return np.asarray(self.view.flat(np.asarray(directions)) * np.array([1.0, -1.0]))

    def ring(self, centre: Array, axis: Array, radius: float, begin: float = 0.0, end: float = 2 * math.pi) -> Array:
        """Points on a circle, turning positively about its axis; angles begin on the side nearest to the eye."""
        e1, e2 = _across(axis, self.view)
        angles = np.linspace(begin, end, max(3, round((end - begin) * 8)))
        offsets = np.cos(angles)[:, None] * self.along(e1) + np.sin(angles)[:, None] * self.along(e2)
        return centre + radius * offsets


def _across(axis: Array, view: View) -> tuple[Array, Array]:
    """Two unit vectors, right-handed with an axis; the first leans to the eye, or down where it cannot."""
    towards = view.eye - float(view.eye @ axis) * axis
    if np.linalg.norm(towards) < 0.2:
        down = -view.up - float(-view.up @ axis) * axis
        towards = down
    e1 = towards / np.linalg.norm(towards)
    return e1, np.cross(axis, e1)


@dataclass(frozen=True)
class Layout:
    """A sheet: its size, the pen that draws the mechanism on it, the lines of text at its foot."""

    width: float
    height: float
    pen: Pen
    foot: float
    """The height at which the foot begins."""
    notes: list[str]


# -- the direction of view ---------------------------------------------------------------------------------------------
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
    directions = [joint.direction for joint in skeleton.joints if joint.freedoms.has_axis]
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
    joints = [x for x in skeleton.joints if not x.cut or x.freedoms.is_revolute or x.freedoms.is_prismatic]
    turning = [x.direction for x in joints if x.freedoms.is_revolute or x.freedoms.is_planar]
    sliding = [x.direction for x in joints if x.freedoms.is_prismatic]
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


# -- the sheet ---------------------------------------------------------------------------------------------------------
def laid_out(skeleton: Skeleton, view: View, title: str, notes: list[str]) -> Layout:
    """A sheet on which neighbouring joints are far enough apart to be read."""
    flat = view.flat(skeleton.points())
    rims = [view.flat(w.centre) + s * w.radius for w in skeleton.wheels for s in (-1.0, 1.0)]
    corners = np.vstack([flat, *(rim[None] for rim in rims)])
    low, high = corners.min(axis=0), corners.max(axis=0)
    largest = min(SMALLEST + PER_JOINT * len(skeleton.joints), LARGEST)
    scale = _scale(flat, max(float(np.max(high - low)), 0.3), largest)
    drawn = np.maximum((high - low) * scale, [240.0, 120.0])
    width = max(drawn[0] + 2 * MARGIN, min(40.0 + width_of(title, TITLE), WIDEST_TITLE))
    lines = [line for note in notes for line in textwrap.wrap(note, max(30, int(width / (0.55 * NOTE))))]
    head = HEAD if title else 0.0
    foot = head + drawn[1] + 2 * MARGIN
    centre = np.array([width / 2, head + MARGIN + drawn[1] / 2])
    middle = 0.5 * (low + high) * np.array([1.0, -1.0]) * scale
    pen = Pen(view, centre - middle, scale, UNIT)
    return Layout(width, foot + 62.0 + 15.0 * len(lines), pen, foot, lines)


def _scale(flat: Array, extent: float, largest: float) -> float:
    """Pixels per unit of length: a quarter of the points have their neighbour nearer than what is wished, not more."""
    points = np.unique(np.round(flat, 3), axis=0)
    if len(points) < 2:
        return SMALLEST / extent
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1)
    np.fill_diagonal(apart, np.inf)
    close = float(np.quantile(apart.min(axis=1), 0.25))
    return float(np.clip(WISHED / max(close, 1e-9), SMALLEST / extent, largest / extent))


SLIDES = (0.0, 1.0, -1.0, 2.0, -2.0)
"""In units of the room a symbol takes."""
SWEEPS = 4
UP = np.array([0.0, 0.0, 1.0])
MOST_TOGETHER = 4


@dataclass(frozen=True)
class Route:
    """A line of a link, in the world."""

    link: int
    points: Array
    path: Path


@dataclass(frozen=True)
class Routing:
    """The place of every joint's symbol (by its index), and every line."""

    symbols: Array
    routes: list[Route]


def routed(skeleton: Skeleton, view: View, room: float) -> Routing:
    """Symbols and lines, with `room` between symbols where their axes allow."""
    for link in skeleton.links:
        for path in link.paths:
            _lead(link, path)
    sliding = _Sliding(skeleton, view, room)
    sliding.settle()
    routes = [
        Route(number, sliding.line(link, path), path)
        for number, link in enumerate(skeleton.links)
        for path in link.paths
    ]
    return Routing(sliding.symbols, routes)


class _Sliding:
    """Symbols on their axes, moved until none can be better off."""

    def __init__(self, skeleton: Skeleton, view: View, room: float) -> None:
        self.joints, self.links, self.view, self.room = skeleton.joints, skeleton.links, view, room
        self.index = {id(joint): k for k, joint in enumerate(self.joints)}
        self.homes = np.array([_middle(joint) for joint in self.joints]).reshape(-1, 3)
        self.slides = np.zeros(len(self.joints))
        self.reach = np.array([self._reach(joint) for joint in self.joints]).reshape(-1, 3)
        self.touching: list[list[tuple[Link, Path]]] = [[] for _ in self.joints]
        for link in self.links:
            for path in link.paths:
                for k in {self.index[id(joint)] for joint in (link.carrier, path.joint) if joint is not None}:
                    self.touching[k].append((link, path))

    def _reach(self, joint: Joint) -> Array:
        """The step of one slide, in space."""
        seen = float(np.linalg.norm(self.view.flat(joint.direction)))
        return np.asarray(self.room / max(seen, 0.5) * joint.direction)

    @property
    def symbols(self) -> Array:
        return np.asarray(self.homes + self.slides[:, None] * self.reach)

    def settle(self) -> None:
        """Joints that share a point together, then each by itself."""
        for group in self._groups():
            self._improve(group)
        for _ in range(SWEEPS):
            before = self.slides.copy()
            for k in range(len(self.joints)):
                self._improve([k])
            if np.array_equal(before, self.slides):
                break

    def _groups(self) -> list[list[int]]:
        groups: dict[tuple[float, ...], list[int]] = {}
        for k, home in enumerate(self.homes):
            groups.setdefault(tuple(np.round(home, 6) + 0.0), []).append(k)
        return [group[:MOST_TOGETHER] for group in groups.values() if len(group) > 1]

    def _improve(self, group: list[int]) -> None:
        """The slides of some joints with the least overlap, then the shortest lines."""
        free = [k for k in group if self.joints[k].freedoms.has_axis and not self.joints[k].cut]
        best = self._cost(free), self.slides[free].copy()
        for slides in product(SLIDES, repeat=len(free)):
            self.slides[free] = slides
            cost = self._cost(free)
            if cost < best[0] - 1e-9:
                best = cost, np.array(slides)
        self.slides[free] = best[1]

    def _cost(self, moved: list[int]) -> float:
        flat = self.view.flat(self.symbols)
        cost = 0.0
        for k in moved:
            apart = np.linalg.norm(np.delete(flat, k, axis=0) - flat[k], axis=-1) / self.room
            cost += 12.0 * float(np.sum(np.maximum(0.0, 0.95 - apart))) + 0.2 * abs(self.slides[k])
            if self.joints[k].parent == 0:  # what stands on the ground had rather be low
                cost += 0.1 * self.slides[k] * float(self.joints[k].direction @ self.view.up)
        paths = {id(path): (link, path) for k in moved for link, path in self.touching[k]}
        return cost + sum(_length(self.line(link, path)) for link, path in paths.values()) / self.room

    def line(self, link: Link, path: Path) -> Array:
        """From the symbol of the carrying joint to that of the target, without going to and fro."""
        points = [np.asarray(point) for point in path.points]
        if link.carrier is not None:
            carrier = self.symbols[self.index[id(link.carrier)]]
            if path.joint is None and not path.is_frame and np.ptp(path.points, axis=0).max() < 1e-9:
                return np.asarray(carrier[None])  # the frame of a body, on its joint: nothing to lead to
            points.insert(0, carrier)
        if path.joint is not None and not path.joint.cut:
            points.append(self.symbols[self.index[id(path.joint)]])
        return _straightened(points)


def _middle(joint: Joint) -> Array:
    """Where a symbol stands by itself: on a slide half-way out, else at the child's end."""
    a, b = joint.a[:3, 3], joint.b[:3, 3]
    return np.asarray(0.5 * (a + b) if joint.freedoms.slides else a if joint.cut else b)


# -- lines -------------------------------------------------------------------------------------------------------------
def _lead(link: Link, path: Path) -> None:
    """Give a straight displacement corners along the axes it joins, if they are parallel or square to each other."""
    if path.routed or path.joint is None or not path.joint.freedoms.has_axis or path.joint.cut:
        return
    carrier, target = link.carrier, path.joint.direction
    own = carrier.direction if carrier is not None and carrier.freedoms.has_axis else UP
    start, end = path.points[-2], path.points[-1]
    if 1e-6 < abs(float(own @ target)) < 1.0 - 1e-6:
        return
    move = end - start
    first = np.zeros(3) if abs(float(own @ target)) > 0.5 else float(move @ own) * own
    last = float((move - first) @ target) * target
    corners = [start, start + first, end - last, end]
    path.points = np.array([*path.points[:-2], *corners])


def _straightened(points: list[Array]) -> Array:
    """Without repeated points, points on a straight way, and steps back on the way just come."""
    kept: list[Array] = []
    for point in points:
        kept.append(point)
        while len(kept) >= 2 and np.linalg.norm(kept[-1] - kept[-2]) < 1e-9:
            kept.pop(-2)
        while len(kept) >= 3 and np.linalg.norm(np.cross(kept[-1] - kept[-2], kept[-2] - kept[-3])) < 1e-9:
            kept.pop(-2)
            if len(kept) >= 2 and np.linalg.norm(kept[-1] - kept[-2]) < 1e-9:
                kept.pop(-2)
    return np.array(kept)


def _length(line: Array) -> float:
    return float(np.sum(np.linalg.norm(np.diff(line, axis=0), axis=-1))) if len(line) > 1 else 0.0
