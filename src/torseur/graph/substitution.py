"""Replacing parts of expressions by others; what becomes known folds away."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torseur.graph import folding, ops
from torseur.graph.folding import foreign
from torseur.graph.function import reachable
from torseur.graph.nodes import Expr, Node
from torseur.graph.ops import Op
from torseur.graph.piecewise import evaluate_piecewise

__all__ = ["substitute"]

_BINARY: dict[Op, Callable[[Any, Any], Any]] = {
    ops.ADD: folding.total,
    ops.SUB: folding.difference,
    ops.MUL: folding.product,
    ops.DIV: folding.quotient,
    ops.POW: folding.power,
    ops.AND: folding.conjunction,
    ops.OR: folding.disjunction,
}


def substitute(exprs: Sequence[Expr], replacements: Mapping[Expr, Expr | float]) -> list[Expr]:
    """The same expressions with some of their parts (symbols, usually) replaced, all at once.

    >>> from torseur.graph import Graph, sin, substitute
    >>> g = Graph()
    >>> x, y = g.symbol("x"), g.symbol("y")
    >>> substitute([x * sin(y), x + y], {x: 0.0})
    [0, y]
    """
    if not exprs:
        return []
    g = exprs[0].graph
    for e in (*exprs, *replacements):
        if e.graph is not g:
            raise foreign(e)
    new: dict[int, Node] = {old.id: g.expr(value) for old, value in replacements.items()}
    for node in reachable(exprs):
        if node.id not in new:
            args = tuple(new[a.id] for a in node.args)
            same = all(a is b for a, b in zip(args, node.args, strict=True))
            new[node.id] = node if same else _rebuilt(node, args)
    return [new[e.id] for e in exprs]  # type: ignore[misc]


def _rebuilt(node: Node, args: tuple[Any, ...]) -> Node:
    op, g = node.op, node.graph
    if op in _BINARY:
        return _BINARY[op](*args)  # type: ignore[no-any-return]
    if op is ops.NEG:
        return folding.negate(args[0])
    if op is ops.NOT:
        return folding.negation(args[0])
    if op in (ops.LT, ops.LE, ops.EQ):
        return folding.compare(op, *args)
    if op is ops.SELECT:
        return folding.choice(*args)
    if op in (ops.ATAN2, ops.MIN, ops.MAX):
        return folding.binary(op, *args)
    if op is ops.PIECEWISE:
        return evaluate_piecewise(node.data, args[0])
    if op is ops.CALL:
        return g.call(node.data, args)
    if op is ops.ITEM:
        return args[0][node.data]  # type: ignore[no-any-return]
    return folding.unary(op, args[0])
