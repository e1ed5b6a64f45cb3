"""Many loops that hang together are solved one after the other, with the motion and the forces of the dense way."""

from __future__ import annotations

import numpy as np

from support.evaluated import Evaluated, assert_same
from torseur.describe import Mechanism
from torseur.dynamics.constrained_motion.range_space import RangeSpaceSolver
from torseur.dynamics.constrained_motion.reduction import Reduction
from torseur.dynamics.constrained_motion.solver import MANY_ROWS, PartitioningSolver, constraint_solver
from torseur.dynamics.constraints.solvers import NullSpaceSolver
from torseur.dynamics.workbench import Workbench
from torseur.model import build

N = MANY_ROWS // 2 + 1


def windows() -> Mechanism:
    """Parallelograms side by side, of rods that are not uniform."""
    bodies = {}
    for k in range(N + 1):
        bodies[f"crank{k}"] = {
            "place": {"pose": {"position": (float(k), 0.0, 0.0)}},
            "joint": {"kind": "revolute", "coordinates": {f"a{k}": {"start": 1.1}}},
            "inertia": {"M": 1.0 + 0.1 * k, "MX": 0.4, "MY": 0.02 * k, "ZZ": 0.5},
            "frames": {f"top{k}": {"place": {"pose": {"position": (1.0, 0.0, 0.0)}}}},
        }
    for k in range(N):
        bodies[f"coupler{k}"] = {
            "parent": f"crank{k}",
            "place": {"pose": {"position": (1.0, 0.0, 0.0)}},
            "joint": {"kind": "revolute", "coordinates": {f"b{k}": {"start": -1.1}}},
            "inertia": {"M": 1.0, "MX": 0.5, "ZZ": 0.4},
            "frames": {f"end{k}": {"place": {"pose": {"position": (1.0, 0.0, 0.0)}}}},
        }
    loops = {f"pin{k}": {"joint": "revolute", "between": (f"end{k}", f"top{k + 1}")} for k in range(N)}
    return Mechanism.model_validate({"name": "windows", "gravity": (0, -9.81, 0), "bodies": bodies, "loops": loops})


def test_the_way_is_chosen_by_how_many_rows_hang_together():
    assert isinstance(constraint_solver(Workbench(windows())), PartitioningSolver)
    few = windows().model_copy(update={"loops": dict(list(windows().loops.items())[:2])})
    assert isinstance(constraint_solver(Workbench(few)), RangeSpaceSolver)


def test_loops_follow_from_each_other_two_rows_at_a_time():
    parts = Reduction(Workbench(windows()))._solver.parts
    assert max(len(part.rows) for part in parts) == 2


def test_accelerations_and_multipliers_are_those_of_the_dense_way():
    mechanism = windows()
    call, w = Evaluated(mechanism), Workbench(mechanism)
    angle, rate = 1.1, -0.7
    q = np.array([angle] * (N + 1) + [-angle] * N)
    v = np.array([rate] * (N + 1) + [-rate] * N)
    tau = np.random.default_rng(1).normal(size=len(v))
    assert np.abs(call("closure", q)).max() < 1e-14
    assert np.abs(call("constraint_rates", q, v)).max() < 1e-14
    A, b = call("constraint_jacobian", q), call("constraint_bias", q, v)
    M, bias = call("mass_matrix", q), call("bias", q, v)
    whole = np.block([[M, -A.T], [A, np.zeros((len(A), len(A)))]])
    expected = np.linalg.solve(whole, np.concatenate([tau - bias, b]))
    assert_same(call("forward_dynamics", q, v, tau), expected[: len(v)], tolerance=1e-9)
    lam, rank = call("multipliers", q, v, tau)
    assert_same(lam, expected[len(v) :], tolerance=1e-9)
    assert rank == len(w.constraints.rows)


def test_a_perturbed_state_goes_back():
    call = Evaluated(windows())
    rng = np.random.default_rng(2)
    q = np.array([1.1] * (N + 1) + [-1.1] * N) + 1e-5 * rng.normal(size=2 * N + 1)
    back, v = call("corrected", q, rng.normal(size=2 * N + 1))
    assert np.abs(call("closure", back)).max() < 1e-12
    assert np.abs(call("constraint_rates", back, v)).max() < 1e-11


def test_rows_that_repeat_others_are_found_among_many():
    """A pin that is there twice: the dense way gives the rank, the motion and the shortest multipliers."""
    twice = windows().model_copy(update={"loops": windows().loops | {"again": windows().loops["pin0"]}})
    call, once = Evaluated(twice), Evaluated(windows())
    assert isinstance(constraint_solver(Workbench(twice)), NullSpaceSolver)
    q = np.array([1.1] * (N + 1) + [-1.1] * N)
    v, tau = np.zeros(2 * N + 1), np.random.default_rng(3).normal(size=2 * N + 1)
    lam, rank = call("multipliers", q, v, tau)
    assert rank == 2 * N
    single = once("multipliers", q, v, tau)[0]
    assert_same(lam, np.concatenate([single[:2] / 2, single[2:], single[:2] / 2]), tolerance=1e-9)
    assert_same(call("forward_dynamics", q, v, tau), once("forward_dynamics", q, v, tau), tolerance=1e-9)


def test_a_singular_position_is_survived_with_the_rank_that_is_left():
    """All rods in one line: each parallelogram may go on as it is or cross over; the nearest motion is taken."""
    model = build(windows())
    q, still = np.zeros(model.nq), np.zeros(model.nv)
    assert model.mobility(q).is_singular
    A, M, bias = model.constraint_jacobian(q), model.mass_matrix(q), model.bias(q, still)
    N = np.linalg.svd(A)[2][np.linalg.matrix_rank(A) :].T
    expected = N @ np.linalg.solve(N.T @ M @ N, -N.T @ bias)
    assert_same(model.forward_dynamics(q, still, still), expected, tolerance=1e-9)
    assert model.multipliers(q, still, still)[1] == np.linalg.matrix_rank(A)
