"""Pictures of a report: sheets of shapes, and figures of matplotlib; as SVG for screens and Typst, as PDF for LaTeX.

The same picture gives the same bytes, whenever it is made. Labels of figures are put into the language of the report.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from torseur.views.plots.style import METADATA, WIDTH, folded, styled
from torseur.views.report.document import Language
from torseur.views.report.layout import decimal
from torseur.views.report.phrases import AXES, is_known, translated
from torseur.views.scheme.svg import Circle, Polyline, Shape, Sheet, Words

__all__ = ["Drawn", "Plotted", "in_language", "localised"]

_PIXELS = 72.0
"""Of a sheet, an inch."""
_LARGEST_SVG = 600_000
"""Bytes of a figure beyond which it is a picture of points."""
_TALLEST = 7.5
"""Of a figure at its full width, inches."""
_TEXT_WIDTH = 700.0
"""Of a page, pixels of a sheet at its natural size."""


def in_language(shapes: Iterable[Shape], language: Language) -> tuple[Shape, ...]:
    """Shapes whose words, and lengths such as that of a scale, are written as the language writes them."""
    texts = []
    for shape in shapes:
        length = re.fullmatch(r"(\d+\.\d+) m", shape.words) if isinstance(shape, Words) else None
        if length is not None and isinstance(shape, Words):
            shape = replace(shape, words=f"{decimal(length[1], language)} m")
        elif isinstance(shape, Words) and is_known(shape.words):
            shape = replace(shape, words=translated(shape.words, language))
        texts.append(shape)
    return tuple(texts)


@dataclass(frozen=True)
class Drawn:
    """Shapes on a sheet."""

    name: str
    shapes: tuple[Shape, ...]
    size: tuple[float, float]
    title: str = ""

    @property
    def width(self) -> float:
        return min(1.0, max(0.3, self.size[0] / _TEXT_WIDTH), 0.62 * self.size[0] / max(self.size[1], 1.0))

    def svg(self) -> bytes:
        sheet = Sheet()
        sheet.shapes.extend(self.shapes)
        return sheet.document(*self.size, self.title, "").encode("utf-8")

    def pdf(self) -> bytes:
        with styled():
            return _saved(self._figure(), ".pdf")

    def _figure(self) -> Any:
        from matplotlib.figure import Figure

        w, h = self.size
        figure = Figure(figsize=(w / _PIXELS, h / _PIXELS))
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        ax.set_xlim(0.0, w)
        ax.set_ylim(h, 0.0)
        ax.axis("off")
        for order, shape in enumerate(self.shapes):
            _paint(ax, shape, order)
        return figure


def _paint(ax: Any, shape: Shape, order: int) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Circle as Disc
    from matplotlib.patches import Polygon

    if isinstance(shape, Words):
        look = {"style": "italic" if shape.italic else "normal", "weight": "bold" if shape.bold else "normal"}
        size = 0.88 * shape.size  # the letters of DejaVu are wider than those sheets are laid out for
        ax.text(
            *shape.where, _literal(shape.words), color=shape.colour, fontsize=size, va="center", zorder=order, **look
        )
        return
    style = shape.style
    pen: dict[str, Any] = {
        "linewidth": style.width if style.stroke != "none" else 0.0,
        "linestyle": (0, _dashes(style.dash, style.width)) if style.dash else "-",
        "alpha": style.opacity,
        "zorder": order,
    }
    if isinstance(shape, Polyline) and not shape.closed and style.fill == "none":
        if len(shape.points) > 1:
            x, y = zip(*shape.points, strict=True)
            ax.add_line(Line2D(x, y, color=style.stroke, solid_capstyle="round", solid_joinstyle="round", **pen))
        return
    inside = {"facecolor": style.fill, "edgecolor": style.stroke, **pen}
    if isinstance(shape, Circle):
        ax.add_patch(Disc(shape.centre, shape.radius, **inside))
    else:
        ax.add_patch(Polygon(shape.points, closed=shape.closed, joinstyle="round", **inside))


def _dashes(dash: str, width: float) -> tuple[float, ...]:
    """In units of the width, as matplotlib counts them."""
    return tuple(float(x) / max(width, 0.1) for x in dash.split())


def _literal(text: str) -> str:
    """No formula of matplotlib's."""
    return text.replace("$", r"\$")


@dataclass(frozen=True, eq=False)
class Plotted:
    """A figure of matplotlib."""

    name: str
    figure: Any

    @property
    def width(self) -> float:
        return float(min(1.0, self.figure.get_figwidth() / WIDTH, _TALLEST / self.figure.get_figheight()))

    @cached_property
    def _svg(self) -> bytes:
        import matplotlib

        with styled(), matplotlib.rc_context({"svg.fonttype": "path"}):
            data = _saved(self.figure, ".svg")
        with styled():
            return data if len(data) <= _LARGEST_SVG else _saved(self.figure, ".png")

    def svg(self) -> bytes:
        """Or PNG, where there are very many points."""
        return self._svg

    def pdf(self) -> bytes:
        with styled():
            return _saved(self.figure, ".pdf")


def _saved(figure: Any, ending: str) -> bytes:
    with io.BytesIO() as stream:
        figure.savefig(stream, format=ending[1:], metadata=METADATA[ending])
        return stream.getvalue()


# -- words on figures --------------------------------------------------------------------------------------------------
def localised(figure: Any, language: Language) -> Any:
    """A figure without its title, which the caption says, with labels and numbers of a language."""
    figure.suptitle("")
    if language is Language.ENGLISH:
        return figure
    for text in (text for legend in figure.legends for text in legend.get_texts()):
        text.set_text(_label(text.get_text(), language))
    for ax in figure.axes:
        for text in _texts(ax):
            text.set_text(_label(text.get_text(), language))
        ax.yaxis.label.set_text(folded(_label(ax.yaxis.label.get_text(), language, AXES)))
        with styled():
            for axis in (ax.xaxis, ax.yaxis):
                axis.set_major_formatter(_formatter(language))
    return figure


def _texts(ax: Any) -> Iterator[Any]:
    yield from (ax.xaxis.label, ax.title, ax._left_title, *ax.texts)
    legend = ax.get_legend()
    if legend is not None:
        yield from legend.get_texts()


def _label(text: str, language: Language, more: Mapping[str, str] | None = None) -> str:
    """'angular speed (rad/s)': the words before the unit."""
    words, unit = re.fullmatch(r"(.*?)( \([^()]*\))?", text.replace("\n", " "), re.DOTALL).groups()  # type: ignore[union-attr]
    return ((more or {}).get(words) or translated(words, language)) + (unit or "")


def _formatter(language: Language) -> Any:
    """Numbers of axes with the decimal mark of a language."""
    from matplotlib.ticker import ScalarFormatter

    base: Any = ScalarFormatter  # typed or not, as matplotlib is installed or not: the check must not depend on it

    def local(text: str) -> str:
        mark = "{,}" if "$" in text else ","  # in a formula it is no list
        return re.sub(r"(?<=\d)\.(?=\d)", mark, text) if language is Language.FRENCH else decimal(text, language)

    def call(self: Any, x: float, pos: int | None = None) -> str:
        return local(base.__call__(self, x, pos))

    def offset(self: Any) -> str:
        return local(base.get_offset(self))

    return type("Localised", (base,), {"__call__": call, "get_offset": offset})()
