"""Loads that depend on normal forces of the same instant: against an independent solution, and in every function."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torseur as ts
from torseur.describe import Effort, Mechanism, SpringDamper, Wrench
from torseur.dynamics.matrices import determinant
from torseur.graph import Function, Graph, evaluate

G = 9.81
FORCES = {"front": "4*{N}*tanh(3*(dx - 0.3*ds))/(1 + 0.05*{N})", "rear": "0.6*{N} + 0.01*{N}^2*dx"}


def trolley(laws=None, **more):
    """A car of 3 kg that moves in the plane on two wheels without slip rows, whose forces follow their loads."""
    laws = FORCES if laws is None else laws
    bodies = {
        "along": {"place": {"pose": {"rpy": [0, "pi/2", 0]}}, "joint": {"kind": "prismatic", "coordinate": "x"}},
        "up": {
            "parent": "along",
            "place": {"pose": {"rpy": [0, "-pi/2", 0]}},
            "joint": {"kind": "prismatic", "coordinate": "z"},
        },
        "car": {
            "parent": "up",
            "place": {"pose": {"rpy": ["-pi/2", 0, 0]}},
            "joint": {"kind": "revolute", "coordinate": "a"},
            "inertia": {"M": 3.0, "MX": 0.4, "MY": -1.5, "ZZ": 2.0},
        },
        "front": {
            "parent": "car",
            "place": {"pose": {"position": [0.7, 0.1, 0]}},
            "joint": {"kind": "revolute", "coordinate": "s"},
            "inertia": {"M": 0.5, "ZZ": 0.02},
        },
        "rear": {
            "parent": "car",
            "place": {"pose": {"position": [-0.6, 0.15, 0]}},
            "joint": {"kind": "revolute", "coordinate": "r"},
            "inertia": {"M": 0.5, "ZZ": 0.02},
        },
    }
    wheels = {w: {"rolling": {"wheel": w, "radius": 0.3, "slides": "freely"}} for w in ("front", "rear")}
    loads = {
        f"tyre_{w}": Wrench(
            frame=w, force=("-(" + law.format(N=f"normal({w})") + ")", 0, 0), torque=(0, 0, "0.01*ds"), axes="world"
        )
        for w, law in laws.items()
    }
    return Mechanism(name="trolley", bodies=bodies, constraints=wheels, loads=loads, **more)


def state(model, **speeds):
    found = model.assemble({"z": 0.2}, speeds={"dx": 2.0, "ds": 3.0, "dr": -1.0, **speeds}, hold=["x"])
    return found.q, found.v


def newton(model, q, v, tau):
    """N by NumPy: multipliers of the mechanism under given forces, differences for the Jacobian, in high precision."""
    A, b = model.constraint_jacobian(q), model.function("constraint_bias")(q, v)
    M, n = model.mass_matrix(q), len(v)
    rows = [model.normal_rows[w] for w in ("front", "rear")]
    K = np.block([[M, -A.T], [A, np.zeros((len(A), len(A)))]])

    def misses(N):
        f = tau - model.bias(q, v, normals=np.maximum(N, 0.0))
        return N - np.linalg.solve(K, np.concatenate([f, b]))[n:][rows]

    N = np.array([10.0, 10.0])
    for _ in range(60):
        J = np.array([(misses(N + h) - misses(N - h)) / (2.0 * np.abs(h).sum()) for h in 1e-3 * np.eye(2)]).T
        N = N - np.linalg.solve(J, misses(N))
    return N


def test_normal_forces_of_nonlinear_laws_are_those_of_an_independent_newton_solution():
    model = ts.build(trolley())
    rng = np.random.default_rng(3)
    for _ in range(5):
        q, v = state(model, dx=rng.normal(), ds=rng.normal())
        tau = rng.normal(size=model.nv)
        lam = model.multipliers(q, v, tau)[0]
        found = np.array([lam[model.normal_rows[w]] for w in ("front", "rear")])
        expected = newton(model, q, v, tau)
        np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


def test_forward_and_inverse_dynamics_agree_at_the_normal_forces_found():
    model = ts.build(trolley())
    q, v = state(model)
    tau = np.arange(1.0, model.nv + 1)
    vdot, lam = model.forward_dynamics(q, v, tau), model.multipliers(q, v, tau)[0]
    normals = dict(zip(model.mechanism.pushing, model.normals_of(lam), strict=True))
    back = model.inverse_dynamics(q, v, vdot, normals=normals) - model.constraint_jacobian(q).T @ lam
    np.testing.assert_allclose(back, tau, atol=1e-11)
    reduced = model.function("reduced_forward_dynamics")(q, v, tau)
    np.testing.assert_allclose(reduced[1], vdot, atol=1e-10)


def test_a_function_that_needs_normal_forces_asks_for_them():
    model = ts.build(trolley())
    q, v = state(model)
    with pytest.raises(ts.ArgumentError, match="normals") as error:
        model.inverse_dynamics(q, v, np.zeros(model.nv))
    assert "front, rear" in str(error.value)
    with pytest.raises(ts.ArgumentError, match="rear"):
        model.inverse_dynamics(q, v, np.zeros(model.nv), normals={"front": 1.0})
    with pytest.raises(ts.ArgumentError, match="did you mean front"):
        model.inverse_dynamics(q, v, np.zeros(model.nv), normals={"frnt": 1.0})


def test_a_batch_in_lanes_gives_what_single_calls_give():
    model = ts.build(trolley())
    q, v = state(model)
    v = v + 0.01 * np.arange(7.0)[:, None]
    batch = model.forward_dynamics(np.tile(q, (7, 1)), v, np.zeros(model.nv))
    for k in range(7):
        np.testing.assert_array_equal(batch[k], model.forward_dynamics(q, v[k], np.zeros(model.nv)))


def test_derivatives_follow_the_normal_forces():
    model = ts.build(trolley())
    q, v = state(model)
    tau = np.arange(1.0, model.nv + 1)
    _, by_q, by_v, by_tau = model.forward_dynamics_derivatives(q, v, tau)
    for table, place in ((by_v, 1), (by_tau, 2), (by_q, 0)):
        for j in range(model.nv):
            args = [[q, v, tau], [q, v, tau]]
            step = np.zeros(model.nv)
            step[j] = 1e-5
            for sense, some in zip((1.0, -1.0), args, strict=True):
                some[place] = some[place] + sense * step
            plus, minus = (model.forward_dynamics(*some) for some in args)
            np.testing.assert_allclose(table[:, j], (plus - minus) / 2e-5, atol=2e-6, rtol=1e-6)


def test_a_linear_model_follows_the_normal_forces_in_its_outputs_too():
    mechanism = trolley(outputs={"load": {"value": "normal(front)"}}, inputs={"u": {}})
    loads = {**mechanism.loads, "drive": Effort(coordinate="r", value="u")}
    model = ts.build(mechanism.model_copy(update={"loads": loads}))
    q, v = state(model)
    linear = model.linearise((q, v), inputs=["u", "tau_da"])
    names = [x.name for x in model.speeds]

    def at(v, u, tau):
        return model.normals_of(model.multipliers(q, v, tau, inputs={"u": u})[0])[0]

    push, none = np.zeros(model.nv), np.zeros(model.nv)
    push[names.index("da")] = 1e-4
    by_u = (at(v, 1e-4, none) - at(v, -1e-4, none)) / 2e-4
    by_tau = (at(v, 0.0, push) - at(v, 0.0, -push)) / 2e-4
    np.testing.assert_allclose(linear.D[0], [by_u, by_tau], atol=1e-7)
    for j, name in enumerate(linear.states):
        if name in names:
            step = 1e-5 * linear.T[model.nv :, j]
            assert linear.C[0, j] == pytest.approx((at(v + step, 0, none) - at(v - step, 0, none)) / 2e-5, abs=1e-6)


def test_an_equilibrium_feels_forces_that_follow_the_normal_force():
    """A wedge: a body of 2 kg on the ground, drawn aside by half its normal force against a spring."""
    bodies = {
        "lift": {"joint": {"kind": "prismatic", "coordinate": "z"}, "inertia": {"M": 0.5}},
        "block": {
            "parent": "lift",
            "place": {"pose": {"rpy": [0, "pi/2", 0]}},
            "joint": {"kind": "prismatic", "coordinate": "x"},
            "inertia": {"M": 1.5},
        },
    }
    loads = {
        "pull": Effort(coordinate="x", value="0.5*normal(ground)"),
        "press": Effort(coordinate="z", value="-3*x"),
        "spring": SpringDamper(coordinate="x", stiffness=20.0),
    }
    wedge = Mechanism(name="wedge", bodies=bodies, loads=loads, constraints={"ground": {"contact": {"frame": "block"}}})
    rest = ts.equilibrium(wedge)
    N = 2.0 * G / (1.0 - 3.0 * 0.5 / 20.0)  # N = 2 g + 3 x, 20 x = N / 2
    assert rest.q == pytest.approx([0.0, 0.5 * N / 20.0], abs=1e-10)
    assert rest.multipliers[0] == pytest.approx(N)


def test_four_rigid_legs_share_their_load_in_many_ways_and_no_law_may_read_it():
    places = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    legs = {f"leg{k}": {"place": {"pose": {"position": [x, y, -0.5]}}} for k, (x, y) in enumerate(places)}
    law = {"pull": Wrench(frame="leg0", force=("-0.1*normal(c0)", 0, 0), axes="world")}
    base = {"kind": "floating", "inertia": {"M": 4.0, "XX": 1, "YY": 1, "ZZ": 1}, "frames": legs}

    def table(n):
        contacts = {f"c{k}": {"contact": {"frame": f"leg{k}"}} for k in range(n)}
        return Mechanism(name="table", base=base, constraints=contacts, loads=law)

    with pytest.raises(ts.ModelError, match="not determined") as error:
        ts.simulate(table(4), until=0.1, start={"z": 0.5})
    for part in ("constraints.c0", "constraints.c1", "spring"):
        assert part in str(error.value)
    model = ts.build(table(4))
    with pytest.raises(ts.ModelError, match="not determined"):
        model.forward_dynamics(model.assemble({"z": 0.5}).q, np.zeros(6), np.zeros(6))
    three = ts.build(table(3))
    assert np.isfinite(three.forward_dynamics(three.assemble({"z": 0.5}).q, np.zeros(6), np.zeros(6))).all()


def test_an_unknown_contact_in_a_formula_is_named():
    law = {"pull": Effort(coordinate="z", value="normal(grond)")}
    body = {"joint": {"kind": "prismatic", "coordinate": "z"}, "inertia": {"M": 1.0}}
    wrong = Mechanism(
        name="wrong", bodies={"ball": body}, loads=law, constraints={"ground": {"contact": {"frame": "ball"}}}
    )
    with pytest.raises(ts.ModelError, match=r"normal\(grond\)") as error:
        ts.build(wrong).forward_dynamics([0.0], [0.0], [0.0])
    assert "normal(ground)" in str(error.value)
    with pytest.raises(ValueError, match="normal needs a name"):
        Effort(coordinate="z", value="normal(2)")


def test_friction_with_a_level_that_follows_the_state_is_no_base_parameter():
    law = {
        "rail": SpringDamper(coordinate="z", friction="mu*abs(z)", damping="c"),
        "stop": SpringDamper(coordinate="z"),
    }
    body = {"joint": {"kind": "prismatic", "coordinate": "z"}, "inertia": {"M": 1.0}}
    parameters = {"mu": {"value": 2.0}, "c": {"value": 0.5}}
    model = ts.build(Mechanism(name="slide", bodies={"ball": body}, loads=law, parameters=parameters))
    q, v, vdot = [0.3], [1.5], [2.0]
    K = model.function("standard_parameters")()
    Y, given = model.function("regressor")(q, v, vdot), model.function("given_forces")(q, v)
    np.testing.assert_allclose(Y @ K + given, model.inverse_dynamics(q, v, vdot), atol=1e-13)


def test_friction_of_a_contact_is_among_the_given_forces_of_the_regressor():
    base = {"kind": "floating", "inertia": {"M": 4.0, "XX": 1, "YY": 1, "ZZ": 1}}
    model = ts.build(
        Mechanism(name="block", base=base, constraints={"c": {"contact": {"frame": "base", "friction": 0.3}}})
    )
    q, v = model.assemble().q, np.array([1.0, 2.0, 0.0, 0.1, 0.2, 0.3])
    given = model.function("given_forces")(q, v, normals={"c": 10.0})
    without = model.inverse_dynamics(q, v, v, normals={"c": 0.0})
    np.testing.assert_allclose(given, model.inverse_dynamics(q, v, v, normals={"c": 10.0}) - without, atol=1e-13)
    assert np.linalg.norm(given[:3]) == pytest.approx(3.0)


def test_determinants_of_few_rows_and_of_many():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 11):
        A = rng.normal(size=(n, n)) + 3.0 * np.eye(n)
        g = Graph()
        a = g.block("a", (n, n))
        rows = [list(a)[n * k : n * (k + 1)] for k in range(n)]
        found = float(evaluate(Function("det", [a], {"d": [determinant(rows)]}), A)[0][0])
        assert found == pytest.approx(np.linalg.det(A), rel=1e-10)


def test_a_named_quantity_may_stand_for_a_normal_force():
    law = {"pull": Effort(coordinate="x", value="-drag")}
    bodies = {
        "lift": {"joint": {"kind": "prismatic", "coordinate": "z"}},
        "block": {
            "parent": "lift",
            "place": {"pose": {"rpy": [0, "pi/2", 0]}},
            "joint": {"kind": "prismatic", "coordinate": "x"},
            "inertia": {"M": 2.0},
        },
    }
    ground = {"ground": {"contact": {"frame": "block"}}}
    slider = Mechanism(
        name="slider",
        bodies=bodies,
        loads=law,
        constraints=ground,
        quantities={"drag": {"value": "0.3*normal(ground)"}},
    )
    assert ts.build(slider).forward_dynamics([0, 0], [0, 1], [0, 0]) == pytest.approx([0.0, -0.3 * G])
    run = ts.simulate(slider, until=0.2, start={"z": 0.1, "dx": 1.0}, every=0.1)
    assert run["dx"][-1] == pytest.approx(1.0 - 0.3 * G * (0.2 - math.sqrt(0.2 / G)), abs=1e-9)
