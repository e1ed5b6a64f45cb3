"""Formulas as trees, which every writer prints in its own notation, and the LaTeX they are read from.

Equations come from the emitters as LaTeX. It is read once, into the few records below; what is not among them is
refused, so no document can hold a formula that one of the writers could not print.

>>> parsed(r"\\dot{q}^{2}")
Scripted(base=Dotted(base=Word(text='q', look=<Look.ITALIC: 'italic'>), dots=1), below=None, above=Number(text='2'))
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from torseur.emit.text.dialect import words
from torseur.emit.text.latex import GREEK as LETTERS
from torseur.errors import ArgumentError

__all__ = [
    "Array",
    "Dotted",
    "Fenced",
    "Fraction",
    "Look",
    "Math",
    "Number",
    "Root",
    "Row",
    "Scripted",
    "Sign",
    "Space",
    "Word",
    "is_tall",
    "parsed",
]


class Look(Enum):
    """How a word is set."""

    ITALIC = "italic"
    UPRIGHT = "upright"
    BOLD = "bold"
    TYPEWRITER = "typewriter"
    FUNCTION = "function"
    TEXT = "text"


@dataclass(frozen=True)
class Word:
    """A letter, a name, the name of a function, or plain text."""

    text: str
    look: Look = Look.ITALIC


@dataclass(frozen=True)
class Number:
    """Digits, with a point; each language writes its own decimal mark."""

    text: str


@dataclass(frozen=True)
class Sign:
    """An operator, a relation, a comma."""

    text: str


@dataclass(frozen=True)
class Space:
    """A thin space, or a wide one."""

    wide: bool = False


@dataclass(frozen=True)
class Row:
    """Things beside each other."""

    items: tuple[Math, ...]


@dataclass(frozen=True)
class Fraction:
    above: Math
    below: Math


@dataclass(frozen=True)
class Root:
    inside: Math


@dataclass(frozen=True)
class Scripted:
    """With an index, an exponent, or both."""

    base: Math
    below: Math | None = None
    above: Math | None = None


@dataclass(frozen=True)
class Dotted:
    """A derivative in time."""

    base: Math
    dots: int


@dataclass(frozen=True)
class Fenced:
    """In brackets that grow with what is inside; an empty text is no bracket."""

    left: str
    inside: Math
    right: str


@dataclass(frozen=True)
class Array:
    """Rows of cells in brackets; cases have a brace at the left only."""

    rows: tuple[tuple[Math, ...], ...]
    left: str = ""
    right: str = ""
    is_cases: bool = False


def is_tall(math: Math) -> bool:
    """Whether there is a fraction in it, which would be too small to read in a line."""
    match math:
        case Fraction():
            return True
        case Row(items):
            return any(map(is_tall, items))
        case Scripted(base, _, _) | Dotted(base, _):
            return is_tall(base)
        case Fenced(_, inside, _) | Root(inside):
            return is_tall(inside)
    return False


Math = Word | Number | Sign | Space | Row | Fraction | Root | Scripted | Dotted | Fenced | Array

GREEK: Mapping[str, str] = {**LETTERS, "epsilon": "ϵ", "phi": "ϕ", "varepsilon": "ε", "varphi": "φ"}
SIGNS: Mapping[str, str] = {
    "cdot": "⋅",
    "times": "×",
    "le": "≤",
    "ge": "≥",
    "ne": "≠",
    "lnot": "¬",
    "land": "∧",
    "lor": "∨",
    "infty": "∞",
    "pm": "±",
    "circ": "∘",
    "approx": "≈",
    "in": "∈",
    "mapsto": "↦",
    "top": "⊤",
    "lfloor": "⌊",
    "rfloor": "⌋",
    "lVert": "‖",
    "rVert": "‖",
    "wedge": "∧",
    "partial": "∂",
    "sum": "∑",
}
FUNCTIONS = words("sin cos tan sinh cosh tanh exp ln arcsin arccos arctan min max det log")
_LOOKS = {
    "mathrm": Look.UPRIGHT,
    "mathit": Look.ITALIC,
    "mathbf": Look.BOLD,
    "boldsymbol": Look.BOLD,
    "mathtt": Look.TYPEWRITER,
    "operatorname": Look.FUNCTION,
    "text": Look.TEXT,
}
_FENCES = {"pmatrix": "()", "bmatrix": "[]", "vmatrix": "||"}
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}^_&]|\d+(?:\.\d+)?|[A-Za-z]|\S|\s+", re.DOTALL)
_DEEPEST = 80


def parsed(latex: str) -> Math:
    """The tree of a formula in the LaTeX that Torseur writes."""
    return _Reader(latex).formula()


class _Reader:
    def __init__(self, latex: str) -> None:
        self.latex, self.at, self.depth = latex, 0, 0
        tokens = [token for token in _TOKEN.finditer(latex) if not token[0].isspace()]
        self.tokens = [token[0] for token in tokens]
        self.starts = [token.start() for token in tokens]

    def formula(self) -> Math:
        row = self._row(())
        if self.at < len(self.tokens):
            raise self._strange(self.tokens[self.at])
        return row

    def _strange(self, token: str) -> ArgumentError:
        return ArgumentError("no formula that can be printed", where=self.latex[:200], got=token or "the end")

    def _next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else ""

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _need(self, token: str) -> None:
        got = self._next()
        if got != token:
            raise self._strange(got)

    def _row(self, ends: tuple[str, ...]) -> Math:
        """What stands beside each other up to one of some tokens, which is left where it is."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ArgumentError("a formula is nested too deeply", where=self.latex[:200])
        items: list[Math] = []
        while self.at < len(self.tokens) and self._peek() not in (*ends, "}", r"\right", r"\end", "&", "\\\\"):
            items.append(self._scripts(self._atom(items)))
        self.depth -= 1
        return items[0] if len(items) == 1 else Row(tuple(items))

    def _scripts(self, base: Math) -> Math:
        below = above = None
        while self._peek() in ("_", "^"):
            if self._next() == "_":
                below = self._argument()
            else:
                above = self._argument()
        return base if below is None and above is None else Scripted(base, below, above)

    def _argument(self) -> Math:
        if self._peek() != "{":
            return self._atom([])
        self._next()
        row = self._row(())
        self._need("}")
        return row

    def _atom(self, before: list[Math]) -> Math:
        token = self._next()
        if token == "{":
            self.at -= 1
            return self._argument()
        if token == "(":
            inside = self._row((")",))
            self._need(")")
            return Fenced("(", inside, ")")
        if token in ("^", "_"):  # of nothing, or of what came before: x{}^2
            self.at -= 1
            return Row(())
        if token.startswith("\\"):
            return self._command(token[1:])
        if token[0].isdigit():
            return Number(token)
        return Word(token) if token.isalpha() else Sign("−" if token == "-" else token)

    def _command(self, name: str) -> Math:
        if name in GREEK:
            return Word(GREEK[name])
        if name in FUNCTIONS:
            return Word(name, Look.FUNCTION)
        if name in SIGNS:
            return Sign(SIGNS[name])
        if name in (",", ";", " ", ":", "quad"):
            return Space(name == "quad")
        if name in ("dot", "ddot"):
            return Dotted(self._argument(), len(name) - 2)
        if name == "frac":
            return Fraction(self._argument(), self._argument())
        if name == "sqrt":
            return Root(self._argument())
        if name in _LOOKS:
            return self._words(_LOOKS[name])
        if name in ("left", "begin"):
            return self._fenced() if name == "left" else self._environment()
        if name in ("_", "#", "%", "&", "$", "{", "}", "|"):
            return Sign(name)
        raise self._strange(f"\\{name}")

    def _words(self, look: Look) -> Math:
        """Text in braces, taken as it stands but for escapes."""
        self._need("{")
        place, text = self.starts[self.at - 1] + 1, ""
        while place < len(self.latex) and self.latex[place] != "}":
            if self.latex[place] == "\\" and place + 1 < len(self.latex):
                place += 1
            text += self.latex[place]
            place += 1
        while self._peek() and self._peek() != "}":
            self._next()
        self._need("}")
        return Word(text if look is Look.TEXT else text.strip(), look)

    def _fence(self) -> str:
        token = self._next()
        if token.startswith("\\"):
            return SIGNS.get(token[1:], token[1:])
        return "" if token == "." else token

    def _fenced(self) -> Math:
        left = self._fence()
        inside = self._row(())
        self._need(r"\right")
        return Fenced(left, inside, self._fence())

    def _environment(self) -> Math:
        name = "".join(self._name())
        if name == "array":
            self._name()
        if name not in ("array", "cases", "matrix", *_FENCES):
            raise self._strange(name)
        rows = [[self._row(())]]
        while (token := self._next()) != r"\end":
            if token == "&":
                rows[-1].append(self._row(()))
            elif token == "\\\\":
                rows.append([self._row(())])
            else:
                raise self._strange(token)
        self._name()
        fence = _FENCES.get(name, "{ " if name == "cases" else "  ")
        return Array(tuple(map(tuple, rows)), fence[0].strip(), fence[1].strip(), name == "cases")

    def _name(self) -> list[str]:
        self._need("{")
        letters = []
        while self._peek() not in ("}", ""):
            letters.append(self._next())
        self._need("}")
        return letters
