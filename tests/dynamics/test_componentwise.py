"""Few rows at a time on many speeds: the motion is that of all rows together, whatever the ranks are."""

from __future__ import annotations

import json

import numpy as np
import pytest

from support.evaluated import Evaluated, assert_same
from support.sweeps import mostly_slow
from torseur.bench.first_use import stack
from torseur.describe import Mechanism
from torseur.dynamics.constrained_motion.range_space import ComponentwiseSolver, RangeSpaceSolver, basis
from torseur.dynamics.constrained_motion.solver import constraint_solver
from torseur.dynamics.constraints import solvers
from torseur.dynamics.constraints.solvers import FEW_SPEEDS, NullSpaceSolver, ProjectionSolver
from torseur.dynamics.quantities import function_of
from torseur.dynamics.workbench import RANK, Workbench
from torseur.emit import compile
from torseur.formats.yaml.reader import read_yaml
from torseur.graph import Function, Graph, evaluate

STAGES = FEW_SPEEDS // 5 + 1
ANGLES = np.linspace(0.4, 0.7, STAGES)


def stacked(stages: int = STAGES) -> Mechanism:
    return read_yaml(json.dumps(stack(stages)))


def closed(angles=ANGLES) -> np.ndarray:
    """The coordinates of a stack, from the angles of its lower plates."""
    return np.concatenate([[a, np.pi - 2 * a, a, np.pi - 2 * a, np.pi + a] for a in angles])


def ring(links: int) -> Mechanism:
    """A chain that hangs from the ground by both ends: a few rows that couple all of its speeds."""
    bodies = {
        f"link{k}": {
            **({"parent": f"link{k - 1}"} if k else {}),
            "place": {"pose": {"position": (0.3 if k else 0.0, 0.0, 0.0)}},
            "joint": {"kind": "revolute", "coordinates": {f"q{k}": {"start": 6.0 / links}}},
            "inertia": {"M": 1.0, "MX": 0.15, "ZZ": 0.03},
        }
        for k in range(links)
    }
    bodies[f"link{links - 1}"]["frames"] = {"tip": {"place": {"pose": {"position": (0.3, 0.0, 0.0)}}}}
    hook = {"place": {"pose": {"position": (0.2, 0.3, 0.0)}}}
    bodies["post"] = {"joint": {"kind": "fixed"}, "frames": {"hook": hook}}
    loops = {"hung": {"joint": "spherical", "between": ("tip", "hook")}}
    return Mechanism.model_validate({"name": "ring", "gravity": (0, -9.81, 0), "bodies": bodies, "loops": loops})


def test_the_way_is_chosen_by_how_many_speeds_hang_together():
    assert type(constraint_solver(Workbench(stacked(1)))) is ProjectionSolver
    assert type(constraint_solver(Workbench(stacked()))) is ComponentwiseSolver
    assert type(constraint_solver(Workbench(ring(FEW_SPEEDS)))) is RangeSpaceSolver
    assert type(constraint_solver(Workbench(ring(FEW_SPEEDS + 1)))) is NullSpaceSolver


def test_accelerations_are_the_nearest_allowed_ones_and_multipliers_the_shortest():
    call, rng = Evaluated(stacked()), np.random.default_rng(0)
    q = closed()
    A, M = call("constraint_jacobian", q), call("mass_matrix", q)
    N = np.linalg.svd(A)[2][4 * STAGES :].T
    v, tau = N @ rng.normal(size=STAGES), rng.normal(size=5 * STAGES)
    assert np.abs(call("closure", q)).max() < 1e-14
    assert np.abs(call("constraint_rates", q, v)).max() < 1e-13
    f, b = tau - call("bias", q, v), call("constraint_bias", q, v)
    start = np.linalg.pinv(A, rcond=1e-9) @ b
    expected = start + N @ np.linalg.solve(N.T @ M @ N, N.T @ (f - M @ start))
    assert_same(call("forward_dynamics", q, v, tau), expected, tolerance=1e-10)
    lam, rank = call("multipliers", q, v, tau)
    assert rank == 4 * STAGES
    assert_same(A.T @ lam, M @ expected - f, tolerance=1e-10)
    length = call("mechanism_length")
    units = np.where([row.unit == "N m" for row in Workbench(stacked()).constraints.rows], length, 1.0)
    null = np.linalg.svd((A * units[:, None]).T)[2][4 * STAGES :]
    np.testing.assert_allclose(null @ (lam / units), 0.0, atol=1e-9 * np.abs(lam).max())


