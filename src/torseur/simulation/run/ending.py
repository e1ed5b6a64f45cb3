"""From the states of a run to what is kept of it: records, audit, how it ended."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from torseur.errors import NumericalError
from torseur.simulation.integrate.outcome import Outcome, Trajectory
from torseur.simulation.integrate.recording import HeldHistory
from torseur.simulation.plant.records import Rows
from torseur.simulation.plant.row_audit import audit_of_rows
from torseur.simulation.results.audit import Margins
from torseur.simulation.results.channels import Audit, Event
from torseur.simulation.results.indicators import measures_of
from torseur.simulation.results.result import Run
from torseur.simulation.run.directions import without_direction
from torseur.simulation.run.jamming import jammed
from torseur.simulation.run.prepared import Prepared
from torseur.version import __version__

__all__ = ["explained", "result_of"]


def explained(of: Prepared, found: Trajectory, log: HeldHistory) -> Trajectory:
    """Whether a run ended because normal forces have no solution or several, and where."""
    if found.outcome not in (Outcome.NOT_FINITE, Outcome.STEP_UNDERFLOW, Outcome.NEWTON):
        return found
    names = jammed(of, found, log)
    why = ", ".join(f"constraints.{name}" for name in names)
    return replace(found, outcome=Outcome.JAMMED, blame=None, why=why) if names else found


def result_of(of: Prepared, trajectory: Trajectory, log: HeldHistory, events: Sequence[Event]) -> Run:
    """A trajectory with all that is recorded of it, and its audit."""
    study = of.study
    if not len(trajectory.times):
        raise NumericalError("the run cannot begin", where=("start",), got=_reason(of, trajectory))
    rows = of.records.of(trajectory, log)
    channels = [*rows.states, *rows.channels]
    good = trajectory.outcome.is_good
    run = Run.from_arrays(
        of.plant.mechanism,
        trajectory.times,
        rows.q,
        rows.v,
        rows.vdot,
        inputs=rows.inputs,
        channels=channels,
        parameters=dict(study.parameters),
        events=tuple(events),
        info=_info(of, trajectory) | {"start": log.start},
        complete=trajectory.outcome in (Outcome.COMPLETE, Outcome.STOPPED),
        reason=None if good else _reason(of, trajectory),
        audited=_audit(of, trajectory, rows, log) if of.plant.facts.balances else None,
    )
    found = measures_of(run, study.indicators)
    return replace(run, info={**run.info, "indicators": found}) if found else run


def _audit(of: Prepared, trajectory: Trajectory, rows: Rows, log: HeldHistory) -> Audit:
    balances = of.plant.facts.balances
    assert balances is not None
    is_by_error = of.method.method.control is not None
    margins = Margins(of.study.audit or of.method.audit, of.study.solver.rtol if is_by_error else 0.0)
    return audit_of_rows(trajectory.times, rows, balances, log.impacts, margins)


def _reason(of: Prepared, trajectory: Trajectory) -> str:
    names = of.state_names
    where = f"at t = {trajectory.end:.9g} s"
    if trajectory.blame is not None:
        where += f", {names[trajectory.blame]}"
    why = "" if trajectory.why is None else f": {trajectory.why}"
    if trajectory.outcome is Outcome.NOT_FINITE:
        why += without_direction(of, trajectory.end, trajectory.final)
    return f"{where}: {trajectory.outcome.value}{why}"


def _info(of: Prepared, trajectory: Trajectory) -> dict[str, Any]:
    counts, solver = trajectory.counts, of.study.solver
    return {
        "study": of.study.called,
        "solver": of.method.method.name,
        "rtol": solver.rtol,
        "atol": solver.atol,
        "step": of.step,
        "steps": counts.steps,
        "rejected": counts.rejected,
        "evaluations": counts.evaluations,
        "newton": counts.newton,
        "restarts": counts.restarts,
        "wall_time": counts.wall_time,
        "outcome": trajectory.outcome.name,
        "notes": of.notes,
        "torseur": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
