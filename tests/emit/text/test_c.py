"""Emitted C is compiled under strict C99 warnings, run, and compared with the reference evaluator."""

import ctypes
import math
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.emitted_code import CFunction, compiled
from support.random_functions import arguments, functions, showcase
from support.recipes import KINDS
from support.rounding import assert_agrees
from torseur.emit.text import Precision, to_c, to_c_header
from torseur.errors import ArgumentError
from torseur.graph import Function, Graph, Role, call, cos, evaluate, maximum, minimum, select, sign, sin, solve, sqrt

# Where a root does not converge, or squares underflow in a search for the rank, the reference goes another way.
WILD = [k for k in KINDS if k not in ("root", "minimum_norm")]
FEW = settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@FEW
@given(data=st.data())
def test_c_agrees_with_the_reference_on_random_functions(folder, data):
    function = data.draw(functions())
    args = data.draw(arguments(function, batch=(4,)))
    assert_agrees(function, args, CFunction(function, folder)(*args))


@FEW
@given(data=st.data())
def test_c_hands_on_nan_and_infinity_like_the_reference(folder, data):
    function = data.draw(functions(safe=False, kinds=WILD))
    args = data.draw(arguments(function, batch=(12,), special=True))
    assert_agrees(function, args, CFunction(function, folder)(*args))


def test_c_agrees_with_the_reference_on_every_operation(folder):
    function = showcase()
    rng = np.random.default_rng(1)
    args = [rng.uniform(-2, 2, (30, *b.shape)) for b in function.inputs]
    assert_agrees(function, args, CFunction(function, folder)(*args))


def test_minimum_maximum_and_sign_of_nan_are_nan_in_c(folder):
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    f = Function("f", list(g.blocks.values()), {"r": [minimum(x, y), maximum(x, y), sign(x), sign(y)]})
    cases = np.array([[a, b] for a in (np.nan, -1.0, 0.0, np.inf) for b in (np.nan, 2.0, -np.inf)])
    (got,) = CFunction(f, folder)(cases[:, 0], cases[:, 1])
    np.testing.assert_array_equal(got, evaluate(f, cases[:, 0], cases[:, 1])[0])


