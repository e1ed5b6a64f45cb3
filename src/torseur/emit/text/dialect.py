"""How a language writes: its expressions, its names and its statements, as data.

Templates are filled with ``%``: one ``%s`` per operand. What is common to all languages (precedence, brackets, signs)
is in `torseur.emit.text.phrases`; what is around expressions (functions, arrays, loops) is each language's frame.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

from torseur.graph import ops
from torseur.graph.ops import Op

__all__ = ["Dialect", "Layout", "Names", "Rank", "functions", "plain_number", "words"]


class Rank(IntEnum):
    """How tightly the outermost operation of a text binds."""

    CHOICE = 0
    LOGIC = 1
    COMPARISON = 2
    SUM = 3
    PRODUCT = 4
    POWER = 5
    ATOM = 6


@dataclass(frozen=True)
class Dialect:
    """The expressions of one language.

    Args:
        number: the literal of a finite number.
        calls: operation -> template, for whatever is written as a function; operands stand between its brackets.
        infinity, nan: their literals.
        truths: the literals of false and true.
        product, division, power: templates; a power of None is written as a call.
        bar: the division is a fraction bar, whose operands need no brackets.
        times: the product in front of a digit, where it must be visible.
        logic: templates of not, and, or.
        comparisons: templates of <, <=, ==.
        choice: how tightly a select binds; its operands stand in brackets unless it is an ATOM.
        choice_order: the places of condition, yes and no in the template of a select.
        brackets: around an operand that binds too loosely.
        item, first: template of an element of a bundle, and the number of the first.
        table: template of the call of an interpolated table.
        exact: brackets are kept where mathematics does not need them but rounding does: a + (b + c).
        statement: template of an assignment.
        comment: template of a remark.
        keywords: words that cannot be names.
        library: words that cannot be names of functions.
        helpers: operation -> source of a function that its template calls.
        spell: what has to be changed in a name.
    """

    number: Callable[[float], str]
    calls: Mapping[Op, str]
    infinity: str
    nan: str
    truths: tuple[str, str]
    product: str = "%s*%s"
    division: str = "%s/%s"
    power: str | None = None
    bar: bool = False
    times: str = "%s*%s"
    logic: Mapping[Op, str] = field(default_factory=lambda: {ops.NOT: "!%s", ops.AND: "%s && %s", ops.OR: "%s || %s"})
    comparisons: Mapping[Op, str] = field(
        default_factory=lambda: {ops.LT: "%s < %s", ops.LE: "%s <= %s", ops.EQ: "%s == %s"}
    )
    choice: Rank = Rank.ATOM
    choice_order: tuple[int, int, int] = (0, 1, 2)
    brackets: tuple[str, str] = ("(", ")")
    item: str = "%s[%d]"
    first: int = 1
    table: str = "%s(%s)"
    exact: bool = True
    statement: str = "%s = %s"
    comment: str = "# %s"
    keywords: frozenset[str] = frozenset()
    library: frozenset[str] = frozenset()
    helpers: Mapping[Op, str] = field(default_factory=dict)
    spell: Callable[[str], str] = str

    @cached_property
    def reserved(self) -> frozenset[str]:
        """Words that cannot be names: keywords, and every word the templates use."""
        texts = [*self.calls.values(), *self.truths, self.infinity, self.nan, self.statement]
        return self.keywords | {word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text.replace("%s", ""))}


_PLAIN = {op: op.name for op in ops.OPS if op.numpy is not None and op.arity == 1 and op not in (ops.NEG, ops.NOT)}
_PLAIN |= {ops.ATAN2: "atan2", ops.MIN: "min", ops.MAX: "max", ops.POW: "pow"}


def functions(renamed: Mapping[Op, str], *, prefix: str = "", suffix: str = "") -> dict[Op, str]:
    """Templates of the elementary functions: the usual names unless another is given (complete, without prefix)."""
    names = {op: renamed.get(op, f"{prefix}{name}{suffix}") for op, name in _PLAIN.items()}
    return {op: f"{name}({', '.join(['%s'] * op.arity)})" for op, name in names.items()}


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def plain_number(value: float) -> str:
    """The shortest text that reads back as the same number; whole numbers without a point.

    >>> plain_number(2.0), plain_number(0.1), plain_number(1e22)
    ('2', '0.1', '1e+22')
    """
    text = repr(float(value))
    return text.removesuffix(".0")


@dataclass(frozen=True)
class Layout:
    """The choices a language makes.

    Args:
        size: operations in one statement before it is cut in two.
        depth: brackets within brackets in one statement before it is cut.
        arrays: inputs and outputs are arrays with names of their own, filled at the end. Otherwise every result is a
            statement of its own, at the stage where it can be computed.
        squares: ``x*x`` is written as a power, so that x need not be a name.
        alone: operations that look best as a statement of their own.
        prologue: work on parameters only is a part of its own.
        instant: work on parameters and time only is a part of its own.
    """

    size: int = 12
    depth: int = 5
    arrays: bool = True
    squares: bool = False
    alone: frozenset[Op] = frozenset()
    prologue: bool = True
    instant: bool = False


def _as_it_is(name: str) -> str:
    return name


class Names:
    """Hands out identifiers.

    Args:
        reserved: words that must not be used.
        spell: how the language writes a name; two names that it would spell alike are told apart, by numbers behind
            them, which it must not drop.

    >>> names = Names({"lambda"})
    >>> names.take("q1"), names.take("q1"), names.take("lambda"), names.fresh("t"), names.fresh("t")
    ('q1', 'q1_2', 'lambda_', 't1', 't2')
    """

    def __init__(self, reserved: Iterable[str] = (), spell: Callable[[str], str] = _as_it_is) -> None:
        self._reserved = frozenset(reserved)
        self._taken = set(self._reserved)
        self._spell = spell
        self._avoided: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, wish: str) -> str:
        """The name asked for, or with something added to it if it is not free."""
        text = self._spell(wish)
        if text in self._reserved:
            wish += "_"
            text = self._spell(wish)
        if text in self._taken:
            text = self._numbered(f"{wish}_", 2)
        self._taken.add(text)
        return text

    def avoid(self, wishes: Iterable[str]) -> None:
        """Names that no numbered family takes; `take` may."""
        self._avoided |= {self._spell(wish) for wish in wishes}

    def fresh(self, stem: str) -> str:
        """The next free name of a numbered family: t1, t2, ..."""
        text = self._numbered(stem, 1)
        self._taken.add(text)
        return text

    def _numbered(self, stem: str, first: int) -> str:
        k = self._next.get(stem, first)
        while (text := self._spell(f"{stem}{k}")) in self._taken or text in self._avoided:
            k += 1
        self._next[stem] = k + 1
        return text
