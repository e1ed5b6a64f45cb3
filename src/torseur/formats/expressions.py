"""Expressions of foreign files, token by token.

Their languages differ from ours in spelling only: capital letters, brackets round arguments, names with an index. A
value is kept as the tokens of the file, spelled anew in our language, and parsed there: grammar and limits are those of
`Formula`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from torseur.describe.fields import Scalar, Triple
from torseur.describe.formulas import DEEPEST, FUNCTIONS, Formula
from torseur.errors import ModelError, TorseurError
from torseur.formats.files import Faults, Mark

__all__ = [
    "DEEPEST",
    "LONGEST_VALUE",
    "Kind",
    "Source",
    "Token",
    "Value",
    "minus",
    "read_scalar",
    "spelled",
    "tokenize",
    "turned",
]

LONGEST_FILE = 400_000
LONGEST_VALUE = 5_000
LARGEST = 1e100

_OTHER_NAMES = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "ln": "log",
}


class Kind(Enum):
    """What a token is."""

    NUMBER = "number"
    NAME = "name"
    STRING = "string"
    MARK = "mark"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Token:
    """A word, number or sign of a file, and where it begins."""

    kind: Kind
    text: str
    place: int

    @property
    def ends_operand(self) -> bool:
        """Whether a sign after it joins two terms."""
        return self.kind in (Kind.NUMBER, Kind.NAME) or self.text in (")", "]")


class Source:
    """The text of a file, and the faults found in it."""

    def __init__(self, data: str | bytes, where: str) -> None:
        self.text = _decoded(data)
        self._faults = Faults(where)
        if len(self.text) > LONGEST_FILE:
            expected = f"at most {LONGEST_FILE} characters"
            raise ModelError("the file is too long", where=where, expected=expected)
        self._lines = [0, *(match.end() for match in re.finditer("\n", self.text))]

    def mark(self, place: int) -> Mark:
        """Line and column of a character."""
        line = bisect_right(self._lines, place)
        return Mark(line, place - self._lines[line - 1] + 1)

    def at(self, place: int) -> str:
        """``file:line:column``."""
        return self._faults.at(self.mark(place))

    def fault(
        self,
        what: str,
        place: int,
        path: str = "",
        *,
        expected: str | None = None,
        got: str | None = None,
        remedy: str | None = None,
    ) -> None:
        """Remember a fault; reading goes on, to find the others, unless there are too many."""
        steps = (path,) if path else ()
        self._faults.fault(self.mark(place), steps, what, expected=expected, got=got, remedy=remedy)

    def stop_if_faulty(self) -> None:
        """Raise what was found so far, in the order of the file."""
        self._faults.stop_if_any()


def _decoded(data: str | bytes) -> str:
    """UTF-8, or latin-1 where it is not; lines end in one character."""
    text = data if isinstance(data, str) else _text_of(data)
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _text_of(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


# -- tokens ------------------------------------------------------------------------------------------------------------
_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<string>\"[^\"\n]*\"|'[^'\n]*')|(?P<mark>:=|\*\*|[-+*/^()\[\]{},;:=])|(?P<unknown>\S)"
)


def tokenize(text: str) -> list[Token]:
    """The tokens of a text; what belongs to no token is one of its own, to be refused where it stands."""
    return [Token(Kind(match.lastgroup), match[0], match.start()) for match in _TOKEN.finditer(text)]


@dataclass(frozen=True)
class Value:
    """An expression as it stands in the file."""

    tokens: tuple[Token, ...]
    place: int

    def __str__(self) -> str:
        return spelled(self.tokens, {})

    @property
    def names(self) -> list[str]:
        """The symbols in it, in order, each once."""
        return list(dict.fromkeys(t.text for t, called in _calls(self.tokens) if _is_symbol(t, called)))

    @property
    def number(self) -> float | None:
        """Its value when it is a plain number, with or without a sign."""
        match self.tokens:
            case (Token(kind=Kind.NUMBER, text=text),):
                return float(text)
            case (Token(text="-"), Token(kind=Kind.NUMBER, text=text)):
                return -float(text) or 0.0
        return None

    @property
    def is_zero(self) -> bool:
        return self.number == 0.0

    @property
    def whole(self) -> int | None:
        """Its value when it is an integer."""
        number = self.number
        return int(number) if number is not None and abs(number) < 1e9 and number == int(number) else None

    @property
    def symbol(self) -> str | None:
        """The name, when the value is a name with or without a sign."""
        rest = self.tokens[1:] if self.tokens and self.tokens[0].text == "-" else self.tokens
        return rest[0].text if len(rest) == 1 and _is_symbol(rest[0], called=False) else None

    def terms(self) -> list[tuple[str, tuple[Token, ...]]]:
        """What is added up: each term with its sign."""
        return list(_terms(self.tokens, 0))

    def without(self, name: str) -> Value | None:
        """What is left of a sum when a name is taken out; none unless the name is a term of its own with sign +."""
        terms = self.terms()
        kept = [(sign, term) for sign, term in terms if not (sign == "+" and len(term) == 1 and term[0].text == name)]
        if len(kept) != len(terms) - 1 or any(token.text == name for _, term in kept for token in term):
            return None
        tokens: list[Token] = []
        for sign, term in kept:
            tokens += [*([Token(Kind.MARK, sign, self.place)] if tokens or sign == "-" else []), *term]
        return Value(tuple(tokens) or (Token(Kind.NUMBER, "0", self.place),), self.place)


def _calls(tokens: Iterable[Token]) -> Iterator[tuple[Token, bool]]:
    """Each token, and whether arguments follow it."""
    listed = list(tokens)
    for k, token in enumerate(listed):
        yield token, k + 1 < len(listed) and listed[k + 1].text in ("(", "[")


def _is_symbol(token: Token, called: bool) -> bool:
    return token.kind is Kind.NAME and not called and token.text.lower() != "pi"


def _terms(tokens: tuple[Token, ...], level: int) -> Iterator[tuple[str, tuple[Token, ...]]]:
    tokens = _without_parentheses(tokens)
    starts, depth = [], 0
    for k, token in enumerate(tokens):
        if depth == 0 and token.text in ("+", "-") and (k == 0 or tokens[k - 1].ends_operand):
            starts.append(k)
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token.text, 0)
    if not starts or starts[0] != 0:
        starts.insert(0, -1)
    for begin, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        sign = tokens[begin].text if begin >= 0 else "+"
        term = tokens[begin + 1 : end]
        if sign == "+" and level < DEEPEST and term != tokens and term != _without_parentheses(term):
            yield from _terms(term, level + 1)
        else:
            yield sign, term


def _without_parentheses(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The inside of an expression that is in parentheses as a whole."""
    opened: list[int] = []
    closing: dict[int, int] = {}
    for k, token in enumerate(tokens):
        if token.text == "(":
            opened.append(k)
        elif token.text == ")" and opened:
            closing[opened.pop()] = k
    n, k = len(tokens), 0
    while n - 2 * k > 2 and closing.get(k) == n - 1 - k:
        k += 1
    return tokens[k : n - k]


