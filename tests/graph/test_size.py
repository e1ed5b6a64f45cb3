"""A hundred thousand nodes: no recursion, no quadratic work."""

from __future__ import annotations

import gc
import sys
import tracemalloc
import weakref
from functools import partial

import numpy as np
import pytest

import torseur.graph as tg
from torseur.graph import Function, Graph, Mode, Role, count, count_by_stage, evaluate, gradient, jacobian, tangents

pytestmark = pytest.mark.slow

LARGE = 100_000


def left_chain(n, g):
    """(((x c + y) c + y) c + y) ...: every result is the first operand of the next."""
    x, y = g.symbol("x"), g.symbol("y")
    e = x
    for _ in range(n // 2):
        e = e * x + y
    return e


def right_chain(n, g):
    """y - x / (y - x / (y - ...)): every result is the last operand of the next."""
    x, y = g.symbol("x"), g.symbol("y")
    e = y
    for _ in range(n // 2):
        e = y - x / e
    return e


def function_chain(n, g):
    """sin(cos(sin(... x)))"""
    x = g.symbol("x")
    g.symbol("y")
    e = x
    for k in range(n):
        e = tg.sin(e) if k % 2 else tg.cos(e)
    return e


def wide_sum(n, g):
    """Many inputs, one output."""
    x = g.block("x", n // 2)
    e = g.zero
    for xi in x:
        e = e + xi * xi
    return e


def choice_chain(n, g):
    """Conditions that depend on conditions."""
    x, y = g.symbol("x"), g.symbol("y")
    e, c = x, x < y
    for k in range(n // 4):
        e = tg.select(c, e + y, x)
        c = (e < k + 2.0) & ~c
    return e


SHAPES = [left_chain, right_chain, function_chain, wide_sum, choice_chain]


def arguments(g):
    return [np.full(b.shape, {"x": 0.5, "y": 3.0}[name]) for name, b in g.blocks.items()]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hundred_thousand_nodes_are_built_evaluated_counted_printed_and_deleted(shape):
    g = Graph()
    e = shape(LARGE, g)
    assert len(g) >= 0.7 * LARGE
    f = Function("f", list(g.blocks.values()), {"y": e})
    assert np.isfinite(evaluate(f, *arguments(g))[0])
    assert count(f).total > 0.4 * LARGE
    assert len(f.stages) == len(f.nodes)
    assert len(f.digest) == 64
    assert len(repr(e)) < 1000
    watch = weakref.ref(g)
    del g, e, f
    gc.collect()
    assert watch() is None


@pytest.mark.parametrize("shape", [left_chain, right_chain, wide_sum])
def test_a_hundred_thousand_nodes_are_differentiated_in_both_modes(shape):
    g = Graph()
    e = shape(LARGE, g)
    blocks = list(g.blocks.values())
    wrt = list(blocks[0])
    both = [*tangents([e], {wrt[0]: 1.0}), gradient(e, wrt)[0]]
    forward, reverse = evaluate(Function("d", blocks, {"d": both}), *arguments(g))[0]
    assert forward == pytest.approx(reverse, rel=1e-9)


def test_many_outputs_of_many_inputs_have_a_sparse_jacobian():
    g = Graph()
    n = 5_000
    x = list(g.block("x", n))
    y = [tg.sin(xi) * xj for xi, xj in zip(x, x[1:] + x[:1], strict=True)]
    for mode in (Mode.AUTOMATIC, Mode.FORWARD, Mode.REVERSE):
        J = jacobian(y, x, mode)
        assert len(J.entries) == 2 * n


def test_calls_systems_and_roots_by_the_thousand():
    inner = Graph()
    a = inner.block("a", 2)
    f = Function("f", [a], {"r": [a[0] * a[1] + 1, tg.sin(a[1])]})
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    e, d = x, y
    for _ in range(1000):
        e, d = tg.call(f, [d, e])
        e, d = tg.solve([[3.0, e], [d, 4.0]], [e, d])
    both = list(g.blocks.values())
    h = Function("h", both, {"y": [e, d]})
    assert np.isfinite(evaluate(h, 0.3, 0.4)[0]).all()
    J = Function("J", both, {"J": jacobian([e, d], [x, y], Mode.REVERSE).dense()})
    assert np.isfinite(evaluate(J, 0.3, 0.4)[0]).all()
    assert count(h).total > 0
    assert h.digest != J.digest


# -- work, counted and not timed ---------------------------------------------------------------------------------------
def calls_during(action):
    """How many Python and C functions are called."""
    total = 0

    def tally(frame, event, arg):
        nonlocal total
        total += event in ("call", "c_call")

    gc.disable()
    sys.setprofile(tally)
    try:
        action()
    finally:
        sys.setprofile(None)
        gc.enable()
    return total


def peak_during(action):
    """The most memory in use at once, in bytes; what others left to be collected does not count."""
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.enable()


def jobs(shape, n):
    """Everything one does with a large expression; each job on a graph of its own."""

    def fresh():
        g = Graph()
        e = shape(n, g)
        return g, e, list(next(iter(g.blocks.values())))

    def function(g, e):
        return Function("f", list(g.blocks.values()), {"y": e})

    g, e, _ = fresh()
    yield "build", fresh
    yield "function", lambda: function(g, e)
    yield "evaluate", lambda: evaluate(function(g, e), *arguments(g))
    yield "digest", lambda: function(g, e).digest
    yield "count", lambda: count_by_stage(function(g, e))
    for name, job in {
        "tangents": lambda e, wrt: tangents([e], {wrt[0]: 1.0}),
        "gradient": gradient,
        "jacobian": lambda e, wrt: jacobian([e, 2 * e], wrt),
    }.items():
        yield name, partial(job, *fresh()[1:])


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_size_is_twice_the_work(shape):
    small, large = ({name: calls_during(job) for name, job in jobs(shape, n)} for n in (600, 1200))
    for name, work in small.items():
        assert large[name] <= 2.2 * work + 500, name


@pytest.mark.parametrize("shape", [left_chain, wide_sum])
def test_twice_the_size_is_twice_the_memory(shape):
    small, large = ({name: peak_during(job) for name, job in jobs(shape, n)} for n in (600, 1200))
    for name, size in small.items():
        assert large[name] <= 2.6 * size + 50_000, name  # hash tables double in steps


def test_results_of_one_call_are_gathered_in_linear_work():
    def job(n):
        inner = Graph()
        a = inner.block("a", n)
        f = Function("f", [a], {"y": [ai * ai for ai in a]})
        g = Graph()
        x = g.block("x", n)
        y = tg.call(f, x)
        total = g.zero
        for yi in y:
            total = total + tg.sin(yi)
        return lambda: gradient(total, list(x))

    small, large = calls_during(job(500)), calls_during(job(1000))
    assert large <= 2.2 * small


def test_a_banded_jacobian_costs_its_entries_in_every_mode():
    def job(n, mode):
        g = Graph()
        x = list(g.block("x", n))
        y = [x[i] * x[i - 1] + tg.sin(x[i]) for i in range(n)]
        return lambda: jacobian(y, x, mode)

    for mode in Mode:
        small, large = (calls_during(job(n, mode)) for n in (200, 400))
        assert large <= 2.2 * small, mode


def test_nodes_made_by_a_gradient_are_a_few_per_node():
    for shape in SHAPES:
        g = Graph()
        e = shape(2000, g)
        before = len(g)
        gradient(e, list(next(iter(g.blocks.values()))))
        assert len(g) - before <= 5 * before, shape


def test_interning_keeps_one_node_per_expression_however_often_it_is_built():
    g = Graph()
    x = g.block("x", 3, Role.STATE)
    for _ in range(1000):
        y = tg.sin(x[0] * x[1]) + x[2] ** 3
    assert len(g) < 20
    assert y.graph is g
