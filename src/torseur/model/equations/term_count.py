"""How many terms expressions have once they are multiplied out: what decides whether that is worth trying."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.graph import Expr, Function, ops
from torseur.graph.nodes import Node

__all__ = ["terms_of"]

_TOO_MANY = 10**9


@dataclass(frozen=True)
class _Quotient:
    """Terms above and below the line; equal marks mean equal denominators."""

    above: int
    below: int = 1
    mark: int = -1

    def __add__(self, other: _Quotient) -> _Quotient:
        if self.mark == other.mark:
            return _Quotient(_capped(self.above + other.above), self.below, self.mark)
        above = _capped(self.above * other.below + other.above * self.below)
        return _Quotient(above, _capped(self.below * other.below), hash((self.mark, other.mark)))

    def __mul__(self, other: _Quotient) -> _Quotient:
        marks = sorted(m for m in (self.mark, other.mark) if m != -1)
        mark = -1 if not marks else marks[0] if len(marks) == 1 else hash(tuple(marks))
        return _Quotient(_capped(self.above * other.above), _capped(self.below * other.below), mark)

    def over(self, divisor: _Quotient, mark: int) -> _Quotient:
        return self * _Quotient(divisor.below, divisor.above, mark)


def terms_of(function: Function) -> int:
    """The terms of all results, above and below their fraction lines; a huge number where there is no telling, as for
    systems of linear equations.

    >>> from torseur.graph import Graph
    >>> g = Graph()
    >>> a, b = g.symbol("a"), g.symbol("b")
    >>> terms_of(Function("f", list(g.blocks.values()), {"y": (a + b) * (a - b)}))
    4
    """
    found: dict[int, _Quotient] = {}
    for node in function.nodes:
        found[node.id] = _terms(node, [found[a.id] for a in node.args])
    results = [found[x.id] for output in function.outputs for x in output.exprs]
    return sum(x.above + x.below - 1 for x in results)


def _terms(node: Node, args: list[_Quotient]) -> _Quotient:
    if node.op in (ops.ADD, ops.SUB):
        return args[0] + args[1]
    if node.op is ops.NEG:
        return args[0]
    if node.op is ops.MUL:
        return args[0] * args[1]
    if node.op is ops.DIV:
        return args[0].over(args[1], node.args[1].id)
    if node.op is ops.CALL:
        return _Quotient(_TOO_MANY)
    if node.op is ops.ITEM:
        return args[0]
    if node.op is ops.POW and isinstance(node, Expr) and node.args[1].is_number:
        return _power(args[0], float(node.args[1]))
    return _Quotient(1)


def _power(base: _Quotient, exponent: float) -> _Quotient:
    whole = base
    for _ in range(round(abs(exponent)) - 1):
        whole = whole * base
    return whole


def _capped(number: int) -> int:
    return min(number, _TOO_MANY)
