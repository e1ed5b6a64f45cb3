"""sympy, both ways."""

import sys

import numpy as np
import pytest
import sympy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import torseur.graph as tg
from support.planar_arm import planar_inertia
from support.random_functions import arguments, functions
from support.recipes import KINDS
from support.rounding import assert_close, evaluate_with_bounds
from torseur.emit.bridges import from_sympy, to_sympy, to_sympy_statements
from torseur.errors import ArgumentError, CompileError, GraphError, MissingExtra
from torseur.graph import Function, Graph, evaluate

PLAIN = [k for k in KINDS if k not in ("table", "call", "solve", "minimum_norm", "root")]


def read_back(function: Function, converted: dict) -> Function:
    """The outputs again, from sympy, in the same graph."""
    outputs = {}
    for output in function.outputs:
        back = from_sympy(converted[output.name], function.graph)
        outputs[output.name] = [row[0] for row in back] if len(output.shape) == 1 else back
    return Function("back", function.inputs, outputs)


@settings(max_examples=60)
@given(functions(kinds=[k for k in PLAIN if k != "pow"], nested=False))
def test_to_sympy_and_back_is_the_same_expression(function):
    back = read_back(function, to_sympy(function, evaluate=False))
    assert back.results == function.results


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_sympy_simplifies_keeps_its_value(data):
    kinds = [k for k in PLAIN if k not in ("min", "max", "and", "or", "not", "select")]
    function = data.draw(functions(kinds=kinds, nested=False, max_steps=6))
    args = data.draw(arguments(function, batch=(5,)))
    back = read_back(function, to_sympy(function))
    for got, value, bound in zip(evaluate(back, *args), *evaluate_with_bounds(function, *args), strict=True):
        assert_close(got, value, 1e4 * bound + 1e-9 * (1 + np.abs(value)))


ONE = ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sqrt", "exp"]
ONE += ["log", "absolute", "sign", "floor"]


@pytest.mark.parametrize("evaluated", [True, False])
def test_every_operation_goes_to_sympy_and_back(evaluated):
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    both = [getattr(tg, name)(x) for name in ONE]
    both += [x + y, x - y, x * y, x / y, -x, x**y, x**3, 1.0 / (y * y), x**0.3, 2.5 * x, x / 3.0]
    both += [tg.atan2(x, y), tg.minimum(x, y), tg.maximum(x, 2.0), tg.select((x < y) & (x <= 2.0), x, y)]
    both += [tg.select((x < y) | tg.equal(x, 1.0), 1.0, 0.0), g.zero / g.zero, g.number(np.inf)]
    for expr in both:
        assert from_sympy(to_sympy(expr, evaluate=evaluated), g) is expr


def test_numbers_are_exact_where_they_are_short():
    g = Graph()
    x = g.symbol("x")
    assert to_sympy(x / 2.0 + 0.75) == sympy.Symbol("x", real=True) / 2 + sympy.Rational(3, 4)
    assert float(to_sympy(g.number(0.1))) == 0.1
    assert to_sympy(g.number(3.0)) == 3


def test_the_inertia_matrix_of_the_planar_arm_is_symmetric_and_simplifies():
    M = to_sympy(planar_inertia())["M"]
    assert M[0, 1] == M[1, 0]
    L, MX2, MY2, q2 = (sympy.Symbol(name, real=True) for name in ("L", "MX2", "MY2", "q2"))
    assert sympy.expand(M[0, 1] - M[1, 1] - L * (MX2 * sympy.cos(q2) - MY2 * sympy.sin(q2))) == 0


