"""The expression language of model files.

::

    sum       := product (('+' | '-') product)*
    product   := sign (('*' | '/') sign)*
    sign      := ('+' | '-') sign | power
    power     := atom (('^' | '**') sign)?
    atom      := number | name | name '(' arguments ')' | '(' condition ')'
    condition := sum (('<' | '<=' | '>' | '>=' | '==') sum)? joined by 'and', 'or', 'not' inside if(...)

Names are parameters, coordinates, speeds, inputs and ``t``; ``pi`` and ``deg`` (pi/180) are known. Functions: sin cos
tan asin acos atan sinh cosh tanh asinh acosh atanh sqrt exp log abs sign floor, atan2(y, x), min(a, b), max(a, b),
pow(a, b), if(condition, a, b). Text is parsed here into a short program for a stack, which builds graph nodes; nothing
of it is ever executed as Python. Length and nesting are bounded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torseur.errors import ModelError
from torseur.graph import (
    Expr,
    Graph,
    absolute,
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    equal,
    exp,
    floor,
    log,
    maximum,
    minimum,
    select,
    sign,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)

__all__ = ["CONSTANTS", "FUNCTIONS", "RESERVED", "Formula"]

LONGEST = 10_000
DEEPEST = 60

CONSTANTS = {"pi": math.pi, "deg": math.pi / 180.0}
FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "sin": (1, sin),
    "cos": (1, cos),
    "tan": (1, tan),
    "asin": (1, asin),
    "acos": (1, acos),
    "atan": (1, atan),
    "sinh": (1, sinh),
    "cosh": (1, cosh),
    "tanh": (1, tanh),
    "asinh": (1, asinh),
    "acosh": (1, acosh),
    "atanh": (1, atanh),
    "sqrt": (1, sqrt),
    "exp": (1, exp),
    "log": (1, log),
    "abs": (1, absolute),
    "sign": (1, sign),
    "floor": (1, floor),
    "atan2": (2, atan2),
    "min": (2, minimum),
    "max": (2, maximum),
    "pow": (2, lambda a, b: a**b),
    "if": (3, select),
}
_OPERATORS: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "^": lambda a, b: a**b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": equal,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
}
_WORDS = {"and", "or", "not"}
_COMPARISONS = {"<", "<=", ">", ">=", "=="}
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<mark>\*\*|<=|>=|==|[-+*/^()<>,]))"
)


RESERVED = frozenset({*CONSTANTS, *FUNCTIONS, *_WORDS, "t"})
"""Names that a model cannot give to its own things."""


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    place: int


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

    __slots__ = ("names", "program", "text")

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        self.program: tuple[tuple[str, Any], ...] = tuple(_Parser(self.text).parse())
        self.names = frozenset(value for kind, value in self.program if kind == "name")

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

    def expr(self, graph: Graph, scope: Mapping[str, Expr]) -> Expr:
        """The expression, with every name looked up in a scope."""
        stack: list[Any] = []
        for kind, value in self.program:
            if kind == "number":
                stack.append(graph.number(value))
            elif kind == "name":
                stack.append(scope[value])
            elif kind == "call":
                count, function = FUNCTIONS[value]
                args = stack[-count:]
                del stack[-count:]
                stack.append(function(*args))
            elif kind == "minus":
                stack.append(-stack.pop())
            elif kind == "not":
                stack.append(~stack.pop())
            else:
                b, a = stack.pop(), stack.pop()
                stack.append(_OPERATORS[kind](a, b))
        return stack[0]  # type: ignore[no-any-return]

    def with_names(self, known: Mapping[str, float | str | Formula]) -> Formula:
        """The same formula with something in place of some names.

        >>> Formula("2*m*l^2 + q").with_names({"m": -3.0, "l": Formula("a + b")})
        Formula('2*(-3)*(a + b)^2 + q')
        """
        text, end = "", 0
        for token in _Parser(self.text).tokens:
            if token.kind == "name" and token.text in known:
                text += self.text[end : token.place] + _bracketed(known[token.text])
                end = token.place + len(token.text)
        return Formula(text + self.text[end:])

    def value(self, known: Mapping[str, float] | None = None) -> float:
        """The number, when every name has one."""
        graph = Graph()
        return float(self.expr(graph, {name: graph.number(x) for name, x in (known or {}).items()}))


def _bracketed(value: float | str | Formula) -> str:
    if isinstance(value, (str, Formula)):
        text = str(value)
        return text if text.isidentifier() else f"({text})"
    text = repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    return f"({text})" if value < 0.0 else text


class _Parser:
    """Precedence climbing; conditions and numbers are kept apart."""

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > LONGEST:
            raise ModelError("a formula is too long", expected=f"at most {LONGEST} characters", got=str(len(text)))
        self.tokens = self._tokens()
        self.at, self.depth = 0, 0
        self.out: list[tuple[str, Any]] = []

    def _tokens(self) -> list[_Token]:
        tokens, place = [], 0
        while place < len(self.text):
            match = _TOKEN.match(self.text, place)
            if match is None:
                rest = self.text[place:].lstrip()
                if not rest:
                    break
                raise self._error("a character that means nothing here", len(self.text) - len(rest), repr(rest[0]))
            kind = match.lastgroup or ""
            tokens.append(_Token(kind, match[kind], match.start(kind)))
            place = match.end()
        return [*tokens, _Token("end", "the end", len(self.text))]

    def _error(self, what: str, place: int, got: str | None = None, expected: str | None = None) -> ModelError:
        start = max(0, place - 60)
        line = self.text[start : place + 60]
        return ModelError(what, expected=expected, got=f"{got or 'this'}\n    {line}\n    {' ' * (place - start)}^")

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def _take(self, text: str) -> bool:
        if self.token.text == text and self.token.kind != "end":
            self.at += 1
            return True
        return False

    def _need(self, text: str) -> None:
        if not self._take(text):
            raise self._error("the formula breaks off", self.token.place, self.token.text, f"'{text}'")

    def parse(self) -> list[tuple[str, Any]]:
        if self.token.kind == "end":
            raise self._error("the formula is empty", 0, "nothing")
        self._real()
        if self.token.kind != "end":
            raise self._error(
                "unexpected in a formula", self.token.place, f"'{self.token.text}'", "an operator or the end"
            )
        return self.out

    def _nested(self, rule: Callable[[], bool]) -> bool:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self._error("a formula is nested too deeply", self.token.place, expected=f"at most {DEEPEST} levels")
        is_condition = rule()
        self.depth -= 1
        return is_condition

    def _real(self) -> None:
        place = self.token.place
        if self._nested(self._either):
            raise self._error(
                "a condition where a number belongs", place, expected="a number; conditions belong in if(...)"
            )

    def _condition(self) -> None:
        place = self.token.place
        if not self._nested(self._either):
            raise self._error("a number where a condition belongs", place, expected="a comparison such as q > 0")

    # Each rule writes its program and says whether it is a condition.
    def _either(self) -> bool:
        return self._joined("or", self._both)

    def _both(self) -> bool:
        return self._joined("and", self._negated)

    def _joined(self, word: str, rule: Callable[[], bool]) -> bool:
        place = self.token.place
        condition = rule()
        while self.token.text == word:
            if not condition:
                raise self._error(f"'{word}' joins conditions", place, "a number")
            self.at += 1
            place = self.token.place
            if not rule():
                raise self._error(f"'{word}' joins conditions", place, "a number")
            self.out.append((word, None))
        return condition

    def _negated(self) -> bool:
        if self.token.text != "not":
            return self._comparison()
        self.at += 1
        place = self.token.place
        if not self._nested(self._negated):
            raise self._error("'not' belongs before a condition", place, "a number")
        self.out.append(("not", None))
        return True

    def _comparison(self) -> bool:
        place = self.token.place
        condition = self._sum()
        if self.token.text not in _COMPARISONS:
            return condition
        mark = self.token.text
        self.at += 1
        if condition or self._sum():
            raise self._error("a condition cannot be compared", place)
        self.out.append((mark, None))
        return True

    def _sum(self) -> bool:
        return self._chain(("+", "-"), self._product)

    def _product(self) -> bool:
        return self._chain(("*", "/"), self._sign)

    def _chain(self, marks: tuple[str, ...], rule: Callable[[], bool]) -> bool:
        place = self.token.place
        condition = rule()
        while self.token.text in marks:
            mark = self.token.text
            self.at += 1
            if condition or rule():
                raise self._error("a condition cannot be calculated with", place)
            self.out.append((mark, None))
        return condition

    def _sign(self) -> bool:
        if self._take("-"):
            self._unsigned_condition()
            self.out.append(("minus", None))
            return False
        if self._take("+"):
            self._unsigned_condition()
            return False
        return self._power()

    def _unsigned_condition(self) -> None:
        place = self.token.place
        if self._nested(self._sign):
            raise self._error("a condition cannot have a sign", place)

    def _power(self) -> bool:
        place = self.token.place
        condition = self._atom()
        if self.token.text not in ("^", "**"):
            return condition
        self.at += 1
        if condition or self._nested(self._sign):
            raise self._error("a condition cannot be calculated with", place)
        self.out.append(("^", None))
        return False

    def _atom(self) -> bool:
        token = self.token
        self.at += 1
        if token.kind == "number":
            value = float(token.text)
            if math.isinf(value):
                raise self._error("a number is too large", token.place, token.text)
            self.out.append(("number", value))
            return False
        if token.kind == "name" and self._take("("):
            self._call(token)
            return False
        if token.kind == "name":
            if token.text in _WORDS:
                raise self._error("a word of the language is out of place", token.place, token.text)
            if token.text in FUNCTIONS:
                raise self._error("a function needs its arguments", token.place, token.text, f"{token.text}(...)")
            known = CONSTANTS.get(token.text)
            self.out.append(("name", token.text) if known is None else ("number", known))
            return False
        if token.text == "(":
            condition = self._nested(self._either)
            self._need(")")
            return condition
        self.at -= 1
        raise self._error("the formula breaks off", token.place, f"'{token.text}'", "a number, a name or '('")

    def _call(self, token: _Token) -> None:
        if token.text not in FUNCTIONS:
            names = ", ".join(FUNCTIONS)
            raise self._error("no such function", token.place, token.text, f"one of {names}")
        count = FUNCTIONS[token.text][0]
        for k in range(count):
            if k:
                self._need(",")
            if token.text == "if" and k == 0:
                self._condition()
            else:
                self._real()
        self._need(")")
        self.out.append(("call", token.text))
