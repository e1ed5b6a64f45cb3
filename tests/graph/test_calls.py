"""Calls stay calls, share what they call, and compute the same in every way they can be carried out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torseur.graph as tg
from support.lowered import evaluate_lowered
from support.random_functions import arguments, functions, showcase
from support.rounding import assert_agrees
from torseur.errors import GraphError
from torseur.graph import Function, Graph, Role, evaluate, ops


@pytest.fixture
def polar():
    g = Graph()
    r, phi = g.symbol("r"), g.symbol("phi")
    return Function("polar", [g.blocks["r"], g.blocks["phi"]], {"x": r * tg.cos(phi), "y": r * tg.sin(phi)})


@settings(max_examples=60)
@given(data=st.data())
def test_what_calls_are_lowered_to_agrees_with_their_reference(data):
    f = data.draw(functions(max_steps=6, must=["call", "solve", "minimum_norm", "root"]))
    args = data.draw(arguments(f, batch=()))
    assert_agrees(f, args, evaluate_lowered(f, *args))


def test_the_showcase_agrees_with_its_lowering():
    f = showcase()
    rng = np.random.default_rng(3)
    for _ in range(3):
        args = [rng.uniform(-2, 2, b.shape) for b in f.inputs]
        assert_agrees(f, args, evaluate_lowered(f, *args))


@settings(max_examples=40)
@given(data=st.data())
def test_a_batch_is_its_states_one_by_one(data):
    f = data.draw(functions(max_steps=8))
    args = data.draw(arguments(f, batch=(4,)))
    together = evaluate(f, *args)
    for k in range(4):
        assert_agrees(f, [a[k] for a in args], [y[k] for y in together])


def test_a_call_gives_all_outputs_flat_and_in_order(polar):
    g = Graph()
    a = g.symbol("a")
    x, y = tg.call(polar, a, 0.5)
    values = evaluate(Function("f", [g.blocks["a"]], {"xy": [x, y]}), 2.0)[0]
    np.testing.assert_array_equal(values, [2 * np.cos(0.5), 2 * np.sin(0.5)])


def test_equal_calls_are_one_node_and_one_callee(polar):
    g = Graph()
    a, b = g.symbol("a"), g.symbol("b")
    assert tg.call(polar, a, b) == tg.call(polar, a, b)
    f = Function("f", list(g.blocks.values()), {"y": tg.call(polar, a, b) + tg.call(polar, b, a)})
    assert sum(node.op is ops.CALL for node in f.nodes) == 2
    assert len(f.callees) == 1
    assert f.callees[0].lowering() is polar


def test_blocks_sequences_arrays_and_numbers_are_arguments():
    inner = Graph()
    q, p = inner.block("q", (2, 2)), inner.symbol("p", Role.PARAMETER)
    f = Function("f", [q, inner.blocks["p"]], {"y": q[0] * q[3] - q[1] * q[2] + p})
    g = Graph()
    x = g.block("x", (2, 2))
    ways = [(x, 1.0), (list(x), 1), (np.array(list(x)), np.float64(1)), (tuple(x), [1.0]), (iter(x), g.one)]
    results = [tg.call(f, *way)[0] for way in ways]
    assert len(set(results)) == 1
    assert evaluate(Function("h", [x], {"y": results[0]}), [[1.0, 2.0], [3.0, 4.0]])[0] == -1.0


def test_functions_call_functions_that_call_functions():
    def level(inner, name):
        g = Graph()
        x = g.symbol("x")
        y = tg.sin(x) if inner is None else tg.call(inner, 2 * x)[0] + tg.call(inner, x)[0]
        return Function(name, [g.blocks["x"]], {"y": y})

    f = None
    for k in range(4):
        f = level(f, f"level{k}")

    def law(x, depth):
        return np.sin(x) if depth == 0 else law(2 * x, depth - 1) + law(x, depth - 1)

    assert evaluate(f, 0.3)[0] == pytest.approx(law(0.3, 3), rel=1e-15)
    assert evaluate_lowered(f, 0.3)[0] == pytest.approx(law(0.3, 3), rel=1e-15)


def test_a_function_may_be_called_from_its_own_graph():
    g = Graph()
    x = g.symbol("x")
    square = Function("square", [g.blocks["x"]], {"y": x * x})
    fourth = Function("fourth", [g.blocks["x"]], {"y": tg.call(square, x * x)[0]})
    assert evaluate(fourth, 3.0)[0] == 81.0
    assert tg.evaluate(Function("d", [g.blocks["x"]], {"y": tg.gradient(fourth.results[0], [x])}), 3.0)[0] == 108.0


def test_hoisting_sees_through_a_call_only_by_its_arguments():
    inner = Graph()
    p, x = inner.symbol("p", Role.PARAMETER), inner.symbol("x")
    f = Function("f", [inner.blocks["p"], inner.blocks["x"]], {"y": [tg.exp(p), x]})
    g = Graph()
    m, q = g.symbol("m", Role.PARAMETER), g.symbol("q")
    of_parameters = Function("h", list(g.blocks.values()), {"y": tg.call(f, m, 1.0)})
    of_states = Function("h", list(g.blocks.values()), {"y": tg.call(f, m, q)})
    assert set(of_parameters.stages) == {tg.Stage.PARAMETER}
    assert [s for n, s in zip(of_states.nodes, of_states.stages, strict=True) if n.op is ops.ITEM] == [2, 2]


def test_results_that_nobody_uses_are_not_differentiated():
    inner = Graph()
    a = inner.block("a", 2)
    f = Function("f", [a], {"y": [a[0], tg.sqrt(a[1])]})
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    first, _ = tg.call(f, [x, y])
    assert tg.gradient(first, [y]) == [g.zero]
    assert tg.tangents([first], {y: 1.0}) == [g.zero]
    at = evaluate(Function("d", list(g.blocks.values()), {"d": tg.gradient(first, [x])}), 1.0, 0.0)[0]
    assert at == 1.0  # and not nan from the root of zero


def test_calls_with_wrong_arguments_are_refused(polar):
    g = Graph()
    a = g.symbol("a")
    with pytest.raises(GraphError, match=r"wrong number of arguments[\s\S]*r, phi[\s\S]*1"):
        tg.call(polar, a)
    with pytest.raises(GraphError, match=r"argument 'phi' of 'polar'[\s\S]*expected: 1[\s\S]*got: 2"):
        tg.call(polar, a, [a, a])
    with pytest.raises(GraphError, match=r"without any expression[\s\S]*evaluate"):
        tg.call(polar, 1.0, 2.0)
    with pytest.raises(GraphError, match="two graphs"):
        tg.call(polar, a, Graph().symbol("b"))
    with pytest.raises(GraphError, match="not an operand"):
        tg.call(polar, a, "b")


def test_a_bundle_is_a_sequence_of_its_results(polar):
    g = Graph()
    a = g.symbol("a")
    bundle = g.call(Function("h", list(g.blocks.values()), {"y": tg.call(polar, a, a)}).callees[0], [a, a])
    assert len(bundle) == 2
    assert list(bundle) == [bundle[0], bundle[1]]
    with pytest.raises(IndexError):
        bundle[2]
    with pytest.raises(IndexError):
        bundle[-1]


def test_functions_of_functions_have_a_bottom():
    def nested(f, levels):
        for _ in range(levels):
            x = Graph().block("x", 1)
            f = Function("f", [x], {"y": tg.call(f, list(x))})
        return f

    x = Graph().block("x", 1)
    twice = Function("f", [x], {"y": [x[0] * 2.0]})
    assert evaluate(nested(twice, 40), [3.0])[0].tolist() == [6.0]
    with pytest.raises(GraphError, match="nested too deeply"):
        nested(twice, 200)


def test_differentiating_a_call_leaves_common_names_free():
    g = Graph()
    x = g.block("x", 2)
    f = Function("f", [x], {"y": [x[0] * x[1]]})
    h = Graph()
    z = h.block("z", 2)
    tg.gradient(tg.call(f, list(z))[0], list(z))
    assert g.block("w", 1).name == "w"
    assert g.block("dx", 1).name == "dx"
