"""The comparison runs with or without peers, and says what it measured."""

from torseur.bench.peers import Effort, measure


def test_the_report_names_every_quantity_of_a_small_mechanism():
    report = measure(effort=Effort(mechanisms=("ur5",), states=64, budget=0.001)).text()
    for line in ("processor", "versions", "first inverse dynamics", "one call from Python", "forward dynamics"):
        assert line in report
    assert "ur5: 6 speeds" in report


def test_a_floating_tree_has_six_more_speeds():
    report = measure(effort=Effort(mechanisms=("ur5 floating",), states=16, budget=0.001)).text()
    assert "ur5 floating: 12 speeds" in report
