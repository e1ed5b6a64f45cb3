"""Newton's method with a kept matrix: the same steps, with few matrices, whatever happens to the stiffness."""

import numpy as np
import pytest

from support.known_problems import second_order
from torseur.graph import select, sin
from torseur.simulation.integrate.driver import integrate
from torseur.simulation.integrate.hooks import Limits
from torseur.simulation.integrate.recording import Outcome
from torseur.simulation.solvers.control import Tolerance
from torseur.simulation.solvers.newton import Newton
from torseur.simulation.solvers.second_order import DRIFT, MOST, NEWMARK, SLOW, ChordMatrix
from torseur.simulation.solvers.stepper import Stepper


def plain_newmark(force, slope, q, v, h, steps):
    """Mean acceleration for one freedom, each step solved to rounding by Newton's method."""
    a, rows = force(q, v), [(q, v)]
    for _ in range(steps):
        b = a
        for _ in range(60):
            x, y = q + h * v + 0.25 * h * h * (a + b), v + 0.5 * h * (a + b)
            by_q, by_v = slope(x, y)
            d = (b - force(x, y)) / (1.0 - 0.25 * h * h * by_q - 0.5 * h * by_v)
            b -= d
            if abs(d) < 1e-15 * (1.0 + abs(b)):
                break
        q, v, a = q + h * v + 0.25 * h * h * (a + b), v + 0.5 * h * (a + b), b
        rows.append((q, v))
    return np.array(rows)


def test_steps_are_those_of_newtons_method():
    """Each step may leave a hundredth of the precision, 1e-11 of the speed: 400 of them stay within 400 times that."""
    problem = second_order(lambda t, q, v, z, p: [-4.0 * sin(q[0]) - 0.3 * v[0] * v[0] * v[0]], 1)
    run = integrate(problem, [2.0, 0.0], (0.0, 8.0), method=NEWMARK, limits=Limits(first=0.02))
    right = plain_newmark(
        lambda q, v: -4.0 * np.sin(q) - 0.3 * v**3, lambda q, v: (-4.0 * np.cos(q), -0.9 * v * v), 2.0, 0.0, 0.02, 400
    )
    assert np.abs(run.states - right).max() < 4e-9
    assert run.counts.newton < 4 * run.counts.steps


def test_a_stop_that_is_met_and_left_is_solved_by_a_new_matrix():
    """Stiffness goes from 1 to 1e8 at one step and back at another: a kept matrix is off by that much."""

    def pushed(q, v):
        return -q - np.where(q < -1.0, 1e8 * (q + 1.0), 0.0)

    problem = second_order(lambda t, q, v, z, p: [-q[0] - select(q[0] < -1.0, 1e8 * (q[0] + 1.0), 0.0)], 1)
    run = integrate(problem, [2.0, 0.0], (0.0, 6.0), method=NEWMARK, limits=Limits(first=0.01))
    right = plain_newmark(pushed, lambda q, v: (np.where(q < -1.0, -1.0 - 1e8, -1.0), 0.0), 2.0, 0.0, 0.01, 600)
    assert run.outcome is Outcome.COMPLETE
    assert right[:, 0].min() < -1.0
    np.testing.assert_allclose(run.states, right, atol=1e-7)


def matrices(problem, start, step, count, method=NEWMARK):
    """Iterations of each step, and how many matrices were made."""
    tolerance = Tolerance(1e-6, 1e-9)
    stepper = Stepper(method, problem, problem.held(), tolerance)
    stepper.restart(0.0, np.array(start))
    size = ChordMatrix.size(Newton(method, problem, problem.implicit))
    made, counts, last = 0, [], None
    for k in range(count):
        assert stepper.attempt(step(k)) == 0.0
        kept = stepper.record[stepper.layout.rest][-size:]
        N = kept[-1]
        made, last = made + (last != N), N
        counts.append(stepper.work_done)
        stepper.accept(0.0)
    return counts, made


SWING = second_order(lambda t, q, v, z, p: [-sin(q[0])], 1)


def test_slow_motion_keeps_its_matrix_for_many_steps():
    counts, made = matrices(SWING, [1.0, 0.0], lambda k: 0.002, 2000)
    assert made < 40
    assert max(counts) <= SLOW + MOST


@pytest.mark.parametrize(("growth", "anew"), [(1.0 + 0.9 * DRIFT, False), (1.0 + 1.1 * DRIFT, True)])
def test_a_matrix_is_made_anew_for_steps_of_another_length(growth, anew):
    _, made = matrices(SWING, [1.0, 0.0], lambda k: 1e-4 * growth ** (k > 4), 10)
    assert made == 1 + anew


def test_a_linear_model_is_solved_at_the_second_iteration():
    linear = second_order(lambda t, q, v, z, p: [-9.0 * q[0] - 0.1 * v[0]], 1)
    counts, made = matrices(linear, [1.0, 0.0], lambda k: 0.05, 100)
    assert made == 1
    assert set(counts) == {2}
