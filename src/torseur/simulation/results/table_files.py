"""Runs as tables of other packages, and the files of those: pandas, xarray and netCDF, Parquet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from torseur.describe.loads import Load
from torseur.errors import ArgumentError, MissingExtra
from torseur.simulation.results.labels import labels, recorded, regrouped, restored

if TYPE_CHECKING:
    from torseur.simulation.results.result import Run

__all__ = ["netcdf_bytes", "parquet_bytes", "read_netcdf", "read_parquet", "to_pandas", "to_xarray"]

LABELS = "torseur_labels"
TIME = "time"


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


# -- xarray and netCDF -------------------------------------------------------------------------------------------------
def to_xarray(run: Run) -> Any:
    """A Dataset: a variable per channel over ``time``, its unit, meaning and role as attributes."""
    xarray = _xarray("labelled arrays")
    variables = {}
    for name, channel in recorded(run).items():
        dimensions = ("time", *(f"{name}_{k}" for k in range(channel.values.ndim - 1)))
        attributes = {"units": channel.unit, "long_name": channel.meaning, "role": channel.role.value}
        variables[name] = (dimensions, channel.values, attributes)
    time = ("time", run.time, {"units": "s", "long_name": "time"})
    return xarray.Dataset(variables, {"time": time}, {"title": str(run), "source": "Torseur"})


def netcdf_bytes(run: Run) -> bytes:
    """netCDF 4, compressed; the labels are a variable, since an attribute could not hold a large mechanism."""
    data = to_xarray(run)
    encoding: dict[str, Any] = {name: {"zlib": True, "shuffle": True, "_FillValue": None} for name in data.variables}
    data[LABELS] = ((), labels(run), {"long_name": "mechanism, events, info and audit as JSON"})
    return bytes(data.to_netcdf(engine=_engine(), encoding=encoding))


def read_netcdf(file: Path, loads: Mapping[str, type[Load]]) -> dict[str, Any]:
    """The fields of the run in a netCDF file that `netcdf_bytes` made."""
    xarray = _xarray("netCDF files")
    try:
        # Nothing is decoded: a unit of seconds must not turn numbers into durations.
        with xarray.open_dataset(file, engine=_engine(), decode_cf=False) as data:
            data.load()
    except (OSError, ValueError) as error:
        raise ArgumentError("this is no netCDF file", where=str(file), got=str(error).splitlines()[0]) from error
    if LABELS not in data:
        raise ArgumentError(
            "this netCDF file is not a run", where=str(file), expected=f"a variable '{LABELS}'", got=", ".join(data)
        )
    values = {str(name): np.asarray(data[name].values) for name in data.data_vars if name != LABELS}
    return restored(str(data[LABELS].values[()]), np.asarray(data["time"].values), values, str(file), loads)


def _xarray(purpose: str) -> Any:
    try:
        import xarray
    except ImportError:
        raise MissingExtra("xarray", extra="results", purpose=purpose) from None
    return xarray


def _engine() -> str:
    try:
        import h5netcdf  # noqa: F401
        import h5py  # noqa: F401
    except ImportError as error:
        raise MissingExtra(error.name or "h5netcdf", extra="results", purpose="netCDF files") from None
    return "h5netcdf"


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
        raise ArgumentError("this is no Parquet file", where=str(file), got=str(error).splitlines()[0]) from error
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
