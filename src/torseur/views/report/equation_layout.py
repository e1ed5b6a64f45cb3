"""How wide formulas are, and where long ones are broken: before a plus or minus of the outermost sum.

Widths are rough, in em of the text: what counts is that no line runs out of the page.
"""

from __future__ import annotations

from collections.abc import Iterator

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

__all__ = ["PAGE", "broken", "width"]

PAGE = 41.0
"""Of a line of equations, em."""
_SMALL = 0.72
_WIDE_SIGNS = frozenset("+−=<>≤≥≠⋅×∧∨≈∈↦±")


def width(math: Math) -> float:
    """About how wide a formula is, em."""
    match math:
        case Word(text, look):
            letter = 0.6 if look in (Look.ITALIC, Look.TYPEWRITER) else 0.53
            return letter * len(text) + (0.2 if look is Look.FUNCTION else 0.0)
        case Number(text):
            return 0.5 * len(text)
        case Sign(text):
            return 1.25 if text in _WIDE_SIGNS else 0.45
        case Space(wide):
            return 1.0 if wide else 0.17
        case Row(items):
            return sum(map(width, items))
        case Fraction(above, below):
            return 0.3 + max(width(above), width(below))
        case Root(inside):
            return 0.9 + width(inside)
        case Scripted(base, below, above):
            return width(base) + _SMALL * max(width(x) if x is not None else 0.0 for x in (below, above))
        case Dotted(base, _):
            return width(base)
        case Fenced(_, inside, _):
            return 0.95 + width(inside)
        case Array(rows, _, _):
            columns = max((len(row) for row in rows), default=0)
            widths = [max((width(row[k]) for row in rows if k < len(row)), default=0.0) for k in range(columns)]
            return 1.0 + sum(widths) + max(columns - 1, 0)


def broken(math: Math, room: float = PAGE) -> list[Math]:
    """A formula in lines of at most some width, as far as the terms of its sum allow."""
    lines: list[list[Math]] = [[]]
    taken = 0.0
    for term in _terms(math):
        size = sum(map(width, term))
        if lines[-1] and taken + size > room:
            lines.append([])
            taken = 0.0
        lines[-1] += term
        taken += size
    return [line[0] if len(line) == 1 else Row(tuple(line)) for line in lines]


def _terms(math: Math) -> Iterator[list[Math]]:
    """The terms of a sum, each with the sign before it."""
    if not isinstance(math, Row):
        yield [math]
        return
    term: list[Math] = []
    for item in math.items:
        if term and item in (Sign("+"), Sign("−")) and not _is_open(term[-1]):
            yield term
            term = []
        term.append(item)
    if term:
        yield term


def _is_open(item: Math) -> bool:
    """Whether a sign after it belongs to what follows: 2 ⋅ -3, a = -b."""
    return isinstance(item, Sign) and item.text in _WIDE_SIGNS
