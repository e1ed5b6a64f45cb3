"""Derivatives by either mode are the derivatives, and at kinks what the documentation says."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import torseur.graph as tg
from support.fifty_digits import DIGITS, FUNCTIONS, exact_slope
from support.random_functions import arguments, recipes
from support.recipes import BINARY, KINDS, UNARY, Recipe, Step, build
from support.rounding import assert_close, evaluate_with_bounds
from torseur.graph import (
    Function,
    Graph,
    Interpolation,
    Mode,
    Outside,
    Role,
    adjoints,
    evaluate,
    gradient,
    hessian,
    jacobian,
    tangents,
)

NAN, INF = math.nan, math.inf

INSIDE = {
    "sqrt": (0.1, 50.0),
    "log": (0.1, 50.0),
    "asin": (-0.99, 0.99),
    "acos": (-0.99, 0.99),
    "atanh": (-0.99, 0.99),
    "acosh": (1.05, 50.0),
    "tan": (-1.4, 1.4),
}
# mpmath cannot differentiate through min, max and jumps at a distance, but we know what to expect there.
SMOOTH = [name for name in UNARY if name not in ("sign", "floor")]


def at(outputs, symbols, point, bounds=False):
    """Values (and error bounds) of a list of expressions at a point."""
    f = Function("f", list(symbols[0].graph.blocks.values()), {"y": outputs})
    values, errors = evaluate_with_bounds(f, *point)
    return (values[0], errors[0]) if bounds else values[0]


def both_modes(output, wrt):
    """The gradient of one expression: by forward columns, by one reverse sweep, and by Jacobians in every mode."""
    forward = [tangents([output], {x: 1.0})[0] for x in wrt]
    rows = [jacobian([output], wrt, mode).dense()[0] for mode in Mode]
    return [forward, gradient(output, wrt), *rows]


# -- every operation ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", SMOOTH)
@settings(max_examples=12)
@given(data=st.data())
def test_first_and_second_derivatives_of_every_function_of_one_argument(name, data):
    x0 = data.draw(st.floats(*INSIDE.get(name, (-4.0, 4.0))).filter(lambda x: abs(x) > 1e-3))
    x = Graph().symbol("x")
    f = UNARY[name][0](x)
    with mp.workdps(DIGITS):
        first, second = (float(mp.diff(FUNCTIONS[name], mp.mpf(x0), n)) for n in (1, 2))
    df = [expr for (expr,) in both_modes(f, [x])]
    value, bound = at(df, [x], [x0], bounds=True)
    assert_close(value, np.full(len(df), first), bound, factor=4)
    ddf = [*tangents([df[0]], {x: 1.0}), *gradient(df[1], [x])]
    value, bound = at(ddf, [x], [x0], bounds=True)
    assert_close(value, [second, second], bound + 1e-15 * abs(second), factor=4)


@pytest.mark.parametrize("name", BINARY)
@settings(max_examples=15)
@given(a=st.floats(0.1, 4.0), b=st.floats(-4.0, 4.0).filter(lambda b: abs(b) > 0.1))
def test_gradients_of_every_function_of_two_arguments(name, a, b):
    if a == b and name in ("min", "max"):
        b = -b
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    f = BINARY[name][0](x, y)
    with mp.workdps(DIGITS):
        law = FUNCTIONS[name]
        expected = [float(mp.diff(law, (mp.mpf(a), mp.mpf(b)), order)) for order in ((1, 0), (0, 1))]
    for df in both_modes(f, [x, y]):
        value, bound = at(df, [x, y], [a, b], bounds=True)
        assert_close(value, expected, bound, factor=4)


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 5, 12])
@settings(max_examples=20)
@given(x0=st.floats(0.5, 2.0), negative=st.booleans())
def test_derivative_of_an_integer_power(n, x0, negative):
    x0 = -x0 if negative else x0
    x = Graph().symbol("x")
    for df in both_modes(x**n, [x]):
        assert at(df, [x], [x0]) == pytest.approx([n * x0 ** (n - 1)], rel=1e-14)


def test_derivatives_agree_with_those_of_sympy():
    """Closed forms of another system, on an expression that uses most functions at once."""
    s = sympy.symbols("s0:3")
    g = Graph()
    x = list(g.block("x", 3))

    def law(x, m, sqrt, asin, atan2):
        return (
            m.sin(x[0] * x[1]) * m.exp(-x[2]) / (1 + x[1] ** 2)
            + sqrt(1 + x[0] ** 2) * m.log(2 + m.cos(x[2]))
            + asin(m.sin(x[0]) / 2) * atan2(x[1], 2 + x[2] ** 2)
            + m.tanh(x[0] - x[2]) ** 3
            + (1.5 + m.cos(x[1])) ** 1.25
        )

    ours = law(x, tg, tg.sqrt, tg.asin, tg.atan2)
    theirs = law(s, sympy, sympy.sqrt, sympy.asin, sympy.atan2)
    point = [0.7, -1.2, 0.4]
    where = dict(zip(s, point, strict=True))
    expected = [float(sympy.diff(theirs, v).evalf(30, subs=where)) for v in s]
    curvature = [[float(sympy.diff(theirs, v, w).evalf(30, subs=where)) for w in s] for v in s]
    for df in both_modes(ours, x):
        np.testing.assert_allclose(at(df, x, [point]), expected, rtol=1e-14)
    np.testing.assert_allclose(at(hessian(ours, x), x, [point]), curvature, rtol=1e-13)


@settings(max_examples=80)
@given(data=st.data())
def test_derivatives_of_random_functions_along_random_directions(data):
    """Forward and reverse, through tables, branches, calls, linear systems and roots, against fifty digits."""
    recipe = data.draw(recipes(kinds=[k for k in KINDS if k != "minimum_norm"], max_steps=10))
    args = data.draw(arguments(recipe, batch=(), ties=False))
    f = build(recipe)
    symbols = [s for block in f.inputs for s in block]
    columns = np.concatenate([np.ravel(a) for a in args])
    direction = np.random.default_rng(len(symbols)).uniform(-1, 1, len(symbols))
    expected = exact_slope(recipe, columns, direction)

    forward = tangents(f.results, dict(zip(symbols, direction, strict=True)))
    value, bound = at(forward, symbols, args, bounds=True)
    known = np.isfinite(value)
    assert_close(value[known], expected[known], bound[known], factor=4)

    by_mode = [jacobian(f.results, symbols, mode).dense() for mode in Mode]
    rows = [at(dense, symbols, args, bounds=True) for dense in by_mode]
    for J, dJ in rows:
        sure = known & np.isfinite(J).all(axis=1)
        assert_close((J @ direction)[sure], expected[sure], (dJ @ abs(direction))[sure] + 1e-15 * abs(J).sum(1)[sure])
    weights = np.linspace(-1, 1, len(f.results))
    row, bound = at(adjoints(f.results, weights.tolist(), symbols), symbols, args, bounds=True)
    J, dJ = rows[0]
    sure = np.isfinite(J).all(axis=0) & np.isfinite(row)
    error = bound + abs(weights) @ dJ + 1e-15 * (abs(weights) @ abs(J))
    assert_close(row[sure], (weights @ J)[sure], error[sure])


@settings(max_examples=40)
@given(data=st.data())
def test_hessian_is_symmetric_and_the_derivative_of_the_gradient(data):
    kinds = ["mul", "add", "sin", "exp", "div", "tanh", "sqrt", "pow", "atan2", "table", "call", "solve", "root"]
    recipe = data.draw(recipes(kinds=kinds, max_steps=6, few=True))
    args = data.draw(arguments(recipe, batch=(), ties=False))
    f = build(recipe)
    symbols = list(f.inputs[0])
    y = f.results[0]
    H, dH = at(hessian(y, symbols), symbols, args, bounds=True)
    sure = np.isfinite(H) & np.isfinite(H.T)
    assert_close(H[sure], H.T[sure], (dH + dH.T)[sure])
    direction = dict(zip(symbols, [0.3, -0.7, 0.5], strict=True))
    along, bound = at(tangents(gradient(y, symbols), direction), symbols, args, bounds=True)
    d = np.array([0.3, -0.7, 0.5])
    sure = np.isfinite(along) & np.isfinite(H).all(axis=1)
    assert_close((H @ d)[sure], along[sure], (bound + dH @ abs(d) + 1e-15 * abs(H) @ abs(d))[sure])


# -- conventions -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("make", "x0", "expected"),
    [
        (lambda x: tg.absolute(x), 0.0, 0.0),
        (lambda x: tg.absolute(x), -0.0, 0.0),
        (lambda x: tg.absolute(x), -1e-300, -1.0),
        (lambda x: tg.absolute(x), NAN, NAN),
        (lambda x: tg.sign(x), 0.0, 0.0),
        (lambda x: tg.sign(x), 2.0, 0.0),
        (lambda x: tg.floor(x), 1.0, 0.0),
        (lambda x: tg.floor(x), 1.5, 0.0),
        (lambda x: tg.minimum(2 * x, 3 * x), 1.0, 2.0),
        (lambda x: tg.minimum(2 * x, 3 * x), 0.0, 3.0),  # a tie takes the second
        (lambda x: tg.maximum(2 * x, 3 * x), 1.0, 3.0),
        (lambda x: tg.maximum(2 * x, 3 * x), 0.0, 3.0),
        (lambda x: tg.maximum(2 * x, 3 * x), -1.0, 2.0),
        (lambda x: tg.select(x < 1.0, 5 * x, 7 * x), 1.0, 7.0),
        (lambda x: tg.select(x <= 1.0, 5 * x, 7 * x), 1.0, 5.0),
        (lambda x: tg.select(x < 1.0, 1.0, 2.0), 1.0, 0.0),
        (lambda x: tg.sqrt(x), 0.0, INF),
        (lambda x: tg.atan2(x, 2 * x), 0.0, NAN),
    ],
)
def test_derivative_at_a_kink_is_the_documented_one(make, x0, expected):
    x = Graph().symbol("x")
    for df in both_modes(make(x), [x]):
        np.testing.assert_array_equal(at(df, [x], [x0]), [expected])


@pytest.mark.parametrize("swapped", [False, True])
def test_minimum_and_maximum_at_a_tie_take_the_operand_made_later(swapped):
    """However the call was written: operands of commutative operations are ordered."""
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    for f in (tg.minimum, tg.maximum):
        e = f(y, x) if swapped else f(x, y)
        for df in both_modes(e, [x, y]):
            assert at(df, [x, y], [1.0, 1.0]).tolist() == [0.0, 1.0]
        assert at(gradient(f(x, 0.0), [x]), [x], [0.0, 0.0]) == 1.0  # 0 is the oldest of all
        assert at(gradient(f(x, 7.0), [x]), [x], [7.0, 0.0]) == 0.0


XS, YS = [-1.0, 0.0, 0.5, 2.0], [0.0, 1.0, 3.0, -1.0]


@pytest.mark.parametrize("kind", Interpolation)
@pytest.mark.parametrize("outside", Outside)
def test_table_at_a_breakpoint_has_the_derivative_of_the_interval_to_its_right(kind, outside):
    x = Graph().symbol("x")
    curve = tg.table(x, XS, YS, kind, outside)
    for df in both_modes(curve, [x]):
        slopes = [at(df, [x], [b])[0] for b in XS]
        right = [at(df, [x], [np.nextafter(b, np.inf)])[0] for b in XS]
        np.testing.assert_allclose(slopes, right, rtol=1e-12, atol=1e-12)
        if kind is Interpolation.LINEAR:
            end = 0.0 if outside is Outside.HOLD else -8 / 3
            assert slopes == [1.0, 4.0, pytest.approx(-8 / 3), pytest.approx(end)]
        assert at(df, [x], [-5.0]) == pytest.approx(0.0 if outside is Outside.HOLD else slopes[0])


def test_both_modes_keep_the_unchosen_branch_out():
    x = Graph().symbol("x")
    guarded = tg.select(x > 0.0, tg.sqrt(x), 0.0)
    forward, reverse = tangents([guarded], {x: 1.0}), gradient(guarded, [x])
    assert at(forward, [x], [0.0]).tolist() == [0.0]
    assert at(reverse, [x], [0.0]).tolist() == [0.0]
    assert at(forward, [x], [4.0]) == at(reverse, [x], [4.0]) == 0.25


def test_conditions_contribute_nothing():
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    chosen = tg.select(x * x < 4.0, y, 2 * y)
    assert gradient(chosen, [x]) == [g.zero]
    assert tangents([chosen], {x: 1.0}) == [g.zero]
    assert jacobian([chosen], [x, y]).columns == (1,)


# -- structure ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", Mode)
def test_jacobian_holds_no_structural_zero_and_misses_no_entry(mode):
    g = Graph()
    x = g.block("x", 5)
    outputs = [x[0] * x[1], tg.sin(x[3]), g.number(3.0), x[4] + x[4] * x[0], x[2]]
    J = jacobian(outputs, list(x), mode)
    assert J.shape == (5, 5)
    assert list(zip(J.rows, J.columns, strict=True)) == [(0, 0), (0, 1), (1, 3), (3, 0), (3, 4), (4, 2)]
    dense = J.dense()
    assert dense[0][0] is x[1]
    assert dense[2] == [g.zero] * 5
    assert dense[4][2] is g.one


@pytest.mark.parametrize("mode", Mode)
def test_jacobian_through_a_call_is_as_sparse_as_what_is_called(mode):
    inner = Graph()
    a = inner.block("a", 3)
    f = Function("f", [a], {"y": [a[0] * a[1], tg.sin(a[2]), a[1]]})
    g = Graph()
    x = g.block("x", 3)
    J = jacobian(tg.call(f, x), list(x), mode)
    assert list(zip(J.rows, J.columns, strict=True)) == [(0, 0), (0, 1), (1, 2), (2, 1)]
    values = evaluate(Function("J", [x], {"J": J.dense()}), [2.0, 3.0, 0.5])[0]
    np.testing.assert_allclose(values, [[3, 2, 0], [0, 0, math.cos(0.5)], [0, 1, 0]], rtol=1e-15)


@settings(max_examples=60)
@given(data=st.data())
def test_jacobian_has_the_same_entries_in_every_mode(data):
    recipe = data.draw(recipes(max_steps=8))
    f = build(recipe)
    symbols = [s for block in f.inputs for s in block]
    args = data.draw(arguments(recipe, batch=(), ties=False))
    found = [at(jacobian(f.results, symbols, mode).dense(), symbols, args, bounds=True) for mode in Mode]
    (F, dF), (R, dR), (A, _) = found
    sure = np.isfinite(F) & np.isfinite(R)
    assert_close(F[sure], R[sure], (dF + dR)[sure])
    assert any(np.array_equal(A, other, equal_nan=True) for other in (F, R))


def test_automatic_mode_sweeps_the_cheaper_way():
    g = Graph()
    x = list(g.block("x", 40))
    total = x[0]
    for xi in x[1:]:
        total = total * tg.sin(xi)
    before = len(g)
    jacobian([total, 2 * total], x)
    many_inputs = len(g) - before
    assert many_inputs < 10 * 40 * 2  # forward would touch 40 * 40 / 2 pairs and more

    g = Graph()
    t = list(g.block("t", 2))
    powers = [tg.sin(t[0] * k) * t[1] for k in range(2, 42)]
    before = len(g)
    J = jacobian(powers, t)
    assert len(J.entries) == 80
    assert len(g) - before < 5 * 40


def test_derivatives_with_respect_to_an_intermediate_hold_its_operands_fixed():
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    u = x * y
    f = tg.sin(u) * x
    assert gradient(f, [u, x]) == [x * tg.cos(u), tg.sin(u)]
    assert tangents([f], {u: 1.0}) == [x * tg.cos(u)]
    for mode in Mode:
        assert jacobian([f, u], [u, x], mode).dense() == [[x * tg.cos(u), tg.sin(u)], [g.one, g.zero]]


def test_the_same_variable_asked_for_twice_gives_two_equal_columns():
    x = Graph().symbol("x")
    for mode in Mode:
        assert jacobian([x * x, x], [x, x], mode).dense() == [[2 * x, 2 * x], [x.graph.one] * 2]


def test_gradient_of_what_does_not_depend_is_zero():
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    assert gradient(y * y, [x]) == [g.zero]
    assert gradient(g.number(3.0), [x]) == [g.zero]
    assert tangents([g.one, x], {y: 1.0}) == [g.zero, g.zero]
    assert tangents([], {x: 1.0}) == []
    assert adjoints([], [], [x, y]) == [g.zero, g.zero]
    assert jacobian([y], [x]).entries == ()


def test_a_reverse_sweep_costs_a_few_operations_per_operation():
    """Griewank's bound: the gradient of one output costs at most about four times the output."""
    g = Graph()
    x = list(g.block("x", 50))
    y = g.one
    for k, xi in enumerate(x):
        y = tg.sin(y * xi + k) / (2.0 + xi * y)
    plain, with_gradient = (
        tg.count(Function("f", [g.blocks["x"]], {"y": e})).total for e in ([y], [y, *gradient(y, x)])
    )
    assert with_gradient <= 5 * plain


