"""Text for people: statements by stage with their operation counts, then what is called.

Bodies of called functions are printed; of linear systems and roots, only what they give. `to_listing` writes them in
SYMORO's manner: ``name = expression``, one under the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from torseur.emit.text.dialect import Dialect, Layout, functions, plain_number
from torseur.emit.text.phrases import Writer
from torseur.emit.text.unit import Called, Unit, all_called, called, grouped
from torseur.graph import ops
from torseur.graph.calls import FunctionCall, Iteration
from torseur.graph.counts import Count, count, count_by_stage
from torseur.graph.function import Function, Output, Stage, checked_function
from torseur.graph.functions import Piecewise
from torseur.graph.nodes import Bundle
from torseur.graph.routine import Loops

__all__ = ["LISTING", "WHEN", "Passage", "Reading", "polynomial", "to_listing"]

WHEN = {
    Stage.PARAMETER: "once per parameter set",
    Stage.TIME: "once per instant",
    Stage.STATE: "at every evaluation",
}


@dataclass(frozen=True)
class Passage:
    """Statements that are done together: when, how much work that is, and both sides of each."""

    stage: Stage
    count: Count
    lines: list[tuple[str, str]]


def _worth_reading(by: Function | Iteration | Loops) -> list[Called]:
    if isinstance(by, Iteration):
        return [called(c) for c in by.start.callees if isinstance(c, FunctionCall)]
    return all_called(by)


class Reading(ABC):
    """A function as text for people, in one notation."""

    layout: ClassVar[Layout] = Layout(arrays=False, squares=True, instant=True)

    def __init__(self, function: Function, dialect: Dialect) -> None:
        self.function, self.dialect = function, dialect
        self.unit = Unit(function, dialect, follow=_worth_reading)

    def passages(self) -> list[Passage]:
        """The function itself, stage by stage."""
        writer, counts = self.unit.writer(self.function, self.layout), count_by_stage(self.function)
        return self._passages(writer, counts)

    def inner(self, function: Function) -> Passage:
        """A called function, all at once."""
        writer = self.unit.writer(function, replace(self.layout, prologue=False, instant=False))
        return self._passages(writer, {Stage.STATE: count(function)})[-1]

    def _passages(self, writer: Writer, counts: dict[Stage, Count]) -> list[Passage]:
        found = []
        for part in writer.plan.parts:
            lines = []
            for node in part.statements:
                text = self.call(writer, node) if isinstance(node, Bundle) else writer.definition(node)
                lines.append((writer.plan.names[node.id], text))
            lines += [(a.name, writer.text(a.expr)) for a in part.aliases if not self.is_matrix(a.output)]
            if part.stage is Stage.STATE:
                lines += [self.matrix(writer, o) for o in writer.plan.function.outputs if self.is_matrix(o)]
            found.append(Passage(part.stage, counts[part.stage], lines))
        return [p for p in found if p.lines or p.stage is Stage.STATE]

    def call(self, writer: Writer, node: Bundle) -> str:
        texts = []
        for block, group in grouped(node):
            if isinstance(group, Bundle):
                texts.append(writer.text(group))
            else:
                texts.append(self.array([writer.text(e) for e in group], block.shape))
        return self.dialect.table % (self.unit.name_of(node.data), ", ".join(texts))

    def bodies(self) -> list[tuple[str, Function]]:
        """Called functions that are printed."""
        found = [(self.unit.name_of(c), c.lowered) for c in self.unit.called if isinstance(c.callee, FunctionCall)]
        return [(name, f) for name, f in found if isinstance(f, Function)]

    def meanings(self) -> list[tuple[str, str]]:
        """Called functions of which only the meaning is printed."""
        others = [c for c in self.unit.called if c.callee is not None and not isinstance(c.callee, FunctionCall)]
        return [(self.unit.name_of(c), c.callee.meaning) for c in others if c.callee is not None]

    def is_matrix(self, output: Output) -> bool:
        """Whether an output is shown as a whole at the end, besides its entries."""
        return False

    def matrix(self, writer: Writer, output: Output) -> tuple[str, str]:
        raise NotImplementedError

    @abstractmethod
    def array(self, items: Sequence[str], shape: Sequence[int]) -> str:
        """Numbers that fill a block of this shape."""


def polynomial(dialect: Dialect, curve: Piecewise, k: int, x: str) -> str:
    """The polynomial of interval k of a table.

    >>> from torseur.emit.text.reading import LISTING
    >>> polynomial(LISTING, Piecewise((0.0,), (0.0, 0.5), ((1.0, 0.0), (2.0, -3.0))), 1, "x")
    '2 - 3*(x - 0.5)'
    """
    origin, text = curve.origins[k], ""
    u = f"{x} {'-' if origin > 0 else '+'} {dialect.number(abs(origin))}" if origin else x
    terms = [(i, c) for i, c in enumerate(curve.coefficients[k]) if c != 0.0]
    if terms == [(1, 1.0)]:
        return u
    u = u.join(dialect.brackets) if origin else u
    for i, c in terms:
        size = dialect.number(abs(c))
        if i:
            assert dialect.power is not None
            factor = u if i == 1 else dialect.power % (u, i)
            size = factor if size == "1" else dialect.product % (size, factor)
        if text:
            text += f" {'-' if c < 0 else '+'} {size}"
        else:
            text = f"-{size}" if c < 0 else size
    return text or dialect.number(0.0)


LISTING = Dialect(
    number=plain_number,
    calls={**functions({}), ops.SELECT: "select(%s, %s, %s)"},
    infinity="inf",
    nan="nan",
    truths=("false", "true"),
    power="%s**%s",
    logic={ops.NOT: "not %s", ops.AND: "%s and %s", ops.OR: "%s or %s"},
    exact=False,
    keywords=frozenset({"and", "or", "not"}),
)


def to_listing(function: Function, names: Mapping[str, str] | None = None) -> str:
    """A function as a plain listing.

    Args:
        function: what is printed.
        names: name of an input -> what is written in its place.

    >>> from torseur.graph import Function, Graph, Role, cos
    >>> g = Graph()
    >>> q, m = g.symbol("q"), g.symbol("m", Role.PARAMETER)
    >>> print(to_listing(Function("weight", [g.blocks["q"], g.blocks["m"]], {"tau": 9.81 * m * cos(q)})))
    weight(q, m) -> tau
    <BLANKLINE>
    once per parameter set: 1 product
        t1 = 9.81*m
    <BLANKLINE>
    at every evaluation: 1 product, 1 sine-cosine pair
        tau = t1*cos(q)
    <BLANKLINE>
    """
    known = dict(names or {})
    dialect = replace(LISTING, spell=lambda name: known.get(name, name))
    return _Listing(checked_function(function, "to_listing"), dialect).text()


class _Listing(Reading):
    def text(self) -> str:
        pieces = [_signature(self.unit.name, self.function)]
        pieces += [_section(f"{WHEN[p.stage]}: {p.count}", p) for p in self.passages()]
        for name, function in self.bodies():
            passage = self.inner(function)
            pieces.append(_section(f"{_signature(name, function)}: {passage.count}", passage))
        pieces += [f"{name}: {meaning}" for name, meaning in self.meanings()]
        pieces += [self.table(name, curve) for curve, name in self.unit.tables.items()]
        return "\n\n".join(pieces) + "\n"

    def array(self, items: Sequence[str], shape: Sequence[int]) -> str:
        if len(shape) == 0:
            return items[0]
        if len(shape) == 1:
            return f"[{', '.join(items)}]"
        step = len(items) // shape[0] if shape[0] else 0
        return f"[{', '.join(self.array(items[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0]))}]"

    def table(self, name: str, curve: Piecewise) -> str:
        lines = [f"{name}(x), by intervals"]
        for k in range(len(curve.origins)):
            low = f"{plain_number(curve.breaks[k - 1])} <= " if k > 0 else ""
            high = f" < {plain_number(curve.breaks[k])}" if k < len(curve.breaks) else ""
            lines.append(f"    {low}x{high}: {polynomial(self.dialect, curve, k, 'x')}")
        return "\n".join(lines)


def _signature(name: str, function: Function) -> str:
    ins, outs = (
        ", ".join(x.name + (f"[{', '.join(map(str, x.shape))}]" if x.shape else "") for x in group)
        for group in (function.inputs, function.outputs)
    )
    return f"{name}({ins}) -> {outs}"


def _section(heading: str, passage: Passage) -> str:
    return "\n".join([heading, *(f"    {left} = {right}" for left, right in passage.lines)])
