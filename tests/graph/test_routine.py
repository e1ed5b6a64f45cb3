"""Routines: what they may use, what is refused and why, and how Python itself runs them."""

from __future__ import annotations

import ast
import math
import sys

import numpy as np
import pytest

from torseur.errors import CompileError
from torseur.graph import Graph
from torseur.graph.constrained_routines import FACTORS, MULTIPLIERS, ROUNDING, SOLUTION
from torseur.graph.routine import EPSILON, In, Loops, Out, Routine, Work, sqrt

HALF = 0.5
COUNT = 3


def averaged(n: int, a: In, y: Out, w: Work) -> None:
    """Running means:
    half of what was, half of what is."""
    for k in range(n):
        w[0] *= HALF
        w[0] += HALF * a[k]
        y[k] = w[0] + sqrt(a[0]) / COUNT


AVERAGED = Routine(averaged, (lambda n: n,), (lambda n: 1,))


def test_python_runs_a_routine_as_it_stands():
    assert AVERAGED((3,), [[4.0, 2.0, 6.0]]) == [2.0 + 2 / 3, 2.0 + 2 / 3, 4.0 + 2 / 3]


def test_numbers_do_what_numbers_do_elsewhere():
    """Division by zero and roots of negative numbers have results, not exceptions."""

    def odd(a: In, y: Out) -> None:
        y[0] = 1.0 / a[0]
        y[1] = sqrt(a[1])
        y[2] = a[0] / a[0]

    found = Routine(odd, (lambda: 3,))((), [[0.0, -1.0]])
    assert found[0] == math.inf
    assert math.isnan(found[1])
    assert math.isnan(found[2])


def test_arguments_are_copied():
    given = [1.0, 2.0]
    AVERAGED((2,), [given])
    assert given == [1.0, 2.0]


def test_a_routine_knows_its_arguments_and_its_names():
    assert dict(AVERAGED.arguments) == {"n": "int", "a": "In", "y": "Out", "w": "Work"}
    assert AVERAGED.named("In") == ("a",)
    assert dict(AVERAGED.kinds) == {"n": "int", "k": "int"}
    assert AVERAGED.description == "Running means: half of what was, half of what is."


def test_numbers_of_the_module_and_changes_in_place_are_written_out():
    text = ast.unparse(AVERAGED.tree)
    assert "w[0] = w[0] * 0.5" in text
    assert "w[0] = w[0] + 0.5 * a[k]" in text
    assert "sqrt(a[0]) / 3" in text


def test_another_constant_is_another_routine(monkeypatch):
    before = AVERAGED.digest
    monkeypatch.setattr(sys.modules[__name__], "HALF", 0.25)
    assert Routine(averaged, (lambda n: n,), (lambda n: 1,)).digest != before


def test_the_limit_of_rounding_is_written_once():
    """In the routine and in the reference evaluator, from the rounding unit of the numbers."""
    assert pytest.approx(1e-13, rel=1e-2) == ROUNDING
    assert sys.float_info.epsilon == EPSILON
    assert f"floor = {ROUNDING / EPSILON} * EPSILON" in ast.unparse(FACTORS.tree)


@pytest.mark.parametrize("routine", [FACTORS, SOLUTION, MULTIPLIERS], ids=lambda r: r.name)
def test_the_routines_of_the_package_are_checked(routine):
    assert routine.kinds
    assert list(routine.kinds) == list(Routine(routine.body, routine.outputs, routine.work).kinds)


# -- refusals ----------------------------------------------------------------------------------------------------------
def power(n: int, a: In, y: Out) -> None:
    y[0] = a[0] ** 2


def call(n: int, a: In, y: Out) -> None:
    y[0] = math.sin(a[0])


def other_function(n: int, a: In, y: Out) -> None:
    y[0] = max(a[0], a[1])


def stepped(n: int, a: In, y: Out) -> None:
    for k in range(0, n, 2):
        y[k] = a[k]


def over_a_list(n: int, a: In, y: Out) -> None:
    for x in a:
        y[0] = x


def chained(n: int, a: In, y: Out) -> None:
    if 0.0 < a[0] < 1.0:
        y[0] = 1.0


def truthy(n: int, a: In, y: Out) -> None:
    while n:
        y[0] = 1.0


def value_returned(n: int, a: In, y: Out) -> None:
    return a[0]


