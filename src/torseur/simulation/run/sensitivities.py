"""Derivatives of runs with respect to what varies: starts, parameters, constant inputs.

With x' = f(t, x; theta) the sensitivities S = dx/dtheta obey S' = df/dx S + df/dtheta. They are further states of the
same problem, differentiated as expressions. A method with fixed steps then gives the exact derivative of what it
computes; where states are corrected after each step, the correction is differentiated too. With adaptive steps S has
an error of the size of the tolerance, as the states have. S begins with the derivative of the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import Literal

import numpy as np

from torseur.describe.formulas import Formula
from torseur.emit import NativeFunction
from torseur.emit.interface import Argument
from torseur.emit.jit import host, is_native
from torseur.graph import Block, Expr, Function, Graph, Role, tangents
from torseur.graph.function import copied
from torseur.simulation.integrate.driver import course, lanes_of
from torseur.simulation.integrate.hooks import Hooks, Limits
from torseur.simulation.plant.records import RECORD
from torseur.simulation.run.batch import in_lanes, regular_steps
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.run.timetable import Timetable
from torseur.simulation.run.variants import FEW, Variants, starting_states
from torseur.simulation.solvers.control import Tolerance
from torseur.simulation.solvers.explicit import RungeKutta
from torseur.simulation.solvers.lanes import Course, Lanes, alone, side_by_side
from torseur.simulation.solvers.problem import ORDER, Array, CompiledProblem, Held, Problem, ProblemShape
from torseur.simulation.study.checks import state_switches

__all__ = ["Sensitivities", "Sensitivity", "Varied"]

TOGETHER = 64e6
"""Bytes that the states of many runs may take at once."""

APART = 2.0**-10
"""Distance of the points by which a start that is solved for is differentiated, as a share of a range."""


@dataclass(frozen=True)
class Varied:
    """A number with respect to which runs are differentiated, and between which ends it varies."""

    table: Literal["starts", "parameters", "inputs"]
    name: str
    low: float
    high: float


@dataclass(frozen=True)
class Sensitivity:
    """Channels of runs and their derivatives.

    Attributes:
        time: (nt,), s.
        values: channel -> (runs, nt); nan from where a run stopped.
        slopes: channel -> (runs, nt, varied).
    """

    time: Array
    values: Mapping[str, Array]
    slopes: Mapping[str, Array]


class Sensitivities:
    """Channels of runs, differentiated with respect to some numbers.

    Args:
        simulation: whose runs.
        varied: with respect to which numbers.
        channels: names of states, inputs and further recorded numbers.
    """

    def __init__(self, simulation: Simulation, varied: Sequence[Varied], channels: Sequence[str]) -> None:
        self.simulation, self.varied, self.channels = simulation, tuple(varied), tuple(channels)
        self.n = simulation.problem.columns("w").start

    @cached_property
    def why_not(self) -> str | None:
        """Why runs of this study have no such derivatives, in words; None where they have."""
        simulation, study = self.simulation, self.simulation.study
        facts = simulation.plant.facts
        known = {*simulation.state_names[: self.n], *simulation.records.places}
        lost = [name for name in self.channels if name not in known]
        decided = [held.name for held in facts.held if held.name not in facts.ranks]
        reasons = {
            "the study has samples": bool(facts.samples),
            "events decide how the motion goes on": bool(facts.switches or decided),
            "parameters change on the way": bool(study.changes),
            f"the method {study.solver.method} solves equations of second order": simulation.method.is_implicit,
            f"'{', '.join(lost)}' is not recorded of many runs at once": bool(lost),
        }
        found = next((text for text, holds in reasons.items() if holds), None)
        return found or next(iter(state_switches(study)), None) or self._moving_breaks()

    def _moving_breaks(self) -> str | None:
        """Whether what varies decides when signals switch, or constraints are driven by signals that do."""
        simulation, names = self.simulation, self.simulation.model.free_parameters
        p = simulation.model.parameter_values

        def instants(p: Array) -> list[float]:
            return sorted(simulation.breaks(Timetable(simulation.plant, p).breaks, p))

        first = instants(p)
        if first and simulation.plant.facts.is_driven:
            return "what drives constraints is not smooth in time"
        for one in self.varied:
            for value in (one.low, one.high) if one.table == "parameters" else ():
                moved = p.copy()
                moved[names.index(one.name)] = value
                if instants(moved) != first:
                    return f"'{one.name}' decides when signals switch"
        return None

    # -- the problem ---------------------------------------------------------------------------------------------------
    @cached_property
    def sources(self) -> list[tuple[str, int] | None]:
        """Of each number that varies: its place among parameters or inputs; None of a start."""
        mechanism, free = self.simulation.model.mechanism, self.simulation.model.free_parameters
        places = {"parameters": ("p", free), "inputs": ("u", list(mechanism.inputs))}
        found = [places.get(one.table) for one in self.varied]
        return [x and (x[0], x[1].index(one.name)) for x, one in zip(found, self.varied, strict=True)]

    @cached_property
    def problem(self) -> CompiledProblem:
        """States, and behind them their derivatives, one number that varies after the other."""
        shape, nz = self.simulation.problem.shape, len(range(self.n)[self.simulation.problem.columns("z")])
        z = Argument("z", (nz + self.n * len(self.varied),), Role.STATE)
        blocks = sorted([*(b for b in shape.inputs if b.name not in ("z", "w")), z], key=lambda b: ORDER.index(b.name))
        store = self.simulation.plant.store.part("sensitivities", repr(self.sources))
        return CompiledProblem(ProblemShape(tuple(blocks), 0, shape.is_corrected), store, lambda: self._derived)

    @cached_property
    def _derived(self) -> Problem:
        plain = self.simulation.plant.derived().problem
        more = _Extended(self, plain.rate)
        return Problem(
            more.function("rate", plain.rate.results[: self.n]),
            None if plain.correct is None else more.function("corrected", plain.correct.results[: self.n]),
        )

    @cached_property
    def _records(self) -> NativeFunction:
        """Channels that are no states, and their derivatives."""
        store = self.problem.store.part("records", repr([self.simulation.records.places[n] for n in self._recorded]))
        return store.function(RECORD, self._record, batches=True)

    def _record(self) -> Function:
        plain = self.simulation.plant.derived().functions()[RECORD]()
        outputs = {o.name: o.exprs for o in plain.outputs}
        places = self.simulation.records.places
        exprs = [outputs[places[name][0]][places[name][1]] for name in self._recorded]
        return _Extended(self, self.simulation.plant.derived().problem.rate).recorded(exprs)

    @property
    def _recorded(self) -> list[str]:
        return [name for name in self.channels if name not in self.simulation.state_names]

    # -- numbers -------------------------------------------------------------------------------------------------------
    def of(self, variants: Variants, threads: int = 1) -> Sensitivity:
        """Of some runs.

        Args:
            variants: the runs; those that differ in what is varied are differentiated each at its own values.
            threads: how many share the runs.
        """
        size = len(self.simulation.grid) * self.problem.size * 8
        together = max(int(TOGETHER / size), 1)
        parts = [
            self._part(variants.some(first, min(first + together, variants.count)), threads)
            for first in range(0, variants.count, together)
        ]
        values = {n: np.concatenate([part.values[n] for part in parts]) for n in self.channels}
        return Sensitivity(
            parts[0].time, values, {n: np.concatenate([part.slopes[n] for part in parts]) for n in self.channels}
        )

    def _part(self, variants: Variants, threads: int) -> Sensitivity:
        simulation, n = self.simulation, self.n
        start = self._start(variants)
        m = simulation.ranks.of_many(simulation.study.begin, start[:, :n], variants.u, variants.p)
        held = Held(variants.u, m, variants.p)
        fast, method = regular_steps(simulation, variants, self.problem), simulation.method.method
        if fast is not None and isinstance(method, RungeKutta):
            time, states = in_lanes(self.problem, method.tableau, fast, start, held, threads)
        else:
            time, states = simulation.grid, self._one_by_one(start, held, threads)
        slopes = states[..., n:].reshape(*states.shape[:2], len(self.varied), n)
        names = simulation.state_names
        own = {name: names.index(name) for name in self.channels if name in names}
        found = {name: states[..., k].copy() for name, k in own.items()}
        derived = {name: slopes[..., k].copy() for name, k in own.items()}
        if self._recorded:
            values, more = self._evaluated(self._records, time, states, held)
            found |= {name: values[..., k] for k, name in enumerate(self._recorded)}
            derived |= {name: more[..., k, :] for k, name in enumerate(self._recorded)}
        return Sensitivity(time, found, derived)

    def _evaluated(self, native: NativeFunction, time: Array, states: Array, held: Held) -> tuple[Array, Array]:
        given = {"t": time, "u": held.u[:, None], "m": held.m[:, None], "p": held.p[:, None]}
        given |= {b.name: states[..., self.problem.columns(b.name)] for b in self.problem.states}
        values, slopes = native(*(given[a.name] for a in native.interface.inputs))
        shape = (*states.shape[:2], len(self._recorded))
        return np.broadcast_to(values, shape), np.broadcast_to(slopes, (*shape, len(self.varied)))

    def _one_by_one(self, start: Array, held: Held, threads: int) -> Array:
        """Runs with steps of their own, in lanes where there are many."""
        simulation, problem, runs = self.simulation, self.problem, len(start)
        study, method, grid = simulation.study, simulation.method.method, simulation.grid
        states = np.full((runs, len(grid), problem.size), np.nan)
        limits = Limits(first=simulation.step, longest=simulation.longest, steps=study.solver.steps)
        span, tolerance = (study.begin, study.until), self._tolerance

        def run(k: int, lanes: Lanes | None, place: int) -> Course[None]:
            own = Held(held.u[k].copy(), held.m[k].copy(), held.p[k].copy())
            hooks = Hooks(breaks=simulation.breaks(Timetable(simulation.plant, own.p).breaks, own.p))
            given = span, method, own, grid, limits, hooks, tolerance
            found = yield from course(problem, start[k], *given, place=None if lanes is None else (lanes, place))
            states[k, : len(found.times)] = found.states

        def share(some: Sequence[int]) -> None:
            width = host().lanes.width if is_native() else 1
            if len(some) <= FEW * width:
                for k in some:
                    alone(run(k, None, 0))
                return
            lanes = lanes_of(method, problem, tolerance, grid, width)
            side_by_side((partial(run, k, lanes) for k in some), lanes)

        shares = [range(runs)[k::threads] for k in range(min(threads, runs))]
        with ThreadPoolExecutor(len(shares)) as pool:
            list(pool.map(share, shares))
        return states

    @property
    def _tolerance(self) -> Tolerance:
        """A derivative times the width of its range is as exact as what it is derived of."""
        rtol, *atol = self.simulation.tolerance.array(self.simulation.problem.size).tolist()
        own = atol[: self.n]
        return Tolerance(rtol, (*own, *(x / (one.high - one.low) for one in self.varied for x in own)))

    # -- the start -----------------------------------------------------------------------------------------------------
    def _start(self, variants: Variants) -> Array:
        """States at the start, and their derivatives."""
        simulation, n = self.simulation, self.n
        x = starting_states(simulation, variants)[:, :n]
        if not self._is_plain:
            return np.concatenate([x, *(self._start_slope(variants, one) for one in self.varied)], axis=1)
        S = np.zeros((len(x), len(self.varied), n))
        for k, one in enumerate(self.varied):
            if one.table == "starts":
                S[:, k, simulation.names.index(one.name)] = 1.0
        return np.concatenate([x, S.reshape(len(x), -1)], axis=1)

    @cached_property
    def _is_plain(self) -> bool:
        """Whether a run starts with the coordinates and speeds it is given, and with nothing that is made of them."""
        simulation, model, facts = self.simulation, self.simulation.model, self.simulation.plant.facts
        numbers = all(not isinstance(x.start, Formula) for x in (*model.coordinates, *model.speeds))
        loose = not facts.rows and model.nq == model.nv and "starts" not in facts.functions
        return numbers and loose and simulation.study.start_from != "equilibrium"

    def _start_slope(self, variants: Variants, one: Varied) -> Array:
        """The derivative of starts by five points that lie within the range, (runs, n)."""
        at = variants.values_of(one.table, one.name)
        h = APART * (one.high - one.low)
        below = np.clip(np.floor((at - one.low) / h), 0.0, 2.0)
        beyond = np.clip(np.floor((one.high - at) / h), 0.0, 2.0)
        first = np.where(beyond < 2.0, -4.0 + beyond, -below)
        total = np.zeros((variants.count, self.n))
        weights = np.array([_weights(k) for k in range(-4, 1)])
        for k in range(5):
            x = starting_states(self.simulation, variants.with_values(one.table, one.name, at + h * (first + k)))
            total += weights[(first + 4.0).astype(int), k][:, None] * x[:, : self.n]
        return total / h


def _weights(first: int) -> list[float]:
    """Of values at first, first + 1 ... first + 4 in the derivative at 0 of the polynomial through them."""
    points = np.arange(first, first + 5)
    found = np.linalg.solve(np.vander(points, 5, increasing=True).T.astype(float), [0.0, 1.0, 0.0, 0.0, 0.0])
    return found.tolist()  # type: ignore[no-any-return]


class _Extended:
    """A graph with the blocks of a plant, z longer by the derivatives of all states.

    Args:
        of: what is differentiated.
        rate: of the plant; it has all blocks.
    """

    def __init__(self, of: Sensitivities, rate: Function) -> None:
        self.of, self.graph = of, Graph()
        plain = {b.name: b for b in rate.inputs}
        self.blocks: list[Block] = [
            self.graph.block(
                b.name, b.shape, b.role or Role.STATE, names=None if b.name == "z" else plain[b.name].names
            )
            for b in of.problem.inputs
        ]
        here = {b.name: b for b in self.blocks}
        self.known: dict[Expr, Expr] = {
            old: new
            for name, block in plain.items()
            if name != "w"
            for old, new in zip(block, here[name], strict=False)
        }
        states = [x for b in self.blocks if b.role is Role.STATE for x in b]
        n = of.n
        self.cuts = [states[n * k : n * (k + 1)] for k in range(1 + len(of.varied))]
        self.sources = [source and here[source[0]][source[1]] for source in of.sources]

    def _along(self, exprs: Sequence[Expr]) -> list[list[Expr]]:
        """The derivatives of expressions of this graph, for each number that varies."""
        x, *S = self.cuts
        found = []
        for columns, source in zip(S, self.sources, strict=True):
            seeds: dict[Expr, Expr | float] = dict(zip(x, columns, strict=True))
            found.append(tangents(exprs, seeds if source is None else seeds | {source: 1.0}))
        return found

    def function(self, name: str, results: Sequence[Expr]) -> Function:
        """What has one result for each state."""
        values = copied(results, self.known, self.graph)
        flat = [*values, *(x for column in self._along(values) for x in column)]
        outputs, at = {}, 0
        for block in self.blocks:
            if block.role is Role.STATE:
                size = prod(block.shape)
                outputs[f"d{block.name}"] = flat[at : at + size]
                at += size
        return Function(name, self.blocks, outputs)

    def recorded(self, exprs: Sequence[Expr]) -> Function:
        """Values (k,), and derivatives (k, varied)."""
        values = copied(exprs, self.known, self.graph)
        slopes = [list(row) for row in zip(*self._along(values), strict=True)]
        return Function(RECORD, self.blocks, {"values": values, "slopes": slopes})
