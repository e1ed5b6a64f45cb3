"""Folding fits an expression to what is known, and changes no value beyond rounding."""

from __future__ import annotations

import itertools
import math
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torseur.graph as tg
from support.fifty_digits import exact
from support.random_functions import arguments, recipes, showcase
from support.recipes import BINARY, COMPARISONS, KINDS, UNARY, build, build_raw, plain
from support.rounding import assert_close, evaluate_with_bounds
from torseur.errors import GraphError
from torseur.graph import Function, Graph, Role, evaluate, ops

INF = math.inf
ELEMENTARY = [k for k in KINDS if k != "minimum_norm"]


@pytest.fixture
def g():
    return Graph()


@pytest.fixture
def x(g):
    return g.symbol("x")


@pytest.fixture
def y(g):
    return g.symbol("y")


# -- values ------------------------------------------------------------------------------------------------------------
@settings(max_examples=100)
@given(data=st.data())
def test_folding_changes_no_value_beyond_rounding(data):
    recipe = data.draw(recipes())
    args = data.draw(arguments(recipe))
    folded = evaluate(build(recipe), *args)
    values, bounds = evaluate_with_bounds(build_raw(recipe), *args)
    for got, raw, numpy, bound in zip(folded, values, plain(recipe, *args), bounds, strict=True):
        assert_close(got, raw, bound)
        assert_close(numpy, raw, bound)


@settings(max_examples=100)
@given(data=st.data())
def test_evaluation_is_as_close_to_the_truth_as_its_error_bound_says(data):
    recipe = data.draw(recipes(kinds=ELEMENTARY))
    args = data.draw(arguments(recipe, batch=()))
    values, bounds = evaluate_with_bounds(build(recipe), *args)
    truth = exact(recipe, np.concatenate([np.ravel(a) for a in args]))
    flat = np.concatenate([np.ravel(v) for v in values])
    bound = np.concatenate([np.ravel(b) for b in bounds])
    # Folding moved constants too: what they lost is not in the bound of the folded function.
    _, raw = evaluate_with_bounds(build_raw(recipe), *args)
    assert_close(flat, np.array(truth, float), np.maximum(bound, np.concatenate([np.ravel(b) for b in raw])))


@settings(max_examples=100)
@given(data=st.data())
def test_folding_keeps_infinities_and_nans_outside_the_structural_zeros(data):
    """Zeros and equal operands fold as identities; without them a folded expression is as infinite as a raw one."""
    kinds = [k for k in (*UNARY, *BINARY, *COMPARISONS, "not", "select") if k not in ("add", "sub")]
    recipe = data.draw(recipes(kinds=kinds, safe=False, constants=False))
    args = data.draw(arguments(recipe, special=True))
    for got, raw in zip(evaluate(build(recipe), *args), evaluate(build_raw(recipe), *args), strict=True):
        np.testing.assert_array_equal(np.isfinite(got), np.isfinite(raw))


def test_the_showcase_holds_every_operation():
    used = {node.op for node in showcase().nodes}
    assert used == set(ops.OPS) - {ops.TRUTH}


# -- rules -------------------------------------------------------------------------------------------------------------
def test_zeros_and_ones_vanish(g, x):
    assert x + 0 is x
    assert 0 + x is x
    assert x - 0 is x
    assert x * 1 is x
    assert 1 * x is x
    assert x / 1 is x
    assert x / -1 is -x
    assert x**1 is x
    assert x**0 is g.one
    assert operator.neg(-x) is x
    assert +x is x
    assert 0 - x is -x


def test_what_is_zero_by_structure_is_zero_wherever_the_other_operand_is_infinite_or_nan(g, x):
    for expr in (0 * x, x * 0.0, 0 / x, x - x, x + -x, 0.0 * tg.log(x), -0.0 * x):
        assert expr is g.zero
    f = Function("f", [g.blocks["x"]], {"y": x - x})
    assert evaluate(f, math.nan)[0] == 0.0
    assert evaluate(f, INF)[0] == 0.0


@pytest.mark.parametrize("zero", [0, 0.0, -0.0, np.float64(-0.0), False * 1])
def test_minus_zero_is_zero(g, zero):
    assert g.number(zero) is g.zero
    assert math.copysign(1.0, float(g.number(zero))) == 1.0


