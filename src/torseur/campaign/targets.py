"""What the factors of a campaign change: parameters, starts, inputs, fields of blocks.

A field of a block becomes a parameter of the model, so that all runs share one native code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pydantic import ValidationError

from torseur.describe.checks.scope import Scope
from torseur.describe.faults import Fault, guess
from torseur.describe.fields import FrozenDict, Record
from torseur.describe.formulas import Formula
from torseur.describe.mechanism import Parameter
from torseur.errors import ArgumentError, Location
from torseur.simulation.blocks import Block, Constant
from torseur.simulation.study.study import Study

__all__ = ["Target", "Targets", "What", "known_factors", "target_of", "unknown_factor", "with_parameters", "with_seed"]

MOST_FIELDS = 400
SEED = "seed"
"""What blocks with generators call the number that decides what they draw."""


class What(Enum):
    """What a factor changes."""

    PARAMETER = "parameters"
    START = "start"
    INPUT = "inputs"
    FIELD = "blocks"
    SEED = "seeds"


@dataclass(frozen=True)
class Target:
    """What a factor changes.

    Attributes:
        what: of the study.
        name: of the parameter, coordinate, speed or input; of a field, of the parameter that takes its place.
        path: of a field: table, block, and the way inside the block.
    """

    what: What
    name: str
    path: Location = ()


Targets = Mapping[str, Target]


def target_of(study: Study, name: str) -> Target | None:
    """What a factor of this name changes; None if nothing is called so.

    Args:
        study: what is simulated.
        name: such as m2, theta1, start.theta1, law.kp.theta1 or blocks.law.kp.theta1.
    """
    head, _, rest = name.partition(".")
    plain = {what.value: names for what, names in _plain_names(study).items()}
    for word, names in plain.items():
        if name in names or (head == word and rest in names):
            return Target(What(word), name if name in names else rest)
    steps = tuple(name.split("."))
    tables = (steps[0],) if steps[0] in ("inputs", "blocks") else ("inputs", "blocks")
    inner = steps[1:] if steps[0] in ("inputs", "blocks") else steps
    for table in tables:
        block = getattr(study, table).get(inner[0]) if len(inner) > 1 else None
        if block is not None and inner[1:] == (SEED,) and isinstance(_at(block, inner[1:]), int):
            return Target(What.SEED, ".".join(inner), (table, *inner))
        if block is not None and _at(block, inner[1:]) is not _ABSENT:
            return Target(What.FIELD, "factor_" + "_".join(inner), (table, *inner))
    return None


def _plain_names(study: Study) -> dict[What, list[str]]:
    scope = Scope(study.model)
    driven = {n for n, b in study.inputs.items() if not isinstance(b, Constant)}
    driven |= {n for block in study.blocks.values() for n in getattr(block, "inputs", ()) or ()}
    free = [n for n, p in study.model.parameters.items() if not isinstance(p.value, Formula)]
    return {
        What.PARAMETER: free,
        What.START: [*scope.coordinates, *scope.speeds],
        What.INPUT: [n for n in study.model.inputs if n not in driven],
    }


def known_factors(study: Study) -> list[str]:
    """All names that a factor may have, in their short form."""
    fields = [
        ".".join((name, *map(str, path)))
        for table in (study.inputs, study.blocks)
        for name, block in table.items()
        for path in _fields(block)
    ]
    return [*(n for names in _plain_names(study).values() for n in names), *fields[:MOST_FIELDS]]


_ABSENT = object()


def _at(value: Any, path: tuple[str, ...]) -> Any:
    """What stands at a path inside a block."""
    for step in path:
        if isinstance(value, Record) and step in type(value).model_fields:
            value = getattr(value, step)
        elif isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, tuple) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return _ABSENT
    return value


def _fields(value: Any, path: Location = ()) -> Iterator[Location]:
    """The ways to all numbers and formulas inside a block."""
    if isinstance(value, Record):
        for name in type(value).model_fields:
            yield from _fields(getattr(value, name), (*path, name))
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _fields(item, (*path, name))
    elif isinstance(value, tuple):
        for k, item in enumerate(value):
            yield from _fields(item, (*path, k))
    elif isinstance(value, (float, Formula)) or (isinstance(value, int) and path[1:] == () and path[:1] == (SEED,)):
        yield path


def with_parameters(study: Study, targets: Targets, first: Mapping[str, float]) -> Study:
    """The study with parameters in place of the fields of blocks that vary; all fields that cannot are told at once.

    Args:
        study: as it is.
        targets: by factor.
        first: values of factors, which the new parameters have.
    """
    fields = {n: t for n, t in targets.items() if t.what is What.FIELD}
    if not fields:
        return study
    parameters = dict(study.model.parameters)
    tables = {table: dict(getattr(study, table)) for table in ("inputs", "blocks")}
    found = list[Fault]()
    for factor, target in fields.items():
        table, name, *inner = map(str, target.path)
        try:
            tables[table][name] = _replaced(tables[table][name], tuple(inner), target.name)
        except (ValidationError, ArgumentError):
            text, remedy = "this field takes no formula, so it cannot vary", "vary a parameter or another field"
            found.append(Fault(("factors", factor), text, remedy=remedy))
        if target.name in parameters or target.name in Scope(study.model).symbols:
            found.append(Fault(("factors", factor), f"the model has a '{target.name}' of its own", remedy="rename it"))
        parameters[target.name] = Parameter(value=first[factor], description=f"factor {factor}")
    if found:
        raise Fault.of(found)
    model = study.model.model_copy(update={"parameters": FrozenDict(parameters)})
    return study.model_copy(update={"model": model, **{n: FrozenDict(t) for n, t in tables.items()}})


def with_seed(study: Study, target: Target, seed: int) -> Study:
    """The study with another seed of a block."""
    table, name = map(str, target.path[:2])
    blocks = dict(getattr(study, table))
    blocks[name] = blocks[name].model_copy(update={SEED: seed})
    return study.model_copy(update={table: FrozenDict(blocks)})


def _replaced(block: Block, path: tuple[str, ...], parameter: str) -> Block:
    """A block with the name of a parameter at a path."""
    fields = {name: getattr(block, name) for name in type(block).model_fields}
    made = type(block).model_validate(_put(fields, path, parameter))
    at = _at(made, path)
    if not isinstance(at, Formula) or at.text != parameter:
        raise ArgumentError("no formula may stand here")
    return made


def _put(value: Any, path: tuple[str, ...], parameter: str) -> Any:
    if not path:
        return parameter
    if isinstance(value, Record):
        value = {name: getattr(value, name) for name in type(value).model_fields}
    if isinstance(value, tuple):
        items = list(value)
        items[int(path[0])] = _put(items[int(path[0])], path[1:], parameter)
        return tuple(items)
    return {**value, path[0]: _put(value[path[0]], path[1:], parameter)}


def unknown_factor(study: Study, name: str, path: Location) -> Fault:
    """A factor that is nothing of the study, with names that look like it."""
    derived = study.model.parameters.get(name.removeprefix("parameters."))
    if derived is not None and isinstance(derived.value, Formula):
        text = f"the parameter '{name}' is a formula of others"
        return Fault(path, text, got=derived.value.text[:80], remedy="vary those it is a formula of")
    expected, remedy = guess(name, known_factors(study))
    text = f"no parameter, start, free input or field of a block '{name}'"
    return Fault(path, text, expected=expected, remedy=remedy, about=name)
