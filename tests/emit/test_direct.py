"""The built-in form of a native function: quicker to call, otherwise the same function."""

import gc
import sys
import weakref

import numpy as np
import pytest

from support import processes
from torseur.emit import Backend, compile, compile_keyed, direct
from torseur.errors import ArgumentError
from torseur.graph import Function, Graph, Role, cos, sin, solve

pytestmark = pytest.mark.skipif(not direct.is_possible(), reason="this interpreter has no such calls")


def make_function():
    """Work in every stage, blocks of every rank, a matrix as the result."""
    g = Graph()
    q, m, s = g.block("q", 3), g.block("m", (2, 2)), g.block("s", ())
    p, t = g.block("p", 4, Role.PARAMETER), g.block("t", (), Role.TIME)
    x = solve([[p[0] + 3.0, p[1]], [p[2], 3.0]], [q[0] * sin(p[3]) + s[0], cos(t[0]) * p[0]])
    return Function("f", [q, m, s, p, t], {"y": [[x[0], m[1] * q[1]], [x[1], sin(q[2])], [m[3], t[0]]]})


FUNCTION = make_function()
RNG = np.random.default_rng(0)
ARGS = dict(zip("qmspt", [RNG.uniform(-1, 1, b.shape) for b in FUNCTION.inputs], strict=True))
P = ARGS.pop("p")
BOUND = compile(FUNCTION).bind(P)
DIRECT = BOUND.direct("f", "a test")
Q, M, S, T = ARGS.values()


def test_a_direct_call_equals_the_bound_function():
    expected = BOUND(Q, M, S, T)
    got = DIRECT(Q, M, S, T)
    assert type(got) is np.ndarray
    assert got.flags.owndata
    assert got.flags.c_contiguous
    np.testing.assert_array_equal(got, expected)
    first = DIRECT(Q, M, S, T)
    DIRECT(2 * Q, M, S, T)
    np.testing.assert_array_equal(first, expected)  # each result is an array of its own


def test_it_shows_its_name_and_what_it_is():
    assert DIRECT.__name__ == "f"
    assert DIRECT.__doc__ == "a test"


def reversed_view(array):
    return np.flip(np.flip(array).copy())


class Subclass(np.ndarray):
    pass


OTHERS = {
    "lists": (Q.tolist(), M.tolist(), float(S), float(T)),
    "a batch": (np.stack([Q, 2 * Q]), M, S, T),
    "a batch of the last": (Q, M, S, np.array([0.1, 0.2])),
    "strides": (reversed_view(Q), M, S, T),
    "Fortran order": (Q, np.asfortranarray(M + 0), S, T),
    "the other byte order": (Q.astype(Q.dtype.newbyteorder()), M, S, T),
    "single precision": (Q.astype(np.float32), M, S, T),
    "integers": (np.array([1, 2, 3]), M, S, T),
    "NumPy numbers": (Q, M, np.float64(0.5), np.float64(0.5)),
    "a subclass": (Q, M.view(Subclass), S, T),
    "not aligned": (np.zeros(25, np.uint8)[1:].view(float), M, S, T),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_whatever_is_not_simple_takes_the_other_way(kind):
    args = OTHERS[kind]
    np.testing.assert_array_equal(DIRECT(*args), BOUND(*args))


def test_names_and_out_take_the_other_way():
    expected = BOUND(Q, M, S, T)
    np.testing.assert_array_equal(DIRECT(t=T, q=Q, s=S, m=M), expected)
    np.testing.assert_array_equal(DIRECT(Q, M, t=T, s=S), expected)
    out = np.empty((3, 2))
    assert DIRECT(Q, M, S, T, out=out) is out
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    "args",
    [
        (),
        (Q,),
        (Q, M, S),
        (Q, M, S, T, T),
        (Q[:2], M, S, T),
        (M, Q, S, T),
        (Q, M, Q[:2], Q),
        (Q + 0j, M, S, T),
        ("q", M, S, T),
    ],
    ids=range(9),
)
def test_mistakes_get_the_errors_of_the_function(args):
    with pytest.raises(ArgumentError):
        DIRECT(*args)
    with pytest.raises(ArgumentError, match="no argument 'x'"):
        DIRECT(Q, M, S, T, x=1.0)


def test_objects_that_are_no_arrays_at_all_are_not_touched():
    for thing in (None, 3, "abc", object(), type, [], {}, lambda: 0, np.float64, np.dtype(float)):
        with pytest.raises(ArgumentError):
            DIRECT(thing, M, S, T)


def test_the_last_inputs_may_have_defaults():
    with_time = BOUND.direct("f", "", defaults=[np.asarray(0.25)])
    with_two = BOUND.direct("f", "", defaults=[S, T], fallback=lambda q, m: BOUND(q, m, S, T))
    np.testing.assert_array_equal(with_two(Q, M), BOUND(Q, M, S, T))
    np.testing.assert_array_equal(with_two(Q.tolist(), M), BOUND(Q, M, S, T))
    np.testing.assert_array_equal(with_time(Q, M, S), BOUND(Q, M, S, 0.25))


