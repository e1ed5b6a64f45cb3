"""The rows of a model's loops and constraints, as words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torseur.dynamics.workbench import Workbench
from torseur.graph.function import reachable

if TYPE_CHECKING:
    from torseur.model.model import Model

__all__ = ["ConstraintRow", "Structure", "owners_in_words", "structure_of"]


@dataclass(frozen=True)
class ConstraintRow:
    """One row of the constraint matrix, in its order.

    Attributes:
        name: pin_x, front_wheel_sideways, ...
        owner: the entry of the description that asks for it: loops.pin, constraints.front_wheel.
        part: which of its rows this is; empty if there is but one.
        unit: of its multiplier; empty where it has none of its own.
        holonomic: whether it has a position row, not only a velocity row.
        inputs: the inputs that move it.
    """

    name: str
    owner: str
    part: str
    unit: str
    holonomic: bool
    inputs: tuple[str, ...] = ()

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
