"""A study at work: the runs it gives.

The steps of a run read as its table of contents: start, integrate, record, audit. `OnTheWay` acts on a run and looks at
it: switches, changes of parameters, samples, gaps of constraints.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cached_property

import numpy as np

from torseur.emit.ahead import made_ahead
from torseur.errors import NumericalError, UnseenWarning
from torseur.simulation.integrate.driver import course, lanes_of, step_code
from torseur.simulation.integrate.hooks import EventSeen, Hooks, Limits, Offer, Response, Sampling, resolution
from torseur.simulation.integrate.recording import End, HeldHistory, Outcome, Trajectory
from torseur.simulation.plant.records import RECORD
from torseur.simulation.results.audit import CLOSURE
from torseur.simulation.results.channels import Event
from torseur.simulation.results.result import Run
from torseur.simulation.run.checkpoint import Checkpoint
from torseur.simulation.run.ending import explained, result_of
from torseur.simulation.run.prepared import Prepared, Starting, flat
from torseur.simulation.run.timetable import Timetable
from torseur.simulation.solvers.lanes import Course, Lanes, alone
from torseur.simulation.solvers.problem import Array, Held, Memory
from torseur.simulation.start.first_state import Start
from torseur.simulation.start.report import start_facts
from torseur.simulation.switching.modes import SwitchLogic

__all__ = ["Moved", "OnTheWay", "Simulation"]

JUMP = 1e-8
"""What a coordinate or speed changes by, beside its size, when what drives it jumps; less is rounding."""

OPEN = 1000.0 * CLOSURE
"""Gaps of loops and constraints beyond this, m, rad or their rates, end a run: far beyond what an audit allows."""


class OnTheWay:
    """What happens in one run.

    Args:
        of: the study.
        switch_logic: decides what switches do.
        log: takes down what is held when.
    """

    def __init__(self, of: Prepared, switch_logic: SwitchLogic, log: HeldHistory) -> None:
        self._of, self._switch_logic, self._log = of, switch_logic, log

    def hooks(
        self,
        held: Held,
        others: Sequence[Sampling],
        progress: Callable[[float], object] | None,
        keep: Offer | None,
    ) -> Hooks:
        """All of it, for the integration.

        Args:
            held: at the start.
            others: what else is done at regular times.
            progress: called now and then with the time reached.
            keep: takes what it needs to go on from there, now and then.
        """
        of, study = self._of, self._of.study
        facts = of.plant.facts
        table = Timetable(of.plant, held.p)
        samplings = table.samplings(self._log, resolution(study.begin, study.until))
        return Hooks(
            handler=self._handle,
            breaks=of.breaks(table.breaks, held.p),
            samplings=[*others, *samplings, *of.changes.by_clock(self._log)],
            review=self._review if facts.switches or facts.is_driven or of.changes_rows else None,
            invariants=self._switch_logic.sided,
            progress=progress,
            monitor=self.monitor if facts.rows else None,
            checkpoint=keep,
        )

    def _handle(self, meeting: EventSeen) -> Response | None:
        """What an event changes."""
        of, switch_logic, log = self._of, self._switch_logic, self._log
        reply = of.changes.by_event(switch_logic.handle(meeting), meeting)
        if reply is not None and reply.held is not None:
            x = meeting.state if reply.state is None else reply.state
            log.change(meeting.time, x, meeting.held, reply.held)
            x = self._followed(meeting.time, x, reply.held)
            settled = switch_logic.review(meeting.time, x, reply.held) if of.plant.facts.switches else None
            reply = replace(reply, state=x if settled is None else settled.state)
        held = meeting.held if reply is None or reply.held is None else reply.held
        log.note(meeting.time, held)
        if reply is not None:
            of.ranks.check(meeting.time, meeting.state if reply.state is None else reply.state, held)
        return reply

    def _review(self, t: float, x: Array, held: Held) -> Response | None:
        """What held numbers that have changed ask for."""
        of, switch_logic, log = self._of, self._switch_logic, self._log
        after = self._followed(t, x, held)
        reply = switch_logic.review(t, after, held) if of.plant.facts.switches else None
        if after is not x:
            log.jump(math.nextafter(t, -math.inf), x, after, held)  # at a break, t is the first time after it
            reply = reply or Response(state=after)
        log.note(t, held)
        of.ranks.check(t, x, held)
        return reply

    def _followed(self, t: float, x: Array, held: Held) -> Array:
        """The state after what is in constraints may have jumped: speeds follow at once, positions cannot."""
        of, changes = self._of, self._log.changes
        if not (of.plant.facts.is_driven or of.changes_rows):
            return x
        is_change = of.changes_rows and bool(changes) and changes[-1].time == t
        if is_change:
            self._check_closed(t, x, held)
        of.ranks(t, x, held)
        after = flat(of.plant.evaluate(of.plant.native("corrected"), t, x, held))
        q, v = of.problem.columns("q"), of.problem.columns("v")
        moved = np.abs(after[q] - x[q])
        if not np.all(moved <= JUMP * (1.0 + np.abs(x[q]))):
            name = of.model.coordinates[int(np.argmax(moved))].name
            raise _jump("an input that drives a constraint jumps", f"{name} cannot follow it", t)
        return after if np.any(np.abs(after[v] - x[v]) > JUMP * (1.0 + np.abs(x[v]))) else x

    def _check_closed(self, t: float, x: Array, held: Held) -> None:
        """Refuse parameters that open a loop or a constraint where it is."""
        name, gap = self._of.records.largest_gap(t, x, held, rates=False)
        if not gap <= OPEN:
            raise _jump("a parameter of a constraint changes", f"{name} would be open by {gap:.3g}", t)

    def monitor(self, t: float, x: Array, held: Held) -> None:
        """End a run whose loops or constraints are not met any more."""
        name, gap = self._of.records.largest_gap(t, x, held)
        if not gap <= OPEN:
            raise End(Outcome.OPEN, why=f"{name} is off by {gap:.3g}")


def _jump(what: str, so: str, t: float) -> NumericalError:
    return NumericalError(
        f"{what}, and {so}",
        where=f"t = {t:.9g} s",
        remedy="let it pass from value to value: an input that is a ramp, a move, or has a lag behind it",
    )


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
        return self.starting.first(self.switch_logic(HeldHistory()), None, None, None)[:2]

    # -- a run ---------------------------------------------------------------------------------------------------------
    def code_ahead(self) -> AbstractContextManager[None]:
        """The code of a run is made by two processes at once as long as this is open, where nothing of it is on disk.

        For programs that may be forked.
        """
        if not self.plant.is_derived:
            return nullcontext()

        def record() -> None:
            native = self.plant.native(RECORD, batches=True)
            if native is not None:
                native.ready(batches=True)

        return made_ahead({**step_code(self.method.method, self.problem), RECORD: record})

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
        one = self.course(start=start, progress=progress, checkpoint=checkpoint, memory=memory, samplings=samplings)
        return self.result(*alone(one))

    def trajectory(
        self,
        *,
        start: Mapping[str, float] | None = None,
        u: Array | None = None,
        p: Array | None = None,
        drawn: Mapping[int, float] | None = None,
    ) -> Moved:
        """The states of a run, what was held when, and what happened; for the arguments see `course`."""
        return alone(self.course(start=start, u=u, p=p, drawn=drawn))

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
        drawn: Mapping[int, float] | None = None,
        place: tuple[Lanes, int] | None = None,
    ) -> Course[Moved]:
        """The same, under way.

        Args:
            start: coordinates and speeds by name, beside those of the study.
            u, p: inputs and parameters in place of those of the study.
            progress, checkpoint, memory, samplings: see `run`.
            begun: the state and what is held at the start, where they are known already.
            drawn: held numbers at the start, by their places, in place of those of the study: what other seeds say.
            place: lanes, and which one of them; see `lanes`.
        """
        study = self.study
        log = HeldHistory()
        switch_logic = self.switch_logic(log)
        if memory is not None:
            switch_logic.recall(memory["switch_logic"])
            log.recall(memory["log"])
            x, held = memory["drive"]["state"], log.first
        elif begun is not None:
            x, held = begun
            log.note(study.begin, held)
        else:
            x, held, began = self.starting.first(switch_logic, start, u, p)
            for k, number in (drawn or {}).items():
                held.m[k] = number
            log.note(study.begin, held)
            log.start = start_facts(began, study.start_from, self.names, x)

        def keep(drive: Callable[[], Memory]) -> None:
            assert checkpoint is not None
            checkpoint.offer(lambda: {"drive": drive(), "switch_logic": switch_logic.memory(), "log": log.memory()})

        hooks = OnTheWay(self, switch_logic, log).hooks(held, samplings, progress, keep if checkpoint else None)
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
        return explained(self, found, log), log, switch_logic.events

    def lanes(self, count: int) -> Lanes:
        """For so many runs side by side."""
        return lanes_of(self.method.method, self.problem, self.tolerance, self.grid, count)

    # -- what came of it -----------------------------------------------------------------------------------------------
    def result(self, trajectory: Trajectory, log: HeldHistory, events: Sequence[Event] = ()) -> Run:
        """A trajectory with all that is recorded of it, and its audit."""
        return result_of(self, trajectory, log, events)
