"""Linear systems inside expressions: values, exchanges, ranks and derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torseur.graph as tg
from support.lowered import evaluate_lowered
from support.random_matrices import both_ways, matrix
from support.rounding import assert_agrees, assert_close, evaluate_with_bounds
from torseur.emit import compile
from torseur.graph import Function, Graph, Mode, Role, Stage, evaluate, jacobian, ops
from torseur.graph.linear import WRITTEN_OUT
from torseur.graph.products import tree_factors, tree_solutions

NAN = math.nan


def system(n, name="f"):
    """x with A x = b as a Function of A and b."""
    g = Graph()
    A, b = g.block("A", (n, n)), g.block("b", n)
    return Function(name, [A, b], {"x": tg.solve([list(A)[i * n : (i + 1) * n] for i in range(n)], list(b))})


def shortest(m, n, tolerance=1e-10):
    """The minimum-norm solution and the rank as a Function of A and b."""
    g = Graph()
    A, b = g.block("A", (m, n)), g.block("b", m)
    x, rank = tg.minimum_norm_solve([list(A)[i * n : (i + 1) * n] for i in range(m)], list(b), tolerance=tolerance)
    return Function("f", [A, b], {"x": x, "rank": rank})


# -- solve -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", range(1, 9))
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1))
def test_solve_agrees_with_numpy(n, seed):
    rng = np.random.default_rng(seed)
    A, b = matrix(rng, n, n), rng.normal(size=n)
    for x in both_ways(system(n), A, b):
        np.testing.assert_allclose(x[0], np.linalg.solve(A, b), rtol=0, atol=1e-13 * n)


@pytest.mark.parametrize(
    "A",
    [
        [[0, 1], [1, 0]],
        [[0, 2, 1], [1, 0, 0], [0, 0, 3]],
        [[1e-20, 1], [1, 1]],
        [[1, 1, 1], [1, 1, 2], [1, 2, 2]],  # a zero pivot after the first step
        [[0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]],
        [[0, 0, 1], [1, 0, 0], [0, 1, 0]],
        [[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]],
        [[-3, 1, 2], [3, -1, 1], [6, 2, 2]],
    ],
)
def test_solve_exchanges_rows_where_leading_entries_are_zero_or_tiny(A):
    n = len(A)
    b = np.arange(1.0, n + 1)
    for x in both_ways(system(n), A, b):
        np.testing.assert_allclose(np.array(A) @ x[0], b, rtol=1e-13)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_every_permutation_matrix_is_inverted_exactly(n):
    from itertools import permutations

    f, b = system(n), np.arange(1.0, n + 1)
    for order in permutations(range(n)):
        P = np.eye(n)[list(order)]
        for x in both_ways(f, P, b):
            np.testing.assert_array_equal(x[0], P.T @ b)


@pytest.mark.parametrize("A", [[[0, 0], [0, 0]], [[1, 2], [2, 4]], [[1, 1], [1, 1]], [[1, 2, 3], [2, 4, 6], [1, 0, 1]]])
def test_a_singular_matrix_gives_no_number(A):
    n = len(A)
    f, b = system(n), np.arange(1.0, n + 1)
    assert not np.isfinite(evaluate(f, A, b)[0]).any()
    assert not np.isfinite(evaluate_lowered(f, A, b)[0]).all()


def test_one_singular_matrix_of_a_batch_leaves_the_others_alone():
    A = np.array([[[2.0, 0], [0, 4]], [[1, 2], [2, 4]], [[NAN, 1], [1, 1]], [[0, 1], [1, 0]]])
    x = evaluate(system(2), A, [1.0, 2.0])[0]
    np.testing.assert_array_equal(x[[0, 3]], [[0.5, 0.5], [2.0, 1.0]])
    assert np.isnan(x[[1, 2]]).all()


def test_one_equation_is_a_division():
    g = Graph()
    a, b = g.symbol("a"), g.symbol("b")
    assert tg.solve([[a]], [b]) == [b / a]


def test_tiny_and_huge_matrices_are_not_taken_for_singular():
    f = system(3)
    A = matrix(np.random.default_rng(1), 3, 3)
    for scale in (1e-150, 1e-120, 1e120, 1e150):
        for x in both_ways(f, scale * A, [1.0, 2.0, 3.0]):
            np.testing.assert_allclose(x[0] * scale, np.linalg.solve(A, [1, 2, 3]), rtol=1e-12)


def test_several_right_hand_sides_share_the_factors():
    g = Graph()
    A, b = g.block("A", (3, 3)), g.block("b", (3, 2))
    rows, right = [list(A)[3 * i : 3 * i + 3] for i in range(3)], [list(b)[2 * i : 2 * i + 2] for i in range(3)]
    f = Function("f", [A, b], {"X": tg.solve(rows, right)})
    calls = [node.data.name for node in f.nodes if node.op is ops.CALL]
    assert sorted(calls) == ["factor3", "substitute3", "substitute3"]
    rng = np.random.default_rng(2)
    A0, b0 = matrix(rng, 3, 3), rng.normal(size=(3, 2))
    for X in both_ways(f, A0, b0):
        np.testing.assert_allclose(X[0], np.linalg.solve(A0, b0), atol=1e-14)


def test_matrix_and_right_hand_side_may_be_numbers_or_arrays():
    g = Graph()
    b = g.block("b", 2)
    numbers = tg.solve(np.array([[0.0, 2.0], [1.0, 0.0]]), list(b))
    arrays = tg.solve(np.array([[b[0], 0.0], [0.0, b[1]]]), np.array([1.0, 2.0]))
    f = Function("f", [b], {"x": numbers, "y": arrays})
    for x, y in both_ways(f, [3.0, 4.0]):
        np.testing.assert_allclose(x, [4.0, 1.5])
        np.testing.assert_allclose(y, [1 / 3, 0.5])


def test_a_right_hand_side_that_is_zero_by_structure_gives_zero():
    g = Graph()
    A = g.block("A", (2, 2))
    assert tg.solve([[A[0], A[1]], [A[2], A[3]]], [0.0, 0.0]) == [g.zero, g.zero]


def test_factors_of_a_parameter_matrix_are_hoisted():
    g = Graph()
    A, b = g.block("A", (2, 2), Role.PARAMETER), g.block("b", 2, Role.STATE)
    f = Function("f", [A, b], {"x": tg.solve([[A[0], A[1]], [A[2], A[3]]], list(b))})
    stages = {node.data.name: stage for node, stage in zip(f.nodes, f.stages, strict=True) if node.op is ops.CALL}
    assert stages == {"factor2": Stage.PARAMETER, "substitute2": Stage.STATE}


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("mode", Mode)
def test_derivative_of_solve_is_that_of_the_inverse(n, mode):
    """dx = A^-1 (db - dA x), entry by entry."""
    f = system(n)
    symbols = [s for block in f.inputs for s in block]
    J = Function("J", f.inputs, {"J": jacobian(f.results, symbols, mode).dense()})
    rng = np.random.default_rng(n)
    A, b = matrix(rng, n, n), rng.normal(size=n)
    inverse = np.linalg.inv(A)
    expected = np.hstack([-np.einsum("ki,j->kij", inverse, inverse @ b).reshape(n, n * n), inverse])
    for values in both_ways(J, A, b):
        np.testing.assert_allclose(values[0], expected, atol=1e-12)


@pytest.mark.parametrize("mode", [Mode.FORWARD, Mode.REVERSE])
def test_second_derivatives_of_solve_go_through_the_transposed_system_and_back(mode):
    """Against differences of the first derivative, for a system whose matrix is not symmetric."""
    f = system(3)
    symbols = [s for block in f.inputs for s in block]
    y = f.results[0] * f.results[1] + tg.sin(f.results[2])
    grad = tg.gradient(y, symbols)
    H = Function("H", f.inputs, {"H": jacobian(grad, symbols, mode).dense(), "g": grad})
    names = {node.data.name for node in H.nodes if node.op is ops.CALL}
    assert names == {"factor3", "substitute3", "substitute3t"}
    rng = np.random.default_rng(4)
    point, h = np.concatenate([matrix(rng, 3, 3).ravel(), rng.normal(size=3)]), 1e-4

    def slopes(p):
        return evaluate(H, p[:, :9].reshape(-1, 3, 3), p[:, 9:])[1]

    one, two = ([slopes(point + k * h * np.eye(12)) - slopes(point - k * h * np.eye(12))] for k in (1, 2))
    differences = (8 * one[0] - two[0]) / (12 * h)
    for values, _ in both_ways(H, point[:9].reshape(3, 3), point[9:]):
        np.testing.assert_allclose(values, differences, atol=1e-9)
        np.testing.assert_allclose(values, values.T, atol=1e-12)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 6))
def test_factors_and_substitution_hold_for_matrices_of_small_integers(seed, n):
    """Ties between pivots, zeros and repeated rows in abundance; singular ones must not pass for regular."""
    rng = np.random.default_rng(seed)
    A, b = rng.integers(-2, 3, (n, n)).astype(float), rng.integers(-3, 4, n).astype(float)
    f = system(n)
    x = evaluate_lowered(f, A, b)[0]
    determinant = round(np.linalg.det(A))
    if determinant:
        np.testing.assert_allclose(A @ x, b, atol=1e-10)
        np.testing.assert_allclose(evaluate(f, A, b)[0], x, atol=1e-10)
    elif np.linalg.matrix_rank(np.column_stack([A, b])) > np.linalg.matrix_rank(A):
        assert not np.isfinite(x).all() or np.abs(x).max() > 1e10


# -- minimum norm ------------------------------------------------------------------------------------------------------
SHAPES = [(1, 1), (1, 3), (3, 1), (2, 2), (2, 3), (3, 2), (3, 3), (2, 5), (5, 2), (4, 4), (6, 4)]


@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_minimum_norm_solution_and_rank_agree_with_the_pseudo_inverse(m, n):
    f, rng = shortest(m, n), np.random.default_rng(10 * m + n)
    for rank in range(min(m, n) + 1):
        A, b = matrix(rng, m, n, rank), rng.normal(size=m)
        for x, found in both_ways(f, A, b):
            assert found == rank
            np.testing.assert_allclose(x, np.linalg.pinv(A, rcond=1e-9) @ b, atol=1e-13)


@pytest.mark.parametrize("mode", [Mode.FORWARD, Mode.REVERSE])
@pytest.mark.parametrize(("m", "n", "rank"), [(2, 2, 2), (2, 3, 2), (3, 2, 2), (1, 3, 1), (3, 1, 1)])
def test_derivative_of_the_minimum_norm_solution_at_full_rank(m, n, rank, mode):
    """Differences of NumPy's pseudo-inverse: at full rank every neighbour has the same rank."""
    f = shortest(m, n)
    symbols = [s for block in f.inputs for s in block]
    J = Function("J", f.inputs, {"J": jacobian(f.results, symbols, mode).dense()})
    rng = np.random.default_rng(m + 7 * n)
    point, h = np.concatenate([matrix(rng, m, n, rank).ravel(), rng.normal(size=m)]), 1e-3

    def law(p):
        return np.linalg.pinv(p[: m * n].reshape(m, n)) @ p[m * n :]

    def slope(d):
        pairs = [law(point + k * d) - law(point - k * d) for k in (1, 2, 3)]
        return (45 * pairs[0] - 9 * pairs[1] + pairs[2]) / (60 * h)  # sixth order

    differences = np.array([slope(h * e) for e in np.eye(len(point))]).T
    for values in both_ways(J, point[: m * n].reshape(m, n), point[m * n :]):
        np.testing.assert_allclose(values[0][:n], differences, atol=1e-10)
        assert not values[0][n].any()  # the rank does not move


