"""A fault of a description: where, what, and how bad."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from enum import Enum

from torseur.describe.synonyms import meant
from torseur.errors import Location, ModelError, written

__all__ = ["Fault", "Location", "Severity", "cycle_text", "guess", "listed", "nearest", "printable", "shown", "written"]

MOST_LOOKED_AT = 1000
MOST_NAMED = 12
SURE = 0.75
"""How alike two names are, of 1, where one is surely a slip of the other."""


class Severity(Enum):
    """How bad a fault is."""

    ERROR = "error"
    """The description contradicts itself: nothing can be made of it."""
    WARNING = "warning"
    """It can be read, but its dynamics is not what one wants: a singular or impossible mass."""
    NOTE = "note"
    """Something to know."""


class Fault(ModelError):
    """A fault of a description; as one of a file it prints as ``file:line:column: path: message``, which editors turn
    into a link.

    Args:
        path: the way to it in the description.
        about: the name it is about; where what that stands for could not be read, the fault may only be a consequence.

    >>> fault = Fault(("bodies", "arm", "inertia", "mass"), "a negative mass", got="-2.0")
    >>> print(fault)
    a negative mass
      where: bodies.arm.inertia.mass
      got: -2.0
    >>> print(fault.in_file("arm.yaml:3:11"))
    arm.yaml:3:11: bodies.arm.inertia.mass: a negative mass
      got: -2.0
    """

    def __init__(
        self,
        path: Location,
        what: str,
        *,
        expected: str | None = None,
        got: str | None = None,
        remedy: str | None = None,
        severity: Severity = Severity.ERROR,
        about: str | None = None,
    ) -> None:
        super().__init__(what, where=path or None, expected=expected, got=got, remedy=remedy)
        self.severity = severity
        self.about = about
        self.place: str | None = None

    @property
    def path(self) -> Location:
        """The way to it in the description."""
        return self.location

    def in_file(self, place: str, path: Location | None = None) -> Fault:
        """The same fault with its place in a file.

        Args:
            place: ``file:line:column``, or what is known of it.
            path: the way to it as the file writes it, where that differs.
        """
        found = copy(self)
        found.place = place
        words = written(self.path if path is None else path)
        found.where = f"{place}: {words}" if words else place
        return found

    def text(self, flags: Mapping[str, str] | None = None) -> str:
        if self.place is None:
            return super().text(flags)
        parts = (("expected", self.expected), ("got", self.got), ("remedy", self.remedy))
        lines = [f"{self.where}: {self.what}", *(f"{label}: {text}" for label, text in parts if text is not None)]
        return printable("\n  ".join(lines))


def printable(text: str) -> str:
    """Text of a file that can be shown on a terminal: no control characters but the ends of lines."""
    return "".join(character if character.isprintable() or character == "\n" else "\ufffd" for character in text)


def shown(value: object, longest: int = 60) -> str:
    """A value as it appears in a message: quoted if it is text, cut if it is long."""
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like a wrong one, or that it stands for in other programs, if any does."""
    names = list(known)[:MOST_LOOKED_AT]
    same = next((other for other in names if other.lower() == name.lower()), None) or meant(name, names)
    close = [] if same else difflib.get_close_matches(name[:100], names, n=1, cutoff=0.6)
    return close[0] if close else same


def guess(name: str, known: Iterable[str]) -> tuple[str | None, str | None]:
    """What to expect instead of an unknown name, and the remedy: a near name if there is one, else all of them."""
    names = list(known)
    if not names:
        return "none is declared", None
    near = nearest(name, names)
    all_of_them = f"one of {', '.join(names[:MOST_NAMED])}{', ...' if len(names) > MOST_NAMED else ''}"
    if near is None:
        return all_of_them, None
    is_sure = difflib.SequenceMatcher(None, name.lower()[:100], near.lower()).ratio() >= SURE
    return None if is_sure else all_of_them, f"did you mean '{near}'?"


def listed(items: Iterable[str]) -> str:
    """A list in words, cut where it gets long."""
    names = list(items)
    rest = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def cycle_text(cycle: Sequence[str]) -> str:
    """A cycle of names, cut where it gets long.

    >>> cycle_text(["a", "b"])
    'a -> b -> a'
    """
    names = cycle if len(cycle) <= 10 else (*cycle[:9], "...")
    return " -> ".join((*names, cycle[0]))
