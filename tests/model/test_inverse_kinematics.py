"""Inverse kinematics finds what forward kinematics came from, keeps to the stops, and says why it cannot."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from support.random_mechanisms import BodyPlan, Plan, mechanism_of, state_of
from torseur.describe import Mechanism
from torseur.errors import ArgumentError, NumericalError
from torseur.formats import load
from torseur.model import build
from torseur.model.tasks import Search, rotation_vector

URDF = Path(__file__).parent.parent / "data" / "urdf"


def two_links(**stops):
    """Two links of one metre in the plane x y; stops of the elbow by keyword."""
    inertia = {"M": 1.0, "MX": 0.5, "ZZ": 0.4}
    bodies = {
        "upper": {"joint": {"kind": "revolute", "coordinate": "q1"}, "inertia": inertia},
        "lower": {
            "parent": "upper",
            "place": {"mdh": {"d": 1.0}},
            "joint": {"kind": "revolute", "coordinate": "q2", **stops},
            "inertia": inertia,
            "frames": {"tool": {"place": {"pose": {"position": (1.0, 0.0, 0.0)}}}},
        },
    }
    parameters = {"flex": {"value": 2.5}}
    return build(Mechanism.model_validate({"name": "arm", "bodies": bodies, "parameters": parameters}))


@cache
def robot(name):
    model = build(load(URDF / f"{name}.urdf"))
    return model, list(model.mechanism.bodies)[-1]


@pytest.mark.parametrize("name", ["ur5", "panda7"])
def test_what_a_random_configuration_reaches_is_reached(name):
    model, tip = robot(name)
    rng = np.random.default_rng(4)
    for _ in range(10):
        target = model.pose(rng.uniform(-2.5, 2.5, model.nq), tip)
        found = model.inverse_kinematics(target, tip, rng.uniform(-2.5, 2.5, model.nq))
        assert np.abs(model.pose(found.q, tip) - target).max() < 1e-9
        assert found.left <= 1e-10


def test_a_position_leaves_the_orientation_free():
    model, tip = robot("panda7")
    target = model.pose(np.linspace(-1, 1, 7), tip)[:3, 3]
    found = model.inverse_kinematics(target, tip)
    assert np.abs(model.pose(found.q, tip)[:3, 3] - target).max() < 1e-9
    assert found.angle == 0.0


@pytest.mark.parametrize("kind", ["prismatic", "spherical", "universal", "cylindrical", "screw", "planar"])
def test_every_kind_of_joint_can_be_sought(kind):
    bodies = (BodyPlan("revolute", -1, "rpy"), BodyPlan(kind, 0, "rpy"), BodyPlan("spherical", 1, "rpy"))
    model = build(mechanism_of(Plan("fixed", bodies, seed=5)))
    target = model.pose(state_of(model.mechanism, 1).q, "b2")
    found = model.inverse_kinematics(target, "b2")
    assert np.abs(model.pose(found.q, "b2") - target).max() < 1e-9


def test_both_elbows_are_found_from_guesses_near_them():
    model = two_links()
    target = np.array([1.0, 1.0, 0.0])
    up, down = (model.inverse_kinematics(target, "tool", guess).q for guess in ([0.1, 1.2], [1.4, -1.2]))
    np.testing.assert_allclose(up, [0.0, np.pi / 2], atol=1e-9)
    np.testing.assert_allclose(down, [np.pi / 2, -np.pi / 2], atol=1e-9)


def test_a_target_at_the_border_of_reach_is_a_singularity_and_is_found():
    found = two_links().inverse_kinematics([2.0, 0.0, 0.0], "tool", [0.4, 0.7], search=Search(tolerance=1e-8))
    assert found.left <= 1e-8


def test_stops_are_kept_and_the_other_elbow_is_taken():
    model = two_links(lower=-3.0, upper=0.0)
    found = model.inverse_kinematics([1.0, 1.0, 0.0], "tool", [0.1, -0.1])
    np.testing.assert_allclose(found.q[1], -np.pi / 2, atol=1e-9)
    assert found.at_stops == ()


def test_a_stop_met_on_the_way_does_not_end_the_search():
    """The elbow runs into its stop; the shoulder goes on alone."""
    model = two_links(lower=-0.1, upper=0.3)
    target = model.pose([1.4, 0.3], "tool")[:3, 3]
    found = model.inverse_kinematics(target, "tool", [-0.5, 0.0], search=Search(restarts=0, tolerance=1e-8))
    np.testing.assert_allclose(found.q, [1.4, 0.3], atol=1e-6)
    assert found.at_stops in ((), ("q2",))


def test_what_is_found_lies_between_the_stops():
    """Large steps would jump over them."""
    model, rng = two_links(lower=-0.4, upper=0.9), np.random.default_rng(1)
    wide = Search(largest_move=10.0, largest_turn=10.0, restarts=5)
    for _ in range(30):
        target = np.array([*rng.uniform(-2, 2, 2), 0.0])
        try:
            found = model.inverse_kinematics(target, "tool", [rng.uniform(-3, 3), rng.uniform(-0.4, 0.9)], search=wide)
        except NumericalError:
            continue
        assert -0.4 <= found.q[1] <= 0.9


def test_out_of_reach_says_how_far_is_left():
    with pytest.raises(NumericalError) as caught:
        two_links().inverse_kinematics([3.0, 0.0, 0.0], "tool", search=Search(restarts=3))
    text = str(caught.value)
    assert "no configuration was found that brings 'tool' to this position" in text
    assert "1 m left at the best of 4 starts" in text


def test_a_stop_in_the_way_is_named():
    model = two_links(lower=-0.5, upper="flex/5")
    with pytest.raises(NumericalError) as caught:
        model.inverse_kinematics([1.0, 1.0, 0.0], "tool", [0.2, 0.3], search=Search(restarts=2))
    text = str(caught.value)
    assert "q2 would have to be 1.571 rad, above its stop 0.5" in text or "below its stop -0.5" in text
    assert "remedy: wider stops" in text


def test_the_same_seed_finds_the_same_and_the_base_is_held():
    bodies = tuple(BodyPlan("revolute", k - 1, "rpy") for k in range(6))
    model = build(mechanism_of(Plan("floating", bodies, seed=2)))
    s = state_of(model.mechanism, 3)
    target = model.pose(s.q, "b5")
    guess = np.concatenate([s.q[:7], np.zeros(6)])
    one, two = (model.inverse_kinematics(target, "b5", guess) for _ in range(2))
    assert np.array_equal(one.q, two.q)
    assert np.array_equal(one.q[:7], guess[:7])


def test_a_floating_body_alone_may_move():
    model = build(mechanism_of(Plan("floating", (BodyPlan("fixed", -1),), seed=2)))
    s = state_of(model.mechanism, 3)
    found = model.inverse_kinematics(model.pose(s.q, "b0"), "b0")
    assert np.abs(model.pose(found.q, "b0") - model.pose(s.q, "b0")).max() < 1e-9
    np.testing.assert_allclose(np.linalg.norm(found.q[3:]), 1.0)


def test_only_free_speeds_move():
    model = two_links()
    found = model.inverse_kinematics([2 * np.cos(0.7), 2 * np.sin(0.7), 0.0], "tool", [0.0, 0.0], free=["dq1"])
    np.testing.assert_allclose(found.q, [0.7, 0.0], atol=1e-9)


@pytest.mark.parametrize(
    ("target", "what"),
    [
        (np.eye(3), "not a target"),
        ([np.nan, 0.0, 0.0], "finite"),
        (np.diag([1.0, 1.0, -1.0, 1.0]), "not a pose"),
        (2.0 * np.eye(4), "not a pose"),
    ],
)
def test_what_is_no_target_is_refused(target, what):
    with pytest.raises(ArgumentError, match=what):
        two_links().inverse_kinematics(target, "tool")


def test_wrong_guesses_speeds_and_searches_are_refused():
    model = two_links()
    with pytest.raises(ArgumentError, match="the guess does not fit"):
        model.inverse_kinematics([1.0, 0.0, 0.0], "tool", [0.0])
    with pytest.raises(ArgumentError, match="no such speeds"):
        model.inverse_kinematics([1.0, 0.0, 0.0], "tool", free=["q1"])
    with pytest.raises(ArgumentError, match="tolerance = 0"):
        Search(tolerance=0.0)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 1.0, 3.0, np.pi - 1e-9, np.pi])
def test_a_rotation_vector_turns_as_its_matrix(angle):
    rng = np.random.default_rng(8)
    for _ in range(10):
        u = rng.normal(size=3)
        u /= np.linalg.norm(u)
        K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
        found = rotation_vector(np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K)
        at_pi = min(np.abs(found - angle * u).max(), np.abs(found + angle * u).max())
        assert (at_pi if angle > 3.1 else np.abs(found - angle * u).max()) < 1e-7