def test_constants_are_combined_when_the_result_is_finite(g):
    two, three = g.number(2), g.number(3)
    assert float(two + three) == 5.0
    assert float(two - three) == -1.0
    assert float(two * three) == 6.0
    assert float(two / three) == 2.0 / 3.0
    assert float(two**three) == 8.0
    assert float(two**0.25) == 2.0**0.25
    assert float(tg.atan2(two, three)) == math.atan2(2, 3)
    assert float(tg.minimum(two, three)) == 2.0
    assert (two < three) is g.true
    assert tg.equal(two, three) is g.false
    assert tg.select(two < three, two, three) is two


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda g: g.one / 0, INF),
        (lambda g: -g.one / 0, -INF),
        (lambda g: g.zero / 0, math.nan),
        (lambda g: tg.log(g.zero), -INF),
        (lambda g: tg.sqrt(-g.one), math.nan),
        (lambda g: tg.asin(g.number(2)), math.nan),
        (lambda g: g.number(10.0) ** 400, INF),
        (lambda g: g.number(0.0) ** -1, INF),
        (lambda g: g.number(0.0) ** -1.5, INF),
        (lambda g: g.number(1e308) * 10, INF),
        (lambda g: g.number(-1e308) - 1e308, -INF),
        (lambda g: tg.exp(g.number(1000)), INF),
        (lambda g: g.number(INF) * 0, math.nan),
        (lambda g: g.number(INF) + 1, INF),
        (lambda g: tg.floor(g.number(INF)), INF),
        (lambda g: (-g.number(8)) ** (1 / 3), math.nan),
    ],
)
def test_constants_without_a_finite_result_stay_operations_and_answer_at_run_time(make, expected):
    g = Graph()
    expr = make(g)
    assert not expr.is_number
    assert make(g) is expr
    np.testing.assert_equal(float(evaluate(Function("f", [], {"y": expr}))[0]), expected)


def test_infinity_is_a_constant_but_nan_is_none(g, x):
    assert float(g.number(INF)) == INF
    assert (x < INF).op is ops.LT
    with pytest.raises(GraphError, match="not-a-number"):
        g.number(math.nan)
    with pytest.raises(GraphError, match="not-a-number"):
        x + math.nan


def test_an_expression_built_twice_is_one_object(g, x, y):
    make = [
        lambda: x + y,
        lambda: x - y,
        lambda: x * y,
        lambda: x / y,
        lambda: x**y,
        lambda: x**7,
        lambda: tg.atan2(x, y),
        lambda: tg.minimum(x, 3),
        lambda: tg.sin(x * y + 1),
        lambda: tg.select(x < y, x, y),
        lambda: tg.table(x, [0, 1], [1, 2]),
        lambda: tg.solve([[x, y], [1, x]], [1, y])[1],
        lambda: tg.minimum_norm_solve([[x, y]], [1])[0][1],
        lambda: (x < y) & ~(x <= 2),
        lambda: g.number(1e308) * 1e308,
    ]
    for one in make:
        first = one()
        before = len(g)
        assert one() is first
        assert len(g) == before


def test_operands_of_commutative_operations_are_ordered(g, x, y):
    assert x + y is y + x
    assert x * y is y * x
    assert tg.minimum(x, y) is tg.minimum(y, x)
    assert tg.maximum(x, y) is tg.maximum(y, x)
    assert tg.equal(x, y) is tg.equal(y, x)
    p, q = x < y, y < 2.0
    assert p & q is q & p
    assert p | q is q | p
    assert 2 * x is x * 2
    assert (2 * x).args[0].is_number
    assert (x + 2).args[1].is_number
    assert x - y is not y - x
    assert x / y is not y / x
    assert tg.atan2(x, y) is not tg.atan2(y, x)


def test_products_that_differ_in_sign_only_share_one_product(g, x, y):
    p = x * y
    assert -x * y is -p
    assert x * -y is -p
    assert -x * -y is p
    assert (-2 * x) * y is -((2 * x) * y)
    assert -x / y is -(x / y)
    assert x / -y is -(x / y)
    assert -x / -y is x / y
    assert -3 / x is -(3 / x)
    assert x / -3 is -(x / 3)


def test_a_difference_that_exists_the_other_way_round_is_its_negative(g, x, y):
    d = x - y
    assert y - x is -d
    assert -x + y is -d
    assert -y + x is d
    assert -x - y is -(x + y)
    c = 3 - x
    assert x - 3 is -c
    assert x + -3 is -c
    assert -x + 3 is c
    assert -x - 3 is -(x + 3)
    assert -x + -3 is -(x + 3)


