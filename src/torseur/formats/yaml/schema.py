"""The JSON Schema of model files, for editors: it comes from the records, and knows the short forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import models_json_schema

from torseur.describe.bodies import Coordinate, Frame, Joint
from torseur.describe.inertia import Tensor
from torseur.describe.loads import KINDS, Load
from torseur.describe.mechanism import Input, Mechanism, Parameter
from torseur.describe.place import Place
from torseur.formats.yaml.likeness import JOINED, LIKE_KEY
from torseur.formats.yaml.parameter_files import FROM_KEY
from torseur.formats.yaml.reader import VERSION, VERSION_KEY
from torseur.formats.yaml.short_forms import HOISTED, LISTED, NAMED

__all__ = ["schema", "tidied"]

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
    name: Schema = {"type": "string", "description": "name of the only coordinate; its fields then stand here too"}
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
