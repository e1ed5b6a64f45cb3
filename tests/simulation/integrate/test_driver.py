"""The driver: output, events, breaks, samples, and every way a run can end."""

import signal
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.known_problems import ball, driven, driven_exact, first_order, kepler, kepler_start, pendulum, second_order
from torseur.errors import ArgumentError, NumericalError
from torseur.graph import Function, Graph, Role, cos, exp, select, sin, sqrt
from torseur.simulation.integrate.driver import integrate
from torseur.simulation.integrate.hooks import Hooks, Limits, Response, Sampling
from torseur.simulation.integrate.recording import Outcome
from torseur.simulation.solvers.control import Tolerance
from torseur.simulation.solvers.methods import DOP853, DOPRI5, RK4
from torseur.simulation.solvers.problem import Held, Problem
from torseur.simulation.solvers.rosenbrock import RODAS4
from torseur.simulation.solvers.second_order import NEWMARK

ADAPTIVE = [DOPRI5, DOP853, RODAS4]
NAMED = {"ids": lambda m: m.name}
FINE = Tolerance(1e-11, 1e-12)


# -- output ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ADAPTIVE, **NAMED)
@pytest.mark.parametrize("count", [2, 11, 4000])
def test_output_times_are_met_by_dense_output(method, count):
    times = np.linspace(0.0, 2.0, count)
    run = integrate(driven(), [1.0], (0.0, 2.0), method=method, output=times, tolerance=Tolerance(1e-9, 1e-9))
    np.testing.assert_array_equal(run.times, times)
    np.testing.assert_allclose(run.states[:, 0], driven_exact(times), atol=3e-7)
    assert run.end == 2.0


def test_output_needs_neither_the_begin_nor_the_end():
    for times in ([], [0.3], [0.3, 0.30001, 1.7]):
        run = integrate(driven(), [1.0], (0.0, 2.0), output=times, tolerance=FINE)
        np.testing.assert_array_equal(run.times, times)
        assert run.states.shape == (len(times), 1)
        np.testing.assert_allclose(run.states[:, 0], driven_exact(np.array(times)), atol=1e-9)
        assert run.final[0] == pytest.approx(driven_exact(2.0), rel=1e-8)


def test_without_output_times_every_step_is_recorded():
    run = integrate(driven(), [1.0], (0.5, 2.0))
    assert run.times[0] == 0.5
    assert run.times[-1] == 2.0
    assert len(run.times) == run.counts.steps + 1
    assert (np.diff(run.times) > 0.0).all()


def test_many_steps_are_recorded_in_packs(monkeypatch):
    from torseur.simulation.integrate.recording import Recorder

    monkeypatch.setattr(Recorder, "PACK", 7)
    problem = kepler()
    run = integrate(problem, kepler_start(0.5), (0.0, 20.0), held=problem.held(p=[1.0]))
    assert len(run.states) == run.counts.steps + 1 > 50
    energy = 0.5 * (run.states[:, 2:] ** 2).sum(axis=1) - 1 / np.hypot(*run.states[:, :2].T)
    np.testing.assert_allclose(energy, -0.5, atol=1e-3)


@pytest.mark.parametrize("times", [[1.0, 0.5], [0.5, 0.5], [-0.1, 1.0], [1.0, 2.1], [np.nan], [[0.0, 1.0]]])
def test_wrong_output_times_are_refused(times):
    with pytest.raises(ArgumentError, match="output times"):
        integrate(driven(), [1.0], (0.0, 2.0), output=times)


@pytest.mark.parametrize("span", [(1.0, 0.0), (0.0, np.inf), (np.nan, 1.0)])
def test_wrong_spans_are_refused(span):
    with pytest.raises(ArgumentError, match="span"):
        integrate(driven(), [1.0], span)


def test_an_empty_span_is_its_start():
    run = integrate(driven(), [1.0], (0.5, 0.5))
    assert run.times.tolist() == [0.5]
    assert run.outcome is Outcome.COMPLETE
    assert run.counts.steps == 0


def test_a_given_step_is_kept_and_time_does_not_drift():
    run = integrate(kepler(True), kepler_start(0.0), (0.0, 1.0), method=RK4, limits=Limits(first=1e-3), held=one())
    np.testing.assert_array_equal(run.times[:-1], 1e-3 * np.arange(1000))
    assert run.counts.steps == 1000


