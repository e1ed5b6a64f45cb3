"""Where the frames of a run are: one batch of a native function per frame."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from torseur.describe import Mechanism
from torseur.errors import ArgumentError
from torseur.model import Model, build
from torseur.simulation.results.channels import Role
from torseur.simulation.results.result import Run

__all__ = ["frame_poses", "mechanism_of", "model_of"]

Array = NDArray[np.float64]


def mechanism_of(run: Run) -> Mechanism:
    """The mechanism of a run, or an error that says it has none."""
    if run.mechanism is None:
        raise ArgumentError(
            "this run does not say what moved", where=str(run), remedy="save the run as .nc, .csv or .res"
        )
    return run.mechanism


def model_of(run: Run) -> Model:
    """The native model of a run's mechanism, with the parameters of the run."""
    return _model(mechanism_of(run), tuple(run.parameters.items()))


@lru_cache(maxsize=4)
def _model(mechanism: Mechanism, parameters: tuple[tuple[str, float], ...]) -> Model:
    return build(mechanism, parameters=dict(parameters))


def frame_poses(run: Run, frame: str) -> Array:
    """The pose of a body or frame in the world at every instant (nt, 4, 4)."""
    model = model_of(run)
    recorded = {channel.name: channel.values for channel in run.of(Role.INPUT)}
    inputs = {name: recorded[name] for name in model.mechanism.inputs if name in recorded}
    poses = model.pose(run.q, frame, t=run.time, inputs=inputs or None)
    return np.asarray(np.broadcast_to(poses, (len(run.time), 4, 4)))
