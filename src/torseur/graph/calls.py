"""Calls: nodes with many results that keep their inside to themselves.

A callee says how it is differentiated, how it is computed plainly (for the reference evaluator) and how it is lowered:
to a `Function`, to an `Iteration` of functions, or to the `Loops` of a routine. Emitters know these three forms and
nothing about linear systems or roots.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.errors import GraphError
from torseur.graph import ops
from torseur.graph.blocks import Block, Role
from torseur.graph.derivatives import Tangent, adjoints, tangents
from torseur.graph.evaluate import evaluate_flat
from torseur.graph.function import Function, alone, checked_function
from torseur.graph.nodes import Bundle, Expr, Graph, Node
from torseur.graph.routine import Loops

__all__ = ["Callee", "FunctionCall", "Iteration", "Tangent", "call", "callee_of"]

DEEPEST = 50
"""Levels of calls: passes over callees are recursions, unlike those over nodes."""


@dataclass(frozen=True)
class Iteration:
    """A bounded loop, per lane: state = start(args); until done or worn out, state, done = step(state, args).

    The results are ``finish(state, done)``. `step` ends with an output "done" that is 0 or 1.
    """

    start: Function
    step: Function
    finish: Function
    size: int
    limit: int


class Callee(ABC):
    """What a call node calls."""

    name: str
    n_out: int
    depth: int = 1
    """How many levels of calls there are, this one included."""
    meaning: str = ""
    """What it gives, in words, where its inside is not worth reading."""
    is_gated: bool = False
    """Whether native code makes the call only where its first argument, 0 or 1, wants it; elsewhere the results say
    nothing, and nobody may depend on them."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """A fingerprint of what is computed."""

    @abstractmethod
    def lowering(self) -> Function | Iteration | Loops:
        """How emitters compute it. Arguments fill the blocks of the lowered function in order; a bundle fills one."""

    @abstractmethod
    def tangent(self, bundle: Bundle, tangents: Sequence[Tangent]) -> list[Expr]:
        """The derivatives of the results, given those of the arguments."""

    @abstractmethod
    def adjoint(self, bundle: Bundle, weights: Sequence[Expr]) -> list[Tangent]:
        """For each argument, the derivative of the weighted sum of the results."""

    @abstractmethod
    def reference(self, args: Sequence[Any]) -> Any:
        """The results as a list of arrays, from arrays (bundles arrive as their own reference left them)."""


class FunctionCall(Callee):
    """A call of a `Function`, differentiated through functions derived from it when they are first needed."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.name = function.name
        self.n_out = len(function.results)
        self.depth = 1 + max((callee.depth for callee in function.callees), default=0)
        if self.depth > DEEPEST:
            raise GraphError(
                f"'{function.name}' has calls nested too deeply",
                expected=f"at most {DEEPEST} levels of calls",
                remedy="build some of them into one graph instead of calling them",
            )

    @property
    def digest(self) -> str:
        return self.function.digest

    def lowering(self) -> Function:
        return self.function

    def tangent(self, bundle: Bundle, tangents: Sequence[Tangent]) -> list[Expr]:
        g = bundle.graph
        seeds = [t if isinstance(t, Expr) else g.zero for t in tangents]
        moving = _mask(seeds, g.zero)
        if not any(mask & moving for mask in self._pattern):
            return [g.zero] * self.n_out
        moved = g.call(self._forward, [*bundle.args, *seeds])
        return [moved[k] if mask & moving else g.zero for k, mask in enumerate(self._pattern)]

    def adjoint(self, bundle: Bundle, weights: Sequence[Expr]) -> list[Tangent]:
        g, met = bundle.graph, 0
        for w, mask in zip(weights, self._pattern, strict=True):
            met |= mask if w is not g.zero else 0
        if not met:
            return [None] * len(bundle.args)
        parts = g.call(self._reverse, [*bundle.args, *weights])
        return [parts[k] if met >> k & 1 else None for k in range(len(bundle.args))]

    def reference(self, args: Sequence[Any]) -> Any:
        return evaluate_flat(self.function, args)

    @cached_property
    def _pattern(self) -> list[int]:
        """For each result, the arguments it depends on, one bit each."""
        offset, where = 0, {}
        for block in self.function.inputs:
            where[block.name], offset = offset, offset + block.size
        last_use = {a.id: node.id for node in self.function.nodes for a in node.args}
        kept = {e.id for e in self.function.results}
        masks: dict[int, int] = {}

        def mask_of(node: Node) -> int:
            return 1 << where[node.data[0]] + node.data[1] if node.op is ops.SYMBOL else masks[node.id]

        for node in self.function.nodes:
            mask = 0
            for a in node.args:
                mask |= mask_of(a)
            masks[node.id] = mask
            for a in node.args:
                if last_use[a.id] == node.id and a.id not in kept:
                    masks.pop(a.id, None)
        return [mask_of(e) for e in self.function.results]

    @cached_property
    def _forward(self) -> FunctionCall:
        f = alone(self.function)
        seeds = [_fresh_block(f.graph, f"d__{b.name}", b) for b in f.inputs]
        pairs = {x: s for b, d in zip(f.inputs, seeds, strict=True) for x, s in zip(b, d, strict=True)}
        return FunctionCall(Function(f"{f.name}_tangent", [*f.inputs, *seeds], {"d": tangents(f.results, pairs)}))

    @cached_property
    def _reverse(self) -> FunctionCall:
        f = alone(self.function)
        weights = _fresh_block(f.graph, "w__", None, len(f.results))
        flat = [x for b in f.inputs for x in b]
        grad = adjoints(f.results, list(weights), flat)
        return FunctionCall(Function(f"{f.name}_adjoint", [*f.inputs, weights], {"d": grad}))


def _mask(exprs: Sequence[Expr], zero: Expr) -> int:
    """Which expressions are not zero, one bit each."""
    return sum(1 << k for k, e in enumerate(exprs) if e is not zero)


def _fresh_block(graph: Graph, name: str, like: Block | None, size: int = 0) -> Block:
    while name in graph.blocks:
        name += "_"
    return graph.block(name, like.shape if like else size, like.role if like else Role.STATE)


def call(function: Function, *args: Expr | float | Iterable[Expr | float]) -> list[Expr]:
    """Call a function on expressions: one argument per block, flat; the results are all outputs, flat.

    The function stays a function in the code made from this graph: compiled once, called where needed.
    """
    checked_function(function, "call")
    if len(args) != len(function.inputs):
        raise GraphError(
            f"'{function.name}' is called with the wrong number of arguments",
            expected=", ".join(b.name for b in function.inputs),
            got=str(len(args)),
        )
    flat: list[Any] = []
    for block, arg in zip(function.inputs, args, strict=True):
        items = list(arg) if isinstance(arg, Iterable) else [arg]
        if len(items) != block.size:
            raise GraphError(
                f"wrong size of argument '{block.name}' of '{function.name}'",
                expected=str(block.size),
                got=str(len(items)),
            )
        flat += items
    graph = next((x.graph for x in flat if isinstance(x, Node)), None)
    if graph is None:
        raise GraphError(f"'{function.name}' is called without any expression", remedy="use evaluate() for numbers")
    return list(graph.call(callee_of(function), [graph.expr(x) for x in flat]))


def callee_of(function: Function) -> FunctionCall:
    """One callee object per function, so that equal calls are one node."""
    callee: FunctionCall | None = function.__dict__.get("_callee")
    if callee is None:
        callee = function.__dict__["_callee"] = FunctionCall(function)
    return callee
