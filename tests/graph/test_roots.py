"""Roots inside expressions: they converge, or they say so; and they have derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torseur.graph as tg
from support.lowered import evaluate_lowered
from support.recipes import RESIDUALS
from support.rounding import assert_agrees
from torseur.emit import compile
from torseur.graph import Function, Graph, Mode, evaluate, jacobian, ops


def scalar(law, name="r", **options):
    """x with law(x, a) = 0, from a guess, as a Function of the guess and a."""
    inner = Graph()
    x, a = inner.symbol("x"), inner.symbol("a")
    residual = Function(name, [inner.blocks["x"], inner.blocks["a"]], {"r": law(x, a)})
    g = Graph()
    guess, b = g.symbol("guess"), g.symbol("b")
    return Function("f", list(g.blocks.values()), {"x": tg.root(residual, [guess], b, **options)})


def both_ways(f, *args):
    """By the reference, and start, step and finish run in a plain loop."""
    by_lowering = evaluate_lowered(f, *args)
    assert_agrees(f, args, by_lowering)
    return evaluate(f, *args)[0], by_lowering[0]


@pytest.mark.parametrize("problem", RESIDUALS)
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1))
def test_root_makes_the_residual_vanish(problem, seed):
    residual, n, n_args, law = RESIDUALS[problem]
    g = Graph()
    guess, a = g.block("guess", n), g.block("a", n_args)
    f = Function("f", [guess, a], {"x": tg.root(residual, list(guess), a)})
    rng = np.random.default_rng(seed)
    args = rng.uniform(-2, 2, n), rng.uniform(-3, 3, n_args)
    for x in both_ways(f, *args):
        np.testing.assert_allclose(law(x, args[1], np), 0.0, atol=4e-15 * (1 + np.abs(x).max() ** 3))


def test_root_is_the_nearest_double_for_a_well_conditioned_equation():
    f = scalar(lambda x, a: x * x - a)
    for a in (2.0, 3.0, 1e-4, 1e6):
        for x in both_ways(f, 1.0, a):
            assert x[0] == pytest.approx(math.sqrt(a), rel=3e-16)


def test_damping_finds_the_root_where_plain_newton_runs_away():
    law = scalar(lambda x, a: tg.atan(x - a))
    for guess in (2.0, -2.0, 5.0, 40.0, -300.0):  # plain Newton diverges from beyond 1.39
        for x in both_ways(law, guess, 0.25):
            np.testing.assert_allclose(x, [0.25], rtol=1e-15)


def test_damping_steps_back_from_where_the_residual_is_not_defined():
    f = scalar(lambda x, a: tg.log(x) - a)  # the first full step from 20 leads below zero
    for x in both_ways(f, 20.0, 0.0):
        np.testing.assert_allclose(x, [1.0], rtol=1e-15)


@pytest.mark.parametrize(
    ("law", "guess"),
    [
        (lambda x, a: x * x + a, 0.7),  # no root
        (lambda x, a: x * x + a, 0.0),  # a singular first step
        (lambda x, a: tg.exp(x) + 0.0 * a, 0.0),  # a root at minus infinity only
        (lambda x, a: a + 0.0 * x, 1.0),  # does not depend on the unknown
        (lambda x, a: tg.sqrt(x) - a, -1.0),  # not defined where it starts
        (lambda x, a: tg.sign(x) * a, 2.0),  # flat almost everywhere
    ],
)
def test_where_there_is_no_root_the_answer_is_nan(law, guess):
    for x in both_ways(scalar(law), guess, 1.0):
        assert np.isnan(x).all()


def test_nan_in_guess_or_argument_gives_nan():
    f = scalar(lambda x, a: x * x * x + x - a)
    for args in [(math.nan, 1.0), (1.0, math.nan), (math.inf, 1.0), (1.0, math.inf)]:
        for x in both_ways(f, *args):
            assert np.isnan(x).all()


def test_the_limit_is_what_separates_an_answer_from_nan():
    law = lambda x, a: x * x * x - a  # noqa: E731
    for x in both_ways(scalar(law, limit=3), 100.0, 1.0):
        assert np.isnan(x).all()
    for x in both_ways(scalar(law, limit=60), 100.0, 1.0):
        assert x[0] == pytest.approx(1.0, rel=1e-15)


def test_a_guess_that_is_the_root_stays_where_it_is():
    for x in both_ways(scalar(lambda x, a: x * x - a), 3.0, 9.0):
        assert x.tolist() == [3.0]
    for x in both_ways(scalar(lambda x, a: tg.sin(x) * a), 0.0, 1.0):
        assert x.tolist() == [0.0]


def test_a_double_root_is_found_as_far_as_it_is_defined():
    """Newton converges linearly there, and rounding spreads the root over the square root of a digit's worth."""
    for x in both_ways(scalar(lambda x, a: (x - a) * (x - a), limit=200), 3.0, 1.0):
        assert abs(x[0] - 1.0) < 1e-7


