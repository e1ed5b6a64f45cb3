"""Functions of a model in other languages give what the native ones give, and come out the same every time."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.c_programs import HOSTILE, built, ran
from support.exported_studies import ball, pendulum
from torseur import load
from torseur.cli import main
from torseur.describe import Mechanism
from torseur.errors import ArgumentError, MissingValue
from torseur.export import c_files, exported_functions, matlab_files, python_files
from torseur.model import build

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example(name):
    return build(load(EXAMPLES / name / f"{name}.yaml"))


def put(folder, files):
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def checked_c(folder, model, *quantities, **options):
    put(folder, c_files(model, exported_functions(model, quantities, **options)))
    printed = ran(built(folder))
    assert printed.count("ok, error") >= len(quantities)
    return folder


def test_functions_of_a_model_are_right_in_c(tmp_path):
    checked_c(tmp_path / "c", example("planar_2r"), "inverse_dynamics", "mass_matrix", "jacobian", frame="tool")


def test_a_self_test_can_fail(tmp_path):
    model = example("planar_2r")
    files = c_files(model, exported_functions(model, ["mass_matrix"]))
    source = files["planar_2r_mass_matrix.c"].decode()
    files["planar_2r_mass_matrix.c"] = source.replace("mass_matrix[3] = ", "mass_matrix[3] = 1e-6 + ").encode()
    folder = put(tmp_path / "c", files)
    done = subprocess.run([built(folder)], capture_output=True, text=True)
    assert done.returncode == 1
    assert "WRONG" in done.stdout


def mechanism(name):
    made = {"ball": ball, "pendulum": pendulum}.get(name)
    return build(made()) if made else example(name)


FUNCTIONS = pytest.mark.parametrize(
    ("name", "quantities"),
    [
        ("rx90", ["inverse_dynamics", "forward_dynamics", "forward_dynamics_derivatives"]),
        ("tractor_trailer", ["forward_dynamics", "multipliers"]),
        ("ball", ["inverse_dynamics", "mass_matrix", "energy"]),
        ("pendulum", ["inverse_dynamics", "forward_dynamics"]),
        ("vehicle_16dof", ["forward_dynamics"]),
        ("smera", ["forward_dynamics"]),
    ],
)


@pytest.mark.slow
@FUNCTIONS
def test_functions_of_robots_and_vehicles_are_right_in_c_and_python(name, quantities, tmp_path):
    model = mechanism(name)
    checked_c(tmp_path / "c", model, *quantities)
    folder = put(tmp_path / "python", python_files(model, exported_functions(model, quantities)))
    subprocess.run([sys.executable, "selftest.py"], cwd=folder, check=True, capture_output=True)


@pytest.mark.slow
@FUNCTIONS
def test_functions_of_robots_and_vehicles_are_right_in_octave(name, quantities, tmp_path):
    octave = shutil.which("octave-cli") or shutil.which("octave")
    if octave is None:
        pytest.skip("no Octave")
    model = mechanism(name)
    folder = put(tmp_path / "matlab", matlab_files(model, exported_functions(model, quantities)))
    done = subprocess.run([octave, "--quiet", "selftest.m"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("error") >= len(quantities)


def test_a_python_file_needs_numpy_alone(tmp_path):
    model = example("planar_2r")
    folder = put(tmp_path / "python", python_files(model, exported_functions(model, ["bias", "kinetic_energy"])))
    code = "import runpy, sys; sys.modules['torseur'] = None; runpy.run_path('selftest.py', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ok") == 2


def test_octave_gives_what_the_native_functions_give(tmp_path):
    octave = shutil.which("octave-cli") or shutil.which("octave")
    if octave is None:
        pytest.skip("no Octave")
    model = example("planar_2r")
    functions = exported_functions(model, ["inverse_dynamics", "mass_matrix", "pose"], frame="tool")
    folder = put(tmp_path / "matlab", matlab_files(model, functions))
    done = subprocess.run([octave, "--quiet", "selftest.m"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("error") == 3


def test_two_exports_are_the_same_to_the_last_byte():
    for files in (c_files, python_files, matlab_files):
        one, two = (
            files(m := example("planar_2r"), exported_functions(m, ["bias", "jacobian"], frame="tool")) for _ in "ab"
        )
        assert one == two


@pytest.mark.slow
def test_two_processes_write_the_same_bytes(tmp_path):
    """Whatever the order of sets and dictionaries of texts is in each."""
    file = EXAMPLES / "rx90" / "stick_slip.yaml"
    whole = ["--solver", "rk4", "--step", "1e-3"]
    commands = {
        "c": ["export", "c", file, *whole],
        "functions": ["export", "c", EXAMPLES / "rx90" / "rx90.yaml", "--functions", "inverse_dynamics"],
        "matlab": ["export", "matlab", EXAMPLES / "rx90" / "rx90.yaml", "--functions", "mass_matrix"],
        "x.fmu": ["export", "fmu", file, "--version", "3", "--sources-only", *whole],
        "report": ["report", EXAMPLES / "planar_2r" / "planar_2r.yaml", "--lang", "fr"],
    }
    for seed in ("1", "2"):
        for name, command in commands.items():
            words = [sys.executable, "-m", "torseur", *map(str, command), "-o", str(tmp_path / seed / name)]
            subprocess.run(words, check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed})
    one, two = (
        {path.relative_to(tmp_path / k): path.read_bytes() for path in (tmp_path / k).rglob("*") if path.is_file()}
        for k in ("1", "2")
    )
    assert len(one) > 20
    assert [path for path in {**one, **two} if one.get(path) != two.get(path)] == []


def hostile():
    rod = {
        "joint": {"kind": "revolute", "coordinate": "double", "meaning": HOSTILE},
        "inertia": {"M": "int", "ZZ": 1.0},
    }
    parameters = {"int": {"value": 2.0, "unit": "kg */", "description": HOSTILE}}
    return Mechanism(name="return_", title=HOSTILE + "\nline", bodies={"rod": rod}, parameters=parameters)


def test_hostile_names_and_words_come_out_harmless(tmp_path):
    model = build(hostile())
    folder = checked_c(tmp_path / "c", model, "inverse_dynamics")
    readme = (folder / "README.md").read_text()
    assert "<b>" not in readme
    assert "`ls`" not in readme
    assert "$(ls)" not in (folder / "CMakeLists.txt").read_text()
    folder = put(tmp_path / "python", python_files(model, exported_functions(model, ["inverse_dynamics"])))
    subprocess.run([sys.executable, "selftest.py"], cwd=folder, check=True, capture_output=True)


def test_what_cannot_be_exported_is_told(tmp_path, capsys):
    model = build(
        Mechanism(name="m", parameters={"l": {}}, bodies={"b": {"joint": "revolute", "inertia": {"ZZ": "l"}}})
    )
    with pytest.raises(MissingValue, match="l"):
        exported_functions(model, ["kinetic_energy"])
    with pytest.raises(ArgumentError, match="twice"):
        exported_functions(model, ["bias", "bias"])
    with pytest.raises(ArgumentError, match="no exported function depends on this option"):
        exported_functions(model, ["bias"], frame="b")
    file = str(EXAMPLES / "planar_2r" / "planar_2r.yaml")
    assert main(["export", "c", file, "--functions", "jacobian", "-o", str(tmp_path / "c")]) == 1
    assert "--frame" in capsys.readouterr().err
    assert main(["export", "c", file, "--functions", "mas_matrix", "-o", str(tmp_path / "c")]) == 1
    assert "did you mean mass_matrix?" in capsys.readouterr().err
    assert not (tmp_path / "c").exists()


def test_the_command_writes_a_folder_that_explains_its_arrays(tmp_path, capsys):
    file = str(EXAMPLES / "planar_2r" / "planar_2r.yaml")
    assert main(["export", "matlab", file, "--functions", "inverse_dynamics", "-o", str(tmp_path / "m")]) == 0
    readme = (tmp_path / "m" / "README.md").read_text()
    assert "| 0 | theta1 | rad | angle of link 1 with the horizontal x, positive upwards |" in readme
    assert "| 1 | force along dtheta2 | N m |" in readme
