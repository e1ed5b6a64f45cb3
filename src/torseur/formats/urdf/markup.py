"""XML as a tree of elements that know their line and column, and the values of their attributes.

Only elements and attributes are taken. Document types, entities and references to other files are refused before
anything is made of them; size, depth and number of elements are bounded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import NoReturn
from xml.parsers import expat

from torseur.describe.faults import Fault, listed, nearest, shown
from torseur.errors import ModelError
from torseur.formats.files import MOST_FAULTS, Faults, Mark

__all__ = ["Element", "Report", "one_line", "path_to", "read_markup"]

LARGEST_FILE = 20_000_000
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
    if len(data) > LARGEST_FILE:
        expected = f"at most {LARGEST_FILE} bytes"
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


# -- faults, notes and values of elements ------------------------------------------------------------------------------
MOST_GROUPS = 40
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
LARGEST_NUMBER = 1e90
"""Below the 1e100 of descriptions, so that a turned vector stays below it too."""
QUARTER = math.pi / 2
NEAR = 1e-9
"""Angles this close (rad) to a multiple of pi/2 are that multiple."""


class Report:
    """Faults and notes of one file, and the numbers read on the way."""

    def __init__(self, where: str) -> None:
        self.faults = Faults(where)
        self._notes: list[str] = []
        self._snapped: list[str] = []
        self._groups: dict[str, list[str]] = {}

    # -- faults --------------------------------------------------------------------------------------------------------
    def fault(
        self,
        element: Element,
        path: str,
        what: str,
        *,
        expected: str | None = None,
        got: str | None = None,
        remedy: str | None = None,
    ) -> None:
        """Remember a fault of an element."""
        steps = (path,) if path else ()
        self.faults.fault(element.mark, steps, what, expected=expected, got=got, remedy=remedy)

    # -- notes ---------------------------------------------------------------------------------------------------------
    def note(self, text: str) -> None:
        self._notes.append(text)

    def group(self, text: str, item: str) -> None:
        """A note about several things: one line, which lists them."""
        if text not in self._groups and len(self._groups) >= MOST_GROUPS:
            text = "and more of that sort"
        self._groups.setdefault(text, []).append(item)

    @property
    def notes(self) -> tuple[str, ...]:
        grouped = [f"{text}: {listed(items)}" for text, items in self._groups.items()]
        if not self._snapped:
            return (*self._notes, *grouped)
        count = len(self._snapped)
        text = f"{count} angle{'s' if count > 1 else ''} within 1e-9 rad of a multiple of pi/2 taken as exact"
        return (f"{text}: {listed(dict.fromkeys(self._snapped))}", *self._notes, *grouped)

    # -- values --------------------------------------------------------------------------------------------------------
    def text(self, element: Element, path: str, attribute: str) -> str | None:
        """An attribute that must be there and must not be empty."""
        value = element.attributes.get(attribute, "").strip()
        if value:
            return value
        self.fault(element, path, f"<{element.tag}> needs the attribute '{attribute}'")
        return None

    def number(self, element: Element, path: str, attribute: str, default: float | None = None) -> float | None:
        """One number; none where it is absent without a default, or wrong (which is a fault)."""
        text = element.attributes.get(attribute)
        if text is None:
            return default
        numbers = self.numbers(element, path, attribute, text, 1)
        return numbers[0] if numbers else None

    def triple(
        self, element: Element, path: str, attribute: str, default: tuple[float, float, float]
    ) -> tuple[float, float, float]:
        """Three numbers."""
        text = element.attributes.get(attribute)
        numbers = None if text is None else self.numbers(element, path, attribute, text, 3)
        return (numbers[0], numbers[1], numbers[2]) if numbers else default

    def numbers(self, element: Element, path: str, attribute: str, text: str, count: int) -> list[float] | None:
        words = text.split()
        expected = "a number" if count == 1 else f"{count} numbers with spaces between"
        values = [float(word) for word in words if len(word) < 100 and NUMBER.fullmatch(word)]
        if len(words) != count or len(values) != count:
            self.fault(element, path, f"'{attribute}' of <{element.tag}> is wrong", expected=expected, got=shown(text))
            return None
        if any(not abs(value) <= LARGEST_NUMBER for value in values):
            self.fault(
                element, path, f"'{attribute}' of <{element.tag}> is too large", expected="below 1e90", got=shown(text)
            )
            return None
        return [value + 0.0 for value in values]  # no negative zeros

    def angles(self, element: Element, path: str, attribute: str) -> tuple[float, float, float]:
        """Three angles; those that were meant to be right angles are."""
        text = element.attributes.get(attribute, "0 0 0")
        values = self.numbers(element, path, attribute, text, 3)
        if values is None:
            return (0.0, 0.0, 0.0)
        roll, pitch, yaw = map(self._exact, values, text.split(), [path] * 3)
        return (roll, pitch, yaw)

    def _exact(self, value: float, word: str, path: str) -> float:
        quarters = round(value / QUARTER) if abs(value) < 1e6 else 0
        exact = quarters * QUARTER
        off = abs(value - exact)
        if off <= NEAR:
            if value != exact:
                self._snapped.append(path)
            return exact
        decimals = len(word.lower().partition("e")[0].partition(".")[2])
        if quarters and "e" not in word.lower() and decimals >= 2 and off < 10.0**-decimals:
            meant = {1: "pi/2", 2: "pi", -1: "-pi/2", -2: "-pi"}.get(quarters, f"{quarters}*pi/2")
            text = "angles printed with few digits and taken as they are; write them out for exact right angles"
            self.group(text, f"{path} {word} ({meant} = {exact!r})")
        return value

    # -- structure -----------------------------------------------------------------------------------------------------
    def one(self, element: Element, path: str, tag: str) -> Element | None:
        """The only child of a name; a second one is a fault."""
        children = list(element.all(tag))
        for other in children[1:]:
            self.fault(other, path, f"a second <{tag}>", expected="one at most")
        return children[0] if children else None

    def allowed(self, element: Element, path: str, known: Mapping[str, str]) -> None:
        """Note children and attributes that mean nothing here: they may be misspelt."""
        tags, attributes = (words.split() for words in (known["elements"], known["attributes"]))
        for child in element.children:
            if child.tag not in tags:
                self._unknown(child, path, f"<{child.tag[:40]}>", child.tag, tags)
        for name in element.attributes:
            if name not in attributes and not name.startswith("xmlns"):
                self._unknown(element, path, f"attribute '{name[:40]}' of <{element.tag}>", name, attributes)

    def _unknown(self, element: Element, path: str, what: str, name: str, known: Iterable[str]) -> None:
        close = nearest(name, known) if len(self._groups) < MOST_GROUPS else None
        hint = "" if close is None else f" (did you mean '{close}'?)"
        self.group(f"not understood and left out: {what}{hint}", f"{path or 'robot'} (line {element.mark.line})")

    def suggestion(self, name: str, known: Iterable[str]) -> str | None:
        """A remedy for a name that does not exist; no search once there are many faults, or among very many names."""
        close = nearest(name, islice(known, 1000)) if len(self.faults) < MOST_FAULTS else None
        return None if close is None else f"did you mean {shown(close)}?"


def one_line(text: str) -> str:
    """A name of a file as it can be shown: without ends of lines and control characters."""
    return "".join(character if character.isprintable() else " " for character in text).strip()


def path_to(what: str, name: str) -> str:
    """How faults and notes call a thing of the file."""
    return f"{what} {one_line(name)[:60]}".strip()
