"""A function cut by when its work can be done: once per parameter set, once per instant, at every evaluation.

The first two stages leave what the later ones need in two arrays, *work0* and *work1*. The kernel of the last stage
sees states, inputs and these arrays; it never sees a parameter.
"""

from __future__ import annotations

from dataclasses import dataclass

from torseur.emit.instructions import fused_sums
from torseur.emit.ir import Kernel, Module
from torseur.emit.kernel import Place, Sink, write_kernel
from torseur.graph import ops
from torseur.graph.function import STAGE_OF, Function, Stage
from torseur.graph.nodes import Bundle, Node

__all__ = ["Carry", "Staged", "carry", "write_staged"]


@dataclass(frozen=True)
class Carry:
    """What one stage leaves for later ones: the nodes, each with its slot, and how many slots in all."""

    slots: dict[int, int]
    nodes: tuple[Node, ...]
    size: int


@dataclass(frozen=True)
class Staged:
    """The kernels of a function. Operands of each: its input blocks, the work arrays, and (the last) the outputs."""

    prologue: Kernel
    instant: Kernel
    body: Kernel
    work: tuple[int, int]

    @property
    def scratch(self) -> int:
        return max(self.prologue.scratch, self.instant.scratch, self.body.scratch)


def inputs_of(function: Function, stage: Stage) -> list[int]:
    """Which inputs a stage reads, by place."""
    return [k for k, block in enumerate(function.inputs) if STAGE_OF[block.role] is stage]


def carry(function: Function) -> tuple[Carry, Carry]:
    """What the parameter stage and the time stage leave behind."""
    stage = {node.id: s for node, s in zip(function.nodes, function.stages, strict=True)}
    needed: dict[Stage, dict[int, Node]] = {Stage.PARAMETER: {}, Stage.TIME: {}}
    for node in function.nodes:
        for a in node.args:
            if stage[a.id] < stage[node.id]:
                needed[stage[a.id]][a.id] = a
    for e in function.results:
        if stage[e.id] is not Stage.STATE:
            needed[stage[e.id]][e.id] = e
    return _lay_out(needed[Stage.PARAMETER]), _lay_out(needed[Stage.TIME])


def _lay_out(nodes: dict[int, Node]) -> Carry:
    kept = tuple(n for n in nodes.values() if n.op is not ops.CONST and n.op is not ops.TRUTH)
    slots, size = {}, 0
    for node in kept:
        slots[node.id] = size
        size += len(node) if isinstance(node, Bundle) else 1
    return Carry(slots, kept, size)


def write_staged(module: Module, function: Function) -> Staged:
    """All kernels of a function, in one module."""
    carried = carry(function)
    works = {Stage.PARAMETER: carried[0], Stage.TIME: carried[1]}
    fused = fused_sums(function, staged=True)
    kernels = []
    for stage in Stage:
        own = inputs_of(function, stage)
        sources: dict[int, Place] = {
            s.id: (f"%in{k}", i) for k in own for i, s in enumerate(function.inputs[k].symbols)
        }
        for earlier in range(stage):
            sources |= {n: (f"%work{earlier}", slot) for n, slot in works[Stage(earlier)].slots.items()}
        pointers = [f"%in{k}" for k in own] + [f"%work{e}" for e in range(min(stage + 1, 2))]
        if stage is Stage.STATE:
            pointers += [f"%out{k}" for k in range(len(function.outputs))]
            sinks = [Sink(e, (f"%out{k}", i)) for k, o in enumerate(function.outputs) for i, e in enumerate(o.exprs)]
        else:
            sinks = [Sink(n, (f"%work{int(stage)}", works[stage].slots[n.id])) for n in works[stage].nodes]
        nodes = [n for n, s in zip(function.nodes, function.stages, strict=True) if s is stage]
        name = module.fresh(f"{function.name}.{stage.name.lower()}")
        kernels.append(write_kernel(module, name, nodes, pointers, sources, sinks, fused))
    return Staged(kernels[0], kernels[1], kernels[2], (carried[0].size, carried[1].size))
