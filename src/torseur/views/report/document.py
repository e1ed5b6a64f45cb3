"""A report as data: sections of paragraphs, tables, equations and figures, which three writers print.

Whatever a user wrote (names, titles, units) stands in a record as plain text; only writers know what is special in
their language. Numbers and units are records too, since every language writes them in its own way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, Protocol

from torseur.views.report.math import Math

__all__ = [
    "Block",
    "Bullets",
    "Code",
    "Document",
    "Emphasis",
    "Equation",
    "EquationLine",
    "Figure",
    "Formula",
    "Inline",
    "Language",
    "Listing",
    "Paragraph",
    "Picture",
    "Section",
    "Strong",
    "Table",
    "Term",
    "Text",
    "Unit",
    "Value",
    "all_blocks",
    "figures",
]


class Language(Enum):
    """Of the words of a report."""

    ENGLISH = "en"
    FRENCH = "fr"


class Term(NamedTuple):
    """A word or sentence in both languages."""

    en: str
    fr: str


# -- in a line ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Text:
    """Plain words."""

    text: str


@dataclass(frozen=True)
class Strong:
    text: str


@dataclass(frozen=True)
class Emphasis:
    text: str


@dataclass(frozen=True)
class Code:
    """What was typed, or could be."""

    text: str


@dataclass(frozen=True)
class Value:
    """A number with so many digits."""

    number: float
    digits: int = 6


@dataclass(frozen=True)
class Unit:
    """As model files write it: kg m2/s."""

    text: str


@dataclass(frozen=True)
class Formula:
    math: Math


Inline = Text | Strong | Emphasis | Code | Value | Unit | Formula
Line = tuple[Inline, ...]


# -- below each other --------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Paragraph:
    line: Line


@dataclass(frozen=True)
class Bullets:
    items: tuple[Line, ...]


@dataclass(frozen=True)
class Table:
    """A caption, the headings of the columns, the rows; the columns named in `numeric` are set flush right."""

    caption: Line
    head: tuple[Line, ...]
    rows: tuple[tuple[Line, ...], ...]
    numeric: frozenset[int] = frozenset()


@dataclass(frozen=True)
class EquationLine:
    """left = right; a line without a left side goes on with the one before."""

    left: Math | None
    right: Math


@dataclass(frozen=True)
class Equation:
    lines: tuple[EquationLine, ...]


@dataclass(frozen=True)
class Listing:
    """Lines of typewriter type."""

    text: str


class Picture(Protocol):
    """Something drawn, in the forms writers ask for."""

    @property
    def name(self) -> str:
        """Of a file, without ending: letters, digits, - and _."""

    @property
    def width(self) -> float:
        """As a share of the width of the text, at most 1."""

    def svg(self) -> bytes: ...

    def pdf(self) -> bytes: ...


@dataclass(frozen=True)
class Figure:
    caption: Line
    picture: Picture


@dataclass(frozen=True)
class Section:
    title: Line
    blocks: tuple[Block, ...]
    level: int = 1


Block = Paragraph | Bullets | Table | Equation | Listing | Figure | Section


@dataclass(frozen=True)
class Document:
    """A whole report.

    Attributes:
        title: of what it is about.
        subtitle: what it is.
        language: of all words that are ours.
        sections: in order.
        date: printed below the title if it is given; without it the same input gives the same bytes.
    """

    title: Line
    subtitle: Line
    language: Language
    sections: tuple[Section, ...]
    date: str | None = None
    notes: tuple[str, ...] = field(default=())


def all_blocks(blocks: tuple[Block, ...] | tuple[Section, ...]) -> Iterator[Block]:
    """Blocks and sections with what is in them, in order."""
    for block in blocks:
        yield block
        if isinstance(block, Section):
            yield from all_blocks(block.blocks)


def figures(blocks: tuple[Block, ...] | tuple[Section, ...]) -> Iterator[Figure]:
    """All figures, in order."""
    return (block for block in all_blocks(blocks) if isinstance(block, Figure))
