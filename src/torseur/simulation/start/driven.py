"""The start of blocks and constraints together: blocks begin with what they read, and may drive constraints.

A model's inputs are held; but speeds at the start must fit the rates of what drives the constraints, so the start is
closed with a model whose inputs move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.describe.constraints import SpeedRow
from torseur.describe.fields import with_names
from torseur.describe.mechanism import Input, Mechanism
from torseur.errors import NumericalError
from torseur.model import Model, build
from torseur.simulation.blocks.parts import orders
from torseur.simulation.plant.native_plant import NativePlant
from torseur.simulation.plant.records import Records
from torseur.simulation.solvers.problem import Array, Held
from torseur.simulation.study.study import Study

__all__ = ["Beginning", "MovingInputs"]

ROUNDS = 100
"""In which a start must be found that fits the blocks which read it and drive it."""


@dataclass(frozen=True, eq=False)
class Beginning:
    """What a start is made of.

    Attributes:
        plant, records, study: of the run.
        moving: the model that starts are closed with.
    """

    plant: NativePlant
    records: Records
    moving: MovingInputs
    study: Study

    @cached_property
    def _names(self) -> list[str]:
        """The inputs that drive constraints."""
        return list(orders(self.plant.mechanism))

    def settled(self, x: Array, held: Held, closed: Callable[[Array], Array]) -> Array:
        """States (..., n) at which constraints fit what drives them, and blocks what they read.

        Args:
            x: coordinates and speeds as they are wished for.
            held: what is held there; held numbers of single runs are set to their starts.
            closed: gives states that fit the inputs of `moving`.
        """
        if not self._names:
            return self.begun(closed(self._inputs(x, held)), held)
        x = self.begun(x, held)
        before, last = self._inputs(x, held), np.inf
        for _ in range(ROUNDS):
            x = self.begun(closed(before), held)
            inputs = self._inputs(x, held)
            change = np.max(np.abs(inputs - before) / (1.0 + np.abs(inputs)), initial=0.0)
            if change <= 1e-13:
                return x
            if not change < last:
                break
            before, last = inputs, change
        raise NumericalError(
            "initial values of blocks that drive constraints depend on these constraints, and do not converge",
            where=("start",),
            got=", ".join(self._names),
            remedy="give the starts of these blocks as numbers",
        )

    def begun(self, x: Array, held: Held) -> Array:
        """The states with those of blocks at their starts; held numbers are set to theirs."""
        native = self.plant.native("starts")
        if native is None:
            return x
        begun = self.plant.evaluate(native, self.study.begin, x, held)
        names = [output.name for output in native.interface.outputs]
        values = dict(zip(names, begun if isinstance(begun, tuple) else (begun,), strict=True))
        x = x.copy()
        if "z" in values:
            x[..., self.plant.problem.columns("z")] = values["z"]
        if "m" in values and x.ndim == 1:
            held.m[:] = values["m"]
        return x

    def _inputs(self, x: Array, held: Held) -> Array:
        """The inputs of `moving` at the start; those that drive no constraint as if nothing moved."""
        begin, names = self.study.begin, self._names
        u = self.records.inputs_at(begin, held.u, held.p)
        if not names:
            return u
        values, rates = self.plant.evaluate(self.plant.native("driving"), begin, x, held)
        u = np.array(np.broadcast_to(u, (*x.shape[:-1], u.shape[-1])))
        u[..., [list(self.plant.mechanism.inputs).index(n) for n in names]] = values
        rates = rates[..., [names.index(n) for n in self.moving.names]]
        return self.moving.values(u, 0.0 * rates if self.study.start_from == "equilibrium" else rates, begin)


class MovingInputs:
    """A model whose inputs move where they drive position rows: u stands for u + u_rate (t - start_time) there.

    A model's inputs are held; but speeds at the start must fit the rates of what drives the constraints.
    """

    def __init__(self, model: Model) -> None:
        mechanism = model.mechanism
        self.names = tuple(n for n, order in orders(mechanism).items() if order == 2)
        """The inputs that move; after all inputs of the model come their rates, then the time."""
        self.model = model
        if self.names:
            time, *rates = _new_names(mechanism, ["start_time", *(f"{n}_rate" for n in self.names)])
            texts = {n: f"{n} + {rate}*(t - {time})" for n, rate in zip(self.names, rates, strict=True)}
            update = {
                "quantities": with_names(mechanism.quantities, texts),
                "inputs": {**mechanism.inputs, **{n: Input() for n in (*rates, time)}},
                "constraints": {
                    n: c if isinstance(c.form, SpeedRow) else with_names(c, texts)
                    for n, c in mechanism.constraints.items()
                },
            }
            self.model = build(mechanism.model_copy(update=update), parameters=model.given)

    def values(self, u: Array, rates: Array, time: float) -> Array:
        """All inputs of the moving model, from those of the model (..., nu) and the rates (..., n)."""
        if not self.names:
            return u
        return np.concatenate([u, rates, np.full((*rates.shape[:-1], 1), time)], axis=-1)


def _new_names(mechanism: Mechanism, wanted: Sequence[str]) -> list[str]:
    """Names that the mechanism does not use yet."""
    taken = {*mechanism.inputs, *mechanism.parameters, *mechanism.quantities, *mechanism.outputs}
    taken |= {x.name for x in (*mechanism.q, *mechanism.v)}
    longer = max((len(n) for n in taken), default=0)
    return [n if n not in taken else n + "_" * (1 + longer - len(n)) for n in wanted]
