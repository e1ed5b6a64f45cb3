"""Motion under loops and constraints, against multipliers found by plain NumPy and against the laws of mechanics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st

from support.closed_mechanisms import CUTS, FORMS, closed
from support.evaluated import Evaluated, assert_same
from support.plain_closed import sixth_order_slope
from support.random_mechanisms import MOVING, BodyPlan, Plan, mechanism_of, without_dry_friction
from support.sweeps import mostly_slow
from torseur.describe import Mechanism
from torseur.describe.loads import KINDS as LOADS
from torseur.model import build
from torseur.spatial.joints import KINDS

ROOMY = ("fixed", "fixed", "fixed", "planar", "floating", "floating_rpy", "carrier")
LOADED = ("spring", "strut", "wrench", "motor")


def tied(plan, cuts=(), forms=()):
    """A closed mechanism with independent rows, its functions, and efforts."""
    for k in range(20):
        c = closed(replace(plan, seed=plan.seed + k), cuts, forms)
        if (c.mechanism.loops or c.mechanism.constraints) and c.conditioned:
            return c, Evaluated(c.mechanism), np.random.default_rng(plan.seed).normal(size=len(c.state.v))
    reject()
    return None


def at(c):
    return {"t": c.state.t, "u": c.state.u}


def roomy(seed, *, loads=0, least=6):
    """A plan of few bodies with enough motions to be tied, but no more."""
    rng = np.random.default_rng(seed)
    base = str(rng.choice(ROOMY))
    room, bodies = 0, []
    while room < least + 1 or len(bodies) < 2:
        small = ("revolute", "prismatic", "screw", "universal", "cylindrical")
        kind = str(rng.choice(MOVING if room + 3 < least else small))
        parent = len(bodies) - 1 if rng.random() < 0.8 else -1
        bodies.append(BodyPlan(kind, parent, str(rng.choice(("mdh", "rpy", "matrix"))), "standard"))
        room += KINDS[kind].nv
    forms = tuple(str(x) for x in rng.choice(LOADED, loads)) if loads else ()
    return Plan(base, tuple(bodies), forms, seed=int(rng.integers(2**31)))


def least(cut, form=None):
    """How many motions a loop and a constraint take."""
    return 6 - KINDS[cut].nv + {None: 0, "rolling": 3, "sliding": 2}.get(form, 1)


# -- an independent formulation ----------------------------------------------------------------------------------------
def assert_as_plain(plan, cuts, forms):
    c, call, tau = tied(plan, cuts, forms)
    s = c.state
    assert np.abs(c.plain.closure(s.q, s.t)).max(initial=0.0) < 1e-14
    if len(c.plain.closure(s.q, s.t)):
        assert np.abs(call("closure", s.q, t=s.t)).max() < 1e-14
    assert np.abs(call("constraint_rates", s.q, s.v, t=s.t)).max() < 1e-12
    vdot, pull = c.plain.forward_dynamics(s.q, s.v, tau, s.t, s.u)
    assert_same(call("forward_dynamics", s.q, s.v, tau, **at(c)), vdot, tolerance=1e-9)
    lam, rank = call("multipliers", s.q, s.v, tau, **at(c))
    A = call("constraint_jacobian", s.q, t=s.t)
    assert rank == len(A) == len(lam)
    assert_same(A.T @ lam, pull, size=float(np.abs(tau).max()), tolerance=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("cut", CUTS)
@settings(max_examples=1)
@given(seed=st.integers(0, 2**31))
def test_loops_of_every_joint_kind_move_as_with_multipliers_in_numpy(cut, seed):
    assert_as_plain(roomy(seed, least=least(cut)), (cut,), ())


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=1)
@given(seed=st.integers(0, 2**31))
def test_constraints_of_every_form_move_as_with_multipliers_in_numpy(form, seed):
    assert_as_plain(roomy(seed, loads=1, least=3), (), (form,))


@pytest.mark.slow
@settings(max_examples=3)
@given(
    seed=st.integers(0, 2**31),
    cuts=st.lists(st.sampled_from(CUTS), min_size=1, max_size=2),
    forms=st.lists(st.sampled_from(FORMS), max_size=2),
)
def test_loops_and_constraints_together_move_as_with_multipliers_in_numpy(seed, cuts, forms):
    rows = sum(map(least, cuts)) + sum(least("fixed", form) - 6 for form in forms)
    assert_as_plain(roomy(seed, loads=1, least=rows), cuts, forms)


@settings(max_examples=3)
@given(seed=st.integers(0, 2**31), cut=st.sampled_from(CUTS), form=st.sampled_from(FORMS))
def test_rows_of_acceleration_are_the_rates_of_rows_of_velocity_at_any_state(seed, cut, form):
    """Open and moving as it likes: dr/dt = A vdot - b, and r = dh/dt, by differences along a motion."""
    c, call, _ = tied(roomy(seed, least=least(cut, form)), (cut,), (form,))
    s, rng = c.state, np.random.default_rng(seed)
    q, v = c.plain.plain.moved(s.q, rng.normal(size=len(s.v)), 0.05), rng.normal(size=len(s.v))
    rates = call("rates", q, v)
    h = sixth_order_slope(lambda x: call("closure", q + x * rates, t=s.t + x), 1e-3)
    r = call("constraint_rates", q, v, t=s.t)
    assert_same(r[: len(h)], h, size=10.0, tolerance=1e-9)  # what has a position stands first here
    drift = sixth_order_slope(lambda x: call("constraint_rates", q + x * rates, v, t=s.t + x), 1e-3)
    assert_same(call("constraint_bias", q, v, t=s.t), -drift, size=10.0, tolerance=1e-8)
    A = call("constraint_jacobian", q, t=s.t)
    assert_same(A @ v, r - call("constraint_rates", q, 0 * v, t=s.t))


# -- work --------------------------------------------------------------------------------------------------------------
@settings(max_examples=3)
@given(
    seed=st.integers(0, 2**31),
    cut=st.sampled_from(CUTS),
    form=st.sampled_from(("speeds", "no_side_slip", "rolling", "coupling", "driven_speeds", "prescribed")),
)
def test_what_constraints_do_is_the_work_of_their_drives_alone(seed, cut, form):
    """dT/dt = v'(tau + loads + weights) + lambda' A v; and A v = -c, which is zero unless something is driven."""
    c, call, tau = tied(roomy(seed, loads=2, least=least(cut, form)), (cut,), (form,))
    s, plain = c.state, c.plain.plain
    vdot = call("forward_dynamics", s.q, s.v, tau, **at(c))
    lam, _ = call("multipliers", s.q, s.v, tau, **at(c))
    work = lam @ call("constraint_jacobian", s.q, t=s.t) @ s.v
    driven = -lam @ call("constraint_rates", s.q, 0 * s.v, t=s.t)
    size = 10.0 + float(np.abs(lam).max())
    assert_same(work, driven, size=size)
    if form not in ("driven_speeds", "prescribed"):
        assert abs(work) < 1e-10 * size
    rates = call("rates", s.q, s.v)
    gain = sixth_order_slope(lambda x: call("kinetic_energy", s.q + x * rates, s.v + x * vdot), 1e-3)
    given_power = s.v @ (tau + plain.load_forces(s.q, s.v, s.t, s.u) - plain._inertial(s.q, 0 * s.v, 0 * s.v))
    assert_same(gain, given_power + work, size=size * (1 + np.abs(vdot).max()), tolerance=1e-9)


# -- forces in loops ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("cut", mostly_slow(CUTS, quick=("revolute", "screw", "spherical")))
@settings(max_examples=1)
@given(seed=st.integers(0, 2**31))
def test_the_open_mechanism_moves_as_the_closed_one_under_the_wrench_of_the_cut(cut, seed):
    c, call, tau = tied(roomy(seed, least=least(cut)), (cut,))
    s, loop = c.state, c.mechanism.loops["loop0"]
    found = call("loop_wrenches", s.q, s.v, tau, **at(c))
    Ra, _, Tb = (c.plain.plain.motion(s.q, s.v, 0 * s.v)[end].T for end in (*loop.between[:1], *loop.between))
    force, torque = (tuple(map(float, Ra[:3, :3] @ part)) for part in (found[:3], found[3:]))
    across = tuple(float(x) for x in torque + np.cross(Tb[:3, 3], force))  # about the world's origin
    a, b = loop.between
    loads = {}
    for end, sign in ((b, 1.0), (a, -1.0)):
        at_end = c.plain.plain.motion(s.q, s.v, 0 * s.v)[end].T[:3, 3]
        moment = tuple(sign * (np.array(across) - np.cross(at_end, force)))
        loads[f"on_{end}"] = LOADS["wrench"](
            frame=end, force=tuple(sign * x for x in force), torque=tuple(map(float, moment)), axes="world"
        )
    opened = c.mechanism.model_copy(update={"loops": {}, "loads": {**c.mechanism.loads, **loads}})
    vdot = Evaluated(opened)("forward_dynamics", s.q, s.v, tau, **at(c))
    assert_same(vdot, call("forward_dynamics", s.q, s.v, tau, **at(c)), tolerance=1e-9)


def block(**more):
    """A block of 3 kg on a base that floats, gravity along -z."""
    base = {"kind": "floating", "inertia": {"mass": 3.0, "centre": (0, 0, 0), "tensor": {"xx": 1, "yy": 2, "zz": 2.5}}}
    fields = {"name": "block", "gravity": (0, 0, -9.81), "base": base}
    return Mechanism.model_validate(fields | more)


def test_a_multiplier_at_rest_is_the_weight():
    q, v = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]), np.zeros(6)
    held = Evaluated(block(constraints={"ground": {"prescribed": {"coordinate": "z", "equals": 0.0}}}))
    lam, rank = held("multipliers", q, v, np.zeros(6))
    assert_same(lam, [3.0 * 9.81])
    assert rank == 1
    welded = block(base={**block().base.model_dump(), "frames": {"corner": {"place": {"steps": ({"tx": 0.5},)}}}})
    frames = {"stand": {"parent": "world", "joint": "fixed", "place": {"steps": ({"tx": 0.5},)}}}
    welded = welded.model_copy(update={"bodies": Mechanism.model_validate({"name": "x", "bodies": frames}).bodies})
    tie = Mechanism.model_validate({"name": "x", "loops": {"weld": {"joint": "fixed", "between": ("stand", "corner")}}})
    call = Evaluated(welded.model_copy(update={"loops": tie.loops}))
    assert_same(call("loop_wrenches", q, v, np.zeros(6)), [0, 0, 29.43, 0, 14.715, 0])
    assert_same(call("forward_dynamics", q, v, np.zeros(6)), np.zeros(6))


def test_a_bead_on_a_wire_needs_its_centripetal_force():
    """x^2 + y^2 = R^2 as half of (x^2 + y^2 - R^2): lambda = -m v^2 / R^2 and an acceleration towards the centre."""
    bodies = {
        "cart": {"joint": {"kind": "prismatic", "coordinate": "x"}, "place": {"steps": ({"ry": "pi/2"},)}},
        "bead": {"parent": "cart", "joint": {"kind": "prismatic", "coordinate": "y"}, "inertia": {"M": 0.7}},
    }
    bodies["bead"]["place"] = {"steps": ({"ry": "-pi/2"}, {"rx": "-pi/2"})}
    wire = {"wire": {"zero": "(x^2 + y^2 - 4)/2"}}
    call = Evaluated(
        Mechanism.model_validate({"name": "bead", "bodies": bodies, "constraints": wire, "gravity": (0, 0, -9.81)})
    )
    q, v = np.array([2.0, 0.0]), np.array([0.0, 3.0])
    assert_same(call("forward_dynamics", q, v, [0.0, 0.0]), [-4.5, 0.0])
    assert_same(call("multipliers", q, v, [0.0, 0.0])[0], [-0.7 * 9.0 / 4.0])


def test_a_base_with_prescribed_coordinates_moves_what_it_carries_as_a_driven_one():
    place = ({"tx": "0.4*sin(2*t)"}, {"tz": "0.3*cos(t)"}, {"rz": "0.5*sin(t)"}, {"ry": "0.2*t"}, {"rx": "0.1*t^2"})
    bodies = mechanism_of(Plan("fixed", tuple(BodyPlan("revolute", k - 1, "rpy") for k in range(3)), seed=4)).bodies
    driven = Mechanism.model_validate(
        {"name": "driven", "base": {"kind": "moving", "place": {"steps": place}}, "bodies": bodies}
    )
    laws = {"x": "0.4*sin(2*t)", "y": "0", "z": "0.3*cos(t)", "roll": "0.1*t^2", "pitch": "0.2*t", "yaw": "0.5*sin(t)"}
    ties = {f"drive_{x}": {"prescribed": {"coordinate": x, "equals": law}} for x, law in laws.items()}
    base = {"kind": "floating", "orientation": "rpy", "inertia": {"M": 2.0, "XX": 0.3, "YY": 0.3, "ZZ": 0.4}}
    carried = Mechanism.model_validate({"name": "carried", "base": base, "bodies": bodies, "constraints": ties})
    t, rng = 0.7, np.random.default_rng(2)
    n = len(driven.v)
    joints, speeds, tau = rng.uniform(-1, 1, n), rng.normal(size=n), rng.normal(size=n)
    q = np.concatenate([[0.4 * np.sin(2 * t), 0, 0.3 * np.cos(t), 0.1 * t**2, 0.2 * t, 0.5 * np.sin(t)], joints])
    call = Evaluated(carried)
    v = call("allowed_speeds", q, np.concatenate([np.zeros(6), speeds]), t=t)
    v = np.concatenate([v[:6], speeds])
    assert np.abs(call("constraint_rates", q, v, t=t)).max() < 1e-12
    found = call("forward_dynamics", q, v, np.concatenate([np.zeros(6), tau]), t=t)
    assert_same(found[6:], Evaluated(driven)("forward_dynamics", joints, speeds, tau, t=t), tolerance=1e-9)


# -- speeds and corrections --------------------------------------------------------------------------------------------
@settings(max_examples=3)
@given(seed=st.integers(0, 2**31), cut=st.sampled_from(CUTS), form=st.sampled_from(FORMS))
def test_allowed_speeds_are_those_after_an_impact_without_rebound(seed, cut, form):
    """M (v+ - v) = A' impulse and A v+ + c = 0; no other allowed speeds are nearer by kinetic energy."""
    c, call, _ = tied(roomy(seed, least=least(cut, form)), (cut,), (form,))
    s, rng = c.state, np.random.default_rng(seed)
    v = rng.normal(size=len(s.v))
    after = call("allowed_speeds", s.q, v, t=s.t)
    A, b = c.plain.matrix(s.q, s.t)
    M = c.plain.plain.mass_matrix(s.q)
    K = np.block([[M, -A.T], [A, np.zeros((len(A), len(A)))]])
    assert_same(after, np.linalg.solve(K, np.concatenate([M @ v, -b]))[: len(v)], tolerance=1e-9)
    assert_same(call("allowed_speeds", s.q, after, t=s.t), after)
    free = rng.normal(size=len(v))
    other = after + free - np.linalg.pinv(A) @ A @ free
    assert (other - v) @ M @ (other - v) > (after - v) @ M @ (after - v)


