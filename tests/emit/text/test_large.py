"""Functions of 100 000 nodes: no language recurses over depth, and text grows in proportion to the function."""

import sys
from functools import cache

import numpy as np
import pytest

from support.emitted_code import run_python
from torseur.emit.text import to_c, to_c_header, to_julia, to_latex, to_listing, to_matlab, to_python
from torseur.errors import ArgumentError
from torseur.graph import Function, Graph, Role, evaluate, minimum, select, sin

LANGUAGES = [to_c, to_python, to_matlab, to_julia, to_listing, to_latex]


@cache
def deep(n: int) -> Function:
    """A chain of n operations, each on the one before."""
    g = Graph()
    x, p = g.block("x", 4), g.symbol("p", Role.PARAMETER)
    value = x[0]
    k = 0
    while len(g) < n:
        k += 1
        kind = k % 7
        if kind == 0:
            value = sin(value)
        elif kind == 1:
            value = value * x[k % 4] + p
        elif kind == 2:
            value = value - 0.5 * x[k % 3]
        elif kind == 3:
            value = select(value < x[1], value, x[2] - value)
        elif kind == 4:
            value = minimum(value, x[3] + 0.001 * k)
        else:
            value = (value + x[k % 4]) / (2.0 + p * p)
    return Function("deep", [x, g.blocks["p"]], {"y": value})


@cache
def wide(n: int) -> Function:
    """One sum of n/2 products, and every partial sum an output."""
    g = Graph()
    x, p = g.block("x", 50), g.block("p", 50, Role.PARAMETER)
    total, partial = g.zero, []
    k = 0
    while len(g) < n:
        total = total + x[k % 50] * (p[(k // 50) % 50] + 0.1 * k)
        partial.append(total)
        k += 1
    return Function("wide", [x, p], {"y": partial})


@cache
def chain(n: int) -> Function:
    """One function of another of another: brackets within brackets."""
    g = Graph()
    value = g.symbol("x")
    while len(g) < n:
        value = sin(value)
    return Function("chain", [g.blocks["x"]], {"y": value})


@pytest.mark.slow
@pytest.mark.parametrize("emit", LANGUAGES)
@pytest.mark.parametrize(
    ("build", "n"),
    [(deep, 20_000), pytest.param(deep, 100_000, marks=pytest.mark.slow), (wide, 20_000), (chain, 20_000)],
)
def test_text_grows_in_proportion_and_never_nests_deeply(build, n, emit):
    assert sys.getrecursionlimit() < n / 10
    small, large = emit(build(n // 10)), emit(build(n))
    assert len(large) < 12.5 * len(small)
    assert max(map(len, large.splitlines())) < 2000


@pytest.mark.parametrize("emit", [to_c, to_c_header, to_julia, to_latex, to_listing, to_matlab, to_python])
def test_what_is_no_function_is_not_written(emit):
    with pytest.raises(ArgumentError, match=rf"where: {emit.__name__}\s+expected: a Function\s+got: Expr"):
        emit(Graph().symbol("x"))


def test_a_large_function_computes_the_same_as_python():
    function = deep(10_000)
    args = np.linspace(-1, 1, 4), 0.3
    np.testing.assert_allclose(run_python(function, *args)[0], evaluate(function, *args)[0], rtol=1e-12)


def test_a_long_sum_keeps_its_order():
    function = wide(20_000)
    args = np.random.default_rng(8).uniform(-1, 1, (2, 50)), np.random.default_rng(9).uniform(-1, 1, 50)
    np.testing.assert_array_equal(run_python(function, *args)[0], evaluate(function, *args)[0])
