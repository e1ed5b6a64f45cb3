"""Where the symbols of joints stand on their axes, and the lines of the pieces between them.

A joint may be drawn anywhere on its axis. Joints that share a point, as those of a wrist do, are drawn apart: each slides
along its own axis, at the least cost in overlap and in length of line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.views.scheme.skeleton import Joint, Path, Piece, Skeleton
from torseur.views.scheme.view import View

__all__ = ["Route", "Routing", "routed"]

Array = NDArray[np.float64]

SLIDES = (0.0, 1.0, -1.0, 2.0, -2.0)
"""In units of the room a symbol takes."""
SWEEPS = 4


@dataclass(frozen=True)
class Route:
    """A line of a piece, in the world."""

    piece: int
    points: Array
    path: Path


@dataclass(frozen=True)
class Routing:
    """The place of every joint's symbol (by its index), and every line."""

    symbols: Array
    routes: list[Route]


def routed(skeleton: Skeleton, view: View, room: float) -> Routing:
    """Symbols and lines, with `room` (m) between symbols where their axes allow."""
    for piece in skeleton.pieces:
        for path in piece.paths:
            _lead(piece, path)
    index = {id(joint): k for k, joint in enumerate(skeleton.joints)}
    symbols = np.array([_middle(joint) for joint in skeleton.joints]).reshape(-1, 3)
    touching = _touching(skeleton, index)
    for _ in range(SWEEPS):
        before = symbols.copy()
        for k, joint in enumerate(skeleton.joints):
            if joint.has_axis and not joint.cut:
                symbols[k] = _best_slide(k, joint, symbols, skeleton, touching[k], index, view, room)
        if np.array_equal(before, symbols):
            break
    routes = [
        Route(number, _line(piece, path, symbols, index), path)
        for number, piece in enumerate(skeleton.pieces)
        for path in piece.paths
    ]
    return Routing(symbols, routes)


def _middle(joint: Joint) -> Array:
    """Where a symbol stands by itself: on a slide half-way out, else at the child's end."""
    a, b = joint.a[:3, 3], joint.b[:3, 3]
    return 0.5 * (a + b) if joint.kind in ("prismatic", "cylindrical") else a if joint.cut else b


def _touching(skeleton: Skeleton, index: dict[int, int]) -> list[list[tuple[Piece, Path]]]:
    """The paths whose lines change when a symbol slides."""
    found: list[list[tuple[Piece, Path]]] = [[] for _ in skeleton.joints]
    for piece in skeleton.pieces:
        for path in piece.paths:
            ends = {index[id(joint)] for joint in (piece.carrier, path.joint) if joint is not None}
            for k in ends:
                found[k].append((piece, path))
    return found


def _best_slide(
    k: int,
    joint: Joint,
    symbols: Array,
    skeleton: Skeleton,
    touching: list[tuple[Piece, Path]],
    index: dict[int, int],
    view: View,
    room: float,
) -> Array:
    """The place on the axis with the least overlap, then the shortest lines, then the least slide."""
    others = view.flat(np.delete(symbols, k, axis=0))
    home, trial = _middle(joint), symbols.copy()
    seen = float(np.linalg.norm(view.flat(joint.direction)))
    best: tuple[float, Array] | None = None
    for slide in SLIDES:
        trial[k] = home + slide * room / max(seen, 0.5) * joint.direction
        apart = np.linalg.norm(others - view.flat(trial[k]), axis=-1) / room if len(others) else np.ones(1)
        overlap = float(np.sum(np.maximum(0.0, 0.95 - apart)))
        length = sum(_length(_line(piece, path, trial, index)) for piece, path in touching)
        cost = 12.0 * overlap + length / room + 0.2 * abs(slide)
        if best is None or cost < best[0] - 1e-9:
            best = cost, trial[k].copy()
    assert best is not None  # SLIDES is not empty
    return best[1]


# -- lines ---------------------------------------------------------------------------------------------------------------
def _lead(piece: Piece, path: Path) -> None:
    """Give a straight displacement corners along the axes it joins, if they are parallel or square to each other."""
    if path.routed or path.joint is None or not path.joint.has_axis or path.joint.cut:
        return
    target = path.joint.direction
    carrier = piece.carrier
    own = carrier.direction if carrier is not None and carrier.has_axis else None
    start, end = path.points[-2], path.points[-1]
    if own is not None and 1e-6 < abs(float(own @ target)) < 1.0 - 1e-6:
        return
    move = end - start
    first = np.zeros(3) if own is None or abs(float(own @ target)) > 0.5 else float(move @ own) * own
    last = float((move - first) @ target) * target
    corners = [start, start + first, end - last, end]
    path.points = np.array([*path.points[:-2], *corners])


def _line(piece: Piece, path: Path, symbols: Array, index: dict[int, int]) -> Array:
    """From the symbol of the carrying joint to that of the target, without going to and fro."""
    points = [np.asarray(point) for point in path.points]
    if piece.carrier is not None:
        points.insert(0, symbols[index[id(piece.carrier)]])
    if path.joint is not None and not path.joint.cut:
        points.append(symbols[index[id(path.joint)]])
    return _straightened(points)


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


def plane_angle(direction: Array) -> float:
    """The angle (rad) of a direction in the picture."""
    return math.atan2(direction[1], direction[0])