@settings(max_examples=3)
@given(seed=st.integers(0, 2**31), cut=st.sampled_from(CUTS), form=st.sampled_from(FORMS))
def test_corrected_states_are_closed_and_stay_as_they_are(seed, cut, form):
    c, call, _ = tied(roomy(seed, least=least(cut, form)), (cut,), (form,))
    s, rng = c.state, np.random.default_rng(seed)
    q = s.q + 3e-5 * rng.normal(size=len(s.q))
    v = s.v + 1e-3 * rng.normal(size=len(s.v))
    assert np.abs(call("closure", q, t=s.t)).max() > 1e-7
    q1, v1 = call("corrected", q, v, t=s.t)
    assert np.abs(call("closure", q1, t=s.t)).max() < 1e-12
    assert np.abs(call("constraint_rates", q1, v1, t=s.t)).max() < 1e-11
    assert np.abs(q1 - q).max() < 1e-2
    for k, x in enumerate(c.mechanism.q):
        if x.name.endswith("qw"):
            assert abs(np.linalg.norm(q1[k : k + 4]) - 1.0) < 1e-14
    q2, v2 = call("corrected", q1, v1, t=s.t)
    assert_same(q2, q1, tolerance=1e-11)
    assert_same(v2, v1, tolerance=1e-9)


