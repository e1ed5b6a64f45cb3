"""From the text of a formula to a short program for a stack; see `torseur.describe.formulas` for the language."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torseur.describe.formula_words import COMPARISONS as _COMPARISONS
from torseur.describe.formula_words import CONSTANTS, FUNCTIONS, NORMAL, RESERVED, TABLE, Lookup, normal_of
from torseur.describe.formula_words import WORDS as _WORDS
from torseur.errors import ModelError, TorseurError

__all__ = ["DEEPEST", "LONGEST", "Parser", "Program", "Token"]

LONGEST = 10_000
DEEPEST = 60

Program = list[tuple[str, Any]]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<mark>\*\*|<=|>=|==|[-+*/^()<>,\[\]]))"
)

_MARKS = {
    "°": "degrees are written 30*deg",
    "&": "conditions are joined by 'and'",
    "|": "conditions are joined by 'or'; an absolute value is abs(x)",
    "!": "the negation of a condition is written with 'not'",
    "=": "values are compared with ==",
    ".": "the results of a block are called by its name and theirs, BLOCK_RESULT, without a dot",
    "?": "a choice is written if(condition, value, other value)",
    "'": "the derivative of coordinate q is the speed dq",
    "π": "written pi",
    "²": "a power is written x^2",
    "³": "a power is written x^3",
    "·": "a product is written with *",
    "×": "a product is written with *",
    "−": "a minus sign is written -",
    "%": "35 % is written 0.35",
}
"""Characters that formulas of other languages have, and what is written here."""
_MODULES = {"np", "numpy", "math", "Math", "sympy", "sp"}
_DEGREES = {"degree", "degrees", "grad", "degs"}


@dataclass(frozen=True)
class Token:
    """A number, name or mark, and where it begins."""

    kind: str
    text: str
    place: int


class Parser:
    """Precedence climbing; conditions and numbers are kept apart."""

    def __init__(self, text: str, evaluate: Callable[[Program], float]) -> None:
        self.text, self.evaluate = text, evaluate
        if len(text) > LONGEST:
            raise ModelError("a formula is too long", expected=f"at most {LONGEST} characters", got=str(len(text)))
        self.tokens = self._tokens()
        self.at, self.depth = 0, 0
        self.out: Program = []
        self.names: list[tuple[str, int, int]] = []
        """The names, each with where it begins and ends; tables are none."""

    def _tokens(self) -> list[Token]:
        tokens: list[Token] = []
        place = 0
        while place < len(self.text):
            match = _TOKEN.match(self.text, place)
            if match is None:
                rest = self.text[place:].lstrip()
                if not rest:
                    break
                mark, place = rest[0], len(self.text) - len(rest)
                is_prefix = mark == "." and bool(tokens) and tokens[-1].text in _MODULES
                remedy = "functions have no prefix: sin(t), sqrt(x)" if is_prefix else _MARKS.get(mark)
                raise self._error("a character that means nothing here", place, repr(mark), remedy=remedy)
            kind = match.lastgroup or ""
            tokens.append(Token(kind, match[kind], match.start(kind)))
            place = match.end()
        return [*tokens, Token("end", "the end", len(self.text))]

    def _error(
        self, what: str, place: int, got: str | None = None, expected: str | None = None, remedy: str | None = None
    ) -> ModelError:
        start = max(0, place - 60)
        got = f"{got or 'this'}\n    {self.text[start : place + 60]}\n    {' ' * (place - start)}^"
        return ModelError(what, expected=expected, got=got, remedy=remedy)

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def _take(self, text: str) -> bool:
        if self.token.text == text and self.token.kind != "end":
            self.at += 1
            return True
        return False

    def _need(self, text: str) -> None:
        if self._take(text):
            return
        if self.token.kind not in ("name", "number") and self.token.text != "(":
            raise self._error("the formula is incomplete", self.token.place, self.token.text, f"'{text}'")
        got, expected = f"'{self.token.text}'", f"an operator or '{text}'"
        raise self._error("unexpected in a formula", self.token.place, got, expected, self._what_follows())

    def parse(self) -> Program:
        if self.token.kind == "end":
            raise self._error("the formula is empty", 0, "nothing")
        self._real()
        if self.token.kind != "end":
            place, got = self.token.place, f"'{self.token.text}'"
            remedy = self._what_follows()
            raise self._error("unexpected in a formula", place, got, "an operator or the end", remedy)
        return self.out

    def _what_follows(self) -> str | None:
        """What to write instead, where something follows that formulas of other languages have there."""
        text = self.token.text
        if text == "if":
            return "a choice is written if(condition, value, other value)"
        if text in ("deg", "rad") and self.at:
            return f"write a product with *: {self.tokens[self.at - 1].text}*{text}"
        if text in _DEGREES:
            return "degrees are written 30*deg"
        if text in ("pi", "t") and self.at:
            return f"write a product with *: {self.tokens[self.at - 1].text}*{text}"
        if self.token.kind == "name" and self.at and self.tokens[self.at - 1].kind == "number":
            return "write a product with *; a unit is not written behind a number: values are in SI units"
        return "write a product with *" if self.token.kind in ("name", "number") or text == "(" else None

    def _nested(self, rule: Callable[[], bool]) -> bool:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self._error("a formula is nested too deeply", self.token.place, expected=f"at most {DEEPEST} levels")
        is_condition = rule()
        self.depth -= 1
        return is_condition

    def _real(self) -> None:
        self._as_number(self._nested(self._either))

    def _as_number(self, is_condition: bool) -> None:
        """A condition that is calculated with is 1 where it holds and 0 where not."""
        if is_condition:
            self.out.append(("truth", None))

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
        self._as_number(condition)
        self._as_number(self._sum())
        self.out.append((mark, None))
        if self.token.text in _COMPARISONS:
            expected = "two comparisons joined by 'and', or one of them in parentheses"
            raise self._error("a comparison of a comparison", place, expected=expected)
        return True

    def _sum(self) -> bool:
        return self._chain(("+", "-"), self._product)

    def _product(self) -> bool:
        return self._chain(("*", "/"), self._sign)

    def _chain(self, marks: tuple[str, ...], rule: Callable[[], bool]) -> bool:
        condition = rule()
        while self.token.text in marks:
            mark = self.token.text
            self.at += 1
            self._as_number(condition)
            condition = False
            self._as_number(rule())
            self.out.append((mark, None))
        return condition

    def _sign(self) -> bool:
        if self._take("-"):
            self._as_number(self._nested(self._sign))
            self.out.append(("minus", None))
            return False
        if self._take("+"):
            self._as_number(self._nested(self._sign))
            return False
        return self._power()

    def _power(self) -> bool:
        condition = self._atom()
        if self.token.text not in ("^", "**"):
            return condition
        self.at += 1
        self._as_number(condition)
        self._as_number(self._nested(self._sign))
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
                raise self._error("a keyword is out of place", token.place, token.text)
            if token.text in FUNCTIONS:
                raise self._error("a function needs its arguments", token.place, token.text, f"{token.text}(...)")
            known = CONSTANTS.get(token.text)
            if known is None:
                self._name(token.text, token.place)
            else:
                self.out.append(("number", known))
            return False
        if token.text == "(":
            condition = self._nested(self._either)
            self._need(")")
            return condition
        self.at -= 1
        raise self._error("the formula is incomplete", token.place, f"'{token.text}'", "a number, a name or '('")

    def _call(self, token: Token) -> None:
        if token.text == TABLE:
            self._table(token)
            return
        if token.text == NORMAL:
            self._normal(token)
            return
        if token.text not in FUNCTIONS:
            names = ", ".join([*FUNCTIONS, TABLE, NORMAL])
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

    def _name(self, name: str, begin: int) -> None:
        last = self.tokens[self.at - 1]
        self.names.append((name, begin, last.place + len(last.text)))
        self.out.append(("name", name))

    def _normal(self, called: Token) -> None:
        """normal(NAME): a name of its own."""
        token = self.token
        if token.kind != "name" or token.text in RESERVED:
            raise self._error("normal needs a name", token.place, f"'{token.text}'", "a contact or rolling constraint")
        self.at += 1
        self._need(")")
        self._name(normal_of(token.text), called.place)

    # -- tables --------------------------------------------------------------------------------------------------------
    def _table(self, token: Token) -> None:
        """table(x, NAME), table(x, y, NAME), or with lists in place of the name."""
        count = 0
        while not self._is_table(count):
            if count == 2:
                raise self._error("a table has one or two variables", self.token.place, expected="its name, or lists")
            self._real()
            count += 1
            self._need(",")
        if self.token.text == "[":
            self.out.append(("table", (self._lists(token, count), count)))
        else:
            self.out.append(("table", (self.token.text, count)))
            self.at += 1
        self._need(")")

    def _is_table(self, count: int) -> bool:
        """Whether what comes next is the table: lists, or after a variable a name that is the last argument."""
        if self.token.text == "[":
            return True
        return count > 0 and self.token.kind == "name" and self.tokens[self.at + 1].text == ")"

    def _lists(self, token: Token, count: int) -> Lookup:
        if not count:
            raise self._error("a table without a variable", token.place, expected="table(x, [...], [...])")
        axes = []
        for _ in range(count):
            axes.append(self._list())
            self._need(",")
        if count == 1:
            rows = [self._list()]
        else:
            self._need("[")
            rows = [self._list()]
            while self._take(","):
                rows.append(self._list())
            self._need("]")
        try:
            return Lookup(tuple(axes), tuple(rows))
        except ModelError as error:
            raise self._error(error.what, token.place, error.got, error.expected) from None

    def _list(self) -> tuple[float, ...]:
        """Numbers, or formulas without names, in brackets."""
        self._need("[")
        numbers = [self._number()]
        while self._take(","):
            numbers.append(self._number())
        self._need("]")
        return tuple(numbers)

    def _number(self) -> float:
        place, program = self.token.place, self.out
        self.out = []
        self._real()
        part, self.out = self.out, program
        if any(kind in ("name", "table") for kind, _ in part):
            raise self._error("a list of a table holds numbers", place, expected="numbers, or formulas without names")
        try:
            return self.evaluate(part)
        except TorseurError:
            raise self._error("a list of a table holds numbers", place, "a formula without a value") from None
