"""Descriptions as text that says all of them: what is derived from two of them is the same if their texts are.

>>> from torseur.describe import Mechanism
>>> canonical(Mechanism(name="a")) == canonical(Mechanism(name="b"))
False
>>> canonical({"f": lambda t: t}) is None
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from torseur.describe.fields import Record
from torseur.describe.formulas import Formula
from torseur.extensions import is_own

__all__ = ["canonical"]

_PLAIN = frozenset({str, int, float, bool, type(None)})


class _Unsaid(Exception):
    """No text can say it: a Python function, or a kind whose sources are those of another package."""


def canonical(value: Any, *, without: frozenset[str] = frozenset()) -> str | None:
    """Records, tables, sequences, formulas, numbers and names as text; None where something in them has none.

    Args:
        value: what is described.
        without: fields of the record itself that do not count.
    """
    text: list[str] = []
    try:
        _write(text, value, without)
    except _Unsaid:
        return None
    return "".join(text)


def _write(text: list[str], value: Any, without: frozenset[str] = frozenset()) -> None:
    if type(value) in _PLAIN or isinstance(value, Formula):
        text.append(repr(value))
    elif isinstance(value, Enum) and is_own(type(value)):
        text.append(str(value))
    elif isinstance(value, Mapping):
        _write_list(text, "{", [(repr(name), x) for name, x in value.items()])
    elif isinstance(value, (tuple, list)):
        if set(map(type, value)) <= _PLAIN:
            text.append(repr(value))
        else:
            _write_list(text, "[", [("", x) for x in value])
    else:
        names = [name for name in _fields(value) if name not in without]
        text.append(f"{type(value).__module__}.{type(value).__qualname__}")
        _write_list(text, "(", [(name, getattr(value, name)) for name in names])


def _fields(value: Any) -> list[str]:
    if isinstance(value, Record) and value.is_own:
        return list(type(value).model_fields)
    if is_dataclass(value) and is_own(type(value)):
        return [field.name for field in fields(value)]
    raise _Unsaid


def _write_list(text: list[str], bracket: str, items: list[tuple[str, Any]]) -> None:
    text.append(bracket)
    for name, value in items:
        text.append(f"{name}:")
        _write(text, value)
        text.append(",")
    text.append(bracket)
