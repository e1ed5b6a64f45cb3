"""Closing loops from a guess: gaps, branches, what is held, speeds, and what is said when nothing closes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torseur as ts
from torseur.describe import Mechanism
from torseur.model import Closing

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def four_bar() -> Any:
    return ts.build(ts.load(EXAMPLES / "four_bar" / "four_bar.yaml"))


def folded(q1: float, side: float) -> tuple[float, float]:
    """Angles of coupler and rocker of the example by the cosine rule, on one side of the line between their ends."""
    px, py = 0.5 * math.cos(q1), 0.5 * math.sin(q1)
    dx, dy = 1.4 - px, -py
    far = math.hypot(dx, dy)
    at_crank = math.acos((far**2 + 1.5**2 - 1.2**2) / (2 * far * 1.5))
    coupler = math.atan2(dy, dx) + side * at_crank
    ex, ey = px + 1.5 * math.cos(coupler), py + 1.5 * math.sin(coupler)
    return coupler - q1, math.atan2(ey, ex - 1.4)


@settings(max_examples=40, deadline=None)
@given(st.floats(-math.pi, math.pi), st.sampled_from([1.0, -1.0]))
def test_a_four_bar_closes_on_the_side_of_its_guess(four_bar: Any, q1: float, side: float) -> None:
    q2, q3 = folded(q1, side)
    found = four_bar.assemble([q1, q2 + 0.3, q3 - 0.2], hold=["q1"])
    assert found.gap <= 1e-12
    assert found.q[0] == q1
    assert np.abs(np.exp(1j * found.q) - np.exp(1j * np.array([q1, q2, q3]))).max() < 1e-11


def test_a_batch_closes_as_its_states_do(four_bar: Any) -> None:
    guesses = np.array([[x, 1.0, 2.0] for x in np.linspace(0.0, 1.5, 7)])
    found = four_bar.assemble(guesses, hold=["q1"])
    alone = [four_bar.assemble(guess, hold=["q1"]).q for guess in guesses]
    assert found.gap.shape == (7,)
    assert np.abs(found.q - alone).max() < 1e-12
    assert np.abs(four_bar.closure(found.q)).max() <= 1e-12


def test_held_speeds_stay_and_the_others_follow(four_bar: Any) -> None:
    found = four_bar.assemble({"q1": 1.0}, speeds={"dq1": 2.0}, hold=["q1", "dq1"])
    h = 1e-6
    ahead, behind = (np.array(folded(1.0 + 2.0 * s, 1.0)) for s in (h, -h))
    assert found.v[0] == 2.0
    assert found.v[1:] == pytest.approx((ahead - behind) / (2 * h), rel=1e-8)


def test_free_speeds_become_those_an_impact_leaves(four_bar: Any) -> None:
    found = four_bar.assemble({"q1": 1.0}, speeds={"dq1": 2.0}, hold=["q1"])
    M, A = four_bar.mass_matrix(found.q), four_bar.constraint_jacobian(found.q)
    lost = M @ (found.v - [2.0, 0.0, 0.0])
    assert np.abs(A @ found.v).max() < 1e-13
    assert abs(found.v @ lost) < 1e-13  # the loss is orthogonal to what is allowed


def test_a_wheel_comes_down_to_the_ground_and_rolls() -> None:
    disc = ts.load(EXAMPLES / "rolling_disc" / "rolling_disc.yaml")
    tilt = 0.3
    guess = {"z": 0.5, "qw": math.cos(tilt / 2), "qx": math.sin(tilt / 2)}
    found = ts.assemble(disc, guess, speeds={"wy": 4.0}, hold=["qw", "qx", "qy", "qz", "wy", "wx", "wz"])
    assert found.q[2] == pytest.approx(0.3 * math.cos(tilt), abs=1e-12)
    assert found.v == pytest.approx([1.2, 0.0, 0.0, 0.0, 4.0, 0.0], abs=1e-12)


def with_hinge(turn: float) -> Mechanism:
    """A bar on a hinge along x, tied to the ground by a joint that wants its z axis along the world's."""
    return Mechanism(
        name="flap",
        bodies={
            "arm": {
                "place": {"pose": {"rpy": [0, math.pi / 2, 0]}},
                "joint": {"kind": "revolute", "coordinate": "a", "start": turn},
                "inertia": {"M": 1.0, "ZZ": 1.0},
                "frames": {"eye": {"place": {"pose": {"rpy": [0, -math.pi / 2, 0]}}}},
            }
        },
        loops={"latch": {"joint": "revolute", "between": ["world", "eye"]}},
    )


