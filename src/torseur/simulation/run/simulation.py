"""A study at work: the runs it gives.

The steps of a run read as its table of contents: start, integrate, record, audit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from torseur.errors import UnseenWarning
from torseur.simulation.integrate.courses import Course, alone
from torseur.simulation.integrate.driver import course, lanes_of
from torseur.simulation.integrate.hooks import Limits, Sampling
from torseur.simulation.integrate.outcome import Trajectory
from torseur.simulation.integrate.recording import HeldHistory
from torseur.simulation.results.channels import Event
from torseur.simulation.results.result import Run
from torseur.simulation.run.checkpoint import Checkpoint
from torseur.simulation.run.ending import explained, result_of
from torseur.simulation.run.on_the_way import OnTheWay
from torseur.simulation.run.prepared import Prepared
from torseur.simulation.run.starting import Starting
from torseur.simulation.solvers.lanes import Lanes
from torseur.simulation.solvers.problem import Array, Held, Memory
from torseur.simulation.start.first_state import Start
from torseur.simulation.start.report import start_facts

__all__ = ["Moved", "Simulation"]

Moved = tuple[Trajectory, HeldHistory, Sequence[Event]]
"""The states of a run, what was held when, and what happened."""


class Simulation(Prepared):
    """A study, made ready to run, and its runs; for the arguments see `Prepared`."""

    # -- the start -----------------------------------------------------------------------------------------------------
    @cached_property
    def starting(self) -> Starting:
        """Finds states to start from."""
        return Starting(self)

    def start(
        self, given: Mapping[str, float] | None = None, u: Array | None = None, p: Array | None = None
    ) -> tuple[Array, Held]:
        """State and held numbers at the start.

        Args:
            given: coordinates and speeds by name, beside those of the study.
            u, p: inputs and parameters in place of those of the study.
        """
        return self.begun(given, u, p)[:2]

    def begun(
        self, given: Mapping[str, float] | None = None, u: Array | None = None, p: Array | None = None
    ) -> tuple[Array, Held, Start]:
        """The same, and how it came about."""
        return self.starting.begun(given, u, p)

    def first(self) -> tuple[Array, Held]:
        """State and held numbers at the start, with the modes of switches, before the first sample."""
        return self.starting.first(self.keeper(HeldHistory()), None, None, None)[:2]

    # -- a run ---------------------------------------------------------------------------------------------------------
    def run(
        self,
        *,
        start: Mapping[str, float] | None = None,
        progress: Callable[[float], object] | None = None,
        checkpoint: Checkpoint | None = None,
        memory: Memory | None = None,
        samplings: Sequence[Sampling] = (),
    ) -> Run:
        """Simulate; what was computed is kept, however it ends.

        Args:
            start: coordinates and speeds by name, beside those of the study.
            progress: called now and then with the time reached.
            checkpoint: where the run leaves, now and then, what it takes to go on from there.
            memory: what it takes, left by an earlier run of the same study; see `simulate.resume`.
            samplings: what else is done at regular times, such as waiting for a clock.
        """
        for note in self.notes:
            warnings.warn(note, UnseenWarning, stacklevel=2)
        found = self.trajectory(
            start=start, progress=progress, checkpoint=checkpoint, memory=memory, samplings=samplings
        )
        return self.result(*found)

    def trajectory(
        self,
        *,
        start: Mapping[str, float] | None = None,
        u: Array | None = None,
        p: Array | None = None,
        progress: Callable[[float], object] | None = None,
        checkpoint: Checkpoint | None = None,
        memory: Memory | None = None,
        samplings: Sequence[Sampling] = (),
    ) -> Moved:
        """The states of a run, what was held when, and what happened; for the arguments see `course`."""
        one = self.course(
            start=start, u=u, p=p, progress=progress, checkpoint=checkpoint, memory=memory, samplings=samplings
        )
        return alone(one)

    def course(
        self,
        *,
        start: Mapping[str, float] | None = None,
        u: Array | None = None,
        p: Array | None = None,
        progress: Callable[[float], object] | None = None,
        checkpoint: Checkpoint | None = None,
        memory: Memory | None = None,
        samplings: Sequence[Sampling] = (),
        begun: tuple[Array, Held] | None = None,
        place: tuple[Lanes, int] | None = None,
    ) -> Course[Moved]:
        """The same, under way.

        Args:
            start: coordinates and speeds by name, beside those of the study.
            u, p: inputs and parameters in place of those of the study.
            progress, checkpoint, memory, samplings: see `run`.
            begun: the state and what is held at the start, where they are known already.
            place: lanes, and which one of them; see `lanes`.
        """
        study = self.study
        log = HeldHistory()
        keeper = self.keeper(log)
        if memory is not None:
            keeper.recall(memory["keeper"])
            log.recall(memory["log"])
            x, held = memory["drive"]["state"], log.first
        elif begun is not None:
            x, held = begun
            log.note(study.begin, held)
        else:
            x, held, began = self.starting.first(keeper, start, u, p)
            log.note(study.begin, held)
            log.start = start_facts(began, study.start_from, self.names, x)

        def keep(drive: Callable[[], Memory]) -> None:
            assert checkpoint is not None
            checkpoint.offer(lambda: {"drive": drive(), "keeper": keeper.memory(), "log": log.memory()})

        hooks = OnTheWay(self, keeper, log).hooks(held, samplings, progress, keep if checkpoint else None)
        found = yield from course(
            self.problem,
            x,
            (study.begin, study.until),
            self.method.method,
            held,
            self.grid,
            Limits(first=self.step, longest=self.longest, steps=study.solver.steps),
            hooks,
            self.tolerance,
            memory=None if memory is None else memory["drive"],
            place=place,
        )
        return explained(self, found, log), log, keeper.events

    def lanes(self, count: int) -> Lanes:
        """For so many runs side by side."""
        return lanes_of(self.method.method, self.problem, self.tolerance, self.grid, count)

    # -- what came of it -----------------------------------------------------------------------------------------------
    def result(self, trajectory: Trajectory, log: HeldHistory, events: Sequence[Event] = ()) -> Run:
        """A trajectory with all that is recorded of it, and its audit."""
        return result_of(self, trajectory, log, events)
