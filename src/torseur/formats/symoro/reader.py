"""Reading .par files: bodies, frames and loops, and the base: how it moves, where it is, and gravity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from torseur.describe.bodies import BASE, Base, BaseKind, Body, Coordinate, Frame, Joint
from torseur.describe.constraints import Loop
from torseur.describe.fields import FrozenDict, Scalar, Triple
from torseur.describe.formulas import Formula
from torseur.describe.inertia import StandardInertia
from torseur.describe.mechanism import Mechanism
from torseur.describe.place import Mdh, Place, RigidPose
from torseur.errors import ModelError
from torseur.formats.expressions import Source, turned
from torseur.formats.names import legal_name
from torseur.formats.symoro.loads import read_loads
from torseur.formats.symoro.rows import Role, Row, Symbols, read_rows
from torseur.formats.symoro.sheet import IDENTITY, INERTIA, Sheet, measure, parse

__all__ = ["read_par"]

_LENGTHS = ("b", "d", "r")


def read_par(text: str | bytes, name: str, where: str = "text") -> Mechanism:
    """The mechanism of a SYMORO+ or OpenSYMORO file.

    Args:
        text: the contents of the file, UTF-8 or latin-1 if they are bytes.
        name: what to call the mechanism.
        where: the name of the file, for messages.
    """
    source = Source(text, where)
    entries = parse(source)
    source.stop_if_faulty()
    sheet = measure(entries)
    rows = read_rows(sheet)
    try:
        mechanism = _assemble(sheet, rows, legal_name(name))
    except ValidationError as error:
        source.stop_if_faulty()
        raise ModelError("the file cannot be described", where=where, got=str(error)) from error
    source.stop_if_faulty()
    return mechanism


def _assemble(sheet: Sheet, rows: dict[int, Row], name: str) -> Mechanism:
    base = _base_motion(sheet)
    symbols = Symbols(sheet.source, _coordinates(rows), _base_names(base, rows), sheet.notes)
    inertia = _inertia(sheet, 0, symbols) if sheet.has_link_0 else None
    bodies, frames = _bodies(sheet, rows, symbols)
    place = _read_place(sheet, symbols)
    gravity = _read_gravity(sheet, symbols, base, place)
    loads = read_loads(sheet, rows, symbols)
    content: dict[str, Any] = {
        "name": name,
        "title": sheet.entries.robot,
        "parameters": symbols.parameters,
        "gravity": gravity,
        "base": base.model_copy(update={"place": place, "inertia": inertia, "frames": FrozenDict(frames[0])}),
        "bodies": bodies,
        "loops": _loops(sheet, rows),
        "loads": loads,
        "inputs": symbols.inputs,
        "notes": tuple(sheet.notes),
    }
    return Mechanism.model_validate(content)


def _coordinates(rows: dict[int, Row]) -> list[str]:
    return [row.coordinate for row in rows.values() if row.coordinate is not None and row.role is Role.BODY]


def _base_names(base: Base, rows: dict[int, Row]) -> list[str]:
    """Names that mean something already: coordinates and speeds of the base, rates of the coordinates."""
    speeds = [info.suffix for info in base.joint_kind.speeds]
    return [*base.default_names, *speeds, *(f"d{name}" for name in _coordinates(rows))]


def _place(row: Row, symbols: Symbols) -> Place:
    read = {
        key: symbols.place(value, f"{key}[{row.number}]", "m" if key in _LENGTHS else "rad")
        for key, value in row.place.items()
    }
    return Place(mdh=Mdh(**read)) if any(x != 0.0 for x in read.values()) else Place()


def _bodies(
    sheet: Sheet, rows: dict[int, Row], symbols: Symbols
) -> tuple[dict[str, Body], dict[int, dict[str, Frame]]]:
    """The bodies, and the named frames on each body by its number; those on the base have the number 0."""
    places, inertias = {}, {}
    for j, row in rows.items():
        places[j], inertias[j] = _place(row, symbols), _inertia(sheet, j, symbols)
    frames: dict[int, dict[str, Frame]] = {j: {} for j in [0, *rows]}
    for j, row in rows.items():
        if row.role is not Role.BODY:
            frames[row.parent][row.name] = Frame(place=places[j])
    bodies = {}
    for j, row in rows.items():
        if row.role is Role.BODY:
            parent = rows[row.parent].name if row.parent else BASE
            coordinates = {row.coordinate: Coordinate()} if row.coordinate is not None else {}
            joint = Joint(kind=row.kind, coordinates=coordinates)
            bodies[row.name] = Body(
                parent=parent, place=places[j], joint=joint, inertia=inertias[j], frames=FrozenDict(frames[j])
            )
    return bodies, frames


def _inertia(sheet: Sheet, number: int, symbols: Symbols) -> StandardInertia | None:
    if not sheet.has_inertia(number):
        return None
    units = {"M": "kg", "MX": "kg m", "MY": "kg m", "MZ": "kg m"}
    read = {
        key: symbols.parameter(sheet.value(key, number), f"{key}[{number}]", units.get(key, "kg m2")) for key in INERTIA
    }
    return StandardInertia(**read)


def _loops(sheet: Sheet, rows: dict[int, Row]) -> dict[str, Loop]:
    """Cut joint k ties frame k, on the one body, to frame k + B, on the other."""
    cut = [row for row in rows.values() if row.role is Role.CUT]
    ends = [(row.name, rows[row.number + sheet.loops].name) for row in cut]
    return {f"loop{row.number}": Loop(joint=row.kind, between=between) for row, between in zip(cut, ends, strict=True)}


# -- the base ----------------------------------------------------------------------------------------------------------
EARTH: Triple = (0.0, 0.0, -9.81)
"""Gravity in the world, z up, where a file gives it in the axes of a moving base."""

_MOTION = {"V0": "v", "VP0": "v", "W0": "w", "WP0": "w"}
_PLANAR = ("vx", "vy", "wz")
_ALL = ("vx", "vy", "vz", "wx", "wy", "wz")


def _base_motion(sheet: Sheet) -> Base:
    """What moves: symbols in V0, W0 and their derivatives mean freedom, zeros none, and numbers cannot be described."""
    free = set()
    for key, letter in _MOTION.items():
        for k, (axis, value) in enumerate(zip("xyz", sheet.entries.values(key), strict=False), 1):
            if value.names:
                free.add(f"{letter}{axis}")
            elif not value.is_zero:
                sheet.source.fault(
                    "the base has a given motion",
                    value.place,
                    f"{key}[{k}]",
                    expected="0, or a symbol for a base that is free to move",
                    got=str(value)[:60],
                    remedy="put a steady acceleration into G; describe a given motion in YAML, as a moving base",
                )
    flags = sheet.flags
    if not free and not flags:
        return Base()
    if free and free <= set(_PLANAR) and "is_floating" not in flags:
        _note_still(sheet, free, _PLANAR)
        return Base(kind=BaseKind.PLANAR)
    if free:
        _note_still(sheet, free, _ALL)
    return Base(kind=BaseKind.FLOATING, orientation="quaternion" if "is_floating" in flags else "rpy")


def _note_still(sheet: Sheet, free: set[str], expected: Sequence[str]) -> None:
    still = [name for name in expected if name not in free]
    if still:
        given, also = ", ".join(sorted(free)), ", ".join(still)
        sheet.notes.append(f"V0 and W0 give a symbol to {given} only; the base is free along {also} too")


def _read_place(sheet: Sheet, symbols: Symbols) -> Place:
    """Where the base is: the matrix Z, by rows."""
    values = sheet.entries.values("Z")
    if not values:
        return Place()
    entries = [symbols.parameter(value, f"Z[{k}]") for k, value in enumerate(values, 1)]
    rows = [tuple(entries[k : k + 3]) for k in (0, 4, 8)]
    position = (entries[3], entries[7], entries[11])
    place = sheet.entries.place("Z")
    if entries[12:] != [0.0, 0.0, 0.0, 1.0]:
        got = ", ".join(str(x) for x in entries[12:])
        sheet.source.fault("the last row of Z is wrong", place, "Z", expected="0, 0, 0, 1", got=got)
    if not _is_rotation(entries):
        expected = "a 4x4 pose by rows, its rotation of unit rows at right angles"
        sheet.source.fault("Z does not hold a rotation", place, "Z", expected=expected)
    matrix = (rows[0], rows[1], rows[2])
    if matrix == IDENTITY:
        return Place(pose=RigidPose(position=position)) if any(x != 0.0 for x in position) else Place()
    return Place.model_validate({"pose": {"position": position, "matrix": matrix}})


def _is_rotation(entries: Sequence[Scalar]) -> bool:
    """Whether numbers are a rotation; formulas are taken on trust."""
    rows = [[x for x in entries[k : k + 3] if not isinstance(x, Formula)] for k in (0, 4, 8)]
    if any(len(row) != 3 for row in rows):
        return True
    (a, b, c), (d, e, f), (g, h, i) = rows
    if max(abs(x) for row in rows for x in row) > 2.0:
        return False
    pairs = [(m, n) for m in range(3) for n in range(3)]
    errors = [abs(sum(x * y for x, y in zip(rows[m], rows[n], strict=True)) - (m == n)) for m, n in pairs]
    determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    return max(errors) < 1e-6 and determinant > 0.0


def _read_gravity(sheet: Sheet, symbols: Symbols, base: Base, place: Place) -> Triple:
    """Gravity in the world.

    Components in the axes of a moving base, several symbols, tell nothing of the world: there it is the Earth's, z up.
    """
    values = sheet.entries.values("G")
    if not values:
        sheet.notes.append("G is absent; gravity is 9.81 m/s2 along -z")
        return EARTH
    if base.kind is not BaseKind.FIXED and sum(bool(value.names) for value in values) > 1:
        sheet.notes.append("G holds gravity in the axes of the moving base; in the world it is 9.81 m/s2 along -z")
        return EARTH
    x, y, z = (symbols.parameter(value, f"G[{k}]", "m/s2") for k, value in enumerate(values, 1))
    names = dict.fromkeys(name for value in values for name in value.names)
    if names:
        sheet.notes.append(f"gravity is made of {', '.join(names)}: give a value (negative on an axis that points up)")
    matrix = place.pose.matrix if place.pose is not None else None
    return turned(matrix, (x, y, z)) if matrix is not None else (x, y, z)