# -- spelling ----------------------------------------------------------------------------------------------------------
def spelled(tokens: Iterable[Token], spelling: Mapping[str, str]) -> str:
    """An expression in our language; names are looked up, functions and brackets get our form."""
    text, before = "", None
    for token, called in _calls(tokens):
        word = _word(token, called, spelling)
        joins = word in ("+", "-") and before is not None and before.ends_operand
        apart = before is not None and before.ends_operand and token.kind in (Kind.NUMBER, Kind.NAME)
        text += f" {word} " if joins else f" {word}" if apart else word
        before = token
    return text


def _word(token: Token, called: bool, spelling: Mapping[str, str]) -> str:
    if token.kind is not Kind.NAME:
        return {"[": "(", "]": ")", "**": "^"}.get(token.text, token.text)
    lower = token.text.lower()
    if called:
        function = _OTHER_NAMES.get(lower, lower)
        return function if function in FUNCTIONS else token.text
    return "pi" if lower == "pi" else spelling.get(token.text, token.text)


def read_scalar(source: Source, value: Value, spelling: Mapping[str, str], path: str) -> Scalar:
    """A value of the file as a number or a formula; a fault, and zero, if it is neither."""
    number = value.number
    if len(value.tokens) > LONGEST_VALUE:
        source.fault(
            "an expression is too long", value.place, path, expected=f"at most {LONGEST_VALUE} words and signs"
        )
        return 0.0
    if number is not None:
        if abs(number) <= LARGEST:
            return number
        source.fault("a number is too large", value.place, path, expected="less than 1e100", got=str(value)[:40])
        return 0.0
    try:
        formula = Formula(spelled(value.tokens, spelling))
        if not formula.names and not abs(formula.value()) <= LARGEST:
            raise ModelError("an expression without a finite value", got=formula.text)
    except (TorseurError, ArithmeticError, ValueError) as error:
        told = error if isinstance(error, ModelError) else ModelError("an expression without a value", got=str(value))
        source.fault(told.what, value.place, path, expected=told.expected, got=told.got)
        return 0.0
    return formula


def minus(value: Scalar) -> Scalar:
    """The opposite of a scalar, with no more signs than needed.

    >>> [str(minus(Formula(text))) for text in ("FX6", "-FX6", "a + b", "-(a + b)")]
    ['-FX6', 'FX6', '-(a + b)', 'a + b']
    """
    if not isinstance(value, Formula):
        return -value or 0.0
    tokens = tuple(tokenize(value.text))
    if tokens[0].text == "-":
        rest = tokens[1:]
        inner = _without_parentheses(rest)
        if inner != rest or not any(t.text in ("+", "-") for t in rest):
            return Formula(spelled(inner, {}))
    is_sum = any(t.text in ("+", "-") for t in tokens)
    return Formula(f"-({value.text})" if is_sum else f"-{value.text}")


def turned(matrix: Sequence[Triple], vector: Triple) -> Triple:
    """A vector seen from the other side of a rotation, as formulas that say no more than they must."""
    x, y, z = (_sum([_product(a, b) for a, b in zip(row, vector, strict=True)]) for row in matrix)
    return (x, y, z)


def _product(a: Scalar, b: Scalar) -> Scalar:
    if 0.0 in (a, b):
        return 0.0
    if a in (1.0, -1.0):
        return b if a == 1.0 else minus(b)
    if isinstance(a, Formula) or isinstance(b, Formula):
        return Formula(f"({_text(a)})*({_text(b)})")
    return a * b


def _sum(terms: Sequence[Scalar]) -> Scalar:
    terms = [term for term in terms if term != 0.0]
    if len(terms) < 2:
        return terms[0] if terms else 0.0
    numbers = [term for term in terms if not isinstance(term, Formula)]
    if len(numbers) == len(terms):
        return sum(numbers)
    return Formula(" + ".join(f"({_text(term)})" for term in terms))


def _text(value: Scalar) -> str:
    return value.text if isinstance(value, Formula) else repr(value)
