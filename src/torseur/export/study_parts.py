"""A study taken apart for a program: functions, numbers at the start, the clock, and what switches decide by.

The one place that knows how a simulation is made; programs and FMUs are written from `StudyParts` alone. What a program
cannot do is refused here, all of it at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from torseur.describe.faults import guess
from torseur.dynamics.tree.kinematics import Kinematics
from torseur.errors import ModelError
from torseur.export.functions import Element, identifier
from torseur.export.switch_tables import SwitchTables, switch_tables
from torseur.graph import Function, evaluate
from torseur.simulation.blocks.measuring import External
from torseur.simulation.plant.plant import Plant
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.run.timetable import Timetable
from torseur.simulation.solvers.methods import METHODS
from torseur.simulation.solvers.problem import Held, Problem
from torseur.simulation.solvers.step_graph import Layout
from torseur.simulation.solvers.stepper import dense_output
from torseur.simulation.study.study import Study

__all__ = ["ChangeOfParameters", "Group", "StudyParts", "renamed"]

Array = NDArray[np.float64]

MOST_SIDED = 24

RESERVED = ("main", "fmi")
"""Names of files that are written beside those of the study."""


@dataclass(frozen=True)
class Group:
    """Samples of one instant: places in m, and columns of `samples` that go there."""

    period: float
    offset: float
    places: tuple[int, ...]
    columns: tuple[int, ...]
    first_sample: int


@dataclass(frozen=True)
class ChangeOfParameters:
    """At a time or at an event: parameters by place, their values, and whether the run ends."""

    time: float | None
    event: int | None
    values: tuple[tuple[int, float], ...]
    stop: bool


def renamed(function: Function, name: str) -> Function:
    """The same function under another name."""
    outputs = {o.name: np.array(o.exprs, dtype=object).reshape(o.shape) for o in function.outputs}
    return Function(name, function.inputs, outputs)


class StudyParts:
    """A study as a program needs it.

    Args:
        study: what is exported.
        folder: where files of its blocks are looked for.
        name: of the program; made from that of the study if none is given.
        stepped: whether it makes its own steps, with a fixed-step method.
        resets: whether it can start from other numbers than those of the study.
    """

    def __init__(
        self,
        study: Study,
        folder: Path | None = None,
        name: str | None = None,
        *,
        stepped: bool,
        resets: bool = False,
    ) -> None:
        self.study, self.stepped, self.resets, self.folder = study, stepped, resets, folder or Path()
        program = identifier(name or study.called)
        self.name = f"{program}_study" if program.lower() in RESERVED else program
        _check_answers(study)
        self.simulation = Simulation(study, folder, audit=False)
        self.plant = self.simulation.plant.derived()
        _check(self.simulation, self.plant, stepped)
        self.x, held = self.simulation.first()
        self.u, self.m, self.p = held.u.copy(), held.m.copy(), held.p.copy()

    @property
    def problem(self) -> Problem:
        return self.plant.problem

    # -- functions -----------------------------------------------------------------------------------------------------
    @cached_property
    def functions(self) -> dict[str, Function]:
        """What a program calls, by role; those of blocks t, q, v, z, u, m, p."""
        plant, problem, known = self.plant, self.problem, self.plant.functions()
        functions: dict[str, Function | None] = {
            "outputs": plant.recorded.instant(),
            "samples": known["samples"]() if "samples" in known else None,
            "schedule": self.schedule,
            "corrected": problem.correct if plant.is_driven or self.resets else None,
        }
        if not self.stepped:
            functions |= {"rate": problem.rate, "events": problem.events}
        if self.resets:
            functions["starts"] = self._starts
        if plant.switches:
            functions |= {"decisions": known["decisions"](), "jumps": problem.jumps}
        if plant.switches.sided:
            functions |= {name: known[name]() for name in ("weight", "impact") if name in known}
        return {role: renamed(f, f"{self.name}_f_{role}") for role, f in functions.items() if f is not None}

    @property
    def _starts(self) -> Function | None:
        """States and held numbers of blocks at the start, z and m."""
        parts = self.plant.parts
        known = [b for b in self.plant.blocks if b.name not in ("z", "m")]
        return parts.starts(known) if parts.states or self.own_held else None

    @property
    def own_held(self) -> list[int]:
        """Places in m of samples: numbers that are no modes."""
        return [k for k, held in enumerate(self.plant.parts.held) if not held.is_mode]

    @cached_property
    def schedule(self) -> Function | None:
        """Periods and offsets of samples, as functions of parameters."""
        samples = self.plant.parts.samples
        p = self.plant.system.p
        if not samples:
            return None
        outputs = {"periods": [s.period for s in samples], "offsets": [s.offset for s in samples]}
        return Function("schedule", [p] if p.size else [], outputs)

    @cached_property
    def stepping(self) -> tuple[Layout, dict[str, Function]]:
        """The record of the method, and its functions: begin, step, at."""
        step_functions = self.simulation.method.method.step_functions(self.problem)
        functions = {"begin": step_functions.begin or step_functions.step, "step": step_functions.step}
        if self.problem.event_count:
            functions["at"] = dense_output(self.problem, step_functions.terms or step_functions.layout.terms)
        return step_functions.layout, {role: renamed(f, f"{self.name}_f_{role}") for role, f in functions.items()}

    def poses(self, frames: Sequence[str]) -> Function:
        """Rotation (row by row) and position of frames in the world, 12 numbers each."""
        kinematics = Kinematics(self.plant.bench.true_tree)
        poses = []
        for frame in frames:
            pose = kinematics.frame(frame).pose
            poses += [x for row in pose.matrix()[:3] for x in row]
        settled = self.plant.settled(poses)
        return Function(f"{self.name}_f_poses", self.plant.blocks, {"poses": settled})

    # -- names ---------------------------------------------------------------------------------------------------------
    @cached_property
    def states(self) -> list[Element]:
        """What x holds."""
        model, parts = self.simulation.model, self.plant.parts
        own = [Element(x.name, x.unit, x.meaning) for x in (*model.coordinates, *model.speeds)]
        return [*own, *(Element(s.name, s.unit, "state of a block") for s in parts.states)]

    @cached_property
    def accelerations(self) -> list[Element]:
        speeds = self.simulation.model.speeds
        return [Element(f"d{x.name}", f"{x.unit or '1'}/s".replace("/s/s", "/s^2"), "acceleration") for x in speeds]

    @cached_property
    def inputs(self) -> list[Element]:
        """All inputs of the mechanism."""
        records = self.plant.mechanism.inputs
        return [Element(n, x.unit or "", x.description or "") for n, x in records.items()]

    @cached_property
    def free_inputs(self) -> list[int]:
        """The inputs that no block drives: u is read."""
        driven = self.plant.parts.inputs
        return [k for k, x in enumerate(self.plant.system.u) if x not in driven]

    @cached_property
    def parameters(self) -> list[Element]:
        records, names = self.plant.mechanism.parameters, self.simulation.model.free_parameters
        return [Element(n, records[n].unit or "", records[n].description or "") for n in names]

    @cached_property
    def outputs(self) -> list[Element]:
        """What `outputs` gives: accelerations, inputs, and all that a run records."""
        return [
            *self.accelerations,
            *self.inputs,
            *(Element(told.name, told.unit, told.meaning) for told in self.plant.recorded.items),
        ]

    @property
    def events(self) -> list[str]:
        return [event.name for event in self.plant.parts.events]

    @property
    def stops(self) -> list[str]:
        """Events of stops that are only reported."""
        return list(self.plant.switches.reports)

    # -- the clock -----------------------------------------------------------------------------------------------------
    @property
    def step(self) -> float:
        step = self.simulation.step
        assert step is not None
        return step

    @cached_property
    def breaks(self) -> list[float]:
        """Instants at which signals are not smooth, up to the end of the study."""
        declared = Timetable(self.simulation.plant, self.p).breaks
        times = self.simulation.breaks(declared, self.p)
        return sorted({b for b in times if self.study.begin < b < self.study.until})

    @cached_property
    def groups(self) -> list[Group]:
        samples = self.plant.parts.samples
        if not samples or self.schedule is None:
            return []
        beats = evaluate(self.schedule, *([self.p] if self.schedule.inputs else []))
        starts = np.cumsum([0, *(len(s.values) for s in samples)]).tolist()
        by_clock: dict[tuple[float, float], list[int]] = {}
        for k, beat in enumerate(zip(*(np.ravel(b).tolist() for b in beats), strict=True)):
            by_clock.setdefault(beat, []).append(k)
        return [
            Group(
                *beat,
                tuple(i for k in members for i in samples[k].places),
                tuple(i for k in members for i in range(starts[k], starts[k + 1])),
                members[0],
            )
            for beat, members in by_clock.items()
        ]

    @cached_property
    def changes(self) -> list[ChangeOfParameters]:
        """Those by time first, in order, then those by event."""
        names, events = self.simulation.model.free_parameters, self.events
        changes = [
            ChangeOfParameters(
                c.at,
                None if c.event is None else events.index(c.event),
                tuple((names.index(n), x) for n, x in c.set.items()),
                c.stop,
            )
            for c in self.study.changes
        ]
        return sorted(changes, key=lambda c: (c.time is None, c.time or 0.0))

    # -- switches ------------------------------------------------------------------------------------------------------
    @cached_property
    def switches(self) -> SwitchTables | None:
        return switch_tables(self.simulation, self.plant, self.x, Held(self.u, self.m, self.p))


# -- what cannot leave -------------------------------------------------------------------------------------------------
def _check_answers(study: Study) -> None:
    """Refuse blocks that somebody outside answers: a program has nobody to ask."""
    faults = [
        ModelError(
            "an external block, answered from outside, cannot be part of an exported program",
            where=(field, name, block.kind),
            remedy=_WITHOUT[field],
        )
        for field, blocks in (("inputs", study.inputs), ("blocks", study.blocks))
        for name, block in blocks.items()
        if isinstance(block, External)
    ]
    if faults:
        raise ModelError.of(faults)


_WITHOUT = {
    "inputs": "leave it out: the input is then one of the program, which the controller sets between two steps",
    "blocks": "leave it and the inputs it drives out: these are then inputs of the program, which the controller sets",
}


def _check(simulation: Simulation, plant: Plant, stepped: bool) -> None:
    """Refuse what a program cannot do, by name."""
    study, faults = simulation.study, list[ModelError]()
    for sample in plant.parts.samples:
        if sample.function is not None:
            faults.append(
                ModelError(
                    "a block that is written in Python cannot be exported",
                    where=sample.where,
                    remedy="write it with formulas and sampled blocks, or make it a controller of its own in C",
                )
            )
    if stepped and simulation.method.method.control is not None:
        given = [name for name, method in METHODS.items() if method.method.control is None]
        expected, _ = guess(study.solver.method, given)
        faults.append(
            ModelError(
                f"{study.solver.method} is a variable-step method; an exported program needs a fixed-step one",
                where=("solver", "method"),
                expected=expected,
                remedy="choose one of these and a step: --solver rk4 --step 1e-3",
            )
        )
    rows = simulation.model.row_parameters if plant.bench.constraints.rows else frozenset()
    for k, change in enumerate(study.changes):
        moved = sorted(set(change.set) & rows)
        if moved:
            faults.append(
                ModelError(
                    "parameters of loops and constraints cannot change in an exported program",
                    where=("changes", k),
                    got=", ".join(moved),
                    remedy="leave the change out",
                )
            )
    if len(plant.switches.sided) > MOST_SIDED:
        faults.append(
            ModelError(
                "too many contacts and hard stops for a program",
                where=study.called,
                expected=f"at most {MOST_SIDED}",
                got=str(len(plant.switches.sided)),
                remedy="let stops be reported, or use compliant contacts",
            )
        )
    if faults:
        raise ModelError.of(faults)
