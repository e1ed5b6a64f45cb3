"""Running a function on the numbers of another program: one value per node, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torseur.graph import ops
from torseur.graph.function import Function
from torseur.graph.nodes import Node

__all__ = ["walk"]


def walk(function: Function, columns: Sequence[Any], apply: Callable[[Node, list[Any]], Any]) -> list[Any]:
    """All results, flat, from one value per input element.

    Args:
        function: what to run.
        columns: the values of the inputs, block after block.
        apply: gives the value of a node from those of its operands.
    """
    first, offset = {}, 0
    for block in function.inputs:
        first[block.name] = offset
        offset += block.size
    value: dict[int, Any] = {}
    for node in function.nodes:
        if node.op is ops.SYMBOL:
            value[node.id] = columns[first[node.data[0]] + node.data[1]]
        else:
            value[node.id] = apply(node, [value[a.id] for a in node.args])
    return [value[e.id] for e in function.results]
