"""Many runs that each have a step of their own: side by side in vector lanes, or one after the other.

Each run is what it is alone, to the last bit: lanes share instructions and nothing else. Where a run ends, the next one
takes its lane; where something has to be decided in one of them, the others wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from threading import Lock

import numpy as np

from torseur.emit.jit import host, is_native
from torseur.errors import NumericalError
from torseur.simulation.integrate.courses import Course, alone, side_by_side
from torseur.simulation.integrate.outcome import Outcome
from torseur.simulation.run.simulation import Moved, Simulation
from torseur.simulation.run.variants import Variants, named, starting_states
from torseur.simulation.solvers.lanes import Lanes
from torseur.simulation.solvers.problem import Array, Held

__all__ = ["each_run"]

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
    *,
    states_only: bool = False,
) -> None:
    """Simulate all variants.

    Args:
        simulation, variants: of which study.
        take: told the number of each run and what came of it, in any order, by any thread.
        threads: how many share the runs.
        fail: told what is raised in a run, if it does not end all of them; an interruption always does.
        states_only: whether nobody asks how the runs began: their starts are found together where that is simple.
    """
    starts = _plain_starts(simulation, variants) if states_only else None
    _EachRun(simulation, variants, take, fail, starts).go(threads)


class _EachRun:
    def __init__(
        self, simulation: Simulation, variants: Variants, take: Take, fail: Fail | None, starts: Array | None
    ) -> None:
        self.simulation, self.variants, self.take, self.fail, self.starts = simulation, variants, take, fail, starts
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
        u, p = variants.u[k], variants.p[k]
        if self.starts is not None:
            begun = self.starts[k], Held(u.copy(), np.zeros(0), p.copy())
        try:
            with named(k) if self.fail is None else nullcontext():
                course = self.simulation.course(start=variants.start_of(k), u=u, p=p, begun=begun, place=place)
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