# -- derivatives and native code ---------------------------------------------------------------------------------------
@pytest.mark.slow
@settings(max_examples=2)
@given(seed=st.integers(0, 2**31), cut=st.sampled_from(CUTS), form=st.sampled_from(FORMS))
@example(seed=720, cut="universal", form="speeds")  # a motor that is about to turn back
def test_derivatives_of_constrained_motion_are_those_of_its_differences(seed, cut, form):
    """Along the speeds, so also away from closure; by v and tau."""
    c, _, tau = tied(roomy(seed, loads=1, least=least(cut, form)), (cut,), (form,))
    call = Evaluated(without_dry_friction(c.mechanism))
    s, n, now = c.state, len(c.state.v), at(c)
    vdot, by_q, by_v, by_tau = call("forward_dynamics_derivatives", s.q, s.v, tau, **now)
    assert_same(vdot, call("forward_dynamics", s.q, s.v, tau, **now))
    size = float(np.abs(vdot).max())
    for d in np.random.default_rng(seed).normal(size=(2, n)):
        rates = call("rates", s.q, d)
        slope = sixth_order_slope(lambda x: call("forward_dynamics", s.q + x * rates, s.v, tau, **now), 5e-4)  # noqa: B023
        assert_same(by_q @ d, slope, size=10 + size, tolerance=1e-7)
        slope = sixth_order_slope(lambda x: call("forward_dynamics", s.q, s.v + x * d, tau, **now), 1e-2)  # noqa: B023
        assert_same(by_v @ d, slope, size=10 + size, tolerance=1e-9)
        assert_same(by_tau @ d, call("forward_dynamics", s.q, s.v, tau + d, **now) - vdot, size=1 + size)


