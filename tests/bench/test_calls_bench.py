"""Single calls, few states and long chains are measured with or without peers."""

import pytest

from torseur.bench.calls import Effort, measure


@pytest.mark.slow
def test_the_report_has_every_section_and_a_line_for_every_case():
    effort = Effort(batches=(8,), chains=(6,), derivatives=(3,), rows=8, budget=0.001, first_use=False)
    report = measure(effort=effort)
    assert [len(section.rows) for section in report.sections[1:]] == [12, 3, 3]
    text = report.text()
    for line in ("processor", "jacobian", "inverse_dynamics, 8 states", "inverse_dynamics_derivatives, 3 joints"):
        assert line in text


@pytest.mark.slow
def test_a_first_use_is_a_run_of_the_command_line():
    report = measure(effort=Effort(batches=(), chains=(), derivatives=(), budget=0.001))
    assert [float(value.split()[0]) > 0.0 for _, value in report.sections[-1].rows] == [True] * 4
