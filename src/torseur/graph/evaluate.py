"""What expressions come to when numbers, or other expressions, take the place of some of their parts.

Numbers: the plain evaluator, NumPy, one array operation per node, no compilation. It is the independent check of every
emitter, and what runs where native code cannot. Expressions: what becomes known folds away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.errors import ArgumentError
from torseur.graph import folding, ops
from torseur.graph.folding import foreign
from torseur.graph.function import Function, checked_function, reachable
from torseur.graph.functions import evaluate_piecewise
from torseur.graph.nodes import Expr, Node
from torseur.graph.ops import Op

__all__ = ["evaluate", "evaluate_flat", "substitute", "walk"]


def evaluate(function: Function, *args: ArrayLike) -> tuple[NDArray[np.float64], ...]:
    """The outputs of a function on arrays of shape ``(..., *block.shape)``; leading dimensions broadcast."""
    checked_function(function, "evaluate")
    if len(args) != len(function.inputs):
        raise ArgumentError(
            f"'{function.name}' takes {len(function.inputs)} arguments",
            expected=", ".join(b.name for b in function.inputs),
            got=str(len(args)),
        )
    columns: list[Any] = []
    batches = []
    for block, arg in zip(function.inputs, args, strict=True):
        where = f"argument '{block.name}' of {function.name}"
        array = _numbers(arg, where)
        lead = array.ndim - len(block.shape)
        if lead < 0 or array.shape[lead:] != block.shape:
            raise ArgumentError(
                "wrong shape",
                where=where,
                expected=f"(..., {', '.join(map(str, block.shape))})",
                got=str(array.shape),
            )
        batches.append(array.shape[:lead])
        flat = array.reshape((*array.shape[:lead], block.size))
        columns += [flat[..., k] for k in range(block.size)]
    try:
        batch = np.broadcast_shapes(*batches)
    except ValueError:
        raise ArgumentError(
            "leading dimensions do not broadcast",
            where=f"arguments of {function.name}",
            expected="equal ones, or 1",
            got=", ".join(f"{b.name}: {lead}" for b, lead in zip(function.inputs, batches, strict=True)),
        ) from None
    results = iter(evaluate_flat(function, columns))
    return tuple(_stack([next(results) for _ in o.exprs], batch, o.shape) for o in function.outputs)


def _numbers(arg: ArrayLike, where: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(arg)
    except ValueError:  # rows of several lengths
        raise ArgumentError("not an array", where=where, expected="rows of one length") from None
    if array.dtype.kind not in "biuf":
        raise ArgumentError("not real numbers", where=where, expected="floats or integers", got=str(array.dtype))
    return array.astype(np.float64, copy=False)


def _stack(values: list[Any], batch: tuple[int, ...], shape: tuple[int, ...]) -> NDArray[np.float64]:
    out = np.empty((*batch, len(values)))
    for k, value in enumerate(values):
        out[..., k] = value
    return out.reshape((*batch, *shape))


def evaluate_flat(function: Function, columns: Sequence[Any]) -> list[Any]:
    """All results, flat, from one array (or number) per input element."""
    with np.errstate(all="ignore"):
        return walk(function, columns, _apply)


def walk(function: Function, columns: Sequence[Any], apply: Callable[[Node, list[Any]], Any]) -> list[Any]:
    """All results, flat, from one value per input element: a function on numbers of any kind.

    Args:
        function: what to run.
        columns: the values of the inputs, block after block.
        apply: gives the value of a node from those of its operands.
    """
    offset, where = 0, {}
    for block in function.inputs:
        where[block.name] = offset
        offset += block.size
    last_use = {a.id: k for k, node in enumerate(function.nodes) for a in node.args}
    kept = {e.id for e in function.results}
    value: dict[int, Any] = {}
    for k, node in enumerate(function.nodes):
        if node.op is ops.SYMBOL:
            value[node.id] = columns[where[node.data[0]] + node.data[1]]
        else:
            value[node.id] = apply(node, [value[a.id] for a in node.args])
        for arg in node.args:
            if last_use[arg.id] == k and arg.id not in kept:
                value.pop(arg.id, None)
    return [value[e.id] for e in function.results]


def _apply(node: Node, args: list[Any]) -> Any:
    if node.op.numpy is not None:
        return node.op.numpy(*args)
    if node.op is ops.CONST or node.op is ops.TRUTH:
        return np.float64(node.data) if node.op is ops.CONST else np.bool_(node.data)
    if node.op is ops.ITEM:
        return args[0][node.data]
    if node.op is ops.PIECEWISE:
        return node.data(np.asarray(args[0]))
    return node.data.reference(args)


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
