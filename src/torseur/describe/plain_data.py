"""Descriptions as plain data, for people and programs, and as text that says all of them, for keys.

The keys of `plain_data` are stable: they may be added to, not changed. Two descriptions with the same canonical text
lead to the same expressions.

>>> from torseur.describe import Mechanism
>>> canonical(Mechanism(name="a")) == canonical(Mechanism(name="b"))
False
>>> canonical({"f": lambda t: t}) is None
True
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from torseur.describe.bodies import BASE, WORLD, Body, Coordinate
from torseur.describe.checks.scope import Scope
from torseur.describe.constraints import Constraint
from torseur.describe.fields import Record, Scalar
from torseur.describe.formulas import Formula
from torseur.describe.inertia import CentralInertia, StandardInertia
from torseur.describe.loads import Load
from torseur.describe.mechanism import LookupTable, Mechanism, NamedQuantity, Output, Variable
from torseur.extensions import is_own

__all__ = ["Branch", "branches", "canonical", "plain_data"]


_PLAIN = frozenset({str, int, float, bool, type(None)})


# -- canonical text ----------------------------------------------------------------------------------------------------


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


Data = dict[str, Any]
Branch = tuple[int, str]
"""How deep a body is in the tree, and its name."""


# -- plain data --------------------------------------------------------------------------------------------------------


def plain_data(mechanism: Mechanism) -> Data:
    """Everything a reader wants to know first."""
    scope = Scope(mechanism)
    return {
        "name": mechanism.name,
        "title": mechanism.title,
        "gravity": [_plain(component) for component in mechanism.gravity],
        "base": {
            "kind": mechanism.base.kind.value,
            "inertia": _inertia(mechanism.base.inertia),
            "frames": list(mechanism.base.frames),
        },
        "bodies": [_body(scope, name, body) for name, body in mechanism.bodies.items()],
        "coordinates": [_coordinate(scope, variable) for variable in mechanism.q],
        "speeds": [_variable(variable) for variable in mechanism.v],
        "loops": [
            {"name": name, "joint": loop.joint, "between": list(loop.between), "rows": 6 - loop.algebra.nv}
            for name, loop in mechanism.loops.items()
        ],
        "constraints": [_constraint(name, constraint) for name, constraint in mechanism.constraints.items()],
        "loads": [{"name": name, "kind": load.kind, "fields": given(load)} for name, load in mechanism.loads.items()],
        "inputs": [
            {"name": name, "default": item.default, "unit": item.unit, "description": item.description}
            for name, item in mechanism.inputs.items()
        ],
        "tables": [_table(name, table) for name, table in mechanism.tables.items()],
        "quantities": [_formula(name, item) for name, item in mechanism.quantities.items()],
        "outputs": [_formula(name, item) for name, item in mechanism.outputs.items()],
        "parameters": _parameters(scope),
        "notes": list(mechanism.notes),
    }


def _formula(name: str, item: NamedQuantity | Output) -> Data:
    return {"name": name, "value": _plain(item.value), "unit": item.unit, "description": item.description}


def _table(name: str, table: LookupTable) -> Data:
    """How large a table is, and over what."""
    data: Data = {"name": name, "points": [len(table.x)], "x": list(table.x[:1] + table.x[-1:])}
    if table.y is not None:
        data |= {"points": [len(table.x), len(table.y)], "y": list(table.y[:1] + table.y[-1:])}
    return data | {"unit": table.unit, "description": table.description}


def _plain(value: Scalar | None) -> Any:
    return value.text if isinstance(value, Formula) else value


def _inertia(inertia: Record | None) -> str | None:
    names = {StandardInertia: "standard", CentralInertia: "central"}
    return None if inertia is None else next((n for k, n in names.items() if isinstance(inertia, k)), "solids")


def _body(scope: Scope, name: str, body: Body) -> Data:
    depends = sorted(scope.mechanism.names_in(body.place) & scope.coordinates.keys())
    return {
        "name": name,
        "parent": body.parent,
        "joint": body.joint.kind,
        "coordinates": [variable.name for variable in scope.by_owner.get(name, ())],
        "free_form": depends,
        "inertia": _inertia(body.inertia),
        "frames": list(body.frames),
        "shapes": len(body.shapes),
    }


def _variable(variable: Variable) -> Data:
    return {
        "name": variable.name,
        "owner": variable.owner,
        "unit": variable.unit,
        "meaning": variable.meaning,
        "start": _plain(variable.start),
    }


def _coordinate(scope: Scope, variable: Variable) -> Data:
    mechanism = scope.mechanism
    table = mechanism.coordinates
    if variable.owner == BASE:
        table = mechanism.base.coordinates
    elif variable.owner in mechanism.bodies:
        table = mechanism.bodies[variable.owner].joint.coordinates
    known = table.get(variable.name, Coordinate())
    return _variable(variable) | {"lower": _plain(known.lower), "upper": _plain(known.upper)}


def _constraint(name: str, constraint: Constraint) -> Data:
    kind = next(field for field in Constraint.model_fields if getattr(constraint, field) is not None)
    form = constraint.form
    return {
        "name": name,
        "kind": kind,
        "fields": given(form) if isinstance(form, Record) else {"formula": _plain(form)},
    }


def given(record: Record | Load) -> Data:
    """The fields of a record that are not what they are by default."""
    fields = type(record).model_fields
    shown = {name: getattr(record, name) for name in fields}
    return {
        name: _shown(value)
        for name, value in shown.items()
        if fields[name].is_required() or value != fields[name].default
    }


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shown(item) for key, item in value.items()}
    if isinstance(value, Record):
        return given(value)
    return [_shown(item) for item in value] if isinstance(value, tuple) else _plain(value)


def _parameters(scope: Scope) -> Data:
    every = [
        {
            "name": name,
            "value": scope.numbers.known.get(name),
            "formula": item.value.text if isinstance(item.value, Formula) else None,
            "unit": item.unit,
            "description": item.description,
        }
        for name, item in scope.mechanism.parameters.items()
    ]
    is_set = {name for name, item in scope.mechanism.parameters.items() if item.value is not None}
    return {
        "set": [entry for entry in every if entry["name"] in is_set],
        "unset": [entry for entry in every if entry["name"] not in is_set],
    }


def branches(mechanism: Mechanism) -> Iterator[Branch]:
    """The tree from the world on, a body before those that hang on it; bodies with no way to the world are left out."""
    children: dict[str, list[str]] = {WORLD: [BASE]}
    for name, body in mechanism.bodies.items():
        children.setdefault(body.parent, []).append(name)
    waiting, seen = [(0, WORLD)], set()
    while waiting:
        depth, name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        yield depth, name
        waiting += [(depth + 1, child) for child in reversed(children.get(name, []))]
