"""A wrong call is refused in our words, with every fault named; both backends refuse the same."""

import numpy as np
import pytest

from torseur.emit import Backend, compile, compile_keyed
from torseur.errors import ArgumentError, CompileError, TorseurError
from torseur.graph import Function, Graph, Role

BACKENDS = [Backend.NATIVE, Backend.NUMPY]


def make_function():
    g = Graph()
    q, m, p, t = g.block("q", 3), g.block("m", (2, 2)), g.block("p", 2, Role.PARAMETER), g.block("t", (), Role.TIME)
    return Function("f", [q, m, p, t], {"y": [q[0] * p[0] + t[0], m[3]], "z": q[2] * p[1]})


FUNCTION = make_function()
GOOD = {"q": np.zeros(3), "m": np.zeros((2, 2)), "p": np.zeros(2), "t": 0.0}
MANY = {"q": np.zeros((5, 3)), "m": np.zeros((5, 2, 2)), "p": np.zeros(2), "t": 0.0}


@pytest.fixture(params=BACKENDS, ids=lambda b: b.value)
def native(request):
    return compile(FUNCTION, backend=request.param)


def refused(call, *args, **named) -> str:
    with pytest.raises(ArgumentError) as caught:
        call(*args, **named)
    return str(caught.value)


@pytest.mark.parametrize("base", [GOOD, MANY], ids=["one", "many"])
@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("q", np.zeros(4), "q: shape (4,)"),
        ("q", np.zeros(2), "q: shape (2,)"),
        ("q", np.zeros(1), "q: shape (1,)"),  # an axis of size one is not stretched
        ("q", 1.0, "q: shape ()"),
        ("q", np.zeros((5, 4)), "q: shape (5, 4)"),
        ("q", np.zeros((3, 1)), "q: shape (3, 1)"),
        ("m", np.zeros(4), "m: shape (4,)"),
        ("m", np.zeros((5, 2, 3)), "m: shape (5, 2, 3)"),
        ("q", np.zeros(3, complex), "q: values of type complex128"),
        ("q", [1.0, 2.0, 3j], "q: values of type complex128"),
        ("q", np.array(["a", "b", "c"]), "q: values of type <U1"),
        ("q", "abc", "q: values of type <U3"),
        ("q", ["1", "2", "3"], "q: values of type <U1"),
        ("q", [1.0, [2.0], 3.0], "q: "),
        ("q", [[1.0, 2.0, 3.0], [1.0]], "q: "),
        ("q", np.array([1, 2, None]), "q: values of type object"),
        ("q", None, "q: values of type object"),
        ("q", np.zeros(3, "datetime64[s]"), "q: values of type datetime64"),
        ("q", [10**400, 0, 0], "q: values of type object"),
        ("t", "now", "t: values of type"),
        ("t", 1j, "t: values of type complex"),
        ("p", np.zeros(3), "p: shape (3,)"),
    ],
    ids=str,
)
def test_a_wrong_argument_is_named(native, base, name, value, said):
    assert said in refused(native, **{**base, name: value})


@pytest.mark.parametrize("threads", [1, 2])
def test_all_faults_are_named_at_once(native, threads):
    text = refused(native, np.zeros((5, 4)), np.zeros(3), np.zeros(2, complex), 0.0, threads=threads)
    assert "q: shape (5, 4), expected (..., 3)" in text
    assert "m: shape (3,), expected (..., 2, 2)" in text
    assert "p: values of type complex128" in text
    assert "; t" not in text


def test_a_type_that_a_double_cannot_hold_is_refused(native):
    if np.finfo(np.longdouble).bits == 64:
        pytest.skip("long double is double here")
    for shape in [(3,), (5, 3)]:
        assert "which a double cannot hold" in refused(native, **{**GOOD, "q": np.zeros(shape, np.longdouble)})


@pytest.mark.parametrize("threads", [1, 2])
def test_batches_that_do_not_fit_together_are_listed(native, threads):
    text = refused(native, np.zeros((5, 3)), np.zeros((4, 2, 2)), np.zeros(2), 0.0, threads=threads)
    assert "q: (5,)" in text
    assert "m: (4,)" in text


def test_a_wrong_number_of_arguments_is_explained(native):
    q, m, p, t = GOOD.values()
    assert "'p' missing; 't' missing" in refused(native, q, m)
    assert "f(q, m, p, t)" in refused(native, q, m)
    assert "5 positional arguments" in refused(native, q, m, p, t, t)
    assert "no argument 'x'" in refused(native, q, m, p, t, x=1.0)
    assert "'q' given twice" in refused(native, q, m, p, t, q=q)
    text = refused(native, q, q=q, x=1.0)
    assert "no argument 'x'; 'q' given twice; 'm' missing; 'p' missing; 't' missing" in text


