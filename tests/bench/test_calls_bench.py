"""Single calls, few states and long chains are measured with or without peers."""

import json

import pytest

import torseur as ts
from torseur.bench import first_use
from torseur.bench.calls import Effort, measure
from torseur.simulation.study.reader import study_of_text


@pytest.mark.slow
def test_the_report_has_every_section_and_a_line_for_every_case():
    effort = Effort(batches=(8,), chains=(6,), derivatives=(3,), trees=(5,), rows=8, budget=0.001, first_use=False)
    report = measure(effort=effort)
    assert [len(section.rows) for section in report.sections[1:]] == [12, 12, 6]
    text = report.text()
    for line in (
        "processor",
        "jacobian",
        "inverse_dynamics, 8 states",
        "forward_dynamics, tree of 5",
        "inverse_dynamics_derivatives, 3 joints",
        "forward_dynamics_derivatives, 3 joints",
    ):
        assert line in text


@pytest.mark.slow
def test_a_first_use_is_a_run_of_the_command_line(monkeypatch):
    monkeypatch.setattr(first_use, "REPEATS", 1)
    monkeypatch.setattr(first_use, "STUDIES", {"a closed loop": first_use.STUDIES["a closed loop"]})
    rows = dict(first_use.first_uses())
    ways = ("cold", "warm", "cold, all figures and playback", "warm, where all is imported")
    assert list(rows)[:4] == [f"a closed loop, {x}" for x in ways]
    used = {name: float(value.split()[0]) for name, value in rows.items()}
    assert (
        used["a closed loop, warm, where all is imported"]
        < used["a closed loop, warm"]
        < used["a closed loop, cold"]
        < used["a closed loop, cold, all figures and playback"]
    )


@pytest.mark.parametrize("title", first_use.STUDIES)
def test_the_studies_of_a_first_use_run_and_their_audits_hold(title):
    study = {"torseur_study": 1, "name": "first", "until": 1, **first_use.STUDIES[title]}
    run = study_of_text(json.dumps(study), title, None).study
    run = ts.simulate(run)
    assert run.complete
    assert run.audited.holds