def test_single_precision_c_agrees_to_single_precision(folder):
    g = Graph()
    m, q = g.block("m", 2, Role.PARAMETER), g.block("q", 3)
    A = [[2.0 + m[0] * m[0], sin(q[0])], [cos(q[1]), 3.0]]
    x = solve(A, [q[2], sqrt(1.0 + m[1] * m[1])])
    f = Function("f", [m, q], {"x": x, "y": maximum(q[0] / 1e300, select(q[1] < 0.1, q[0], q[1])) + 1e-60})
    rng = np.random.default_rng(2)
    args = rng.uniform(-1, 1, (20, 2)), rng.uniform(-1, 1, (20, 3))
    single = CFunction(f, folder, Precision.SINGLE)
    assert "double" not in single.source
    for got, expected in zip(single(*args), evaluate(f, *args), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


# -- stages and interface ----------------------------------------------------------------------------------------------


def staged() -> Function:
    g = Graph()
    m, t, q = g.block("m", 2, Role.PARAMETER), g.symbol("t", Role.TIME), g.block("q", 2)
    bound, swing = sqrt(m[0] * m[0] + m[1] * m[1]), sin(m[0] * t)
    large = m[0] < m[1]
    return Function("f", [m, g.blocks["t"], q], {"y": [bound * q[0] + swing, select(large, q[1], swing)], "b": -bound})


def test_work_on_parameters_and_time_is_done_in_its_own_function(folder):
    f = staged()
    c = CFunction(f, folder)
    body = c.source[c.source.rindex("void f(") :]
    assert "sqrt" not in body
    assert "sin" not in body
    args = [1.0, 2.0], 0.3, [0.5, -0.5]
    for got, expected in zip(c(*args), evaluate(f, *args), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_without_work_on_time_there_is_no_function_for_it():
    g = Graph()
    t, q = g.symbol("t", Role.TIME), g.symbol("q")
    assert "f_time" not in to_c(Function("f", [g.blocks["t"], g.blocks["q"]], {"y": t * q}))


def test_a_factored_matrix_waits_for_the_evaluation(folder):
    g = Graph()
    a, b = g.block("a", (2, 2), Role.PARAMETER), g.block("b", 2)
    f = Function("f", [a, b], {"x": solve([[a[0], a[1]], [a[2], a[3]]], list(b))})
    c = CFunction(f, folder)
    assert "factor2(" in c.source[c.source.rindex("void f_prologue(") : c.source.rindex("void f(")]
    assert "factor2(" not in c.source[c.source.rindex("void f(") :]
    args = [[0.0, 2.0], [1.0, 1.0]], [3.0, 5.0]
    np.testing.assert_allclose(c(*args)[0], [3.5, 1.5])


def test_outputs_may_overlap_inputs(folder):
    g = Graph()
    q = g.block("q", 3)
    f = Function("f", [q], {"y": solve([[q[0], q[1]], [q[2], q[0]]], [q[1], q[2]]), "z": q[2] - q[0]})
    c = CFunction(f, folder)
    buffer = np.array([1.0, 2.0, -3.0])
    expected = evaluate(f, buffer.copy())
    c.once([buffer], [buffer[:2], buffer[2:]])
    np.testing.assert_allclose(buffer, np.concatenate([expected[0], [expected[1]]]), rtol=1e-14)


@pytest.mark.parametrize("emit", [to_c, to_c_header])
def test_a_precision_may_be_a_word_of_the_list(emit):
    assert emit(staged(), "single") == emit(staged(), Precision.SINGLE)
    with pytest.raises(ArgumentError, match=r"double[\s\S]*'half'"):
        emit(staged(), "half")


def test_the_header_fits_the_source(folder):
    f = staged()
    assert compiled(to_c_header(f) + to_c_header(f) + to_c(f), folder, "with_header")[f.name]


def test_the_source_says_what_the_arrays_hold():
    text = to_c_header(staged())
    assert " *   m (2), parameter: m1 m2\n" in text
    assert " *   y (2), output\n" in text


def test_empty_arrays_and_constant_results_are_written(folder):
    g = Graph()
    none, q = g.block("none", 0), g.symbol("q")
    inner_graph = Graph()
    u, v = inner_graph.block("u", 0), inner_graph.symbol("v")
    inner = Function("inner", [u, inner_graph.blocks["v"]], {"w": 2.0 * v})
    outputs = {"nothing": np.zeros((0,)), "five": 5.0, "y": call(inner, [], q)}
    f = Function("f", [none, g.blocks["q"]], outputs)
    got = CFunction(f, folder)(np.zeros(0), 3.0)
    assert [x.tolist() for x in got] == [[], 5.0, [6.0]]


def test_constants_without_a_value_become_nan_and_infinity(folder):
    g = Graph()
    q, zero = g.symbol("q"), g.zero
    f = Function(
        "f", [g.blocks["q"]], {"y": [1 / zero, -1 / zero, zero / zero, q / (1 / zero), sqrt(g.number(-1.0)) + q]}
    )
    np.testing.assert_array_equal(CFunction(f, folder)(2.0)[0], [np.inf, -np.inf, np.nan, 0.0, np.nan])


# -- names -------------------------------------------------------------------------------------------------------------


def test_names_that_c_or_the_file_needs_are_changed(folder):
    g = Graph()
    words = ["double", "sin", "work", "out", "_x", "y1", "gamma", "minimum", "f", "t1", "r1"]
    q = g.block("q", len(words), names=words)
    total = g.zero
    for k, s in enumerate(q):
        total = total + g.name(sin(s) * k, "t1")
    f = Function("f", [q], {"y": [minimum(total, 2.0), total], "q1": total * 2.0, "for": q[3]})
    x = np.linspace(0.1, 1.0, len(words))
    for got, expected in zip(CFunction(f, folder)(x), evaluate(f, x), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-14)


@pytest.mark.parametrize("name", ["sin", "main", "y1", "double", "gamma", "sign", "table1"])
def test_a_function_may_have_any_name(folder, name):
    g = Graph()
    x = g.symbol("x")
    f = Function(name, [g.blocks["x"]], {"y": sign(x) * sin(x)})
    source = to_c(f)
    written = re.search(r"^void (\w+)\(double x, const double \*work, double \*y\)$", source, flags=re.MULTILINE)[1]
    work, y = ctypes.c_double(), ctypes.c_double()
    compiled(source, folder, f"name_{name}")[written](ctypes.c_double(-0.7), ctypes.byref(work), ctypes.byref(y))
    assert y.value == pytest.approx(math.sin(0.7), rel=1e-15)
