"""How many links, joints and frames a .par file has, and its vectors by number.

A file with B loops numbers its frames so: 1..NL the tree, one a link; NL+1..NJ the cut joints, k = NL+b placed on the
first of the two links it ties; NJ+1..NF, k+B the same frame placed on the other link. NJ = NL + B and NF = NJ + B.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from torseur.formats.expressions import Kind, Source, Token, Value
from torseur.formats.symoro.text import BASE_KEYS, COUNTS, FLAGS, FRAME_KEYS, INERTIA, JOINT_KEYS, LINK_KEYS, Entries

__all__ = ["Sheet", "measure"]

_NEEDED = ("ant", "sigma", "d", "r", "alpha", "theta")
_NAMES_ONLY = ("QP", "QDP")
_STRUCTURES = ("simple (0)", "tree (1)", "closed (2)")


@dataclass
class Sheet:
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


def measure(entries: Entries) -> Sheet:
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
    sheet = Sheet(entries, links, joints, frames, flags, notes, None if is_followed else _said(header))
    _check_lengths(sheet)
    source.stop_if_faulty()
    _check_structure(sheet, header["Type"])
    _note_absent(sheet)
    return sheet


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


def _check_lengths(sheet: Sheet) -> None:
    entries = sheet.entries
    links, joints, frames = sheet.links, sheet.joints, sheet.frames
    allowed: dict[str, set[int]] = {key: {frames} for key in FRAME_KEYS}
    allowed |= {key: {links + 1} if sheet.has_link_0 else {links, joints, frames} for key in LINK_KEYS}
    allowed |= {key: {joints, frames} for key in JOINT_KEYS}
    allowed |= {key: {length} for key, length in BASE_KEYS.items()}
    wrong: dict[tuple[int, str], list[str]] = {}
    for key, entry in entries.found.items():
        lengths = allowed.get(key)
        if lengths is None or len(entry.values) in lengths:
            continue
        expected = " or ".join(str(n) for n in sorted(lengths))
        if key in _NAMES_ONLY:
            sheet.notes.append(f"{key} has {len(entry.values)} entries instead of {expected}; it only holds names")
        else:
            wrong.setdefault((len(entry.values), expected), []).append(key)
    if wrong and sheet.contradicts is not None:
        _fault_of_header(sheet, wrong)
        return
    for (got, expected), keys in wrong.items():
        remedy = "link 0, the base, comes first" if sheet.has_link_0 and keys[0] in LINK_KEYS else None
        what = f"the vector '{keys[0]}' has" if len(keys) == 1 else f"the vectors {', '.join(keys)} have"
        place = entries.place(keys[0])
        sheet.source.fault(f"{what} a wrong length", place, expected=f"{expected} entries", got=str(got), remedy=remedy)


def _fault_of_header(sheet: Sheet, wrong: dict[tuple[int, str], list[str]]) -> None:
    """One fault where the header and the vectors cannot be reconciled."""
    entries = sheet.entries
    of_frames = [key for key in FRAME_KEYS if len(entries.values(key)) == sheet.frames]
    parts = [f"{sheet.frames} entries in {', '.join(of_frames)}"]
    parts += [f"{got} in {', '.join(keys)}" for (got, _), keys in wrong.items()]
    place = next((entries.place(key) for key in ("NF", "NJ", "NL") if key in entries.found), 0)
    sheet.source.fault(
        "the header contradicts the vectors, and they contradict each other",
        place,
        expected=f"vectors as the header says: {sheet.contradicts}",
        got="; ".join(parts),
        remedy="correct the header, or the vectors whose length differs",
    )


def _check_structure(sheet: Sheet, structure: int | None) -> None:
    """Whether the header's type is what the frames say; the frames win."""
    chain = all(sheet.value("ant", j).whole == j - 1 for j in range(1, sheet.frames + 1))
    found = 2 if sheet.loops else 0 if chain else 1
    fits = structure is None or structure == found or (structure == 1 and found == 0)
    if not fits:
        says, is_ = _STRUCTURES[structure or 0], _STRUCTURES[found]
        sheet.notes.append(f"the header says Type {says}, the frames say {is_}; the frames are followed")


def _note_absent(sheet: Sheet) -> None:
    absent = [key for key in (*FRAME_KEYS, *LINK_KEYS) if key not in sheet.entries.found]
    if absent:
        sheet.notes.append(f"absent, read as zero: {', '.join(absent)}")
