"""The fields of model files: a JSON Schema for editors and tables for people, both written from the records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic.json_schema import models_json_schema

from torseur.describe.annotations import KindOf, Refers, Symbols, Thing, Uses
from torseur.describe.bodies import Coordinate, Frame, Joint
from torseur.describe.fields import Record
from torseur.describe.formulas import Formula
from torseur.describe.inertia import Tensor
from torseur.describe.loads import KINDS, Load
from torseur.describe.mechanism import Input, Mechanism, Parameter
from torseur.describe.place import Place
from torseur.formats.yaml.reader import FROM_KEY, JOINED, LIKE_KEY, VERSION, VERSION_KEY
from torseur.formats.yaml.short_forms import HOISTED, LISTED, NAMED
from torseur.formats.yaml.writer import flow, plain

__all__ = ["reference", "schema", "section", "tidied"]


Schema = dict[str, Any]

_SCALAR: Schema = {
    "description": "a number, or a formula such as m*l^2/12",
    "anyOf": [{"type": "number"}, {"type": "string"}],
}
_NOTHING: Schema = {"type": "null"}
_NOT_OF_SCHEMAS = ("title", "gt", "ge", "lt", "le")
"""Titles say nothing that names do not; bounds of numbers that may be formulas are checked by the reader."""


def schema(loads: Mapping[str, type[Load]] = KINDS) -> Schema:
    """The schema of a model file with some kinds of loads."""
    pairs = [(kind, "validation") for kind in (Mechanism, *loads.values())]
    _, made = models_json_schema(pairs)  # type: ignore[arg-type]
    definitions: Schema = {name: tidied(entry) for name, entry in made["$defs"].items()}
    definitions["Scalar"] = _SCALAR
    definitions["Triple"] = _list_of(3, "three numbers or formulas")
    definitions["Load"] = _load(loads)
    _hoist(definitions)
    _join(definitions)
    _shorten(definitions)
    top = definitions.pop("Mechanism")
    version: Schema = {"const": VERSION, "description": "version of the format"}
    parameters: Schema = {"type": "string", "description": "a file beside the model with more parameters"}
    like: Schema = {"type": "string", "description": "a model beside this one, which begins with all that it says"}
    own = {key: _or_left_out(item) if key in JOINED else item for key, item in top["properties"].items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Torseur model",
        "description": top["description"],
        "type": "object",
        "properties": {VERSION_KEY: version, LIKE_KEY: like, FROM_KEY: parameters, **own},
        "required": [VERSION_KEY],
        "anyOf": [{"required": top["required"]}, {"required": [LIKE_KEY]}],
        "additionalProperties": False,
        "$defs": dict(sorted(definitions.items())),
    }


def _or_left_out(table: Schema) -> Schema:
    """A table whose entries may be null, in a model like another one."""
    if "patternProperties" not in table:
        return table
    entries = {name: {"anyOf": [entry, {"type": "null"}]} for name, entry in table["patternProperties"].items()}
    return {**table, "patternProperties": entries}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _list_of(count: int, description: str | None = None) -> Schema:
    made: Schema = {"type": "array", "items": _ref("Scalar"), "minItems": count, "maxItems": count}
    return made if description is None else {"description": description, **made}


def _load(loads: Mapping[str, type[Load]]) -> Schema:
    return {
        "description": "A load: its kind, and what the kind needs.",
        "type": "object",
        "properties": {
            name: {**_ref(kind.__name__), "description": (kind.__doc__ or "").partition("\n")[0]}
            for name, kind in loads.items()
        },
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
    }


# -- what pydantic makes, made readable --------------------------------------------------------------------------------


def tidied(entry: Any, *, is_schema: bool = True) -> Any:
    """A schema of pydantic's: scalars and triples by reference, no titles, no defaults that are records or nothing."""
    if isinstance(entry, list):
        return [tidied(item) for item in entry]
    if not isinstance(entry, dict):
        return entry
    if not is_schema:  # a table of properties: its keys are names
        return {key: tidied(item) for key, item in entry.items()}
    dropped = {*_NOT_OF_SCHEMAS, *(["default"] if entry.get("default") in (None, [], {}) else [])}
    dropped |= {"default"} if isinstance(entry.get("default"), dict) else set()
    tidy = {
        key: tidied(item, is_schema=key not in ("properties", "patternProperties", "default"))
        for key, item in entry.items()
        if key not in dropped
    }
    if "oneOf" in tidy:  # forms told apart by their keys: a schema may find that two would do
        tidy["anyOf"] = tidy.pop("oneOf")
    if _is_scalar(tidy):
        return {**_ref("Scalar"), **_rest(tidy, "anyOf")}
    if tidy.get("prefixItems") == [_ref("Scalar")] * 3:
        return {**_ref("Triple"), **_rest(tidy, "prefixItems", "minItems", "maxItems", "type")}
    if "patternProperties" in tidy:
        tidy["additionalProperties"] = False
    return tidy


