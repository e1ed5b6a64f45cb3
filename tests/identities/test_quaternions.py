"""Quaternions of any length stand for the rotation of the unit one along them."""

from __future__ import annotations

import numpy as np
import pytest

from support.evaluated import Evaluated, assert_same
from support.random_mechanisms import BodyPlan, Plan, mechanism_of, state_of
from torseur.describe import Mechanism
from torseur.errors import NumericalError
from torseur.model import build

QUANTITIES = (
    ("inverse_dynamics", "vdot"),
    ("forward_dynamics", "vdot"),
    ("mass_matrix", "q"),
    ("bias", "v"),
    ("kinetic_energy", "v"),
    ("potential_energy", "q"),
    ("momentum", "v"),
    ("inverse_dynamics_derivatives", "vdot"),
)


def stretched(mechanism, q, factor):
    longer = np.array(q)
    for k, x in enumerate(mechanism.q):
        if x.name.endswith("qw"):
            longer[k : k + 4] *= factor
    return longer


@pytest.mark.parametrize(("quantity", "of"), QUANTITIES)
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_the_length_of_a_quaternion_changes_nothing(quantity, of, base):
    bodies = (BodyPlan("spherical", -1), BodyPlan("revolute", 0), BodyPlan("free", 1), BodyPlan("spherical", 2))
    mechanism = mechanism_of(Plan(base, bodies, ("strut", "drag"), seed=4))
    call, s = Evaluated(mechanism), state_of(mechanism, 3)
    given = {"q": (), "v": (s.v,), "vdot": (s.v, s.vdot)}[of]
    one = call(quantity, s.q, *given, t=s.t, u=s.u)
    for factor in (1.03, 0.7, -2.0):
        two = call(quantity, stretched(mechanism, s.q, factor), *given, t=s.t, u=s.u)
        for a, b in zip(
            one if isinstance(one, tuple) else [one], two if isinstance(two, tuple) else [two], strict=True
        ):
            assert_same(a, b, size=10.0, tolerance=1e-9)


def test_poses_and_jacobians_are_rotations_whatever_the_length():
    mechanism = mechanism_of(Plan("floating", (BodyPlan("spherical", -1),), seed=4))
    call, s = Evaluated(mechanism), state_of(mechanism, 3)
    R = call("pose", stretched(mechanism, s.q, 1.3), frame="b0")[:3, :3]
    assert_same(R @ R.T, np.eye(3))
    one = call("jacobian", s.q, frame="b0")
    assert_same(one, call("jacobian", stretched(mechanism, s.q, 1.3), frame="b0"))


def test_a_quaternion_of_no_length_has_no_rotation_and_that_is_an_error():
    ball = {"joint": {"kind": "spherical"}, "inertia": {"M": 1.0, "MX": 1.0, "XX": 1.0, "YY": 1.0, "ZZ": 1.0}}
    model = build(Mechanism.model_validate({"name": "ball", "gravity": (0, 0, -9.81), "bodies": {"ball": ball}}))
    with pytest.raises(NumericalError):
        model.inverse_dynamics(np.zeros(4), np.zeros(3), np.zeros(3))
