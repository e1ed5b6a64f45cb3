"""Names and formulas of model files as mathematics."""

from __future__ import annotations

import math as numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from torseur.describe import Mechanism
from torseur.describe.fields import Scalar
from torseur.describe.formulas import Formula
from torseur.emit.text.dialect import plain_number
from torseur.emit.text.latex import dotted, symbol
from torseur.views.report import document
from torseur.views.report.document import Code, Inline, Line, Text, Value
from torseur.views.report.math import (
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
    parsed,
)

__all__ = ["Symbols", "number_math"]

_LONGEST = 160
"""Characters of a formula beyond which it is shown as it was typed."""
_COMPARISONS = {"<": "<", "<=": "≤", ">": ">", ">=": "≥", "==": "="}


_DEGREE = Scripted(Number("1"), above=Sign("∘"))
"""What stands for a degree by itself."""


class _Rank(IntEnum):
    SUM = 0
    PRODUCT = 1
    POWER = 2
    ATOM = 3


@dataclass(frozen=True)
class _Piece:
    """A formula, how tightly it binds, and of a negative one what stands behind its sign."""

    math: Math
    rank: _Rank
    of_minus: _Piece | None = None


def number_math(value: float, digits: int = 10) -> Math:
    """A number, with a power of ten where it is very large or small."""
    if value < 0:
        return Row((Sign("−"), number_math(-value, digits)))
    mantissa, e, power = plain_number(float(f"{value:.{digits}g}")).partition("e")
    if not e:
        return Number(mantissa)
    exponent = number_math(float(power))
    ten = Scripted(Number("10"), above=exponent)
    return ten if mantissa == "1" else Row((Number(mantissa), Sign("×"), ten))


@dataclass(frozen=True)
class Symbols:
    """How names are written: speeds as coordinates with dots.

    >>> Symbols({"dtheta1": "\\\\dot{\\\\theta}_{1}"}).latex("dtheta1"), Symbols().latex("m1")
    ('\\\\dot{\\\\theta}_{1}', 'm_{1}')
    """

    known: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, mechanism: Mechanism) -> Symbols:
        coordinates = {x.name for x in mechanism.q}
        rates = {x.name: x.rate_of for x in mechanism.v if x.rate_of is not None}
        symbols = {name: dotted(coordinate, 1) for name, coordinate in rates.items()}
        symbols |= {f"d{name}": dotted(coordinate, 2) for name, coordinate in rates.items()}
        for x in mechanism.v:
            symbols.setdefault(f"d{x.name}", dotted(x.name, 1))
        return cls({name: text for name, text in symbols.items() if name not in coordinates})

    def latex(self, name: str) -> str:
        return self.known.get(name) or symbol(name)

    def math(self, name: str) -> Math:
        return parsed(self.latex(name))

    def name(self, name: str) -> Inline:
        """A name in a line."""
        return document.Formula(self.math(name))

    def scalar(self, value: Scalar | None, digits: int = 6) -> Line:
        """A number or formula in a line."""
        if value is None:
            return (Text("–"),)
        if isinstance(value, Formula):
            formula = self.formula(value)
            return (Code(value.text),) if formula is None else (document.Formula(formula),)
        return (Value(float(value), digits),)

    def scalar_math(self, value: Scalar) -> Math:
        """The same in a formula; one that is too long as it was typed."""
        if isinstance(value, Formula):
            return self.formula(value) or Word(value.text, Look.TYPEWRITER)
        return number_math(float(value))

    def formula(self, formula: Formula) -> Math | None:
        """The formula as one writes it on paper; None where it is too long, or looks up tables."""
        if len(formula.text) > _LONGEST:
            return None
        stack: list[_Piece] = []
        for kind, value in formula.program:
            made = self._step(kind, value, stack)
            if made is None:
                return None
            stack.append(made)
        return stack[0].math

    def _step(self, kind: str, value: object, stack: list[_Piece]) -> _Piece | None:
        if kind == "number":
            return _constant(float(value))  # type: ignore[arg-type]
        if kind == "name":
            return _Piece(self.math(str(value)), _Rank.ATOM)
        if kind == "minus":
            return _negated(stack.pop())
        if kind == "call":
            return _call(str(value), stack)
        if kind not in ("+", "-", "*", "/", "^", "**", *_COMPARISONS):
            return None
        b, a = stack.pop(), stack.pop()
        return _operation(kind, a, b)


