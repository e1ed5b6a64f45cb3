"""Wheels on roads: where they touch, and what carries them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torseur as ts
from torseur.describe import Mechanism

R, CROWN = 0.3, 0.08


def wheel(*, road=None, **contact):
    """A wheel of 2 kg with all its freedom, axle along y."""
    fields = {"wheel": "base", "axle": "y", "radius": R, **contact}
    return Mechanism.model_validate(
        {
            "name": "wheel",
            "base": {
                "kind": "floating",
                "orientation": "rpy",
                "inertia": {"mass": 2.0, "tensor": {"xx": 0.05, "yy": 0.09, "zz": 0.05}},
            },
            "roads": {} if road is None else {"road": road},
            "constraints": {"touch": {"rolling": fields | ({} if road is None else {"road": "road"})}},
        }
    )


def rotation(roll, pitch, yaw):
    cx, sx, cy, sy, cz, sz = (f(a) for a in (roll, pitch, yaw) for f in (np.cos, np.sin))
    x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return z @ y @ x


def tread(crown):
    """Points of a torus with the axle along y, close together."""
    around, across = np.meshgrid(np.linspace(0, 2 * np.pi, 1441), np.linspace(-np.pi, np.pi, 361))
    r = (R - crown) + crown * np.cos(across)
    return np.stack([r * np.cos(around), crown * np.sin(across), r * np.sin(around)], axis=-1).reshape(-1, 3)


@settings(max_examples=20)
@given(st.floats(-0.9, 0.9), st.floats(-1, 1), st.floats(-3, 3), st.sampled_from([0.0, CROWN]))
def test_the_gap_is_the_height_of_the_lowest_point_of_the_tread(roll, pitch, yaw, crown):
    model = ts.build(wheel(crown=crown))
    q = [0.3, -0.2, 0.7, roll, pitch, yaw]
    lowest = 0.7 + (tread(crown) @ rotation(roll, pitch, yaw).T)[:, 2].min()
    assert model.closure(q)[0] == pytest.approx(lowest, abs=5e-6)


@settings(max_examples=20)
@given(st.floats(-0.5, 0.5), st.floats(-3, 3), st.floats(-0.2, 0.2), st.floats(-0.2, 0.2))
def test_the_gap_to_an_inclined_plane_is_measured_along_its_normal(roll, yaw, slope, bank):
    model = ts.build(wheel(crown=CROWN, road={"height": f"{slope}*x + {bank}*y + 0.1"}))
    q = [0.3, -0.2, 0.7, roll, 0.0, yaw]
    normal = np.array([-slope, -bank, 1.0]) / np.sqrt(slope**2 + bank**2 + 1.0)
    points = tread(CROWN) @ rotation(roll, 0.0, yaw).T + q[:3] - [0.0, 0.0, 0.1]
    assert model.closure(q)[0] == pytest.approx((points @ normal).min(), abs=5e-6)


@pytest.mark.parametrize("length", [10.0, 20.0])
def test_the_gap_to_a_wave_is_that_to_its_nearest_point_to_second_order(length):
    model = ts.build(wheel(road={"height": f"0.05*sin(2*pi*x/{length})"}))
    bend = 0.05 * (2 * np.pi / length) ** 2
    for x in np.linspace(0.0, length, 7):
        u = np.linspace(x - 1, x + 1, 400_001)
        height = 0.05 * np.sin(2 * np.pi * x / length) + R
        road = 0.05 * np.sin(2 * np.pi * u / length)
        distance = np.hypot(u - x, height - road).min() - R
        assert model.closure([x, 0, height, 0, 0, 0])[0] == pytest.approx(distance, abs=2.0 * R * (R * bend) ** 2)


def test_a_point_of_contact_under_a_carrier_leans_with_it():
    mechanism = wheel(under="base")
    lean = 0.3
    assert ts.build(mechanism).closure([0, 0, 0.5, lean, 0, 0])[0] == pytest.approx(0.5 - R * np.cos(lean), abs=1e-12)


def test_a_tread_with_a_stiffness_carries_the_weight_at_its_depth():
    k, weight = 5e4, 2.0 * 9.81
    model = ts.build(wheel(stiffness=k, slides="freely"))
    vdot = model.forward_dynamics([0, 0, R - weight / k, 0, 0, 0], np.zeros(6), np.zeros(6))
    assert np.abs(vdot).max() < 1e-9
    clear = model.forward_dynamics([0, 0, R + 1e-3, 0, 0, 0], np.zeros(6), np.zeros(6))
    assert clear[2] == pytest.approx(-9.81, abs=1e-12)


def test_a_tread_with_a_stiffness_tends_to_a_rigid_one():
    """It drops onto the road from rest with its stiffness doubled again and again: the depth at rest falls with it."""
    for k in (1e4, 1e5, 1e6):
        run = ts.simulate(
            wheel(stiffness=k, damping=0.7 * 2 * np.sqrt(2.0 * k), slides="freely"),
            until=1.0,
            start={"z": R - 0.5 * 2.0 * 9.81 / k},
        )
        assert run["z"][-1] - R == pytest.approx(-2.0 * 9.81 / k, rel=1e-3)
        assert run.audit().holds


@pytest.mark.parametrize("wrong", [{"stiffness": 1e4}, {"stiffness": 1e4, "slides": "freely", "friction": 0.5}])
def test_a_tread_with_a_stiffness_has_its_forces_as_loads(wrong):
    with pytest.raises(ValueError, match="slides: freely"):
        wheel(**wrong)
