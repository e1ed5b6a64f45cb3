"""Native code lives exactly as long as somebody can call it, and any thread may."""

import copy
import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from support import processes
from support.random_functions import showcase
from support.rounding import assert_agrees
from torseur.emit import Backend, Tier, compile, integrator
from torseur.errors import TorseurError
from torseur.graph import Function, Graph, Role, sin

SHOWCASE = showcase()


def small():
    g = Graph()
    q, p = g.block("q", 2), g.block("p", 1, Role.PARAMETER)
    return Function("small", [q, p], {"y": [sin(q[0]) * p[0], q[1]]})


def test_functions_made_and_dropped_in_any_order_do_not_crash():
    code = """
    import gc
    import numpy as np
    from torseur.emit import compile, integrator
    from torseur.graph import Function, Graph, Role, sin

    def make(k):
        g = Graph()
        q, p = g.block("q", 2), g.block("p", 1, Role.PARAMETER)
        return compile(Function("f", [q, p], {"y": [sin(q[0]) * p[0] + float(k), q[1]]}))

    def check(f, k):
        np.testing.assert_allclose(f(np.array([0.5, 1.0]), np.ones(1)), [np.sin(0.5) + k, 1.0])
        np.testing.assert_allclose(f(np.array([[0.5, 1.0]] * 5), np.ones(1))[4], [np.sin(0.5) + k, 1.0])

    kept = [make(k) for k in range(6)]
    for k, f in enumerate(kept):
        check(f, k)
    bound = kept[1].bind([2.0])
    results = kept[2](np.ones((3, 2)), np.ones(1))
    del kept[4], kept[1], kept[0], f
    gc.collect()
    junk = [make(10 + k)(np.ones((3, 2)), np.ones(1)) for k in range(6)]  # new code where the old may have been
    gc.collect()
    np.testing.assert_allclose(bound([0.5, 1.0]), [2 * np.sin(0.5) + 1, 1.0])
    np.testing.assert_allclose(bound([[0.5, 1.0]] * 9)[8], [2 * np.sin(0.5) + 1, 1.0])
    np.testing.assert_allclose(results[0], [np.sin(1.0) + 2, 1.0])
    for f, k in zip(kept, (2, 3, 5), strict=True):
        check(f, k)
        ufunc = f._entry(1).call  # its texts must still be there
        assert (ufunc.__name__, ufunc.signature, ufunc.types) == ("f", "(2),(1)->(2)", ["dd->d"])
    g = Graph()
    x = g.block("x", 1)
    states = integrator(Function("r", [x], {"dx": [-x[0]]}))([1.0], step=0.1, steps=10).states
    gc.collect()
    assert abs(states[0][-1, 0] - np.exp(-1)) < 1e-6
    print("alive")
    """
    assert processes.run(code) == "alive"


def test_a_dropped_function_is_really_gone():
    native = compile(small())
    native(np.ones(2), np.ones(1))
    native(np.ones((3, 2)), np.ones(1))
    libraries = [weakref.ref(library) for library in native._source.code._libraries.values()]
    assert len(libraries) == 2
    del native
    gc.collect()
    assert [library() for library in libraries] == [None, None]


def test_a_bound_function_keeps_what_it_needs():
    native = compile(small())
    bound = native.bind([3.0])
    library = weakref.ref(native._source.code.library(1))
    del native
    gc.collect()
    assert library() is not None
    np.testing.assert_allclose(bound([0.5, 1.0]), [3 * np.sin(0.5), 1.0])


def test_calls_from_several_threads_at_once_are_right():
    """The first calls race for the compiler as well."""
    native = compile(SHOWCASE, lanes=4, tier=Tier.QUICK)
    rng = np.random.default_rng(0)
    sets = [[rng.uniform(-1, 1, (50, *b.shape)) for b in SHOWCASE.inputs] for _ in range(8)]
    start = Barrier(8)

    def work(args):
        start.wait()
        for _ in range(20):
            many = native(*args)
            one = native(*(a[7] for a in args))
        return many, one

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, sets))
    for args, (many, one) in zip(sets, found, strict=True):
        assert_agrees(SHOWCASE, args, many)
        assert_agrees(SHOWCASE, [a[7] for a in args], one)


def test_different_functions_compiled_from_several_threads_are_right():
    def work(k):
        g = Graph()
        q = g.block("q", 2)
        native = compile(Function("f", [q], {"y": [sin(q[0]) * (k + 100.0), q[1]]}), tier=Tier.QUICK)
        return native(np.array([1.0, k]))

    with ThreadPoolExecutor(4) as pool:
        for k, y in enumerate(pool.map(work, range(12))):
            np.testing.assert_allclose(y, [np.sin(1.0) * (k + 100.0), k])


@pytest.mark.parametrize("backend", [Backend.NATIVE, Backend.NUMPY])
def test_a_native_function_says_that_it_cannot_be_pickled(backend):
    native = compile(small(), backend=backend)
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TorseurError, match="pickled") as caught:
            attempt(native)
        assert "small(q[2], p[1]) -> y[2]" in str(caught.value)
        assert caught.value.remedy


def test_an_integrator_says_that_it_cannot_be_pickled():
    g = Graph()
    x = g.block("x", 1)
    with pytest.raises(TorseurError, match="pickled"):
        pickle.dumps(integrator(Function("decay", [x], {"dx": [-x[0]]})))


def test_a_native_function_shows_its_arguments():
    native = compile(small())
    assert repr(native) == "<NativeFunction small(q[2], p[1]) -> y[2]>"
    assert repr(native.bind([1.0])) == "<NativeFunction small(q[2]) -> y[2]>"
