"""Records of data out of a file; what their validation finds is told in our words, with its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from torseur.describe.faults import shown
from torseur.describe.fields import Record
from torseur.errors import Location, ModelError
from torseur.formats.yaml.nodes import Node, Source, find, plain

__all__ = ["each_validated", "validated"]

Parts = dict[str, str | None]
R = TypeVar("R", bound=Record)

_QUOTES = "in braces and brackets, a formula with a comma needs quotes"
_EXPECTED = {
    "string_type": "text",
    "bool_type": "true or false",
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dict_type": "a mapping of names",
    "tuple_type": "a list",
}
_BOUNDS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}


def validated(kind: type[R], data: Any, node: Node, source: Source) -> R | None:
    """A record of data that came from a node; what is wrong with it is taken down with its place."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        told: set[Location] = set()
        for fault in error.errors(include_url=False):
            mark, found = find(node, fault["loc"])
            if found.path in told:  # another way in which it could have been right
                continue
            if not isinstance(found.value, (dict, list)):
                told.add(found.path)
            what, parts = _message(fault)
            if "tensor" in found.path[-2:-1] and isinstance(found.value, list):
                parts["remedy"] = "write the three moments [XX, YY, ZZ], or {xx: , yy: , zz: , xy: , xz: , yz: }"
            source.fault(mark, found.path, what, **parts)
        return None


def each_validated(table: Node, shape: Callable[[Node], tuple[type[R], Node] | None], source: Source) -> dict[str, R]:
    """The records of a table whose entries say of what kind they are; one that is none is taken out of the table.

    Args:
        table: a mapping.
        shape: gives the kind of an entry and its contents, or takes down what is wrong with it.
        source: where faults are taken down.
    """
    made: dict[str, R] = {}
    for name, node in list(table.items.items()):
        found, record = shape(node), None
        if found is not None:
            kind, table.items[name] = found
            record = validated(kind, plain(table.items[name]), table.items[name], source)
        if record is not None:
            made[name] = record
        else:
            source.leave_out(name, table.items.pop(name))
    return made


# -- messages ----------------------------------------------------------------------------------------------------------
def _message(fault: Mapping[str, Any]) -> tuple[str, Parts]:
    """What is wrong, and the parts of the error: expected, got, remedy."""
    kind, context, value = fault["type"], fault.get("ctx") or {}, fault["input"]
    if isinstance(context.get("error"), ModelError):
        error = context["error"]
        return error.what, {"expected": error.expected, "got": error.got, "remedy": error.remedy or _commas(error)}
    if kind == "missing" and isinstance(fault["loc"][-1], int):
        return "the list is too short", {"got": _got(value)}
    if kind == "missing":
        return f"'{fault['loc'][-1]}' is missing", {}
    if kind in _EXPECTED:
        return f"expected {_EXPECTED[kind]}", {"got": _got(value), "remedy": _quotes(kind, value) or _brackets(kind)}
    if kind in ("too_short", "too_long"):
        word = "short" if kind == "too_short" else "long"
        bound = context.get("min_length" if kind == "too_short" else "max_length")
        cut = any(isinstance(item, str) and item.count("(") != item.count(")") for item in value)
        parts = {
            "expected": f"{bound} values",
            "got": str(context["actual_length"]),
            "remedy": _QUOTES if cut else None,
        }
        return f"the list is too {word}", parts
    if kind in ("literal_error", "enum"):
        return f"expected {context['expected']}", {"got": _got(value)}
    if kind in _BOUNDS:
        words, key = _BOUNDS[kind]
        return f"expected {words} {context[key]:g}", {"got": _got(value)}
    if kind == "string_too_long":
        return "the text is too long", {"expected": f"at most {context['max_length']} characters"}
    if kind == "string_pattern_mismatch":
        return "the text has the wrong form", {"expected": context["pattern"], "got": _got(value)}
    return fault["msg"], {}


def _commas(error: ModelError) -> str | None:
    is_cut = error.expected in ("','", "')'") and (error.got or "").startswith("the end")
    return _QUOTES if is_cut else None


def _got(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    return "nothing" if value is None else shown(value)


def _brackets(kind: str) -> str | None:
    if kind in ("dict_type", "mapping_type", "model_type", "model_attributes_type"):
        return "write {name: value, ...}"
    return "write [value, value, ...]" if kind in ("list_type", "tuple_type") else None


def _quotes(kind: str, value: Any) -> str | None:
    is_plain = isinstance(value, (int, float, bool))
    return "put it in quotes to make it text" if kind == "string_type" and is_plain else None
