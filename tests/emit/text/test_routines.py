"""Routines as text: every language prints the same algorithm, and what can be run agrees with native code."""

import re

import numpy as np
import pytest

from support.constrained_minima import constrained, random_case
from support.emitted_code import CFunction, compiled, run_python
from torseur.emit import compile
from torseur.emit.text import Precision, to_c, to_julia, to_latex, to_listing, to_matlab, to_python
from torseur.graph import Function, Graph, call
from torseur.graph.calls import Callee
from torseur.graph.routine import EPSILON, In, Loops, Out, Routine, Work, sqrt

SIZES = [(0, 2, 0), (1, 1, 1), (1, 3, 1), (2, 3, 1), (3, 3, 3), (3, 4, 2), (5, 3, 2), (6, 7, 6), (8, 12, 5)]
"""Rows, columns, rank: without rows, without freedom, with more rows than columns, with redundant rows."""


def cases(m, n, rank, count=5):
    """Arguments of `count` states, one after the other; the last one is not wanted."""
    rng = np.random.default_rng(1000 * m + 10 * n + rank)
    drawn = [random_case(rng, m, n, rank) for _ in range(count)]
    drawn[-1]["wanted"] = 0.0
    return [np.stack([np.asarray(case[name]) for case in drawn]) for name in drawn[0]]


@pytest.mark.parametrize(("m", "n", "rank"), SIZES)
def test_c_and_python_agree_with_native_code(m, n, rank, tmp_path):
    f, args = constrained(m, n), cases(m, n, rank)
    native = compile(f)(*args)
    for other in (CFunction(f, tmp_path)(*args), run_python(f, *args)):
        for got, expected in zip(other, native, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)
            assert not got[-1].any()


