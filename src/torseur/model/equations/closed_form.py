"""Closed forms: the equations of a small mechanism without intermediate results, simplified as in a textbook.

Everything is written out, products of sines and cosines become sines and cosines of sums where that is shorter, and
like terms are put together. That grows quickly with the mechanism: beyond some size it is refused. Expressions on the
way to what is printed are made short in the same manner (`Simplifier`), where they are small enough.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.dynamics.analytical.readable_reduction import Simplify, as_it_is
from torseur.dynamics.constrained_motion.closed_states import AllowedMotions
from torseur.dynamics.workbench import Workbench
from torseur.emit.bridges import from_sympy, to_sympy
from torseur.emit.bridges.sympy import import_sympy
from torseur.emit.text.latex import dotted, escaped, symbol
from torseur.errors import ArgumentError, CompileError, GraphError, MissingExtra
from torseur.graph import Expr, Function, count
from torseur.model.equations.collected_terms import Arranger, Kind, Notation, rates_of, terms_of

__all__ = ["LARGEST", "Closed", "Simplifier", "closed_form", "exact", "simplified", "simplifier"]

LARGEST, MOST_TERMS = 250, 3000
"""Operations, and terms once all is multiplied out, beyond both of which a closed form is refused."""

_DUST = 1e-13
"""Numbers smaller than this share of the largest in a sum may be what rounding left of zero."""

_WRITTEN, _ULPS = 12, 2e-15
"""Digits of a number that somebody wrote, or of a product of such; what rounding leaves has all that there are."""


@dataclass(frozen=True)
class Closed:
    """A quantity without intermediate results.

    Attributes:
        name: of the quantity.
        outputs: name -> a sympy expression or matrix.
        order: name -> (kind, place) of every symbol, for printing.
        rates: name of a speed or acceleration -> its coordinate and how many dots it has.
    """

    name: str
    outputs: dict[str, Any]
    order: dict[str, tuple[Kind, int]]
    rates: dict[str, tuple[str, int]]

    def text(self) -> str:
        """One equation a line: ``mass_matrix[1,2] = ...``."""
        lines = self._lines(_TEXT, lambda name, place: f"{name}[{place}]" if place else name, " = ")
        return "\n".join(lines) + "\n"

    def latex(self) -> str:
        """Aligned equations."""
        body = " \\\\\n".join(self._lines(self._latex_notation, _latex_name, " &= "))
        return f"\\begin{{align*}}\n{body}\n\\end{{align*}}\n"

    def is_zero(self, output: str) -> bool:
        """Whether all entries of an output vanish."""
        return all(x == 0 for _, x in _entries(self.outputs[output]))

    def written(self, output: str, *, latex: bool = False) -> list[list[str]]:
        """The entries of one output, row by row; what stands over different powers of cosines stays apart."""
        sp, value = import_sympy("closed forms"), self.outputs[output]
        arranger, notation = Arranger(sp, self.order), self._latex_notation if latex else _TEXT

        def write(x: Any) -> str:
            text = ""
            for part in _by_cosines(sp, x):
                negative = bool(text) and part.could_extract_minus_sign()
                sign = " - " if negative else " + " if text else ""
                text += sign + arranger.write(-part if negative else part, notation)
            return text

        rows = value.tolist() if hasattr(value, "shape") else [[value]]
        return [[write(x) for x in row] for row in rows]

    @property
    def _latex_notation(self) -> Notation:
        brackets = (r"\left(", r"\right)")
        return Notation(
            _latex_number, self._spelled, "%s^{%s}", r" \, ", _latex_fraction, _latex_call, brackets, self._latex_other
        )

    def _latex_other(self, x: Any) -> str:
        """Choices and conditions, with names as elsewhere; anything else as sympy writes it."""
        sp = import_sympy("closed forms")
        if x in (sp.true, sp.false):
            return rf"\text{{{str(x).lower()}}}"
        if isinstance(x, sp.Piecewise):
            return self._cases(sp, x)
        if isinstance(x, sp.Not):
            return rf"\lnot \left({self._latex_other(x.args[0])}\right)"
        if isinstance(x, (sp.And, sp.Or)):
            parts = sorted(map(self._latex_other, x.args))
            parts = [rf"\left({part}\right)" if r" \land " in part or r" \lor " in part else part for part in parts]
            return (r" \land " if isinstance(x, sp.And) else r" \lor ").join(parts)
        if isinstance(x, sp.core.relational.Relational):
            arranger = Arranger(sp, self.order)
            left, right = (arranger.write(side, self._latex_notation) for side in (x.lhs, x.rhs))
            return f"{left} {_RELATIONS[x.rel_op]} {right}"
        return str(sp.latex(x, symbol_names={s: self._spelled(s.name) for s in x.free_symbols}))

    def _cases(self, sp: Any, x: Any) -> str:
        arranger = Arranger(sp, self.order)
        rows = []
        for value, condition in x.args:
            when = r"\text{otherwise}" if condition == sp.true else rf"\text{{if }} {self._latex_other(condition)}"
            rows.append(f"{arranger.write(value, self._latex_notation)} & {when}")
        return rf"\begin{{cases}} {_NEXT.join(rows)} \end{{cases}}"

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Closed form of {self.name}>"

    def _repr_latex_(self) -> str:
        """For notebooks."""
        return self.latex()

    def _spelled(self, name: str) -> str:
        return self._symbols.get(name) or symbol(name)

    @cached_property
    def _symbols(self) -> dict[str, str]:
        """Name -> how it is written; those that would look alike, as q1 and q_1 do, stay as they are."""
        names = {**self.order, **self.rates}
        symbols = {name: dotted(*self.rates[name]) if name in self.rates else symbol(name) for name in names}
        count_of = Counter(symbols.values())
        return {name: text if count_of[text] == 1 else rf"\mathtt{{{escaped(name)}}}" for name, text in symbols.items()}

    def _lines(self, notation: Notation, entry: Callable[[str, str], str], equals: str) -> list[str]:
        arranger, lines = Arranger(import_sympy("closed forms"), self.order), []
        for name, value in self.outputs.items():
            known: dict[str, str] = {}
            for place, x in _entries(value):
                text = arranger.write(x, notation)
                left = entry(name, place)
                again = known.setdefault(text, left) if len(text) > 20 else left
                lines.append(f"{left}{equals}{text if again == left else again}")
        return lines


def _entries(value: Any) -> list[tuple[str, Any]]:
    if not hasattr(value, "shape"):
        return [("", value)]
    rows, columns = value.shape
    if columns == 1:
        return [(str(i + 1), value[i, 0]) for i in range(rows)]
    return [(f"{i + 1},{k + 1}", value[i, k]) for i in range(rows) for k in range(columns)]


def closed_form(function: Function, *, tangents: bool = False) -> Closed:
    """The closed form of a function.

    Args:
        function: of one mechanism, with inputs q, v, vdot, tau, t, u and p as in `torseur.dynamics.quantities`.
        tangents: write tan x where sin x would stand over cos x, as those who steer wheels do.
    """
    size = count(function).total
    if size > LARGEST and terms_of(function) > MOST_TERMS:
        raise ArgumentError(
            f"{function.name} is too large for a closed form",
            expected=f"at most {LARGEST} operations, or {MOST_TERMS} terms once multiplied out",
            got=f"{size} operations, {terms_of(function)} terms",
            remedy="a listing with intermediate results, or fewer symbols: numbers in the description fold away",
            option="form",
        )
    sp = import_sympy("closed forms")
    renamed, rates = rates_of(function)
    change = {sp.Symbol(old, real=True): sp.Symbol(new, real=True) for old, new in renamed.items()}

    def simplify(x: Any) -> Any:
        shorter = _with_tangents(sp, x) if tangents else None
        return simplified(sp, x) if shorter is None else shorter

    outputs = {}
    for name, value in to_sympy(function).items():
        plain = exact(sp, value.subs(change) if change else value)
        outputs[name] = plain.applyfunc(simplify) if hasattr(plain, "shape") else simplify(plain)
    return Closed(function.name, outputs, _order(function, renamed), rates)


def _order(function: Function, renamed: dict[str, str]) -> dict[str, tuple[Kind, int]]:
    kinds = {"q": Kind.COORDINATE, "v": Kind.SPEED, "tau": Kind.SPEED, "vdot": Kind.ACCELERATION}
    kinds |= {"alpha": Kind.SPEED, "alphadot": Kind.ACCELERATION}
    order = {}
    for block in function.inputs:
        for place, name in enumerate(block.names):
            is_mass = block.name == "p" and name[0] in "mM"
            order[renamed.get(name, name)] = (kinds.get(block.name, Kind.PARAMETER), place - 10**4 * is_mass)
    return order


def simplified(sp: Any, x: Any) -> Any:
    """The shortest of a few ways to write it."""
    above, below = sp.fraction(sp.together(x))
    if below.free_symbols:
        above, below = sp.fraction(sp.cancel(_shortest(sp, above) / _shortest(sp, below)))
        (a, above), (b, below) = (_shortest(sp, y).as_content_primitive() for y in (above, below))
        if (a / b).q % 5 == 0:  # decimal numbers stay what they are
            return sp.expand(a / b * above) / below
        return (a / b).p * above / ((a / b).q * below)
    return _shortest(sp, x)


def _with_tangents(sp: Any, x: Any) -> Any:
    """Sines as tan times cos of what has its cosine below a fraction line; those cosines cancel. None if there are none
    or more than products are below the line."""
    from sympy.simplify.fu import TR5, TR6

    above, below = sp.fraction(sp.together(x))
    angles = {f.args[0] for f in below.as_powers_dict() if isinstance(f, sp.cos)}
    if not angles or any(f.is_Add for f in below.as_powers_dict()):
        return None
    plain, change = sp.expand(above), {sp.sin(a): sp.tan(a) * sp.cos(a) for a in angles}
    ways = [sp.expand(sp.expand(way.subs(change)) / below) for way in (plain, TR5(plain), TR6(plain))]
    return min(ways, key=lambda y: (len(sp.Add.make_args(y)), sp.count_ops(y)))


def _by_cosines(sp: Any, x: Any) -> list[Any]:
    """A sum of products in parts that have the same powers of cosines below the line."""
    parts: dict[Any, Any] = {}
    for term in sp.Add.make_args(x):
        below = sp.fraction(term)[1]
        key = tuple(sorted((str(f), n) for f, n in below.as_powers_dict().items() if isinstance(f, sp.cos)))
        parts[key] = parts.get(key, 0) + term
    return [parts[key] for key in sorted(parts)]


def _shortest(sp: Any, x: Any) -> Any:
    from sympy.simplify.fu import TR5, TR6, TR8, TR10i

    plain = _without_dust(sp, sp.expand(x))
    if not plain.has(sp.sin, sp.cos):
        return plain
    ways = [plain, *(sp.expand(way(plain)) for way in (TR5, TR6, TR8)), sp.expand(TR10i(plain))]
    ways = [_without_dust(sp, way) for way in ways]
    return min(ways, key=lambda y: (len(sp.Add.make_args(y)), sp.count_ops(y)))


def exact(sp: Any, x: Any) -> Any:
    """Decimal numbers as the fractions they are, so that they cancel exactly."""
    return x.xreplace({f: sp.Rational(repr(float(f))) for f in x.atoms(sp.Float)})


def _without_dust(sp: Any, x: Any) -> Any:
    """A sum without the terms that rounding left: small ones whose numbers have all digits."""
    terms = [(abs(float(term.as_coeff_Mul()[0])), term) for term in sp.Add.make_args(x)]
    largest = max(size for size, _ in terms)
    return sp.Add(*(term for size, term in terms if size > _DUST * largest or _is_written(size)))


def _is_written(size: float) -> bool:
    """Whether a number has few digits, or is a third of one that has, as inertias of rods are.

    >>> _is_written(2.5e-20), _is_written(1e-20 / 12), _is_written(0.1 + 0.2 - 0.3)
    (True, True, False)
    """
    return any(abs(float(f"{x:.{_WRITTEN}g}") - x) <= _ULPS * x for x in (size, 3.0 * size))


def _is_fraction(number: Any) -> bool:
    """Whether it reads better as 1/3 than as a decimal number."""
    return bool(number.is_Rational and number.q <= _LARGEST_DENOMINATOR and number.q % 5)


_LARGEST_DENOMINATOR = 48


def _plain(number: Any) -> str:
    if number.is_Integer:
        return str(number)
    return f"{number.p}/{number.q}" if _is_fraction(number) else f"{float(number):.12g}"


def _quotient(above: str, below: str) -> str:
    """Brackets only where they are needed."""
    top = f"({above})" if re.search(r" [+-] ", above) else above
    bottom = below if re.fullmatch(r"[\w.]+(\([\w.]+\))?(\*\*\d+)?", below) else f"({below})"
    return f"{top}/{bottom}"


_TEXT = Notation(_plain, str, "%s**%s", "*", _quotient, lambda f, x: f"{f}({x})", ("(", ")"), str)


def _latex_number(number: Any) -> str:
    if number.is_Integer or not _is_fraction(number):
        return _plain(number)
    return rf"\frac{{{number.p}}}{{{number.q}}}"


def _latex_fraction(above: str, below: str) -> str:
    return rf"\frac{{{above}}}{{{below}}}"


def _latex_name(name: str, place: str) -> str:
    word = symbol(name) if re.fullmatch(r"[A-Za-z]+", name) else rf"\mathit{{{escaped(name)}}}"
    return f"{word}_{{{place}}}" if place else word


def _latex_call(function: str, inside: str) -> str:
    if function in _FENCED:
        return _FENCED[function] % inside
    word = _LATEX_WORDS.get(function) or rf"\operatorname{{{function}}}"
    return rf"{word}\left({inside}\right)"


_NEXT = r" \\ "
_RELATIONS = {"<": "<", "<=": r"\le", ">": ">", ">=": r"\ge", "==": "=", "!=": r"\ne"}
_FENCED = {"sqrt": r"\sqrt{%s}", "abs": r"\left|%s\right|", "floor": r"\left\lfloor %s \right\rfloor"}
_LATEX_WORDS = {name: rf"\{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "min", "max")}
_LATEX_WORDS |= {"asin": r"\arcsin", "acos": r"\arccos", "atan": r"\arctan", "log": r"\ln"}
_LATEX_WORDS |= {"sign": r"\operatorname{sgn}", "asinh": r"\operatorname{arsinh}"}
_LATEX_WORDS |= {"acosh": r"\operatorname{arcosh}", "atanh": r"\operatorname{artanh}"}


# -- expressions on the way --------------------------------------------------------------------------------------------
_LONGEST, _MANY = 120, 150
"""Operations and terms beyond which an expression is left as it is."""

_CLEAR = 1e-6


def simplifier(w: Workbench) -> Simplify:
    """What makes expressions of a mechanism short; nothing where sympy is not installed."""
    try:
        return Simplifier(w)
    except MissingExtra:
        return as_it_is


class Simplifier:
    """Simplifies expressions of one mechanism.

    What stands in absolute values is taken with the sign it has at the start: `assumed` says which, as inequalities.
    """

    def __init__(self, w: Workbench) -> None:
        self.w, self.sp = w, import_sympy("simplification")
        self.assumed: list[str] = []
        self._done: dict[Expr, Expr] = {}

    def __call__(self, exprs: Sequence[Expr]) -> list[Expr]:
        for x in exprs:
            if x not in self._done:
                self._done[x] = self._short(x) if x.args else x
        return [self._done[x] for x in exprs]

    def _short(self, x: Expr) -> Expr:
        graph = self.w.system.graph
        blocks = list(graph.blocks.values())
        function = Function("x", blocks, {"x": x})
        size = count(function).total
        if size > _LONGEST or terms_of(function) > _MANY:
            return x
        try:
            simple = simplified(self.sp, exact(self.sp, to_sympy(function)["x"]))
            signs = {a: self._sign(a.args[0]) * a.args[0] for a in simple.atoms(self.sp.Abs)}
            simple = simplified(self.sp, simple.subs(signs)) if signs else simple
            short = graph.expr(from_sympy(simple, graph))
            return short if count(Function("x", blocks, {"x": short})).total <= size else x
        except (CompileError, GraphError):
            return x

    def _sign(self, x: Any) -> Any:
        """Of a sympy expression at the start; the sign function itself where it is zero there or not known."""
        value = self._states.value_at_start(from_sympy(x, self.w.system.graph)) if self._states.exist else 0.0
        if abs(value) < _CLEAR:
            return self.sp.sign(x)
        text = f"{x} {'>' if value > 0 else '<'} 0"
        if text not in self.assumed:
            self.assumed.append(text)
        return 1 if value > 0 else -1

    @cached_property
    def _states(self) -> AllowedMotions:
        return AllowedMotions(self.w)
