"""Files of any format: read with a bound on their size, written all or nothing; their faults, collected and raised
together; names of ours for names of a file, which may hold any character.

Tables of numbers as text (CSV) have cells separated by semicolons, tabs, commas or spaces; lines with # are left out.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from torseur.describe.faults import Fault, guess, nearest
from torseur.describe.formulas import RESERVED
from torseur.errors import ArgumentError, Location, ModelError

__all__ = [
    "LARGEST_FILE",
    "MOST_FAULTS",
    "Faults",
    "Mark",
    "Names",
    "beside",
    "columns_of",
    "contents",
    "grid_of",
    "legal_name",
    "lines_of",
    "replace_file",
    "table_in_file",
]

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
        expected = "a path within the folder of the model"
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


def table_in_file(folder: Path, name: str, given: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The numbers of a table of a model that stand in a file: x and values, of a grid y too.

    Only files in the folder of the model, or in folders inside it, are read, and not more of one than a model can need.

    Args:
        folder: of the model.
        name: of the file.
        given: what the model says of it: `columns`, or `grid`.
    """
    path = beside(folder, name, "the file of a table")
    try:
        lines = lines_of(contents(path).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ModelError("the file of a table is not a text file", where=str(path), expected="UTF-8") from None
    if given.get("grid") is True:
        x, y, values = grid_of(lines, str(path))
        return {"x": x, "y": y, "values": values}
    wanted = given.get("columns", (1, 2))
    is_pair = isinstance(wanted, (list, tuple)) and len(wanted) == 2
    if not is_pair or not all(isinstance(c, (str, int)) and not isinstance(c, bool) for c in wanted):
        raise ModelError("'columns' are two names or numbers", expected="[x, values]", got=str(wanted)[:60])
    x, flat = columns_of(lines, str(path), wanted)[1]
    return {"x": x, "values": flat}


def lines_of(text: str) -> list[tuple[int, str]]:
    """The lines that count, with their numbers."""
    numbered = ((k, line.strip()) for k, line in enumerate(text.splitlines(), 1))
    return [(k, line) for k, line in numbered if line and not line.startswith("#")]


def columns_of(
    lines: Sequence[tuple[int, str]], where: str, wanted: Sequence[str | int]
) -> tuple[list[int], list[list[float]]]:
    """Columns of lines of numbers, and the line each row stands on; every error says the line.

    Args:
        lines: with their numbers, as `lines_of` gives them.
        where: the name of the file.
        wanted: columns by name, where a first line of words names them, or number from 1.
    """
    if not lines:
        raise ModelError("a file without numbers", where=where, expected="lines of numbers")
    first = _cells(lines[0][1])
    named = any(_number(cell) is None for cell in first)
    places = [_place(where, lines[0][0], first if named else None, column, len(first)) for column in wanted]
    rows = lines[1:] if named else lines
    values: list[list[float]] = [[] for _ in wanted]
    for line, text in rows:
        cells = _cells(text)
        for column, place in zip(values, places, strict=True):
            value = _number(cells[place]) if place < len(cells) else None
            if value is None:
                got = cells[place][:40] if place < len(cells) else f"{len(cells)} cells"
                raise ModelError(
                    "not a number", where=f"{where}:{line}", expected=f"a finite number in column {place + 1}", got=got
                )
            column.append(value)
    return [line for line, _ in rows], values


def grid_of(lines: Sequence[tuple[int, str]], where: str) -> tuple[list[float], list[float], list[list[float]]]:
    """x, y and a row of values over y for each x: y stands in the first line, x in the first cell of the others."""
    if len(lines) < 2:
        raise ModelError("a grid needs a line of y and lines of values", where=where, got=f"{len(lines)} lines")
    first, *others = ([*_cells(text)] for _, text in lines)
    table = [first[1:], *others]
    rows: list[list[float]] = []
    for (line, _), cells in zip(lines, table, strict=True):
        numbers = [_number(cell) for cell in cells]
        if None in numbers or len(cells) != len(first) - (not rows):
            expected = f"{len(first) - (not rows)} finite numbers"
            raise ModelError(
                "not a line of a grid", where=f"{where}:{line}", expected=expected, got=" ".join(cells)[:60]
            )
        rows.append([x for x in numbers if x is not None])
    return [row[0] for row in rows[1:]], rows[0], [row[1:] for row in rows[1:]]


def _cells(line: str) -> list[str]:
    mark = next((mark for mark in (";", "\t", ",") if mark in line), None)
    return [cell.strip().strip('"').strip() for cell in (line.split(mark) if mark else line.split())]


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _place(where: str, line: int, names: list[str] | None, column: str | int, count: int) -> int:
    if isinstance(column, int) and 1 <= column <= count:
        return column - 1
    if isinstance(column, str) and names is not None and column in names:
        return names.index(column)
    expected, remedy = guess(str(column), names or ())
    if names is None or isinstance(column, int):
        expected, remedy = f"a number from 1 to {count}", None
    raise ModelError(f"no column '{column}'", where=f"{where}:{line}", expected=expected, remedy=remedy)
