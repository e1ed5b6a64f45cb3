"""Every quantity of a mechanism is that of its point masses under Newton's law (`support.plain`)."""

import numpy as np
import pytest
from hypothesis import given, settings

from support.evaluated import Evaluated, assert_same
from support.plain import Plain
from support.random_mechanisms import (
    BASES,
    LOAD_FORMS,
    MOVING,
    BodyPlan,
    Plan,
    mechanism_of,
    plans,
    random_plan,
    state_of,
)
from support.sweeps import mostly_slow
from torseur.describe import Motor


def assert_all_as_point_masses(mechanism, seed=0, *, base_parameters=True):
    ours, plain, s = Evaluated(mechanism, base_parameters=base_parameters), Plain(mechanism), state_of(mechanism, seed)
    expected = plain.inverse_dynamics(s.q, s.v, s.vdot, s.t, s.u)
    assert_same(ours("inverse_dynamics", s.q, s.v, s.vdot, t=s.t, u=s.u), expected)
    assert_same(ours("bias", s.q, s.v, t=s.t, u=s.u), plain.inverse_dynamics(s.q, s.v, 0 * s.v, s.t, s.u))
    assert_same(ours("mass_matrix", s.q), plain.mass_matrix(s.q))
    assert_same(ours("kinetic_energy", s.q, s.v), plain.kinetic_energy(s.q, s.v))
    assert_same(ours("potential_energy", s.q), plain.potential_energy(s.q))
    assert_same(ours("momentum", s.q, s.v), plain.momentum(s.q, s.v))
    assert_same(ours("centre_of_mass", s.q), plain.centre_of_mass(s.q))
    assert_same(ours("rates", s.q, s.v), plain.rates(s.q, s.v))


@given(plan=plans(loads=LOAD_FORMS, max_loads=4))
@settings(max_examples=13)
def test_random_mechanisms_move_as_their_point_masses(plan):
    assert_all_as_point_masses(mechanism_of(plan), plan.seed % 1000, base_parameters=plan.seed % 2 == 0)


@pytest.mark.parametrize("kind", MOVING)
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_every_joint_kind_in_the_middle_of_a_chain(kind, base):
    chain = (BodyPlan("revolute", -1), BodyPlan(kind, 0, "rpy"), BodyPlan("revolute", 1, "dh", "central"))
    assert_all_as_point_masses(mechanism_of(Plan(base, chain, symbols=True, seed=7)))


@pytest.mark.slow
@pytest.mark.parametrize("form", LOAD_FORMS)
@pytest.mark.parametrize("base", BASES)
def test_every_load_on_every_base(form, base):
    bodies = (BodyPlan("revolute", -1, "mdh", has_frame=True), BodyPlan("cylindrical", 0, "rpy"), BodyPlan("screw", 0))
    mechanism = mechanism_of(Plan(base, bodies, (form, form), symbols=True, seed=11))
    assert mechanism.loads
    ours, plain, s = Evaluated(mechanism), Plain(mechanism), state_of(mechanism, 3)
    expected = plain.inverse_dynamics(s.q, s.v, s.vdot, s.t, s.u)
    without = Evaluated(mechanism.model_copy(update={"loads": {}}))("inverse_dynamics", s.q, s.v, s.vdot)
    assert_same(ours("inverse_dynamics", s.q, s.v, s.vdot, t=s.t, u=s.u), expected)
    assert np.max(np.abs(expected - without)) > 1e-3, "the load does nothing: the test shows nothing"


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("carrier", ["world", "base", "b0", "b1", "b2", "b3"])
def test_a_rotor_may_sit_anywhere(carrier, base):
    """Before the joint it drives (b1's), on the body that joint moves, beyond it, on another branch, on the ground."""
    bodies = (
        BodyPlan("revolute", -1, "rpy"),
        BodyPlan("revolute", 0, "rpy"),
        BodyPlan("revolute", 1),
        BodyPlan("screw", 0),
    )
    mechanism = mechanism_of(Plan(base, bodies, seed=13))
    motor = Motor(coordinate="q_b1", carrier=carrier, axis=(1.0, 2.0, -1.0), ratio=4.0, inertia=0.01)
    driven = mechanism.model_copy(update={"loads": {"motor": motor}})
    assert_all_as_point_masses(driven, 3)
    ours, s = Evaluated(driven), state_of(driven, 3)
    tau = ours("inverse_dynamics", s.q, s.v, s.vdot)
    assert_same(ours("forward_dynamics", s.q, s.v, tau), s.vdot, tolerance=1e-9)


@pytest.mark.parametrize("serial", mostly_slow([0.0, 0.5, 1.0], quick=(0.5,)), ids=["bush", "tree", "chain"])
def test_forty_joints_of_every_kind(serial):
    rng = np.random.default_rng(40 + int(10 * serial))
    plan = random_plan(rng, 40, base="floating", kinds=MOVING, loads=6, serial=serial)
    mechanism = mechanism_of(plan)
    assert {body.joint.kind for body in mechanism.bodies.values()} == set(MOVING)
    ours, plain, s = Evaluated(mechanism), Plain(mechanism), state_of(mechanism, 1, size=0.3)
    expected = plain.inverse_dynamics(s.q, s.v, s.vdot, s.t, s.u)
    assert_same(ours("inverse_dynamics", s.q, s.v, s.vdot, t=s.t, u=s.u), expected)
    assert_same(ours("mass_matrix", s.q), plain.mass_matrix(s.q))
    assert_same(ours("momentum", s.q, s.v), plain.momentum(s.q, s.v))


@given(plan=plans(min_bodies=2))
@settings(max_examples=8)
def test_frames_move_as_differentiated_poses_say(plan):
    mechanism = mechanism_of(plan)
    ours, plain, s = Evaluated(mechanism), Plain(mechanism), state_of(mechanism, plan.seed % 1000)
    moving = plain.motion(s.q, s.v, s.vdot)
    for frame in list(mechanism.frames)[-3:]:
        J = plain.jacobian(s.q, frame)
        assert_same(ours("pose", s.q, frame=frame), moving[frame].T)
        assert_same(ours("jacobian", s.q, frame=frame), J)
        assert_same(ours("velocity", s.q, s.v, frame=frame), J @ s.v)
        assert_same(ours("acceleration", s.q, s.v, s.vdot, frame=frame), plain.acceleration(s.q, s.v, s.vdot, frame))
