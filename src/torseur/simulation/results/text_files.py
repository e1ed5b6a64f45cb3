"""Columns of numbers as text. Comment lines, which pandas (``comment="#"``) and Gnuplot skip, say what they are.

Numbers are written with as many digits as it takes to read the same ones back.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from torseur.describe.loads import Load
from torseur.errors import ArgumentError
from torseur.simulation.results.channels import Channel, Role
from torseur.simulation.results.labels import labels, recorded, regrouped, restored

if TYPE_CHECKING:
    from torseur.simulation.results.result import Run

__all__ = ["csv_bytes", "read_csv", "read_res", "res_bytes"]

Array = NDArray[np.float64]
Columns = dict[str, tuple[Channel, Array]]

LABELS = "# labels: "
TIME = "time"


def csv_bytes(run: Run) -> bytes:
    """Comma-separated values under one line of names."""
    columns = _columns(recorded(run))
    return _text([*_comments(run, columns), ",".join([TIME, *columns]), *_rows(run.time, columns, ",")])


def res_bytes(run: Run) -> bytes:
    """The columns of EasyDyn: time, then q, dq/dt, d2q/dt2 of each coordinate; whatever else was recorded follows."""
    channels = recorded(run)
    motion = [f"{d}{coordinate.name}" for coordinate in run.of(Role.COORDINATE) for d in ("", "d", "dd")]
    missing = [name for name in motion if name not in channels]
    if missing:
        raise ArgumentError(
            "EasyDyn's format needs the first and second derivative of every coordinate",
            where=str(run),
            got=f"no channels {', '.join(missing)}",
            remedy="record accelerations; where speeds are not rates of coordinates (a floating base), use .nc or .csv",
        )
    columns = _columns({name: channels[name] for name in dict.fromkeys([*motion, *channels])})
    return _text([*_comments(run, columns), "# " + " ".join([TIME, *columns]), *_rows(run.time, columns, " ")])


def _text(lines: list[str]) -> bytes:
    return "\n".join([*lines, ""]).encode("utf-8")


def _columns(channels: Mapping[str, Channel]) -> Columns:
    return {
        name + column.removeprefix(channel.name): (channel, values)
        for name, channel in channels.items()
        for column, values in channel.columns.items()
    }


def _comments(run: Run, columns: Columns) -> Iterator[str]:
    yield f"# {' '.join(str(run).split())}"
    yield "# column: name [unit] meaning"
    yield f"# 1: {TIME} [s]"
    for k, (name, (channel, _)) in enumerate(columns.items(), 2):
        yield f"# {k}: {name} [{channel.unit}] {' '.join(channel.meaning.split())}"
    yield LABELS + labels(run)


def _rows(time: Array, columns: Columns, separator: str) -> Iterator[str]:
    numbers = [time.tolist(), *(values.tolist() for _, values in columns.values())]
    return (separator.join(map(repr, row)) for row in zip(*numbers, strict=True))


# -- reading -----------------------------------------------------------------------------------------------------------
def read_csv(file: Path, loads: Mapping[str, type[Load]]) -> dict[str, Any]:
    """The fields of a run from comma-separated values; see `_read`."""
    return _read(file, ",", loads)


def read_res(file: Path, loads: Mapping[str, type[Load]]) -> dict[str, Any]:
    """The same from columns between white space."""
    return _read(file, None, loads)


def _read(file: Path, separator: str | None, loads: Mapping[str, type[Load]]) -> dict[str, Any]:
    """The fields of a run from text; one without our labels (EasyDyn's own, measurements) has names but no units.

    Args:
        file: lines of numbers; those that begin with # are comments. A line of names may come first, also as a comment.
        separator: between columns; white space if none.
        loads: the kinds of loads the mechanism may hold.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ArgumentError("this is not a text file in UTF-8", where=str(file), got=str(error)) from None
    first = next((k for k, line in enumerate(lines) if _is_data(line, separator)), len(lines))
    head = [line for line in lines[:first] if line.strip()]
    known = next((line.removeprefix(LABELS) for line in head if line.startswith(LABELS)), None)
    table = _table(lines[first:], separator, f"{file}:{first + 1}")
    names = [name.strip(' "') for name in (head[-1] if head else "").lstrip("# ").split(separator)]
    if len(names) != table.shape[1]:
        names = _easydyn_names(table.shape[1])
    if len(set(names)) < len(names):
        raise ArgumentError("two columns have the same name", where=str(file), got=", ".join(names))
    columns = dict(zip(names, table.T, strict=True))
    time = columns.pop(names[0])
    if known is None:
        channels = [_foreign(name, values) for name, values in columns.items()]
        return {"mechanism": None, "time": time, "channels": {c.name: c for c in channels}, "info": {"file": str(file)}}
    return restored(known, time, regrouped(columns), str(file), loads)


def _foreign(name: str, values: Array) -> Channel:
    """A column that another program wrote: ``angle (deg)``, ``angle [deg]`` or just ``angle``."""
    word, _, unit = name.replace("[", "(").partition("(")
    return Channel(re.sub(r"[^\w.-]+", "_", word.strip()), unit.strip(" ])"), "", values)


def _is_data(line: str, separator: str | None) -> bool:
    try:
        float(line.split(separator)[0])
    except (ValueError, IndexError):
        return False
    return True


def _table(lines: list[str], separator: str | None, where: str) -> Array:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a table without rows is our own error, below
            table = np.loadtxt(lines, delimiter=separator, ndmin=2)
    except ValueError as error:
        raise ArgumentError("a line of this file is no row of numbers", where=where, got=str(error)) from None
    if not table.size:
        raise ArgumentError("there are no numbers in this file", where=where)
    return table


def _easydyn_names(width: int) -> list[str]:
    """Of a table without names: time, then q, its rate and its second derivative in turn."""
    return [TIME, *(f"{('q', 'dq', 'ddq')[k % 3]}{k // 3}" for k in range(width - 1))]
