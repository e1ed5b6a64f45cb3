"""The report on vehicles: it is made, and it has its lines."""

from importlib.util import find_spec

import pytest

from torseur import examples
from torseur.bench import vehicles
from torseur.graph import ConstrainedSystem, Function, Graph
from torseur.graph.counts import count
from torseur.simulation.study.reader import read_study


def test_wheels_of_closed_contacts_cannot_lift():
    study = vehicles.closed_contacts(read_study(examples.path(vehicles.CAR)).study)
    rolling = [c.rolling for c in study.model.constraints.values() if c.rolling is not None]
    assert len(rolling) == 4
    assert not any(form.lifts for form in rolling)


def test_operations_do_not_count_what_is_called_at_exceptional_instants_only():
    g = Graph()
    x, wanted = g.block("x", 3), g.symbol("wanted")
    M = [[x[0] if i == j else g.zero for j in range(3)] for i in range(3)]
    system = ConstrainedSystem(M, [[x[1], x[2], g.one]], g.one, wanted=wanted)
    y = [a + x[0] * x[1] for a in system.solve(list(x), [x[2]])]
    function = Function("f", list(g.blocks.values()), {"y": y})
    assert count(function).total > 50
    assert vehicles.operations(function).total == 4


@pytest.mark.slow
def test_the_report_has_its_lines():
    told = []
    report = vehicles.measure(told.append, vehicles.Amount(until=0.1, runs=16, repeats=1, is_built=False))
    text = report.text()
    for words in ("operations per right-hand side", "dopri5", "rodas", "16 variants in one call", "versions"):
        assert words in text
    assert ("odeint on theirs" in text) == (find_spec("vehiclemodels") is not None)
