"""Expressions as text: minimal brackets, signs where a person would put them, in the words of a dialect.

Texts are made from the leaves up, one node after the other; the plan bounds their length.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple

from torseur.emit.text.dialect import Dialect, Rank
from torseur.emit.text.statements import Plan
from torseur.graph import ops
from torseur.graph.functions import Piecewise
from torseur.graph.nodes import Node

__all__ = ["Phrase", "Writer"]


class Phrase(NamedTuple):
    """A text, how tightly it binds, and the bases and exponents it is a product of, if that was kept."""

    text: str
    rank: Rank
    factors: tuple[tuple[Phrase, int], ...] = ()


class Writer:
    """The texts of the nodes of a plan.

    Args:
        plan: what is written.
        dialect: in which language.
        tables: the names of interpolated tables.
    """

    def __init__(self, plan: Plan, dialect: Dialect, tables: Mapping[Piecewise, str]) -> None:
        self.plan, self.dialect, self.tables = plan, dialect, tables
        self._phrases: dict[int, Phrase] = {}
        for node in plan.function.nodes:
            if node.id not in plan.values and node.op is not ops.SYMBOL and node.op is not ops.CALL:
                self._phrases[node.id] = self._RULES.get(node.op, Writer._call)(self, node)

    def text(self, node: Node) -> str:
        """A node where it is used: its name if it has one."""
        return self._used(node).text

    def definition(self, node: Node) -> str:
        """What a statement assigns to the name of a node."""
        return self._phrases[node.id].text

    def is_number(self, node: Node) -> bool:
        return node.id in self.plan.values

    def _used(self, node: Node) -> Phrase:
        name = self.plan.names.get(node.id)
        if name is not None:
            return Phrase(name, Rank.ATOM)
        value = self.plan.values.get(node.id)
        return self._phrases[node.id] if value is None else self._literal(value)

    def _literal(self, value: float | bool) -> Phrase:
        d = self.dialect
        if isinstance(value, bool):
            return Phrase(d.truths[value], Rank.ATOM)
        if math.isnan(value):
            return Phrase(d.nan, Rank.ATOM)
        size = d.infinity if math.isinf(value) else d.number(abs(value))
        negative = value < 0
        # A literal such as 2 . 10^-3 is a product.
        whole = Rank.PRODUCT if self._times in size else Rank.ATOM
        return Phrase(f"-{size}", Rank.SUM) if negative else Phrase(size, whole)

    @cached_property
    def _times(self) -> str:
        return self.dialect.times.replace("%s", "").strip()

    def _at_least(self, phrase: Phrase, rank: Rank) -> str:
        """In brackets if it binds less tightly."""
        if phrase.rank >= rank:
            return phrase.text
        return phrase.text.join(self.dialect.brackets)

    # -- one rule per kind of operation ------------------------------------------------------------------------------
    def _call(self, node: Node) -> Phrase:
        return Phrase(self.dialect.calls[node.op] % tuple(self.text(a) for a in node.args), Rank.ATOM)

    def _negation(self, node: Node) -> Phrase:
        inner = node.args[0]
        if inner.op is ops.SUB and inner.id not in self.plan.names and inner.id not in self.plan.values:
            return self._less(self._used(inner.args[1]), self._used(inner.args[0]))
        return Phrase("-" + self._at_least(self._used(inner), Rank.PRODUCT), Rank.SUM)

    def _sum(self, node: Node) -> Phrase:
        a, b = (self._used(x) for x in node.args)
        if b.rank is Rank.SUM and a.rank > Rank.SUM:
            a, b = b, a
        loose = b.rank is Rank.SUM and not self.dialect.exact
        left, right = self._at_least(a, Rank.SUM), b.text if loose else self._at_least(b, Rank.PRODUCT)
        joined = f"{left} - {right[1:]}" if right.startswith("-") else f"{left} + {right}"
        return Phrase(joined, Rank.SUM)

    def _difference(self, node: Node) -> Phrase:
        return self._less(self._used(node.args[0]), self._used(node.args[1]))

    def _less(self, a: Phrase, b: Phrase) -> Phrase:
        return Phrase(f"{self._at_least(a, Rank.SUM)} - {self._at_least(b, Rank.PRODUCT)}", Rank.SUM)

    def _product(self, node: Node) -> Phrase:
        a, b = (self._used(x) for x in node.args)
        d = self.dialect
        if self.plan.layout.squares:
            return self._gathered(a, b)
        if d.exact and b.rank is Rank.PRODUCT and a.rank > Rank.PRODUCT and not self.is_number(node.args[0]):
            a, b = b, a
        return Phrase(self._times_text(a, b), Rank.PRODUCT)

    def _times_text(self, a: Phrase, b: Phrase) -> str:
        d = self.dialect
        left, right = self._at_least(a, Rank.PRODUCT), self._at_least(b, Rank.POWER if d.exact else Rank.PRODUCT)
        return (d.times if right[0].isdigit() else d.product) % (left, right)

    def _gathered(self, a: Phrase, b: Phrase) -> Phrase:
        """A product with equal factors as powers and numbers in front: x (2 x) is 2 x^2."""
        exponents: dict[str, tuple[Phrase, int]] = {}
        for base, n in (*(a.factors or ((a, 1),)), *(b.factors or ((b, 1),))):
            exponents[base.text] = base, n + exponents.get(base.text, (base, 0))[1]
        factors = sorted(exponents.values(), key=lambda f: not f[0].text[0].isdigit())
        whole = self._to_the(*factors[0])
        for base, n in factors[1:]:
            whole = Phrase(self._times_text(whole, self._to_the(base, n)), Rank.PRODUCT)
        return Phrase(whole.text, whole.rank, tuple(factors))

    def _to_the(self, base: Phrase, n: int) -> Phrase:
        if n == 1:
            return base
        assert self.dialect.power is not None
        return Phrase(self.dialect.power % (self._at_least(base, Rank.ATOM), n), Rank.POWER)

    def _quotient(self, node: Node) -> Phrase:
        a, b = (self._used(x) for x in node.args)
        d = self.dialect
        if d.bar:
            return Phrase(d.division % (a.text, b.text), Rank.PRODUCT)
        return Phrase(d.division % (self._at_least(a, Rank.PRODUCT), self._at_least(b, Rank.POWER)), Rank.PRODUCT)

    def _power(self, node: Node) -> Phrase:
        if self.dialect.power is None:
            return self._call(node)
        a, b = (self._used(x) for x in node.args)
        exponent = b.text if self.dialect.bar else self._at_least(b, Rank.ATOM)
        return Phrase(self.dialect.power % (self._at_least(a, Rank.ATOM), exponent), Rank.POWER)

    def _comparison(self, node: Node) -> Phrase:
        args = tuple(self._at_least(self._used(a), Rank.SUM) for a in node.args)
        return Phrase(self.dialect.comparisons[node.op] % args, Rank.COMPARISON)

    def _logic(self, node: Node) -> Phrase:
        args = tuple(self._at_least(self._used(a), Rank.ATOM) for a in node.args)
        return Phrase(self.dialect.logic[node.op] % args, Rank.LOGIC)

    def _choice(self, node: Node) -> Phrase:
        d = self.dialect
        loosest = Rank.CHOICE if d.choice is Rank.ATOM else Rank.LOGIC
        args = [self._at_least(self._used(a), loosest) for a in node.args]
        return Phrase(d.calls[ops.SELECT] % tuple(args[k] for k in d.choice_order), d.choice)

    def _item(self, node: Node) -> Phrase:
        return Phrase(self.dialect.item % (self.text(node.args[0]), node.data + self.dialect.first), Rank.ATOM)

    def _table(self, node: Node) -> Phrase:
        return Phrase(self.dialect.table % (self.tables[node.data], self.text(node.args[0])), Rank.ATOM)

    _RULES: Mapping[ops.Op, Callable[[Writer, Node], Phrase]] = {
        ops.NEG: _negation,
        ops.ADD: _sum,
        ops.SUB: _difference,
        ops.MUL: _product,
        ops.DIV: _quotient,
        ops.POW: _power,
        **dict.fromkeys((ops.LT, ops.LE, ops.EQ), _comparison),
        **dict.fromkeys((ops.NOT, ops.AND, ops.OR), _logic),
        ops.SELECT: _choice,
        ops.ITEM: _item,
        ops.PIECEWISE: _table,
    }