def one() -> Held:
    return kepler().held(p=[1.0])


def test_a_fixed_step_run_in_native_code_equals_one_step_by_step():
    problem, x0, limits = kepler(), kepler_start(0.3), Limits(first=0.01)
    native = integrate(problem, x0, (1.0, 3.0), method=RK4, limits=limits, held=one(), output=np.linspace(1, 3, 21))
    steps = integrate(problem, x0, (1.0, 3.0), method=RK4, limits=limits, held=one(), hooks=Hooks(breaks=[1.5]))
    assert native.counts.steps == steps.counts.steps == 200
    np.testing.assert_allclose(native.states, steps.states[::10], atol=1e-12)
    np.testing.assert_allclose(native.times, steps.times[::10], atol=1e-12)


def test_output_times_off_the_steps_are_met_with_a_given_step():
    times = [0.0, 0.123, 0.77, 1.0]
    run = integrate(driven(), [1.0], (0.0, 1.0), method=RK4, limits=Limits(first=0.01), output=times)
    np.testing.assert_allclose(run.states[:, 0], driven_exact(np.array(times)), rtol=1e-7)


def test_a_step_is_never_longer_than_allowed():
    run = integrate(driven(), [1.0], (0.0, 2.0), limits=Limits(longest=0.013))
    assert np.diff(run.times).max() <= 0.013 * (1 + 1e-9)


# -- events ------------------------------------------------------------------------------------------------------------


def bounce(restitution):
    def handler(met):
        x = met.state
        x[1] *= -restitution
        return Response(state=x)

    return handler


def bounces(height, restitution, count, gravity=9.81):
    """When a ball dropped from a height meets the ground."""
    fall = np.sqrt(2 * height / gravity)
    gaps = 2 * fall * restitution ** np.arange(1, count)
    return fall + np.concatenate([[0.0], np.cumsum(gaps)])


@pytest.mark.parametrize("method", [*ADAPTIVE, RK4], **NAMED)
def test_a_bouncing_ball_meets_the_ground_when_it_should(method):
    right = bounces(1.0, 0.8, 9)
    run = integrate(
        ball(), [1.0, 0.0, 0.0], (0.0, 3.5), method=method, hooks=Hooks(handler=bounce(0.8)), limits=Limits(first=0.01)
    )
    assert run.outcome is Outcome.COMPLETE
    assert [e.event for e in run.events] == [0] * 9
    assert not any(e.rising for e in run.events)
    np.testing.assert_allclose([e.time for e in run.events], right, rtol=0, atol=2e-12)
    assert max(abs(e.before[0]) for e in run.events) < 1e-11
    np.testing.assert_allclose([e.after[1] for e in run.events], [-0.8 * e.before[1] for e in run.events])
    # z counts time: nothing is lost at an event.
    assert run.final[2] == pytest.approx(3.5, abs=1e-13)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.1, 50.0), st.floats(0.3, 0.95), st.sampled_from([DOPRI5, DOP853]))
def test_balls_from_anywhere_meet_the_ground_when_they_should(height, restitution, method):
    right = bounces(height, restitution, 5)
    run = integrate(
        ball(), [height, 0.0, 0.0], (0.0, right[-1] + 1e-3), method=method, hooks=Hooks(handler=bounce(restitution))
    )
    np.testing.assert_allclose([e.time for e in run.events[:5]], right, rtol=0, atol=2e-12)


@pytest.mark.parametrize("restitution", [0.0, 0.2, 0.5, 0.8])
@pytest.mark.parametrize("ground", [0.0, 1000.0])
def test_a_ball_that_bounces_ever_faster_ends_the_run_with_a_reason_and_not_below_the_ground(restitution, ground):
    problem = ball(ground=ground)
    run = integrate(problem, [ground + 1.0, 0.0, 0.0], (0.0, 10.0), hooks=Hooks(handler=bounce(restitution)))
    assert run.outcome is Outcome.CHATTERING
    end = (1 + restitution) / (1 - restitution) * np.sqrt(2 / 9.81)
    assert run.end == pytest.approx(end, abs=1e-8 if ground == 0.0 else 1e-5)
    assert run.states[:, 0].min() > ground - 1e-9
    assert "mode" in run.outcome.value