def broken(n: int, a: In, y: Out) -> None:
    for k in range(n):
        y[k] = a[k]
        break


def flag(n: int, a: In, y: Out) -> None:
    y[0] = True


def tuples(n: int, a: In, y: Out) -> None:
    y[0], y[1] = a[1], a[0]


def written_input(n: int, a: In, y: Out) -> None:
    a[0] = y[0]


def argument_changed(n: int, a: In, y: Out) -> None:
    n = n + 1
    y[0] = a[n]


def real_index(n: int, a: In, y: Out) -> None:
    y[0] = a[a[0]]


def becomes_real(n: int, a: In, y: Out) -> None:
    k = 0
    k = k + a[0]
    y[0] = k


def whole_quotient(n: int, a: In, y: Out) -> None:
    y[0] = a[0] * (n / 2)


def whole_size(n: int, a: In, y: Out) -> None:
    y[0] = a[0] * abs(n)


def maybe_unknown(n: int, a: In, y: Out) -> None:
    if a[0] > 0.0:
        x = 1.0
    y[0] = x


def unknown_after_a_loop(n: int, a: In, y: Out) -> None:
    for k in range(n):
        x = a[k]
    y[0] = x


def variable_after_the_loop(n: int, a: In, y: Out) -> None:
    for k in range(n):
        y[k] = a[k]
    y[0] = a[k]


def variable_of_the_pass_before(n: int, a: In, y: Out) -> None:
    k = 0
    for i in range(n):
        y[i] = a[k]
        for k in range(i):
            y[k] = a[i]


def variable_changed(n: int, a: In, y: Out) -> None:
    for k in range(n):
        k = k + 1
        y[k] = a[k]


def bound_changed(n: int, a: In, y: Out) -> None:
    top = n
    for k in range(top):
        top = k
        y[k] = a[k]


def never_read(n: int, a: In, y: Out) -> None:
    x = a[0]  # noqa: F841
    y[0] = a[1]


def never_reached(n: int, a: In, y: Out) -> None:
    return
    y[0] = a[1]


def outside_name(n: int, a: In, y: Out) -> None:
    y[0] = a[0] * AVERAGED


def default(n: int, a: In, y: Out = None) -> None:
    y[0] = a[0]


def wrong_kind(n: float, a: In, y: Out) -> None:
    y[0] = a[0]


def no_kind(n: int, a, y: Out) -> None:
    y[0] = 1.0


def disordered(a: In, n: int, y: Out) -> None:
    y[0] = a[n]


def no_output(n: int, a: In, y: Work) -> None:
    y[0] = a[0]


REFUSED = {
    power: "an expression of another kind (line 2: a[0] ** 2)",
    call: "an expression of another kind (line 2: math.sin(a[0]))",
    other_function: "an expression of another kind (line 2: max(a[0], a[1]))",
    stepped: "a loop over what is no range by steps of 1 or -1 (line 2: range(0, n, 2))",
    over_a_list: "a loop over what is no range by steps of 1 or -1 (line 2: a)",
    chained: "a condition that is not a comparison (line 2: 0.0 < a[0] < 1.0)",
    truthy: "a condition that is not a comparison (line 2: n)",
    value_returned: "a statement of another kind (line 2: return a[0])",
    broken: "a statement of another kind (line 4: break)",
    flag: "an expression of another kind (line 2: True)",
    tuples: "an assignment to what is neither a name nor an element (line 2: (y[0], y[1]))",
    written_input: "an array that is only read is written (line 2: a[0])",
    argument_changed: "an argument is assigned (line 2: n)",
    real_index: "a real where a whole number is needed (line 2: a[0])",
    becomes_real: "a whole number becomes a real (line 3: k)",
    whole_quotient: "a quotient of whole numbers (line 2: n / 2)",
    whole_size: "abs of a whole number (line 2: abs(n))",
    maybe_unknown: "a name that may have no value here (line 4: x)",
    unknown_after_a_loop: "a name that may have no value here (line 4: x)",
    variable_after_the_loop: "a name that may have no value here (line 4: k)",
    variable_of_the_pass_before: "a name that may have no value here (line 4: k)",
    variable_changed: "a loop's variable or bound is changed inside the loop (line 3: k)",
    bound_changed: "a loop's variable or bound is changed inside the loop (line 4: top)",
    never_read: "'x' is assigned and never read",
    never_reached: "never reached (line 3: y[0] = a[1])",
    outside_name: "a name that may have no value here (line 2: AVERAGED)",
    default: "an argument that is not plain (line 1: def default(",
    wrong_kind: "argument 'n' is annotated with float instead of int, In, Out, Work",
    no_kind: "argument 'a' is annotated with nothing instead of int, In, Out, Work",
    disordered: "arguments are not in the order whole numbers, In, Out, Work",
    no_output: "0 arguments are Out, but 1 lengths are given",
}


