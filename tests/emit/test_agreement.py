"""Scalar code, code on lanes and the reference evaluator are three readings of one function."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.random_functions import arguments, functions, showcase
from support.recipes import KINDS
from support.rounding import assert_agrees
from torseur.emit import Tier, compile, kernel
from torseur.graph import (
    Function,
    Graph,
    Role,
    Stage,
    call,
    cos,
    count_by_stage,
    evaluate,
    minimum_norm_solve,
    root,
    select,
    sin,
    solve,
    table,
    tan,
)

WIDTHS = [2, 4, 8, 16]
SHOWCASE = showcase()


def results_of(native, *args):
    """Always a tuple."""
    results = native(*args)
    return results if isinstance(results, tuple) else (results,)


def arrays_for(function, *batch, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1.5, 1.5, (*batch, *b.shape)) for b in function.inputs]


def assert_all_agree(function, batch=5, lanes=4, tier=Tier.QUICK):
    """One state through scalar code and a batch through lanes, both against the evaluator."""
    native = compile(function, lanes=lanes, tier=tier)
    args = arrays_for(function, batch)
    assert_agrees(function, args, results_of(native, *args))
    one = [a[0] for a in args]
    assert_agrees(function, one, results_of(native, *one))


@pytest.fixture
def no_cache(monkeypatch):
    """For tests that change the compiler itself, which no key of the cache knows of."""
    monkeypatch.setenv("TORSEUR_CACHE", "off")


# -- random functions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=2)
def test_every_operation_agrees_with_the_evaluator(kind, data):
    function = data.draw(functions(kinds=[kind, "add", "mul"], must=[kind], max_steps=6))
    args = data.draw(arguments(function))
    native = compile(function, lanes=data.draw(st.sampled_from(WIDTHS[:3])), tier=Tier.QUICK)
    assert_agrees(function, args, results_of(native, *args))


@given(data=st.data())
@settings(max_examples=25)
def test_random_functions_agree_with_the_evaluator_in_scalars_and_lanes(data):
    function = data.draw(functions())
    native = compile(function, lanes=data.draw(st.sampled_from(WIDTHS[:3])), tier=data.draw(st.sampled_from(Tier)))
    args = data.draw(arguments(function, batch=(7,)))
    one = [a[3] for a in args]
    assert_agrees(function, args, results_of(native, *args))
    assert_agrees(function, one, results_of(native, *one))


@given(data=st.data())
@settings(max_examples=25)
def test_random_functions_agree_on_values_that_are_not_numbers(data):
    function = data.draw(functions(safe=False, kinds=[k for k in KINDS if k not in ("root", "minimum_norm")]))
    native = compile(function, lanes=4, tier=Tier.QUICK)
    args = data.draw(arguments(function, batch=(6,), special=True))
    assert_agrees(function, args, results_of(native, *args))


@pytest.mark.slow
@pytest.mark.parametrize("tier", Tier)
@pytest.mark.parametrize("lanes", WIDTHS)
def test_one_function_with_everything_agrees_on_every_width(lanes, tier):
    args = arrays_for(SHOWCASE, lanes + 3)
    assert_agrees(SHOWCASE, args, compile(SHOWCASE, lanes=lanes, tier=tier)(*args))


def test_quick_and_full_code_agree_to_rounding():
    args = arrays_for(SHOWCASE, 9)
    quick, full = (compile(SHOWCASE, tier=tier)(*args) for tier in (Tier.QUICK, Tier.FULL))
    for a, b in zip(quick, full, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


# -- chunks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 3, 7, 50])
def test_cutting_a_function_in_chunks_changes_no_result(size, monkeypatch, no_cache):
    monkeypatch.setattr(kernel, "CHUNK", size)
    assert_all_agree(SHOWCASE)


@given(data=st.data())
@settings(max_examples=15)
def test_cutting_random_functions_in_chunks_changes_no_result(data):
    function = data.draw(functions())
    args = data.draw(arguments(function, batch=(5,)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORSEUR_CACHE", "off")
        patch.setattr(kernel, "CHUNK", data.draw(st.sampled_from([1, 2, 3, 7])))
        patch.setattr(kernel, "ANGLES", data.draw(st.sampled_from([1, 2, 3])))
        assert_agrees(function, args, results_of(compile(function, lanes=4, tier=Tier.QUICK), *args))


def test_conditions_bundles_and_tangents_cross_from_chunk_to_chunk(monkeypatch, no_cache):
    monkeypatch.setattr(kernel, "CHUNK", 1)
    g = Graph()
    q, a = g.block("q", 3), g.block("a", (2, 2))
    condition = (q[0] < q[1]) & ~(q[1] < q[2])
    t, s = tan(q[0]), sin(q[0])
    x = solve([[a[0] + 4, a[1]], [a[2], a[3] + 4]], [q[0], q[1]])
    later = [x[0] * q[2], t * q[1], s * t, cos(q[0]) + t, select(condition, x[1], q[2])]
    assert_all_agree(Function("f", [q, a], {"y": [*later, select(condition, later[0], later[1])]}))


def test_scratch_memory_is_used_again_once_values_have_died(monkeypatch):
    monkeypatch.setattr(kernel, "CHUNK", 10)
    from torseur.emit.ir import Lanes, Module

    def scratch(n):
        g = Graph()
        x = g.block("x", 1)
        y = x[0]
        for k in range(n):
            y = y * (y + float(k + 2))
        return kernel.write_function(Module(Lanes(1)), Function("f", [x], {"y": y})).scratch

    assert scratch(2000) == scratch(200) < 10


# -- stages ------------------------------------------------------------------------------------------------------------


def staged_function():
    """Work in all stages, and every kind of value crossing from one to the next."""
    g = Graph()
    p, t, q = g.block("p", 6, Role.PARAMETER), g.block("t", (), Role.TIME), g.block("q", 2)
    matrix = [[p[0] + 4.0, p[1]], [p[2], p[3] + 4.0]]
    heavy = p[4] < p[5]  # a condition on parameters
    night = sin(t[0]) < p[4]  # a condition on time
    by_parameters = solve(matrix, [q[0], q[1]])  # factors made once, used at every state
    by_time = solve([[p[0] + 5.0 + sin(t[0]), p[1]], [p[2], 5.0 + cos(t[0])]], [q[1], q[0]])
    outputs = {
        "early": [p[0] * p[1], sin(p[2]), p[3]],
        "now": [cos(t[0]) * p[0], t[0]],
        "late": [*by_parameters, *by_time, select(heavy, q[0], q[1]), select(night & heavy, q[0] * p[1], -q[1])],
    }
    return Function("staged", [p, t, q], outputs)


def test_values_conditions_and_factors_cross_from_stage_to_stage():
    function = staged_function()
    assert all(count_by_stage(function)[stage].total for stage in Stage)
    for lanes in (1, 4):
        assert_all_agree(function, lanes=lanes)


def test_parameters_and_time_may_vary_along_the_batch_or_not():
    function = staged_function()
    native = compile(function, lanes=4)
    p, t, q = arrays_for(function, 11)
    for args in ((p, t, q), (p[0], t, q), (p, t[0], q), (p[0], t[0], q), (p, t[0], q[0]), (p[0], t, q[0])):
        assert_agrees(function, args, native(*args))


# -- shapes of functions -----------------------------------------------------------------------------------------------


def test_outputs_may_be_constants_inputs_or_the_same_value_twice():
    g = Graph()
    q, p = g.block("q", 2), g.block("p", 1, Role.PARAMETER)
    s = sin(q[0]) * p[0]
    outputs = {"a": [g.number(3.5), q[1], p[0]], "b": [s, s], "c": s, "d": [[q[1], s], [g.zero, q[0]]]}
    assert_all_agree(Function("f", [q, p], outputs))


def test_a_constant_that_is_not_finite_is_computed_at_run_time():
    g = Graph()
    q = g.block("q", 1)
    zero, infinity = g.zero, g.number(np.inf)
    assert_all_agree(Function("f", [q], {"y": [1.0 / zero, -1.0 / zero, infinity - infinity, infinity, q[0] / zero]}))


@pytest.mark.parametrize("role", Role)
def test_a_function_may_have_inputs_of_one_role_only(role):
    g = Graph()
    x = g.block("x", 3, role)
    assert_all_agree(Function("f", [x], {"y": [x[0] * x[1], sin(x[2]), x[1], g.one]}))


def test_a_function_may_have_no_inputs():
    g = Graph()
    function = Function("f", [], {"y": [g.number(2.0), 1.0 / g.zero], "z": g.number(-1.0)})
    y, z = compile(function)()
    np.testing.assert_array_equal(y, [2.0, np.inf])
    assert z == -1.0


def test_inputs_that_nothing_depends_on_still_make_the_batch():
    g = Graph()
    q, unused = g.block("q", 1), g.block("unused", 2, Role.PARAMETER)
    assert compile(Function("f", [q, unused], {"y": [2 * q[0]]}))(np.ones(1), np.ones((3, 2))).shape == (3, 1)


def test_blocks_may_be_empty():
    g = Graph()
    q, p, u = g.block("q", 2), g.block("p", (2, 0), Role.PARAMETER), g.block("u", 0, Role.INPUT)
    function = Function("f", [q, p, u], {"y": [q[0] * q[1]], "none": [], "z": np.empty((0, 3), object)})
    native = compile(function, lanes=4)
    for lead in [(), (1,), (6,), (2, 3)]:
        args = [np.ones((*lead, *b.shape)) for b in function.inputs]
        for actual, expected in zip(native(*args), evaluate(function, *args), strict=True):
            np.testing.assert_array_equal(actual, expected)
    assert native(np.ones(2), np.ones((2, 0)), np.ones((5, 0))).y.shape == (5, 1)
    assert native.bind(np.ones((4, 2, 0)))(np.ones(2), np.ones(0)).none.shape == (4, 0)


def test_names_of_blocks_and_outputs_do_not_meet_ours():
    g = Graph()
    names = ["work", "loop", "scratch", "in0", "out0", "self", "sin", "data"]
    blocks = [g.block(name, 2, Role.PARAMETER if k % 2 else Role.STATE) for k, name in enumerate(names)]
    y = sum((sin(b[0]) * (k + 1.0) * b[1] for k, b in enumerate(blocks)), g.zero)
    function = Function("sin", blocks, {"class": y, "_1": y * y})
    args = arrays_for(function, 5)
    native = compile(function)
    assert_agrees(function, args, native(*args))
    bound = native.bind(**dict(zip(names[1::2], args[1::2], strict=True)))
    assert_agrees(function, args, bound(**dict(zip(names[::2], args[::2], strict=True))))


def test_a_sine_of_a_sine_is_not_computed_beside_it():
    g = Graph()
    q = g.block("q", 2)
    s = sin(q[0])
    assert_all_agree(Function("f", [q], {"y": [sin(s), cos(sin(s)), tan(cos(s)), sin(tan(q[1])) * cos(q[1]), s]}))


# -- calls -------------------------------------------------------------------------------------------------------------


def test_functions_call_functions_that_call_functions():
    g = Graph()
    a = g.block("a", 2)
    inner = Function("inner", [a], {"y": [sin(a[0]) * a[1], a[0]]})
    g = Graph()
    b, c = g.block("b", 2), g.block("c", 1)
    middle = Function("middle", [b, c], {"y": call(inner, [b[0], c[0]]), "z": call(inner, [b[1], b[1]])})
    g = Graph()
    q, p = g.block("q", 3), g.block("p", 2, Role.PARAMETER)
    once = call(middle, [q[0], q[1]], [q[2]])
    twice = call(middle, [once[0], p[1]], [once[3]])
    early = call(middle, list(p), [p[0]])
    assert_all_agree(Function("outer", [q, p], {"y": [*once, *twice], "z": [e * q[0] for e in early]}))


def test_roots_and_least_squares_agree_when_lanes_take_different_numbers_of_passes():
    g = Graph()
    x, a = g.block("x", 1), g.block("a", 1)
    cubic = Function("cubic", [x, a], {"r": [x[0] * x[0] * x[0] + x[0] - a[0]]})
    g = Graph()
    b, m = g.block("b", 1), g.block("m", (2, 3))
    shortest, rank = minimum_norm_solve([[m[0], m[1], m[2]], [m[3], m[4], m[5]]], [b[0], 1.0])
    function = Function("f", [b, m], {"x": root(cubic, [0.0], [b[0]]), "y": [*shortest, rank]})
    sizes = np.array([[0.0], [1e-9], [1.0], [-30.0], [1e4], [2.0], [-1e7]])
    matrices = np.random.default_rng(1).uniform(-1, 1, (7, 2, 3))
    matrices[3, 1] = 2 * matrices[3, 0]
    native = compile(function, lanes=4)
    assert_agrees(function, [sizes, matrices], native(sizes, matrices))
    for k in range(7):  # no lane hears of what its neighbours need
        np.testing.assert_array_equal(
            native(sizes, matrices).x[k], compile(function, lanes=4)(sizes[[k] * 4], matrices[[k] * 4]).x[0]
        )


def test_a_root_that_does_not_exist_is_nan_in_its_lane_alone():
    g = Graph()
    x, a = g.block("x", 1), g.block("a", 1)
    parabola = Function("parabola", [x, a], {"r": [x[0] * x[0] - a[0]]})
    g = Graph()
    b = g.block("b", 1)
    native = compile(Function("f", [b], {"x": root(parabola, [1.0], [b[0]])}), lanes=4)
    b = np.array([[4.0], [-1.0], [9.0], [2.0], [-3.0]])
    np.testing.assert_allclose(native(b)[:, 0], [2.0, np.nan, 3.0, np.sqrt(2.0), np.nan], rtol=1e-15)


def test_one_table_serves_many_arguments_and_long_tables_are_searched_right():
    g = Graph()
    q = g.block("q", 2)
    xs = np.cumsum(np.random.default_rng(2).uniform(0.01, 1.0, 300))
    ys = np.sin(xs)
    function = Function("f", [q], {"y": [table(q[0], xs, ys), table(q[1], xs, ys), table(q[0] * q[1], xs[:3], ys[:3])]})
    points = np.concatenate([xs, np.nextafter(xs, -np.inf), xs + 0.004, [-5.0, 1e9, np.inf, -np.inf, np.nan]])
    args = [np.stack([points, points[::-1]], axis=-1)]
    assert_agrees(function, args, results_of(compile(function, lanes=4), *args))
