"""The description of a mechanism: frozen, typed, without any computation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal, Self

from pydantic import Field, SerializeAsAny, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.annotations import Anything
from torseur.describe.bodies import BASE, WORLD, Axis, Base, BaseKind, Body, Coordinate, Road
from torseur.describe.constraints import Constraint, Loop
from torseur.describe.fields import FrozenDict, Name, Number, Record, Scalar, Table, Triple, names_in
from torseur.describe.formula_words import Lookup
from torseur.describe.formulas import normal_of
from torseur.describe.loads import Load
from torseur.errors import ModelError
from torseur.graph import Interpolation, Outside
from torseur.spatial.joints import CoordinateInfo, Quantity

__all__ = ["Input", "LookupTable", "Mechanism", "NamedQuantity", "Output", "Parameter", "Variable"]

_BETWEEN = {
    "linear": Interpolation.LINEAR,
    "monotone": Interpolation.MONOTONE_CUBIC,
    "smooth": Interpolation.SMOOTH,
}


class LookupTable(Record):
    """A curve over one variable, or a surface over two, through points.

    Numbers may stand in a file (CSV) beside the model; reading the model puts them in. One variable: two columns. Two:
    the values of y in the first line, after its first cell, then on each line x and the values there.
    """

    x: tuple[Number, ...] = Field((), description="points of the first variable, increasing")
    y: tuple[Number, ...] | None = Field(None, description="points of the second variable, increasing")
    values: tuple[Number, ...] | tuple[tuple[Number, ...], ...] = Field(
        (), description="one for each x; with y, a list over y for each x"
    )
    between: Literal["linear", "monotone", "smooth"] = Field(
        "linear", description="straight, cubics that do not overshoot, or a cubic spline: its curvature is continuous"
    )
    outside: Literal["hold", "extend"] = Field("hold", description="beyond the ends: the end value, or the end slope")
    file: str | None = Field(None, max_length=1000, description="in place of the numbers: a file beside the model")
    columns: tuple[str | int, str | int] = Field((1, 2), description="of the file: x and values, by name or number")
    grid: bool = Field(False, strict=True, description="of the file: whether it holds a surface")
    unit: str | None = Field(None, max_length=40, description="of the values, in words")
    description: str | None = Field(None, max_length=500, description="what it is")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.file is not None:
            if self.x or self.y is not None or self.values:
                raise PydanticCustomError("choice", "give a file, or x and values")
            return self
        try:
            _ = self.lookup
        except ModelError as error:
            text = f"{error.what}; expected {error.expected}, got {error.got}"
            raise PydanticCustomError("table", "{text}", {"text": text}) from None
        return self

    @property
    def lookup(self) -> Lookup:
        """The table itself."""
        if self.file is not None:
            remedy = "torseur.load reads it"
            raise ModelError("the numbers of a table are in a file, which was not read", got=self.file, remedy=remedy)
        rows = [value for value in self.values if isinstance(value, tuple)]
        flat = [value for value in self.values if not isinstance(value, tuple)]
        if (rows if self.y is None else flat) or not self.values:
            expected = "a number for each x" if self.y is None else "a list over y for each x"
            raise ModelError("the values of a table do not fit its points", expected=expected, got="another form")
        axes = (self.x,) if self.y is None else (self.x, self.y)
        return Lookup(axes, tuple(rows) or (tuple(flat),), _BETWEEN[self.between], Outside(self.outside))


class Parameter(Record):
    """A named number of the model; without a value it stays a symbol until one is given."""

    value: Scalar | None = Field(None, description="a number, or a formula of other parameters")
    unit: str | None = Field(None, max_length=40, description="unit, as a label: nothing is converted")
    description: str | None = Field(None, max_length=500, description="what it is")


class Input(Record):
    """A signal from outside."""

    default: Number = Field(0.0, description="its value while nothing drives it")
    unit: str | None = Field(None, max_length=40, description="unit, as a label: nothing is converted")
    description: str | None = Field(None, max_length=500, description="what it is")


class NamedQuantity(Record):
    """A formula with a name: other formulas may use it, runs record it, equations print it."""

    value: Anything = Field(description="formula of coordinates, speeds, inputs, parameters, t and other quantities")
    unit: str | None = Field(None, max_length=40, description="unit, as a label: nothing is converted")
    description: str | None = Field(None, max_length=500, description="what it is")


class Output(Record):
    """A named quantity to record."""

    value: Anything = Field(description="formula of coordinates, speeds, inputs, parameters and t")
    unit: str | None = Field(None, max_length=40, description="unit, as a label: nothing is converted")
    description: str | None = Field(None, max_length=500, description="what it is")


@dataclass(frozen=True)
class Variable:
    """A coordinate or a speed in the order of q or v.

    Attributes:
        name: as it is called.
        owner: what it belongs to.
        quantity: length, angle, speed, ...
        meaning: in words.
        start: its value at the start, or where the search for one begins.
        held: whether the description names that value as the start; otherwise it may move while loops close.
        rate_of: of a speed, the coordinate it is the rate of, if there is one.
    """

    name: str
    owner: str
    quantity: Quantity
    meaning: str
    start: Scalar
    held: bool = False
    rate_of: str | None = None

    @property
    def unit(self) -> str:
        return self.quantity.value


class Mechanism(Record):
    """Bodies on a tree of joints, what closes and constrains them, what loads them, and the numbers in it.

    Bodies hang on their parents in any order of the file; q is the base's coordinates, then those of the bodies in file
    order, then those declared for free-form kinematics; v likewise.
    """

    name: Name = Field(description="name of the mechanism")
    title: str | None = Field(None, max_length=500, description="description")
    parameters: Table[Parameter] = Field(FrozenDict(), description="named numbers")
    tables: Table[LookupTable] = Field(FrozenDict(), description="curves and surfaces that formulas look up")
    quantities: Table[NamedQuantity] = Field(FrozenDict(), description="formulas with a name")
    gravity: Triple = Field((0.0, 0.0, -9.81), description="acceleration of gravity in world axes, m/s2")
    base: Base = Field(Base(), description="the root body of the tree")
    coordinates: Table[Coordinate] = Field(FrozenDict(), description="coordinates of free-form kinematics")
    bodies: Table[Body] = Field(FrozenDict(), description="the bodies, in the order of their coordinates in q")
    loops: Table[Loop] = Field(FrozenDict(), description="cut joints, which close chains")
    roads: Table[Road] = Field(FrozenDict(), description="ground that wheels roll on")
    constraints: Table[Constraint] = Field(FrozenDict(), description="constraints beside the joints")
    loads: Table[SerializeAsAny[Load]] = Field(
        FrozenDict(), description="forces and torques: springs, motors, wrenches"
    )
    inputs: Table[Input] = Field(FrozenDict(), description="signals from outside")
    outputs: Table[Output] = Field(FrozenDict(), description="quantities to record")
    notes: tuple[str, ...] = Field((), description="remarks of the reader of a file")

    def __repr__(self) -> str:
        """In one line; all of it is what `model_dump` gives, and files."""
        bodies = f"{len(self.bodies)} bod{'y' if len(self.bodies) == 1 else 'ies'}"
        return f"<Mechanism {self.name}: {bodies}, {len(self.q)} coordinates, {len(self.v)} speeds>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        return str(import_module("torseur.views.notebook").mechanism_html(self))

    def _repr_svg_(self) -> str:
        """Its scheme, where a notebook is turned into something else than a page."""
        return str(import_module("torseur.views.notebook").mechanism_svg(self))

    @property
    def q(self) -> tuple[Variable, ...]:
        """The coordinates, in order."""
        return tuple(self._variables(speeds=False))

    @property
    def v(self) -> tuple[Variable, ...]:
        """The speeds, in order."""
        return tuple(self._variables(speeds=True))

    @property
    def rates(self) -> dict[str, str]:
        """Coordinates with a speed of their own -> that speed."""
        return {x.rate_of: x.name for x in self.v if x.rate_of is not None}

    def names_in(self, value: Any) -> frozenset[str]:
        """Every name that formulas inside a value use, those that named quantities stand for included."""
        names, waiting = set[str](), set(names_in(value))
        while waiting:
            names |= waiting
            defined = [self.quantities[name].value for name in waiting if name in self.quantities]
            waiting = set(names_in(defined)) - names
        return frozenset(names)

    @property
    def lookups(self) -> dict[str, Lookup]:
        """The tables that formulas may look up."""
        return {name: table.lookup for name, table in self.tables.items() if table.file is None}

    @property
    def frames(self) -> dict[str, str]:
        """Every frame that can be named -> the body it sits on."""
        carriers = {WORLD: WORLD, BASE: BASE, **{name: name for name in self.bodies}}
        for body, frames in [(BASE, self.base.frames), *((n, b.frames) for n, b in self.bodies.items())]:
            carriers |= dict.fromkeys(frames, body)
        return carriers

    def _variables(self, *, speeds: bool) -> Iterator[Variable]:
        kind = self.base.joint_kind
        names = tuple(self.base.coordinates) or self.base.default_names
        infos = kind.speeds if speeds else kind.coordinates
        if speeds and self.base.kind is BaseKind.CARRIER:
            infos = tuple(_rate_of(info) for info in kind.coordinates)
        yield from _named(BASE, infos, names, self.base.coordinates, speeds)
        for body, record in self.bodies.items():
            algebra = record.joint.algebra
            infos = algebra.speeds if speeds else algebra.coordinates
            if record.joint.axis != "z":
                infos = tuple(_about(info, record.joint.axis) for info in infos)
            names = tuple(record.joint.coordinates) or default_names(body, algebra.coordinates)
            yield from _named(body, infos, names, record.joint.coordinates, speeds)
        for name, coordinate in self.coordinates.items():
            quantity = Quantity.LENGTH if coordinate.unit == "m" else Quantity.ANGLE
            if speeds:
                quantity = Quantity.SPEED if coordinate.unit == "m" else Quantity.ANGULAR_SPEED
            info = CoordinateInfo("", quantity, coordinate.meaning or "coordinate of free-form kinematics")
            yield from _named("free form", (info,), (name,), {name: coordinate}, speeds)

    @property
    def pushing(self) -> tuple[str, ...]:
        """The constraints with a normal force: contacts and rolling wheels, those with a stiffness aside."""
        rigid = {n for n, c in self.constraints.items() if c.rolling is not None and c.rolling.stiffness is None}
        return tuple(n for n, c in self.constraints.items() if c.contact is not None or n in rigid)

    @property
    def compliant(self) -> tuple[str, ...]:
        """The rolling wheels whose normal force is that of a spring."""
        wheels = {n: c.rolling for n, c in self.constraints.items() if c.rolling is not None}
        return tuple(n for n, wheel in wheels.items() if wheel.stiffness is not None)

    @property
    def normals_read(self) -> tuple[str, ...]:
        """The constraints whose normal forces loads depend on, friction of contacts among them."""
        used = self.names_in(dict(self.loads)) | {normal_of(n) for x in self.loads.values() for n in x.wheels}
        rough = [n for n, c in self.constraints.items() if c.contact is not None and c.contact.friction is not None]
        used |= self.names_in([self.constraints[n] for n in rough])
        return tuple(n for n in self.pushing if n in rough or normal_of(n) in used)

    @property
    def load_results(self) -> tuple[str, ...]:
        """What loads compute on their way, by the names that formulas of studies call it."""
        return tuple(f"{name}_{key}" for name, load in self.loads.items() for key in load.result_keys)

    @property
    def is_tree(self) -> bool:
        """Whether there are neither loops nor constraints."""
        return not self.loops and not self.constraints

    @property
    def has_moving_base(self) -> bool:
        return self.base.kind is not BaseKind.FIXED


_PLAIN = Coordinate()


def _about(info: CoordinateInfo, axis: Axis) -> CoordinateInfo:
    """The motion of a joint in words, where its axis is not z."""
    name = (
        axis if isinstance(axis, str) else f"[{', '.join(f'{x:g}' if isinstance(x, float) else x.text for x in axis)}]"
    )
    text = re.sub(r"\b(about|along) z\b", rf"\1 {name}", info.meaning)
    return replace(info, meaning=re.sub(r" of the (parent|child)$", " of the plane", text))


def _rate_of(info: CoordinateInfo) -> CoordinateInfo:
    quantity = Quantity.SPEED if info.quantity is Quantity.LENGTH else Quantity.ANGULAR_SPEED
    return CoordinateInfo(info.suffix, quantity, f"rate of the {info.meaning}")


def default_names(body: str, infos: tuple[CoordinateInfo, ...]) -> tuple[str, ...]:
    """Coordinates that were given no name are called after their body."""
    return tuple(f"q_{body}" if not info.suffix else f"{body}_{info.suffix}" for info in infos)


def _named(
    owner: str,
    infos: tuple[CoordinateInfo, ...],
    names: tuple[str, ...],
    given: dict[str, Coordinate],
    speeds: bool,
) -> Iterator[Variable]:
    """Coordinates keep their names; a speed that is the rate of a coordinate is called d<coordinate>, others v, w."""
    for k, info in enumerate(infos):
        known = given.get(names[k], _PLAIN) if k < len(names) else _PLAIN
        if not speeds:
            start, held = _first(info.neutral, known.start, known.guess)
            yield Variable(names[k], owner, info.quantity, known.meaning or info.meaning, start, held)
            continue
        is_rate = len(infos) == len(names) and not info.suffix.startswith(("v", "w"))
        name = f"d{names[k]}" if is_rate else info.suffix if owner == BASE else f"{owner}_{info.suffix}"
        start, held = _first(0.0, known.start_speed, known.guess_speed) if is_rate else (0.0, False)
        yield Variable(name, owner, info.quantity, info.meaning, start, held, names[k] if is_rate else None)


def _first(neutral: Scalar, start: Scalar | None, guess: Scalar | None) -> tuple[Scalar, bool]:
    """A value at the start, and whether it is held there."""
    if start is not None:
        return start, True
    return (neutral if guess is None else guess), False
