"""Few rows on many speeds: the range-space method against the null-space method, also where it must not be used."""

from __future__ import annotations

import numpy as np
import pytest

from torseur.describe import Mechanism
from torseur.dynamics.constrained_motion.range_space import RangeSpaceSolver, range_space
from torseur.dynamics.constrained_motion.solver import constraint_solver
from torseur.dynamics.constraints.solvers import NullSpaceSolver
from torseur.dynamics.workbench import Workbench
from torseur.emit import compile
from torseur.graph import Function


def raft(rows=None):
    """A body that floats and carries four masses on slides, with two rows of its speeds that differ by c."""
    plate = {"inertia": {"M": 5.0, "MX": 0.3, "XX": 1.0, "YY": 2.0, "ZZ": 2.5, "XY": 0.1}}
    bodies = {"plate": plate}
    for k in range(4):
        bodies[f"mass{k}"] = {
            "parent": "plate",
            "place": {"pose": {"position": (k % 2, k // 2, 0.1), "rpy": (0.1 * k, 0.2, 0.0)}},
            "joint": {"kind": "prismatic", "coordinate": f"s{k}"},
            "inertia": {"M": "m" if k == 3 else 0.5 + k},
        }
    given = {
        "first": {"speeds": {"coefficients": {"ds0": 1.0, "ds1": 0.3, "vz": 0.5}}},
        "second": {"speeds": {"coefficients": {"ds0": 1.0, "ds1": 0.3, "vz": 0.5, "wx": "c"}}},
    }
    more = {"parameters": {"m": {"value": 1.0}, "c": {"value": 0.7}}, "base": "floating"}
    return Mechanism.model_validate({"name": "raft", "bodies": bodies, "constraints": rows or given, **more})


def solved(w, solver):
    """x, lambda, rank and a closing step, as a native function."""
    g = w.system.graph
    f, b = g.block("f", w.tree.nv), g.block("b", len(w.constraints.rows))
    x = solver.solve(list(f), list(b))
    blocks = [w.system.q, g.blocks["rank"], w.system.p, f, b]
    return compile(Function("solved", blocks, {"x": x, "lam": solver.multipliers(x, list(f)), "rank": solver.rank}))


def both(mechanism, p, rank=2.0, seed=0):
    """The two ways at a random state."""
    rng = np.random.default_rng(seed)
    found = []
    for fast in (True, False):
        w = Workbench(mechanism)
        given = w.constraints, w.matrix, w.ranks, w.position_ranks, w.weak_pivots, w.length
        solver = constraint_solver(w) if fast else NullSpaceSolver(*given)
        assert isinstance(solver, RangeSpaceSolver if fast else NullSpaceSolver)
        native = solved(w, solver)
        if fast:
            q = rng.normal(size=w.system.q.size) * 0.3 + np.eye(w.system.q.size)[3]
            f, b = rng.normal(size=w.tree.nv), rng.normal(size=2)
            b = b if rank == 2.0 else np.array([b[0], b[0]])
        found.append(native(q, [rank, 0.0, 0.0], p, f, b))
    return found


def agree(pair, tolerance=1e-12):
    fast, dense = pair
    np.testing.assert_allclose(fast.x, dense.x, atol=tolerance * np.abs(dense.x).max())
    np.testing.assert_allclose(fast.lam, dense.lam, atol=tolerance * np.abs(dense.lam).max())
    assert fast.rank == dense.rank


def test_accelerations_and_multipliers_are_those_of_the_null_space_method():
    agree(both(raft(), [1.0, 0.7]))


@pytest.mark.parametrize("c", [1e-1, 1e-3, 1e-6])
def test_rows_at_a_small_angle_are_solved_as_well_as_by_the_null_space_method(c):
    agree(both(raft(), [1.0, c]), tolerance=1e-12 / c)


def test_where_a_row_repeats_another_the_shortest_multipliers_are_found():
    fast, dense = both(raft(), [1.0, 0.0], rank=1.0)
    agree((fast, dense))
    assert fast.rank == 1
    assert np.abs(fast.lam[0]) == pytest.approx(np.abs(fast.lam[1]))


def test_a_mass_of_zero_at_run_time_that_no_row_carries_is_not_hidden():
    fast, _ = both(raft(), [0.0, 0.7])
    assert not np.isfinite(fast.x).all()


def test_a_speed_without_mass_that_a_row_carries_is_solved():
    rows = ({"ds3": 1.0, "ds1": 0.3}, {"ds0": 1.0, "ds1": 0.3, "wx": "c"})
    pair = both(raft({f"row{k}": {"speeds": {"coefficients": row}} for k, row in enumerate(rows)}), [0.0, 0.7])
    assert np.isfinite(pair[0].x).all()
    agree(pair)


def test_few_speeds_and_many_rows_go_other_ways():
    assert range_space(Workbench(raft())) is not None
    rows = {f"row{k}": {"speeds": {"coefficients": {f"ds{k % 4}": 1.0, "vx": float(k + 1)}}} for k in range(6)}
    assert range_space(Workbench(raft(rows))) is None
