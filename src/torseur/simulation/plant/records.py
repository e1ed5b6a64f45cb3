"""What is recorded of a run beside its states, computed afterwards for all instants at once, in lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.emit.interface import Argument
from torseur.simulation.integrate.recording import HeldHistory, Trajectory
from torseur.simulation.plant.facts import Quantity
from torseur.simulation.plant.native_plant import NativePlant
from torseur.simulation.results.channels import Channel
from torseur.simulation.solvers.problem import Array, Held

__all__ = ["RECORD", "Records", "Rows"]

RECORD = "record"
"""The function of a plant that gives them."""

TOGETHER = 16e6
"""Bytes that records of many runs may take at once."""


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


class Records:
    """The recorded quantities of a plant."""

    def __init__(self, plant: NativePlant) -> None:
        self.plant, self.facts, self.problem = plant, plant.facts, plant.problem

    def inputs_at(self, t: float, u: Array, p: Array) -> Array:
        """The inputs (..., n) at the start, as far as time decides them; those of controllers as if nothing moved.

        Args:
            t: s.
            u, p: (..., inputs that nothing drives), (..., parameters).
        """
        native = self.plant.native("inputs")
        if native is None:
            return np.zeros((*p.shape[:-1], 0))
        sizes = {b.name: b.size for b in self.facts.inputs}
        given = {"t": t, "u": u, "p": p}
        inputs = np.asarray(native(*(given.get(a.name, np.zeros(sizes[a.name])) for a in native.interface.inputs)))
        return np.array(np.broadcast_to(inputs, (*p.shape[:-1], inputs.shape[-1])))

    def largest_gap(self, t: float, x: Array, held: Held, *, rates: bool = True) -> tuple[str, float]:
        """The row that is met least, and its gap; with or without rows that are about rates."""
        gaps = np.abs(np.ravel(self.plant.evaluate(self.plant.native("gaps"), t, x, held)))
        if not rates:
            gaps = np.where([row.holonomic for row in self.facts.rows], gaps, 0.0)
        worst = int(np.argmax(gaps))
        return self.facts.rows[worst].name, float(gaps[worst])

    @cached_property
    def places(self) -> dict[str, tuple[str, int]]:
        """Where inputs, and what is recorded beside states, stand in what `record` gives: name -> output, column."""
        outputs = {a.name for a in self._outputs}
        places = {item.name: ("items", k) for k, item in enumerate(self.facts.items)}
        places |= {name: ("inputs", k) for k, name in enumerate(self.plant.mechanism.inputs)}
        return {name: place for name, place in places.items() if place[0] in outputs}

    @property
    def _outputs(self) -> tuple[Argument, ...]:
        native = self.plant.native(RECORD, batches=True)
        return () if native is None else native.interface.outputs

    def of_many(self, names: Sequence[str], times: Array, states: Array, held: Held) -> dict[str, Array]:
        """Some of `places` in many runs at once, each (runs, nt).

        Args:
            names: which.
            times: (nt,).
            states: (runs, nt, n).
            held: (runs, ...) each; throughout a run nothing of it changes.
        """
        throughout = Held(held.u[:, None], held.m[:, None], held.p[:, None])
        width = sum(a.size for a in self._outputs)
        together = max(int(TOGETHER / (8 * width * len(times))), 1)
        channels = {name: np.empty(states.shape[:2]) for name in names}
        for first in range(0, len(states), together):
            part = slice(first, first + together)
            block = Held(throughout.u[part], throughout.m[part], throughout.p[part])
            made = self._evaluated(times, states[part], block)
            for name in names:
                output, column = self.places[name]
                channels[name][part] = made[output][..., column]
        return channels

    # -- numbers -------------------------------------------------------------------------------------------------------
    def _evaluated(self, times: Array, states: Array, held: Held) -> dict[str, Array]:
        native = self.plant.native(RECORD, batches=True)
        assert native is not None
        values = self.plant.evaluate(native, times, states, held)
        names = [a.name for a in native.interface.outputs]
        return dict(zip(names, values if isinstance(values, tuple) else (values,), strict=True))

    def of(self, trajectory: Trajectory, log: HeldHistory) -> Rows:
        """All that is recorded of a trajectory; the log says what was held when."""
        facts, problem, n = self.facts, self.problem, len(trajectory.times)
        values = self._evaluated(trajectory.times, trajectory.states, Held(log.u, *log.at(trajectory.times)))
        items = values["items"]
        z, w = (trajectory.states[:, problem.columns(name)] for name in ("z", "w"))
        column = {flow.name: w[:, k] for k, flow in enumerate(facts.flows)}
        inputs = self.plant.mechanism.inputs
        states = [_channel(s, z[:, k]) for k, s in enumerate(facts.states) if s.name not in inputs]
        states += [_channel(flow, column[flow.name]) for flow in facts.flows]
        channels = [_channel(item, items[:, k]) for k, item in enumerate(facts.items)]
        gaps = [np.max(np.abs(values[name]), axis=1) for name in ("h", "r") if name in values]
        jumps = self._jumps(trajectory, log)
        impulses = [column[name] for name in facts.balances.impulses] if facts.balances is not None else []
        return Rows(
            trajectory.states[:, problem.columns("q")],
            trajectory.states[:, problem.columns("v")],
            values["vdot"],
            values.get("inputs", np.zeros((n, 0))),
            tuple(states),
            tuple(channels),
            values.get("potential", np.zeros((n, 0))),
            self._kinetic(values, n),
            column,
            values.get("momenta"),
            np.stack(impulses, axis=1) if impulses else None,
            np.max(gaps, axis=0) if gaps else None,
            np.maximum(-np.min(values["gaps"], axis=1), 0.0) if "gaps" in values else None,
            {name: _steps(trajectory.times, *jump) for name, jump in jumps.items()},
        )

    def _jumps(self, trajectory: Trajectory, log: HeldHistory) -> dict[str, tuple[Array, Array]]:
        """When energy and momenta jump and by how much: at events, at changes of parameters, by drives that jump."""
        jumps = {}
        if trajectory.events:
            times = np.array([e.time for e in trajectory.events])
            m, p = log.before(times)
            states = [np.array([getattr(e, side) for e in trajectory.events]) for side in ("before", "after")]
            before, after = (self._amounts(times, x, Held(log.u, m, p)) for x in states)
            jumps["impacts"] = times, after - before
        if log.changes:
            times, x, m = (np.array([getattr(c, name) for c in log.changes]) for name in ("time", "state", "m"))
            values = [np.array([getattr(c, side) for c in log.changes]) for side in ("before", "after")]
            before, after = (self._amounts(times, x, Held(log.u, m, p)) for p in values)
            jumps["changes"] = times, after - before
        if log.jumps:
            times, m, p, *states = (np.array(column) for column in zip(*log.jumps, strict=True))
            before, after = (self._amounts(times, x, Held(log.u, m, p)) for x in states)
            jumps["drives"] = times, after - before
        return jumps

    def _amounts(self, times: Array, states: Array, held: Held) -> Array:
        """Energies and momenta (n, accounts + momenta)."""
        amounts = self._evaluated(times, states, held)
        n, empty = len(times), np.zeros((len(times), 0))
        energies = amounts.get("potential", empty).copy()
        for k, shares in enumerate(self._kinetic(amounts, n)):
            energies[:, k] += shares.sum(axis=1)
        return np.column_stack([energies, amounts.get("momenta", empty)])

    def _kinetic(self, found: dict[str, Array], n: int) -> tuple[Array, ...]:
        accounts = self.facts.balances.accounts if self.facts.balances is not None else ()
        ends = np.cumsum([account.shares for account in accounts])[:-1].tolist()
        return tuple(np.split(found.get("kinetic", np.zeros((n, 0))), ends, axis=1)) if accounts else ()


def _channel(told: Quantity, values: Array) -> Channel:
    return Channel(told.name, told.unit, told.meaning, values, told.role)


def _steps(times: Array, instants: Array, jumps: Array) -> Array:
    """The sum of all jumps up to each time."""
    total = np.concatenate([np.zeros((1, jumps.shape[1])), np.cumsum(jumps, axis=0)])
    return np.asarray(total[np.searchsorted(instants, times, side="right")])
