"""What switches decide by in a program: their places, and the ranks of constraint rows for every combination of them.

A program cannot look for closed states. Rows that share speeds are a component; what turns its rows on and off are a
few switches, and for each combination of these the ranks are found here, once, at a state that meets the active rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from torseur.dynamics.constraints.rows import Owner
from torseur.errors import ModelError, TorseurError
from torseur.simulation.plant.facts import SwitchFacts
from torseur.simulation.plant.plant import Plant
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.solvers.problem import Held

__all__ = ["Atom", "AtomKind", "Component", "RowKind", "SwitchTables", "switch_tables"]

Array = NDArray[np.float64]

MOST_ATOMS = 10
"""Switches of one component of constraint rows: all their combinations are looked at."""

MET = 1e-6
"""Rows that are off by less, m, rad or their rates, are met where ranks are judged."""

ROUNDS = 30
"""Corrections towards a state that meets the active rows."""

UNKNOWN = 2.0
"""In place of whether rows are redundant: there is no state that meets them all."""


class AtomKind(IntEnum):
    """What turns rows on."""

    DRY_STICKS = 0
    CLOSED = 1
    SLIP_STICKS = 2


class RowKind(IntEnum):
    """What a row does in an impact."""

    LOOSE = 0
    GAP = 1
    HOLDS = 2


@dataclass(frozen=True, order=True)
class Atom:
    """One switch that turns rows on and off, by its place among those of its kind."""

    kind: AtomKind
    number: int


@dataclass(frozen=True)
class Component:
    """Coupled rows: what switches them, and for each combination the three ranks and whether rows are redundant."""

    atoms: tuple[Atom, ...]
    places: tuple[int, int, int]
    table: tuple[tuple[float, float, float, float], ...]


@dataclass(frozen=True)
class SwitchTables:
    """The switches of a program.

    Attributes:
        facts: their places.
        components: of the constraint rows.
        row_kinds: what each row does in an impact.
        row_sided: the contact a row belongs to, or -1.
    """

    facts: SwitchFacts
    components: tuple[Component, ...]
    row_kinds: tuple[RowKind, ...]
    row_sided: tuple[int, ...]


def switch_tables(simulation: Simulation, plant: Plant, x: Array, held: Held) -> SwitchTables | None:
    """The tables of a study, None where nothing switches.

    Args:
        simulation: the study at work.
        plant: the same as expressions.
        x, held: the start.
    """
    return _Tables(simulation, plant, x, held).found() if plant.switches else None


class _Tables:
    def __init__(self, simulation: Simulation, plant: Plant, x: Array, held: Held) -> None:
        self.simulation, self.x, self.held = simulation, x, held
        self.facts, self.constraints = plant.switch_facts, plant.bench.constraints
        names = [one.name for one in plant.parts.held]
        self.ranks = [names.index(name) for name in plant.built.rank_names]
        """Places in m: for each component the rank of its rows, then of those with a position, then the weak pivot."""

    def found(self) -> SwitchTables:
        facts, rows = self.facts, self.constraints.rows
        loose = {*(d.row for d in facts.dry), *(k for slip in facts.slips for k in slip.along)}
        gaps = {s.row for s in facts.sided}
        kinds = [RowKind.LOOSE if k in loose else RowKind.GAP if k in gaps else RowKind.HOLDS for k in range(len(rows))]
        sided = [self._contacts.get(row.owner, -1) for row in rows]
        return SwitchTables(facts, tuple(self._components()), tuple(kinds), tuple(sided))

    @cached_property
    def _contacts(self) -> dict[Owner, int]:
        """Who asks for the rows of a contact or stop -> its number."""
        return {self.constraints.rows[s.row].owner: k for k, s in enumerate(self.facts.sided)}

    @cached_property
    def _atoms(self) -> dict[int, Atom]:
        """What turns a row on, for those that come and go."""
        atoms = {
            k: Atom(AtomKind.CLOSED, self._contacts[row.owner])
            for k, row in enumerate(self.constraints.rows)
            if row.owner in self._contacts
        }
        atoms |= {k: Atom(AtomKind.SLIP_STICKS, n) for n, slip in enumerate(self.facts.slips) for k in slip.along}
        return atoms | {d.row: Atom(AtomKind.DRY_STICKS, n) for n, d in enumerate(self.facts.dry)}

    def _components(self) -> Iterator[Component]:
        components, ranks = self.constraints.components, self.ranks
        n = len(components)
        for c, (rows, _) in enumerate(components):
            own = tuple(sorted({self._atoms[row] for row in rows if row in self._atoms}))
            places = (ranks[c], ranks[n + c], ranks[2 * n + c])
            if len(own) > MOST_ATOMS:
                raise ModelError(
                    "too many switches act on coupled motions for a program",
                    where=self.simulation.study.called,
                    expected=f"at most {MOST_ATOMS} that share speeds",
                    got=", ".join(sorted({str(self.constraints.rows[r].owner) for r in rows})),
                    remedy="use smooth friction, or ignore stops",
                )
            yield Component(own, places, tuple(self._patterns(own, rows, places)))

    def _patterns(
        self, own: Sequence[Atom], rows: Sequence[int], places: tuple[int, int, int]
    ) -> Iterator[tuple[float, float, float, float]]:
        """The ranks for all combinations of switches, one after the other as bits count."""
        all_rows, with_position, weak = places
        for pattern in range(2 ** len(own)):
            on = {atom for k, atom in enumerate(own) if pattern >> k & 1}
            closing = self._closing(on)
            held = None if closing & set(own) - on else self._judged(on | closing)  # what sticks is closed
            if held is None:
                yield (0.0, 0.0, 0.0, UNKNOWN)
                continue
            m, active = held.m, sum(self._is_on(row, on) for row in rows)
            yield (float(m[all_rows]), float(m[with_position]), float(m[weak]), float(m[all_rows] < active))

    def _is_on(self, row: int, on: set[Atom]) -> bool:
        return row not in self._atoms or self._atoms[row] in on

    def _closing(self, on: set[Atom]) -> set[Atom]:
        """The contacts of all that sticks."""
        numbers = {s.closed: k for k, s in enumerate(self.facts.sided)}
        closed = [self.facts.slips[atom.number].closed for atom in on if atom.kind is AtomKind.SLIP_STICKS]
        return {Atom(AtomKind.CLOSED, numbers[place]) for place in closed if place is not None}

    def _judged(self, on: set[Atom]) -> Held | None:
        """Held numbers with the ranks at a state that meets the active rows; None where there is none."""
        held = replace(self.held, m=self._with(on))
        t, x = self.simulation.study.begin, self._met(held, on)
        try:
            self.simulation.ranks(t, x, held)
            is_met = self.simulation.records.largest_gap(t, x, held)[1] <= MET
        except TorseurError:
            return None
        return held if is_met else None

    def _met(self, held: Held, on: set[Atom]) -> Array:
        """A state in which the active rows are met, from the start; the start itself where that is not found."""
        correct = self.simulation.plant.native("corrected")
        if correct is None:
            return self.x
        m, n, x = held.m.copy(), len(self.constraints.components), self.x
        for c, (rows, _) in enumerate(self.constraints.components):
            active = [row for row in rows if self._is_on(row, on)]
            m[self.ranks[c]] = len(active)
            m[self.ranks[n + c]] = sum(self.constraints.rows[row].position is not None for row in active)
            m[self.ranks[2 * n + c]] = 0.0
        for _ in range(ROUNDS):
            x_met = self.simulation.plant.evaluate(correct, self.simulation.study.begin, x, replace(held, m=m))
            x = np.concatenate([np.ravel(b) for b in (x_met if isinstance(x_met, tuple) else (x_met,))])
        return x if np.isfinite(x).all() else self.x

    def _with(self, on: set[Atom]) -> Array:
        """m with some switches on and all others off; a mode of friction is 0 while it sticks."""
        m = self.held.m.copy()
        for k, dry in enumerate(self.facts.dry):
            m[dry.mode] = float(Atom(AtomKind.DRY_STICKS, k) not in on)
        for k, contact in enumerate(self.facts.sided):
            m[contact.closed] = float(Atom(AtomKind.CLOSED, k) in on)
        for k, slip in enumerate(self.facts.slips):
            m[slip.mode] = float(Atom(AtomKind.SLIP_STICKS, k) not in on)
        return m
