"""A description with numbers in place of the parameters that have one.

>>> from torseur.describe import Body, Mechanism, StandardInertia
>>> body = Body(inertia=StandardInertia(M="2*m", ZZ="m*l^2 + J"))
>>> arm = Mechanism(name="arm", parameters={"m": {"value": 3.0}, "l": {}, "J": {"value": "l*m"}}, bodies={"a": body})
>>> put = in_numbers(arm)
>>> put.bodies["a"].inertia.M, put.bodies["a"].inertia.ZZ, list(put.parameters)
(6.0, Formula('3*l^2 + (l*3)'), ['l'])
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from torseur.describe.checks.order import ordered
from torseur.describe.fields import FrozenDict, Record, Scalar
from torseur.describe.formulas import Formula
from torseur.describe.mechanism import Mechanism
from torseur.errors import TorseurError

__all__ = ["in_numbers"]

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
