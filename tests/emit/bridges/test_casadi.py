"""casadi: exported functions agree with the reference evaluator."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.planar_arm import planar_inertia
from support.random_functions import arguments, functions, showcase
from support.rounding import assert_agrees
from torseur.emit.bridges import to_casadi
from torseur.errors import ArgumentError, CompileError, MissingExtra
from torseur.graph import (
    ConstrainedSystem,
    Function,
    Graph,
    evaluate,
    gradient,
    maximum,
    minimum,
    products_at,
    root,
    sin,
    solve,
    table,
)


def run(function: Function, args: list) -> list:
    """The outputs for one state, in the shapes of the function."""
    exported = to_casadi(function)
    columns = [np.reshape(a, (-1, 1)) if np.ndim(a) != 2 else a for a in args]
    results = exported.call([np.asarray(c, float) for c in columns])
    return [np.array(r, float).reshape(o.shape) for r, o in zip(results, function.outputs, strict=True)]


@pytest.mark.oracle
@settings(max_examples=60)
@given(data=st.data())
def test_casadi_agrees_with_the_reference_on_random_functions(data):
    pytest.importorskip("casadi")
    function = data.draw(functions())
    args = data.draw(arguments(function, batch=()))
    assert_agrees(function, args, run(function, args))


@pytest.mark.oracle
def test_products_in_a_loop_are_written_out_for_casadi(monkeypatch):
    pytest.importorskip("casadi")
    monkeypatch.setattr("torseur.graph.products.MANY_PAIRS", 0)
    g = Graph()
    A, B = g.block("A", (3, 2)), g.block("B", (3, 2))
    rows = [[[M[i, 0], M[i, 1]] for i in range(3)] for M in (A, B)]
    f = Function("f", [A, B], {"T": products_at([(0, 1), (0, 2), (1, 2)], *rows, *rows)})
    args = list(np.random.default_rng(3).normal(size=(2, 3, 2)))
    np.testing.assert_allclose(run(f, args), evaluate(f, *args), rtol=1e-14, atol=1e-14)


@pytest.mark.oracle
def test_minimum_maximum_and_tables_of_nan_are_nan_in_casadi():
    pytest.importorskip("casadi")
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    steps = table(x, [0, 1, 2], [0, 3, 1])
    f = Function("f", list(g.blocks.values()), {"r": [minimum(x, y), maximum(x, y), steps, *gradient(steps, [x])]})
    for args in ([np.nan, 1.0], [1.0, np.nan], [np.inf, -1.0], [0.5, 2.0], [-np.inf, np.inf]):
        np.testing.assert_array_equal(run(f, args)[0], evaluate(f, *args)[0])


@pytest.mark.oracle
def test_casadi_agrees_with_the_reference_on_every_operation():
    pytest.importorskip("casadi")
    function = showcase()
    for seed in range(5):
        args = [np.random.default_rng(seed).uniform(-2, 2, b.shape) for b in function.inputs]
        assert_agrees(function, args, run(function, args))


@pytest.mark.oracle
def test_names_and_shapes_are_kept():
    pytest.importorskip("casadi")
    exported = to_casadi(planar_inertia())
    assert exported.name() == "inertia"
    assert exported.name_in() == ["q", "p"]
    assert exported.name_out() == ["M"]
    assert exported.size_out(0) == (2, 2)


@pytest.mark.oracle
def test_casadi_differentiates_what_it_is_given():
    casadi = pytest.importorskip("casadi")
    inner_graph = Graph()
    x, a = inner_graph.block("x", 1), inner_graph.block("a", 1)
    residual = Function("cubic", [x, a], {"r": [x[0] ** 3 + x[0] - a[0]]})
    g = Graph()
    q = g.block("q", 2)
    y = root(residual, [0.1], [q[0]])[0] * sin(q[1]) + solve([[q[0], 1.0], [q[1], 3.0]], [1.0, q[1]])[0]
    f = Function("f", [q], {"y": y})
    symbol = casadi.MX.sym("q", 2)
    slope = casadi.Function("slope", [symbol], [casadi.gradient(to_casadi(f)(symbol), symbol)])
    point = [1.3, 0.4]
    ours = evaluate(Function("d", [q], {"d": gradient(y, list(q))}), point)[0]
    np.testing.assert_allclose(np.array(slope(point)).ravel(), ours, rtol=1e-9)


@pytest.mark.oracle
def test_names_that_casadi_refuses_are_changed():
    pytest.importorskip("casadi")
    g = Graph()
    q = g.symbol("_q__1")
    exported = to_casadi(Function("_f", [g.blocks["_q__1"]], {"y__2": q * 2.0}))
    assert float(exported(3.0)) == 6.0


@pytest.mark.oracle
def test_a_routine_is_refused_by_name():
    pytest.importorskip("casadi")
    g = Graph()
    q = g.block("q", 2)
    system = ConstrainedSystem([[q[0], g.zero], [g.zero, q[1]]], [[g.one, g.one]], g.one)
    f = Function("f", [q], {"x": system.solve(list(q), [g.one])})
    with pytest.raises(CompileError, match=r"constrained_factors1_2: the factors[\s\S]*remedy: export"):
        to_casadi(f)


def test_what_is_no_function_is_not_exported():
    with pytest.raises(ArgumentError, match=r"where: to_casadi\s+expected: a Function"):
        to_casadi(Graph().symbol("x"))


def test_without_casadi_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(MissingExtra, match=r"torseur\[casadi\]"):
        to_casadi(planar_inertia())
