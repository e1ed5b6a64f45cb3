"""Formulas for Typst."""

from __future__ import annotations

import json

from torseur.views.report.document import Language
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
from torseur.views.report.typography import decimal

__all__ = ["quoted", "to_typst_math"]

_PLAIN_SIGNS = frozenset("+−=<>≤≥≠⋅×±≈∈∧∨¬∞∘⊤∂∑↦'!")
_DOTS = {1: "dot", 2: "dot.double"}


def quoted(text: str) -> str:
    """Any text as a Typst string, which is never read as markup."""
    clean = "".join(c if c.isprintable() or c in "\u00a0\u202f" else " " for c in text)
    return json.dumps(clean, ensure_ascii=False)


def to_typst_math(math: Math, language: Language) -> str:
    """A formula, without the signs around it."""

    def of(part: Math) -> str:
        return to_typst_math(part, language)

    match math:
        case Word(text, look):
            return _word(text, look)
        case Number(text):
            return quoted(decimal(text, language))
        case Sign("/"):
            return 'class("normal", \\/)'
        case Sign(text):
            return text if text in _PLAIN_SIGNS else "\\," if text == "," else quoted(text)
        case Space(wide):
            return "quad" if wide else "thin"
        case Row(items):
            return " ".join(map(of, items)) or '""'
        case Fraction(above, below):
            return f"frac({of(above)}, {of(below)})"
        case Root(inside):
            return f"sqrt({of(inside)})"
        case Scripted(base, below, above):
            lower = "" if below is None else f", b: {of(below)}"
            upper = "" if above is None else f", t: {of(above)}"
            return f"attach({of(base)}{lower}{upper})"
        case Dotted(base, dots):
            return f"{_DOTS[dots]}({of(base)})"
        case Fenced(left, inside, right):
            return f"lr({_fence(left)} {of(inside)} {_fence(right)})"
        case Array(rows, left, _, is_cases):
            if is_cases:
                return f"cases({', '.join(' & quad '.join(map(of, row)) for row in rows)})"
            body = "; ".join(", ".join(of(cell) for cell in row) for row in rows)
            return f"display(mat(delim: {quoted(left) if left else '#none'}, {body}))"


def _fence(text: str) -> str:
    """Escaped, so that none has to be balanced; they grow all the same."""
    return f"\\{text}" if text else ""


def _word(text: str, look: Look) -> str:
    if look is Look.FUNCTION:
        return f"op({quoted(text)})"
    if look is Look.BOLD:
        return f"bold(upright({quoted(text)}))" if len(text) > 1 else f"upright(bold({quoted(text)}))"
    if look is Look.TYPEWRITER:
        return f"mono({quoted(text)})"
    if look is Look.ITALIC:
        return text if len(text) == 1 and text.isalpha() else f"italic({quoted(text)})"
    return quoted(text)
