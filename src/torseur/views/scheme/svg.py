"""SVG written as text: shapes in a plane whose y axis points down, in pixels; labels that keep off each other,
and as far as can be off the drawing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from xml.sax import saxutils

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Array",
    "Circle",
    "Label",
    "Placed",
    "Polyline",
    "Shape",
    "Sheet",
    "Style",
    "Words",
    "number",
    "place_labels",
    "shifted",
    "width_of",
]

Array = NDArray[np.float64]
Point = Iterable[float]
FONT = "Helvetica, Arial, DejaVu Sans, sans-serif"


def number(value: float) -> str:
    """A coordinate with a tenth of a pixel, without a negative zero."""
    text = f"{value:.1f}"
    return "0" if text in ("-0.0", "0.0") else text.removesuffix(".0")


def escape(text: str) -> str:
    """Text as XML can hold it: without control characters."""
    return saxutils.escape("".join(c if c.isprintable() or c == "\n" else " " for c in text))


def shifted(point: Array, right: float, down: float) -> Array:
    """A point of the sheet somewhat further."""
    return np.asarray(point + np.array([right, down]))


@dataclass(frozen=True)
class Style:
    """What a shape looks like."""

    stroke: str = "none"
    width: float = 1.0
    fill: str = "none"
    dash: str = ""
    opacity: float = 1.0

    @property
    def text(self) -> str:
        parts = [f'stroke="{self.stroke}"', f'fill="{self.fill}"']
        if self.stroke != "none":
            parts.append(f'stroke-width="{number(self.width)}"')
        if self.dash:
            parts.append(f'stroke-dasharray="{self.dash}"')
        if self.opacity < 1.0:
            parts.append(f'opacity="{self.opacity:g}"')
        return " ".join(parts)


@dataclass(frozen=True)
class Polyline:
    """Straight lines from point to point."""

    points: tuple[tuple[float, float], ...]
    style: Style
    closed: bool = False

    @property
    def svg(self) -> str:
        tag = "polygon" if self.closed else "polyline"
        text = " ".join(f"{number(x)},{number(y)}" for x, y in self.points)
        return f'<{tag} points="{text}" {self.style.text} stroke-linejoin="round" stroke-linecap="round"/>'


@dataclass(frozen=True)
class Circle:
    centre: tuple[float, float]
    radius: float
    style: Style

    @property
    def svg(self) -> str:
        x, y = self.centre
        return f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(self.radius)}" {self.style.text}/>'


@dataclass(frozen=True)
class Words:
    """Their left end and middle line are at a point."""

    where: tuple[float, float]
    words: str
    colour: str
    size: float = 12.0
    italic: bool = False
    bold: bool = False

    @property
    def svg(self) -> str:
        x, y = self.where
        look = (' font-style="italic"' if self.italic else "") + (' font-weight="bold"' if self.bold else "")
        return (
            f'<text x="{number(x)}" y="{number(y + 0.35 * self.size)}" font-size="{number(self.size)}" '
            f'fill="{self.colour}"{look}>{escape(self.words)}</text>'
        )


Shape = Polyline | Circle | Words


class Sheet:
    """Shapes in the order they are painted."""

    def __init__(self) -> None:
        self.shapes: list[Shape] = []

    def polyline(self, points: Iterable[Point], style: Style, *, closed: bool = False) -> None:
        self.shapes.append(Polyline(tuple((float(x), float(y)) for x, y in points), style, closed))

    def circle(self, centre: Point, radius: float, style: Style) -> None:
        x, y = centre
        self.shapes.append(Circle((float(x), float(y)), radius, style))

    def text(
        self, where: Point, words: str, colour: str, *, size: float = 12.0, italic: bool = False, bold: bool = False
    ) -> None:
        x, y = where
        self.shapes.append(Words((float(x), float(y)), words, colour, size, italic, bold))

    def document(self, width: float, height: float, title: str, description: str) -> str:
        """The whole file."""
        w, h = number(width), number(height)
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" '
                f'font-family="{FONT}">',
                f"<title>{escape(title)}</title>",
                f"<desc>{escape(description)}</desc>",
                f'<rect width="{w}" height="{h}" fill="white"/>',
                *(shape.svg for shape in self.shapes),
                "</svg>\n",
            ]
        )


NARROW, WIDE = set("iljtfrI.,:;|!'()[]/-_ "), set("mwMW@%")
DIRECTIONS = 16
RINGS = (0.0, 7.0, 16.0, 28.0, 44.0, 64.0, 90.0, 120.0, 160.0)
GAP = 2.0


@dataclass(frozen=True)
class Label:
    """Words, what they belong to, and how they look; those of the higher rank are placed first."""

    words: str
    anchor: tuple[float, float]
    colour: str
    size: float = 12.0
    italic: bool = False
    clearance: float = 6.0
    """How far from the anchor the words begin."""


@dataclass(frozen=True)
class Placed:
    """A label with the box (left, top, right, bottom) it takes."""

    label: Label
    box: tuple[float, float, float, float]

    @property
    def is_far(self) -> bool:
        """Whether a line should lead to what it belongs to."""
        x, y = self.label.anchor
        left, top, right, bottom = self.box
        off = math.hypot(max(left - x, 0.0, x - right), max(top - y, 0.0, y - bottom))
        return off > self.label.clearance + 14.0

    @property
    def near_end(self) -> tuple[float, float]:
        """The point of the box nearest to the anchor."""
        (x, y), (left, top, right, bottom) = self.label.anchor, self.box
        return (min(max(x, left), right), min(max(y, top), bottom))


def width_of(words: str, size: float) -> float:
    """How wide words are at most in the usual sans-serif types."""
    return size * sum(0.42 if c in NARROW else 0.98 if c in WIDE else 0.74 if c.isupper() else 0.63 for c in words)


def place_labels(labels: list[Label], discs: Array, dots: Array, limits: tuple[float, float]) -> list[Placed]:
    """Put each label beside its anchor: never on another label, rarely on a symbol or a line.

    Args:
        labels: the most important first.
        discs: (n, 3) centre and radius of what should stay free.
        dots: (m, 2) points on lines, to be avoided if possible.
        limits: width and height of the sheet.
    """
    placed: list[Placed] = []
    taken = np.zeros((0, 4))
    for label in labels:
        boxes, far = _candidates(label)
        hard = _overlaps(boxes, taken).any(axis=1) | _outside(boxes, limits)
        soft = 6.0 * _covered_discs(boxes, discs) + 2.0 * _covered_dots(boxes, dots)
        cost = far + soft + 1e6 * hard
        best = boxes[int(np.argmin(cost))]
        placed.append(Placed(label, (float(best[0]), float(best[1]), float(best[2]), float(best[3]))))
        taken = np.vstack([taken, best + GAP * np.array([-1.0, -1.0, 1.0, 1.0])])
    return placed


def _candidates(label: Label) -> tuple[Array, Array]:
    """Boxes around an anchor, and what their distance costs; to the right and above come first."""
    width, height = width_of(label.words, label.size), 1.05 * label.size
    x, y = label.anchor
    boxes, costs = [], []
    for ring in RINGS:
        for k in range(DIRECTIONS):
            angle = 2 * math.pi * k / DIRECTIONS
            reach = label.clearance + ring
            cx = x + reach * math.cos(angle) + 0.5 * width * _soft_sign(math.cos(angle))
            cy = y - reach * math.sin(angle) - 0.5 * height * _soft_sign(math.sin(angle))
            boxes.append((cx - width / 2, cy - height / 2, cx + width / 2, cy + height / 2))
            costs.append(0.18 * ring + 0.1 * ((k - 2) % DIRECTIONS) / DIRECTIONS)
    return np.array(boxes), np.array(costs)


def _soft_sign(value: float) -> float:
    return max(-1.0, min(1.0, 1.6 * value))


def _overlaps(boxes: Array, taken: Array) -> NDArray[np.bool_]:
    a, b = boxes[:, None, :], taken[None, :, :]
    overlaps: NDArray[np.bool_] = (
        (a[..., 0] < b[..., 2]) & (b[..., 0] < a[..., 2]) & (a[..., 1] < b[..., 3]) & (b[..., 1] < a[..., 3])
    )
    return overlaps


def _outside(boxes: Array, limits: tuple[float, float]) -> NDArray[np.bool_]:
    low, high = boxes[:, :2] < 2.0, boxes[:, 2:] > np.array(limits) - 2.0
    return np.asarray((low | high).any(axis=1))


def _covered_discs(boxes: Array, discs: Array) -> Array:
    """How deep boxes lie in discs, all together."""
    if not len(discs):
        return np.zeros(len(boxes))
    x, y, r = discs[None, :, 0], discs[None, :, 1], discs[None, :, 2]
    dx = np.maximum(np.maximum(boxes[:, 0:1] - x, x - boxes[:, 2:3]), 0.0)
    dy = np.maximum(np.maximum(boxes[:, 1:2] - y, y - boxes[:, 3:4]), 0.0)
    return np.asarray(np.sum(np.maximum(0.0, 1.0 - np.hypot(dx, dy) / r), axis=1))


def _covered_dots(boxes: Array, dots: Array) -> Array:
    if not len(dots):
        return np.zeros(len(boxes))
    x, y = dots[None, :, 0], dots[None, :, 1]
    inside = (x > boxes[:, 0:1] - 1) & (x < boxes[:, 2:3] + 1) & (y > boxes[:, 1:2] - 1) & (y < boxes[:, 3:4] + 1)
    return np.asarray(np.minimum(np.sum(inside, axis=1), 8.0))
