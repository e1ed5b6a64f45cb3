"""Sums of products as a person writes them: like terms together, masses in front, accelerations before speeds.

A sum is expanded into terms, each a number times parameters, coordinates and functions of them, and speeds,
accelerations or forces. Terms that differ in what moves only are put together, m l^2 a1 + m l^2 a2 = m l^2 (a1 + a2);
then those that differ in parameters only and share some, m1 l^2 a + m2 l^2 a = (m1 + m2) l^2 a. `terms_of` says
beforehand how many terms there are once all is multiplied out. Speeds and accelerations are written as coordinates with
dots.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from torseur.emit.text.latex import dotted
from torseur.graph import Expr, Function, ops
from torseur.graph.nodes import Node

__all__ = ["Arranger", "Kind", "Notation", "latex_symbols", "rates_of", "terms_of"]


def rates_of(function: Function) -> tuple[dict[str, str], dict[str, tuple[str, int]]]:
    """Accelerations under the name of their coordinate, where they have one: vdot_dq1 becomes ddq1; and name of a
    speed or acceleration -> its coordinate and how many dots it has.
    """
    blocks = {b.name: b.names for b in function.inputs}
    known = {f"d{x}": x for x in blocks.get("q", ())} if "q" in blocks else {}
    rates = {name: (known[name], 1) for name in blocks.get("v", ()) if name in known}
    renamed = {}
    for name in blocks.get("vdot", ()):
        speed = name.removeprefix("vdot_")
        if speed in known or speed.startswith("d"):
            renamed[name] = f"d{speed}"
            rates[f"d{speed}"] = (known.get(speed, speed[1:]), 2)
    return renamed, rates


def latex_symbols(function: Function) -> dict[str, str]:
    """Name of a speed or acceleration -> how it is written."""
    renamed, rates = rates_of(function)
    symbols = {name: dotted(*rate) for name, rate in rates.items()}
    symbols |= {old: symbols[new] for old, new in renamed.items()}
    for name in next((b.names for b in function.inputs if b.name == "vdot"), ()):
        symbols.setdefault(name, dotted(name.removeprefix("vdot_"), 1))
    return symbols


Powers = tuple[tuple[Any, Any], ...]
"""Factors, as sympy objects, with their exponents, in order."""


class Kind(IntEnum):
    """What a symbol stands for; the order of factors in a product."""

    PARAMETER = 0
    COORDINATE = 1
    SPEED = 2
    ACCELERATION = 3


@dataclass(frozen=True)
class Term:
    """number * (sum of parameters) * parameters * coordinates and functions * what moves."""

    number: Any
    parameters: Powers
    functions: Powers
    motion: Powers
    inner: tuple[tuple[Any, Powers], ...] = ()


@dataclass(frozen=True)
class Notation:
    """How numbers, names, powers, products and functions are written."""

    number: Callable[[Any], str]
    name: Callable[[str], str]
    power: str
    times: str
    fraction: Callable[[str, str], str]
    function: Callable[[str, str], str]
    brackets: tuple[str, str]
    other: Callable[[Any], str]


class Arranger:
    """Writes sympy expressions in an order given by names.

    Args:
        sp: the module sympy.
        order: name -> what a symbol is, and its place among its like.
    """

    def __init__(self, sp: Any, order: Mapping[str, tuple[Kind, int]]) -> None:
        self.sp, self.order = sp, order

    def _rank(self, factor: Any) -> tuple[int, int, str]:
        """Where a factor stands: symbols by kind and place, functions by length, sums last."""
        if factor.is_Symbol:
            return (*self.order.get(factor.name, (Kind.PARAMETER, 10**6)), factor.name)
        return (Kind.ACCELERATION + 1 if factor.is_Add else Kind.COORDINATE, len(str(factor)), str(factor))

    def _kind(self, factor: Any) -> Kind:
        kinds = [self.order.get(s.name, (Kind.PARAMETER, 0))[0] for s in factor.free_symbols]
        return max(kinds, default=Kind.PARAMETER) if factor.is_Symbol or not factor.is_Function else Kind.COORDINATE

    def _sorted(self, powers: Mapping[Any, Any]) -> Powers:
        return tuple(sorted(powers.items(), key=lambda item: self._rank(item[0])))

    # -- terms ---------------------------------------------------------------------------------------------------------
    def _terms(self, expression: Any) -> list[Term]:
        """Terms with the same parameters and functions as one, what moves in them factored."""
        sums: dict[tuple[Any, ...], Any] = {}
        for term in self.sp.Add.make_args(self.sp.expand(expression)):
            number, rest = term.as_coeff_Mul()
            groups: list[dict[Any, Any]] = [{}, {}, {}]
            for base, exponent in rest.as_powers_dict().items():
                factor, n = (base, exponent) if exponent.is_Integer else (base**exponent, self.sp.Integer(1))
                if factor != 1:
                    groups[min(self._kind(factor), Kind.SPEED)][factor] = n
            motion = self.sp.Mul(*(f**n for f, n in groups[2].items()))
            # Numbers that are not exact are no good to factor with: such terms stay apart.
            alike = max((self._kind(f) for f in groups[2]), default=None) if number.is_Rational else motion
            key = self._sorted(groups[0]), self._sorted(groups[1]), alike
            sums[key] = sums.get(key, 0) + number * motion
        terms = []
        for (parameters, functions, _), motion in sums.items():
            number, factors = self._factored(motion)
            terms.append(Term(number, parameters, functions, factors))
        return [t for t in terms if t.number != 0]

    def _factored(self, motion: Any) -> tuple[Any, Powers]:
        """A number and factors with a positive first term, so that like ones look alike."""
        number, rest = motion.as_coeff_Mul()
        more, factors = self.sp.factor_list(rest)
        number = number * more
        powers: dict[Any, Any] = {}
        for factor, n in factors:
            lead = sorted(self.sp.Add.make_args(factor), key=lambda t: self._rank(max(t.free_symbols, key=self._rank)))[
                0
            ]
            sign = -1 if lead.as_coeff_Mul()[0] < 0 else 1
            number, powers[sign * factor] = number * sign**n, self.sp.Integer(n)
        return number, self._sorted(powers)

    def arranged(self, expression: Any) -> list[Term]:
        """The terms, like ones together, in order."""
        alike: dict[tuple[Powers, Powers], list[Term]] = {}
        for term in self._terms(expression):
            alike.setdefault((term.functions, term.motion), []).append(term)
        return sorted((t for terms in alike.values() for t in self._shared(terms)), key=self._key)

    def _key(self, term: Term) -> tuple[Any, ...]:
        """Accelerations, speeds, the rest; fewer functions first; then by what they are."""
        kind = max((self._kind(f) for f, _ in term.motion), default=Kind.PARAMETER)
        ranks = [[self._rank(f)[1:] for f, _ in powers] for powers in (term.functions, term.parameters, term.motion)]
        return (-kind, len(term.functions), ranks[0], not term.inner, ranks[1], ranks[2])

    def _shared(self, terms: Sequence[Term]) -> list[Term]:
        """Terms that differ in parameters only: the largest common factors stand before brackets."""
        left, done = list(terms), []
        while (common := self._largest_common(left)) is not None:
            mine = [t for t in left if all(dict(t.parameters).get(f, 0) >= n for f, n in common.items())]
            done.append(self._bracketed(mine, common))
            left = [t for t in left if t not in mine]
        single = [t for t in left if len(t.parameters) == 1 and t.parameters[0][1] == 1 and (t.functions or t.motion)]
        if len(single) > 1:
            done.append(self._bracketed(single, {}))
            left = [t for t in left if t not in single]
        return [*done, *left]

    def _bracketed(self, terms: Sequence[Term], common: Mapping[Any, Any]) -> Term:
        inner = [(t.number, self._sorted(_quotient(dict(t.parameters), common))) for t in terms]
        inner.sort(key=lambda item: [self._rank(f) for f, _ in item[1]])
        number = self._content([n for n, _ in inner])
        rest = tuple((self._whole(n / number), powers) for n, powers in inner)
        return replace(terms[0], number=number, parameters=self._sorted(common), inner=rest)

    def _largest_common(self, terms: Sequence[Term]) -> dict[Any, Any] | None:
        best, size = None, 0
        for i, a in enumerate(terms):
            for b in terms[:i]:
                other = dict(b.parameters)
                common = {f: min(n, other[f]) for f, n in a.parameters if f in other}
                if sum(common.values()) > size:
                    best, size = common, sum(common.values())
        return best

    def _content(self, numbers: Sequence[Any]) -> Any:
        """What can be taken out of all of them, the sign if they share it."""
        if len({abs(n) for n in numbers}) == 1:
            return numbers[0]
        size = (
            self.sp.gcd_list([abs(n) for n in numbers]) if all(n.is_Rational for n in numbers) else self.sp.Integer(1)
        )
        return -size if all(n < 0 for n in numbers) else size

    def _whole(self, number: Any) -> Any:
        """1.0 is 1."""
        return self.sp.Integer(int(number)) if number.is_Float and float(number).is_integer() else number

    # -- text ----------------------------------------------------------------------------------------------------------
    def write(self, expression: Any, notation: Notation) -> str:
        """A sum, or a quotient of sums."""
        above, below = self.sp.fraction(self.sp.together(expression))
        if below.free_symbols:
            return notation.fraction(*(self._sum(self.arranged(x), notation) for x in (above, below)))
        return self._sum(self.arranged(expression), notation)

    def _sum(self, terms: Sequence[Term], notation: Notation) -> str:
        return _joined([(t.number < 0, self._product(t, notation)) for t in terms]) or notation.number(
            self.sp.Integer(0)
        )

    def _product(self, term: Term, notation: Notation) -> str:
        pieces = []
        if term.inner:
            plain = [(n < 0, self._plain_product(abs(n), powers, notation)) for n, powers in term.inner]
            pieces.append(_joined(plain).join(notation.brackets))
        for powers in (term.parameters, term.functions, term.motion):
            pieces += [self._power(f, n, notation) for f, n in powers]
        if abs(term.number) != 1 or not pieces:
            pieces.insert(0, notation.number(abs(term.number)))
        return notation.times.join(pieces)

    def _plain_product(self, number: Any, powers: Powers, notation: Notation) -> str:
        pieces = [self._power(f, n, notation) for f, n in powers]
        return notation.times.join(pieces if number == 1 and pieces else [notation.number(number), *pieces])

    def _power(self, base: Any, exponent: Any, notation: Notation) -> str:
        text = self._factor(base, notation)
        return text if exponent == 1 else notation.power % (text, exponent)

    def _factor(self, base: Any, notation: Notation) -> str:
        if base.is_Symbol:
            return notation.name(base.name)
        if base.is_Function and all(hasattr(argument, "as_coeff_Mul") for argument in base.args):
            inside = ", ".join(self.write(argument, notation) for argument in base.args)
            return notation.function(base.func.__name__.lower(), inside)
        if base.is_Pow and base.exp == self.sp.S.Half:
            return notation.function("sqrt", self.write(base.base, notation))
        if not base.is_Add:
            return notation.other(base)
        terms = sorted(self.sp.Add.make_args(base), key=lambda t: self._rank(min(t.free_symbols, key=self._rank)))
        parts = [t.as_coeff_Mul() for t in terms]
        plain = [(n < 0, self._plain_product(abs(n), self._sorted(x.as_powers_dict()), notation)) for n, x in parts]
        return _joined(plain).join(notation.brackets)


def _joined(pieces: Sequence[tuple[bool, str]]) -> str:
    """Pieces, each with whether it is negative."""
    text = ""
    for negative, piece in pieces:
        if text:
            text += f" - {piece}" if negative else f" + {piece}"
        else:
            text = f"-{piece}" if negative else piece
    return text


def _quotient(powers: Mapping[Any, Any], common: Mapping[Any, Any]) -> dict[Any, Any]:
    left = {f: n - common.get(f, 0) for f, n in powers.items()}
    return {f: n for f, n in left.items() if n != 0}


_TOO_MANY = 10**9


@dataclass(frozen=True)
class _Quotient:
    """Terms above and below the line; equal marks mean equal denominators."""

    above: int
    below: int = 1
    mark: int = -1

    def __add__(self, other: _Quotient) -> _Quotient:
        if self.mark == other.mark:
            return _Quotient(_capped(self.above + other.above), self.below, self.mark)
        above = _capped(self.above * other.below + other.above * self.below)
        return _Quotient(above, _capped(self.below * other.below), hash((self.mark, other.mark)))

    def __mul__(self, other: _Quotient) -> _Quotient:
        marks = sorted(m for m in (self.mark, other.mark) if m != -1)
        mark = -1 if not marks else marks[0] if len(marks) == 1 else hash(tuple(marks))
        return _Quotient(_capped(self.above * other.above), _capped(self.below * other.below), mark)

    def over(self, divisor: _Quotient, mark: int) -> _Quotient:
        return self * _Quotient(divisor.below, divisor.above, mark)


def terms_of(function: Function) -> int:
    """The terms of all results, above and below their fraction lines; a huge number where there is no telling, as for
    systems of linear equations.

    >>> from torseur.graph import Graph
    >>> g = Graph()
    >>> a, b = g.symbol("a"), g.symbol("b")
    >>> terms_of(Function("f", list(g.blocks.values()), {"y": (a + b) * (a - b)}))
    4
    """
    quotients: dict[int, _Quotient] = {}
    for node in function.nodes:
        quotients[node.id] = _terms(node, [quotients[a.id] for a in node.args])
    results = [quotients[x.id] for output in function.outputs for x in output.exprs]
    return sum(x.above + x.below - 1 for x in results)


def _terms(node: Node, args: list[_Quotient]) -> _Quotient:
    if node.op in (ops.ADD, ops.SUB):
        return args[0] + args[1]
    if node.op is ops.NEG:
        return args[0]
    if node.op is ops.MUL:
        return args[0] * args[1]
    if node.op is ops.DIV:
        return args[0].over(args[1], node.args[1].id)
    if node.op is ops.CALL:
        return _Quotient(_TOO_MANY)
    if node.op is ops.ITEM:
        return args[0]
    if node.op is ops.POW and isinstance(node, Expr) and node.args[1].is_number:
        return _power(args[0], float(node.args[1]))
    return _Quotient(1)


def _power(base: _Quotient, exponent: float) -> _Quotient:
    whole = base
    for _ in range(round(abs(exponent)) - 1):
        whole = whole * base
    return whole


def _capped(number: int) -> int:
    return min(number, _TOO_MANY)
