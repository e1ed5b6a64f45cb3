"""The base of a .par file: how it moves, where it is, and gravity."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.describe.bodies import Base, BaseKind
from torseur.describe.fields import Scalar, Triple
from torseur.describe.formulas import Formula
from torseur.describe.place import Place, RigidPose
from torseur.formats.expressions import minus
from torseur.formats.symoro.sheet import Sheet
from torseur.formats.symoro.symbols import Symbols

__all__ = ["EARTH", "base_motion", "read_gravity", "read_place", "turned"]

EARTH: Triple = (0.0, 0.0, -9.81)
"""Gravity in the world, z up, where a file gives it in the axes of a moving base."""
IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

_MOTION = {"V0": "v", "VP0": "v", "W0": "w", "WP0": "w"}
_PLANAR = ("vx", "vy", "wz")
_ALL = ("vx", "vy", "vz", "wx", "wy", "wz")


def base_motion(sheet: Sheet) -> Base:
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


def read_place(sheet: Sheet, symbols: Symbols) -> Place:
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


def read_gravity(sheet: Sheet, symbols: Symbols, base: Base, place: Place) -> Triple:
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


def turned(matrix: Sequence[Triple], vector: Triple) -> Triple:
    """A vector seen from the other side of a rotation, as formulas that say no more than they must."""
    x, y, z = (_sum([_product(a, b) for a, b in zip(row, vector, strict=True)]) for row in matrix)
    return (x, y, z)


def _product(a: Scalar, b: Scalar) -> Scalar:
    if 0.0 in (a, b):
        return 0.0
    if a in (1.0, -1.0):
        return b if a == 1.0 else minus(b)
    if isinstance(a, Formula) or isinstance(b, Formula):
        return Formula(f"({_text(a)})*({_text(b)})")
    return a * b


def _sum(terms: Sequence[Scalar]) -> Scalar:
    terms = [term for term in terms if term != 0.0]
    if len(terms) < 2:
        return terms[0] if terms else 0.0
    numbers = [term for term in terms if not isinstance(term, Formula)]
    if len(numbers) == len(terms):
        return sum(numbers)
    return Formula(" + ".join(f"({_text(term)})" for term in terms))


def _text(value: Scalar) -> str:
    return value.text if isinstance(value, Formula) else repr(value)
