"""Quantities of a mechanism by the reference evaluator, and how close numbers must be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from support.plain_motion import parameter_values
from torseur.describe import Mechanism
from torseur.dynamics.constrained_motion.closed_states import SampledRows
from torseur.dynamics.quantities import Options, function_of
from torseur.dynamics.tree.kinematics import Axes
from torseur.dynamics.tree.system import NORMALS
from torseur.dynamics.workbench import RANK, Workbench
from torseur.graph import Function, Role, evaluate

__all__ = ["TOLERANCE", "Evaluated", "arguments_of", "assert_same"]

TOLERANCE = 1e-10
"""Relative, of the largest entry."""


class Evaluated:
    """A mechanism whose quantities are called by name, on arrays (..., n)."""

    def __init__(self, mechanism: Mechanism, *, base_parameters: bool = True, loads: bool = True) -> None:
        self.mechanism = mechanism
        self.options = Options(base_parameters=base_parameters, loads=loads)
        self._functions: dict[tuple[str, Options], Function] = {}

    def function(self, quantity: str, frame: str | None = None, axes: Axes = Axes.OWN) -> Function:
        options = replace(self.options, frame=frame, axes=axes)
        if (quantity, options) not in self._functions:
            self._functions[quantity, options] = function_of(self.mechanism, quantity, options)
        return self._functions[quantity, options]

    def __call__(
        self,
        quantity: str,
        *args: ArrayLike,
        t: float = 0.0,
        u: ArrayLike | None = None,
        frame: str | None = None,
        axes: Axes = Axes.OWN,
    ) -> Any:
        function = self.function(quantity, frame, axes)
        found = evaluate(function, *arguments_of(self.mechanism, function, args, t, u))
        return found[0] if len(found) == 1 else found


def arguments_of(
    mechanism: Mechanism, function: Function, args: Any, t: float = 0.0, u: ArrayLike | None = None
) -> list[Any]:
    """All arguments of a function: those given, then time, inputs and parameters where it takes them."""
    values = parameter_values(mechanism)
    defaults = [x.default for x in mechanism.inputs.values()]
    rest = {Role.TIME: t, Role.INPUT: defaults if u is None else u}
    found = list(args)
    for block in function.inputs[len(args) :]:
        if block.name == RANK:
            found.append(ranks_around(mechanism, args[0]))
            continue
        if block.name == NORMALS:
            found.append([1e3] * block.size)
            continue
        found.append([values[n] for n in block.names] if block.role is Role.PARAMETER else rest[block.role])
    return found


def ranks_around(mechanism: Mechanism, q: ArrayLike) -> np.ndarray:
    """The ranks of constraint rows on the branch of a position (the first one of a batch)."""
    first = np.asarray(q, dtype=float).reshape(-1, np.shape(q)[-1])[0]
    return SampledRows(Workbench(mechanism), first).ranks


def assert_same(one: ArrayLike, other: ArrayLike, *, size: float = 1.0, tolerance: float = TOLERANCE) -> None:
    """Equal to a fraction of the largest entry, or of `size` where that is more."""
    a, b = np.asarray(one, float), np.asarray(other, float)
    assert a.shape == b.shape
    assert np.all(np.isfinite(a))
    assert np.all(np.isfinite(b))
    scale = max(size, *(float(np.max(np.abs(x), initial=0.0)) for x in (a, b)))
    worst = float(np.max(np.abs(a - b), initial=0.0))
    assert worst <= tolerance * scale, f"{worst / scale:.2e} of {scale:.3g}\n{a}\n{b}"