def test_the_guess_chooses_between_several_roots():
    f = scalar(lambda x, a: x * x - a)
    for guess, expected in [(1.0, 2.0), (-1.0, -2.0), (100.0, 2.0)]:
        for x in both_ways(f, guess, 4.0):
            assert x[0] == expected


def test_lanes_of_a_batch_converge_separately():
    """Quick ones, slow ones, hopeless ones and ones already there: each answers as it would alone."""
    f = scalar(lambda x, a: tg.atan(x) * (1.0 + x * x) - a)
    guess = np.array([0.0, 0.1, 30.0, -500.0, math.nan, 2.0])
    a = np.array([0.0, 0.5, -3.0, 40.0, 1.0, math.inf])
    together = evaluate(f, guess, a)[0]
    alone = np.array([evaluate(f, *args)[0] for args in zip(guess, a, strict=True)])
    np.testing.assert_array_equal(together, alone)
    one_by_one = np.array([evaluate_lowered(f, *args)[0] for args in zip(guess, a, strict=True)])
    np.testing.assert_allclose(together, one_by_one, rtol=1e-14)
    assert np.isfinite(together[:4]).all()
    assert np.isnan(together[4:]).all()


def test_a_lane_that_is_done_waits_for_the_others_untouched():
    """A coarse tolerance leaves visible room for improvement, which a done lane must not take."""
    f = scalar(lambda x, a: x * x * x - a, tolerance=0.05)
    guess, a = np.array([2.05, 1000.0]), np.array([8.0, 8.0])
    together = evaluate(f, guess, a)[0]
    alone = [evaluate(f, *args)[0] for args in zip(guess, a, strict=True)]
    np.testing.assert_array_equal(together, alone)
    assert together[0] != 2.0


def test_batches_of_any_shape_broadcast():
    f = scalar(lambda x, a: x * x * x + x - a)
    x = evaluate(f, np.zeros((2, 1)), np.linspace(-1, 1, 3))[0]
    assert x.shape == (2, 3, 1)
    np.testing.assert_allclose(x[..., 0] ** 3 + x[..., 0], np.tile(np.linspace(-1, 1, 3), (2, 1)), atol=1e-15)


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("problem", RESIDUALS)
def test_derivative_of_a_root_is_that_of_the_implicit_function(problem, mode):
    """dx/da = -(dr/dx)^-1 dr/da, both matrices by complex steps; the guess has no influence."""
    residual, n, n_args, law = RESIDUALS[problem]
    g = Graph()
    guess, a = g.block("guess", n), g.block("a", n_args)
    x = tg.root(residual, list(guess), a)
    J = jacobian(x, [*guess, *a], mode)
    assert min(J.columns) >= n  # structurally nothing from the guess
    f = Function("f", [guess, a], {"x": x, "J": J.dense()})
    rng = np.random.default_rng(8)
    a0 = rng.uniform(-1, 1, n_args)
    for x0, J0 in (evaluate(f, np.zeros(n), a0), evaluate_lowered(f, np.zeros(n), a0)):
        at = np.concatenate([x0, a0]).astype(complex)
        moved = [at + 1e-30j * e for e in np.eye(n + n_args)]
        D = np.array([np.imag(law(p[:n], p[n:], np)) / 1e-30 for p in moved]).T
        np.testing.assert_allclose(J0[:, n:], -np.linalg.solve(D[:, :n], D[:, n:]), rtol=1e-13, atol=1e-15)


def test_second_derivative_of_a_root():
    """x = sqrt(a): x' = 1/2 a^-1/2, x'' = -1/4 a^-3/2."""
    inner = Graph()
    x, a = inner.symbol("x"), inner.symbol("a")
    residual = Function("r", [inner.blocks["x"], inner.blocks["a"]], {"r": x * x - a})
    g = Graph()
    b = g.symbol("b")
    (y,) = tg.root(residual, [1.0], b)
    first = [tg.gradient(y, [b])[0], tg.tangents([y], {b: 1.0})[0]]
    second = [tg.gradient(first[0], [b])[0], tg.tangents([first[1]], {b: 1.0})[0]]
    f = Function("f", [g.blocks["b"]], {"d": [*first, *second]})
    for values in both_ways(f, 2.0):
        expected = [0.5 * 2**-0.5] * 2 + [-0.25 * 2**-1.5] * 2
        np.testing.assert_allclose(values, expected, rtol=1e-14)


def test_a_residual_may_use_any_block_names_and_calls_inside():
    """'state' and 'done' are the loop's own words; a residual that uses them must not notice."""
    deep = Graph()
    u = deep.symbol("u")
    cube = Function("cube", [deep.blocks["u"]], {"y": u * u * u})
    inner = Graph()
    state, done = inner.block("state", 2), inner.symbol("done")
    rows = [tg.call(cube, state[0])[0] + state[1] - done, state[1] - 0.5 * state[0]]
    residual = Function("r", [state, inner.blocks["done"]], {"first": rows[0], "second": rows[1]})
    g = Graph()
    b = g.symbol("b")
    f = Function("f", [g.blocks["b"]], {"x": tg.root(residual, [0.3, 0.3], b)})
    for x in both_ways(f, 1.5):
        np.testing.assert_allclose(x, [1.0, 0.5], rtol=1e-15)


