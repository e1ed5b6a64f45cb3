"""Dry friction that sticks and slides, contacts and stops that open and close: instants and motions in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torseur as ts
from torseur.describe import Effort, Mechanism, Motor, SpringDamper

G = 9.81
TIP = {"tip": {"place": {"pose": {"position": (1.0, 0.0, 0.0)}}}}


def slider(loads=None, **more):
    """A cart of 2 kg on a level rail."""
    cart = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 2.0}}
    return Mechanism(name="slider", bodies={"cart": cart}, gravity=(0.0, 0.0, 0.0), loads=loads or {}, **more)


def ball(restitution, **more):
    """A point of 1 kg above the ground."""
    body = {"joint": {"kind": "prismatic", "coordinate": "z"}, "inertia": {"M": 1.0}}
    contact = {"ground": {"contact": {"frame": "ball", "restitution": restitution}}}
    return Mechanism(name="ball", bodies={"ball": body}, constraints=contact, **more)


def times_of(run, name, what=None):
    return [e.time for e in run.events if e.name == name and (what is None or e.what == what)]


# -- friction ----------------------------------------------------------------------------------------------------------
def test_a_cart_that_slides_stops_when_friction_has_taken_its_energy_and_stays():
    rail = slider({"rail": SpringDamper(coordinate="x", friction=3.0)})
    run = ts.simulate(rail, until=4.0, start={"dx": 3.0}, every=0.1)
    stops = 3.0 / (3.0 / 2.0)
    assert times_of(run, "rail", "sticks") == pytest.approx([stops], abs=1e-11)
    assert run["x"][-1] == pytest.approx(0.5 * 3.0 * stops, abs=1e-9)
    assert np.all(run["dx"][run.time > stops] == 0.0)
    assert run.audit().holds


@pytest.mark.parametrize(
    ("kind", "load", "unit"),
    [
        ("prismatic", SpringDamper(coordinate="c", friction=3.0), "N"),
        ("revolute", SpringDamper(coordinate="c", friction=3.0), "N m"),
        ("revolute", SpringDamper(combination={"c": 2.0}, friction=3.0), "N m"),
        ("revolute", SpringDamper(between=("tip", "post"), friction=3.0), "N"),
        ("revolute", Motor(coordinate="c", ratio=50, joint_friction=3.0), "N m"),
    ],
)
def test_the_force_of_friction_that_sticks_has_the_unit_of_what_it_acts_on(kind, load, unit):
    part = {"joint": {"kind": kind, "coordinate": "c"}, "inertia": {"M": 2.0, "ZZ": 1.0}, "frames": TIP}
    post = {"place": {"pose": {"position": (3.0, 1.0, 0.0)}}}
    stuck = Mechanism(name="stuck", bodies={"part": part, "post": post}, gravity=(0.0, 0.0, 0.0), loads={"dry": load})
    run = ts.simulate(stuck, until=0.1)
    assert run.channels["lambda_dry_friction"].unit == unit


@pytest.mark.parametrize(("kind", "unit"), [("prismatic", "N"), ("revolute", "N m")])
def test_the_force_of_a_stop_has_the_unit_of_its_coordinate(kind, unit):
    joint = {"kind": kind, "coordinates": {"c": {"lower": 0.0}}}
    part = {"joint": joint, "inertia": {"M": 2.0, "ZZ": 1.0}}
    stopped = Mechanism(name="stopped", bodies={"part": part}, gravity=(0.0, 0.0, 0.0))
    run = ts.simulate(stopped, until=0.1, stops={"model": "hard"})
    assert {c.unit for n, c in run.channels.items() if n.startswith("lambda")} == {unit}


def test_a_growing_push_breaks_the_stick_at_the_level_of_friction():
    rail = slider(
        {"rail": SpringDamper(coordinate="x", friction=3.0), "push": Effort(coordinate="x", value="f")},
        inputs={"f": {}},
    )
    run = ts.simulate(rail, until=4.0, inputs={"f": "2*t"}, every=0.25)
    assert times_of(run, "rail", "slides") == pytest.approx([1.5], abs=1e-10)
    expected = np.where(run.time > 1.5, (run.time - 1.5) ** 3 / 6.0, 0.0)  # 2 x'' = 2 t - 3
    np.testing.assert_allclose(run["x"], expected, atol=1e-9)


def test_a_push_below_the_level_moves_nothing_and_friction_balances_it():
    rail = slider(
        {"rail": SpringDamper(coordinate="x", friction=3.0), "push": Effort(coordinate="x", value="f")},
        inputs={"f": {}},
    )
    run = ts.simulate(rail, until=5.0, inputs={"f": "2.9*sin(3*t)"}, every=0.25)
    assert not run.events
    assert np.all(run["x"] == 0.0)
    np.testing.assert_allclose(run["lambda_rail_friction"], -2.9 * np.sin(3.0 * run.time), atol=1e-12)


def test_a_mass_on_a_spring_with_friction_loses_the_same_height_every_half_swing():
    m, k, f = 2.0, 50.0, 2.0
    rail = slider({"rail": SpringDamper(coordinate="x", stiffness=k, friction=f)})
    run = ts.simulate(rail, until=4.0, start={"x": 0.5}, every=0.01)
    half = math.pi * math.sqrt(m / k)
    turns = times_of(run, "rail", "slides the other way")
    np.testing.assert_allclose(turns, half * np.arange(1, len(turns) + 1), atol=1e-9)
    drop = 2.0 * f / k
    left = 0.5
    swings = 0
    while left * k > f:  # it turns back as long as the spring overcomes friction
        left, swings = abs(left - drop), swings + 1
    assert len(turns) + 1 == swings
    assert times_of(run, "rail", "sticks") == pytest.approx([swings * half], abs=1e-9)
    assert abs(run["x"][-1]) == pytest.approx(left, abs=1e-9)
    assert run.audit().holds


def test_friction_of_a_motor_shaft_counts_through_the_gear():
    motor = Motor(coordinate="x", carrier="world", ratio=-4.0, torque="f", motor_friction=0.5, joint_friction=1.0)
    rail = slider({"drive": motor}, inputs={"f": {}})
    run = ts.simulate(rail, until=2.0, inputs={"f": "-t"}, every=0.25)
    assert times_of(run, "drive", "slides") == pytest.approx([3.0 / 4.0], abs=1e-10)


def test_smooth_friction_creeps_where_true_friction_sticks():
    rail = slider({"rail": SpringDamper(coordinate="x", friction=3.0), "push": Effort(coordinate="x", value=2.0)})
    run = ts.simulate(rail, until=5.0, every=0.5, friction={"model": "smooth", "width": 1e-2})
    creep = 1e-2 * math.atanh(2.0 / 3.0)
    assert run["dx"][-1] == pytest.approx(creep, rel=1e-6)


# -- contacts and stops ------------------------------------------------------------------------------------------------
def test_a_ball_bounces_at_the_instants_of_the_closed_form():
    e, h = 0.8, 1.0
    run = ts.simulate(ball(e), until=2.5, start={"z": h}, every=0.05)
    fall = math.sqrt(2.0 * h / G)
    instants = [fall + 2.0 * fall * sum(e**k for k in range(1, n + 1)) for n in range(0, 4)]
    np.testing.assert_allclose(times_of(run, "ground")[:4], [t for t in instants if t < 2.5], atol=1e-11)
    assert run.audit().holds


def test_a_ball_without_rebound_rests_on_the_floor_with_its_weight():
    run = ts.simulate(ball(0.0), until=1.0, start={"z": 0.2}, every=0.05)
    lands = math.sqrt(0.4 / G)
    assert times_of(run, "ground", "closes") == pytest.approx([lands], abs=1e-11)
    at_rest = run.time > lands
    np.testing.assert_allclose(run["lambda_ground"][at_rest], G, rtol=1e-12)
    assert np.abs(run["z"][at_rest]).max() <= 1e-12


def test_bounces_that_become_too_small_end_in_rest():
    run = ts.simulate(ball(0.3), until=2.0, start={"z": 0.5}, every=0.05)
    assert run.complete
    assert run.events[-1].what == "closes"
    assert run["lambda_ground"][-1] == pytest.approx(G)


def test_a_body_on_a_shaking_floor_lifts_off_when_the_floor_falls_faster_than_it_would():
    """Floor a sin(w t): lifts off when a w^2 sin(w t) = g."""
    a, w = 0.05, 20.0
    body = {"joint": {"kind": "prismatic", "coordinate": "z"}, "inertia": {"M": 1.0}}
    gap = {"ground": {"contact": {"gap": f"z - {a}*sin({w}*t)"}}}
    shaken = Mechanism(name="shaken", bodies={"body": body}, constraints=gap)
    run = ts.simulate(shaken, until=0.1, start={"dz": a * w}, every=0.01)
    leaves = math.asin(G / (a * w * w)) / w
    assert times_of(run, "ground", "opens") == pytest.approx([leaves], abs=1e-10)


def test_hard_stops_hold_and_reported_ones_do_not():
    cart = {"joint": {"kind": "prismatic", "coordinates": {"x": {"upper": 1.0}}}, "inertia": {"M": 2.0}}
    rail = Mechanism(name="rail", bodies={"cart": cart}, gravity=(0.0, 0.0, 0.0))
    free = ts.simulate(rail, until=2.0, start={"dx": 1.0}, every=0.5)
    assert free["x"][-1] == pytest.approx(2.0)
    assert [(e.name, e.what) for e in free.events] == [("x_upper", "is passed")]
    held = ts.simulate(rail, until=2.0, start={"dx": 1.0}, every=0.5, stops={"model": "hard", "restitution": 0.5})
    assert held["x"][-1] == pytest.approx(0.5)
    assert times_of(held, "x_upper") == pytest.approx([1.0], abs=1e-12)
    assert held.audit().holds, held.audit()


def test_an_impact_goes_through_the_joints_of_a_double_pendulum():
    """A stop on the second joint: angular momentum about the first axis is kept through the impact."""
    rod = {"M": 1.0, "MX": 0.5, "ZZ": 1.0 / 3.0, "YY": 1.0 / 3.0}
    bodies = {
        "one": {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": rod},
        "two": {
            "parent": "one",
            "place": {"pose": {"position": [1.0, 0.0, 0.0]}},
            "joint": {"kind": "revolute", "coordinates": {"b": {"upper": 0.5}}},
            "inertia": rod,
        },
    }
    arm = Mechanism(name="arm", bodies=bodies, gravity=(0.0, 0.0, 0.0))
    run = ts.simulate(arm, until=1.0, start={"db": 1.0}, every=0.01, stops={"model": "hard"})
    assert [e.what for e in run.events][:1] == ["closes"]
    model = ts.build(arm)
    momentum = np.einsum("tij,tj->ti", model.mass_matrix(run.q), run.v)[:, 0]
    np.testing.assert_allclose(momentum, momentum[0], atol=1e-9)


def test_a_start_inside_a_contact_is_refused():
    with pytest.raises(ts.ModelError, match="wrong side of a contact"):
        ts.simulate(ball(0.0), until=1.0, start={"z": -0.1})


# -- several at once, and jumps ----------------------------------------------------------------------------------------
RAIL = {"rail": SpringDamper(coordinate="x", friction=3.0), "push": Effort(coordinate="x", value="f")}


@pytest.mark.parametrize("method", ["dopri5", "rk4", "rodas", "newmark", "generalised_alpha"])
def test_a_push_that_jumps_above_the_level_breaks_the_stick_at_once(method):
    step = {"step": {"time": 1.0, "after": 5.0}}
    run = ts.simulate(slider(RAIL, inputs={"f": {}}), until=2.0, every=0.5, inputs={"f": step}, solver=method)
    assert times_of(run, "rail", "slides") == pytest.approx([1.0], abs=1e-12)
    assert run["x"][-1] == pytest.approx(0.5, abs=1e-9)  # (5 - 3) / 2 for a second


@pytest.mark.parametrize("sense", [1.0, -1.0])
def test_a_push_that_rests_on_the_level_and_then_grows_breaks_the_stick(sense):
    steps = {"step": {"time": 1.0, "after": 3.0 * sense}}
    push = slider(RAIL, inputs={"f": {}})
    more = {"more": {"ramp": {"start": 1.5, "slope": sense}}, "rests": steps}
    run = ts.simulate(push, until=3.0, every=0.5, inputs={"f": "rests + more"}, controllers=more)
    assert run["x"][-1] == pytest.approx(sense * 1.5**3 / 12.0, abs=1e-9)


def test_a_parameter_that_changes_breaks_a_stick():
    pushed = slider(RAIL, parameters={"f": {"value": 1.0}})
    run = ts.simulate(pushed, until=2.0, every=0.5, changes=[{"at": 1.0, "set": {"f": 5.0}}])
    assert run["x"][-1] == pytest.approx(0.5, abs=1e-9)


def test_friction_turns_round_with_the_speed_that_rebounds():
    cart = {"joint": {"kind": "prismatic", "coordinates": {"x": {"upper": 1.0}}}, "inertia": {"M": 2.0}}
    loads = {"rail": SpringDamper(coordinate="x", friction=1.0)}
    rail = Mechanism(name="rail", bodies={"cart": cart}, gravity=(0.0, 0.0, 0.0), loads=loads)
    run = ts.simulate(rail, until=4.0, start={"dx": 3.0}, stops={"model": "hard", "restitution": 0.5})
    returned = 0.25 * (3.0**2 - 2.0 * 0.5)
    assert run["x"][-1] == pytest.approx(1.0 - returned / (2.0 * 0.5), abs=1e-9)


def test_what_leans_on_a_stop_sticks_where_friction_can_hold_it():
    """The push falls: at 1 N the stop is not needed any more, and friction takes over until -1 N."""
    cart = {"joint": {"kind": "prismatic", "coordinates": {"x": {"upper": 0.5}}}, "inertia": {"M": 2.0}}
    loads = {"rail": SpringDamper(coordinate="x", friction=1.0), "push": Effort(coordinate="x", value="f")}
    rail = Mechanism(name="rail", bodies={"cart": cart}, gravity=(0.0, 0.0, 0.0), loads=loads, inputs={"f": {}})
    run = ts.simulate(rail, until=5.0, inputs={"f": "5 - 1.5*t"}, every=0.01, stops={"model": "hard"})
    assert times_of(run, "rail", "slides") == pytest.approx([4.0], abs=1e-9)
    np.testing.assert_allclose(run["x"][(run.time > 1.0) & (run.time < 4.0)], 0.5, atol=1e-12)


def test_friction_that_sticks_has_no_share_in_an_impact():
    """Two equal carts, the second held by a little friction: they exchange their speeds as if it were not."""
    bodies = {
        name: {"joint": {"kind": "prismatic", "coordinate": x}, "inertia": {"M": 1.0}}
        for name, x in (("one", "x"), ("two", "y"))
    }
    carts = Mechanism(
        name="carts",
        bodies=bodies,
        gravity=(0.0, 0.0, 0.0),
        loads={"rail": SpringDamper(coordinate="x", friction=0.1)},
        constraints={"buffer": {"contact": {"gap": "x - y", "restitution": 1.0}}},
    )
    run = ts.simulate(carts, until=2.0, start={"x": 1.0, "dy": 1.0})
    assert run["dx"][-1] == pytest.approx(0.9, abs=1e-9)
    assert run["dy"][-1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_plate_that_lands_on_two_feet_at_once_comes_to_rest_on_both(restitution):
    bodies = {
        "lift": {"joint": {"kind": "prismatic", "coordinate": "z"}, "inertia": {"M": 0.0}},
        "plate": {
            "parent": "lift",
            "place": {"pose": {"rpy": ["pi/2", 0, 0]}},
            "joint": {"kind": "revolute", "coordinate": "a"},
            "inertia": {"M": 1.0, "MX": 0.2, "ZZ": 0.14},
        },
    }
    feet = {
        "left": {"contact": {"gap": "z - sin(a)", "restitution": restitution}},
        "right": {"contact": {"gap": "z + sin(a)", "restitution": restitution}},
    }
    plate = Mechanism(name="plate", bodies=bodies, constraints=feet)
    run = ts.simulate(plate, until=1.5, start={"z": 0.5})
    assert run.audit().holds, run.audit()
    assert run.v[-1] == pytest.approx([0.0, 0.0], abs=1e-12)
    loads = [run[f"lambda_{foot}"][-1] for foot in feet]
    assert sum(loads) == pytest.approx(G)
    assert max(loads) == pytest.approx(0.6 * G)  # the centre of mass is nearer to one
