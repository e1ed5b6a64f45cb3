"""Coordinates and constraint rows of a model, as numbers and in words.

Coordinates: their limits, unit quaternions, steps along speeds, random states. Rows of loops and constraints: whose
they are, and their ranks, numbers that the functions of a model are given beside the parameters. Ranks belong to the
branch that the start of the description lies on, and to values of the parameters; see
`torseur.dynamics.constraints.rank`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from torseur.describe import BASE, Coordinate, Mechanism
from torseur.describe.fields import Scalar
from torseur.dynamics.constraints.closing import NumericRows, newton
from torseur.dynamics.constraints.rank import ClosedStates, most_ranks
from torseur.dynamics.constraints.rows import Owner
from torseur.dynamics.parameters.closed_structures import projected_regressor
from torseur.dynamics.parameters.regressor import standard_parameters
from torseur.dynamics.tree.system import System
from torseur.dynamics.workbench import Options, Workbench
from torseur.errors import ModelError
from torseur.graph import Function, evaluate
from torseur.graph.function import reachable
from torseur.spatial.joints import Quantity

if TYPE_CHECKING:
    from torseur.model.model import Model

__all__ = [
    "ConstraintRow",
    "Ranks",
    "Structure",
    "is_of_base",
    "limits",
    "moved",
    "numeric_rows",
    "owners_in_words",
    "random_coordinates",
    "rates_of",
    "stacked_regressor",
    "start_of",
    "structure_of",
    "undetermined",
    "unit",
]

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
    coordinates: dict[str, Coordinate] = dict(mechanism.base.coordinates)
    for body in mechanism.bodies.values():
        coordinates |= body.joint.coordinates
    return coordinates | dict(mechanism.coordinates)


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
    expressions = [system.scalar(x) for x in scalars]
    needed = {node.id for node in reachable(expressions)}
    names = [n for n, x in zip(system.p.names, system.p, strict=True) if x.id in needed]
    return Function("numbers", [system.p], {"numbers": expressions}), names


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


@dataclass(frozen=True)
class ConstraintRow:
    """One row of the constraint matrix, in its order.

    Attributes:
        name: pin_x, front_wheel_sideways, ...
        asked_by: the entry of the description that asks for it.
        part: which of its rows this is; empty if there is but one.
        unit: of its multiplier; empty where it has none of its own.
        holonomic: whether it has a position row, not only a velocity row.
        inputs: the inputs that move it.
    """

    name: str
    asked_by: Owner
    part: str
    unit: str
    holonomic: bool
    inputs: tuple[str, ...] = ()

    @property
    def owner(self) -> str:
        """What asks for it, written loops.pin, constraints.front_wheel."""
        return str(self.asked_by)

    @property
    def is_angle(self) -> bool:
        """Whether its position row is an angle (a sine, nearby) rather than a length."""
        return self.unit == "N m"


@dataclass(frozen=True)
class Structure:
    """What is known of a model's rows without numbers.

    Attributes:
        rows: in order.
        components: rows and speeds that are coupled, each component apart from all others.
        parameters: names of those that the rows depend on.
    """

    rows: tuple[ConstraintRow, ...] = ()
    components: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()
    parameters: frozenset[str] = frozenset()


def structure_of(model: Model) -> Structure:
    """The rows of a model."""
    mechanism = model.checked_mechanism
    if mechanism.is_tree:
        return Structure()
    bench = Workbench(mechanism, replace(model.options, loads=False))  # which rows do not depend on
    rows, parameters = [], set[str]()
    for row in bench.constraints.rows:
        levels = [row.rate] if row.position is None else [row.rate, row.position]
        used = {node.id for node in reachable(levels)}
        parameters |= {n for n, x in zip(bench.system.p.names, bench.system.p, strict=True) if x.id in used}
        inputs = tuple(n for n, x in zip(bench.system.u.names, bench.system.u, strict=True) if x.id in used)
        rows.append(ConstraintRow(row.name, row.owner, row.part, row.unit, row.position is not None, inputs))
    components = tuple((tuple(some), tuple(speeds)) for some, speeds in bench.constraints.components)
    return Structure(tuple(rows), components, frozenset(parameters))


def owners_in_words(rows: Iterable[ConstraintRow]) -> str:
    """loops.pin (x, about_y); constraints.steered."""
    kinds: dict[str, list[str]] = {}
    for row in rows:
        parts = kinds.setdefault(row.owner, [])
        parts += [row.part] if row.part else []
    return "; ".join(f"{owner} ({', '.join(parts)})" if parts else owner for owner, parts in kinds.items())


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


def undetermined(states: ClosedStates, owners: Sequence[Owner], read: Mapping[str, int]) -> ModelError | None:
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
            others = ", ".join(dict.fromkeys(str(owners[k]) for k in shared))
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
        lead, numbers = self._of(p)
        return np.array([ranks for ranks, _ in numbers]).reshape(*lead, -1)

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
        attempt = newton(rows, start[None])
        if not attempt.closed[0]:
            rng = np.random.default_rng(0)
            steps = rng.normal(size=(24, model.nv)) * np.geomspace(0.05, 2.0, 24)[:, None]
            attempt = newton(rows, rows.moved(np.tile(start, (24, 1)), steps))
        if not attempt.closed.any():
            return most_ranks(rows), None
        states = ClosedStates(rows, attempt.q[int(np.argmax(attempt.closed))])
        return states.all_ranks(self._names), self._undetermined(states)

    def _undetermined(self, states: ClosedStates) -> ModelError | None:
        owners = [row.asked_by for row in self.model.constraint_rows]
        read = {n: k for n, k in self.model.normal_rows.items() if n in self.model.mechanism.normals_read}
        return undetermined(states, owners, read)