def test_nested_calls_are_differentiated_through_functions_made_once():
    inner = Graph()
    a = inner.symbol("a")
    f = Function("f", [inner.blocks["a"]], {"y": tg.sin(a) * a})
    middle = Graph()
    b = middle.symbol("b")
    h = Function("h", [middle.blocks["b"]], {"y": tg.call(f, b)[0] * tg.call(f, 2 * b)[0]})
    g = Graph()
    x = g.symbol("x")
    y = tg.call(h, x)[0] + tg.call(h, x * x)[0]
    dy = [tangents([y], {x: 1.0})[0], gradient(y, [x])[0]]
    ddy = gradient(dy[0], [x])[0]
    with mp.workdps(DIGITS):

        def law(x):
            def h(b):
                return mp.sin(b) * b * mp.sin(2 * b) * 2 * b

            return h(x) + h(x * x)

        expected = [float(mp.diff(law, mp.mpf("0.7"), n)) for n in (1, 1, 2)]
    F = Function("F", [g.blocks["x"]], {"y": [*dy, ddy]})
    np.testing.assert_allclose(evaluate(F, 0.7)[0], expected, rtol=1e-13)
    (tangent,) = Function("t", [g.blocks["x"]], {"y": dy[0]}).callees
    assert tangent.name == "h_tangent"  # one function, called twice


