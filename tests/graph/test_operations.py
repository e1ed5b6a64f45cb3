"""Every operation computes what its name says, at ordinary points and at the edges."""

from __future__ import annotations

import math
import operator

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torseur.graph as tg
from support.fifty_digits import DIGITS, FUNCTIONS
from support.recipes import BINARY, COMPARISONS, UNARY
from torseur.graph import Function, Graph, Truth, evaluate, ops

INF, NAN = math.inf, math.nan
EPS = np.finfo(float).eps

# Where each function is tried: about its whole domain.
DOMAINS = {
    "sqrt": (0.0, 1e6),
    "exp": (-700.0, 700.0),
    "log": (1e-12, 1e6),
    "asin": (-1.0, 1.0),
    "acos": (-1.0, 1.0),
    "atanh": (-0.999, 0.999),
    "acosh": (1.0, 1e6),
    "sinh": (-700.0, 700.0),
    "cosh": (-700.0, 700.0),
}


def value(expr: tg.Expr, *numbers: float) -> float:
    """One expression of the scalars of its graph, at a point."""
    blocks = list(expr.graph.blocks.values())
    return float(evaluate(Function("f", blocks, {"y": expr}), *numbers)[0])


def same(a: float, b: float) -> bool:
    """The same number, sign of zero included, or both nan."""
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))


@pytest.mark.parametrize("name", UNARY)
@settings(max_examples=40)
@given(data=st.data())
def test_function_of_one_argument_is_right_to_four_units_in_the_last_place(name, data):
    x = data.draw(st.floats(*DOMAINS.get(name, (-50.0, 50.0))))
    g = Graph()
    got = value(UNARY[name][0](g.symbol("x")), x)
    with mp.workdps(DIGITS):
        expected = float(FUNCTIONS[name](mp.mpf(x)))
    assert abs(got - expected) <= 4 * EPS * abs(expected) + 5e-324


