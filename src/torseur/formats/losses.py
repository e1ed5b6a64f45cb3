"""What a format cannot hold: left out with a note if that is asked for, else refused; all of it at once."""

from __future__ import annotations

from dataclasses import dataclass, field

from torseur.describe.faults import listed
from torseur.errors import ModelError, Path, written

__all__ = ["Losses"]

_REMEDY = "write .yaml, which holds every mechanism, or leave it out: --lossy, save(..., lossy=True)"


@dataclass
class Losses:
    """What cannot be held, by kind, with the ways to it in the model.

    Attributes:
        lossy: whether what is not needed for the rest may be left out.
    """

    lossy: bool = False
    _left_out: dict[tuple[str, bool], list[str]] = field(default_factory=dict)
    _refused: dict[tuple[str, str | None], list[str]] = field(default_factory=dict)
    _notes: list[str] = field(default_factory=list)

    def add(self, where: str | Path, what: str, remedy: str | None = None, *, moves: bool = False) -> None:
        """Something that may be left out; `moves`: without it the mechanism moves otherwise."""
        if self.lossy:
            self._left_out.setdefault((what, moves), []).append(_words(where))
        else:
            self.refuse(where, what, remedy or _REMEDY)

    def refuse(self, where: str | Path, what: str, remedy: str | None = None) -> None:
        """Something without which there is no mechanism left."""
        self._refused.setdefault((what, remedy), []).append(_words(where))

    def note(self, text: str) -> None:
        """Something that is written otherwise, and means the same."""
        self._notes.append(text)

    def stop_if_refused(self) -> None:
        if self._refused:
            raise ModelError.of(
                ModelError(what, where=listed(places), remedy=remedy)
                for (what, remedy), places in self._refused.items()
            )

    @property
    def notes(self) -> tuple[str, ...]:
        """One line a kind; first what is written otherwise, last what makes another mechanism of it."""
        lines = list(self._notes)
        for (what, moves), places in sorted(self._left_out.items(), key=lambda item: item[0][1]):
            lines.append(f"left out{', so that it moves otherwise' * moves}: {what} ({listed(places)})")
        return tuple(lines)


def _words(where: str | Path) -> str:
    return written(where) if isinstance(where, tuple) else where
