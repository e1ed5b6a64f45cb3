"""Many runs of one study at once: other starts, other parameters, other inputs.

Runs with a fixed step that need nobody on the way go in lanes and threads, all of them in one native loop. Runs with
events, samples or adaptive steps have a step of their own each (`torseur.simulation.run.variants`), and so do those
whose signals switch within a step, or at other times in each run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.describe import Mechanism
from torseur.emit import Tableau
from torseur.emit.ufunc import checked_threads
from torseur.errors import ArgumentError
from torseur.simulation.integrate.driver import UniformSteps, integrator_of
from torseur.simulation.integrate.recording import Counts, HeldHistory, Outcome, Trajectory
from torseur.simulation.results.result import Run
from torseur.simulation.run.ending import explained
from torseur.simulation.run.simulate import study_of
from torseur.simulation.run.simulation import Moved, Simulation
from torseur.simulation.run.timetable import Timetable
from torseur.simulation.run.variants import Values, Variants, each_run, named, starting_states
from torseur.simulation.solvers.explicit import RungeKutta
from torseur.simulation.solvers.problem import Array, Held, Solvable, kept
from torseur.simulation.start.first_state import Start
from torseur.simulation.start.report import start_facts
from torseur.simulation.study.study import Study

__all__ = ["Batch", "Regular", "batch_in_lanes", "in_lanes", "regular_steps", "simulate_many"]


@dataclass(frozen=True, eq=False)
class Batch:
    """The states of many runs, and any of them as a whole run.

    Attributes:
        simulation: what they are runs of.
        time: (nt,), s.
        states: (runs, nt, n); nan from where a run stopped.
    """

    simulation: Simulation
    time: Array
    states: Array
    _whole: Callable[[int], Run]
    _held: Held | None = None

    def __len__(self) -> int:
        return len(self.states)

    @property
    def q(self) -> Array:
        """Coordinates, (runs, nt, nq).

        >>> many = ts.simulate_many(arm, starts={"theta1": [0.1, 0.2, 0.3]}, until=0.2, every=0.1, solver="rk4")
        >>> many.q.shape
        (3, 3, 2)
        """
        return self._columns("q")

    @property
    def v(self) -> Array:
        """Speeds, (runs, nt, nv).

        >>> many = ts.simulate_many(arm, starts={"theta1": [0.1, 0.2, 0.3]}, until=0.2, every=0.1, solver="rk4")
        >>> many.v.shape
        (3, 3, 2)
        """
        return self._columns("v")

    @property
    def z(self) -> Array:
        """States of blocks, (runs, nt, nz).

        >>> many = ts.simulate_many(arm, starts={"theta1": [0.1, 0.2, 0.3]}, until=0.2, every=0.1, solver="rk4")
        >>> many.z.shape
        (3, 3, 0)
        """
        return self._columns("z")

    def _columns(self, name: str) -> Array:
        return self.states[:, :, self.simulation.problem.columns(name)]

    def __getitem__(self, name: str) -> Array:
        """A coordinate, speed or state of a block in all runs, (runs, nt)."""
        names = self.simulation.state_names
        if name not in names:
            raise ArgumentError(f"no coordinate, speed or state '{name}'", expected=", ".join(names))
        return self.states[:, :, names.index(name)]

    @property
    def recorded(self) -> frozenset[str]:
        """Inputs and further channels that `channels` gives of all runs at once; none where they change on the way.

        >>> many = ts.simulate_many(arm, starts={"theta1": [0.1, 0.2]}, until=0.2, every=0.1, solver="rk4")
        >>> sorted(many.recorded)
        ['Gamma1', 'Gamma2', 'kinetic_energy', 'potential_energy']
        """
        return frozenset() if self._held is None else frozenset(self.simulation.records.places)

    def channels(self, names: Sequence[str], runs: NDArray[np.int64]) -> dict[str, Array]:
        """States and what is `recorded`, by name, in some of the runs, each (len(runs), nt).

        Args:
            names: which.
            runs: their numbers, in order, each once.
        """
        which = slice(None) if len(runs) == len(self) else runs  # all of them are not copied
        names_of_states, states = self.simulation.state_names, self.states[which]
        own = [name for name in names if name in names_of_states]
        found = {name: np.ascontiguousarray(states[:, :, names_of_states.index(name)]) for name in own}
        others = [name for name in names if name not in found]
        if others:
            assert self._held is not None
            held = Held(self._held.u[which], self._held.m[which], self._held.p[which])
            found |= self.simulation.records.of_many(others, self.time, states, held)
        return found

    def run(self, k: int) -> Run:
        """One of them with all its channels and its audit.

        >>> many = ts.simulate_many(arm, starts={"theta1": [0.1, 0.2, 0.3]}, until=0.2, every=0.1, solver="rk4")
        >>> many.run(1).audit().holds
        True
        """
        return self._whole(k)


def simulate_many(
    what: Mechanism | Study,
    *,
    starts: Values | None = None,
    parameters: Values | None = None,
    inputs: Values | None = None,
    threads: int = 1,
    progress: Callable[[float], object] | None = None,
    **study: Any,
) -> Batch:
    """Simulate many variants in one call.

    Args:
        what: a description, or a study.
        starts: coordinates and speeds by name, an array (runs,) or one number each; a table of pandas or polars with
            a column for each serves as well, also for the others.
        parameters: parameters by name likewise; signals and gains may be formulas of them. They are checked as those
            of a file are: up to a thousand sets each, of more those at the ends of ranges and some between.
        inputs: inputs that nothing drives, or a constant, likewise: what they are held at.
        threads: how many share the runs.
        progress: called now and then with the part that is done, 0 to 1.
        study: fields of a `Study`, as in `simulate`.

    >>> rod = {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": {"M": 1.0, "MX": 0.5, "ZZ": 0.4}}
    >>> pendulum = Mechanism(name="pendulum", gravity=(9.81, 0.0, 0.0), bodies={"rod": rod})
    >>> many = simulate_many(pendulum, starts={"a": [0.1, 0.2, 0.3]}, until=1.0, every=0.1, solver="rk4")
    >>> many["a"].shape
    (3, 11)
    """
    threads = checked_threads(threads)
    simulation = Simulation(study_of(what, **study))
    tables = ({} if table is None else table for table in (starts, parameters, inputs))
    variants = Variants(simulation, *tables)
    found = batch_in_lanes(simulation, variants, threads, progress)
    return _one_by_one(simulation, variants, threads, progress) if found is None else found


def batch_in_lanes(
    simulation: Simulation,
    variants: Variants,
    threads: int = 1,
    progress: Callable[[float], object] | None = None,
) -> Batch | None:
    """All variants in one native loop; None where somebody is needed on the way."""
    fast = regular_steps(simulation, variants)
    return None if fast is None else _in_lanes(simulation, variants, fast, threads, progress)


@dataclass(frozen=True)
class Regular:
    """The regular steps of all runs, and the instants at which their rates are not smooth."""

    steps: UniformSteps
    breaks: Sequence[float]


def regular_steps(simulation: Simulation, variants: Variants, problem: Solvable | None = None) -> Regular | None:
    """Of all runs, where the whole loop can be native and is not too long.

    Args:
        simulation, variants: the runs.
        problem: what is integrated; by default that of the simulation.
    """
    method, problem = simulation.method.method, problem or simulation.problem
    study, step = simulation.study, simulation.step
    alone = not problem.event_count and not simulation.plant.facts.samples and not study.changes
    if not (isinstance(method, RungeKutta) and method.control is None and alone) or step is None:
        return None
    course = UniformSteps.of((study.begin, study.until), step, simulation.grid)
    if course is None or course.rows * course.every > study.solver.steps:
        return None
    breaks = _breaks(simulation, variants)
    if breaks is None or not all(_is_end(b, study.begin, step) for b in breaks):
        return None
    return Regular(course, breaks)


def _breaks(simulation: Simulation, variants: Variants) -> list[float] | None:
    """The instants that all runs have in common; None where they may differ, or where something jumps at them."""
    study, plant, p = simulation.study, simulation.plant, variants.p
    varied = set(np.flatnonzero((p != p[0]).any(axis=0)).tolist())
    read = varied & plant.facts.timing
    runs = {0, *(int(end(p[:, k])) for k in read for end in (np.argmin, np.argmax))}
    found = [b for k in runs for b in simulation.breaks(Timetable(plant, p[k]).breaks, p[k])]
    inside = sorted({b for b in found if study.begin < b < study.until})
    return None if inside and (read or plant.facts.is_driven) else inside


def _is_end(time: float, begin: float, step: float) -> bool:
    """Whether a step ends at a time, but for rounding."""
    return abs(begin + step * round((time - begin) / step) - time) <= 1e-9 * step


def in_lanes(
    problem: Solvable,
    tableau: Tableau,
    fast: Regular,
    start: Array,
    held: Held,
    threads: int = 1,
    progress: Callable[[float], object] | None = None,
) -> tuple[Array, Array]:
    """The times (nt,) that are recorded, and the states (runs, nt, n) then; nan from where a run stopped.

    Args:
        problem, tableau: what is integrated, by which method.
        fast: steps.
        start: (runs, n).
        held: (runs, ...) each; throughout a run nothing of it changes.
        threads, progress: see `simulate_many`.
    """
    course, blocks = fast.steps, {b.name for b in problem.inputs}
    run = kept(problem, tableau, lambda: integrator_of(problem, tableau))
    given: dict[str, Any] = {b.name: start[:, problem.columns(b.name)] for b in problem.states}
    given |= {name: held[name] for name in ("u", "m", "p") if name in blocks}
    steps = course.rows * course.every
    states = np.full((len(start), course.rows + 1, problem.size), np.nan)
    motion = run(
        **given,
        step=course.step,
        steps=steps,
        every=course.every,
        time=course.span[0],
        breaks=fast.breaks,
        threads=threads,
        progress=None if progress is None else (lambda done, wanted: progress(done / wanted)),
        out=[states[..., problem.columns(b.name)] for b in problem.states],
    )
    return motion.time, states


def _in_lanes(
    simulation: Simulation,
    variants: Variants,
    fast: Regular,
    threads: int,
    progress: Callable[[float], object] | None,
) -> Batch:
    problem, method = simulation.problem, simulation.method.method
    assert isinstance(method, RungeKutta)
    x = starting_states(simulation, variants)
    m = simulation.ranks.of_many(simulation.study.begin, x, variants.u, variants.p)
    held = Held(variants.u, m, variants.p)
    time, states = in_lanes(problem, method.tableau, fast, x, held, threads, progress)

    def whole(k: int) -> Run:
        return _run_of(simulation, time, states[k], Held(variants.u[k], m[k], variants.p[k]), variants.alone(k)[2])

    return Batch(simulation, time, states, whole, held)


def _run_of(simulation: Simulation, time: Array, states: Array, held: Held, start: Start) -> Run:
    """A run from states that were computed among many."""
    good = np.asarray(np.isfinite(states).all(axis=1))
    last = len(good) if good.all() else int(np.argmin(good))
    outcome, end = (Outcome.COMPLETE if good.all() else Outcome.NOT_FINITE), max(last - 1, 0)
    trajectory = Trajectory(time[:last], states[:last], (), outcome, float(time[end]), states[end], None, Counts())
    log = HeldHistory()
    log.note(float(time[0]), held)
    log.start = start_facts(start, simulation.study.start_from, simulation.names, states[0])
    return simulation.result(explained(simulation, trajectory, log), log)


def _one_by_one(
    simulation: Simulation, variants: Variants, threads: int, progress: Callable[[float], object] | None
) -> Batch:
    grid, n, done = simulation.grid, variants.count, 0
    states = np.full((n, len(grid), simulation.problem.size), np.nan)

    def take(k: int, moved: Moved) -> None:
        nonlocal done
        trajectory = moved[0]
        states[k, : len(trajectory.times)] = trajectory.states
        done += 1
        if progress is not None:
            progress(done / n)

    each_run(simulation, variants, take, threads, states_only=True)

    def whole(k: int) -> Run:
        with named(k):
            found = simulation.trajectory(start=variants.start_of(k), u=variants.u[k], p=variants.p[k])
        return simulation.result(*found)

    return Batch(simulation, grid, states, whole)
