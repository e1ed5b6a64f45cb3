"""Limits of a start: each holds just within its number and not just beyond it; the numbers are written out."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.describe import Mechanism
from torseur.errors import NumericalError
from torseur.model import build
from torseur.simulation.start.first_state import Start
from torseur.simulation.start.report import check_rest, start_facts, start_lines, still_held

CARTS = Mechanism(
    name="carts",
    gravity=(0, 0, 0),
    bodies={
        "one": {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}},
        "two": {"joint": {"kind": "prismatic", "coordinate": "y"}, "inertia": {"M": 1.0}},
    },
    constraints={"tied": {"coupling": {"coordinate": "y", "equals": "x"}}},
)


def begun(**study):
    return ts.Simulation(ts.Study(model=CARTS, until=1.0, **study)).begun()


# -- as given ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("off", "allowed"), [({"y": 0.5e-9}, True), ({"y": 2e-9}, False), ({"dy": 0.5e-9}, True), ({"dy": 2e-9}, False)]
)
def test_a_given_start_may_be_open_by_a_nanometre(off, allowed):
    if allowed:
        x, _, _ = begun(start=off, start_from="given")
        assert next(iter(off.values())) in x
        return
    with pytest.raises(NumericalError, match="do not allow the start that is given"):
        begun(start=off, start_from="given")


def test_rates_of_a_given_start_count_beside_the_largest_speed():
    begun(start={"dx": 100.0, "dy": 100.0 + 0.5e-7}, start_from="given")
    with pytest.raises(NumericalError, match="moves with"):
        begun(start={"dx": 100.0, "dy": 100.0 + 2e-7}, start_from="given")


@pytest.mark.parametrize(("length", "allowed"), [(1.0 + 0.5e-9, True), (1.0 + 2e-9, False)])
def test_a_quaternion_that_is_given_has_length_one_to_a_billionth(length, allowed):
    body = {"joint": {"kind": "spherical"}, "inertia": {"M": 1.0, "XX": 1.0, "YY": 1.0, "ZZ": 1.0}}
    top = Mechanism(name="top", bodies={"top": body})
    study = ts.Study(model=top, until=1.0, start={top.q[0].name: length}, start_from="given")
    if allowed:
        ts.Simulation(study).begun()
        return
    with pytest.raises(NumericalError, match="has length"):
        ts.Simulation(study).begun()


# -- assembled ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("y", "stays"), [(0.1235, False), (0.12349999, True)])
def test_numbers_of_four_digits_are_rounded_and_may_move_within_their_last_one(y, stays):
    """x = 0.1234 is off by one in its last digit: both move where both are coarse, else the coarser one."""
    _, _, start = begun(start={"x": 0.1234, "y": y})
    q = dict(zip(("x", "y"), start.q, strict=True))
    assert q["x"] == pytest.approx(q["y"], abs=1e-12)
    assert bool(q["y"] == y) is stays


def test_numbers_of_three_digits_are_meant_exactly():
    with pytest.raises(NumericalError, match="contradict each other"):
        begun(start={"x": 0.123, "y": 0.124})


@pytest.mark.parametrize(("off", "allowed"), [(1.5e-8, True), (5e-8, False)])
def test_what_a_computation_left_may_be_off_by_a_hundred_millionth(off, allowed):
    """Of the size of the values, and each of the two moves: they are those of an earlier run, with many digits."""
    values = {"x": 1.0123456789012345, "y": 1.0123456789012345 + off}
    if allowed:
        _, _, start = begun(start=values)
        assert start.q[0] == pytest.approx(start.q[1], abs=1e-12)
        return
    with pytest.raises(NumericalError, match="contradict each other"):
        begun(start=values)


# -- at rest -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("vdot", "rests"), [(0.5e-6, True), (2e-6, False)])
def test_a_start_at_rest_accelerates_by_a_micrometre_a_second_squared_at_most(vdot, rests):
    cart = Mechanism(
        name="cart",
        gravity=(0, 0, 0),
        bodies={"cart": {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}},
    )
    if rests:
        check_rest(build(cart), np.zeros(1), np.array([vdot]), t=0.0)
        return
    with pytest.raises(NumericalError, match="not at rest"):
        check_rest(build(cart), np.zeros(1), np.array([vdot]), t=0.0)


@pytest.mark.parametrize(("share", "rests"), [(0.5e-6, True), (2e-6, False)])
def test_or_by_a_millionth_of_its_weight(share, rests):
    lift = Mechanism(
        name="lift", bodies={"lift": {"joint": {"kind": "prismatic", "coordinate": "z"}, "inertia": {"M": 1e6}}}
    )
    vdot = np.array([share * 9.81])
    if rests:
        check_rest(build(lift), np.zeros(1), vdot, t=0.0)
        return
    with pytest.raises(NumericalError, match="not at rest"):
        check_rest(build(lift), np.zeros(1), vdot, t=0.0)


# -- what is told ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("off", "moved"), [(0.5e-9, {}), (2e-9, {"x": 1.0})])
def test_a_move_of_a_billionth_is_none(off, moved):
    start = Start(np.ones(1), np.zeros(1), ("x",), {"x": 1.0})
    facts = start_facts(start, "assembled", ["x", "dx"], np.array([1.0 + off, 0.0]))
    assert facts["moved"] == moved
    assert facts["held"] == [n for n in ("x",) if n not in moved]


@pytest.mark.parametrize(("value", "line"), [(0.5e-12, "  others: 1 at 0"), (2e-12, "  others: x = 2e-12")])
def test_less_than_a_trillionth_is_shown_as_zero(value, line):
    facts = {"from": "assembled", "values": {"x": value}, "held": [], "moved": {}, "stability": None}
    assert start_lines(facts)[1] == line


@pytest.mark.parametrize(("off", "held"), [(0.5e-8, True), (2e-8, False)])
def test_what_is_held_may_change_by_a_hundred_millionth_when_contacts_settle(off, held):
    start = Start(np.ones(1), np.zeros(1), ("x",), {"x": 1.0})
    before, after = np.array([1.0, 0.0]), np.array([1.0 + off, 0.0])
    if held:
        assert still_held(start, ["x", "dx"], before, after)[0] == 1.0
        return
    with pytest.raises(NumericalError, match="do not allow this start"):
        still_held(start, ["x", "dx"], before, after)


@pytest.mark.parametrize(("x", "allowed"), [(7e-6, True), (2.2e-5, False)])
def test_the_square_of_a_quaternion_that_is_held_is_one_to_a_ten_billionth(x, allowed):
    body = {"joint": {"kind": "spherical"}, "inertia": {"M": 1.0, "XX": 1.0, "YY": 1.0, "ZZ": 1.0}}
    top = Mechanism(name="top", bodies={"top": body})
    start = dict(zip((variable.name for variable in top.q), (1.0, x, 0.0, 0.0), strict=True))
    simulation = ts.Simulation(ts.Study(model=top, until=1.0, start=start))
    if allowed:
        assert set(start) <= set(simulation.begun()[2].held)
        return
    with pytest.raises(NumericalError, match="contradict each other"):
        simulation.begun()
