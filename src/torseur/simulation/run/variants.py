"""The variants of a batch: what differs from run to run, where each run begins, how they run with steps of their own.

That is side by side in vector lanes, or one after the other. Each run is what it is alone, to the last bit: lanes share
instructions and nothing else. Where a run ends, the next one takes its lane; where something has to be decided in one
of them, the others wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from copy import copy
from threading import Lock

import numpy as np
from numpy.typing import ArrayLike

from torseur.describe.checks import checked
from torseur.emit.jit import host, is_native
from torseur.errors import ArgumentError, Location, ModelError, NumericalError
from torseur.model.function import array_of, check_names
from torseur.simulation.blocks.measuring import generator_start
from torseur.simulation.blocks.signals import as_columns
from torseur.simulation.integrate.recording import Outcome
from torseur.simulation.run.simulation import Moved, Simulation
from torseur.simulation.solvers.lanes import Course, Lanes, alone, side_by_side
from torseur.simulation.solvers.problem import Array, Held
from torseur.simulation.start.first_state import Start, StartRequest, first_states, requested_values

__all__ = ["FEW", "Values", "Variants", "each_run", "named", "starting_states"]

Values = Mapping[str, ArrayLike]

MOST_CHECKED = 1000
"""Sets of parameters that are checked each; about a second of checks."""


class Variants:
    """The arrays of all variants, each (runs,).

    Args:
        simulation: what varies.
        starts, parameters, inputs: by name, an array (runs,) or one number each.
        checked: whether values of parameters are checked as those of a file are.
        seeds: of generators, by the table and the name of the block that has them, an array (runs,).
    """

    def __init__(
        self,
        simulation: Simulation,
        starts: Values,
        parameters: Values,
        inputs: Values,
        *,
        checked: bool = True,
        seeds: Mapping[Location, Array] | None = None,
    ) -> None:
        starts, parameters, inputs = (as_columns(table) for table in (starts, parameters, inputs))
        self.simulation, model = simulation, simulation.model
        states = [x.name for x in (*model.coordinates, *model.speeds)]
        check_names(starts, states, "coordinate or speed")
        check_names(parameters, model.free_parameters, "parameter")
        driven = simulation.plant.facts.driven
        check_names(inputs, [n for n in model.mechanism.inputs if n not in driven], "input that nothing drives")
        arrays = {n: np.atleast_1d(array_of(x, n)) for table in (starts, parameters, inputs) for n, x in table.items()}
        self.seeds = dict(seeds or {})
        try:
            sizes_of = [a.shape for a in (*arrays.values(), *self.seeds.values())]
            shape = np.broadcast_shapes(*sizes_of) or (1,)
        except ValueError:
            sizes = ", ".join(f"{n} {a.shape}" for n, a in arrays.items())
            raise ArgumentError(
                "the variants do not fit together", expected="arrays of one length", got=sizes
            ) from None
        if len(shape) != 1:
            raise ArgumentError("variants are counted by one number", expected="(runs,)", got=str(shape))
        if not shape[0]:
            raise ArgumentError("there are no variants", expected="at least one run", got=str(shape))
        lost = [n for n, a in arrays.items() if not np.isfinite(a).all()]
        if lost:
            raise ArgumentError("variants must be finite", expected="numbers", got=f"nan or inf in {', '.join(lost)}")
        self.count = shape[0]
        full = {n: np.broadcast_to(a, shape) for n, a in arrays.items()}
        self.starts = {n: full[n] for n in starts}
        self.p = np.tile(model.parameter_values, (self.count, 1))
        self.u = np.tile(simulation.input_values, (self.count, 1))
        for n in parameters:
            self.p[:, model.free_parameters.index(n)] = full[n]
        for n in inputs:
            self.u[:, list(model.mechanism.inputs).index(n)] = full[n]
        self.is_changed = bool(parameters or inputs)
        if checked:
            _check_parameters(simulation, {n: full[n] for n in parameters})

    def alone(self, k: int) -> tuple[Array, Held, Start]:
        """The start of one variant."""
        with named(k):
            return self.simulation.begun(self.start_of(k), self.u[k], self.p[k])

    def some(self, first: int, last: int) -> Variants:
        """Those from one number to another, without the last."""
        other = copy(self)
        other.starts = {name: x[first:last] for name, x in self.starts.items()}
        other.seeds = {where: x[first:last] for where, x in self.seeds.items()}
        other.p, other.u, other.count = self.p[first:last], self.u[first:last], last - first
        return other

    def drawn(self, k: int) -> dict[int, float]:
        """What generators of one variant begin with, by the places of the held numbers."""
        found = {}
        for place, held in enumerate(self.simulation.plant.facts.held if self.seeds else ()):
            if held.seeded is not None and held.seeded.where in self.seeds:
                seed = int(self.seeds[held.seeded.where][k])
                found[place] = generator_start(seed, held.seeded.more)[held.seeded.word]
        return found

    def values_of(self, table: str, name: str) -> Array:
        """A start, parameter or input in all runs."""
        if table == "starts":
            return self.starts[name]
        array, names = self._places(table)
        return array[:, names.index(name)]

    def with_values(self, table: str, name: str, values: Array) -> Variants:
        """The same runs with other values of a start, parameter or input."""
        other = copy(self)
        if table == "starts":
            other.starts = {**self.starts, name: values}
            return other
        other.p, other.u, other.is_changed = self.p.copy(), self.u.copy(), True
        array, names = other._places(table)
        array[:, names.index(name)] = values
        return other

    def _places(self, table: str) -> tuple[Array, Sequence[str]]:
        model = self.simulation.model
        return (self.p, model.free_parameters) if table == "parameters" else (self.u, list(model.mechanism.inputs))

    def start_of(self, k: int) -> dict[str, float]:
        """Coordinates and speeds of one variant."""
        return {name: float(values[k]) for name, values in self.starts.items()}


def _check_parameters(simulation: Simulation, values: Mapping[str, Array]) -> None:
    """Values of parameters are checked as those of a file are; a fault is told with the number of its run."""
    fixed = simulation.study.parameters
    for k in _to_check(values):
        try:
            checked(simulation.study.model, {**fixed, **{n: float(x[k]) for n, x in values.items()}}, of_numbers=True)
        except ModelError as error:
            faults = error.faults or (error,)
            raise ModelError.of(
                ModelError(f.what, where=f"run {k}: {f.where}", expected=f.expected, got=f.got, remedy=f.remedy)
                for f in faults
            ) from error


def _to_check(values: Mapping[str, Array]) -> list[int]:
    """One run for each set of values; of very many those where a value is smallest or largest, and some between."""
    if not values:
        return []
    table = np.stack(list(values.values()), axis=1)
    _, runs = np.unique(table, axis=0, return_index=True)
    if len(runs) > MOST_CHECKED:
        ends = [*table.argmin(axis=0), *table.argmax(axis=0)]
        runs = np.unique([*ends, *runs[:: -(-len(runs) // MOST_CHECKED)]])
    return sorted(int(k) for k in runs)


def starting_states(simulation: Simulation, variants: Variants) -> Array:
    """The states of all variants at the start: each is what it would be alone."""
    model, problem, study = simulation.model, simulation.problem, simulation.study
    moving, nm = simulation.moving.model, len(simulation.plant.facts.held)
    moves = slice(0, model.nq + model.nv)

    def request(inputs: Array) -> StartRequest:
        return StartRequest(study, variants.starts, inputs, variants.p, variants.is_changed)

    def closed(inputs: Array) -> Array:
        x = np.zeros((variants.count, problem.size))
        x[:, moves], lost = first_states(moving, request(inputs))
        for k in lost:
            x[k, moves] = variants.alone(k)[0][moves]
        return x

    x = np.zeros((variants.count, problem.size))
    asked = requested_values(moving, request(np.zeros(0)))  # only what varies has a row for each run
    x[:, moves] = np.concatenate([np.broadcast_to(a, (variants.count, a.shape[-1])) for a in asked], axis=-1)
    x = simulation.starting.beginning.settled(x, Held(variants.u, np.zeros((variants.count, nm)), variants.p), closed)
    held = Held(variants.u, simulation.ranks.of_many(study.begin, x, variants.u, variants.p), variants.p)
    correct = simulation.plant.native("corrected", batches=True)
    if correct is not None and study.start_from != "given":
        places = [simulation.names.index(n) for n in {**study.start, **variants.starts}]
        as_held = x[:, places]
        for _ in range(2):
            x = np.concatenate(simulation.plant.evaluate(correct, study.begin, x, held), axis=1)
        x[:, places] = as_held
    return simulation.starting.beginning.begun(x, held)


@contextmanager
def named(k: int) -> Iterator[None]:
    """What goes wrong is told with the number of the run."""
    try:
        yield
    except NumericalError as error:
        parts = {"expected": error.expected, "got": error.got, "remedy": error.remedy}
        raise NumericalError(error.what, where=f"run {k}: {error.where}", **parts) from error


FEW = 4
"""Runs for each lane up to which they go one after the other: code for lanes takes time to compile."""

Take = Callable[[int, Moved], object]
Fail = Callable[[int, Exception], object]


def each_run(
    simulation: Simulation,
    variants: Variants,
    take: Take,
    threads: int = 1,
    fail: Fail | None = None,
    begun: Callable[[int], object] | None = None,
    *,
    states_only: bool = False,
) -> None:
    """Simulate all variants.

    Args:
        simulation, variants: of which study.
        take: told the number of each run and what came of it, in any order, by any thread.
        threads: how many share the runs.
        fail: told what is raised in a run, if it does not end all of them; an interruption always does.
        begun: told the number of each run that begins, by any thread.
        states_only: whether nobody asks how the runs began: their starts are found together where that is simple.
    """
    starts = _plain_starts(simulation, variants) if states_only else None
    _EachRun(simulation, variants, take, fail, begun, starts).go(threads)


class _EachRun:
    def __init__(
        self,
        simulation: Simulation,
        variants: Variants,
        take: Take,
        fail: Fail | None,
        begun: Callable[[int], object] | None,
        starts: Array | None,
    ) -> None:
        self.simulation, self.variants, self.take, self.fail, self.starts = simulation, variants, take, fail, starts
        self.begun = begun
        self._waiting, self._lock = iter(range(variants.count)), Lock()

    def go(self, threads: int) -> None:
        width = host().lanes.width if is_native() else 1
        in_lanes = width > 1 and self.variants.count > FEW * width * threads
        if not in_lanes:
            alone(self._run(next(self._waiting), None))  # what is compiled on the way is compiled once
        lanes = [self.simulation.lanes(width) if in_lanes else None for _ in range(threads)]
        if threads == 1:
            self._share(lanes[0])
            return
        with ThreadPoolExecutor(threads) as pool:
            try:
                list(pool.map(self._share, lanes))
            except KeyboardInterrupt:
                self._end()
                raise

    def _share(self, lanes: Lanes | None) -> None:
        """The runs of one thread; what is raised ends those of the others as well."""
        try:
            self._take_turns(lanes)
        except BaseException:
            self._end()
            raise

    def _end(self) -> None:
        """Begin no more runs."""
        with self._lock:
            self._waiting = iter(range(0))

    def _take_turns(self, lanes: Lanes | None) -> None:
        if lanes is None:
            for k in self._next():
                alone(self._run(k, None))
        else:
            side_by_side((self._beginning(k, lanes) for k in self._next()), lanes)

    def _next(self) -> Iterator[int]:
        """The runs that nobody has begun."""
        while True:
            with self._lock:
                k = next(self._waiting, None)
            if k is None:
                return
            yield k

    def _beginning(self, k: int, lanes: Lanes) -> Callable[[int], Course[None]]:
        return lambda place: self._run(k, (lanes, place))

    def _run(self, k: int, place: tuple[Lanes, int] | None) -> Course[None]:
        variants, begun = self.variants, None
        if self.begun is not None:
            self.begun(k)
        u, p = variants.u[k], variants.p[k]
        if self.starts is not None:
            begun = self.starts[k], Held(u.copy(), np.zeros(0), p.copy())
        try:
            with named(k) if self.fail is None else nullcontext():
                course = self.simulation.course(
                    start=variants.start_of(k), u=u, p=p, begun=begun, drawn=variants.drawn(k), place=place
                )
                found = yield from course
            if found[0].outcome is Outcome.INTERRUPTED:  # not this run alone
                raise KeyboardInterrupt
        except Exception as error:
            if self.fail is None:
                raise
            self.fail(k, error)
        else:
            self.take(k, found)


def _plain_starts(simulation: Simulation, variants: Variants) -> Array | None:
    """The states of all runs at the start, found at once; None where each needs a look of its own."""
    plant, facts = simulation.plant, simulation.plant.facts
    if facts.switches or facts.rows or facts.held or simulation.study.start_from != "assembled":
        return None
    if plant.native("corrected") is not None or plant.native("starts") is not None:
        return None
    try:
        return starting_states(simulation, variants)
    except NumericalError:
        return None  # a run that cannot begin says so itself
