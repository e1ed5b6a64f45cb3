"""The ranks of a model's constraint rows: numbers that its functions are given beside the parameters.

They belong to the branch that the start of the description lies on, and to values of the parameters; see
`torseur.dynamics.constraints.rank`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from torseur.dynamics.constraints.closing import NumericRows, newton
from torseur.dynamics.constraints.rank import ClosedStates, most_ranks
from torseur.errors import ModelError
from torseur.model.coordinates import moved, start_of, unit
from torseur.spatial.joints import Quantity

if TYPE_CHECKING:
    from torseur.model.model import Model

__all__ = ["Ranks", "numeric_rows", "undetermined"]

Array = NDArray[np.float64]


def numeric_rows(model: Model, keywords: dict[str, Any]) -> NumericRows:
    """The rows of a model as functions of numbers, at a time, inputs and parameters."""
    rows, cuts = model.constraint_rows, model.mechanism.loops

    def at(quantity: str, q: Array) -> Array:
        return np.asarray(model.function(quantity)(q, **keywords))

    holonomic = [k for k, row in enumerate(rows) if row.holonomic]
    return NumericRows(
        h=lambda q: at("closure", q) if holonomic else np.zeros((*q.shape[:-1], 0)),
        A=lambda q: at("constraint_jacobian", q) if rows else np.zeros((*q.shape[:-1], 0, model.nv)),
        moved=lambda q, step: moved(model, q, step),
        holonomic=holonomic,
        angles=np.array([row.is_angle for row in rows], dtype=bool),
        lengths=np.array([x.quantity is Quantity.SPEED for x in model.speeds], dtype=bool),
        components=model.constraint_components,
        L=float(np.max(model.function("mechanism_length")(parameters=keywords.get("parameters")))),
        sides=lambda q: at("closing_sides", q).min(axis=-1) if cuts else np.ones(q.shape[:-1]),
    )


def undetermined(states: ClosedStates, owners: Sequence[str], read: Mapping[str, int]) -> ModelError | None:
    """What is wrong with forces that depend on a normal force which redundant constraints leave undetermined.

    Args:
        states: where it is judged.
        owners: of all rows.
        read: name of a constraint -> the place of the row whose multiplier is its normal force.
    """
    faults = []
    for name, row in read.items():
        shared = states.shares(row)
        if shared:
            others = ", ".join(dict.fromkeys(owners[k] for k in shared))
            faults.append(
                ModelError(
                    f"the normal force of '{name}' is not determined: rigid constraints share it in many ways",
                    where=("constraints", name),
                    expected="a normal force that loads depend on, normal(...) or friction, is determined",
                    got=f"it is shared with {others}",
                    remedy="put a spring between, or take out what is redundant",
                )
            )
    return ModelError.of(faults) if faults else None


class Ranks:
    """Ranks for values of the parameters, found when they are first asked for and kept."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._known: dict[bytes, tuple[Array, ModelError | None]] = {}

    def __call__(self, p: Array | None = None) -> Array:
        """(..., 2 components): for the model's parameters, or for arrays (..., parameters) of others."""
        lead, found = self._of(p)
        return np.array([ranks for ranks, _ in found]).reshape(*lead, -1)

    def check_normals(self, p: Array | None = None) -> None:
        """Refuse normal forces that loads depend on and that are not determined, for values of the parameters."""
        for _, fault in self._of(p)[1]:
            if fault is not None:
                raise fault

    def _of(self, p: Array | None) -> tuple[tuple[int, ...], list[tuple[Array, ModelError | None]]]:
        values = self.model.values_beside((), self.model.row_parameters) if p is None else np.asarray(p, dtype=float)
        lead = values.shape[:-1]
        flat = values.reshape(-1, values.shape[-1]) if values.shape[-1] else np.zeros((max(1, int(np.prod(lead))), 0))
        places = [k for k, n in enumerate(self.model.free_parameters) if n in self.model.row_parameters]
        keys = [row[places].tobytes() for row in flat]
        for key, row in zip(keys, flat, strict=True):
            if key not in self._known:
                self._known[key] = self._found(row)
        return lead, [self._known[key] for key in keys]

    @property
    def _names(self) -> list[str]:
        return [row.name for row in self.model.constraint_rows]

    def around(self, q: Array, keywords: dict[str, Any]) -> Array:
        """On the branch of a closed position (nq,)."""
        return ClosedStates(numeric_rows(self.model, keywords), q).all_ranks(self._names)

    def _found(self, p: Array) -> tuple[Array, ModelError | None]:
        model = self.model
        keywords = {"parameters": p} if len(p) else {}
        rows = numeric_rows(model, keywords)
        start = unit(model.mechanism, start_of(model))
        found = newton(rows, start[None])
        if not found.closed[0]:
            rng = np.random.default_rng(0)
            steps = rng.normal(size=(24, model.nv)) * np.geomspace(0.05, 2.0, 24)[:, None]
            found = newton(rows, rows.moved(np.tile(start, (24, 1)), steps))
        if not found.closed.any():
            return most_ranks(rows), None
        states = ClosedStates(rows, found.q[int(np.argmax(found.closed))])
        return states.all_ranks(self._names), self._undetermined(states)

    def _undetermined(self, states: ClosedStates) -> ModelError | None:
        owners = [row.owner for row in self.model.constraint_rows]
        read = {n: k for n, k in self.model.normal_rows.items() if n in self.model.mechanism.normals_read}
        return undetermined(states, owners, read)
