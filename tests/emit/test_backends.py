"""Without a compiler NumPy answers: the same results, slower, and said once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import processes
from support.random_functions import arguments, functions, showcase
from support.rounding import assert_agrees
from torseur.emit import Backend, compile, compile_keyed

SHOWCASE = showcase()
NUMPY = compile(SHOWCASE, backend=Backend.NUMPY)
NATIVE = compile(SHOWCASE, backend=Backend.NATIVE)


def arrays(*batch):
    rng = np.random.default_rng(0)
    return [rng.uniform(-1, 1, (*batch, *b.shape)) for b in SHOWCASE.inputs]


@pytest.mark.parametrize("batch", [(), (1,), (5,), (2, 3), (0,)])
def test_both_backends_give_the_same_kind_of_results(batch):
    args = arrays(*batch)
    slow, quick = NUMPY(*args), NATIVE(*args)
    assert type(slow).__name__ == type(quick).__name__ == SHOWCASE.name
    assert slow._fields == quick._fields
    for a, b in zip(slow, quick, strict=True):
        assert type(a) is type(b)
        assert a.shape == b.shape
    assert_agrees(SHOWCASE, args, slow)


@given(data=st.data())
@settings(max_examples=10)
def test_binding_and_calling_agree_between_backends(data):
    function = data.draw(functions())
    args = data.draw(arguments(function))
    names = [b.name for b in function.inputs]
    values = dict(zip(names, args, strict=True))
    p = values.pop("p")
    bound = compile(function, backend=Backend.NUMPY).bind(p)
    results = bound(**values)
    assert_agrees(function, args, results if isinstance(results, tuple) else (results,))


def test_out_threads_and_lists_work_without_native_code():
    args = arrays(4)
    out = tuple(np.empty((4, *o.shape)) for o in SHOWCASE.outputs)
    results = NUMPY(*args, out=out, threads=2)
    assert all(a is b for a, b in zip(results, out, strict=True))
    for a, b in zip(NUMPY(*(x.tolist() for x in args)), out, strict=True):
        np.testing.assert_array_equal(a, b)
    q = np.array(args[3])
    some = NUMPY(*args, out=(None, None, None, None, q[:, :2]))
    assert some.input.base is q


def test_a_keyed_function_is_built_when_numpy_runs_it():
    native = compile_keyed("showcase", showcase, backend=Backend.NUMPY)
    assert_agrees(SHOWCASE, arrays(3), native(*arrays(3)))


MISSING = """
    import sys, warnings
    import numpy as np
    sys.modules["llvmlite"] = sys.modules["llvmlite.binding"] = None  # as if it were not installed

    from torseur.emit import Backend, compile, integrator
    from torseur.errors import CompileError, TorseurWarning
    from torseur.graph import Function, Graph, Role

    g = Graph()
    q, p = g.block("q", 2), g.block("p", 1, Role.PARAMETER)
    function = Function("f", [q, p], {"y": [q[0] * p[0], q[1]]})
"""


def test_a_missing_llvmlite_is_said_once_and_numpy_takes_over():
    code = """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        first, second = compile(function), compile(function)
    (only,) = caught
    assert issubclass(only.category, TorseurWarning), only
    assert only.filename == "<string>", only.filename
    print(str(only.message).partition(":")[0])
    for f in (first, second):
        np.testing.assert_array_equal(f([1.0, 2.0], [3.0]), [3.0, 2.0])
        np.testing.assert_array_equal(f.bind([3.0])([[1.0, 2.0]] * 3), [[3.0, 2.0]] * 3)
        f(np.ones((5, 2)), np.ones(1), out=np.empty((5, 2)), threads=2)
    """
    assert processes.run(MISSING + code) == "falling back to NumPy, much slower"


def test_a_missing_llvmlite_is_an_error_where_native_code_was_asked_for():
    code = """
    rate = Function("rate", [q], {"dq": [q[1], -q[0]]})
    for attempt in (lambda: compile(function, backend=Backend.NATIVE), lambda: integrator(rate)):
        try:
            attempt()
        except CompileError as error:
            print(error.what, "|", error.remedy[:24])
    """
    line = "native code cannot be made on this machine | pip install --force-rein"
    assert processes.run(MISSING + code).split("\n") == [line, line]
