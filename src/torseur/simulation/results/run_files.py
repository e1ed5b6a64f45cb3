"""Runs in files and as tables of other packages.

Text: columns of numbers; comment lines, which pandas (``comment="#"``) and Gnuplot skip, say what they are. Tables:
pandas, polars, xarray and netCDF, Parquet.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from torseur.describe.loads import Load
from torseur.errors import ArgumentError, MissingExtra
from torseur.simulation.results.channels import Channel, Role, labels, recorded, regrouped, restored

if TYPE_CHECKING:
    from torseur.simulation.results.result import Run

__all__ = [
    "csv_bytes",
    "netcdf_bytes",
    "parquet_bytes",
    "read_csv",
    "read_netcdf",
    "read_parquet",
    "read_res",
    "res_bytes",
    "to_pandas",
    "to_polars",
    "to_xarray",
]

Array = NDArray[np.float64]
Columns = dict[str, tuple[Channel, Array]]

LABELS_LINE = "# labels: "
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
            "the format of EasyDyn needs the first and second derivative of every coordinate",
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
    yield LABELS_LINE + labels(run)


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
    known = next((line.removeprefix(LABELS_LINE) for line in head if line.startswith(LABELS_LINE)), None)
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
        raise ArgumentError("a line of this file is not a row of numbers", where=where, got=str(error)) from None
    if not table.size:
        raise ArgumentError("there are no numbers in this file", where=where)
    return table


def _easydyn_names(width: int) -> list[str]:
    """Of a table without names: time, then q, its rate and its second derivative in turn."""
    return [TIME, *(f"{('q', 'dq', 'ddq')[k % 3]}{k // 3}" for k in range(width - 1))]


LABELS = "torseur_labels"


def to_pandas(run: Run) -> Any:
    """A DataFrame: a column per number, the time (s) as index; units and meanings by column in ``attrs``."""
    try:
        import pandas
    except ImportError:
        raise MissingExtra("pandas", extra="results", purpose="tables of a run") from None
    columns = {name: (c, values) for c in run.channels.values() for name, values in c.columns.items()}
    index = pandas.Index(run.time, name="time")
    frame = pandas.DataFrame({name: values for name, (_, values) in columns.items()}, index=index)
    frame.attrs["units"] = {"time": "s", **{name: c.unit for name, (c, _) in columns.items()}}
    frame.attrs["meanings"] = {name: c.meaning for name, (c, _) in columns.items()}
    return frame


def to_polars(run: Run) -> Any:
    """A polars DataFrame: a column ``time`` (s) and one per number."""
    try:
        import polars
    except ImportError:
        raise MissingExtra("polars", extra="polars", purpose="tables of polars") from None
    columns = {name: values for c in run.channels.values() for name, values in c.columns.items()}
    return polars.DataFrame({"time": run.time, **columns})


# -- xarray and netCDF -------------------------------------------------------------------------------------------------
def to_xarray(run: Run) -> Any:
    """A Dataset: a variable per channel over ``time``, its unit, meaning and role as attributes."""
    try:
        import xarray
    except ImportError:
        raise MissingExtra("xarray", extra="results", purpose="labelled arrays") from None
    return xarray.Dataset(_variables(run), {"time": _clock(run)}, _about(run))


_Variable = tuple[tuple[str, ...], Any, dict[str, str]]


def _variables(run: Run) -> dict[str, _Variable]:
    """For each channel its dimensions, numbers and attributes."""
    variables = {}
    for name, channel in recorded(run).items():
        dimensions = (TIME, *(f"{name}_{k}" for k in range(channel.values.ndim - 1)))
        attributes = {"units": channel.unit, "long_name": channel.meaning, "role": channel.role.value}
        variables[name] = (dimensions, channel.values, attributes)
    return variables


def _clock(run: Run) -> _Variable:
    return (TIME,), run.time, {"units": "s", "long_name": "time"}


def _about(run: Run) -> dict[str, str]:
    return {"title": str(run), "source": "Torseur"}


def netcdf_bytes(run: Run) -> bytes:
    """netCDF 4, compressed; the labels are a variable, since an attribute could not hold a large mechanism.

    Written without xarray, which takes longer to import than a small study takes to be built and run.
    """
    h5netcdf, text = _netcdf()
    stream = BytesIO()
    with h5netcdf.File(stream, "w") as file:
        file.attrs.update(_about(run))
        for name, (dimensions, values, attributes) in {TIME: _clock(run), **_variables(run)}.items():
            for dimension, size in zip(dimensions, values.shape, strict=True):
                if dimension not in file.dimensions:
                    file.dimensions[dimension] = size
            packed = {"compression": "gzip", "compression_opts": 4, "shuffle": True} if values.size else {}
            file.create_variable(name, dimensions, data=np.asarray(values, dtype=float), **packed).attrs.update(
                attributes
            )
        said = file.create_variable(LABELS, (), dtype=text, data=np.array(labels(run), dtype=object))
        said.attrs["long_name"] = "mechanism, events, info and audit as JSON"
    return stream.getvalue()


def read_netcdf(path: Path, loads: Mapping[str, type[Load]]) -> dict[str, Any]:
    """The fields of the run in a netCDF file that `netcdf_bytes` made."""
    h5netcdf, _ = _netcdf()
    try:
        with h5netcdf.File(path, "r") as file:  # as it is: a unit of seconds does not turn numbers into durations
            values = {name: variable[...] for name, variable in file.variables.items()}
    except (OSError, ValueError) as error:
        raise ArgumentError("this is not a netCDF file", where=str(path), got=str(error).splitlines()[0]) from error
    known, time = values.pop(LABELS, None), values.pop(TIME, None)
    if known is None or time is None:
        raise ArgumentError(
            "this netCDF file is not a run",
            where=str(path),
            expected=f"variables '{TIME}' and '{LABELS}'",
            got=", ".join(values),
        )
    written = known.item() if isinstance(known, np.ndarray) else known
    said = written.decode("utf-8") if isinstance(written, bytes) else str(written)
    return restored(said, np.asarray(time), {n: np.asarray(x) for n, x in values.items()}, str(path), loads)


def _netcdf() -> tuple[Any, Any]:
    """The package that writes netCDF files, and their kind of texts."""
    try:
        import h5netcdf
        import h5py
    except ImportError as error:
        raise MissingExtra(error.name or "h5netcdf", extra="results", purpose="netCDF files") from None
    return h5netcdf, h5py.string_dtype()


# -- Parquet -----------------------------------------------------------------------------------------------------------
def parquet_bytes(run: Run) -> bytes:
    """A column per number, the time (s) first; unit and meaning are metadata of a column, the rest of the file."""
    arrow, parquet = _arrow()
    fields, columns = [arrow.field(TIME, arrow.float64(), False, {"unit": "s", "meaning": "time"})], [run.time]
    for stored, channel in recorded(run).items():
        about = {"unit": channel.unit, "meaning": channel.meaning, "role": channel.role.value}
        for name, values in channel.columns.items():
            column = stored + name.removeprefix(channel.name)
            fields.append(arrow.field(column, arrow.float64(), False, about))
            columns.append(values)
    schema = arrow.schema(fields, {LABELS.encode(): labels(run).encode("utf-8")})
    stream = arrow.BufferOutputStream()
    parquet.write_table(arrow.table([arrow.array(c) for c in columns], schema=schema), stream)
    return bytes(stream.getvalue())


def read_parquet(file: Path, loads: Mapping[str, type[Load]]) -> dict[str, Any]:
    """The fields of the run in a file that `parquet_bytes` made."""
    arrow, parquet = _arrow()
    try:
        table = parquet.read_table(file)
    except (OSError, arrow.ArrowException) as error:
        raise ArgumentError("this is not a Parquet file", where=str(file), got=str(error).splitlines()[0]) from error
    known = (table.schema.metadata or {}).get(LABELS.encode())
    if known is None or TIME not in table.column_names:
        got = ", ".join(table.column_names)
        raise ArgumentError("this Parquet file is not a run", where=str(file), expected="the labels of one", got=got)
    columns = {name: np.asarray(table[name].to_numpy()) for name in table.column_names}
    time = columns.pop(TIME)
    return restored(known.decode("utf-8"), time, regrouped(columns), str(file), loads)


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("pyarrow", extra="parquet", purpose="Parquet files") from None
    return pyarrow, parquet
