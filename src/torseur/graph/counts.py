"""Operation counts, before and after hoisting.

Products, sums (differences included), divisions, square roots and trigonometric pairs (a sine and a cosine of one
argument) are counted apart; negation is free. A call counts what it calls; an iteration
counts one pass, a routine the most it can take.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

from torseur.graph import ops
from torseur.graph.calls import Callee, Iteration
from torseur.graph.function import Function, Stage
from torseur.graph.nodes import Node
from torseur.graph.routine import Loops

__all__ = ["Count", "count", "count_by_stage"]


@dataclass(frozen=True)
class Count:
    """How many operations of each kind.

    >>> Count(products=2) + Count(products=1, sums=3)
    Count(products=3, sums=3, divisions=0, roots=0, pairs=0, functions=0, choices=0)
    """

    products: int = 0
    sums: int = 0
    divisions: int = 0
    roots: int = 0
    pairs: int = 0
    functions: int = 0
    choices: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Count)))

    @property
    def total(self) -> int:
        return sum(getattr(self, f.name) for f in fields(Count))

    def __str__(self) -> str:
        counted = [(getattr(self, f.name), _WORDS.get(f.name, f.name)) for f in fields(Count)]
        return ", ".join(f"{n} {name if n > 1 else name[:-1]}" for n, name in counted if n) or "none"


_WORDS = {"pairs": "sine-cosine pairs", "roots": "square roots", "choices": "conditionals"}
"""Conditionals are comparisons, signs, minima, absolute values and whatever else decides between values."""


_FREE = {ops.CONST, ops.SYMBOL, ops.TRUTH, ops.NEG, ops.ITEM}
_KIND = {
    ops.MUL: "products",
    ops.ADD: "sums",
    ops.SUB: "sums",
    ops.DIV: "divisions",
    ops.SQRT: "roots",
    **dict.fromkeys((ops.MIN, ops.MAX, ops.ABS, ops.SIGN, ops.FLOOR, ops.LT, ops.LE, ops.EQ), "choices"),
    **dict.fromkeys((ops.NOT, ops.AND, ops.OR, ops.SELECT), "choices"),
}


def count(function: Function) -> Count:
    """Everything a function does, as if nothing were hoisted."""
    return _count(function.nodes, {})


def count_by_stage(function: Function) -> dict[Stage, Count]:
    """What is done once per parameter set, once per instant, and at every evaluation."""
    pairs = list(zip(function.nodes, function.stages, strict=True))
    known: dict[Callee, Count] = {}
    return {stage: _count((node for node, s in pairs if s is stage), known) for stage in Stage}


def _count(nodes: Iterable[Node], known: dict[Callee, Count]) -> Count:
    """The count of some nodes; each callee is counted once and added at every call."""
    numbers: dict[str, int] = {}
    angles: set[int] = set()
    called = Count()
    for node in nodes:
        if node.op is ops.SIN or node.op is ops.COS:
            angles.add(node.args[0].id)
        elif node.op is ops.CALL:
            if node.data not in known:
                lowered = node.data.lowering()
                if isinstance(lowered, Loops):
                    known[node.data] = Count(**lowered.count)
                else:
                    body = lowered.step if isinstance(lowered, Iteration) else lowered
                    known[node.data] = _count(body.nodes, known)
            called += known[node.data]
        elif node.op not in _FREE:
            kind = _KIND.get(node.op, "functions")
            numbers[kind] = numbers.get(kind, 0) + 1
    return Count(**numbers, pairs=len(angles)) + called
