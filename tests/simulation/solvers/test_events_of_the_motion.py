"""Events that are computed with the rate: one function, the same numbers; slopes by differences where exact ones are
long."""

from __future__ import annotations

import numpy as np
import pytest

from support.exported_studies import STICK
from support.known_problems import first_order
from torseur.formats import load
from torseur.graph import evaluate, select
from torseur.simulation.integrate.driver import integrate
from torseur.simulation.integrate.hooks import Limits
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.solvers import step_graph as sheets
from torseur.simulation.solvers.control import Tolerance
from torseur.simulation.solvers.methods import DOP853, DOPRI5, RK4
from torseur.simulation.solvers.problem import Problem
from torseur.simulation.solvers.rosenbrock import RODAS4
from torseur.simulation.solvers.step_graph import LOOK, NOW, StepGraph
from torseur.simulation.solvers.stepper import Stepper
from torseur.simulation.study.study import Study


@pytest.fixture(scope="module")
def sticking(tmp_path_factory):
    """A bar on two contacts with friction: its events are normal forces and forces in the cone."""
    file = tmp_path_factory.mktemp("sticking") / "stick.yaml"
    file.write_text(STICK, encoding="utf-8")
    simulation = Simulation(Study(model=load(file), start={"z": 0.0, "a": 0.0, "dx": 0.5}, until=1.0))
    x, held = simulation.first()
    return simulation.problem.derived(), held, x


def of_events(problem: Problem, want):
    """(now, x, rate, held) -> what the graph of a step gives of the events."""
    step_graph = StepGraph(problem, now=NOW, x=problem.size, dx=problem.size)
    return step_graph.function(
        "wanted", want(step_graph, step_graph.time(0.0), step_graph.block("x"), step_graph.block("dx"))
    )


def numbers(function, problem, held, x, dx):
    given = {"now": np.array([0.0, 0.0, 0.0, 1.0]), "x": x, "dx": dx, "u": held.u, "m": held.m, "p": held.p}
    return evaluate(function, *(given[b.name] for b in function.inputs))[0]


def test_events_made_of_multipliers_are_computed_with_the_rate(sticking):
    problem, held, x = sticking
    both = problem.rate_and_events
    assert both is not None
    blocks = {"t": np.array([0.2]), "u": held.u, "m": held.m, "p": held.p}
    blocks |= {b.name: x[problem.columns(b.name)] for b in problem.states}

    def values(f):
        return np.concatenate([np.ravel(y) for y in evaluate(f, *(blocks[b.name] for b in f.inputs))])

    np.testing.assert_array_equal(values(both), np.concatenate([values(problem.rate), values(problem.events)]))


def test_which_they_are_does_not_depend_on_the_audit(tmp_path):
    file = tmp_path / "stick.yaml"
    file.write_text(STICK, encoding="utf-8")
    study = Study(model=load(file), until=1.0)
    found = {Simulation(study, audit=audit).problem.derived().rate_and_events is None for audit in (False, True)}
    assert len(found) == 1


def test_differences_along_the_motion_are_the_slopes_of_events(sticking, monkeypatch):
    problem, held, x = sticking
    rng = np.random.default_rng(5)
    for _ in range(5):
        at = x + rng.uniform(-0.1, 0.1, x.size)
        rate = evaluate(problem.rate, *_blocks(problem, at, held))
        dx = np.concatenate([np.ravel(y) for y in rate])
        found = []
        for large in (0, 10**9):
            monkeypatch.setattr(sheets, "_LARGE", large)
            function = of_events(problem, lambda step_graph, t, x, dx: step_graph.event_slopes(t, x, dx))
            found.append(numbers(function, problem, held, at, dx))
        np.testing.assert_allclose(found[0], found[1], rtol=1e-4, atol=1e-4 * np.abs(found[1]).max())


def _blocks(problem, x, held):
    given = {"t": np.zeros(1), "u": held.u, "m": held.m, "p": held.p}
    given |= {b.name: x[problem.columns(b.name)] for b in problem.states}
    return [given[b.name] for b in problem.rate.inputs]


def test_differences_do_not_look_beyond_a_break_of_the_inputs(monkeypatch):
    """An event that jumps with time: at the end of the interval of a step its slope is that of this side."""
    problem = first_order(
        lambda t, z, m: [select(t < 1.0, 2.0, 50.0) + 0.0 * z[0]],
        events=lambda t, z, m: [select(t < 1.0, 2.0, 50.0) + z[0]],
    )
    monkeypatch.setattr(sheets, "_LARGE", 0)
    assert problem.rate_and_events is not None
    step_graph = StepGraph(problem, now=NOW, x=problem.size)
    end = step_graph.time(1.0)
    slopes = step_graph.event_slopes(end, step_graph.block("x"), step_graph.rate(end, step_graph.block("x")))
    function = step_graph.function("slopes", slopes)
    now = np.array([0.5, 0.5, 0.5, np.nextafter(1.0, 0.0)])
    values = {"now": now, "x": np.zeros(1), "u": np.zeros(0), "m": np.zeros(0), "p": np.zeros(0)}
    found = evaluate(function, *(values[b.name] for b in function.inputs))[0]
    assert found[0] == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize("method", [DOPRI5, DOP853, RK4, RODAS4], ids=lambda m: m.name)
def test_a_large_event_that_comes_and_goes_within_a_step_is_seen_by_its_stages(method, monkeypatch):
    """g = (t - 1/2)^2 - 0.01 is computed with the rate: zero at 0.4 and 0.6, within one step."""
    monkeypatch.setattr(sheets, "_LARGE", 0)

    def g(t):
        return (t - 0.5) * (t - 0.5) - 0.01

    problem = first_order(lambda t, z, m: [g(t) + 0.0 * z[0]], events=lambda t, z, m: [g(t)])
    assert StepGraph(problem).has_large_events
    run = integrate(problem, [0.0], (0.0, 1.0), method=method, limits=Limits(first=1.0), tolerance=Tolerance(1.0, 1.0))
    assert run.counts.steps <= 2
    np.testing.assert_allclose([event.time for event in run.events], [0.4, 0.6], atol=1e-9)


def test_a_large_event_that_stays_away_from_zero_costs_no_look(monkeypatch):
    monkeypatch.setattr(sheets, "_LARGE", 0)
    problem = first_order(
        lambda t, z, m: [(t - 0.5) * (t - 0.5) + 1.0 + 0.0 * z[0]], events=lambda t, z, m: [(t - 0.5) * (t - 0.5) + 1.0]
    )
    stepper = Stepper(RK4, problem, problem.held(), Tolerance())
    stepper.restart(0.0, np.zeros(1))
    stepper.attempt(1.0)
    assert stepper.record[LOOK] == 0.0
