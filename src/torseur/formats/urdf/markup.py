"""XML as a tree of elements that know their line and column.

Only elements and attributes are taken. Document types, entities and references to other files are refused before
anything is made of them; size, depth and number of elements are bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from torseur.formats.faults import FileFault, shown

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
    line: int
    column: int
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> Iterator[Element]:
        """Its children of one name."""
        return (child for child in self.children if child.tag == tag)


def read_markup(data: bytes, where: str) -> Element:
    """The root element of an XML file."""
    if len(data) > LARGEST:
        raise FileFault("the file is too large", where=where, expected=f"at most {LARGEST} bytes", got=str(len(data)))
    builder = _Builder(where)
    try:
        builder.parser.Parse(data, True)
    except expat.ExpatError as error:
        text = expat.ErrorString(error.code)
        where = f"{where}:{error.lineno}:{error.offset + 1}"
        raise FileFault(f"not well-formed XML: {text}", where=where) from error
    except (LookupError, UnicodeError, ValueError) as error:
        if isinstance(error, FileFault):
            raise
        raise builder.unreadable() from error
    assert builder.root is not None  # expat demands one
    return builder.root


class _Builder:
    """What expat calls while it reads."""

    def __init__(self, where: str) -> None:
        self.where = where
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

    def fault(self, what: str, **parts: str) -> FileFault:
        line, column = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber
        return FileFault(what, where=f"{self.where}:{line}:{column + 1}", **parts)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if len(self.open) >= DEEPEST:
            raise self.fault("elements are nested too deeply", expected=f"at most {DEEPEST} levels")
        if self.count > MOST:
            raise self.fault("too many elements", expected=f"at most {MOST}")
        element = Element(tag, attributes, self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop()

    def declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ENCODINGS:
            raise self.unreadable(encoding)

    def unreadable(self, encoding: str | None = None) -> FileFault:
        got = None if encoding is None else shown(encoding)
        return FileFault(
            "an encoding that is not read", where=f"{self.where}:1:1", expected=", ".join(ENCODINGS), got=got
        )

    def refuse(self, *declared: object) -> int:
        raise self.fault(
            "document types, entities and references to other files are refused",
            remedy="remove the <!DOCTYPE ...> part and write out what its entities stand for",
        )
