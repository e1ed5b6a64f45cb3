"""A base whose pose is given in time: the rest moves as if a floating base were made to follow that pose."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings

from support.evaluated import Evaluated, arguments_of, assert_same
from support.random_mechanisms import LOAD_FORMS, MOVING, BodyPlan, Plan, mechanism_of, plans, state_of
from torseur.describe import BASE, BaseKind, Mechanism
from torseur.describe.fields import names_in
from torseur.dynamics.analytical.lagrange import energies, equations
from torseur.dynamics.quantities import Options, Workbench
from torseur.errors import ArgumentError, ModelError
from torseur.graph import Function, evaluate

sp = pytest.importorskip("sympy")

STEPS = ({"tx": "a*sin(2*t)"}, {"rz": "0.3*t^2"}, {"ty": 0.2}, {"rx": "cos(t)"}, {"tz": "a*t"}, {"ry": "0.7*t"})


@dataclass(frozen=True)
class Motion:
    """Pose, velocity (V, w) and its rate, in the base's axes."""

    T: np.ndarray
    v: np.ndarray
    vdot: np.ndarray


def motion_at(time, a):
    """The product of STEPS and its derivatives, by sympy."""
    t = sp.Symbol("t")
    z, o = sp.Integer(0), sp.Integer(1)

    def turn(i, x):
        R = sp.eye(3).as_mutable()
        j, k = (i + 1) % 3, (i + 2) % 3
        R[j, j] = R[k, k] = sp.cos(x)
        R[k, j], R[j, k] = sp.sin(x), -sp.sin(x)
        return R.row_join(sp.zeros(3, 1)).col_join(sp.Matrix([[z, z, z, o]]))

    def move(i, x):
        T = sp.eye(4).as_mutable()
        T[i, 3] = x
        return T

    T = move(0, a * sp.sin(2 * t)) * turn(2, sp.Float(0.3) * t**2) * move(1, sp.Float(0.2)) * turn(0, sp.cos(t))
    T = T * move(2, a * t) * turn(1, sp.Float(0.7) * t)
    X = _inverse(T) * T.diff(t)
    v = sp.Matrix([X[0, 3], X[1, 3], X[2, 3], X[2, 1], X[0, 2], X[1, 0]])
    numbers = [np.array(M.subs(t, time).evalf(20), dtype=float) for M in (T, v, v.diff(t))]
    return Motion(numbers[0], numbers[1].ravel(), numbers[2].ravel())


def _inverse(T):
    R, P = T[:3, :3], T[:3, 3]
    return R.T.row_join(-R.T * P).col_join(sp.Matrix([[0, 0, 0, 1]]))


def quaternion(R):
    """The eigenvector of Bar-Itzhack's matrix: no case is special."""
    K = np.zeros((4, 4))
    K[1:, 1:] = R + R.T - np.trace(R) * np.eye(3)
    K[0, 1:] = K[1:, 0] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    K[0, 0] = np.trace(R)
    return np.linalg.eigh(K)[1][:, -1]


def pair(plan):
    """The mechanism of a plan on a driven base, and the same on a floating one."""
    sample = mechanism_of(replace(plan, base="floating"))
    parameters = {**sample.parameters, "a": {"value": 0.4}}
    fields = {name: getattr(sample, name) for name in type(sample).model_fields} | {"parameters": parameters}
    driven = {"kind": BaseKind.MOVING, "place": {"steps": STEPS}, "inertia": sample.base.inertia}
    floating = {"kind": BaseKind.FLOATING, "inertia": sample.base.inertia}
    # Loads that name a coordinate or speed of the base have nothing to hold on to without them.
    names = {x.name for x in (*sample.q, *sample.v) if x.owner == BASE}
    fields["loads"] = {n: x for n, x in sample.loads.items() if not _names(x) & names}
    return (Mechanism.model_validate(fields | {"base": base}) for base in (driven, floating))


def _names(load):
    plain = {getattr(load, "coordinate", None)} | set(getattr(load, "combination", None) or ())
    return plain | set(names_in(load))


def states(driven, floating, seed):
    s = state_of(driven, seed)
    base = motion_at(s.t, 0.4)
    q = np.concatenate([base.T[:3, 3], quaternion(base.T[:3, :3]), s.q])
    return s, base, q, np.concatenate([base.v, s.v]), np.concatenate([base.vdot, s.vdot])


@pytest.mark.slow
@given(plan=plans(max_bodies=4, loads=LOAD_FORMS, kinds=MOVING))
@settings(max_examples=6)
def test_a_driven_base_moves_the_rest_as_a_floating_one_that_follows(plan):
    driven, floating = pair(plan)
    s, base, q, v, vdot = states(driven, floating, plan.seed % 100)
    now = {"t": s.t, "u": s.u}
    ours, theirs = Evaluated(driven), Evaluated(floating)
    M = theirs("mass_matrix", q)
    tau = theirs("inverse_dynamics", q, v, vdot, **now)
    size = float(np.abs(M) @ np.abs(vdot) @ np.ones(len(v)) / len(v) + np.abs(tau).max())
    assert_same(ours("inverse_dynamics", s.q, s.v, s.vdot, **now), tau[6:], size=size)
    assert_same(ours("mass_matrix", s.q, **now), M[6:, 6:])
    at_rest = theirs("inverse_dynamics", q, v, np.concatenate([base.vdot, 0 * s.vdot]), **now)
    assert_same(ours("bias", s.q, s.v, **now), at_rest[6:], size=size)
    assert_same(ours("kinetic_energy", s.q, s.v, **now), theirs("kinetic_energy", q, v))
    assert_same(ours("potential_energy", s.q, **now), theirs("potential_energy", q, **now))
    assert_same(ours("momentum", s.q, s.v, **now), theirs("momentum", q, v, **now))
    for name in driven.bodies:
        assert_same(ours("pose", s.q, frame=name, t=s.t), theirs("pose", q, frame=name))
        assert_same(ours("velocity", s.q, s.v, frame=name, t=s.t), theirs("velocity", q, v, frame=name))
        mine = ours("acceleration", s.q, s.v, s.vdot, frame=name, t=s.t)
        assert_same(mine, theirs("acceleration", q, v, vdot, frame=name))
        assert_same(ours("jacobian", s.q, frame=name, t=s.t), theirs("jacobian", q, frame=name)[:, 6:])


