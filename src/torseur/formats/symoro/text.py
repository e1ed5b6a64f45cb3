"""The text of a .par file: comments, entries, vectors; no mechanics yet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from torseur.describe.faults import nearest
from torseur.formats.expressions import LONGEST_VALUE, Kind, Source, Token, Value, tokenize

__all__ = [
    "BASE_KEYS",
    "COUNTS",
    "FLAGS",
    "FRAME_KEYS",
    "INERTIA",
    "JOINT_KEYS",
    "LINK_KEYS",
    "Entries",
    "Entry",
    "parse",
]

COUNTS = ("NL", "NJ", "NF", "Type")
FLAGS = ("is_floating", "is_mobile")
FRAME_KEYS = ("ant", "sigma", "b", "d", "r", "gamma", "alpha", "mu", "theta")
"""One entry a frame."""
INERTIA = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
LINK_KEYS = (*INERTIA, "IA", "FV", "FS", "FX", "FY", "FZ", "CX", "CY", "CZ")
"""One entry a link; that of link 0 comes first when the base is floating or mobile."""
JOINT_KEYS = ("eta", "k", "QP", "QDP", "GAM")
"""One entry a joint."""
BASE_KEYS = {"W0": 3, "WP0": 3, "V0": 3, "VP0": 3, "G": 3, "Z": 16}
"""Of the base, with their lengths."""

_VECTORS = (*FRAME_KEYS, *LINK_KEYS, *JOINT_KEYS, *BASE_KEYS)
_KEYS = {key.lower(): key for key in (*COUNTS, *FLAGS, *_VECTORS)}
_KEYS |= {"wo": "W0", "wpo": "WP0", "vo": "V0", "vpo": "VP0"}  # a letter O for the digit, in printed listings
_IGNORED = {"robotname"}
_LONGEST_VECTOR = 2000


@dataclass(frozen=True)
class Entry:
    """A vector of the file, or the one value of a count or flag."""

    key: str
    values: tuple[Value, ...]
    place: int


@dataclass(frozen=True)
class Entries:
    """What a file says, by key in the spelling of OpenSYMORO."""

    source: Source
    found: dict[str, Entry]
    robot: str | None

    def values(self, key: str) -> tuple[Value, ...]:
        """The values of a vector; none if it is absent."""
        return self.found[key].values if key in self.found else ()

    def place(self, key: str) -> int:
        return self.found[key].place if key in self.found else 0


def parse(source: Source) -> Entries:
    """The entries of a file; what is wrong with its form is remembered as faults."""
    names = [match[1].strip() for match in re.finditer(r"Robotname\s*=\s*'([^'\n]*)'", source.text)]
    tokens = tokenize(_without_comments(source))
    found: dict[str, Entry] = {}
    for key, value in _statements(source, tokens):
        entry = _entry(source, key, value)
        if entry is None:
            continue
        if entry.key in found:
            first = source.at(found[entry.key].place)
            source.fault(f"'{key.text}' is given twice", key.place, expected="one", got=f"another at {first}")
        found.setdefault(entry.key, entry)
    return Entries(source, found, names[0][:200] if names and names[0] else None)


def _without_comments(source: Source) -> str:
    """The text with spaces in place of (* comments *), so that every place stays the same."""

    def blank(match: re.Match[str]) -> str:
        if not match[0].endswith("*)") or len(match[0]) < 4:
            source.fault("a comment is not closed", match.start(), expected="*)")
        return re.sub(r"[^\n]", " ", match[0])

    return re.sub(r"\(\*(?:.*?\*\)|.*\Z)", blank, source.text, flags=re.DOTALL)


def _statements(source: Source, tokens: list[Token]) -> Iterator[tuple[Token, list[Token]]]:
    """Each key with the tokens after its equals sign, up to the next key."""
    starts = [k for k, (a, b) in enumerate(pairwise(tokens)) if a.kind is Kind.NAME and b.text == "="]
    before = tokens[: starts[0]] if starts else tokens
    if before:
        source.fault("expected an entry", before[0].place, expected="key = value", got=before[0].text[:40])
    if not starts:
        return
    for k, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        value = tokens[k + 2 : end]
        while value and value[-1].text in (";", ","):
            value.pop()
        yield tokens[k], value


def _entry(source: Source, key: Token, value: list[Token]) -> Entry | None:
    name = _KEYS.get(key.text.lower())
    if key.text.lower() in _IGNORED:
        return None
    if name is None:
        near = nearest(key.text, _KEYS.values())
        remedy = f"did you mean {near}?" if near else None
        source.fault(f"no entry is called '{key.text[:40]}'", key.place, remedy=remedy)
        return None
    if not value:
        source.fault(f"'{key.text}' has no value", key.place)
        return None
    if name in COUNTS or name in FLAGS:
        return Entry(name, (Value(tuple(value), value[0].place),), key.place)
    if value[0].text != "{":
        source.fault(f"'{key.text}' is not a vector", value[0].place, expected="{", got=value[0].text[:40])
        return None
    closing = next((k for k, token in enumerate(value) if token.text == "}"), None)
    if closing is None:
        source.fault(f"the vector '{key.text}' is not closed", value[-1].place, expected="}", got=value[-1].text[:40])
        return None
    if closing != len(value) - 1:
        extra = value[closing + 1]
        what = f"something after the vector '{key.text}'"
        source.fault(what, extra.place, expected="the next entry", got=extra.text[:40])
    return Entry(name, _items(source, key, value[1:closing], value[closing].place), key.place)


def _items(source: Source, key: Token, tokens: list[Token], end: int) -> tuple[Value, ...]:
    """The values between the commas; those inside parentheses do not count."""
    groups: list[list[Token]] = [[]]
    places, depth = [tokens[0].place if tokens else end], 0
    for token in tokens:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token.text, 0)
        if token.text == "," and depth <= 0:
            groups.append([])
            places.append(token.place + 1)
        else:
            groups[-1].append(token)
    if len(groups) > _LONGEST_VECTOR:
        source.fault(f"the vector '{key.text}' is too long", key.place, expected=f"at most {_LONGEST_VECTOR} entries")
        return ()
    values = []
    for k, (group, place) in enumerate(zip(groups, places, strict=True), 1):
        if not group:
            source.fault("an entry is empty", place, f"{key.text}[{k}]", expected="a number or an expression")
            group = [Token(Kind.NUMBER, "0", place)]
        if len(group) > LONGEST_VALUE:
            source.fault(
                "an expression is too long", place, f"{key.text}[{k}]", expected=f"{LONGEST_VALUE} words and signs"
            )
            group = [Token(Kind.NUMBER, "0", place)]
        values.append(Value(tuple(group), group[0].place))
    return tuple(values)
