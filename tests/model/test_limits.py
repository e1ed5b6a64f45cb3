"""Limits of models: what lies just within one passes, what lies just beyond is refused or told."""

import math

import numpy as np
import pytest

from torseur.describe import Effort, Mechanism, SpringDamper
from torseur.errors import ArgumentError, NumericalError
from torseur.model import build
from torseur.model.equations import equations
from torseur.model.equilibria import Balance
from torseur.model.modes import Mode, Stability, stability_of, table_of


def sliders(masses=(1.0, 1.0), **more) -> Mechanism:
    """Two bodies that slide along one line, coordinates x and y, no gravity."""
    bodies = {
        name: {"joint": {"kind": "prismatic", "coordinate": name}, "inertia": {"M": mass}}
        for name, mass in zip("xy", masses, strict=True)
    }
    return Mechanism.model_validate({"name": "sliders", "gravity": (0.0, 0.0, 0.0), "bodies": bodies, **more})


def coupling(equals: str, coordinate: str = "y") -> dict:
    return {"coupling": {"coordinate": coordinate, "equals": equals}}


# -- stability ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("growth", "fastest", "expected"),
    [
        (2e-7, 0.5, Stability.UNSTABLE),
        (0.5e-7, 0.5, Stability.NEUTRAL),
        (-0.5e-7, 0.5, Stability.NEUTRAL),
        (-2e-7, 0.5, Stability.STABLE),
        (2e-5, 100.0, Stability.UNSTABLE),
        (0.5e-5, 100.0, Stability.NEUTRAL),
    ],
)
def test_growth_below_a_ten_millionth_of_the_fastest_mode_or_of_one_is_none(growth, fastest, expected):
    slow = Mode(complex(growth, 0.1), {"x": 1.0})
    fast = Mode(complex(-fastest, 0.0), {"y": 1.0})
    assert stability_of([slow, fast]) is expected


def test_a_table_of_modes_names_what_moves_by_more_than_a_thousandth():
    text = table_of([Mode(1j, {"x": 1.0, "y": 2e-3, "z": 0.5e-3})])
    assert " y " in text
    assert " z " not in text


# -- linear models -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("gap", "is_allowed"), [(0.5e-7, True), (2e-7, False)])
def test_a_state_is_linearised_where_gaps_are_below_a_ten_millionth(gap, is_allowed):
    model = build(sliders(constraints={"tie": coupling("x")}))
    if is_allowed:
        assert model.linearise((np.array([0.3, 0.3 + gap]), np.zeros(2))).A.shape == (2, 2)
    else:
        with pytest.raises(ArgumentError, match="do not allow this state"):
            model.linearise((np.array([0.3, 0.3 + gap]), np.zeros(2)))


@pytest.mark.parametrize(("push", "is_steady"), [(0.5e-6, True), (2e-6, False)])
def test_a_state_is_steady_where_speeds_change_by_less_than_a_millionth_a_second(push, is_steady):
    found = build(sliders(loads={"push": Effort(coordinate="x", value=push)})).linearise()
    assert found.is_steady == is_steady
    assert ("for an instant only" in found.text()) != is_steady


@pytest.mark.parametrize(("weak", "is_left"), [(2e-14, True), (0.5e-14, False)])
def test_entries_of_a_linear_model_below_rounding_are_zero(weak, is_left):
    loads = {n: SpringDamper(coordinate=n, stiffness=k) for n, k in (("x", 1.0), ("y", weak))}
    A = build(sliders(loads=loads)).linearise().A
    assert sorted(A[A < 0.0]) == pytest.approx([-1.0, -weak] if is_left else [-1.0], rel=1e-12, abs=0.0)


# -- reduced forms -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("ratio", "is_good"), [(0.5e9, True), (2e9, False)])
def test_speeds_a_thousand_million_times_as_fast_are_a_dead_point_of_the_choice(ratio, is_good):
    """y = x^2, so dx = dy / 2x."""
    model = build(sliders(constraints={"cam": coupling("x^2")}))
    reduction, x = model.function("reduction", independent=["dy"]), 0.5 / ratio
    if is_good:
        np.testing.assert_allclose(reduction([x, x * x])[0], [[ratio], [1.0]], rtol=1e-9)
    else:
        with pytest.raises(NumericalError, match="a singular position for this choice"):
            reduction([x, x * x])


