"""Solving along the branches of a tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torseur.dynamics.tree.inertia_matrix import ZeroPivot, factorise, solve_with
from torseur.graph import Function, Graph, count, evaluate


def random_tree(draw, n):
    return [-1, *(draw(st.integers(-1, k - 1)) for k in range(1, n))]


def branch(parents, k):
    found = []
    while k >= 0:
        found.append(k)
        k = parents[k]
    return found


@given(data=st.data(), n=st.integers(1, 8))
def test_it_solves_what_has_zeros_between_branches(data, n):
    parents = random_tree(data.draw, n)
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    L = np.zeros((n, n))
    for i in range(n):
        L[i, branch(parents, i)] = rng.uniform(-1, 1, len(branch(parents, i)))
        L[i, i] = rng.uniform(0.5, 2.0)
    M, b = L.T @ L, rng.normal(size=n)
    g = Graph()
    entries, right = g.block("M", (n, n)), g.block("b", n)
    table = [[entries[i * n + j] if M[i, j] else g.zero for j in range(n)] for i in range(n)]
    x = solve_with(factorise(table, range(n), parents), list(right), range(n), parents)
    (found,) = evaluate(Function("x", [entries, right], {"x": x}), M, b)
    np.testing.assert_allclose(M @ found, b, atol=1e-9 * np.linalg.cond(M))


def test_branches_cost_no_more_than_their_own_entries():
    """Ten single speeds on one root: no fill-in, so the work grows with their number only."""
    n = 11
    g = Graph()
    entries, right = g.block("M", (n, n)), g.block("b", n)
    parents = [-1] + [0] * (n - 1)
    related = [[i == j or 0 in (i, j) for j in range(n)] for i in range(n)]
    table = [[entries[i * n + j] if related[i][j] else g.zero for j in range(n)] for i in range(n)]
    x = solve_with(factorise(table, range(n), parents), list(right), range(n), parents)
    found = count(Function("x", [entries, right], {"x": x}))
    assert found.divisions == n
    assert found.products <= 5 * n
    assert found.sums <= 3 * n


def test_the_order_need_not_be_that_of_the_numbers():
    """The root is number 2."""
    M = np.array([[3.0, 0.0, 1.0], [0.0, 4.0, 0.5], [1.0, 0.5, 2.0]])
    g = Graph()
    entries, right = g.block("M", (3, 3)), g.block("b", 3)
    table = [[entries[3 * i + j] if M[i, j] else g.zero for j in range(3)] for i in range(3)]
    order, parents = [2, 0, 1], [2, 2, -1]
    x = solve_with(factorise(table, order, parents), list(right), order, parents)
    (found,) = evaluate(Function("x", [entries, right], {"x": x}), M, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(found, np.linalg.solve(M, [1.0, 2.0, 3.0]), rtol=1e-14)


def test_a_pivot_that_is_zero_whatever_the_symbols_is_told():
    g = Graph()
    a = g.symbol("a")
    with pytest.raises(ZeroPivot) as error:
        factorise([[a, g.zero], [g.zero, g.zero]], [0, 1], [-1, 0])
    assert error.value.place == 1
