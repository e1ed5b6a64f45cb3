"""What a model says when arguments, states or descriptions are wrong, and where masses are missing."""

import numpy as np
import pytest

from support.evaluated import assert_same
from support.two_joint_arm import ARM, arm, expected
from support.two_joint_arm import STATE as S
from torseur.describe import Mechanism, SpringDamper, Transmission
from torseur.errors import ArgumentError, ModelError, NumericalError
from torseur.model import build

MODEL = build(ARM)


# -- what is wrong is said ---------------------------------------------------------------------------------------------
def test_an_unknown_frame_is_refused_with_near_names():
    with pytest.raises(ArgumentError, match="no frame 'tol'") as error:
        MODEL.pose(S.q, "tol")
    assert "did you mean tool?" in str(error.value)
    assert "upper" in error.value.expected


def test_an_unknown_quantity_is_refused():
    with pytest.raises(ArgumentError, match="no quantity 'inertia'"):
        MODEL.function("inertia")


@pytest.mark.parametrize(
    ("args", "got"),
    [
        ((np.zeros(3), S.v, S.vdot), "q: shape (3,)"),
        ((S.q, np.zeros((4, 3)), S.vdot), "v: shape (4, 3)"),
        ((np.zeros((2, 2)), np.zeros((3, 2)), S.vdot), "batches that do not fit together"),
        ((S.q, S.v), "'vdot' missing"),
        ((S.q, S.v, S.vdot, S.q), "4 positional arguments"),
        ((), "'q' missing"),
        ((S.q, S.v, ["a", "b"]), "expected real numbers"),
        ((S.q + 1j, S.v, S.vdot), "complex"),
        ((S.q[0], S.v, S.vdot), "q: shape ()"),
    ],
)
def test_wrong_arguments_are_named(args, got):
    for _ in range(2):
        with pytest.raises(ArgumentError) as error:
            MODEL.inverse_dynamics(*args)
        assert got in str(error.value)
        with pytest.raises(ArgumentError) as error:
            MODEL.inverse_dynamics(*args, t=0.5)
        assert got in str(error.value) or "arguments" in str(error.value)


def test_a_description_that_makes_no_sense_is_refused_with_all_its_faults():
    broken = arm(gravity=(0.0, "g", 0.0), loads={"spring": SpringDamper(coordinate="q9", stiffness="K9")})
    with pytest.raises(ModelError) as error:
        build(broken).inverse_dynamics(S.q, S.v, S.vdot)
    text = str(error.value)
    assert "'g'" in text
    assert "'q9'" in text
    assert "'K9'" in text


def test_a_mechanism_that_cannot_move_says_so():
    model, nothing = build(Mechanism(name="rock", bodies={"stone": {"inertia": {"M": 5.0}}})), np.zeros(0)
    for quantity, of in (("inverse_dynamics", 3), ("mass_matrix", 1), ("forward_dynamics", 3), ("bias", 2)):
        with pytest.raises(ModelError, match="nothing can move"):
            getattr(model, quantity)(*[nothing] * of)
    assert model.kinetic_energy(nothing, nothing) == 0.0
    assert model.pose(nothing, "stone").shape == (4, 4)


def test_a_place_may_depend_on_coordinates_or_have_a_joint_but_not_both():
    lower = {"parent": "upper", "place": {"mdh": {"d": "0.1*q1"}}, "inertia": {"mass": 1.0}}
    formula = arm(bodies={"upper": ARM.bodies["upper"], "lower": lower}, loads={})
    alone = arm(bodies={"upper": ARM.bodies["upper"]}, loads={})
    # a point of 1 kg at 0.1 q1 from the axis: it turns and slides
    assert_same(build(formula).mass_matrix([0.3]), build(alone).mass_matrix([0.3]) + (0.1 * 0.3) ** 2 + 0.1**2)
    both = arm(bodies={"upper": ARM.bodies["upper"], "lower": {**lower, "joint": "revolute"}}, loads={})
    with pytest.raises(ModelError, match="free-form"):
        build(both).mass_matrix(np.zeros(2))


def test_not_a_number_is_an_error_for_one_state_and_stays_in_its_row_of_a_batch():
    bad = np.array([0.3, np.nan])
    for _ in range(2):
        with pytest.raises(NumericalError, match="finite numbers") as error:
            MODEL.inverse_dynamics(S.q, bad, S.vdot)
        assert "dq2 = nan" in str(error.value)
    rows = MODEL.inverse_dynamics(S.q, np.array([S.v, bad, S.v, S.v, S.v]), S.vdot)
    assert np.isnan(rows[1]).any()
    assert_same(rows[[0, 2, 3, 4]], np.tile(expected(), (4, 1)))


