"""Every way to call a model is one function: odd arrays, names, batches, `out`, threads, and the quick form."""

import gc
import sys

import numpy as np
import pytest

from support.evaluated import assert_same
from support.two_joint_arm import ARM, expected
from support.two_joint_arm import STATE as S
from torseur.emit import direct
from torseur.errors import ArgumentError, TorseurError
from torseur.model import build
from torseur.model.model import ModelFunction

MODEL = build(ARM)


class Subclass(np.ndarray):
    pass


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


ODD = {
    "a list": lambda x: x.tolist(),
    "a tuple": lambda x: tuple(x.tolist()),
    "every other number": lambda x: np.repeat(x, 2)[::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "a subclass": lambda x: x.view(Subclass),
    "read only": read_only,
    "big-endian": lambda x: x.astype(">f8"),
    "a column of a matrix": lambda x: np.stack([x, x], 1)[:, 0],
    "not aligned": lambda x: np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float64),
}


@pytest.mark.parametrize("form", ODD)
@pytest.mark.parametrize("place", range(3))
def test_odd_arrays_are_taken_as_what_they_hold(form, place):
    args = [S.q, S.v, S.vdot]
    plain = MODEL.inverse_dynamics(*args)
    args[place] = ODD[form](args[place])
    for _ in range(2):
        assert_same(MODEL.inverse_dynamics(*args), plain, tolerance=0.0)


def test_floats_of_less_precision_and_integers_are_converted():
    small = S.q.astype(np.float32)
    assert_same(MODEL.inverse_dynamics(small, S.v, S.vdot), expected(q=small.astype(float)), tolerance=1e-14)
    assert_same(
        MODEL.inverse_dynamics(np.array([1, 2]), S.v, S.vdot), expected(q=np.array([1.0, 2.0])), tolerance=1e-14
    )


def test_arguments_may_be_named():
    assert_same(MODEL.inverse_dynamics(S.q, vdot=S.vdot, v=S.v), expected(), tolerance=1e-14)
    with pytest.raises(ArgumentError, match="no argument 'qq'"):
        MODEL.inverse_dynamics(S.q, S.v, S.vdot, qq=1.0)


def test_batches_of_any_shape_broadcast():
    q, v = np.stack([S.q, 2 * S.q, -S.q]), np.stack([S.v, -S.v])[:, None]
    grid = MODEL.inverse_dynamics(q, v, S.vdot)
    assert grid.shape == (2, 3, 2)
    assert_same(grid[1, 2], expected(q=-S.q, v=-S.v))
    assert MODEL.inverse_dynamics(np.zeros((0, 2)), S.v, S.vdot).shape == (0, 2)
    assert MODEL.kinetic_energy(q, S.v).shape == (3,)


@pytest.mark.parametrize("batch", [(), (7,), (3, 4)])
def test_results_are_written_where_asked(batch):
    q = np.broadcast_to(S.q, (*batch, 2)).copy()
    out = np.full((*batch, 2), np.nan)
    assert MODEL.inverse_dynamics(q, S.v, S.vdot, out=out) is out
    assert_same(out, np.broadcast_to(expected(), out.shape))
    with pytest.raises(ArgumentError, match="out"):
        MODEL.inverse_dynamics(q, S.v, S.vdot, out=np.zeros((*batch, 3)))


def test_threads_share_a_batch():
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 5000, 2))
    assert np.array_equal(MODEL.inverse_dynamics(q, v, a, threads=3), MODEL.inverse_dynamics(q, v, a))
    with pytest.raises(TorseurError):
        MODEL.inverse_dynamics(q, v, a, threads=0)


def test_the_quick_form_takes_over_after_the_first_call_and_is_the_same_function():
    model = build(ARM)
    first = model.inverse_dynamics
    assert isinstance(first, ModelFunction)
    before = first(S.q, S.v, S.vdot)
    if direct.is_possible():
        assert not isinstance(model.inverse_dynamics, ModelFunction)
        assert "inverse_dynamics" in repr(model.inverse_dynamics)
    assert np.array_equal(model.inverse_dynamics(S.q, S.v, S.vdot), before)
    assert np.array_equal(first(S.q, S.v, S.vdot), before)
    assert isinstance(model.function("inverse_dynamics"), ModelFunction)


@pytest.mark.slow
def test_calls_leave_no_references_behind():
    for call, args in ((MODEL.inverse_dynamics, (S.q, S.v, S.vdot)), (MODEL.mass_matrix, (S.q,))):
        call(*args)
        result = call(*args)
        fresh = np.zeros(1)
        assert sys.getrefcount(result) == sys.getrefcount(fresh)
        counts = [sys.getrefcount(a) for a in args]
        for _ in range(1000):
            call(*args)
        assert [sys.getrefcount(a) for a in args] == counts
        for _ in range(100):
            with pytest.raises(ArgumentError):
                call(*args, np.zeros(1))
    gc.collect()
    blocks = sys.getallocatedblocks()
    for _ in range(2000):
        MODEL.inverse_dynamics(S.q, S.v, S.vdot)
        MODEL.mass_matrix(S.q)
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 500


def test_results_of_single_calls_are_arrays_of_their_own():
    one = MODEL.inverse_dynamics(S.q, S.v, S.vdot)
    kept = one.copy()
    MODEL.inverse_dynamics(2 * S.q, S.v, S.vdot)
    assert np.array_equal(one, kept)
