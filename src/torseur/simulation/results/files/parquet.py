"""Runs as Parquet files: columns for the tools of data analysis (pandas, polars, DuckDB, Spark)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from torseur.errors import ArgumentError, MissingExtra
from torseur.simulation.results.files.labels import labels, recorded, regrouped, restored
from torseur.simulation.results.result import Run

__all__ = ["parquet_bytes", "read_parquet"]

LABELS = b"torseur_labels"
TIME = "time"


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
    schema = arrow.schema(fields, {LABELS: labels(run).encode("utf-8")})
    stream = arrow.BufferOutputStream()
    parquet.write_table(arrow.table([arrow.array(c) for c in columns], schema=schema), stream)
    return bytes(stream.getvalue())


def read_parquet(file: Path) -> Run:
    """The run in a file that `parquet_bytes` made."""
    arrow, parquet = _arrow()
    try:
        table = parquet.read_table(file)
    except (OSError, arrow.ArrowException) as error:
        raise ArgumentError("this is no Parquet file", where=str(file), got=str(error).splitlines()[0]) from error
    known = (table.schema.metadata or {}).get(LABELS)
    if known is None or TIME not in table.column_names:
        got = ", ".join(table.column_names)
        raise ArgumentError("this Parquet file is not a run", where=str(file), expected="the labels of one", got=got)
    columns = {name: np.asarray(table[name].to_numpy()) for name in table.column_names}
    time = columns.pop(TIME)
    return restored(known.decode("utf-8"), time, regrouped(columns), str(file))


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("pyarrow", extra="parquet", purpose="Parquet files") from None
    return pyarrow, parquet
