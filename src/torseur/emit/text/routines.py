"""Routines as text: one translator, and what a language writes in its own way as data.

A routine is printed once, as a function of whole numbers and arrays. Each call of it with certain sizes is a function
of its own around it, which holds the tables and makes room for results and work: that is up to each language's frame.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torseur.emit.text.dialect import Dialect, Names, Rank
from torseur.graph import ops
from torseur.graph.ops import Op
from torseur.graph.routine import EPSILON, Routine
from torseur.graph.routine_syntax import range_of

__all__ = ["Notation", "RoutineText", "elementary"]

_ELEMENTARY = {"abs": ops.ABS, "sqrt": ops.SQRT}
_SIGNS: Mapping[type[ast.operator], tuple[str, Rank]] = {
    ast.Add: (" + ", Rank.SUM),
    ast.Sub: (" - ", Rank.SUM),
    ast.Mult: ("*", Rank.PRODUCT),
    ast.Div: ("/", Rank.PRODUCT),
}
_COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def elementary(routine: Routine) -> set[Op]:
    """The elementary functions a routine calls."""
    names = {node.id for node in ast.walk(routine.tree) if isinstance(node, ast.Name)}
    return {op for name, op in _ELEMENTARY.items() if name in names}


@dataclass(frozen=True)
class Notation:
    """The statements of one language, with names between braces.

    Args:
        up, down: the head of a loop; `end` is the first value that is not taken, `last` the one before it.
        condition, otherwise, repeat: the heads of if, else and while.
        end: the line that closes a block, if there is one.
        back: the return.
        item, first: an element of an array, and the number of the first one.
        whole: a real that holds a whole number as a whole number; None where that makes no difference.
        unequal: the comparison.
        epsilon: the distance from 1 to the next number.
    """

    up: str
    down: str
    condition: str
    otherwise: str
    repeat: str
    end: str
    back: str = "return"
    item: str = "{array}[{index}]"
    first: int = 0
    whole: str | None = "int({value})"
    unequal: str = "!="
    epsilon: float = EPSILON


class RoutineText:
    """The lines of one routine.

    Args:
        routine: what is written.
        dialect, notation: in which language.
    """

    def __init__(self, routine: Routine, dialect: Dialect, notation: Notation) -> None:
        self.routine, self.dialect, self.notation = routine, dialect, notation
        names = Names(dialect.reserved, dialect.spell)
        self.names = {name: names.take(name) for name in dict.fromkeys((*routine.arguments, *routine.kinds))}

    @property
    def locals(self) -> dict[str, list[str]]:
        """int, real -> the names that are no arguments."""
        own = [(self.names[name], kind) for name, kind in self.routine.kinds.items()]
        taken = set(self.arguments())
        return {kind: [name for name, k in own if k == kind and name not in taken] for kind in ("int", "real")}

    def arguments(self, *kinds: str) -> list[str]:
        """The names of the arguments, or of those of some kinds."""
        return [self.names[a] for a, kind in self.routine.arguments.items() if not kinds or kind in kinds]

    @property
    def unread(self) -> list[str]:
        """Arguments that the routine makes no use of."""
        used = {node.id for node in ast.walk(self.routine.tree) if isinstance(node, ast.Name)}
        return [self.names[a] for a in self.routine.arguments if a not in used]

    def lines(self) -> list[str]:
        return self._block(self.routine.tree.body)

    # -- statements --------------------------------------------------------------------------------------------------
    def _block(self, statements: Sequence[ast.stmt]) -> list[str]:
        return [line for statement in statements for line in self._statement(statement)]

    def _statement(self, node: ast.stmt) -> list[str]:
        n = self.notation
        match node:
            case ast.Assign(targets=[target], value=value):
                return [self._assignment(target, value)]
            case ast.Return():
                return [n.back]
            case ast.While(test=test, body=body):
                return self._closed(n.repeat.format(test=self._truth(test)[0]), body)
            case ast.If(test=test, body=body, orelse=[]):
                return self._closed(n.condition.format(test=self._truth(test)[0]), body)
            case ast.If(test=test, body=body, orelse=other):
                head = n.condition.format(test=self._truth(test)[0])
                return [head, *self._inside(body), *self._closed(n.otherwise, other)]
            case ast.For(target=ast.Name(id=name), body=body):
                return self._closed(self._head(self.names[name], *range_of(node)), body)
        raise AssertionError(ast.unparse(node))

    def _assignment(self, target: ast.expr, value: ast.expr) -> str:
        ending = ";" if self.dialect.statement.endswith(";") else ""
        return f"{self._value(target)[0]} = {self._value(value)[0]}{ending}"

    def _head(self, name: str, begin: ast.expr, end: ast.expr, up: bool) -> str:
        first, limit = self._value(begin)[0], self._value(end)[0]
        last = self._value(_moved(end, -1 if up else 1))[0]
        template = self.notation.up if up else self.notation.down
        return template.format(name=name, begin=first, end=limit, last=last)

    def _inside(self, body: Sequence[ast.stmt]) -> list[str]:
        return [f"    {line}" for line in self._block(body)]

    def _closed(self, head: str, body: Sequence[ast.stmt]) -> list[str]:
        return [head, *self._inside(body), *([self.notation.end] if self.notation.end else [])]

    # -- values ------------------------------------------------------------------------------------------------------
    def _value(self, node: ast.expr) -> tuple[str, Rank]:
        n, d = self.notation, self.dialect
        match node:
            case ast.Constant(value=int(whole)):
                return str(whole), Rank.ATOM
            case ast.Constant(value=float(real)):
                return d.number(real), Rank.ATOM
            case ast.Name(id="EPSILON"):
                return d.number(n.epsilon), Rank.ATOM
            case ast.Name(id=name):
                return self.names[name], Rank.ATOM
            case ast.Subscript(value=ast.Name(id=array), slice=index):
                place = self._value(_moved(index, n.first))[0]
                return n.item.format(array=self.names[array], index=place), Rank.ATOM
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return f"-{self._at_least(self._value(operand), Rank.PRODUCT)}", Rank.SUM
            case ast.BinOp(left=left, op=op, right=right):
                sign, rank = _SIGNS[type(op)]
                a, b = self._at_least(self._value(left), rank), self._at_least(self._value(right), Rank(rank + 1))
                return f"{a}{sign}{b}", rank
            case ast.Call(func=ast.Name(id="int"), args=[inside]):
                phrase = self._value(inside)
                if n.whole is None:
                    return phrase
                bare = n.whole.endswith("({value})")
                return n.whole.format(value=phrase[0] if bare else self._at_least(phrase, Rank.ATOM)), Rank.ATOM
            case ast.Call(func=ast.Name(id=name), args=[inside]):
                return d.calls[_ELEMENTARY[name]] % self._value(inside)[0], Rank.ATOM
        raise AssertionError(ast.unparse(node))

    def _truth(self, node: ast.expr) -> tuple[str, Rank]:
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                sign = self.notation.unequal if isinstance(op, ast.NotEq) else _COMPARISONS[type(op)]
                return f"{self._value(left)[0]} {sign} {self._value(right)[0]}", Rank.COMPARISON
            case ast.BoolOp(op=op, values=values):
                template = self.dialect.logic[ops.AND if isinstance(op, ast.And) else ops.OR]
                text = self._at_least(self._truth(values[0]), Rank.COMPARISON)
                for other in values[1:]:
                    text = template % (text, self._at_least(self._truth(other), Rank.COMPARISON))
                return text, Rank.LOGIC
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.dialect.logic[ops.NOT] % self._at_least(self._truth(operand), Rank.ATOM), Rank.ATOM
        raise AssertionError(ast.unparse(node))

    def _at_least(self, phrase: tuple[str, Rank], rank: Rank) -> str:
        text, own = phrase
        return text if own >= rank else f"({text})"


def _moved(node: ast.expr, by: int) -> ast.expr:
    """A whole number and a constant.

    >>> [ast.unparse(_moved(ast.parse(text, mode="eval").body, 1)) for text in ("2", "-1", "n", "n - 1", "n + 2")]
    ['3', '0', 'n + 1', 'n', 'n + 3']
    """
    match node:
        case ast.Constant(value=int(value)):
            total, rest = value, None
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            total, rest = -value, None
        case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=int(value))):
            total, rest = value, left
        case ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant(value=int(value))):
            total, rest = -value, left
        case _:
            total, rest = 0, node
    total += by
    if rest is None:
        return ast.Constant(total) if total >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-total))
    if total == 0:
        return rest
    return ast.BinOp(rest, ast.Add() if total > 0 else ast.Sub(), ast.Constant(abs(total)))
