"""Functions: what they hold, when each part can be computed, and their fingerprint."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torseur
import torseur.graph as tg
from support.random_functions import arguments, functions, recipes
from support.recipes import build
from torseur.errors import ArgumentError, GraphError
from torseur.graph import Function, Graph, Role, Stage, evaluate, ops


@pytest.fixture
def g():
    return Graph()


# -- shapes ------------------------------------------------------------------------------------------------------------
def test_outputs_keep_the_shape_they_were_given_in(g):
    q = g.block("q", (2, 3))
    x = q[0]
    outputs = {
        "scalar": x,
        "number": 2.5,
        "vector": [x, 1, q[1]],
        "array": np.array([x, q[1]]),
        "matrix": [[q[0], q[1], q[2]], [q[3], q[4], q[5]]],
        "tall": np.array(list(q)).reshape(3, 2),
        "cube": [[[x], [x]]],
        "none": [],
        "truth": x < 1.0,
        "truths": [x < 1.0, x > 1.0],
        "flat": list(q),
        "block": q,
    }
    f = Function("f", [q], outputs)
    shapes = [(), (), (3,), (2,), (2, 3), (3, 2), (1, 2, 1), (0,), (), (2,), (6,), (2, 3)]
    assert [o.shape for o in f.outputs] == shapes
    assert [o.name for o in f.outputs] == list(outputs)
    values = evaluate(f, np.arange(6.0).reshape(2, 3))
    assert [v.shape for v in values] == shapes
    assert values[4].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert values[8] == 1.0
    assert values[9].tolist() == [1.0, 0.0]
    batch = evaluate(f, np.zeros((7, 1, 2, 3)))
    assert [v.shape for v in batch] == [(7, 1, *s) for s in shapes]


@pytest.mark.parametrize(
    "rows",
    [
        lambda x: [[x], [x, x]],
        lambda x: [(x,), (x, x)],
        lambda x: [[x, x], x],
        lambda x: [np.array([x, x]), np.array([x])],
        lambda x: [np.array([[x, x], [x, x]]), np.array([[x, x, x], [x, x, x]])],
        lambda x: [[[x], [x]], [[x], [x, x]]],
    ],
)
def test_ragged_outputs_are_refused(g, rows):
    x = g.symbol("x")
    with pytest.raises(GraphError, match=r"output 'y' is ragged[\s\S]*rows of one length"):
        Function("f", [g.blocks["x"]], {"y": rows(x)})


def test_outputs_of_different_shapes_need_no_inputs(g):
    f = Function("f", [], {"a": [[g.one, g.zero], [g.one, 2.0]], "b": [g.number(3.0)], "c": 4.0})
    assert [v.tolist() for v in evaluate(f)] == [[[1, 0], [1, 2]], [3], 4]


def test_a_function_holds_only_what_its_outputs_need(g):
    x, y = g.symbol("x"), g.symbol("y")
    unused = tg.exp(x * y)
    f = Function("f", [g.blocks["x"]], {"z": tg.sin(x) + 1})
    assert unused not in f.nodes
    assert {n.op for n in f.nodes} == {ops.SYMBOL, ops.SIN, ops.CONST, ops.ADD}
    assert all(a in f.nodes[:k] for k, n in enumerate(f.nodes) for a in n.args)
    assert f.index[f.results[0].id] == len(f.nodes) - 1


def test_inputs_that_no_output_needs_are_kept_in_place(g):
    x, y, z = (g.symbol(n) for n in "xyz")
    f = Function("f", [g.blocks[n] for n in "zyx"], {"r": x - z})
    assert [b.name for b in f.inputs] == ["z", "y", "x"]
    assert evaluate(f, 1.0, 100.0, 5.0)[0] == 4.0
    assert y not in f.nodes
    assert z in f.nodes


def test_representation_shows_the_interface(g):
    q = g.block("q", 2)
    f = Function("f", [q], {"y": [[q[0], q[1]]], "z": q[0] * q[1]})
    assert repr(f) == "<Function f(q[2]) -> y[1, 2], z[]: 3 nodes>"


# -- evaluation --------------------------------------------------------------------------------------------------------
def test_leading_dimensions_broadcast(g):
    q, p, t = g.block("q", 2), g.block("p", 2, Role.PARAMETER), g.symbol("t", Role.TIME)
    f = Function("f", [q, p, g.blocks["t"]], {"y": [q[0] * p[1] + t]})
    q0, p0, t0 = np.random.default_rng(0).normal(size=(3, 1, 2)), np.ones((4, 2)), np.arange(4.0)
    y = evaluate(f, q0, p0, t0)[0]
    assert y.shape == (3, 4, 1)
    np.testing.assert_array_equal(y[..., 0], q0[..., 0] + t0)
    assert evaluate(f, np.zeros((0, 2)), [1, 2], 0)[0].shape == (0, 1)


@pytest.mark.parametrize("batch", [(), (1,), (3, 2)])
def test_outputs_that_depend_on_nothing_fill_the_batch(g, batch):
    q = g.block("q", 1)
    y = evaluate(Function("f", [q], {"y": [2.0, q[0]]}), np.ones((*batch, 1)))[0]
    assert y.shape == (*batch, 2)
    assert (y == [2.0, 1.0]).all()


def test_arguments_of_any_numeric_type_and_layout_are_taken(g):
    q = g.block("q", (2, 2))
    f = Function("f", [q], {"y": q[1] - q[2]})
    for array in (
        [[1, 2], [3, 4]],
        np.array([[1, 2], [3, 4]], np.int8),
        np.array([[1, 2], [3, 4]], np.float32),
        np.asfortranarray([[1.0, 2.0], [3.0, 4.0]]),
        np.array([[4.0, 3.0], [2.0, 1.0]])[::-1, ::-1],
        np.broadcast_to(np.array([[1.0, 2.0], [3.0, 4.0]]), (5, 2, 2)),
    ):
        assert (evaluate(f, array)[0] == -1.0).all()


def test_evaluation_leaves_its_arguments_alone(g):
    q = g.block("q", 3)
    f = Function("f", [q], {"y": list(q), "z": q[0] + 1})
    array = np.arange(3.0)
    y, _ = evaluate(f, array)
    y[:] = 7.0
    assert array.tolist() == [0.0, 1.0, 2.0]


@settings(max_examples=30)
@given(data=st.data())
def test_evaluation_forgets_no_value_it_still_needs(data):
    """Values are dropped after their last use; outputs that are also intermediates survive."""
    f = data.draw(functions(max_steps=6))
    exprs = [n for n in f.nodes if isinstance(n, tg.Expr)]
    everything = Function("all", f.inputs, {"y": exprs})
    args = data.draw(arguments(f, batch=()))
    values = dict(zip(exprs, evaluate(everything, *args)[0], strict=True))
    for output, value in zip(f.outputs, evaluate(f, *args), strict=True):
        np.testing.assert_array_equal(np.ravel(value), [values[e] for e in output.exprs])


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), r"takes 2 arguments[\s\S]*expected: q, t[\s\S]*got: 0"),
        (([1, 2, 3],), r"takes 2 arguments[\s\S]*got: 1"),
        (([1, 2], 0.0), r"wrong shape[\s\S]*argument 'q' of f[\s\S]*expected: \(\.\.\., 3\)[\s\S]*got: \(2,\)"),
        ((1.0, 0.0), r"wrong shape[\s\S]*got: \(\)"),
        ((["a", "b", "c"], 0.0), r"not real numbers[\s\S]*argument 'q' of f[\s\S]*<U1"),
        (([1j, 0, 0], 0.0), r"not real numbers[\s\S]*complex"),
        (([1, 2, None], 0.0), r"not real numbers[\s\S]*object"),
        (([1, 2, 3], None), r"not real numbers[\s\S]*argument 't' of f"),
        (([[1], [1, 2]], 0.0), r"not an array[\s\S]*argument 'q'"),
        ((np.zeros((2, 3)), np.zeros(5)), r"do not broadcast[\s\S]*q: \(2,\), t: \(5,\)"),
    ],
)
def test_wrong_arguments_are_refused_by_name(g, args, message):
    q, t = g.block("q", 3), g.symbol("t", Role.TIME)
    f = Function("f", [q, g.blocks["t"]], {"y": q[0] * t})
    with pytest.raises(ArgumentError, match=message):
        evaluate(f, *args)


# -- stages ------------------------------------------------------------------------------------------------------------
def test_each_node_belongs_to_the_earliest_stage_that_knows_its_operands(g):
    p, t, u, q = (g.symbol(role.value, role) for role in Role)
    exprs = [
        g.number(3.0),
        p,
        tg.sin(p),
        t,
        t * p,
        u,
        u + p,
        q,
        q * t,
        tg.select(p < 1.0, p, 2.0),
        tg.table(t, [0, 1], [0, 2]),
    ]
    f = Function("f", list(g.blocks.values()), {"y": exprs})
    stage = dict(zip(f.nodes, f.stages, strict=True))
    assert [stage[e] for e in exprs] == [
        Stage.PARAMETER,
        Stage.PARAMETER,
        Stage.PARAMETER,
        Stage.TIME,
        Stage.TIME,
        Stage.STATE,
        Stage.STATE,
        Stage.STATE,
        Stage.STATE,
        Stage.PARAMETER,
        Stage.TIME,
    ]


@settings(max_examples=40)
@given(data=st.data())
def test_what_is_hoisted_does_not_move_with_later_inputs(data):
    """Change what only later stages may see: values of earlier stages stay, bit for bit."""
    f = data.draw(functions(max_steps=10))
    exprs = [n for n in f.nodes if isinstance(n, tg.Expr)]
    stage = dict(zip(f.nodes, f.stages, strict=True))
    everything = Function("all", f.inputs, {"y": exprs})
    before, after = (data.draw(arguments(f, batch=())) for _ in range(2))
    for limit, roles in ((Stage.PARAMETER, {Role.PARAMETER}), (Stage.TIME, {Role.PARAMETER, Role.TIME})):
        mixed = [b if block.role in roles else a for block, b, a in zip(f.inputs, before, after, strict=True)]
        early = [k for k, e in enumerate(exprs) if stage[e] <= limit]
        old, new = evaluate(everything, *before)[0], evaluate(everything, *mixed)[0]
        np.testing.assert_array_equal(old[early], new[early])


@settings(max_examples=40)
@given(data=st.data())
def test_stages_never_decrease_from_operand_to_result(data):
    f = data.draw(functions())
    stage = dict(zip(f.nodes, f.stages, strict=True))
    for node in f.nodes:
        assert all(stage[a] <= stage[node] for a in node.args)
        if node.args:
            assert stage[node] == max(stage[a] for a in node.args)


# -- digest ------------------------------------------------------------------------------------------------------------
def arm(names="q m", roles=(Role.STATE, Role.PARAMETER), constant=9.81, power=2, shape=(2,), name="f", output="y"):
    g = Graph()
    q_name, m_name = names.split()
    q, m = g.block(q_name, shape, roles[0]), g.symbol(m_name, roles[1])
    g.name(tg.sin(q[0]), f"S{q_name}")
    y = constant * m * tg.cos(q[0] + q[1]) ** power
    return Function(name, [q, g.blocks[m_name]], {output: [y, tg.sin(q[0])]})


def test_digest_depends_on_no_name():
    assert arm().digest == arm(names="phi mass", name="other", output="torque").digest


@pytest.mark.parametrize(
    "change",
    [
        {"constant": np.nextafter(9.81, 10)},
        {"constant": -9.81},
        {"power": 3},
        {"shape": (3,)},
        {"shape": (2, 1)},
        {"roles": (Role.INPUT, Role.PARAMETER)},
        {"roles": (Role.STATE, Role.TIME)},
    ],
)
def test_digest_changes_with_what_shapes_the_computation(change):
    assert arm(**change).digest != arm().digest


def test_digest_tells_functions_apart_that_differ_in_one_detail(g):
    x, y = g.symbol("x"), g.symbol("y")
    both = [g.blocks["x"], g.blocks["y"]]
    inner = Graph()
    a = inner.symbol("a")
    f1 = Function("f", [inner.blocks["a"]], {"y": a * a})
    f2 = Function("f", [inner.blocks["a"]], {"y": a + a})
    xs = [0.0, 1.0]
    different = [
        Function("f", both, {"y": x - y}),
        Function("f", both[::-1], {"y": x - y}),
        Function("f", both, {"y": y - x}),
        Function("f", both, {"y": [x - y]}),
        Function("f", both, {"y": [[x - y]]}),
        Function("f", both, {"y": x - y, "z": x}),
        Function("f", both, {"y": [x - y, x]}),
        Function("f", both, {"y": [x, x - y]}),
        Function("f", both, {"y": x}),
        Function("f", both, {"y": y}),
        Function("f", [g.blocks["x"]], {"y": x}),
        Function("f", both, {"y": tg.sin(x)}),
        Function("f", both, {"y": tg.cos(x)}),
        Function("f", both, {"y": tg.minimum(x, y)}),
        Function("f", both, {"y": tg.maximum(x, y)}),
        Function("f", both, {"y": x < y}),
        Function("f", both, {"y": x <= y}),
        Function("f", both, {"y": tg.table(x, xs, [1.0, 2.0])}),
        Function("f", both, {"y": tg.table(x, xs, [1.0, np.nextafter(2.0, 3)])}),
        Function("f", both, {"y": tg.table(x, xs, [1.0, 2.0], outside=tg.Outside.EXTEND)}),
        Function("f", both, {"y": tg.call(f1, x)}),
        Function("f", both, {"y": tg.call(f2, x)}),
        Function("f", both, {"y": tg.solve([[x, y], [y, 1]], [1, 2])}),
        Function("f", both, {"y": tg.solve([[x, y], [y, 1]], [1, 2])[::-1]}),
        Function("f", both, {"y": tg.minimum_norm_solve([[x, y], [y, 1]], [1, 2])[0]}),
        Function("f", both, {"y": tg.minimum_norm_solve([[x, y], [y, 1]], [1, 2], tolerance=1e-5)[0]}),
        Function("f", both, {"y": tg.root(f1, [x])}),
        Function("f", both, {"y": tg.root(f2, [x])}),
        Function("f", both, {"y": tg.root(f1, [x], limit=9)}),
        Function("f", both, {"y": tg.root(f1, [x], tolerance=1e-9)}),
    ]
    digests = [f.digest for f in different]
    assert len(set(digests)) == len(digests)


def test_digest_does_not_see_what_else_the_graph_holds():
    def function(extra):
        g = Graph()
        x = g.symbol("x")
        if extra:
            tg.exp(x) * 17.0
        return Function("f", [g.blocks["x"]], {"y": tg.sin(x) * x})

    assert function(True).digest == function(False).digest


@settings(max_examples=30)
@given(recipe=recipes())
def test_digest_of_the_same_recipe_is_the_same(recipe):
    assert build(recipe).digest == build(recipe).digest


def test_digest_is_the_same_in_every_process():
    program = dedent("""
        import torseur.graph as tg
        g, inner = tg.Graph(), tg.Graph()
        a = inner.block("a", 2)
        f = tg.Function("f", [a], {"y": [tg.sin(a[0]) * a[1] - 0.1]})
        r = tg.Function("r", [inner.block("x", 1), a], {"y": [inner.blocks["x"][0] ** 3 - a[0]]})
        q, p = g.block("q", 3), g.block("p", 2, tg.Role.PARAMETER)
        y = [
            *tg.call(f, p), *tg.root(r, [0.5], p), *tg.solve([[q[0], 1], [p[1], q[2]]], [1, q[1]]),
            tg.table(q[0], [0, 1, 2], [3, 1, 2]), tg.select((q[0] < q[1]) & (p[0] <= 1), q[2], 0.25),
            *tg.minimum_norm_solve([list(q)], [1])[0],
        ]
        digest = tg.Function("h", [q, p], {"y": y, "J": tg.jacobian(y, list(q)).dense()}).digest
    """)
    here: dict[str, str] = {}
    exec(program, here)
    for seed in ("0", "1"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(torseur.__file__).parents[1])}
        command = [sys.executable, "-c", program + "print(digest)"]
        there = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout.strip()
        assert there == here["digest"]


# -- refusals ----------------------------------------------------------------------------------------------------------
def test_missing_inputs_are_named(g):
    x, y, z = (g.symbol(n) for n in "xyz")
    with pytest.raises(
        GraphError, match=r"needs blocks[\s\S]*expected: inputs x, y, z[\s\S]*got: inputs x\n[\s\S]*add y, z"
    ):
        Function("f", [g.blocks["x"]], {"r": x + y * z})


def test_functions_that_cannot_be_are_refused(g):
    x = g.symbol("x")
    block, other = g.blocks["x"], Graph().block("x")
    cases = [
        (("f", [block, block], {"y": x}), r"takes a block twice[\s\S]*x, x"),
        (("f", [other], {"y": x}), "two graphs"),
        (("f", [block], {"y": Graph().symbol("x")}), r"two graphs[\s\S]*output 'y'"),
        (("f", [block], {"y": [x, Graph().symbol("x") < 1.0]}), r"two graphs[\s\S]*output 'y'"),
        (("f", [], {}), "neither inputs nor expressions"),
        (("f", [], {"y": 1.0}), "neither inputs nor expressions"),
        (("f", [x], {"y": x}), r"not a block[\s\S]*graph.blocks\['q'\][\s\S]*got: x"),
        (("f", [block], {"y": None}), r"not an operand[\s\S]*output 'y'[\s\S]*None"),
        (("f", [block], {"y": [x, "x"]}), r"not an operand[\s\S]*output 'y'"),
        (("f", [block], {"y": float("nan")}), r"not-a-number[\s\S]*output 'y'"),
        (("2f", [block], {"y": x}), r"not a name[\s\S]*'2f'"),
        (("f", [block], {"y 1": x}), r"not a name[\s\S]*'y 1'"),
        (("f", [block], {3: x}), "not a name"),
    ]
    for args, message in cases:
        with pytest.raises(GraphError, match=message):
            Function(*args)


def test_expressions_are_not_copied_or_pickled_on_their_own(g):
    x = g.symbol("x")
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(GraphError, match=r"cannot be pickled or copied[\s\S]*keep the graph"):
            attempt(x)
