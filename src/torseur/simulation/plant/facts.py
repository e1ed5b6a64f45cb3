"""What a run must know of a plant: names, units, sizes and places, without an expression.

Plain frozen records, kept on disk beside the plant's native functions: a study that was run before is run again without
being derived.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from torseur.dynamics.constraints.rows import Owner
from torseur.emit.interface import Argument
from torseur.errors import Location
from torseur.simulation.blocks.parts import Seeded
from torseur.simulation.results.channels import Role
from torseur.simulation.solvers.problem import ProblemShape

__all__ = [
    "AccountFacts",
    "BalanceFacts",
    "DryFacts",
    "HeldFacts",
    "PlantFacts",
    "Quantity",
    "RowFacts",
    "SampleFacts",
    "SidedFacts",
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
    seeded: Seeded | None = None


@dataclass(frozen=True)
class SampleFacts:
    """A sample: its places in m, how many values it reads, the block it belongs to, whether it calls Python."""

    places: tuple[int, ...]
    reads: int
    where: Location
    is_python: bool


@dataclass(frozen=True)
class DryFacts:
    """Dry friction of a load, by name: the place of its mode in m, and of its row."""

    name: str
    mode: int
    row: int


@dataclass(frozen=True)
class SidedFacts:
    """A contact or stop, by name: the places of its modes in m (closed, being hit), and of the row that pushes."""

    name: str
    closed: int
    hit: int
    row: int


@dataclass(frozen=True)
class SlipFacts:
    """Friction of a contact.

    Attributes:
        name: of the contact.
        mode: the place in m of its mode.
        axes: the places in m of its direction, one for each row along the ground.
        closed: the place in m of the mode of its contact; None for one that is always closed.
        normal: the place of the row of its normal force.
        along: the places of its rows along the ground.
    """

    name: str
    mode: int
    axes: tuple[int, ...]
    closed: int | None
    normal: int
    along: tuple[int, ...]


@dataclass(frozen=True)
class SwitchFacts:
    """The switches of a plant; see `torseur.simulation.plant.switches`.

    Attributes:
        first: the place of the first event of a switch; those of `dry`, `sided` and `slips` follow in this order.
        dry: loads with dry friction.
        sided: contacts and stops.
        slips: friction of contacts.
        reports: stops that are only reported, by name.
    """

    first: int = 0
    dry: tuple[DryFacts, ...] = ()
    sided: tuple[SidedFacts, ...] = ()
    slips: tuple[SlipFacts, ...] = ()
    reports: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything that events decide."""
        return self.count > 0

    @property
    def count(self) -> int:
        return len(self.dry) + len(self.sided) + len(self.slips)

    @property
    def modes(self) -> tuple[int, ...]:
        """Their places in m, in the order of their events."""
        return (*(d.mode for d in self.dry), *(s.closed for s in self.sided), *(s.mode for s in self.slips))


@dataclass(frozen=True)
class RowFacts:
    """A constraint row: its name, who asks for it, the unit of its multiplier, whether it has a position."""

    name: str
    owner: Owner
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
