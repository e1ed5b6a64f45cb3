"""The text of a .par file: comments, entries, vectors with agreed lengths; no mechanics yet.

A file with B loops numbers its frames so: 1..NL the tree, one a link; NL+1..NJ the cut joints, k = NL+b placed on the
first of the two links it ties; NJ+1..NF, k+B the same frame placed on the other link. NJ = NL + B and NF = NJ + B.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from torseur.describe.faults import nearest
from torseur.formats.expressions import LONGEST_VALUE, Kind, Source, Token, Value, tokenize

__all__ = [
    "BASE_KEYS",
    "COUNTS",
    "FLAGS",
    "FRAME_KEYS",
    "IDENTITY",
    "INERTIA",
    "JOINT_KEYS",
    "LINK_KEYS",
    "WRENCH",
    "Entries",
    "Entry",
    "ParFile",
    "measure",
    "parse",
]

COUNTS = ("NL", "NJ", "NF", "Type")
FLAGS = ("is_floating", "is_mobile")
FRAME_KEYS = ("ant", "sigma", "b", "d", "r", "gamma", "alpha", "mu", "theta")
"""One entry a frame."""
INERTIA = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
WRENCH = ("FX", "FY", "FZ", "CX", "CY", "CZ")
LINK_KEYS = (*INERTIA, "IA", "FV", "FS", *WRENCH)
"""One entry a link; that of link 0 comes first when the base is floating or mobile."""
JOINT_KEYS = ("eta", "k", "QP", "QDP", "GAM")
"""One entry a joint."""
BASE_KEYS = {"W0": 3, "WP0": 3, "V0": 3, "VP0": 3, "G": 3, "Z": 16}
"""Of the base, with their lengths."""
IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
"""The rotation of a base that Z does not turn."""

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
    entries: dict[str, Entry] = {}
    for key, value in _statements(source, tokens):
        entry = _entry(source, key, value)
        if entry is None:
            continue
        if entry.key in entries:
            first = source.at(entries[entry.key].place)
            source.fault(f"'{key.text}' is given twice", key.place, expected="one", got=f"another at {first}")
        entries.setdefault(entry.key, entry)
    return Entries(source, entries, names[0][:200] if names and names[0] else None)


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


# -- agreed lengths ----------------------------------------------------------------------------------------------------
_NEEDED = ("ant", "sigma", "d", "r", "alpha", "theta")
_NAMES_ONLY = ("QP", "QDP")
_STRUCTURES = ("simple (0)", "tree (1)", "closed (2)")


@dataclass
class ParFile:
    """The vectors of a file with agreed lengths, numbered as the file numbers them; zero where a file says nothing."""

    entries: Entries
    links: int
    joints: int
    frames: int
    flags: frozenset[str] = frozenset()
    notes: list[str] = field(default_factory=list)
    contradicts: str | None = None
    """What the header says, where the frames say something else and are followed."""

    @property
    def source(self) -> Source:
        return self.entries.source

    @property
    def has_link_0(self) -> bool:
        """Whether vectors of links begin with the base."""
        return bool(self.flags)

    @property
    def loops(self) -> int:
        return self.joints - self.links

    def value(self, key: str, number: int) -> Value:
        """An entry of a vector, counted from 1 (from 0 in vectors of links that begin with the base)."""
        values = self.entries.values(key)
        k = number if self.has_link_0 and key in LINK_KEYS else number - 1
        place = self.entries.place(key)
        return values[k] if 0 <= k < len(values) else Value((Token(Kind.NUMBER, "0", place),), place)

    def whole(self, key: str, number: int, allowed: range) -> int:
        """An entry that must be one of some integers."""
        value = self.value(key, number)
        whole = value.whole
        if whole is not None and whole in allowed:
            return whole
        expected = f"an integer from {allowed.start} to {allowed.stop - 1}"
        path = f"{key}[{number}]"
        self.source.fault("a value that means nothing here", value.place, path, expected=expected, got=str(value)[:60])
        return allowed.start

    def has_inertia(self, number: int) -> bool:
        return number <= self.links and any(not self.value(key, number).is_zero for key in INERTIA)


def measure(entries: Entries) -> ParFile:
    """The sizes a file means; header and vectors that contradict each other are reported.

    Vectors that agree with each other win over the header, with a note; where that leaves a choice, it is a fault.
    """
    source, notes = entries.source, list[str]()
    header = {key: _count(entries, key) for key in COUNTS}
    for key in _NEEDED:
        if key not in entries.found:
            source.fault(f"the vector '{key}' is missing", 0)
    source.stop_if_faulty()
    frames = len(entries.values("ant"))
    links, joints = _links_and_joints(entries, header, frames, notes)
    flags = frozenset(key for key in FLAGS if _flag(entries, key))
    is_followed = header["NL"] in (None, links) and header["NJ"] in (None, joints)
    par = ParFile(entries, links, joints, frames, flags, notes, None if is_followed else _said(header))
    _check_lengths(par)
    source.stop_if_faulty()
    _check_structure(par, header["Type"])
    _note_absent(par)
    return par


def _count(entries: Entries, key: str) -> int | None:
    if key not in entries.found:
        return None
    value = entries.values(key)[0]
    top = len(_STRUCTURES) - 1 if key == "Type" else 2000
    if value.whole is None or not 0 <= value.whole <= top:
        expected = f"an integer from 0 to {top}"
        entries.source.fault(f"'{key}' has a wrong value", value.place, expected=expected, got=str(value)[:60])
        return None
    return value.whole


def _flag(entries: Entries, key: str) -> bool:
    if key not in entries.found:
        return False
    value = entries.values(key)[0]
    text = str(value).lower()
    if text not in ("0", "1", "true", "false"):
        entries.source.fault(f"'{key}' has a wrong value", value.place, expected="0, 1, True or False", got=text[:60])
    return text in ("1", "true")


def _links_and_joints(
    entries: Entries, header: dict[str, int | None], frames: int, notes: list[str]
) -> tuple[int, int]:
    """NL and NJ; NF is what the vectors of frames hold."""
    NL, NJ, NF = header["NL"], header["NJ"], header["NF"]
    said = _said(header)
    if NL is None and NJ is None:
        notes.append(f"the header does not give NL and NJ; the {frames} frames are read as a tree")
        return frames, frames
    if NJ is None or NL is None:
        NJ = NJ if NJ is not None else (frames + (NL or 0)) // 2
        NL = NL if NL is not None else 2 * NJ - frames
        notes.append(f"the header says only {said}; with {frames} frames that means NL = {NL}, NJ = {NJ}")
    if frames == 2 * NJ - NL and 0 <= NL <= NJ:
        if NF is not None and frames != NF:
            notes.append(f"the header says NF = {NF}, but lists 2 NJ - NL = {frames} frames")
        return NL, NJ
    if NL == NJ:
        notes.append(f"the header says {said}, but the vectors list {frames} frames; read as a tree of {frames}")
        return frames, frames
    entries.source.fault(
        "the counts contradict the vectors",
        entries.place("NL"),
        expected=f"2 NJ - NL = {frames}, the number of frames listed in 'ant', and NL <= NJ",
        got=said,
        remedy="each loop adds one cut joint and two frames: NJ = NL + loops, NF = NJ + loops",
    )
    return frames, frames


def _said(header: dict[str, int | None]) -> str:
    return ", ".join(f"{key} = {header[key]}" for key in ("NL", "NJ", "NF") if header[key] is not None)


def _check_lengths(par: ParFile) -> None:
    entries = par.entries
    links, joints, frames = par.links, par.joints, par.frames
    allowed: dict[str, set[int]] = {key: {frames} for key in FRAME_KEYS}
    allowed |= {key: {links + 1} if par.has_link_0 else {links, joints, frames} for key in LINK_KEYS}
    allowed |= {key: {joints, frames} for key in JOINT_KEYS}
    allowed |= {key: {length} for key, length in BASE_KEYS.items()}
    wrong: dict[tuple[int, str], list[str]] = {}
    for key, entry in entries.found.items():
        lengths = allowed.get(key)
        if lengths is None or len(entry.values) in lengths:
            continue
        expected = " or ".join(str(n) for n in sorted(lengths))
        if key in _NAMES_ONLY:
            par.notes.append(f"{key} has {len(entry.values)} entries instead of {expected}; it only holds names")
        else:
            wrong.setdefault((len(entry.values), expected), []).append(key)
    if wrong and par.contradicts is not None:
        _fault_of_header(par, wrong)
        return
    for (got, expected), keys in wrong.items():
        remedy = "link 0, the base, comes first" if par.has_link_0 and keys[0] in LINK_KEYS else None
        what = f"the vector '{keys[0]}' has" if len(keys) == 1 else f"the vectors {', '.join(keys)} have"
        place = entries.place(keys[0])
        par.source.fault(f"{what} a wrong length", place, expected=f"{expected} entries", got=str(got), remedy=remedy)


def _fault_of_header(par: ParFile, wrong: dict[tuple[int, str], list[str]]) -> None:
    """One fault where the header and the vectors cannot be reconciled."""
    entries = par.entries
    of_frames = [key for key in FRAME_KEYS if len(entries.values(key)) == par.frames]
    parts = [f"{par.frames} entries in {', '.join(of_frames)}"]
    parts += [f"{got} in {', '.join(keys)}" for (got, _), keys in wrong.items()]
    place = next((entries.place(key) for key in ("NF", "NJ", "NL") if key in entries.found), 0)
    par.source.fault(
        "the header contradicts the vectors, and they contradict each other",
        place,
        expected=f"vectors as the header says: {par.contradicts}",
        got="; ".join(parts),
        remedy="correct the header, or the vectors whose length differs",
    )


def _check_structure(par: ParFile, structure: int | None) -> None:
    """Whether the header's type is what the frames say; the frames win."""
    chain = all(par.value("ant", j).whole == j - 1 for j in range(1, par.frames + 1))
    expected = 2 if par.loops else 0 if chain else 1
    fits = structure is None or structure == expected or (structure == 1 and expected == 0)
    if not fits:
        says, is_ = _STRUCTURES[structure or 0], _STRUCTURES[expected]
        par.notes.append(f"the header says Type {says}, the frames say {is_}; the frames are followed")


def _note_absent(par: ParFile) -> None:
    absent = [key for key in (*FRAME_KEYS, *LINK_KEYS) if key not in par.entries.found]
    if absent:
        par.notes.append(f"absent, read as zero: {', '.join(absent)}")
