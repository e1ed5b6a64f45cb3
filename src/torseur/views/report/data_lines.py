"""Names, units, vectors and the data of records as lines of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from torseur.describe import BASE, WORLD
from torseur.describe.fields import Record
from torseur.describe.formulas import Formula
from torseur.views.report.document import Code, Inline, Line, Strong, Text, Unit
from torseur.views.report.formula_math import Symbols
from torseur.views.report.math import Fenced, Math, Row, Sign, Space
from torseur.views.report.words import Words

__all__ = ["body_name", "data_line", "joined", "unit_line", "vector"]

_MOST_FIELDS = 12
"""Data of one load, constraint or block that a table shows."""


def vector(items: Sequence[Math]) -> Math:
    """A vector, written in a line."""
    inside: list[Math] = []
    for item in items:
        inside += [Sign(","), Space(), item] if inside else [item]
    return Fenced("(", Row(tuple(inside)), ")")


def unit_line(unit: str | None) -> Line:
    return (Unit(unit),) if unit else ()


def body_name(name: str, words: Words) -> Inline:
    """As it is called in the file; base and world in words."""
    return words.phrase(name) if name in (BASE, WORLD) else Code(name)


def joined(lines: Iterable[Line], between: str = ", ") -> Line:
    """Lines one after the other."""
    found: list[Inline] = []
    for line in lines:
        found += [Text(between), *line] if found else line
    return tuple(found)


def data_line(record: Record, symbols: Symbols, words: Words) -> Line:
    """The fields of a record that are not what they are by default, by the names that files use."""
    return _some(list(_fields(record, symbols, words)), words)


def _some(lines: Sequence[Line], words: Words) -> Line:
    """Not too many, and how many more there are."""
    left = len(lines) - _MOST_FIELDS
    more = [words.say("fields.more", n=str(left))] if left > 0 else []
    return joined([*lines[:_MOST_FIELDS], *more], "; ")


def _fields(record: Record, symbols: Symbols, words: Words) -> Iterator[Line]:
    for name, field in type(record).model_fields.items():
        value = getattr(record, name)
        if field.is_required() or value != field.default:
            yield Code(name), Text(" "), *_value(value, symbols, words)


def _value(value: object, symbols: Symbols, words: Words) -> Line:
    if isinstance(value, bool):
        return words.say("word.yes" if value else "word.no")
    if isinstance(value, (int, float, Formula)):
        return symbols.scalar(value)
    if isinstance(value, Record):
        kind = getattr(value, "kind", None)
        inside = data_line(value, symbols, words)
        head: Line = (Strong(kind), Text(" ")) if isinstance(kind, str) else ()
        return (*head, Text("("), *inside, Text(")")) if inside else head
    if isinstance(value, dict):
        return _some([(Code(str(k)), Text(" "), *_value(x, symbols, words)) for k, x in value.items()], words)
    if isinstance(value, tuple):
        return Text("("), *_some([_value(x, symbols, words) for x in value], words), Text(")")
    return (Code("–" if value is None else str(value)),)
