"""Calls carried out the way emitters do: through what they are lowered to, one state at a time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.graph import Function, ops
from torseur.graph.calls import Iteration
from torseur.graph.routine import Loops


def evaluate_lowered(function: Function, *args: ArrayLike) -> list[NDArray[np.float64]]:
    """The outputs of a function for one state, without any callee's own reference."""
    with np.errstate(all="ignore"):
        flat = iter(_flat(function, [x for arg in args for x in np.ravel(np.asarray(arg, float))]))
    return [np.array([next(flat) for _ in o.exprs]).reshape(o.shape) for o in function.outputs]


def _flat(function: Function, columns: Sequence[Any]) -> list[Any]:
    symbols = {s.id: x for s, x in zip(chain.from_iterable(function.inputs), columns, strict=True)}
    value: dict[int, Any] = {}
    for node in function.nodes:
        args = [value[a.id] for a in node.args]
        if node.op is ops.SYMBOL:
            value[node.id] = symbols[node.id]
        elif node.op is ops.CALL:
            value[node.id] = _called(node.data.lowering(), args)
        elif node.op is ops.ITEM:
            value[node.id] = args[0][node.data]
        elif node.op is ops.PIECEWISE:
            value[node.id] = node.data(np.asarray(args[0]))
        elif node.op in (ops.CONST, ops.TRUTH):
            value[node.id] = np.float64(node.data) if node.op is ops.CONST else np.bool_(node.data)
        else:
            value[node.id] = node.op.numpy(*args)
    return [value[e.id] for e in function.results]


def _called(callee: Function | Iteration | Loops, args: list[Any]) -> list[Any]:
    flat = [x for arg in args for x in (arg if isinstance(arg, list) else [arg])]
    if isinstance(callee, Loops):
        return [np.float64(x) for x in callee.reference(flat)]
    if isinstance(callee, Function):
        return _flat(callee, flat)
    state, done = _flat(callee.start, flat), np.float64(0)
    assert len(state) == callee.size
    for _ in range(callee.limit):
        *state, done = _flat(callee.step, [*state, *flat])
        if done:
            break
    return _flat(callee.finish, [*state, done])