def _is_scalar(entry: Schema) -> bool:
    return [option.get("type") for option in entry.get("anyOf", ())] == ["number", "string"]


def _rest(entry: Schema, *keys: str) -> Schema:
    if entry.get("description", "").startswith("a formula, e.g."):
        keys = (*keys, "description")
    return {key: item for key, item in entry.items() if key not in keys}


# -- short forms -------------------------------------------------------------------------------------------------------


def _hoist(definitions: Schema) -> None:
    """Bodies, frames and shapes take the keys of their place themselves."""
    for kind in HOISTED:
        definitions[kind.__name__]["properties"] |= definitions[Place.__name__]["properties"]


def _join(definitions: Schema) -> None:
    """A joint with one coordinate takes its keys itself; coordinates may be a list of names."""
    name: Schema = {
        "type": "string",
        "description": "name of the only coordinate; its fields may then be given here too",
    }
    joint = definitions[Joint.__name__]["properties"]
    joint |= {"coordinate": name, **definitions[Coordinate.__name__]["properties"]}
    for owner in ("Joint", "Base", "Mechanism"):
        table = definitions[owner]["properties"]["coordinates"]
        full = {key: item for key, item in table.items() if key != "description"}
        listed: Schema = {"type": "array", "items": {"type": "string"}}
        definitions[owner]["properties"]["coordinates"] = {
            "description": table.get("description"),
            "anyOf": [full, listed],
        }


def _shorten(definitions: Schema) -> None:
    """Records that may be one number, word or list."""
    for kind, field in NAMED.items():
        full = definitions[kind.__name__]
        one = {key: item for key, item in full["properties"][field].items() if key not in ("description", "default")}
        _offer(definitions, kind.__name__, one)
    for kind, field in LISTED.items():
        full = definitions[kind.__name__]
        one = {key: item for key, item in full["properties"][field].items() if key != "description"}
        _offer(definitions, kind.__name__, one)
    for name in (Place.__name__, Frame.__name__, Tensor.__name__):
        _offer(definitions, name, _ref("Triple"))
    for name in (Parameter.__name__, Input.__name__, Coordinate.__name__, "Body"):
        _offer(definitions, name, _NOTHING)


def _offer(definitions: Schema, name: str, form: Schema) -> None:
    full = definitions[name]
    options = full["anyOf"] if set(full) == {"description", "anyOf"} else [_rest(full, "description")]
    if form not in options:
        options = [*options, form]
    definitions[name] = {"description": full.get("description", ""), "anyOf": options}


# -- tables for people -------------------------------------------------------------------------------------------------

_SYMBOLS = {
    Symbols.COORDINATES: "coordinates",
    Symbols.SPEEDS: "speeds",
    Symbols.INPUTS: "inputs",
    Symbols.TIME: "`t`",
    Symbols.NORMALS: "normal forces",
}


def reference(loads: Mapping[str, type[Load]] = KINDS) -> str:
    """Markdown: one table a record, in the order in which they are met."""
    records: dict[type[Record], None] = {}
    _collect(Mechanism, records)
    lines: list[str] = []
    for kind in records:
        lines += section(kind.__name__, kind)
        if kind is Mechanism:
            lines += ["The key `torseur: 1`, the version of the format, comes first.", ""]
    listed = ", ".join(f"`{name}`" for name in loads)
    lines += ["### Load", "", f"A mapping with exactly one key, the kind of the load: {listed}.", ""]
    for name, load in loads.items():
        lines += section(f"Load `{name}`", load)
    return "\n".join(lines).rstrip() + "\n"


def _collect(kind: type[Record], records: dict[type[Record], None]) -> None:
    if kind in records or issubclass(kind, Load):
        return
    records[kind] = None
    for field in kind.model_fields.values():
        for record in _records(field.annotation):
            _collect(record, records)


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
