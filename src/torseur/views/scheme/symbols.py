"""The symbols of joints, as they stand in space, and the marks around them: ground, frames, wheels, the scale."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from torseur.views.scheme.routes import Pen
from torseur.views.scheme.svg import Array, Sheet, Style, shifted
from torseur.views.skeleton import Joint, Wheel

__all__ = [
    "GROUND",
    "INK",
    "draw_arrows",
    "draw_axis",
    "draw_edge",
    "draw_ground",
    "draw_scale",
    "draw_symbol",
    "draw_triad",
    "draw_wheel",
    "hull",
    "nice_length",
    "visible_length",
]

INK = "#222222"
AXIS = "#8a8a8a"
GROUND = "#444444"
AXES = (("x", "#c0392b"), ("y", "#1e8449"), ("z", "#1f5fa8"))


# -- joints ------------------------------------------------------------------------------------------------------------
def draw_symbol(sheet: Sheet, pen: Pen, joint: Joint, centre: Array, colour: str) -> None:
    """The symbol of a joint at a place of the sheet."""
    style, moves = Style(colour, 1.6, "white", dash="3.5 2.5" if joint.cut else ""), joint.freedoms
    if moves.turns:
        _cylinder(sheet, pen, centre, joint.direction, _half(joint), style)
        if moves.is_screw:
            _thread(sheet, pen, centre, joint.direction, colour)
    elif moves.is_prismatic:
        _box(sheet, pen, centre, joint, style)
    elif moves.is_spherical:
        sheet.polyline(pen.ring(centre, pen.view.eye, 0.95 * pen.unit, -2.0, 2.0), Style(colour, 1.6))
        sheet.circle(centre, 0.6 * pen.unit, style)
    elif moves.is_universal:
        _cross(sheet, pen, centre, joint, style, colour)
    elif moves.is_planar:
        _plates(sheet, pen, centre, joint, style)
    elif moves.is_free:
        sheet.circle(centre, 1.1 * pen.unit, Style(colour, 1.4, "white", dash="1.5 3"))
    else:
        sheet.circle(centre, 0.4 * pen.unit, Style(colour, 1.6, colour))


def _half(joint: Joint) -> float:
    """Half the length of the cylinder of a turning joint: longer where it slides as well."""
    return 1.5 if joint.freedoms.slides else 1.0


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
    for axis in _two_axes(joint):
        reach = 0.95 * pen.unit * pen.along(axis)
        sheet.polyline([centre - reach, centre + reach], Style(colour, 2.4))


def _two_axes(joint: Joint) -> tuple[Array, Array]:
    """Of a universal joint: the first in frame a, the second in frame b."""
    first, second = sorted(joint.freedoms.turning)
    return joint.a[:3, first], joint.b[:3, second]


def _plates(sheet: Sheet, pen: Pen, centre: Array, joint: Joint, style: Style) -> None:
    """Two parallel plates."""
    x, y, z = (joint.a[:3, (joint.axis + k) % 3] for k in (1, 2, 3))
    facing = 1.0 if float(z @ pen.view.eye) >= 0.0 else -1.0
    for offset in (-0.25 * facing, 0.25 * facing):
        corners = [s * x + t * y + offset * z for s, t in ((1, 0.7), (1, -0.7), (-1, -0.7), (-1, 0.7))]
        sheet.polyline([centre + 1.2 * pen.unit * pen.along(c) for c in corners], style, closed=True)


def hull(points: Array) -> Array:
    """The corners (n, 2) of the convex hull of points in the plane; none where they are all on one line."""
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except QhullError:
        return np.zeros((0, 2))


# -- positive senses ---------------------------------------------------------------------------------------------------
def draw_arrows(sheet: Sheet, pen: Pen, joint: Joint, centre: Array) -> list[Array]:
    """Arrows in the positive sense of a joint's coordinates; where their labels belong."""
    anchors: list[Array] = []
    if joint.freedoms.turns:
        anchors.append(_turning_arrow(sheet, pen, joint.direction, centre, _half(joint)))
    if joint.freedoms.is_universal:
        anchors += [_turning_arrow(sheet, pen, axis, centre, 1.0) for axis in _two_axes(joint)]
    if joint.freedoms.slides:
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


# -- marks -------------------------------------------------------------------------------------------------------------
def draw_ground(sheet: Sheet, pen: Pen, place: Array, below: float) -> None:
    """A stub and a hatched line under a point of the sheet; `below` says how far."""
    u, line = pen.unit, Style(GROUND, 1.8)
    foot = shifted(place, 0.0, below)
    sheet.polyline([place, foot], line)
    left, right = shifted(foot, -1.5 * u, 0.0), shifted(foot, 1.5 * u, 0.0)
    sheet.polyline([left, right], line)
    for k in range(6):
        top = left + (right - left) * (k + 0.6) / 6
        sheet.polyline([top, shifted(top, -0.45 * u, 0.6 * u)], Style(GROUND, 1.0))


def draw_triad(sheet: Sheet, pen: Pen, place: Array, axes: Array, length: float, *, named: bool = False) -> None:
    """The axes of a frame, x y z red green blue; those towards the eye are a dot, away from it a cross."""
    for k, (name, colour) in enumerate(AXES):
        tip = place + length * pen.along(axes[:, k])
        if float(np.linalg.norm(tip - place)) < 0.2 * length:
            sheet.circle(place, 2.2, Style(colour, 1.2, colour if float(axes[:, k] @ pen.view.eye) > 0 else "white"))
            spot = shifted(place, -0.45 * length, 0.3 * length)
        else:
            sheet.polyline([place, tip], Style(colour, 1.6))
            spot = tip + 5.0 * (tip - place) / np.linalg.norm(tip - place)
        if named:
            sheet.text(shifted(spot, -3.0, 0.0), name, colour, size=11)


def draw_wheel(sheet: Sheet, pen: Pen, wheel: Wheel, colour: str) -> None:
    """The circle of a wheel in its plane."""
    ring = pen.ring(pen.at(wheel.centre), wheel.axle, wheel.radius * pen.scale)
    sheet.polyline(ring, Style(colour, 1.2, colour, opacity=0.12), closed=True)
    sheet.polyline(ring, Style(colour, 1.2), closed=True)


def draw_edge(sheet: Sheet, pen: Pen, wheel: Wheel, colour: str) -> None:
    """A wheel seen from above, where something cannot slip sideways."""
    across = pen.along(wheel.axle)
    size = float(np.linalg.norm(across))
    side = across / size if size > 1e-6 else np.array([0.0, 1.0])
    along, half, centre = np.array([-side[1], side[0]]), 0.45 * pen.unit * side, pen.at(wheel.centre)
    ends = centre - 1.8 * pen.unit * along, centre + 1.8 * pen.unit * along
    corners = [ends[0] - half, ends[1] - half, ends[1] + half, ends[0] + half]
    sheet.polyline(corners, Style(colour, 1.2, "white"), closed=True)


def nice_length(longest: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not longer."""
    power = 10.0 ** math.floor(math.log10(longest))
    return max(k * power for k in (1.0, 2.0, 5.0) if k * power <= longest * (1 + 1e-9))


def draw_scale(sheet: Sheet, left: Array, pixels: float, text: str) -> None:
    """A bar of known length."""
    right = shifted(left, pixels, 0.0)
    sheet.polyline([shifted(left, 0.0, -4.0), left, right, shifted(right, 0.0, -4.0)], Style(GROUND, 1.2))
    sheet.text(shifted(right, 7.0, -1.0), text, GROUND, size=11)
