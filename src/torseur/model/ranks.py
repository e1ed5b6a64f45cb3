"""The ranks of a model's constraint rows: numbers that its functions are given beside the parameters.

They belong to the branch that the start of the description lies on, and to values of the parameters; see
`torseur.dynamics.closing`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from torseur.dynamics.closing import ClosedStates, Rows, most_ranks, newton
from torseur.model.sampling import moved, start_of, unit
from torseur.spatial.joints import Quantity

if TYPE_CHECKING:
    from torseur.model.build import Model

__all__ = ["Ranks", "numeric_rows"]

Array = NDArray[np.float64]


def numeric_rows(model: Model, keywords: dict[str, Any]) -> Rows:
    """The rows of a model as functions of numbers, at a time, inputs and parameters."""
    rows, cuts = model.constraint_rows, model.mechanism.loops

    def at(quantity: str, q: Array) -> Array:
        return np.asarray(model.function(quantity)(q, **keywords))

    holonomic = [k for k, row in enumerate(rows) if row.holonomic]
    return Rows(
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


class Ranks:
    """Ranks for values of the parameters, found when they are first asked for and kept."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._known: dict[bytes, Array] = {}

    def __call__(self, p: Array | None = None) -> Array:
        """(..., 2 components): for the model's parameters, or for arrays (..., parameters) of others."""
        values = self.model.values_beside((), self.model.row_parameters) if p is None else np.asarray(p, dtype=float)
        lead = values.shape[:-1]
        flat = values.reshape(-1, values.shape[-1]) if values.shape[-1] else np.zeros((max(1, int(np.prod(lead))), 0))
        places = [k for k, n in enumerate(self.model.free_parameters) if n in self.model.row_parameters]
        keys = [row[places].tobytes() for row in flat]
        for key, row in zip(keys, flat, strict=True):
            if key not in self._known:
                self._known[key] = self._found(row)
        return np.array([self._known[key] for key in keys]).reshape(*lead, -1)

    @property
    def _names(self) -> list[str]:
        return [row.name for row in self.model.constraint_rows]

    def around(self, q: Array, keywords: dict[str, Any]) -> Array:
        """On the branch of a closed position (nq,)."""
        return ClosedStates(numeric_rows(self.model, keywords), q).all_ranks(self._names)

    def _found(self, p: Array) -> Array:
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
            return most_ranks(rows)
        return ClosedStates(rows, found.q[int(np.argmax(found.closed))]).all_ranks(self._names)
