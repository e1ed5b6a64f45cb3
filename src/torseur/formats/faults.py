"""Faults of model files: what is wrong, and the line and column where."""

from __future__ import annotations

from torseur.describe.faults import nearest
from torseur.errors import ModelError

__all__ = ["FileFault", "nearest", "printable", "shown"]


class FileFault(ModelError):
    """A fault of a file; it prints as ``file:line:column: path: message``, which editors turn into a link.

    >>> print(FileFault("a negative mass", where="arm.yaml:3:11: bodies.arm.inertia.mass", got="-2.0"))
    arm.yaml:3:11: bodies.arm.inertia.mass: a negative mass
      got: -2.0
    """

    def __str__(self) -> str:
        first = self.what if self.where is None else f"{self.where}: {self.what}"
        parts = (("expected", self.expected), ("got", self.got), ("remedy", self.remedy))
        return printable("\n  ".join([first, *(f"{label}: {text}" for label, text in parts if text is not None)]))


def printable(text: str) -> str:
    """Text of a file that can be shown on a terminal: no control characters but the ends of lines."""
    return "".join(character if character.isprintable() or character == "\n" else "\ufffd" for character in text)


def shown(value: object, longest: int = 60) -> str:
    """A value as it appears in a message: quoted if it is text, cut if it is long."""
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
