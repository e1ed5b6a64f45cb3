"""What decides about switches, just within each limit and just beyond it; the numbers are written out."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.describe import Effort, Mechanism, SpringDamper
from torseur.errors import ModelError
from torseur.simulation.switching.admissible import Demands, Instant, admissible
from torseur.simulation.switching.impacts import Rub, Struck, rubbed


def words(run, name):
    return [e.what for e in run.events if e.name == name]


def slider(push, start=None, friction=1.0, until=1e-3):
    """A cart of 1 kg with dry friction of 1 N under a push."""
    cart = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}
    loads = {
        "rail": SpringDamper(coordinate="x", friction=friction),
        "push": Effort(coordinate="x", value="f"),
    }
    rail = Mechanism(name="slider", bodies={"cart": cart}, gravity=(0, 0, 0), loads=loads, inputs={"f": {}})
    return ts.simulate(rail, until=until, every=until, inputs={"f": push}, start=start or {})


def ball(start, restitution=0.0, until=1e-3):
    """A point of 1 kg above the ground, under its weight."""
    body = {"joint": {"kind": "prismatic", "coordinate": "z"}, "inertia": {"M": 1.0}}
    contact = {"ground": {"contact": {"frame": "ball", "restitution": restitution}}}
    falls = Mechanism(name="ball", bodies={"ball": body}, constraints=contact)
    return ts.simulate(falls, until=until, every=until, start=start)


# -- nearness ----------------------------------------------------------------------------------------------------------
def test_a_gap_of_less_than_a_nanometre_is_closed_at_the_start_one_of_more_is_not():
    assert words(ball({"z": 0.5e-9}), "ground") == []
    assert words(ball({"z": 5e-9}), "ground") == ["closes"]


def test_a_contact_that_closes_slower_than_a_nanometre_a_second_is_closed_at_the_start():
    assert words(ball({"z": 0.0, "dz": -0.5e-9}), "ground") == []
    assert words(ball({"z": 0.0, "dz": -5e-9}), "ground") == ["closes"]


@pytest.mark.parametrize("inside", [1e-15, 4.7e-13, 9e-10, 5e-7])
@pytest.mark.parametrize("upwards", [0.0, 1e-12, 6e-9, 1e-6, 9e-5, 3e-3])
def test_a_contact_that_is_open_a_little_inside_and_hardly_separates_does_not_fall_through(inside, upwards):
    """As another contact that lands may leave it: it never comes out, so its gap does not change its sign."""
    run = ball({"z": -inside, "dz": upwards}, until=0.1)
    assert abs(run["z"][-1]) <= inside + 1e-9
    assert run["lambda_ground"][-1] == pytest.approx(9.81)


def test_friction_slower_than_a_nanometre_a_second_sticks_at_the_start():
    assert words(slider(0.5, {"dx": 0.5e-9}), "rail") == []
    assert words(slider(0.5, {"dx": 5e-9}), "rail") == ["sticks"]


def two_feet(gap):
    """A plate that falls on one foot while the other is at a gap: what the other does then."""
    bodies = {"plate": {"joint": {"kind": "prismatic", "coordinate": "z"}, "inertia": {"M": 1.0}}}
    feet = {"low": {"contact": {"gap": "z"}}, "high": {"contact": {"gap": f"z + {gap}"}}}
    plate = Mechanism(name="plate", bodies=bodies, constraints=feet, gravity=(0, 0, -9.81))
    return ts.simulate(plate, until=0.02, every=0.02, start={"z": 1e-3})


def test_contacts_within_a_nanometre_are_hit_together():
    assert words(two_feet(0.5e-9), "high") == ["closes"]
    assert words(two_feet(5e-9), "high") == []


def test_a_start_a_micrometre_inside_the_ground_is_refused():
    assert ball({"z": -0.5e-6}).complete
    with pytest.raises(ModelError, match="wrong side"):
        ball({"z": -2e-6})


# -- impacts -----------------------------------------------------------------------------------------------------------
def test_a_rebound_below_a_tenth_of_a_millimetre_a_second_ends_an_impact():
    assert words(ball({"z": 0.0, "dz": -1e-4}, restitution=0.5), "ground") == ["closes"]
    assert words(ball({"z": 0.0, "dz": -4e-4}, restitution=0.5, until=1e-5), "ground") == ["hits and rebounds"]


def sliding(push, along):
    """A point that falls on the ground at 1 m/s and slides along it, friction 0.5: its jump."""
    impact = Struck(np.eye(2), np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([-1.0, along]), push, [], [0], {0: 0.0})
    return rubbed(impact, [Rub(0, (1,), 0.5)])


def test_friction_in_an_impact_stays_in_its_cone_exactly():
    np.testing.assert_allclose(sliding(np.array([0.0, 1.0]), 0.5 - 1e-9), [-0.5 + 1e-9, 1.0], atol=1e-14)
    np.testing.assert_allclose(sliding(np.array([0.0, 1.0]), 0.5 + 1e-9), [-0.5, 1.0], atol=1e-14)


# -- friction ----------------------------------------------------------------------------------------------------------
def test_friction_holds_its_level_and_a_tenth_of_a_trillionth_more():
    assert words(slider(1.0 + 0.5e-13), "rail") == []
    assert slider(1.0 + 0.5e-13)["x"][-1] == 0.0
    assert slider(1.0 + 5e-13)["dx"][-1] > 0.0


def block(speed, until=1e-4):
    """A point of 1 kg that slides on the ground, friction 0.5."""
    bodies = {
        "along": {"place": {"pose": {"rpy": [0, "pi/2", 0]}}, "joint": {"kind": "prismatic", "coordinate": "x"}},
        "block": {
            "parent": "along",
            "place": {"pose": {"rpy": [0, "-pi/2", 0]}},
            "joint": {"kind": "prismatic", "coordinate": "z"},
            "inertia": {"M": 1.0},
        },
    }
    contact = {"ground": {"contact": {"frame": "block", "friction": 0.5}}}
    slides = Mechanism(name="block", bodies=bodies, constraints=contact)
    return ts.simulate(slides, until=until, every=until, guess={"dx": speed})


def test_a_contact_that_slides_slower_than_a_tenth_of_a_micrometre_a_second_sticks_at_the_start():
    assert words(block(0.5e-7), "ground") == []
    assert words(block(5e-7), "ground") == ["sticks"]


# -- loads that redundant rows share -----------------------------------------------------------------------------------
def shared(mu):
    """Two rows of a point, a normal and one along the ground, and another of the same normal: who carries what.

    The weight of 1 N is shared by two normals; the second alone has friction, which must carry 0.25 N.
    """
    A = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    lam = np.array([0.5, 0.5, 0.25])
    now = Instant(A, np.zeros(3), lam, np.eye(2), np.array([-0.25, -1.0]))
    return admissible(now, 2, Demands(pushing=[0, 1], cones=[(1, [2], mu)]))


def test_a_load_is_shared_if_a_hundred_millionth_of_it_is_left():
    """The second normal may be 1 N at most: a friction coefficient of 0.25 is just enough."""
    assert shared(0.25 * (1.0 - 1e-9)) is None
    assert shared(0.25 * (1.0 + 1e-8)) is None  # of the largest force, 4e-9 is left
    found = shared(0.25 * (1.0 + 1e-7))  # 4e-8 is left
    assert found is not None
    np.testing.assert_allclose(found[:2].sum(), 1.0, atol=1e-12)
    assert found[0] >= 0.0
    assert abs(found[2]) <= 0.25 * (1.0 + 1e-7) * found[1] + 1e-12
