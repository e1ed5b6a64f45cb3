"""Parameter work is done once: by `bind`, or at the first row of a batch whose parameters do not change."""

import ctypes

import numpy as np
import pytest

from support.rounding import assert_agrees
from torseur.emit import Backend, compile
from torseur.emit.staged import carry
from torseur.errors import ArgumentError
from torseur.graph import Function, Graph, Role, cos, exp, sin, solve, tan

BACKENDS = [Backend.NATIVE, Backend.NUMPY]


def make_function():
    g = Graph()
    p, t, q, k = (
        g.block("p", 4, Role.PARAMETER),
        g.block("t", (), Role.TIME),
        g.block("q", 2),
        g.block("k", (), Role.PARAMETER),
    )
    inertia = [[p[0] + 3.0, p[1]], [p[1], exp(p[2]) + 3.0]]
    force = [sin(k[0]) * q[0] + p[3] * cos(t[0]), tan(p[3] * k[0]) * q[1] + sin(t[0])]
    return Function("f", [p, t, q, k], {"a": solve(inertia, force), "b": p[0] * k[0], "c": q[0] * t[0]})


FUNCTION = make_function()


def arrays(*batch, seed=1):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, (*batch, *b.shape)) for b in FUNCTION.inputs]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("batch", [(), (9,), (2, 3)])
def test_a_bound_function_equals_the_function_at_these_parameters(backend, batch):
    native = compile(FUNCTION, lanes=4, backend=backend)
    p, _, _, k = arrays()
    _, t, q, _ = arrays(*batch)
    assert_agrees(FUNCTION, [p, t, q, k], native.bind(p, k)(t, q))
    assert_agrees(FUNCTION, [p, t, q, k], native.bind(k=k, p=p)(q=q, t=t))
    for a, b in zip(native.bind(p, k)(t, q), native(p, t, q, k), strict=True):
        np.testing.assert_array_equal(a, b)  # the very same operations


@pytest.mark.parametrize("backend", BACKENDS)
def test_many_sets_of_parameters_are_bound_at_once(backend):
    native = compile(FUNCTION, lanes=4, backend=backend)
    p, _, _, k = arrays(7)
    _, t, q, _ = arrays()
    bound = native.bind(p, k)
    assert_agrees(FUNCTION, [p, t, q, k], bound(t, q))
    _, t, q, _ = arrays(5, 7)
    assert_agrees(FUNCTION, [p, t, q, k], bound(t, q))
    assert_agrees(FUNCTION, [p, t, q, k], bound(t, q, threads=2))
    _, t, q, _ = arrays(5, 1)
    assert_agrees(FUNCTION, [p, t, q, k], bound(t, q))
    _, t, q, _ = arrays(5)
    assert_agrees(FUNCTION, [p[:, None], t, q, k[0]], native.bind(p[:, None], k[0])(t, q))


