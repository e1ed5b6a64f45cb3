"""A study at work: its plant, native functions and start, and the runs it gives.

The steps of a run read as its table of contents: start, settle the switches, integrate, record, audit.
"""

from __future__ import annotations

import math
import platform
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from torseur.describe.faults import guess
from torseur.emit import NativeFunction
from torseur.errors import ModelError, NumericalError, UnseenWarning
from torseur.model import build
from torseur.model.checked import checked
from torseur.simulation.integrate.courses import Course, alone
from torseur.simulation.integrate.driver import course, lanes_of
from torseur.simulation.integrate.hooks import EventSeen, Hooks, Limits, Offer, Response, Sampling, resolution
from torseur.simulation.integrate.outcome import End, Outcome, Trajectory
from torseur.simulation.integrate.recording import HeldHistory
from torseur.simulation.plant.construction import PlantRequest, Settings
from torseur.simulation.plant.native_plant import NativePlant
from torseur.simulation.plant.ranks import PlantRanks
from torseur.simulation.plant.records import Records, Rows
from torseur.simulation.plant.row_audit import audit_of_rows
from torseur.simulation.plant.switches import Friction, FrictionModel, StopModel, Stops
from torseur.simulation.plant.time_formulas import TIME_FUNCTIONS
from torseur.simulation.results.audit import CLOSURE, Margins
from torseur.simulation.results.channels import Audit, Event
from torseur.simulation.results.indicators import measures_of
from torseur.simulation.results.result import Run
from torseur.simulation.run.checkpoint import Checkpoint
from torseur.simulation.run.directions import without_direction
from torseur.simulation.run.jamming import jammed
from torseur.simulation.run.time_breaks import TimeBreaks, merged
from torseur.simulation.run.timetable import Changes, Timetable
from torseur.simulation.solvers.control import Tolerance
from torseur.simulation.solvers.lanes import Lanes
from torseur.simulation.solvers.methods import method_of
from torseur.simulation.solvers.problem import Array, Held, Memory, Solvable
from torseur.simulation.start.driven import Beginning, MovingInputs
from torseur.simulation.start.first_state import Start, StartRequest, first_state, requested_values
from torseur.simulation.start.report import check_rest, start_facts, still_held
from torseur.simulation.study.checks import check_study, state_switches
from torseur.simulation.study.study import Study
from torseur.simulation.switching.modes import Keeper
from torseur.simulation.switching.slip_modes import SlipModes
from torseur.version import __version__

__all__ = ["Moved", "Simulation"]

FEWEST_STEPS = 50
"""Of a run with steps by error: where the motion is known beforehand, nothing else keeps them from being too long for
the integrals of the audit."""

JUMP = 1e-8
"""What a coordinate or speed changes by, beside its size, when what drives it jumps; less is rounding."""

OPEN = 1000.0 * CLOSURE
"""Gaps of loops and constraints beyond this, m, rad or their rates, end a run: far beyond what an audit allows."""


Moved = tuple[Trajectory, HeldHistory, Sequence[Event]]
"""The states of a run, what was held when, and what happened."""


