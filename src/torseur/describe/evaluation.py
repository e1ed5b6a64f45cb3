"""The numbers of a description: formulas of parameters and quantities, in order and worked out; and the same
description, changed: numbers in place of parameters, another base, constraints left out."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from torseur.describe.bodies import BaseKind
from torseur.describe.faults import listed
from torseur.describe.fields import FrozenDict, Scalar, Triple, names_in, rewritten
from torseur.describe.formulas import Formula, normal_of
from torseur.describe.mechanism import Mechanism
from torseur.describe.place import Place, pose_after, pose_before, pose_of, vector
from torseur.errors import ArgumentError, TorseurError
from torseur.graph import Expr, Graph
from torseur.spatial.pose import Pose
from torseur.spatial.vectors import Vector

__all__ = [
    "NoNumber",
    "Numbers",
    "definitions",
    "topological_order",
    "with_base",
    "with_numbers",
    "with_slipping_wheels",
    "without_constraints",
]


def topological_order(needs: Mapping[str, Iterable[str]]) -> tuple[list[str], list[tuple[str, ...]]]:
    """The names, each after those it needs, and the cycles found on the way.

    >>> topological_order({"a": ["b"], "b": ["c"], "c": [], "x": ["y"], "y": ["x"]})
    (['c', 'b', 'a', 'y', 'x'], [('x', 'y')])
    """
    done: dict[str, None] = {}
    cycles: list[tuple[str, ...]] = []
    for start in needs:
        if start in done:
            continue
        way = {start: iter(sorted(needs[start]))}  # a stack that knows what is on it
        while way:
            name = next(reversed(way))
            following = next((other for other in way[name] if other in needs and other not in done), None)
            if following is None:
                del way[name]
                done[name] = None
            elif following in way:
                names = list(way)
                cycles.append(tuple(names[names.index(following) :]))
            else:
                way[following] = iter(sorted(needs[following]))
    return list(done), cycles


def definitions(mechanism: Mechanism) -> tuple[dict[str, Scalar], list[tuple[str, ...]]]:
    """What parameters with a value, and quantities, stand for, each after those it uses; and the cycles among them.

    >>> arm = Mechanism(name="arm", parameters={"J": {"value": "m*l"}, "l": {}, "m": {"value": 2.0}})
    >>> definitions(arm)
    ({'m': 2.0, 'J': Formula('m*l')}, [])
    """
    given: dict[str, Scalar] = {name: quantity.value for name, quantity in mechanism.quantities.items()}
    given |= {name: p.value for name, p in mechanism.parameters.items() if p.value is not None}
    order, cycles = topological_order({name: x.names for name, x in given.items() if isinstance(x, Formula)})
    numbers = [name for name, value in given.items() if not isinstance(value, Formula)]
    return {name: given[name] for name in (*numbers, *order)}, cycles


class NoNumber(Exception):
    """A formula that depends on something without a value; the message says on what."""


class Numbers:
    """Scalars and places of a mechanism as numbers, where they have any.

    Attributes:
        known: the parameters and quantities that have a number, by themselves or by formula.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.tables = mechanism.lookups
        self._values: dict[Formula, float | None] = {}
        self.known: dict[str, float] = {}
        for name, scalar in definitions(mechanism)[0].items():
            value = self.value(scalar)
            if value is not None:
                self.known[name] = value

    def value(self, scalar: Scalar | None) -> float | None:
        """The number of a scalar, if it has one."""
        if not isinstance(scalar, Formula):
            return scalar
        if scalar not in self._values:
            self._values[scalar] = self._evaluated(scalar)
        return self._values[scalar]

    def _evaluated(self, formula: Formula) -> float | None:
        if not formula.names <= self.known.keys():
            return None
        try:
            return formula.value({name: self.known[name] for name in formula.names}, self.tables)
        except TorseurError:  # it has no value at all: 1/0, sqrt(-1)
            return None

    def values(self, scalars: tuple[Scalar, ...] | None) -> tuple[float, ...] | None:
        """The numbers of several scalars, if all have one."""
        results = tuple(self.value(scalar) for scalar in scalars or ())
        numbers = tuple(number for number in results if number is not None)
        return numbers if scalars is not None and len(numbers) == len(results) else None

    # -- numbers that are needed ---------------------------------------------------------------------------------------
    def check(self, *records: object) -> None:
        """Refuse records in which something has no value."""
        missing = sorted(names_in(list(records)) - self.known.keys())
        if missing:
            raise NoNumber(f"no value for {listed(missing)}")

    def scalar(self, scalar: Scalar) -> float:
        """The number of a scalar that must have one."""
        self.check(scalar)
        value = self.value(scalar)
        if value is None or not math.isfinite(value):
            raise NoNumber(f"{scalar} has no value")
        return value

    def triple(self, values: Triple) -> tuple[float, float, float]:
        x, y, z = (self.scalar(value) for value in values)
        return (x, y, z)

    @cached_property
    def g(self) -> Graph:
        """Of the expressions that are numbers."""
        return Graph()

    def expr(self, scalar: Scalar) -> Expr:
        """The number as an expression."""
        return self.g.number(self.scalar(scalar))

    def vector(self, values: Triple) -> Vector:
        return vector(values, self.expr)

    def before(self, place: Place) -> Pose:
        """The part of a place before the motion of the joint."""
        return pose_before(self.g, place, self.expr)

    def after(self, place: Place) -> Pose:
        """The part behind it: a and alpha of a standard Denavit-Hartenberg row."""
        return pose_after(self.g, place, self.expr)

    def whole(self, place: Place) -> Pose:
        return pose_of(self.g, place, self.expr)


def with_numbers(mechanism: Mechanism) -> Mechanism:
    """Without quantities, and without parameters that have a value or a formula: what they stand for is written out.

    >>> from torseur.describe import Body, Mechanism, StandardInertia
    >>> body = Body(inertia=StandardInertia(M="2*m", ZZ="m*l^2 + J"))
    >>> parameters = {"m": {"value": 3.0}, "l": {}, "J": {"value": "l*m"}}
    >>> arm = Mechanism(name="arm", parameters=parameters, bodies={"a": body})
    >>> put = with_numbers(arm)
    >>> put.bodies["a"].inertia.M, put.bodies["a"].inertia.ZZ, list(put.parameters)
    (6.0, Formula('3*l^2 + (l*3)'), ['l'])
    """
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
