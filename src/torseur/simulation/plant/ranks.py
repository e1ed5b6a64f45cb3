"""The ranks of a plant's constraint rows while it runs: held numbers, set anew where the active rows change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from torseur.dynamics.constrained_motion.sampled_rows import angle_rows, length_speeds
from torseur.dynamics.constraints.closing import NumericRows
from torseur.dynamics.constraints.rank import ClosedStates
from torseur.emit import NativeFunction
from torseur.errors import ModelError
from torseur.model import Model
from torseur.model.coordinates import moved
from torseur.model.ranks import undetermined
from torseur.simulation.plant.plant import Plant
from torseur.simulation.solvers.problem import Array, Held

__all__ = ["PlantRanks"]

Evaluate = Callable[[NativeFunction | None, float, Array, Held], Any]


class PlantRanks:
    """Finds ranks at a state of a run, by continuation from there, and keeps them for each set of active rows.

    Args:
        plant: whose rows.
        model: of its mechanism.
        rows: native `Plant.rows`.
        evaluate: calls it at a time, state and held numbers.
    """

    def __init__(self, plant: Plant, model: Model, rows: NativeFunction | None, evaluate: Evaluate) -> None:
        self.plant, self.model, self._native, self._evaluate = plant, model, rows, evaluate
        names = [held.name for held in plant.parts.held]
        self._places = [names.index(name) for name in plant.rank_names]
        others = {*plant.rank_names, *plant.share_names}
        others |= {f"{slip.name}_slip_{row.part}" for slip in plant.switches.slips for row in slip.contact.rows}
        self._modes = [k for k, x in enumerate(plant.parts.held) if x.is_mode and x.name not in others]
        self._slips = {slip.name: names.index(f"{slip.name}_slips") for slip in plant.switches.slips}
        parameters = model.free_parameters
        self._parameters = [k for k, n in enumerate(parameters) if n in model.row_parameters]
        self._known: dict[bytes, tuple[Array, ModelError | None]] = {}

    def __call__(self, t: float, x: Array, held: Held) -> None:
        """Set them among the held numbers."""
        if self._places:
            held.m[self._places] = self._of(t, x, held)[0]

    def check(self, t: float, x: Array, held: Held) -> None:
        """Refuse forces that depend on a normal force which is not determined, as things are."""
        fault = self._of(t, x, held)[1] if self._places else None
        if fault is not None:
            raise fault

    def _of(self, t: float, x: Array, held: Held) -> tuple[Array, ModelError | None]:
        key = held.m[self._modes].tobytes() + held.p[self._parameters].tobytes()
        if key not in self._known:
            self._known[key] = self._found(t, x, held)
        return self._known[key]

    def of_many(self, t: float, x: Array, u: Array, p: Array) -> Array:
        """The held numbers of many states (runs, n), nothing else in them: (runs, held)."""
        m = np.zeros((len(x), len(self.plant.parts.held)))
        if self._places:
            for k in range(len(x)):
                self(t, x[k], Held(u[k], m[k], p[k]))
        return m

    def _found(self, t: float, x: Array, held: Held) -> tuple[Array, ModelError | None]:
        nq, rest = self.model.nq, x[self.model.nq :]
        frozen = Held(held.u.copy(), held.m.copy(), held.p.copy())

        def at(q: Array) -> tuple[Array, Array, Array]:
            found = [self._evaluate(self._native, t, np.concatenate([one, rest]), frozen) for one in q]
            A, L, h = (np.array([np.ravel(one[k]) if k < len(one) else [] for one in found]) for k in range(3))
            return A.reshape(len(q), -1, self.model.nv), h, L

        constraints = self.plant.bench.constraints
        rows = NumericRows(
            h=lambda q: at(q)[1],
            A=lambda q: at(q)[0],
            moved=lambda q, step: moved(self.model, q, step),
            holonomic=constraints.holonomic,
            angles=angle_rows(constraints),
            lengths=length_speeds(self.plant.bench),
            components=constraints.components,
            L=float(at(x[None, :nq])[2][0, 0]),
        )
        states = ClosedStates(rows, x[:nq])
        names = [row.owner for row in constraints.rows]
        read = {n: k for n, k in self.plant.normals_read.items() if self._is_read(n, held)}
        return states.all_ranks([row.name for row in constraints.rows]), undetermined(states, names, read)

    def _is_read(self, name: str, held: Held) -> bool:
        """Whether forces depend on a normal force, as things are."""
        return name in self.plant.always_read or (name in self._slips and held.m[self._slips[name]] > 0.5)
