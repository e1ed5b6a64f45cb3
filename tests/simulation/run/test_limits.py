"""Limits of a run: each holds just within its number and not just beyond it; the numbers are written out."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from support.example_files import FILES
from support.formulas_of_time import time_breaks
from torseur.describe import Mechanism
from torseur.graph import Graph, Role, floor
from torseur.simulation.integrate.recording import End, HeldHistory, Outcome
from torseur.simulation.run.simulation import OnTheWay
from torseur.simulation.study.checks import faults

CART = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}


def slide(**more):
    return Mechanism(name="slide", bodies={"cart": CART}, gravity=(0, 0, 0), **more)


# -- steps -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["dop853", "dopri5", "rodas"])
def test_a_run_with_steps_by_error_takes_fifty_steps_at_least(method):
    """Of a cart that rolls on by itself nothing else limits the steps; the first ones grow to the longest."""
    run = ts.simulate(slide(), until=1.0, start={"dx": 1.0}, solver=method)
    assert 50 <= run.info["steps"] <= 60


def test_a_longest_step_that_is_given_takes_its_place():
    run = ts.simulate(slide(), until=1.0, start={"dx": 1.0}, solver={"longest": 1.0})
    assert run.info["steps"] < 15


# -- constraints -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("off", "ends"), [(0.5e-6, False), (2e-6, True)])
def test_a_run_ends_where_loops_are_open_by_a_micrometre(off, ends):
    simulation = ts.Simulation(ts.Study(model=ts.load(FILES["four_bar"]), until=1.0))
    x, held = simulation.start()
    name, gap = simulation.records.largest_gap(0.0, x, held)
    assert gap < 1e-9
    x[1] += 1e-6  # to what a gap does this lead?
    name, gap = simulation.records.largest_gap(0.0, x, held)
    x[1] += 1e-6 * (off / gap - 1.0)
    log = HeldHistory()
    monitor = OnTheWay(simulation, simulation.switch_logic(log), log).monitor
    if not ends:
        monitor(0.0, x, held)
        return
    with pytest.raises(End) as found:
        monitor(0.0, x, held)
    assert found.value.outcome is Outcome.OPEN
    assert name in str(found.value.why)


def driven(jump, of):
    """A cart whose place, or whose speed, is driven by an input that jumps."""
    form = {"prescribed": {"coordinate": "x", "equals": "u"}}
    if of == "speed":
        form = {"speeds": {"coefficients": {"dx": 1.0}, "equals": "u"}}
    model = slide(inputs={"u": {}}, constraints={"driven": form})
    return ts.simulate(model, until=1.0, inputs={"u": {"step": {"time": 0.5, "before": 0.0, "after": jump}}})


@pytest.mark.parametrize(("jump", "follows"), [(0.5e-8, True), (2e-8, False)])
def test_a_driven_coordinate_may_jump_by_ten_nanometres(jump, follows):
    run = driven(jump, "place")
    assert run.complete is follows
    assert follows or "cannot follow" in run.reason


@pytest.mark.parametrize(("jump", "told"), [(0.5e-8, False), (2e-8, True)])
def test_a_driven_speed_that_jumps_by_more_than_rounding_enters_the_balance(jump, told):
    model = slide(inputs={"u": {}}, constraints={"d": {"speeds": {"coefficients": {"dx": 1.0}, "equals": "u"}}})
    study = ts.Study(model=model, until=1.0, inputs={"u": {"step": {"time": 0.5, "before": 0.0, "after": jump}}})
    _, log, _ = ts.Simulation(study).trajectory()
    assert bool(log.jumps) is told


# -- records -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("every", "found"), [(1.02e-8, []), (0.98e-8, ["too many records"])])
def test_a_hundred_million_records_are_too_many(every, found):
    assert [fault.what for fault in faults(ts.Study(model=slide(), until=1.0, every=every))] == found


# -- formulas of time --------------------------------------------------------------------------------------------------
def instants(formula):
    g = Graph()
    t = g.block("t", (), Role.TIME)
    return time_breaks(formula(t[0]), t).instants(0.0, 1.0, np.zeros(0))


def test_what_stands_out_by_a_fiftieth_on_the_grid_is_a_peak():
    def smooth(height):
        return lambda t: t + height / (1.0 + ((t - 0.4) / 1e-5) ** 2.0)

    assert instants(smooth(0.015)) == []
    assert instants(smooth(0.03)) == pytest.approx([0.4], abs=1e-12)


def test_the_grid_has_twenty_thousand_intervals():
    """A peak half as wide as one of them is seen on a point of the grid and not between two."""

    def pulse(centre):
        return lambda t: t + 0.5 / (1.0 + ((t - centre) / 2e-6) ** 2.0)

    assert instants(pulse(8001 / 20_000)) != []
    assert instants(pulse(8001.5 / 20_000)) == []


def test_twenty_thousand_switches_are_located_and_more_are_not():
    assert len(instants(lambda t: floor(19_999.5 * t))) == 19_999
    assert instants(lambda t: floor(20_001.5 * t)) == []