@pytest.mark.parametrize("mode", [Mode.FORWARD, Mode.REVERSE])
@pytest.mark.parametrize(("m", "n", "rank"), [(2, 2, 1), (3, 3, 2), (3, 3, 1), (2, 4, 1), (4, 2, 1), (3, 4, 2)])
def test_derivative_of_the_minimum_norm_solution_at_constant_rank(m, n, rank, mode):
    """A = L R with thin factors keeps its rank however L and R move."""
    g = Graph()
    L, R, b = g.block("L", (m, rank)), g.block("R", (rank, n)), g.block("b", m)
    A = [[sum(L[i * rank + k] * R[k * n + j] for k in range(rank)) for j in range(n)] for i in range(m)]
    x, found = tg.minimum_norm_solve(A, list(b))
    symbols = [*L, *R, *b]
    f = Function("f", [L, R, b], {"J": jacobian(x, symbols, mode).dense(), "rank": found})
    rng = np.random.default_rng(m * n * rank)
    point, h = rng.normal(size=len(symbols)), 1e-3

    def split(p):
        return p[: m * rank].reshape(m, rank), p[m * rank : (m + n) * rank].reshape(rank, n), p[(m + n) * rank :]

    def law(p):
        L, R, b = split(p)
        return np.linalg.pinv(R) @ np.linalg.pinv(L) @ b  # full column rank times full row rank

    def slope(d):
        pairs = [law(point + k * d) - law(point - k * d) for k in (1, 2, 3)]
        return (45 * pairs[0] - 9 * pairs[1] + pairs[2]) / (60 * h)

    differences = np.array([slope(h * e) for e in np.eye(len(point))]).T
    scale = 1 + np.abs(differences).max()
    for J, r in both_ways(f, *split(point)):
        assert r == rank
        np.testing.assert_allclose(J, differences, atol=1e-8 * scale)


