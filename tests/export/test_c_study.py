"""A study in C makes the run that the native one makes; what cannot be exported is named."""

from pathlib import Path

import numpy as np
import pytest

from support.c_programs import HOSTILE, built, ran
from support.exported_studies import STICK, ball, pendulum, rk4, slider_crank
from torseur import load
from torseur.cli import main
from torseur.errors import ModelError
from torseur.export import StudyParts, study_files
from torseur.simulation.run.simulate import study_of
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.study.reader import read_study
from torseur.simulation.study.study import Study

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def written(folder, study, place=None):
    """The columns that the program of a study writes."""
    parts = StudyParts(study, place, "study", stepped=True)
    folder.mkdir()
    for name, data in study_files(parts).items():
        (folder / name).write_bytes(data)
    ran(built(folder, also=("-O1",)))
    head, *rows = (folder / "study.res").read_text().splitlines()
    table = np.array([[float(x) for x in row.split()] for row in rows])
    return dict(zip(head.lstrip("# ").split(), table.T, strict=True))


def reproduced(folder, study, tolerance, place=None):
    """Coordinates and speeds of both runs differ by no more than a share of their size."""
    columns = written(folder, study, place)
    run = Simulation(study, place, audit=False).run()
    assert len(run.time) == len(columns["time"])
    for values, variables in ((run.q, run.mechanism.q), (run.v, run.mechanism.v)):
        for k, x in enumerate(variables):
            size = max(1e-3, np.abs(values[:, k]).max())
            assert np.abs(columns[x.name] - values[:, k]).max() <= tolerance * size, x.name
    return columns, run


def test_a_bouncing_ball_comes_to_rest_as_in_the_native_run(tmp_path):
    study = Study(model=ball(), until=3.0, every=0.01, solver=rk4())
    columns, run = reproduced(tmp_path / "c", study, 1e-10)
    assert columns["z"][-1] == pytest.approx(0.0, abs=1e-12)
    assert len(run.events) > 10


@pytest.mark.slow
def test_hard_stops_and_a_sampled_controller(tmp_path):
    value = {"value": "-3*th - 0.5*dth + 4*sin(5*t)", "period": 0.013}
    study = Study(
        model=pendulum(),
        inputs={"tau": {"sampled": value}},
        stops={"model": "hard", "restitution": 0.5},
        until=4.0,
        solver=rk4(),
    )
    reproduced(tmp_path / "c", study, 1e-10)


@pytest.mark.slow
def test_a_stick_falls_on_its_ends_with_friction_in_its_impacts(tmp_path):
    file = tmp_path / "stick.yaml"
    file.write_text(STICK, encoding="utf-8")
    stick = load(file)
    study = Study(model=stick, start={"dx": 0.5, "da": 1.0}, until=1.0, solver=rk4())
    reproduced(tmp_path / "c", study, 1e-6)


@pytest.mark.slow
def test_friction_of_a_piston_turns_over_in_its_dead_centres(tmp_path):
    study = Study(model=slider_crank(), start={"a": 0.3, "da": 25.0}, until=1.0, every=0.01, solver=rk4(5e-4))
    _, run = reproduced(tmp_path / "c", study, 1e-6)
    assert len(run.events) == 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "changes", "tolerance"),
    [
        ("rx90/stick_slip.yaml", {"solver": rk4(), "until": 2.0}, 1e-6),
        ("tractor_trailer/steering_control.yaml", {"solver": rk4(0.01)}, 1e-9),
        ("welding_arm/weak_motors.yaml", {"solver": rk4(), "until": 1.0}, 1e-5),
        ("welding_arm/falling.yaml", {"solver": {"method": "newmark", "step": 2e-3}, "until": 1.0}, 1e-7),
        ("vehicle_16dof/vehicle_16dof.yaml", {"solver": rk4(), "until": 0.3}, 1e-9),
        ("smera/smera.yaml", {"solver": rk4(), "until": 0.2}, 1e-7),
    ],
)
def test_examples_are_reproduced(file, changes, tolerance, tmp_path):
    read = read_study(EXAMPLES / file)
    columns, _ = reproduced(tmp_path / "c", study_of(read.study, **changes), tolerance, read.folder)
    assert all(np.isfinite(values).all() for values in columns.values())


def test_two_exports_are_the_same_to_the_last_byte():
    study = Study(model=ball(), until=1.0, solver=rk4())
    one, two = (study_files(StudyParts(study, name="ball", stepped=True)) for _ in range(2))
    assert one == two


def test_hostile_words_come_out_harmless(tmp_path):
    study = Study(model=pendulum(title=HOSTILE), name=HOSTILE[:100], title=HOSTILE, until=0.01, solver=rk4())
    written(tmp_path / "c", study)


def test_the_files_of_an_animation_have_a_node_for_every_corner(tmp_path):
    written(tmp_path / "c", Study(model=pendulum(), until=0.02, every=0.01, solver=rk4(0.01)))
    lines = (tmp_path / "c" / "study.vol").read_text().splitlines()
    nodes = int(lines[1])
    edges = int(lines[2 + nodes])
    assert lines[0] == "scene"
    assert len(lines) == 4 + nodes + edges + int(lines[3 + nodes + edges])
    assert len((tmp_path / "c" / "study.van").read_text().splitlines()) == 3 * nodes


def test_what_cannot_leave_is_named():
    study = Study(
        model=pendulum(),
        inputs={"tau": {"python": {"function": lambda t: 0.0, "period": 0.1}}},
        until=1.0,
    )
    with pytest.raises(ModelError) as caught:
        StudyParts(study, stepped=True)
    text = caught.value.text()
    assert "written in Python" in text
    assert "tau" in text
    assert "--solver rk4 --step" in text


def test_blocks_that_are_answered_outside_are_named_with_what_to_do():
    law = {"external": {"inputs": ("th",), "period": 0.1}}
    study = Study(model=pendulum(), inputs={"tau": law}, blocks={"other": law}, until=1.0, solver=rk4())
    with pytest.raises(ModelError) as caught:
        StudyParts(study, stepped=True)
    text = caught.value.text()
    assert text.count("answered from outside") == 2
    assert "inputs.tau.external" in text
    assert "blocks.other.external" in text
    assert "leave it out" in text
    assert "--connect" not in text


def test_the_command_names_what_is_missing(tmp_path, capsys):
    file = str(EXAMPLES / "planar_2r" / "pd_control.yaml")
    assert main(["export", "c", file, "-o", str(tmp_path / "c")]) == 1
    assert "dopri5 is a variable-step method" in capsys.readouterr().err
    assert main(["export", "c", file, "-o", str(tmp_path / "c"), "--solver", "rk4", "--step", "0.01"]) == 0
    assert (tmp_path / "c" / "main.c").exists()
