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
from torseur.describe.loads import Effort, Load, SpringDamper, Transmission, Wrench
from torseur.describe.mechanism import Mechanism
from torseur.describe.place import Mdh, Place, RigidPose
from torseur.errors import ModelError
from torseur.formats.expressions import Source, Value, minus, turned
from torseur.formats.files import legal_name
from torseur.formats.symoro.par_file import IDENTITY, INERTIA, WRENCH, ParFile, measure, parse
from torseur.formats.symoro.rows import Role, Row, Symbols, read_rows

__all__ = ["read_par"]

_DRIVE = ("IA", "FV", "FS")
_UNITS = {
    "revolute": {"IA": "kg m2", "FV": "N m s/rad", "FS": "N m", "k": "N m/rad", "GAM": "N m"},
    "prismatic": {"IA": "kg", "FV": "N s/m", "FS": "N", "k": "N/m", "GAM": "N"},
}
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
    par = measure(entries)
    rows = read_rows(par)
    try:
        mechanism = _assemble(par, rows, legal_name(name))
    except ValidationError as error:
        source.stop_if_faulty()
        raise ModelError("the file cannot be described", where=where, got=str(error)) from error
    source.stop_if_faulty()
    return mechanism


def _assemble(par: ParFile, rows: dict[int, Row], name: str) -> Mechanism:
    base = _base_motion(par)
    symbols = Symbols(par.source, _coordinates(rows), _base_names(base, rows), par.notes)
    inertia = _inertia(par, 0, symbols) if par.has_link_0 else None
    bodies, frames = _bodies(par, rows, symbols)
    place = _read_place(par, symbols)
    gravity = _read_gravity(par, symbols, base, place)
    loads = _loads(par, rows, symbols)
    content: dict[str, Any] = {
        "name": name,
        "title": par.entries.robot,
        "parameters": symbols.parameters,
        "gravity": gravity,
        "base": base.model_copy(update={"place": place, "inertia": inertia, "frames": FrozenDict(frames[0])}),
        "bodies": bodies,
        "loops": _loops(par, rows),
        "loads": loads,
        "inputs": symbols.inputs,
        "notes": tuple(par.notes),
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
    par: ParFile, rows: dict[int, Row], symbols: Symbols
) -> tuple[dict[str, Body], dict[int, dict[str, Frame]]]:
    """The bodies, and the named frames on each body by its number; those on the base have the number 0."""
    places, inertias = {}, {}
    for j, row in rows.items():
        places[j], inertias[j] = _place(row, symbols), _inertia(par, j, symbols)
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


def _inertia(par: ParFile, number: int, symbols: Symbols) -> StandardInertia | None:
    if not par.has_inertia(number):
        return None
    units = {"M": "kg", "MX": "kg m", "MY": "kg m", "MZ": "kg m"}
    read = {
        key: symbols.parameter(par.value(key, number), f"{key}[{number}]", units.get(key, "kg m2")) for key in INERTIA
    }
    return StandardInertia(**read)


def _loops(par: ParFile, rows: dict[int, Row]) -> dict[str, Loop]:
    """Cut joint k ties frame k, on the one body, to frame k + B, on the other."""
    cut = [row for row in rows.values() if row.role is Role.CUT]
    ends = [(row.name, rows[row.number + par.loops].name) for row in cut]
    return {f"loop{row.number}": Loop(joint=row.kind, between=between) for row, between in zip(cut, ends, strict=True)}


# -- the base ----------------------------------------------------------------------------------------------------------
EARTH: Triple = (0.0, 0.0, -9.81)
"""Gravity in the world, z up, where a file gives it in the axes of a moving base."""

_MOTION = {"V0": "v", "VP0": "v", "W0": "w", "WP0": "w"}
_PLANAR = ("vx", "vy", "wz")
_ALL = ("vx", "vy", "vz", "wx", "wy", "wz")