@pytest.fixture
def together(monkeypatch):
    """The forward dynamics of a stack as compiled here, and with all rows solved together."""
    here = function_of(stacked(), "forward_dynamics")
    monkeypatch.setattr(solvers, "FEW_SPEEDS", 0)
    assert type(constraint_solver(Workbench(stacked()))) is NullSpaceSolver
    return here, function_of(stacked(), "forward_dynamics")


def numbers(function: Function, ranks, angles=ANGLES):
    """What a function is called with; 4 rows of 5 count in each stage if the ranks are right."""
    rng, q = np.random.default_rng(1), closed(angles)
    ranks = np.concatenate([ranks, ranks, np.full(STAGES, 1e-6)])
    values = {"q": q, "v": np.zeros(len(q)), "tau": rng.normal(size=len(q)), RANK: ranks}
    return [values[b.name] for b in function.inputs]


@pytest.mark.parametrize("lanes", mostly_slow([1, 4], quick=(4,)))
def test_where_a_rank_is_lost_for_an_instant_all_rows_are_solved_together(together, lanes):
    """A stage that stands straight has two freedoms, which the bases have no place for."""
    here, there = (compile(f, lanes=lanes) for f in together)
    ranks, straight = np.full(STAGES, 4.0), np.where(np.arange(STAGES) == 1, np.pi / 2, ANGLES)
    one, lost = numbers(together[0], ranks), numbers(together[0], ranks, straight)
    batch = [np.stack([a, b, a, a, b]) for a, b in zip(one, lost, strict=True)]
    found, expected = here(*batch), there(*batch)
    assert np.isfinite(found).all()
    assert np.abs(found[0] - found[1]).max() > 1e-3
    np.testing.assert_array_equal(found[[1, 4]], expected[[1, 4]])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_a_rank_that_is_too_small_gives_no_number(together):
    ranks = np.full(STAGES, 4.0)
    ranks[1] = 3.0
    for function in together:
        assert np.isnan(evaluate(function, *numbers(function, ranks))[0]).all()


@pytest.mark.parametrize(("n", "count"), [(1, 1), (3, 1), (5, 2), (6, 5), (4, 4)])
def test_a_basis_is_orthonormal_and_spans_what_a_projector_leaves(n, count):
    g = Graph()
    block = g.block("P", (n, n))
    Z = basis([[block[i, j] for j in range(n)] for i in range(n)], count)
    function = Function("Z", [block], {"Z": Z})
    rng = np.random.default_rng(n)
    for _ in range(20):
        Q = np.linalg.qr(rng.normal(size=(n, n)))[0][:, :count]
        found = evaluate(function, Q @ Q.T)[0]
        np.testing.assert_allclose(found @ found.T, np.eye(count), atol=1e-13)
        np.testing.assert_allclose(found.T @ found, Q @ Q.T, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("quantity", mostly_slow(["forward_dynamics", "corrected"], quick=("forward_dynamics",)))
def test_code_of_a_stack_grows_with_the_inertia_matrix_and_not_with_the_cube(quantity):
    def nodes(stages):
        function = function_of(stacked(stages), quantity)
        called = {n.data.digest: n.data.lowering() for n in function.nodes if n.op.name == "call"}
        return len(function.nodes) + sum(len(f.nodes) for f in called.values() if isinstance(f, Function))

    sizes = [nodes(stages) for stages in (4, 8, 16)]
    assert sizes[1] < 4.0 * sizes[0]
    assert sizes[2] < 4.5 * sizes[1]
