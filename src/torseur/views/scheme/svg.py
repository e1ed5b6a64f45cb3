"""SVG written as text: shapes in a plane whose y axis points down, in pixels."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax import saxutils

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Sheet", "Style", "number", "shifted"]

Array = NDArray[np.float64]
Point = Iterable[float]
FONT = "Helvetica, Arial, sans-serif"


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


class Style:
    """What a shape looks like."""

    def __init__(
        self, stroke: str = "none", width: float = 1.0, fill: str = "none", dash: str = "", opacity: float = 1.0
    ) -> None:
        parts = [f'stroke="{stroke}"', f'fill="{fill}"']
        if stroke != "none":
            parts.append(f'stroke-width="{number(width)}"')
        if dash:
            parts.append(f'stroke-dasharray="{dash}"')
        if opacity < 1.0:
            parts.append(f'opacity="{opacity:g}"')
        self.text = " ".join(parts)


class Sheet:
    """Shapes in the order they are painted."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def polyline(self, points: Iterable[Point], style: Style, *, closed: bool = False) -> None:
        tag = "polygon" if closed else "polyline"
        text = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.lines.append(f'<{tag} points="{text}" {style.text} stroke-linejoin="round" stroke-linecap="round"/>')

    def circle(self, centre: Point, radius: float, style: Style) -> None:
        x, y = centre
        self.lines.append(f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" {style.text}/>')

    def text(
        self, where: Point, words: str, colour: str, *, size: float = 12.0, italic: bool = False, bold: bool = False
    ) -> None:
        """Words whose left end and middle line are at a point."""
        x, y = where
        look = (' font-style="italic"' if italic else "") + (' font-weight="bold"' if bold else "")
        self.lines.append(
            f'<text x="{number(x)}" y="{number(y + 0.35 * size)}" font-size="{number(size)}" fill="{colour}"{look}>'
            f"{escape(words)}</text>"
        )

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
                *self.lines,
                "</svg>\n",
            ]
        )
