"""Parts of vehicles in motion: open differential, motor, split adherence, compliant hubs."""

from functools import cache

import numpy as np
import pytest

import torseur as ts
from support.vehicles import car

pytestmark = pytest.mark.slow
WHEELS = [f"{axle}_{side}" for axle in ("front", "rear") for side in ("left", "right")]
ROTOR, N = 0.2, 8.0


@pytest.fixture(scope="module")
def driven(tmp_path_factory):
    """Front drive by a motor of 60 N m that falls with its speed; soft hubs; ice on the left where mu says so."""
    soft = {"strut": {"camber_stiffness": 20000, "camber_damping": 200, "toe_stiffness": 15000, "toe_damping": 150}}
    tyre = {"dugoff": {"longitudinal_stiffness": 80000, "cornering_stiffness": 60000, "load": 4000}, "linear": None}
    made = car(
        tmp_path_factory.mktemp("car"),
        parameters={"ice": 1.0, "turn": 0.0},
        drive={"motor": {"torque": "60*(1 - omega/900)", "reduction": N, "inertia": ROTOR}},
        axles={"front": {"suspension": soft, "tyre": tyre}, "rear": {"tyre": tyre}},
        road={"adherence": "if(y > 0, ice, 1)"},
    )

    @cache
    def run(**values):
        return ts.simulate(
            made,
            until=1.5,
            every=0.01,
            start={"vx": 10.0, **{f"dspin_{w}": 10.0 / 0.3 for w in WHEELS}},
            inputs={"throttle": 1.0, "steering": "turn*(1 - exp(-4*t))", "brake_torque": 0.0},
            parameters=values,
            solver={"method": "rodas", "rtol": 1e-6, "atol": 1e-8},
        )

    return run


def test_a_motor_turns_with_the_mean_of_its_wheels_and_gives_both_the_same(driven):
    run = driven(ice=0.05)
    left, right = run["dspin_front_left"], run["dspin_front_right"]
    np.testing.assert_allclose(run["motor_speed"], N * (left + right) / 2, rtol=1e-12)
    np.testing.assert_allclose(run["drotor"], run["motor_speed"], rtol=1e-9)
    assert left[-1] > 1.5 * right[-1]  # it spins on the ice
    # Spin of each wheel by Newton: half of the torque less that of the rotor's inertia, and the tyre.
    torque = 60 * (1 - run["motor_speed"] / 900) - ROTOR * run["ddrotor"]
    for side in ("left", "right"):
        front = f"front_{side}"
        balance = N * torque / 2 - 0.3 * run[f"{front}_Fx"] + run[f"{front}_My"] - 0.8 * run[f"ddspin_{front}"]
        assert np.abs(balance[2:]).max() < 0.02 * (N * torque).max()
    assert run.audit().holds


def test_each_wheel_has_the_adherence_of_its_own_place(driven):
    run = driven(ice=0.05)
    for side, most in (("left", 0.05), ("right", 1.0)):
        assert run[f"front_{side}_grip"].max() <= most * (1 + 1e-9)
    assert run["front_left_grip"][-1] == pytest.approx(0.05, rel=5e-3)
    assert run["front_right_grip"].max() < 0.3  # the differential gives it no more than the other


def test_on_one_road_the_wheels_of_an_axle_do_the_same(driven):
    run = driven()
    np.testing.assert_allclose(run["dspin_front_left"], run["dspin_front_right"], rtol=1e-9)
    mass = 1400 + 4 * 20
    spun = (4 * 0.8 + ROTOR * N**2) / 0.3**2
    at = 100
    wanted = 60 * (1 - run["motor_speed"][at] / 900) * N / 0.3 / (mass + spun)
    assert run["dvx"][at] == pytest.approx(wanted, rel=0.02)


def test_hubs_tilt_under_lateral_forces(driven):
    """Elastokinematics: about the hub the forces at the contact have R (Fy + Fz camber)."""
    run = driven(turn=0.03)
    for side in ("left", "right"):
        wheel = f"front_{side}"
        moment = 0.3 * (run[f"{wheel}_Fy"][-1] + run[f"{wheel}_Fz"][-1] * run[f"{wheel}_camber"][-1])
        assert moment / 20000 > 0.005
        assert run[f"camber_angle_{wheel}"][-1] == pytest.approx(moment / 20000, rel=0.04)