@pytest.mark.parametrize("turn", [0.4, 1.4, 2.5, 3.1])
def test_a_joint_does_not_close_upside_down(turn: float) -> None:
    found = ts.assemble(with_hinge(turn))
    assert math.cos(found.q[0]) == pytest.approx(1.0, abs=1e-12)


def test_upside_down_is_said_where_there_is_no_other_way() -> None:
    with pytest.raises(ts.NumericalError, match="turned by 180 degrees") as error:
        ts.assemble(with_hinge(3.0), closing=Closing(restarts=0))
    assert "loops.latch" in str(error.value)


def test_a_loop_that_cannot_close_is_named_with_its_gap() -> None:
    apart = ts.build(ts.load(EXAMPLES / "four_bar" / "four_bar.yaml"), parameters={"ground": 4.0})
    with pytest.raises(ts.NumericalError, match="do not close") as error:
        apart.assemble([0.0, 1.0, 2.0])
    assert "loops.pin is open by 0.8 m" in str(error.value)  # 4 - (0.5 + 1.5 + 1.2)


def test_what_is_held_is_said_to_be_in_the_way() -> None:
    long = ts.build(ts.load(EXAMPLES / "four_bar" / "four_bar.yaml"), parameters={"crank": 2.0})
    with pytest.raises(ts.NumericalError, match="it closes when q1 may move"):
        long.assemble([3.0, 1.0, 2.0], hold=["q1"])


def test_states_of_a_batch_that_do_not_close_are_not_numbers() -> None:
    long = ts.build(ts.load(EXAMPLES / "four_bar" / "four_bar.yaml"), parameters={"crank": 2.0})
    found = long.assemble([[3.0, 1.0, 2.0], [0.0, 2.0, 2.5]], hold=["q1"], closing=Closing(restarts=2))
    assert np.isnan(found.q[0]).all()
    assert np.isnan(found.v[0]).all()
    assert found.gap[0] > 0.1
    assert found.gap[1] <= 1e-12
    assert np.isfinite(found.q[1]).all()


def pendulum_with(**constraints: Any) -> Mechanism:
    arm = {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": {"M": 1.0, "ZZ": 1.0}}
    rest = {"joint": {"kind": "revolute", "coordinate": "b"}, "inertia": {"M": 1.0, "ZZ": 1.0}, "parent": "arm"}
    return Mechanism(name="two", bodies={"arm": arm, "rest": rest}, constraints=constraints)


def test_prescribed_motion_is_met_at_its_time() -> None:
    driven = pendulum_with(
        drive={"prescribed": {"coordinate": "a", "equals": "sin(2*t)"}},
        gear={"coupling": {"coordinate": "b", "equals": "3*a"}},
    )
    found = ts.assemble(driven, t=0.2)
    assert found.q == pytest.approx([math.sin(0.4), 3 * math.sin(0.4)], abs=1e-12)
    assert found.v == pytest.approx([2 * math.cos(0.4), 6 * math.cos(0.4)], abs=1e-12)


def test_speeds_that_contradict_each_other_are_named() -> None:
    torn = pendulum_with(
        one={"speeds": {"coefficients": {"da": 1}, "equals": 1}},
        two={"speeds": {"coefficients": {"da": 1}, "equals": 2}},
    )
    with pytest.raises(ts.NumericalError, match="contradict each other") as error:
        ts.assemble(torn)
    assert "one, two" in str(error.value)


def test_rows_say_whose_they_are() -> None:
    model = ts.build(ts.load(EXAMPLES / "rolling_disc" / "rolling_disc.yaml"))
    rows = model.constraint_rows
    assert [row.name for row in rows] == ["ground_height", "ground_ahead", "ground_sideways"]
    assert [row.holonomic for row in rows] == [True, False, False]
    assert {row.owner for row in rows} == {"constraints.ground"}
    assert {row.unit for row in rows} == {"N"}


def test_a_tree_is_assembled_as_it_is() -> None:
    found = ts.assemble(ts.load(EXAMPLES / "planar_2r" / "planar_2r.yaml"), parameters=None)
    assert found.gap == 0.0
    assert found.iterations == 0


@pytest.mark.parametrize(
    ("guess", "hold", "said"),
    [([0.0, 1.0], (), "does not fit"), ({"q9": 1.0}, (), "no such coordinate"), (None, ("q9",), "no such coordinate")],
)
def test_bad_arguments_are_explained(four_bar: Any, guess: Any, hold: Any, said: str) -> None:
    with pytest.raises(ts.ArgumentError, match=said):
        four_bar.assemble(guess, hold=hold)
