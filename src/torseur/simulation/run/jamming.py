"""Runs that end where normal forces, and forces that depend on them, have no solution or several."""

from __future__ import annotations

import numpy as np

from torseur.simulation.integrate.outcome import Trajectory
from torseur.simulation.integrate.recording import HeldHistory
from torseur.simulation.run.prepared import Prepared
from torseur.simulation.solvers.problem import Array, Held

__all__ = ["jammed"]

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
