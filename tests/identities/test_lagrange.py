"""The recursion of Newton and Euler against the equations from energies, two ways that share no step."""

import numpy as np
import pytest
from hypothesis import given, settings

from support.evaluated import Evaluated, assert_same
from support.example_files import EXAMPLES
from support.lagrangian import by_lagrange
from support.plain_closed import sixth_order_slope
from support.random_mechanisms import BASES, LOAD_FORMS, MOVING, BodyPlan, Plan, mechanism_of, plans, state_of
from torseur.describe import Mechanism
from torseur.errors import ArgumentError
from torseur.formats import load
from torseur.graph import Function, evaluate
from torseur.model import build, lagrange_steps

RATES = ("revolute", "prismatic", "screw", "cylindrical", "universal", "fixed")


def assert_agree(mechanism, seed=0):
    s = state_of(mechanism, seed)
    assert_same(Evaluated(mechanism, loads=False)("inverse_dynamics", s.q, s.v, s.vdot), by_lagrange(mechanism, s))


@pytest.mark.parametrize("kind", MOVING)
def test_every_joint_kind_twice_in_a_row(kind):
    assert_agree(mechanism_of(Plan("fixed", (BodyPlan(kind, -1), BodyPlan(kind, 0, "rpy", "central")), seed=5)))


@pytest.mark.parametrize("base", BASES)
def test_every_base_with_an_arm_and_oblique_rotors(base):
    bodies = (BodyPlan("revolute", -1, "rpy"), BodyPlan("prismatic", 0), BodyPlan("fixed", 1, "dh"))
    loads = ("motor", "far_motor", "motor", "transmission")
    assert_agree(mechanism_of(Plan(base, bodies, loads, symbols=True, seed=2)))


@given(plan=plans(max_bodies=3, loads=("motor", "far_motor", "transmission")))
@settings(max_examples=15)
def test_random_mechanisms(plan):
    assert_agree(mechanism_of(plan), plan.seed % 1000)


@settings(max_examples=8)
@given(plan=plans(bases=("fixed", "carrier"), kinds=RATES, loads=LOAD_FORMS, max_bodies=3))
def test_what_is_printed_of_lagranges_method_is_the_inverse_dynamics(plan):
    """M vdot + C v + G - Q = tau, loads included; M is the inertia matrix, and dM/dt - 2 C skew."""
    mechanism = mechanism_of(plan)
    call, s = Evaluated(mechanism), state_of(mechanism, plan.seed % 1000)
    at = {"t": s.t, "u": s.u}
    T, U, M, C, G, Q = call("lagrange", s.q, s.v, **at)
    assert_same(M @ s.vdot + C @ s.v + G - Q, call("inverse_dynamics", s.q, s.v, s.vdot, **at), size=10.0)
    assert_same(T, call("kinetic_energy", s.q, s.v), size=10.0)
    assert_same(U, call("potential_energy", s.q), size=10.0)
    assert_same(M, call("mass_matrix", s.q))
    slope = sixth_order_slope(lambda x: call("lagrange", s.q + x * s.v, s.v, **at)[2], 1e-3)
    skew = slope - 2 * C
    assert_same(skew, -skew.T, size=10.0, tolerance=1e-8)


@pytest.mark.parametrize("base", ["floating", "moving"])
def test_speeds_that_are_no_rates_are_refused_with_a_remedy(base):
    record = {"name": "x", "base": {"kind": base, "inertia": {"M": 1.0}}}
    body = {"joint": {"kind": "revolute", "coordinate": "q"}, "inertia": {"M": 1.0, "ZZ": 1.0}}
    if base == "moving":
        record["base"]["place"] = {"steps": ({"tx": "sin(t)"},)}
    mechanism = Mechanism.model_validate({**record, "bodies": {"b": body}})
    with pytest.raises(ArgumentError, match=r"carrier|inverse_dynamics"):
        lagrange_steps(mechanism)


def test_constraints_have_multipliers_in_lagranges_equations():
    """tau - A' lambda with the multipliers of the motion is what was applied."""
    mechanism = load(EXAMPLES / "four_bar" / "four_bar.yaml")
    found = lagrange_steps(mechanism)
    assert found.lagrange.row_names == ("pin_x", "pin_y")
    model = build(mechanism)
    state = model.assemble({"q1": 0.7}, hold=["q1", "dq1"], speeds={"dq1": 2.0})
    tau = np.array([0.4, 0.1, -0.2])
    vdot, (lam, _) = model.forward_dynamics(state.q, state.v, tau), model.multipliers(state.q, state.v, tau)
    blocks = {b.name: b for b in found.blocks}
    function = Function("tau", [blocks[n] for n in ("q", "v", "vdot", "lam", "u", "p")], {"tau": found.lagrange.tau})
    values = (state.q, state.v, vdot, lam, model.input_values, model.parameter_values)
    assert_same(evaluate(function, *values)[0], tau, size=10.0)
