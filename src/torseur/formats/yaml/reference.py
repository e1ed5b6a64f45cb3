"""The tables of all fields of model files, written from the records themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from torseur.describe.annotations import KindOf, Refers, Symbols, Thing, Uses
from torseur.describe.fields import Record
from torseur.describe.formulas import Formula
from torseur.describe.loads import KINDS, Load
from torseur.describe.mechanism import Mechanism
from torseur.formats.yaml.short_forms import HOISTED, LISTED, NAMED
from torseur.formats.yaml.writer import flow, plain

__all__ = ["reference", "section"]

_SYMBOLS = {
    Symbols.COORDINATES: "coordinates",
    Symbols.SPEEDS: "speeds",
    Symbols.INPUTS: "inputs",
    Symbols.TIME: "`t`",
    Symbols.NORMALS: "normal forces",
}


def reference(loads: Mapping[str, type[Load]] = KINDS) -> str:
    """Markdown: one table a record, in the order in which they are met."""
    found: dict[type[Record], None] = {}
    _collect(Mechanism, found)
    lines: list[str] = []
    for kind in found:
        lines += section(kind.__name__, kind)
        if kind is Mechanism:
            lines += ["The key `torseur: 1`, the version of the format, comes first.", ""]
    listed = ", ".join(f"`{name}`" for name in loads)
    lines += ["### Load", "", f"A mapping with exactly one key, the kind of the load: {listed}.", ""]
    for name, load in loads.items():
        lines += section(f"Load `{name}`", load)
    return "\n".join(lines).rstrip() + "\n"


def _collect(kind: type[Record], found: dict[type[Record], None]) -> None:
    if kind in found or issubclass(kind, Load):
        return
    found[kind] = None
    for field in kind.model_fields.values():
        for record in _records(field.annotation):
            _collect(record, found)


def _records(annotation: Any) -> Iterator[type[Record]]:
    if isinstance(annotation, type) and issubclass(annotation, Record):
        yield annotation
    for inside in get_args(annotation):
        yield from _records(inside)


def section(title: str, kind: type[Record]) -> list[str]:
    """The lines about one record: what it is, its short forms, its fields."""
    text = " ".join(line.strip() for line in (kind.__doc__ or "").split("\n") if line.strip())
    lines = [f"### {title}", "", text, "", *_short_forms(kind)]
    rows = [_row(field.alias or name, field) for name, field in kind.model_fields.items()]
    return [*lines, "| key | value | by default | meaning |", "|---|---|---|---|", *rows, ""]


def _short_forms(kind: type[Record]) -> list[str]:
    notes = []
    if kind in NAMED:
        notes.append(f"A single value stands for `{{{NAMED[kind]}: value}}`.")
    if kind in LISTED:
        notes.append(f"A list stands for `{{{LISTED[kind]}: list}}`.")
    if kind in HOISTED:
        notes.append("The keys `mdh`, `dh`, `pose` and `steps` may stand here instead of in `place`.")
    notes += _OTHER.get(kind.__name__, [])
    return [" ".join(notes), ""] if notes else []


_OTHER = {
    "Joint": ["A joint with one coordinate may write `coordinate: name` and the fields of the coordinate beside it."],
    "Place": ["A list of three stands for a position."],
    "Frame": ["A list of three stands for a position."],
    "Tensor": ["A list of three stands for the diagonal."],
    "Coordinate": ["In a table, nothing stands for a coordinate without more; a table of such is a list of names."],
}


def _row(name: str, field: FieldInfo) -> str:
    marks = [*field.metadata, *_marks(field.annotation)]
    uses = next((mark.symbols for mark in marks if isinstance(mark, Uses)), Symbols.NONE)
    words = [word for symbol, word in _SYMBOLS.items() if symbol in uses]
    extra = f" (formulas may use {', '.join(words)})" if words else ""
    things = [mark.thing for mark in marks if isinstance(mark, Refers)]
    enum = (field.json_schema_extra or {}).get("enum") if isinstance(field.json_schema_extra, dict) else None
    value = "one of the kinds of joints" if enum else _words(field.annotation, things[0] if things else None)
    of = next((mark for mark in marks if isinstance(mark, KindOf)), None)
    value = value if of is None else f"one of {', '.join(f'`{kind}`' for kind in of.table)}, with its fields"
    return f"| `{name}` | {value} | {_default(field)} | {field.description or ''}{extra} |".replace("  |", " |")


def _marks(annotation: Any) -> list[Any]:
    if get_origin(annotation) is Annotated:
        return [*get_args(annotation)[1:], *_marks(get_args(annotation)[0])]
    if get_origin(annotation) in (Union, UnionType):
        return [mark for inside in get_args(annotation) for mark in _marks(inside)]
    return []


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = plain(field.default)
    is_nothing = value in (None, [], {}) or isinstance(field.default, Record)
    return "" if is_nothing else f"`{flow(value)}`"


def _words(annotation: Any, thing: Thing | None = None) -> str:
    """What a field holds."""
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        return _words(inner, next((mark.thing for mark in marks if isinstance(mark, Refers)), thing))
    inside = [member for member in get_args(annotation) if member not in (type(None), Ellipsis)]
    if get_origin(annotation) in (Union, UnionType):
        return "number or formula" if Formula in inside else " or ".join(_words(member, thing) for member in inside)
    if get_origin(annotation) is dict:
        return f"table: {_key(inside[0])} → {_words(inside[1])}"
    if get_origin(annotation) is tuple:
        several = {_words(member) for member in inside}
        return f"list of {several.pop()}" if Ellipsis in get_args(annotation) else f"{len(inside)} × {several.pop()}"
    if get_origin(annotation) is Literal:
        return " or ".join(f"`{member}`" for member in inside)
    return _word(annotation, thing)


def _key(key: Any) -> str:
    return next((mark.thing.value for mark in _marks(key) if isinstance(mark, Refers)), "name")


def _word(annotation: Any, thing: Thing | None) -> str:
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return " or ".join(f"`{member.value}`" for member in annotation)
    if thing is not None:
        return f"name of a {thing.value}"
    return {str: "text", float: "number", int: "whole number", bool: "`true` or `false`"}.get(annotation, "")
