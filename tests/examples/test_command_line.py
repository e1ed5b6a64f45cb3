"""Every example goes through the command line as a user runs it: results, audit, figures and playback."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

import torseur as ts
from support.example_files import FILES, STUDIES
from torseur.cli import main
from torseur.simulation.results.channels import Role

QUICK = ("double_pendulum/swing", "rolling_disc/fast")
"""Run in every test; the others by make test-examples. One records formulas of its own."""
FAULTY = "welding_arm_printed"  # as it was printed: a coordinate moves nothing
DRAWN = {
    Path(name).stem
    for path in STUDIES.values()
    for name in re.findall(r"^model: (\S+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
}
"""Models that are run by a study, above."""
SWEPT = pytest.mark.examples
HAS_SCENE = importlib.util.find_spec("viser") is not None
GROUPS = {"coordinates": Role.COORDINATE, "speeds": Role.SPEED}
"""Each has a figure unless it is zero throughout: a car on a level road, on its own, stands still."""


def written_by(file, folder, *options):
    """The summary of a run through the command line, which must have ended well."""
    assert main(["simulate", str(file), "-o", str(folder), *options]) == 0
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def check(summary, folder):
    assert summary["complete"]
    assert summary["audit"]["holds"]
    assert summary["failures"] == []
    assert summary["notes"] == [] or not HAS_SCENE
    run = ts.open_run(folder / "run.nc")
    drawn = {group: any(channel.values.any() for channel in run.of(role)) for group, role in GROUPS.items()}
    assert {group: f"figures/{group}.png" in summary["files"] for group in GROUPS} == drawn
    assert {"run.nc", "study.yaml", "figures/audit.png"} <= set(summary["files"])
    assert ("playback.html" in summary["files"]) == HAS_SCENE
    assert all((folder / name).stat().st_size for name in summary["files"])
    assert len(run) > 1


@pytest.mark.parametrize("study", [s if s in QUICK else pytest.param(s, marks=SWEPT) for s in STUDIES])
def test_a_study_gives_its_results_figures_and_playback(study, tmp_path):
    check(written_by(STUDIES[study], tmp_path), tmp_path)


@SWEPT
@pytest.mark.parametrize("model", [name for name in FILES if name not in {FAULTY, *DRAWN}])
def test_a_model_alone_gives_its_results_figures_and_playback(model, tmp_path):
    check(written_by(FILES[model], tmp_path, "--until", "0.1"), tmp_path)


@SWEPT
def test_the_sweep_draws_playbacks():
    assert HAS_SCENE, "install torseur[scene]: playbacks are not tried without it"
