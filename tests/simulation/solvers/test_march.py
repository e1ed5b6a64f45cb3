"""The loop over the steps: as native code and steered by Python it is the same run, to the last bit."""

from dataclasses import dataclass, fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.known_problems import ball, driven, first_order, kepler, kepler_start, second_order
from torseur.errors import ArgumentError, CompileError
from torseur.graph import cos, maximum, select, sin
from torseur.simulation.integrate.driver import integrate
from torseur.simulation.integrate.hooks import Hooks, Limits, Response, Sampling
from torseur.simulation.integrate.recording import Outcome
from torseur.simulation.solvers.control import Tolerance
from torseur.simulation.solvers.lanes import Lanes
from torseur.simulation.solvers.methods import DOP853, DOPRI5, RK4
from torseur.simulation.solvers.rosenbrock import RODAS4
from torseur.simulation.solvers.second_order import EASYDYN, NEWMARK
from torseur.simulation.solvers.stepper import StepCode

EXPLICIT = [RK4, DOPRI5, DOP853, RODAS4]
NAMED = {"ids": lambda m: m.name}


def both(problem, start, span, **given):
    """The run, native; it is the steered one."""
    native, steered = (
        integrate(problem, start, span, native=flag, **{k: f() if callable(f) else f for k, f in given.items()})
        for flag in (True, False)
    )
    for f in fields(native):
        one, other = getattr(native, f.name), getattr(steered, f.name)
        if isinstance(one, np.ndarray):
            assert one.tobytes() == other.tobytes(), f.name
        elif f.name == "events":
            assert [(e.time, e.event, e.rising) for e in one] == [(e.time, e.event, e.rising) for e in other]
        elif f.name == "counts":
            one, other = vars(one) | {"wall_time": 0.0}, vars(other) | {"wall_time": 0.0}
            assert one == other
        else:
            assert one == other, f.name
    return native


@pytest.mark.parametrize("count", [None, 0, 1, 7, 500])
@pytest.mark.parametrize("method", EXPLICIT, **NAMED)
def test_every_way_to_record(method, count):
    grid = None if count is None else np.linspace(0.1, 1.9, count)
    limits = Limits(first=0.01 if method is RK4 else None, longest=0.3)
    run = both(driven(), [1.0], (0.0, 2.0), method=method, output=grid, limits=limits)
    assert len(run.times) == (run.counts.steps + 1 if grid is None else count)


@pytest.mark.parametrize("method", [DOPRI5, DOP853, RODAS4], **NAMED)
def test_steps_that_are_refused(method):
    problem = kepler()
    run = both(problem, kepler_start(0.9), (0.0, 7.0), method=method, held=lambda: problem.held(p=[1.0]))
    assert run.counts.rejected > 0


@pytest.mark.parametrize("method", [NEWMARK, EASYDYN], **NAMED)
def test_implicit_methods(method):
    problem = second_order(lambda t, q, v, z, p: [-sin(q[0])], 1)
    run = both(problem, [1.0, 0.0], (0.0, 5.0), method=method, limits=Limits(first=0.02), output=np.linspace(0, 5, 33))
    assert run.counts.newton >= run.counts.steps > 50


@pytest.mark.parametrize("method", EXPLICIT, **NAMED)
def test_events_that_change_the_state(method):
    def bounce(met):
        if met.time > 1.2:
            return Response(stop=True)
        height, speed, time = met.state
        return Response(state=np.array([abs(height), -0.7 * speed, time]))

    problem, limits = ball(), Limits(first=0.01 if method is RK4 else None)
    for grid in (None, np.linspace(0.0, 2.0, 91)):
        run = both(
            problem, [1.0, 0.0, 0.0], (0.0, 2.0), method=method, limits=limits, output=grid, hooks=Hooks(handler=bounce)
        )
        assert run.outcome is Outcome.STOPPED
        assert len(run.events) == 3


