"""Reading .par files."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from torseur.describe.bodies import BASE, Base, Body, Coordinate, Frame, Joint
from torseur.describe.constraints import Loop
from torseur.describe.fields import FrozenDict
from torseur.describe.inertia import StandardInertia
from torseur.describe.mechanism import Mechanism
from torseur.describe.place import Mdh, Place
from torseur.errors import ModelError
from torseur.formats.expressions import Source, legal_name
from torseur.formats.symoro.base import base_motion, read_gravity, read_place
from torseur.formats.symoro.loads import read_loads
from torseur.formats.symoro.rows import Role, Row, read_rows
from torseur.formats.symoro.sheet import Sheet, measure
from torseur.formats.symoro.symbols import Symbols
from torseur.formats.symoro.text import INERTIA, parse

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
    base = base_motion(sheet)
    symbols = Symbols(sheet.source, _coordinates(rows), _base_names(base, rows), sheet.notes)
    inertia = _inertia(sheet, 0, symbols) if sheet.has_link_0 else None
    bodies, frames = _bodies(sheet, rows, symbols)
    place = read_place(sheet, symbols)
    gravity = read_gravity(sheet, symbols, base, place)
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
