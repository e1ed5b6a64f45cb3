"""The inverse of Moore and Penrose: every shape and rank, both ways to evaluate it, and its derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torseur.graph as tg
from support.lowered import evaluate_lowered
from support.random_matrices import both_ways, matrix, sixth_order
from torseur.errors import GraphError
from torseur.graph import Function, Graph, Mode, evaluate, jacobian

NAN = math.nan
SHAPES = [(1, 1), (1, 3), (3, 1), (2, 2), (2, 3), (3, 2), (3, 3), (2, 5), (5, 2), (4, 4), (6, 4), (5, 7), (8, 3)]


def inverse(m, n, tolerance=1e-10, floor=0.0):
    """A^+ and the rank as a Function of A."""
    g = Graph()
    A = g.block("A", (m, n))
    X, rank = tg.pseudo_inverse([list(A)[i * n : (i + 1) * n] for i in range(m)], tolerance=tolerance, floor=floor)
    return Function("f", [A], {"X": X, "rank": rank})


@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_pseudo_inverse_agrees_with_numpy_at_every_rank(m, n):
    f, rng = inverse(m, n), np.random.default_rng(100 * m + n)
    for rank in range(min(m, n) + 1):
        A = matrix(rng, m, n, rank)
        for X, found in both_ways(f, A):
            assert X.shape == (n, m)
            assert found == rank
            np.testing.assert_allclose(X, np.linalg.pinv(A, rcond=1e-9), atol=2e-14 * max(m, n))


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), m=st.integers(1, 4), n=st.integers(1, 4))
def test_pseudo_inverse_of_small_integers_obeys_the_four_equations(seed, m, n):
    """Repeated, zero and dependent rows in abundance: A X A = A, X A X = X, A X and X A symmetric."""
    A = np.random.default_rng(seed).integers(-2, 3, (m, n)).astype(float)
    for X, rank in both_ways(inverse(m, n), A):
        assert rank == np.linalg.matrix_rank(A)
        for one, other in ((A @ X @ A, A), (X @ A @ X, X), ((A @ X).T, A @ X), ((X @ A).T, X @ A)):
            np.testing.assert_allclose(one, other, atol=1e-12)


def test_pseudo_inverse_gives_every_minimum_norm_solution():
    rng = np.random.default_rng(12)
    for m, n, rank in [(3, 4, 2), (4, 3, 3), (4, 4, 1)]:
        A, b = matrix(rng, m, n, rank), rng.normal(size=m)
        g = Graph()
        block, right = g.block("A", (m, n)), g.block("b", m)
        shortest = tg.minimum_norm_solve([list(block)[i * n : (i + 1) * n] for i in range(m)], list(right))[0]
        x = evaluate_lowered(Function("f", [block, right], {"x": shortest}), A, b)[0]
        X = evaluate_lowered(inverse(m, n), A)[0]
        np.testing.assert_allclose(X @ b, x, atol=1e-13)


def test_scales_do_not_change_the_rank_of_a_pseudo_inverse():
    f = inverse(3, 4)
    A = matrix(np.random.default_rng(5), 3, 4, 2)
    for scale in (1e-100, 1e-12, 1e12, 1e100):
        for X, rank in both_ways(f, scale * A):
            assert rank == 2
            np.testing.assert_allclose(X * scale, np.linalg.pinv(A, rcond=1e-9), atol=1e-13)


def test_pseudo_inverse_counts_pivots_above_the_tolerance():
    A = np.diag([1.0, 1e-4, 1e-8])
    for tolerance, rank in [(1e-2, 1), (1e-6, 2), (1e-10, 3)]:
        for X, found in both_ways(inverse(3, 3, tolerance), A):
            assert found == rank
            np.testing.assert_allclose(X, np.diag([1.0, 1e4 * (rank > 1), 1e8 * (rank > 2)]), rtol=1e-12)


def test_what_lies_below_the_floor_is_nothing():
    f = inverse(3, 4, floor=1e-12)
    A = matrix(np.random.default_rng(6), 3, 4)
    for scale, expected in ((1.0, 3), (1e-6, 3), (1e-15, 0)):
        for X, rank in both_ways(f, scale * A):
            assert rank == expected
            np.testing.assert_allclose(X * scale, np.linalg.pinv(A) * (expected > 0), atol=1e-13)
    for X, rank in both_ways(inverse(2, 2, floor=1e-3), np.diag([1e-2, 1e-5])):  # by the floor, not by the tolerance
        assert rank == 1
        np.testing.assert_allclose(X, np.diag([1e2, 0.0]), rtol=1e-12)


def test_the_pseudo_inverse_of_zero_is_zero():
    for m, n in SHAPES:
        for X, rank in both_ways(inverse(m, n), np.zeros((m, n))):
            assert rank == 0.0
            np.testing.assert_array_equal(X, np.zeros((n, m)))


@pytest.mark.parametrize("bad", [NAN, math.inf, 1e200])
@pytest.mark.parametrize("where", [(0, 0), (0, 2), (1, 1)])
def test_a_matrix_that_is_no_matrix_has_no_pseudo_inverse(bad, where):
    A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    A[where] = bad
    for X, rank in both_ways(inverse(2, 3), A):
        assert np.isnan(X).all()
        assert np.isnan(rank)


def test_one_bad_matrix_of_a_batch_leaves_the_inverses_of_others_alone():
    good = matrix(np.random.default_rng(8), 2, 3)
    X, rank = evaluate(inverse(2, 3), np.array([good, np.full((2, 3), NAN), 2.0 * good]))
    np.testing.assert_allclose(X[0], np.linalg.pinv(good), atol=1e-14)
    np.testing.assert_allclose(X[2], 0.5 * X[0], atol=1e-14)
    assert np.isnan(X[1]).all()
    assert rank[[0, 2]].tolist() == [2, 2]


@pytest.mark.parametrize("mode", [Mode.FORWARD, Mode.REVERSE])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 3), (3, 1), (2, 2), (2, 3), (3, 2)])
def test_derivative_of_the_pseudo_inverse_at_full_rank(m, n, mode):
    f = inverse(m, n)
    J = Function("J", f.inputs, {"J": jacobian(f.results, list(f.inputs[0]), mode).dense()})
    point = matrix(np.random.default_rng(m + 9 * n), m, n).ravel()
    differences = sixth_order(lambda p: np.linalg.pinv(p.reshape(m, n)).ravel(), point)
    for values in both_ways(J, point.reshape(m, n)):
        np.testing.assert_allclose(values[0][:-1], differences, atol=1e-10)
        assert not values[0][-1].any()  # the rank does not move


@pytest.mark.parametrize("mode", [Mode.FORWARD, Mode.REVERSE])
@pytest.mark.parametrize(("m", "n", "rank"), [(2, 2, 1), (3, 3, 2), (2, 4, 1), (4, 2, 1), (3, 4, 2)])
def test_derivative_of_the_pseudo_inverse_at_constant_rank(m, n, rank, mode):
    """A = L R with thin factors keeps its rank however L and R move."""
    g = Graph()
    L, R = g.block("L", (m, rank)), g.block("R", (rank, n))
    A = [[sum(L[i * rank + k] * R[k * n + j] for k in range(rank)) for j in range(n)] for i in range(m)]
    X, found = tg.pseudo_inverse(A)
    flat = [x for row in X for x in row]
    f = Function("f", [L, R], {"J": jacobian(flat, [*L, *R], mode).dense(), "rank": found})
    point = np.random.default_rng(m * n + rank).normal(size=rank * (m + n))

    def split(p):
        return p[: m * rank].reshape(m, rank), p[m * rank :].reshape(rank, n)

    def law(p):
        thin, wide = split(p)
        return (np.linalg.pinv(wide) @ np.linalg.pinv(thin)).ravel()

    differences = sixth_order(law, point, 3e-4)
    for J, r in both_ways(f, *split(point)):
        assert r == rank
        np.testing.assert_allclose(J, differences, atol=1e-8 * (1 + np.abs(differences).max()))


@pytest.mark.parametrize(("m", "n", "rank"), [(3, 4, 2), (4, 3, 2), (4, 4, 1), (3, 3, 3), (2, 3, 0)])
def test_a_rank_that_is_given_leaves_out_what_is_small(m, n, rank):
    """Rows that are a little off their rank give what they would give without being off."""
    g = Graph()
    A, top = g.block("A", (m, n)), g.symbol("top")
    X, found = tg.pseudo_inverse([list(A)[i * n : (i + 1) * n] for i in range(m)], rank=top)
    f = Function("f", [A, g.blocks["top"]], {"X": X, "rank": found})
    rng = np.random.default_rng(m + n)
    exact = matrix(rng, m, n, rank)
    off = exact + 1e-8 * rng.uniform(-1, 1, (m, n))
    for inverse, r in (evaluate(f, off, rank), evaluate_lowered(f, off, rank)):
        assert r == rank
        np.testing.assert_allclose(inverse, np.linalg.pinv(exact, rcond=1e-9), atol=1e-6)


def test_a_pseudo_inverse_needs_a_sensible_tolerance():
    g = Graph()
    A = g.block("A", 2)
    for tolerance in (0.0, 1.0, -1e-9, NAN):
        with pytest.raises(GraphError, match="tolerance"):
            tg.pseudo_inverse([list(A)], tolerance=tolerance)
    for floor in (-1e-9, math.inf, NAN):
        with pytest.raises(GraphError, match="floor"):
            tg.pseudo_inverse([list(A)], floor=floor)
