"""Mechanisms as YAML text, in the short forms: what is read back is equal to what was written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import Any

from torseur.describe.annotations import KindOf
from torseur.describe.bodies import Coordinate, Frame, Joint
from torseur.describe.fields import Record
from torseur.describe.formulas import Formula
from torseur.describe.inertia import Tensor
from torseur.describe.loads import Load
from torseur.describe.mechanism import Mechanism, Parameter
from torseur.formats.yaml.nodes import NUMBER, WORDS
from torseur.formats.yaml.reader import VERSION, VERSION_KEY
from torseur.formats.yaml.short_forms import HOISTED, LISTED, NAMED

__all__ = ["block", "flow", "plain", "write_yaml"]

HEADER = "# A mechanism for Torseur. SI units; angles in rad (90*deg is a right angle)."


def write_yaml(mechanism: Mechanism) -> str:
    """The text of a model file.

    >>> print(write_yaml(Mechanism(name="nothing")))
    # A mechanism for Torseur. SI units; angles in rad (90*deg is a right angle).
    torseur: 1
    name: nothing
    <BLANKLINE>
    """
    lines = [HEADER, *block({VERSION_KEY: VERSION})]
    for key, item in _fields(mechanism).items():
        is_table = isinstance(item, dict) and key != "base"
        lines += [""] if is_table else []
        lines += block({key: item}, spread=is_table)
    return "\n".join(lines) + "\n"


def plain(value: Any) -> Any:
    """A value of a description as plain data, in its shortest form."""
    if isinstance(value, Load):
        return {value.kind: _fields(value)}
    if isinstance(value, Record):
        return _short(value)
    if isinstance(value, dict):
        return _table(value)
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, Formula):
        return value.text
    return value.value if isinstance(value, Enum) else value


def _table(table: dict[str, Any]) -> Any:
    """Things by name; coordinates of which nothing but the names is said are a list."""
    items = {name: plain(item) for name, item in table.items()}
    if items and all(isinstance(item, Coordinate) for item in table.values()) and all(x == {} for x in items.values()):
        return list(items)
    return items


def _fields(record: Record) -> dict[str, Any]:
    """The fields that are not what they are by default."""
    fields = type(record).model_fields
    given = {name: getattr(record, name) for name in fields}
    kinds = {name for name, field in fields.items() if any(isinstance(mark, KindOf) for mark in field.metadata)}
    return {
        fields[name].alias or name: {x.kind: _fields(x)} if name in kinds and hasattr(x, "kind") else plain(x)
        for name, x in given.items()
        if fields[name].is_required() or x != fields[name].default
    }


def _short(record: Record) -> Any:
    kind, given = type(record), _fields(record)
    if kind in HOISTED and "place" in given:
        given = _hoisted(given)
        if isinstance(record, Frame) and isinstance(given.get("pose"), list):
            return given["pose"]
    if isinstance(record, Joint):
        given = _short_joint(record)
    if isinstance(record, Tensor) and not given.keys() - {"xx", "yy", "zz"}:
        return [plain(entry) for entry in (record.xx, record.yy, record.zz)]
    if isinstance(record, Parameter) and not given:
        return None
    one = NAMED.get(kind) or LISTED.get(kind)
    return given[one] if one is not None and given.keys() == {one} else given


def _hoisted(given: dict[str, Any]) -> dict[str, Any]:
    """The keys of the place, where the place itself would stand."""
    place = given["place"]
    return {
        key: item
        for name, value in given.items()
        for key, item in (place if name == "place" else {name: value}).items()
    }


def _short_joint(joint: Joint) -> dict[str, Any]:
    """A single coordinate is written with the joint itself."""
    given = _fields(joint)
    if len(joint.coordinates) != 1:
        return given
    del given["coordinates"]
    ((name, one),) = joint.coordinates.items()
    return given | {"coordinate": name} | _fields(one)


# -- text --------------------------------------------------------------------------------------------------------------
WIDTH = 110

# Text that YAML takes as it is, in a line of braces too.
_SAFE = re.compile(r"(?:[A-Za-z0-9_(.]|[-+][A-Za-z0-9_(.])(?:[A-Za-z0-9_+*/^().<>=' -]*[A-Za-z0-9_+*/^().<>='-])?")
# Words that other YAML readers take for something else.
_FALSE_FRIENDS = {"yes", "no", "on", "off", "true", "false", "null"}
_ESCAPED = re.compile('["\\\\]|[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]')


def block(value: dict[str, Any], indent: int = 0, *, spread: bool = False) -> Iterator[str]:
    """The lines of a mapping, one entry after the other; `spread` keeps mappings from being one line."""
    for key, item in value.items():
        head = f"{' ' * indent}{_text(key)}:"
        line = head if item is None else f"{head} {flow(item)}"
        if not item or not isinstance(item, (dict, list)) or not (spread or len(line) > WIDTH or _is_deep(item)):
            yield line
        elif isinstance(item, dict):
            yield head
            yield from block(item, indent + 2)
        else:
            yield head
            yield from (f"{' ' * (indent + 2)}- {flow(element)}" for element in item)


def _is_deep(item: Any) -> bool:
    """Whether something is clearer in a block: mappings of mappings, and several mappings or sentences in a list."""
    inside = item.values() if isinstance(item, dict) else item
    return len(item) > 1 and any(isinstance(x, dict) or (isinstance(x, str) and " " in x) for x in inside)


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _text(value) if isinstance(value, str) else _number(value)


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    text = repr(float(value))
    return text.removesuffix(".0") if text != "-0.0" else text


def _text(value: str) -> str:
    is_read_as_text = value not in WORDS and not NUMBER.fullmatch(value) and value.lower() not in _FALSE_FRIENDS
    if is_read_as_text and _SAFE.fullmatch(value):
        return value
    return '"' + _ESCAPED.sub(_escape, value) + '"'


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    if character in '"\\':
        return f"\\{character}"
    if character == "\n":
        return "\\n"
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
