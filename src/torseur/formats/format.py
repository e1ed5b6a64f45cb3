"""What a format of model files is, what its reader is given, and what comes of it.

A format of one's own is a `Format` in the table that `load`, `save` and the command line look up by the ending of a
file. Its reader makes a mechanism of the contents, its writer a text of a mechanism:

>>> def read_words(file: ModelFile) -> Mechanism:
...     return Mechanism(name=file.data.decode())
>>> def write_words(mechanism: Mechanism, losses: Losses) -> str:
...     for name in mechanism.bodies:
...         losses.add(("bodies", name), "words cannot hold bodies", moves=True)
...     return mechanism.name
>>> WORDS = Format("words", read_words, write_words, loses="all but the name")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath

from torseur.describe import checks
from torseur.describe.faults import Fault, Severity, listed
from torseur.describe.loads import KINDS, Load
from torseur.describe.mechanism import Mechanism
from torseur.errors import Location, ModelError, written

__all__ = ["Format", "Losses", "ModelFile", "Reading"]


@dataclass(frozen=True)
class ModelFile:
    """A file to be read.

    Attributes:
        path: as it was given.
        data: its contents.
        loads: the kinds of loads it may hold.
    """

    path: FilePath
    data: bytes
    loads: Mapping[str, type[Load]] = field(default_factory=lambda: KINDS)

    @property
    def where(self) -> str:
        """How messages call it."""
        return str(self.path)

    @property
    def name(self) -> str:
        """What a mechanism is called that has no name in the file."""
        return self.path.stem


@dataclass(frozen=True)
class Reading:
    """A mechanism out of a file, and the faults the checks find in it, each with its place in the file.

    Attributes:
        mechanism: even if it has structural faults.
        placed: gives a fault its place: ``file:line:column: path`` if the format knows lines, else ``file: path``.
        settings: how a CAGeM listing wants to be run, by its own names; other files do not say so.
    """

    mechanism: Mechanism
    placed: Callable[[Fault], Fault]
    settings: Mapping[str, float | str] | None = None
    faults: tuple[Fault, ...] = ()

    @property
    def errors(self) -> list[Fault]:
        """The faults that leave the mechanism without meaning."""
        return [fault for fault in self.faults if fault.severity is Severity.ERROR]

    def with_faults(self, faults: Iterable[Fault]) -> Reading:
        """The same with more faults."""
        return replace(self, faults=(*self.faults, *map(self.placed, faults)))

    def checked(self) -> Reading:
        """The same with the faults of its mechanism, and no others."""
        return replace(self, faults=()).with_faults(checks.faults(self.mechanism))


_REMEDY = "write .yaml, which holds every mechanism, or leave it out"


@dataclass
class Losses:
    """What cannot be written, by kind, with the ways to it in the model.

    Attributes:
        lossy: whether what is not needed for the rest may be left out.
    """

    lossy: bool = False
    _left_out: dict[tuple[str, bool], list[str]] = field(default_factory=dict)
    _refused: dict[tuple[str, str | None, bool], list[str]] = field(default_factory=dict)
    _notes: list[str] = field(default_factory=list)

    def add(self, where: str | Location, what: str, remedy: str | None = None, *, moves: bool = False) -> None:
        """Something that may be left out; `moves`: without it the mechanism moves otherwise."""
        if self.lossy:
            self._left_out.setdefault((what, moves), []).append(_words(where))
        else:
            self._refused.setdefault((what, remedy or _REMEDY, True), []).append(_words(where))

    def refuse(self, where: str | Location, what: str, remedy: str | None = None) -> None:
        """Something without which there is no mechanism left."""
        self._refused.setdefault((what, remedy, False), []).append(_words(where))

    def note(self, text: str) -> None:
        """Something that is written otherwise, and means the same."""
        self._notes.append(text)

    def stop_if_refused(self) -> None:
        if self._refused:
            lossy = {"option": "lossy", "call": "save(..., lossy=True)"}
            raise ModelError.of(
                ModelError(what, where=listed(places), remedy=remedy, **lossy if may_be_left_out else {})
                for (what, remedy, may_be_left_out), places in self._refused.items()
            )

    @property
    def notes(self) -> tuple[str, ...]:
        """One line a kind; first what is written otherwise, last what makes another mechanism of it."""
        lines = list(self._notes)
        for (what, moves), places in sorted(self._left_out.items(), key=lambda item: item[0][1]):
            lines.append(f"left out{', so that it moves otherwise' * moves}: {what} ({listed(places)})")
        return tuple(lines)


def _words(where: str | Location) -> str:
    return written(where) if isinstance(where, tuple) else where


Reader = Callable[[ModelFile], Mechanism | Reading]
"""Makes a mechanism of a file, or a `Reading` without faults if it knows where its parts stand; a file of which nothing
can be made is a `ModelError`.
"""
Writer = Callable[[Mechanism, Losses], str]
"""Makes a text of a mechanism, and says what it cannot hold."""


@dataclass(frozen=True)
class Format:
    """A format of model files.

    Attributes:
        name: in words.
        read: none if it is only written.
        write: none if it is only read.
        loses: what files of it cannot hold, in words; nothing if they hold every mechanism.
    """

    name: str
    read: Reader | None = None
    write: Writer | None = None
    loses: str = ""
