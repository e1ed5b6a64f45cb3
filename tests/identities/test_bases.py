"""One motion in several coordinates: floating base or virtual carrier, quaternion or angles, any world axes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.evaluated import Evaluated, assert_same
from support.plain import Plain
from support.random_mechanisms import LOAD_FORMS, MOVING, BodyPlan, Plan, State, mechanism_of, plans, state_of
from torseur.describe import BASE, Base, Place, RigidPose

FREE = ("floating", "floating_rpy", "carrier")
FORMS = tuple(
    form for form in LOAD_FORMS if form not in ("spring", "friction", "combination", "effort", "wrench", "world_wrench")
)
"""Loads that mean the same whatever the coordinates of the base are called; formulas in wrenches name them."""


def with_base(mechanism, kind, orientation="quaternion"):
    base = mechanism.base
    return mechanism.model_copy(
        update={
            "base": Base(kind=kind, orientation=orientation, place=base.place, inertia=base.inertia, frames=base.frames)
        }
    )


def quaternion_of(roll, pitch, yaw):
    """Half angles about z, y, x multiplied."""
    (cr, sr), (cp, sp), (cy, sy) = ((np.cos(a / 2), np.sin(a / 2)) for a in (roll, pitch, yaw))
    return [
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    ]


def drive_free(mechanism):
    """Without loads on coordinates of the base, which another base does not have."""
    own = {x.name for x in mechanism.q if x.owner == BASE}
    loads = {
        k: x for k, x in mechanism.loads.items() if getattr(x, "coordinate", None) not in own and x.kind != "effort"
    }
    return mechanism.model_copy(update={"loads": loads})


@given(plan=plans(bases=("carrier",), loads=FORMS, max_bodies=4))
@settings(max_examples=8)
def test_a_floating_base_moves_as_a_virtual_carrier(plan):
    """With speeds of the one B times speeds of the other, forces of the other are B' times forces of the one."""
    carrier = drive_free(mechanism_of(plan))
    floating, s = with_base(carrier, "floating", "rpy"), state_of(carrier, plan.seed % 1000)
    one, other = Evaluated(carrier), Evaluated(floating)
    n = len(s.v)
    B = np.eye(n)
    B[:6] = one("jacobian", s.q, frame=BASE)
    v = B @ s.v
    absolute = one("acceleration", s.q, s.v, s.vdot, frame=BASE)
    vdot = s.vdot.copy()
    vdot[:6] = absolute - np.concatenate([np.cross(v[3:6], v[:3]), np.zeros(3)])
    expected = B.T @ other("inverse_dynamics", s.q, v, vdot, t=s.t, u=s.u)
    assert_same(one("inverse_dynamics", s.q, s.v, s.vdot, t=s.t, u=s.u), expected)
    assert_same(one("mass_matrix", s.q), B.T @ other("mass_matrix", s.q) @ B)
    assert_same(one("momentum", s.q, s.v), other("momentum", s.q, v))


@given(plan=plans(bases=("floating_rpy",), loads=FORMS, max_bodies=4))
@settings(max_examples=8)
def test_orientation_by_quaternion_or_by_angles_gives_the_same_forces(plan):
    angles = drive_free(mechanism_of(plan))
    quaternion, s = with_base(angles, "floating"), state_of(angles, plan.seed % 1000)
    q = np.concatenate([s.q[:3], quaternion_of(*s.q[3:6]), s.q[6:]])
    one, other = Evaluated(angles), Evaluated(quaternion)
    assert_same(
        one("inverse_dynamics", s.q, s.v, s.vdot, t=s.t, u=s.u), other("inverse_dynamics", q, s.v, s.vdot, t=s.t, u=s.u)
    )
    assert_same(one("mass_matrix", s.q), other("mass_matrix", q))
    for frame in list(angles.frames)[1:3]:
        assert_same(one("pose", s.q, frame=frame), other("pose", q, frame=frame))


