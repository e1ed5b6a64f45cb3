"""What a run must know of a plant: names, units, sizes and places, without an expression.

Plain frozen records, kept on disk beside the plant's native functions: a study that was run before is run again without
being derived.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from torseur.emit.interface import Argument
from torseur.errors import Location
from torseur.simulation.results.channels import Role
from torseur.simulation.solvers.problem import ProblemShape

__all__ = [
    "AccountFacts",
    "BalanceFacts",
    "HeldFacts",
    "PlantFacts",
    "Quantity",
    "RowFacts",
    "SampleFacts",
    "SlipFacts",
    "SwitchFacts",
]


@dataclass(frozen=True)
class Quantity:
    """Something that is recorded."""

    name: str
    unit: str
    meaning: str
    role: Role


@dataclass(frozen=True)
class HeldFacts:
    """A number of m; see `torseur.simulation.blocks.parts.Held`."""

    name: str
    is_mode: bool


@dataclass(frozen=True)
class SampleFacts:
    """A sample: its places in m, how many values it reads, the block it belongs to, whether it calls Python."""

    places: tuple[int, ...]
    reads: int
    where: Location
    is_python: bool


@dataclass(frozen=True)
class SlipFacts:
    """Friction of a contact: its name, the parts of its rows along the ground, the places of its rows.

    Attributes:
        name: of the contact.
        parts: of the rows along the ground, in order.
        normal: the place of the row of its normal force.
        along: the places of its rows along the ground.
    """

    name: str
    parts: tuple[str, ...]
    normal: int
    along: tuple[int, ...]


@dataclass(frozen=True)
class SwitchFacts:
    """The switches of a plant; see `torseur.simulation.plant.switches`.

    Attributes:
        dry: loads with dry friction, by name.
        sided: contacts and stops, by name.
        dry_rows, sided_rows: the places of their rows.
        slips: friction of contacts.
        reports: stops that are only reported, by name.
    """

    dry: tuple[str, ...] = ()
    sided: tuple[str, ...] = ()
    dry_rows: tuple[int, ...] = ()
    sided_rows: tuple[int, ...] = ()
    slips: tuple[SlipFacts, ...] = ()
    reports: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything that events decide."""
        return bool(self.dry or self.sided or self.slips)


@dataclass(frozen=True)
class RowFacts:
    """A constraint row: its name, who asks for it, the unit of its multiplier, whether it has a position."""

    name: str
    owner: str
    unit: str
    holonomic: bool


@dataclass(frozen=True)
class AccountFacts:
    """The energy of an island: what the island is called, shares of T, and works by name."""

    name: str
    shares: int
    works: tuple[str, ...]


@dataclass(frozen=True)
class BalanceFacts:
    """What the audit watches: accounts of energy, impulses by name, and the integrals, which are the states w."""

    accounts: tuple[AccountFacts, ...]
    impulses: tuple[str, ...]
    flows: tuple[Quantity, ...]


@dataclass(frozen=True)
class PlantFacts:
    """All that is known of a plant beside its functions.

    Attributes:
        functions: the names of those it has; see `torseur.simulation.plant.plant.Plant.functions`.
        inputs: the blocks that they take.
        shape: of the problem for a solver.
        states: the states of blocks, z.
        held: the held numbers, m.
        events: names of the events.
        samples: what renews held numbers.
        timing: the places of the parameters that decide when signals are not smooth, or formulas of time switch.
        knots: of tables of time alone, one sequence each.
        driven: the inputs that blocks drive.
        is_driven: whether what drives constraints may change on the way.
        ranks, shares: names of held numbers: ranks of rows, multipliers of redundant rows.
        rows: of the constraints, in order.
        components: rows and speeds, by place, that are coupled.
        lengths: for each speed, whether it is that of a length.
        switches: what events decide.
        flat: event -> the constraint of the wheel that falls flat then.
        normals: contacts whose normal forces are read -> the place of the row.
        always_read: those of them that are read even where nothing slips.
        balances: of the audit.
        items: what is recorded beside the states.
    """

    functions: frozenset[str]
    inputs: tuple[Argument, ...]
    shape: ProblemShape
    states: tuple[Quantity, ...]
    held: tuple[HeldFacts, ...]
    events: tuple[str, ...]
    samples: tuple[SampleFacts, ...]
    timing: frozenset[int]
    knots: tuple[tuple[float, ...], ...]
    driven: frozenset[str]
    is_driven: bool
    ranks: tuple[str, ...]
    shares: tuple[str, ...]
    rows: tuple[RowFacts, ...]
    components: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    lengths: tuple[bool, ...]
    switches: SwitchFacts
    flat: dict[str, str]
    normals: dict[str, int]
    always_read: frozenset[str]
    balances: BalanceFacts | None
    items: tuple[Quantity, ...]

    @cached_property
    def held_names(self) -> list[str]:
        return [held.name for held in self.held]

    @property
    def flows(self) -> tuple[Quantity, ...]:
        """The integrals of the audit."""
        return () if self.balances is None else self.balances.flows

    @property
    def angles(self) -> NDArray[np.bool_]:
        """Which rows are angles rather than lengths."""
        return np.array([row.unit == "N m" for row in self.rows], dtype=bool)

    @property
    def holonomic(self) -> list[int]:
        """The rows that have a position."""
        return [k for k, row in enumerate(self.rows) if row.holonomic]
