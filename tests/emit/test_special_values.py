"""What is not a number stays what it is, and nothing is said of numbers that nobody asked for."""

import warnings

import numpy as np
import pytest

from torseur.emit import compile
from torseur.graph import Function, Graph, exp, log, maximum, minimum, ops, select, sign, solve, sqrt
from torseur.graph.nodes import Expr

LANES = [1, 4]
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 5e-324, 1e308, -1e308, 2.5, -0.5, 1e-310])
OPERATIONS = [op for op in ops.OPS if op.numpy is not None and op not in (ops.NOT, ops.AND, ops.OR, ops.SELECT)]
ONE_ZERO = (ops.SIN, ops.TAN, ops.SIGN, ops.MIN, ops.MAX)  # where the sign of a zero is left open


def native_of(op):
    """An operation without any folding."""
    g = Graph()
    x = g.block("x", op.arity)
    kind = type(g.true) if op in (ops.LT, ops.LE, ops.EQ) else Expr
    return Function("f", [x], {"y": g.node(kind, op, tuple(x))})


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("op", OPERATIONS, ids=repr)
def test_every_operation_answers_special_values_as_numpy_does(op, lanes):
    points = np.stack([a.ravel() for a in np.meshgrid(*[SPECIAL] * op.arity)], axis=-1)
    with np.errstate(all="ignore"):
        expected = np.asarray(op.numpy(*points.T), float)
    actual = compile(native_of(op), lanes=lanes)(points)
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(expected))
    np.testing.assert_allclose(actual, expected, rtol=1e-15, atol=1e-322, equal_nan=True)
    if op not in ONE_ZERO:
        zero = expected == 0
        np.testing.assert_array_equal(np.signbit(actual[zero]), np.signbit(expected[zero]))


def test_the_smaller_of_two_zeros_is_the_negative_one():
    low, high = compile(native_of(ops.MIN)), compile(native_of(ops.MAX))
    for pair in ([0.0, -0.0], [-0.0, 0.0]):
        assert np.signbit(low(np.array(pair)))
        assert not np.signbit(high(np.array(pair)))


@pytest.fixture
def strict():
    """Every complaint of NumPy is an error."""
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


def choosy():
    """Each result takes the good branch; the other one divides by zero, overflows or leaves its domain."""
    g = Graph()
    x, a = g.block("x", 1), g.block("a", (2, 2))
    y = x[0]
    outputs = [
        select(y > 0, 1 / y, 0.0),
        select(y > 0, log(y), -1.0),
        select(y > 0, sqrt(y), -sqrt(-y)),
        select(y < 700, exp(minimum(y, 700.0)), exp(y)),
        select(equal_zero(y), 1.0, sign(y) * y / y),
        maximum(y * y, 1e-300) / maximum(y * y, 1e-300),
    ]
    x1 = solve([[a[0], a[1]], [a[2], a[3]]], [y, 1.0])
    return Function("choosy", [x, a], {"y": outputs, "x": [select(a[0] > 0, e, 0.0) for e in x1]})


def equal_zero(y):
    return (y <= 0) & (y >= 0)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("count", [None, 9])
def test_the_branch_not_taken_makes_no_warning(strict, lanes, count):
    native = compile(choosy(), lanes=lanes)
    if count is None:
        x, a = np.zeros(1), np.zeros((2, 2))
    else:
        x, a = np.linspace(-4, 4, count)[:, None], np.zeros((count, 2, 2))
    y, z = native(x, a)
    assert np.isfinite(y).all()
    assert (z == 0).all()


@pytest.mark.parametrize("lanes", LANES)
def test_results_that_are_not_finite_make_no_warning_either(strict, lanes):
    g = Graph()
    x = g.block("x", 1)
    native = compile(Function("f", [x], {"y": [1 / x[0], log(x[0]), exp(x[0]), 0 * x[0] + x[0] / x[0]]}), lanes=lanes)
    for value in (0.0, 1e5, -1.0):
        native(np.array([value]))
        native(np.full((5, 1), value))


def test_warnings_that_numpy_owes_are_still_given_afterwards():
    g = Graph()
    x = g.block("x", 1)
    compile(Function("f", [x], {"y": [1 / x[0]]}))(np.zeros(1))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        np.ones(1) / np.zeros(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.ones(1) + np.ones(1)


def test_one_bad_row_spoils_no_other_row():
    g = Graph()
    x = g.block("x", 2)
    y = solve([[x[0], x[1]], [1.0, x[0]]], [1.0, 2.0])
    native = compile(Function("f", [x], {"y": [*y, exp(x[0]) / x[1], (x[0] - x[1]).sin()]}), lanes=4)
    good = np.random.default_rng(0).uniform(1, 2, (9, 2))
    expected = native(good)
    for bad in (np.nan, np.inf, 1e300, 0.0):
        mixed = good.copy()
        mixed[[2, 5, 8]] = bad
        rows = [0, 1, 3, 4, 6, 7]
        np.testing.assert_array_equal(native(mixed)[rows], expected[rows])
