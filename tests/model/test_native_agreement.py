"""A model's native functions are the reference evaluator's, for one state and for batches."""

import numpy as np
import pytest

from support.evaluated import Evaluated, assert_same
from support.random_mechanisms import BodyPlan, Plan, mechanism_of, random_plan, state_of
from support.two_joint_arm import ARM
from support.two_joint_arm import STATE as S
from torseur.model import build

MODEL = build(ARM)
REFERENCE = Evaluated(ARM)


@pytest.mark.parametrize(
    "plan",
    [
        Plan(
            "fixed",
            (BodyPlan("revolute", -1), BodyPlan("universal", 0), BodyPlan("screw", 1, "dh")),
            ("spring", "motor", "drag"),
            True,
        ),
        Plan(
            "floating",
            (BodyPlan("spherical", -1), BodyPlan("prismatic", 0, "rpy")),
            ("strut", "far_motor", "wrench"),
            True,
            seed=1,
        ),
        Plan(
            "planar",
            (BodyPlan("cylindrical", -1), BodyPlan("fixed", 0)),
            ("friction", "combination", "world_wrench"),
            False,
            True,
            3,
        ),
        Plan("carrier", (BodyPlan("planar", -1),), ("effort", "pull", "transmission"), True, seed=4),
    ],
    ids=lambda plan: plan.base,
)
def test_native_code_agrees_with_the_evaluator_for_one_state_and_for_a_batch(plan):
    mechanism = mechanism_of(plan)
    model, reference = build(mechanism), Evaluated(mechanism)
    states = [state_of(mechanism, k) for k in range(5)]
    q, v, a = (np.array([getattr(s, n) for s in states]) for n in ("q", "v", "vdot"))
    s = states[0]
    tau = reference("inverse_dynamics", q, v, a, t=s.t, u=s.u)
    assert_same(model.inverse_dynamics(q, v, a, t=s.t, inputs=s.u), tau, tolerance=1e-12)
    assert_same(model.inverse_dynamics(s.q, s.v, s.vdot, t=s.t, inputs=s.u), tau[0], tolerance=1e-12)
    assert_same(model.mass_matrix(q), reference("mass_matrix", q), tolerance=1e-12)
    M = reference("mass_matrix", q)
    back = model.forward_dynamics(q, v, tau, t=s.t, inputs=s.u)
    assert_same(back, a, tolerance=1e-10 + 1e-13 * np.linalg.cond(M).max())
    assert_same(model.potential_energy(q), reference("potential_energy", q), tolerance=1e-12)


@pytest.mark.parametrize("quantity", ["kinetic_energy", "momentum", "bias"])
def test_other_quantities_agree_with_the_evaluator(quantity):
    assert_same(getattr(MODEL, quantity)(S.q, S.v), REFERENCE(quantity, S.q, S.v), tolerance=1e-13)


def test_derivatives_come_as_named_tables():
    found = MODEL.inverse_dynamics_derivatives(S.q, S.v, S.vdot)
    by_q, by_v = REFERENCE("inverse_dynamics_derivatives", S.q, S.v, S.vdot)
    assert_same(found.dtau_dq, by_q)
    assert_same(found.dtau_dv, by_v)
    forward = MODEL.forward_dynamics_derivatives(S.q, S.v, S.vdot)
    assert forward._fields == ("vdot", "dvdot_dq", "dvdot_dv", "dvdot_dtau")
    assert_same(forward.dvdot_dtau @ MODEL.mass_matrix(S.q), np.eye(2))


def test_frames_have_poses_velocities_and_jacobians():
    pose, J = MODEL.pose(S.q, "tool"), MODEL.jacobian(S.q, "tool")
    assert pose.shape == (4, 4)
    assert J.shape == (6, 2)
    assert_same(pose, REFERENCE("pose", S.q, frame="tool"), tolerance=1e-14)
    assert_same(MODEL.velocity(S.q, S.v, "tool"), J @ S.v, tolerance=1e-14)
    assert MODEL.jacobian(np.zeros((3, 2)), "tool").shape == (3, 6, 2)


def test_a_large_tree_runs_natively():
    mechanism = mechanism_of(
        random_plan(np.random.default_rng(5), 25, base="floating", kinds=("revolute", "prismatic"))
    )
    model, s = build(mechanism), state_of(mechanism, 1, size=0.3)
    tau = model.inverse_dynamics(s.q, s.v, s.vdot)
    assert_same(tau, Evaluated(mechanism)("inverse_dynamics", s.q, s.v, s.vdot), tolerance=1e-12)
    M = model.mass_matrix(s.q)
    assert_same(M @ model.forward_dynamics(s.q, s.v, tau), M @ s.vdot, size=float(np.abs(tau).max()))
