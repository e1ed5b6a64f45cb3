"""The Smera projected on eleven degrees of freedom, and its virtual flexible transmission: section 4.4.3."""

from functools import cache

import numpy as np
import pytest

from support.example_files import STUDIES
from torseur.simulation.run.batch import batch_in_lanes
from torseur.simulation.run.simulate import study_of
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.run.variants import Variants
from torseur.simulation.study.reader import read_study

pytestmark = pytest.mark.slow

BASE = {"K_roll": 3000.0, "Fv_roll": 40.0, "K_f": 0.0, "I_a": 10.0}
VARIED = [
    ("Fv_roll", 30.0),
    ("Fv_roll", 40.0),
    ("Fv_roll", 120.0),
    ("K_roll", 1000.0),
    ("K_roll", 9000.0),
    ("K_f", 400.0),
    ("I_a", 5.0),
    ("I_a", 20.0),
]


@cache
def run_of(study):
    path = STUDIES[study]
    return Simulation(read_study(path).study, path.parent).run()


@cache
def sensitivity():
    """All variants in lanes, as `simulate_many` has them where it can; None where it cannot."""
    study = read_study(STUDIES["smera_11dof/flexible"]).study
    simulation = Simulation(study_of(study, solver={"method": "rk4", "step": 2e-3}, every=0.01))
    values = {name: [value if name == which else BASE[name] for which, value in VARIED] for name in BASE}
    return batch_in_lanes(simulation, Variants(simulation, {}, values, {}))


def torques():
    """Time, and the motor torque of each variant."""
    many = sensitivity()
    wanted = -np.arctan(many["vx"] * many["wz"] / 9.81)
    found = 6000.0 * (wanted - many["roll"]) - 600.0 * many["wx"]
    return many.time, dict(zip(VARIED, found, strict=True))


def ripple(torque, time):
    """Of the second turn: third differences, which see quick swings and nothing of the slow ones."""
    return np.std(np.diff(torque, 3)[(time[3:] > 5.5) & (time[3:] < 8.0)])


def test_wanted_leans_of_both_models_are_nearly_equal():
    smera, two = run_of("smera/double_turn"), run_of("smera_11dof/double_turn")
    gap = np.abs(smera["lean_reference"] - two["lean_reference"])
    largest = np.abs(smera["lean_reference"]).max()
    print(f"wanted leans: {100 * gap.max() / largest:.2f} % of the largest apart")
    assert gap.max() < 0.1 * largest
    for at in (3.5, 7.8):
        k = np.searchsorted(smera.time, at)
        assert gap[k] < 0.03 * largest
        assert abs(two["lean"][k]) < 0.6 * abs(smera["lean"][k])
        assert abs(two["perceived"][k]) < 0.5 * abs(smera["perceived"][k])


@pytest.mark.parametrize("study", ["double_turn", "flexible"])
def test_wheels_stay_pressed_on_the_road_and_the_audit_holds(study):
    run = run_of(f"smera_11dof/{study}")
    assert run.audit().holds
    assert min(run["front_Fz"].min(), run["rear_Fz"].min()) > 1000.0


def test_loops_and_contacts_of_the_single_runs_stay_closed():
    for study in ("double_turn", "flexible"):
        assert_closed(run_of(f"smera_11dof/{study}"))


def assert_closed(run):
    """Height of every contact, and all other constraints, within 1e-9 m or rad."""
    errors = {row["balance"]: row["error"] for row in run.audit().table}
    assert errors["loops and constraints"] < 1e-9
    assert errors.get("contacts and stops", 0.0) < 1e-9
    assert not run.events


def test_the_sensitivity_study_goes_in_lanes_with_contacts_closed():
    """Nothing needs to be decided on the way: the wheels of this model cannot lift, and every load stays positive."""
    many = sensitivity()
    assert many is not None
    assert len(many) == len(VARIED)
    assert np.isfinite(many.states).all()
    for k in range(len(many)):
        run = many.run(k)
        assert_closed(run)
        assert min(run["front_Fz"].min(), run["rear_Fz"].min()) > 1000.0


def test_friction_damps_the_swings_of_the_transmission():
    t, found = torques()
    swings = [ripple(found["Fv_roll", value], t) for value in (30.0, 40.0, 120.0)]
    assert swings[0] > swings[1] > swings[2]


def test_a_softer_transmission_lowers_the_torque():
    _, found = torques()
    peaks = [np.abs(found["K_roll", value]).max() for value in (1000.0, 9000.0)]
    assert peaks[0] < peaks[1]
    assert np.argmax(np.abs(found["K_roll", 1000.0])) == pytest.approx(
        np.argmax(np.abs(found["K_roll", 9000.0])), abs=10
    )


def test_the_stiffness_to_upright_gives_the_steady_torque_of_the_smera():
    t, found = torques()
    smera = run_of("smera/double_turn")
    steady = smera["lean"][np.searchsorted(smera.time, 3.5)]
    k = np.searchsorted(t, 3.5)
    assert found["K_f", 400.0][k] == pytest.approx(steady, rel=0.1)
    assert found["Fv_roll", 40.0][k] < 0.5 * steady


def test_inertia_raises_the_first_peak():
    t, found = torques()
    first = t < 2.0
    assert found["I_a", 20.0][first].max() > found["I_a", 5.0][first].max()