def test_calls_systems_and_tables_are_written_out():
    inner_graph = Graph()
    a = inner_graph.block("a", 2)
    inner = Function("inner", [a], {"r": [a[0] * a[1], tg.sin(a[0])]})
    g = Graph()
    q = g.block("q", 3)
    outputs = {
        "c": tg.call(inner, [q[0], q[1]]),
        "x": tg.solve([[q[0], 1.0], [2.0, q[1]]], [1.0, q[2]]),
        "t": tg.table(q[2], [0, 1, 3], [0, 2, -2], tg.Interpolation.MONOTONE_CUBIC, tg.Outside.EXTEND),
    }
    f = Function("f", [q], outputs)
    symbols = sympy.symbols("q1 q2 q3", real=True)
    for point in ([0.3, -1.0, 0.5], [2.0, 0.2, -1.0], [1.0, 1.0, 1.0], [0.1, 0.2, 5.0]):
        values = dict(zip(symbols, point, strict=True))
        for got, expected in zip(to_sympy(f).values(), evaluate(f, point), strict=True):
            numbers = [float(e.subs(values)) for e in (got if expected.ndim else [got])]
            np.testing.assert_allclose(numbers, np.ravel(expected), rtol=1e-12, atol=1e-15)


def test_a_transposed_system_is_solved_too():
    g = Graph()
    q = g.block("q", 4)
    x = tg.solve([[q[0], q[1]], [q[2], q[3]]], [1.0, 2.0])
    f = Function("f", [q], {"d": tg.gradient(x[0], list(q))})
    point = [0.5, 2.0, -1.0, 3.0]
    values = dict(zip(sympy.symbols("q1:5", real=True), point, strict=True))
    numbers = [float(e.subs(values)) for e in to_sympy(f)["d"]]
    np.testing.assert_allclose(numbers, evaluate(f, point)[0], rtol=1e-12)


def test_statements_keep_the_names_of_intermediates():
    found = to_sympy_statements(planar_inertia())
    names = [str(symbol) for symbol, _ in found.statements]
    assert names == ["C2", "S2", "ZZ1R", "h", "M1_2"]
    assert str(found.outputs["M"][0, 0]) == "ZZ1R + ZZ2 + 2*h"


@settings(max_examples=30)
@given(functions(kinds=[k for k in PLAIN if k != "pow"], nested=False))
def test_statements_put_together_are_the_outputs(function):
    found = to_sympy_statements(function, evaluate=False)
    known: dict = {}
    graph = function.graph
    inputs = {name: s for b in function.inputs for name, s in zip(b.names, b.symbols, strict=True)}
    for symbol, expr in found.statements:
        known[symbol.name] = from_sympy(expr, graph, inputs | known)
    for output in function.outputs:
        converted = found.outputs[output.name]
        items = list(converted) if output.shape else [converted]
        back = [from_sympy(item, graph, inputs | known) for item in items]
        assert tuple(back) == output.exprs


# -- from sympy --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "cot(x) + sec(x) - csc(y)",
        "ceiling(x*y)",
        "Mod(x, y)",
        "x**Rational(1, 3) + y**Rational(-3, 2)",
        "pi*x + E - GoldenRatio",
        "exp(-x)/sqrt(y)",
        "Piecewise((x, Ne(x, y)), (1, x > 2), (0, True))",
        "Piecewise((x, Xor(x > 1, y > 1)), (y, x >= y), (-1, True))",
        "log(x, 3) + root(y, 3)",
        "Max(x, y, 1) - Min(x, 2*y, 3)",
        "x*y**2/(3*(x + 1)**2)",
    ],
)
def test_sympy_expressions_keep_their_value(text):
    g = Graph()
    blocks = [g.block("x"), g.block("y")]
    expr = sympy.sympify(text)
    f = Function("f", blocks, {"r": from_sympy(expr, g)})
    for point in ((0.7, 1.9), (2.4, 0.3), (1.5, 1.5)):
        expected = float(expr.subs(dict(zip(sympy.symbols("x y"), point, strict=True))))
        np.testing.assert_allclose(evaluate(f, *point)[0], expected, rtol=1e-12)


def test_a_piecewise_without_a_last_case_is_nan_elsewhere():
    g = Graph()
    x = g.symbol("x")
    expr = from_sympy(sympy.sympify("Piecewise((1, x > 0))"), g)
    np.testing.assert_array_equal(evaluate(Function("f", [g.blocks["x"]], {"r": expr}), [1.0, -1.0])[0], [1.0, np.nan])
    assert x is g.blocks["x"][0]


