"""What Maakaroun 2011, chapters 2 and 3, says of its simulations."""

from functools import cache

import numpy as np
import pytest

import torseur as ts
from support.example_files import STUDIES

pytestmark = pytest.mark.slow


@cache
def run_of(study, **changes):
    """A run of a study; tables are given as pairs."""
    return ts.simulate(STUDIES[study], **{name: dict(pairs) for name, pairs in changes.items()})


def test_static_loads_carry_the_weight_and_balance_moments():
    """The car's own closed form: half of chassis shared by the lever rule, and what hangs on each wheel."""
    run = run_of("peugeot_406/double_turn")
    front, rear = run["front_left_Fz"][0], run["rear_left_Fz"][0]
    unsprung = (20.0 + 1.32) * 9.81
    assert front == pytest.approx(1508 * 9.81 * 1.593 / 2.7 / 2 + unsprung, rel=1e-9)
    assert rear == pytest.approx(1508 * 9.81 * 1.107 / 2.7 / 2 + unsprung, rel=1e-9)


def test_in_a_turn_outer_loads_rise_and_the_car_rolls_outward():
    """3.4.1: right first, so that the left wheels are loaded; then the other way round."""
    run = run_of("peugeot_406/double_turn")
    right, left = np.argmin(run["wz"]), np.argmax(run["wz"])
    assert run["wz"][right] < -0.1 < 0.1 < run["wz"][left]
    for k, sign in ((right, 1.0), (left, -1.0)):
        for axle in ("front", "rear"):
            outer = run[f"{axle}_left_Fz"][k] - run[f"{axle}_right_Fz"][k]
            assert sign * outer > 300.0
        assert sign * run["roll"][k] < -0.01  # it leans away from the turn: to the left in a right turn
    total = sum(run[f"{axle}_{side}_Fz"] for axle in ("front", "rear") for side in ("left", "right"))
    assert total[[0, right, left]] == pytest.approx(1593.28 * 9.81, rel=5e-3)
    assert run.audit().holds


def test_anti_roll_bars_reduce_roll_and_travel():
    """3.4.2."""
    free = run_of("peugeot_406/double_turn")
    held = run_of("peugeot_406/anti_roll")
    for name in ("roll", "travel_front_left", "travel_rear_right"):
        assert np.abs(held[name]).max() < 0.85 * np.abs(free[name]).max()


def test_on_two_wheels_it_leans_into_the_turn_as_far_as_balance_asks():
    """3.2.3.2: theta_ref = -atan(V yaw rate / g)."""
    run = run_of("two_wheel_406/double_turn")
    assert run.complete
    for k in (np.argmin(run["wz"]), np.argmax(run["wz"])):
        wanted = -np.arctan(run["vx"][k] * run["wz"][k] / 9.81)
        assert run["roll"][k] == pytest.approx(wanted, rel=0.15)
        assert np.sign(run["roll"][k]) == -np.sign(run["wz"][k])


def test_straight_acceleration_moves_the_load_rearward_and_nothing_sideways():
    """3.2.3.1: m h a / L, rear spring compressed, front one extended, pitch negative, lateral zero."""
    run = run_of("two_wheel_406/straight")
    k = int(np.searchsorted(run.time, 8.0))  # in the middle of the steady part
    a = run["dvx"][k]
    assert a > 1.0
    moved = run["rear_Fz"][k] - run["rear_Fz"][0]
    mass_heights = 1508 * run["z"][k] + 2 * (42.64 * 0.3)  # chassis, wheels and hubs
    spins = 2 * 1.512 * a / 0.3
    assert moved == pytest.approx((mass_heights * a + spins) / 2.7, rel=0.06)  # pitch moves the weight a little more
    assert run["front_Fz"][k] + run["rear_Fz"][k] == pytest.approx(run["front_Fz"][0] + run["rear_Fz"][0], rel=1e-3)
    assert run["travel_rear"][k] > 0.0 > run["travel_front"][k]
    assert run["pitch"][k] < 0.0
    for name in ("vy", "roll", "yaw", "wz"):
        assert np.abs(run[name]).max() < 1e-9
    assert run["dvx"][-1] == pytest.approx(0.0, abs=0.01)


# -- 2.4.2: turns of the single track ----------------------------------------------------------------------------------
STEERED = "if(t > 1, if(t < 2, sin(pi*(t - 1)/2)^2, if(t < 5, 1, if(t < 6, sin(pi*(6 - t)/2)^2, 0))), 0)"


