"""How wide the columns of a table are, where the writer has to say it."""

from __future__ import annotations

from torseur.views.report.document import Code, Emphasis, Formula, Inline, Line, Strong, Table, Text, Unit, Value
from torseur.views.report.equation_layout import width

__all__ = ["column_shares"]

_PAGE = 92.0
"""Characters of a line of a table."""
_GAP = 2.5


def column_shares(table: Table) -> list[float | None]:
    """For each column its share of the width of the text, or None where it is as wide as its contents.

    No column is narrower than its longest word, as far as there is room; what is left is shared by the lengths of what
    has to be broken.
    """
    rows = (table.head, *table.rows)
    columns = range(len(table.head))
    whole = [max(sum(map(_length, row[k])) for row in rows) for k in columns]
    least = [max(_longest_word(row[k]) for row in rows) for k in columns]
    room = _PAGE - _GAP * len(whole)
    if sum(whole) <= room:
        return [None] * len(whole)
    least = [min(size, 0.6 * room) for size in least]
    left = max(room - sum(least), 0.0)
    # The square root: long columns take more lines rather than all of the room.
    wishes = [(a - b) ** 0.5 if a > b else 0.0 for a, b in zip(whole, least, strict=True)]
    sizes = [size + left * wish / max(sum(wishes), 1e-9) for size, wish in zip(least, wishes, strict=True)]
    scale = min(1.0, room / sum(sizes))
    return [
        None if size >= natural or k in table.numeric else scale * size / _PAGE
        for k, (size, natural) in enumerate(zip(sizes, whole, strict=True))
    ]


def _length(inline: Inline) -> float:
    """In characters."""
    match inline:
        case Formula(math):
            return 2.1 * width(math)
        case Value(_, digits):
            return digits + 3.0
        case Code(text):
            return 1.2 * len(text)
        case Text(text) | Strong(text) | Emphasis(text) | Unit(text):
            return float(len(text))


def _longest_word(line: Line) -> float:
    """What must not be broken, in characters; formulas are broken at spaces only, as words are."""
    longest = 4.0
    for inline in line:
        if isinstance(inline, (Text, Strong, Emphasis)):
            longest = max([longest, *(float(len(word)) for word in inline.text.split())])
        elif isinstance(inline, Code):
            longest = max([longest, *(1.2 * len(word) for word in inline.text.split())])
        else:
            longest = max(longest, _length(inline))
    return longest