def test_wrong_parameters_are_refused_by_bind(native):
    assert "'p' missing" in refused(native.bind)
    assert "no argument 'q'" in refused(native.bind, [1.0, 2.0], q=np.zeros(3))
    assert "p: shape (3,)" in refused(native.bind, np.zeros(3))
    assert "p: values of type complex" in refused(native.bind, np.zeros(2, complex))


@pytest.mark.parametrize("shape", [(), (5,)], ids=str)
@pytest.mark.parametrize(
    "wrong",
    [
        lambda y, z: y,  # one array for two results
        lambda y, z: (y,),
        lambda y, z: (y, z, z),
        lambda y, z: [y, z],
        lambda y, z: (y[..., :1], z),
        lambda y, z: (np.zeros((7, *y.shape[1:])) if y.ndim == 2 else np.zeros(3), z),
        lambda y, z: (y.astype(int), z),
        lambda y, z: (y.tolist(), z),
        lambda y, z: "out",
        lambda y, z: (np.zeros(())[()], z),
    ],
    ids=range(10),
)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_wrong_out_is_refused(native, shape, wrong, threads):
    args = MANY if shape else GOOD
    out = wrong(np.zeros((*shape, 2)), np.zeros(shape))
    text = refused(native, **args, out=out, threads=threads)
    assert "'out'" in text
    assert f"y: float64 {(*shape, 2)}" in text


@pytest.mark.parametrize("threads", [1, 2])
def test_an_out_that_cannot_be_written_is_refused(native, threads):
    y, z = np.zeros((5, 2)), np.zeros(5)
    y.flags.writeable = False
    assert "float64 (5, 2), read-only, float64 (5,)" in refused(native, **MANY, out=(y, z), threads=threads)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", None])
def test_a_wrong_number_of_threads_is_refused(native, threads):
    assert "threads" in refused(native, **GOOD, threads=threads)
    assert "threads" in refused(native, **MANY, threads=threads)


@pytest.mark.parametrize("lanes", [0, 3, -1, 32, 2.5, "4", 4.0, True])
def test_a_wrong_number_of_lanes_is_refused(lanes):
    assert "lanes" in refused(compile, FUNCTION, lanes=lanes)


def test_options_are_not_words():
    assert "expected: 'quick' or 'full'" in refused(compile, FUNCTION, tier="slow")
    assert "'native'" in refused(compile, FUNCTION, backend="fortran")


def test_what_is_no_function_is_not_compiled():
    g = Graph()
    for wrong in (g.symbol("x"), "f", None, compile(FUNCTION)):
        text = refused(compile, wrong)
        assert "where: compile" in text
        assert "expected: a Function" in text
        assert f"got: {type(wrong).__name__}" in text
        assert "expected: a Function" in refused(compile_keyed("not a function", lambda wrong=wrong: wrong))
    assert "got: bytes" in refused(compile_keyed, b"key", lambda: FUNCTION)


def test_an_input_named_like_an_option_is_passed_by_position(native):
    g = Graph()
    x, out, threads = g.block("x", 1), g.block("out", 1), g.block("threads", 1)
    f = compile(Function("f", [x, out, threads], {"y": [x[0] + out[0] * threads[0]]}))
    one = np.ones(1)
    text = refused(f, x=one, out=one, threads=one)
    assert "pass 'out' and 'threads' by position" in text
    assert "pass 'threads' by position" in refused(f, one, one, threads=[1.0])
    assert f(one, one, one, out=np.zeros(1), threads=2) == 2.0
    assert "remedy" not in refused(native)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_with_nothing_to_compute_is_refused(backend):
    g = Graph()
    q = g.block("q", 1)
    with pytest.raises(CompileError, match="nothing to compute"):
        compile(Function("f", [q], {}), backend=backend)


def test_more_arrays_than_numpy_can_take_are_refused_with_a_remedy():
    g = Graph()
    blocks = [g.block(f"x{k}_", ()) for k in range(70)]
    function = Function("f", blocks, {"y": sum((b[0] for b in blocks), g.zero)})
    with pytest.raises(CompileError, match="larger blocks"):
        compile(function)(*[1.0] * 70)
    assert compile(function, backend=Backend.NUMPY)(*[1.0] * 70) == 70.0


def test_a_refused_call_can_be_followed_by_a_good_one(native):
    refused(native, np.zeros(2), *list(GOOD.values())[1:])
    assert native(**GOOD).y.shape == (2,)


@pytest.mark.parametrize("kind", [AttributeError, ValueError, TypeError])
def test_an_error_of_our_own_making_is_not_blamed_on_the_arguments(kind, monkeypatch):
    native = compile(FUNCTION)
    native(**GOOD)

    def broken(*args, **named):
        raise kind("broken")

    monkeypatch.setattr(native, "_single", broken)
    with pytest.raises(kind, match="broken") as caught:
        native(**GOOD)
    assert not isinstance(caught.value, TorseurError)
