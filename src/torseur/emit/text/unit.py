"""Everything one source file holds: a function, what it calls, loops, routines, tables, and the names of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from torseur.emit.text.dialect import Dialect, Layout, Names
from torseur.emit.text.phrases import Writer
from torseur.emit.text.routines import elementary
from torseur.emit.text.statements import plan
from torseur.graph import ops
from torseur.graph.blocks import Block
from torseur.graph.calls import Callee, Iteration
from torseur.graph.function import Function
from torseur.graph.nodes import Bundle, Expr
from torseur.graph.routine import Loops, Routine

__all__ = ["Called", "Unit", "grouped", "postorder"]


class Called(NamedTuple):
    """A function or a loop that is called, the name it would like, and the callee if a call node has it."""

    name: str
    lowered: Function | Iteration | Loops
    callee: Callee | None = None

    @property
    def key(self) -> str:
        """Equal for those that compute the same."""
        if isinstance(self.lowered, Function | Loops):
            return self.lowered.digest
        loop = self.lowered
        return f"loop:{loop.start.digest}:{loop.step.digest}:{loop.finish.digest}:{loop.limit}"

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What it takes."""
        return self.lowered.start.inputs if isinstance(self.lowered, Iteration) else self.lowered.inputs


def called(callee: Callee) -> Called:
    return Called(callee.name, callee.lowering(), callee)


def all_called(by: Function | Iteration | Loops) -> list[Called]:
    """What a function or a loop calls directly."""
    if isinstance(by, Loops):
        return []
    if isinstance(by, Iteration):
        return [Called(f.name, f) for f in (by.start, by.step, by.finish)]
    return [called(callee) for callee in by.callees]


def grouped(call: Bundle) -> list[tuple[Block, Bundle | list[Expr]]]:
    """The arguments of a call, block by block; a bundle fills one."""
    groups: list[tuple[Block, Bundle | list[Expr]]] = []
    k = 0
    for block in called(call.data).blocks:
        if block.size and isinstance(call.args[k], Bundle):
            groups.append((block, call.args[k]))
            k += 1
        else:
            groups.append((block, list(call.args[k : k + block.size])))
            k += block.size
    return groups


def postorder(roots: Iterable[Called], children: Callable[[Called], Sequence[Called]]) -> list[Called]:
    """What is called before what calls it, each once."""
    order: dict[str, Called] = {}
    stack = [(item, False) for item in reversed(list(roots))]
    while stack:
        item, opened = stack.pop()
        if item.key in order:
            continue
        if opened:
            order[item.key] = item
        else:
            stack.append((item, True))
            stack += [(child, False) for child in reversed(children(item))]
    return list(order.values())


class Unit:
    """A function and all it calls, with their names in one file.

    Args:
        function: the one that is wanted.
        dialect: the language.
        prefix: in front of the names of everything else.
        companions: endings of other names that belong to the function, as in NAME_prologue.
        follow: what a function or a loop brings into the file.
    """

    def __init__(
        self,
        function: Function,
        dialect: Dialect,
        prefix: str = "",
        companions: Sequence[str] = (),
        follow: Callable[[Function | Iteration | Loops], list[Called]] = all_called,
    ) -> None:
        self.function, self.dialect = function, dialect
        names = Names(dialect.reserved | dialect.library, dialect.spell)
        self.name = names.take(function.name)
        self.companions = {ending: names.take(f"{self.name}_{ending}") for ending in companions}
        self.called = postorder(follow(function), lambda item: follow(item.lowered))
        self._names = {item.key: names.take(prefix + item.name) for item in self.called}
        functions = [function, *(item.lowered for item in self.called if isinstance(item.lowered, Function))]
        nodes = [n for f in functions for n in f.nodes]
        curves = dict.fromkeys(n.data for n in nodes if n.op is ops.PIECEWISE)
        self.tables = {curve: names.fresh(f"{prefix}table") for curve in curves}
        loops = [item.lowered for item in self.called if isinstance(item.lowered, Loops)]
        self.routines = {x.routine.digest: x.routine for x in loops}
        self._names |= {key: names.take(prefix + routine.name) for key, routine in self.routines.items()}
        self._taken = {self.name, *self.companions.values(), *self._names.values(), *self.tables.values()}
        self._ops = {n.op for n in nodes}.union(*map(elementary, self.routines.values()))

    @property
    def helpers(self) -> list[str]:
        """Sources of the functions that expressions of this file need."""
        return [text for op, text in self.dialect.helpers.items() if op in self._ops]

    def name_of(self, item: Called | Callee) -> str:
        return self._names[(item if isinstance(item, Called) else called(item)).key]

    def name_of_function(self, function: Function | Routine) -> str:
        return self._names[function.digest]

    def writer(self, function: Function, layout: Layout) -> Writer:
        """The texts of one function of the file."""
        own = set() if layout.arrays else {self.name}  # text for people: a result may be called like its function
        names = Names(self.dialect.reserved | (self._taken - own), self.dialect.spell)
        return Writer(plan(function, layout, names), self.dialect, self.tables)
