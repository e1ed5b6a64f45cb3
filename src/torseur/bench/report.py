"""What a measurement gives: sections of labelled values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Report", "Rows", "Section"]

Rows = Iterator[tuple[str, str]]


@dataclass(frozen=True)
class Section:
    """A heading and rows of a label and a value."""

    title: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Report:
    """What was measured."""

    sections: tuple[Section, ...]

    def text(self) -> str:
        """Everything, as lines of plain text."""
        width = max(len(label) for s in self.sections for label, _ in s.rows)
        parts = [[s.title, *(f"  {label:<{width}}  {value}" for label, value in s.rows)] for s in self.sections]
        return "\n\n".join("\n".join(lines) for lines in parts)
