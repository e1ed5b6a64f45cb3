"""An order of nodes that their structure alone decides.

The order of creation tells nodes apart too, but it depends on what else was built in a graph, and when. Here two nodes
compare the same way in every graph that has them, whatever else is there: by height, operation and data, then by their
operands. Signs do not count, since folding moves them (``a - b`` becomes ``-(b - a)`` where ``b - a`` came first): a
node and its negative have one place.

>>> from torseur.graph import Graph
>>> def of_two(first_the_difference):
...     x, y = Graph().block("x", 2)
...     difference = y - x if first_the_difference else None
...     product, turned = x * y, (x - y) * x
...     place = structural_order(x.graph.nodes)
...     return place[product.id] < place[turned.id]
>>> of_two(True), of_two(False)
(True, True)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torseur.graph import ops
from torseur.graph.nodes import Node
from torseur.graph.ops import Parity

__all__ = ["structural_order"]

_Signed = tuple[int, int]
"""The place of a node, and the sign it has beside its positive form: 1 or -1."""

_CODE = {op: k for k, op in enumerate(ops.OPS)} | {ops.SUB: ops.OPS.index(ops.ADD)}


def structural_order(nodes: Iterable[Node]) -> dict[int, int]:
    """Node id -> its place, for nodes given with operands before results.

    The places depend on which nodes are given; which of two nodes comes first does not.
    """
    known: dict[int, _Signed] = {}
    count = 0
    for level, negatives in _levels(nodes):
        keyed = []
        for node in level:
            key, sign = _form(node, [known[a.id] for a in node.args])
            keyed.append(((_CODE[node.op], *key), node.id, sign))
        last = None
        for key, id, sign in sorted(keyed):
            count += key != last
            known[id], last = (count, sign), key
        for node in negatives:
            place, sign = known[node.args[0].id]
            known[node.id] = place, -sign
    return {id: place for id, (place, _) in known.items()}


def _levels(nodes: Iterable[Node]) -> list[tuple[list[Node], list[Node]]]:
    """Nodes by height, negatives apart: they are as high as what they are the negative of."""
    height: dict[int, int] = {}
    levels: list[tuple[list[Node], list[Node]]] = []
    for node in nodes:
        negative = node.op is ops.NEG
        h = height[node.id] = max([height[a.id] for a in node.args], default=-1) + (not negative)
        while len(levels) <= h:
            levels.append(([], []))
        levels[h][negative].append(node)
    return levels


def _form(node: Node, args: list[_Signed]) -> tuple[tuple[Any, ...], int]:
    """What tells a node from others of its operation, and its sign."""
    op = node.op
    if op is ops.ADD or op is ops.SUB:
        (a, s), (b, t) = sorted([args[0], (args[1][0], -args[1][1] if op is ops.SUB else args[1][1])])
        return (a, b, s * t), s
    if op is ops.MUL or op is ops.DIV:
        (a, s), (b, t) = args
        return (b, a) if op is ops.MUL and b < a else (a, b), s * t
    if op is ops.CONST:
        return (abs(node.data),), -1 if node.data < 0.0 else 1
    if op is ops.SELECT:
        (c, _), (a, s), (b, t) = args
        return (c, a, b, s * t), s
    if op.parity is not Parity.NONE:
        ((a, s),) = args
        return (a,), s if op.parity is Parity.ODD else 1
    return (_data(node), *(sorted(args) if op.commutative else args)), 1


def _data(node: Node) -> Any:
    """What a node holds beside its operands, in a form that can be ordered."""
    if node.op is ops.CALL:
        return node.data.name  # not what is called: it may have further results, which change nothing of these
    if node.op is ops.PIECEWISE:
        return node.data.breaks, node.data.origins, node.data.coefficients
    return 0 if node.data is None else node.data
