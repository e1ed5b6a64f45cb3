"""The JSON Schema of study files, for editors, and the tables of their fields, for people; both from the records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic.fields import FieldInfo
from pydantic.json_schema import models_json_schema

from torseur.formats.yaml.reader import STUDY_KEY
from torseur.formats.yaml.schema import schema, section, tidied
from torseur.simulation.blocks import KINDS, Block, PythonBlock
from torseur.simulation.solvers.methods import METHODS
from torseur.simulation.study.reader import SHORT, VERSION
from torseur.simulation.study.study import Change, FrictionChoice, Solver, StopChoice, Study

__all__ = ["study_reference", "study_schema"]

Schema = dict[str, Any]

_PARTS = (Solver, FrictionChoice, StopChoice, Change)
_ELSEWHERE = {
    "[Mechanism](#mechanism)": "name of a file, or a [model](yaml.md)",
    "[Block](#block)": "[block](blocks.md)",
    "[Indicator](#indicator)": "[indicator](scenarios.md)",
    "[Output](#output)": "[output](yaml.md#output)",
}


def study_schema(blocks: Mapping[str, type[Block]] = KINDS) -> Schema:
    """The schema of a study file with some kinds of blocks."""
    model = schema()
    definitions: Schema = model["$defs"]
    definitions["Model"] = {key: model[key] for key in ("description", "type", "properties", "additionalProperties")}
    definitions["Model"]["required"] = [key for key in model["required"] if key in ("name",)]
    own = _definitions(Study, *_PARTS)
    definitions |= {kind.__name__: own[kind.__name__] for kind in _PARTS}
    kinds = {name: kind for name, kind in blocks.items() if kind is not PythonBlock}
    for name, kind in kinds.items():
        definitions[f"Block_{name}"] = _with_short_form(_definitions(kind)[kind.__name__], kind)
    definitions["Block"] = _block(kinds)
    properties = own[Study.__name__]["properties"]
    _replace(properties)
    version: Schema = {"const": VERSION, "description": "version of the format"}
    return {
        "$schema": model["$schema"],
        "title": "Torseur study",
        "description": own[Study.__name__]["description"],
        "type": "object",
        "properties": {STUDY_KEY: version, **properties},
        "required": [STUDY_KEY, "model"],
        "additionalProperties": False,
        "$defs": dict(sorted(definitions.items())),
    }


def _definitions(*kinds: type[Any]) -> Schema:
    _, made = models_json_schema([(kind, "validation") for kind in kinds])
    return {name: tidied(entry) for name, entry in made["$defs"].items()}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _replace(properties: Schema) -> None:
    """What files write otherwise than the records alone say."""
    text = {key: item["description"] for key, item in properties.items()}
    file: Schema = {"type": "string", "description": "name of a file, from the folder of the study"}
    properties["model"] = {"description": text["model"], "anyOf": [file, _ref("Model")]}
    for key in SHORT:
        kind = Study.model_fields[key].annotation
        words = list(METHODS) if kind is Solver else list(get_args(_field(kind, SHORT[key]).annotation))
        properties[key] = {"description": text[key], "anyOf": [properties[key], {"type": "string", "enum": words}]}
    for key in ("inputs", "blocks"):
        names = properties[key]["patternProperties"]
        properties[key]["patternProperties"] = {pattern: _ref("Block") for pattern in names}


def _field(kind: Any, name: str) -> FieldInfo:
    field = kind.model_fields[name]
    assert isinstance(field, FieldInfo)
    return field


def _with_short_form(full: Schema, kind: type[Block]) -> Schema:
    """A kind with one field that must be given may be written as that field alone."""
    required = [name for name, field in kind.model_fields.items() if field.is_required()]
    forms = [{key: item for key, item in full.items() if key != "description"}]
    if len(required) == 1:
        forms += [full["properties"][required[0]]]
    if not required:
        forms += [{"type": "null"}]
    return {"description": full["description"], "anyOf": forms}


def _block(kinds: Mapping[str, type[Block]]) -> Schema:
    properties = {
        name: {**_ref(f"Block_{name}"), "description": (kind.__doc__ or "").partition("\n")[0]}
        for name, kind in kinds.items()
    }
    one: Schema = {"type": "object", "properties": properties, "minProperties": 1, "maxProperties": 1}
    one["additionalProperties"] = False
    text = "A number, a formula, or a mapping from the kind of a block to its fields."
    return {"description": text, "anyOf": [{"type": "number"}, {"type": "string"}, one]}


# -- for people --------------------------------------------------------------------------------------------------------


def study_reference() -> str:
    """Markdown: one table a record, and the methods."""
    lines = section("Study", Study)
    lines += [f"The key `{STUDY_KEY}: {VERSION}`, the version of the format, comes first.", ""]
    for kind in _PARTS:
        lines += section(kind.__name__, kind)
        field = next((key for key in SHORT if Study.model_fields[key].annotation is kind), None)
        if field is not None:
            lines += [f"`{field}: word` stands for `{field}: {{{SHORT[field]}: word}}`.", ""]
    lines += ["### Methods", "", "| method | what it is |", "|---|---|"]
    lines += [f"| `{name}` | {choice.meaning} |" for name, choice in METHODS.core.items()]
    text = "\n".join(lines).rstrip() + "\n"
    for link, place in _ELSEWHERE.items():
        text = text.replace(link, place)
    return text