# -- closing -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("apart", "closes"), [(1e-12, True), (4e-12, False)])
def test_loops_are_closed_where_gaps_are_below_a_trillionth(apart, closes):
    """Two equations that disagree: half of it is left in each."""
    model = build(sliders(constraints={"one": {"zero": "y - x"}, "other": {"zero": f"y - x - {apart!r}"}}))
    if closes:
        assert np.abs(model.closure(model.assemble().q)).max() <= 1e-12
    else:
        with pytest.raises(NumericalError, match="close"):
            model.assemble()


@pytest.mark.parametrize(("differs", "agree"), [(1e-9, True), (4e-9, False)])
def test_given_speeds_that_differ_by_a_thousand_millionth_contradict_each_other(differs, agree):
    """Half of the difference is left in each."""
    constraints = {
        "one": {"speeds": {"coefficients": {"dx": 1.0}, "equals": 1.0}},
        "other": {"speeds": {"coefficients": {"dx": 1.0}, "equals": 1.0 + differs}},
    }
    found = build(sliders(constraints=constraints)).mobility()
    assert (found.contradictory == ()) == agree


def demanded(coefficients, equals=0.0) -> dict:
    return {"speeds": {"coefficients": coefficients, "equals": equals}}


@pytest.mark.parametrize(("speed", "differs", "agree"), [(1.0, 1e-11, True), (1.0, 4e-11, False), (1e6, 4e-6, False)])
def test_speeds_are_allowed_to_ten_times_what_closing_leaves(speed, differs, agree):
    """Half of the difference is left in each row."""
    rows = {"one": demanded({"dx": 1.0}, speed), "other": demanded({"dx": 1.0}, speed + differs)}
    model = build(sliders(constraints=rows))
    if agree:
        assert model.assemble().v == pytest.approx([speed, 0.0])
    else:
        with pytest.raises(NumericalError, match="no speeds are allowed"):
            model.assemble()


def test_large_speeds_are_allowed_to_their_rounding():
    rows = {"one": demanded({"dx": 1.0}, 1e6), "other": demanded({"dx": 1.0}, 1e6 + 1e-6)}
    assert build(sliders(constraints=rows)).assemble().v == pytest.approx([1e6, 0.0])


@pytest.mark.parametrize(("small", "counts"), [(2e-10, True), (0.5e-10, False)])
def test_a_ten_billionth_of_the_largest_row_counts_for_speeds_without_mass(small, counts):
    bodies = {n: {"joint": {"kind": "prismatic", "coordinate": n}} for n in "xy"}
    rows = {"one": demanded({"dx": 1.0}), "other": demanded({"dy": small}, 1e-9)}
    model = build(Mechanism.model_validate({"name": "points", "bodies": bodies, "constraints": rows}))
    if counts:
        assert model.assemble().v == pytest.approx([0.0, 1e-9 / small])
    else:
        with pytest.raises(NumericalError, match="no speeds are allowed"):
            model.assemble()


@pytest.mark.parametrize(("apart", "is_near"), [(1e-4, True), (4e-4, False)])
def test_loops_nearly_close_where_gaps_are_a_ten_thousandth_of_the_mechanism(apart, is_near):
    model = build(sliders(constraints={"one": {"zero": "y - x"}, "other": {"zero": f"y - x - {apart!r}"}}))
    with pytest.raises(NumericalError, match="nearly close" if is_near else "do not close"):
        model.assemble()


@pytest.mark.parametrize(("mass", "is_massless"), [(2e-12, False), (0.5e-12, True)])
def test_a_motion_with_a_trillionth_of_the_largest_inertia_is_massless(mass, is_massless):
    found = build(sliders((1.0, mass))).mobility()
    assert found.massless == (("dy",) if is_massless else ())


@pytest.mark.parametrize(("mass", "is_singular"), [(2e-12, False), (0.5e-12, True)])
def test_what_is_not_a_number_is_told_by_the_inertia_below_the_same_limit(mass, is_singular):
    nothing = Effort(coordinate="x", value="sqrt(-1 - x^2)")
    model = build(sliders((1.0, mass), loads={"nothing": nothing}))
    with pytest.raises(NumericalError, match="inertia matrix is singular" if is_singular else "is not a number"):
        model.forward_dynamics(np.zeros(2), np.zeros(2), np.zeros(2))


