"""What a first hour needs: starter files that run, examples by name, completion of commands."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import torseur as ts
from support.example_files import FILES, STUDIES
from torseur.cli import main
from torseur.cli.starting import SHELLS, STARTERS

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", STARTERS)
def test_a_starter_file_has_no_faults(kind, capsys):
    assert main(["new", kind, "mine.yaml"]) == 0
    assert main(["check", "mine.yaml", "--strict"]) == 0
    assert capsys.readouterr().out.endswith("no faults found\n")
    assert "torseur simulate mine.yaml" in Path("mine.yaml").read_text()


@pytest.mark.parametrize("kind", ["pendulum", "arm", "linkage"])
def test_a_starter_study_runs_and_its_audit_holds(kind):
    assert main(["new", kind, "mine.yaml"]) == 0
    assert main(["simulate", "mine.yaml", "--until", "0.2", "--no-figures", "--no-playback"]) == 0


def test_a_starter_file_does_not_overwrite_unless_forced(capsys):
    Path("mine.yaml").write_text("precious")
    assert main(["new", "arm", "mine.yaml"]) == 1
    assert "give --force" in capsys.readouterr().err
    assert Path("mine.yaml").read_text() == "precious"
    assert main(["new", "arm", "mine.yaml", "--force"]) == 0
    assert main(["new", "arm", "mine.txt"]) == 1


def test_every_example_file_has_a_name():
    assert {ts.examples.path(name) for name in ts.examples.names()} == {*FILES.values(), *STUDIES.values()}
    assert not [name for name in ts.examples.names() if name.endswith("/parameters")]


def test_examples_are_listed_with_their_titles(capsys):
    assert main(["examples"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(ts.examples.names())
    assert any("Two point masses hanging one from the other" in line for line in lines)


def test_an_example_is_checked_and_simulated_by_its_name(here, capsys):
    assert main(["check", "four_bar"]) == 0
    assert "1 degree of freedom" in capsys.readouterr().out
    arguments = ["simulate", "double_pendulum/swing", "--until", "0.1", "--no-figures", "--no-playback"]
    assert main(arguments) == 0
    assert (here / "swing_results" / "run.nc").exists()


def test_a_file_of_the_user_wins_over_an_example(here, capsys):
    (here / "four_bar").mkdir()
    assert main(["check", "four_bar"]) == 1
    assert "four_bar" in capsys.readouterr().err


def test_a_name_that_is_neither_says_the_near_one(capsys):
    assert main(["check", "four_bat"]) == 1
    told = capsys.readouterr().err
    assert "there is no example 'four_bat', nor a file of that name" in told
    assert "did you mean 'four_bar'?" in told


def test_the_model_of_a_study_is_checked_and_its_equations_printed(capsys):
    assert main(["check", "planar_2r/pd_control"]) == 0
    assert main(["equations", "planar_2r/pd_control", "--count"]) == 0
    assert "planar_2r" in capsys.readouterr().out


def test_a_fault_in_the_model_of_a_study_is_told_at_its_line(capsys):
    assert main(["new", "pendulum", "mine.yaml"]) == 0
    text = Path("mine.yaml").read_text()
    Path("mine.yaml").write_text(text.replace("tensor: [0, m*l^2/12", "tensor: [m*l^2, m*l^2/12"))
    line = next(k for k, row in enumerate(text.splitlines(), 1) if "tensor:" in row)
    assert main(["check", "mine.yaml", "--strict"]) == 1
    assert f"warning: mine.yaml:{line}:" in capsys.readouterr().out


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_of_completion_is_printed(shell, capsys):
    assert main(["completion", shell]) == 0
    assert "_TORSEUR_COMPLETE" in capsys.readouterr().out


def test_commands_are_completed():
    asked = {"_TORSEUR_COMPLETE": "bash_complete", "COMP_WORDS": "torseur sim", "COMP_CWORD": "1"}
    call = [sys.executable, "-c", "from torseur.cli import main; main()"]
    done = subprocess.run(call, env={**os.environ, **asked}, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "plain,simulate"


@pytest.mark.slow
def test_an_installed_wheel_simulates_an_example_by_its_name(tmp_path):
    """In an environment of its own, with the packages of this one but another torseur."""
    wheels, place = tmp_path / "wheels", tmp_path / "place"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "-q", "--no-deps", "-w", str(wheels), str(ROOT)], check=True)
    [wheel] = wheels.glob("torseur-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert "torseur/example_files/rx90/motion.yaml" in archive.namelist()
        assert "torseur/cli/starters/car.yaml" in archive.namelist()
    subprocess.run([*pip, "install", "-q", "--no-deps", "--target", str(place), str(wheel)], check=True)
    command = "import torseur, sys; assert torseur.__file__.startswith(sys.argv.pop(1)), torseur.__file__;"
    command += "from torseur.cli import main; sys.exit(main())"
    arguments = [str(place), "simulate", "rx90/motion", "--until", "0.05", "--no-figures", "--no-playback"]
    env = {**os.environ, "PYTHONPATH": str(place)}
    done = subprocess.run([sys.executable, "-c", command, *arguments], cwd=tmp_path, env=env, check=False)
    assert done.returncode == 0
    assert (tmp_path / "motion_results" / "run.nc").exists()


def test_what_libraries_are_told_is_the_users_choice_first(monkeypatch, capsys):
    monkeypatch.delenv("PYDANTIC_DISABLE_PLUGINS", raising=False)
    monkeypatch.setenv("OPENBLAS_THREAD_TIMEOUT", "26")
    assert main(["--version"]) == 0
    assert os.environ["OPENBLAS_THREAD_TIMEOUT"] == "26"
    assert os.environ["PYDANTIC_DISABLE_PLUGINS"] == "__all__"
