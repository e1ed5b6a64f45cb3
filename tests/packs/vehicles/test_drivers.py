"""Drivers and controllers, each against the closed form of the little machine it controls."""

import numpy as np
import pytest
from scipy.optimize import brentq

import torseur as ts
from torseur.describe import Effort, Mechanism
from torseur.describe.fields import FrozenDict
from torseur.describe.mechanism import Parameter
from torseur.errors import ModelError
from torseur.packs.vehicles.drivers import BLOCKS, PathFollower
from torseur.simulation.blocks import block_of
from torseur.simulation.study.reader import study_of_text
from torseur.simulation.study.writer import study_text

M, R = 1200.0, 0.3

CART = Mechanism(
    name="cart",
    gravity=(0.0, 0.0, 0.0),
    inputs={"torque": {}},
    bodies={"cart": {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": M}}},
    loads={"push": Effort(coordinate="x", value=f"torque/{R}")},
)
"""A mass that wheels of radius R push."""

HUB = Mechanism(
    name="hub",
    gravity=(0.0, 0.0, 0.0),
    inputs={"torque": {}},
    bodies={"hub": {"joint": {"kind": "revolute", "coordinate": "angle"}, "inertia": {"ZZ": 2.0}}},
    loads={"turn": Effort(coordinate="angle", value="torque")},
)
"""A steered hub of 2 kg m2."""

L, V = 2.7, 15.0
BICYCLE = Mechanism(
    name="bicycle",
    gravity=(0.0, 0.0, 0.0),
    inputs={"delta": {"unit": "rad"}},
    base={"kind": "planar", "coordinates": {"x": {}, "y": {}, "yaw": {}}, "inertia": {"M": M, "ZZ": 1500.0}},
    constraints={
        "ahead": {"speeds": {"coefficients": {"vx": 1.0}, "equals": V}},
        "sideways": {"speeds": {"coefficients": {"vy": 1.0}}},
        "turning": {"speeds": {"coefficients": {"wz": 1.0}, "equals": f"{V}*tan(delta)/{L}"}},
    },
)
"""A single-track vehicle that rolls without slip at V; its base is on the rear axle."""


def cart(until=4.0, **fields):
    inputs = {"torque": {"speed_control": {"speed": "dx", **fields}}}
    return ts.simulate(CART, inputs=inputs, until=until, every=0.01)


def bicycle(until=8.0, **fields):
    return ts.simulate(BICYCLE, inputs={"delta": {"path_follower": {"wheelbase": L, **fields}}}, until=until)


def test_p_control_of_speed_has_the_time_constant_m_r_over_kp():
    kp = 900.0
    run = cart(wanted=10.0, kp=kp)
    assert np.allclose(run["dx"], 10.0 * (1.0 - np.exp(-run.time * kp / (M * R))), atol=1e-7)


def test_pi_control_of_speed_leaves_no_error_under_a_constant_load():
    """m R V' = kp e + ki int e + c with critical damping: e = (e0 + b t) exp(-w t)."""
    kp, c = 900.0, -120.0
    ki = kp**2 / (4.0 * M * R)
    run = cart(until=8.0, wanted=10.0, kp=kp, ki=ki, feedforward=c)
    w = kp / (2.0 * M * R)
    slope = -(kp * 10.0 + c) / (M * R)  # of the error at the start
    error = (10.0 + (slope + 10.0 * w) * run.time) * np.exp(-w * run.time)
    assert np.allclose(10.0 - run["dx"], error, atol=1e-6)


def test_speed_control_does_not_wind_up_at_its_limit():
    fields = {"wanted": 10.0, "kp": 900.0, "ki": 400.0, "upper": 600.0, "lower": -600.0}
    run = cart(until=20.0, **fields)
    torque = run["torque"]
    assert torque.max() <= 600.0
    assert torque.min() >= -600.0
    at_limit = run.time < 4.0
    assert np.allclose(run["dx"][at_limit], run.time[at_limit] * 600.0 / (M * R), atol=1e-6)
    wound_up = 10.0 + 400.0 * 30.0 / 900.0  # what an integral of the whole error would carry it beyond
    assert run["dx"].max() < 10.6 < wound_up
    assert run["dx"][-1] == pytest.approx(10.0, abs=1e-3)


def test_drive_and_brake_share_what_speed_control_wants():
    run = cart(wanted="10*sin(2*t)", kp=900.0, brakes=True)
    drive, brake = run["torque"], run["torque_brake"]
    wanted = 900.0 * (10.0 * np.sin(2.0 * run.time) - run["dx"])
    assert np.allclose(drive - brake, wanted, atol=1e-9)
    assert (np.minimum(drive, brake) == 0.0).all()
    assert brake.max() > 1000.0


def test_a_wanted_acceleration_is_reached():
    block = {"wanted_acceleration": {"acceleration": "3*t", "mass": M, "radius": R}}
    run = ts.simulate(CART, inputs={"torque": block}, until=2.0)
    assert np.allclose(run["dx"], 1.5 * run.time**2, atol=1e-9)
    limited = {"wanted_acceleration": {"acceleration": 3.0, "mass": M, "radius": R, "limit": 360.0}}
    assert ts.simulate(CART, inputs={"torque": limited}, until=2.0)["dx"][-1] == pytest.approx(2.0, abs=1e-9)


def test_a_steering_torque_turns_a_hub_as_a_critically_damped_oscillator():
    kp = 800.0
    block = {"steering_pd": {"wanted": 0.1, "angle": "angle", "kp": kp, "kd": 2.0 * np.sqrt(2.0 * kp)}}
    run = ts.simulate(HUB, inputs={"torque": block}, until=1.0)
    w = np.sqrt(kp / 2.0)
    assert np.allclose(run["angle"], 0.1 * (1.0 - (1.0 + w * run.time) * np.exp(-w * run.time)), atol=1e-9)


def test_the_rate_of_a_steering_angle_may_be_given():
    fields = {"wanted": 0.1, "angle": "angle", "kp": 800.0, "kd": 40.0}
    own = ts.simulate(HUB, inputs={"torque": {"steering_pd": fields}}, until=1.0)
    given = ts.simulate(HUB, inputs={"torque": {"steering_pd": {**fields, "rate": "dangle"}}}, until=1.0)
    assert np.array_equal(own["angle"], given["angle"])


@pytest.mark.parametrize("turn", [1.0, -1.0], ids=["left", "right"])
def test_a_tilting_vehicle_leans_into_the_turn_until_it_is_balanced(turn):
    """V^2/(R g) is the tangent of the balanced tilt: 10 m/s on 50 m is 11.52 degrees, to the left in a left turn."""
    fields = {"tilt": "angle", "speed": 10.0, "yaw_rate": turn * 0.2, "kp": 800.0, "kd": 80.0}
    run = ts.simulate(HUB, inputs={"torque": {"tilt_pd": fields}}, until=2.0)
    assert np.rad2deg(run["angle"][-1]) == pytest.approx(-turn * 11.52317728973666, abs=1e-6)
    assert np.allclose(run["torque_reference"], -turn * np.arctan(0.2 * 10.0 / 9.81), rtol=1e-14)


# -- paths -------------------------------------------------------------------------------------------------------------
def test_a_driver_reaches_a_line_and_stays_on_it():
    run = bicycle(offset="y - 3", time=1.0)
    assert run["y"][-1] == pytest.approx(3.0, abs=1e-3)
    assert run["y"].max() < 3.3
    assert np.allclose(run["delta_offset"], run["y"] - 3.0)


def test_a_driver_on_a_circle_is_off_by_what_the_preview_says():
    """Steady: tan(delta)/L = 1/r and delta = 2 L (sqrt(r^2 + D^2) - R)/D^2."""
    radius, D = 60.0, 12.0
    run = bicycle(until=60.0, offset=f"{radius} - sqrt(x^2 + (y - {radius})^2)", distance=D)
    r = brentq(lambda r: np.arctan(L / r) - 2.0 * L * (np.hypot(r, D) - radius) / D**2, 0.9 * radius, 1.1 * radius)
    away = np.hypot(run["x"], run["y"] - radius)[-100:]
    assert np.allclose(away, r, atol=1e-4)
    assert abs(r - radius) < 0.1


def test_points_and_a_formula_of_the_same_line_are_followed_alike():
    points = bicycle(xs=[-50.0, 0.0, 200.0], ys=[-5.0, 0.0, 20.0], time=0.8)
    formula = bicycle(offset="y - 0.1*x", time=0.8)
    assert np.allclose(points["y"], formula["y"], atol=1e-9)


def test_the_steering_angle_follows_with_the_reaction_time_and_stays_within_its_limit():
    run = bicycle(offset="y - 3", time=1.0, reaction=0.3, limit=0.02, until=0.5)
    assert np.allclose(run["delta"], 0.02 * (1.0 - np.exp(-run.time / 0.3)), atol=1e-9)


def test_a_driver_who_knows_of_understeer_steers_more():
    plain, knows = (bicycle(offset="y - 0.1", time=1.0, understeer=k, until=0.001) for k in (0.0, 0.003))
    assert knows["delta"][-1] / plain["delta"][-1] == pytest.approx((L + 0.003 * V**2) / L, rel=1e-6)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"time": 1.0}, "exactly one of offset, xs"),
        ({"time": 1.0, "offset": "y", "xs": [0, 1], "ys": [0, 1]}, "exactly one of offset, xs"),
        ({"time": 1.0, "xs": [0, 1], "ys": [0]}, "each with an x and a y"),
        ({"offset": "y"}, "a preview distance, a preview time"),
    ],
)
def test_an_incomplete_driver_is_refused(fields, said):
    with pytest.raises(ModelError, match=said):
        block_of({"path_follower": {"wheelbase": 2.7, **fields}})


