"""Studies as YAML text, in the short forms, the model inside: what is read back is equal to what was written. What may
stand in it: the JSON Schema of study files, for editors, and the tables of their fields, for people; both from the
records.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic.fields import FieldInfo
from pydantic.json_schema import models_json_schema

from torseur.describe.formulas import Formula
from torseur.errors import Location, ModelError
from torseur.formats import replace_file
from torseur.formats.yaml.reader import STUDY_KEY
from torseur.formats.yaml.schema import schema, section, tidied
from torseur.formats.yaml.writer import block, plain
from torseur.simulation.blocks import KINDS, Block, Constant, FormulaSignal, PythonBlock
from torseur.simulation.solvers.methods import METHODS
from torseur.simulation.study.reader import SHORT, VERSION
from torseur.simulation.study.study import Change, FrictionChoice, Solver, StopChoice, Study

__all__ = ["short_block", "study_reference", "study_schema", "study_text", "write_study"]

HEADER = "# A study for Torseur: what moves, from where, driven by what, for how long. SI units; angles in rad."


def write_study(study: Study, path: str | os.PathLike[str]) -> None:
    """Write a study to a file (.yaml), all of it or nothing.

    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp(), "fall.yaml")
    >>> ts.write_study(ts.Study(model=arm, until=2.0), file)
    >>> ts.load_study(file).until
    2.0
    """
    file = Path(path)
    if file.suffix.lower() not in (".yaml", ".yml"):
        text = "studies are not written in this format"
        raise ModelError(text, where=str(file), expected="a name that ends in .yaml", got=file.suffix or "no ending")
    replace_file(file, study_text(study).encode("utf-8"))


def study_text(study: Study) -> str:
    """The text of a study file.

    >>> from torseur.describe import Mechanism
    >>> print(study_text(Study(model=Mechanism(name="nothing"), until=2.0, solver={"method": "rk4"})))
    # A study for Torseur: what moves, from where, driven by what, for how long. SI units; angles in rad.
    torseur_study: 1
    until: 2
    solver: rk4
    <BLANKLINE>
    model:
      name: nothing
    <BLANKLINE>
    """
    lines = [HEADER, *block({STUDY_KEY: VERSION})]
    for key, item in _fields(study).items():
        lines += block({key: item})
    return "\n".join([*lines, "", *block({"model": plain(study.model)}, spread=True)]) + "\n"


def _fields(study: Study) -> dict[str, Any]:
    """All but the model, where it is not what it is by default."""
    fields = Study.model_fields
    given = {name: getattr(study, name) for name in fields if name != "model"}
    return {name: _plain(name, value) for name, value in given.items() if value != fields[name].default}


def _plain(name: str, value: Any) -> Any:
    if name in ("inputs", "blocks"):
        return _blocks(name, value)
    if name == "indicators":
        return {key: {item.kind: plain(item)} for key, item in value.items()}
    short = plain(value)
    return short[SHORT[name]] if name in SHORT and short.keys() == {SHORT[name]} else short


def _blocks(name: str, table: Mapping[str, Block]) -> dict[str, Any]:
    return {key: short_block(item, (name, key)) for key, item in table.items()}


def short_block(block: Block, where: Location) -> Any:
    """A block as plain data, in its shortest form that reads back the same.

    >>> short_block(Constant(value=2.0), ("inputs", "f")), short_block(FormulaSignal(value="sin(t)"), ("inputs", "f"))
    (2.0, 'sin(t)')
    """
    if isinstance(block, PythonBlock):
        raise ModelError("a file cannot hold a Python function", where=where, remedy="keep this study in Python")
    fields = plain(block)
    if isinstance(block, Constant) and isinstance(block.value, float):
        return block.value
    if isinstance(block, FormulaSignal) and isinstance(block.value, Formula) and not block.breaks:
        return block.value.text
    return {block.kind: fields}


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
