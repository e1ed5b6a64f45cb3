"""Simulating a CAGeM listing runs the study it describes."""

import warnings

import numpy as np
import pytest

import torseur as ts
from torseur.cli import main
from torseur.errors import ModelError, TorseurWarning
from torseur.simulation.study.reader import read_study
from torseur.simulation.study.writer import study_text

PENDULUM = """
title := "pendulum":
nbrdof := 1: nbrbody := 1: gravity[3] := -9.81:
mass[0] := 2: Ixx[0] := 0.1: Iyy[0] := 0.1: Izz[0] := 0.1:
T0G[0] := Troty(q[0])*Tdisp(0,0,-1):
qi[0] := 0.3: qdi[0] := 0:
"""


@pytest.fixture
def listing(tmp_path):
    def write(settings=""):
        file = tmp_path / "pendulum.mu"
        file.write_text(PENDULUM + settings)
        return file

    return write


def test_times_and_steps_of_a_listing_are_those_of_its_study(listing):
    study = read_study(listing("FinalTime := 2: StepSave := 0.05: StepMax := 0.01:")).study
    assert (study.until, study.every, study.solver.longest) == (2.0, 0.05, 0.01)
    assert (study.solver.method, study.solver.rtol, study.solver.atol) == ("easydyn", 1e-6, 1e-6)
    assert (study.start_from, study.figures, study.playback) == ("assembled", True, True)


def test_a_listing_runs_for_its_final_time_and_records_at_its_steps(listing):
    run = ts.simulate(listing("FinalTime := 0.5: StepSave := 0.05: StepMax := 0.01:"))
    np.testing.assert_allclose(run.time, np.linspace(0.0, 0.5, 11), atol=1e-12)
    exact = ts.simulate(ts.load(listing()), until=0.5, every=0.05)
    np.testing.assert_allclose(run["q0"], exact["q0"], atol=1e-4)


def test_static_starts_from_equilibrium_with_the_efforts_of_the_study(listing):
    with pytest.warns(TorseurWarning, match="FORCES asks for efforts: they are the inputs f0"):
        run = ts.simulate(listing("FinalTime := 0.2: STATIC := 1: FORCES := 1:"), inputs={"f0": 3.0})
    np.testing.assert_allclose(run["q0"], np.arcsin(3.0 / (2.0 * 9.81)), atol=1e-9)  # m g l sin(q) = f


def test_without_forces_there_are_no_inputs(listing):
    assert not ts.load(listing("FORCES := 0:")).inputs
    assert list(ts.load(listing("FORCES := 1:")).inputs) == ["f0"]
    assert list(ts.load(listing("f0 := 2: FORCES := f0:")).inputs) == ["f0_"]  # the name of a constant stays its own


def test_a_study_drives_the_efforts_of_a_listing(listing):
    file = listing("FinalTime := 7: FORCES := 1:")
    study = file.with_name("study.yaml")
    study.write_text("torseur_study: 1\nmodel: pendulum.mu\nstart: {q0: 0}\ninputs: {f0: -3*dq0 + 1}\nuntil: 1\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = ts.simulate(study)
    assert run.time[-1] == 1.0
    assert abs(run["q0"][-1]) > 1e-2


@pytest.mark.parametrize(
    ("flags", "reports"),
    [("LATEX_FR := 1: LATEX_EN := 0:", ("fr",)), ("LATEX_EN := 1: LATEX_FR := 1:", ("en", "fr")), ("LATEX := 0:", ())],
)
def test_a_listing_says_in_which_languages_it_wants_reports(listing, flags, reports):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ts.load_study(listing(f"FinalTime := 0.1: {flags}")).reports == reports


@pytest.mark.slow
def test_the_report_a_listing_asks_for_is_written(listing, tmp_path):
    file = listing("FinalTime := 0.1: StepSave := 0.01: PLOT := 0: ANIM := 0: LATEX_FR := 1:")
    assert main(["simulate", str(file), "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "report_fr" / "report.tex").is_file()
    assert not (tmp_path / "out" / "report_en").exists()


@pytest.mark.parametrize("flags", [(0, 0), (1, 0), (0, 1)])
def test_plot_and_anim_decide_about_figures_and_playback(listing, tmp_path, flags):
    if flags[1]:
        pytest.importorskip("viser")
    file = listing(f"FinalTime := 0.1: StepSave := 0.01: PLOT := {flags[0]}: ANIM := {flags[1]}:")
    assert main(["simulate", str(file), "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "figures").exists() == bool(flags[0])
    assert (tmp_path / "out" / "playback.html").exists() == bool(flags[1])


def test_the_study_of_a_listing_can_be_written_and_read_back(listing, tmp_path):
    study = read_study(listing("FinalTime := 2: PLOT := 0: STATIC := 1:")).study
    (tmp_path / "copy.yaml").write_text(study_text(study))
    assert ts.load_study(tmp_path / "copy.yaml") == study


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ("FinalTime := 0:", "'FinalTime' is not a time"),
        ("StepSave := -1:", "'StepSave' is not a time"),
        ('StepMax := "small":', "'StepMax' is not a number"),
        ('PLOT := "yes":', "'PLOT' is not a number"),
    ],
)
def test_settings_that_cannot_be_are_told_with_their_line(listing, settings, what):
    with pytest.raises(ModelError, match=what) as told:
        ts.load(listing(settings))
    assert ":7:" in told.value.where


def test_a_setting_that_is_misspelt_is_told(listing):
    with pytest.warns(TorseurWarning, match="'FinlTime' is taken as a constant(.*)did you mean the setting FinalTime"):
        study = ts.load_study(listing("FinlTime := 5:"))
    assert study.until == 10.0
