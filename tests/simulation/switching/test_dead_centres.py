"""Dry friction of a slide that a crank takes through its dead centres: there it stops, but nothing can hold it."""

import numpy as np
import pytest

from support.exported_studies import slider_crank
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.study.study import Study

R, L, F = 0.2, 0.7, 4.0


def place(a):
    """Of the piston."""
    return R * np.cos(a) + np.sqrt(L**2 - (R * np.sin(a)) ** 2)


def way(a):
    """What the piston has travelled since the first dead centre."""
    turns = np.floor(a / np.pi)
    return 2.0 * R * turns + np.abs(place(a) - place(turns * np.pi))


@pytest.mark.parametrize("a", [0.0, 0.3, np.pi])
@pytest.mark.parametrize("method", [{"method": "dopri5"}, {"method": "rk4", "step": 5e-4}])
def test_friction_takes_its_level_times_the_way(a, method):
    start, guess = {"a": a, "da": 25.0}, {"b": -a, "p": place(a)}
    study = Study(model=slider_crank(R, L, F), start=start, guess=guess, until=1.0, every=0.01, solver=method)
    run = Simulation(study).run()
    angle = run["a"]
    assert angle[-1] > a + 5.0 * np.pi
    energy = run["kinetic_energy"] + F * (way(angle) - way(angle[0]))
    assert energy == pytest.approx(energy[0], rel=1e-6)
    assert run.audit().holds