@given(plan=plans(max_bodies=3, kinds=MOVING))
@settings(max_examples=4)
def test_lagrange_and_newton_agree_on_a_driven_base(plan):
    driven, _ = pair(plan)
    bench = Workbench(driven, Options(loads=False))
    system, vdot = bench.system, bench.block("vdot")
    tau, L = bench.inverse(list(vdot)), equations(system, list(vdot), energies(system))
    blocks = [system.q, system.v, vdot, system.graph.blocks["t"], system.p]
    f = Function("both", blocks, {"newton": tau, "lagrange": L})
    s = state_of(driven, plan.seed % 100)
    newton, lagrange = evaluate(f, *arguments_of(driven, f, (s.q, s.v, s.vdot), s.t))
    assert_same(newton, lagrange, size=10.0)


@pytest.mark.slow
@given(plan=plans(max_bodies=3, kinds=("revolute", "prismatic", "spherical", "screw"), loads=("spring", "wrench")))
@settings(max_examples=4)
def test_forward_of_inverse_and_derivatives_hold_on_a_driven_base(plan):
    driven, floating = pair(plan)
    s, _, q, v, vdot = states(driven, floating, plan.seed % 100)
    now = {"t": s.t, "u": s.u}
    ours, theirs = Evaluated(driven), Evaluated(floating)
    tau = ours("inverse_dynamics", s.q, s.v, s.vdot, **now)
    slack = 1e-10 + 1e-14 * np.linalg.cond(ours("mass_matrix", s.q))
    assert_same(ours("forward_dynamics", s.q, s.v, tau, **now), s.vdot, tolerance=slack)
    mine = ours("inverse_dynamics_derivatives", s.q, s.v, s.vdot, **now)
    other = theirs("inverse_dynamics_derivatives", q, v, vdot, **now)
    for a, b in zip(mine, other, strict=True):
        assert_same(a, b[6:, 6:], size=float(np.abs(b).max()))


def test_derivatives_by_recursion_hold_on_a_driven_base():
    """Long enough that the recursion is taken."""
    bodies = tuple(BodyPlan("revolute", k - 1, "rpy") for k in range(10))
    driven, floating = pair(Plan("floating", bodies, seed=3))
    s, _, q, v, vdot = states(driven, floating, 5)
    mine = Evaluated(driven)("inverse_dynamics_derivatives", s.q, s.v, s.vdot, t=s.t)
    other = Evaluated(floating)("inverse_dynamics_derivatives", q, v, vdot)
    for a, b in zip(mine, other, strict=True):
        assert_same(a, b[6:, 6:], size=float(np.abs(b).max()))


def test_a_pendulum_on_a_shaken_pivot():
    """M l^2 q'' + M l (g + y'') sin q = tau, with the pivot at y = A sin(w t)."""
    base = {"kind": "moving", "place": {"steps": ({"ty": "A*sin(w*t)"},)}}
    rod = {"joint": {"kind": "revolute", "coordinate": "q"}, "inertia": {"M": 2.0, "MX": 1.0, "ZZ": 0.5}}
    rod["place"] = {"steps": ({"rz": "-pi/2"},)}
    parameters = {"A": {"value": 0.1}, "w": {"value": 5.0}}
    fields = {"name": "kapitza", "gravity": (0.0, -9.81, 0.0), "base": base, "bodies": {"rod": rod}}
    ours = Evaluated(Mechanism.model_validate(fields | {"parameters": parameters}))
    q, v, a, t = 0.4, 3.0, 0.6, 0.37
    expected = 0.5 * a + 1.0 * (9.81 - 0.1 * 25.0 * np.sin(5.0 * t)) * np.sin(q)
    assert_same(ours("inverse_dynamics", [q], [v], [a], t=t), [expected])


def test_a_base_driven_by_an_input_is_refused():
    base = {"kind": "moving", "place": {"steps": ({"tx": "lift"},)}}
    rod = {"joint": "revolute", "inertia": {"ZZ": 1.0}}
    mechanism = Mechanism.model_validate({"name": "x", "base": base, "bodies": {"rod": rod}, "inputs": {"lift": {}}})
    with pytest.raises(ModelError, match="inputs have no rates"):
        Evaluated(mechanism)("inverse_dynamics", [0.0], [0.0], [0.0])


def test_no_coriolis_matrix_on_a_driven_base():
    driven, _ = pair(Plan("floating", (BodyPlan("revolute", -1),), seed=3))
    with pytest.raises(ArgumentError, match="no matrix"):
        Evaluated(driven)("coriolis", [0.1], [0.2])
