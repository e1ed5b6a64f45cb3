"""Inverse dynamics is a regressor times parameters, and base parameters say the same with fewer."""

import numpy as np
import pytest
from hypothesis import given, settings

from support.evaluated import Evaluated, arguments_of, assert_same
from support.plain import Plain
from support.random_mechanisms import LOAD_FORMS, MOVING, mechanism_of, plans, random_plan, state_of
from torseur.describe import Mechanism, SpringDamper, Transmission
from torseur.dynamics.parameters.regressor import TEN, standard_parameters
from torseur.dynamics.quantities import Options, Workbench
from torseur.graph import Function, evaluate, jacobian


def product(mechanism, s, which="regressor", parameters="standard_parameters"):
    """Y K plus what loads other than friction ask for."""
    ours = Evaluated(mechanism)
    Y, K = ours(which, s.q, s.v, s.vdot, t=s.t, u=s.u), ours(parameters)
    return Y @ K + ours("given_forces", s.q, s.v, t=s.t, u=s.u)


@given(plan=plans(loads=LOAD_FORMS, max_loads=5))
@settings(max_examples=25)
def test_the_regressor_times_the_parameters_is_inverse_dynamics(plan):
    mechanism = mechanism_of(plan)
    s = state_of(mechanism, plan.seed % 1000)
    tau = Evaluated(mechanism)("inverse_dynamics", s.q, s.v, s.vdot, t=s.t, u=s.u)
    assert_same(product(mechanism, s), tau)


@given(plan=plans(loads=LOAD_FORMS, max_loads=4, max_bodies=4))
@settings(max_examples=15)
def test_the_base_regressor_times_the_base_parameters_is_inverse_dynamics(plan):
    mechanism = mechanism_of(plan)
    s = state_of(mechanism, plan.seed % 1000)
    tau = Evaluated(mechanism)("inverse_dynamics", s.q, s.v, s.vdot, t=s.t, u=s.u)
    assert_same(product(mechanism, s, "base_regressor", "base_parameters"), tau)


@given(plan=plans(max_bodies=4, loads=("friction", "transmission", "motor", "wrench"), max_loads=3))
@settings(max_examples=12)
def test_the_regressor_times_the_parameters_is_what_point_masses_need(plan):
    """Masses as points, accelerations of points, virtual power: nothing in common with the recursion."""
    mechanism = mechanism_of(plan)
    s = state_of(mechanism, plan.seed % 1000)
    assert_same(product(mechanism, s), Plain(mechanism).inverse_dynamics(s.q, s.v, s.vdot, s.t, s.u))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base", "bodies"),
    [
        pytest.param("floating", 40, marks=pytest.mark.slow),
        ("fixed", 25),
        pytest.param("carrier", 20, marks=pytest.mark.slow),
    ],
)
def test_large_trees_too(base, bodies):
    plan = random_plan(np.random.default_rng(bodies), bodies, base=base, kinds=MOVING, loads=4)
    mechanism = mechanism_of(plan)
    s = state_of(mechanism, 1)
    tau = Evaluated(mechanism)("inverse_dynamics", s.q, s.v, s.vdot, t=s.t, u=s.u)
    assert_same(product(mechanism, s), tau)
    if bodies <= 25:
        assert_same(product(mechanism, s, "base_regressor", "base_parameters"), tau)


def with_named_parameters(kind):
    """A floating chain whose inertias, drive and friction are parameters called as the regressor calls them."""
    rng = np.random.default_rng(6)
    bodies, parameters = {}, {}

    def named(number):
        parameters.update({f"{n}{number}": {"value": float(x)} for n, x in zip(TEN, rng.normal(size=10), strict=True)})
        return {n: f"{n}{number}" for n in TEN}

    base = {"kind": "floating", "inertia": named(0)}
    for k, joint in enumerate(("revolute", kind, "universal"), 1):
        pose = {"position": tuple(rng.uniform(0.2, 0.6, 3)), "rpy": tuple(rng.uniform(0.3, 1.2, 3))}
        body = {"parent": f"b{k - 1}" if k > 1 else "base", "place": {"pose": pose}, "inertia": named(k)}
        body["joint"] = {"kind": joint, **({"pitch": 0.2} if joint == "screw" else {})}
        bodies[f"b{k}"] = body
    parameters |= {n: {"value": x} for n, x in (("IA1", 0.3), ("FV1", 0.4), ("FS1", 0.2))}
    loads = {"drive": Transmission(coordinate="q_b1", inertia="IA1")}
    loads["friction"] = SpringDamper(coordinate="q_b1", damping="FV1", friction="FS1")
    fields = {"name": "chain", "base": base, "bodies": bodies, "parameters": parameters, "loads": loads}
    return Mechanism.model_validate(fields)


@pytest.mark.parametrize("kind", MOVING)
def test_a_column_is_the_derivative_by_its_parameter(kind):
    mechanism = with_named_parameters(kind)
    bench = Workbench(mechanism, Options(base_parameters=False))
    assert [x.name for x in standard_parameters(bench.tree)] == list(bench.system.p.names)
    tau = bench.inverse(list(bench.block("vdot")))
    blocks = [bench.system.q, bench.system.v, bench.block("vdot"), bench.system.p]
    slopes = Function("slopes", blocks, {"by_p": jacobian(tau, list(bench.system.p)).dense()})
    s = state_of(mechanism, 3)
    by_p = evaluate(slopes, *arguments_of(mechanism, slopes, (s.q, s.v, s.vdot)))[0]
    assert_same(Evaluated(mechanism)("regressor", s.q, s.v, s.vdot), by_p)


def test_the_regressor_needs_no_parameter_it_stands_for():
    function = Evaluated(with_named_parameters("prismatic")).function("regressor")
    assert [b.name for b in function.inputs] == ["q", "v", "vdot"]


def test_a_massless_body_has_no_columns_and_a_fixed_one_is_part_of_another():
    bodies = {
        "arm": {"joint": "revolute", "inertia": {"ZZ": 1.0}},
        "wrist": {"parent": "arm", "joint": "revolute"},
        "hand": {"parent": "wrist", "joint": "revolute", "inertia": {"ZZ": 1.0}},
        "tool": {"parent": "hand", "inertia": {"M": 2.0}, "place": {"pose": {"position": (0.5, 0.0, 0.0)}}},
    }
    mechanism = Mechanism.model_validate({"name": "arm", "bodies": bodies})
    found = standard_parameters(Workbench(mechanism, Options(base_parameters=False)).tree)
    assert [p.name for p in found] == [f"{n}{k}" for k in (1, 3) for n in TEN]
    assert [float(p.value) for p in found[10:]] == [0, 0, 0, 0.5, 0, 1.5, 1.0, 0, 0, 2.0]
