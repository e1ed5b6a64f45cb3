"""What a joint kind forbids as a cut joint: its equations, their rates, and the motions they leave."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torseur.graph import Function, Graph, evaluate, jacobian
from torseur.spatial.joints import KINDS
from torseur.spatial.pose import Pose
from torseur.spatial.vectors import Matrix, Vector

CUTS = [name for name, kind in KINDS.items() if kind.nv < 6]
MOVING = [name for name, kind in KINDS.items() if kind.nv]
SEEDS = st.integers(0, 2**32 - 1)
PITCH = 0.17


def settings_of(kind, g):
    return [g.number(PITCH)] if kind.settings else []


def closings_of(name):
    """Values, forces and torques (n, 3) of the equations of a kind, as a Function of R and P."""
    g, kind = Graph(), KINDS[name]
    R, P = g.block("R", (3, 3)), g.block("P", 3)
    pose = Pose(Matrix.of(R[3 * i : 3 * i + 3] for i in range(3)), Vector(*P))
    found = kind.closure(pose, settings_of(kind, g))
    value, force, torque = zip(*((c.value, *c.wrench) for c in found), strict=True)
    return Function("closure", [R, P], {"value": value, "force": force, "torque": torque}), found


def algebra_of(name):
    """Pose (4, 4), columns of S (nv, 6), rates and displaced coordinates, as a Function of q and d."""
    g, kind = Graph(), KINDS[name]
    q, d = g.block("q", kind.nq), g.block("d", kind.nv)
    pose = kind.pose(g, list(q), settings_of(kind, g))
    columns = [[*s.linear, *s.angular] for s in kind.subspace(g, list(q), settings_of(kind, g))]
    outputs = {"pose": pose.matrix(), "S": columns, "moved": kind.displaced(g, list(q), list(d))}
    return Function("algebra", [q, d], {name: x for name, x in outputs.items() if x})


CLOSINGS = {name: closings_of(name)[0] for name in CUTS}
ALGEBRA = {name: algebra_of(name) for name in MOVING}


def coordinates(name, rng):
    kind = KINDS[name]
    q = rng.uniform(-1.3, 1.3, kind.nq)
    for k, x in enumerate(kind.coordinates):
        if x.suffix == "qw":
            four = rng.normal(size=4)
            q[k : k + 4] = four / np.linalg.norm(four)
    return q


def motion(name, rng):
    """A pose that the kind allows, and the columns of its motion as (V; w) of b in the axes of a, (6, nv)."""
    if not KINDS[name].nv:
        return np.eye(4), np.zeros((6, 0))
    T, S, _ = evaluate(ALGEBRA[name], coordinates(name, rng), np.zeros(KINDS[name].nv))
    turn = np.kron(np.eye(2), T[:3, :3])
    return T, turn @ S.T


def rows(name, T):
    value, force, torque = evaluate(CLOSINGS[name], T[:3, :3], T[:3, 3])
    return value, np.hstack([force, torque])


def skew(w):
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def turned(w):
    """The rotation by a vector, after Rodrigues."""
    angle = np.linalg.norm(w)
    if angle == 0.0:
        return np.eye(3)
    K = skew(w / angle)
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


def moved(T, twist, step):
    """A pose some time later: straight on with V, and turning at w, both in the axes of a."""
    found = T.copy()
    found[:3, 3] += step * twist[:3]
    found[:3, :3] = turned(step * twist[3:]) @ T[:3, :3]
    return found


@pytest.mark.parametrize("name", CUTS)
def test_there_are_as_many_equations_as_motions_are_lost(name):
    _, found = closings_of(name)
    assert len(found) == 6 - KINDS[name].nv
    assert len({c.part for c in found}) == len(found)


@pytest.mark.parametrize("name", CUTS)
@settings(max_examples=15)
@given(seed=SEEDS)
def test_every_pose_of_the_joint_meets_its_equations(name, seed):
    T, _ = motion(name, np.random.default_rng(seed))
    assert np.abs(rows(name, T)[0]).max() < 2e-15


@pytest.mark.parametrize("name", CUTS)
@settings(max_examples=15)
@given(seed=SEEDS)
def test_the_equations_forbid_all_but_the_motions_of_the_joint(name, seed):
    T, S = motion(name, np.random.default_rng(seed))
    _, W = rows(name, T)
    singular = np.linalg.svd(W, compute_uv=False)
    assert singular[-1] > 0.05 * min(1.0, PITCH)
    assert np.linalg.matrix_rank(np.hstack([W.T, S])) == 6
    assert np.abs(W @ S).max(initial=0.0) < 1e-14


@pytest.mark.parametrize("name", CUTS)
@settings(max_examples=15)
@given(seed=SEEDS)
def test_rates_are_forces_times_velocities_at_any_pose(name, seed):
    """Also where the joint is open: sixth-order differences of the values along a twist."""
    rng = np.random.default_rng(seed)
    T, twist = np.eye(4), rng.normal(size=6)
    T[:3, :3], T[:3, 3] = turned(rng.normal(size=3)), rng.normal(size=3)
    _, W = rows(name, T)
    h = 2e-3
    pairs = [rows(name, moved(T, twist, k * h))[0] - rows(name, moved(T, twist, -k * h))[0] for k in (1, 2, 3)]
    slope = (45 * pairs[0] - 9 * pairs[1] + pairs[2]) / (60 * h)
    size = max(1.0, (np.linalg.norm(twist) / PITCH) ** 6 if name == "screw" else 1.0)
    np.testing.assert_allclose(W @ twist, slope, atol=1e-9 + 1e-16 * size)


@pytest.mark.parametrize("name", CUTS)
def test_torques_are_the_equations_without_a_force(name):
    f, found = closings_of(name)
    rng = np.random.default_rng(3)
    _, force, torque = evaluate(f, turned(rng.normal(size=3)), rng.normal(size=3))
    for closing, F, M in zip(found, force, torque, strict=True):
        assert closing.is_torque == (not F.any())
        assert closing.part.startswith("about_") == closing.is_torque
        assert F.any() or M.any()


@pytest.mark.parametrize("name", CUTS)
def test_near_closure_each_equation_measures_its_own_gap(name):
    """A small shift along, or turn about, the axis that an equation is named after is its value."""
    _, found = closings_of(name)
    size = 1e-6
    for k, closing in enumerate(found):
        axis = np.eye(3)["xyz".index(closing.part[-1])]
        gap = np.concatenate([0 * axis, axis] if closing.is_torque else [axis, 0 * axis])
        value, _ = rows(name, moved(np.eye(4), gap, size))
        np.testing.assert_allclose(value, size * np.eye(len(found))[k], atol=1e-11)


# -- displacements -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", MOVING)
@settings(max_examples=15)
@given(seed=SEEDS)
def test_displaced_coordinates_keep_quaternions_unit(name, seed):
    rng, kind = np.random.default_rng(seed), KINDS[name]
    q, d = coordinates(name, rng), rng.normal(size=kind.nv)
    found = evaluate(ALGEBRA[name], 1.001 * q if kind.nq > kind.nv else q, d)[2]
    if kind.nq > kind.nv:
        assert abs(np.linalg.norm(found[-4:]) - 1.0) < 1e-15
    else:
        still = evaluate(ALGEBRA[name], q, 0 * d)[2]
        np.testing.assert_array_equal(still, q)


@pytest.mark.parametrize("name", MOVING)
@settings(max_examples=10)
@given(seed=SEEDS)
def test_displaced_poses_follow_the_exponential_to_second_order(name, seed):
    """The pose after a step differs from T (I + hat) by terms of second order: a quarter of them for half the step."""
    rng, kind = np.random.default_rng(seed), KINDS[name]
    q, d = coordinates(name, rng), rng.uniform(-1, 1, kind.nv)
    T, S, _ = evaluate(ALGEBRA[name], q, d)
    twist = S.T @ d
    hat = np.zeros((4, 4))
    hat[:3, :3], hat[:3, 3] = skew(twist[3:]), twist[:3]
    gaps = []
    for step in (1e-3, 5e-4):
        after = evaluate(ALGEBRA[name], evaluate(ALGEBRA[name], q, step * d)[2], d)[0]
        gaps.append(np.abs(after - T @ (np.eye(4) + step * hat)).max())
    assert gaps[0] < 2e-5
    assert gaps[1] < 0.3 * gaps[0] + 1e-15


@pytest.mark.parametrize("name", MOVING)
def test_the_derivative_of_displaced_coordinates_is_the_rate(name):
    g, kind = Graph(), KINDS[name]
    q, d = g.block("q", kind.nq), g.block("d", kind.nv)
    J = jacobian(kind.displaced(g, list(q), list(d)), list(d)).dense()
    G = jacobian(kind.rates(g, list(q), list(d)), list(d)).dense()
    f = Function("f", [q, d], {"J": J, "G": G})
    found = evaluate(f, coordinates(name, np.random.default_rng(4)), np.zeros(kind.nv))
    np.testing.assert_allclose(found[0], found[1], atol=1e-15)
