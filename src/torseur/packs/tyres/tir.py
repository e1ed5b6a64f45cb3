"""Tyre property files (.tir): read, never evaluated; all faults at once, each with file:line:column.

::

    [SECTION]
    NAME = number or 'text'    $ comment
    ! comment

FITTYP says the version: 6 or 21 is MF 5.2, 61 and 62 are MF 6.1. TYRESIDE is the side of the measurement. Units other
than SI are refused. What a law does not use (structure, turn slip, inertia of the tyre) is left out; what nobody knows
is a fault among the coefficients, or where it looks like a misspelt name, and a note elsewhere.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from torseur.describe.faults import nearest, shown
from torseur.errors import ArgumentError
from torseur.formats.expressions import Source
from torseur.formats.files import contents
from torseur.packs.tyres.magic_formula import MagicFormula
from torseur.packs.tyres.magic_formula_versions import MagicFormula52, MagicFormula61

__all__ = [
    "OTHER_NAMES",
    "POSITIVE",
    "RANGES",
    "SECTION_OF",
    "SI",
    "UNIT_SECTION",
    "TyreFile",
    "is_scale",
    "load_tir",
    "read_tir",
]


UNIT_SECTION = "UNITS"

SI: dict[str, tuple[str, ...]] = {
    "LENGTH": ("meter", "metre", "meters", "metres", "m"),
    "FORCE": ("newton", "newtons", "n"),
    "ANGLE": ("radians", "radian", "rad"),
    "MASS": ("kg", "kilogram", "kilograms"),
    "TIME": ("second", "seconds", "sec", "s"),
    "PRESSURE": ("pascal", "pa"),
}
"""What units are called that need no conversion."""

POSITIVE = ("UNLOADED_RADIUS", "FNOMIN", "LONGVL", "VXLOW", "VERTICAL_STIFFNESS", "NOMPRES", "PCX1", "PCY1", "PKX1")
"""What must be more than zero."""

RANGES = (
    ("KPUMIN", "KPUMAX"),
    ("ALPMIN", "ALPMAX"),
    ("CAMMIN", "CAMMAX"),
    ("FZMIN", "FZMAX"),
    ("PRESMIN", "PRESMAX"),
)

SECTION_OF = {
    "FITTYP": "MODEL",
    "LONGVL": "MODEL",
    "UNLOADED_RADIUS": "DIMENSION",
    "FNOMIN": "VERTICAL",
    "PCX1": "LONGITUDINAL_COEFFICIENTS",
    "PDX1": "LONGITUDINAL_COEFFICIENTS",
    "PKX1": "LONGITUDINAL_COEFFICIENTS",
    "PCY1": "LATERAL_COEFFICIENTS",
    "PDY1": "LATERAL_COEFFICIENTS",
    "PKY1": "LATERAL_COEFFICIENTS",
    "PKY2": "LATERAL_COEFFICIENTS",
}
"""Where the names stand that no law can do without."""


def is_scale(name: str) -> bool:
    """Whether a name is a scaling factor: LMUX and its like."""
    return name.startswith("L") and name not in ("LONGVL", "LONGITUDINAL_STIFFNESS", "LATERAL_STIFFNESS")


_OTHER = """
FILE_TYPE FILE_VERSION FILE_FORMAT FILE_NAME TIRE_VERSION COMPATIBILITY COMMENT
PROPERTY_FILE_FORMAT FUNCTION_NAME USER_SUB_ID N_TIRE_STATES FITTYP USE_MODE TYPE TYRESIDE MFSAFE1 MFSAFE2 MFSAFE3
ROAD_INCREMENT ROAD_DIRECTION HMAX_LOCAL TIME_SWITCH_INTEG SWITCH_INTEG SAG VENDER_TIRE_TYPE CONTACT_MODEL
WIDTH ASPECT_RATIO RIM_RADIUS RIM_WIDTH
MASS IXX IYY BELT_MASS BELT_IXX BELT_IYY GRAVITY M_A I_AY I_AXZ M_B I_BY I_BXZ M_R I_RY I_RXZ
Q_A1 Q_A2 Q_CAM Q_CAM1 Q_CAM2 Q_CAM3 Q_FYS1 Q_FYS2 Q_FYS3 Q_FZ3 Q_FCX Q_FCY Q_FCY2
MC_CONTOUR_A MC_CONTOUR_B BOTTOM_OFFST BOTTOM_STIFF BOTTOM_TRNSF
YAW_STIFFNESS FREQ_LONG FREQ_LAT FREQ_YAW FREQ_WINDUP
DAMP_LONG DAMP_LAT DAMP_YAW DAMP_WINDUP DAMP_RESIDUAL DAMP_VLOW Q_BVX Q_BVT PCMZ1
Q_RA1 Q_RA2 Q_RB1 Q_RB2 ELLIPS_SHIFT ELLIPS_LENGTH ELLIPS_HEIGHT ELLIPS_ORDER ELLIPS_MAX_STEP ELLIPS_NWIDTH
ELLIPS_NLENGTH ELLIPS_INC ENV_C1 ENV_C2
LMP LGYR LKC LCZ LMPHI LSGP LRELAX
PDXP1 PDXP2 PDXP3 PKYP1 PDYP1 PDYP2 PDYP3 PDYP4 PHYP1 PHYP2 PHYP3 PHYP4 PECP1 PECP2
QDTP1 QCRP1 QCRP2 QBRP1 QDRP1 QDRP2 QTZ1 MBELT
"""

OTHER_NAMES = frozenset(_OTHER.split())
"""Known to other programs and not used by these laws: rigid rings, turn slip, uneven roads, motorcycles."""


VERSIONS: Mapping[int, type[MagicFormula]] = {
    6: MagicFormula52,
    21: MagicFormula52,
    61: MagicFormula61,
    62: MagicFormula61,
}
SIDES = ("left", "right", "symmetric")
LONGEST_LINE = 2000
MOST_ENTRIES = 5000
LARGEST = 1e100
PRESSURES = 10.0
"""Times the nominal pressure, or a part of it, that no tyre has: the unit is another."""
MISSPELT = 0.85
"""How much an unknown name looks like a known one, beside the coefficients, to be a fault."""

_SECTION = re.compile(r"\[\s*([A-Za-z0-9_ ]+?)\s*\]")
_ENTRY = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*)\s*=\s*(.*)")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eEdD][+-]?[0-9]+)?")


@dataclass(frozen=True)
class TyreFile:
    """What a property file gives."""

    law: MagicFormula
    notes: tuple[str, ...]
    """What was left out, or taken at its default, in words."""


@dataclass(frozen=True)
class Entry:
    """A line ``NAME = value``: the value is a number, a text, or nothing."""

    section: str
    name: str
    value: float | str | None
    place: int
    value_place: int


def load_tir(path: str | PathLike[str], *, mounted: str | None = None) -> TyreFile:
    """The tyre of a property file.

    Args:
        path: the file.
        mounted: "left" or "right", the side on which the tyre is used; by default that of the measurement.
    """
    file = Path(path)
    return read_tir(contents(file), str(file), mounted=mounted)


def read_tir(text: str | bytes, where: str = "text", *, mounted: str | None = None) -> TyreFile:
    """The tyre of the contents of a property file; `where` is its name, for messages."""
    if mounted not in (None, "left", "right"):
        raise ArgumentError("no side of a car", where="mounted", expected="'left' or 'right'", got=shown(mounted))
    source = Source(text, where)
    headers: dict[str, int] = {}
    entries = _unique(source, _entries(source, headers))
    _check_units(source, entries)
    version = _version(source, entries)
    if version is None:
        source.stop_if_faulty()
    assert version is not None  # or there was a fault
    notes: list[str] = []
    given = _coefficients(source, version, entries, notes)
    _check_values(source, entries, given)
    if not any(is_unit for is_unit, _ in entries):
        notes.append("no [UNITS] are given: all is taken as SI")
    _missing(source, version, entries, given, headers, notes)
    side = _side(source, entries)
    source.stop_if_faulty()
    law = version.model_validate({**given, "side": side, "mounted": mounted})
    return TyreFile(law, tuple(notes))


# -- lines -------------------------------------------------------------------------------------------------------------
def _entries(source: Source, headers: dict[str, int]) -> Iterator[Entry]:
    """The entries in order. Rows of numbers, headings in braces and subsections in parentheses are passed over."""
    section, place, count = "", 0, 0
    free = False
    for line in source.text.split("\n"):
        start = place + len(line) - len(line.lstrip())
        place += len(line) + 1
        text = _without_comment(line[:LONGEST_LINE]).strip()
        if not text:
            continue
        if len(line) > LONGEST_LINE:
            source.fault("a line is too long", start, expected=f"at most {LONGEST_LINE} characters")
            continue
        if text[0] == "[":
            section, free = _header(source, text, start), False
            headers.setdefault(section, start)
        elif text[0] in "({":
            free = True
        elif (match := _ENTRY.fullmatch(text)) is not None:
            count += 1
            if count > MOST_ENTRIES:
                source.fault("too many entries", start, expected=f"at most {MOST_ENTRIES}")
                source.stop_if_faulty()
            yield _entry(source, section, match, start)
        elif not free:
            source.fault("not an entry", start, section, expected="NAME = value", got=shown(text))


def _without_comment(line: str) -> str:
    """A line up to its first $ or ! outside of quotes."""
    quote = ""
    for k, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"" and character in line[k + 1 :]:
            quote = character
        elif character in "$!":
            return line[:k]
    return line


def _header(source: Source, text: str, place: int) -> str:
    match = _SECTION.fullmatch(text)
    if match is None:
        source.fault("not a section", place, expected="[NAME]", got=shown(text))
        return ""
    return match[1].upper()


def _entry(source: Source, section: str, match: re.Match[str], start: int) -> Entry:
    name, text, place = match[1].upper(), match[2].strip(), start + match.start(2)
    value: float | str | None
    if not text:
        value = None
    elif len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        value = text[1:-1].strip()
    elif _NUMBER.fullmatch(text):
        value = float(text.replace("d", "e").replace("D", "e"))
        if not abs(value) <= LARGEST:
            source.fault("a number out of range", place, name, expected="less than 1e100", got=shown(text))
            value = 0.0
    else:
        value = text
    return Entry(section, name, value, start, place)


def _unique(source: Source, entries: Iterator[Entry]) -> dict[tuple[bool, str], Entry]:
    """Entries by name, those of the units apart; a name that stands twice with two values is a fault."""
    found: dict[tuple[bool, str], Entry] = {}
    for entry in entries:
        key = entry.section == UNIT_SECTION, entry.name
        first = found.setdefault(key, entry)
        if first is not entry and first.value != entry.value:
            got = f"another at {source.at(first.place)}"
            source.fault(f"'{entry.name}' is given twice", entry.place, entry.section, expected="one", got=got)
    return found


# -- meaning -----------------------------------------------------------------------------------------------------------
def _check_units(source: Source, entries: Mapping[tuple[bool, str], Entry]) -> None:
    for (is_unit, name), entry in entries.items():
        if not is_unit:
            continue
        if name not in SI:
            near = nearest(name, SI)
            source.fault(f"no unit of '{name}'", entry.place, UNIT_SECTION, remedy=near and f"did you mean {near}?")
        elif str(entry.value).lower() not in SI[name]:
            remedy = "write the file in SI units; coefficients of the Magic Formula have no other"
            expected = " or ".join(f"'{word}'" for word in SI[name])
            source.fault(
                f"the unit of {name} is not SI",
                entry.value_place,
                UNIT_SECTION,
                expected=expected,
                got=shown(entry.value),
                remedy=remedy,
            )


def _version(source: Source, entries: Mapping[tuple[bool, str], Entry]) -> type[MagicFormula] | None:
    entry, expected = entries.get((False, "FITTYP")), "6 or 21 (MF 5.2), 61 or 62 (MF 6.1)"
    if entry is None:
        source.fault("FITTYP is missing: the version of the Magic Formula", 0, "MODEL", expected=expected)
        return None
    if isinstance(entry.value, float) and entry.value in VERSIONS:
        return VERSIONS[int(entry.value)]
    what = "no version of the Magic Formula that is known"
    source.fault(what, entry.value_place, "FITTYP", expected=expected, got=shown(entry.value))
    return None


def _side(source: Source, entries: Mapping[tuple[bool, str], Entry]) -> str:
    entry = entries.get((False, "TYRESIDE"))
    if entry is None:
        return "left"
    word = str(entry.value).lower()
    if word not in SIDES:
        got = shown(entry.value)
        source.fault("no side of a car", entry.value_place, "TYRESIDE", expected="LEFT, RIGHT or SYMMETRIC", got=got)
    return word


def _coefficients(
    source: Source, version: type[MagicFormula], entries: Mapping[tuple[bool, str], Entry], notes: list[str]
) -> dict[str, Any]:
    """The numbers the law knows; the other names are looked at."""
    fields = {name for name in version.model_fields if name.isupper()}
    others = {name for law in VERSIONS.values() for name in law.model_fields if name.isupper()} - fields
    given: dict[str, Any] = {}
    left_out: list[str] = []
    for (is_unit, name), entry in entries.items():
        if is_unit or name in OTHER_NAMES:
            continue
        if name in fields:
            if isinstance(entry.value, float):
                given[name] = entry.value
            else:
                got = "nothing" if entry.value is None else shown(entry.value)
                source.fault("not a number", entry.value_place, name, expected="a number", got=got)
        elif name in others:
            left_out.append(name)
        else:
            _unknown(source, entry, fields - {name for _, name in entries}, notes)
    if left_out:
        notes.append(f"coefficients of another version of the Magic Formula are left out: {', '.join(left_out)}")
    return given


def _unknown(source: Source, entry: Entry, fields: set[str], notes: list[str]) -> None:
    needed = sorted(name for name in fields if name in SECTION_OF)
    close = [x for x in (nearest(entry.name, needed), nearest(entry.name, sorted(fields))) if x is not None]
    alike = {x: difflib.SequenceMatcher(None, entry.name, x).ratio() for x in close}
    near = max(alike, key=lambda x: alike[x], default=None)  # of two alike, what is missing
    misspelt = near is not None and alike[near] >= MISSPELT
    if not misspelt and not entry.section.endswith("_COEFFICIENTS"):
        notes.append(f"{source.at(entry.place)}: '{entry.name}' of [{entry.section}] is not known and is left out")
        return
    remedy = f"did you mean {near}?" if near else "take it out, or make it a comment"
    source.fault(f"no coefficient is called '{entry.name[:40]}'", entry.place, entry.section, remedy=remedy)


def _check_values(source: Source, entries: Mapping[tuple[bool, str], Entry], given: Mapping[str, float]) -> None:
    def fault(name: str, expected: str) -> None:
        source.fault(
            "a value out of range",
            entries[False, name].value_place,
            name,
            expected=expected,
            got=shown(given[name]),
        )

    for name in POSITIVE:
        if name in given and not given[name] > 0.0:
            fault(name, "more than 0")
    for name in given:
        if is_scale(name) and given[name] < 0.0:
            fault(name, "at least 0")
    if given.get("PKY2") == 0.0:  # a divisor
        fault("PKY2", "other than 0")
    if "FZMAX" in given and given["FZMAX"] < given.get("FNOMIN", 0.0):
        fault("FZMAX", f"at least FNOMIN = {given['FNOMIN']:g}")
    pressure, nominal = (given.get(name, 0.0) for name in ("INFLPRES", "NOMPRES"))
    if nominal > 0.0 and "INFLPRES" in given and not nominal / PRESSURES <= pressure <= nominal * PRESSURES:
        fault("INFLPRES", f"in pascals, about NOMPRES = {nominal:g}")
    for low, high in RANGES:
        if low in given and high in given and not given[low] < given[high]:
            fault(high, f"more than {low} = {given[low]:g}")


def _missing(
    source: Source,
    version: type[MagicFormula],
    entries: Mapping[tuple[bool, str], Entry],
    given: Mapping[str, float],
    headers: Mapping[str, int],
    notes: list[str],
) -> None:
    """What a law cannot do without; the rest has a default, which is told."""
    defaults = []
    for name, field in version.model_fields.items():
        if not name.isupper() or name in given or (False, name) in entries:
            continue
        section = SECTION_OF.get(name, "")
        if field.is_required():
            what = f"{name} is missing: {field.description}"
            source.fault(what, headers.get(section, 0), section, expected=f"{name} = number, in [{section}]")
        elif not is_scale(name):
            defaults.append(name)
    pressed = [name for name in given if name.startswith("PP") and given[name] != 0.0]
    if pressed and "NOMPRES" not in given and "NOMPRES" in version.model_fields:
        place = entries[False, pressed[0]].place
        what = "NOMPRES is missing, which coefficients of pressure refer to"
        source.fault(what, place, pressed[0], expected="NOMPRES = number, in [OPERATING_CONDITIONS]")
    if defaults:
        notes.append(f"not given, and without effect: {', '.join(defaults)}")
