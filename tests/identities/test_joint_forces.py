"""Forces in joints, against joints that are opened in plain NumPy, and against equilibrium."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings

from support.closed_mechanisms import CUTS, closed
from support.evaluated import Evaluated, assert_same
from support.example_files import EXAMPLES
from support.plain_joints import joint_force
from support.random_mechanisms import BodyPlan, Plan, mechanism_of, plans, state_of
from support.sweeps import mostly_slow
from torseur.describe import Mechanism
from torseur.describe.loads import KINDS as LOADS
from torseur.errors import ArgumentError, ModelError
from torseur.formats import load
from torseur.model import build

LOADED = ("spring", "strut", "motor", "transmission", "drag")


def forces(mechanism, quantity, *args, **at):
    call = Evaluated(mechanism)
    names = [output.name for output in call.function(quantity).outputs]
    found = call(quantity, *args, **at)
    return dict(zip(names, found if len(names) > 1 else [found], strict=True))


def assert_as_opened(mechanism, s, found):
    for name in mechanism.bodies:
        size = 10.0 + max(float(np.abs(x).max()) for x in found.values())
        assert_same(found[name], joint_force(mechanism, name, s), size=size, tolerance=1e-9)


@settings(max_examples=12)
@given(plan=plans(loads=LOADED, max_bodies=4))
def test_every_joint_of_a_tree_passes_on_what_keeps_its_body_in_motion_once_it_is_opened(plan):
    mechanism = mechanism_of(plan)
    s = state_of(mechanism, plan.seed % 1000)
    assert_as_opened(mechanism, s, forces(mechanism, "joint_forces", s.q, s.v, s.vdot, t=s.t, u=s.u))


@settings(max_examples=4)
@given(plan=plans(loads=LOADED, max_bodies=4))
def test_forces_of_a_motion_and_of_the_efforts_that_make_it_are_the_same(plan):
    mechanism = mechanism_of(plan)
    s = state_of(mechanism, plan.seed % 1000)
    M = Evaluated(mechanism)("mass_matrix", s.q)
    assume(np.linalg.cond(M) < 1e6)
    tau = Evaluated(mechanism)("inverse_dynamics", s.q, s.v, s.vdot, t=s.t, u=s.u)
    one = forces(mechanism, "joint_forces", s.q, s.v, s.vdot, t=s.t, u=s.u)
    two = forces(mechanism, "forward_joint_forces", s.q, s.v, tau, t=s.t, u=s.u)
    for name in one:
        assert_same(one[name], two[name], size=10.0, tolerance=1e-8)


def opened(mechanism, wrenches, s, plain):
    """The loops open, and what their cut joints do as loads at their ends."""
    motion, loads = plain.motion(s.q, s.v, 0 * s.v), dict(mechanism.loads)
    for name, loop in mechanism.loops.items():
        (a, b), wrench = loop.between, wrenches[name]
        force, torque = (motion[a].T[:3, :3] @ part for part in (wrench[:3], wrench[3:]))
        arm = motion[b].T[:3, 3] - motion[a].T[:3, 3]
        for end, sign, moment in ((b, 1.0, torque), (a, -1.0, torque + np.cross(arm, force))):
            loads[f"{name}_on_{end}"] = LOADS["wrench"](
                frame=end, force=tuple(sign * force), torque=tuple(sign * moment), axes="world"
            )
    return mechanism.model_copy(update={"loops": {}, "loads": loads})


@pytest.mark.parametrize("cut", mostly_slow(CUTS, quick=("revolute", "spherical")))
def test_joints_of_a_closed_mechanism_hold_what_the_cut_joint_leaves_to_them(cut):
    bodies = tuple(
        BodyPlan(kind, k - 1) for k, kind in enumerate(("revolute", "spherical", "universal", "cylindrical"))
    )
    plan = Plan("fixed", (*bodies, BodyPlan("fixed", 3)), ("spring",), seed=3)
    c = next(c for k in range(50) if (c := closed(replace(plan, seed=k), (cut,), ("coupling",))).conditioned)
    s, tau = c.state, np.random.default_rng(1).normal(size=len(c.state.v))
    at = {"t": s.t, "u": s.u}
    found = forces(c.mechanism, "forward_joint_forces", s.q, s.v, tau, **at)
    wrenches = forces(c.mechanism, "loop_wrenches", s.q, s.v, tau, **at)
    vdot = Evaluated(c.mechanism)("forward_dynamics", s.q, s.v, tau, **at)
    tree = opened(c.mechanism.model_copy(update={"constraints": {}}), wrenches, s, c.plain.plain)
    assert_as_opened(tree, replace(s, vdot=vdot), found)


def test_with_the_motion_given_the_actuators_bear_it_and_nothing_else_does():
    """Four-bar: the efforts of the drive are those of actuator_efforts, the pins pass on no moment."""
    bar = build(load(EXAMPLES / "four_bar" / "four_bar.yaml"))
    state = bar.assemble({"q1": 0.7}, hold=["q1", "dq1"], speeds={"dq1": 2.0})
    vdot = bar.forward_dynamics(state.q, state.v, np.array([1.5, 0.0, 0.0]))
    found = bar.joint_forces(state.q, state.v, vdot, actuated=["q1"])
    other = bar.joint_forces(state.q, state.v, tau=np.array([1.5, 0.0, 0.0]))
    assert list(found) == ["base", "crank_rod", "rocker_rod", "coupler_rod"]
    for name in found:
        assert_same(found[name], other[name], size=10.0)
    assert_same([x[5] for x in found.values()][1:], [1.5, 0.0, 0.0])


def test_each_bar_of_a_four_bar_is_in_equilibrium_with_its_inertia():
    """The coupler: what the crank and the pin do to it, and its weight, make its centre and itself accelerate."""
    bar = build(load(EXAMPLES / "four_bar" / "four_bar.yaml"))
    state = bar.assemble({"q1": 0.7}, hold=["q1", "dq1"], speeds={"dq1": 2.0})
    q, v, tau = state.q, state.v, np.zeros(3)
    vdot = bar.forward_dynamics(q, v, tau)
    wrench, pin = bar.joint_forces(q, v, tau=tau)["coupler_rod"], np.asarray(bar.loop_wrenches(q, v, tau))
    density, length = (bar.mechanism.parameters[n].value for n in ("density", "coupler"))
    R = bar.pose(q, "coupler_rod")[:3, :3]
    a, b = bar.mechanism.loops["pin"].between
    on_b = bar.pose(q, a)[:3, :3] @ pin[:3]
    sign = 1.0 if bar.mechanism.frames[b] == "coupler_rod" else -1.0
    accel = bar.function("acceleration", "coupler_rod")(q, v, vdot)
    turn, rate = accel[5], bar.velocity(q, v, "coupler_rod")[5]
    centre = accel[:3] + np.array([-(rate**2), turn, 0.0]) * length / 2
    m = density * length
    weight = R.T @ np.array([0.0, 0.0, -9.81]) * m
    assert_same(wrench[:3] + sign * (R.T @ on_b) + weight, m * centre, size=10.0)


def test_a_weld_and_the_ground_carry_what_hangs_on_them():
    sensor = {"parent": "arm", "joint": "fixed", "place": {"steps": ({"tx": 1.0},)}, "inertia": {"M": 0.5, "MX": 0.05}}
    arm = {"joint": {"kind": "revolute", "coordinate": "q"}, "inertia": {"M": 2.0, "MX": 1.0, "ZZ": 0.6}}
    record = {"name": "arm", "gravity": (0, -9.81, 0), "base": {"inertia": {"M": 7.0, "MX": 7.0}}}
    found = build(Mechanism.model_validate({**record, "bodies": {"arm": arm, "sensor": sensor}})).joint_forces(
        np.zeros(1), np.zeros(1), np.zeros(1)
    )
    assert_same(found["sensor"], [0, 0.5 * 9.81, 0, 0, 0, 0.05 * 9.81])
    assert_same(found["arm"], [0, 2.5 * 9.81, 0, 0, 0, (1.0 + 0.5 + 0.05) * 9.81])
    assert_same(found["base"], [0, 9.5 * 9.81, 0, 0, 0, (7.0 + 1.55) * 9.81])


def test_a_constraint_that_does_not_say_where_it_acts_is_refused_by_name():
    bar = load(EXAMPLES / "planar_2r" / "planar_2r.yaml")
    record = Mechanism.model_validate({"name": "x", "constraints": {"line": {"zero": f"{bar.q[0].name} - 0.2"}}})
    with pytest.raises(ModelError, match=r"constraints\.line"):
        Evaluated(bar.model_copy(update={"constraints": record.constraints})).function("joint_forces")


def test_either_a_motion_or_efforts_must_be_given():
    arm = build(load(EXAMPLES / "planar_2r" / "planar_2r.yaml"))
    z = np.zeros(2)
    for more in ({}, {"vdot": z, "tau": z}):
        with pytest.raises(ArgumentError, match="either vdot or tau"):
            arm.joint_forces(z, z, **more)
