"""Derivatives of inverse and forward dynamics: by recursion, by differentiating expressions, by differences."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings

from support.evaluated import Evaluated, arguments_of, assert_same
from support.plain import Plain
from support.random_mechanisms import (
    LOAD_FORMS,
    MOVING,
    BodyPlan,
    Plan,
    mechanism_of,
    plans,
    random_plan,
    state_of,
    without_dry_friction,
)
from support.sweeps import mostly_slow
from torseur.describe import Drag
from torseur.dynamics.quantities import Options, Workbench
from torseur.dynamics.tree.derivatives import inverse_dynamics_derivatives
from torseur.errors import ModelError
from torseur.graph import Function, Mode, evaluate, jacobian

STRAIGHT = tuple(kind for kind in MOVING if kind != "universal")
"""Joint kinds the recursion takes."""


def by_recursion_and_expressions(mechanism, mode, **options):
    """dtau/dq (along the speeds, and by the coordinates) and dtau/dv both ways, as one function."""
    bench = Workbench(mechanism, Options(loads=False, **options))
    vdot = bench.block("vdot")
    fast_q, fast_v = inverse_dynamics_derivatives(bench.tree, list(vdot), bench.gravity)
    slow_q, slow_v = (
        jacobian(bench.inverse(list(vdot)), list(x), mode).dense() for x in (bench.system.q, bench.system.v)
    )
    outputs = {"fast_q": fast_q, "fast_v": fast_v, "slow_q": slow_q, "slow_v": slow_v}
    return Function("both", [bench.system.q, bench.system.v, vdot, bench.system.p], outputs)


def assert_recursion_agrees(mechanism, seed, mode, **options):
    s, plain = state_of(mechanism, seed), Plain(mechanism)
    function = by_recursion_and_expressions(mechanism, mode, **options)
    fast_q, fast_v, slow_q, slow_v = evaluate(function, *arguments_of(mechanism, function, (s.q, s.v, s.vdot)))
    rates = np.array([plain.rates(s.q, e) for e in np.eye(len(s.v))]).T
    assert_same(fast_q, slow_q @ rates)
    assert_same(fast_v, slow_v)


@pytest.mark.parametrize("mode", [Mode.FORWARD, Mode.REVERSE])
@pytest.mark.parametrize("kind", STRAIGHT)
def test_the_recursion_gives_the_derivatives_of_the_expressions_for_every_joint_kind(kind, mode):
    chain = (BodyPlan("revolute", -1, "rpy"), BodyPlan(kind, 0, "rpy"), BodyPlan("revolute", 1, "rpy", "central"))
    assert_recursion_agrees(mechanism_of(Plan("fixed", chain, seed=6)), 2, mode)


@pytest.mark.parametrize("pairs", [0, 100])
@given(plan=plans(kinds=(*STRAIGHT, "fixed"), max_bodies=4))
@settings(max_examples=6)
def test_the_recursion_gives_the_derivatives_of_the_expressions(pairs, plan):
    """With its products in a loop beyond so many pairs of speeds."""
    regroup = plan.seed % 2 == 0
    with patch("torseur.graph.products.MANY_PAIRS", pairs):
        assert_recursion_agrees(mechanism_of(plan), plan.seed % 1000, Mode.REVERSE, base_parameters=regroup)


def test_the_recursion_refuses_columns_that_turn():
    bench = Workbench(mechanism_of(Plan("fixed", (BodyPlan("universal", -1),))))
    with pytest.raises(ModelError, match="universal"):
        inverse_dynamics_derivatives(bench.tree, list(bench.block("vdot")), bench.gravity)


def differences(f, mechanism, q, v, extra, step=1e-6):
    """Central differences along each speed (of q) and by each v."""
    plain, n = Plain(mechanism), len(v)
    by_q = [
        (f(plain.moved(q, e, step), v, extra) - f(plain.moved(q, e, -step), v, extra)) / (2 * step) for e in np.eye(n)
    ]
    by_v = [(f(q, v + step * e, extra) - f(q, v - step * e, extra)) / (2 * step) for e in np.eye(n)]
    return np.array(by_q).T, np.array(by_v).T


@given(plan=plans(loads=LOAD_FORMS, max_bodies=4))
@settings(max_examples=6)
def test_derivatives_of_inverse_dynamics_are_limits_of_differences(plan):
    mechanism = without_dry_friction(mechanism_of(plan))
    ours, s = Evaluated(mechanism), state_of(mechanism, plan.seed % 1000)
    by_q, by_v = ours("inverse_dynamics_derivatives", s.q, s.v, s.vdot, t=s.t, u=s.u)
    expected = differences(lambda q, v, a: ours("inverse_dynamics", q, v, a, t=s.t, u=s.u), mechanism, s.q, s.v, s.vdot)
    assert_same(by_q, expected[0], tolerance=1e-6)
    assert_same(by_v, expected[1], tolerance=1e-6)


@pytest.mark.parametrize("pairs", [0, 100])
@given(plan=plans(loads=LOAD_FORMS, max_bodies=3))
@settings(max_examples=5)
def test_derivatives_of_forward_dynamics_are_consistent(pairs, plan):
    """With products and solutions in a loop beyond so many pairs of speeds."""
    with patch.multiple("torseur.graph.products", MANY_PAIRS=pairs):
        assert_forward_derivatives_are_consistent(plan)


def assert_forward_derivatives_are_consistent(plan):
    mechanism = mechanism_of(plan)
    ours, s = Evaluated(mechanism), state_of(mechanism, plan.seed % 1000)
    tau = ours("inverse_dynamics", s.q, s.v, s.vdot, t=s.t, u=s.u)
    M = ours("mass_matrix", s.q)
    vdot, by_q, by_v, by_tau = ours("forward_dynamics_derivatives", s.q, s.v, tau, t=s.t, u=s.u)
    down_q, down_v = ours("inverse_dynamics_derivatives", s.q, s.v, vdot, t=s.t, u=s.u)
    loose = 1e-10 + 1e-14 * np.linalg.cond(M)
    assert_same(vdot, s.vdot, tolerance=loose)
    assert_same(M @ by_tau, np.eye(len(s.v)), tolerance=loose)
    assert_same(M @ by_q, -down_q, tolerance=loose)
    assert_same(M @ by_v, -down_v, tolerance=loose)


def test_derivatives_of_forward_dynamics_are_limits_of_differences():
    plan = Plan(
        "planar",
        (BodyPlan("spherical", -1), BodyPlan("screw", 0, "rpy"), BodyPlan("revolute", 0)),
        ("spring", "strut"),
        seed=9,
    )
    mechanism = mechanism_of(plan)
    ours, s = Evaluated(mechanism), state_of(mechanism, 4)
    _, by_q, by_v, by_tau = ours("forward_dynamics_derivatives", s.q, s.v, s.vdot)
    expected = differences(lambda q, v, tau: ours("forward_dynamics", q, v, tau), mechanism, s.q, s.v, s.vdot)
    assert_same(by_q, expected[0], tolerance=1e-6)
    assert_same(by_v, expected[1], tolerance=1e-6)
    columns = [
        ours("forward_dynamics", s.q, s.v, s.vdot + e) - ours("forward_dynamics", s.q, s.v, s.vdot)
        for e in np.eye(len(s.v))
    ]
    assert_same(by_tau, np.array(columns).T, tolerance=1e-9)


@pytest.mark.parametrize("loads", mostly_slow([0, 5], quick=(0,)))
def test_derivatives_of_a_large_tree_are_limits_of_differences(loads):
    rng = np.random.default_rng(12)
    mechanism = mechanism_of(random_plan(rng, 12, base="floating", kinds=STRAIGHT, loads=loads))
    mechanism = without_dry_friction(mechanism)
    ours, s = Evaluated(mechanism), state_of(mechanism, 1, size=0.3)
    by_q, by_v = ours("inverse_dynamics_derivatives", s.q, s.v, s.vdot, t=s.t, u=s.u)
    expected = differences(lambda q, v, a: ours("inverse_dynamics", q, v, a, t=s.t, u=s.u), mechanism, s.q, s.v, s.vdot)
    assert_same(by_q, expected[0], tolerance=1e-6)
    assert_same(by_v, expected[1], tolerance=1e-6)


def test_drag_has_derivatives_at_rest():
    mechanism = mechanism_of(Plan("floating", (BodyPlan("revolute", -1),), seed=2))
    mechanism = mechanism.model_copy(update={"loads": {"air": Drag(frame="b0", coefficient=0.5, area=1.0)}})
    ours, s = Evaluated(mechanism), state_of(mechanism)
    by_q, by_v = ours("inverse_dynamics_derivatives", s.q, 0 * s.v, s.vdot)
    assert np.all(np.isfinite(by_q))
    assert_same(by_v, np.zeros_like(by_v))