def _constant(value: float) -> _Piece:
    names: dict[float, Math] = {numbers.pi: Word("π"), numbers.pi / 180.0: _DEGREE}
    if value in names:
        return _Piece(names[value], _Rank.ATOM)
    return _negated(_constant(-value)) if value < 0 else _Piece(number_math(value), _Rank.ATOM)


def _at_least(piece: _Piece, rank: _Rank) -> Math:
    return piece.math if piece.rank >= rank else Fenced("(", piece.math, ")")


def _row(*items: Math) -> Row:
    """Things beside each other; rows among them are taken apart."""
    pieces: list[Math] = []
    for item in items:
        pieces += item.items if isinstance(item, Row) else [item]
    return Row(tuple(pieces))


def _operation(kind: str, a: _Piece, b: _Piece) -> _Piece:
    if kind in _COMPARISONS:
        return _Piece(_row(a.math, Sign(_COMPARISONS[kind]), b.math), _Rank.SUM)
    if kind in "+-":
        return _Piece(_row(a.math, Sign("+" if kind == "+" else "−"), _at_least(b, _Rank.PRODUCT)), _Rank.SUM)
    if kind in "*/" and a.of_minus is not None and b.math != _DEGREE:  # (-a) b is -a b
        return _negated(_operation(kind, a.of_minus, b))
    if kind == "*":
        return _degrees(a) if b.math == _DEGREE else _product(a, b)
    if kind == "/":
        return _Piece(Fraction(a.math, b.math), _Rank.PRODUCT)
    return _Piece(Scripted(_at_least(a, _Rank.ATOM), above=b.math), _Rank.POWER)


def _product(a: _Piece, b: _Piece) -> _Piece:
    between = Sign("⋅") if _begins_with_digit(b.math) else Space()
    return _Piece(_row(_at_least(a, _Rank.PRODUCT), between, _at_least(b, _Rank.PRODUCT)), _Rank.PRODUCT)


def _negated(a: _Piece) -> _Piece:
    return _Piece(_row(Sign("−"), _at_least(a, _Rank.PRODUCT)), _Rank.SUM, a)


def _degrees(a: _Piece) -> _Piece:
    """20°, -40°."""
    if a.of_minus is not None:
        return _negated(_degrees(a.of_minus))
    return _Piece(Scripted(_at_least(a, _Rank.ATOM), above=Sign("∘")), _Rank.POWER)


def _begins_with_digit(math: Math) -> bool:
    while isinstance(math, (Row, Scripted)):
        math = math.items[0] if isinstance(math, Row) else math.base
    return isinstance(math, Number)


def _call(name: str, stack: list[_Piece]) -> _Piece | None:
    if name in ("if", "table"):
        return None
    if name in ("atan2", "min", "max", "pow"):
        b, a = stack.pop(), stack.pop()
        if name == "pow":
            return _operation("^", a, b)
        inside: Math = _row(a.math, Sign(","), Space(), b.math)
    else:
        inside = stack.pop().math
    if name == "sqrt":
        return _Piece(Root(inside), _Rank.ATOM)
    if name in ("abs", "floor"):
        left, right = ("|", "|") if name == "abs" else ("⌊", "⌋")
        return _Piece(Fenced(left, inside, right), _Rank.ATOM)
    shown = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "log": "ln", "sign": "sgn"}.get(name, name)
    return _Piece(Row((Word(shown, Look.FUNCTION), Fenced("(", inside, ")"))), _Rank.ATOM)