class Simulation:
    """A study, made ready to run.

    Args:
        study: what to simulate.
        folder: where files of its blocks are looked for.
        audit: whether balances are integrated along.
    """

    def __init__(self, study: Study, folder: Path | None = None, *, audit: bool = True) -> None:
        check_study(study)
        self.study = study
        self.method = method_of(study.solver.method, study.solver.numbers)
        self.model = build(study.model, parameters=dict(study.parameters))
        for values in (study.parameters, *({**study.parameters, **change.set} for change in study.changes)):
            if values:
                checked(study.model, values)
        self.moving = MovingInputs(self.model)
        settings = Settings(
            Friction(FrictionModel(study.friction.model), study.friction.width),
            Stops(StopModel(study.stops.model), study.stops.restitution),
            audit,
            self.method.is_implicit,
            independent=study.independent or None,
            watch=self.method.method.control is not None,
        )
        given = {**study.inputs, **study.blocks}
        self.plant = NativePlant(PlantRequest(self.model.checked_mechanism, given, settings, study.outputs, folder))
        self._check_events()

    def _check_events(self) -> None:
        events, found = self.plant.facts.events, list[ModelError]()
        for k, change in enumerate(self.study.changes):
            if change.event is not None and change.event not in events:
                expected, remedy = guess(change.event, events)
                text, where = f"no event '{change.event}'", ("changes", k, "event")
                found.append(ModelError(text, where=where, expected=expected, remedy=remedy))
        if found:
            raise ModelError.of(found)

    @cached_property
    def notes(self) -> list[str]:
        """What a run of this study may miss, in words."""
        is_steered = self.method.method.control is not None and self.study.solver.longest is None
        return state_switches(self.study) if is_steered else []

    @property
    def problem(self) -> Solvable:
        """What a solver integrates."""
        return self.plant.problem

    @cached_property
    def records(self) -> Records:
        return Records(self.plant)

    # -- numbers -------------------------------------------------------------------------------------------------------
    def _at_ranks(self, native: NativeFunction | None, t: float, x: Array, held: Held) -> Any:
        """A function of the plant after the ranks of the rows that are active now are set."""
        self.ranks(t, x, held)
        return self.plant.evaluate(native, t, x, held)

    @cached_property
    def ranks(self) -> PlantRanks:
        """Sets the ranks of constraint rows among the held numbers."""
        return PlantRanks(self.plant, self.model)

    @cached_property
    def input_values(self) -> Array:
        """What inputs are held at where nothing drives them: their constants, or what the description says."""
        known = dict(zip(self.model.mechanism.inputs, self.model.input_values, strict=True))
        return np.array([*(known | self.plant.constants).values()])

    @property
    def _changes(self) -> Changes:
        return Changes(self.study, self.model.free_parameters, self.plant.facts.events)

    # -- the start -----------------------------------------------------------------------------------------------------
    @cached_property
    def beginning(self) -> Beginning:
        return Beginning(self.plant, self.records, self.moving, self.study)

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
        study, model = self.study, self.model
        p = model.parameter_values if p is None else p
        u = self.input_values if u is None else u
        changed = not (np.array_equal(p, model.parameter_values) and np.array_equal(u, self.input_values))
        held = Held(u.copy(), np.zeros(len(self.plant.facts.held)), p.copy())
        others, found = np.zeros(self.problem.size - len(self.names)), list[Start]()

        def request(inputs: Array) -> StartRequest:
            return StartRequest(study, given or {}, inputs, p, changed)

        def closed(inputs: Array) -> Array:
            found.append(first_state(self.moving.model, request(inputs)))
            return np.concatenate([found[-1].q, found[-1].v, others])

        first = np.concatenate([*requested_values(self.moving.model, request(np.zeros(0))), others])
        x, start = self.beginning.settled(first, held, closed), found[-1]
        self.ranks(study.begin, x, held)
        if not self.plant.facts.switches:
            self.ranks.check(study.begin, x, held)
        correct = self.plant.native("corrected")
        if correct is not None and study.start_from != "given" and not self.plant.facts.switches:
            for _ in range(2):
                x = _flat(self.plant.evaluate(correct, study.begin, x, held))
            places = [self.names.index(n) for n in start.held]
            x[places] = np.concatenate([start.q, start.v])[places]
            self._check_finite(x, p)
        if not self.plant.facts.switches:
            self._check_rest(x, held)
        return x, held, start

    def _check_finite(self, x: Array, p: Array) -> None:
        """Refuse a start that is not a number: speeds follow with the least kinetic energy, which takes mass."""
        bad = [name for name, value in zip(self.names, x, strict=False) if not np.isfinite(value)]
        if not bad:
            return
        q = x[self.problem.columns("q")]
        still = np.isfinite(q).all() and self.model.mobility(q, t=self.study.begin, parameters=p).massless
        raise NumericalError(
            f"no mass moves along {', '.join(still)}" if still else f"{', '.join(bad)} is not a number at the start",
            where=("start",),
            expected="every motion that constraints allow moves some mass" if still else None,
            remedy="give the bodies there a mass"
            if still
            else "look for divisions by zero, and inertias that are zero",
        )

    @property
    def names(self) -> list[str]:
        """Of coordinates and speeds, in order."""
        return [x.name for x in (*self.model.coordinates, *self.model.speeds)]

    @property
    def state_names(self) -> list[str]:
        """The same, and of the states of blocks and the integrals of the audit."""
        facts = self.plant.facts
        return [*self.names, *(told.name for told in (*facts.states, *facts.flows))]

    def rate_at(self, t: float, x: Array, held: Held) -> Array:
        """dx/dt."""
        return _flat(self.plant.evaluate(self.plant.native("rate"), t, x, held))

    def _check_rest(self, x: Array, held: Held) -> None:
        if self.study.start_from != "equilibrium":
            return
        rates = self.rate_at(self.study.begin, x, held)
        q, vdot = x[self.problem.columns("q")], rates[self.problem.columns("v")]
        check_rest(self.model, q, vdot, t=self.study.begin, parameters=held.p)

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

    def first(self) -> tuple[Array, Held]:
        """State and held numbers at the start, with the modes of switches, before the first sample."""
        return self._first(self._keeper(HeldHistory()), None, None, None)[:2]

    def _keeper(self, log: HeldHistory) -> Keeper:
        return Keeper(self.plant, self._at_ranks, log, SlipModes(self.plant, self._at_ranks))

    def _first(
        self, keeper: Keeper, start: Mapping[str, float] | None, u: Array | None, p: Array | None
    ) -> tuple[Array, Held, Start]:
        x, held, began = self.begun(start, u, p)
        if self.plant.facts.switches:
            before, x = x, keeper.begin(self.study.begin, x, held)
            self.ranks.check(self.study.begin, x, held)
            x = x if keeper.events else still_held(began, self.names, before, x)
            self._check_rest(x, held)
        return x, held, began

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
        keeper = self._keeper(log)
        if memory is not None:
            keeper.recall(memory["keeper"])
            log.recall(memory["log"])
            x, held = memory["drive"]["state"], log.first
        elif begun is not None:
            x, held = begun
            log.note(study.begin, held)
        else:
            x, held, began = self._first(keeper, start, u, p)
            log.note(study.begin, held)
            log.start = start_facts(began, study.start_from, self.names, x)

        def keep(drive: Callable[[], Memory]) -> None:
            assert checkpoint is not None
            checkpoint.offer(lambda: {"drive": drive(), "keeper": keeper.memory(), "log": log.memory()})

        hooks = self._hooks(held, keeper, log, samplings, progress, keep if checkpoint else None)
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
        return self.explained(found, log), log, keeper.events

    def lanes(self, count: int) -> Lanes:
        """For so many runs side by side."""
        return lanes_of(self.method.method, self.problem, self.tolerance, self.grid, count)

    def explained(self, found: Trajectory, log: HeldHistory) -> Trajectory:
        """Whether a run ended because normal forces have no solution or several, and where."""
        if found.outcome not in (Outcome.NOT_FINITE, Outcome.STEP_UNDERFLOW, Outcome.NEWTON):
            return found
        names = jammed(self, found, log)
        why = ", ".join(f"constraints.{name}" for name in names)
        return replace(found, outcome=Outcome.JAMMED, blame=None, why=why) if names else found

    def _hooks(
        self,
        held: Held,
        keeper: Keeper,
        log: HeldHistory,
        others: Sequence[Sampling],
        progress: Callable[[float], object] | None,
        keep: Offer | None,
    ) -> Hooks:
        """All that acts on a run, and looks at it."""
        study = self.study

        def handler(meeting: EventSeen) -> Response | None:
            reply = self._changes.by_event(keeper.handle(meeting), meeting)
            if reply is not None and reply.held is not None:
                x = meeting.state if reply.state is None else reply.state
                log.change(meeting.time, x, meeting.held, reply.held)
                x = self._followed(meeting.time, x, reply.held, log)
                settled = keeper.review(meeting.time, x, reply.held) if self.plant.facts.switches else None
                reply = replace(reply, state=x if settled is None else settled.state)
            held = meeting.held if reply is None or reply.held is None else reply.held
            log.note(meeting.time, held)
            if reply is not None:
                self.ranks.check(meeting.time, meeting.state if reply.state is None else reply.state, held)
            return reply

        def review(t: float, x: Array, held: Held) -> Response | None:
            after = self._followed(t, x, held, log)
            reply = keeper.review(t, after, held) if self.plant.facts.switches else None
            if after is not x:
                log.jump(math.nextafter(t, -math.inf), x, after, held)  # at a break, t is the first time after it
                reply = reply or Response(state=after)
            log.note(t, held)
            self.ranks.check(t, x, held)
            return reply

        table = Timetable(self.plant, held.p)
        samplings = table.samplings(log, resolution(study.begin, study.until))
        return Hooks(
            handler=handler,
            breaks=self.breaks(table.breaks, held.p),
            samplings=[*others, *samplings, *self._changes.by_clock(log)],
            review=review if self.plant.facts.switches or self.plant.facts.is_driven or self._changes_rows else None,
            invariants=keeper.sided,
            progress=progress,
            monitor=self._monitor if self.plant.facts.rows else None,
            checkpoint=keep,
        )

    @cached_property
    def _changes_rows(self) -> bool:
        """Whether parameters of loops and constraints change on the way."""
        return not self.model.row_parameters.isdisjoint(name for change in self.study.changes for name in change.set)

    def _followed(self, t: float, x: Array, held: Held, log: HeldHistory) -> Array:
        """The state after what is in constraints may have jumped: speeds follow at once, positions cannot."""
        if not (self.plant.facts.is_driven or self._changes_rows):
            return x
        is_change = self._changes_rows and bool(log.changes) and log.changes[-1].time == t
        if is_change:
            self._check_closed(t, x, held)
        self.ranks(t, x, held)
        after = _flat(self.plant.evaluate(self.plant.native("corrected"), t, x, held))
        q, v = self.problem.columns("q"), self.problem.columns("v")
        moved = np.abs(after[q] - x[q])
        if not np.all(moved <= JUMP * (1.0 + np.abs(x[q]))):
            name = self.model.coordinates[int(np.argmax(moved))].name
            raise _jump("an input that drives a constraint jumps", f"{name} cannot follow it", t)
        return after if np.any(np.abs(after[v] - x[v]) > JUMP * (1.0 + np.abs(x[v]))) else x

    def _check_closed(self, t: float, x: Array, held: Held) -> None:
        """Refuse parameters that open a loop or a constraint where it is."""
        name, gap = self.records.largest_gap(t, x, held, rates=False)
        if not gap <= OPEN:
            raise _jump("a parameter of a constraint changes", f"{name} would be open by {gap:.3g}", t)

    @cached_property
    def _time_breaks(self) -> TimeBreaks:
        found = {name: self.plant.native(name) for name in TIME_FUNCTIONS}
        return TimeBreaks({name: f for name, f in found.items() if f is not None}, self.plant.facts.knots)

    def breaks(self, declared: Sequence[float], p: Array) -> list[float]:
        """Instants at which steps end: those that signals declare, and those at which formulas of time switch."""
        begin, end = self.study.begin, self.study.until
        return merged(declared, self._time_breaks.instants(begin, end, p), begin, end)

    def _monitor(self, t: float, x: Array, held: Held) -> None:
        """End a run whose loops or constraints are not met any more."""
        name, gap = self.records.largest_gap(t, x, held)
        if not gap <= OPEN:
            raise End(Outcome.OPEN, why=f"{name} is off by {gap:.3g}")

    @property
    def step(self) -> float | None:
        """The step of methods that need one: a thousandth of a second, or the time between records if that is less."""
        if self.study.solver.step is not None or self.method.method.control is not None:
            return self.study.solver.step
        return min(1e-3, self.study.interval)

    @property
    def longest(self) -> float:
        """The longest step; a given one is as long as it is."""
        if self.study.solver.longest is not None or self.method.method.control is None:
            return self.study.solver.longest or np.inf
        return (self.study.until - self.study.begin) / FEWEST_STEPS

    @property
    def tolerance(self) -> Tolerance:
        return Tolerance(self.study.solver.rtol, self.study.solver.atol)

    @cached_property
    def grid(self) -> Array:
        """The times that are recorded."""
        study = self.study
        n = max(1, round((study.until - study.begin) / study.interval))
        if abs(n * study.interval - (study.until - study.begin)) <= 1e-9 * study.interval * n:
            grid: Array = study.begin + study.interval * np.arange(n + 1.0)
            grid[-1] = study.until
            return grid
        grid = np.arange(study.begin, study.until, study.interval)
        return np.append(grid[grid < study.until], study.until).astype(float)

    # -- what came of it -----------------------------------------------------------------------------------------------
    def result(self, trajectory: Trajectory, log: HeldHistory, events: Sequence[Event] = ()) -> Run:
        """A trajectory with all that is recorded of it, and its audit."""
        study = self.study
        if not len(trajectory.times):
            raise NumericalError("the run cannot begin", where=("start",), got=self._reason(trajectory))
        rows = self.records.of(trajectory, log)
        channels = [*rows.states, *rows.channels]
        good = trajectory.outcome.is_good
        run = Run.from_arrays(
            self.plant.mechanism,
            trajectory.times,
            rows.q,
            rows.v,
            rows.vdot,
            inputs=rows.inputs,
            channels=channels,
            parameters=dict(study.parameters),
            events=tuple(events),
            info=self._info(trajectory) | {"start": log.start},
            complete=trajectory.outcome in (Outcome.COMPLETE, Outcome.STOPPED),
            reason=None if good else self._reason(trajectory),
            audited=self._audit(trajectory, rows, log) if self.plant.facts.balances else None,
        )
        found = measures_of(run, study.indicators)
        return replace(run, info={**run.info, "indicators": found}) if found else run

    def _audit(self, trajectory: Trajectory, rows: Rows, log: HeldHistory) -> Audit:
        balances = self.plant.facts.balances
        assert balances is not None
        is_by_error = self.method.method.control is not None
        margins = Margins(self.study.audit or self.method.audit, self.study.solver.rtol if is_by_error else 0.0)
        return audit_of_rows(trajectory.times, rows, balances, log.impacts, margins)

    def _reason(self, trajectory: Trajectory) -> str:
        names = self.state_names
        where = f"at t = {trajectory.end:.9g} s"
        if trajectory.blame is not None:
            where += f", {names[trajectory.blame]}"
        why = "" if trajectory.why is None else f": {trajectory.why}"
        if trajectory.outcome is Outcome.NOT_FINITE:
            why += without_direction(self, trajectory.end, trajectory.final)
        return f"{where}: {trajectory.outcome.value}{why}"

    def _info(self, trajectory: Trajectory) -> dict[str, Any]:
        counts, solver = trajectory.counts, self.study.solver
        return {
            "study": self.study.called,
            "solver": self.method.method.name,
            "rtol": solver.rtol,
            "atol": solver.atol,
            "step": self.step,
            "steps": counts.steps,
            "rejected": counts.rejected,
            "evaluations": counts.evaluations,
            "newton": counts.newton,
            "restarts": counts.restarts,
            "wall_time": counts.wall_time,
            "outcome": trajectory.outcome.name,
            "notes": self.notes,
            "torseur": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
        }


def _jump(what: str, so: str, t: float) -> NumericalError:
    return NumericalError(
        f"{what}, and {so}",
        where=f"t = {t:.9g} s",
        remedy="let it pass from value to value: an input that is a ramp, a move, or has a lag behind it",
    )


def _flat(found: Any) -> Array:
    return np.concatenate([np.ravel(b) for b in (found if isinstance(found, tuple) else (found,))])
