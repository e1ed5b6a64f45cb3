"""The C and the Python of mechanisms with loops give what the model gives; C under strict warnings, with libm only."""

from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from support.emitted_code import CFunction, run_python
from support.example_files import without_tyres
from support.sweeps import mostly_slow
from torseur.graph import Role
from torseur.model.rows import start_of

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def arguments(model, function, states):
    """What every block of a function is filled with: states by name, then what the model knows."""
    inputs = [x.default for x in model.mechanism.inputs.values()]
    known = {Role.TIME: lambda _: 0.0, Role.INPUT: lambda _: inputs}
    known[Role.PARAMETER] = lambda block: model.ranks() if block.name == "rank" else model.parameter_values
    return [states[b.name] if b.name in states else known[b.role](b) for b in function.inputs]


@pytest.mark.parametrize("name", mostly_slow(["four_bar", "smera"], quick=("four_bar",)))
def test_forward_dynamics_in_c_and_python_is_that_of_the_model(name, tmp_path):
    model = ts.build(without_tyres(ts.load(EXAMPLES / name / f"{name}.yaml")))
    rng = np.random.default_rng(7)
    states = {"q": np.tile(start_of(model), (4, 1)), "v": 0.3 * rng.normal(size=(4, model.nv))}
    states["tau"] = rng.normal(size=(4, model.nv))
    forward = model.function("forward_dynamics")
    code = CFunction(forward.function, tmp_path)
    assert [line for line in code.source.splitlines() if line.startswith("#include")] == ["#include <math.h>"]
    args = arguments(model, code.function, states)
    expected = model.forward_dynamics(**states)
    assert np.isfinite(expected).all()
    for got in (code(*args)[0], run_python(code.function, *args)[0]):
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
