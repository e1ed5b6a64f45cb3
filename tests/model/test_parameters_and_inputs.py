"""Parameters and inputs of a model: given when building or in a call, by name or in arrays; wrong ones are refused."""

import numpy as np
import pytest

from support.evaluated import assert_same
from support.two_joint_arm import ARM, arm, expected
from support.two_joint_arm import STATE as S
from torseur.errors import ArgumentError, ModelError
from torseur.model import build

MODEL = build(ARM)


def test_parameters_may_be_given_when_building():
    heavy = build(ARM, parameters={"M1": 7.0, "L": 0.8})
    changed = arm(parameters={**dict(ARM.parameters), "M1": {"value": 7.0}, "L": {"value": 0.8}})
    assert_same(heavy.inverse_dynamics(S.q, S.v, S.vdot), expected(mechanism=changed))


def test_parameters_may_be_given_in_a_call_by_name_or_all_in_an_array():
    changed = arm(parameters={**dict(ARM.parameters), "M1": {"value": 7.0}})
    wanted = expected(mechanism=changed)
    assert MODEL.free_parameters == ["L", "M1", "K"]
    assert_same(MODEL.inverse_dynamics(S.q, S.v, S.vdot, parameters={"M1": 7.0}), wanted)
    assert_same(MODEL.inverse_dynamics(S.q, S.v, S.vdot, parameters=[0.5, 7.0, 3.0]), wanted)
    assert_same(MODEL.inverse_dynamics(S.q, S.v, S.vdot), expected())  # and the model has not changed


def test_parameters_may_vary_from_row_to_row():
    masses = np.array([1.0, 2.0, 5.0])
    rows = MODEL.inverse_dynamics(S.q, S.v, S.vdot, parameters={"M1": masses})
    one_by_one = [MODEL.inverse_dynamics(S.q, S.v, S.vdot, parameters={"M1": m}) for m in masses]
    assert_same(rows, one_by_one, tolerance=1e-14)
    grid = MODEL.inverse_dynamics(S.q, S.v, S.vdot, parameters={"M1": masses[:, None], "K": np.array([0.0, 9.0])})
    assert grid.shape == (3, 2, 2)


def test_inputs_and_time_by_name_and_in_arrays():
    wanted = expected(t=0.7, u=[2.0, 0.1])
    assert_same(MODEL.inverse_dynamics(S.q, S.v, S.vdot, t=0.7, inputs={"pull": 2.0}), wanted)
    assert_same(MODEL.inverse_dynamics(S.q, S.v, S.vdot, t=0.7, inputs=[2.0, 0.1]), wanted)
    several = MODEL.inverse_dynamics(S.q, S.v, S.vdot, t=np.array([0.0, 0.7]), inputs={"pull": np.array([0.5, 2.0])})
    assert_same(several, [expected(), wanted])


def test_what_a_quantity_does_not_depend_on_may_be_given_all_the_same():
    assert_same(MODEL.mass_matrix(S.q, t=3.0, inputs={"pull": 1.0}), MODEL.mass_matrix(S.q), tolerance=1e-15)


def test_a_parameter_that_follows_from_others_follows():
    double = build(ARM, parameters={"L": 1.0}).mass_matrix(S.q)[0, 0]
    assert double > MODEL.mass_matrix(S.q)[0, 0]
    with pytest.raises(ArgumentError, match="are formulas of others") as error:
        build(ARM, parameters={"I1": 3.0})
    assert "I1" in str(error.value)


def test_every_parameter_without_a_value_is_named():
    bare = arm(parameters={"L": {}, "M1": {}, "I1": {"value": "M1*L^2/3"}, "K": {"value": 1.0}})
    model = build(bare)
    with pytest.raises(ModelError, match="2 parameters have no value") as error:
        model.inverse_dynamics(S.q, S.v, S.vdot)
    assert error.value.got == "L, M1"
    with pytest.raises(ModelError) as error:  # those that the call gives are not missing
        model.inverse_dynamics(S.q, S.v, S.vdot, parameters={"L": 0.5})
    assert error.value.got == "M1"
    full = model.inverse_dynamics(S.q, S.v, S.vdot, parameters={"L": 0.5, "M1": 2.0})
    assert_same(full, expected(mechanism=arm(parameters={**dict(ARM.parameters), "K": {"value": 1.0}})))
    assert_same(build(bare, parameters={"L": 0.5, "M1": 2.0}).inverse_dynamics(S.q, S.v, S.vdot), full)


@pytest.mark.parametrize("quantity", ["bias", "mass_matrix"])
@pytest.mark.parametrize(("word", "name", "near"), [("parameters", "m1", "M1"), ("inputs", "pul", "pull")])
def test_unknown_names_are_refused_with_the_nearest_one_even_where_none_is_needed(quantity, word, name, near):
    args = (S.q, S.v) if quantity == "bias" else (S.q,)
    with pytest.raises(ArgumentError, match=f"no such {word}") as error:
        getattr(MODEL, quantity)(*args, **{word: {name: 1.0}})
    assert f"did you mean {near}?" in str(error.value)


def test_unknown_parameters_are_refused_when_building():
    with pytest.raises(ArgumentError, match="no such parameters") as error:
        build(ARM, parameters={"Mass": 1.0, "M1": 2.0})
    assert "Mass" in str(error.value)


@pytest.mark.parametrize("value", ["heavy", "2*3", None, [1.0, 2.0], float("nan"), float("inf"), 1j], ids=repr)
def test_values_that_no_parameter_can_have_are_refused(value):
    with pytest.raises(ArgumentError) as error:
        build(ARM, parameters={"M1": value})
    assert "M1" in str(error.value)


@pytest.mark.parametrize("value", ["heavy", 1j], ids=repr)
def test_what_is_no_number_is_refused_in_a_call(value):
    with pytest.raises(ArgumentError, match="not a number") as error:
        MODEL.mass_matrix(S.q, parameters={"M1": value})
    assert "M1" in str(error.value)


def test_parameters_are_given_by_name_and_models_are_built_from_descriptions():
    with pytest.raises(ArgumentError, match="by name"):
        build(ARM, parameters=[1.0, 2.0])
    with pytest.raises(ArgumentError, match="only a description") as error:
        build("arm.yaml")
    assert "load" in error.value.remedy
