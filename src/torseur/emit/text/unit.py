"""Everything one source file holds: a function, what it calls, loops, tables, and the names of all of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from torseur.emit.text.dialect import Dialect
from torseur.emit.text.layout import Layout
from torseur.emit.text.names import Names
from torseur.emit.text.phrases import Writer
from torseur.emit.text.statements import plan
from torseur.graph import ops
from torseur.graph.blocks import Block
from torseur.graph.calls import Callee, Iteration
from torseur.graph.function import Function
from torseur.graph.nodes import Bundle, Expr

__all__ = ["Unit", "grouped", "key_of", "postorder"]

Lowered = Function | Iteration


def key_of(lowered: Lowered) -> str:
    """Equal for functions and loops that compute the same."""
    if isinstance(lowered, Function):
        return lowered.digest
    parts = lowered.start.digest, lowered.step.digest, lowered.finish.digest
    return f"loop:{':'.join(parts)}:{lowered.limit}"


def blocks_of(lowered: Lowered) -> tuple[Block, ...]:
    """What a called function or loop takes."""
    return lowered.inputs if isinstance(lowered, Function) else lowered.start.inputs


def grouped(call: Bundle) -> list[tuple[Block, Bundle | list[Expr]]]:
    """The arguments of a call, block by block; a bundle fills one."""
    groups: list[tuple[Block, Bundle | list[Expr]]] = []
    k = 0
    for block in blocks_of(call.data.lowering()):
        if block.size and isinstance(call.args[k], Bundle):
            groups.append((block, call.args[k]))
            k += 1
        else:
            groups.append((block, list(call.args[k : k + block.size])))
            k += block.size
    return groups


def postorder(roots: Iterable[Lowered], children: Callable[[Lowered], Sequence[Lowered]]) -> list[Lowered]:
    """What is called before what calls it, each once."""
    order: dict[str, Lowered] = {}
    stack = [(lowered, False) for lowered in reversed(list(roots))]
    while stack:
        lowered, opened = stack.pop()
        key = key_of(lowered)
        if key in order:
            continue
        if opened:
            order[key] = lowered
        else:
            stack.append((lowered, True))
            stack += [(child, False) for child in reversed(children(lowered))]
    return list(order.values())


def _called(lowered: Lowered) -> list[Lowered]:
    if isinstance(lowered, Iteration):
        return [lowered.start, lowered.step, lowered.finish]
    return [callee.lowering() for callee in lowered.callees]


class Unit:
    """A function and all it calls, with their names in one file.

    Args:
        function: the one that is wanted.
        dialect: the language.
        prefix: in front of the names of everything else.
        companions: endings of other names that belong to the function, as in NAME_prologue.
    """

    def __init__(self, function: Function, dialect: Dialect, prefix: str = "", companions: Sequence[str] = ()) -> None:
        self.function, self.dialect = function, dialect
        names = Names(dialect.reserved, dialect.spell)
        self.name = names.take(function.name)
        self._taken = {self.name, *(names.take(f"{self.name}_{c}") for c in companions)}
        self.called = postorder(_called(function), _called)
        self._names = {key_of(c): names.take(prefix + _plain_name(c)) for c in self.called}
        nodes = [n for f in (function, *self.called) if isinstance(f, Function) for n in f.nodes]
        curves = dict.fromkeys(n.data for n in nodes if n.op is ops.PIECEWISE)
        self.tables = {curve: names.fresh(f"{prefix}table") for curve in curves}
        self._taken |= {*self._names.values(), *self.tables.values()}
        self.ops = {n.op for n in nodes}

    @property
    def helpers(self) -> list[str]:
        """Sources of the functions that expressions of this file need."""
        return [text for op, text in self.dialect.helpers.items() if op in self.ops]

    def name_of(self, lowered: Lowered) -> str:
        return self._names[key_of(lowered)]

    def name_of_call(self, callee: Callee) -> str:
        return self.name_of(callee.lowering())

    def writer(self, function: Function, layout: Layout) -> Writer:
        """The texts of one function of the file."""
        names = Names(self.dialect.reserved | self._taken, self.dialect.spell)
        return Writer(plan(function, layout, names), self.dialect, self.tables)


def _plain_name(lowered: Lowered) -> str:
    """Functions have a name; a loop is called after its start."""
    return lowered.name if isinstance(lowered, Function) else lowered.start.name.removesuffix("_start")
