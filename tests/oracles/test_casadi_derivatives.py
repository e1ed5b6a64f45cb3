"""Derivatives that casadi finds in the exported functions are ours."""

import numpy as np
import pytest
from hypothesis import given, settings

from support.evaluated import Evaluated, arguments_of, assert_same
from support.plain import Plain
from support.random_mechanisms import LOAD_FORMS, mechanism_of, plans, state_of
from torseur.emit.bridges import to_casadi

pytestmark = pytest.mark.oracle


@pytest.fixture(autouse=True, scope="module")
def _peer():
    """Imported only when these tests run."""
    global ca
    ca = pytest.importorskip("casadi")


SMOOTH = tuple(form for form in LOAD_FORMS if form != "friction")


def casadi_jacobians(mechanism, function, args, names, s):
    """d output / d name for some inputs, by casadi's own differentiation, at one state."""
    exported = to_casadi(function)
    values = [np.reshape(np.asarray(x, float), (-1, 1)) for x in arguments_of(mechanism, function, args, s.t, s.u)]
    symbols = [ca.SX.sym(b.name, b.size) for b in function.inputs]
    (output,) = exported.call(symbols)
    by_name = dict(zip([b.name for b in function.inputs], symbols, strict=True))
    tables = ca.Function("tables", symbols, [ca.jacobian(output, by_name[n]) for n in names])
    return [np.array(x) for x in tables.call(values)]


@given(plan=plans(loads=SMOOTH, max_bodies=3))
@settings(max_examples=20)
def test_derivatives_of_inverse_dynamics(plan):
    mechanism = mechanism_of(plan)
    ours, s = Evaluated(mechanism), state_of(mechanism, plan.seed % 1000)
    function = ours.function("inverse_dynamics")
    by_q, by_v, by_a = casadi_jacobians(mechanism, function, (s.q, s.v, s.vdot), ("q", "v", "vdot"), s)
    G = np.array([Plain(mechanism).rates(s.q, e) for e in np.eye(len(s.v))]).T
    mine = ours("inverse_dynamics_derivatives", s.q, s.v, s.vdot, t=s.t, u=s.u)
    assert_same(mine[0], by_q @ G)
    assert_same(mine[1], by_v)
    assert_same(ours("mass_matrix", s.q), by_a)


@given(plan=plans(loads=SMOOTH, max_bodies=3))
@settings(max_examples=10)
def test_derivatives_of_forward_dynamics(plan):
    mechanism = mechanism_of(plan)
    ours, s = Evaluated(mechanism), state_of(mechanism, plan.seed % 1000)
    function = ours.function("forward_dynamics")
    by_q, by_v, by_tau = casadi_jacobians(mechanism, function, (s.q, s.v, s.vdot), ("q", "v", "tau"), s)
    G = np.array([Plain(mechanism).rates(s.q, e) for e in np.eye(len(s.v))]).T
    _, mine_q, mine_v, mine_tau = ours("forward_dynamics_derivatives", s.q, s.v, s.vdot, t=s.t, u=s.u)
    loose = 1e-10 + 1e-13 * np.linalg.cond(ours("mass_matrix", s.q))
    assert_same(mine_q, by_q @ G, tolerance=loose)
    assert_same(mine_v, by_v, tolerance=loose)
    assert_same(mine_tau, by_tau, tolerance=loose)


@given(plan=plans(max_bodies=3))
@settings(max_examples=10)
def test_the_jacobian_of_a_frame_is_the_derivative_of_its_place(plan):
    mechanism = mechanism_of(plan)
    frame = list(mechanism.frames)[-1]
    ours, s = Evaluated(mechanism), state_of(mechanism, plan.seed % 1000)
    function = ours.function("pose", frame)
    (by_q,) = casadi_jacobians(mechanism, function, (s.q,), ("q",), s)
    G = np.array([Plain(mechanism).rates(s.q, e) for e in np.eye(len(s.v))]).T
    place = by_q @ G
    rows = [k for k in range(16) if k // 4 == 3 and k % 4 < 3]  # casadi stacks columns: the last is the position
    R = ours("pose", s.q, frame=frame)[:3, :3]
    assert_same(R @ ours("jacobian", s.q, frame=frame)[:3], place[rows])
