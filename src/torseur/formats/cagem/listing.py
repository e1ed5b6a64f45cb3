"""The statements of a listing, and what their names mean.

A statement is ``name := value:`` or ``name[index] := value:``, several on a line, with // comments. Names are
coordinates, constants, and quantities that follow the coordinates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from torseur.describe.fields import Scalar
from torseur.describe.formulas import Formula
from torseur.describe.mechanism import Parameter
from torseur.formats.expressions import LONGEST_VALUE, Kind, Source, Token, Value, read_scalar, tokenize
from torseur.formats.files import legal_name

__all__ = ["Listing", "Scope", "parse"]

_HIDDEN = re.compile(r'(?P<string>"[^"\n]*")|//[^\n]*|/\*(?:.*?\*/|.*\Z)', flags=re.DOTALL)
_LARGEST_INDEX = 9999
_LONGEST_VALUE = 20_000


@dataclass(frozen=True)
class Listing:
    """The values of a listing by name; an index is part of the name, as in ``q[0]``."""

    source: Source
    values: dict[str, Value]
    places: dict[str, int]

    def indices(self, stem: str) -> list[int]:
        """The indices a name is given values for."""
        matches = (re.fullmatch(rf"{stem}\[([0-9]+)\]", name) for name in self.values)
        return sorted(int(match[1]) for match in matches if match is not None)


def parse(source: Source) -> Listing:
    """The statements of a listing; what is wrong with its form is remembered as faults."""
    values: dict[str, Value] = {}
    places: dict[str, int] = {}
    for name, tokens in _statements(source, list(_indexed(source, tokenize(_without_comments(source))))):
        if name.text in values:
            first = source.at(places[name.text])
            source.fault(f"'{name.text}' is given twice", name.place, expected="one value", got=f"another at {first}")
            continue
        values[name.text] = Value(tuple(tokens), tokens[0].place)
        places[name.text] = name.place
    return Listing(source, values, places)


def _without_comments(source: Source) -> str:
    """The text with spaces in place of comments, so that every place stays the same."""

    def blank(match: re.Match[str]) -> str:
        if match["string"] is not None:
            return match[0]
        if match[0].startswith("/*") and (not match[0].endswith("*/") or len(match[0]) < 4):
            source.fault("a comment is not closed", match.start(), expected="*/")
        return re.sub(r"[^\n]", " ", match[0])

    return _HIDDEN.sub(blank, source.text)


def _indexed(source: Source, tokens: list[Token]) -> Iterator[Token]:
    """Tokens in which a name and its index are one."""
    k = 0
    while k < len(tokens):
        token = tokens[k]
        if token.kind is not Kind.NAME or k + 1 == len(tokens) or tokens[k + 1].text != "[":
            yield token
            k += 1
            continue
        inside = tokens[k + 2 : k + 4]
        is_index = len(inside) == 2 and re.fullmatch("[0-9]+", inside[0].text) and inside[1].text == "]"
        if not is_index or int(inside[0].text[:9]) > _LARGEST_INDEX:
            got = inside[0].text[:40] if inside else "the end"
            source.fault(
                f"'{token.text}' has a wrong index", tokens[k + 1].place, expected="an integer in [ ]", got=got
            )
            k += 2
            continue
        yield Token(Kind.NAME, f"{token.text}[{int(inside[0].text)}]", token.place)
        k += 4


def _statements(source: Source, tokens: list[Token]) -> Iterator[tuple[Token, list[Token]]]:
    """Each name with the tokens of its value."""
    starts = [k for k in range(len(tokens) - 1) if tokens[k].kind is Kind.NAME and tokens[k + 1].text == ":="]
    before = tokens[: starts[0]] if starts else tokens
    if before or not starts:
        got = before[0].text[:40] if before else "nothing"
        source.fault("expected a statement", before[0].place if before else 0, expected="name := value:", got=got)
    if not starts:
        return
    for k, stop in zip(starts, [*starts[1:], len(tokens)], strict=True):
        name, rest = tokens[k], tokens[k + 2 : stop]
        end = next((n for n, token in enumerate(rest) if token.text in (":", ";")), None)
        if end is None:
            source.fault(
                f"'{name.text}' has no end", name.place, expected=":", remedy="every statement ends with a colon"
            )
            continue
        extra = [token for token in rest[end:] if token.text not in (":", ";")]
        if extra:
            source.fault("expected a statement", extra[0].place, expected="name := value:", got=extra[0].text[:40])
        if end == 0 or end > _LONGEST_VALUE:
            what = "has no value" if end == 0 else "has a value that is too long"
            source.fault(f"'{name.text}' {what}", name.place, expected=f"1 to {_LONGEST_VALUE} words and signs")
            continue
        yield name, rest[:end]


# -- names -------------------------------------------------------------------------------------------------------------
_MOST_TOKENS = 200_000
TIME = "t"


@dataclass
class Scope:
    """What names mean. Quantities that depend on coordinates are put in place of their names, constants are kept."""

    listing: Listing
    coordinates: dict[str, str]
    notes: list[str]
    parameters: dict[str, Parameter] = field(default_factory=dict)
    spelling: dict[str, str] = field(default_factory=dict)
    _moving: dict[str, bool] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)
    _budget: int = _MOST_TOKENS

    def __post_init__(self) -> None:
        self.spelling |= self.coordinates
        self._taken = {*self.coordinates.values(), *(f"d{name}" for name in self.coordinates.values())}

    def moves(self, name: str) -> bool:
        """Whether a name depends on coordinates or time."""
        if name in self.coordinates or (name == TIME and TIME not in self.listing.values):
            return True
        if name not in self._moving:
            self._moving[name] = False  # a circle shows when the name is expanded, or as a circle of parameters
            value = self.listing.values.get(name)
            self._moving[name] = value is not None and any(self.moves(other) for other in value.names)
        return self._moving[name]

    def scalar(self, value: Value, path: str) -> Scalar:
        """A value as a number or formula of parameters, coordinates and time."""
        expanded = self.expanded(value, path)
        for name in expanded.names:
            self._declare(name, value, path)
        return read_scalar(self.listing.source, expanded, self.spelling, path)

    def constant(self, name: str) -> Scalar | None:
        """What the listing gives to a name that must not move; none if it gives nothing."""
        value = self.listing.values.get(name)
        if value is None:
            return None
        if self.moves(name):
            got = str(value)[:60]
            self.listing.source.fault(f"'{name}' depends on coordinates or time", value.place, name, got=got)
            return 0.0
        if name in self.spelling:
            return Formula(self.spelling[name])
        return self.scalar(value, name)

    def expanded(self, value: Value, path: str) -> Value:
        """The value with quantities that move written out."""
        written: list[Token] = []
        waiting = list(value.tokens[::-1])
        while waiting:
            token = waiting.pop()
            if not self._is_written_out(token):
                written.append(token)
                continue
            inner = self.listing.values[token.text].tokens
            opening, closing = Token(Kind.MARK, "(", token.place), Token(Kind.MARK, ")", token.place)
            waiting += [closing, *inner[::-1], opening]
            self._budget -= len(inner)
            if self._budget < 0 or len(written) > LONGEST_VALUE:
                remedy = "does a definition use itself?"
                self.listing.source.fault("a value without end", value.place, path, remedy=remedy)
                self.listing.source.stop_if_faulty()
        return Value(tuple(written), value.place)

    def _is_written_out(self, token: Token) -> bool:
        is_defined = token.kind is Kind.NAME and token.text in self.listing.values
        return is_defined and token.text not in self.coordinates and self.moves(token.text)

    def _declare(self, name: str, value: Value, path: str) -> None:
        """Make a name known that a value uses."""
        if name in self._open:
            self.listing.source.fault(f"the definition of '{name}' uses itself", value.place, path)
        if name in self.spelling or (name == TIME and TIME not in self.listing.values):
            return
        if "[" in name and name not in self.listing.values:
            known = f"q[0] to q[{len(self.coordinates) - 1}]" if self.coordinates else "none"
            what = f"'{name}' has no value and is not a coordinate"
            self.listing.source.fault(what, value.place, path, expected=f"coordinates: {known}")
            self.spelling[name] = "pi"
            return
        plain = name.replace("[", "").replace("]", "")
        self.spelling[name] = spelled = legal_name(plain, self.is_taken)
        if spelled != plain:
            self.notes.append(f"the name '{name}' means something else here; it is called '{spelled}'")
        self.parameters[spelled] = Parameter()  # keeps its place in the order while its value is read
        given = self.listing.values.get(name)
        if given is None:
            self.notes.append(f"'{name}' has no value in the listing")
        else:
            self._open.append(name)
            self.parameters[spelled] = Parameter(value=self.scalar(given, name))
            self._open.pop()

    def declare(self, name: str) -> None:
        """A constant of the listing becomes a parameter."""
        value = self.listing.values[name]
        if not self.moves(name):
            self._declare(name, value, name)

    def is_taken(self, name: str) -> bool:
        """Whether a coordinate, speed or parameter has this name."""
        return name in self._taken or name in self.parameters
