"""Names that are words of C, Python, MATLAB or of the written files themselves."""

import shutil
import subprocess
import sys

import pytest

from support.c_programs import built, ran
from torseur.describe import Effort, Mechanism
from torseur.export import c_files, exported_functions, matlab_files, python_files
from torseur.model import build

QUANTITIES = ["inverse_dynamics", "forward_dynamics"]


@pytest.fixture(scope="module")
def model():
    joint = {"kind": "revolute", "coordinate": "while"}
    other = {"kind": "revolute", "coordinate": "class"}
    numbers = dict(zip(("lambda", "end", "NX", "s", "I", "work"), (1.0, 2.0, 1.0, 0.5, 2.0, 1.0), strict=True))
    return build(
        Mechanism(
            name="names",
            parameters={name: {"value": value} for name, value in numbers.items()},
            inputs={"double": {}, "import": {}},
            bodies={
                "for": {"joint": joint, "inertia": {"M": "lambda", "ZZ": "end*I"}},
                "return": {
                    "parent": "for",
                    "place": {"mdh": {"d": "s"}},
                    "joint": other,
                    "inertia": {"M": "NX", "ZZ": "work"},
                },
            },
            loads={
                "a": Effort(coordinate="while", value="double"),
                "b": Effort(coordinate="class", value="import"),
            },
        )
    )


def put(folder, files):
    for name, data in files.items():
        (folder / name).write_bytes(data)


@pytest.mark.slow
def test_words_of_c_and_python_can_be_names(model, tmp_path):
    functions = exported_functions(model, QUANTITIES)
    put(tmp_path, c_files(model, functions))
    assert ran(built(tmp_path)).count("ok, error") == 2
    put(tmp_path, python_files(model, functions))
    subprocess.run([sys.executable, "selftest.py"], cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.slow
def test_words_of_matlab_can_be_names_and_its_self_test_can_fail(model, tmp_path):
    octave = shutil.which("octave-cli") or shutil.which("octave")
    if octave is None:
        pytest.skip("no Octave")
    files = matlab_files(model, exported_functions(model, QUANTITIES))
    for wrong in (False, True):
        if wrong:
            files["selftest.m"] = files["selftest.m"].replace(
                b"names_inverse_dynamics(", b"1 + names_inverse_dynamics("
            )
        put(tmp_path, files)
        done = subprocess.run([octave, "--quiet", "selftest.m"], cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode != 0) is wrong, done.stderr
