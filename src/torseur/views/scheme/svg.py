"""SVG written as text: shapes in a plane whose y axis points down, in pixels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from xml.sax import saxutils

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Circle", "Polyline", "Shape", "Sheet", "Style", "Words", "number", "shifted"]

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
