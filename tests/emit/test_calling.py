"""Loops around compiled functions, and lanes that compute what single states do."""

import sys

import numpy as np
import pytest

from torseur.emit import compile
from torseur.emit.calling import Call, NativeLoop, Rows
from torseur.errors import CompileError
from torseur.graph import Function, Graph, atan2, exp, log, tanh
from torseur.graph.routine import In, Out

DRAWN = np.random.default_rng(5).uniform(0.1, 3.0, (64, 1))


def elementary() -> Function:
    g = Graph()
    x = g.block("x", 1)
    return Function("f", [x], {"y": [exp(x[0]), log(x[0]), tanh(x[0]), atan2(x[0], 2.0), x[0] ** 0.3]})


def test_exact_lanes_have_the_bits_of_single_states_and_others_need_not():
    single = compile(elementary(), lanes=1)(DRAWN)
    assert compile(elementary(), lanes=8, exact=True)(DRAWN).tobytes() == single.tobytes()
    assert compile(elementary(), lanes=8)(DRAWN).tobytes() != single.tobytes()


def summed(n: int, x: In, y: Out) -> None:
    for k in range(n):
        y[0] += x[k] * x[k]


def test_a_loop_rounds_as_python_does():
    """A product that is fused with the sum would be another number."""
    x, native, steered = DRAWN[:, 0].copy(), np.zeros(1), np.zeros(1)
    NativeLoop(summed).prepared(64, x, native)()
    NativeLoop(summed).prepared(64, x, steered, native=False)()
    assert native.tobytes() == steered.tobytes()


STRIDE = 2
"""A number of this module, which is a constant of the loop below."""


def counted(n: int, y: Out) -> None:
    for _k in range(n):
        _add(y)


def _add(y: Out) -> None:
    y[0] += STRIDE


def test_code_on_disk_is_that_of_the_loop_its_helpers_and_its_numbers(monkeypatch):
    """Its text is not read to find it again, so what decides it must be known without."""

    def counts() -> float:
        y = np.zeros(1)
        NativeLoop(counted).prepared(5, y)()
        return float(y[0])

    assert counts() == 10.0
    with monkeypatch.context() as changed:
        changed.setattr(sys.modules[__name__], "STRIDE", 3)
        assert counts() == 15.0
    with monkeypatch.context() as changed:
        changed.setattr(_changes, "__name__", "_add")
        changed.setattr(sys.modules[__name__], "_add", _changes)
        assert counts() == 1.0
    assert counts() == 10.0


def few(x: In, f: Call) -> None:
    f(0)


def other(x: In, f: Call) -> None:
    _changes(x)
    f(0, 1)


def _changes(y: Out) -> None:
    y[0] = 1.0


@pytest.mark.parametrize(("body", "said"), [(few, "1 arguments instead of 2"), (other, "another kind is handed on")])
def test_calls_that_do_not_fit_are_refused(body, said):
    found = np.zeros((1, 5))
    call = Call(compile(elementary(), lanes=1), [Rows(DRAWN)], Rows(found))
    with pytest.raises(CompileError, match=said):
        NativeLoop(body).prepared(DRAWN, call)
