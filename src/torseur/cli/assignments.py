"""``NAME=VALUE`` on the command line: numbers by name, and parameters, starts and inputs of a study."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from torseur.describe.faults import guess
from torseur.describe.formulas import Formula
from torseur.errors import ArgumentError, GraphError, ModelError

if TYPE_CHECKING:
    from torseur.simulation.study.study import Study

__all__ = ["assigned", "number", "numbers", "pair"]


def pair(text: str, where: str = "--set") -> tuple[str, str]:
    """The two sides of ``name=value``."""
    name, mark, value = (part.strip() for part in text.partition("="))
    if not mark or not name or not value:
        raise ArgumentError("not a pair", where=where, expected="NAME=VALUE", got=text)
    return name, value


def numbers(given: Iterable[str], where: str) -> dict[str, float]:
    """Pairs with commas between them; a value is a number or a formula without names.

    >>> numbers(["q1=0.5,q2=1/4", "q3=2"], "--pose")
    {'q1': 0.5, 'q2': 0.25, 'q3': 2.0}
    """
    pairs = (pair(part, where) for text in given for part in text.split(",") if part.strip())
    return {name: number(name, value, where) for name, value in pairs}


def assigned(study: Study, given: Iterable[str]) -> dict[str, Any]:
    """Fields of a study with the pairs put in: its tables of parameters, starts and inputs, where they change.

    >>> from torseur.describe import Mechanism
    >>> from torseur.simulation.study.study import Study
    >>> model = Mechanism(name="m", parameters={"l": {"value": 2.0}}, inputs={"u": {}})
    >>> assigned(Study(model=model), ["l=1/4", "u=sin(t)"])
    {'parameters': {'l': 0.25}, 'inputs': {'u': 'sin(t)'}}
    """
    tables: dict[str, dict[str, Any]] = {}
    for name, value in (pair(text) for text in given):
        field = _field_of(study, name)
        table = tables.setdefault(field, dict(getattr(study, field)))
        table[name] = _formula(name, value) if field == "inputs" else number(name, value)
        if field == "start" and name in study.guess:
            tables.setdefault("guess", dict(study.guess)).pop(name, None)
    return dict(tables)


def _field_of(study: Study, name: str) -> str:
    model = study.model
    variables = [x.name for x in (*model.q, *model.v)]
    for field, names in (("parameters", model.parameters), ("start", variables), ("inputs", model.inputs)):
        if name in names:
            return field
    expected, remedy = guess(name, [*variables, *model.inputs, *model.parameters])
    text = f"'{name}' is not a parameter, coordinate, speed or input"
    raise ArgumentError(text, where="--set", expected=expected, remedy=remedy)


def number(name: str, text: str, where: str = "--set") -> float:
    """A number, or a formula without names."""
    try:
        formula = Formula(text)
        if not formula.names:
            return formula.value()
    except (ModelError, GraphError) as error:
        raise ArgumentError(f"the value of '{name}' is not a number", where=where, got=f"{text}: {error}") from error
    names = ", ".join(sorted(formula.names))
    raise ArgumentError(f"the value of '{name}' is not a number", where=where, got=f"{text}, which needs {names}")


def _formula(name: str, text: str) -> str:
    try:
        Formula(text)
    except ModelError as error:
        raise ArgumentError(f"the value of '{name}' is not a formula", where="--set", got=f"{text}: {error}") from error
    return text