def turned(V=10.0, amplitude=0.05):
    return run_of(
        "bicycle_406/turn", parameters=(("V", V),), start=(("vx", V),), inputs=(("steering", f"{amplitude}*{STEERED}"),)
    )


def steady_gain(V):
    """Yaw rate over steering angle of a linear single track whose tyres have side force C and aligning moment N."""
    m, lever = 1593.28, {"front": 1.107, "rear": -1.593}
    rows = np.zeros((2, 2))  # forces and moments by (vy, yaw rate); alpha = steer - (vy + x wz)/V
    steered = np.zeros(2)
    for axle, x in lever.items():
        Fz = m * 9.81 * {"front": 1.593, "rear": 1.107}[axle] / 2.7 / 2 / 1000.0
        C = 2 * 3036 * np.sin(2 * np.arctan(Fz / 12.8)) * 180 / np.pi  # BCD of Fy, both tyres
        N = 2 * (-3.57403 * Fz**2 - 0.087737 * Fz) * np.exp(-0.09841 * Fz) * 180 / np.pi  # BCD of Mz
        effect = np.array([C, x * C + N])
        rows += np.outer(effect, [1.0 / V, x / V])
        steered += effect * (axle == "front")
    rows[0, 1] += m * V
    return np.linalg.solve(rows, steered)[1]


@pytest.mark.parametrize("V", [5.0, 10.0, 15.0, 20.0])
def test_a_single_track_turns_at_constant_speed_whatever_the_speed(V):
    """Section 2.4.2.1: the longitudinal speed is kept, the car turns left and stays so."""
    run = turned(V)
    np.testing.assert_allclose(run["vx"], V, rtol=2e-3)
    assert run.audit().holds
    k = int(np.searchsorted(run.time, 4.5))  # steady
    for axle in ("front", "rear"):
        assert run[f"{axle}_alpha"][k] > 0.0
        assert run[f"{axle}_Fy"][k] > 0.0
    assert run["wz"][-1] == pytest.approx(0.0, abs=1e-4)
    assert turned(V, 1e-4)["wz"][k] / 1e-4 == pytest.approx(steady_gain(V), rel=1e-4)


def test_faster_and_more_steered_it_turns_more_and_slips_more():
    """The families of figures 2.12 to 2.22."""
    by_speed, by_angle = [turned(V) for V in (5.0, 10.0, 15.0, 20.0)], [turned(amplitude=a) for a in (0.02, 0.05, 0.1)]
    for runs in (by_speed, by_angle):
        for name in ("yaw", "front_alpha", "rear_alpha", "front_Fy", "rear_Fy"):
            peaks = [np.abs(run[name]).max() for run in runs]
            assert peaks == sorted(peaks), name
    lateral = [np.abs(run["vy"]).max() for run in by_angle]
    assert lateral == sorted(lateral)


# -- 3.2.3.2.1 and 3.4.3 -----------------------------------------------------------------------------------------------
def test_free_speed_falls_in_the_turns_and_speed_control_holds_it():
    """3.2.3.2.1: the speed falls while lateral adherence is used; with the speed held it does not."""
    free, held = run_of("two_wheel_406/double_turn"), run_of("two_wheel_406/constant_speed")
    assert free["vx"][-1] < 9.8
    slowing = free["dvx"] < -0.02
    assert np.abs(free["wz"][slowing]).min() > 0.02  # only where it turns
    np.testing.assert_allclose(held["vx"], 10.0, atol=0.01)
    assert np.abs(held["dvx"]).max() < 0.2 * np.abs(free["dvx"]).max()
    assert held.audit().holds


def test_braking_of_the_car_and_of_its_projection_on_two_wheels_coincide():
    """3.4.3: speeds, accelerations, pitch and travels."""
    car, two = run_of("peugeot_406/braking"), run_of("two_wheel_406/braking")
    assert car["vx"][-1] < 14.0
    for name in ("vx", "dvx", "pitch", "z"):
        np.testing.assert_allclose(car[name], two[name], atol=2e-4 * np.abs(car[name]).max())
    for axle in ("front", "rear"):
        travel = (car[f"travel_{axle}_left"] + car[f"travel_{axle}_right"]) / 2
        np.testing.assert_allclose(travel, two[f"travel_{axle}"], atol=2e-4 * np.abs(travel).max())
        load = car[f"{axle}_left_Fz"] + car[f"{axle}_right_Fz"]
        np.testing.assert_allclose(load, two[f"{axle}_Fz"], rtol=2e-5)
    assert car["pitch"].max() > 0.005  # the nose dives
    assert max(np.abs(run["vy"]).max() for run in (car, two)) < 2e-3