def test_rank_counts_pivots_above_the_tolerance():
    A = np.diag([1.0, 1e-4, 1e-8])
    for tolerance, rank in [(1e-2, 1), (1e-6, 2), (1e-10, 3)]:
        for x, found in both_ways(shortest(3, 3, tolerance), A, [1.0, 1.0, 1.0]):
            assert found == rank
            np.testing.assert_allclose(x, [1.0, 1e4 * (rank > 1), 1e8 * (rank > 2)], rtol=1e-12)


def test_a_zero_matrix_has_rank_zero_and_the_solution_zero():
    for m, n in SHAPES:
        for x, rank in both_ways(shortest(m, n), np.zeros((m, n)), np.ones(m)):
            assert rank == 0.0
            np.testing.assert_array_equal(x, np.zeros(n))


@pytest.mark.parametrize("bad", [NAN, math.inf, 1e200])
@pytest.mark.parametrize("where", [(0, 0), (0, 2), (1, 1)])
def test_a_matrix_that_is_no_matrix_has_neither_solution_nor_rank(bad, where):
    A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    A[where] = bad
    for x, rank in both_ways(shortest(2, 3), A, [1.0, 2.0]):
        assert np.isnan(x).all()
        assert np.isnan(rank)


def test_redundant_and_contradictory_equations_meet_in_the_least_squares():
    f = shortest(3, 2)
    for x, rank in both_ways(f, [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], [1.0, 2.0, 6.0]):
        assert rank == 1
        np.testing.assert_allclose(x, [1.5, 1.5], rtol=1e-14)


