"""A model inserted into another: its names get a prefix, its base becomes a body of the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torseur.describe import Mechanism
from torseur.describe.annotations import Thing, renamed
from torseur.describe.bodies import BASE, Body
from torseur.describe.faults import guess
from torseur.describe.fields import FrozenDict, Scalar
from torseur.describe.formulas import Formula, normal_of
from torseur.describe.mechanism import Variable
from torseur.errors import ModelError

__all__ = ["Inserted", "inserted"]


@dataclass(frozen=True)
class Inserted:
    """What a model adds to another, by new names."""

    parameters: dict[str, Any]
    tables: dict[str, Any]
    quantities: dict[str, Any]
    bodies: dict[str, Any]
    frames: dict[str, Any]
    """Of its base, for the body it is inserted on."""
    loops: dict[str, Any]
    constraints: dict[str, Any]
    loads: dict[str, Any]
    inputs: dict[str, Any]


def inserted(
    part: Mechanism,
    prefix: str,
    onto: str,
    offered: Mapping[str, Scalar],
    given: Mapping[str, Scalar],
    where: str,
) -> Inserted:
    """A model with PREFIX_ before all its names, its base being the body `onto`.

    Args:
        part: the model.
        prefix: what its names get in front.
        onto: the body of the other model that its base becomes.
        offered: values of parameters that it may declare, in terms of the other model.
        given: values of parameters that it must have, in terms of the other model.
        where: the file, for messages.
    """
    for name in given:
        if name not in part.parameters:
            expected, remedy = guess(name, part.parameters)
            raise ModelError(f"the part has no parameter '{name}'", where=where, expected=expected, remedy=remedy)
    values = {**{n: x for n, x in offered.items() if n in part.parameters}, **given}
    new = _names(part, prefix, onto)
    things = {
        Thing.BODY: new.bodies,
        Thing.FRAME: {**new.bodies, **new.frames},
        Thing.COORDINATE: new.coordinates,
        Thing.SPEED: new.speeds,
        Thing.CONSTRAINT: new.constraints,
        Thing.INPUT: new.symbols,
        Thing.ROAD: {},
    }

    def change(formula: Formula) -> Formula:
        used = {n: x for n, x in new.symbols.items() if n in formula.names}
        tables = {n: f"{prefix}_{n}" for n, _ in formula.tables}
        return formula.with_names({**used, **tables}) if used or tables else formula

    def table(records: Mapping[str, Any]) -> dict[str, Any]:
        return {f"{prefix}_{name}": renamed(record, things, change) for name, record in records.items()}

    parameters = table(part.parameters)
    for name, value in values.items():
        key = f"{prefix}_{name}"
        parameters[key] = parameters[key].model_copy(update={"value": value})
    return Inserted(
        parameters,
        {f"{prefix}_{name}": record for name, record in part.tables.items()},
        table(part.quantities),
        {name: _own_names(body, new) for name, body in table(part.bodies).items()},
        table(part.base.frames),
        table(part.loops),
        table(part.constraints),
        table(part.loads),
        table(part.inputs),
    )


@dataclass(frozen=True)
class _Names:
    bodies: dict[str, str]
    frames: dict[str, str]
    coordinates: dict[str, str]
    speeds: dict[str, str]
    constraints: dict[str, str]
    symbols: dict[str, str]
    """All that formulas can use."""


def _names(part: Mechanism, prefix: str, onto: str) -> _Names:
    bodies = {name: f"{prefix}_{name}" for name in part.bodies} | {BASE: onto}
    frames = {name: f"{prefix}_{name}" for name in part.frames if name not in (*part.bodies, BASE, "world")}
    coordinates = {x.name: f"{prefix}_{x.name}" for x in part.q}
    speeds = {x.name: _speed(x, coordinates, prefix) for x in part.v}
    constraints = {name: f"{prefix}_{name}" for name in part.constraints}
    symbols = {name: f"{prefix}_{name}" for name in (*part.parameters, *part.quantities, *part.inputs)}
    symbols |= coordinates | speeds | {normal_of(n): normal_of(new) for n, new in constraints.items()}
    return _Names(bodies, frames, coordinates, speeds, constraints, symbols)


def _speed(speed: Variable, coordinates: Mapping[str, str], prefix: str) -> str:
    """The rate of a coordinate is called after it."""
    return f"{prefix}_{speed.name}" if speed.rate_of is None else f"d{coordinates[speed.rate_of]}"


def _own_names(body: Body, new: _Names) -> Body:
    """A body whose coordinates and frames have other names."""
    coordinates = FrozenDict({new.coordinates[name]: record for name, record in body.joint.coordinates.items()})
    frames = FrozenDict({new.frames[name]: record for name, record in body.frames.items()})
    joint = body.joint.model_copy(update={"coordinates": coordinates})
    return body.model_copy(update={"joint": joint, "frames": frames})
