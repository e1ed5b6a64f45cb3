"""A fault of a description: where, what, and how bad."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

__all__ = ["Fault", "Path", "Severity", "cycle_text", "guess", "listed", "nearest", "written"]

Path = tuple[str | int, ...]
"""The way to something in a mechanism: fields and names, numbers in lists."""

MOST_LOOKED_AT = 1000
MOST_NAMED = 12


class Severity(Enum):
    """How bad a fault is."""

    ERROR = "error"
    """The description contradicts itself: nothing can be made of it."""
    WARNING = "warning"
    """It can be read, but its dynamics is not what one wants: a singular or impossible mass."""
    NOTE = "note"
    """Something to know."""


@dataclass(frozen=True)
class Fault:
    """What is wrong, where, what was expected, what was got, and what to do about it."""

    path: Path
    what: str
    expected: str | None = None
    got: str | None = None
    remedy: str | None = None
    severity: Severity = Severity.ERROR


def written(path: Path) -> str:
    """A path as text.

    >>> written(("bodies", "arm", "shapes", 0))
    'bodies.arm.shapes[0]'
    """
    text = ""
    for step in path:
        word = step if isinstance(step, int) or step.isprintable() else ascii(step)
        text += f"[{word}]" if isinstance(step, int) else f".{word}" if text else str(word)
    return text


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like a wrong one, if any does."""
    names = list(known)[:MOST_LOOKED_AT]
    close = difflib.get_close_matches(name[:100], names, n=1, cutoff=0.6)
    if close:
        return close[0]
    return next((other for other in names if other.lower() == name.lower()), None)


def guess(name: str, known: Iterable[str]) -> tuple[str | None, str | None]:
    """What to expect instead of an unknown name, and the remedy: a near name if there is one, else all of them."""
    names = list(known)
    near = nearest(name, names)
    if near is not None:
        return None, f"did you mean '{near}'?"
    if not names:
        return "none is declared", None
    return f"one of {', '.join(names[:MOST_NAMED])}{', ...' if len(names) > MOST_NAMED else ''}", None


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
