"""Coordinates of a model as numbers: their limits, unit quaternions, steps along speeds, random states."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from torseur.describe import BASE, Coordinate, Mechanism
from torseur.describe.fields import Scalar
from torseur.dynamics.parameters.closed_structures import projected_regressor
from torseur.dynamics.parameters.regressor import standard_parameters
from torseur.dynamics.tree.system import System
from torseur.dynamics.workbench import Options, Workbench
from torseur.graph import Function, evaluate
from torseur.graph.function import reachable
from torseur.spatial.joints import Quantity

if TYPE_CHECKING:
    from torseur.model.model import Model

__all__ = ["is_of_base", "limits", "moved", "random_coordinates", "rates_of", "stacked_regressor", "start_of", "unit"]

Array = NDArray[np.float64]


def quaternions(mechanism: Mechanism) -> list[int]:
    """Where in q unit quaternions begin."""
    infos = list(mechanism.base.joint_kind.coordinates)
    for body in mechanism.bodies.values():
        infos += body.joint.algebra.coordinates
    return [k for k, info in enumerate(infos) if info.suffix == "qw"]


def unit(mechanism: Mechanism, q: Array) -> Array:
    """q with quaternions of length one."""
    q = np.array(q, dtype=float)
    for k in quaternions(mechanism):
        q[..., k : k + 4] /= np.linalg.norm(q[..., k : k + 4], axis=-1, keepdims=True)
    return q


def _described(mechanism: Mechanism) -> dict[str, Coordinate]:
    found: dict[str, Coordinate] = dict(mechanism.base.coordinates)
    for body in mechanism.bodies.values():
        found |= body.joint.coordinates
    return found | dict(mechanism.coordinates)


def numbers(model: Model, scalars: Sequence[Scalar], p: Array | None = None) -> Array:
    """Numbers and formulas of a description (..., n) at values of the parameters (..., np), by default the model's."""
    if all(isinstance(x, (int, float)) for x in scalars):
        batch = () if p is None else np.shape(p)[:-1]
        return np.array(np.broadcast_to(np.array(scalars, dtype=float), (*batch, len(scalars))))
    known = _formulas.setdefault(model, {})
    if tuple(scalars) not in known:
        known[tuple(scalars)] = _derived(model, scalars)
    function, needed = known[tuple(scalars)]
    return evaluate(function, model.values_beside((), needed) if p is None else p)[0]


_formulas: WeakKeyDictionary[Model, dict[tuple[Scalar, ...], tuple[Function, list[str]]]] = WeakKeyDictionary()
"""Of each model, what was asked for before: starts are asked for again by every run."""


def _derived(model: Model, scalars: Sequence[Scalar]) -> tuple[Function, list[str]]:
    """(parameters) -> numbers, and the parameters they need."""
    system = System(model.mechanism)
    found = [system.scalar(x) for x in scalars]
    needed = {node.id for node in reachable(found)}
    names = [n for n, x in zip(system.p.names, system.p, strict=True) if x.id in needed]
    return Function("numbers", [system.p], {"numbers": found}), names


def start_of(model: Model) -> Array:
    """The coordinates at the start, as described."""
    return numbers(model, [x.start for x in model.coordinates])


def limits(model: Model) -> tuple[Array, Array]:
    """The stops of the coordinates, infinite where there are none."""
    known = _described(model.mechanism)
    records = [known.get(x.name) or Coordinate() for x in model.coordinates]
    stops = []
    for given, none in (([r.lower for r in records], -math.inf), ([r.upper for r in records], math.inf)):
        values = numbers(model, [0.0 if x is None else x for x in given])
        stops.append(np.where([x is None for x in given], none, values))
    return stops[0], stops[1]


def moved(model: Model, q: Array, v: Array) -> Array:
    """q after a small step along the speeds."""
    return unit(model.mechanism, q + np.asarray(model.function("rates")(q, v)))


def rates_of(mechanism: Mechanism) -> dict[int, int]:
    """Place in v -> the coordinate it is the rate of, where there is one."""
    places = {x.name: k for k, x in enumerate(mechanism.q)}
    return {k: places[x.rate_of] for k, x in enumerate(mechanism.v) if x.rate_of is not None}


def random_coordinates(model: Model, rng: np.random.Generator, stops: tuple[Array, Array]) -> Array:
    """Random q between the stops; angles anywhere where there are none, lengths within a metre of zero."""
    reach = np.array([math.pi if x.quantity is Quantity.ANGLE else 1.0 for x in model.coordinates])
    low, high = (np.where(np.isfinite(stop), stop, side * reach) for stop, side in zip(stops, (-1, 1), strict=True))
    q = rng.uniform(np.minimum(low, high), np.maximum(low, high))
    for k in quaternions(model.mechanism):
        q[k : k + 4] = rng.normal(size=4)
    return unit(model.mechanism, q)


def is_of_base(model: Model) -> NDArray[np.bool_]:
    """Which speeds belong to the base."""
    return np.array([x.owner == BASE for x in model.speeds], dtype=bool)


def stacked_regressor(model: Model, rng: np.random.Generator) -> Array:
    """The regressor at twice as many random states as its columns ask for, one under the other.

    With loops or constraints it is N' Y, at states that they allow.
    """
    if not model.mechanism.is_tree:
        bench = Workbench(model.checked_mechanism, Options(base_parameters=False))
        names = dict(zip(model.free_parameters, model.parameter_values, strict=True))
        p = np.array([names[n] for n in bench.system.p.names])
        return projected_regressor(bench, standard_parameters(bench.tree), p, int(rng.integers(2**31)))
    columns = model.function("regressor").native.interface.outputs[0].shape[1]
    n, stops = 10 + 2 * columns // max(1, model.nv), limits(model)
    q = np.array([random_coordinates(model, rng, stops) for _ in range(n)])
    v, vdot = rng.normal(size=(2, n, model.nv))
    return np.asarray(model.function("regressor")(q, v, vdot)).reshape(-1, columns)