def test_every_crossing_is_noted_when_nobody_handles_events():
    problem = first_order(lambda t, z, m: [cos(t)], events=lambda t, z, m: [sin(t), cos(2.0 * t) + 0.0 * z[0]])
    run = integrate(problem, [0.0], (0.1, 10.0), tolerance=FINE)
    right = sorted([(k * np.pi, 0) for k in (1, 2, 3)] + [((2 * k + 1) * np.pi / 4, 1) for k in range(6)])
    assert [(e.event, round(e.time, 9)) for e in run.events] == [(k, round(t, 9)) for t, k in right]
    np.testing.assert_allclose([e.time for e in run.events], [t for t, _ in right], rtol=0, atol=1e-12)
    assert [e.rising for e in run.events if e.event == 0] == [False, True, False]
    assert run.counts.restarts == 1


def test_several_events_in_one_step_come_in_their_order():
    marks = [0.7, 0.31, 0.500000001, 0.5, 0.9]
    problem = first_order(lambda t, z, m: [1.0 + 0.0 * t], events=lambda t, z, m: [z[0] - k for k in marks])
    seen = []
    run = integrate(
        problem, [0.0], (0.0, 1.0), limits=Limits(first=1.0), hooks=Hooks(handler=lambda met: seen.append(met.event))
    )
    assert run.counts.steps == 1
    assert seen == [1, 3, 2, 0, 4]
    np.testing.assert_allclose([e.time for e in run.events], sorted(marks), atol=1e-12)


def test_events_at_one_instant_are_met_together():
    problem = first_order(lambda t, z, m: [1.0 + m[0]], events=lambda t, z, m: [z[0] - 0.5, 2.0 * z[0] - 1.0], held=1)
    seen = []

    def handler(met):
        seen.append((met.event, met.time))
        met.held.m[0] += 1.0

    run = integrate(problem, [0.0], (0.0, 1.0), held=problem.held(), hooks=Hooks(handler=handler))
    assert [k for k, _ in seen] == [0, 1]
    assert seen[0][1] == pytest.approx(0.5, abs=1e-12)
    assert run.final[0] == pytest.approx(0.5 + 0.5 * 3.0)
    assert run.counts.restarts == 2


@pytest.mark.parametrize("method", ADAPTIVE, **NAMED)
def test_a_zero_passed_and_passed_back_within_one_step_is_found(method):
    """A parabola that dips below zero for a moment: the signs at the ends of the step tell nothing."""
    problem = first_order(lambda t, z, m: [2.0 * (t - 0.4)], events=lambda t, z, m: [z[0]])
    run = integrate(
        problem, [0.16 - 1e-4], (0.0, 1.0), method=method, limits=Limits(first=1.0), tolerance=Tolerance(1, 1)
    )
    assert run.counts.steps <= 3
    np.testing.assert_allclose([e.time for e in run.events], [0.39, 0.41], atol=1e-10)
    assert [e.rising for e in run.events] == [False, True]


@pytest.mark.parametrize("longest", [0.25, 0.27, 0.28])
@pytest.mark.parametrize("method", [DOPRI5, RK4, RODAS4], **NAMED)
def test_a_dip_is_found_within_steps_before_which_none_was_looked_at(method, longest):
    """The function rises where the motion begins, and comes down many steps later."""
    problem = first_order(lambda t, z, m: [cos(t)], events=lambda t, z, m: [z[0] + 0.999])
    limits, loose = Limits(first=longest, longest=longest), Tolerance(1e3, 1e3)
    for until in (6.0, 7.0):
        run = integrate(problem, [0.0], (0.0, until), method=method, limits=limits, tolerance=loose)
        width = np.arccos(0.999)
        assert [e.time for e in run.events] == pytest.approx([1.5 * np.pi - width, 1.5 * np.pi + width], abs=3e-3)


def test_a_motion_that_starts_on_a_zero_does_not_cross_it():
    problem = first_order(lambda t, z, m: [cos(t)], events=lambda t, z, m: [z[0]])
    run = integrate(problem, [0.0], (0.0, 4.0), tolerance=FINE)
    assert [e.time for e in run.events] == pytest.approx([np.pi], abs=1e-9)


def test_a_zero_that_is_only_touched_or_rested_on_is_no_event():
    touched = first_order(lambda t, z, m: [2.0 * (t - 0.5)], events=lambda t, z, m: [z[0] + 1e-9])
    assert not integrate(touched, [0.25], (0.0, 1.0), tolerance=FINE).events
    resting = first_order(lambda t, z, m: [0.0 * t], events=lambda t, z, m: [z[0]])
    assert not integrate(resting, [0.0], (0.0, 1.0)).events


