"""A run is the same to the last bit whether it is audited or not: times, steps, states."""

from __future__ import annotations

import pytest

from support.example_files import FILES, STUDIES, without_tyres
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.solvers.methods import METHODS
from torseur.simulation.study.reader import read_study

pytestmark = pytest.mark.slow

EVERY = {**FILES, **STUDIES}
BY_ERROR = [name for name, choice in METHODS.items() if choice.method.control is not None]
GIVEN_STEP = [name for name in METHODS if name not in BY_ERROR]

KINDS = {
    "rx90": "a tree",
    "arm_3r/circle": "a tree under control",
    "four_bar/turning": "a loop",
    "sr400": "a loop in an arm",
    "rolling_disc/fast": "a disc that rolls",
    "rx90/stick_slip": "dry friction that sticks and slips",
    "braked_wheel/braking": "a wheel that may slide",
    "motorised_6r/release": "motors with rotors of their own",
    "satellite_arm/reach": "a floating base",
}
LARGE = "smera"


def moved(name, method, until, *, audit, tyres):
    """Times, states that are not the audit's, and how many steps there were."""
    path = EVERY[name]
    study = read_study(path).study
    model = study.model if tyres else without_tyres(study.model)
    step = 1e-3 if method in GIVEN_STEP else None
    solver = study.solver.model_copy(update={"method": method, "step": step})
    changed = study.model_copy(update={"model": model, "solver": solver, "until": until})
    simulation = Simulation(changed, path.parent, audit=audit)
    found, _, events = simulation.trajectory()
    states = found.states[:, list(simulation.problem.steering)]
    assert audit or not simulation.problem.bystanders
    return found.times, states, found.counts, [(e.time, e.name) for e in events]


def assert_same(name, method, until=0.3, *, tyres=True):
    without, with_audit = (moved(name, method, until, audit=audit, tyres=tyres) for audit in (False, True))
    (t, x, counts, events), (t2, x2, counts2, events2) = without, with_audit
    assert t.tobytes() == t2.tobytes()
    assert x.tobytes() == x2.tobytes()
    assert (counts.steps, counts.rejected, counts.newton) == (counts2.steps, counts2.rejected, counts2.newton)
    assert events == events2


@pytest.mark.parametrize("name", KINDS)
def test_steps_by_error_are_the_same(name):
    assert_same(name, "dopri5")


@pytest.mark.parametrize("method", [name for name in METHODS if name != "dopri5"])
@pytest.mark.parametrize("name", ["rx90/stick_slip", "arm_3r", "motorised_6r/release", "rolling_disc/fast"])
def test_every_method_takes_the_same_steps(name, method):
    assert_same(name, method, 0.1)


def test_a_large_model_with_loops_takes_the_same_steps():
    assert_same(LARGE, "dopri5", 0.05)


SECOND_ORDER = ("newmark", "hht", "easydyn", "generalised_alpha")
"""The large model takes long to compile for them, and goes by the other methods."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "method"),
    [(name, m) for name in (*KINDS, LARGE) for m in METHODS if name != LARGE or m not in SECOND_ORDER],
)
def test_every_kind_of_model_takes_the_same_steps_with_every_method(name, method):
    assert_same(name, method, 0.5, tyres=name != LARGE)  # the large one on its tyres: by dopri5, above
