"""From a function to statements, whatever the language.

A node becomes a statement when it has a name, is used more than once, is needed by a later stage, or would make the
statement it stands in too long; all others are written where they are used. A negation is always written where it is
used. Everything here is a loop over the nodes of the function, in their order or against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from torseur.emit.text.dialect import Layout, Names
from torseur.graph import ops
from torseur.graph.blocks import Block
from torseur.graph.function import Function, Output, Stage
from torseur.graph.nodes import Bundle, Expr, Node, Truth

__all__ = ["Alias", "Part", "Plan", "Slot", "plan"]

_SUMS, _PRODUCTS = frozenset({ops.ADD, ops.SUB, ops.NEG}), frozenset({ops.MUL, ops.DIV})
_LEAVES = frozenset({ops.CONST, ops.SYMBOL, ops.TRUTH})
_FOLDED = {Stage.PARAMETER: "prologue", Stage.TIME: "instant"}


@dataclass(frozen=True)
class Slot:
    """Where a result waits for a later stage: its place among the others, and the numbers it takes in a flat array."""

    place: int
    offset: int
    size: int


class Alias(NamedTuple):
    """An element of an output that is just another name of something."""

    name: str
    expr: Expr
    output: Output


@dataclass(frozen=True)
class Part:
    """What is done at one stage.

    Args:
        stage: when.
        symbols: the inputs it reads.
        loads: the results of earlier stages it reads.
        statements: what it computes, in order; each has a name.
        stores: those of them that later stages read.
        aliases: results that need no computation (only without arrays).
    """

    stage: Stage
    symbols: tuple[Expr, ...]
    loads: tuple[Node, ...]
    statements: tuple[Node, ...]
    stores: tuple[Node, ...]
    aliases: tuple[Alias, ...]


@dataclass(frozen=True)
class Plan:
    """A function as statements.

    Args:
        function: what is written.
        layout: the choices it was planned with.
        names: node id -> identifier, of inputs that are read and of everything that is a statement.
        blocks: block name -> identifier.
        outputs: output name -> identifier.
        values: node id -> value, of what depends on no input. Such nodes are written as numbers.
        parts: the stages that have something to do; the last one is always there.
        slots: node id -> where it waits for later stages.
    """

    function: Function
    layout: Layout
    names: dict[int, str]
    blocks: dict[str, str]
    outputs: dict[str, str]
    values: dict[int, float | bool]
    parts: tuple[Part, ...]
    slots: dict[int, Slot]

    @cached_property
    def work_size(self) -> int:
        """How many numbers wait for later stages in all."""
        return sum(slot.size for slot in self.slots.values())

    def part(self, stage: Stage) -> Part | None:
        return next((p for p in self.parts if p.stage is stage), None)


def plan(function: Function, layout: Layout, names: Names) -> Plan:
    """Decide what becomes a statement, when, and under which name."""
    return _Planner(function, layout, names).plan()


def constants(function: Function) -> dict[int, float | bool]:
    """The value of every node that depends on no input and calls nothing (it may be inf or nan)."""
    values: dict[int, float | bool] = {}
    with np.errstate(all="ignore"):
        for node in function.nodes:
            if node.op is ops.CONST or node.op is ops.TRUTH:
                values[node.id] = node.data
            elif node.args and all(a.id in values for a in node.args):
                args = [values[a.id] for a in node.args]
                if node.op.numpy is not None:
                    values[node.id] = node.op.numpy(*args).item()
                elif node.op is ops.PIECEWISE:
                    values[node.id] = float(node.data(np.asarray(args[0])))
    return values


class _Planner:
    def __init__(self, function: Function, layout: Layout, names: Names) -> None:
        self.function, self.layout, self.names = function, layout, names
        self.values = constants(function)
        self.results = {e.id for e in function.results}
        self.stage = self._stages()
        self.uses: dict[int, int] = {}
        self.until: dict[int, Stage] = {}

    def plan(self) -> Plan:
        self._count_uses()
        self.statements = self._statements()
        self.chosen: dict[int, str] = {}
        blocks, outputs = self._name_arrays()
        aliases = self._name_results()
        self._name_rest()
        slots = self._slots()
        parts = tuple(self._parts(aliases))
        return Plan(self.function, self.layout, self.chosen, blocks, outputs, self.values, parts, slots)

    def _stages(self) -> dict[int, Stage]:
        allowed = [s for s in Stage if s is Stage.STATE or getattr(self.layout, _FOLDED[s])]
        moved = {s: min(a for a in allowed if a >= s) for s in Stage}
        pairs = zip(self.function.nodes, self.function.stages, strict=True)
        return {node.id: moved[stage] for node, stage in pairs}

    def _written_in_place(self, node: Node) -> bool:
        """A negation without a name, which is a sign wherever it is used."""
        if node.op is not ops.NEG or node.id in self.function.graph.names:
            return False
        return self.layout.arrays or node.id not in self.results

    def operands(self, node: Node) -> tuple[Node, ...]:
        """The operands as they are written: the base of a square once."""
        if self.layout.squares and node.op is ops.MUL and node.args[0] is node.args[1]:
            return node.args[:1]
        return node.args

    def _count_uses(self) -> None:
        """How often each node is written, and the last stage that reads it."""
        for e in self.function.results:
            self._note(e, 1, Stage.STATE if self.layout.arrays else self.stage[e.id])
        for node in reversed(self.function.nodes):
            times = self.uses.get(node.id, 0)
            if times == 0 or node.id in self.values:
                continue
            if self._written_in_place(node):
                self._note(node.args[0], times, self.until[node.id])
            else:
                for arg in self.operands(node):
                    self._note(arg, 1, self.stage[node.id])

    def _note(self, node: Node, times: int, stage: Stage) -> None:
        self.uses[node.id] = self.uses.get(node.id, 0) + times
        self.until[node.id] = max(self.until.get(node.id, stage), stage)

    # -- what becomes a statement ----------------------------------------------------------------------------------
    def _statements(self) -> dict[int, Node]:
        """The nodes that get a name, in order."""
        found: dict[int, Node] = {}
        size: dict[int, int] = {}
        depth: dict[int, int] = {}
        for node in self.function.nodes:
            if node.id not in self.uses or node.id in self.values or node.op in _LEAVES:
                continue
            inside = [a for a in self.operands(node) if a.id in size and a.id not in found]
            size[node.id] = (node.op is not ops.NEG) + sum(size[a.id] for a in inside)
            depth[node.id] = max([depth[a.id] + _deeper(node, a) for a in inside], default=0)
            long = size[node.id] > self.layout.size or depth[node.id] > self.layout.depth
            if self._must_be_named(node) or (self._may_be_named(node) and long):
                found[node.id] = node
        return found

    def _must_be_named(self, node: Node) -> bool:
        if self._written_in_place(node):
            return False
        if node.op is ops.CALL or node.id in self.function.graph.names:
            return True
        if not self.layout.arrays and node.id in self.results:
            return True
        if self.until[node.id] > self.stage[node.id]:
            return True
        return (self.uses[node.id] > 1 and node.op is not ops.ITEM) or self._wants_its_own(node)

    def _wants_its_own(self, node: Node) -> bool:
        return node.op in self.layout.alone and not self._is_only_a_result(node)

    def _is_only_a_result(self, node: Node) -> bool:
        return node.id in self.results and self.uses[node.id] == 1

    def _may_be_named(self, node: Node) -> bool:
        return node.op is not ops.ITEM and not self._written_in_place(node) and not self._is_only_a_result(node)

    # -- names -----------------------------------------------------------------------------------------------------
    def _name_arrays(self) -> tuple[dict[str, str], dict[str, str]]:
        """Identifiers of the inputs that are read, and of the arrays themselves if there are any."""
        function, blocks, outputs = self.function, {}, {}
        if self.layout.arrays:
            blocks = {b.name: self.names.take(b.name) for b in function.inputs}
            outputs = {o.name: self.names.take(o.name) for o in function.outputs}
        for block in function.inputs:
            for symbol, label in zip(block.symbols, block.names, strict=True):
                if symbol.id in self.uses:
                    scalar = block.shape == () and self.layout.arrays
                    self.chosen[symbol.id] = blocks[block.name] if scalar else self.names.take(label)
        return blocks, outputs

    def _name_results(self) -> list[Alias]:
        """Results that are statements are called after the output; what is left are other names of something."""
        aliases: list[Alias] = []
        labels = self.function.graph.names
        for output in self.function.outputs:
            for e, label in zip(output.exprs, Block.labels(output.name, output.shape, None), strict=True):
                fresh = e.id in self.statements and e.id not in self.chosen
                if fresh and labels.get(e.id, label) == label:
                    self.chosen[e.id] = self.names.take(label)
                elif not self.layout.arrays:
                    if fresh:
                        self.chosen[e.id] = self.names.take(labels[e.id])
                    aliases.append(Alias(self.names.take(label), e, output))
        return aliases

    def _name_rest(self) -> None:
        """Named intermediates first, so that no made-up name takes theirs, nor that of an input that is not read."""
        labels = self.function.graph.names
        if not self.layout.arrays:
            self.names.avoid(label for block in self.function.inputs for label in block.names)
        for node in self.statements.values():
            if node.id in labels and node.id not in self.chosen:
                self.chosen[node.id] = self.names.take(labels[node.id])
        for node in self.statements.values():
            if node.id not in self.chosen:
                self.chosen[node.id] = self.names.fresh(_stem(node))

    # -- stages ----------------------------------------------------------------------------------------------------
    def _slots(self) -> dict[int, Slot]:
        slots: dict[int, Slot] = {}
        offset = 0
        waiting = [n for n in self.statements.values() if self.until[n.id] > self.stage[n.id]]
        for node in sorted(waiting, key=lambda n: self.stage[n.id]):
            size = len(node) if isinstance(node, Bundle) else 1
            slots[node.id] = Slot(len(slots), offset, size)
            offset += size
        return slots

    def _parts(self, aliases: list[Alias]) -> list[Part]:
        symbols: dict[Stage, dict[int, Expr]] = {s: {} for s in Stage}
        loads: dict[Stage, dict[int, Node]] = {s: {} for s in Stage}
        for node, stage in self._readings():
            if node.op is ops.SYMBOL:
                assert isinstance(node, Expr)
                symbols[stage][node.id] = node
            elif node.id in self.statements and self.stage[node.id] < stage:
                loads[stage][node.id] = node
        parts = []
        for stage in Stage:
            made = tuple(n for n in self.statements.values() if self.stage[n.id] is stage)
            part = Part(
                stage,
                tuple(symbols[stage][k] for k in sorted(symbols[stage])),
                tuple(loads[stage][k] for k in sorted(loads[stage])),
                made,
                tuple(n for n in made if self.until[n.id] > stage),
                tuple(a for a in aliases if self._home(a.expr) is stage),
            )
            if stage is Stage.STATE or made or part.aliases:
                parts.append(part)
        return parts

    def _home(self, e: Expr) -> Stage:
        return Stage.STATE if e.id in self.values else self.stage[e.id]

    def _readings(self) -> list[tuple[Node, Stage]]:
        """Which stage reads which input or result; a negation written in place reads what it negates."""
        pairs: list[tuple[Node, Stage]] = []
        if self.layout.arrays:
            pairs += [(e, Stage.STATE) for e in self.function.results]
        else:
            pairs += [(e, self.stage[e.id]) for e in self.function.results]
        for node in self.function.nodes:
            if node.id in self.uses and node.id not in self.values and not self._written_in_place(node):
                pairs += [(a, self.stage[node.id]) for a in node.args]
        return [(n.args[0] if self._written_in_place(n) else n, stage) for n, stage in pairs if n.id not in self.values]


def _deeper(node: Node, arg: Node) -> bool:
    """Whether writing an operand inside a node takes another pair of brackets."""
    if arg.op in _PRODUCTS:
        return node.op not in _PRODUCTS and node.op not in _SUMS
    return not (arg.op in _SUMS and node.op in _SUMS)


def _stem(node: Node) -> str:
    return "r" if isinstance(node, Bundle) else "c" if isinstance(node, Truth) else "t"
