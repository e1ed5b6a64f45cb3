"""Tables and figures by number, alike in all writers."""

from __future__ import annotations

from torseur.views.report.document import Block, Document, Figure, Language, Section, Table
from torseur.views.report.typography import NO_BREAK

__all__ = ["Numbering"]

_NAMES = {Language.ENGLISH: ("Table", "Figure", "."), Language.FRENCH: ("Tableau", "Figure", f"{NO_BREAK}:")}


class Numbering:
    """What tables and figures of a document are called: 'Table 2.', 'Figure 1 :'."""

    def __init__(self, document: Document) -> None:
        self.table, self.figure, self.mark = _NAMES[document.language]
        self._numbers: dict[int, int] = {}
        self._counts = {Table: 0, Figure: 0}
        self._walk(document.sections)

    def _walk(self, blocks: tuple[Block, ...] | tuple[Section, ...]) -> None:
        for block in blocks:
            if isinstance(block, Section):
                self._walk(block.blocks)
            elif isinstance(block, (Table, Figure)):
                self._counts[type(block)] += 1
                self._numbers[id(block)] = self._counts[type(block)]

    def of(self, block: Table | Figure) -> str:
        name = self.table if isinstance(block, Table) else self.figure
        return f"{name}{NO_BREAK}{self._numbers[id(block)]}{self.mark}"
