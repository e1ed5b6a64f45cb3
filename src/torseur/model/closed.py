"""Closed forms: the equations of a small mechanism without intermediate results, simplified as in a textbook.

Everything is written out, products of sines and cosines become sines and cosines of sums where that is shorter, and
like terms are put together. That grows quickly with the mechanism: beyond some size it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torseur.emit.bridges.to_sympy import import_sympy, to_sympy
from torseur.emit.text.latex_names import escaped, symbol
from torseur.errors import ArgumentError
from torseur.graph import Function, count
from torseur.model.arrangement import Arranger, Kind, Notation

__all__ = ["LARGEST", "Closed", "closed_form"]

LARGEST = 250
"""Operations beyond which a closed form is refused."""


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
        notation = Notation(_plain, str, "%s**%s", "*", "(%s)/(%s)", lambda f, x: f"{f}({x})", ("(", ")"), str)
        return "\n".join(self._lines(notation, lambda name, place: f"{name}[{place}]" if place else name, " = ")) + "\n"

    def latex(self) -> str:
        """Aligned equations."""
        sp, brackets = import_sympy("closed forms"), (r"\left(", r"\right)")
        notation = Notation(
            _latex_number, self._spelled, "%s^{%s}", r" \, ", r"\frac{%s}{%s}", _latex_call, brackets, sp.latex
        )
        lines = self._lines(notation, _latex_name, " &= ")
        body = " \\\\\n".join(lines)
        return f"\\begin{{align*}}\n{body}\n\\end{{align*}}\n"

    def __str__(self) -> str:
        return self.text()

    def _spelled(self, name: str) -> str:
        if name not in self.rates:
            return symbol(name)
        coordinate, dots = self.rates[name]
        return symbol(re.sub(r"^([A-Za-z]+)", rf"\1{'d' * dots}ot", coordinate))

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


def closed_form(function: Function) -> Closed:
    """The closed form of a function.

    Args:
        function: of one mechanism, with inputs q, v, vdot, tau, t, u and p as in `torseur.dynamics.quantities`.
    """
    size = count(function).total
    if size > LARGEST:
        raise ArgumentError(
            f"{function.name} is too large for a closed form",
            expected=f"at most {LARGEST} operations",
            got=f"{size} operations",
            remedy="a listing with intermediate results, or fewer symbols: numbers in the description fold away",
        )
    sp = import_sympy("closed forms")
    renamed, rates = _names(function)
    change = {sp.Symbol(old, real=True): sp.Symbol(new, real=True) for old, new in renamed.items()}
    outputs = {}
    for name, value in to_sympy(function).items():
        plain = value.subs(change) if change else value
        outputs[name] = (
            plain.applyfunc(lambda x: _simplified(sp, x)) if hasattr(plain, "shape") else _simplified(sp, plain)
        )
    return Closed(function.name, outputs, _order(function, renamed), rates)


def _names(function: Function) -> tuple[dict[str, str], dict[str, tuple[str, int]]]:
    """Accelerations under the name of their coordinate, where they have one: vdot_dq1 becomes ddq1."""
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


def _order(function: Function, renamed: dict[str, str]) -> dict[str, tuple[Kind, int]]:
    kinds = {"q": Kind.COORDINATE, "v": Kind.SPEED, "tau": Kind.SPEED, "vdot": Kind.ACCELERATION}
    order = {}
    for block in function.inputs:
        for place, name in enumerate(block.names):
            is_mass = block.name == "p" and name[0] in "mM"
            order[renamed.get(name, name)] = (kinds.get(block.name, Kind.PARAMETER), place - 10**4 * is_mass)
    return order


def _simplified(sp: Any, x: Any) -> Any:
    """The shortest of a few ways to write it."""
    above, below = sp.fraction(sp.together(x))
    if below.free_symbols:
        above, below = sp.fraction(sp.cancel(_shortest(sp, above) / _shortest(sp, below)))
        (a, above), (b, below) = (_shortest(sp, y).as_content_primitive() for y in (above, below))
        return (a / b).p * above / ((a / b).q * below)
    return _shortest(sp, x)


def _shortest(sp: Any, x: Any) -> Any:
    from sympy.simplify.fu import TR5, TR6, TR8, TR10i

    plain = sp.expand(x)
    if not plain.has(sp.sin, sp.cos):
        return plain
    ways = [plain, *(sp.expand(way(plain)) for way in (TR5, TR6, TR8)), sp.expand(TR10i(plain))]
    return min(ways, key=lambda y: (len(sp.Add.make_args(y)), sp.count_ops(y)))


def _plain(number: Any) -> str:
    if number.is_Integer:
        return str(number)
    return f"{number.p}/{number.q}" if number.is_Rational else f"{float(number):.12g}"


def _latex_number(number: Any) -> str:
    if number.is_Integer or not number.is_Rational:
        return _plain(number)
    return rf"\frac{{{number.p}}}{{{number.q}}}"


def _latex_name(name: str, place: str) -> str:
    word = symbol(name) if re.fullmatch(r"[A-Za-z]+", name) else rf"\mathit{{{escaped(name)}}}"
    return f"{word}_{{{place}}}" if place else word


def _latex_call(function: str, inside: str) -> str:
    if function == "sqrt":
        return rf"\sqrt{{{inside}}}"
    word = rf"\{function}" if function in ("sin", "cos", "tan", "exp") else rf"\operatorname{{{function}}}"
    return rf"{word}\left({inside}\right)"
