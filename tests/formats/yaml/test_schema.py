"""The schema for editors takes what the reader takes, and explains every field."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from support.json_schema import fits
from support.random_descriptions import anything
from support.yaml_short_forms import SAME
from torseur.formats.yaml.nodes import Source, parse, plain
from torseur.formats.yaml.reader import read_document
from torseur.formats.yaml.schema import reference, schema
from torseur.formats.yaml.writer import write_yaml

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = schema()


def data_of(text: str | bytes) -> Any:
    return plain(parse(text, Source("f.yaml")))


def test_the_file_with_one_of_everything_fits():
    data = data_of((ROOT / "tests" / "data" / "yaml" / "everything.yaml").read_bytes())
    assert fits(data, SCHEMA, SCHEMA)


@pytest.mark.parametrize("form", [form for pair in SAME for form in pair])
def test_short_forms_and_full_ones_fit(form):
    text = f"torseur: 1\nname: arm\n{form}\n"
    read_document(text)
    data = data_of(text)
    assert fits({key: item for key, item in data.items() if item is not None}, SCHEMA, SCHEMA)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(anything())
def test_what_is_written_fits(mechanism):
    assert fits(data_of(write_yaml(mechanism)), SCHEMA, SCHEMA)


WRONG = [
    "name: arm",
    "torseur: 2\nname: arm",
    "torseur: 1",
    "torseur: 1\nname: arm\ntitel: x",
    "torseur: 1\nname: 1arm",
    "torseur: 1\nname: arm\ngravity: [0, 0]",
    "torseur: 1\nname: arm\nbase: flying",
    "torseur: 1\nname: arm\nbodies: {a: {joint: revolut}}",
    "torseur: 1\nname: arm\nbodies: {a: {inertia: {mas: 1}}}",
    "torseur: 1\nname: arm\nbodies: {1a: {}}",
    "torseur: 1\nname: arm\nloads: {k: {}}",
    "torseur: 1\nname: arm\nloads: {k: {sprung: {}}}",
    "torseur: 1\nname: arm\nloads: {k: {spring: {coordinate: q, stifness: 1}}}",
    "torseur: 1\nname: arm\noutputs: {y: {}}",
    "torseur: 1\nname: arm\nbodies: {a: {shapes: [{sphere: 1, colour: red}]}}",
]


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_does_not_fit(text):
    assert not fits(data_of(text), SCHEMA, SCHEMA)


def properties(part: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every property of every record in the schema."""
    if isinstance(part, dict):
        for key, item in part.get("properties", {}).items():
            yield f"{path}.{key}", item
        for key, item in part.items():
            yield from properties(item, f"{path}.{key}")
    elif isinstance(part, list):
        for item in part:
            yield from properties(item, path)


def test_every_field_and_every_record_is_explained():
    fields = list(properties(SCHEMA))
    assert len(fields) > 150
    assert [path for path, field in fields if not field.get("description")] == []
    assert [name for name, entry in SCHEMA["$defs"].items() if not entry.get("description")] == []


def test_the_page_of_fields_is_up_to_date():
    page = (ROOT / "docs" / "reference" / "yaml.md").read_text(encoding="utf-8")
    assert page.partition("<!-- fields -->\n\n")[2] == reference(), "run: torseur schema --markdown"


def test_every_definition_is_used():
    text = str(SCHEMA)
    assert [name for name in SCHEMA["$defs"] if f"#/$defs/{name}'" not in text] == []
