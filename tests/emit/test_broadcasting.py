"""A native function takes arrays as they are: any strides, any batch, any real type; threads change nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.rounding import assert_agrees
from torseur.emit import compile
from torseur.graph import Function, Graph, Role, cos, evaluate, sin

WIDTH = 4


def make_function():
    """All roles, shapes of rank 0, 1 and 2, several outputs, work in every stage."""
    g = Graph()
    p, t = g.block("p", 3, Role.PARAMETER), g.block("t", (), Role.TIME)
    q, m = g.block("q", 5), g.block("m", (2, 3))
    a, b = sin(p[0]) * p[1] + p[2], cos(t[0]) * p[0] + t[0]
    rows = [[m[3 * i + j] * q[j] + a for j in range(3)] for i in range(2)]
    return Function("f", [p, t, q, m], {"y": [x * a + b for x in q], "z": rows, "s": q[0] * q[4] + b})


FUNCTION = make_function()
NATIVE = compile(FUNCTION, lanes=WIDTH)
SHAPES = [b.shape for b in FUNCTION.inputs]
OUTS = [o.shape for o in FUNCTION.outputs]


def arrays(*batch, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-2, 2, (*batch, *shape)) for shape in SHAPES]


def assert_right(args, results):
    assert_agrees(FUNCTION, args, results)


def assert_equal(actual, expected):
    for a, b in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(a, b)


# -- batches -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", range(2 * WIDTH + 4))
def test_batches_of_every_size_around_the_number_of_lanes(count):
    args = arrays(count)
    results = NATIVE(*args)
    assert [r.shape for r in results] == [(count, *shape) for shape in OUTS]
    assert_right(args, results)


@pytest.mark.parametrize("batch", [(2, 3), (3, 1, 5), (0, 4), (4, 0), (1, 1), (2, 2, 2, 2)])
def test_batches_may_have_many_dimensions(batch):
    args = arrays(*batch)
    assert_right(args, NATIVE(*args))


def test_a_row_of_a_batch_does_not_depend_on_its_neighbours():
    args = arrays(11)
    whole = NATIVE(*args)
    for start, stop in ((0, 4), (3, 10), (10, 11)):
        part = NATIVE(*(a[start:stop] for a in args))
        assert_equal(part, [r[start:stop] for r in whole])


LEADS = st.sampled_from([(), (1,), (3,), (2, 3), (2, 1), (1, 3), (4, 2, 3), (4, 1, 1)])


@given(leads=st.lists(LEADS, min_size=4, max_size=4), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_each_operand_broadcasts_on_its_own(leads, seed):
    rng = np.random.default_rng(seed)
    args = [rng.uniform(-2, 2, (*lead, *shape)) for lead, shape in zip(leads, SHAPES, strict=True)]
    assert_right(args, NATIVE(*args))
    assert_right(args, NATIVE(*args, threads=2))


@pytest.mark.parametrize("fixed", range(4))
def test_an_operand_of_stride_zero_is_read_once_for_all_rows(fixed):
    args = arrays(9)
    args[fixed] = np.broadcast_to(args[fixed][0], args[fixed].shape)
    assert 0 in args[fixed].strides
    assert_right(args, NATIVE(*args))


def test_an_operand_may_be_constant_along_its_own_dimensions_too():
    args = arrays(9)
    args[2] = np.broadcast_to(args[2][:, :1], (9, 5))
    args[3] = np.broadcast_to(np.float64(0.5), (9, 2, 3))
    assert_right(args, NATIVE(*args))


# -- strides -----------------------------------------------------------------------------------------------------------


@st.composite
def strided(draw, array):
    """The same values behind other strides."""
    order = draw(st.permutations(range(array.ndim)))
    moved = np.array(array.transpose(order), order="C").transpose(np.argsort(order))
    steps = [draw(st.sampled_from([1, 2, -1, -3])) for _ in array.shape]
    room = np.zeros([n * abs(s) for n, s in zip(array.shape, steps, strict=True)])
    view = room[(*(slice(None, None, s) for s in steps), ...)]
    assert view.shape == array.shape
    view[...] = array
    return view if draw(st.booleans()) else moved


@given(data=st.data(), batch=st.sampled_from([(), (1,), (6,), (2, 5)]))
@settings(max_examples=60)
def test_any_strides_give_the_same_bits(data, batch):
    plain = arrays(*batch)
    others = [data.draw(strided(a)) for a in plain]
    for a, b in zip(plain, others, strict=True):
        np.testing.assert_array_equal(a, b)
    assert_equal(NATIVE(*others), NATIVE(*plain))


@pytest.mark.parametrize("batch", [(), (7,), (2, 3)])
def test_fortran_order_reversed_axes_and_slices_are_read_in_place(batch):
    plain = arrays(*batch)
    expected = NATIVE(*plain)
    assert_equal(NATIVE(*(np.array(a, order="F") for a in plain)), expected)
    assert_equal(NATIVE(*(np.flip(np.flip(a).copy()) for a in plain)), expected)
    assert_equal(NATIVE(*(np.repeat(a, 2, axis=-1)[..., ::2] if a.ndim else a for a in plain)), expected)


def test_arrays_that_are_not_aligned_or_of_the_other_byte_order_are_read_right():
    plain = arrays(6)
    expected = NATIVE(*plain)

    def shifted(array):
        raw = np.zeros(array.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(array.shape)
        raw[...] = array
        assert not raw.flags.aligned
        return raw

    assert_equal(NATIVE(*(shifted(a) for a in plain)), expected)
    assert_equal(NATIVE(*(a.astype(a.dtype.newbyteorder()) for a in plain)), expected)


# -- types -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint64, np.bool_, np.float32, np.float16])
def test_other_real_types_are_converted(dtype):
    rng = np.random.default_rng(3)
    args = [rng.integers(0, 2, (5, *shape)).astype(dtype) for shape in SHAPES]
    expected = NATIVE(*(a.astype(float) for a in args))
    assert_equal(NATIVE(*args), expected)
    assert_equal(NATIVE(*args, threads=2), expected)
    assert_equal(NATIVE.bind(args[0])(*args[1:]), expected)


def test_lists_and_plain_numbers_are_arrays_too():
    p, t, q, m = arrays()
    expected = NATIVE(p, t, q, m)
    assert_equal(NATIVE(p.tolist(), float(t), q.tolist(), tuple(map(tuple, m.tolist()))), expected)
    assert_equal(NATIVE([p.tolist()] * 3, 0, q, m), NATIVE(np.stack([p] * 3), 0.0, q, m))
    assert_equal(NATIVE(p, np.float32(0.25), q, m), NATIVE(p, 0.25, q, m))


def test_arguments_may_be_named():
    p, t, q, m = arrays(3)
    expected = NATIVE(p, t, q, m)
    assert_equal(NATIVE(m=m, q=q, t=t, p=p), expected)
    assert_equal(NATIVE(p, t, m=m, q=q), expected)


def test_several_results_have_names_and_one_result_is_an_array():
    results = NATIVE(*arrays(2))
    assert results._fields == ("y", "z", "s")
    assert results.y is results[0]
    g = Graph()
    x = g.block("x", ())
    native = compile(Function("square", [x], {"y": x[0] * x[0]}))
    assert isinstance(native(3.0), float)
    assert isinstance(native([3.0, 4.0]), np.ndarray)


# -- out ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("batch", [(), (9,), (2, 5)])
def test_results_go_into_out(batch, threads):
    args = arrays(*batch)
    out = tuple(np.full((*batch, *shape), np.nan) for shape in OUTS)
    results = NATIVE(*args, out=out, threads=threads)
    assert all(r is o for r, o in zip(results, out, strict=True))
    assert_equal(out, NATIVE(*args))


@pytest.mark.parametrize("threads", [1, 3])
def test_out_may_have_any_strides_and_what_lies_between_is_left_alone(threads):
    args = arrays(9)
    room = [np.full((18, *(2 * n for n in shape)), 77.0) for shape in OUTS]
    view = tuple(r[tuple(slice(None, None, 2) for _ in r.shape)][::-1] for r in room)
    NATIVE(*args, out=view, threads=threads)
    assert_equal(view, NATIVE(*args))
    for r, shape in zip(room, OUTS, strict=True):
        assert (r == 77.0).sum() == r.size - 9 * int(np.prod(shape))


@pytest.mark.parametrize("threads", [1, 2])
def test_out_in_fortran_order(threads):
    args = arrays(9)
    out = tuple(np.asfortranarray(np.empty((9, *shape))) for shape in OUTS)
    assert_equal(NATIVE(*args, out=out, threads=threads), NATIVE(*args))


@pytest.mark.parametrize("threads", [1, 2])
def test_some_of_several_results_may_be_left_to_us(threads):
    args = arrays(9)
    y = np.empty((9, 5))
    results = NATIVE(*args, out=(y, None, None), threads=threads)
    assert results.y is y
    assert_equal(results, NATIVE(*args))


def shift():
    g = Graph()
    q = g.block("q", 2)
    return Function("shift", [q], {"y": [q[1] + 1.0, 3.0 * q[0]]})


@pytest.mark.parametrize(("lanes", "threads"), [(1, 1), (1, 3), (WIDTH, 1), (WIDTH, 2)])
@pytest.mark.parametrize(
    "views",
    [
        lambda a: (a, a),
        lambda a: (a[::-1], a),
        lambda a: (a[1:], a[:-1]),
        lambda a: (a[:-1], a[1:]),
        lambda a: (a[:, ::-1], a),
        lambda a: (a[: len(a) // 2], a[len(a) // 4 : len(a) // 4 + len(a) // 2]),
    ],
    ids=["same", "reversed", "ahead", "behind", "crossed", "half"],
)
def test_out_may_lie_over_the_arguments(views, lanes, threads):
    data = np.random.default_rng(0).uniform(-1, 1, (5001, 2))
    q, _ = views(data.copy())
    expected = evaluate(shift(), q.copy())[0]
    room = data.copy()
    q, out = views(room)
    native = compile(shift(), lanes=lanes)
    native(q, out=out, threads=threads)
    np.testing.assert_array_equal(out, expected)
    row = data[0].copy()
    native(row, out=row)
    np.testing.assert_array_equal(row, evaluate(shift(), data[0])[0])


# -- threads -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [2, 3, 16])
@pytest.mark.parametrize("batch", [(1,), (2,), (1000,), (3, 50), (1, 100), (0,), (5, 0)])
def test_threads_change_not_a_bit(batch, threads):
    args = arrays(*batch)
    assert_equal(NATIVE(*args, threads=threads), NATIVE(*args))
    bound = NATIVE.bind(args[0][:1] if batch[0] else args[0])
    assert_equal(bound(*args[1:], threads=threads), bound(*args[1:]))


def test_threads_change_nothing_for_one_state_either():
    args = arrays()
    assert_equal(NATIVE(*args, threads=4), NATIVE(*args))
