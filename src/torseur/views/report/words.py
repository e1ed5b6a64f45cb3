"""Sentences of a report in its language: terms, names, units, vectors and the data of records as lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from torseur.describe import BASE, WORLD, formulas
from torseur.describe.fields import Record
from torseur.views.report.document import Code, Formula, Inline, Language, Line, Paragraph, Strong, Table, Text, Unit
from torseur.views.report.formula_math import Symbols
from torseur.views.report.kinds import KINDS
from torseur.views.report.math import Fenced, Math, Row, Sign, Space, parsed
from torseur.views.report.phrases import translated
from torseur.views.report.terms import TERMS
from torseur.views.report.typography import set_words

__all__ = ["Words", "body_name", "data_line", "joined", "unit_line", "vector"]

_PIECES = re.compile(r"(\{\w+\}|\$[^$]+\$)")


@dataclass(frozen=True)
class Words:
    """The words of one language."""

    language: Language

    def say(self, key: str, **given: Inline | Line | str) -> Line:
        """A term as a line; what is given stands where the term names it, and is never read as markup."""
        return self._line(getattr(TERMS[key], self.language.value), given)

    def paragraph(self, key: str, **given: Inline | Line | str) -> Paragraph:
        return Paragraph(self.say(key, **given))

    def table(
        self, caption: str | Line, heads: Sequence[str], rows: Iterable[tuple[Line, ...]], numeric: Iterable[int] = ()
    ) -> Table:
        """A table of terms and rows, without columns in which no row has anything."""
        head, cells = [self.say(key) if key else (Text(""),) for key in heads], list(rows)
        kept = [k for k in range(len(head)) if any(row[k] not in ((), (Text(""),)) for row in cells)]
        return Table(
            self.say(caption) if isinstance(caption, str) else caption,
            tuple(head[k] for k in kept),
            tuple(tuple(row[k] for k in kept) for row in cells),
            frozenset(kept.index(k) for k in numeric if k in kept),
        )

    def count(self, key: str, n: int) -> Line:
        """'3 bodies' or '1 body': the term has the plural, a bar, and the singular."""
        many, _, one = getattr(TERMS[key], self.language.value).partition("|")
        is_one = n == 1 or (n == 0 and self.language is Language.FRENCH)
        return self._line(one if is_one else many, {"n": str(n)})

    def phrase(self, text: str) -> Text:
        """What another module says."""
        return Text(set_words(translated(text, self.language), self.language))

    def kind(self, family: str, kind: str) -> Inline:
        """The name of a kind; one of another package is shown as files write it."""
        term = KINDS[family].get(kind)
        return Code(kind) if term is None else Text(getattr(term, self.language.value))

    def listed(self, items: Sequence[Inline | Line]) -> Line:
        """a, b and c."""
        lines = [item if isinstance(item, tuple) else (item,) for item in items]
        if len(lines) < 2:
            return lines[0] if lines else (Text("–"),)
        found: list[Inline] = []
        for k, line in enumerate(lines):
            if k:
                last = k == len(lines) - 1
                found += [Text(" "), *self.say("word.and"), Text(" ")] if last else [Text(", ")]
            found += line
        return tuple(found)

    def _line(self, text: str, given: dict[str, Inline | Line | str]) -> Line:
        found: list[Inline] = []
        for piece in _PIECES.split(set_words(text, self.language)):
            if piece.startswith("{"):
                value = given[piece[1:-1]]
                found += [Text(value)] if isinstance(value, str) else value if isinstance(value, tuple) else [value]
            elif piece.startswith("$"):
                found.append(Formula(parsed(piece[1:-1])))
            elif piece:
                found.append(Text(piece))
        return tuple(found)


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
    if isinstance(value, (int, float, formulas.Formula)):
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
