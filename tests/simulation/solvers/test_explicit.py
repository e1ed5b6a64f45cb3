"""Runge-Kutta methods: their coefficients, their orders, dense output, corrections."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import DOP853 as PUBLISHED

from support.known_problems import driven, driven_exact, kepler, kepler_start, pendulum_in_the_plane
from torseur.emit import RK4 as CLASSICAL
from torseur.emit import Tableau, compile, integrator
from torseur.errors import ArgumentError
from torseur.graph import Function, Graph, Role, evaluate, exp, solve, sqrt
from torseur.simulation.integrate.driver import integrate
from torseur.simulation.integrate.hooks import Limits
from torseur.simulation.integrate.recording import Outcome
from torseur.simulation.solvers.control import PIControl, Tolerance
from torseur.simulation.solvers.explicit import RungeKutta
from torseur.simulation.solvers.methods import DOP853, DOPRI5, RK4
from torseur.simulation.solvers.problem import Problem
from torseur.simulation.solvers.rosenbrock import RODAS4
from torseur.simulation.solvers.step_graph import hoisted
from torseur.simulation.solvers.stepper import Stepper

EXPLICIT = [RK4, DOPRI5, DOP853]
NAMED = {"ids": lambda m: getattr(m, "name", m)}


# -- order conditions --------------------------------------------------------------------------------------------------


def trees(order: int) -> list[tuple]:
    """All rooted trees with a number of nodes; a tree is the sorted tuple of its branches."""

    def forests(nodes, largest=None):
        if nodes == 0:
            yield ()
            return
        for size in range(min(nodes, largest or nodes), 0, -1):
            for first in trees(size):
                for rest in forests(nodes - size, size):
                    yield (first, *rest)

    return sorted({tuple(sorted(forest)) for forest in forests(order - 1)})


def size_of(tree) -> int:
    return 1 + sum(map(size_of, tree))


def density(tree) -> int:
    return size_of(tree) * int(np.prod([density(branch) for branch in tree], dtype=int))


def weights(tree, A) -> np.ndarray:
    """Phi_i of a tree: the product over its branches of sum_j a_ij Phi_j."""
    found = np.ones(len(A))
    for branch in tree:
        found = found * (A @ weights(branch, A))
    return found


def matrix(rows, size: int) -> np.ndarray:
    A = np.zeros((size, size))
    for i, row in enumerate(rows):
        A[i, : len(row)] = row
    return A


def defects(b, A, orders) -> np.ndarray:
    return np.array([b @ weights(t, A) - 1 / density(t) for order in orders for t in trees(order)])


def test_there_are_as_many_trees_as_butcher_counted():
    assert [len(trees(k)) for k in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]


@pytest.mark.parametrize("method", EXPLICIT, **NAMED)
def test_the_coefficients_meet_all_order_conditions_and_not_those_of_the_next_order(method):
    tableau = method.tableau
    A, b, c = matrix(tableau.a, len(tableau.b)), np.array(tableau.b), np.array(tableau.c)
    np.testing.assert_allclose(A.sum(axis=1), c, atol=1e-13)
    assert np.abs(defects(b, A, range(1, tableau.order + 1))).max() < 1e-12
    assert np.abs(defects(b, A, [tableau.order + 1])).max() > 1e-6


def with_end(method) -> tuple[np.ndarray, np.ndarray]:
    """The tableau with the end of the step as a further stage."""
    tableau = method.tableau
    s = len(tableau.b)
    rows = [*tableau.a, tableau.b, *(row for _, row in method.more_stages)]
    return matrix(rows, s + 1 + len(method.more_stages)), np.array([*tableau.b, 0.0])


@pytest.mark.parametrize(("method", "orders"), [(DOPRI5, [4]), (DOP853, [5, 3])], **NAMED)
def test_error_weights_are_the_difference_to_a_method_of_the_order_they_are_named_for(method, orders):
    A, b = with_end(method)
    s = len(b)
    for row, order in zip(method.errors, orders, strict=True):
        lower = b - np.array(row)
        assert np.abs(defects(lower, A[:s, :s], range(1, order + 1))).max() < 1e-12
        assert np.abs(defects(lower, A[:s, :s], [order + 1])).max() > 1e-6


@pytest.mark.parametrize(("method", "order"), [(RK4, 3), (DOPRI5, 4), (DOP853, 7)], **NAMED)
def test_dense_output_meets_the_conditions_of_its_order_everywhere(method, order):
    A, b = with_end(method)
    size = len(A)
    b = np.pad(b, (0, size - len(b)))
    first, last = np.eye(size)[0], np.eye(size)[len(method.tableau.b)]
    rows = [np.zeros(size), b, first - b, 2 * b - first - last, *map(np.array, method.dense)]
    for theta in (0.2, 0.5, 0.9):
        found = rows[-1]
        for k in range(len(rows) - 2, -1, -1):
            found = rows[k] + (theta if k % 2 == 0 else 1 - theta) * found
        for k in range(1, order + 1):
            for tree in trees(k):
                assert found @ weights(tree, A) == pytest.approx(theta**k / density(tree), abs=1e-12)


def test_the_coefficients_of_order_8_are_the_published_ones():
    A, b = with_end(DOP853)
    np.testing.assert_array_equal(A[:12, :12], PUBLISHED.A)
    np.testing.assert_array_equal(A[13:], PUBLISHED.A_EXTRA)
    np.testing.assert_array_equal(b[:12], PUBLISHED.B)
    np.testing.assert_array_equal(DOP853.errors, [PUBLISHED.E5, PUBLISHED.E3])
    np.testing.assert_array_equal(DOP853.dense, PUBLISHED.D)


# -- measured orders ---------------------------------------------------------------------------------------------------


def measured(method, counts, native, until=2.0):
    """Slopes of the errors at the end and of dense output within steps, on y' = (cos t - 2t) y."""
    theta, ends, inside = np.linspace(0.1, 0.9, 7), [], []
    loose = Tolerance(1e30, 1e30)  # all steps are as long as they may be
    for n in counts:
        h = until / n
        grid = np.append((np.arange(n)[:, None] + theta) * h, until)
        limits = Limits(first=h, longest=h)
        run = integrate(
            driven(), [1.0], (0.0, until), method=method, limits=limits, tolerance=loose, output=grid, native=native
        )
        assert run.counts.steps == n
        errors = np.abs(run.states[:, 0] - driven_exact(grid))
        ends.append(errors[-1])
        inside.append(errors[:-1].max())
    fit = [np.polyfit(np.log(1 / np.array(counts)), np.log(e), 1)[0] for e in (ends, inside)]
    return fit


