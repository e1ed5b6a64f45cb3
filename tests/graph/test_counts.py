"""Operation counts are those of a careful hand."""

from __future__ import annotations

from dataclasses import fields

import pytest

import torseur.graph as tg
from support.recipes import RESIDUALS
from torseur.graph import Count, Function, Graph, Role, Stage, count, count_by_stage


def two_link_arm():
    """Inverse dynamics of a planar 2R arm with gravity, point masses at the links' ends, written as in a textbook.

    tau1 = (m1 + m2) l1^2 a1 + m2 l2^2 (a1 + a2) + m2 l1 l2 (c2 (2 a1 + a2) - s2 (2 w1 w2 + w2^2)) + gravity
    """
    g = Graph()
    p = g.block("p", 5, Role.PARAMETER, names=["m1", "m2", "l1", "l2", "g"])
    q, w, a = g.block("q", 2), g.block("w", 2), g.block("a", 2, Role.INPUT)
    m1, m2, l1, l2, gravity = p
    inertia1, inertia2, coupling = (m1 + m2) * l1 * l1, m2 * l2 * l2, m2 * l1 * l2
    weight1, weight2 = (m1 + m2) * l1 * gravity, m2 * l2 * gravity
    c2, s2 = tg.cos(q[1]), tg.sin(q[1])
    h, k = coupling * c2, coupling * s2
    both = a[0] + a[1]
    tip = weight2 * tg.cos(q[0] + q[1])
    tau1 = inertia1 * a[0] + inertia2 * both + h * (a[0] + both) - k * w[1] * (2 * w[0] + w[1])
    tau1 = tau1 + weight1 * tg.cos(q[0]) + tip
    tau2 = inertia2 * both + h * a[0] + k * w[0] * w[0] + tip
    return Function("arm", [p, q, w, a], {"tau": [tau1, tau2]})


def test_counts_of_a_two_link_arm_are_those_done_by_hand():
    arm = two_link_arm()
    by_stage = count_by_stage(arm)
    # Hoisted: m1 + m2; l1 times it, shared; by l1 and by g; m2 l2, shared; by l2, by l1... and by g.
    assert by_stage[Stage.PARAMETER] == Count(products=8, sums=1)
    # Products: h, k, tip, inertia1 a1, inertia2 both, h (a1 + both), k w2, 2 w1, that by the bracket, weight1 cos,
    # h a1, k w1, k w1 w1. Sums: q1 + q2, a1 + a2, a1 + both, 2 w1 + w2, five in tau1, three in tau2.
    assert by_stage[Stage.STATE] == Count(products=13, sums=12, pairs=3)
    assert by_stage[Stage.TIME] == Count()
    assert count(arm) == sum(by_stage.values(), Count())


def one_of(make, n_inputs=2):
    g = Graph()
    x = g.block("x", n_inputs)
    return count(Function("f", [x], {"y": make(*x)}))


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda x, y: x * y, Count(products=1)),
        (lambda x, y: x + y, Count(sums=1)),
        (lambda x, y: x - y, Count(sums=1)),
        (lambda x, y: -x, Count()),
        (lambda x, y: -(x - y), Count(sums=1)),
        (lambda x, y: x / y, Count(divisions=1)),
        (lambda x, y: x**-2, Count(products=1, divisions=1)),
        (lambda x, y: x**5, Count(products=3)),
        (lambda x, y: x**0.5, Count(roots=1)),
        (lambda x, y: x**1.5, Count(functions=1)),
        (lambda x, y: tg.sin(x), Count(pairs=1)),
        (lambda x, y: tg.sin(x) + tg.cos(x), Count(pairs=1, sums=1)),
        (lambda x, y: tg.sin(x) + tg.cos(y), Count(pairs=2, sums=1)),
        (lambda x, y: tg.sin(-x) + tg.cos(-x), Count(pairs=1, sums=1)),
        (lambda x, y: tg.tan(x), Count(functions=1)),
        (lambda x, y: tg.atan2(x, y), Count(functions=1)),
        (lambda x, y: tg.table(x, [0, 1], [1, 2]), Count(functions=1)),
        (lambda x, y: tg.minimum(x, y), Count(choices=1)),
        (lambda x, y: tg.select(x < y, x, 2.0), Count(choices=2)),
        (lambda x, y: tg.select((x < y) & (y <= 1.0), x, 2.0), Count(choices=4)),
        (lambda x, y: (3.0 * 4.0 - 12.0) + 0.0 * x + y * 1.0, Count()),
        (lambda x, y: [x * y, y * x, 2 * (x * y)], Count(products=2)),
    ],
)
def test_each_operation_counts_as_what_it_is(make, expected):
    assert one_of(make) == expected