def test_rates_of_roll_pitch_and_yaw_fail_only_at_their_singularity():
    mechanism = mechanism_of(Plan("floating_rpy", (BodyPlan("revolute", -1),), seed=1))
    ours, s = Evaluated(mechanism), state_of(mechanism)
    q = s.q.copy()
    q[4] = np.pi / 2
    assert np.abs(ours("rates", q, s.v)).max() > 1e10
    assert np.all(np.isfinite(ours("inverse_dynamics", q, s.v, s.vdot)))


X, Y, BACK = [{"ry": "pi/2"}], [{"ry": "-pi/2"}, {"rx": "-pi/2"}], [{"rx": "pi/2"}]
"""Turns that bring z along x, from there along y, and from there back."""
CHAINS = {
    "cylindrical": ([("revolute", []), ("prismatic", [])], []),
    "universal": ([("revolute", X), ("revolute", Y)], BACK),
    "planar": ([("prismatic", X), ("prismatic", Y), ("revolute", BACK)], []),
}
"""Simple joints with the turns before them, and the turn after the last."""


def with_chain(mechanism, name, kind):
    """The same mechanism with one joint made of simple ones, massless bodies between them."""
    parts, end = CHAINS[kind]
    joint = mechanism.bodies[name]
    bodies, parent = {}, "stand"
    for known, body in mechanism.bodies.items():
        if known != name:
            bodies[known] = body
            continue
        bodies["stand"] = {"parent": joint.parent, "place": joint.place}
        for k, (simple, turns) in enumerate(parts):
            bodies[f"part{k}"] = {"parent": parent, "place": {"steps": turns} if turns else {}, "joint": simple}
            parent = f"part{k}"
        bodies[name] = {"parent": parent, "place": {"steps": end} if end else {}, "inertia": joint.inertia}
    content = {"base": mechanism.base, "bodies": bodies, "gravity": mechanism.gravity}
    return type(mechanism).model_validate({"name": "chain", **content})


@pytest.mark.parametrize("kind", CHAINS)
def test_a_joint_of_several_motions_is_a_chain_of_simple_ones(kind):
    bodies = (BodyPlan("revolute", -1), BodyPlan(kind, 0, "rpy"), BodyPlan("revolute", 1))
    whole = mechanism_of(Plan("floating", bodies, seed=4))
    one, other, s = Evaluated(whole), Evaluated(with_chain(whole, "b1", kind)), state_of(whole, 9)
    B = np.eye(len(s.v))
    if kind == "planar":  # its speeds are in the child's axes
        c, d = np.cos(s.q[10]), np.sin(s.q[10])
        B[7:9, 7:9] = [[c, -d], [d, c]]
    assert_same(one("mass_matrix", s.q), B.T @ other("mass_matrix", s.q) @ B)
    assert_same(one("pose", s.q, frame="b2"), other("pose", s.q, frame="b2"))
    assert_same(one("momentum", s.q, s.v), other("momentum", s.q, B @ s.v))
    assert_same(one("bias", s.q, 0 * s.v), B.T @ other("bias", s.q, 0 * s.v))


# -- world axes --------------------------------------------------------------------------------------------------------
ISOTROPIC = ("strut", "pull", "motor", "transmission", "wrench", "spring")


