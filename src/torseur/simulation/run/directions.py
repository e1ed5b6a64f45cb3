"""Forces between two frames act along the line from one to the other: where the frames meet there is none."""

from __future__ import annotations

import numpy as np

from torseur.describe.loads import PathLoad
from torseur.simulation.run.prepared import Prepared
from torseur.simulation.solvers.problem import Array

__all__ = ["without_direction"]

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
