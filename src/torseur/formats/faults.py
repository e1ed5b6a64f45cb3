"""Faults of model files: what is wrong, and the line and column where."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from torseur.errors import ModelError

__all__ = ["FileFault", "Path", "nearest", "shown", "written"]

Path = tuple[str | int, ...]
"""The way to something in a model: names of fields and things, numbers in lists."""


class FileFault(ModelError):
    """A fault of a file; it prints as ``file:line:column: path: message``, which editors turn into a link.

    >>> print(FileFault("a negative mass", where="arm.yaml:3:11: bodies.arm.inertia.mass", got="-2.0"))
    arm.yaml:3:11: bodies.arm.inertia.mass: a negative mass
      got: -2.0
    """

    def __str__(self) -> str:
        first = self.what if self.where is None else f"{self.where}: {self.what}"
        parts = (("expected", self.expected), ("got", self.got), ("remedy", self.remedy))
        return "\n  ".join([first, *(f"{label}: {text}" for label, text in parts if text is not None)])


def written(path: Path) -> str:
    """A path as text: ``bodies.arm.shapes[0]``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def shown(value: object, longest: int = 60) -> str:
    """A value as it appears in a message: quoted if it is text, cut if it is long."""
    text = repr(value)
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like a wrong one, if any does."""
    names = list(known)
    close = difflib.get_close_matches(name[:100], names, n=1, cutoff=0.6)
    if close:
        return close[0]
    return next((other for other in names if other.lower() == name.lower()), None)
