"""Marks around the mechanism: ground, frames, wheels, the scale, the directions of the world."""

from __future__ import annotations

import math

import numpy as np

from torseur.views.scheme.skeleton import Wheel
from torseur.views.scheme.svg import Array, Sheet, Style, shifted
from torseur.views.scheme.symbols import Pen

__all__ = ["draw_edge", "draw_ground", "draw_scale", "draw_triad", "draw_wheel", "nice_length"]

GROUND = "#444444"
AXES = (("x", "#c0392b"), ("y", "#1e8449"), ("z", "#1f5fa8"))


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
