"""A description with numbers in place of the parameters that have one.

>>> from torseur.describe import Body, Mechanism, StandardInertia
>>> body = Body(inertia=StandardInertia(M="2*m", ZZ="m*l^2 + J"))
>>> arm = Mechanism(name="arm", parameters={"m": {"value": 3.0}, "l": {}, "J": {"value": "l*m"}}, bodies={"a": body})
>>> put = in_numbers(arm)
>>> put.bodies["a"].inertia.M, put.bodies["a"].inertia.ZZ, list(put.parameters)
(6.0, Formula('3*l^2 + (l*3)'), ['l'])
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from torseur.describe.evaluation import ordered
from torseur.describe.fields import FrozenDict, Record, Scalar
from torseur.describe.formulas import NORMAL, Formula, normal_of
from torseur.describe.mechanism import Mechanism
from torseur.errors import TorseurError

__all__ = ["in_numbers", "with_slipping_wheels", "without_constraints"]

T = TypeVar("T")


def in_numbers(mechanism: Mechanism) -> Mechanism:
    """Without quantities, and without parameters that have a value or a formula: what they stand for is written out."""
    given: dict[str, Scalar] = {name: p.value for name, p in mechanism.parameters.items() if p.value is not None}
    given |= {name: quantity.value for name, quantity in mechanism.quantities.items()}
    needs = {name: value.names for name, value in given.items() if isinstance(value, Formula)}
    known: dict[str, Scalar] = {name: value for name, value in given.items() if not isinstance(value, Formula)}
    for name in ordered(needs)[0]:
        known[name] = _put(given[name], known)
    rest = FrozenDict({name: p for name, p in mechanism.parameters.items() if name not in known})
    bare = mechanism.model_copy(update={"parameters": rest, "quantities": FrozenDict()})
    return _put(bare, known) if known else mechanism


def _put(value: T, known: Mapping[str, Scalar]) -> T:
    """A value with formulas inside it rewritten."""
    found: Any = value
    if isinstance(value, Formula):
        found = _scalar(value, known)
    elif isinstance(value, Record):
        old = {name: getattr(value, name) for name in type(value).model_fields}
        new = {name: _put(item, known) for name, item in old.items()}
        changed = {name: item for name, item in new.items() if item is not old[name]}
        found = value.model_copy(update=changed) if changed else value
    elif isinstance(value, dict):
        new = {key: _put(item, known) for key, item in value.items()}
        found = FrozenDict(new) if any(new[key] is not item for key, item in value.items()) else value
    elif isinstance(value, tuple):
        items = tuple(_put(item, known) for item in value)
        found = items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return found  # type: ignore[no-any-return]


def _scalar(formula: Formula, known: Mapping[str, Scalar]) -> Scalar:
    if not formula.names & known.keys():
        return formula
    new = formula.with_names({name: known[name] for name in formula.names & known.keys()})
    try:
        return new if new.names else new.value()
    except TorseurError:  # 1/0: it stays what it is, and who needs its number says so
        return new


# -- constraints left out ----------------------------------------------------------------------------------------------
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
