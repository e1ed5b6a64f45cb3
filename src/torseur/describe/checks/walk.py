"""A walk through all names and formulas of a record, with what the fields say about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from torseur.describe.checks.fault import Path
from torseur.describe.fields import Record
from torseur.describe.formulas import Formula
from torseur.describe.marks import Refers, Symbols, Thing, Uses

__all__ = ["FoundFormula", "FoundName", "records", "walk"]


@dataclass(frozen=True)
class FoundName:
    """A name that stands for something else."""

    path: Path
    name: str
    thing: Thing


@dataclass(frozen=True)
class FoundFormula:
    """A formula, and what it may use besides parameters."""

    path: Path
    formula: Formula
    uses: Symbols


def walk(record: Record, path: Path = (), uses: Symbols = Symbols.NONE) -> Iterator[FoundName | FoundFormula]:
    """All names and formulas in a record and in the records inside it."""
    for name, field in type(record).model_fields.items():
        yield from _walk(getattr(record, name), field.annotation, field.metadata, (*path, name), uses)


def _walk(
    value: Any, annotation: Any, marks: list[Any], path: Path, uses: Symbols
) -> Iterator[FoundName | FoundFormula]:
    annotation, marks = _opened(annotation, value, marks)
    uses = next((mark.symbols for mark in marks if isinstance(mark, Uses)), uses)
    thing = next((mark.thing for mark in marks if isinstance(mark, Refers)), None)
    if isinstance(value, Formula):
        yield FoundFormula(path, value, uses)
    elif isinstance(value, str) and thing is not None:
        yield FoundName(path, value, thing)
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


def records(record: Record, path: Path = ()) -> Iterator[tuple[Path, Record]]:
    """A record and all records inside it."""
    yield path, record
    for name in type(record).model_fields:
        yield from _records(getattr(record, name), (*path, name))


def _records(value: Any, path: Path) -> Iterator[tuple[Path, Record]]:
    if isinstance(value, Record):
        yield from records(value, path)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _records(item, (*path, key))
    elif isinstance(value, tuple):
        for k, item in enumerate(value):
            yield from _records(item, (*path, k))
