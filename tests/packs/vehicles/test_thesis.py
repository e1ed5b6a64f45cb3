"""What Maakaroun 2011, chapter 3, says of its simulations."""

from functools import cache

import numpy as np
import pytest

import torseur as ts
from support.example_files import STUDIES

pytestmark = pytest.mark.slow


@cache
def run_of(study, **changes):
    return ts.simulate(STUDIES[study], **changes)


def at_peak(run, signal):
    return int(np.argmax(np.abs(run[signal])))


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
    held = ts.simulate(STUDIES["peugeot_406/double_turn"], parameters={"Kar_f": 12000.0, "Kar_r": 8000.0})
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
