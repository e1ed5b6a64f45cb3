"""Formulas as MathML, in the part that browsers draw by themselves (MathML Core)."""

from __future__ import annotations

from html import escape

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
    is_tall,
)
from torseur.views.report.typography import decimal

__all__ = ["to_mathml"]

_DOTS = {1: "˙", 2: "¨"}
_APPLY = "<mo>&#x2061;</mo>"
"""Between a function and its argument."""


def to_mathml(math: Math, language: Language) -> str:
    """A whole formula, in a line."""
    style = ' displaystyle="true"' if is_tall(math) else ""
    return f"<math{style}>{inner(math, language)}</math>"


def inner(math: Math, language: Language) -> str:
    """A part of one."""
    match math:
        case Word(text, look):
            return _word(text, look)
        case Number(text):
            return f"<mn>{escape(decimal(text, language))}</mn>"
        case Sign(text):
            return f"<mo>{escape(text)}</mo>"
        case Space(wide):
            return f'<mspace width="{"1em" if wide else "0.17em"}"></mspace>'
        case Row(items):
            return f"<mrow>{''.join(inner(x, language) for x in items)}</mrow>"
        case Fraction(above, below):
            return f"<mfrac>{inner(above, language)}{inner(below, language)}</mfrac>"
        case Root(inside):
            return f"<msqrt>{inner(inside, language)}</msqrt>"
        case Scripted():
            return _scripted(math, language)
        case Dotted(base, dots):
            # Not marked as an accent: Chromium draws accents on the letter itself.
            return f'<mover>{inner(base, language)}<mo stretchy="false">{_DOTS[dots]}</mo></mover>'
        case Fenced(left, inside, right):
            return f"<mrow>{_fence(left)}{inner(inside, language)}{_fence(right)}</mrow>"
        case Array():
            return _array(math, language)


def _word(text: str, look: Look) -> str:
    words = escape(text)
    if look is Look.TEXT:
        return f"<mtext>{words.replace(' ', '&#xa0;')}</mtext>"
    if look is Look.TYPEWRITER:
        return f'<mtext class="typed">{words}</mtext>'
    if look is Look.FUNCTION:
        return f'<mi mathvariant="normal">{words}</mi>{_APPLY}'
    if look is Look.BOLD:
        return f'<mi mathvariant="normal" class="bold">{words}</mi>'
    if look is Look.ITALIC and len(text) > 1:
        return f'<mi class="slanted">{words}</mi>'
    return f"<mi>{words}</mi>" if look is Look.ITALIC else f'<mi mathvariant="normal">{words}</mi>'


def _scripted(math: Scripted, language: Language) -> str:
    base = inner(math.base, language)
    below = None if math.below is None else inner(math.below, language)
    above = None if math.above is None else inner(math.above, language)
    if below is None:
        return f"<msup>{base}{above}</msup>"
    return f"<msub>{base}{below}</msub>" if above is None else f"<msubsup>{base}{below}{above}</msubsup>"


def _fence(text: str) -> str:
    return f'<mo fence="true" lspace="0" rspace="0">{escape(text)}</mo>' if text else ""


def _array(math: Array, language: Language) -> str:
    rows = "".join(f"<mtr>{''.join(f'<mtd>{inner(cell, language)}</mtd>' for cell in row)}</mtr>" for row in math.rows)
    look = ' class="cases"' if math.is_cases else ""
    return f"<mrow>{_fence(math.left)}<mtable{look}>{rows}</mtable>{_fence(math.right)}</mrow>"
