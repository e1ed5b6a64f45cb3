"""The order of nodes by structure: the same in every graph, a node and its negative at one place."""

from hypothesis import given, settings
from hypothesis import strategies as st

from support.random_functions import recipes
from support.recipes import build
from torseur.graph import Function, Graph, cos, exp, ops, sin
from torseur.graph.structure import structural_order


@given(st.data())
@settings(max_examples=60)
def test_only_negatives_share_a_place(data):
    function = build(data.draw(recipes(max_steps=25)))
    place = structural_order(function.nodes)
    seen = {}
    for node in function.nodes:
        if node.op not in (ops.NEG, ops.CONST, ops.CALL, ops.ITEM):  # callees of one name may differ
            other = seen.setdefault(place[node.id], node)
            assert other is node or {o.op for o in _callees(other, node)}


def _callees(*nodes):
    """The calls that some nodes depend on."""
    return [
        n
        for node in nodes
        for n in Function("f", list(node.graph.blocks.values()), {"y": node}).nodes
        if n.op is ops.CALL
    ]


@given(st.data())
@settings(max_examples=60)
def test_fewer_nodes_do_not_change_the_order_of_the_others(data):
    function = build(data.draw(recipes(max_steps=25)))
    every = structural_order(function.nodes)
    part = Function("f", function.inputs, {"y": function.results[0]})
    some = structural_order(part.nodes)
    by_all = sorted(some, key=lambda id: (every[id], id))
    assert [some[id] for id in by_all] == sorted(some.values())


def test_the_order_of_creation_does_not_count():
    def places(turned):
        g = Graph()
        a, b, c = g.block("x", 3)
        made = [c - b, b - a, c * b, b * a] if turned else [a * b, b * c, a - b, b - c]
        p, q, r, s = (a - b) * c, (b - c) * a, sin(a - b) * cos(c - b), exp(b - a) + a * b
        u, v = a * b + (b - c), a * b - (b - c)
        order = structural_order(g.nodes)
        assert len(made) == 4
        return sorted(range(6), key=lambda k: order[(p, q, r, s, u, v)[k].id])

    assert places(False) == places(True)


def test_a_node_and_its_negative_have_one_place_and_sums_differ_from_differences():
    g = Graph()
    a, b = g.block("x", 2)
    plus, minus, opposite = a + b, a - b, b - a
    order = structural_order(g.nodes)
    assert order[minus.id] == order[opposite.id] != order[plus.id]
