"""Native fixed-step integration against closed forms, other integrators and a plain loop in Python."""

import signal
import threading
import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from torseur.emit import EULER, HEUN, RK4, Motion, Tableau, Tier, integrate, integrator
from torseur.errors import ArgumentError, CompileError
from torseur.graph import Function, Graph, Role, cos, evaluate, exp, select, sin, solve, sqrt

METHODS = [EULER, HEUN, RK4]


def oscillator():
    """x'' = u - k x - c x' + sin(w t): parameters, an input and time."""
    g = Graph()
    x, v = g.block("x", ()), g.block("v", ())
    p, u, t = g.block("p", 3, Role.PARAMETER), g.block("u", (), Role.INPUT), g.block("t", (), Role.TIME)
    acceleration = u[0] - p[0] * x[0] - p[1] * v[0] + sin(p[2] * t[0])
    return Function("oscillator", [x, v, p, u, t], {"dx": v[0], "dv": acceleration})


def plain_run(rate, method, values, step, steps, time=0.0):
    """The same method, step by step in Python, on the reference evaluator. `values` maps names to arrays."""
    states = [b.name for b in rate.inputs if b.role is Role.STATE]
    x = {n: np.asarray(values[n], float) for n in states}
    rows = [dict(x)]

    def slope(x, t):
        given = [t if b.role is Role.TIME else x.get(b.name, values.get(b.name)) for b in rate.inputs]
        return {n: np.reshape(r, np.shape(x[n])) for n, r in zip(states, evaluate(rate, *given), strict=True)}

    for number in range(steps):
        ks = []
        for row, c in zip(method.a, method.c, strict=True):
            trial = {n: x[n] + step * sum((a * k[n] for a, k in zip(row, ks, strict=True)), 0.0) for n in states}
            ks.append(slope(trial, time + (number + c) * step))
        x = {n: x[n] + step * sum(b * k[n] for b, k in zip(method.b, ks, strict=True)) for n in states}
        rows.append(dict(x))
    return [np.stack([row[n] for row in rows]) for n in states]


VALUES = {"x": 1.0, "v": -0.5, "p": [4.0, 0.3, 1.7], "u": 0.2}


