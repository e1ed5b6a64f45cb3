"""As much of JSON Schema (draft 2020-12) as our own schema uses: enough to try it on files without another package."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["KEYWORDS", "fits"]

TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and value == int(value),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "null": lambda value: value is None,
}
KEYWORDS = {
    *("$ref", "anyOf", "oneOf", "type", "enum", "const", "pattern", "minLength", "maxLength", "items", "prefixItems"),
    *("minItems", "maxItems", "properties", "patternProperties", "additionalProperties", "required", "minProperties"),
    *("propertyNames", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("maxProperties", "description", "default", "title", "$schema", "$defs"),
}


def fits(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> bool:
    """Whether a value is what a schema asks for."""
    unknown = schema.keys() - KEYWORDS
    assert not unknown, unknown
    if "$ref" in schema and not fits(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root):
        return False
    if "anyOf" in schema and not any(fits(value, option, root) for option in schema["anyOf"]):
        return False
    if "oneOf" in schema and sum(fits(value, option, root) for option in schema["oneOf"]) != 1:
        return False
    if "type" in schema and not TYPES[schema["type"]](value):
        return False
    if value not in schema.get("enum", [value]) or value != schema.get("const", value):
        return False
    if isinstance(value, str):
        return _text_fits(value, schema)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _number_fits(value, schema)
    if isinstance(value, list):
        return _list_fits(value, schema, root)
    return not isinstance(value, dict) or _table_fits(value, schema, root)


def _text_fits(value: str, schema: dict[str, Any]) -> bool:
    is_short = schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
    return is_short and re.search(schema.get("pattern", ""), value) is not None


def _number_fits(value: float, schema: dict[str, Any]) -> bool:
    is_in = schema.get("minimum", value) <= value <= schema.get("maximum", value)
    above = "exclusiveMinimum" not in schema or value > schema["exclusiveMinimum"]
    return is_in and above and ("exclusiveMaximum" not in schema or value < schema["exclusiveMaximum"])


def _list_fits(value: list[Any], schema: dict[str, Any], root: dict[str, Any]) -> bool:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return False
    first = schema.get("prefixItems", [])
    rest = [schema.get("items", {})] * max(0, len(value) - len(first))
    return all(fits(item, kind, root) for item, kind in zip(value, [*first, *rest], strict=False))


def _table_fits(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any]) -> bool:
    if not set(schema.get("required", ())) <= value.keys():
        return False
    if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
        return False
    if not all(fits(key, schema.get("propertyNames", {}), root) for key in value):
        return False
    for key, item in value.items():
        kinds = [schema["properties"][key]] if key in schema.get("properties", {}) else []
        kinds += [kind for pattern, kind in schema.get("patternProperties", {}).items() if re.search(pattern, key)]
        if not kinds and schema.get("additionalProperties") is False:
            return False
        if not all(fits(item, kind, root) for kind in kinds):
            return False
    return True