def test_single_precision_c_agrees_to_single_precision(tmp_path):
    f, args = constrained(6, 7), cases(6, 7, 4)
    single = CFunction(f, tmp_path, Precision.SINGLE)
    assert "double" not in single.source
    x, multipliers, about = single(*args)
    expected = compile(f)(*args)
    np.testing.assert_allclose(x, expected[0], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(multipliers, expected[1], rtol=1e-2, atol=1e-2)
    np.testing.assert_array_equal(about[:, 0], expected[2][:, 0])


def test_single_precision_knows_its_own_rounding(tmp_path):
    """Three rows of rank two by rounding of single numbers only, said to be of rank three."""
    f = constrained(3, 4, scaled=False)
    rng = np.random.default_rng(3)
    A = rng.normal(size=(3, 4))
    A[2] = 0.3 * A[0] - 0.7 * A[1]
    args = np.eye(4), A.astype(np.float32), 3.0, rng.normal(size=4), np.zeros(3), 1.0
    assert CFunction(f, tmp_path, Precision.SINGLE)(*args)[2][0] == 2
    assert CFunction(f, tmp_path)(*args)[2][0] == 3


def test_one_routine_serves_all_sizes_in_c(tmp_path):
    g = Graph()
    q = g.block("q", 6)
    one, two = constrained(2, 3, scaled=False), constrained(1, 2, scaled=False)
    args = [list(q)[:1] * b.size if b.shape else q[1] for b in one.inputs]
    more = [list(q)[2:3] * b.size if b.shape else q[3] for b in two.inputs]
    f = Function("f", [q], {"y": [*call(one, *args), *call(two, *more)]})
    source = to_c(f)
    for name in ("factors", "solution", "multipliers"):
        assert len(re.findall(rf"^static void constrained_{name}\(", source, flags=re.MULTILINE)) == 1
        assert f"static void constrained_{name}2_3(" in source
        assert f"static void constrained_{name}1_2(" in source
    x = np.array([2.0, 1.0, 3.0, 1.0, 0.0, 0.0])
    np.testing.assert_allclose(CFunction(f, tmp_path)(x)[0], compile(f)(x), rtol=1e-13)


@pytest.mark.parametrize("pattern", [np.eye(3, 5), np.tri(3, 5, -1), np.zeros((3, 5))])
def test_entries_that_are_zero_by_structure_are_left_out(pattern, tmp_path):
    f = constrained(3, 5, pattern=pattern)
    args = cases(3, 5, int(np.linalg.matrix_rank(pattern)))
    native = compile(f)(*args)
    for other in (CFunction(f, tmp_path)(*args), run_python(f, *args)):
        for got, expected in zip(other, native, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


def test_c_allocates_nothing_and_needs_math_h_only():
    source = to_c(constrained(4, 6))
    assert re.findall(r"#include (.*)", source) == ["<math.h>"]
    assert "alloc" not in source
    assert "static const double table3[21] = {" in source


@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_compilers_find_nothing_to_warn_of(level, tmp_path):
    also = [level, "-Wshadow", "-Wmaybe-uninitialized"]
    for precision in Precision:
        compiled(to_c(constrained(4, 6), precision), tmp_path, f"code{precision.name}", also=also)


# -- MATLAB and Julia --------------------------------------------------------------------------------------------------
def bisected(n: int, low: In, y: Out, z: Out, w: Work) -> None:
    """Every statement and every operation a routine may use."""
    top = 1.0
    for i in range(n):
        w[i] = 2.0 * low[i] - 1.5e-3
        if not (low[i] > 0.0 and i != 1) or low[i] <= -EPSILON:
            w[i] = abs(w[i]) / (1.0 + sqrt(top))
        else:
            top += w[i]
    k = n - 1
    while k >= 0 and k < n:
        y[k] = w[k] * (top - low[0]) - (w[0] - k)
        k = k - 1
    for i in range(n - 1, -1, -1):
        j = int(y[0] * 0.0)
        z[n - 1 - i] = -y[i] + z[j]
        if i == 1:
            return


BISECTED = Routine(bisected, (lambda n: n, lambda n: n), (lambda n: n,))

MATLAB = """\
% Every statement and every operation a routine may use.
function [y, z] = bisected(n, low, y, z, w)
top = 1;
for i = 0:n - 1
    w(i + 1) = 2*low(i + 1) - 0.0015;
    if ~(low(i + 1) > 0 && i ~= 1) || low(i + 1) <= -2.220446049250313e-16
        w(i + 1) = abs(w(i + 1))/(1 + real_sqrt(top));
    else
        top = top + w(i + 1);
    end
end
k = n - 1;
while k >= 0 && k < n
    y(k + 1) = w(k + 1)*(top - low(1)) - (w(1) - k);
    k = k - 1;
end
for i = n - 1:-1:0
    j = y(1)*0;
    z(n - 1 - i + 1) = -y(i + 1) + z(j + 1);
    if i == 1
        return
    end
end
end

function out = twice3(a1)
y1 = zeros(3, 1);
y2 = zeros(3, 1);
[y1, y2] = bisected(3, a1, y1, y2, zeros(3, 1));
out = [y1; y2];
end

function y = real_sqrt(x)
"""

JULIA = """\
# Every statement and every operation a routine may use.
function bisected(n, low, y, z, w)
    top = 1.0
    for i in 0:n - 1
        w[i + 1] = 2.0*low[i + 1] - 0.0015
        if !(low[i + 1] > 0.0 && i != 1) || low[i + 1] <= -2.220446049250313e-16
            w[i + 1] = abs(w[i + 1])/(1.0 + real_sqrt(top))
        else
            top = top + w[i + 1]
        end
    end
    k = n - 1
    while k >= 0 && k < n
        y[k + 1] = w[k + 1]*(top - low[1]) - (w[1] - k)
        k = k - 1
    end
    for i in n - 1:-1:0
        j = Int(y[1]*0.0)
        z[n - 1 - i + 1] = -y[i + 1] + z[j + 1]
        if i == 1
            return
        end
    end
end

function twice3(a1)
    number_type = promote_type(Float64, eltype(a1))
    y1 = zeros(number_type, 3)
    y2 = zeros(number_type, 3)
    bisected(3, a1, y1, y2, zeros(number_type, 3))
    return [y1; y2]
end
"""


class Twice(Callee):
    """A callee by loops with two results, and no derivative."""

    name, meaning, n_out = "twice3", "two results of a routine", 6

    def __init__(self) -> None:
        self._lowering = Loops(BISECTED, (3,), (Graph().block("low", 3),))

    @property
    def digest(self) -> str:
        return self._lowering.digest

    def lowering(self) -> Loops:
        return self._lowering

    def tangent(self, bundle, tangents):
        raise NotImplementedError

    def adjoint(self, bundle, weights):
        raise NotImplementedError

    def reference(self, args):
        return [np.array(x) for x in self._lowering.reference(args)]


def twice() -> Function:
    g = Graph()
    q = g.block("q", 3)
    return Function("f", [q], {"y": list(g.call(Twice(), list(q)))})


def test_a_routine_in_matlab():
    assert MATLAB in to_matlab(twice())


def test_a_routine_in_julia():
    assert JULIA in to_julia(twice())


@pytest.mark.parametrize("q", [[1.0, -2.0, 3.0], [0.0, 0.5, -1.0], [2.0, 2.0, 2.0]])
def test_every_statement_runs_alike_in_c_and_python(q, tmp_path):
    f = twice()
    expected = BISECTED((3,), [q])
    np.testing.assert_allclose(run_python(f, q)[0], expected, rtol=1e-15)
    np.testing.assert_allclose(CFunction(f, tmp_path)(q)[0], expected, rtol=1e-15)


@pytest.mark.parametrize(("language", "emit"), [("matlab", to_matlab), ("julia", to_julia)])
@pytest.mark.parametrize("build", [twice, lambda: constrained(5, 7)])
def test_a_parser_finds_no_error(language, emit, build):
    tree_sitter = pytest.importorskip("tree_sitter")
    grammar = pytest.importorskip(f"tree_sitter_{language}")
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    assert not parser.parse(emit(build()).encode()).root_node.has_error


@pytest.mark.parametrize("emit", [to_c, to_python, to_matlab, to_julia, to_listing, to_latex])
def test_texts_do_not_depend_on_the_order_of_sets(emit):
    assert emit(constrained(4, 5)) == emit(constrained(4, 5))


# -- for people --------------------------------------------------------------------------------------------------------
def test_readers_see_what_a_call_means():
    f = constrained(2, 3)
    for text in (to_listing(f), to_latex(f)):
        assert text.count("the x of least 1/2 x'M x - f'x under A x = b, from:") == 2
        assert "from: 1 if wanted, the rank of A, a factor for each row and each column, A (2 x 3) row by row" in text
        assert "the shortest lambda with A' lambda = f" in text
        assert "for (" not in text
    assert "always zero" not in to_listing(f)
    assert "what is always zero is left out" in to_listing(constrained(2, 3, pattern=np.eye(2, 3)))