def test_signs_pass_odd_functions_and_vanish_in_even_ones(g, x):
    odd = (tg.sin, tg.tan, tg.asin, tg.atan, tg.sinh, tg.tanh, tg.asinh, tg.atanh, tg.sign)
    for f in odd:
        assert f(-x) is -f(x)
    for f in (tg.cos, tg.cosh, tg.absolute):
        assert f(-x) is f(x)
    for f in (tg.exp, tg.log, tg.acos, tg.acosh, tg.sqrt, tg.floor):
        assert f(-x).op is not ops.NEG


def test_what_is_never_negative_is_its_own_absolute_value(g, x):
    for e in (tg.sqrt(x), tg.exp(x), tg.absolute(x)):
        assert tg.absolute(e) is e


def test_twice_the_same_is_a_product_by_two(g, x):
    assert x + x is 2 * x
    assert (x + x) + (x + x) is 4 * x
    assert -x + -x is -(2 * x)


def test_constant_factors_meet(g, x):
    assert 2 * (3 * x) is 6 * x
    assert -2 * (3 * x) is -(6 * x)
    assert 0.5 * (2 * x) is x
    assert (1e200 * (1e200 * x)).args[1].op is ops.MUL  # their product is not finite
    assert (1e-200 * (1e-200 * x)).args[1].op is ops.MUL  # nor here a number with all its digits


def test_sums_are_never_reassociated(g, x, y):
    z = g.symbol("z")
    assert (x + y) + z is not x + (y + z)
    big = Function("f", list(g.blocks.values()), {"y": [(x + y) + z, x + (y + z)]})
    assert evaluate(big, 1e30, -1e30, 1.0)[0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("n", range(2, 40))
def test_integer_power_takes_no_more_products_than_repeated_squaring(n):
    g = Graph()
    x = g.symbol("x")
    assert tg.count(Function("f", [g.blocks["x"]], {"y": x**n})).products == n.bit_length() - 1 + n.bit_count() - 1


def test_conditions_fold(g, x, y):
    p, q = x < y, x <= y
    assert ~~p is p
    assert p & p is p
    assert p | p is p
    assert p & True is p
    assert p & False is g.false
    assert True & p is p
    assert p | True is g.true
    assert False | p is p
    assert (x < x) is g.false
    assert (x <= x) is not g.true  # nan is not even its own equal
    assert tg.equal(x, x) is not g.true
    assert (x > y) is (y < x)
    assert (x >= y) is (y <= x)
    assert tg.select(~p, x, y) is tg.select(p, y, x)
    assert tg.select(q, x, x) is x
    assert tg.select(g.true, x, y) is x
    assert tg.select(g.false, x, y) is y
    assert tg.select(p, -x, -y) is -tg.select(p, x, y)


def test_leaves_are_one_object_whatever_their_python_type(g, x):
    assert g.number(2) is g.number(2.0)
    assert x * 2 is x * np.float64(2) is x * np.int64(2)
    assert g.number(2**53 + 1) is g.number(float(2**53))


def test_names_given_to_intermediates_do_not_change_them(g, x, y):
    e = x * y
    assert g.name(e, "T") is e
    assert g.label(e) == "T"
    g.name(e, "U")
    assert g.label(x * y) == "T"
    g.name(x, "other")
    assert g.label(x) == "x"
    assert repr(e + 1) == "(T + 1)"


def test_operands_come_before_results(g):
    for node in showcase().graph.nodes:
        assert all(a.id < node.id for a in node.args)


def test_numpy_arrays_of_expressions_work_elementwise(g, x, y):
    vector = np.array([x, y])
    assert (np.float64(2) * x) is 2 * x
    assert (vector * 2).tolist() == [2 * x, 2 * y]
    assert (np.array([[0, 1], [1, 0]]) @ vector).tolist() == [y, x]
    assert np.sin(vector).tolist() == [tg.sin(x), tg.sin(y)]
    assert np.linalg.norm(vector) is tg.sqrt(x * x + y * y)


@given(st.permutations(["a", "b", "c"]))
def test_the_order_in_which_symbols_were_made_decides_only_the_order_of_operands(order):
    g = Graph()
    s = {name: g.symbol(name, Role.STATE) for name in order}
    exprs = [s[p] * s[q] for p, q in itertools.permutations("abc", 2)]
    assert len(set(exprs)) == 3
