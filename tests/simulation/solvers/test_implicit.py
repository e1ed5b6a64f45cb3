"""Methods for stiff and for constrained problems: orders, damping, energy, constraints, published reference values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.example_files import EXAMPLES
from support.known_problems import (
    driven,
    free_top,
    kepler,
    pendulum,
    pendulum_in_the_plane,
    robertson,
    second_order,
    van_der_pol,
)
from support.random_mechanisms import LOAD_FORMS, mechanism_of, plans, without_dry_friction
from torseur.dynamics.quantities import Workbench
from torseur.errors import ArgumentError, GraphError
from torseur.formats import read
from torseur.graph import Function, Graph, Role, evaluate, exp, jacobian, sin, tangents
from torseur.simulation.integrate.driver import integrate
from torseur.simulation.integrate.hooks import Limits
from torseur.simulation.integrate.recording import Outcome
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.solvers import rosenbrock
from torseur.simulation.solvers.control import EasyDynControl, Tolerance
from torseur.simulation.solvers.methods import DOP853, RK4
from torseur.simulation.solvers.newton import Loop
from torseur.simulation.solvers.problem import Implicit, Problem
from torseur.simulation.solvers.rosenbrock import RODAS4
from torseur.simulation.solvers.second_order import (
    EASYDYN,
    NEWMARK,
    GeneralisedAlpha,
    generalised_alpha,
    hht,
    newmark,
)
from torseur.simulation.solvers.step_graph import NOW, StepGraph
from torseur.simulation.study.study import Study

FAMILY = [NEWMARK, hht(0.1), hht(1 / 3), generalised_alpha(1.0), generalised_alpha(0.8), generalised_alpha(0.0)]
DAMPED = [hht(0.1), generalised_alpha(0.8), generalised_alpha(0.3)]
IDS = {"ids": lambda m: f"{m.name} {m.alpha_m:.2f} {m.alpha_f:.2f}"}
FINE = Tolerance(1e-12, 1e-12)


LOOPS = {"argvalues": [True, False], "ids": ["native", "steered"]}


def order_of(problem, start, until, method, counts, held=None, native=True):
    """The slope of the error at the end."""
    right = integrate(problem, start, (0.0, until), method=DOP853, held=held, tolerance=FINE).final
    errors = []
    for n in counts:
        limits = Limits(first=until / n)
        run = integrate(problem, start, (0.0, until), method=method, held=held, limits=limits, native=native)
        assert run.outcome is Outcome.COMPLETE
        errors.append(np.abs(run.final - right).max())
    return np.polyfit(np.log(1 / np.array(counts)), np.log(errors), 1)[0]


# -- order -------------------------------------------------------------------------------------------------------------


def coupled() -> Problem:
    """A pendulum with friction, driven by a filter of its own motion and by time: q, v, z, p all meet."""
    return second_order(
        lambda t, q, v, z, p: [p[0] * (0.3 * z[0] - sin(q[0])) - 0.1 * v[0] * v[0] * v[0] + 0.2 * sin(2.0 * t)],
        1,
        nz=1,
        rates=lambda t, q, v, z, p: [exp(-z[0] * z[0]) * q[0] + v[0] - 2.0 * z[0]],
        parameters=1,
    )


@pytest.mark.parametrize("native", **LOOPS)
@pytest.mark.parametrize("method", FAMILY, **IDS)
def test_the_family_of_generalised_alpha_is_of_order_2(method, native):
    problem = coupled()
    slope = order_of(problem, [1.0, 0.2, 0.1], 4.0, method, (80, 160, 320), problem.held(p=[1.5]), native)
    assert method.order == 2
    assert slope == pytest.approx(2.0, abs=0.12)


@pytest.mark.parametrize("native", **LOOPS)
def test_newmark_with_more_damping_is_of_order_1(native):
    method = newmark(0.3025, 0.6)
    problem = coupled()
    assert method.order == 1
    slope = order_of(problem, [1.0, 0.2, 0.1], 4.0, method, (80, 160, 320), problem.held(p=[1.5]), native)
    assert slope == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("method", DAMPED, **IDS)
@pytest.mark.parametrize("corrects", [False, True])
def test_constrained_motion_is_of_order_2_and_stays_closed(method, corrects):
    problem = pendulum_in_the_plane(corrects)
    assert order_of(problem, [1.0, 0.0, 0.0, 0.0], 3.0, method, (60, 120, 240)) == pytest.approx(2.0, abs=0.15)
    run = integrate(problem, [1.0, 0.0, 0.0, 0.0], (0.0, 10.0), method=method, limits=Limits(first=0.01))
    x, v = run.states[:, :2], run.states[:, 2:]
    assert np.abs((x * x).sum(axis=1) - 1.0).max() < 1e-13
    assert np.abs((x * v).sum(axis=1)).max() < (1e-14 if corrects else 1e-3)


@pytest.mark.parametrize("method", [NEWMARK, generalised_alpha(0.7)], **IDS)
def test_quaternions_move_along_the_group_with_order_2_and_stay_unit(method):
    problem = free_top()
    start = [1.0, 0.0, 0.0, 0.0, 0.3, 2.0, 0.1]
    assert order_of(problem, start, 2.0, method, (100, 200, 400)) == pytest.approx(2.0, abs=0.1)
    bare = Problem(problem.rate, implicit=problem.implicit)
    run = integrate(bare, start, (0.0, 10.0), method=method, limits=Limits(first=0.01))
    assert np.abs((run.states[:, :4] ** 2).sum(axis=1) - 1.0).max() < 1e-12


def test_redundant_constraints_change_nothing():
    rows = [lambda t, q: 0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0)]
    twice = [*rows, lambda t, q: q[0] * q[0] + q[1] * q[1] - 1.0]
    method, limits = generalised_alpha(0.8), Limits(first=0.01)
    runs = [
        integrate(
            second_order(lambda t, q, v, z, p: [0.0, -1.0], 2, rows=r),
            [1.0, 0.0, 0.0, 0.0],
            (0.0, 5.0),
            method=method,
            limits=limits,
        )
        for r in (rows, twice)
    ]
    assert all(r.outcome is Outcome.COMPLETE for r in runs)
    np.testing.assert_allclose(runs[1].states, runs[0].states, atol=1e-10)


def skate() -> tuple[Problem, list[float]]:
    """A knife edge on a slope: x, y, heading; it slides along itself only. Unit mass and inertia, weight g along x."""
    from torseur.graph import cos

    g, weight = Graph(), 2.0
    q, v = g.block("q", 3), g.block("v", 3)
    vdot, lam, d = g.block("vdot", 3), g.block("lam", 1), g.block("d", 3)
    A = [-sin(q[2]), cos(q[2]), g.zero]
    row = A[0] * v[0] + A[1] * v[1]
    bias = tangents([row], dict(zip(q, v, strict=True)))[0]
    push = -bias - A[0] * weight
    r = [vdot[0] - weight - A[0] * lam[0], vdot[1] - A[1] * lam[0], vdot[2]]
    tangent = {n: jacobian(r, list(b)).dense() for n, b in (("M", vdot), ("C", v), ("K", q))}
    tangent |= {"H": jacobian([row], list(q)).dense(), "A": [A]}
    implicit = Implicit(
        Function("residual", [q, v, vdot, lam], {"r": r, "h": [row]}),
        Function("tangent", [q, v, vdot, lam], tangent),
        Function("displace", [q, d], {"q": [a + b for a, b in zip(q, d, strict=True)]}),
        (False,),
    )
    rate = Function("skate", [q, v], {"dq": list(v), "dv": [weight + A[0] * push, A[1] * push, g.zero]})
    return Problem(rate, implicit=implicit), [0.0, 0.0, 0.0, 0.0, 0.0, 1.5]


def test_a_knife_edge_on_a_slope_swings_sideways_on_its_cycloid():
    """From rest, turning at w: x = g sin^2(wt) / (2 w^2), y = g (wt - sin(2wt)/2) / (2 w^2); it does not go down."""
    problem, start = skate()
    w, until, errors = 1.5, 6.0, []
    for n in (300, 600, 1200):
        run = integrate(problem, start, (0.0, until), method=generalised_alpha(0.9), limits=Limits(first=until / n))
        t = run.times
        right = np.stack([np.sin(w * t) ** 2, w * t - 0.5 * np.sin(2 * w * t)], axis=1) * (2.0 / (2 * w * w))
        errors.append(np.abs(run.states[:, :2] - right).max())
        x, v = run.states[:, :3], run.states[:, 3:]
        assert np.abs(-np.sin(x[:, 2]) * v[:, 0] + np.cos(x[:, 2]) * v[:, 1]).max() < 1e-12
    assert np.log2(errors[0] / errors[2]) / 2 == pytest.approx(2.0, abs=0.15)


def test_the_double_pendulum_of_the_library_goes_the_same_way_by_newmark_and_by_runge_kutta():
    bench = Workbench(read(EXAMPLES / "double_pendulum" / "double_pendulum.yaml").mechanism)
    q, v = bench.system.q, bench.system.v
    n, vdot = len(v), bench.block("vdot")
    r = bench.inverse(list(vdot))
    d = bench.system.graph.block("d", n)
    blocks = [b for b in (bench.system.p,) if len(b)]
    tangent = {k: jacobian(r, list(b)).dense() for k, b in (("M", vdot), ("C", v), ("K", q))}
    rest = [-b for b in bench.inverse(bench.rest)]
    rate = Function("rate", [q, v, *blocks], {"dq": list(v), "dv": bench.solve_once(rest)})
    implicit = Implicit(
        Function("residual", [q, v, *blocks, vdot], {"r": r}),
        Function("tangent", [q, v, *blocks, vdot], tangent),
        Function("displace", [q, d], {"q": [a + b for a, b in zip(q, d, strict=True)]}),
    )
    problem = Problem(rate, implicit=implicit)
    held = problem.held(p=np.ones(len(bench.system.p)) if blocks else None)
    start = [0.4, -0.3, 0.0, 0.0]
    assert order_of(problem, start, 1.0, NEWMARK, (100, 200, 400), held) == pytest.approx(2.0, abs=0.1)


# -- energy and damping ------------------------------------------------------------------------------------------------


def spring(omega: float) -> Problem:
    return second_order(lambda t, q, v, z, p: [-omega * omega * q[0]], 1)


@pytest.mark.parametrize("step", [0.01, 0.5, 20.0])
def test_newmark_of_mean_acceleration_keeps_the_energy_of_a_linear_oscillator(step):
    run = integrate(spring(1.0), [1.0, 0.0], (0.0, 500 * step), method=NEWMARK, limits=Limits(first=step))
    energy = (run.states**2).sum(axis=1)
    assert np.abs(energy - 1.0).max() < 1e-9


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.8, 1.0])
def test_generalised_alpha_damps_infinite_frequency_by_its_spectral_radius(rho):
    """omega h = 1e4: what is left after n steps falls as rho^n (times n at a double root); rho = 0 leaves nothing."""
    run = integrate(spring(1e5), [1.0, 0.0], (0.0, 6.0), method=generalised_alpha(rho), limits=Limits(first=0.1))
    sizes = np.abs(run.states[:, 0])
    if rho == 0.0:
        assert sizes[5:].max() < 1e-5
    elif rho == 1.0:
        assert sizes[-10:].max() > 0.5
    else:
        rate = (sizes[55] / sizes[35]) ** (1 / 20)
        assert rate == pytest.approx(rho, rel=0.06)


@pytest.mark.parametrize("method", FAMILY, **IDS)
def test_low_frequencies_are_hardly_damped(method):
    until = 20 * np.pi
    run = integrate(spring(1.0), [1.0, 0.0], (0.0, until), method=method, limits=Limits(first=until / 2000))
    assert (run.final**2).sum() == pytest.approx(1.0, abs=2e-3)


def test_undamped_newmark_on_index_3_does_not_last_where_generalised_alpha_does():
    """The weak instability of the trapezoidal rule on constraints (Cardona & Geradin 1989): why rho < 1 is the rule."""
    problem, start, limits = pendulum_in_the_plane(), [1.0, 0.0, 0.0, 0.0], Limits(first=0.01)

    def energy_error(method):
        run = integrate(problem, start, (0.0, 30.0), method=method, limits=limits)
        energy = 0.5 * (run.states[:, 2:] ** 2).sum(axis=1) + run.states[:, 1]
        return np.abs(energy).max() if run.outcome is Outcome.COMPLETE else np.inf

    assert energy_error(generalised_alpha(0.8)) < 1e-3
    assert energy_error(NEWMARK) > 1e-2


def test_rk4_loses_energy_with_the_fifth_power_of_the_step_and_symmetric_newmark_does_not():
    problem, until = spring(1.0), 400.0
    losses = []
    for step in (0.2, 0.1):
        run = integrate(problem, [1.0, 0.0], (0.0, until), method=RK4, limits=Limits(first=step))
        losses.append(1.0 - (run.final**2).sum())
    assert np.log2(losses[0] / losses[1]) == pytest.approx(5.0, abs=0.1)


# -- step control ------------------------------------------------------------------------------------------------------


def test_easydyn_chooses_its_step_by_its_tolerance():
    problem, counts, errors = second_order(lambda t, q, v, z, p: [-sin(q[0])], 1), [], []
    right = integrate(problem, [1.0, 0.0], (0.0, 10.0), method=DOP853, tolerance=FINE).final
    for tolerance in (1e-4, 1e-6, 1e-8):
        run = integrate(problem, [1.0, 0.0], (0.0, 10.0), method=EASYDYN, tolerance=Tolerance(tolerance, tolerance))
        counts.append(run.counts.steps)
        errors.append(np.abs(run.final - right).max())
    # e ~ h^3 in one step: steps are as tolerance^(-1/3); the error at the end is as h^2.
    assert counts[2] / counts[1] == pytest.approx(100 ** (1 / 3), rel=0.5)
    assert errors[2] < errors[1] < errors[0]
    assert run.counts.newton >= run.counts.steps


def test_easydyn_keeps_a_step_whose_error_is_near_the_tolerance():
    control, g = EasyDynControl(), Graph()
    e = g.symbol("e")
    growth = Function("growth", [g.blocks["e"]], {"f": control.growth(e, e)})
    assert evaluate(growth, 0.5)[0] == 1.0
    assert evaluate(growth, 0.01)[0] == pytest.approx(np.sqrt(1 / (0.021 + 0.04)))
    assert evaluate(growth, 2.0)[0] == pytest.approx(np.sqrt(0.29 / 2.0))
    assert evaluate(growth, np.inf)[0] == evaluate(growth, np.nan)[0] == 0.25


# -- stiff problems ----------------------------------------------------------------------------------------------------


def test_van_der_pol_meets_its_reference_values():
    """Hairer & Wanner, Solving ODEs II, IV.10: epsilon = 1e-6, at t = 2."""
    problem = van_der_pol()
    run = integrate(
        problem, [2.0, -0.66], (0.0, 2.0), method=RODAS4, held=problem.held(p=[1e-6]), tolerance=Tolerance(1e-9, 1e-9)
    )
    assert run.outcome is Outcome.COMPLETE
    np.testing.assert_allclose(run.final, [1.706167732170469, -0.8928097010248125], rtol=1e-6)
    assert run.counts.steps < 15_000


def test_robertson_meets_its_reference_values():
    """Hairer & Wanner, Solving ODEs II, IV.10: at t = 1e11."""
    run = integrate(robertson(), [1.0, 0.0, 0.0], (0.0, 1e11), method=RODAS4, tolerance=Tolerance(1e-8, 1e-15))
    assert run.outcome is Outcome.COMPLETE
    np.testing.assert_allclose(
        run.final, [0.2083340149701255e-07, 0.8333360770334713e-13, 0.9999999791665050], rtol=1e-5
    )
    assert run.counts.steps < 3000


def test_a_stiff_decay_is_gone_in_one_long_step():
    """L-stability: R(infinity) = 0."""
    g = Graph()
    z, p = g.block("z", 1), g.block("p", 1, Role.PARAMETER)
    problem = Problem(Function("decay", [z, p], {"dz": [-p[0] * z[0]]}))
    from torseur.simulation.solvers.stepper import Stepper

    stepper = Stepper(RODAS4, problem, problem.held(p=[1e12]), Tolerance())
    stepper.restart(0.0, np.array([1.0]))
    stepper.attempt(1.0)
    assert abs(stepper.x[0]) < 1e-9


@pytest.mark.parametrize(("make", "left_out"), [(coupled, 1), (kepler, 2), (free_top, 0), (driven, 0)])
def test_linear_systems_of_a_step_are_solved_in_blocks(make, left_out):
    """Coordinates whose rates depend on no coordinates are left out; the result is that of the whole matrix."""
    problem, rng = make(), np.random.default_rng(3)
    n, function = problem.size, rosenbrock._derivative_function(problem)
    step_graph = StepGraph(problem, t=1, x=n, b=n, s=1)
    t, x, b, s = (step_graph.block(name) for name in ("t", "x", "b", "s"))
    flat = step_graph.call(function, t[0], x)
    matrix = rosenbrock._Matrix(problem, s[0], [flat[i * n : (i + 1) * n] for i in range(n)], flat[n * n :])
    assert len(matrix.first) == left_out
    values = {"t": [0.3], "x": rng.normal(size=n), "b": rng.normal(size=n), "s": [0.2], "p": [1.3]}
    given = [values[block.name] for block in step_graph.inputs]
    u, J = (evaluate(step_graph.function("found", y), *given)[0] for y in (matrix.solve(b), flat[: n * n]))
    np.testing.assert_allclose(u, np.linalg.solve(np.eye(n) - 0.2 * J.reshape(n, n), values["b"]), rtol=1e-12)


LOADED = tuple(form for form in LOAD_FORMS if form not in ("strut", "pull"))  # these may tie a body to itself


@settings(max_examples=12, deadline=None)
@given(
    plans(max_bodies=4, bases=("fixed", "moving"), kinds=("revolute", "prismatic"), loads=LOADED),
    st.integers(0, 99),
)
def test_stages_by_the_mass_matrix_are_those_by_the_jacobian_of_accelerations(plan, seed):
    """Of any tree of one-axis joints with loads, with the integrals of its audit, driven by its base or by time."""
    mechanism = without_dry_friction(mechanism_of(plan))
    simulation = Simulation(Study(model=mechanism, solver={"method": "rodas"}))
    problem = simulation.problem.derived()
    assert rosenbrock._ByMass.is_possible(problem)
    rng, n = np.random.default_rng(seed), problem.size
    step_graph = StepGraph(problem, now=NOW, x=n, rate=n, f=n, before=n, s=2)
    x, rate, f, before = (list(step_graph.block(name)) for name in ("x", "rate", "f", "before"))
    scale, along = step_graph.block("s")
    values = {"now": [0.4, 0.01, -np.inf, np.inf], "s": [0.05, 0.3], "p": simulation.model.parameter_values}
    values |= {"u": rng.uniform(-1.0, 1.0, len(mechanism.inputs)), "m": np.zeros(0)}
    values |= {name: rng.uniform(-1.0, 1.0, n) for name in ("x", "f", "before")}
    states = {b.name: values["x"][problem.columns(b.name)] for b in problem.states} | values | {"t": 0.4}
    values["rate"] = np.concatenate(evaluate(problem.rate, *(states[b.name] for b in problem.rate.inputs)))
    ways = (
        rosenbrock._ByMass(step_graph, scale, x, rate),
        rosenbrock._Matrix(problem, scale, *rosenbrock._derivatives(step_graph, step_graph.time(0.0), x)),
    )
    found = [step_graph.function("u", way.solve(way.right(f, along, before))) for way in ways]
    one, other = (evaluate(u, *(values[b.name] for b in u.inputs))[0] for u in found)
    np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8 * np.abs(other).max())


@pytest.mark.parametrize("make", [driven, kepler])
def test_a_jacobian_of_calls_is_the_jacobian_written_out(make, monkeypatch):
    problem = make()
    written = rosenbrock._derivative_function(problem)
    monkeypatch.setattr(rosenbrock, "_LARGE", 0)
    called = rosenbrock._derivative_function(problem)
    values = {"t": [0.7], "z": [0.4], "q": [0.8, 0.3], "v": [-0.2, 0.9], "p": [1.3]}
    for a, b in zip(
        *(evaluate(f, *(np.reshape(values[x.name], x.shape) for x in f.inputs)) for f in (written, called)), strict=True
    ):
        np.testing.assert_allclose(np.ravel(a), np.ravel(b), atol=1e-14)


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_a_problem_without_a_second_order_form_is_refused():
    with pytest.raises(ArgumentError, match="second-order form"):
        integrate(pendulum(), [1.0, 0.0], (0.0, 1.0), method=NEWMARK, limits=Limits(first=0.1))


def test_numbers_out_of_range_are_refused():
    for make in (
        lambda: generalised_alpha(1.1),
        lambda: hht(-0.1),
        lambda: hht(0.5),
        lambda: newmark(beta=0.0),
        lambda: GeneralisedAlpha("x", 0.0, 1.0, 0.25, 0.5),
    ):
        with pytest.raises(ArgumentError):
            make()


def test_an_implicit_form_that_does_not_fit_is_refused():
    good = spring(1.0)
    form = good.implicit
    g = Graph()
    q, v, d = g.block("q", 2), g.block("v", 2), g.block("d", 2)
    for residual, tangent, displace, holonomic in (
        (form.tangent, form.tangent, form.displace, ()),
        (form.residual, form.residual, form.displace, ()),
        (form.residual, form.tangent, Function("x", [q, d], {"q": list(q)}), ()),
        (form.residual, form.tangent, form.displace, (True,)),
    ):
        with pytest.raises(ArgumentError, match="does not fit together"):
            Problem(good.rate, implicit=Implicit(residual, tangent, displace, holonomic))
    first_order = Problem(Function("rate", [v], {"dv": list(v)}))
    with pytest.raises(ArgumentError, match="q and v"):
        Problem(first_order.rate, implicit=form)


def test_a_loop_computes_the_same_on_arrays_and_has_no_derivative():
    """sqrt(a) by Heron's rule."""
    g = Graph()
    a = g.block("a", 1)
    start = Function("start", [a], {"state": [a[0], g.zero]})
    h = Graph()
    state, b = h.block("state", 2), h.block("a", 1)
    after = 0.5 * (state[0] + b[0] / state[0])
    done = after * after - b[0] < 1e-14
    step = Function("step", [state, b], {"state": [after, state[1] + 1.0], "done": done})
    k = Graph()
    s, flag = k.block("state", 2), k.block("done", 1)
    loop = Loop("heron", start, step, Function("finish", [s, flag], {"y": [*s, *flag]}), 30)
    m = Graph()
    x = m.block("x", 1)
    y = list(m.call(loop, list(x)))
    f = Function("f", [x], {"y": y})
    found = evaluate(f, np.array([[2.0], [9.0], [1.0]]))[0]
    np.testing.assert_allclose(found[:, 0], np.sqrt([2.0, 9.0, 1.0]), rtol=1e-12)
    assert (found[:, 2] == 1.0).all()
    from torseur.emit import compile

    np.testing.assert_allclose(compile(f)(np.array([[2.0], [9.0], [1.0]])), found, rtol=1e-15)
    with pytest.raises(GraphError, match="no derivative"):
        jacobian(y, list(x))


def test_newton_that_does_not_converge_says_so():
    """A force that jumps back and forth around every position has no equilibrium to converge to."""
    from torseur.graph import sign

    problem = second_order(lambda t, q, v, z, p: [-1e6 * sign(q[0]) - 1e9 * v[0] * v[0] * sign(v[0])], 1)
    run = integrate(problem, [1e-3, -1.0], (0.0, 1.0), method=NEWMARK, limits=Limits(first=0.1))
    assert run.outcome is Outcome.NEWTON
    assert run.end < 1.0
    assert "shorter step" in run.outcome.value
