"""Emitted Python is run and compared with the reference evaluator."""

import ast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.emitted_code import run_python
from support.random_functions import arguments, functions, showcase
from support.recipes import KINDS
from support.rounding import assert_agrees
from torseur.emit.text import to_python
from torseur.graph import Function, Graph, Role, call, cos, evaluate, sin, sqrt

# Where a root does not converge, or squares underflow in a search for the rank, the reference goes another way.
WILD = [k for k in KINDS if k not in ("root", "minimum_norm")]


@settings(max_examples=60)
@given(data=st.data())
def test_python_agrees_with_the_reference_on_random_functions(data):
    function = data.draw(functions())
    args = data.draw(arguments(function))
    assert_agrees(function, args, run_python(function, *args))


@settings(max_examples=60)
@given(data=st.data())
def test_python_hands_on_nan_and_infinity_like_the_reference(data):
    function = data.draw(functions(safe=False, kinds=WILD))
    args = data.draw(arguments(function, special=True))
    assert_agrees(function, args, run_python(function, *args))


def test_python_agrees_with_the_reference_on_every_operation():
    function = showcase()
    rng = np.random.default_rng(3)
    args = [rng.uniform(-2, 2, (2, 5, *b.shape)) for b in function.inputs]
    assert_agrees(function, args, run_python(function, *args))


def test_leading_dimensions_broadcast():
    g = Graph()
    m, q = g.block("m", 2, Role.PARAMETER), g.block("q", (2, 2))
    f = Function("f", [m, q], {"y": m[0] * q[3] + sqrt(m[1]), "z": [1.0, q[0]]})
    args = np.random.default_rng(4).uniform(1, 2, (3, 1, 2)), np.random.default_rng(5).uniform(1, 2, (4, 2, 2))
    for got, expected in zip(run_python(f, *args), evaluate(f, *args), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_the_prologue_can_be_done_once():
    g = Graph()
    m, q = g.symbol("m", Role.PARAMETER), g.symbol("q")
    f = Function("f", [g.blocks["m"], g.blocks["q"]], {"y": sqrt(m) * q})
    space: dict = {}
    exec(to_python(f), space)
    work = space["f_prologue"](4.0)
    assert space["f"](np.nan, 3.0, work=work) == 6.0
    assert space["f"](9.0, 3.0) == 9.0


def test_without_work_on_parameters_there_is_no_prologue():
    g = Graph()
    m, q = g.symbol("m", Role.PARAMETER), g.symbol("q")
    assert "prologue" not in to_python(Function("f", [g.blocks["m"], g.blocks["q"]], {"y": m * q}))


def test_numbers_passed_to_called_functions_divide_by_zero_quietly():
    inner_graph = Graph()
    x = inner_graph.symbol("x")
    inner = Function("inner", [inner_graph.blocks["x"]], {"y": [1.0 / x, x**0.3]})
    g = Graph()
    q = g.symbol("q")
    f = Function("f", [g.blocks["q"]], {"y": [*call(inner, g.zero), *call(inner, g.number(-2.0)), q]})
    np.testing.assert_array_equal(run_python(f, 1.0)[0], [np.inf, 0.0, -0.5, np.nan, 1.0])


def test_names_that_python_needs_are_changed():
    g = Graph()
    q = g.block("q", 5, names=["lambda", "np", "work", "batch", "None"])
    f = Function("f", [q], {"y": [cos(x) for x in q], "def": g.name(sin(q[0]), "tuple"), "range": 2.0})
    for got, expected in zip(run_python(f, np.arange(5.0)), evaluate(f, np.arange(5.0)), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_no_statement_is_long_or_deep():
    g = Graph()
    x = g.block("x", 40)
    total = g.zero
    for k in range(2000):
        total = sin(total * x[k % 40]) + x[(7 * k) % 40] * total - sqrt(total + x[(3 * k) % 40])
    tree = ast.parse(to_python(Function("f", [x], {"y": total})))
    operations = (ast.BinOp, ast.UnaryOp, ast.Call)
    for statement in (n for n in ast.walk(tree) if isinstance(n, ast.Assign)):
        assert sum(isinstance(n, operations) for n in ast.walk(statement)) <= 30


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda x, y, z: -(x - y), "y - x"),
        (lambda x, y, z: x - (y - z), "x - (y - z)"),
        (lambda x, y, z: x + (y + z), "y + z + x"),
        (lambda x, y, z: (x + y) * z, "z*(x + y)"),
        (lambda x, y, z: x * y / z, "x*y/z"),
        (lambda x, y, z: x / (y * z), "x/(y*z)"),
        (lambda x, y, z: x / (y / z), "x/(y/z)"),
        (lambda x, y, z: -(x * y) / z, "-x*y/z"),
        (lambda x, y, z: -(x + y), "-(x + y)"),
        (lambda x, y, z: 2.0 * (x * y), "2.0*(x*y)"),
        (lambda x, y, z: (-x) ** y, "(-x)**y"),
        (lambda x, y, z: x ** (-y), "x**(-y)"),
        (lambda x, y, z: -(x**y), "-x**y"),
    ],
)
def test_brackets_are_where_rounding_needs_them_and_nowhere_else(build, text):
    g = Graph()
    expr = build(*(g.symbol(name) for name in "xyz"))
    assert f"r[...] = {text}\n" in to_python(Function("f", list(g.blocks.values()), {"r": expr}))
