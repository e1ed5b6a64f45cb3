"""The rows of a model's loops and constraints as words, and their ranks: numbers that its functions are given beside
the parameters.

Ranks belong to the branch that the start of the description lies on, and to values of the parameters; see
`torseur.dynamics.constraints.rank`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from torseur.dynamics.constraints.closing import NumericRows, newton
from torseur.dynamics.constraints.rank import ClosedStates, most_ranks
from torseur.dynamics.constraints.rows import Owner
from torseur.dynamics.workbench import Workbench
from torseur.errors import ModelError
from torseur.graph.function import reachable
from torseur.model.coordinates import moved, start_of, unit
from torseur.spatial.joints import Quantity

if TYPE_CHECKING:
    from torseur.model.model import Model

__all__ = ["ConstraintRow", "Ranks", "Structure", "numeric_rows", "owners_in_words", "structure_of", "undetermined"]


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
    found, parameters = [], set[str]()
    for row in bench.constraints.rows:
        levels = [row.rate] if row.position is None else [row.rate, row.position]
        used = {node.id for node in reachable(levels)}
        parameters |= {n for n, x in zip(bench.system.p.names, bench.system.p, strict=True) if x.id in used}
        inputs = tuple(n for n, x in zip(bench.system.u.names, bench.system.u, strict=True) if x.id in used)
        found.append(ConstraintRow(row.name, row.owner, row.part, row.unit, row.position is not None, inputs))
    components = tuple((tuple(some), tuple(speeds)) for some, speeds in bench.constraints.components)
    return Structure(tuple(found), components, frozenset(parameters))


def owners_in_words(rows: Iterable[ConstraintRow]) -> str:
    """loops.pin (x, about_y); constraints.steered."""
    found: dict[str, list[str]] = {}
    for row in rows:
        parts = found.setdefault(row.owner, [])
        parts += [row.part] if row.part else []
    return "; ".join(f"{owner} ({', '.join(parts)})" if parts else owner for owner, parts in found.items())


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
        owners = [row.asked_by for row in self.model.constraint_rows]
        read = {n: k for n, k in self.model.normal_rows.items() if n in self.model.mechanism.normals_read}
        return undetermined(states, owners, read)
