"""Limits of the plant, just within and just beyond their numbers, which are written out."""

from __future__ import annotations

import numpy as np

import torseur as ts
from support.example_files import FILES
from torseur.simulation.integrate.recording import Outcome


def test_a_wheel_lies_flat_at_a_thousandth_of_a_radian():
    """The sine of the angle between its axle, which is y of the disc, and the normal."""
    disc = ts.load(FILES["rolling_disc"])
    lean = {"qw": float(np.cos(0.15)), "qx": float(np.sin(0.15)), "qy": 0.0, "qz": 0.0}
    study = ts.Study(model=disc, until=3.0, start={**lean, "wx": 0.1, "wy": 0.0, "wz": 0.0})
    simulation = ts.Simulation(study)
    found, _, _ = simulation.trajectory()
    assert found.outcome is Outcome.SINGULAR
    w, x, y, z = (found.final[simulation.names.index(name)] for name in ("qw", "qx", "qy", "qz"))
    axle = np.array([2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)])
    assert 1e-3 <= np.hypot(axle[0], axle[1]) < 4e-3  # where the last step before the event ended