@pytest.mark.parametrize("body", REFUSED, ids=lambda body: body.__name__)
def test_what_not_every_language_has_is_refused_with_its_line(body):
    with pytest.raises(CompileError) as caught:
        _ = Routine(body, (lambda n: n,)).tree
    assert REFUSED[body] in str(caught.value)
    assert f"where: {body.__name__}" in str(caught.value)


def test_all_faults_of_a_routine_are_told_at_once():
    def many(n: int, a: In, y: Out) -> None:
        y[0] = a[0] ** 2
        y[1] = z  # noqa: F821
        x = 3  # noqa: F841

    with pytest.raises(CompileError, match=r"line 2: a\[0\] \*\* 2.*line 3: z.*'x' is assigned and never read"):
        _ = Routine(many, (lambda n: n,)).tree


def test_every_way_to_a_name_may_assign_it():
    def fine(n: int, a: In, y: Out) -> None:
        if n > 3:
            return
        elif a[0] > 0.0:
            x = 1.0
        else:
            x = 2.0
        if a[1] > 0.0:
            z = x
        else:
            return
        y[0] = x + z

    assert Routine(fine, (lambda n: n,)).kinds == {"n": "int", "x": "real", "z": "real"}


def test_a_routine_without_source_is_refused():
    space = {"In": In, "Out": Out}
    exec("def made(a: In, y: Out) -> None:\n    y[0] = a[0]", space)
    with pytest.raises(CompileError, match="the source of a routine cannot be read\n  where: made"):
        _ = Routine(space["made"], (lambda: 1,)).tree


def test_something_else_than_a_function_is_refused():
    with pytest.raises(CompileError, match=r"a plain function|cannot be read"):
        _ = Routine(lambda a, y: None, (lambda: 1,)).tree


# -- calls -------------------------------------------------------------------------------------------------------------
def test_loops_give_a_routine_its_tables_before_its_blocks():
    def scaled(n: int, table: In, a: In, y: Out) -> None:
        for k in range(n):
            y[k] = table[k] * a[k]

    loops = Loops(Routine(scaled, (lambda n: n,)), (2,), (Graph().block("a", 2),), ((3.0, 5.0),))
    assert loops.outs == (2,)
    assert loops.reference(np.array([1.0, 2.0])) == [3.0, 10.0]


@pytest.mark.parametrize(
    ("whole", "blocks", "tables"),
    [
        ((), (2,), ()),
        ((2, 3), (2,), ()),
        ((2,), (), ()),
        ((2,), (2, 2), ()),
        ((2,), ((),), ()),
        ((2,), (2,), ((1.0,),)),
    ],
)
def test_loops_with_other_arguments_than_the_routine_has_are_refused(whole, blocks, tables):
    g = Graph()
    with pytest.raises(CompileError, match=r"where: averaged\s+expected: 1 whole numbers, 1 arrays"):
        Loops(AVERAGED, whole, tuple(g.block(f"b{k}", shape) for k, shape in enumerate(blocks)), tables)


def test_other_tables_sizes_or_routines_are_other_loops():
    def same(n: int, a: In, y: Out) -> None:
        y[0] = a[0]

    g = Graph()
    routine = Routine(same, (lambda n: n,))
    made = [
        Loops(routine, (2,), (g.block("a", 2),)),
        Loops(routine, (3,), (g.block("b", 2),)),
        Loops(routine, (2,), (g.block("c", 3),)),
        Loops(routine, (2,), (), ((1.0,),)),
        Loops(routine, (2,), (), ((2.0,),)),
        Loops(Routine(same, (lambda n: n,), (lambda n: n,)[:0]), (2,), (g.block("d", 2),)),
    ]
    assert len({x.digest for x in made}) == 5
    assert made[0].digest == made[-1].digest
