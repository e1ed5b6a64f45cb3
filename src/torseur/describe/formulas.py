"""The expression language of model files.

::

    sum       := product (('+' | '-') product)*
    product   := sign (('*' | '/') sign)*
    sign      := ('+' | '-') sign | power
    power     := atom (('^' | '**') sign)?
    atom      := number | name | name '(' arguments ')' | 'normal' '(' name ')' | '(' condition ')'
    condition := sum (('<' | '<=' | '>' | '>=' | '==') sum)? joined by 'and', 'or', 'not'
    list      := '[' number (',' number)* ']'

Names are parameters, coordinates, speeds, inputs and ``t``; ``pi``, ``deg`` (pi/180) and ``kmh`` (1/3.6) are known.
Functions: sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sqrt exp log abs sign floor, atan2(y, x), min(a,
b), max(a, b), pow(a, b), if(condition, a, b). Where a number is asked for, a condition is 1 if it holds and 0 if not.
normal(NAME) is the normal force of a contact or rolling wheel.

Tables: table(x, NAME) and table(x, y, NAME) look up one that the model declares under ``tables``; table(x, [x1, x2,
...], [f1, f2, ...]) and table(x, y, [x1, ...], [y1, ...], [[f11, f12, ...], ...]) have it inside. Between points it is
linear, beyond the ends it keeps its value.

Text is parsed into a short program for a stack, which builds graph nodes; nothing of it is ever executed as Python.
Length and nesting are bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic_core import CoreSchema, core_schema

from torseur.describe.formula_parser import DEEPEST, Parser, Program
from torseur.describe.formula_words import CONSTANTS, FUNCTIONS, NORMAL, OPERATORS, RESERVED, Lookup, normal_of
from torseur.errors import ModelError
from torseur.graph import Expr, Graph, select

__all__ = ["CONSTANTS", "DEEPEST", "FUNCTIONS", "NORMAL", "RESERVED", "Formula", "normal_of"]


class Formula:
    """A formula of a model file: its text, what it needs, and how to turn it into an expression.

    >>> f = Formula("2*m*l^2 + sin(q)")
    >>> sorted(f.names)
    ['l', 'm', 'q']
    >>> from torseur.graph import Graph
    >>> g = Graph()
    >>> float(f.expr(g, {"m": g.number(3), "l": g.number(2), "q": g.number(0)}))
    24.0
    """

    __slots__ = ("names", "program", "tables", "text")

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        self.program: tuple[tuple[str, Any], ...] = tuple(Parser(self.text, _number).parse())
        self.names = frozenset(value for kind, value in self.program if kind == "name")
        looked_up = (value for kind, value in self.program if kind == "table")
        self.tables = frozenset((name, count) for name, count in looked_up if isinstance(name, str))
        """The tables it names, each with the number of variables."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        """An instance; written as its text."""
        return core_schema.is_instance_schema(cls, serialization=core_schema.to_string_ser_schema())

    def __repr__(self) -> str:
        return f"Formula({self.text!r})"

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and self.text == other.text

    def __hash__(self) -> int:
        return hash(("Formula", self.text))

    def __reduce__(self) -> tuple[object, ...]:
        return Formula, (self.text,)

    @property
    def switches(self) -> bool:
        """Whether its value can jump: it uses if, sign, floor or a condition as a number."""
        jumps = {("call", "if"), ("call", "sign"), ("call", "floor")}
        return any(kind == "truth" or (kind, value) in jumps for kind, value in self.program if kind != "table")

    def expr(self, graph: Graph, scope: Mapping[str, Expr], tables: Mapping[str, Lookup] | None = None) -> Expr:
        """The expression, with every name looked up in a scope, every named table among tables."""
        return _run(self.program, graph, scope, tables or {})

    def with_names(self, known: Mapping[str, float | str | Formula]) -> Formula:
        """The same formula with something in place of some names.

        >>> Formula("2*m*l^2 + q").with_names({"m": -3.0, "l": Formula("a + b")})
        Formula('2*(-3)*(a + b)^2 + q')
        """
        parser = Parser(self.text, _number)
        parser.parse()
        text, end = "", 0
        for name, begin, stop in parser.names:
            if name in known:
                text += self.text[end:begin] + _bracketed(known[name])
                end = stop
        return Formula(text + self.text[end:])

    def value(self, known: Mapping[str, float] | None = None, tables: Mapping[str, Lookup] | None = None) -> float:
        """The number, when every name has one."""
        graph = Graph()
        return float(self.expr(graph, {name: graph.number(x) for name, x in (known or {}).items()}, tables))


def _bracketed(value: float | str | Formula) -> str:
    if isinstance(value, (str, Formula)):
        text = str(value)
        return text if text.isidentifier() else f"({text})"
    text = repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    return f"({text})" if value < 0.0 else text


def _run(
    program: Iterable[tuple[str, Any]], graph: Graph, scope: Mapping[str, Expr], tables: Mapping[str, Lookup]
) -> Expr:
    """What a program leaves on its stack."""
    stack: list[Any] = []
    for kind, value in program:
        if kind == "number":
            stack.append(graph.number(value))
        elif kind == "name":
            stack.append(scope[value])
        elif kind in ("call", "table"):
            count, function = FUNCTIONS[value] if kind == "call" else (value[1], _lookup(value[0], tables).at)
            args = stack[-count:]
            del stack[-count:]
            stack.append(function(*args))
        elif kind == "truth":
            stack.append(select(stack.pop(), graph.one, graph.zero))
        elif kind == "minus":
            stack.append(-stack.pop())
        elif kind == "not":
            stack.append(~stack.pop())
        else:
            b, a = stack.pop(), stack.pop()
            stack.append(OPERATORS[kind](a, b))
    return stack[0]  # type: ignore[no-any-return]


def _lookup(table: str | Lookup, tables: Mapping[str, Lookup]) -> Lookup:
    if isinstance(table, Lookup):
        return table
    if table not in tables:
        raise ModelError(f"no table '{table}'", expected=", ".join(tables) or "none is declared")
    return tables[table]


def _number(program: Program) -> float:
    """The value of a program without names."""
    return float(_run(program, Graph(), {}, {}))