def test_a_call_counts_what_it_calls_each_time():
    inner = Graph()
    a = inner.symbol("a")
    f = Function("f", [inner.blocks["a"]], {"y": tg.sin(a) * a + 1})
    assert one_of(lambda x, y: tg.call(f, x)[0] * tg.call(f, y)[0]) == Count(products=3, sums=2, pairs=2)
    assert one_of(lambda x, y: tg.call(f, x)[0] * tg.call(f, x)[0]) == Count(products=2, sums=1, pairs=1)


def test_linear_systems_count_like_elimination():
    """n^3/3 products to factor and n^2 to substitute, in the leading order; one division per pivot."""
    for n in (2, 4, 8):
        got = one_of(lambda *x, n=n: tg.solve([x[i * n : i * n + n] for i in range(n)], x[n * n :]), n * n + n)
        assert got.divisions == n
        assert got.products == sum(k + k * k for k in range(n)) + n * n
        assert got.sums == sum(k * k for k in range(n)) + n * (n - 1)


def test_a_loop_counts_one_pass():
    residual = RESIDUALS["cubic"][0]
    g = Graph()
    b = g.symbol("b")
    f = Function("f", [g.blocks["b"]], {"x": tg.root(residual, [0.0], b)})
    (callee,) = f.callees
    assert count(f) == count(callee.lowering().step)
    assert count(f).products > 0


def test_counting_deeply_nested_calls_is_linear_in_their_depth():
    """Each level calls the one below twice: the count doubles, the work of counting does not."""
    f = None
    for k in range(40):
        g = Graph()
        x = g.symbol("x")
        y = x * x if f is None else tg.call(f, x)[0] + tg.call(f, x + 1.0)[0]
        f = Function(f"f{k}", [g.blocks["x"]], {"y": y})
    assert count(f).products == 2**39
    assert count_by_stage(f)[Stage.STATE] == count(f)


def test_counts_add_up_and_print():
    total = Count(products=2, sums=1) + Count(products=1, pairs=4)
    assert total == Count(products=3, sums=1, pairs=4)
    assert total.total == 8
    assert str(total) == "3 products, 1 sum, 4 sine-cosine pairs"
    assert str(Count()) == "none"
    assert [f.name for f in fields(Count)] == [
        "products",
        "sums",
        "divisions",
        "roots",
        "pairs",
        "functions",
        "choices",
    ]


def test_hoisting_moves_operations_between_stages_and_loses_none():
    g = Graph()
    p, t, u, q = (g.symbol(role.value, role) for role in (Role.PARAMETER, Role.TIME, Role.INPUT, Role.STATE))
    f = Function("f", list(g.blocks.values()), {"y": p * p + tg.sin(t * p) * tg.cos(t) + u * p + q * q / p})
    by_stage = count_by_stage(f)
    assert by_stage[Stage.PARAMETER] == Count(products=1)
    assert by_stage[Stage.TIME] == Count(products=2, sums=1, pairs=2)
    assert by_stage[Stage.STATE] == Count(products=2, sums=2, divisions=1)
    assert sum(by_stage.values(), Count()) == count(f)
