"""What an audit watches while a mechanism moves, energy against work and momenta against impulses; and what is recorded
of a plant beside its states, as expressions: the numbers are in `records`.

    d(T + U)/dt = sum of powers of loads + power of blocks + power of driven constraints + power of a driven base
    dp/dt = sum of external forces,   dL/dt = sum of their moments about the world origin

The right-hand sides are integrated along with the motion by the same method, so that each balance has two sides that
were computed in two ways (Llibre, Mampey & Chretien 1983, IV.2: the seven quantities). Springs and gravity are in U.
Each part of the mechanism that touches no other has its own account of energy, or a large one would hide what is amiss
in a small one. Bodies belong together that a joint, a load, a rotor, a loop or a constraint connects, the ground aside;
what a controller does to several of them does not connect them: it is work from outside on each. Momenta are watched
where the base floats: elsewhere the ground takes what it has to. Angular momentum is not, where a drive is known by its
inertia at the joint only or stands on the ground: nobody knows what its reaction turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING

from torseur.describe import BASE, BaseKind
from torseur.describe.mechanism import NamedQuantity, Output
from torseur.dynamics.constraints.rows import Owner
from torseur.dynamics.loads.forces import (
    LoadOnTree,
    Part,
    kinetic_energy,
    kinetic_shares,
    momentum,
    potential_energy,
    power_of,
)
from torseur.dynamics.tree.kinematics import Kinematics
from torseur.dynamics.tree.newton_euler import joint_wrenches
from torseur.dynamics.tree.system import rates
from torseur.dynamics.workbench import Workbench
from torseur.graph import Expr, Function, ops
from torseur.graph.function import reachable
from torseur.simulation.plant.facts import Quantity
from torseur.simulation.results.channels import Role
from torseur.spatial.pose import Wrench
from torseur.spatial.vectors import cross, dot

if TYPE_CHECKING:
    from torseur.simulation.plant.plant import Plant

__all__ = ["Account", "Balances", "Flow", "Island", "Recorded", "balances_of", "islands_of"]


@dataclass(frozen=True)
class Island:
    """A part that touches no other: what it is called, and what it is made of."""

    name: str
    part: Part


def islands_of(w: Workbench) -> list[Island]:
    """The islands of a mechanism in the order of their first bodies; one that has no name where there is only one."""
    links = w.true_tree.links
    everything = Part(
        frozenset(range(len(links))), frozenset(range(w.true_tree.nv)), frozenset(w.system.mechanism.loads)
    )
    roots = [k for k, link in enumerate(links) if link.parent < 0]
    if w.system.mechanism.base.kind is not BaseKind.FIXED or len(roots) < 2:
        return [Island("", everything)]
    touching = _Touching(w)
    groups: dict[int, list[int]] = {}
    for k in range(len(links)):
        if links[k].places:
            groups.setdefault(touching.group(touching.speeds_of_link[k]), []).append(k)
    if len(groups) < 2:
        return [Island("", everything)]
    return [_island(w, touching, group, numbers) for group, numbers in groups.items()]


def _island(w: Workbench, touching: _Touching, group: int, numbers: Sequence[int]) -> Island:
    names = list(dict.fromkeys(w.true_tree.links[k].name for k in numbers))
    name = " and ".join(names) if len(names) < 3 else f"{names[0]} and others"
    speeds = frozenset(i for i in range(w.true_tree.nv) if touching.find(i) == group)
    loads = frozenset(n for n, own in touching.speeds_of_load.items() if own and touching.group(own) == group)
    return Island(name, Part(frozenset(numbers), speeds, loads))


class _Touching:
    """Which speeds belong together: a forest of sets."""

    def __init__(self, w: Workbench) -> None:
        self._above = list(range(w.true_tree.nv))
        places = {x.id: i for i, x in enumerate(w.system.v)}
        self._of_symbol = {x: [i] for x, i in places.items()}
        for q, rate in zip(w.system.q, rates(w.system), strict=True):
            self._of_symbol[q.id] = [places[n.id] for n in reachable([rate]) if n.id in places]
        self.speeds_of_link: list[list[int]] = []
        for link in w.true_tree.links:
            above = self.speeds_of_link[link.parent][:1] if link.parent >= 0 else []
            self.speeds_of_link.append(self._join([*above, *link.places]))
        for rotor in w.true_tree.rotors:
            self._join([rotor.speed, *(self.speeds_of_link[rotor.link][:1] if rotor.link >= 0 else [])])
        loads = w.system.mechanism.loads
        self.speeds_of_load = {n: self._join(self._in([power_of(w.tree, n)])) for n in loads}
        for row in w.constraints.rows:
            self._join(self._in([row.rate]))

    def _in(self, exprs: Sequence[Expr]) -> list[int]:
        """The speeds that expressions of q and v have to do with."""
        nodes = (n for n in reachable(exprs) if n.op is ops.SYMBOL)
        return sorted({i for n in nodes for i in self._of_symbol.get(n.id, ())})

    def _join(self, speeds: Iterable[int]) -> list[int]:
        joined = list(speeds)
        for other in joined[1:]:
            self._above[self.find(other)] = self.find(joined[0])
        return joined

    def find(self, i: int) -> int:
        while self._above[i] != i:
            i = self._above[i]
        return i

    def group(self, speeds: Sequence[int]) -> int:
        """The set that some speeds, which are together, belong to."""
        return self.find(speeds[0])


_AXES = "xyz"


@dataclass(frozen=True)
class Flow:
    """Something that is given to the mechanism in time: power, force or moment. Its integral is a state."""

    name: str
    unit: str
    meaning: str
    rate: Expr


@dataclass(frozen=True)
class Account:
    """The energy of an island (see `islands`): T in shares, U, and works whose integrals add up to what it gains."""

    island: Island
    kinetic: tuple[Expr, ...]
    potential: Expr
    works: tuple[Flow, ...]


@dataclass(frozen=True)
class Balances:
    """Energy and momenta as expressions, and the flows that change them.

    Attributes:
        accounts: of energy, one for each part that touches no other.
        momenta: p and L (6,), p alone (3,), or none.
        impulses: the flow of each.
    """

    accounts: tuple[Account, ...]
    momenta: tuple[Expr, ...] = ()
    impulses: tuple[Flow, ...] = ()

    @property
    def flows(self) -> tuple[Flow, ...]:
        return (*(flow for account in self.accounts for flow in account.works), *self.impulses)


def balances_of(w: Workbench, forces: Sequence[Expr], multipliers: Sequence[Expr]) -> Balances:
    """The balances of a mechanism under generalised forces (nv,) of blocks and with multipliers of its rows."""
    accounts = _accounts(w, forces, multipliers)
    if w.system.mechanism.base.kind is not BaseKind.FLOATING:
        return Balances(accounts)
    p, L = momentum(w.true_tree)
    force, moment = _resultant(w, forces, multipliers)
    impulses = [
        Flow(f"impulse_{axis}", "N s", f"of all external forces along {axis}", f)
        for axis, f in zip(_AXES, force, strict=True)
    ]
    impulses += [
        Flow(f"angular_impulse_{axis}", "N m s", f"of all external forces about {axis} of the world origin", n)
        for axis, n in zip(_AXES, moment, strict=True)
    ]
    kept = 3 if any(rotor.link < 0 for rotor in w.tree.rotors) else 6
    return Balances(accounts, (*p, *L)[:kept], tuple(impulses[:kept]))


def _accounts(w: Workbench, forces: Sequence[Expr], multipliers: Sequence[Expr]) -> tuple[Account, ...]:
    islands = islands_of(w)
    given = [
        [
            *_loads(w, x.part),
            *_friction(w, islands, x),
            *_blocks(w, forces, x),
            *_constraints(w, multipliers, islands, x),
            *_base(w),
        ]
        for x in islands
    ]
    named = iter(_distinct([flow for flows in given for flow in flows]))
    return tuple(
        Account(
            x,
            tuple(kinetic_shares(w.true_tree, x.part)),
            potential_energy(w.true_tree, w.gravity, x.part),
            tuple(next(named) for _ in flows),
        )
        for x, flows in zip(islands, given, strict=True)
    )


def _distinct(flows: Sequence[Flow]) -> list[Flow]:
    """A load and a constraint may have one name: the second is told apart by a number."""
    by_name: dict[str, Flow] = {}
    for flow in flows:
        numbered = (f"{flow.name}_{k}" for k in count(2))
        name = flow.name if flow.name not in by_name else next(n for n in numbered if n not in by_name)
        by_name[name] = replace(flow, name=name)
    return list(by_name.values())


def _loads(w: Workbench, part: Part) -> list[Flow]:
    flows, kinematics, zero = [], Kinematics(w.tree), w.system.graph.zero
    for name, load in w.system.mechanism.loads.items():
        if name not in part.loads:
            continue
        power = power_of(w.tree, name, w.switching.friction)
        stored = load.energy_rate(LoadOnTree(w.tree, name, kinematics))  # what it stores is in U
        power = power if stored is None else power + stored
        if power is not zero:
            flows.append(Flow(f"work_{name}", "J", f"work of {name}, what a spring stores aside", power))
    return flows


def _friction(w: Workbench, islands: Sequence[Island], island: Island) -> list[Flow]:
    """What contacts take by friction."""
    flows, zero = [], w.system.graph.zero
    for name, power in w.contact_powers.items():
        owner = Owner("constraints", name)
        rows = [A for row, A in zip(w.constraints.rows, w.constraints.A, strict=True) if row.owner == owner]
        holds = {i for A in rows for i, a in enumerate(A) if a is not zero}
        if holds & island.part.speeds or (not holds and island is islands[0]):
            flows.append(Flow(f"work_{name}", "J", f"work of friction in {name}", power))
    return flows


def _blocks(w: Workbench, forces: Sequence[Expr], island: Island) -> list[Flow]:
    zero, v = w.system.graph.zero, list(w.system.v)
    power = sum((forces[i] * v[i] for i in sorted(island.part.speeds)), zero)
    on = f" on {island.name}" if island.name else ""
    return [] if power is zero else [Flow("work_blocks", "J", f"work of the forces of blocks{on}", power)]


def _constraints(w: Workbench, multipliers: Sequence[Expr], islands: Sequence[Island], island: Island) -> list[Flow]:
    """Ideal constraints do no work unless they are driven: lambda . A v = -lambda . c."""
    zero, rows = w.system.graph.zero, w.constraints
    driven: dict[str, Expr] = {}
    for row, A, c, lam in zip(rows.rows, rows.A, rows.c, multipliers, strict=True):
        holds = {i for i, a in enumerate(A) if a is not zero}
        if c is not zero and (holds & island.part.speeds or (not holds and island is islands[0])):
            name = row.owner.name
            driven[name] = driven.get(name, zero) - lam * c
    return [Flow(f"work_{name}", "J", f"work it takes to drive {name}", p) for name, p in driven.items()]


def _base(w: Workbench) -> list[Flow]:
    """A base whose motion is given passes on all that moving the tree takes: f . V + n . w."""
    if w.system.mechanism.base.kind is not BaseKind.MOVING:
        return []
    k, _ = w.true_tree.home[BASE]
    wrenches, _ = joint_wrenches(w.true_tree, list(w.block("vdot")), w.gravity, w.forces.wrenches)
    power = dot(w.true_tree.links[k].velocity, wrenches[k])
    return [Flow("work_base", "J", "work it takes to move the base", power)]


def _resultant(w: Workbench, forces: Sequence[Expr], multipliers: Sequence[Expr]) -> Wrench:
    """Force and moment about the world origin of all that acts from outside.

    What acts between two bodies cancels. Constraints and forces along the speeds of the base act on it from outside:
    those speeds are its velocity in its own axes.
    """
    g, kinematics = w.system.graph, Kinematics(w.tree)
    total = Wrench.zero(g)
    for k, wrench in w.forces.wrenches.items():
        total += kinematics.poses[k] @ wrench
    on_base = [forces[i] + w.forces.Q.get(i, g.zero) for i in range(6)]
    for row, lam in zip(w.constraints.A, multipliers, strict=True):
        on_base = [f + a * lam for f, a in zip(on_base, row, strict=False)]
    total += kinematics.frame(BASE).pose @ Wrench.of(on_base)
    for link, X in zip(w.true_tree.links, Kinematics(w.true_tree).poses, strict=True):
        total += Wrench(link.inertia.M * w.gravity, cross(link.inertia.moment_of_mass(X), w.gravity))
    return total


@dataclass(frozen=True)
class _Item:
    told: Quantity
    value: Expr


class Recorded:
    """The recorded quantities of a plant."""

    def __init__(self, plant: Plant) -> None:
        self.plant = plant

    @property
    def items(self) -> tuple[Quantity, ...]:
        return tuple(item.told for item in self._items)

    @cached_property
    def _items(self) -> list[_Item]:
        """What is called like a coordinate, a speed or an input is recorded as such."""
        mechanism = self.plant.mechanism
        taken = {x.name for x in (*mechanism.q, *mechanism.v)} | set(mechanism.inputs)
        items = [*self._outputs(), *self._multipliers(), *self._frictions(), *self._energies()]
        return [item for item in items if item.told.name not in taken]

    def _outputs(self) -> Iterator[_Item]:
        plant, named = self.plant, self.plant.parts.outputs
        for name, one in named.items():
            yield _Item(Quantity(name, one.unit, one.meaning, Role.OUTPUT), one.value)
        outputs = {n: o for n, o in plant.mechanism.outputs.items() if n not in named}
        formulas: dict[str, NamedQuantity | Output] = {**plant.mechanism.quantities, **outputs}
        values = plant.settled([plant.system.scalar(o.value) for o in formulas.values()])
        for (name, output), value in zip(formulas.items(), values, strict=True):
            yield _Item(Quantity(name, output.unit or "", output.description or "", Role.OUTPUT), value)

    def _multipliers(self) -> Iterator[_Item]:
        for row, lam in zip(self.plant.bench.constraints.rows, self.plant.solved.lam, strict=True):
            told = Quantity(f"lambda_{row.name}", row.unit, f"multiplier of {row.owner}", Role.MULTIPLIER)
            yield _Item(told, lam)

    def _frictions(self) -> Iterator[_Item]:
        """The forces of friction of contacts, whether they stick or slip."""
        plant, constraints = self.plant, self.plant.bench.constraints
        places = plant.switches.along_ground(constraints)
        for slip, (_, rows) in zip(plant.switches.slips, places, strict=True):
            meaning = f"friction of constraints.{slip.name}"
            for k, force in zip(rows, plant.settled(slip.force()), strict=True):
                told = Quantity(f"friction_{constraints.rows[k].name}", "N", meaning, Role.MULTIPLIER)
                yield _Item(told, force + plant.solved.lam[k])

    def _energies(self) -> Iterator[_Item]:
        w = self.plant.bench
        parts = kinetic_energy(w.true_tree), potential_energy(w.true_tree, w.gravity)
        for name, value in zip(("kinetic", "potential"), self.plant.settled(parts), strict=True):
            yield _Item(Quantity(f"{name}_energy", "J", f"{name} energy", Role.ENERGY), value)

    # -- functions -----------------------------------------------------------------------------------------------------
    def record(self) -> Function:
        """All that is recorded and audited."""
        plant, rows = self.plant, self.plant.bench.constraints
        accounts = plant.balances.accounts if plant.balances is not None else ()
        outputs = {
            "vdot": plant.solved.vdot,
            "inputs": self._inputs,
            "items": [item.value for item in self._items],
            "momenta": plant.settled(plant.balances.momenta) if plant.balances is not None else [],
            "potential": plant.settled([x.potential for x in accounts]),
            "kinetic": plant.settled([share for x in accounts for share in x.kinetic]),
            "h": plant.settled(rows.h),
            "r": plant.settled([r for r, row in zip(rows.r, rows.rows, strict=True) if row.position is None]),
            "gaps": plant.settled(plant.switches.gaps(rows)),
        }
        return plant.function("record", outputs)

    def instant(self) -> Function:
        """``vdot``, ``inputs`` and the ``items``, at one instant."""
        outputs = {
            "vdot": self.plant.solved.vdot,
            "inputs": self._inputs,
            "items": [item.value for item in self._items],
        }
        return self.plant.function("record", outputs)

    @cached_property
    def _inputs(self) -> list[Expr]:
        """The value of every input, driven or not."""
        return [self.plant.parts.inputs.get(x, x) for x in self.plant.system.u]

    def inputs(self) -> Function:
        return self.plant.function("inputs", {"inputs": self._inputs})

    def gaps(self) -> Function:
        """Of all rows: how far they are from being met; of rates where they have no position."""
        rows = self.plant.bench.constraints
        h = iter(rows.h)
        gaps = [r if row.position is None else next(h) for r, row in zip(rows.r, rows.rows, strict=True)]
        return self.plant.function("gaps", {"gaps": self.plant.settled(gaps)})
