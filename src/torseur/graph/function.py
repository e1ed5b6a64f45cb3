"""A function: named inputs, named outputs, and the nodes in between in the order they can be computed.

This is what emitters, the reference evaluator and the counters take. It is frozen, and it holds only what its outputs
need: a graph may carry many functions.

>>> from torseur.graph import Function, Graph, Role, cos, evaluate
>>> g = Graph()
>>> q, m = g.symbol("q"), g.symbol("m", Role.PARAMETER)
>>> weight = Function("weight", [g.blocks["q"], g.blocks["m"]], {"tau": 9.81 * m * cos(q)})
>>> float(evaluate(weight, 0.0, 2.0)[0])
19.62
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from torseur.errors import ArgumentError, GraphError
from torseur.graph import ops
from torseur.graph.blocks import Block, Role, checked_name
from torseur.graph.folding import foreign
from torseur.graph.functions import select
from torseur.graph.nodes import Expr, Graph, Node, Truth

__all__ = ["STAGE_OF", "Function", "Output", "Stage", "alone", "checked_function", "copied", "reachable"]

_Array = tuple[tuple[int, ...], list[Any]]
_CODE = {op: k for k, op in enumerate(ops.OPS)}


class Stage(IntEnum):
    """When a node can be computed: once per parameter set, once per instant, or at every evaluation."""

    PARAMETER = 0
    TIME = 1
    STATE = 2


STAGE_OF = {Role.PARAMETER: Stage.PARAMETER, Role.TIME: Stage.TIME, Role.INPUT: Stage.STATE, Role.STATE: Stage.STATE}
"""When a block of each role is known."""


@dataclass(frozen=True, eq=False)
class Output:
    """A named array of results, in row-major order."""

    name: str
    shape: tuple[int, ...]
    exprs: tuple[Expr, ...]


class Function:
    """Named outputs as expressions of named blocks of inputs.

    Args:
        name: a word; it names the code made from it.
        inputs: the blocks, in calling order. Every symbol the outputs need must be in one of them.
        outputs: name -> an expression, or a (nested) sequence or array of expressions and numbers.
    """

    def __init__(self, name: str, inputs: Sequence[Block], outputs: Mapping[str, Any]) -> None:
        self.name = checked_name(name)
        self.inputs = _checked_blocks(name, inputs)
        if not isinstance(outputs, Mapping):
            raise GraphError(
                f"the outputs of function '{name}' have no names",
                expected="a mapping, such as {'y': expression}",
                got=type(outputs).__name__,
            )
        arrays = {checked_name(key): _array(key, value) for key, value in outputs.items()}
        self.graph = _graph_of(name, self.inputs, arrays)
        self.outputs = tuple(_output(self.graph, key, *array) for key, array in arrays.items())
        self.nodes: tuple[Node, ...] = tuple(reachable(e for o in self.outputs for e in o.exprs))
        """What the outputs need, operands before results."""
        self._check_inputs()

    def __repr__(self) -> str:
        ins = ", ".join(f"{b.name}{list(b.shape)}" for b in self.inputs)
        outs = ", ".join(f"{o.name}{list(o.shape)}" for o in self.outputs)
        return f"<Function {self.name}({ins}) -> {outs}: {len(self.nodes)} nodes>"

    def _check_inputs(self) -> None:
        for block in self.inputs:
            if self.graph.blocks.get(block.name) is not block:
                raise foreign(block.name)
        names = [b.name for b in self.inputs]
        if len(set(names)) != len(names):
            raise GraphError(
                f"function '{self.name}' takes a block twice", expected="each block once", got=", ".join(names)
            )
        missing = dict.fromkeys(n.data[0] for n in self.nodes if n.op is ops.SYMBOL and n.data[0] not in names)
        if missing:
            raise GraphError(
                f"function '{self.name}' needs blocks that are not among its inputs",
                expected="inputs " + ", ".join([*names, *missing]),
                got="inputs " + ", ".join(names),
                remedy="add " + ", ".join(missing),
            )

    @cached_property
    def index(self) -> dict[int, int]:
        """Node id -> place in `nodes`."""
        return {node.id: k for k, node in enumerate(self.nodes)}

    @cached_property
    def results(self) -> tuple[Expr, ...]:
        """All outputs, flat."""
        return tuple(chain.from_iterable(o.exprs for o in self.outputs))

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """For each node the earliest stage at which it can be computed; constants belong to the first."""
        stage_of: dict[int, int] = {}
        roles = {b.name: int(STAGE_OF[b.role]) for b in self.inputs}
        for node in self.nodes:
            if node.op is ops.SYMBOL:
                stage_of[node.id] = roles[node.data[0]]
            else:
                stage_of[node.id] = max([stage_of[a.id] for a in node.args], default=0)
        return tuple(map(Stage, stage_of.values()))

    @cached_property
    def callees(self) -> tuple[Any, ...]:
        """What this function calls, each once, in order of first use."""
        return tuple(dict.fromkeys(node.data for node in self.nodes if node.op is ops.CALL))

    @cached_property
    def digest(self) -> str:
        """A fingerprint of everything that shapes the computation (and of no name)."""
        blocks = {b.name: k for k, b in enumerate(self.inputs)}
        codes = bytes([_CODE[node.op] for node in self.nodes])
        # Every warm start waits for this: 11 ms for 47 000 nodes, 20 with a dictionary from ids to places.
        ids = np.array([node.id for node in self.nodes], np.intp)
        place = np.empty(ids.max(initial=-1) + 1, np.int32)
        place[ids] = np.arange(len(ids))
        args = place[np.array([a.id for node in self.nodes for a in node.args], np.intp)]
        results = place[np.array([e.id for e in self.results], np.intp)]
        special = [node for node in self.nodes if node.data is not None]
        numbers = [node.data for node in special if node.op is ops.CONST]
        rest: list[object] = []
        for node in special:
            if node.op is ops.SYMBOL:
                rest.append((blocks[node.data[0]], node.data[1]))
            elif node.op is ops.CALL:
                rest.append((node.data.digest, len(node.args)))
            elif node.op is ops.PIECEWISE or node.op is ops.ITEM or node.op is ops.TRUTH:
                rest.append(node.data)
        interface = [(b.shape, b.role.value) for b in self.inputs], [(o.shape, len(o.exprs)) for o in self.outputs]
        parts = codes, args.tobytes(), results.tobytes(), np.array(numbers).tobytes(), repr((rest, interface)).encode()
        return hashlib.sha256(b"".join(len(p).to_bytes(8, "little") + p for p in parts)).hexdigest()


def checked_function(function: object, where: str) -> Function:
    """A function, or an error that says who wanted one."""
    if not isinstance(function, Function):
        raise ArgumentError(
            "not a function",
            where=where,
            expected="a Function",
            got=type(function).__name__,
            remedy="make one: Function(name, inputs, {'y': expression})",
        )
    return function


def alone(function: Function) -> Function:
    """The same function in a graph of its own.

    What is derived from it there is the same whatever else was derived before: operands are ordered by age.
    """
    g = Graph()
    inputs = [g.block(b.name, b.shape, b.role, names=b.names) for b in function.inputs]
    known = {old: s for b, block in zip(function.inputs, inputs, strict=True) for old, s in zip(b, block, strict=True)}
    results = iter(copied(function.results, known, g))
    outputs = {o.name: _reshaped([next(results) for _ in o.exprs], o.shape) for o in function.outputs}
    return Function(function.name, inputs, outputs)


def copied(exprs: Sequence[Expr], known: Mapping[Expr, Expr], graph: Graph) -> list[Expr]:
    """The same expressions in another graph.

    Args:
        exprs: all of one graph.
        known: symbol -> what stands for it there.
        graph: the other one.
    """
    new: dict[int, Node] = {old.id: s for old, s in known.items()}
    for node in reachable(exprs):
        if node.op is ops.CONST:
            new[node.id] = graph.number(node.data)
        elif node.id not in new:
            new[node.id] = graph.node(type(node), node.op, tuple(new[a.id] for a in node.args), node.data)
    return [new[e.id] for e in exprs]  # type: ignore[misc]


def _reshaped(flat: list[Any], shape: tuple[int, ...]) -> Any:
    array = np.empty(len(flat), dtype=object)
    array[:] = flat
    return array.reshape(shape)


def reachable(exprs: Iterable[Node]) -> list[Node]:
    """The nodes that some expressions need, in order of creation."""
    nodes = {e.id: e for e in exprs}
    stack = list(nodes.values())
    while stack:
        for arg in stack.pop().args:
            if arg.id not in nodes:
                nodes[arg.id] = arg
                stack.append(arg)
    return [nodes[i] for i in sorted(nodes)]


def _checked_blocks(name: str, inputs: Sequence[Block]) -> tuple[Block, ...]:
    for block in inputs:
        if not isinstance(block, Block):
            raise GraphError(
                f"an input of function '{name}' is not a block",
                expected="blocks, such as graph.block('q', 6) or graph.blocks['q']",
                got=repr(block),
            )
    return tuple(inputs)


def _graph_of(name: str, inputs: Sequence[Block], outputs: Mapping[str, _Array]) -> Graph:
    candidates = chain((s for b in inputs for s in b.symbols), *(flat for _, flat in outputs.values()))
    graph = next((x.graph for x in candidates if isinstance(x, Node)), None)
    if graph is None:
        raise GraphError(f"function '{name}' has neither inputs nor expressions", expected="at least one of them")
    return graph


def _array(name: str, value: Any) -> _Array:
    """The shape of an output, and its entries."""
    if isinstance(value, Node):
        return (), [value]
    if isinstance(value, Block):
        return value.shape, list(value)
    ragged = GraphError(f"output '{name}' is ragged", expected="rows of one length")
    try:
        array = np.array(value, dtype=object)
    except ValueError:  # arrays among the rows that do not fit each other
        raise ragged from None
    flat = list(array.ravel())
    if any(isinstance(x, (list, tuple, np.ndarray)) for x in flat):
        raise ragged
    return array.shape, flat


def _output(graph: Graph, name: str, shape: tuple[int, ...], flat: list[Any]) -> Output:
    try:
        exprs = tuple(graph.expr(select(x, 1.0, 0.0) if isinstance(x, Truth) else x) for x in flat)
    except GraphError as error:
        error.where = f"output '{name}'"
        raise
    return Output(name, shape, exprs)
