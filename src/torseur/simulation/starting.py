"""Where a run starts: as given, closed, or at rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torseur.describe.constraints import Contact, Rolling
from torseur.errors import NumericalError
from torseur.model import Model, build
from torseur.model.assembly import Assembled, coordinates_from, speeds_from
from torseur.simulation.problem import Array
from torseur.simulation.study import Study

__all__ = ["first_state"]


def first_state(
    model: Model, study: Study, wanted: Mapping[str, float], inputs: Array, p: Array
) -> tuple[Array, Array]:
    """Coordinates and speeds at the start.

    What is wished for is held where constraints allow it, and otherwise taken as a guess. Contacts that may open take
    no part: whether they are closed is decided later.

    Args:
        model: of the mechanism.
        study: how it starts.
        wanted: coordinates and speeds by name.
        inputs, p: all inputs and parameters then.
    """
    names = {x.name for x in model.coordinates}
    q = {n: x for n, x in wanted.items() if n in names}
    v = {n: x for n, x in wanted.items() if n not in names}
    if study.start_from == "given":
        return coordinates_from(model, q), speeds_from(model, v)
    closed = _closed(model, study)
    keywords: dict[str, Any] = {"t": study.begin, "inputs": inputs, "parameters": p}
    if study.start_from == "equilibrium":
        rest = closed.equilibrium(q or None, hold=list(q), **keywords)
        return rest.q, speeds_from(closed, v)
    found = _assembled(closed, q, v, keywords)
    return found.q, found.v


def _assembled(model: Model, q: dict[str, float], v: dict[str, float], keywords: dict[str, Any]) -> Assembled:
    try:
        return model.assemble(q, speeds=v, hold=[*q, *v] if model.constraint_rows else (), **keywords)
    except NumericalError:
        return model.assemble(q, speeds=v, **keywords)


def _closed(model: Model, study: Study) -> Model:
    """Without what may open."""
    constraints = model.mechanism.constraints
    kept = {
        n: c
        for n, c in constraints.items()
        if not isinstance(c.form, Contact) and not (isinstance(c.form, Rolling) and c.form.lifts)
    }
    if len(kept) == len(constraints):
        return model
    return build(model.mechanism.model_copy(update={"constraints": kept}), parameters=dict(study.parameters))
