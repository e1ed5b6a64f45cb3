"""One-line pictures of expressions for error messages and the prompt; long ones are cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torseur.graph import ops

if TYPE_CHECKING:
    from torseur.graph.nodes import Node

_INFIX = {
    ops.ADD: "+",
    ops.SUB: "-",
    ops.MUL: "*",
    ops.DIV: "/",
    ops.LT: "<",
    ops.LE: "<=",
    ops.EQ: "==",
    ops.AND: "and",
    ops.OR: "or",
}
_DEPTH = 4
_WIDTH = 6


def short(node: Node, depth: int = _DEPTH) -> str:
    """Infix text down to a few levels, then an ellipsis.

    >>> from torseur.graph import Graph, sin
    >>> x = Graph().symbol("x")
    >>> sin(x) * 2 + 1
    ((2*sin(x)) + 1)
    """
    label = node.graph.label(node) if depth < _DEPTH or node.op is ops.SYMBOL else None
    if label is not None:
        return label
    if node.op is ops.CONST:
        return f"{node.data:.12g}"
    if node.op is ops.TRUTH:
        return str(node.data)
    if depth == 0:
        return "…"
    parts = [short(a, depth - 1) for a in node.args[:_WIDTH]]
    if node.op in _INFIX:
        symbol = _INFIX[node.op]
        return f"({parts[0]}{symbol}{parts[1]})" if symbol in "*/" else f"({parts[0]} {symbol} {parts[1]})"
    if node.op is ops.NEG:
        return f"-{parts[0]}"
    if node.op is ops.ITEM:
        return f"{parts[0]}[{node.data}]"
    name = node.op.name if node.op is not ops.CALL else node.data.name
    return f"{name}({', '.join(parts)}{', …' if len(node.args) > _WIDTH else ''})"