@given(
    plan=plans(bases=("fixed", "planar", "floating", "carrier"), kinds=MOVING, loads=ISOTROPIC),
    turn=st.integers(0, 1000),
)
@settings(max_examples=8)
def test_turning_and_moving_the_whole_world_changes_nothing(plan, turn):
    mechanism = drive_free(mechanism_of(plan))  # a motor on the base's own coordinates stands on the ground
    ends = [end for load in mechanism.loads.values() for end in (getattr(load, "between", None) or ())]
    if "world" in ends or any(body.parent == "world" for body in mechanism.bodies.values()):
        return
    rng = np.random.default_rng(turn)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    R *= np.sign(np.linalg.det(R))
    P = rng.normal(size=3)
    here, s = Evaluated(mechanism), state_of(mechanism, plan.seed % 1000)
    rest = Evaluated(with_base(mechanism, "fixed").model_copy(update={"bodies": {}, "loads": {}}))
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, P
    moved_place = T @ rest("pose", np.zeros(0), frame=BASE)
    matrix = tuple(tuple(map(float, row[:3])) for row in moved_place[:3])
    place = Place(pose=RigidPose(position=tuple(map(float, moved_place[:3, 3])), matrix=matrix))
    moved = mechanism.model_copy(
        update={
            "base": mechanism.base.model_copy(update={"place": place}),
            "gravity": tuple(map(float, R @ Plain(mechanism).g)),
        }
    )
    there = Evaluated(moved)
    assert_same(
        there("inverse_dynamics", s.q, s.v, s.vdot, t=s.t, u=s.u),
        here("inverse_dynamics", s.q, s.v, s.vdot, t=s.t, u=s.u),
    )
    assert_same(there("kinetic_energy", s.q, s.v), here("kinetic_energy", s.q, s.v))
    p, L = here("momentum", s.q, s.v).reshape(2, 3)
    assert_same(there("momentum", s.q, s.v), np.concatenate([R @ p, R @ L + np.cross(P, R @ p)]))
    for frame in list(mechanism.frames)[1:3]:
        assert_same(there("pose", s.q, frame=frame), T @ here("pose", s.q, frame=frame))
        assert_same(there("jacobian", s.q, frame=frame), here("jacobian", s.q, frame=frame))


# -- order of the file -------------------------------------------------------------------------------------------------
@given(plan=plans(min_bodies=3, max_bodies=5, loads=LOAD_FORMS), order=st.permutations(range(5)))
@settings(max_examples=6)
def test_the_order_of_bodies_in_the_file_changes_the_order_of_coordinates_and_nothing_else(plan, order):
    mechanism = mechanism_of(plan)
    names = list(mechanism.bodies)
    listed = {names[k]: mechanism.bodies[names[k]] for k in order if k < len(names)}
    other = type(mechanism).model_validate({**dict(mechanism), "bodies": listed})
    s = state_of(mechanism, plan.seed % 1000)
    rows_q, rows_v = (
        [[x.name for x in was].index(x.name) for x in now]
        for was, now in ((mechanism.q, other.q), (mechanism.v, other.v))
    )
    assert [x.owner for x in other.v if x.owner in listed] == [n for n in listed for x in mechanism.v if x.owner == n]
    there = State(s.q[rows_q], s.v[rows_v], s.vdot[rows_v], s.t, s.u)
    one, two = Evaluated(mechanism), Evaluated(other)
    tau = one("inverse_dynamics", s.q, s.v, s.vdot, t=s.t, u=s.u)
    assert_same(two("inverse_dynamics", there.q, there.v, there.vdot, t=s.t, u=s.u), tau[rows_v])
    M = one("mass_matrix", s.q)
    assert_same(two("mass_matrix", there.q), M[np.ix_(rows_v, rows_v)])
    vdot = two("forward_dynamics", there.q, there.v, tau[rows_v], t=s.t, u=s.u)
    slack = 1e-13 * np.linalg.cond(M) * max(1.0, np.abs(tau).max() / np.linalg.norm(M, 2))
    assert np.abs(vdot - there.vdot).max() <= 1e-10 + slack


def test_the_order_of_bodies_does_not_matter_to_derivatives():
    bodies = (
        BodyPlan("revolute", -1),
        BodyPlan("spherical", 0, "rpy"),
        BodyPlan("prismatic", 0),
        BodyPlan("revolute", 1),
    )
    mechanism = mechanism_of(Plan("planar", bodies, ("spring", "motor"), seed=5))
    listed = dict(reversed(mechanism.bodies.items()))
    other = type(mechanism).model_validate({**dict(mechanism), "bodies": listed})
    s, names = state_of(mechanism, 2), [x.name for x in mechanism.v]
    rows_q = [[x.name for x in mechanism.q].index(x.name) for x in other.q]
    rows = [names.index(x.name) for x in other.v]
    assert rows != sorted(rows)
    tables = Evaluated(mechanism)("inverse_dynamics_derivatives", s.q, s.v, s.vdot)
    again = Evaluated(other)("inverse_dynamics_derivatives", s.q[rows_q], s.v[rows], s.vdot[rows])
    for table, turned in zip(tables, again, strict=True):
        assert_same(turned, table[np.ix_(rows, rows)])