CASES = [
    (RK4, 4, 4, (40, 80, 160)),
    (DOPRI5, 5, 5, (32, 64, 128)),
    (DOP853, 8, 8, (8, 12, 16)),
    (RODAS4, 4, 4, (32, 64, 128)),
]


@pytest.mark.parametrize("native", [True, False], ids=["native", "steered"])
@pytest.mark.parametrize(("method", "order", "inside", "counts"), CASES, **NAMED)
def test_errors_fall_with_the_order_of_the_method(method, order, inside, counts, native):
    """Within a step, an interpolant of order p leaves an error of order p + 1."""
    end, dense = measured(method, counts, native)
    assert order - 0.3 < end < order + 1.3
    assert inside - 0.3 < dense < inside + 1.0


@pytest.mark.parametrize("method", [DOPRI5, DOP853, RODAS4], **NAMED)
def test_a_tighter_tolerance_gives_a_smaller_error(method):
    problem, x0 = kepler(), kepler_start(0.3)
    errors = []
    for tolerance in (1e-4, 1e-6, 1e-8, 1e-10):
        run = integrate(
            problem,
            x0,
            (0.0, 2 * np.pi),
            method=method,
            held=problem.held(p=[1.0]),
            tolerance=Tolerance(tolerance, tolerance),
        )
        assert run.outcome is Outcome.COMPLETE
        errors.append(np.abs(run.final - x0).max())
    assert all(b < a for a, b in pairwise(errors))
    assert errors[-1] < 1e-6


@pytest.mark.parametrize("method", EXPLICIT, **NAMED)
def test_a_step_of_no_length_stays_where_it_is(method):
    problem = kepler(events=True)
    stepper = Stepper(method, problem, problem.held(p=[1.0]), Tolerance())
    x0 = kepler_start(0.4)
    stepper.restart(1.0, x0)
    np.testing.assert_array_equal(stepper.x, x0)
    right = np.concatenate(evaluate(problem.rate, x0[:2], x0[2:], [1.0]))
    np.testing.assert_allclose(stepper.record[stepper.layout.rate], right, rtol=1e-14)