# -- masses that are missing -------------------------------------------------------------------------------------------
THIN = {
    "none": None,
    "a mass on the axis": {"M": 1.0, "MZ": 0.3},
    "a thin rod on the axis": {"mass": 1.0, "centre": (0.0, 0.0, 0.2), "tensor": {"xx": 0.1, "yy": 0.1}},
}


@pytest.mark.parametrize("inertia", THIN.values(), ids=THIN)
@pytest.mark.parametrize("quantity", ["forward_dynamics", "forward_dynamics_derivatives"])
@pytest.mark.parametrize("joints", [1, 11])
def test_a_tip_without_the_inertia_it_feels_is_refused_by_name(inertia, quantity, joints):
    bodies, parent = {}, "base"
    for k in range(joints):
        place = {"mdh": {"d": 0.1, "alpha": 1.0}}
        bodies[f"b{k}"] = {
            "parent": parent,
            "place": place,
            "joint": "revolute",
            "inertia": {"M": 1.0, "ZZ": 1.0, "XX": 1.0, "YY": 1.0},
        }
        parent = f"b{k}"
    bodies["tip"] = {"parent": parent, "place": {"mdh": {"alpha": 0.7}}, "joint": "revolute", "inertia": inertia}
    mechanism = Mechanism.model_validate({"name": "thin", "bodies": bodies})
    model, zero = build(mechanism), np.zeros(joints + 1)
    with pytest.raises(ModelError, match="dq_tip moves no mass") as error:
        getattr(model, quantity)(zero, zero, zero)
    assert error.value.where == "bodies.tip"
    driven = mechanism.model_copy(update={"loads": {"drive": Transmission(coordinate="q_tip", inertia=0.1)}})
    assert np.all(np.isfinite(build(driven).forward_dynamics(zero, zero, zero)))


def test_a_tip_whose_inertia_is_a_parameter_of_value_zero_is_named_when_it_is_called():
    bodies = {**dict(ARM.bodies), "tip": {"parent": "lower", "joint": "revolute", "inertia": {"ZZ": "J"}}}
    mechanism = arm(bodies=bodies, parameters={**dict(ARM.parameters), "J": {"value": 0.0}})
    model, zero = build(mechanism), np.zeros(3)
    for _ in range(2):
        with pytest.raises(NumericalError, match="singular") as error:
            model.forward_dynamics(zero, zero, np.ones(3))
        assert "dq_tip" in str(error.value)
    assert np.all(np.isfinite(model.forward_dynamics(zero, zero, np.ones(3), parameters={"J": 0.1})))
    with pytest.raises(NumericalError, match="singular"):
        build(mechanism, parameters={"J": 1.0}).forward_dynamics(zero, zero, np.ones(3), parameters={"J": 0.0})


def test_a_singular_state_is_an_error_for_one_state_and_not_a_number_in_its_row_of_a_batch():
    """Two axes in line with nothing between them: singular where the middle joint is straight, and only there."""
    spin = {"joint": "revolute"}
    body = {"M": 1.0, "XX": 0.3, "YY": 0.4, "ZZ": 0.5}
    bodies = {
        "a": {**spin},
        "b": {**spin, "parent": "a", "place": {"mdh": {"alpha": "pi/2"}}},
        "c": {**spin, "parent": "b", "place": {"mdh": {"alpha": "-pi/2"}}, "inertia": body},
    }
    model = build(Mechanism.model_validate({"name": "wrist", "bodies": bodies}))
    bent, straight, zero = np.array([0.0, 0.7, 0.0]), np.zeros(3), np.zeros(3)
    assert np.all(np.isfinite(model.forward_dynamics(bent, zero, np.ones(3))))
    with pytest.raises(NumericalError, match="singular") as error:
        model.forward_dynamics(straight, zero, np.ones(3))
    assert "dq_a" in str(error.value)
    assert "dq_c" in str(error.value)
    rows = model.forward_dynamics(np.array([bent, straight, bent]), zero, np.ones(3))
    assert not np.isfinite(rows[1]).all()
    assert np.isfinite(rows[[0, 2]]).all()
