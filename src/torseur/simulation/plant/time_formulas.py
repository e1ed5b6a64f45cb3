"""Formulas of time alone in what decides a motion: what switches, what is looked up, what may peak.

Where they do is found in numbers: `torseur.simulation.run.timetable`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from torseur.graph import Block, Expr, Function, ops, select, sign
from torseur.graph.function import reachable
from torseur.graph.nodes import Node

__all__ = ["TIME_FUNCTIONS", "TimeFormulas"]

TIME_FUNCTIONS = "switching", "looked_up", "peaking"
"""The names of the functions there may be."""


@dataclass(frozen=True)
class TimeFormulas:
    """The formulas of time alone in some expressions.

    Attributes:
        exprs: what decides the motion.
        t, p: the blocks of time and of parameters; none where there are no parameters.
    """

    exprs: tuple[Expr, ...]
    t: Block
    p: Block | None

    @cached_property
    def functions(self) -> dict[str, Function]:
        """Functions of t and p.

        ``switching``: `levels` change by whole numbers where something switches; `gaps` are what decides, where that is
        continuous. ``looked_up``: `x`, the arguments of tables. ``peaking``: `values` that enter something else.
        """
        inner, entering = self._nodes
        functions = {
            "switching": self._switching(inner),
            "looked_up": {"x": [x for n in inner if n.op is ops.PIECEWISE and isinstance(x := n.args[0], Expr)]},
            "peaking": {"values": entering},
        }
        blocks = [self.t, *([self.p] if self.p is not None else [])]
        given = {
            name: {n: list(dict.fromkeys(x)) if name != "looked_up" else x for n, x in outputs.items() if x}
            for name, outputs in functions.items()
        }
        return {name: Function(name, blocks, outputs) for name, outputs in given.items() if outputs}

    @cached_property
    def knots(self) -> tuple[tuple[float, ...], ...]:
        """Of the tables, in order."""
        return tuple(tuple(map(float, n.data.breaks)) for n in self._nodes[0] if n.op is ops.PIECEWISE)

    @cached_property
    def parameters(self) -> frozenset[int]:
        """The places of the parameters that are in formulas of time."""
        inside = reachable(self._nodes[0]) if self.p is not None else []
        return frozenset(n.data[1] for n in inside if n.op is ops.SYMBOL and n.data[0] != "t")

    @cached_property
    def _nodes(self) -> tuple[list[Node], list[Expr]]:
        """Nodes that only time and parameters decide; and those of them that enter something else, or the results."""
        every = reachable(self.exprs)
        known = {"t", self.p.name if self.p is not None else "t"}
        fixed: set[int] = set()
        timed: set[int] = set()
        for node in every:
            if node.op in (ops.CALL, ops.ITEM):
                continue
            is_leaf = node.op in (ops.CONST, ops.TRUTH) or (node.op is ops.SYMBOL and node.data[0] in known)
            if is_leaf or (node.args and all(a.id in fixed for a in node.args)):
                fixed.add(node.id)
                if (node.op is ops.SYMBOL and node.data[0] == "t") or any(a.id in timed for a in node.args):
                    timed.add(node.id)
        used = {a.id for node in every if node.id not in fixed for a in node.args} | {e.id for e in self.exprs}
        inner = [n for n in every if n.id in timed and n.op is not ops.SYMBOL]
        return inner, [n for n in inner if n.id in used and isinstance(n, Expr)]

    def _switching(self, nodes: list[Node]) -> dict[str, list[Expr]]:
        levels: list[Expr] = []
        gaps: list[Expr] = []
        for node in nodes:
            a, b = (*node.args, None)[:2]
            if node.op in (ops.LT, ops.LE, ops.MIN, ops.MAX):
                assert isinstance(a, Expr)
                assert isinstance(b, Expr)
                gaps.append(a - b)
                levels.append(select(a <= b if node.op is ops.LE else a < b, 1.0, 0.0))
            elif node.op in (ops.SIGN, ops.ABS):
                assert isinstance(a, Expr)
                gaps.append(a)
                levels.append(sign(a))
            elif node.op is ops.FLOOR:
                assert isinstance(node, Expr)
                levels.append(node)
        return {"levels": levels, "gaps": gaps}