def test_equal_roots_are_one_node_and_other_options_are_others():
    residual = RESIDUALS["cubic"][0]
    g = Graph()
    b = g.symbol("b")
    first = tg.root(residual, [0.0], [b])
    assert tg.root(residual, [0.0], b) == first
    assert tg.root(residual, [1.0], [b]) != first
    assert tg.root(residual, [0.0], [b], tolerance=1e-6) != first
    assert tg.root(residual, [0.0], [b], limit=7) != first


def test_numbers_may_stand_for_arguments():
    g = Graph()
    b = g.symbol("b")
    f = Function("f", [g.blocks["b"]], {"x": tg.root(RESIDUALS["kepler"][0], [b], [1.0, 0.0])})
    for x in both_ways(f, 0.2):
        np.testing.assert_allclose(x, [1.0], rtol=1e-15)


def test_the_loop_works_on_several_unknowns_of_different_size():
    inner = Graph()
    x = inner.block("x", 3)
    residual = Function(
        "r", [x], {"r": [x[0] - 1e6, x[1] * x[1] * x[1] - 1e-9 * x[0], x[2] + tg.sin(x[2] * x[1]) - 1e-3]}
    )
    g = Graph()
    guess = g.block("guess", 3)
    f = Function("f", [guess], {"x": tg.root(residual, list(guess))})
    for root in both_ways(f, [1.0, 1.0, 1.0]):
        np.testing.assert_allclose(root[:2], [1e6, 0.1], rtol=1e-12)
        assert root[2] + math.sin(root[2] * root[1]) == pytest.approx(1e-3, rel=1e-12)


def test_iteration_counts_and_kinds_are_what_emitters_are_promised():
    g = Graph()
    b = g.symbol("b")
    f = Function("f", [g.blocks["b"]], {"x": tg.root(RESIDUALS["coupled"][0], [0.0, 0.0], [b, 0.1], limit=17)})
    (callee,) = [node.data for node in f.nodes if node.op is ops.CALL]
    loop = callee.lowering()
    assert loop is callee.lowering()
    assert loop.limit == 17
    assert loop.size == len(loop.start.results) == len(loop.step.results) - 1 == loop.finish.inputs[0].size
    assert [b.size for b in loop.start.inputs] == [2, 2]
    assert [b.size for b in loop.step.inputs] == [loop.size, 2, 2]
    assert loop.step.outputs[-1].name == "done"
    assert [b.size for b in loop.finish.inputs] == [loop.size, 1]
    assert len(loop.finish.results) == callee.n_out == 2


def test_an_oriented_root_is_one_where_the_determinant_is_positive():
    f = scalar(lambda x, a: x * x - a, oriented=True)
    for x in both_ways(f, 1.0, 4.0):
        assert x[0] == 2.0
    for x in both_ways(f, -1.0, 4.0):
        assert math.isnan(x[0])


@pytest.mark.parametrize("n", [3, 9])
@pytest.mark.parametrize("exchanged", [False, True])
def test_exchanges_of_rows_count_in_the_orientation(n, exchanged):
    """x_i = a_j: a matrix of ones in another order; two rows exchanged turn it round."""
    inner = Graph()
    x, a = inner.block("x", n), inner.block("a", n)
    order = [*range(1, n), 0] if n % 2 else list(range(n))  # a circle of odd length is even
    order[:2] = order[1::-1] if exchanged else order[:2]
    residual = Function("turned", [x, a], {"r": [x[i] - a[k] for k, i in enumerate(order)]})
    g = Graph()
    b = g.block("b", n)
    f = Function("f", [b], {"x": tg.root(residual, [0.0] * n, b, oriented=True)})
    for found in (*both_ways(f, np.arange(1.0, n + 1.0)), compile(f)(np.arange(1.0, n + 1.0))):
        assert np.isnan(found).all() == exchanged


def test_a_derived_function_does_not_depend_on_what_was_derived_before():
    def digests(tangent_first):
        inner = Graph()
        x, a = inner.block("x", 2), inner.block("a", 2)
        r = [tg.sin(x[0]) * a[1] + x[1] - a[0], x[0] * x[1] * x[0] - tg.cos(a[1]) * x[1]]
        residual = Function("r", [x, a], {"r": r})
        g = Graph()
        b = g.block("b", 2)
        root = tg.root(residual, [1.0, 1.0], b)
        value = Function("value", [b], {"x": root})
        if not tangent_first:
            value.callees[0].lowering()
        slope = Function("slope", [b], {"J": jacobian(root, list(b)).dense()})
        found = [callee.lowering() for callee in slope.callees]
        return [f.step.digest if hasattr(f, "step") else f.digest for f in found]

    assert digests(tangent_first=True) == digests(tangent_first=False)
