"""The inertia matrix: columns of inverse dynamics, Hessian of kinetic energy, and what forward dynamics divides by."""

import numpy as np
import pytest
from hypothesis import given, settings

from support.evaluated import Evaluated, arguments_of, assert_same
from support.random_mechanisms import LOAD_FORMS, MOVING, BodyPlan, Plan, mechanism_of, plans, random_plan, state_of
from torseur.describe import Motor, Transmission
from torseur.dynamics.quantities import Options, Workbench
from torseur.dynamics.tree.inertia_matrix import articulated_solve
from torseur.graph import Function, evaluate, hessian

ROUNDING = 2.0**-52


def assert_forward_undoes_inverse(ours, s):
    """To 1e-10 of vdot, or to what the condition of M leaves of double precision."""
    tau = ours("inverse_dynamics", s.q, s.v, s.vdot, t=s.t, u=s.u)
    vdot = ours("forward_dynamics", s.q, s.v, tau, t=s.t, u=s.u)
    M = ours("mass_matrix", s.q)
    bias = ours("bias", s.q, s.v, t=s.t, u=s.u)
    forces = max(np.abs(tau).max(), np.abs(bias).max(), np.abs(M @ s.vdot).max())
    assert_same(M @ vdot, M @ s.vdot, size=forces)
    slack = 100 * ROUNDING * len(s.v) * np.linalg.cond(M) * forces / np.linalg.norm(M, 2)
    assert np.abs(vdot - s.vdot).max() <= max(1e-10 * np.abs(s.vdot).max(), slack)


@given(plan=plans(loads=LOAD_FORMS))
@settings(max_examples=20)
def test_forward_dynamics_undoes_inverse_dynamics(plan):
    mechanism = mechanism_of(plan)
    assert_forward_undoes_inverse(Evaluated(mechanism), state_of(mechanism, plan.seed % 1000))


@pytest.mark.slow
@pytest.mark.parametrize("serial", [0.0, 0.6, 1.0], ids=["bush", "tree", "chain"])
@pytest.mark.parametrize("loads", [0, 6])
def test_forward_dynamics_undoes_inverse_dynamics_with_forty_joints(serial, loads):
    rng = np.random.default_rng(int(100 * serial) + loads)
    mechanism = mechanism_of(random_plan(rng, 40, kinds=("revolute", "prismatic", "fixed"), serial=serial, loads=loads))
    assert_forward_undoes_inverse(Evaluated(mechanism), state_of(mechanism, 2, size=0.2))


@given(plan=plans(loads=("motor", "far_motor", "transmission")))
@settings(max_examples=15)
def test_columns_of_the_inertia_matrix_are_inverse_dynamics_of_unit_accelerations(plan):
    mechanism = mechanism_of(plan)
    ours, s = Evaluated(mechanism), state_of(mechanism, plan.seed % 1000)
    units = np.eye(len(s.v))
    columns = ours("inverse_dynamics", s.q, s.v, units, t=s.t, u=s.u) - ours("bias", s.q, s.v, t=s.t, u=s.u)
    assert_same(ours("mass_matrix", s.q), columns, size=float(np.abs(ours("bias", s.q, s.v)).max()))


@given(plan=plans(loads=("motor", "far_motor", "transmission"), max_bodies=4))
@settings(max_examples=15)
def test_the_inertia_matrix_is_the_hessian_of_kinetic_energy(plan):
    mechanism = mechanism_of(plan)
    ours, s = Evaluated(mechanism), state_of(mechanism, plan.seed % 1000)
    energy = ours.function("kinetic_energy")
    v = energy.inputs[1]
    H = Function("hessian", energy.inputs, {"H": hessian(energy.results[0], list(v))})
    M = ours("mass_matrix", s.q)
    assert_same(M, evaluate(H, *arguments_of(mechanism, H, (s.q, s.v)))[0])
    assert_same(0.5 * s.v @ M @ s.v, ours("kinetic_energy", s.q, s.v))


@given(plan=plans(loads=("motor", "far_motor", "transmission")))
@settings(max_examples=15)
def test_the_inertia_matrix_is_symmetric_and_positive(plan):
    mechanism = mechanism_of(plan)
    M = Evaluated(mechanism)("mass_matrix", state_of(mechanism, plan.seed % 1000).q)
    assert np.array_equal(M, M.T)
    # A rotor at rest belongs to its carrier: one that is heavier than its carrier is no real machine.
    if not any(isinstance(load, Motor) for load in mechanism.loads.values()):
        assert np.linalg.eigvalsh(M)[0] > 0


@given(plan=plans(kinds=MOVING, loads=("transmission",), min_bodies=2, max_bodies=6))
@settings(max_examples=20)
def test_articulated_bodies_and_factors_along_the_tree_solve_alike(plan):
    mechanism = mechanism_of(plan)
    bench = Workbench(mechanism, Options(base_parameters=plan.seed % 2 == 0))
    tau = list(bench.block("tau"))
    blocks = [bench.system.q, bench.block("tau"), bench.system.p]
    both = Function("both", blocks, {"bodies": articulated_solve(bench.tree, tau), "factors": bench.solve(tau)})
    s = state_of(mechanism, plan.seed % 1000)
    by_bodies, by_factors = evaluate(both, *arguments_of(mechanism, both, (s.q, s.v)))
    M = Evaluated(mechanism)("mass_matrix", s.q)
    assert_same(M @ by_bodies, s.v, tolerance=1e-13 * np.linalg.cond(M) + 1e-10)
    assert_same(M @ by_factors, s.v, tolerance=1e-13 * np.linalg.cond(M) + 1e-10)


def test_two_drives_on_one_coordinate_both_count():
    bodies = tuple(BodyPlan("revolute", k - 1) for k in range(14))
    mechanism = mechanism_of(Plan("fixed", bodies, seed=3))
    drives = {"one": Transmission(coordinate="q_b5", inertia=2.0), "two": Transmission(coordinate="q_b5", inertia=3.0)}
    driven = mechanism.model_copy(update={"loads": drives})
    s = state_of(mechanism, 1, size=0.1)
    added = Evaluated(driven)("mass_matrix", s.q) - Evaluated(mechanism)("mass_matrix", s.q)
    assert_same(added, np.diag([5.0 if x.name == "dq_b5" else 0.0 for x in mechanism.v]))
    assert_forward_undoes_inverse(Evaluated(driven), s)
