"""Tables of numbers as text (CSV): cells separated by semicolons, tabs, commas or spaces, lines with # left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from torseur.describe.faults import guess
from torseur.errors import ModelError
from torseur.formats.files import beside, contents

__all__ = ["columns_of", "grid_of", "lines_of", "table_in_file"]


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
        raise ModelError("the file of a table is no text", where=str(path), expected="UTF-8") from None
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
    found: list[list[float]] = [[] for _ in wanted]
    for line, text in rows:
        cells = _cells(text)
        for column, place in zip(found, places, strict=True):
            value = _number(cells[place]) if place < len(cells) else None
            if value is None:
                got = cells[place][:40] if place < len(cells) else f"{len(cells)} cells"
                raise ModelError(
                    "not a number", where=f"{where}:{line}", expected=f"a finite number in column {place + 1}", got=got
                )
            column.append(value)
    return [line for line, _ in rows], found


def grid_of(lines: Sequence[tuple[int, str]], where: str) -> tuple[list[float], list[float], list[list[float]]]:
    """x, y and a row of values over y for each x: y stands in the first line, x in the first cell of the others."""
    if len(lines) < 2:
        raise ModelError("a grid needs a line of y and lines of values", where=where, got=f"{len(lines)} lines")
    first, *others = ([*_cells(text)] for _, text in lines)
    table = [first[1:], *others]
    found: list[list[float]] = []
    for (line, _), cells in zip(lines, table, strict=True):
        numbers = [_number(cell) for cell in cells]
        if None in numbers or len(cells) != len(first) - (not found):
            expected = f"{len(first) - (not found)} finite numbers"
            raise ModelError(
                "not a line of a grid", where=f"{where}:{line}", expected=expected, got=" ".join(cells)[:60]
            )
        found.append([x for x in numbers if x is not None])
    return [row[0] for row in found[1:]], found[0], [row[1:] for row in found[1:]]


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
