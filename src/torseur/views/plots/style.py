"""How figures look, how units and names are printed in them, and how they are saved."""

from __future__ import annotations

import io
import os
import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.emit.text.latex import symbol, unicode_symbol
from torseur.errors import ArgumentError, MissingExtra
from torseur.formats import replace_file
from torseur.simulation.results.channels import Role
from torseur.simulation.results.result import Run

__all__ = [
    "COLOURS",
    "DASHES",
    "FAINT",
    "INK",
    "METADATA",
    "WIDTH",
    "axis_label",
    "draw_line",
    "folded",
    "literal",
    "name_label",
    "new_figure",
    "save_figure",
    "spelled_unit",
    "styled",
    "symbol_label",
    "text_label",
    "title_of",
    "write_png",
]

Array = NDArray[np.float64]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#4D4D4D", "#882255")
"""After Okabe and Ito: told apart with any kind of colour vision, and in grey by most."""
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (1.2, 1.4)), (0, (6, 1.4, 1.2, 1.4)))
INK, FAINT = "#333333", "#B8B8B8"
WIDTH = 6.7
"""Of a figure, inches: the text width of a page."""
LONGEST_LABEL = 22
"""Letters of the label of an axis in one line."""
LONGEST_INDEX = 9
"""Letters of an index; more stand beside the symbol, where they can be read."""
PIECE = 2000
"""Points of a line that are drawn in one go."""

STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "mathtext.fontset": "dejavusans",
    "axes.titlesize": 9.0,
    "axes.titlelocation": "left",
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
    "axes.formatter.offset_threshold": 8,  # 19.62005 is written out, not as 5e-5 with 19.62 in the corner
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.5,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 3.0,
    "ytick.major.size": 3.0,
    "text.color": INK,
    "lines.linewidth": 1.1,
    "lines.solid_capstyle": "round",
    "lines.solid_joinstyle": "round",
    "agg.path.chunksize": 0,  # its pieces do not touch: `draw_line` makes pieces that do
    "legend.frameon": False,
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "torseur",
}
# Without a date in it, the same run gives the same file.
METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Producer": None},
    ".svg": {"Date": None},
}


@contextmanager
def styled() -> Iterator[None]:
    """Our style while figures are made or saved; the user's own stays as it was."""
    try:
        import matplotlib
    except ImportError:
        raise MissingExtra("matplotlib", extra="plots", purpose="figures") from None
    with matplotlib.rc_context(STYLE):
        yield


