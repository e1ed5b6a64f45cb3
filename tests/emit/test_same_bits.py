"""The value of an expression is its own affair: what else is computed with it, and in what pieces, changes no bit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.random_functions import arguments, recipes
from support.recipes import KINDS, Recipe, Step, build
from torseur.emit import compile, kernel
from torseur.graph import Expr, Function, Graph, Role, sqrt

ARITHMETIC = ["add", "sub", "mul"]
PLAIN = [*ARITHMETIC, "neg", "div", "sqrt", "sin", "cos", "abs", "min", "max", "select"]  # the same code on any lanes


@st.composite
def arithmetic(draw, kinds=KINDS):
    """Recipes with many sums of products among other things."""
    return draw(recipes(kinds=[*ARITHMETIC * 8, *kinds], must=["mul", "mul", "add", "mul", "mul", "sub"], max_steps=20))


@st.composite
def sums_of_products(draw):
    """a b + c d and a b - c d of inputs and of each other, all of them results."""
    blocks, steps = (("p", (2,), Role.PARAMETER), ("t", (), Role.TIME), ("q", (5,), Role.STATE)), []
    numbers, total = list(range(8)), 8
    for kind in draw(st.lists(st.sampled_from(["add", "sub"]), min_size=4, max_size=12)):
        a, b, c, d = draw(st.lists(st.sampled_from(numbers), min_size=4, max_size=4))
        steps += [Step("mul", (a, b)), Step("mul", (c, d)), Step(kind, (total, total + 1))]
        total += 3
        numbers += [total - 1] * 2  # recent ones are likelier: expressions grow deep
    last = numbers[8::2]
    return Recipe(blocks, tuple(steps), (("y", (len(last),), tuple(last)),))


def values(function, args, width, chunk=None):
    """All results of some states in one array; without the cache, which does not know of pieces."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORSEUR_CACHE", "off")
        if chunk is not None:
            patch.setattr(kernel, "CHUNK", chunk)
        found = compile(function, lanes=width)(*args)
    found = found if isinstance(found, tuple) else (found,)
    return [np.array(x) for x in found]


def extended(function):
    """The same results, and beside them every number on the way: each has further uses."""
    more = [n for n in function.nodes if isinstance(n, Expr)]
    outputs = {o.name: np.array(o.exprs, object).reshape(o.shape) if o.shape else o.exprs[0] for o in function.outputs}
    extra = [*more, *(n + 1.0 for n in more), *(0.3 - n for n in more)]
    return Function(function.name, function.inputs, {**outputs, "more": extra})


def assert_same(found, expected):
    for a, b in zip(found, expected, strict=False):
        assert a.tobytes() == b.tobytes()


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=30)
def test_further_results_change_no_bit_of_the_others(data):
    function = build(data.draw(st.one_of(arithmetic(), sums_of_products())))
    args = data.draw(arguments(function, batch=(6,)))
    width = data.draw(st.sampled_from([1, 4, 8]))
    assert_same(values(extended(function), args, width), values(function, args, width))


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=20)
def test_cutting_in_pieces_changes_no_bit(data):
    function = build(data.draw(st.one_of(arithmetic(), sums_of_products())))
    args = data.draw(arguments(function, batch=(5,)))
    width, chunk = data.draw(st.sampled_from([1, 4])), data.draw(st.sampled_from([1, 2, 3, 7]))
    whole = values(function, args, width)
    assert_same(values(function, args, width, chunk), whole)
    assert_same(values(extended(function), args, width, chunk), whole)


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=20)
def test_one_state_is_computed_as_in_a_batch(data):
    function = build(data.draw(arithmetic(PLAIN)))
    args = data.draw(arguments(function, batch=(5,)))
    many = values(function, args, 4)
    for k in range(5):
        assert_same(values(function, [a[k] for a in args], 4), [x[k] for x in many])


@given(data=st.data())
@settings(max_examples=30)
def test_the_order_in_which_a_graph_was_built_changes_no_value(data):
    """Up to the sign of a zero: a - b is -(b - a) where that was built first."""
    recipe = data.draw(sums_of_products())
    other = reordered(recipe, data.draw(st.randoms(use_true_random=False)))
    args = data.draw(arguments(recipe, batch=(20,), ties=False, magnitude=1.5))
    for a, b in zip(values(build(other), args, 4), values(build(recipe), args, 4), strict=True):
        np.testing.assert_array_equal(a, b)


def reordered(recipe, random):
    """The same steps, of one value each, in another order that is possible."""
    n, waiting = recipe.n_inputs, dict(enumerate(recipe.steps, recipe.n_inputs))
    place, steps = {k: k for k in range(n)}, []
    while waiting:
        ready = [k for k, step in waiting.items() if all(a in place for a in step.args)]
        k = random.choice(ready)
        step = waiting.pop(k)
        place[k] = n + len(steps)
        steps.append(replace(step, args=tuple(place[a] for a in step.args)))
    outputs = tuple((label, shape, tuple(place[k] for k in places)) for label, shape, places in recipe.outputs)
    return replace(recipe, steps=tuple(steps), outputs=outputs, names={})


def test_a_sum_is_fused_whatever_else_uses_the_product():
    g = Graph()
    x, y, z = g.block("x", 3)
    args = [np.array([1.0 + 2.0**-30, 1.0 - 2.0**-30, -1.0])]
    exact = -(2.0**-60)
    for more in ([], [x * y], [x * y, (x * y) * z, x * y + 2.0]):
        function = Function("f", [g.blocks["x"]], {"y": [x * y + z], "more": [*more, z]})
        assert values(function, args, 1)[0] == exact


def test_squares_are_subtracted_as_they_are():
    g = Graph()
    x, y = g.block("x", 2)
    function = Function("f", [g.blocks["x"]], {"y": sqrt(x * x - y * y)})
    for value in (0.1, 0.3, 1.0 / 3.0, 123.456):
        assert values(function, [np.array([value, value])], 1)[0] == 0.0
