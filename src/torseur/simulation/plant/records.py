"""What is recorded of a run beside its states, computed afterwards for all instants at once, in lanes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from torseur.describe.mechanism import NamedQuantity, Output
from torseur.dynamics.loads import energy
from torseur.emit import NativeFunction, compile
from torseur.graph import Expr, Function
from torseur.simulation.integrate.outcome import Trajectory
from torseur.simulation.integrate.recording import HeldHistory
from torseur.simulation.plant.balances import Account
from torseur.simulation.plant.plant import Plant
from torseur.simulation.results.channels import Channel, Role
from torseur.simulation.solvers.problem import Array, Held, Problem

__all__ = ["Records", "Rows"]


@dataclass(frozen=True)
class Rows:
    """The numbers of a run, (nt, ...) each; what the audit reads is None or empty where it is not kept."""

    q: Array
    v: Array
    vdot: Array
    inputs: Array
    states: tuple[Channel, ...]
    channels: tuple[Channel, ...]
    potential: Array
    """(nt, accounts)"""
    kinetic: tuple[Array, ...]
    """Of each account (nt, shares)."""
    works: dict[str, Array]
    momenta: Array | None
    impulses: Array | None
    gap: Array | None
    depth: Array | None
    jumps: dict[str, Array]
    """By what happened, (nt, accounts + momenta): what came or went at instants until then."""


@dataclass(frozen=True)
class _Item:
    name: str
    unit: str
    meaning: str
    value: Expr
    role: Role


class Records:
    """The recorded quantities of a plant."""

    def __init__(self, plant: Plant) -> None:
        self.plant = plant

    # -- expressions ---------------------------------------------------------------------------------------------------
    @cached_property
    def _inputs(self) -> list[Expr]:
        """The value of every input, driven or not."""
        u = list(self.plant.system.u)
        return [self.plant.parts.inputs.get(x, x) for x in u]

    @cached_property
    def _items(self) -> list[_Item]:
        plant, system = self.plant, self.plant.system
        found = [
            _Item(n, o.unit, o.meaning, o.value, Role.OUTPUT)
            for n, o in plant.parts.outputs.items()
            if n not in plant.mechanism.inputs
        ]
        outputs = {n: o for n, o in plant.mechanism.outputs.items() if n not in plant.parts.outputs}
        formulas: dict[str, NamedQuantity | Output] = {**plant.mechanism.quantities, **outputs}
        values = plant.settled([system.scalar(o.value) for o in formulas.values()])
        for (name, output), value in zip(formulas.items(), values, strict=True):
            found.append(_Item(name, output.unit or "", output.description or "", value, Role.OUTPUT))
        for row, lam in zip(plant.bench.constraints.rows, plant.lam, strict=True):
            found.append(_Item(f"lambda_{row.name}", row.unit, f"multiplier of {row.owner}", lam, Role.MULTIPLIER))
        found += self._frictions
        w = plant.bench
        parts = energy.kinetic_energy(w.true_tree), energy.potential_energy(w.true_tree, w.gravity)
        for name, value in zip(("kinetic", "potential"), plant.settled(parts), strict=True):
            found.append(_Item(f"{name}_energy", "J", f"{name} energy", value, Role.ENERGY))
        taken = {x.name for x in (*plant.mechanism.q, *plant.mechanism.v)} | set(plant.mechanism.inputs)
        return [item for item in found if item.name not in taken]

    @property
    def _frictions(self) -> list[_Item]:
        """The forces of friction of contacts, whether they stick or slip."""
        plant, found = self.plant, list[_Item]()
        constraints = plant.bench.constraints
        places = plant.switches.along_ground(constraints)
        for slip, (_, rows) in zip(plant.switches.slips, places, strict=True):
            meaning = f"friction of constraints.{slip.name}"
            for k, force in zip(rows, plant.settled(slip.force()), strict=True):
                name = f"friction_{constraints.rows[k].name}"
                found.append(_Item(name, "N", meaning, force + plant.lam[k], Role.MULTIPLIER))
        return found

    @cached_property
    def _momenta(self) -> list[Expr]:
        balances = self.plant.balances
        return self.plant.settled(balances.momenta) if balances is not None else []

    @cached_property
    def _accounts(self) -> tuple[Account, ...]:
        return self.plant.balances.accounts if self.plant.balances is not None else ()

    @cached_property
    def _native(self) -> Any:
        plant, rows = self.plant, self.plant.bench.constraints
        outputs = {
            "vdot": plant.vdot,
            "inputs": self._inputs,
            "items": [item.value for item in self._items],
            "momenta": self._momenta,
            "potential": plant.settled([x.potential for x in self._accounts]),
            "kinetic": plant.settled([share for x in self._accounts for share in x.kinetic]),
            "h": plant.settled(rows.h),
            "r": plant.settled([r for r, row in zip(rows.r, rows.rows, strict=True) if row.position is None]),
            "gaps": plant.settled(plant.switches.gaps(plant.bench.constraints)),
        }
        return compile(Function("record", plant.blocks, {n: x for n, x in outputs.items() if x}))

    @cached_property
    def _native_inputs(self) -> NativeFunction:
        return compile(Function("inputs", self.plant.blocks, {"inputs": self._inputs}), lanes=1)

    def inputs_at(self, t: float, u: Array, p: Array) -> Array:
        """The inputs (..., n) at the start, as far as time decides them; those of controllers as if nothing moved.

        Args:
            t: s.
            u, p: (..., inputs that nothing drives), (..., parameters).
        """
        if not self._inputs:
            return np.zeros((*p.shape[:-1], 0))
        native = self._native_inputs
        sizes = {b.name: b.size for b in self.plant.blocks}
        given = {"t": t, "u": u, "p": p}
        found = np.asarray(native(*(given.get(a.name, np.zeros(sizes[a.name])) for a in native.interface.inputs)))
        return np.array(np.broadcast_to(found, (*p.shape[:-1], found.shape[-1])))

    @cached_property
    def _native_gaps(self) -> NativeFunction:
        """Of all rows: how far they are from being met; of rates where they have no position."""
        rows = self.plant.bench.constraints
        h = iter(rows.h)
        gaps = [r if row.position is None else next(h) for r, row in zip(rows.r, rows.rows, strict=True)]
        return compile(Function("gaps", self.plant.blocks, {"gaps": self.plant.settled(gaps)}), lanes=1)

    def largest_gap(self, problem: Problem, t: float, x: Array, held: Held) -> tuple[str, float]:
        """The row that is met least, and its gap."""
        native = self._native_gaps
        values: dict[str, Any] = {"t": t, "u": held.u, "m": held.m, "p": held.p}
        values |= {block.name: x[problem.columns(block.name)] for block in problem.states}
        gaps = np.abs(np.ravel(native(*(values[a.name] for a in native.interface.inputs))))
        worst = int(np.argmax(gaps))
        return self.plant.bench.constraints.rows[worst].name, float(gaps[worst])

    # -- numbers -------------------------------------------------------------------------------------------------------
    def _evaluated(
        self, problem: Problem, times: Array, states: Array, u: Array, m: Array, p: Array
    ) -> dict[str, Array]:
        native = self._native
        values: dict[str, Any] = {"t": times, "u": u, "m": m, "p": p}
        for block in problem.states:
            values[block.name] = states[:, problem.columns(block.name)]
        found = native(*(values[a.name] for a in native.interface.inputs))
        names = [a.name for a in native.interface.outputs]
        return dict(zip(names, found if isinstance(found, tuple) else (found,), strict=True))

    def of(self, trajectory: Trajectory, problem: Problem, log: HeldHistory) -> Rows:
        """All that is recorded of a trajectory; the log says what was held when."""
        plant, n = self.plant, len(trajectory.times)
        found = self._evaluated(problem, trajectory.times, trajectory.states, log.u, *log.at(trajectory.times))
        items = found["items"]
        z, w = (trajectory.states[:, problem.columns(name)] for name in ("z", "w"))
        flows = plant.balances.flows if plant.balances is not None else ()
        column = {flow.name: w[:, k] for k, flow in enumerate(flows)}
        states = [
            Channel(s.name, s.unit, "state of a block", z[:, k], Role.STATE)
            for k, s in enumerate(plant.parts.states)
            if s.name not in plant.mechanism.inputs
        ]
        states += [Channel(f.name, f.unit, f.meaning, column[f.name], Role.AUDIT) for f in flows]
        channels = [Channel(i.name, i.unit, i.meaning, items[:, k], i.role) for k, i in enumerate(self._items)]
        gaps = [np.max(np.abs(found[name]), axis=1) for name in ("h", "r") if name in found]
        jumps = self._jumps(trajectory, problem, log)
        impulses = [column[f.name] for f in plant.balances.impulses] if plant.balances is not None else []
        return Rows(
            trajectory.states[:, problem.columns("q")],
            trajectory.states[:, problem.columns("v")],
            found["vdot"],
            found.get("inputs", np.zeros((n, 0))),
            tuple(states),
            tuple(channels),
            found.get("potential", np.zeros((n, 0))),
            self._kinetic(found, n),
            {f.name: column[f.name] for f in flows},
            found.get("momenta"),
            np.stack(impulses, axis=1) if impulses else None,
            np.max(gaps, axis=0) if gaps else None,
            np.maximum(-np.min(found["gaps"], axis=1), 0.0) if "gaps" in found else None,
            {name: _steps(trajectory.times, *jump) for name, jump in jumps.items()},
        )

    def _jumps(self, trajectory: Trajectory, problem: Problem, log: HeldHistory) -> dict[str, tuple[Array, Array]]:
        """When energy and momenta jump and by how much: at events, at changes of parameters, by drives that jump."""
        found = {}
        if trajectory.events:
            times = np.array([e.time for e in trajectory.events])
            m, p = log.before(times)
            states = [np.array([getattr(e, side) for e in trajectory.events]) for side in ("before", "after")]
            before, after = (self._amounts(problem, times, x, log.u, m, p) for x in states)
            found["impacts"] = times, after - before
        if log.changes:
            times, x, m = (np.array([getattr(c, name) for c in log.changes]) for name in ("time", "state", "m"))
            values = [np.array([getattr(c, side) for c in log.changes]) for side in ("before", "after")]
            before, after = (self._amounts(problem, times, x, log.u, m, p) for p in values)
            found["changes"] = times, after - before
        if log.jumps:
            times, m, p, *states = (np.array(column) for column in zip(*log.jumps, strict=True))
            before, after = (self._amounts(problem, times, x, log.u, m, p) for x in states)
            found["drives"] = times, after - before
        return found

    def _amounts(self, problem: Problem, times: Array, states: Array, u: Array, m: Array, p: Array) -> Array:
        """Energies and momenta (n, accounts + momenta)."""
        found = self._evaluated(problem, times, states, u, m, p)
        n, empty = len(times), np.zeros((len(times), 0))
        energies = found.get("potential", empty).copy()
        for k, shares in enumerate(self._kinetic(found, n)):
            energies[:, k] += shares.sum(axis=1)
        return np.column_stack([energies, found.get("momenta", empty)])

    def _kinetic(self, found: dict[str, Array], n: int) -> tuple[Array, ...]:
        ends = np.cumsum([len(x.kinetic) for x in self._accounts])[:-1].tolist()
        return tuple(np.split(found.get("kinetic", np.zeros((n, 0))), ends, axis=1)) if self._accounts else ()


def _steps(times: Array, instants: Array, jumps: Array) -> Array:
    """The sum of all jumps up to each time."""
    total = np.concatenate([np.zeros((1, jumps.shape[1])), np.cumsum(jumps, axis=0)])
    return np.asarray(total[np.searchsorted(instants, times, side="right")])
