"""What the fields of records say about the names in them, so that checks need no list of records.

A name that stands for something else in the model carries `Refers`; a field whose formulas may use more than parameters
carries `Uses`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, Flag
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from torseur.describe.faults import Location, nearest
from torseur.describe.fields import Name, Record, Scalar, Triple
from torseur.describe.formulas import Formula
from torseur.errors import ModelError

__all__ = [
    "BodyName",
    "ConstraintName",
    "CoordinateName",
    "FormulaUse",
    "FrameName",
    "InputName",
    "KindOf",
    "NameUse",
    "Refers",
    "RoadName",
    "SpeedName",
    "Symbols",
    "Thing",
    "Uses",
    "records",
    "renamed",
    "walk",
]


T = TypeVar("T", bound=Record)


class Thing(Enum):
    """What a name can stand for."""

    COORDINATE = "coordinate"
    SPEED = "speed"
    FRAME = "frame"
    BODY = "body"
    ROAD = "road"
    CONSTRAINT = "constraint"
    INPUT = "input"


class Symbols(Flag):
    """What a formula can use besides parameters."""

    NONE = 0
    COORDINATES = 1
    SPEEDS = 2
    INPUTS = 4
    TIME = 8
    NORMALS = 16
    ALL = 31


@dataclass(frozen=True)
class Refers:
    """The name is that of something else."""

    thing: Thing


@dataclass(frozen=True)
class KindOf:
    """The value is a record of one of several kinds, written as {kind: its fields}; each kind has a `kind`.

    Instead of a kind there may be the fields of one more record, `otherwise`.
    """

    table: Mapping[str, type[Record]]
    otherwise: type[Record] | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._made, serialization=core_schema.plain_serializer_function_ser_schema(self._written)
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        kinds = {
            kind: {**handler(record.__pydantic_core_schema__), "description": (record.__doc__ or "").partition("\n")[0]}
            for kind, record in self.table.items()
        }
        bounds = {"minProperties": 1, "maxProperties": 1, "additionalProperties": False}
        one = {"type": "object", "properties": kinds, **bounds}
        if self.otherwise is None:
            return one
        return {"anyOf": [one, handler(self.otherwise.__pydantic_core_schema__)]}

    def _made(self, given: Any) -> Record:
        if isinstance(given, Record) and type(given) in (*self.table.values(), self.otherwise):
            return given
        fields_of_other = self.otherwise.model_fields.keys() if self.otherwise is not None else set()
        is_other = isinstance(given, Mapping) and not (given.keys() & self.table.keys())
        if self.otherwise is not None and is_other and (len(given) != 1 or given.keys() & fields_of_other):
            return self.otherwise.model_validate(given)
        if not isinstance(given, Mapping) or len(given) != 1 or next(iter(given)) not in self.table:
            raise self._no_kind(given)
        ((kind, fields),) = given.items()
        return self.table[kind].model_validate({} if fields is None else fields)

    def _no_kind(self, given: Any) -> ModelError:
        words = list(given) if isinstance(given, Mapping) else [str(given)]
        near = nearest(str(words[0]), self.table) if len(words) == 1 else None
        ending = str(given).rpartition(".")[2] if isinstance(given, str) else ""
        return ModelError(
            "one kind is needed, with its fields",
            expected=f"one of {', '.join(self.table)}",
            got=", ".join(map(str, words))[:80] or "nothing",
            remedy=f"write {{{ending}: {{file: {given}}}}}"
            if ending in self.table
            else f"did you mean '{near}'?"
            if near
            else None,
        )

    def _written(self, record: Any) -> dict[str, Any]:
        fields = record.model_dump(exclude_defaults=True, by_alias=True)
        return fields if type(record) is self.otherwise else {record.kind: fields}


@dataclass(frozen=True)
class Uses:
    """The formulas may use this besides parameters, and names that only they know."""

    symbols: Symbols
    local: frozenset[str] = frozenset()


BodyName = Annotated[Name, Refers(Thing.BODY)]
CoordinateName = Annotated[Name, Refers(Thing.COORDINATE)]
FrameName = Annotated[Name, Refers(Thing.FRAME)]
SpeedName = Annotated[Name, Refers(Thing.SPEED)]
RoadName = Annotated[Name, Refers(Thing.ROAD)]
ConstraintName = Annotated[Name, Refers(Thing.CONSTRAINT)]
InputName = Annotated[Name, Refers(Thing.INPUT)]

Positional = Annotated[Scalar, Uses(Symbols.COORDINATES)]
Signal = Annotated[Scalar, Uses(Symbols.TIME | Symbols.INPUTS)]
Driven = Annotated[Scalar, Uses(Symbols.COORDINATES | Symbols.TIME | Symbols.INPUTS)]
Anything = Annotated[Scalar, Uses(Symbols.ALL)]
OnRoad = Annotated[Scalar, Uses(Symbols.NONE, frozenset("xy"))]
"""Scalars by what their formulas may use."""

AnyTriple = Annotated[Triple, Uses(Symbols.ALL)]
GeometricTriple = Annotated[Triple, Uses(Symbols.COORDINATES | Symbols.TIME)]
SignalTriple = Annotated[Triple, Uses(Symbols.TIME | Symbols.INPUTS)]


# -- names and formulas of a record, with what its fields say about them -----------------------------------------------
@dataclass(frozen=True)
class NameUse:
    """A name that stands for something else."""

    path: Location
    name: str
    thing: Thing


@dataclass(frozen=True)
class FormulaUse:
    """A formula, and what it may use besides parameters."""

    path: Location
    formula: Formula
    uses: Symbols
    local: frozenset[str] = frozenset()


_NOTHING = Uses(Symbols.NONE)


def walk(record: Record, path: Location = (), uses: Uses = _NOTHING) -> Iterator[NameUse | FormulaUse]:
    """All names and formulas in a record and in the records inside it."""
    for name, field in type(record).model_fields.items():
        yield from _walk(getattr(record, name), field.annotation, field.metadata, (*path, name), uses)


def _walk(value: Any, annotation: Any, marks: list[Any], path: Location, uses: Uses) -> Iterator[NameUse | FormulaUse]:
    annotation, marks = _opened(annotation, value, marks)
    uses = next((mark for mark in marks if isinstance(mark, Uses)), uses)
    thing = next((mark.thing for mark in marks if isinstance(mark, Refers)), None)
    if isinstance(value, Formula):
        yield FormulaUse(path, value, uses.symbols, uses.local)
    elif isinstance(value, str) and thing is not None:
        yield NameUse(path, value, thing)
    elif isinstance(value, Record):
        yield from walk(value, path, uses)
    elif isinstance(value, dict):
        key_type, item_type = get_args(annotation) or (None, None)
        for key, item in value.items():
            yield from _walk(key, key_type, [], (*path, key), uses)
            yield from _walk(item, item_type, [], (*path, key), uses)
    elif isinstance(value, tuple):
        inside = get_args(annotation)
        for k, item in enumerate(value):
            item_type = inside[0 if inside[-1] is Ellipsis else k] if inside else None
            yield from _walk(item, item_type, [], (*path, k), uses)


def renamed(record: T, things: Mapping[Thing, Mapping[str, str]], change: Callable[[Formula], Scalar]) -> T:
    """A record with other names of what it refers to, and other formulas."""
    made = {}
    for name, field in type(record).model_fields.items():
        old = getattr(record, name)
        new = _renamed(old, field.annotation, field.metadata, things, change)
        if new is not old:
            made[name] = new
    return record.model_copy(update=made) if made else record


def _renamed(
    value: Any,
    annotation: Any,
    marks: list[Any],
    things: Mapping[Thing, Mapping[str, str]],
    change: Callable[[Formula], Scalar],
) -> Any:
    annotation, marks = _opened(annotation, value, marks)
    thing = next((mark.thing for mark in marks if isinstance(mark, Refers)), None)
    if isinstance(value, Formula):
        return change(value)
    if isinstance(value, str) and thing is not None:
        return things.get(thing, {}).get(value, value)
    if isinstance(value, Record):
        return renamed(value, things, change)
    if isinstance(value, dict):
        key_type, item_type = get_args(annotation) or (None, None)
        return {
            _renamed(key, key_type, [], things, change): _renamed(item, item_type, [], things, change)
            for key, item in value.items()
        }
    if isinstance(value, tuple):
        inside = get_args(annotation)
        types = [inside[0 if inside[-1] is Ellipsis else k] if inside else None for k in range(len(value))]
        return tuple(_renamed(item, kind, [], things, change) for item, kind in zip(value, types, strict=True))
    return value


def _opened(annotation: Any, value: Any, marks: list[Any]) -> tuple[Any, list[Any]]:
    """The annotation without its wrappings, and the marks on them."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *more = get_args(annotation)
            marks = [*marks, *more]
        elif get_origin(annotation) in (Union, UnionType) and value is not None and type(None) in get_args(annotation):
            inside = [member for member in get_args(annotation) if member is not type(None)]
            if len(inside) > 1:
                return _table_of(inside, value) or annotation, marks
            annotation = inside[0]
        elif get_origin(annotation) in (Union, UnionType):
            return _table_of(get_args(annotation), value) or annotation, marks
        else:
            return annotation, marks


def _table_of(members: Sequence[Any], value: Any) -> Any:
    """Of several forms, such as one gain or gains by name, a word or a list, the one a table or list has."""
    if not isinstance(value, (dict, tuple)):
        return None
    wanted = Mapping if isinstance(value, dict) else tuple
    for member in members:
        bare = get_args(member)[0] if get_origin(member) is Annotated else member
        if isinstance(get_origin(bare), type) and issubclass(get_origin(bare), wanted):
            return bare
    return None


def records(record: Record, path: Location = ()) -> Iterator[tuple[Location, Record]]:
    """A record and all records inside it."""
    yield path, record
    for name in type(record).model_fields:
        yield from _records(getattr(record, name), (*path, name))


def _records(value: Any, path: Location) -> Iterator[tuple[Location, Record]]:
    if isinstance(value, Record):
        yield from records(value, path)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _records(item, (*path, key))
    elif isinstance(value, tuple):
        for k, item in enumerate(value):
            yield from _records(item, (*path, k))
