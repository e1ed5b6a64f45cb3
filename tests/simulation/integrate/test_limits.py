"""Limits of the integration: each holds just within its number and not just beyond it; the numbers are written out."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.known_problems import first_order
from torseur.graph import select
from torseur.simulation.integrate.driver import UniformSteps, integrate
from torseur.simulation.integrate.hooks import EventSigns, Hooks, Limits, Response, Sampling, Schedule
from torseur.simulation.integrate.recording import Outcome
from torseur.simulation.solvers import march
from torseur.simulation.solvers.methods import RK4
from torseur.simulation.solvers.step_graph import HEAD


def clock(events):
    """dz/dt = 1, with some events."""
    return first_order(lambda t, z, m: [1.0 + 0.0 * t], events=lambda t, z, m: events(z[0]))


# -- location of events ------------------------------------------------------------------------------------------------
def test_events_are_located_to_some_hundredths_of_a_picosecond():
    """Functions that jump leave nothing but bisection: a place behind the zero, by twice the fineness at most."""
    errors = []
    for place in 0.1 + 0.8 * np.random.default_rng(3).random(40):
        problem = clock(lambda z, place=place: [select(z < place, -1.0, 1.0)])
        run = integrate(problem, [0.0], (0.0, 1.0), limits=Limits(first=1.0))
        errors.append(run.events[0].time - place)
    assert min(errors) >= -1e-15
    assert 8e-15 < max(errors) <= 4.1e-14


def bracketed_zero(f, a, b, precision):
    """A place behind the zero of a function between a, where it is above 0, and b, where it is not."""
    theta, probed, spot = np.zeros(1), np.zeros(1), np.zeros(march.SPOT)
    spot[:6] = a, b, f(a), f(b), 1.0, precision

    def look(first, count):
        probed[0] = f(theta[0])

    march.narrow(0, 0, theta, probed, spot, look)
    return spot[march.B]


def test_a_bracket_ends_within_twice_its_precision():
    for place in np.linspace(0.1, 0.9, 17):
        found = bracketed_zero(lambda x, place=place: 1.0 if x < place else -1.0, 0.0, 1.0, 1e-6)
        assert 0.0 <= found - place <= 2e-6


@given(
    st.sampled_from([lambda x: 1 - x * x * x, lambda x: np.exp(-x) - 0.3, lambda x: 1.0 if x < 0.7 else -1.0]),
    st.floats(0.0, 0.5),
)
def test_a_bracketed_zero_is_located_to_its_precision_with_few_evaluations(f, a):
    calls = []

    def counted(x):
        calls.append(x)
        return f(x)

    b = bracketed_zero(counted, a, 2.0, 1e-12)
    assert f(b) <= 0.0 < f(b - 2.1e-12)
    assert len(calls) <= 46


@pytest.mark.parametrize(("slope", "met"), [(1e-15, False), (0.0, False), (-1e-7, True)])
def test_a_step_begins_with_the_slope_of_the_motion_not_with_that_of_its_interpolation(slope, met):
    """Friction that has just let go moves by almost nothing: its rate, as interpolated, may dip below zero.

    A step of 1 ms, over which the event function is a t + b t^2, as its interpolation says.
    """
    a, b, h = -1e-7, 0.25, 1e-3
    shape, numbers, marks = np.zeros(march.SHAPE), np.zeros(march.NUMBERS), np.array([1.0, slope, 0.0])
    shape[[march.SIZE, march.EVENTS]] = HEAD + 2, 1
    numbers[[march.TRIED, march.FRESH]] = h, 1.0
    theta, probed, spot = np.zeros(1), np.zeros(2), np.zeros(march.SPOT + 4)

    def look(first, count):
        t = theta[0] * h
        probed[:] = a * t + b * t * t, a + 2.0 * b * t

    tried = np.array([*np.zeros(HEAD), a * h + b * h * h, a + 2.0 * b * h])
    march.seek(0, shape, tried, numbers, theta, marks, probed, spot, look, look)
    assert numbers[march.STATUS] == (march.AT_EVENT if met else march.TAKEN)
    if met:
        assert marks[2] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("slope", [1e-15, -1e-7])
def test_an_invariant_that_begins_on_its_zero_has_yet_to_fall(slope):
    step = SimpleNamespace(g=np.zeros(1), record=np.array([slope]), layout=SimpleNamespace(slopes=slice(0, 1)))
    signs = EventSigns(np.zeros((3, 1)), [0])
    signs.begin(step)
    assert signs.sign[0] == 1.0


@pytest.mark.parametrize(("apart", "groups"), [(0.5e-12, 1), (5e-12, 2)])
def test_events_within_a_picosecond_are_one_instant(apart, groups):
    seen = []

    def handler(event):
        seen.append((event.time, event.is_first))
        return Response(state=event.state)

    problem = clock(lambda z: [z - 0.5, z - 0.5 - apart])
    integrate(problem, [0.0], (0.0, 1.0), limits=Limits(first=1.0), hooks=Hooks(handler=handler))
    assert len(seen) == 2
    assert sum(first for _, first in seen) == groups


def followed(count, apart):
    """A run that begins anew at each of so many events, one after the other."""
    problem = clock(lambda z: [z - 0.5 - k * apart for k in range(count)])
    hooks = Hooks(handler=lambda event: Response(state=event.state))
    return integrate(problem, [0.0], (0.0, 1.0), limits=Limits(first=1.0), hooks=hooks)


def test_a_hundred_events_may_follow_each_other_within_ten_picoseconds_and_no_more():
    assert followed(101, 5e-12).outcome is Outcome.COMPLETE
    run = followed(102, 5e-12)
    assert run.outcome is Outcome.CHATTERING
    assert len(run.events) == 102
    assert followed(110, 2e-11).outcome is Outcome.COMPLETE


# -- steps and instants ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("off", "fits"), [(0.5e-9, True), (5e-9, False)])
def test_uniform_steps_meet_their_end_and_their_records_to_a_billionth_of_a_step(off, fits):
    assert (UniformSteps.of((0.0, 1.0 + off * 0.1), 0.1, None) is not None) is fits
    grid = np.linspace(0.0, 1.0, 6)
    grid[2] += off * 0.1
    assert (UniformSteps.of((0.0, 1.0), 0.1, grid) is not None) is fits


@pytest.mark.parametrize(("short", "steps"), [(0.5e-10, 3), (5e-10, 4)])
def test_a_step_that_ends_just_before_an_instant_is_stretched_to_it(short, steps):
    """No last step that is shorter than a ten billionth of the others."""
    step = (1.0 - short / 3.0) / 3.0
    run = integrate(clock(lambda z: [z - 5.0]), [0.0], (0.0, 1.0), method=RK4, limits=Limits(first=step), hooks=Hooks())
    assert run.counts.steps == steps
    assert run.end == 1.0


@pytest.mark.parametrize(("late", "first"), [(0.5e-9, 3.0), (5e-9, 4.0)])
def test_a_sample_that_is_due_a_billionth_of_a_period_before_the_begin_still_counts(late, first):
    hooks = Hooks(samplings=[Sampling(1.0, lambda t, x, held: None)])
    assert Schedule(3.0 + late, 10.0, hooks).next() == first
