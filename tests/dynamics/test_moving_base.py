"""A base whose motion is given in time is a chain of joints whose motion is known."""

import math

import numpy as np
import pytest

from support.evaluated import Evaluated, assert_same
from support.plain import Plain
from support.random_mechanisms import BodyPlan, Plan, mechanism_of, state_of
from torseur.describe import BASE
from torseur.errors import ModelError

ARM = mechanism_of(
    Plan(
        "fixed",
        (BodyPlan("revolute", -1, "rpy", has_frame=True), BodyPlan("spherical", 0), BodyPlan("prismatic", 0)),
        seed=3,
    )
)
# Along x, about z, then along y: each with the value, rate and second rate of its formula at t.
STEPS = (("tx", "0.3*sin(2*t)"), ("rz", "0.4 + 0.5*t^2"), ("ty", "0.2*t"))


def given(t):
    x = 0.3 * math.sin(2 * t), 0.6 * math.cos(2 * t), -1.2 * math.sin(2 * t)
    z = 0.4 + 0.5 * t**2, t, 1.0
    y = 0.2 * t, 0.2, 0.0
    return np.array([x, z, y]).T


def variant(**base):
    return type(ARM).model_validate({**dict(ARM), "name": "driven", "base": base})


MOVING = variant(kind="moving", place={"steps": [{step: text} for step, text in STEPS]}, inertia={"M": 3.0, "ZZ": 1.0})


def carried():
    """The same arm on three joints, each turned so that its axis is z."""
    bodies = {
        "rail": {"place": {"steps": [{"ry": "pi/2"}]}, "joint": {"kind": "prismatic", "coordinate": "x"}},
        "table": {
            "parent": "rail",
            "place": {"steps": [{"ry": "-pi/2"}]},
            "joint": {"kind": "revolute", "coordinate": "z"},
        },
        "slide": {
            "parent": "table",
            "place": {"steps": [{"rx": "-pi/2"}]},
            "joint": {"kind": "prismatic", "coordinate": "y"},
        },
        "stand": {"parent": "slide", "place": {"steps": [{"rx": "pi/2"}]}},
    }
    rest = {n: b.model_copy(update={"parent": "stand"}) if b.parent == BASE else b for n, b in ARM.bodies.items()}
    return type(ARM).model_validate({"name": "carried", "bodies": {**bodies, **rest}, "gravity": ARM.gravity})


@pytest.mark.parametrize("base_parameters", [False, True])
@pytest.mark.parametrize("t", [0.0, 0.7])
def test_the_forces_on_the_joints_are_those_on_a_driven_chain(t, base_parameters):
    s, (q0, v0, a0) = state_of(MOVING, 1), given(t)
    moving, chain = (Evaluated(m, base_parameters=base_parameters) for m in (MOVING, carried()))
    whole = np.concatenate([q0, s.q]), np.concatenate([v0, s.v]), np.concatenate([a0, s.vdot])
    tau = chain("inverse_dynamics", *whole)
    assert_same(moving("inverse_dynamics", s.q, s.v, s.vdot, t=t), tau[3:])
    assert_same(moving("forward_dynamics", s.q, s.v, tau[3:], t=t), s.vdot, tolerance=1e-9)
    assert_same(moving("mass_matrix", s.q, t=t), chain("mass_matrix", whole[0])[3:, 3:])
    for frame in ("b1", "f0"):
        assert_same(moving("pose", s.q, t=t, frame=frame), chain("pose", whole[0], frame=frame))
        assert_same(moving("velocity", s.q, s.v, t=t, frame=frame), chain("velocity", *whole[:2], frame=frame))
        assert_same(
            moving("acceleration", s.q, s.v, s.vdot, t=t, frame=frame), chain("acceleration", *whole, frame=frame)
        )


def test_energies_of_what_is_carried_are_those_of_the_chain():
    t = 0.7
    s, (q0, v0, _) = state_of(MOVING, 2), given(t)
    massless = variant(kind="moving", place=MOVING.base.place)
    q, v = np.concatenate([q0, s.q]), np.concatenate([v0, s.v])
    moving, chain = Evaluated(massless), Evaluated(carried())
    assert_same(moving("kinetic_energy", s.q, s.v, t=t), chain("kinetic_energy", q, v))
    assert_same(moving("potential_energy", s.q, t=t), chain("potential_energy", q))
    assert_same(moving("momentum", s.q, s.v, t=t), chain("momentum", q, v))


def test_derivatives_on_a_moving_base_are_limits_of_differences():
    s, t, step = state_of(MOVING, 3), 0.3, 1e-6
    ours, plain = Evaluated(MOVING), Plain(ARM)
    by_q, by_v = ours("inverse_dynamics_derivatives", s.q, s.v, s.vdot, t=t)
    for k, e in enumerate(np.eye(len(s.v))):
        ahead, behind = (ours("inverse_dynamics", plain.moved(s.q, e, h), s.v, s.vdot, t=t) for h in (step, -step))
        assert_same(by_q[:, k], (ahead - behind) / (2 * step), tolerance=1e-6)
        ahead, behind = (ours("inverse_dynamics", s.q, s.v + h * e, s.vdot, t=t) for h in (step, -step))
        assert_same(by_v[:, k], (ahead - behind) / (2 * step), tolerance=1e-6)


def test_a_base_steered_by_inputs_is_refused_because_inputs_have_no_rates():
    steered = type(ARM).model_validate(
        {**dict(ARM), "inputs": {"way": {}}, "base": {"kind": "moving", "place": {"steps": [{"tx": "way"}]}}}
    )
    with pytest.raises(ModelError, match="inputs have no rates"):
        Evaluated(steered).function("inverse_dynamics")


def test_a_base_that_is_called_fixed_and_moves_in_time_is_refused():
    with pytest.raises(ModelError, match="moving"):
        Evaluated(variant(kind="fixed", place=MOVING.base.place)).function("inverse_dynamics")