@pytest.mark.parametrize("backend", BACKENDS)
def test_sets_that_do_not_fit_the_batch_are_refused(backend):
    p, _, _, k = arrays(7)
    _, t, q, _ = arrays(5)
    bound = compile(FUNCTION, backend=backend).bind(p, k)
    with pytest.raises(ArgumentError, match="do not fit together") as caught:
        bound(t, q)
    assert "p: (7,)" in str(caught.value)
    assert "q: (5,)" in str(caught.value)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_was_bound_does_not_change_with_the_array_it_came_from(backend):
    p, t, q, k = arrays()
    bound = compile(FUNCTION, backend=backend).bind(p, k)
    before = bound(t, q)
    p[:] = 7.0
    k += 1.0
    for a, b in zip(bound(t, q), before, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("lead", [(), (6,)])
def test_parameters_nothing_depends_on_can_be_bound_as_well(backend, lead):
    g = Graph()
    q, p, x = g.block("q", 2), g.block("p", 3, Role.PARAMETER), g.block("x", ())
    function = Function("f", [p, q, x], {"y": [q[0] * x[0], q[1]]})
    native = compile(function, backend=backend)
    assert native._source.work == 0
    bound = native.bind(np.ones((*lead, 3)))
    assert [a.name for a in bound.inputs] == ["q", "x"]
    np.testing.assert_array_equal(bound([1.0, 2.0], 3.0), np.broadcast_to([3.0, 2.0], (*lead, 2)))
    np.testing.assert_array_equal(bound(np.ones((4, 1, 2)), 3.0), np.broadcast_to([3.0, 1.0], (4, *(lead or (1,)), 2)))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_of_parameters_alone_can_be_bound(backend):
    g = Graph()
    p = g.block("p", 2, Role.PARAMETER)
    native = compile(Function("f", [p], {"y": [p[0] * p[1], sin(p[0])]}), backend=backend)
    np.testing.assert_allclose(native.bind([2.0, 3.0])(), [6.0, np.sin(2.0)])
    np.testing.assert_allclose(native.bind([[2.0, 3.0]] * 5)(), [[6.0, np.sin(2.0)]] * 5)


def test_a_function_without_parameters_is_its_own_bound_form():
    g = Graph()
    q = g.block("q", 1)
    native = compile(Function("f", [q], {"y": q[0]}))
    assert native.bind() is native


def test_binding_twice_is_refused():
    p, _, _, k = arrays()
    bound = compile(FUNCTION).bind(p, k)
    with pytest.raises(ArgumentError, match=r"bound already[\s\S]*remedy"):
        bound.bind(p, k)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_bound_is_not_expected_again(backend):
    p, t, q, k = arrays()
    bound = compile(FUNCTION, backend=backend).bind(p, k)
    for wrong in (q[:-1], q[:-1].tolist()):
        with pytest.raises(ArgumentError, match="q: shape") as caught:
            bound(t, wrong)
        assert caught.value.expected.startswith("t ")
        assert "p (" not in caught.value.expected


# -- hoisting ----------------------------------------------------------------------------------------------------------


def test_only_what_later_stages_need_is_kept():
    g = Graph()
    p, q = g.block("p", 3, Role.PARAMETER), g.block("q", 1)
    product = sin(p[0]) * cos(p[1]) * exp(p[2])
    assert carry(Function("f", [p, q], {"y": product * q[0]}))[0].size == 1
    assert carry(Function("f", [p, q], {"y": [product * q[0], product, p[1] + q[0]]}))[0].size == 2
    assert carry(Function("f", [p, q], {"y": q[0] * 2.0}))[0].size == 0


def rows_over_their_own_argument(role, step, lanes):
    """y = x^2 q, called as NumPy calls it, but with the results written over x: seen by whoever reads x again."""
    g = Graph()
    x, q = g.block("x", 1, role), g.block("q", 1)
    native = compile(Function("f", [x, q], {"y": [x[0] * x[0] * q[0]]}), lanes=lanes)
    memory, q = np.full(8 * lanes, 2.0), np.ones(8 * lanes)
    args = (ctypes.c_void_p * 3)(memory.ctypes.data, q.ctypes.data, memory.ctypes.data)
    steps = (ctypes.c_ssize_t * 6)(step, 8, 8, 8, 8, 8)
    count = (ctypes.c_ssize_t * 1)(len(q))
    loop = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(native._source.library(lanes)["loop"])
    loop(*(ctypes.addressof(a) for a in (args, count, steps)), None)
    return memory


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("role", [Role.PARAMETER, Role.TIME])
def test_work_on_what_does_not_change_along_a_batch_is_done_once(role, lanes):
    assert (rows_over_their_own_argument(role, 0, lanes) == 4.0).all()


@pytest.mark.parametrize("lanes", [1, 4])
def test_the_probe_sees_work_that_is_done_again(lanes):
    again = rows_over_their_own_argument(Role.STATE, 0, lanes)
    assert (again[:lanes] == 4.0).all()
    assert (again[lanes : 2 * lanes] == 16.0).all()


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("role", [Role.PARAMETER, Role.TIME])
def test_work_on_what_changes_along_a_batch_is_done_for_each_row(role, lanes):
    g = Graph()
    x, q = g.block("x", 1, role), g.block("q", 1)
    native = compile(Function("f", [x, q], {"y": [sin(x[0]) * q[0]]}), lanes=lanes)
    x = np.linspace(0, 1, 19)[:, None]
    np.testing.assert_allclose(native(x, np.ones(1)), np.sin(x), rtol=1e-15)
