"""The same description, changed: numbers in place of parameters, another base, constraints left out.

>>> from torseur.describe import Body, Mechanism, StandardInertia
>>> body = Body(inertia=StandardInertia(M="2*m", ZZ="m*l^2 + J"))
>>> arm = Mechanism(name="arm", parameters={"m": {"value": 3.0}, "l": {}, "J": {"value": "l*m"}}, bodies={"a": body})
>>> put = with_numbers(arm)
>>> put.bodies["a"].inertia.M, put.bodies["a"].inertia.ZZ, list(put.parameters)
(6.0, Formula('3*l^2 + (l*3)'), ['l'])
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from torseur.describe.bodies import BaseKind
from torseur.describe.evaluation import definitions
from torseur.describe.fields import FrozenDict, Scalar, rewritten
from torseur.describe.formulas import Formula, normal_of
from torseur.describe.mechanism import Mechanism
from torseur.errors import ArgumentError, TorseurError

__all__ = ["with_base", "with_numbers", "with_slipping_wheels", "without_constraints"]


def with_numbers(mechanism: Mechanism) -> Mechanism:
    """Without quantities, and without parameters that have a value or a formula: what they stand for is written out."""
    known: dict[str, Scalar] = {}
    for name, value in definitions(mechanism)[0].items():
        known[name] = _put(value, known) if isinstance(value, Formula) else value
    rest = FrozenDict({name: p for name, p in mechanism.parameters.items() if name not in known})
    bare = mechanism.model_copy(update={"parameters": rest, "quantities": FrozenDict()})
    return rewritten(bare, lambda formula: _put(formula, known)) if known else mechanism


def _put(formula: Formula, known: Mapping[str, Scalar]) -> Scalar:
    if not formula.names & known.keys():
        return formula
    new = formula.with_names({name: known[name] for name in formula.names & known.keys()})
    try:
        return new if new.names else new.value()
    except TorseurError:  # 1/0: it stays what it is, and who needs its number says so
        return new


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
    """The same without some constraints; the normal forces of these are zero, and so are loads on their wheels."""
    zeros = dict.fromkeys((normal_of(name) for name in names), 0.0)

    def zeroed(formula: Formula) -> Formula:
        return formula.with_names(zeros) if formula.names & zeros.keys() else formula

    kept = {n: rewritten(c, zeroed) for n, c in mechanism.constraints.items() if n not in names}
    tables = {name: rewritten(getattr(mechanism, name), zeroed) for name in ("loads", "outputs", "quantities")}
    tables["loads"] = FrozenDict({n: load for n, load in tables["loads"].items() if not set(load.wheels) & set(names)})
    return mechanism.model_copy(update={"constraints": FrozenDict(kept), **tables})


def with_base(mechanism: Mechanism, base: BaseKind | str) -> Mechanism:
    """The same mechanism on a base that moves otherwise; inertia, shapes and frames of the base stay.

    >>> with_base(Mechanism(name="robot"), "floating").base.kind
    <BaseKind.FLOATING: 'floating'>
    """
    words = [kind.value for kind in BaseKind]
    word = base.value if isinstance(base, BaseKind) else base
    if word not in words:
        raise ArgumentError(f"no kind of base '{word}'", where="base", expected=" or ".join(words))
    kind = BaseKind(word)
    changes = {"kind": kind} if kind is mechanism.base.kind else {"kind": kind, "coordinates": FrozenDict()}
    return mechanism.model_copy(update={"base": mechanism.base.model_copy(update=changes)})
