"""Files of any format: read with a bound on their size, written all or nothing; their faults, collected and raised
together; names of ours for names of a file, which may hold any character.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, NoReturn

from torseur.describe.faults import Fault, nearest
from torseur.describe.formulas import RESERVED
from torseur.errors import ArgumentError, Location, ModelError

__all__ = ["LARGEST_FILE", "MOST_FAULTS", "Faults", "Mark", "Names", "beside", "contents", "legal_name", "replace_file"]

LARGEST_FILE = 5_000_000
"""Bytes."""


def beside(folder: Path, name: str, what: str) -> Path:
    """A file that a model names: in the folder of the model, or in folders inside it, and nowhere else.

    Args:
        folder: of the model.
        name: of the file.
        what: it is, in words.
    """
    path = folder / name
    if Path(name).is_absolute() or not path.resolve().is_relative_to(folder.resolve()):
        expected = "a name without a way out of the folder of the model"
        raise ModelError(f"{what} is read from beside the model only", expected=expected, got=name)
    if not path.is_file():
        raise ModelError(f"{what} was not found", where=str(path), expected="a file")
    return path


def contents(file: Path) -> bytes:
    """What is in a file, of which not more is read than a model can need."""
    try:
        with file.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ModelError(
            "the file cannot be read", where=str(file), got=error.strerror or type(error).__name__, remedy=_beside(file)
        ) from error
    if len(data) > LARGEST_FILE:
        raise ModelError("the file is too large for a model", where=str(file), expected=f"at most {LARGEST_FILE} bytes")
    return data


def _beside(file: Path) -> str | None:
    """The file that was probably meant."""
    if not file.parent.is_dir():
        return f"there is no folder {file.parent}"
    near = nearest(file.name, [other.name for other in file.parent.iterdir() if other.suffix == file.suffix])
    return None if near is None or near == file.name else f"did you mean '{near}'?"


def replace_file(file: Path, data: bytes) -> None:
    """Put data into a file: written beside it first, then moved into its place in one go."""
    target = file.resolve()
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        try:
            with beside.open("xb") as stream:
                stream.write(data)
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise ArgumentError(
            "the file cannot be written", where=str(file), got=error.strerror or type(error).__name__
        ) from error


MOST_FAULTS = 100


class Mark(NamedTuple):
    """A place in a text; both count from 1."""

    line: int
    column: int


class Faults:
    """The faults found in a file so far; reading goes on, to find the others, unless there are too many.

    >>> found = Faults("arm.yaml")
    >>> found.fault(Mark(9, 1), ("bodies", "arm"), "a negative mass")
    >>> found.fault(Mark(3, 5), (), "no such body")
    >>> print(found.error())
    2 faults
    1. arm.yaml:3:5: no such body
    2. arm.yaml:9:1: bodies.arm: a negative mass
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self._found: list[tuple[Mark, ModelError]] = []

    def __len__(self) -> int:
        return len(self._found)

    def at(self, mark: Mark) -> str:
        """``file:line:column``."""
        return f"{self.file}:{mark.line}:{mark.column}"

    def fault(
        self,
        mark: Mark,
        path: Location,
        what: str,
        *,
        expected: str | None = None,
        got: str | None = None,
        remedy: str | None = None,
    ) -> None:
        """Remember a fault; after the hundredth, give up."""
        self.add(mark, Fault(path, what, expected=expected, got=got, remedy=remedy).in_file(self.at(mark)))

    def add(self, mark: Mark, *faults: ModelError) -> None:
        """Remember faults that know their own place, or that of another file."""
        for fault in faults:
            if len(self._found) >= MOST_FAULTS:
                self.stop(mark, "too many faults; the rest is not looked at")
            self._found.append((mark, fault))

    def stop(
        self, mark: Mark, what: str, *, expected: str | None = None, got: str | None = None, remedy: str | None = None
    ) -> NoReturn:
        """Nothing can be read after this fault: raise it and all before it."""
        fault = Fault((), what, expected=expected, got=got, remedy=remedy).in_file(self.at(mark))
        self._found.append((mark, fault))
        raise self.error()

    def error(self) -> ModelError:
        """All faults as one error, in the order of the text."""
        return ModelError.of(fault for _, fault in sorted(self._found, key=lambda found: found[0]))

    def stop_if_any(self) -> None:
        """Raise what was found so far."""
        if self._found:
            raise self.error()


LONGEST = 80


class Names:
    """Hands out names: letters, digits and _, each once, as close to the wished one as can be."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken) | RESERVED
        self.changed: dict[str, str] = {}
        """Name in the file -> name given, where they differ."""
        self._next: dict[str, int] = {}

    def give(self, wished: str, beside: Iterable[str] = ("{}",)) -> str:
        """A free name; `beside` are patterns of names that must be free with it."""
        plain = re.sub(r"[^A-Za-z0-9_]", "_", wished)[:LONGEST] or "_"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        name = plain
        while any(pattern.format(name) in self.taken for pattern in beside):
            self._next[plain] = self._next.get(plain, 1) + 1
            name = f"{plain}_{self._next[plain]}"
        self.taken |= {pattern.format(name) for pattern in beside}
        if name != wished:
            self.changed[wished] = name
        return name


def legal_name(text: str, is_taken: Callable[[str], bool] = lambda _: False) -> str:
    """A name of ours that is as near as possible to a text.

    >>> legal_name("two-link arm"), legal_name("3R"), legal_name("min")
    ('two_link_arm', '_3R', 'min_')
    """
    name = re.sub("[^A-Za-z0-9_]", "_", text)[:90] or "unnamed"
    name = f"_{name}" if name[0].isdigit() else name
    while name in RESERVED or is_taken(name):
        name += "_"
    return name
