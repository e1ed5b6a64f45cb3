"""Substitution computes what evaluation at the substituted values computes, and folds what becomes known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torseur.graph as tg
from support.random_functions import arguments, recipes
from support.recipes import build, build_raw
from support.rounding import assert_close, evaluate_with_bounds
from torseur.errors import GraphError
from torseur.graph import Function, Graph, evaluate, ops, substitute


@settings(max_examples=80)
@given(data=st.data())
def test_substituting_numbers_is_evaluating_at_them(data):
    recipe = data.draw(recipes(max_steps=10))
    f = build(recipe)
    args = data.draw(arguments(f, batch=()))
    flat = np.concatenate([np.ravel(a) for a in args])
    symbols = [s for block in f.inputs for s in block]
    known = {s: float(x) for s, x in zip(symbols, flat, strict=True) if data.draw(st.booleans())}
    new = substitute(f.results, known)
    h = Function("h", f.inputs, {"y": new})
    assert not {n for n in h.nodes if n.op is ops.SYMBOL} & set(known)
    values, bounds = evaluate_with_bounds(build_raw(recipe), *args)
    expected, bound = (np.concatenate([np.ravel(a) for a in arrays]) for arrays in (values, bounds))
    assert_close(evaluate(h, *args)[0], expected, bound)


@settings(max_examples=40)
@given(data=st.data())
def test_substituting_a_shift_moves_the_function(data):
    recipe = data.draw(recipes(max_steps=8, few=True))
    f = build(recipe)
    (q,) = f.inputs
    (args,) = data.draw(arguments(f, batch=(), ties=False))
    moved = Function("h", f.inputs, {"y": substitute(f.results, {x: x + 0.25 for x in q})})
    values, bounds = evaluate_with_bounds(f, args + 0.25)
    expected, bound = (np.concatenate([np.ravel(a) for a in arrays]) for arrays in (values, bounds))
    _, extra = evaluate_with_bounds(moved, args)
    assert_close(evaluate(moved, args)[0], expected, bound + extra[0])


def test_all_replacements_happen_at_once():
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    assert substitute([x - y, x / y], {x: y, y: x}) == [y - x, y / x]


def test_what_does_not_change_is_the_same_object():
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    before = tg.sin(x) * 3
    size = len(g)
    assert substitute([before, x], {y: 1.0})[0] is before
    assert len(g) <= size + 1  # the constant
    assert substitute([], {x: 1.0}) == []


def test_what_becomes_known_folds_away():
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    assert substitute([x * tg.exp(y)], {x: 0.0}) == [g.zero]
    assert substitute([tg.select(x < 1.0, y, 2 * y)], {x: 0.5}) == [y]
    assert float(substitute([tg.table(x, [0, 1], [0, 10])], {x: 0.5})[0]) == 5.0
    assert substitute([x**y], {y: 2.0}) == [x * x]
    assert substitute([tg.minimum(x, y)], {x: y}) == [y]


def test_intermediates_can_be_replaced_too():
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    u = tg.sin(x)
    assert substitute([u * u + x], {u: y}) == [y * y + x]


def test_expressions_of_another_graph_are_refused():
    g = Graph()
    x, z = g.symbol("x"), Graph().symbol("z")
    for attempt in (
        lambda: substitute([x], {z: 1.0}),
        lambda: substitute([x], {x: z}),
        lambda: substitute([x, z], {x: 1.0}),
    ):
        with pytest.raises(GraphError, match="two graphs"):
            attempt()


@pytest.mark.slow
def test_deep_expressions_are_substituted_without_recursion():
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    e = x
    for _ in range(20_000):
        e = tg.sin(e) + y
    (new,) = substitute([e], {x: 0.5})
    f = Function("f", list(g.blocks.values()), {"y": [e, new]})
    old_value, new_value = evaluate(f, 0.5, 0.1)[0]
    assert old_value == pytest.approx(new_value, rel=1e-12)