# -- corrections -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "order"), [(RK4, 4), (DOPRI5, 5), (DOP853, 8)], **NAMED)
def test_corrected_steps_keep_the_order_and_the_constraint_also_between_steps(method, order):
    problem = pendulum_in_the_plane(corrects=True)
    start, until = [1.0, 0.0, 0.0, 0.0], 2.0
    fine = integrate(problem, start, (0.0, until), method=DOP853, tolerance=Tolerance(1e-13, 1e-13))
    stepper, errors = Stepper(method, problem, problem.held(), Tolerance()), []
    counts = (6, 9, 12) if order == 8 else (20, 40, 80)
    for n in counts:
        stepper.restart(0.0, np.array(start))
        for k in range(n):
            stepper.attempt(until / n)
            x = stepper.states(np.array([0.3, 1.0]))
            assert np.abs((x[:, :2] ** 2).sum(axis=1) - 1.0).max() < 1e-14
            assert np.abs((x[:, :2] * x[:, 2:]).sum(axis=1)).max() < 1e-14
            stepper.accept((k + 1) * until / n)
        errors.append(np.abs(stepper.x - fine.final).max())
    slope = np.polyfit(np.log(1 / np.array(counts)), np.log(errors), 1)[0]
    assert order - 0.4 < slope < order + 1.5


@pytest.mark.parametrize("lanes", [1, 4])
def test_a_native_run_with_corrections_equals_corrected_steps(lanes):
    problem = pendulum_in_the_plane(corrects=True)
    starts = np.array([[1.0, 0.0, 0.0, 0.1 * k] for k in range(5)])
    run = integrator(problem.rate, CLASSICAL, correct=problem.correct, lanes=lanes)
    motion = run(starts[:, :2], starts[:, 2:], step=0.05, steps=40)
    found = np.concatenate(motion.states, axis=-1)
    stepper = Stepper(RK4, problem, problem.held(), Tolerance())
    for row, start in zip(found, starts, strict=True):
        stepper.restart(0.0, start)
        for k in range(40):
            np.testing.assert_allclose(row[k + 1], _step(stepper, k, 0.05), rtol=1e-11, atol=1e-12)
    assert np.abs((found[:, 1:, :2] ** 2).sum(axis=-1) - 1.0).max() < 1e-14


def _step(stepper, k, h):
    stepper.attempt(h)
    stepper.accept((k + 1) * h)
    return stepper.x


def test_a_correction_may_know_time_inputs_and_parameters():
    g = Graph()
    t, z = g.block("t", (), Role.TIME), g.block("z", 1)
    u, p = g.block("u", 1, Role.INPUT), g.block("p", 1, Role.PARAMETER)
    rate = Function("rate", [t, z, u, p], {"dz": [g.one]})
    correct = Function("correct", [t, z, u, p], {"z": [z[0] * 0.5 + t[0] * u[0] + exp(p[0])]})
    found = integrator(rate, correct=correct, lanes=1)([2.0], [3.0], [0.5], step=0.25, steps=2, time=1.0).states[0]
    first = (2.0 + 0.25) * 0.5 + 1.25 * 3.0 + np.exp(0.5)
    second = (first + 0.25) * 0.5 + 1.5 * 3.0 + np.exp(0.5)
    np.testing.assert_allclose(found[:, 0], [2.0, first, second], rtol=1e-14)


def test_a_correction_that_does_not_fit_is_refused():
    g = Graph()
    x, p = g.block("x", 2), g.block("p", 1, Role.PARAMETER)
    rate = Function("rate", [x], {"dx": list(x)})
    for wrong in (
        Function("short", [x], {"x": [x[0]]}),
        Function("foreign", [x, p], {"x": [x[0] * p[0], x[1]]}),
        Function("two", [x], {"x": [x[0]], "y": [x[1]]}),
    ):
        with pytest.raises(ArgumentError, match="does not correct"):
            integrator(rate, correct=wrong)
    with pytest.raises(ArgumentError, match="not a function"):
        integrator(rate, correct=lambda x: x)


# -- hoisting ----------------------------------------------------------------------------------------------------------


