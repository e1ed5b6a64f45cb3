"""The error bound that comparisons rest on is neither too tight nor too loose."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torseur.graph as tg
from support.fifty_digits import exact
from support.random_functions import showcase
from support.recipes import Recipe, Step, build
from support.rounding import EPS, assert_agrees, assert_close, evaluate_with_bounds
from torseur.graph import Function, Graph, Role, evaluate


def bounds_of(make, *point):
    g = Graph()
    symbols = [g.symbol(name) for name in "xyz"[: len(point)]]
    values, bounds = evaluate_with_bounds(Function("f", list(g.blocks.values()), {"r": make(*symbols)}), *point)
    return values[0], bounds[0]


def test_inputs_and_exact_operations_carry_no_error():
    for make in (lambda x: x, lambda x: -x, lambda x: tg.absolute(x), lambda x: tg.floor(x), lambda x: tg.sign(x)):
        assert bounds_of(make, 1.7)[1] == 0.0


def test_a_sum_errs_by_half_a_digit_and_cancellation_shows():
    value, bound = bounds_of(lambda x, y: (x + y) - x, 1.0, 1e-10)
    assert bound == pytest.approx(EPS, rel=0.1)
    assert bound > 1e-6 * value


def test_a_decision_that_rounding_may_turn_counts_as_the_whole_jump():
    for make in (
        lambda x: tg.floor(x * 10),
        lambda x: tg.sign(x * 10 - 3.0),
        lambda x: tg.select(x * 10 < 3.0, 0.0, 1.0),
        lambda x: tg.select(tg.equal(x * 10, 3.0), 0.0, 1.0),
    ):
        assert bounds_of(make, 0.3)[1] >= 1.0
        assert bounds_of(make, 0.35)[1] == 0.0


def test_infinities_and_nans_made_by_exact_operands_are_certain():
    assert bounds_of(lambda x, y: x / y, 1.0, 0.0) == (math.inf, 0.0)
    assert bounds_of(lambda x: tg.log(x), -1.0)[1] == 0.0
    assert bounds_of(lambda x, y: tg.sin(y) + x, math.inf, 1.0) == (math.inf, 0.0)
    assert bounds_of(lambda x, y: x / (tg.sin(y) - math.sin(1.0)), 1.0, 1.0)[1] == math.inf


def test_bounds_cover_the_true_error_of_a_long_sum_and_exceed_it_by_little():
    steps = tuple(Step("add", (k + 1 if k else 0, 1)) for k in range(200))
    recipe = Recipe((("x", (2,), Role.STATE),), steps, (("y", (), (201,)),))
    values, bounds = evaluate_with_bounds(build(recipe), [0.1, 0.1])
    error = abs(float(exact(recipe, [0.1, 0.1])[0] - float(values[0])))
    assert error <= bounds[0] <= 300 * EPS * abs(values[0])


@pytest.mark.slow
def test_comparison_finds_what_is_wrong_and_says_where():
    f = showcase()
    args = [np.random.default_rng(1).uniform(-2, 2, b.shape) for b in f.inputs]
    good = [np.array(y) for y in evaluate(f, *args)]
    assert_agrees(f, args, good)
    _, bounds = evaluate_with_bounds(f, *args)
    assert np.median(bounds[1] / np.abs(good[1]).clip(1e-3)) < 1e-14
    for k in range(len(good[1])):
        bad = [y.copy() for y in good]
        bad[1][k] += 1e-10 * (1 + abs(bad[1][k]))
        with pytest.raises(AssertionError, match=rf"output 'vector'[\s\S]*first at \({k},\)"):
            assert_agrees(f, args, bad)
        bad[1][k] = np.nan
        with pytest.raises(AssertionError, match="nan"):
            assert_agrees(f, args, bad)


def test_comparison_minds_shapes_signs_of_infinity_and_nans():
    assert_close([1.0, np.nan, np.inf, -0.0], [1.0, np.nan, np.inf, 0.0])
    for a, b in [([1.0], [[1.0]]), ([np.inf], [-np.inf]), ([np.nan], [np.inf]), ([1.0], [np.nan]), ([1.0], [1.1])]:
        with pytest.raises(AssertionError):
            assert_close(a, b)
    assert_close([1.0, 5.0], [1.1, np.nan], [0.2, np.inf])