def rows_of(count):
    """States one behind the other."""
    return [RNG.uniform(-1, 1, (count, *x.shape)) for x in (Q, M, S, T)]


def served(**options):
    """A built-in form that takes rows of states, and what went to its fallback."""
    seen, bound = [], compile(FUNCTION).bind(P)

    def fallback(*args, **named):
        seen.append(args)
        return bound(*args, **named)

    made = bound.direct("f", "", fallback=fallback, **options)
    made(*rows_of(2))
    assert len(seen) == 1
    seen.clear()
    return made, seen


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 100])
def test_rows_of_states_go_to_the_loop_in_lanes(count):
    made, seen = served()
    args = rows_of(count)
    got = made(*args)
    assert not seen
    assert got.flags.owndata
    assert got.flags.c_contiguous
    np.testing.assert_array_equal(got, BOUND(*args))
    np.testing.assert_array_equal(made(Q, M, S, T), BOUND(Q, M, S, T))


def test_rows_of_states_beside_defaults():
    made, seen = served(defaults=[np.asarray(0.25)])
    q, m, s, _ = rows_of(11)
    np.testing.assert_array_equal(made(q, m, s), BOUND(q, m, s, 0.25))
    assert not seen


def test_rows_that_are_not_simple_go_to_the_fallback():
    made, seen = served()
    q, m, s, t = rows_of(6)
    empty = [x[:0] for x in (q, m, s, t)]
    others = [
        (q[::-1], m, s, t),
        (q, m, s, T),
        (q, M, s, t),
        (q[None], m, s, t),
        (q.astype(np.float32), m, s, t),
        empty,
    ]
    for args in others:
        np.testing.assert_array_equal(made(*args), BOUND(*args))
    assert len(seen) == len(others)
    for args in ((q[:5], m, s, t), (q, m[:5], s, t), (q[:, :2], m, s, t), (q, m, s)):
        with pytest.raises(ArgumentError):
            made(*args)


def test_rows_may_be_kept_from_the_loop():
    seen, bound = [], compile(FUNCTION).bind(P)
    bound(*rows_of(3))
    made = bound.direct("f", "", fallback=lambda *args: seen.append(args), batches=False)
    made(*rows_of(3))
    assert len(seen) == 1


def test_no_reference_is_lost_or_kept_over_rows():
    made, _ = served()
    args = rows_of(5)
    before = [sys.getrefcount(a) for a in args], sys.getrefcount(np.dtype(float))
    for _ in range(1000):
        result = made(*args)
    gone = weakref.ref(result)
    del result
    assert gone() is None
    assert [sys.getrefcount(a) for a in args] == before[0]
    assert abs(sys.getrefcount(np.dtype(float)) - before[1]) < 50


def test_several_results_have_names_for_one_state_and_for_rows():
    g = Graph()
    q = g.block("q", 2)
    native = compile(Function("f", [q], {"a": q[0], "b": [q[1], q[0]], "c": [[q[0] * q[1]]]}))
    for given in (np.array([0.5, 3.0]), RNG.uniform(-1, 1, (9, 2))):
        expected, made = native(given), native.direct("f", "")
        kinds = set()
        for got in [made(given) for _ in range(100)]:
            assert got._fields == expected._fields == ("a", "b", "c")
            np.testing.assert_array_equal(got.b, expected.b)
            np.testing.assert_array_equal(got[2], expected.c)
            assert not gc.is_tracked(got.a)
            kinds.add(type(got))
        gone = weakref.ref(got.b)
        del got, expected
        assert gone() is None
        assert len(kinds) == 1


def test_another_callable_may_take_what_is_not_simple():
    seen = []
    made = BOUND.direct("f", "", fallback=lambda *args, **named: seen.append((args, named)) or "other")
    assert made("x", k=1) == "other"
    assert seen == [(("x",), {"k": 1})]
    assert isinstance(made(Q, M, S, T), np.ndarray)

    def failing(*args):
        raise KeyError("from inside")

    with pytest.raises(KeyError, match="from inside"):
        BOUND.direct("f", "", fallback=failing)(1)


def test_there_is_none_where_it_would_not_be_simple():
    native = compile(FUNCTION)
    assert native.direct("f", "") is None  # parameters that are not bound
    assert native.bind(np.stack([P, P])).direct("f", "") is None  # many sets
    assert compile(FUNCTION, backend=Backend.NUMPY).bind(P).direct("f", "") is None