def test_a_handler_may_stop_the_run():
    run = integrate(ball(), [1.0, 0.0, 0.0], (0.0, 3.0), hooks=Hooks(handler=lambda met: Response(stop=True)))
    assert run.outcome is Outcome.STOPPED
    assert run.end == pytest.approx(np.sqrt(2 / 9.81), abs=1e-12)
    assert run.times[-1] == run.end
    np.testing.assert_allclose(run.final, run.states[-1])
    assert abs(run.final[0]) < 1e-11


def test_a_handler_may_change_modes_and_parameters():
    """A heater that goes on below 19 and off above 21 (m), whose losses (p) double at the first switch."""
    g = Graph()
    z, m, p = g.block("z", 1), g.block("m", 1, Role.INPUT), g.block("p", 1, Role.PARAMETER)
    rate = Function("room", [z, m, p], {"dz": [p[0] * (10.0 - z[0]) + 5.0 * m[0]]})
    problem = Problem(rate, events=Function("marks", [z, m], {"g": [select(m[0] > 0.5, 21.0 - z[0], z[0] - 19.0)]}))
    switched = []

    def handler(met):
        met.held.m[0] = 1.0 - met.held.m[0]
        switched.append(met.time)
        return Response(held=Held(met.held.u, met.held.m, 2.0 * met.held.p)) if len(switched) == 1 else None

    integrate(problem, [20.0], (0.0, 5.0), held=problem.held(p=[0.2]), hooks=Hooks(handler=handler), tolerance=FINE)
    first = np.log(10 / 9) / 0.2
    gap_on = np.log((22.5 - 19) / (22.5 - 21)) / 0.4
    gap_off = np.log(11 / 9) / 0.4
    right = first + np.cumsum([0.0, gap_on, gap_off, gap_on])
    np.testing.assert_allclose(switched[:4], right[: len(switched[:4])], atol=1e-9)
    assert len(switched) >= 3


def test_both_sides_of_a_jump_are_recorded_at_every_step_and_the_second_on_a_grid():
    run = integrate(ball(), [1.0, 0.0, 0.0], (0.0, 0.6), hooks=Hooks(handler=bounce(0.5)))
    (k,) = np.flatnonzero(np.diff(run.times) == 0.0)
    assert run.states[k + 1, 1] == pytest.approx(-0.5 * run.states[k, 1])
    fall = float(run.events[0].time)
    grid = integrate(ball(), [1.0, 0.0, 0.0], (0.0, 0.6), hooks=Hooks(handler=bounce(0.5)), output=[0.0, fall, 0.6])
    assert grid.states[1, 1] == pytest.approx(run.states[k + 1, 1])


def test_events_are_found_with_implicit_methods_too():
    problem = second_order(lambda t, q, v, z, p: [-9.81], 1)
    g = Graph()
    q = g.block("q", 1)
    with_events = Problem(problem.rate, implicit=problem.implicit, events=Function("height", [q], {"g": [q[0]]}))
    run = integrate(
        with_events, [1.0, 0.0], (0.0, 2.0), method=NEWMARK, limits=Limits(first=0.01), hooks=Hooks(handler=bounce(0.8))
    )
    np.testing.assert_allclose([e.time for e in run.events], bounces(1.0, 0.8, 9)[: len(run.events)], atol=1e-11)


# -- breaks and samples ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ADAPTIVE, **NAMED)
@pytest.mark.parametrize("closed", [False, True])
def test_a_break_is_stepped_on_and_no_stage_sees_across(method, closed):
    def jump(t):
        return (t <= 1.0) if closed else (t < 1.0)

    problem = first_order(lambda t, z, m: [select(jump(t), 3.0, -5.0 * z[0])])
    run = integrate(problem, [0.0], (0.0, 2.0), method=method, hooks=Hooks(breaks=[1.0, 7.0]), tolerance=FINE)
    assert 1.0 in run.times
    assert run.counts.rejected <= 3
    before = run.times <= 1.0
    np.testing.assert_allclose(run.states[before, 0], 3.0 * run.times[before], atol=1e-12)
    assert run.final[0] == pytest.approx(3.0 * np.exp(-5.0), rel=1e-8)