@pytest.mark.slow
def test_native_code_is_the_reference_one_state_or_many():
    kinds = ("spherical", "revolute", "prismatic")
    plan = Plan("fixed", tuple(BodyPlan(kind, k - 1, "rpy") for k, kind in enumerate(kinds)), ("wrench",), seed=3)
    c, call, _ = tied(plan, ("planar",), ("prescribed",))
    s, model = c.state, build(c.mechanism)
    rng = np.random.default_rng(3)
    tau = rng.normal(size=(5, len(s.v)))
    q, v = np.tile(s.q, (5, 1)), s.v + 0.1 * rng.normal(size=(5, len(s.v)))
    now = {"t": s.t, "inputs": s.u} if len(s.u) else {"t": s.t}
    for name, args in (
        ("forward_dynamics", (q, v, tau)),
        ("multipliers", (q, v, tau)),
        ("loop_wrenches", (q, v, tau)),
        ("allowed_speeds", (q, v)),
        ("corrected", (q, v)),
    ):
        taken = {k: x for k, x in now.items() if k == "t" or name not in ("allowed_speeds", "corrected")}
        many = model.function(name)(*args, **taken)
        for k in range(5):
            one = model.function(name)(*(x[k] for x in args), **taken)
            reference = call(name, *(x[k] for x in args), **at(c))
            parts = (many, one, reference) if isinstance(reference, (tuple, list)) else ((many,), (one,), (reference,))
            for batched, single, known in zip(*parts, strict=True):
                assert_same(batched[k], single, tolerance=1e-13)
                assert_same(single, known, tolerance=1e-11)
