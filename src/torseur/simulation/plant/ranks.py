"""The ranks of a plant's constraint rows while it runs: held numbers, set anew where the active rows change."""

from __future__ import annotations

import numpy as np

from torseur.dynamics.constraints.closing import NumericRows
from torseur.dynamics.constraints.rank import ClosedStates
from torseur.errors import ModelError
from torseur.model import Model
from torseur.model.rows import moved, undetermined
from torseur.simulation.plant.native_plant import NativePlant
from torseur.simulation.solvers.problem import Array, Held

__all__ = ["PlantRanks"]


class PlantRanks:
    """Finds ranks at a state of a run, by continuation from there, and keeps them for each set of active rows.

    Args:
        plant: whose rows.
        model: of its mechanism.
    """

    def __init__(self, plant: NativePlant, model: Model) -> None:
        self.plant, self.facts, self.model = plant, plant.facts, model
        facts, names, slips = plant.facts, plant.facts.held_names, plant.facts.switches.slips
        self._places = [names.index(name) for name in facts.ranks]
        directions = {place for slip in slips for place in slip.axes}
        others = {*facts.ranks, *facts.shares}
        self._modes = [
            k for k, x in enumerate(facts.held) if x.is_mode and x.name not in others and k not in directions
        ]
        self._slips = {slip.name: slip.mode for slip in slips}
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
        m = np.zeros((len(x), len(self.facts.held)))
        if self._places:
            for k in range(len(x)):
                self(t, x[k], Held(u[k], m[k], p[k]))
        return m

    def _found(self, t: float, x: Array, held: Held) -> tuple[Array, ModelError | None]:
        nq, rest = self.model.nq, x[self.model.nq :]
        frozen = Held(held.u.copy(), held.m.copy(), held.p.copy())
        facts, native = self.facts, self.plant.native("rows")

        def at(q: Array) -> tuple[Array, Array, Array]:
            found = [self.plant.evaluate(native, t, np.concatenate([one, rest]), frozen) for one in q]
            A, L, h = (np.array([np.ravel(one[k]) if k < len(one) else [] for one in found]) for k in range(3))
            return A.reshape(len(q), -1, self.model.nv), h, L

        rows = NumericRows(
            h=lambda q: at(q)[1],
            A=lambda q: at(q)[0],
            moved=lambda q, step: moved(self.model, q, step),
            holonomic=facts.holonomic,
            angles=facts.angles,
            lengths=np.array(facts.lengths, dtype=bool),
            components=facts.components,
            L=float(at(x[None, :nq])[2][0, 0]),
        )
        states = ClosedStates(rows, x[:nq])
        owners = [row.owner for row in facts.rows]
        read = {n: k for n, k in facts.normals.items() if self._is_read(n, held)}
        return states.all_ranks([row.name for row in facts.rows]), undetermined(states, owners, read)

    def _is_read(self, name: str, held: Held) -> bool:
        """Whether forces depend on a normal force, as things are."""
        return name in self.facts.always_read or (name in self._slips and held.m[self._slips[name]] > 0.5)