def test_a_sampled_controller_acts_at_its_instants():
    """z' = m, m = -z at the samples: z_(k+1) = (1 - T) z_k."""
    problem = first_order(lambda t, z, m: [m[0] + 0.0 * t], held=1)
    seen = []

    def act(t, x, held):
        seen.append(t)
        held.m[0] = -x[0]

    run = integrate(
        problem, [1.0], (0.0, 1.0), hooks=Hooks(samplings=[Sampling(0.1, act)]), output=np.linspace(0, 1, 11)
    )
    np.testing.assert_allclose(seen, 0.1 * np.arange(10), atol=1e-15)
    np.testing.assert_allclose(run.states[:, 0], 0.9 ** np.arange(11), rtol=1e-12)


def test_samplings_have_offsets_and_may_stop_or_move_the_state():
    problem = first_order(lambda t, z, m: [1.0 + 0.0 * t])

    def lift(t, x, held):
        return Response(state=x + 10.0)

    def stop(t, x, held):
        return Response(stop=t > 1.2)

    run = integrate(
        problem, [0.0], (0.0, 3.0), hooks=Hooks(samplings=[Sampling(5.0, lift, 0.75), Sampling(0.5, stop, 0.25)])
    )
    assert run.outcome is Outcome.STOPPED
    assert run.end == 1.25
    assert run.final[0] == pytest.approx(11.25)


def test_a_sampling_that_changes_nothing_costs_no_restart():
    seen = []
    run = integrate(
        driven(), [1.0], (0.0, 1.0), hooks=Hooks(samplings=[Sampling(0.25, lambda t, x, held: seen.append(t))])
    )
    assert len(seen) == 4
    assert run.counts.restarts == 1


@pytest.mark.parametrize(("period", "offset"), [(0.0, 0.0), (-1.0, 0.0), (np.nan, 0.0), (1.0, np.inf)])
def test_wrong_samplings_are_refused(period, offset):
    with pytest.raises(ArgumentError, match="sampling"):
        Sampling(period, lambda t, x, held: None, offset)


def test_wrong_limits_are_refused():
    for wrong in ({"first": 0.0}, {"longest": -1.0}, {"shortest": 2.0, "longest": 1.0}, {"steps": 0}):
        with pytest.raises(ArgumentError, match="limits"):
            Limits(**wrong)


# -- ends --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ADAPTIVE, **NAMED)
def test_a_singular_motion_ends_where_it_is_singular(method):
    """z' = z^2 from 1 grows without bound at t = 1."""
    problem = first_order(lambda t, z, m: [z[0] * z[0] + 0.0 * t, z[1]], n=2)
    run = integrate(problem, [1.0, 1.0], (0.0, 2.0), method=method)
    assert run.outcome in (Outcome.STEP_UNDERFLOW, Outcome.NOT_FINITE)
    assert run.end == pytest.approx(1.0, abs=1e-4)
    assert run.blame == 0
    assert run.times[-1] == run.end
    assert np.isfinite(run.states).all()


def test_a_rate_that_is_not_a_number_at_the_start_is_blamed_at_once():
    problem = first_order(lambda t, z, m: [0.0 * t, sqrt(z[1])], n=2)
    run = integrate(problem, [1.0, -1.0], (3.0, 4.0))
    assert run.outcome is Outcome.NOT_FINITE
    assert (run.end, run.blame) == (3.0, 1)
    assert run.counts.steps == 0


@pytest.mark.parametrize("method", [DOPRI5, DOP853], **NAMED)
def test_a_rate_that_stops_being_a_number_ends_the_run_there(method):
    problem = first_order(lambda t, z, m: [1.0 + 0.0 * t, sqrt(1.0 - z[0])], n=2)
    run = integrate(problem, [0.0, 0.0], (0.0, 2.0), method=method)
    assert run.outcome is Outcome.NOT_FINITE
    assert run.end == pytest.approx(1.0, abs=1e-6)
    assert run.blame == 1


@pytest.mark.parametrize("output", [None, np.linspace(0.0, 4.0, 41), [0.0, 0.33, 4.0]])
def test_a_fixed_step_run_that_diverges_keeps_what_was_finite(output):
    problem = first_order(lambda t, z, m: [exp(z[0]) + 0.0 * t])
    run = integrate(problem, [0.0], (0.0, 4.0), method=RK4, limits=Limits(first=0.01), output=output)
    assert run.outcome is Outcome.NOT_FINITE
    assert 0.9 < run.end < 1.2
    assert run.blame == 0
    assert len(run.times) == len(run.states) > 1
    assert np.isfinite(run.states).all()