# -- equilibrium -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("weak", "is_felt"), [(2e-9, True), (0.5e-9, False)])
def test_a_thousand_millionth_of_the_largest_stiffness_is_none(weak, is_felt):
    loads = {n: SpringDamper(coordinate=n, stiffness=k) for n, k in (("x", 1.0), ("y", weak))}
    found = build(sliders(loads=loads)).equilibrium()
    assert found.indifferent == (() if is_felt else ("y",))


@pytest.mark.parametrize(("start", "is_balanced"), [(2e-7, True), (5e-7, False)])
def test_forces_balance_to_a_ten_billionth_of_those_that_act(start, is_balanced):
    """A step of Newton's method leaves start^2 of a force x + x^2; small changes measure it by a thousandth."""
    law = Effort(coordinate="x", value="-x - x^2")
    model = build(sliders(loads={"law": law, "hold": SpringDamper(coordinate="y", stiffness=1.0)}))
    if is_balanced:
        assert model.equilibrium({"x": start, "y": 0.0}, balance=Balance(iterations=1)).iterations == 1
    else:
        with pytest.raises(NumericalError, match="no equilibrium"):
            model.equilibrium({"x": start, "y": 0.0}, balance=Balance(iterations=1))


# -- inverse kinematics ------------------------------------------------------------------------------------------------
def one_link() -> Mechanism:
    tip = {"tip": {"place": {"pose": {"position": (1.0, 0.0, 0.0)}}}}
    return Mechanism.model_validate({"name": "link", "bodies": {"arm": {"joint": "revolute", "frames": tip}}})


@pytest.mark.parametrize(("beyond", "is_reached"), [(0.5e-10, True), (2e-10, False)])
def test_a_target_is_reached_to_a_ten_billionth(beyond, is_reached):
    model, target = build(one_link()), (1.0 + beyond) * np.array([math.cos(0.3), math.sin(0.3), 0.0])
    if is_reached:
        assert model.inverse_kinematics(target, "tip").q == pytest.approx([0.3])
    else:
        with pytest.raises(NumericalError):
            model.inverse_kinematics(target, "tip")


@pytest.mark.parametrize(("stretch", "is_pose"), [(0.4e-9, True), (1e-9, False)])
def test_a_target_must_be_a_rotation_to_a_thousand_millionth(stretch, is_pose):
    model = build(one_link())
    target = model.pose([0.3], "tip")
    target[:3, :3] *= 1.0 + stretch
    if is_pose:
        assert model.inverse_kinematics(target, "tip").q == pytest.approx([0.3])
    else:
        with pytest.raises(ArgumentError, match="not a pose"):
            model.inverse_kinematics(target, "tip")


# -- equations for people ----------------------------------------------------------------------------------------------
def gravity_of_a_pendulum(**inertia) -> str:
    pytest.importorskip("sympy")
    body = {"joint": {"kind": "revolute", "coordinate": "q"}, "inertia": {"ZZ": 1.0, "M": 1.0, **inertia}}
    content = {"name": "pendulum", "gravity": (0.0, -1.0, 0.0), "parameters": {"L": {"value": 1.0}}}
    return equations(Mechanism.model_validate({**content, "bodies": {"bob": body}}), "gravity").closed().text()


ALL_DIGITS = 2.0**0.5  # what somebody wrote has few digits and stays, however small


@pytest.mark.parametrize(
    ("side", "is_written"), [(1e-13 * ALL_DIGITS, True), (0.5e-13 * ALL_DIGITS, False), (0.5e-13, True)]
)
def test_a_ten_trillionth_of_the_largest_term_is_not_written_if_it_has_all_digits(side, is_written):
    assert ("sin(q)" in gravity_of_a_pendulum(MX=1.0, MY=side)) == is_written


@pytest.mark.parametrize(("parts", "is_fraction"), [(48, True), (49, False)])
def test_fractions_of_up_to_forty_eight_parts_are_written_as_fractions(parts, is_fraction):
    assert (f"1/{parts}*L" in gravity_of_a_pendulum(MX=f"L/{parts}")) == is_fraction