def test_a_result_without_a_shape_is_a_scalar_and_several_are_a_tuple():
    g = Graph()
    q = g.block("q", 2)
    one = compile(Function("f", [q], {"a": sin(q[0]) * q[1]}))
    got = one.direct("f", "")(np.array([0.5, 3.0]))
    assert type(got) is type(one(np.array([0.5, 3.0]))) is np.float64
    assert got == one(np.array([0.5, 3.0]))
    many = compile(Function("f", [q], {"a": q[0], "b": [q[1], q[0]], "c": [[q[0] * q[1]]]}))
    got, expected = many.direct("f", "")(np.array([0.5, 3.0])), many(np.array([0.5, 3.0]))
    assert isinstance(got, tuple)
    assert [type(x) for x in got] == [type(x) for x in expected]
    for x, y in zip(got, expected, strict=True):
        np.testing.assert_array_equal(x, y)


def test_a_nan_in_any_result_takes_the_other_way_and_nothing_is_lost():
    g = Graph()
    q = g.block("q", 1)
    seen = []

    def fallback(*args):
        seen.append(args)
        return "told"

    native = compile(Function("f", [q], {"a": q[0], "b": [q[0].sqrt()]}))
    call = native.direct("f", "", fallback=fallback)
    q = np.array([-1.0])
    before = sys.getrefcount(q)
    assert [call(q) for _ in range(100)] == ["told"] * 100
    seen.clear()
    assert sys.getrefcount(q) == before
    result = call(np.array([4.0]))
    gone = weakref.ref(result[1])
    assert result[1] == [2.0]
    del result
    assert gone() is None


def test_constants_that_are_left_to_run_time_are_computed():
    code = """
    import numpy as np
    from torseur.emit import compile
    from torseur.graph import Function, Graph

    g = Graph()
    q = g.block("q", 1)
    native = compile(Function("f", [q], {"y": [1.0 / g.zero, q[0] / g.zero, g.number(np.inf).sin() + q[0]]}))
    call = native.direct("f", "") or native
    print(call(np.ones(1)).tolist())
    """
    assert processes.run(code) == "[inf, inf, nan]"


def test_a_function_without_parameters_inputs_or_size_can_have_one():
    g = Graph()
    q, none = g.block("q", 2), g.block("none", 0)
    native = compile(Function("f", [q, none], {"y": [sin(q[0]), q[1]]}))
    np.testing.assert_array_equal(native.direct("f", "")(np.ones(2), np.ones(0)), native(np.ones(2), np.ones(0)))
    constant = compile(Function("f", [], {"y": [g.number(1.0), g.number(2.0)]}))
    np.testing.assert_array_equal(constant.direct("f", "")(), [1.0, 2.0])
    empty = compile(Function("f", [q], {"y": []}))
    made = empty.direct("f", "")
    assert made is None or made(np.ones(2)).shape == (0,)


def test_no_reference_is_lost_or_kept():
    args = (Q, M, S, T)
    before = [sys.getrefcount(a) for a in args], sys.getrefcount(np.ndarray), sys.getrefcount(np.dtype(float))
    for call in (lambda: DIRECT(*args), lambda: DIRECT(Q[None], *args[1:])):
        result = call()
        gone = weakref.ref(result)
        del result
        assert gone() is None
        for _ in range(1000):
            call()
    for _ in range(100):
        with pytest.raises(ArgumentError):
            DIRECT(Q[:1], *args[1:])
    gc.collect()
    after = [sys.getrefcount(a) for a in args], sys.getrefcount(np.ndarray), sys.getrefcount(np.dtype(float))
    assert after[0] == before[0]
    assert abs(after[1] - before[1]) < 50
    assert abs(after[2] - before[2]) < 50


def test_it_keeps_what_it_needs_and_no_longer():
    native = compile(FUNCTION)
    bound = native.bind(P)
    made = bound.direct("f", "")
    library = weakref.ref(native._source.code.library(1))
    expected = bound(Q, M, S, T)
    del native, bound
    gc.collect()
    np.testing.assert_array_equal(made(Q, M, S, T), expected)
    np.testing.assert_array_equal(made(Q.tolist(), M, S, T), expected)
    assert library() is not None
    del made
    gc.collect()
    assert library() is None


def test_parameters_bound_later_do_not_change_it():
    native = compile(FUNCTION)
    one, two = native.bind(P), native.bind(2 * P)
    first, second = one.direct("f", ""), two.direct("f", "")
    np.testing.assert_array_equal(first(Q, M, S, T), one(Q, M, S, T))
    np.testing.assert_array_equal(second(Q, M, S, T), two(Q, M, S, T))
    assert not np.array_equal(first(Q, M, S, T), second(Q, M, S, T))


def test_an_interpreter_without_such_calls_does_not_find_the_code_of_one_with_them(monkeypatch, tmp_path):
    monkeypatch.setenv("TORSEUR_CACHE", str(tmp_path / "cache"))
    with_calls = compile_keyed("f", make_function)
    assert with_calls.bind(P).direct("f", "") is not None
    from torseur.emit import source

    monkeypatch.setattr(source, "is_possible", lambda: False)
    without = compile_keyed("f", make_function).bind(P)
    assert without.direct("f", "") is None
    np.testing.assert_array_equal(without(Q, M, S, T), BOUND(Q, M, S, T))
