"""What the writers of reports share: one walk through a document and its formulas, numbers of tables and figures.

A language is a subclass with a method for each kind of block, of text in a line, and of formula.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from torseur.views.report import document as d
from torseur.views.report import math as m
from torseur.views.report.layout import NO_BREAK, Digits, decimal, digits_of, unit_parts

__all__ = ["MathWriter", "Writer"]

_NAMES = {d.Language.ENGLISH: ("Table", "Figure", "."), d.Language.FRENCH: ("Tableau", "Figure", f"{NO_BREAK}:")}


class MathWriter(ABC):
    """Formulas in one notation."""

    def __init__(self, language: d.Language) -> None:
        self.language = language

    def math(self, math: m.Math) -> str:
        """A formula, without what begins and ends it."""
        match math:
            case m.Word(text, look):
                return self.word(text, look)
            case m.Number(text):
                return self.number(decimal(text, self.language))
            case m.Sign(text):
                return self.sign(text)
            case m.Space(wide):
                return self.space(wide)
            case m.Row(items):
                return self.row([self.math(item) for item in items])
            case m.Fraction(above, below):
                return self.fraction(self.math(above), self.math(below))
            case m.Root(inside):
                return self.root(self.math(inside))
            case m.Scripted(base, below, above):
                scripts = (None if part is None else self.math(part) for part in (below, above))
                return self.scripted(self.math(base), *scripts)
            case m.Dotted(base, dots):
                return self.dotted(self.math(base), dots)
            case m.Fenced(left, inside, right):
                return self.fenced(left, self.math(inside), right)
            case m.Array(rows):
                return self.array([[self.math(cell) for cell in row] for row in rows], math)

    @abstractmethod
    def word(self, text: str, look: m.Look) -> str: ...

    @abstractmethod
    def number(self, digits: str) -> str: ...

    @abstractmethod
    def sign(self, text: str) -> str: ...

    @abstractmethod
    def space(self, wide: bool) -> str: ...

    @abstractmethod
    def row(self, items: list[str]) -> str: ...

    @abstractmethod
    def fraction(self, above: str, below: str) -> str: ...

    @abstractmethod
    def root(self, inside: str) -> str: ...

    @abstractmethod
    def scripted(self, base: str, below: str | None, above: str | None) -> str: ...

    @abstractmethod
    def dotted(self, base: str, dots: int) -> str: ...

    @abstractmethod
    def fenced(self, left: str, inside: str, right: str) -> str: ...

    @abstractmethod
    def array(self, cells: list[list[str]], array: m.Array) -> str: ...


class Writer(ABC):
    """A document in one language of markup."""

    def __init__(self, document: d.Document) -> None:
        self.document, self.language = document, document.language
        self._numbers: dict[int, str] = {}
        counts = {d.Table: 0, d.Figure: 0}
        table, figure, mark = _NAMES[self.language]
        for block in d.all_blocks(document.sections):
            if isinstance(block, (d.Table, d.Figure)):
                counts[type(block)] += 1
                name = table if isinstance(block, d.Table) else figure
                self._numbers[id(block)] = f"{name}{NO_BREAK}{counts[type(block)]}{mark}"

    def number_of(self, block: d.Table | d.Figure) -> str:
        """'Table 2.', 'Figure 1 :'"""
        return self._numbers[id(block)]

    def block(self, block: d.Block) -> str:
        match block:
            case d.Paragraph(line):
                return self.paragraph(self.line(line))
            case d.Bullets(items):
                return self.bullets([self.line(item) for item in items])
            case d.Table():
                return self.table(block)
            case d.Equation():
                return self.equation(block)
            case d.Listing(text):
                return self.listing(text)
            case d.Figure():
                return self.figure(block)
            case d.Section():
                raise AssertionError("sections are written by their section")

    def line(self, line: d.Line) -> str:
        return "".join(map(self.inline, line))

    def inline(self, inline: d.Inline) -> str:
        match inline:
            case d.Text(text):
                return self.plain(text)
            case d.Strong(text):
                return self.strong(text)
            case d.Emphasis(text):
                return self.emphasis(text)
            case d.Code(text):
                return self.code(text)
            case d.Formula(math):
                return self.formula(math)
            case d.Unit(text):
                return "".join(self.raised(base, exponent) for base, exponent in unit_parts(text))
            case d.Value(number, digits):
                return self.value(digits_of(number, digits, self.language))

    @abstractmethod
    def text(self) -> str:
        """The whole source."""

    @abstractmethod
    def paragraph(self, line: str) -> str: ...

    @abstractmethod
    def bullets(self, items: list[str]) -> str: ...

    @abstractmethod
    def table(self, table: d.Table) -> str: ...

    @abstractmethod
    def equation(self, equation: d.Equation) -> str: ...

    @abstractmethod
    def listing(self, text: str) -> str: ...

    @abstractmethod
    def figure(self, figure: d.Figure) -> str: ...

    @abstractmethod
    def plain(self, text: str) -> str: ...

    @abstractmethod
    def strong(self, text: str) -> str: ...

    @abstractmethod
    def emphasis(self, text: str) -> str: ...

    @abstractmethod
    def code(self, text: str) -> str: ...

    @abstractmethod
    def formula(self, math: m.Math) -> str:
        """In a line."""

    @abstractmethod
    def raised(self, base: str, exponent: str) -> str:
        """Text with an exponent, which may be empty."""

    @abstractmethod
    def value(self, digits: Digits) -> str: ...
