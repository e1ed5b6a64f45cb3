"""Which sums are fused with a product: ``a b + c`` rounded once, in one instruction.

It is decided here and not left to LLVM, which looks at how often a product is used: a function with one more result
would round the others differently. A sum or difference with a product among its operands is fused, whoever else uses
the product; where both are products, the one that comes later in the order of `torseur.graph.structure`. So the value
of a node depends on what it is made of, not on what else is computed with it.

Not fused: squares (``x x - y y`` must be 0 where x is y, or its root would be nan; and most are used several times),
and products that are computed at an earlier stage, whose factors are not at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torseur.graph import ops
from torseur.graph.function import Function, Stage
from torseur.graph.nodes import Node
from torseur.graph.structure import structural_order

__all__ = ["Fused", "fused_sums"]


@dataclass(frozen=True)
class Fused:
    """a b + c, with a minus before the product, before c, or before neither."""

    operands: tuple[Node, Node, Node]
    minus_product: bool = False
    minus_rest: bool = False


def fused_sums(function: Function, *, staged: bool) -> dict[int, Fused]:
    """Node id -> how it is fused, of the sums that are.

    Args:
        staged: whether the work of each stage is done apart.
    """
    stage = dict(zip((n.id for n in function.nodes), function.stages, strict=True)) if staged else {}
    sums = {n: _products(n, stage) for n in function.nodes if n.op is ops.ADD or n.op is ops.SUB}
    order = structural_order(function.nodes) if any(len(products) == 2 for products in sums.values()) else {}
    found = {}
    for node, products in sums.items():
        places = [order.get(node.args[k].id, 0) for k in products]
        if len(set(places)) == len(places) > 0:
            found[node.id] = _fused(node, products[places.index(max(places))])
    return found


def _products(node: Node, stage: Mapping[int, Stage]) -> Sequence[int]:
    """Which operands of a sum are products that it can be fused with."""
    return [k for k, a in enumerate(node.args) if _is_fit(a) and stage.get(a.id) is stage.get(node.id)]


def _is_fit(node: Node) -> bool:
    return node.op is ops.MUL and node.args[0] is not node.args[1]


def _fused(node: Node, which: int) -> Fused:
    product, rest = node.args[which], node.args[1 - which]
    minus = node.op is ops.SUB
    return Fused((*product.args, rest), minus and which == 1, minus and which == 0)
