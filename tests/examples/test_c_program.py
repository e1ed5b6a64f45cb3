"""The example in C: built from what is exported, it moves as the same law does in a study."""

import shutil

import numpy as np
import pytest

import torseur as ts
from support.c_programs import built, ran
from support.example_files import EXAMPLES
from torseur.export import c_files, exported_functions


@pytest.mark.slow
def test_the_program_in_c_moves_as_the_study_does(tmp_path):
    arm = ts.examples.load("planar_2r")
    model = ts.build(arm)
    files = c_files(model, exported_functions(model, ["inverse_dynamics", "forward_dynamics"]))
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    shutil.copy(EXAMPLES / "c_program" / "main.c", tmp_path)
    program = built(
        tmp_path, "main.c", *(name for name in files if name.startswith("planar_2r_") and name.endswith(".c"))
    )
    printed = ran(program)
    found = np.array([[float(x) for x in line.split()] for line in printed.splitlines()])

    def law(t, q1, q2, v1, v2):
        q, v = np.array([q1, q2]), np.array([v1, v2])
        return model.inverse_dynamics(q, v, 100.0 * (np.array([1.0, -0.5]) - q) - 20.0 * v).tolist()

    block = {
        "function": law,
        "inputs": ["theta1", "theta2", "dtheta1", "dtheta2"],
        "outputs": ["a", "b"],
        "period": 0.002,
    }
    run = ts.simulate(
        arm, until=2.0, every=0.1, start={"theta1": 0.0, "theta2": 0.3}, solver={"method": "rk4", "step": 1e-3},
        blocks={"law": {"python": block}}, inputs={"Gamma1": "law_a", "Gamma2": "law_b"},
    )  # fmt: skip
    assert found[:, 0] == pytest.approx(run.time)
    assert np.abs(found[:, 1:3] - run.q).max() < 1e-12
    assert np.abs(found[-1, 1:3] - [1.0, -0.5]).max() < 1e-6