@pytest.mark.parametrize("name", BINARY)
@settings(max_examples=40)
@given(a=st.floats(-30, 30), b=st.floats(-30, 30))
def test_function_of_two_arguments_is_right_to_four_units_in_the_last_place(name, a, b):
    a, b = (abs(a) + 1e-3 if name == "pow" else a + 0.0), (b or 1.0)  # mpmath knows no minus zero
    if name == "div" and abs(b) < 1e-200:
        b = 1.0
    g = Graph()
    got = value(BINARY[name][0](g.symbol("x"), g.symbol("y")), a, b)
    with mp.workdps(DIGITS):
        expected = float(FUNCTIONS[name](mp.mpf(a), mp.mpf(b)))
    assert abs(got - expected) <= 4 * EPS * abs(expected) + 5e-324


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("a", [-INF, -1.0, -0.0, 0.0, 1.0, INF, NAN])
@pytest.mark.parametrize("b", [-INF, -1.0, -0.0, 0.0, 1.0, INF, NAN])
def test_comparison_is_that_of_ieee_numbers(name, a, b):
    g = Graph()
    condition = COMPARISONS[name][0](g.symbol("x"), g.symbol("y"))
    expected = {"lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b, "eq": a == b}[name]
    assert value(tg.select(condition, 1.0, 0.0), a, b) == expected
    assert value(tg.select(~condition, 1.0, 0.0), a, b) != expected


@pytest.mark.parametrize(("p", "q"), [(False, False), (False, True), (True, False), (True, True)])
def test_conditions_combine_as_truth_tables_say(p, q):
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    a, b = x > 0.0, y > 0.0
    at = [1.0 if p else -1.0, 1.0 if q else -1.0]
    for condition, expected in [(a & b, p and q), (a | b, p or q), (~a, not p), (a & ~b | ~a & b, p != q)]:
        assert isinstance(condition, Truth)
        assert value(tg.select(condition, 1.0, 0.0), *at) == expected


EDGES = [
    ("sqrt", -1.0, NAN),
    ("sqrt", -0.0, -0.0),
    ("sqrt", INF, INF),
    ("exp", 710.0, INF),
    ("exp", -INF, 0.0),
    ("exp", -746.0, 0.0),
    ("log", 0.0, -INF),
    ("log", -0.0, -INF),
    ("log", -1.0, NAN),
    ("log", INF, INF),
    ("sin", -0.0, -0.0),
    ("sin", INF, NAN),
    ("cos", INF, NAN),
    ("tan", INF, NAN),
    ("asin", 1.0000001, NAN),
    ("asin", 1.0, math.pi / 2),
    ("acos", -1.0000001, NAN),
    ("acos", -1.0, math.pi),
    ("acos", 1.0, 0.0),
    ("atan", INF, math.pi / 2),
    ("atan", -INF, -math.pi / 2),
    ("sinh", -INF, -INF),
    ("cosh", -INF, INF),
    ("tanh", INF, 1.0),
    ("tanh", -INF, -1.0),
    ("asinh", -INF, -INF),
    ("acosh", 0.9999999, NAN),
    ("acosh", 1.0, 0.0),
    ("acosh", INF, INF),
    ("atanh", 1.0, INF),
    ("atanh", -1.0, -INF),
    ("atanh", 1.0000001, NAN),
    ("abs", -INF, INF),
    ("abs", -0.0, 0.0),
    ("sign", -0.0, 0.0),
    ("sign", 5e-324, 1.0),
    ("sign", -INF, -1.0),
    ("floor", -0.5, -1.0),
    ("floor", 2.0, 2.0),
    ("floor", -1e-300, -1.0),
    ("floor", -INF, -INF),
    ("floor", 1e300, 1e300),
    ("neg", 0.0, -0.0),
    *((name, NAN, NAN) for name in UNARY),
]


@pytest.mark.parametrize(("name", "x", "expected"), EDGES)
def test_function_of_one_argument_at_the_edge_of_its_domain(name, x, expected):
    g = Graph()
    assert same(value(UNARY[name][0](g.symbol("x")), x), expected)


@pytest.mark.parametrize(("name", "x", "expected"), [e for e in EDGES if not math.isnan(e[1])])
def test_constant_at_the_edge_of_a_domain_answers_what_the_operation_would_at_run_time(name, x, expected):
    g = Graph()
    got = value(UNARY[name][0](g.number(x)))
    assert got == expected or (math.isnan(got) and math.isnan(expected))  # constants know no minus zero


BINARY_EDGES = [
    ("add", INF, -INF, NAN),
    ("sub", INF, INF, NAN),
    ("mul", 0.0, INF, NAN),
    ("mul", -1.0, 0.0, -0.0),
    ("mul", 1e200, 1e200, INF),
    ("div", 1.0, 0.0, INF),
    ("div", 1.0, -0.0, -INF),
    ("div", -1.0, 0.0, -INF),
    ("div", 0.0, 0.0, NAN),
    ("div", INF, INF, NAN),
    ("div", 1.0, INF, 0.0),
    ("pow", 0.0, -1.5, INF),
    ("pow", -8.0, 1 / 3, NAN),
    ("pow", -2.0, 3.0, -8.0),
    ("pow", 0.0, 0.0, 1.0),
    ("pow", NAN, 0.0, 1.0),
    ("pow", 1.0, NAN, 1.0),
    ("pow", INF, -1.0, 0.0),
    ("pow", 2.0, 1024.0, INF),
    ("atan2", 0.0, -1.0, math.pi),
    ("atan2", -0.0, -1.0, -math.pi),
    ("atan2", 0.0, 0.0, 0.0),
    ("atan2", 1.0, 0.0, math.pi / 2),
    ("atan2", -1.0, -0.0, -math.pi / 2),
    ("atan2", INF, -INF, 3 * math.pi / 4),
    ("min", NAN, 1.0, NAN),
    ("min", 1.0, NAN, NAN),
    ("max", NAN, 1.0, NAN),
    ("max", 1.0, NAN, NAN),
    ("min", -INF, INF, -INF),
    ("max", -INF, INF, INF),
    *((name, NAN, 2.0, NAN) for name in BINARY),
    *((name, 2.0, NAN, NAN) for name in BINARY),
]


@pytest.mark.parametrize(("name", "a", "b", "expected"), BINARY_EDGES)
def test_function_of_two_arguments_at_the_edge_of_its_domain(name, a, b, expected):
    g = Graph()
    assert same(value(BINARY[name][0](g.symbol("x"), g.symbol("y")), a, b), expected)


def test_select_gives_the_chosen_branch_whatever_the_other_is():
    g = Graph()
    x = g.symbol("x")
    guarded = tg.select(x > 0.0, tg.log(x), -1.0)
    assert value(guarded, -5.0) == -1.0
    assert value(guarded, NAN) == -1.0  # no comparison holds for nan
    assert value(tg.select(x > 0.0, 1.0 / x, 0.0), 0.0) == 0.0


def test_sine_and_cosine_of_huge_angles_are_reduced_fully():
    g = Graph()
    x = g.symbol("x")
    for angle in (1e6, 1e16, 1e300):
        with mp.workdps(400):
            assert value(tg.sin(x), angle) == pytest.approx(float(mp.sin(mp.mpf(angle))), rel=1e-15)
            assert value(tg.cos(x), angle) == pytest.approx(float(mp.cos(mp.mpf(angle))), rel=1e-15)


@pytest.mark.parametrize("n", [*range(-9, 10), 64, 1000, -1000])
@settings(max_examples=15)
@given(x=st.floats(0.5, 1.5), negative=st.booleans())
def test_integer_power_is_right_to_its_number_of_products(n, x, negative):
    x = -x if negative else x
    g = Graph()
    got = value(g.symbol("x") ** n, x)
    with mp.workdps(DIGITS):
        expected = float(mp.mpf(x) ** n)
    assert abs(got - expected) <= (abs(n) + 2) * EPS * abs(expected)


def test_power_with_an_exponent_of_one_half_is_a_square_root():
    g = Graph()
    x = g.symbol("x")
    assert x**0.5 is tg.sqrt(x)
    assert (x**2.5).op is ops.POW
    assert (2.0**x).op is ops.POW


def test_every_operation_has_a_test_of_its_value():
    tried = {*UNARY, *BINARY, *COMPARISONS, "not", "and", "or", "select"}
    structure = {"const", "symbol", "truth", "call", "item", "piecewise"}
    assert {op.name for op in ops.OPS} == (tried - {"gt", "ge"}) | structure


# -- arrays of expressions ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("apply", [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow])
@pytest.mark.parametrize("kind", [float, int, object])
def test_an_expression_meets_the_elements_of_an_array_on_either_side(apply, kind):
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    array = np.array([[1, 2, 3]], kind) if kind is not object else np.array([[x, y, 2.0]])
    for found, one in ((apply(x, array), lambda e: apply(x, e)), (apply(array, x), lambda e: apply(e, x))):
        assert found.shape == array.shape
        assert all(a is one(e) for a, e in zip(found.flat, array.tolist()[0], strict=True))


@pytest.mark.parametrize("name", sorted(UNARY.keys() - {"sign", "floor"}))  # NumPy would decide these two at once
def test_numpy_applies_its_functions_to_arrays_of_expressions(name):
    x = Graph().symbol("x")
    ours, numpys = UNARY[name]
    assert numpys(np.array([x, 2 * x])).tolist() == [ours(x), ours(2 * x)]


def test_numpy_takes_the_angle_of_points_of_expressions():
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    assert np.arctan2(np.array([y, y]), np.array([x, 1.0])).tolist() == [tg.atan2(y, x), tg.atan2(y, 1.0)]
