"""A function cut in two: what its parameters alone decide, and the rest.

A callee sees its arguments as plain numbers, so parameter work inside a rate that a step calls many times would be
done at every call. Cut in two before, the first part is parameter work of the step itself: done once per run.
"""

from __future__ import annotations

from torseur.graph import Function, Role, Truth, ops, substitute
from torseur.graph.function import Stage
from torseur.graph.nodes import Bundle, Expr
from torseur.graph.structure import structural_order

__all__ = ["hoisted"]

WORK = "work__"
"""The block that takes the place of the parameters."""


def hoisted(function: Function) -> tuple[Function | None, Function]:
    """(p -> work, inputs with work in place of p -> outputs); no first part where there are no parameters."""
    parameters = [b for b in function.inputs if b.role is Role.PARAMETER]
    if not parameters:
        return None, function
    known: tuple[Function, Function] | None = function.__dict__.get("_hoisted")
    if known is None:
        known = function.__dict__["_hoisted"] = _cut(function)
    return known


def _cut(function: Function) -> tuple[Function, Function]:
    parameters = [b for b in function.inputs if b.role is Role.PARAMETER]
    kept = _carried(function)
    name = WORK
    while name in function.graph.blocks:
        name += "_"
    work = function.graph.block(name, len(kept), Role.INPUT)
    results = iter(substitute(list(function.results), dict(zip(kept, work, strict=True))))
    outputs = {o.name: [next(results) for _ in o.exprs] for o in function.outputs}
    inputs = [b for b in function.inputs if b.role is not Role.PARAMETER]
    first = Function(f"{function.name}_prologue", parameters, {"work": kept})
    return first, Function(function.name, [*inputs, work], outputs)


def _carried(function: Function) -> list[Expr]:
    """The expressions of parameters that later work needs.

    Conditions and bundles cannot be handed over as numbers: what they are made of is, and they are made again. The
    order is that of `torseur.graph.structure`: values that depend on it must not depend on what else is carried.
    """
    late = {n.id for n, stage in zip(function.nodes, function.stages, strict=True) if stage is not Stage.PARAMETER}
    wanted = {e.id: e for e in function.results}
    for node in reversed(function.nodes):
        again = node.id in wanted and (isinstance(node, (Bundle, Truth)) or node.op is ops.CONST)
        if node.id in late or again:
            wanted.pop(node.id, None)
            wanted |= {a.id: a for a in node.args}
    order = structural_order(node for node in function.nodes if node.id not in late)
    return sorted(wanted.values(), key=lambda e: (order[e.id], e.id))
