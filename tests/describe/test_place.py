"""Places: every way to write one is the product of its factors."""

import math

import numpy as np
import pytest

from torseur.describe import Elementary, Formula, Place
from torseur.describe.place import RigidPose, Turn, pose_after, pose_before, pose_of, to_steps
from torseur.graph import Graph
from torseur.spatial.pose import Step, StepKind

AXES = {"x": 0, "y": 1, "z": 2}


def elementary(kind, amount):
    """The homogeneous matrix of one elementary transform."""
    found, axis = np.eye(4), AXES[kind[1]]
    if kind[0] == "t":
        found[axis, 3] = amount
        return found
    a, b = (axis + 1) % 3, (axis + 2) % 3
    c, s = math.cos(amount), math.sin(amount)
    found[a, a] = found[b, b] = c
    found[a, b], found[b, a] = -s, s
    return found


def matrix(*steps):
    found = np.eye(4)
    for kind, amount in steps:
        found = found @ elementary(kind, amount)
    return found


def number(pose):
    return np.array([[float(x) for x in row] for row in pose.matrix()])


def evaluated(place, part=pose_of):
    g = Graph()
    return number(part(g, place, g.number))


MDH = {"gamma": 0.3, "b": -0.2, "alpha": 1.1, "d": 0.5, "theta": -0.7, "r": 0.4}
DH = {"theta": 0.3, "d": -0.2, "a": 0.5, "alpha": 1.1}


def test_a_modified_row_is_its_six_factors():
    expected = matrix(("rz", 0.3), ("tz", -0.2), ("rx", 1.1), ("tx", 0.5), ("rz", -0.7), ("tz", 0.4))
    np.testing.assert_allclose(evaluated(Place(mdh=MDH)), expected, atol=1e-15)
    np.testing.assert_array_equal(evaluated(Place(mdh=MDH), pose_after), np.eye(4))


def test_a_standard_row_is_cut_by_the_motion_of_its_joint():
    place = Place(dh=DH)
    before, after = matrix(("rz", 0.3), ("tz", -0.2)), matrix(("tx", 0.5), ("rx", 1.1))
    np.testing.assert_allclose(evaluated(place, pose_before), before, atol=1e-15)
    np.testing.assert_allclose(evaluated(place, pose_after), after, atol=1e-15)
    np.testing.assert_allclose(evaluated(place), before @ after, atol=1e-15)


def test_roll_pitch_and_yaw_turn_behind_the_position():
    place = Place(pose={"position": (1, 2, 3), "rpy": (0.1, 0.2, 0.3)})
    expected = matrix(("tx", 1), ("ty", 2), ("tz", 3), ("rz", 0.3), ("ry", 0.2), ("rx", 0.1))
    np.testing.assert_allclose(evaluated(place), expected, atol=1e-15)


def test_a_quaternion_and_a_matrix_are_one_factor_behind_the_position():
    half = 0.35
    turned = matrix(("tx", 1), ("rz", 0.7))
    quaternion = Place(pose={"position": (1, 0, 0), "quaternion": (math.cos(half), 0, 0, math.sin(half))})
    rows = Place(pose={"position": (1, 0, 0), "matrix": turned[:3, :3].tolist()})
    for place in (quaternion, rows):
        assert [type(factor) for factor in place.before] == [Elementary, RigidPose]
        np.testing.assert_allclose(evaluated(place), turned, atol=1e-15)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_a_turn_about_a_direction_of_any_length_is_that_about_the_axis(axis):
    direction = [7.0 * (name == axis) for name in "xyz"]
    place = Place(steps=[{"rn": {"axis": direction, "angle": 0.4}}, {"tx": 2}])
    np.testing.assert_allclose(evaluated(place), matrix((f"r{axis}", 0.4), ("tx", 2)), atol=1e-15)


def test_factors_of_rows_and_poses_that_do_nothing_are_left_out():
    assert Place().before == Place(mdh={}).before == Place(pose={}).before == Place(dh={}).after == ()
    assert Place(mdh={"alpha": "a", "d": 0, "r": 1}).before == (Elementary(rx="a"), Elementary(tz=1))
    assert Place(steps=[{"tx": 0.0}]).before == (Elementary(tx=0.0),)


def test_scalars_are_what_the_evaluator_makes_of_them():
    g = Graph()
    a = g.symbol("a")
    place = Place(steps=[{"rx": "a"}, {"rn": {"axis": (0, 0, 2), "angle": "a"}}])

    def scalar(value):
        return a if isinstance(value, Formula) else g.number(value)

    assert list(to_steps(place.before, scalar)) == [Step(StepKind.ROTATE_X, a), Turn((g.zero, g.zero, g.one), a)]
