"""The symbols of joints, as they stand in space: cylinder, box, ball, cross, plates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from torseur.views.scheme.skeleton import Joint
from torseur.views.scheme.svg import Array, Sheet, Style, shifted
from torseur.views.scheme.view import View

__all__ = ["INK", "Pen", "draw_arrows", "draw_axis", "draw_symbol", "hull", "visible_length"]

INK = "#222222"
AXIS = "#8a8a8a"


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


def draw_symbol(sheet: Sheet, pen: Pen, joint: Joint, centre: Array, colour: str) -> None:
    """The symbol of a joint at a place of the sheet."""
    style = Style(colour, 1.6, "white", dash="3.5 2.5" if joint.cut else "")
    if joint.kind in ("revolute", "cylindrical", "screw"):
        half = 1.5 if joint.kind == "cylindrical" else 1.0
        _cylinder(sheet, pen, centre, joint.direction, half, style)
        if joint.kind == "screw":
            _thread(sheet, pen, centre, joint.direction, colour)
    elif joint.kind == "prismatic":
        _box(sheet, pen, centre, joint, style)
    elif joint.kind == "spherical":
        sheet.polyline(pen.ring(centre, pen.view.eye, 0.95 * pen.unit, -2.0, 2.0), Style(colour, 1.6))
        sheet.circle(centre, 0.6 * pen.unit, style)
    elif joint.kind == "universal":
        _cross(sheet, pen, centre, joint, style, colour)
    elif joint.kind in ("planar", "planar base"):
        _plates(sheet, pen, centre, joint, style)
    elif joint.kind in ("free", "free_rpy", "floating base"):
        sheet.circle(centre, 1.1 * pen.unit, Style(colour, 1.4, "white", dash="1.5 3"))
    else:
        sheet.circle(centre, 0.4 * pen.unit, Style(colour, 1.6, colour))


def _cylinder(sheet: Sheet, pen: Pen, centre: Array, axis: Array, half: float, style: Style) -> None:
    """A cylinder about an axis: its mantle, then the end that faces the eye."""
    facing = axis if float(axis @ pen.view.eye) >= 0.0 else -axis
    reach = half * pen.unit * pen.along(facing)
    radius = 0.55 * pen.unit
    near, far = (pen.ring(end, facing, radius) for end in (centre + reach, centre - reach))
    if float(np.linalg.norm(reach)) > 0.5:
        sheet.polyline(hull(np.concatenate([near, far])), style, closed=True)
    sheet.polyline(near, style, closed=True)


def _thread(sheet: Sheet, pen: Pen, centre: Array, axis: Array, colour: str) -> None:
    along, side = pen.unit * pen.along(axis), 0.5 * pen.unit
    size = float(np.linalg.norm(along))
    across = np.array([-along[1], along[0]]) / size * side if size > 1e-6 else np.array([side, 0.0])
    for k in (-0.6, -0.2, 0.2, 0.6):
        ends = [centre + (k - 0.12) * along - across, centre + (k + 0.12) * along + across]
        sheet.polyline(ends, Style(colour, 1.0))


def _box(sheet: Sheet, pen: Pen, centre: Array, joint: Joint, style: Style) -> None:
    """A box along the axis: the faces that the eye sees."""
    z = joint.direction
    x = joint.a[:3, (joint.axis + 1) % 3]
    axes = [0.5 * x, 0.5 * np.cross(z, x), 1.0 * z]
    for k in range(3):
        for sign in (1.0, -1.0):
            normal, u, v = sign * axes[k], axes[(k + 1) % 3], axes[(k + 2) % 3]
            if float(normal @ pen.view.eye) > 1e-3:
                corners = [normal + u + v, normal + u - v, normal - u - v, normal - u + v]
                sheet.polyline([centre + pen.unit * pen.along(c) for c in corners], style, closed=True)


def _cross(sheet: Sheet, pen: Pen, centre: Array, joint: Joint, style: Style, colour: str) -> None:
    """Two bars, one along each axis of rotation, and a ring around them."""
    sheet.circle(centre, 1.05 * pen.unit, style)
    for axis in (joint.a[:3, 0], joint.b[:3, 1]):
        reach = 0.95 * pen.unit * pen.along(axis)
        sheet.polyline([centre - reach, centre + reach], Style(colour, 2.4))


def _plates(sheet: Sheet, pen: Pen, centre: Array, joint: Joint, style: Style) -> None:
    """Two parallel plates."""
    x, y, z = joint.a[:3, 0], joint.a[:3, 1], joint.a[:3, 2]
    facing = 1.0 if float(z @ pen.view.eye) >= 0.0 else -1.0
    for offset in (-0.25 * facing, 0.25 * facing):
        corners = [s * x + t * y + offset * z for s, t in ((1, 0.7), (1, -0.7), (-1, -0.7), (-1, 0.7))]
        sheet.polyline([centre + 1.2 * pen.unit * pen.along(c) for c in corners], style, closed=True)


def hull(points: Array) -> list[Array]:
    """The convex hull of points in the plane (Andrew's monotone chain)."""
    ordered = sorted(points.tolist())
    halves: list[list[list[float]]] = []
    for sequence in (ordered, ordered[::-1]):
        chain: list[list[float]] = []
        for p in sequence:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0.0:
                chain.pop()
            chain.append(p)
        halves.append(chain[:-1])
    return [np.array(p) for p in halves[0] + halves[1]]


def _turn(a: list[float], b: list[float], c: list[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


# -- positive senses ---------------------------------------------------------------------------------------------------
def draw_arrows(sheet: Sheet, pen: Pen, joint: Joint, centre: Array) -> list[Array]:
    """Arrows in the positive sense of a joint's coordinates; where their labels belong."""
    anchors: list[Array] = []
    half = 1.5 if joint.kind == "cylindrical" else 1.0
    if joint.kind in ("revolute", "cylindrical", "screw"):
        anchors.append(_turning_arrow(sheet, pen, joint.direction, centre, half))
    if joint.kind == "universal":
        anchors += [_turning_arrow(sheet, pen, axis, centre, half) for axis in (joint.a[:3, 0], joint.b[:3, 1])]
    if joint.kind in ("prismatic", "cylindrical"):
        anchors.append(_straight_arrow(sheet, pen, joint, centre))
    return anchors


def draw_axis(sheet: Sheet, pen: Pen, joint: Joint, centre: Array) -> None:
    """A thin line along the axis, under the symbol."""
    reach = 2.1 * pen.unit * pen.along(joint.direction)
    sheet.polyline([centre - reach, centre + reach], Style(AXIS, 0.8, dash="7 2 1.5 2"))


def _turning_arrow(sheet: Sheet, pen: Pen, axis: Array, centre: Array, half: float) -> Array:
    """Around the axis, beyond the end that it points to."""
    middle = centre + (half + 0.45) * pen.unit * pen.along(axis)
    arc = pen.ring(middle, axis, 1.15 * pen.unit, -1.9, 1.9)
    sheet.polyline(arc, Style(INK, 1.1))
    _head(sheet, arc[-2], arc[-1], 0.55 * pen.unit)
    return np.asarray(arc[len(arc) // 2])


def _straight_arrow(sheet: Sheet, pen: Pen, joint: Joint, centre: Array) -> Array:
    """Beside the symbol; a dot or a cross where it points to or from the eye."""
    along = pen.along(joint.direction)
    size = float(np.linalg.norm(along))
    if size < 0.25:
        place = centre + pen.unit * np.array([1.1, -1.1])
        sheet.circle(place, 0.45 * pen.unit, Style(INK, 1.1, "white"))
        if float(joint.direction @ pen.view.eye) > 0.0:
            sheet.circle(place, 0.12 * pen.unit, Style(INK, 1.1, INK))
        else:
            s = 0.3 * pen.unit
            sheet.polyline([place - s, place + s], Style(INK, 1.1))
            sheet.polyline([shifted(place, s, -s), shifted(place, -s, s)], Style(INK, 1.1))
        return place
    side = np.array([along[1], -along[0]]) / size
    side = side if side[1] < 0.0 else -side
    start = centre + pen.unit * (0.95 * side - 0.9 * along)
    end = start + pen.unit * 2.0 * along
    sheet.polyline([start, end], Style(INK, 1.1))
    _head(sheet, start, end, 0.55 * pen.unit)
    return np.asarray(0.5 * (start + end))


def _head(sheet: Sheet, before: Array, tip: Array, size: float) -> None:
    """The head of an arrow."""
    way = tip - before
    length = float(np.linalg.norm(way))
    if length < 1e-9:
        return
    way = way / length * size
    across = 0.45 * np.array([-way[1], way[0]])
    forward = tip + 0.5 * way
    sheet.polyline([forward, forward - way + across, forward - way - across], Style(INK, 0.6, INK), closed=True)


def visible_length(points: Array) -> float:
    """The length of a line on the sheet."""
    return float(sum(np.linalg.norm(b - a) for a, b in pairwise(points)))
