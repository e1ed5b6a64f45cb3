"""A study that is ready to run: checked, with its method, its model, and the plant as native functions.

What does not depend on where a run starts is in `Prepared`: ranks, records, times of records and of breaks, steps,
tolerances. `Starting` gives the state and the held numbers with which a run starts: assembled, driven, ranked, its
switches settled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from torseur.describe.checks import checked
from torseur.describe.faults import guess
from torseur.emit import NativeFunction
from torseur.errors import ModelError, NumericalError
from torseur.model import build
from torseur.simulation.integrate.recording import HeldHistory
from torseur.simulation.plant.construction import PlantRequest, Settings
from torseur.simulation.plant.native_plant import NativePlant, PlantRanks
from torseur.simulation.plant.records import Records
from torseur.simulation.plant.switches import Friction, FrictionModel, StopModel, Stops
from torseur.simulation.plant.time_formulas import TIME_FUNCTIONS
from torseur.simulation.run.timetable import Changes, TimeBreaks, merged
from torseur.simulation.solvers.control import Tolerance
from torseur.simulation.solvers.methods import method_of
from torseur.simulation.solvers.problem import Array, Held, Solvable
from torseur.simulation.start.driven import Beginning, MovingInputs
from torseur.simulation.start.first_state import Start, StartRequest, first_state, requested_values
from torseur.simulation.start.report import check_rest, still_held
from torseur.simulation.study.checks import check_study, state_switches
from torseur.simulation.study.study import Study
from torseur.simulation.switching.modes import SwitchLogic
from torseur.simulation.switching.slip_modes import SlipModes

__all__ = ["Prepared", "Starting", "flat"]

FEWEST_STEPS = 50
"""Of a run with adaptive steps: where the motion is known beforehand, nothing else keeps them from being too long for
the integrals of the audit."""


class Prepared:
    """A study, checked, with all that its runs share.

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
            self.method.by_mass,
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
        missed = "what lasts shorter than a step can be missed: give solver.longest"
        return [f"{what}; {missed}" for what in state_switches(self.study)] if is_steered else []

    @property
    def problem(self) -> Solvable:
        """What a solver integrates."""
        return self.plant.problem

    @cached_property
    def records(self) -> Records:
        return Records(self.plant)

    # -- numbers -------------------------------------------------------------------------------------------------------
    def at_ranks(self, native: NativeFunction | None, t: float, x: Array, held: Held) -> Any:
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
    def changes(self) -> Changes:
        """Of parameters on the way."""
        return Changes(self.study, self.model.free_parameters, self.plant.facts.events)

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
        return flat(self.plant.evaluate(self.plant.native("rate"), t, x, held))

    def switch_logic(self, log: HeldHistory) -> SwitchLogic:
        """Decides what switches do in one run."""
        return SwitchLogic(self.plant, self.at_ranks, log, SlipModes(self.plant, self.at_ranks))

    @cached_property
    def changes_rows(self) -> bool:
        """Whether parameters of loops and constraints change on the way."""
        return not self.model.row_parameters.isdisjoint(name for change in self.study.changes for name in change.set)

    # -- times and steps -----------------------------------------------------------------------------------------------
    @cached_property
    def _time_breaks(self) -> TimeBreaks:
        found = {name: self.plant.native(name) for name in TIME_FUNCTIONS}
        return TimeBreaks({name: f for name, f in found.items() if f is not None}, self.plant.facts.knots)

    def breaks(self, declared: Sequence[float], p: Array) -> list[float]:
        """Instants at which steps end: those that signals declare, and those at which formulas of time switch."""
        begin, end = self.study.begin, self.study.until
        return merged(declared, self._time_breaks.instants(begin, end, p), begin, end)

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


def flat(found: Any) -> Array:
    """All results of a function, one after the other."""
    return np.concatenate([np.ravel(b) for b in (found if isinstance(found, tuple) else (found,))])


class Starting:
    """The starts of one study."""

    def __init__(self, of: Prepared) -> None:
        self._of = of
        self.beginning = Beginning(of.plant, of.records, of.moving, of.study)

    def begun(self, given: Mapping[str, float] | None, u: Array | None, p: Array | None) -> tuple[Array, Held, Start]:
        """State and held numbers before switches are settled, and how they came about.

        Args:
            given: coordinates and speeds by name, beside those of the study.
            u, p: inputs and parameters in place of those of the study.
        """
        of, study, model = self._of, self._of.study, self._of.model
        p = model.parameter_values if p is None else p
        u = of.input_values if u is None else u
        changed = not (np.array_equal(p, model.parameter_values) and np.array_equal(u, of.input_values))
        held = Held(u.copy(), np.zeros(len(of.plant.facts.held)), p.copy())
        others, found = np.zeros(of.problem.size - len(of.names)), list[Start]()

        def request(inputs: Array) -> StartRequest:
            return StartRequest(study, given or {}, inputs, p, changed)

        def closed(inputs: Array) -> Array:
            found.append(first_state(of.moving.model, request(inputs)))
            return np.concatenate([found[-1].q, found[-1].v, others])

        first = np.concatenate([*requested_values(of.moving.model, request(np.zeros(0))), others])
        x, start = self.beginning.settled(first, held, closed), found[-1]
        of.ranks(study.begin, x, held)
        if not of.plant.facts.switches:
            of.ranks.check(study.begin, x, held)
        correct = of.plant.native("corrected")
        if correct is not None and study.start_from != "given" and not of.plant.facts.switches:
            for _ in range(2):
                x = flat(of.plant.evaluate(correct, study.begin, x, held))
            places = [of.names.index(n) for n in start.held]
            x[places] = np.concatenate([start.q, start.v])[places]
            self._check_finite(x, p)
        if not of.plant.facts.switches:
            self._check_rest(x, held)
        return x, held, start

    def _check_finite(self, x: Array, p: Array) -> None:
        """Refuse a start that is not a number: speeds follow with the least kinetic energy, which takes mass."""
        of = self._of
        bad = [name for name, value in zip(of.names, x, strict=False) if not np.isfinite(value)]
        if not bad:
            return
        q = x[of.problem.columns("q")]
        still = np.isfinite(q).all() and of.model.mobility(q, t=of.study.begin, parameters=p).massless
        raise NumericalError(
            f"no mass moves along {', '.join(still)}" if still else f"{', '.join(bad)} is not a number at the start",
            where=("start",),
            expected="every motion that constraints allow moves some mass" if still else None,
            remedy="give the bodies there a mass"
            if still
            else "look for divisions by zero, and inertias that are zero",
        )

    def first(
        self, switch_logic: SwitchLogic, given: Mapping[str, float] | None, u: Array | None, p: Array | None
    ) -> tuple[Array, Held, Start]:
        """The same after switches are settled."""
        of = self._of
        x, held, began = self.begun(given, u, p)
        if of.plant.facts.switches:
            before, x = x, switch_logic.begin(of.study.begin, x, held)
            of.ranks.check(of.study.begin, x, held)
            x = x if switch_logic.events else still_held(began, of.names, before, x)
            self._check_rest(x, held)
        return x, held, began

    def _check_rest(self, x: Array, held: Held) -> None:
        of = self._of
        if of.study.start_from != "equilibrium":
            return
        rates = of.rate_at(of.study.begin, x, held)
        q, vdot = x[of.problem.columns("q")], rates[of.problem.columns("v")]
        check_rest(of.model, q, vdot, t=of.study.begin, parameters=held.p)