def test_differentiating_a_call_leaves_the_called_function_as_it_was():
    inner = Graph()
    q = inner.block("q", 2, Role.STATE)
    dq = inner.block("dq", 2, Role.INPUT)  # the very name a tangent would like to use
    w = inner.block("w", 1, Role.PARAMETER)
    f = Function("f", [q, dq, w], {"y": [q[0] * dq[1] * w[0]]})
    digest, inputs = f.digest, f.inputs
    g = Graph()
    x = g.block("x", 5)
    y = tg.call(f, x[0:2], x[2:4], [x[4]])[0]
    for df in both_modes(y, list(x)):
        np.testing.assert_allclose(at(df, list(x), [[2.0, 3.0, 5.0, 7.0, 11.0]]), [77, 0, 0, 22, 14])
    assert f.digest == digest
    assert f.inputs == inputs


def test_the_oracle_itself_tells_a_wrong_derivative_from_a_right_one():
    recipe = Recipe((("x", (), Role.STATE),), (Step("mul", (0, 0)),), (("y", (), (1,)),))
    assert exact_slope(recipe, [3.0], [1.0]) == pytest.approx([6.0], rel=1e-15)


@pytest.mark.parametrize("mode", list(Mode))
def test_the_branch_not_taken_contributes_nothing_even_where_its_slope_is_infinite(mode):
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    e = tg.select(x > 0, tg.sqrt(x), 0.0) * y
    f = Function("f", list(g.blocks.values()), {"J": jacobian([e], [x, y], mode).dense()})
    assert evaluate(f, -1.0, 2.0)[0].tolist() == [[0.0, 0.0]]
    assert evaluate(f, 0.0, 2.0)[0].tolist() == [[0.0, 0.0]]
    assert evaluate(f, 4.0, 2.0)[0].tolist() == [[0.5, 2.0]]
