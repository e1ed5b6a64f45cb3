"""What cannot be built is refused at once, with what was expected, what was got, and what to do."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torseur.graph as tg
from torseur.errors import ArgumentError, GraphError
from torseur.graph import Function, Graph, Role

G = Graph()
X, Y = G.symbol("x"), G.symbol("y")
OTHER = Graph().symbol("z")
SQUARE = Function("square", [G.blocks["x"], G.blocks["y"]], {"r": X * X - Y})


def refusal(attempt):
    with pytest.raises(GraphError) as caught:
        attempt()
    return caught.value


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: X + OTHER,
        lambda: OTHER + X,
        lambda: X - OTHER,
        lambda: X * OTHER,
        lambda: X / OTHER,
        lambda: X**OTHER,
        lambda: X < OTHER,
        lambda: X >= OTHER,
        lambda: tg.equal(X, OTHER),
        lambda: tg.atan2(X, OTHER),
        lambda: tg.minimum(X, OTHER),
        lambda: tg.maximum(OTHER, X),
        lambda: tg.select(X < Y, X, OTHER),
        lambda: tg.select(OTHER < 1.0, X, Y),
        lambda: (X < Y) & (OTHER < 1.0),
        lambda: (X < Y) | (OTHER < 1.0),
        lambda: G.name(OTHER, "z"),
        lambda: G.expr(OTHER),
        lambda: G.truth(OTHER < 1.0),
        lambda: tg.solve([[X, Y], [Y, OTHER]], [1, 2]),
        lambda: tg.solve([[X, Y], [Y, X]], [1, OTHER]),
        lambda: tg.minimum_norm_solve([[X, OTHER]], [1]),
        lambda: tg.root(SQUARE, [X], OTHER),
        lambda: tg.call(SQUARE, X, OTHER),
        lambda: tg.tangents([X * Y], {OTHER: 1.0}),
        lambda: tg.tangents([X * Y], {X: OTHER}),
        lambda: tg.tangents([X, OTHER], {X: 1.0}),
        lambda: tg.gradient(X * Y, [OTHER]),
        lambda: tg.adjoints([X], [OTHER], [X]),
        lambda: tg.jacobian([X * Y], [X, OTHER]),
        lambda: tg.jacobian([X * Y, OTHER], [X]),
        lambda: tg.hessian(X * Y, [OTHER]),
        lambda: Function("f", [G.blocks["x"]], {"y": OTHER}),
        lambda: Function("f", [OTHER.graph.blocks["z"]], {"y": X}),
    ],
)
def test_expressions_of_two_graphs_are_never_mixed(attempt):
    error = refusal(attempt)
    assert "two graphs" in error.what
    assert error.got
    assert "one Graph" in error.remedy


@pytest.mark.parametrize("value", [None, "x", 1j, [1.0], True, Ellipsis, X < Y])
def test_what_is_no_number_is_no_operand(value):
    for attempt in (lambda: X + value, lambda: tg.minimum(X, value), lambda: tg.select(X < Y, value, X)):
        error = refusal(attempt)
        assert "not an operand" in error.what
        assert error.expected == "a number or an expression"
        assert type(value).__name__ in error.got


def test_numbers_that_are_none_are_no_constants():
    assert "not-a-number" in refusal(lambda: X * math.nan).what
    assert "not-a-number" in refusal(lambda: G.number(np.float32("nan"))).what
    assert "double precision" in refusal(lambda: X * 10**400).expected
    assert "not a constant" in refusal(lambda: G.number("three")).what


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: bool(X),
        lambda: X and Y,
        lambda: not X,
        lambda: 1 if X else 2,
    ],
)
def test_an_expression_has_no_truth_value(attempt):
    error = refusal(attempt)
    assert "no truth value" in error.what
    assert error.got == "x"
    assert "select" in error.remedy


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: bool(X < Y),
        lambda: max(X, Y),
        lambda: sorted([X, Y]),
        lambda: X < Y < 1.0,
        lambda: 1 if X <= Y else 2,
        lambda: np.array([X]) < np.array([Y]),
    ],
)
def test_a_condition_is_neither_true_nor_false_while_building(attempt):
    error = refusal(attempt)
    assert "neither true nor false" in error.what
    assert error.got
    assert "select(condition, a, b)" in error.remedy


def test_an_expression_is_not_a_number_unless_it_is_constant():
    assert float(G.number(2.5)) == 2.5
    error = refusal(lambda: float(X))
    assert error.expected == "a constant"
    assert error.got == "x"
    assert "evaluate" in error.remedy
    assert "not a number" in refusal(lambda: np.array([X, Y], float)).what


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: tg.sin(1.0),
        lambda: tg.absolute(-1),
        lambda: tg.atan2(1.0, 2.0),
        lambda: tg.minimum(1, 2),
        lambda: tg.equal(1, 1),
        lambda: tg.exp(X < Y),
        lambda: tg.table(0.5, [0, 1], [1, 2]),
    ],
)
def test_functions_of_no_expression_are_refused(attempt):
    error = refusal(attempt)
    assert "given no expression" in error.what
    assert error.expected
    assert error.got
    assert "graph.number" in error.remedy


@pytest.mark.parametrize("many", [G.blocks["x"], [X, Y], np.array([X, Y])], ids=["block", "list", "array"])
def test_functions_of_many_expressions_are_applied_one_by_one(many):
    error = refusal(lambda: tg.sin(many))
    assert "given no expression" in error.what
    assert "one by one" in error.remedy


@pytest.mark.parametrize("condition", [True, 1.0, X, None, "x < y"])
def test_select_wants_a_condition(condition):
    error = refusal(lambda: tg.select(condition, X, Y))
    assert error.what == "not a condition"
    assert "x < y" in error.expected
    assert error.got == repr(condition)


def test_equality_of_values_is_hinted_at():
    assert "equal(a, b)" in refusal(lambda: tg.select(X == 1, X, Y)).remedy


@pytest.mark.parametrize("value", [1, 0.0, X, None])
def test_conditions_combine_with_conditions_only(value):
    for attempt in (lambda: (X < Y) & value, lambda: value | (X < Y)):
        error = refusal(attempt)
        assert error.what == "not a condition"
        assert error.got.startswith(repr(value))


@pytest.mark.parametrize("name", ["", "1a", "a b", "a-b", "é", "a.b", None, 3, "a\n"])
def test_names_that_no_language_takes_are_refused(name):
    g = Graph()
    x = g.symbol("x")
    for attempt in (
        lambda: g.block(name),
        lambda: g.symbol(name),
        lambda: g.block("b", 1, names=[name]),
        lambda: g.name(tg.sin(x), name),
        lambda: Function(name, [g.blocks["x"]], {"y": x}),
        lambda: Function("f", [g.blocks["x"]], {name: x}),
    ):
        error = refusal(attempt)
        assert error.what == "not a name"
        assert "letters, digits and _" in error.expected
        assert error.got == repr(name)


def test_a_refused_block_leaves_no_trace():
    g = Graph()
    size = len(g)
    for attempt in (
        lambda: g.block("b", 2, names=["a"]),
        lambda: g.block("b", -1),
        lambda: g.block("b", 2, "nothing"),
    ):
        refusal(attempt)
    assert len(g) == size
    assert not g.blocks
    g.block("b", 2)


def test_blocks_that_cannot_be_are_refused():
    g = Graph()
    g.block("q", 2)
    error = refusal(lambda: g.block("q", 3))
    assert "'q' exists already" in error.what
    assert "another name" in error.remedy
    for shape in (-1, (2, -1), 2.5, "ab", (1, None), {2}):
        error = refusal(lambda shape=shape: g.block("b", shape))
        assert "'b' has no shape" in error.what
        assert "sizes" in error.expected
        assert error.got == repr(shape)
    error = refusal(lambda: g.block("b", 2, "nothing"))
    assert "'state'" in error.expected
    assert error.got == "'nothing'"
    error = refusal(lambda: g.block("b", 2, names=["a", "b", "c"]))
    assert "wrong number of names" in error.what
    assert (error.expected, error.got) == ("2", "3")
    error = refusal(lambda: g.block("b", 3, names=["a", "b", "a"]))
    assert "several elements" in error.what
    assert error.got == "a"


def test_blocks_are_sequences_of_their_symbols():
    g = Graph()
    q = g.block("q", (2, 2), Role.INPUT)
    assert len(q) == q.size == 4
    assert list(q) == [q[0], q[1], q[2], q[3]]
    assert q.names == ("q1_1", "q1_2", "q2_1", "q2_2")
    assert q["q2_1"] is q[2]
    assert q[-1] is q[3]
    assert g.block("p", np.int64(2), names=["m", "l"])["l"] is g.blocks["p"][1]
    assert g.block("s").names == ("s",)
    assert g.block("none", 0).symbols == ()
    error = refusal(lambda: q["q5"])
    assert "'q' has no element 'q5'" in error.what
    assert error.expected == "q1_1, q1_2, q2_1, q2_2"
    with pytest.raises(IndexError):
        q[4]


def test_elements_have_one_index_per_dimension():
    g = Graph()
    M, s = g.block("M", (2, 3)), g.block("s")
    assert [M[i, j] for i in range(2) for j in range(3)] == list(M)
    assert M[-1, -1] is M[np.int64(1), 2] is M[5]
    assert s[()] is s[0]
    for index in ((2, 0), (0, 3), (-3, 0), (0,), (0, 0, 0), (), (0, 1.0), (0, "a"), (0, slice(None))):
        error = refusal(lambda index=index: M[index])
        assert f"'M' has no element {list(index)}" in error.what
        assert "2 integers within its shape (2, 3)" in error.expected


@pytest.mark.parametrize(
    ("attempt", "what"),
    [
        (lambda: tg.solve([], []), "not a matrix"),
        (lambda: tg.solve([[]], [X]), "not a matrix"),
        (lambda: tg.solve([[X, Y], [Y]], [1, 2]), "not a matrix"),
        (lambda: tg.solve([[X, Y]], [1]), "square"),
        (lambda: tg.solve([[X, Y], [Y, X]], [1]), "right-hand sides"),
        (lambda: tg.solve([[X, Y], [Y, X]], [[1, 2], [3]]), "ragged"),
        (lambda: tg.solve([[1.0, 2.0], [3.0, 5.0]], [1.0, 2.0]), "without any expression"),
        (lambda: tg.minimum_norm_solve([[X, Y], [Y]], [1, 2]), "not a matrix"),
        (lambda: tg.minimum_norm_solve([[X, Y]], [1, 2]), "right-hand side"),
        (lambda: tg.minimum_norm_solve([[X, Y]], [1], tolerance=0.0), "tolerance"),
        (lambda: tg.minimum_norm_solve([[X, Y]], [1], tolerance=1.0), "tolerance"),
        (lambda: tg.minimum_norm_solve([[1.0]], [2.0]), "without any expression"),
        (lambda: tg.root(SQUARE, [X]), "do not fit"),
        (lambda: tg.root(SQUARE, [X, Y], Y), "do not fit"),
        (lambda: tg.root(SQUARE, [X], [Y, Y]), "right size"),
        (lambda: tg.root(SQUARE, [1.0], 2.0), "expressions"),
        (lambda: tg.root(Function("two", [G.blocks["x"]], {"r": [X, X]}), [X]), "do not fit"),
        (lambda: tg.call(SQUARE, X), "number of arguments"),
        (lambda: tg.call(SQUARE, X, [Y, Y]), "wrong size"),
        (lambda: tg.jacobian([X], []), "variables"),
        (lambda: tg.jacobian([], [X]), "outputs"),
        (lambda: tg.jacobian([X], [G.one]), "respect to a number"),
        (lambda: tg.gradient(X, [G.number(4.0)]), "respect to a number"),
        (lambda: tg.tangents([X], {G.one: 1.0}), "respect to a number"),
        (lambda: tg.jacobian([X], [X], "sideways"), "no such mode"),
        (lambda: tg.jacobian([1.0], [X]), "only expressions"),
        (lambda: tg.gradient(X, [2.0]), "only expressions"),
        (lambda: tg.gradient(X < Y, [X]), "only expressions"),
        (lambda: tg.adjoints([X, Y], [1.0], [X]), "one weight"),
        (lambda: tg.gradient(X, X), "'wrt' is not a sequence"),
        (lambda: tg.hessian(X, X), "'wrt' is not a sequence"),
        (lambda: tg.jacobian(X, [X]), "'outputs' is not a sequence"),
        (lambda: tg.jacobian([X], X), "'wrt' is not a sequence"),
        (lambda: tg.tangents(X, {X: 1.0}), "'outputs' is not a sequence"),
        (lambda: tg.tangents([X], [X]), "not a mapping"),
        (lambda: tg.adjoints(X, [1.0], [X]), "'outputs' is not a sequence"),
        (lambda: tg.adjoints([X], 1.0, [X]), "'weights' is not a sequence"),
        (lambda: tg.solve(G.blocks["x"], [1.0]), "not a matrix"),
        (lambda: tg.solve(X, [1.0]), "not a matrix"),
        (lambda: tg.solve([[X]], Y), "right-hand side is not a sequence"),
        (lambda: tg.solve([[X]], np.array(1.0)), "right-hand side is not a sequence"),
        (lambda: tg.minimum_norm_solve([[X]], 1.0), "right-hand side is not a sequence"),
        (lambda: G.name(3.0, "W"), "only expressions have names"),
        (lambda: Function("f", [G.blocks["x"]], [X]), "outputs of function 'f' have no names"),
        (lambda: tg.root(SQUARE, [X], Y, tolerance=0.0), "wrong options of a root"),
        (lambda: tg.root(SQUARE, [X], Y, tolerance=math.inf), "wrong options of a root"),
        (lambda: tg.root(SQUARE, [X], Y, tolerance=math.nan), "wrong options of a root"),
        (lambda: tg.root(SQUARE, [X], Y, tolerance="small"), "wrong options of a root"),
        (lambda: tg.root(SQUARE, [X], Y, limit=0), "wrong options of a root"),
        (lambda: tg.root(SQUARE, [X], Y, limit=5.0), "wrong options of a root"),
    ],
)
def test_systems_calls_and_derivatives_that_do_not_fit_are_refused(attempt, what):
    error = refusal(attempt)
    assert what in error.what
    assert error.expected or error.remedy
    assert error.got or error.remedy


@pytest.mark.parametrize("wrong", [X, "f", None, lambda x: x])
def test_what_is_no_function_is_not_taken_for_one(wrong):
    for attempt in (tg.evaluate, tg.call, tg.root):
        with pytest.raises(ArgumentError) as caught:
            attempt(wrong, [1.0])
        assert caught.value.where == attempt.__name__
        assert caught.value.expected == "a Function"
        assert caught.value.got == type(wrong).__name__


def test_errors_are_value_errors_too():
    with pytest.raises(ValueError, match="two graphs"):
        X + OTHER


def test_long_expressions_are_cut_in_messages():
    e = X
    for k in range(50):
        e = tg.sin(e + Y * k)
    wide = tg.solve([[X + i * j for j in range(2, 12)] for i in range(2, 12)], [X] * 10)[0]
    deep = tg.solve([[wide * (i + j + 2) for j in range(10)] for i in range(10)], [wide] * 10)[0]
    for expr in (e, wide, deep):
        assert len(repr(expr)) < 2000
        assert "…" in repr(expr)
    assert repr(tg.select(X < Y, -X, G.number(0.1))) == "select((x < y), -x, 0.1)"
    assert repr(tg.solve([[X, Y], [Y, X]], [1, 2])[1]) == "substitute2(factor2(x, y, y, x), 1, 2)[1]"
    assert repr((X < Y) & ~(X <= 1.0)) == "((x < y) and not((x <= 1)))"
