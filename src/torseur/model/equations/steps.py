"""Methods written out for people, step by step: text and LaTeX, simplified where that is possible.

Small expressions are written without intermediate results (that takes sympy); larger ones, or all of them where sympy
is not installed, as listings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import Any

from torseur.dynamics.workbench import collect
from torseur.emit.text import to_latex, to_listing
from torseur.emit.text.latex import symbol
from torseur.errors import CompileError, MissingExtra
from torseur.graph import Block, Expr, Function, count, ops
from torseur.graph.function import reachable
from torseur.model.equations.closed_form import LARGEST, Closed, closed_form
from torseur.model.equations.collected_terms import latex_symbols, terms_of

__all__ = ["Line", "Step", "Steps", "line_of", "plain_latex"]

_WIDEST = 110
"""Characters beyond which a matrix is written entry by entry."""

_MANY, _FEW = 600, 150
"""Terms up to which expressions are multiplied out; the fewer for what follows from the lines before."""


@dataclass(frozen=True)
class Line:
    """One equation of a step: its name as a word and in LaTeX, and an expression, column or matrix.

    One that `follows` from others in a way that the words say is written out only where that is short; one of `many`
    only if it is not zero.
    """

    name: str
    latex: str
    value: Any
    follows: bool = False
    many: bool = False


@dataclass(frozen=True)
class Step:
    """What is done, in words, and what it gives; one without a number comes after the method."""

    title: str
    words: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()
    numbered: bool = True


@dataclass(frozen=True)
class Steps:
    """A method applied to one mechanism.

    Attributes:
        title: of the method, and the name of the mechanism.
        steps: what is printed.
        blocks: the symbols in it.
    """

    title: str
    steps: tuple[Step, ...]
    blocks: tuple[Block, ...]

    def text(self) -> str:
        pieces = [self.title]
        for number, step in enumerate(self.steps, 1):
            head = f"{number}. {step.title}" if step.numbered else step.title
            body = [*step.words, *self._written(number, step, _matrix_text, to_listing)]
            pieces.append("\n".join([head, *(indent(text, "   ") for text in body)]))
        return "\n\n".join(pieces) + "\n"

    def latex(self) -> str:
        pieces = []
        for number, step in enumerate(self.steps, 1):
            head = rf"\paragraph{{{f'{number}. ' if step.numbered else ''}{plain_latex(step.title)}}}"
            words = " ".join(plain_latex(words) + "." for words in step.words)
            pieces += [f"{head} {words}".rstrip(), *self._written(number, step, _matrix_latex, _listing_latex)]
        return "\n".join(pieces) + "\n"

    def __str__(self) -> str:
        return self.text()

    def _written(
        self, number: int, step: Step, write: Callable[[Line, Closed], str], listing: Callable[[Function], str]
    ) -> Iterator[str]:
        """The lines of a step: first those that can be written out, then one listing of the others."""
        left = []
        for line in step.lines:
            function = self._function(line.name, [line])
            closed = self._closed(function, _FEW if line.follows else _MANY)
            if closed is None:
                left += [] if line.follows else [line]
            elif not line.many or not closed.is_zero(line.name):
                yield write(line, closed)
        if left:
            yield listing(self._function(f"step_{number}" if step.numbered else "reactions", left)).rstrip()

    def _function(self, name: str, lines: Sequence[Line]) -> Function:
        flat: list[Expr] = []
        collect([line.value for line in lines], flat)
        used = {node.data[0] for node in reachable(flat) if node.op is ops.SYMBOL}
        names = {"q", "v"} | used  # a speed is printed as the rate of its coordinate, which must be known
        return Function(name, [b for b in self.blocks if b.name in names], {line.name: line.value for line in lines})

    def _closed(self, function: Function, most: int) -> Closed | None:
        if terms_of(function) > most or count(function).total > LARGEST:
            return None
        try:
            return closed_form(function, tangents=True)
        except (MissingExtra, CompileError):
            return None


def _matrix_text(line: Line, closed: Closed) -> str:
    rows = closed.written(line.name)
    wide = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lead = f"{line.name} = "
    if len(lead) + sum(wide) + 2 * len(wide) > _WIDEST:
        return "\n".join(_entry_by_entry(line.name, rows))
    if len(rows) == len(rows[0]) == 1:
        return lead + rows[0][0]
    padded = [f"[{'  '.join(x.ljust(w) for x, w in zip(row, wide, strict=True))}]" for row in rows]
    return lead + ("\n" + " " * len(lead)).join(padded)


def _entry_by_entry(name: str, rows: list[list[str]]) -> Iterator[str]:
    """All that is not zero."""
    for i, row in enumerate(rows, 1):
        for k, text in enumerate(row, 1):
            place = "" if len(rows) == len(row) == 1 else f"[{i}]" if len(row) == 1 else f"[{i},{k}]"
            if text != "0":
                yield f"{name}{place} = {text}"


def _matrix_latex(line: Line, closed: Closed) -> str:
    rows = closed.written(line.name, latex=True)
    body = " \\\\\n".join(" & ".join(row) for row in rows)
    if len(rows) > 1 or len(rows[0]) > 1:
        body = f"\\begin{{pmatrix}}\n{body}\n\\end{{pmatrix}}"
    return f"\\[\n{line.latex} = {body}\n\\]"


def _listing_latex(function: Function) -> str:
    return to_latex(function, latex_symbols(function))


def line_of(name: str, of: str, value: Any) -> Line:
    """A quantity of one body or row: M_arm, lam_pin_x."""
    greek = {"lambda": r"\lambda", "omega": r"\omega", "chi": r"\chi"}
    word = "lam" if name == "lambda" else name
    latex = greek.get(name) or symbol(name)
    subscript = rf"\mathrm{{{plain_latex(of)}}}"
    spelled = f"{latex[:-1]},{subscript}}}" if latex.endswith("}") and "_{" in latex else f"{latex}_{{{subscript}}}"
    return Line(f"{word}_{of}", spelled, value)


def plain_latex(text: str) -> str:
    """Words that LaTeX takes as they are."""
    return text.replace("_", r"\_").replace("^", r"\^{}")
