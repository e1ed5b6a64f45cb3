"""Starting is light: the heavy packages are imported when they are used, not before."""

import re
import subprocess
import sys

import pytest

HEAVY = {
    "casadi",
    "h5netcdf",
    "hypothesis",
    "llvmlite",
    "matplotlib",
    "mujoco",
    "numpy",
    "pandas",
    "pinocchio",
    "pyarrow",
    "pydantic",
    "rich",
    "scipy",
    "sympy",
    "viser",
    "xarray",
    "yaml",
}


def imported_by(*arguments: str) -> set[str]:
    """The modules a fresh interpreter imports when it is called with `arguments`."""
    done = subprocess.run([sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True)
    return set(re.findall(r"^import time:[^|]*\|[^|]*\|\s*(\S+)$", done.stderr, flags=re.MULTILINE))


def packages(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_import_torseur_imports_no_other_package():
    modules = imported_by("-c", "import torseur")
    assert "torseur" in modules
    assert not packages(modules) & (HEAVY | {"click"})


def test_import_torseur_imports_none_of_its_layers():
    assert not [name for name in imported_by("-c", "import torseur") if name.startswith("torseur.")]


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_command_line_starts_with_click_alone(option):
    modules = imported_by("-m", "torseur", option)
    assert "click" in modules
    assert not packages(modules) & HEAVY
    assert not {"torseur.graph", "torseur.emit", "torseur.cli.starting", "torseur.cli.model_files"} & modules


MODEL = """torseur: 1
name: cart
bodies: {cart: {joint: {kind: prismatic, coordinate: x}, inertia: {mass: 1}}}
"""


def test_a_study_is_run_and_saved_without_packages_of_tables_and_figures(tmp_path):
    (tmp_path / "cart.yaml").write_text(MODEL)
    told = "--until", "0.1", "--no-figures", "--no-playback", "-o", str(tmp_path / "results")
    modules = imported_by("-m", "torseur", "simulate", str(tmp_path / "cart.yaml"), *told)
    assert (tmp_path / "results" / "run.nc").exists()
    assert not packages(modules) & (HEAVY - {"h5netcdf", "llvmlite", "numpy", "pydantic", "rich", "yaml"})


def test_the_probe_sees_an_import():
    assert "numpy" in imported_by("-c", "import numpy")