@pytest.mark.parametrize("method", EXPLICIT, **NAMED)
def test_events_that_are_passed_several_in_a_step_and_there_and_back(method):
    """z = sin t: levels are crossed one after the other, and one just below the top twice within a step."""
    levels = [-0.9, -0.3, 0.1, 0.3, 0.6, 0.999]
    problem = first_order(lambda t, z, m: [cos(t)], events=lambda t, z, m: [z[0] - level for level in levels])
    for grid in (None, np.linspace(0.0, 9.0, 41)):
        run = both(problem, [0.0], (0.0, 9.0), method=method, limits=Limits(first=0.3, longest=0.3), output=grid)
        met = sorted((float(e.time), e.event) for e in run.events)
        right = sorted((t, k) for k, level in enumerate(levels) for t in whole_turns(np.arcsin(level), 9.0))
        assert [k for _, k in met] == [k for _, k in right]
        np.testing.assert_allclose([t for t, _ in met], [t for t, _ in right], atol=0.02)


def whole_turns(angle, until):
    """All times after 0 at which sin t is what it is at an angle."""
    times = [base + 2.0 * np.pi * turn for base in (angle, np.pi - angle) for turn in range(-1, 3)]
    return [t for t in times if 0.0 < t < until]


@pytest.mark.parametrize("method", EXPLICIT, **NAMED)
def test_samples_and_breaks(method):
    problem = first_order(lambda t, z, m: [m[0] - z[0]], held=1)

    def act(t, x, held):
        held.m[0] = np.cos(t)

    hooks = Hooks(samplings=[Sampling(0.31, act)], breaks=[0.5, 0.93])
    limits = Limits(first=0.01 if method is RK4 else None)
    both(problem, [1.0], (0.0, 3.0), method=method, limits=limits, held=problem.held, hooks=hooks)


@pytest.mark.parametrize("method", [DOPRI5, RODAS4], **NAMED)
def test_runs_that_fail(method):
    wall = first_order(lambda t, z, m: [z[0] * z[0]])
    assert both(wall, [1.0], (0.0, 2.0), method=method).outcome is not Outcome.COMPLETE
    limits = Limits(steps=11, first=1e-3, longest=1e-3)
    assert both(driven(), [1.0], (0.0, 2.0), method=method, limits=limits).outcome is Outcome.TOO_MANY_STEPS


@settings(max_examples=20, deadline=None)
@given(
    e=st.floats(0.0, 0.95),
    rtol=st.floats(-11.0, -2.0),
    until=st.floats(0.01, 9.0),
    count=st.integers(2, 60),
    longest=st.floats(0.01, 10.0),
)
def test_any_orbit_is_the_same_run(e, rtol, until, count, longest):
    problem = KEPLER
    tolerance, limits = Tolerance(10.0**rtol, 10.0 ** (rtol - 2)), Limits(longest=longest)
    grid = np.linspace(0.0, until, count)
    both(
        problem,
        kepler_start(e),
        (0.0, until),
        method=DOP853,
        held=lambda: problem.held(p=[1.0]),
        tolerance=tolerance,
        limits=limits,
        output=grid,
    )


KEPLER = kepler(events=True)


def test_whole_numbers_as_tolerance_are_numbers():
    assert both(driven(), [1.0], (0.0, 1.0), tolerance=Tolerance(1, 1)).counts.rejected == 0


def test_arrays_that_native_code_cannot_work_on_are_refused():
    code = StepCode.of(DOPRI5, driven())
    with pytest.raises(CompileError, match="native code cannot work on"):
        Lanes(code, np.array([1, 1]))


@dataclass(frozen=True)
class Stubborn:
    """A control that tries a refused step again as it was."""

    refused: float
    order: int = 5

    def growth(self, error, before):
        return select(error > 1.0, self.refused, 0.9 * maximum(error, 1e-4) ** -0.2)


@pytest.mark.parametrize("refused", [1.0, 2.0])
@pytest.mark.parametrize("native", [True, False], ids=["native", "steered"])
def test_a_control_that_does_not_shorten_a_refused_step_is_an_error(refused, native):
    """Otherwise native steps would go on for ever, with nobody to interrupt them."""
    method, problem = replace(DOPRI5, control=Stubborn(refused)), kepler()
    with pytest.raises(ArgumentError, match="does not shorten a step that is refused"):
        integrate(problem, kepler_start(0.9), (0.0, 7.0), method=method, held=problem.held(p=[1.0]), native=native)
    good = replace(method, control=Stubborn(0.5))
    run = integrate(problem, kepler_start(0.9), (0.0, 7.0), method=good, held=problem.held(p=[1.0]), native=native)
    assert run.counts.rejected > 0
