"""Formulas as LaTeX."""

from __future__ import annotations

import re

from torseur.views.report.document import Language
from torseur.views.report.latex_text import SYMBOLS, escaped
from torseur.views.report.math import FUNCTIONS as _KNOWN
from torseur.views.report.math import (
    Array,
    Dotted,
    Fenced,
    Fraction,
    Look,
    Math,
    Number,
    Root,
    Row,
    Scripted,
    Sign,
    Space,
    Word,
)
from torseur.views.report.typography import NARROW, decimal

__all__ = ["to_latex_math"]

_PLAIN = frozenset("+=<>,;:!'()[]/|.*")
_LOOKS = {
    Look.ITALIC: (r"\mathit{%s}", r"\textit{%s}"),
    Look.UPRIGHT: (r"\mathrm{%s}", r"\textrm{%s}"),
    Look.BOLD: (r"\boldsymbol{%s}", r"\textbf{%s}"),
    Look.TYPEWRITER: (r"\mathtt{%s}", r"\texttt{%s}"),
    Look.FUNCTION: (r"\operatorname{%s}", r"\textrm{%s}"),
    Look.TEXT: (r"\text{%s}", r"%s"),
}
"""How a name is set, and how a word with other characters is: as text."""


def to_latex_math(math: Math, language: Language) -> str:
    """A formula, without what begins and ends it."""

    def of(part: Math) -> str:
        return to_latex_math(part, language)

    match math:
        case Word(text, look):
            return _word(text, look)
        case Number(text):
            return decimal(text, language).replace(",", "{,}").replace(NARROW, r"\,")
        case Sign(text):
            return _sign(text)
        case Space(wide):
            return r"\quad " if wide else r"\, "
        case Row(items):
            return " ".join(map(of, items))
        case Fraction(above, below):
            return rf"\frac{{{of(above)}}}{{{of(below)}}}"
        case Root(inside):
            return rf"\sqrt{{{of(inside)}}}"
        case Scripted(base, below, above):
            lower = "" if below is None else f"_{{{of(below)}}}"
            upper = "" if above is None else f"^{{{of(above)}}}"
            return f"{{{of(base)}}}{lower}{upper}"
        case Dotted(base, dots):
            return rf"\{'d' * dots}ot{{{of(base)}}}"
        case Fenced(left, inside, right):
            return rf"\left{_fence(left)} {of(inside)} \right{_fence(right)}"
        case Array(rows, left, right, is_cases):
            body = r" \\ ".join(" & ".join(map(of, row)) for row in rows)
            if is_cases:
                return rf"\begin{{cases}} {body} \end{{cases}}"
            columns = "c" * max((len(row) for row in rows), default=1)
            array = rf"\begin{{array}}{{{columns}}} {body} \end{{array}}"
            return rf"\left{_fence(left)} {array} \right{_fence(right)}" if left or right else array


def _word(text: str, look: Look) -> str:
    name, words = _LOOKS[look]
    if look is Look.FUNCTION and text in _KNOWN:
        return f"\\{text}"
    if len(text) == 1 and text in SYMBOLS:
        symbol = SYMBOLS[text] + " "
        return name % symbol if look is Look.BOLD else symbol
    if re.fullmatch(r"\w*", text, re.ASCII) and look is not Look.TEXT:
        return text if look is Look.ITALIC and len(text) == 1 and text != "_" else name % text.replace("_", r"\_")
    return rf"\text{{{words % escaped(text)}}}"


def _sign(text: str) -> str:
    if text == "−":
        return "-"
    if text in SYMBOLS:
        return SYMBOLS[text] + " "
    return text if text in _PLAIN else rf"\text{{{escaped(text)}}}"


def _fence(text: str) -> str:
    if not text:
        return "."
    return SYMBOLS.get(text) or (f"\\{text}" if text in "{}" else text)
