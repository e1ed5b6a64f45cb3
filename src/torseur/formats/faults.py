"""The faults of one file, collected and raised together."""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from torseur.describe.faults import Fault
from torseur.errors import Location, ModelError

__all__ = ["MOST_FAULTS", "Faults", "Mark"]

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
