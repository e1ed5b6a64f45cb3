"""From the states of a run to what is kept of it: why it ended, what was recorded, which balances hold.

Two causes are looked for by name: forces between two frames act along the line from one to the other, and where the
frames meet there is none; and normal forces, with forces that depend on them, may have no solution or several.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from torseur.describe.loads import PathLoad
from torseur.errors import NumericalError
from torseur.simulation.integrate.recording import HeldHistory, Outcome, Trajectory
from torseur.simulation.plant.facts import BalanceFacts
from torseur.simulation.plant.records import Rows
from torseur.simulation.results.audit import Balance, Gap, Margins, audit_of, energy_balance
from torseur.simulation.results.channels import Audit, Event
from torseur.simulation.results.indicators import measures_of
from torseur.simulation.results.result import Run
from torseur.simulation.run.prepared import Prepared
from torseur.simulation.solvers.problem import Array, Held
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


# -- why it ended ------------------------------------------------------------------------------------------------------
MEET = 1e-9
"""Frames that are nearer to each other than this are at one place, m."""


def without_direction(simulation: Prepared, t: float, state: Array) -> str:
    """In words, which loads act between frames that are at one place in a state; empty if none does."""
    q, model = state[simulation.problem.columns("q")], simulation.model
    paths = {n: x.between for n, x in model.mechanism.loads.items() if isinstance(x, PathLoad) and x.between}
    if not paths or not np.isfinite(q).all():
        return ""

    def place(frame: str) -> Array:
        return np.asarray(model.pose(q, frame, t=t))[:3, 3]

    names = [f"loads.{n}" for n, (a, b) in paths.items() if np.linalg.norm(place(a) - place(b)) < MEET]
    text = ": the frames of {} are at one place, where a force between them has no direction; let them start apart"
    return text.format(", ".join(names)) if names else ""


NEAR = 1e-6
"""det D below this is zero, where a run could not go on."""


def jammed(simulation: Prepared, run: Trajectory, log: HeldHistory) -> list[str]:
    """The contacts at which a run jammed, there or just ahead; none where it ended for another reason.

    Args:
        simulation: whose run.
        run: that ended early.
        log: what was held.
    """
    m, p = log.at(np.array([run.end]))
    held, names = Held(log.u, m[0], p[0]), list(simulation.plant.facts.normals)
    k, D = len(names), simulation.plant.native("jamming")
    if D is None:
        return []

    def at(t: float, x: Array) -> Array:
        return np.asarray(simulation.plant.evaluate(D, t, x, held), dtype=float).reshape(k, k)

    if not np.isfinite(run.final).all():
        return []
    here = at(run.end, run.final)
    if not np.isfinite(here).all():
        return names
    rate = simulation.rate_at(run.end, run.final, held)
    ahead = [1e-9, simulation.step or 0.0, simulation.study.interval]
    for there in (here, *(at(run.end + h, run.final + h * rate) for h in ahead if np.isfinite(rate).all())):
        if np.isfinite(there).all() and np.linalg.det(there) <= NEAR:
            weights = np.abs(np.linalg.svd(there)[2][-1])
            return [name for name, weight in zip(names, weights, strict=True) if weight > 0.1 * weights.max()]
    return []


# -- balances ----------------------------------------------------------------------------------------------------------
def audit_of_rows(
    times: Array,
    rows: Rows,
    balances: BalanceFacts,
    impacts: Sequence[tuple[float, float, float]],
    margins: Margins,
) -> Audit:
    """Energy of each part that touches no other, momenta, impacts, gaps; arguments as in `audit_of`."""
    gaps = [Gap("loops and constraints", "m", rows.gap)] if rows.gap is not None else []
    gaps += [Gap("contacts and stops", "m", rows.depth)] if rows.depth is not None else []
    with np.errstate(over="ignore", invalid="ignore"):  # of a motion that has diverged: the audit says so
        energies = list(_energies(rows, balances))
        # Weight and what carries it cancel in momenta: the energy, at a metre a second, tells how large they are.
        size = max(balance.rounded_from for balance in energies)
        return audit_of(times, [*energies, *_momenta(rows, size)], gaps, impacts, margins)


def _energies(rows: Rows, balances: BalanceFacts) -> Iterator[Balance]:
    for k, account in enumerate(balances.accounts):
        given = {name: rows.works[name] for name in account.works}
        given |= {name: jump[:, k] for name, jump in rows.jumps.items()}
        name = f"energy of {account.name}" if account.name else "energy"
        yield energy_balance(name, rows.kinetic[k], rows.potential[:, k], given)


def _momenta(rows: Rows, size: float) -> Iterator[Balance]:
    if rows.momenta is None or rows.impulses is None:
        return
    skipped = rows.potential.shape[1]
    for name, unit, part in (("linear", "N s", slice(0, 3)), ("angular", "N m s", slice(3, 6))):
        has = rows.momenta[:, part]
        if has.size:
            pushed = {what: jump[:, skipped:][:, part] for what, jump in rows.jumps.items()}
            pushed["forces"] = rows.impulses[:, part]
            present = float(np.max(np.linalg.norm(has, axis=1), initial=0.0))
            yield Balance(f"{name} momentum", unit, has, pushed, present, size=size)
