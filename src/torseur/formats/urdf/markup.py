"""XML as a tree of elements that know their line and column.

Only elements and attributes are taken. Document types, entities and references to other files are refused before
anything is made of them; size, depth and number of elements are bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from torseur.describe.faults import Fault, shown
from torseur.errors import ModelError
from torseur.formats.faults import Faults, Mark

__all__ = ["Element", "read_markup"]

LARGEST = 20_000_000
"""Bytes of a file."""
DEEPEST = 60
MOST = 100_000
"""Elements of a file."""
ENCODINGS = ("utf-8", "utf-16", "iso-8859-1", "us-ascii")


@dataclass(frozen=True, eq=False)
class Element:
    """An element: its name, its attributes, what it holds, and the place where it opens."""

    tag: str
    attributes: dict[str, str]
    mark: Mark
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> Iterator[Element]:
        """Its children of one name."""
        return (child for child in self.children if child.tag == tag)


def read_markup(data: bytes, where: str) -> Element:
    """The root element of an XML file."""
    if len(data) > LARGEST:
        expected = f"at most {LARGEST} bytes"
        raise Fault((), "the file is too large", expected=expected, got=str(len(data))).in_file(where)
    faults = Faults(where)
    builder = _Builder(faults)
    try:
        builder.parser.Parse(data, True)
    except expat.ExpatError as error:
        text = f"not well-formed XML: {expat.ErrorString(error.code)}"
        raise Fault((), text).in_file(faults.at(Mark(error.lineno, error.offset + 1))) from error
    except ModelError:
        raise
    except (LookupError, UnicodeError, ValueError):
        builder.unreadable()
    assert builder.root is not None  # expat demands one
    return builder.root


class _Builder:
    """What expat calls while it reads."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.root: Element | None = None
        self.open: list[Element] = []
        self.count = 0
        self.parser = parser = expat.ParserCreate()
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.XmlDeclHandler = self.declaration
        parser.StartDoctypeDeclHandler = self.refuse
        parser.EntityDeclHandler = self.refuse
        parser.UnparsedEntityDeclHandler = self.refuse
        parser.ExternalEntityRefHandler = self.refuse

    @property
    def mark(self) -> Mark:
        return Mark(self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if len(self.open) >= DEEPEST:
            self.faults.stop(self.mark, "elements are nested too deeply", expected=f"at most {DEEPEST} levels")
        if self.count > MOST:
            self.faults.stop(self.mark, "too many elements", expected=f"at most {MOST}")
        element = Element(tag, attributes, self.mark)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop()

    def declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ENCODINGS:
            self.unreadable(encoding)

    def unreadable(self, encoding: str | None = None) -> NoReturn:
        got = None if encoding is None else shown(encoding)
        self.faults.stop(Mark(1, 1), "an encoding that is not read", expected=", ".join(ENCODINGS), got=got)

    def refuse(self, *declared: object) -> int:
        self.faults.stop(
            self.mark,
            "document types, entities and references to other files are refused",
            remedy="remove the <!DOCTYPE ...> part and write out what its entities stand for",
        )