def _base_motion(par: ParFile) -> Base:
    """What moves: symbols in V0, W0 and their derivatives mean freedom, zeros none, and numbers cannot be described."""
    free = set()
    for key, letter in _MOTION.items():
        for k, (axis, value) in enumerate(zip("xyz", par.entries.values(key), strict=False), 1):
            if value.names:
                free.add(f"{letter}{axis}")
            elif not value.is_zero:
                par.source.fault(
                    "the base has a given motion",
                    value.place,
                    f"{key}[{k}]",
                    expected="0, or a symbol for a base that is free to move",
                    got=str(value)[:60],
                    remedy="put a steady acceleration into G; describe a given motion in YAML, as a moving base",
                )
    flags = par.flags
    if not free and not flags:
        return Base()
    if free and free <= set(_PLANAR) and "is_floating" not in flags:
        _note_still(par, free, _PLANAR)
        return Base(kind=BaseKind.PLANAR)
    if free:
        _note_still(par, free, _ALL)
    return Base(kind=BaseKind.FLOATING, orientation="quaternion" if "is_floating" in flags else "rpy")


def _note_still(par: ParFile, free: set[str], expected: Sequence[str]) -> None:
    still = [name for name in expected if name not in free]
    if still:
        given, also = ", ".join(sorted(free)), ", ".join(still)
        par.notes.append(f"V0 and W0 give a symbol to {given} only; the base is free along {also} too")


def _read_place(par: ParFile, symbols: Symbols) -> Place:
    """Where the base is: the matrix Z, by rows."""
    values = par.entries.values("Z")
    if not values:
        return Place()
    entries = [symbols.parameter(value, f"Z[{k}]") for k, value in enumerate(values, 1)]
    rows = [tuple(entries[k : k + 3]) for k in (0, 4, 8)]
    position = (entries[3], entries[7], entries[11])
    place = par.entries.place("Z")
    if entries[12:] != [0.0, 0.0, 0.0, 1.0]:
        got = ", ".join(str(x) for x in entries[12:])
        par.source.fault("the last row of Z is wrong", place, "Z", expected="0, 0, 0, 1", got=got)
    if not _is_rotation(entries):
        expected = "a 4x4 pose by rows, its rotation of unit rows at right angles"
        par.source.fault("Z does not hold a rotation", place, "Z", expected=expected)
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


def _read_gravity(par: ParFile, symbols: Symbols, base: Base, place: Place) -> Triple:
    """Gravity in the world.

    Components in the axes of a moving base, several symbols, tell nothing of the world: there it is the Earth's, z up.
    """
    values = par.entries.values("G")
    if not values:
        par.notes.append("G is absent; gravity is 9.81 m/s2 along -z")
        return EARTH
    if base.kind is not BaseKind.FIXED and sum(bool(value.names) for value in values) > 1:
        par.notes.append("G holds gravity in the axes of the moving base; in the world it is 9.81 m/s2 along -z")
        return EARTH
    x, y, z = (symbols.parameter(value, f"G[{k}]", "m/s2") for k, value in enumerate(values, 1))
    names = dict.fromkeys(name for value in values for name in value.names)
    if names:
        par.notes.append(f"gravity is made of {', '.join(names)}: give a value (negative on an axis that points up)")
    matrix = place.pose.matrix if place.pose is not None else None
    return turned(matrix, (x, y, z)) if matrix is not None else (x, y, z)


# -- loads: FX..CZ are what the robot does to its surroundings; a description holds what they do to the robot ----------
def _loads(par: ParFile, rows: dict[int, Row], symbols: Symbols) -> dict[str, Load]:
    """The loads by name, numbered as their frames: friction, spring, drive, effort, wrench."""
    _name_speeds(par, rows, symbols)
    loads: dict[str, Load] = {}
    moving = [(row, row.coordinate) for row in rows.values() if row.coordinate is not None and row.role is Role.BODY]
    for row in rows.values():
        if row.number > par.links:
            _check_closing(par, row)
        elif row.coordinate is None:
            _note_idle(par, row)
    for row, coordinate in moving:
        loads |= _at_joint(par, row, coordinate, symbols)
    for row, coordinate in moving:
        loads |= _effort(par, row, coordinate, symbols)
    for j in range(0 if par.has_link_0 else 1, par.links + 1):
        loads |= _wrench(par, j, rows[j].name if j else BASE, symbols)
    return loads


def _name_speeds(par: ParFile, rows: dict[int, Row], symbols: Symbols) -> None:
    """In forces, the symbols of QP, V0 and W0 are speeds of ours."""
    for row in rows.values():
        symbol = par.value("QP", row.number).symbol
        if row.coordinate is not None and row.role is not Role.CUT and symbol is not None:
            symbols.rename(symbol, f"d{row.coordinate}")
    for key in ("V0", "W0"):
        for axis, value in zip("xyz", par.entries.values(key), strict=False):
            if value.symbol is not None:
                symbols.rename(value.symbol, f"{key[0].lower()}{axis}")