def test_points_that_do_not_increase_are_refused():
    with pytest.raises(ModelError, match="must increase"):
        bicycle(xs=[0.0, 5.0, 5.0], ys=[0.0, 1.0, 2.0], time=1.0)


def test_points_that_parameters_decide_are_refused():
    model = BICYCLE.model_copy(update={"parameters": FrozenDict(a=Parameter(value=1.0))})
    block = PathFollower(xs=(0.0, "a"), ys=(0.0, 1.0), wheelbase=L, time=1.0)
    with pytest.raises(ModelError, match="points of a path are numbers"):
        ts.simulate(model, inputs={"delta": block}, until=1.0)


def test_every_driver_is_a_kind_that_files_can_name():
    for kind, block in BLOCKS.items():
        assert block.kind == kind
        assert block.__doc__
        assert all(field.description for field in block.model_fields.values())


def test_drivers_of_a_study_file_come_back_equal():
    blocks = {
        "foot": {"speed_control": {"wanted": 10.0, "kp": 900.0, "ki": 3.0, "upper": 600.0, "brakes": True}},
        "eyes": {"path_follower": {"offset": "y - 3", "wheelbase": 2.7, "time": 1.0}},
        "hands": {"steering_pd": {"wanted": "eyes", "angle": "0.1*yaw", "kp": 80.0, "kd": 4.0}},
        "wish": {"wanted_acceleration": {"acceleration": "2*t", "mass": 1200.0, "radius": 0.3}},
        "lean": {"tilt_pd": {"tilt": "yaw", "kp": 80.0, "kd": 4.0}},
    }
    study = ts.Study(model=BICYCLE, blocks=blocks)
    assert study_of_text(study_text(study)).study == study
