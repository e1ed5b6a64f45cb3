"""Ways to lean the Smera in a lane change: motor, steering, both; and a motor that is lost."""

from functools import cache

import numpy as np
import pytest

import torseur as ts
from support.example_files import STUDIES

pytestmark = pytest.mark.slow

WAYS = {
    "motor": {},
    "steering": {"direct": 0.0, "steered": 1.0},
    "both": {"direct": 0.5, "steered": 0.5, "demand": 1.0},
}


@cache
def run_of(study, *parameters):
    return ts.simulate(STUDIES[f"smera/{study}"], parameters=dict(parameters))


def by(way):
    return run_of("lane_change", *WAYS[way].items())


@pytest.mark.parametrize("way", [*WAYS, "locked"])
def test_every_way_changes_the_lane_with_all_wheels_on_the_road(way):
    run = run_of("lane_change_upright") if way == "locked" else by(way)
    assert run["y"][-1] == pytest.approx(3.0, abs=0.05)
    assert min(run[f"{c}_Fz"].min() for c in ("fl", "fr", "rl", "rr")) > 500.0
    errors = {row["balance"]: row["error"] for row in run.audit().table}
    assert run.audit().holds
    assert max(errors["loops and constraints"], errors["contacts and stops"]) < 1e-9


@pytest.mark.parametrize("way", WAYS)
def test_who_leans_into_a_lane_change_feels_less_than_a_third(way):
    run, locked = by(way), run_of("lane_change_upright")
    assert np.abs(run["perceived"]).max() < np.abs(locked["perceived"]).max() / 3.0
    first = np.searchsorted(run.time, 2.0)  # the turn to the left
    assert run["roll"][first] < -np.radians(2.0)
    assert locked["roll"][first] > np.radians(2.0)


def test_to_lean_by_steering_the_wheels_first_turn_away():
    motor, steered = by("motor"), by("steering")
    early = motor.time < 1.1
    assert motor["steering"][early].min() > -1e-9
    assert steered["steering"][early].min() < -5e-4
    assert steered["y"][early].min() < -1e-3
    assert np.abs(steered["tilt_torque"]).max() == 0.0


def test_both_together_need_the_lean_that_the_driver_asks_for():
    """Motor and steering that follow the yaw rate, which the steering makes, drive each other away from the path."""
    apart = run_of("lane_change", ("direct", 0.5), ("steered", 0.5), ("demand", 0.0))
    assert np.abs(apart["y"][-1] - 3.0) > 10.0


def test_without_its_motor_it_falls_to_the_outside_unless_the_steering_takes_over():
    falls, steers = run_of("motor_loss"), run_of("motor_loss", ("steered", 1.0))
    k = np.searchsorted(falls.time, 3.9)
    assert falls["roll"][k] == pytest.approx(steers["roll"][k], abs=1e-12)
    assert falls["roll"][k] < -np.radians(9.0)
    assert falls["roll"][-1] == pytest.approx(np.radians(40.0), rel=1e-6)
    assert falls.time[-1] < 5.5
    assert steers.time[-1] == 10.0
    assert steers["roll"].max() < np.radians(1e-3)
    assert min(steers[f"{c}_Fz"].min() for c in ("fl", "fr", "rl", "rr")) > 500.0
