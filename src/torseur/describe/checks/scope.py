"""The names of a mechanism: what stands for what, and where it is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from torseur.describe.annotations import Symbols, Thing, records
from torseur.describe.bodies import BASE, WORLD
from torseur.describe.evaluation import Numbers
from torseur.describe.faults import Fault, Location
from torseur.describe.fields import Record, Scalar
from torseur.describe.formulas import Formula, normal_of
from torseur.describe.mechanism import Mechanism, Variable

__all__ = ["Definition", "Scope"]

R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class Definition:
    """A name, what it stands for, and where."""

    name: str
    what: str
    path: Location
    symbols: Symbols = Symbols.NONE


class Scope:
    """What every check needs to know of a mechanism's names and numbers."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism

    def is_body(self, name: str) -> bool:
        return name == BASE or name in self.mechanism.bodies

    def variable_path(self, variable: Variable) -> Location:
        """Where a coordinate or its joint is described."""
        name, owner = variable.name, variable.owner
        if owner == BASE:
            return ("base", "coordinates", name) if name in self.mechanism.base.coordinates else ("base",)
        if owner not in self.mechanism.bodies:
            return ("coordinates", name)
        given = name in self.mechanism.bodies[owner].joint.coordinates
        return ("bodies", owner, "joint", *(("coordinates", name) if given else ()))

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """All that formulas and recordings can name, in order of precedence; the same name may come twice."""
        return tuple(self._definitions())

    def _definitions(self) -> Iterator[Definition]:
        mechanism = self.mechanism
        for name in mechanism.parameters:
            yield Definition(name, "a parameter", ("parameters", name))
        for name in mechanism.quantities:
            yield Definition(name, "a quantity", ("quantities", name), self._symbols_of(name))
        for name in mechanism.inputs:
            yield Definition(name, "an input", ("inputs", name), Symbols.INPUTS)
        for variable in mechanism.q:
            owner = variable.owner if self.is_body(variable.owner) else "the free-form kinematics"
            yield Definition(
                variable.name, f"a coordinate of {owner}", self.variable_path(variable), Symbols.COORDINATES
            )
        paths = {f"d{variable.name}": self.variable_path(variable) for variable in mechanism.q}
        for variable in mechanism.v:
            joint: Location = ("base",) if variable.owner == BASE else ("bodies", variable.owner, "joint")
            path = paths.get(variable.name, joint)
            yield Definition(variable.name, f"a speed of {variable.owner}", path, Symbols.SPEEDS)
        for name in (*mechanism.pushing, *mechanism.compliant):
            yield Definition(normal_of(name), "a normal force", ("constraints", name), Symbols.NORMALS)

    def _symbols_of(self, quantity: str) -> Symbols:
        """What a named quantity uses in the end."""
        mechanism = self.mechanism
        used = mechanism.names_in(mechanism.quantities[quantity].value)
        kinds = {
            Symbols.TIME: {"t"},
            Symbols.INPUTS: mechanism.inputs.keys(),
            Symbols.COORDINATES: self.coordinates.keys(),
            Symbols.SPEEDS: self.speeds.keys(),
            Symbols.NORMALS: {normal_of(name) for name in (*mechanism.pushing, *mechanism.compliant)},
        }
        symbols = Symbols.NONE
        for symbol, names in kinds.items():
            symbols |= symbol if used & names else Symbols.NONE
        return symbols

    @cached_property
    def symbols(self) -> dict[str, Definition]:
        """Name -> what it stands for, in formulas."""
        table = {"t": Definition("t", "time", (), Symbols.TIME)}
        for definition in self.definitions:
            table.setdefault(definition.name, definition)
        return table

    @cached_property
    def coordinates(self) -> dict[str, Variable]:
        return {variable.name: variable for variable in self.mechanism.q}

    @cached_property
    def by_owner(self) -> dict[str, list[Variable]]:
        """Body -> the coordinates of its joint."""
        owners: dict[str, list[Variable]] = {}
        for variable in self.mechanism.q:
            owners.setdefault(variable.owner, []).append(variable)
        return owners

    @cached_property
    def speeds(self) -> dict[str, Variable]:
        return {variable.name: variable for variable in self.mechanism.v}

    @cached_property
    def bodies(self) -> dict[str, None]:
        return dict.fromkeys((*self.mechanism.bodies, BASE, WORLD))

    @cached_property
    def frames(self) -> dict[str, str]:
        return self.mechanism.frames

    def named(self, thing: Thing) -> Mapping[str, object]:
        """All of a kind that can be named."""
        if thing is Thing.COORDINATE:
            return self.coordinates
        if thing is Thing.SPEED:
            return self.speeds
        tables: dict[Thing, Mapping[str, object]] = {
            Thing.ROAD: self.mechanism.roads,
            Thing.CONSTRAINT: self.mechanism.constraints,
            Thing.INPUT: self.mechanism.inputs,
            Thing.FRAME: self.frames,
        }
        return tables.get(thing, self.bodies)

    @cached_property
    def _records(self) -> dict[type[Record], list[tuple[Location, Record]]]:
        by_kind: dict[type[Record], list[tuple[Location, Record]]] = {}
        for path, record in records(self.mechanism):
            by_kind.setdefault(type(record), []).append((path, record))
        return by_kind

    def records(self, kind: type[R]) -> list[tuple[Location, R]]:
        """All records of a kind, with the ways to them."""
        return self._records.get(kind, [])  # type: ignore[return-value]

    # -- numbers -------------------------------------------------------------------------------------------------------
    @cached_property
    def numbers(self) -> Numbers:
        """Of parameters, quantities and what is made of them."""
        return Numbers(self.mechanism)

    def value(self, scalar: Scalar | None) -> float | None:
        """The number of a scalar, if it has one."""
        return self.numbers.value(scalar)

    def values(self, scalars: tuple[Scalar, ...] | None) -> tuple[float, ...] | None:
        """The numbers of several scalars, if all have one."""
        return self.numbers.values(scalars)


def fault_without_value(path: Location, formula: Formula) -> Fault:
    """A formula of numbers that gives none."""
    remedy = "look for divisions by zero, and roots of negative numbers"
    return Fault(path, "this formula has no value", got=formula.text[:80], remedy=remedy)
