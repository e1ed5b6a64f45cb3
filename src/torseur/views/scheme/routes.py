"""Where the symbols of joints stand on their axes, and the lines of the links between them.

A joint may be drawn anywhere on its axis. Joints that share a point, as those of a wrist do, are drawn apart: each
slides along its own axis, at the least cost in overlap and in length of line.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from torseur.views.scheme.projection import View
from torseur.views.skeleton import Joint, Link, Path, Skeleton

__all__ = ["Route", "Routing", "routed"]

Array = NDArray[np.float64]

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
        found: dict[tuple[float, ...], list[int]] = {}
        for k, home in enumerate(self.homes):
            found.setdefault(tuple(np.round(home, 6) + 0.0), []).append(k)
        return [group[:MOST_TOGETHER] for group in found.values() if len(group) > 1]

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
