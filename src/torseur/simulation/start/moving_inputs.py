"""A model for the start of a run whose inputs move: speeds must fit the rates of what drives the constraints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torseur.describe.constraints import SpeedRow
from torseur.describe.fields import with_names
from torseur.describe.mechanism import Input, Mechanism
from torseur.model import Model, build
from torseur.simulation.blocks.input_rates import orders
from torseur.simulation.solvers.problem import Array

__all__ = ["MovingInputs"]


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