def test_scales_of_rows_and_batches_do_not_matter():
    f = shortest(2, 2)
    A = np.array([[[2.0, 1.0], [1.0, 3.0]], [[2e100, 1e100], [1e100, 3e100]], [[2e-100, 1e-100], [1e-100, 3e-100]]])
    x, rank = evaluate(f, A, [3.0, 4.0])
    np.testing.assert_allclose(x * [[1], [1e100], [1e-100]], np.ones((3, 2)), rtol=1e-14)
    assert rank.tolist() == [2, 2, 2]
    for k in range(3):
        assert_agrees(f, [A[k], [3.0, 4.0]], evaluate_lowered(f, A[k], [3.0, 4.0]))


def test_equal_systems_are_one_node_and_other_tolerances_are_others():
    g = Graph()
    a = g.block("a", 2)
    first, rank = tg.minimum_norm_solve([list(a)], [1.0])
    again, _ = tg.minimum_norm_solve([list(a)], [1.0])
    other, _ = tg.minimum_norm_solve([list(a)], [1.0], tolerance=1e-3)
    assert first == again
    assert first[0].args[0] is rank.args[0]
    assert other[0] is not first[0]


def test_error_bounds_of_linear_systems_hold():
    """The bound used to compare emitters covers what the reference itself gets wrong, with exact data to tell."""
    H = np.array([[1 / (i + j + 1) for j in range(5)] for i in range(5)])
    b = np.round(1e6 * H @ np.ones(5)) / 1e6
    from fractions import Fraction

    import sympy

    exact = sympy.Matrix(5, 5, [sympy.Rational(Fraction(float(h))) for h in H.ravel()]).LUsolve(
        sympy.Matrix([sympy.Rational(Fraction(float(x))) for x in b])
    )
    values, bounds = evaluate_with_bounds(system(5), H, b)
    assert_close(values[0], np.array([float(e) for e in exact]), bounds[0])
    assert (bounds[0] < 1e-6 * np.abs(values[0])).all()


