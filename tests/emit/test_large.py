"""Huge functions: no recursion, no quadratic text, and the right values."""

import sys

import numpy as np
import pytest

from support.rounding import assert_agrees
from torseur.emit import Tier, compile, loop
from torseur.emit.ir import Lanes
from torseur.emit.source import module_text
from torseur.graph import Function, Graph, Role, cos, evaluate, select, sin


def long_chain(n):
    """Some n nodes, each leaning on the one before; all stages, all kinds of values across chunks."""
    g = Graph()
    q, p, t = g.block("q", 4), g.block("p", 4, Role.PARAMETER), g.block("t", (), Role.TIME)
    x, y, early, now = q[0], q[1], p[0], t[0] * p[1]
    k = 0
    while len(g) < n:
        k += 1
        if k % 97 == 0:
            x, early = sin(x), sin(early + 0.1)
        elif k % 53 == 0:
            x = select(x < y, x, y)
        elif k % 11 == 0:
            early, now = early * p[k % 4] * 0.5 + 0.3, now * 0.5 + p[k % 4]
        else:
            x, y = 0.5 * (x * q[k % 4] + early), 0.5 * (y - x * now)
    return Function("chain", [q, p, t], {"y": [x, y, early, now]})


@pytest.mark.slow
def test_a_function_of_100_000_nodes_compiles_and_runs_without_recursion():
    function = long_chain(100_000)
    assert len(function.nodes) > 90_000
    depth = sys.getrecursionlimit()
    sys.setrecursionlimit(400)  # deep enough for the test runner, far too shallow for a walk down the chain
    try:
        native = compile(function, tier=Tier.QUICK)
        args = [np.random.default_rng(0).uniform(-0.9, 0.9, (b.size,) if b.shape else ()) for b in function.inputs]
        result = native(*args)
    finally:
        sys.setrecursionlimit(depth)
    np.testing.assert_allclose(result, evaluate(function, *args)[0], rtol=1e-9)  # the chain forgets its errors


@pytest.mark.parametrize("lanes", [1, 4])
def test_the_text_of_a_module_grows_linearly(lanes):
    sizes = [5_000, 10_000, 20_000]
    lines = [module_text({"": long_chain(n)}, Lanes(lanes))[0].count("\n") for n in sizes]
    per_node = np.diff(lines) / np.diff(sizes)
    assert per_node[1] < 1.1 * per_node[0]
    assert lines[2] < 10 * sizes[2]


@pytest.mark.parametrize("lanes", [1, 4])
def test_working_memory_on_the_heap_is_as_good_as_on_the_stack(lanes, monkeypatch):
    monkeypatch.setenv("TORSEUR_CACHE", "off")
    monkeypatch.setattr(loop, "SMALL", 0)
    function = long_chain(300)
    args = [np.random.default_rng(0).uniform(-1, 1, (2 * lanes + 1, *b.shape)) for b in function.inputs]
    native = compile(function, lanes=lanes, tier=Tier.QUICK)
    text, _ = module_text({"": function}, Lanes(lanes))
    assert text.count("call ptr @malloc") == text.count("call void @free") == 3
    assert_agrees(function, args, [native(*args)])
    assert_agrees(function, [a[0] for a in args], [native(*(a[0] for a in args))])
    bound = native.bind(args[1][0])
    assert_agrees(function, [args[0], args[1][0], args[2]], [bound(args[0], args[2])])


def test_no_piece_grows_with_the_number_of_sines_and_no_angle_is_done_twice():
    def pieces(count):
        g = Graph()
        x = g.block("x", count)
        text, _ = module_text({"": Function("f", [x], {"y": [sin(a) * cos(a) for a in x]})}, Lanes(1))
        return text, max(piece.count("\n") for piece in text.split("\ndefine ")[1:])

    (few, longest), (many, longest_of_many) = pieces(1280), pieces(2560)
    assert longest_of_many <= longest
    assert len(many) < 2.1 * len(few)