# -- methods -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_a_run_equals_the_same_method_in_python(method):
    rate = oscillator()
    motion = integrator(rate, method)(**VALUES, step=0.05, steps=40, time=0.7)
    expected = plain_run(rate, method, VALUES, 0.05, 40, 0.7)
    assert isinstance(motion, Motion)
    np.testing.assert_allclose(motion.time, 0.7 + 0.05 * np.arange(41), rtol=1e-15)
    for actual, right in zip(motion.states, expected, strict=True):
        np.testing.assert_allclose(actual, right, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_the_error_falls_with_the_order_of_the_method(method):
    g = Graph()
    y, t = g.block("y", 1), g.block("t", (), Role.TIME)
    run = integrator(Function("f", [y, t], {"dy": [-2.0 * t[0] * y[0] + cos(t[0]) * y[0]]}), method)
    exact = np.exp(-4.0 + np.sin(2.0))
    steps = np.array([40, 80, 160, 320])
    errors = [abs(run([1.0], step=2.0 / n, steps=int(n)).states[0][-1, 0] - exact) for n in steps]
    slope = np.polyfit(np.log(1.0 / steps), np.log(errors), 1)[0]
    assert slope == pytest.approx(method.order, abs=0.15)


def test_a_method_is_data():
    ralston = Tableau("Ralston", ((), (2 / 3,)), (1 / 4, 3 / 4), (0.0, 2 / 3), 2)
    rate = oscillator()
    motion = integrator(rate, ralston)(**VALUES, step=0.05, steps=20)
    expected = plain_run(rate, ralston, VALUES, 0.05, 20)
    np.testing.assert_allclose(motion.states[0], expected[0], rtol=1e-12)


def test_a_long_run_agrees_with_an_adaptive_integrator():
    g = Graph()
    q, v, p = g.block("q", 2), g.block("v", 2), g.block("p", 3, Role.PARAMETER)
    c = cos(q[0] - q[1])
    mass = [[p[0] + p[1], p[1] * c], [p[1] * c, p[1]]]
    s = sin(q[0] - q[1])
    force = [
        -p[1] * v[1] * v[1] * s - (p[0] + p[1]) * p[2] * sin(q[0]),
        p[1] * v[0] * v[0] * s - p[1] * p[2] * sin(q[1]),
    ]
    rate = Function("double_pendulum", [q, v, p], {"dq": list(v), "dv": solve(mass, force)})
    q0, v0, p0 = [0.5, -0.2], [0.0, 0.1], [1.0, 0.7, 9.81]
    motion = integrator(rate)(q0, v0, p0, step=1e-3, steps=3000, every=300)

    def f(t, x):
        return np.concatenate(evaluate(rate, x[:2], x[2:], p0))

    right = solve_ivp(f, (0, 3), [*q0, *v0], method="DOP853", rtol=1e-12, atol=1e-12, t_eval=motion.time)
    np.testing.assert_allclose(np.hstack(motion.states), right.y.T, atol=1e-8)


@pytest.mark.parametrize("tier", Tier)
@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_every_width_and_tier_gives_the_same_run(lanes, tier):
    rate = oscillator()
    values = {**VALUES, "x": np.linspace(-1, 1, 11)}
    motion = integrator(rate, lanes=lanes, tier=tier)(**values, step=0.1, steps=10)
    for k in (0, 3, 10):
        expected = plain_run(rate, RK4, {**VALUES, "x": values["x"][k]}, 0.1, 10)
        np.testing.assert_allclose(motion.states[0][k], expected[0], rtol=1e-12, atol=1e-14)


# -- batches -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 2, 5, 9, 17])
def test_a_batch_of_runs_equals_single_runs(count):
    run = integrator(oscillator(), lanes=4)
    rng = np.random.default_rng(0)
    x, v, u = rng.uniform(-1, 1, (3, count))
    p = rng.uniform(0, 4, (count, 3))
    motion = run(x, v, p, u, step=0.05, steps=30, every=3)
    assert [s.shape for s in motion.states] == [(count, 11)] * 2
    for k in range(count):
        one = run(x[k], v[k], p[k], u[k], step=0.05, steps=30, every=3)
        for many, single in zip(motion.states, one.states, strict=True):
            np.testing.assert_allclose(many[k], single, rtol=1e-11, atol=1e-13)


def test_any_block_may_make_the_batch():
    run = integrator(oscillator(), lanes=4)
    for name, value in (
        ("p", np.array([[1.0, 0.1, 2.0], [2.0, 0.2, 1.0], [3.0, 0.0, 0.0]])),
        ("u", np.array([0.0, 1.0, 2.0])),
        ("v", np.array([0.0, 1.0, 2.0])),
    ):
        motion = run(**{**VALUES, name: value}, step=0.05, steps=10)
        for k in range(3):
            one = run(**{**VALUES, name: value[k]}, step=0.05, steps=10)
            np.testing.assert_allclose(motion.states[1][k], one.states[1], rtol=1e-11, atol=1e-13)


def test_batches_may_have_many_dimensions_and_broadcast():
    run = integrator(oscillator(), lanes=4)
    x, u = np.linspace(0, 1, 3)[:, None], np.linspace(0, 1, 4)
    motion = run(**{**VALUES, "x": x, "u": u}, step=0.1, steps=6, every=2)
    assert [s.shape for s in motion.states] == [(3, 4, 4)] * 2
    one = run(**{**VALUES, "x": x[2, 0], "u": u[1]}, step=0.1, steps=6, every=2)
    np.testing.assert_allclose(motion.states[0][2, 1], one.states[0], rtol=1e-11)


def test_states_may_be_matrices_and_lie_anywhere_among_the_inputs():
    g = Graph()
    a = g.block("a", (2, 2), Role.PARAMETER)
    y, t, m = g.block("y", 1), g.block("t", (), Role.TIME), g.block("m", (2, 2))
    product = [[sum((a[2 * i + k] * m[2 * k + j] for k in range(2)), g.zero) for j in range(2)] for i in range(2)]
    rate = Function("linear", [a, y, t, m], {"dy": [m[0] + t[0]], "dm": product})
    a0, m0 = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    motion = integrator(rate)(a0, [0.0], m0, step=0.01, steps=100, every=50)
    y, m = motion.states
    assert y.shape == (3, 1)
    assert m.shape == (3, 2, 2)
    turn = np.array([[np.cos(1.0), np.sin(1.0)], [-np.sin(1.0), np.cos(1.0)]])
    np.testing.assert_allclose(m[-1], turn @ m0, rtol=1e-9)
    np.testing.assert_allclose(y[-1, 0], np.sin(1.0) + 3.0 * (1.0 - np.cos(1.0)) + 0.5, rtol=1e-9)


@pytest.mark.parametrize("threads", [2, 3, 50])
def test_threads_change_not_a_bit(threads):
    run = integrator(oscillator(), lanes=4)
    values = {**VALUES, "x": np.linspace(-1, 1, 37), "p": np.random.default_rng(0).uniform(0, 4, (37, 3))}
    one, many = (run(**values, step=0.05, steps=100, every=10, threads=n) for n in (1, threads))
    for a, b in zip(one.states, many.states, strict=True):
        np.testing.assert_array_equal(a, b)


def test_arguments_may_have_any_strides_and_types():
    run = integrator(oscillator(), lanes=4)
    x = np.arange(12.0).reshape(3, 4) / 12
    expected = run(**{**VALUES, "x": x.T.copy()}, step=0.1, steps=5)
    for other in (x.T, x.T.astype(np.float32).astype(float), np.flip(np.flip(x.T).copy())):
        got = run(**{**VALUES, "x": other}, step=0.1, steps=5)
        np.testing.assert_allclose(got.states[0], expected.states[0], rtol=1e-6)
    whole = run(**{**VALUES, "x": 1, "p": np.array([4, 0, 1], np.int8)}, step=0.1, steps=5)
    same = run(**{**VALUES, "x": 1.0, "p": [4.0, 0.0, 1.0]}, step=0.1, steps=5)
    np.testing.assert_array_equal(whole.states[0], same.states[0])


def test_empty_blocks_are_no_trouble():
    g = Graph()
    x, none, p = g.block("x", 1), g.block("none", 0), g.block("p", 0, Role.PARAMETER)
    run = integrator(Function("f", [x, none, p], {"dx": [-x[0]], "dnone": []}), lanes=4)
    for lead in [(), (5,)]:
        motion = run(np.ones((*lead, 1)), np.ones((*lead, 0)), np.ones(0), step=0.1, steps=10)
        assert motion.states[1].shape == (*lead, 11, 0)
        np.testing.assert_allclose(motion.states[0][..., -1, 0], np.exp(-1.0), rtol=1e-6)


# -- course ------------------------------------------------------------------------------------------------------------


def test_only_every_so_many_steps_are_recorded():
    run = integrator(oscillator())
    all_rows = run(**VALUES, step=0.01, steps=60)
    for every in (1, 2, 7, 20, 60):
        steps = 60 // every * every
        motion = run(**VALUES, step=0.01, steps=steps, every=every)
        np.testing.assert_array_equal(motion.states[0], all_rows.states[0][: steps + 1 : every])
        np.testing.assert_allclose(motion.time, all_rows.time[: steps + 1 : every], rtol=1e-15)


@pytest.mark.parametrize("every", [1, 3, 1000, 10_000])
def test_a_run_cut_in_slices_is_the_same_run(every, monkeypatch):
    run = integrator(oscillator(), lanes=4)
    values = {**VALUES, "x": np.linspace(-1, 1, 5)}
    steps = 10_000 // every * every
    whole = run(**values, step=0.001, steps=steps, every=every)
    monkeypatch.setattr(integrate._Run, "SLICE", 1e-9)  # as if every step took its time
    calls = []
    cut = run(**values, step=0.001, steps=steps, every=every, progress=lambda *rows: calls.append(rows))
    for a, b in zip(whole.states, cut.states, strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(calls) > 100
    assert calls[-1] == (steps // every, steps // every)


def test_no_step_records_the_start():
    motion = integrator(oscillator())(**VALUES, step=0.1, steps=0)
    assert motion.time.tolist() == [0.0]
    assert [s.tolist() for s in motion.states] == [[1.0], [-0.5]]


def test_negative_steps_go_back_to_where_the_run_began():
    run = integrator(oscillator())
    there = run(**VALUES, step=0.01, steps=100, time=2.0)
    x, v = (s[-1] for s in there.states)
    back = run(**{**VALUES, "x": x, "v": v}, step=-0.01, steps=100, time=there.time[-1])
    np.testing.assert_allclose([s[-1] for s in back.states], [1.0, -0.5], atol=1e-8)
    np.testing.assert_allclose(back.time, there.time[::-1], atol=1e-14)


def test_step_and_time_may_be_whole_numbers():
    g = Graph()
    x, t = g.block("x", 1), g.block("t", (), Role.TIME)
    run = integrator(Function("f", [x, t], {"dx": [2.0 * t[0]]}))
    motion = run([0], step=1, steps=3, time=2)
    np.testing.assert_allclose(motion.states[0][:, 0], [0.0, 5.0, 12.0, 21.0])
    np.testing.assert_array_equal(motion.time, [2.0, 3.0, 4.0, 5.0])
    np.testing.assert_array_equal(
        run([0], step=np.float32(1), steps=np.int64(3), time=np.int8(2)).states[0], motion.states[0]
    )


def test_time_does_not_drift():
    g = Graph()
    x, t = g.block("x", 1), g.block("t", (), Role.TIME)
    run = integrator(Function("clock", [x, t], {"dx": [select(t[0] < 1000.0, g.zero, g.one)]}), EULER)
    # 0.1 is no double: a sum of 10 000 of them is not 1000, the product is.
    assert run([0.0], step=0.1, steps=10_000).states[0][-1] == 0.0
    assert run([0.0], step=0.1, steps=10_001).states[0][-1] == 0.1


def test_names_of_blocks_do_not_meet_ours():
    g = Graph()
    names = ["k0", "k1", "state", "trial", "k2", "time_", "scratch", "words"]
    x = g.block("x", 1)
    others = [g.block(n, 1, Role.INPUT if i % 2 else Role.PARAMETER) for i, n in enumerate(names)]
    rate = Function("f", [x, *others], {"dx": [sum((b[0] for b in others), -x[0])]})
    values = {name: [0.1 * i] for i, name in enumerate(names)}
    motion = integrator(rate)(x=[1.0], **values, step=0.01, steps=100)
    total = 0.1 * sum(range(len(names)))
    np.testing.assert_allclose(motion.states[0][-1], total + (1.0 - total) * np.exp(-1.0), rtol=1e-9)


# -- hoists ------------------------------------------------------------------------------------------------------------


def test_parameter_and_time_work_inside_the_loop_gives_the_right_run():
    g = Graph()
    x, p, t = g.block("x", 2), g.block("p", 4, Role.PARAMETER), g.block("t", (), Role.TIME)
    matrix = [[p[0] + 3.0, p[1]], [p[2], exp(p[3]) + 3.0]]  # factors belong to the parameters
    gust = select(sin(3.0 * t[0]) < p[0], cos(t[0]) * p[1], sqrt(t[0] + 1.0))  # and this to the instant
    rate = Function("f", [x, p, t], {"dx": solve(matrix, [x[1] + gust, -x[0]])})
    p0 = np.random.default_rng(0).uniform(-1, 1, (5, 4))
    motion = integrator(rate, lanes=4)([1.0, 0.0], p0, step=0.05, steps=50, time=0.3)
    for k in range(5):
        expected = plain_run(rate, RK4, {"x": [1.0, 0.0], "p": p0[k]}, 0.05, 50, 0.3)[0]
        np.testing.assert_allclose(motion.states[0][k], expected, rtol=1e-11, atol=1e-13)


# -- recording ---------------------------------------------------------------------------------------------------------


def test_a_run_is_recorded_in_out():
    run = integrator(oscillator(), lanes=4)
    values = {**VALUES, "x": np.linspace(-1, 1, 5)}
    expected = run(**values, step=0.1, steps=20, every=5)
    out = [np.full((5, 5), np.nan), np.full((10, 5), np.nan)[::2]]
    motion = run(**values, step=0.1, steps=20, every=5, out=out)
    for o, r, e in zip(out, motion.states, expected.states, strict=True):
        assert r is o
        np.testing.assert_array_equal(o, e)


def test_out_may_lie_over_the_arguments():
    run = integrator(oscillator(), lanes=4)
    p = np.random.default_rng(0).uniform(0, 1, (4, 3))
    values = {**VALUES, "x": np.linspace(-1, 1, 4)}
    expected = run(**{**values, "p": p}, step=0.1, steps=40, every=20)
    room = p.copy()
    run(**{**values, "p": room}, step=0.1, steps=40, every=20, out=[room, np.empty((4, 3))])
    np.testing.assert_array_equal(room, expected.states[0])


def test_one_array_will_do_for_one_block_of_states():
    g = Graph()
    x = g.block("x", 1)
    out = np.empty((4, 1))
    assert integrator(Function("f", [x], {"dx": [-x[0]]}))([1.0], step=0.1, steps=3, out=out).states[0] is out


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize("threads", [1, 2])
def test_what_was_done_before_an_interruption_is_in_out(error, threads, monkeypatch):
    monkeypatch.setattr(integrate._Run, "SLICE", 1e-9)
    run = integrator(oscillator(), lanes=4)
    values = {**VALUES, "x": np.linspace(-1, 1, 5)}
    expected = run(**values, step=0.1, steps=2000).states
    out = [np.full((5, 2001), np.nan) for _ in range(2)]
    reached = []

    def progress(done, wanted):
        assert wanted == 2000
        reached.append(done)
        if done > 500:
            raise error

    with pytest.raises(error):
        run(**values, step=0.1, steps=2000, threads=threads, progress=progress, out=out)
    rows = reached[-1] + 1
    assert 500 < rows < 2001
    for o, e in zip(out, expected, strict=True):
        np.testing.assert_array_equal(o[:, :rows], e[:, :rows])
        assert np.isnan(o[:, rows:]).all()


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to threads on this system")
@pytest.mark.usefixtures("interrupt_key")
def test_the_interrupt_key_ends_a_run_that_records_one_row_only():
    run = integrator(oscillator())
    started = threading.Event()
    main = threading.main_thread().ident

    def press():
        started.wait()
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run(**VALUES, step=1e-9, steps=10**15, every=10**15, progress=lambda *rows: started.set())
    finally:
        started.set()
        thread.join()


def test_an_integration_leaves_no_floating_point_flags_behind():
    g = Graph()
    x = g.block("x", 1)
    run = integrator(Function("f", [x], {"dx": [1.0 / x[0]]}))
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        motion = run([0.0], step=0.1, steps=3)
        np.ones(3) + 1.0
    assert not np.isfinite(motion.states[0][-1]).any()


def test_a_run_that_blows_up_spoils_no_other_run():
    g = Graph()
    x = g.block("x", 1)
    run = integrator(Function("f", [x], {"dx": [x[0] * x[0]]}), lanes=4)
    starts = np.array([[0.1], [50.0], [0.2], [np.nan], [0.3]])
    motion = run(starts, step=0.1, steps=20)
    assert not np.isfinite(motion.states[0][[1, 3], -1]).any()
    for k in (0, 2, 4):
        np.testing.assert_allclose(motion.states[0][k], run(starts[k], step=0.1, steps=20).states[0], rtol=1e-12)


# -- errors ------------------------------------------------------------------------------------------------------------


def refused(call, *args, **named) -> str:
    with pytest.raises(ArgumentError) as caught:
        call(*args, **named)
    return str(caught.value)


def test_a_rate_that_does_not_fit_its_states_is_refused():
    g = Graph()
    x, y, p = g.block("x", 2), g.block("y", 1), g.block("p", 1, Role.PARAMETER)
    for inputs, outputs in (
        ([x], {"dx": [x[0]]}),
        ([x], {"dx": [x[0], x[1]], "more": x[0]}),
        ([x, y], {"dx": [x[0], x[1]]}),
        ([x, y], {"dy": [y[0]], "dx": [x[0], x[1]]}),
        ([p], {"dp": [p[0]]}),
        ([x], {}),
    ):
        text = refused(integrator, Function("f", inputs, outputs))
        assert "not the rate of its states" in text
    assert "x 2, y 1" in refused(integrator, Function("f", [x, y], {"dx": [x[0]]}))


def test_time_must_be_one_number():
    g = Graph()
    x, t = g.block("x", 1), g.block("t", 2, Role.TIME)
    with pytest.raises(CompileError, match="scalar"):
        integrator(Function("f", [x, t], {"dx": [t[0]]}))


@pytest.mark.parametrize("lanes", [0, 3, 32, 4.0, True])
def test_a_wrong_number_of_lanes_is_refused(lanes):
    assert "lanes" in refused(integrator, oscillator(), lanes=lanes)


@pytest.mark.parametrize(
    ("course", "said"),
    [
        ({"steps": -1}, "steps = -1"),
        ({"steps": 10, "every": 3}, "steps = 10, every = 3"),
        ({"every": 0}, "every = 0"),
        ({"every": -1}, "every = -1"),
        ({"steps": 10.0}, "steps = 10.0"),
        ({"steps": "10", "every": None}, "steps = '10', every = None"),
        ({"step": [0.1, 0.2]}, "step = [0.1, 0.2]"),
        ({"step": 1j, "time": None}, "step = 1j, time = None"),
        ({"step": np.nan, "time": np.inf}, "step = nan, time = inf"),
        ({"step": -np.inf}, "step = -inf"),
        ({"time": 10**400}, "time = 1000"),
    ],
    ids=str,
)
def test_a_wrong_course_is_refused(course, said):
    text = refused(integrator(oscillator()), **VALUES, **{"step": 0.1, "steps": 10, **course})
    assert said in text


@pytest.mark.parametrize("threads", [0, -2, 1.5])
def test_a_wrong_number_of_threads_is_refused(threads):
    assert "threads" in refused(integrator(oscillator()), **VALUES, step=0.1, steps=10, threads=threads)


def test_wrong_arguments_are_named():
    run = integrator(oscillator())
    assert "'v' missing; 'p' missing; 'u' missing" in refused(run, 1.0, step=0.1, steps=1)
    assert "no argument 't'" in refused(run, **VALUES, t=0.0, step=0.1, steps=1)
    text = refused(run, **{**VALUES, "p": np.zeros(2), "u": 1j}, step=0.1, steps=1)
    assert "p: shape (2,)" in text
    assert "u: values of type complex128" in text
    assert "do not fit" in refused(run, **{**VALUES, "x": np.zeros(3), "u": np.zeros(2)}, step=0.1, steps=1)


def test_an_input_named_like_an_option_is_passed_by_position():
    g = Graph()
    x, step, out = g.block("x", 1), g.block("step", 1, Role.INPUT), g.block("out", 1, Role.INPUT)
    run = integrator(Function("f", [x, step, out], {"dx": [step[0] + out[0]]}), EULER)
    assert "pass 'step' and 'out' by position" in refused(run, x=[0.0], step=[1.0], steps=1, out=[1.0])
    assert run([0.0], [1.0], [2.0], step=0.5, steps=1).states[0][-1] == 1.5


def test_wrong_kinds_are_refused():
    assert "expected: a Function" in refused(integrator, lambda x: x)
    assert "method = 'rk4'" in refused(integrator, oscillator(), "rk4")
    assert "expected: 'quick' or 'full'" in refused(integrator, oscillator(), tier="slow")


def test_a_wrong_out_is_refused():
    run = integrator(oscillator())
    good = np.zeros(3)
    read_only = np.zeros(3)
    read_only.flags.writeable = False
    for second in (np.zeros(4), np.zeros(3, int), np.zeros((3, 1)), [0, 0, 0], None, read_only):
        assert "'out'" in refused(run, **VALUES, step=0.1, steps=2, out=[good, second])
    assert "float64 (3,), read-only" in refused(run, **VALUES, step=0.1, steps=2, out=[good, read_only])
    for out in (good, [good], [good, good, good], "out", 3.0):
        assert "'out'" in refused(run, **VALUES, step=0.1, steps=2, out=out)


def test_a_tableau_that_is_not_explicit_is_refused():
    assert "not an explicit method" in refused(Tableau, "implicit", ((1.0,),), (1.0,), (1.0,), 1)
    assert "not an explicit method" in refused(Tableau, "short", ((), (1.0,)), (1.0,), (0.0, 1.0), 1)


def switched():
    """dx/dt = 1 from 0.5 s on: the order of a method is lost unless no step sees both sides."""
    g = Graph()
    x, t = g.block("x", 1), g.block("t", (), Role.TIME)
    return Function("switched", [x, t], {"dx": [select(t[0] < 0.5, 0.0, 1.0)]})


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("every", [1, 4, 10])
def test_no_stage_sees_the_other_side_of_a_break(method, every):
    run = integrator(switched(), method)
    motion = run(np.zeros((3, 1)), step=0.05, steps=20, every=every, breaks=[0.5])
    np.testing.assert_allclose(motion.states[0][:, -1, 0], 0.5, rtol=1e-14)
    np.testing.assert_allclose(motion.states[0][0, :, 0], np.maximum(motion.time - 0.5, 0.0), atol=1e-14)


@pytest.mark.parametrize("breaks", [[0.52], [0.6, 0.5], [1.5], [-0.5]])
def test_breaks_are_ends_of_steps_in_order(breaks):
    with pytest.raises(ArgumentError, match="not ends of steps"):
        integrator(switched())([0.0], step=0.05, steps=20, breaks=breaks)