def test_a_quotient_is_one_division():
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    assert from_sympy(sympy.sympify("2*x/(3*y)"), g) is (2.0 * x) / (3.0 * y)


def test_symbols_may_be_given():
    g = Graph()
    q = g.block("q", 2)
    a, b = sympy.symbols("a b")
    assert from_sympy(a + b, g, {a: q[0], "b": q[1]}) is q[0] + q[1]


def test_a_matrix_becomes_rows():
    g = Graph()
    x = g.symbol("x")
    assert from_sympy(sympy.Matrix([[1, sympy.Symbol("x")], [0, 2]]), g) == [[g.one, x], [g.zero, g.number(2.0)]]


def test_wrong_kinds_are_refused():
    for convert, wrong in ((to_sympy, 3.0), (to_sympy_statements, Graph().symbol("x"))):
        with pytest.raises(ArgumentError, match=r"expected: a Function[\s\S]*got: "):
            convert(wrong)
    with pytest.raises(ArgumentError, match=r"expected: a Graph[\s\S]*got: str"):
        from_sympy(sympy.Symbol("x"), "graph")


def test_an_unknown_symbol_is_named():
    g = Graph()
    g.symbol("x")
    with pytest.raises(GraphError, match="'z' is not known") as caught:
        from_sympy(sympy.Symbol("z"), g)
    assert caught.value.expected == "x"


def test_a_name_of_two_inputs_must_be_given():
    g = Graph()
    g.block("a", 1, names=["x"])
    g.block("b", 1, names=["x"])
    with pytest.raises(GraphError, match="'x' is not known"):
        from_sympy(sympy.Symbol("x"), g)


@pytest.mark.parametrize(
    "text", ["gamma(x)", "I*x", "zoo*x", "Integral(x, (x, 0, 1))", "Derivative(x**2, x)", "10**400"]
)
def test_what_has_no_counterpart_is_refused(text):
    g = Graph()
    g.symbol("x")
    with pytest.raises(GraphError) as caught:
        from_sympy(sympy.sympify(text), g)
    assert caught.value.remedy


def test_roots_and_ranks_have_no_closed_form():
    inner_graph = Graph()
    x, a = inner_graph.block("x", 1), inner_graph.block("a", 1)
    residual = Function("cubic", [x, a], {"r": [x[0] ** 3 + x[0] - a[0]]})
    g = Graph()
    q = g.symbol("q")
    with pytest.raises(CompileError, match="no closed form"):
        to_sympy(tg.root(residual, [0.0], [q])[0])
    with pytest.raises(CompileError, match="no closed form"):
        to_sympy(tg.minimum_norm_solve([[q, q]], [1.0])[0][0])


def test_a_system_that_is_always_singular_is_refused():
    g = Graph()
    q = g.symbol("q")
    with pytest.raises(CompileError, match="singular"):
        to_sympy(tg.solve([[q, q], [q, q]], [1.0, 2.0])[0])


@pytest.mark.parametrize("convert", [to_sympy, lambda e: from_sympy(e, Graph())])
def test_without_sympy_the_extra_is_named(convert, monkeypatch):
    expr = Graph().symbol("x")
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(MissingExtra, match=r"torseur\[symbolic\]"):
        convert(expr)


# -- depth -------------------------------------------------------------------------------------------------------------


def test_depth_costs_no_recursion():
    g = Graph()
    value = g.symbol("x")
    for k in range(6_000):
        value = value * 1.25 + tg.sin(value) if k % 2 else tg.select(value < 0.1 * k, value, -value) - 0.3
    there = to_sympy(value, evaluate=False)
    assert from_sympy(there, g) is value


def test_statements_of_a_large_function_stay_small():
    g = Graph()
    value = g.symbol("x")
    for k in range(10_000):
        value = tg.sin(value) * 1.25 + value if k % 2 else value - 0.3
    found = to_sympy_statements(Function("f", [g.blocks["x"]], {"y": value}), evaluate=False)
    assert max(expr.count_ops() for _, expr in found.statements) < 60
