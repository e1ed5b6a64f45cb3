"""``torseur report``."""

import pytest

from support.example_files import EXAMPLES
from torseur.cli import main

STUDY = """
torseur_study: 1
model:
  name: slide
  inputs: {f: {unit: N}}
  bodies: {cart: {joint: {kind: prismatic, coordinate: x}, inertia: {M: 2}}}
  loads: {push: {effort: {coordinate: x, value: f}}}
inputs: {f: 3*sin(t)}
until: 1
figures: false
playback: false
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "push.yaml").write_text(STUDY)
    return tmp_path / "push.yaml"


def test_a_model_is_described_and_not_simulated(tmp_path, capsys):
    file = EXAMPLES / "planar_2r" / "planar_2r.yaml"
    assert main(["report", str(file), "-o", str(tmp_path / "out"), "--lang", "fr", "--format", "html"]) == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert '<html lang="fr">' in page
    assert "torseur equations planar_2r.yaml" not in page, "all its equations are written out"
    assert "Résultats" not in page
    assert str(EXAMPLES) not in page
    assert "report.html written" in capsys.readouterr().out


@pytest.mark.slow
def test_a_study_is_simulated_first_unless_told_not_to(study):
    assert main(["report", str(study), "--format", "html"]) == 0
    assert "Initial conditions" in (study.parent / "push_report" / "report.html").read_text(encoding="utf-8")
    assert main(["report", str(study), "-o", "plan", "--format", "html", "--no-run"]) == 0
    assert "Initial conditions" not in (study.parent / "plan" / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_report_of_saved_results_knows_their_study(study):
    assert main(["simulate", str(study), "-o", "out", "--format", "csv"]) == 0
    assert main(["report", "out", "-o", "page", "--format", "html,latex"]) == 0
    page = (study.parent / "page" / "report.html").read_text(encoding="utf-8")
    assert "Initial conditions" in page
    assert "Block diagram" in page
    assert (study.parent / "page" / "report.tex").is_file()


@pytest.mark.slow
def test_simulate_writes_the_reports_a_study_asks_for_and_removes_those_it_no_longer_does(study):
    study.write_text(STUDY + "reports: [fr, en]\n")
    assert main(["simulate", str(study), "-o", "out"]) == 0
    out = study.parent / "out"
    assert "Résultats" in (out / "report_fr" / "report.html").read_text(encoding="utf-8")
    assert (out / "report_en" / "report.tex").is_file()
    study.write_text(STUDY + "reports: [en]\n")
    assert main(["simulate", str(study), "-o", "out"]) == 0
    assert not (out / "report_fr" / "report.html").exists()
    assert (out / "report_en" / "report.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["push.yaml", "--format", "docx"], "html, latex, pdf"),
        (["missing.yaml"], "missing.yaml"),
        (["push.yaml", "--lang", "de"], "'en', 'fr'"),
        (["."], "holds no run"),
    ],
)
def test_wrong_use_is_told(study, arguments, said, capsys):
    assert main(["report", *arguments]) in (1, 2)
    assert said in capsys.readouterr().err
    assert not list(study.parent.glob("*_report"))


@pytest.mark.slow
def test_a_run_whose_audit_fails_is_reported_and_ends_with_its_code(study, capsys):
    study.write_text(STUDY.replace("until: 1", "until: 1\naudit: 1e-30\nsolver: {method: rk4, step: 0.2}"))
    assert main(["report", str(study), "--format", "html"]) == 4
    assert "not to be trusted" in (study.parent / "push_report" / "report.html").read_text(encoding="utf-8")
