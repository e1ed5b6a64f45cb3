"""The frames and symbols of a .par file, and what becomes of them in a description."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from torseur.describe.fields import Scalar
from torseur.describe.mechanism import Input, Parameter
from torseur.formats.expressions import Source, Value, read_scalar
from torseur.formats.files import legal_name
from torseur.formats.symoro.par_file import ParFile

__all__ = ["COORDINATE", "PLACE_KEYS", "Role", "Row", "Symbols", "read_rows"]

COORDINATE = re.compile(r"(?:th|[tqr])([0-9]+)")
"""How the coordinate of a joint is called in theta or r."""
PLACE_KEYS = ("gamma", "b", "alpha", "d", "theta", "r")
_KINDS = ("revolute", "prismatic", "fixed")


class Role(Enum):
    """What a frame of the file becomes."""

    BODY = "a body with its joint"
    POINT = "a named frame on the body before it"
    CUT = "the first frame of a loop"


@dataclass(frozen=True)
class Row:
    """A frame of the file; theta or r without the coordinate, which has its own place."""

    number: int
    parent: int
    kind: str
    role: Role
    coordinate: str | None
    place: dict[str, Value]

    @property
    def name(self) -> str:
        return f"body{self.number}" if self.role is Role.BODY else f"frame{self.number}"


def read_rows(par: ParFile) -> dict[int, Row]:
    """The frames by number; a file whose tree or coordinates make no sense is refused."""
    numbers = range(1, par.frames + 1)
    parents = {j: par.whole("ant", j, range(par.frames + 1)) for j in numbers}
    sigmas = {j: par.whole("sigma", j, range(3)) for j in numbers}
    _check_tree(par, parents)
    par.source.stop_if_faulty()
    rows = {}
    for j in numbers:
        role = _role(par, j, sigmas[j], is_parent=j in parents.values())
        place = {key: par.value(key, j) for key in PLACE_KEYS}
        coordinate = _coordinate(par, j, sigmas[j], place)
        rows[j] = Row(j, parents[j], _KINDS[sigmas[j]], role, coordinate, place)
    _check_loops(par, rows)
    _check_coordinates(par, rows)
    par.source.stop_if_faulty()
    return rows


def _check_tree(par: ParFile, parents: dict[int, int]) -> None:
    for j, parent in parents.items():
        seen, at = {j}, parent
        while at in parents and at not in seen:
            seen.add(at)
            at = parents[at]
        if at == j:
            value = par.value("ant", j)
            par.source.fault(
                f"the antecedents of frame {j} form a cycle",
                value.place,
                f"ant[{j}]",
                expected="a chain of antecedents to frame 0",
            )


def _role(par: ParFile, j: int, sigma: int, *, is_parent: bool) -> Role:
    if par.links < j <= par.joints:
        return Role.CUT
    is_point = sigma == 2 and not is_parent and not par.has_inertia(j)
    return Role.POINT if is_point else Role.BODY


def _coordinate(par: ParFile, j: int, sigma: int, place: dict[str, Value]) -> str | None:
    """Find the coordinate of frame j, and leave in the place what is added to it."""
    if sigma == 2:
        return None
    key = ("theta", "r")[sigma]
    value, path = place[key], f"{key}[{j}]"
    symbols = [name for name in value.names if COORDINATE.fullmatch(name)]
    own = [name for name in symbols if (match := COORDINATE.fullmatch(name)) and int(match[1]) == j]
    if not symbols:
        return f"q{j}"
    if len(symbols) > 1 and len(own) != 1:
        remedy = f"call it t{j}, th{j}, q{j} or r{j}, and the others differently"
        par.source.fault("which of these is the coordinate?", value.place, path, got=", ".join(symbols), remedy=remedy)
        return None
    name = symbols[0] if len(symbols) == 1 else own[0]
    rest = value.without(name)
    if rest is None:
        par.source.fault(
            f"the coordinate '{name}' does not stand alone with sign +",
            value.place,
            path,
            expected=f"{name}, or {name} + offset",
            got=str(value)[:60],
            remedy="turn the axis round, or rename the symbol if it is not the coordinate",
        )
        return None
    place[key] = rest
    return name


def _check_loops(par: ParFile, rows: dict[int, Row]) -> None:
    for row in rows.values():
        path = f"ant[{row.number}]"
        if row.parent and rows[row.parent].role is Role.CUT:
            place = par.value("ant", row.number).place
            partner = row.parent + par.loops
            remedy = f"hang it on frame {partner}, which is the same"
            par.source.fault("the antecedent of a frame is a cut joint", place, path, remedy=remedy)
        if row.number > par.joints and row.kind != "fixed":
            value = par.value("sigma", row.number)
            path = f"sigma[{row.number}]"
            par.source.fault("the second frame of a loop moves", value.place, path, expected="2", got=str(value))


def _check_coordinates(par: ParFile, rows: dict[int, Row]) -> None:
    """No coordinate twice; only frames that carry nothing may follow the coordinates of others."""
    owners: dict[str, int] = {}
    for row in rows.values():
        if row.coordinate is None:
            continue
        key = "theta" if row.kind == "revolute" else "r"
        if row.coordinate in owners:
            place = par.value(key, row.number).place
            what = f"'{row.coordinate}' is already the coordinate of frame {owners[row.coordinate]}"
            par.source.fault(what, place, f"{key}[{row.number}]", remedy="every joint has its own")
        owners.setdefault(row.coordinate, row.number)
    cut = {row.coordinate for row in rows.values() if row.role is Role.CUT}
    for row in rows.values():
        for key, value in row.place.items():
            used = [name for name in value.names if name in owners]
            if not used or (row.role is Role.POINT and not cut & set(used)):
                continue
            par.source.fault(
                f"the place of frame {row.number} depends on the coordinate of another joint",
                value.place,
                f"{key}[{row.number}]",
                got=", ".join(used),
                remedy="only a fixed frame without mass and without frames after it may, and not on a cut joint",
            )


# -- symbols -----------------------------------------------------------------------------------------------------------
class Symbols:
    """The names met so far. Geometry and inertia come first: what occurs there is a parameter, also in a force."""

    def __init__(self, source: Source, coordinates: Iterable[str], speeds: Iterable[str], notes: list[str]) -> None:
        self.source = source
        self.notes = notes
        self.coordinates = set(coordinates)
        self.parameters: dict[str, Parameter] = {}
        self.inputs: dict[str, Input] = {}
        self.spelling: dict[str, str] = {}
        self._taken = self.coordinates | set(speeds)
        self._spoken = {name: name for name in self.coordinates}

    def rename(self, symbol: str, name: str) -> None:
        """A symbol that stands for something of ours in forces, such as the speed of a joint."""
        self._spoken.setdefault(symbol, name)

    def parameter(self, value: Value, path: str, unit: str | None = None) -> Scalar:
        """A value made of parameters."""
        for symbol in value.names:
            if symbol in self.coordinates:
                what = f"'{symbol}' is a coordinate; a constant belongs here"
                self.source.fault(what, value.place, path)
                return 0.0
            self._declare_parameter(symbol, unit if value.symbol else None)
        return read_scalar(self.source, value, self.spelling, path)

    def place(self, value: Value, path: str, unit: str) -> Scalar:
        """A value made of parameters and, on frames that may, of coordinates."""
        for symbol in value.names:
            if symbol not in self.coordinates:
                self._declare_parameter(symbol, unit if value.symbol else None)
        return read_scalar(self.source, value, self.spelling, path)

    def signal(self, value: Value, path: str, unit: str, description: str) -> Scalar:
        """A value made of parameters, coordinates, speeds and inputs; unknown names are inputs."""
        for symbol in value.names:
            if symbol in self.spelling or symbol in self.coordinates:
                continue
            known = self._spoken.get(symbol)
            self.spelling[symbol] = known or self._spell(symbol)
            if known is None:
                is_alone = value.symbol is not None
                self.inputs[self.spelling[symbol]] = Input(
                    unit=unit if is_alone else None, description=description if is_alone else None
                )
        return read_scalar(self.source, value, self.spelling, path)

    def input(self, symbol: str, unit: str, description: str) -> str:
        """An input named after a symbol."""
        name = self._spell(symbol)
        self.spelling.setdefault(symbol, name)
        self.inputs[name] = Input(unit=unit, description=description)
        return name

    def _declare_parameter(self, symbol: str, unit: str | None) -> None:
        if symbol not in self.spelling:
            self.spelling[symbol] = self._spell(symbol)
        name = self.spelling[symbol]
        known = self.parameters.get(name)
        if known is None or (known.unit is None and unit is not None):
            self.parameters[name] = Parameter(unit=unit)

    def _spell(self, symbol: str) -> str:
        name = legal_name(symbol, self._is_taken)
        if name != symbol:
            self.notes.append(f"the symbol '{symbol}' means something else here; it is called '{name}'")
        return name

    def _is_taken(self, name: str) -> bool:
        return name in self._taken or name in self.parameters or name in self.inputs