def test_too_many_steps_end_the_run():
    problem = kepler()
    run = integrate(problem, kepler_start(0.5), (0.0, 100.0), held=one(), limits=Limits(steps=32))
    assert run.outcome is Outcome.TOO_MANY_STEPS
    assert run.counts.steps == 32


def test_what_was_computed_before_an_interruption_is_kept():
    problem, full = kepler(), None
    for output in (None, np.linspace(0.0, 1e6, 2_000_001)):
        reached = []

        def progress(t, reached=reached):
            reached.append(t)
            raise KeyboardInterrupt

        run = integrate(
            problem, kepler_start(0.5), (0.0, 1e6), held=one(), output=output, hooks=Hooks(progress=progress)
        )
        assert run.outcome is Outcome.INTERRUPTED
        assert run.end == reached[-1] > 0.0
        assert len(run.times) == len(run.states) > 10
        full = integrate(problem, kepler_start(0.5), (0.0, run.times[5]), held=one(), output=run.times[:5])
        np.testing.assert_allclose(full.states, run.states[:5], rtol=1e-5, atol=1e-6)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to threads on this system")
@pytest.mark.usefixtures("interrupt_key")
@pytest.mark.parametrize("method", [DOPRI5, RK4], **NAMED)
def test_the_interrupt_key_keeps_the_run(method):
    problem, started, main = kepler(), threading.Event(), threading.main_thread().ident

    def press():
        started.wait()
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    try:
        run = integrate(
            problem,
            kepler_start(0.5),
            (0.0, 1e9),
            method=method,
            held=one(),
            limits=Limits(first=1e-3) if method is RK4 else None,
            output=np.linspace(0.0, 1e9, 1001),
            hooks=Hooks(progress=lambda t: started.set()),
        )
    finally:
        started.set()
        thread.join()
    assert run.outcome is Outcome.INTERRUPTED
    assert len(run.times) == len(run.states) >= 1
    np.testing.assert_array_equal(run.states[0], kepler_start(0.5))


def test_an_error_of_a_handler_goes_through():
    def handler(met):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        integrate(ball(), [1.0, 0.0, 0.0], (0.0, 1.0), hooks=Hooks(handler=handler))


def test_a_handler_that_cannot_decide_ends_the_run_and_what_was_computed_is_kept():
    def handler(met):
        raise NumericalError("nothing fits", remedy="a softer ground")

    run = integrate(ball(), [1.0, 0.0, 0.0], (0.0, 1.0), hooks=Hooks(handler=handler))
    assert run.outcome is Outcome.UNDECIDED
    assert run.why == "nothing fits; a softer ground"
    assert len(run.times) > 1


def test_every_outcome_is_a_sentence_and_those_of_failures_a_remedy():
    for outcome in Outcome:
        assert len(outcome.value.split()) >= 4
    assert {o for o in Outcome if o.is_good} == {Outcome.COMPLETE, Outcome.STOPPED}


def test_counts_add_up():
    run = integrate(pendulum(), [1.0, 0.0], (0.0, 10.0))
    c = run.counts
    assert c.evaluations == 6 * (c.steps + c.rejected + 2)  # a start is tried twice: no length, then a guess
    assert c.wall_time > 0.0
    assert c.newton == 0


@pytest.mark.parametrize("method", [DOPRI5, RK4], ids=["dopri5", "rk4"])
@pytest.mark.parametrize("begin", [0.0, -1e-17, 1e-17, -1e-9])
def test_an_invariant_that_begins_below_zero_by_rounding_is_met_at_once(method, begin):
    """What lets go of a stop must not depend on the sign of the last bit of a force that begins at zero."""
    problem = first_order(lambda t, z, m: [1.0 + 0.0 * t], events=lambda t, z, m: [begin - z[0]])
    hooks = Hooks(handler=lambda met: Response(stop=True), invariants=(0,))
    run = integrate(problem, [0.0], (0.0, 1.0), method=method, limits=Limits(first=0.1), hooks=hooks)
    assert run.outcome is Outcome.STOPPED
    assert run.end <= 2e-12
