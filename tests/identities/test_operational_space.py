"""At a frame: force = M_x acceleration + bias, whatever the chain, and the textbook formulas where J is invertible."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.evaluated import Evaluated, assert_same
from support.plain import Plain
from support.random_mechanisms import BodyPlan, Plan, mechanism_of, state_of
from torseur.dynamics.tree.kinematics import Axes

LOADS = ("spring", "friction", "strut", "wrench", "transmission", "motor", "drag")
SIX, EIGHT = ("revolute",) * 6, ("revolute", "prismatic", "universal", "spherical", "revolute")


def regular(kinds, seed, rank, loads=()):
    """A chain, its last frame, and a state at which that frame moves well in as many directions as it should."""
    for k in range(60):
        bodies = tuple(BodyPlan(kind, n - 1, "rpy", has_frame=True) for n, kind in enumerate(kinds))
        mechanism, frame = mechanism_of(Plan("fixed", bodies, loads, seed=seed + k)), f"f{len(kinds) - 1}"
        s = state_of(mechanism, seed + k)
        if np.linalg.svd(Plain(mechanism).jacobian(s.q, frame), compute_uv=False)[rank - 1] > 0.03:
            return mechanism, frame, s
    raise AssertionError("no regular chain found")


@pytest.mark.slow
@given(
    seed=st.integers(0, 10_000),
    kinds=st.sampled_from([SIX, EIGHT]),
    axes=st.sampled_from(Axes),
    loads=st.lists(st.sampled_from(LOADS), max_size=3).map(tuple),
)
@settings(max_examples=8)
def test_force_at_a_frame_is_inertia_times_acceleration_and_bias(seed, kinds, axes, loads):
    mechanism, frame, s = regular(kinds, seed, 6, loads)
    ours, now = Evaluated(mechanism), {"t": s.t, "u": s.u}
    M_x, V_x, g_x, bias_x, rank = ours("operational_space", s.q, s.v, frame=frame, axes=axes, **now)
    J, M = ours("jacobian", s.q, frame=frame, axes=axes), ours("mass_matrix", s.q)
    a = ours("acceleration", s.q, s.v, s.vdot, frame=frame, axes=axes)
    tau = ours("inverse_dynamics", s.q, s.v, s.vdot, **now)
    A = J @ np.linalg.solve(M, J.T)
    slack = 1e-14 * np.linalg.cond(A) * np.linalg.cond(M) + 1e-10
    assert rank == 6
    F_x = np.linalg.solve(A, J @ np.linalg.solve(M, tau))
    size = float(np.abs(M_x).max() * np.abs(a).max() + np.abs(bias_x).max())
    assert_same(M_x, np.linalg.inv(A), tolerance=slack)
    assert_same(M_x @ a + bias_x, F_x, size=size, tolerance=slack)
    assert_same(ours("operational_force", s.q, tau, frame=frame, axes=axes), F_x, size=size, tolerance=slack)
    if len(mechanism.v) == 6:
        assert_same(J.T @ (M_x @ a + bias_x), tau, size=size, tolerance=slack)
    if not mechanism.loads:
        assert_same(V_x + g_x, bias_x, size=size, tolerance=slack)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=4)
def test_the_corrected_formulas_of_desantis_hold(seed):
    """(6.7)-(6.9) with J^-T on the left and the rate of J by differences, in world axes."""
    mechanism, _, s = regular(SIX, seed, 6)
    ours, plain, h = Evaluated(mechanism), Plain(mechanism), 1e-4

    def at(q, name):
        return ours(name, q, frame="f5", axes=Axes.WORLD) if name == "jacobian" else ours(name, q)

    J = at(s.q, "jacobian")
    steps = {k: at(plain.moved(s.q, s.v, k * h), "jacobian") for k in (-2, -1, 1, 2)}
    J_dot = (8 * (steps[1] - steps[-1]) - (steps[2] - steps[-2])) / (12 * h)
    inverse, D, g = np.linalg.inv(J), ours("mass_matrix", s.q), ours("gravity", s.q)
    C_v = ours("bias", s.q, s.v) - g
    M_x, V_x, g_x, _, _ = ours("operational_space", s.q, s.v, frame="f5", axes=Axes.WORLD)
    slack = 1e-7 * np.linalg.cond(J) ** 2
    assert_same(M_x, inverse.T @ D @ inverse, tolerance=slack)
    assert_same(V_x, inverse.T @ (C_v - D @ inverse @ J_dot @ s.v), size=float(np.abs(V_x).max()), tolerance=slack)
    assert_same(g_x, inverse.T @ g, size=float(np.abs(g_x).max()), tolerance=slack)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_with_few_joints_the_inertia_is_the_pseudo_inverse_on_what_can_move(n):
    mechanism, frame, s = regular(("revolute",) * n, 11, n)
    ours = Evaluated(mechanism)
    M_x, *_, rank = ours("operational_space", s.q, s.v, frame=frame)
    J, M = ours("jacobian", s.q, frame=frame), ours("mass_matrix", s.q)
    assert rank == n
    assert_same(M_x, np.linalg.pinv(J @ np.linalg.solve(M, J.T), rcond=1e-9), tolerance=1e-8)
    assert_same(J.T @ M_x @ J, M, tolerance=1e-8)
