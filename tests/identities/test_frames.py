"""Jacobians, velocities and accelerations of frames are derivatives of poses."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from support.evaluated import Evaluated, arguments_of, assert_same
from support.random_mechanisms import mechanism_of, plans, state_of
from torseur.describe import Wrench
from torseur.dynamics.quantities import Workbench
from torseur.dynamics.tree.kinematics import Axes, Kinematics, frame_jacobian
from torseur.dynamics.tree.system import rates
from torseur.graph import Function, evaluate, tangents


def along_motion(mechanism, expressions, s):
    """Expressions of a workbench and their time derivatives at vdot = 0."""
    bench = Workbench(mechanism)
    exprs = expressions(bench)
    seeds = dict(zip(bench.system.q, rates(bench.system), strict=True))
    function = Function("along", [bench.system.q, bench.system.v, bench.system.p], {"dx": tangents(exprs, seeds)})
    return evaluate(function, *arguments_of(mechanism, function, (s.q, s.v)))[0]


@given(plan=plans(min_bodies=2), pick=st.integers(0, 100))
@settings(max_examples=8)
def test_a_jacobian_times_speeds_is_the_derivative_of_the_pose(plan, pick):
    mechanism = mechanism_of(plan)
    frame = list(mechanism.frames)[pick % len(mechanism.frames)]
    ours, s = Evaluated(mechanism), state_of(mechanism, plan.seed % 1000)
    T = ours("pose", s.q, frame=frame)
    d = along_motion(
        mechanism, lambda w: [x for row in Kinematics(w.tree).frame(frame).pose.matrix() for x in row], s
    ).reshape(4, 4)
    R, turn = T[:3, :3], T[:3, :3].T @ d[:3, :3]
    assert_same(R @ R.T, np.eye(3))
    assert_same(turn, -turn.T)
    velocity = np.concatenate([R.T @ d[:3, 3], [turn[2, 1], turn[0, 2], turn[1, 0]]])
    own, world = (ours("jacobian", s.q, frame=frame, axes=axes) for axes in Axes)
    assert_same(own @ s.v, velocity)
    assert_same(ours("velocity", s.q, s.v, frame=frame), velocity)
    assert_same(world, np.vstack([R @ own[:3], R @ own[3:]]))


@given(plan=plans(min_bodies=2), pick=st.integers(0, 100))
@settings(max_examples=8)
def test_the_acceleration_is_the_derivative_of_the_velocity_in_world_axes(plan, pick):
    mechanism = mechanism_of(plan)
    frame = list(mechanism.frames)[pick % len(mechanism.frames)]
    ours, s = Evaluated(mechanism), state_of(mechanism, plan.seed % 1000)

    def velocity(bench):
        J, v = frame_jacobian(bench.tree, frame, Axes.WORLD), bench.system.v
        return [sum((a * b for a, b in zip(row, v, strict=True)), bench.system.graph.zero) for row in J]

    leftover = along_motion(mechanism, velocity, s)
    J = ours("jacobian", s.q, frame=frame, axes=Axes.WORLD)
    at_rest = ours("acceleration", s.q, s.v, 0 * s.v, frame=frame, axes=Axes.WORLD)
    assert_same(at_rest, leftover)
    assert_same(ours("acceleration", s.q, s.v, s.vdot, frame=frame, axes=Axes.WORLD), leftover + J @ s.vdot)
    R = ours("pose", s.q, frame=frame)[:3, :3]
    own = ours("acceleration", s.q, s.v, s.vdot, frame=frame)
    assert_same(R @ own.reshape(2, 3).T, (leftover + J @ s.vdot).reshape(2, 3).T)


@given(plan=plans(min_bodies=2, max_bodies=4))
@settings(max_examples=5)
def test_a_wrench_at_a_frame_weighs_on_speeds_by_the_transposed_jacobian(plan):
    mechanism = mechanism_of(plan)
    frame, s = list(mechanism.frames)[-1], state_of(mechanism, 1)
    force, torque = (1.0, -2.0, 3.0), (0.5, 0.25, -1.0)
    pushed = mechanism.model_copy(update={"loads": {"push": Wrench(frame=frame, force=force, torque=torque)}})
    J = Evaluated(mechanism)("jacobian", s.q, frame=frame)
    difference = Evaluated(mechanism)("bias", s.q, s.v) - Evaluated(pushed)("bias", s.q, s.v)
    assert_same(difference, J.T @ [*force, *torque], size=float(np.abs(Evaluated(mechanism)("bias", s.q, s.v)).max()))