def _at_joint(par: ParFile, row: Row, coordinate: str, symbols: Symbols) -> dict[str, Load]:
    """Friction, elasticity and the inertia of the drive."""
    j, loads = row.number, dict[str, Load]()
    read = {key: _of_joint(par, row, key, symbols) for key in _DRIVE}
    is_flexible = bool(par.entries.values("eta")) and par.whole("eta", j, range(2)) == 1
    stiffness: Scalar = _of_joint(par, row, "k", symbols) if is_flexible else 0.0
    if not is_flexible and not par.value("k", j).is_zero:
        par.notes.append(f"k[{j}] has no effect: eta[{j}] says that the joint is rigid")
    if any(x != 0.0 for x in (stiffness, read["FV"], read["FS"])):
        spring = SpringDamper(coordinate=coordinate, stiffness=stiffness, damping=read["FV"], friction=read["FS"])
        loads[f"spring{j}" if is_flexible else f"friction{j}"] = spring
    if read["IA"] != 0.0:
        loads[f"drive{j}"] = Transmission(coordinate=coordinate, inertia=read["IA"])
    return loads


def _of_joint(par: ParFile, row: Row, key: str, symbols: Symbols) -> Scalar:
    return symbols.parameter(par.value(key, row.number), f"{key}[{row.number}]", _UNITS[row.kind][key])


def _effort(par: ParFile, row: Row, coordinate: str, symbols: Symbols) -> dict[str, Load]:
    """An active joint is driven by an input that is called as GAM says, GAM<j> if it does not."""
    j = row.number
    if not par.entries.values("mu"):
        return {}
    value = par.value("GAM", j)
    if par.whole("mu", j, range(2)) == 0:
        if not value.is_zero and not value.names:
            par.notes.append(f"GAM[{j}] has no effect: mu[{j}] says that the joint is passive")
        return {}
    unit, told = _UNITS[row.kind]["GAM"], f"effort of the actuator on {coordinate}"
    if value.is_zero:
        effort: Scalar = Formula(symbols.input(f"GAM{j}", unit, told))
    else:
        effort = symbols.signal(value, f"GAM[{j}]", unit, told)
    return {f"effort{j}": Effort(coordinate=coordinate, value=effort)}


def _wrench(par: ParFile, j: int, frame: str, symbols: Symbols) -> dict[str, Load]:
    values = [par.value(key, j) for key in WRENCH]
    if all(value.is_zero for value in values):
        return {}
    parts = [minus(_component(key, j, value, symbols)) for key, value in zip(WRENCH, values, strict=True)]
    force, torque = (parts[0], parts[1], parts[2]), (parts[3], parts[4], parts[5])
    return {f"wrench{j}": Wrench(frame=frame, force=force, torque=torque)}


def _component(key: str, j: int, value: Value, symbols: Symbols) -> Scalar:
    what = f"{'force' if key[0] == 'F' else 'torque'} along {key[1].lower()} of frame {j}"
    acts = "on the surroundings" if value.tokens[0].text != "-" else "on the body"
    return symbols.signal(value, f"{key}[{j}]", "N" if key[0] == "F" else "N m", f"{what}, {acts}")


def _note_idle(par: ParFile, row: Row) -> None:
    """Friction and drives of a frame that does not move."""
    j = row.number
    idle = [key for key in (*_DRIVE, "eta") if not par.value(key, j).is_zero]
    if not par.value("mu", j).is_zero:
        idle.append("mu")
    if idle:
        par.notes.append(f"frame {j} is fixed; no effect there of {', '.join(idle)}")


def _check_closing(par: ParFile, row: Row) -> None:
    """The frames of a loop carry nothing; a cut joint has no coordinate, so nothing can act on it."""
    j, is_cut = row.number, row.role is Role.CUT
    if is_cut and row.coordinate is not None:
        par.notes.append(f"joint {j} is cut; {row.coordinate} is not among the coordinates")
    for key in (*INERTIA, *WRENCH, *(_DRIVE if is_cut else ()), "eta", "mu"):
        value = par.value(key, j)
        if not value.is_zero:
            par.source.fault(
                f"frame {j} closes a loop and cannot have {key}",
                value.place,
                f"{key}[{j}]",
                expected="0",
                got=str(value)[:60],
                remedy="cut the loop at a joint that is passive and without friction" if is_cut else None,
            )
