"""Emitted C, emitted Python and native code are three readings of one function."""

import numpy as np
import pytest

from support.emitted_code import CFunction, run_python
from support.planar_arm import planar_inertia
from support.random_functions import showcase
from support.rounding import assert_close, evaluate_with_bounds
from torseur.emit import compile


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("build", [showcase, planar_inertia])
def test_c_python_and_native_code_agree(build, tmp_path):
    function = build()
    rng = np.random.default_rng(10)
    args = [rng.uniform(-1, 1, (9, *b.shape)) for b in function.inputs]
    native = as_tuple(compile(function)(*args))
    _, bounds = evaluate_with_bounds(function, *args)
    for other in (CFunction(function, tmp_path)(*args), run_python(function, *args)):
        for a, b, bound in zip(other, native, bounds, strict=True):
            assert_close(a, b, bound, factor=4.0)