# -- systems that are not small: routines ------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [WRITTEN_OUT, WRITTEN_OUT + 1, 20])
def test_solve_agrees_with_numpy_on_both_sides_of_the_border(n):
    rng = np.random.default_rng(n)
    f, A, b = system(n), rng.normal(size=(4, n, n)), rng.normal(size=(4, n))
    A[1, 0, 0] = A[2, :, 0] = 0.0
    A[2, n - 1, 0] = 3.0  # pivots far down
    expected = np.linalg.solve(A, b[..., None])[..., 0]
    one, lanes = compile(f, lanes=1)(A, b), compile(f, lanes=4)(A, b)
    np.testing.assert_allclose(one, expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(one, lanes)
    assert not np.isfinite(compile(f, lanes=1)(np.ones((n, n)), b[0])).all()


@pytest.mark.parametrize("mode", [Mode.FORWARD, Mode.REVERSE])
def test_derivatives_of_a_larger_solution(mode):
    """dx = A^-1 (db - dA x); reverse mode takes the transposed factors."""
    n = WRITTEN_OUT + 2
    g = Graph()
    A, b = g.block("A", (n, n)), g.block("b", n)
    x = tg.solve([[A[i, j] for j in range(n)] for i in range(n)], list(b))
    f = Function("f", [A, b], {"J": tg.jacobian(x[:2], [A[0, 1], A[3, 2], b[4]], mode).dense()})
    rng = np.random.default_rng(3)
    A0, b0 = rng.normal(size=(n, n)), rng.normal(size=n)
    inverse, at = np.linalg.inv(A0), np.linalg.solve(A0, b0)
    expected = np.stack([-inverse[:2, 0] * at[1], -inverse[:2, 3] * at[2], inverse[:2, 4]], axis=-1)
    np.testing.assert_allclose(compile(f, lanes=1)(A0, b0), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("m", "n", "rank"), [(10, 12, 7), (12, 10, 10), (15, 15, 9), (20, 9, 9), (9, 9, 0)])
def test_larger_shortest_solutions_agree_with_numpy(m, n, rank):
    g = Graph()
    A, b = g.block("A", (m, n)), g.block("b", m)
    x, found = tg.minimum_norm_solve([[A[i, j] for j in range(n)] for i in range(m)], list(b))
    f = Function("f", [A, b], {"x": x, "rank": found})
    rng = np.random.default_rng(m)
    A0, b0 = rng.normal(size=(3, m, rank)) @ rng.normal(size=(3, rank, n)), rng.normal(size=(3, m))
    expected = np.stack([np.linalg.pinv(a, rcond=1e-10) @ c for a, c in zip(A0, b0, strict=True)])
    for lanes in (1, 4):
        y, r = compile(f, lanes=lanes)(A0, b0)
        np.testing.assert_allclose(y, expected, atol=1e-10)
        assert r.tolist() == [rank] * 3
    assert np.isnan(compile(f, lanes=1)(np.full((m, n), np.nan), b0[0])[0]).all()


# -- products of which some entries are wanted -------------------------------------------------------------------------
def products(pairs, n, ranks, zeros=()):
    """A_i . B_j and C_j . D_i at some pairs, as a Function of the four; some components are zero by structure."""
    g = Graph()
    blocks = [g.block(name, (n, rank)) for name, rank in zip("ABCD", [ranks[0]] * 2 + [ranks[1]] * 2, strict=True)]
    rows = [[[b[i, k] for k in range(b.shape[1])] for i in range(n)] for b in blocks]
    for which, k in zeros:
        for row in rows[which]:
            row[k] = g.zero
    return Function("f", blocks, {"T": tg.products_at(pairs, *rows)})


def expected_products(pairs, A, B, C, D):
    T = np.zeros((len(A), len(A)))
    for i, j in pairs:
        T[i, j], T[j, i] = A[i] @ B[j], C[j] @ D[i]
    return T


PAIRS = {
    "chain": [(i, j) for j in range(6) for i in range(j)],
    "tree": [(0, 1), (0, 3), (1, 3), (0, 2), (0, 5), (2, 5)],
}


@pytest.mark.parametrize("zeros", [(), [(0, 1), (3, 0)]])
@pytest.mark.parametrize("pairs", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("many", [0, 100])
def test_products_at_some_pairs_are_those_of_numpy(pairs, many, zeros, monkeypatch):
    monkeypatch.setattr("torseur.graph.products.MANY_PAIRS", many)
    f = products(pairs, 6, (3, 2), zeros)
    assert any(node.op is ops.CALL for node in f.nodes) is (many == 0)
    rng = np.random.default_rng(5)
    given = [rng.normal(size=b.shape) for b in f.inputs]
    plain = [x.copy() for x in given]
    for which, k in zeros:
        plain[which][:, k] = 0.0
    for T in (evaluate(f, *given), evaluate_lowered(f, *given)):
        np.testing.assert_allclose(T[0], expected_products(pairs, *plain), rtol=0, atol=1e-14)


@pytest.mark.parametrize("mode", [Mode.FORWARD, Mode.REVERSE])
def test_products_in_a_loop_have_the_derivatives_of_those_written_out(mode, monkeypatch):
    found = []
    for many in (0, 100):
        monkeypatch.setattr("torseur.graph.products.MANY_PAIRS", many)
        f = products(PAIRS["tree"], 6, (3, 2))
        flat = [x for b in f.inputs for x in b]
        J = jacobian([e * e for e in f.results], flat, mode).dense()
        rng = np.random.default_rng(8)
        found.append(evaluate(Function("J", f.inputs, {"J": J}), *(rng.normal(size=b.shape) for b in f.inputs))[0])
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-13)


def test_products_are_counted_written_out_or_not(monkeypatch):
    counts = []
    for many in (0, 100):
        monkeypatch.setattr("torseur.graph.products.MANY_PAIRS", many)
        counts.append(tg.count(products(PAIRS["tree"], 6, (3, 2))))
    assert counts[0] == counts[1]
    assert counts[0].products == 6 * (3 + 2)


# -- systems along a tree ----------------------------------------------------------------------------------------------
PARENTS = (-1, 0, 1, 1, 0, 4, -1)
ORDER = (0, 4, 1, 3, 2, 5, 6)


def tree_system(m):
    """X with M X + B = 0, where entries of M between branches are zero."""
    g, n = Graph(), len(PARENTS)
    below = [{i, *(() if p < 0 else (p,))} for i, p in enumerate(PARENTS)]
    for i in ORDER:
        below[i] |= below[PARENTS[i]] if PARENTS[i] >= 0 else set()
    x, B = g.block("x", (n, n)), g.block("B", (n, m))
    M = [[g.zero] * n for _ in range(n)]
    for i in range(n):
        for j in below[i]:
            M[i][j] = M[j][i] = x[i, j] + (8.0 if i == j else 0.0)
    X = tree_solutions(tree_factors(M, ORDER, PARENTS), [[B[i, c] for c in range(m)] for i in range(n)])
    return M, X, x, B


@pytest.mark.parametrize("m", [1, 3, 16])
def test_solutions_along_a_tree_solve_the_system(m):
    M, X, x, B = tree_system(m)
    f = Function("f", [x, B], {"M": M, "X": X})
    rng = np.random.default_rng(m)
    args = [rng.normal(size=(5, *b.shape)) for b in f.inputs]
    for lanes in (1, 4):
        found = compile(f, lanes=lanes)(*args)
        np.testing.assert_allclose(found[0] @ found[1], -args[1], rtol=0, atol=1e-13)
    np.testing.assert_array_equal(found[1], compile(f, lanes=1)(*args)[1])
    one = [a[2] for a in args]
    for X_found in (evaluate(f, *one)[1], evaluate_lowered(f, *one)[1]):
        np.testing.assert_allclose(X_found, found[1][2], rtol=0, atol=1e-13)


@pytest.mark.parametrize("mode", [Mode.FORWARD, Mode.REVERSE])
def test_solutions_along_a_tree_have_the_derivatives_of_pivoted_ones(mode):
    M, X, x, B = tree_system(2)
    wrt = [x[i, i] for i in range(len(ORDER))] + list(B)
    plain = tg.solve(M, [[-B[i, c] for c in range(2)] for i in range(len(ORDER))])
    tables = [jacobian([e * e for row in some for e in row], wrt, mode).dense() for some in (X, plain)]
    f = Function("f", [x, B], {"ours": tables[0], "plain": tables[1]})
    rng = np.random.default_rng(3)
    ours, expected = evaluate(f, *(rng.normal(size=b.shape) for b in f.inputs))
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-13)


def test_solutions_along_a_tree_are_counted():
    _, X, x, B = tree_system(2)
    counted = tg.count(Function("f", [x, B], {"X": X}))
    pairs = 1 + 2 + 2 + 1 + 2  # of which one is below the other
    assert counted.products == pairs + (1 + 3 + 3 + 1 + 3) + 2 * (2 * pairs + len(ORDER))
    assert counted.divisions == len(ORDER)
