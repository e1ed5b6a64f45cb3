"""The statements of a listing: ``name := value:`` or ``name[index] := value:``, several on a line, // comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from torseur.formats.expressions import Kind, Source, Token, Value, tokenize

__all__ = ["Listing", "parse"]

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
        found = (re.fullmatch(rf"{stem}\[([0-9]+)\]", name) for name in self.values)
        return sorted(int(match[1]) for match in found if match is not None)


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
