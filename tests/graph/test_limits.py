"""Limits of the graph: what lies just within one passes, what lies just beyond does not."""

import numpy as np
import pytest

import torseur.graph as tg
from support.constrained_minima import constrained
from support.lowered import evaluate_lowered
from torseur.errors import GraphError
from torseur.graph import Function, Graph, call, count, evaluate, ops
from torseur.graph.routine import Loops


def two_ways(function, *args):
    """By the reference and by what calls are lowered to."""
    return evaluate(function, *args), evaluate_lowered(function, *args)


# -- ranks -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("second", "rank"), [(2e-13, 2.0), (0.5e-13, 1.0)])
def test_a_pivot_of_constraints_below_a_ten_trillionth_of_the_first_is_rounding(second, rank):
    f = constrained(2, 2, scaled=False)
    given = {"M": np.eye(2), "A": np.diag([1.0, second]), "rank": 2.0, "f": [1.0, 1.0], "b": [1.0, 0.0], "wanted": 1.0}
    for _, _, about in two_ways(f, *(given[b.name] for b in f.inputs)):
        assert about[0] == rank


def shortest(m, n):
    g = Graph()
    A, b = g.block("A", (m, n)), g.block("b", m)
    rows = [list(A)[i * n : (i + 1) * n] for i in range(m)]
    return Function("f", [A, b], {"x": tg.minimum_norm_solve(rows, list(b))[0]})


def inverse(n):
    g = Graph()
    A = g.block("A", (n, n))
    X, rank = tg.pseudo_inverse([list(A)[i * n : (i + 1) * n] for i in range(n)])
    return Function("f", [A], {"X": X, "rank": rank})


@pytest.mark.parametrize(("second", "counts"), [(2e-10, True), (0.5e-10, False)])
def test_a_pivot_below_a_ten_billionth_of_the_largest_counts_as_zero(second, counts):
    A = np.diag([1.0, second])
    for (x,) in two_ways(shortest(2, 2), A, [1.0, second]):
        np.testing.assert_allclose(x, [1.0, 1.0 if counts else 0.0], atol=1e-9)
    for _, rank in two_ways(inverse(2), A):
        assert rank == 1 + counts


def of_rank_one(checked):
    g = Graph()
    A = g.block("A", (2, 2))
    X, rank = tg.pseudo_inverse([[A[0], A[1]], [A[2], A[3]]], rank=g.one, checked=checked)
    return Function("f", [A], {"X": X, "rank": rank})


@pytest.mark.parametrize(("left_over", "holds"), [(0.5e-4, True), (2e-4, False)])
def test_a_pivot_beyond_the_given_rank_must_be_small_beside_the_first(left_over, holds):
    A = np.diag([1.0, left_over])
    for X, _ in two_ways(of_rank_one(checked=True), A):
        np.testing.assert_allclose(X, np.diag([1.0, 0.0]) if holds else np.full((2, 2), np.nan), atol=1e-15)
    for X, _ in two_ways(of_rank_one(checked=False), A):
        np.testing.assert_allclose(X, np.diag([1.0, 0.0]), atol=1e-15)


# -- roots -------------------------------------------------------------------------------------------------------------
def root_of(law, **options):
    """x with law(x) = 0, as a function of the guess."""
    inner = Graph()
    x = inner.symbol("x")
    residual = Function("r", [inner.blocks["x"]], {"r": law(x)})
    g = Graph()
    guess = g.symbol("guess")
    return Function("f", [g.blocks["guess"]], {"x": tg.root(residual, [guess], **options)})


def test_a_root_is_found_when_the_last_step_is_below_a_trillionth():
    """At a double root Newton's step is half of what is left, and the last one comes for free."""
    for (x,) in two_ways(root_of(lambda x: x * x), 1.0):
        assert 0.5e-12 < x[0] <= 1e-12


def test_a_root_is_given_up_after_fifty_evaluations():
    """Towards a double root one evaluation is one half: 40 from one, one more for each power of two."""
    for guess, is_found in ((2.0**8, True), (2.0**12, False)):
        for (x,) in two_ways(root_of(lambda x: x * x), guess):
            assert np.isfinite(x[0]) == is_found


def test_a_step_is_halved_twelve_times_and_then_taken_as_it_is():
    """From far out on an arc tangent only a tiny part of the step is not too far: 2^-11 of it from 3e3."""
    for guess, is_found in ((3e3, True), (3e4, False)):
        for (x,) in two_ways(root_of(tg.atan, limit=500), guess):
            assert np.isfinite(x[0]) == is_found


# -- forms of functions ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("power", "is_product"), [(64, True), (-64, True), (65, False), (-65, False)])
def test_whole_powers_up_to_sixty_four_are_products(power, is_product):
    g = Graph()
    x = g.symbol("x")
    function = Function("f", [g.blocks["x"]], {"y": x**power})
    has_power = any(node.op is ops.POW for node in function.nodes)
    assert has_power != is_product
    assert (count(function).products > 0) == is_product


@pytest.mark.parametrize(("n", "is_written_out"), [(8, True), (9, False)])
def test_systems_of_more_than_eight_unknowns_are_loops(n, is_written_out):
    g = Graph()
    A, b = g.block("A", (n, n)), g.block("b", n)
    rows = [list(A)[i * n : (i + 1) * n] for i in range(n)]
    for outputs in (tg.solve(rows, list(b)), tg.minimum_norm_solve(rows, list(b))[0]):
        function = Function("f", [A, b], {"x": outputs})
        assert all(isinstance(callee.lowering(), Loops) != is_written_out for callee in function.callees)


def test_functions_of_functions_go_fifty_levels_deep():
    g = Graph()
    x = g.symbol("x")
    function = Function("f0", [g.blocks["x"]], {"y": x + 1.0})
    for k in range(1, 51):
        g = Graph()
        function = Function(f"f{k}", [g.block("x", ())], {"y": call(function, g.blocks["x"][0])})
    assert evaluate(function, 0.5)[0] == 1.5
    g = Graph()
    with pytest.raises(GraphError, match="at most 50 levels"):
        call(function, g.symbol("x"))
