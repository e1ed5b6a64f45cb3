"""What acts on the joints and links of a .par file, as loads.

FX..CZ are what the robot does to its surroundings; a description holds what they do to the robot, the opposite.
"""

from __future__ import annotations

from torseur.describe.bodies import BASE
from torseur.describe.fields import Scalar
from torseur.describe.formulas import Formula
from torseur.describe.loads import Effort, Load, SpringDamper, Transmission, Wrench
from torseur.formats.expressions import Value, minus
from torseur.formats.symoro.rows import Role, Row, Symbols
from torseur.formats.symoro.sheet import INERTIA, WRENCH, Sheet

__all__ = ["read_loads"]

_DRIVE = ("IA", "FV", "FS")
_UNITS = {
    "revolute": {"IA": "kg m2", "FV": "N m s/rad", "FS": "N m", "k": "N m/rad", "GAM": "N m"},
    "prismatic": {"IA": "kg", "FV": "N s/m", "FS": "N", "k": "N/m", "GAM": "N"},
}


def read_loads(sheet: Sheet, rows: dict[int, Row], symbols: Symbols) -> dict[str, Load]:
    """The loads by name, numbered as their frames: friction, spring, drive, effort, wrench."""
    _name_speeds(sheet, rows, symbols)
    found: dict[str, Load] = {}
    moving = [(row, row.coordinate) for row in rows.values() if row.coordinate is not None and row.role is Role.BODY]
    for row in rows.values():
        if row.number > sheet.links:
            _check_closing(sheet, row)
        elif row.coordinate is None:
            _note_idle(sheet, row)
    for row, coordinate in moving:
        found |= _at_joint(sheet, row, coordinate, symbols)
    for row, coordinate in moving:
        found |= _effort(sheet, row, coordinate, symbols)
    for j in range(0 if sheet.has_link_0 else 1, sheet.links + 1):
        found |= _wrench(sheet, j, rows[j].name if j else BASE, symbols)
    return found


def _name_speeds(sheet: Sheet, rows: dict[int, Row], symbols: Symbols) -> None:
    """In forces, the symbols of QP, V0 and W0 are speeds of ours."""
    for row in rows.values():
        symbol = sheet.value("QP", row.number).symbol
        if row.coordinate is not None and row.role is not Role.CUT and symbol is not None:
            symbols.rename(symbol, f"d{row.coordinate}")
    for key in ("V0", "W0"):
        for axis, value in zip("xyz", sheet.entries.values(key), strict=False):
            if value.symbol is not None:
                symbols.rename(value.symbol, f"{key[0].lower()}{axis}")


def _at_joint(sheet: Sheet, row: Row, coordinate: str, symbols: Symbols) -> dict[str, Load]:
    """Friction, elasticity and the inertia of the drive."""
    j, found = row.number, dict[str, Load]()
    read = {key: _of_joint(sheet, row, key, symbols) for key in _DRIVE}
    is_flexible = bool(sheet.entries.values("eta")) and sheet.whole("eta", j, range(2)) == 1
    stiffness: Scalar = _of_joint(sheet, row, "k", symbols) if is_flexible else 0.0
    if not is_flexible and not sheet.value("k", j).is_zero:
        sheet.notes.append(f"k[{j}] has no effect: eta[{j}] says that the joint is rigid")
    if any(x != 0.0 for x in (stiffness, read["FV"], read["FS"])):
        spring = SpringDamper(coordinate=coordinate, stiffness=stiffness, damping=read["FV"], friction=read["FS"])
        found[f"spring{j}" if is_flexible else f"friction{j}"] = spring
    if read["IA"] != 0.0:
        found[f"drive{j}"] = Transmission(coordinate=coordinate, inertia=read["IA"])
    return found


def _of_joint(sheet: Sheet, row: Row, key: str, symbols: Symbols) -> Scalar:
    return symbols.parameter(sheet.value(key, row.number), f"{key}[{row.number}]", _UNITS[row.kind][key])


def _effort(sheet: Sheet, row: Row, coordinate: str, symbols: Symbols) -> dict[str, Load]:
    """An active joint is driven by an input that is called as GAM says, GAM<j> if it does not."""
    j = row.number
    if not sheet.entries.values("mu"):
        return {}
    value = sheet.value("GAM", j)
    if sheet.whole("mu", j, range(2)) == 0:
        if not value.is_zero and not value.names:
            sheet.notes.append(f"GAM[{j}] has no effect: mu[{j}] says that the joint is passive")
        return {}
    unit, told = _UNITS[row.kind]["GAM"], f"effort of the actuator on {coordinate}"
    if value.is_zero:
        effort: Scalar = Formula(symbols.input(f"GAM{j}", unit, told))
    else:
        effort = symbols.signal(value, f"GAM[{j}]", unit, told)
    return {f"effort{j}": Effort(coordinate=coordinate, value=effort)}


def _wrench(sheet: Sheet, j: int, frame: str, symbols: Symbols) -> dict[str, Load]:
    values = [sheet.value(key, j) for key in WRENCH]
    if all(value.is_zero for value in values):
        return {}
    parts = [minus(_component(key, j, value, symbols)) for key, value in zip(WRENCH, values, strict=True)]
    force, torque = (parts[0], parts[1], parts[2]), (parts[3], parts[4], parts[5])
    return {f"wrench{j}": Wrench(frame=frame, force=force, torque=torque)}


def _component(key: str, j: int, value: Value, symbols: Symbols) -> Scalar:
    what = f"{'force' if key[0] == 'F' else 'torque'} along {key[1].lower()} of frame {j}"
    acts = "on the surroundings" if value.tokens[0].text != "-" else "on the body"
    return symbols.signal(value, f"{key}[{j}]", "N" if key[0] == "F" else "N m", f"{what}, {acts}")


def _note_idle(sheet: Sheet, row: Row) -> None:
    """Friction and drives of a frame that does not move."""
    j = row.number
    idle = [key for key in (*_DRIVE, "eta") if not sheet.value(key, j).is_zero]
    if not sheet.value("mu", j).is_zero:
        idle.append("mu")
    if idle:
        sheet.notes.append(f"frame {j} is fixed; no effect there of {', '.join(idle)}")


def _check_closing(sheet: Sheet, row: Row) -> None:
    """The frames of a loop carry nothing; a cut joint has no coordinate, so nothing can act on it."""
    j, is_cut = row.number, row.role is Role.CUT
    if is_cut and row.coordinate is not None:
        sheet.notes.append(f"joint {j} is cut; {row.coordinate} is not among the coordinates")
    for key in (*INERTIA, *WRENCH, *(_DRIVE if is_cut else ()), "eta", "mu"):
        value = sheet.value(key, j)
        if not value.is_zero:
            sheet.source.fault(
                f"frame {j} closes a loop and cannot have {key}",
                value.place,
                f"{key}[{j}]",
                expected="0",
                got=str(value)[:60],
                remedy="cut the loop at a joint that is passive and without friction" if is_cut else None,
            )
