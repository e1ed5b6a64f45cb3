"""Runs as labelled arrays of xarray, and as netCDF files that any of its readers opens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from torseur.errors import ArgumentError, MissingExtra
from torseur.simulation.results.files.labels import labels, recorded, restored
from torseur.simulation.results.result import Run

__all__ = ["netcdf_bytes", "read_netcdf", "to_xarray"]

LABELS = "torseur_labels"


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


def read_netcdf(file: Path) -> Run:
    """The run in a netCDF file that `netcdf_bytes` made."""
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
    return restored(str(data[LABELS].values[()]), np.asarray(data["time"].values), values, str(file))


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