def test_a_function_cut_at_its_parameters_is_the_same_function():
    g = Graph()
    x, p = g.block("x", 2), g.block("p", 4, Role.PARAMETER)
    matrix = [[p[0] + 3.0, p[1]], [p[2], exp(p[3]) + 3.0]]
    y = [*solve(matrix, [x[0], x[1]]), sqrt(p[0]) * x[0], p[1] * p[2], g.number(2.0)]
    whole = Function("f", [x, p], {"y": y})
    first, rest = hoisted(whole)
    assert Role.PARAMETER not in {b.role for b in rest.inputs}
    values = [0.3, -1.2], [0.4, 0.2, 0.1, 0.7]
    work = evaluate(first, values[1])[0]
    np.testing.assert_allclose(evaluate(rest, values[0], work)[0], evaluate(whole, *values)[0], rtol=1e-15)
    np.testing.assert_allclose(compile(rest)(values[0], work), compile(whole)(*values), rtol=1e-15)
    without = Function("g", [x], {"y": [x[0]]})
    assert hoisted(without) == (None, without)


# -- faults ------------------------------------------------------------------------------------------------------------


def test_wrong_data_of_a_method_are_refused():
    euler = Tableau("Euler", ((),), (1.0,), (0.0,), 1)
    for errors, control in (((), PIControl(1)), (((1.0,),), PIControl(1)), (((1.0, -1.0),), None)):
        with pytest.raises(ArgumentError, match="do not fit"):
            RungeKutta(euler, errors=errors, control=control)


@pytest.mark.parametrize(
    ("rtol", "atol"), [(-1.0, 1e-6), (np.nan, 1e-6), ("a", 1e-6), (1e-6, 0.0), (1e-6, (1.0, -1.0))]
)
def test_wrong_tolerances_are_refused(rtol, atol):
    with pytest.raises(ArgumentError, match="wrong tolerance"):
        Tolerance(rtol, atol)


def test_a_tolerance_for_each_state_must_be_as_long_as_the_state():
    with pytest.raises(ArgumentError, match="wrong tolerance"):
        integrate(driven(), [1.0], (0.0, 1.0), tolerance=Tolerance(1e-6, (1e-6, 1e-6)))


def test_a_method_without_error_control_wants_a_step():
    with pytest.raises(ArgumentError, match="has no adaptive step"):
        integrate(driven(), [1.0], (0.0, 1.0), method=RK4)
    run = integrate(driven(), [1.0], (0.0, 1.0), method=RK4, limits=Limits(first=0.01))
    assert run.final[0] == pytest.approx(driven_exact(1.0), rel=1e-8)


def test_problems_that_do_not_fit_together_are_refused():
    g = Graph()
    q, v, w, x = (g.block(name, 2) for name in "qvwx")
    t = g.block("t", 2, Role.TIME)
    rate = Function("rate", [q, v], {"dq": list(v), "dv": list(q)})
    for make, said in (
        (lambda: Problem(Function("rate", [x], {"dx": list(x)})), "blocks t, q, v, z, w, u, m, p"),
        (lambda: Problem(Function("rate", [v, q], {"dv": list(v), "dq": list(q)})), "in this order"),
        (lambda: Problem(Function("rate", [q, v], {"dq": list(v)})), "q 2, v 2"),
        (lambda: Problem(Function("rate", [t, q], {"dq": list(q)})), "a scalar"),
        (lambda: Problem(rate, correct=Function("c", [q], {"q": list(q)})), "q 2, v 2"),
        (lambda: Problem(rate, events=Function("e", [q], {"g": [], "h": [q[0]]})), "one output"),
        (lambda: Problem("rate"), "a Function"),
        (lambda: Problem(Function("rate", [q, w], {"dq": list(w), "dw": list(q)})), "nothing depends on w"),
    ):
        with pytest.raises(ArgumentError) as caught:
            make()
        assert said in str(caught.value)
    problem = Problem(rate)
    for start in ([1.0], [1.0, 2.0, 3.0, np.nan], {"q": [1.0, 2.0]}):
        with pytest.raises(ArgumentError, match="start"):
            problem.start(start)
    np.testing.assert_array_equal(problem.start({"v": [3, 4], "q": [1, 2]}), [1, 2, 3, 4])
    with pytest.raises(ArgumentError, match="held"):
        problem.held(u=[1.0])
    with pytest.raises(ArgumentError, match="not given"):
        kepler().held()
