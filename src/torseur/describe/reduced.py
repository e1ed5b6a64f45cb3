"""A description with some of its constraints left out."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from torseur.describe.fields import FrozenDict, Record
from torseur.describe.formulas import NORMAL, Formula, normal_of
from torseur.describe.mechanism import Mechanism

__all__ = ["with_slipping_wheels", "without_constraints"]


def with_slipping_wheels(mechanism: Mechanism) -> Mechanism:
    """The same, with wheels that have friction free to slip."""
    wheels = {
        n: c for n, c in mechanism.constraints.items() if c.rolling is not None and c.rolling.friction is not None
    }
    loose = {
        n: c.model_copy(update={"rolling": c.form.model_copy(update={"friction": None, "slides": "freely"})})
        for n, c in wheels.items()
    }
    return (
        mechanism.model_copy(update={"constraints": FrozenDict(mechanism.constraints | loose)}) if loose else mechanism
    )


def without_constraints(mechanism: Mechanism, names: Collection[str]) -> Mechanism:
    """The same without some constraints; the normal forces of these are zero."""
    kept = FrozenDict({n: c for n, c in mechanism.constraints.items() if n not in names})
    gone = {normal_of(n) for n in names}
    tables = {name: _without(getattr(mechanism, name), gone) for name in ("loads", "outputs", "quantities")}
    constraints = FrozenDict({n: _without(c, gone) for n, c in kept.items()})
    return mechanism.model_copy(update={"constraints": constraints, **tables})


def _without(value: Any, gone: Collection[str]) -> Any:
    if isinstance(value, Formula):
        return _zeroed(value, gone) if value.names & set(gone) else value
    if isinstance(value, Record):
        old = {name: getattr(value, name) for name in type(value).model_fields}
        new = {name: _without(x, gone) for name, x in old.items()}
        changed = {name: x for name, x in new.items() if x is not old[name]}
        return value.model_copy(update=changed) if changed else value
    if isinstance(value, dict):
        items = {key: _without(x, gone) for key, x in value.items()}
        return FrozenDict(items) if any(items[key] is not x for key, x in value.items()) else value
    if isinstance(value, tuple):
        parts = tuple(_without(x, gone) for x in value)
        return parts if any(a is not b for a, b in zip(parts, value, strict=True)) else value
    return value


def _zeroed(formula: Formula, gone: Collection[str]) -> Formula:
    def zero(found: re.Match[str]) -> str:
        return "0" if normal_of(found[1]) in gone else found[0]

    return Formula(re.sub(rf"\b{NORMAL}\s*\(\s*(\w+)\s*\)", zero, formula.text))