def new_figure(height: float, width: float = WIDTH) -> Any:
    """An empty figure, inches; it belongs to nobody, so it need not be closed."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def draw_line(ax: Any, x: Array, y: Array, **look: Any) -> Any:
    """Draw a line through points; the first piece of it stands for it in legends.

    Long ones are drawn in pieces that share their ends: a path of very many points that crosses itself is slow, or more
    than the renderer takes.
    """
    starts = range(0, max(len(x) - 1, 1), PIECE - 1)
    pieces = [ax.plot(x[k : k + PIECE], y[k : k + PIECE], **look)[0] for k in starts]
    return pieces[0]


def folded(text: str) -> str:
    """The label of an axis, in lines that are no longer than a panel is high.

    >>> folded("gap of loops and constraints (m)").splitlines()
    ['gap of loops and', 'constraints (m)']
    """
    if len(text) <= LONGEST_LABEL:
        return text
    return "\n".join(textwrap.wrap(text, len(text) // 2 + 4, break_long_words=False))


def literal(text: str) -> str:
    r"""Words of a description, in which a dollar is a dollar and begins no formula.

    >>> literal("5 $ a piece")
    '5 \\$ a piece'
    """
    return text.replace("$", r"\$")


def title_of(figure: Any, text: str) -> None:
    """Write above a figure, from its left edge, in as many lines as it takes."""
    characters = int(14.5 * figure.get_figwidth())
    lines = (textwrap.fill(line, characters) for line in text.splitlines())
    figure.suptitle(literal("\n".join(lines)), x=0.01, ha="left", fontsize=9.5)


def save_figure(figure: Any, path: str | os.PathLike[str]) -> None:
    """Save a figure as .png, .pdf or .svg, all of it or nothing."""
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in METADATA:
        raise ArgumentError(
            "figures are not written in this format",
            where=str(file),
            expected=f"a name that ends in {' or '.join(METADATA)}",
            got=ending or "no ending",
        )
    with styled(), io.BytesIO() as stream:
        _plain_ticks(figure)
        if ending == ".png":
            write_png(figure, stream)
        else:
            figure.savefig(stream, format=ending[1:], metadata=METADATA[ending])
        replace_file(file, stream.getvalue())


def write_png(figure: Any, stream: io.BytesIO) -> None:
    """Draw once: `savefig` draws a figure with a layout twice, the first time for the layout alone."""
    from matplotlib import rcParams
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas, dpi = figure.canvas, figure.dpi
    try:
        figure.set_dpi(rcParams["savefig.dpi"])
        FigureCanvasAgg(figure).print_png(stream, metadata=METADATA[".png"], pil_kwargs={"compress_level": 3})
    finally:
        figure.set_canvas(canvas)
        figure.set_dpi(dpi)


def _plain_ticks(figure: Any) -> None:
    """Numbers at ticks as plain text: they look the same as formulas, and half of the drawing is reading those."""
    for axis in (axis for ax in figure.get_axes() for axis in (ax.xaxis, ax.yaxis)):
        if type(axis.get_major_formatter()) is _plain_numbers().__base__:
            axis.set_major_formatter(_plain_numbers()())


@lru_cache(maxsize=1)
def _plain_numbers() -> type:
    from matplotlib.ticker import ScalarFormatter

    base: Any = ScalarFormatter

    def call(self: Any, x: float, pos: int | None = None) -> str:
        return str(base.__call__(self, x, pos).removeprefix(r"$\mathdefault{").removesuffix("}$"))

    return type("PlainNumbers", (base,), {"__call__": call})


QUANTITIES = {
    "rad": "angle",
    "deg": "angle",
    "m": "position",
    "rad/s": "angular speed",
    "m/s": "speed",
    "rad/s2": "angular acceleration",
    "m/s2": "acceleration",
    "N": "force",
    "N m": "torque",
    "J": "energy",
    "W": "power",
    "A": "current",
    "V": "voltage",
    "kg m/s": "momentum",
    "kg m2/s": "angular momentum",
}


def spelled_unit(unit: str) -> str:
    """A unit with its powers raised and its products dotted.

    >>> spelled_unit("kg m2/s2")
    'kg·m²/s²'
    """
    raised = re.sub(r"(?<=[A-Za-z])-?\d", lambda m: m[0].translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")), unit)
    return re.sub(r"(?<=\S) (?=\S)", "·", raised.strip())


def axis_label(unit: str, what: str | None = None) -> str:
    """What an axis shows, and its unit.

    >>> axis_label("rad/s2"), axis_label("", "gear"), axis_label("Pa"), axis_label("")
    ('angular acceleration (rad/s²)', 'gear', 'Pa', 'no unit')
    """
    quantity = what or QUANTITIES.get(unit)
    if unit in ("", "1"):
        return quantity or "no unit"
    return f"{quantity} ({spelled_unit(unit)})" if quantity else spelled_unit(unit)


def name_label(run: Run, name: str) -> str:
    """The name of a channel: a symbol if it is one, with dots if it is a rate; else its words."""
    return symbol_label(*_rate_of(run, name))


def symbol_label(base: str, dots: int = 0) -> str:
    r"""A name as a symbol with dots if it is one, else its words.

    >>> symbol_label("theta1", 1), symbol_label("front_left")
    ('$\\dot{\\theta}_{1}$', 'front left')
    """
    stem, mark, rest = symbol(base).partition("_")
    if re.fullmatch(r"[vw][xyz]|q[wxyz]", base):
        stem, mark, rest = base[0], "_", base[1]
    if re.fullmatch(r"[A-Za-z]|\\(?!math)[A-Za-z]+", stem):
        words = base.partition("_")[2].replace("_", " ")
        mark, rest, words = ("", "", f" {words}") if len(words) > LONGEST_INDEX else (mark, rest, "")
        dotted = ("%s", r"\dot{%s}", r"\ddot{%s}")[dots] % stem
        return f"${dotted}{mark}{rest}${words}"
    words = base.replace("_", " ")
    return (words, rf"$\mathrm{{d}}(${words}$)/\mathrm{{d}}t$", rf"$\mathrm{{d}}^2(${words}$)/\mathrm{{d}}t^2$")[dots]


def text_label(run: Run, name: str) -> str:
    """The name of a channel in plain text: Greek letters, indices below, dots above rates."""
    base, dots = _rate_of(run, name)
    component = re.fullmatch(r"([vw])([xyz])|(q)([wxyz])", base)
    if component is not None:
        return unicode_symbol(component[1] or component[3], dots) + "_" + (component[2] or component[4])
    symbol = unicode_symbol(base, dots)
    if dots and symbol == f"{'d' * dots}{base}":
        words = base.replace("_", " ")
        return f"d({words})/dt" if dots == 1 else f"d²({words})/dt²"
    return symbol.replace("_", " ")


def _rate_of(run: Run, name: str) -> tuple[str, int]:
    """What a channel is the rate of, and how many times."""
    lower = {Role.SPEED: Role.COORDINATE, Role.ACCELERATION: Role.SPEED}
    channel, dots = run.channels.get(name), 0
    while channel is not None and name.startswith("d"):
        inner = run.channels.get(name[1:])
        if inner is None or inner.role is not lower.get(channel.role):
            break
        name, channel, dots = name[1:], inner, dots + 1
    return name, dots
