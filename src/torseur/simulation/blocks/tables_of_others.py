"""Columns of pandas, polars and xarray as signals, told by their shape: none of these packages is needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from torseur.errors import ModelError

__all__ = ["columns_of", "over_time"]


def over_time(given: Any) -> Any:
    """A `table` block of a series over time; anything else as it is.

    A pandas Series has the times as its index, an xarray DataArray as the coordinate of its one dimension, a polars
    DataFrame as the first of its two columns.
    """
    if hasattr(given, "index") and hasattr(given, "to_numpy"):
        return _table(given.index, given)
    if hasattr(given, "dims") and hasattr(given, "coords"):
        if len(given.dims) != 1 or given.dims[0] not in given.coords:
            raise ModelError("a signal is an array over time", expected="one dimension", got=str(given.dims))
        return _table(given.coords[given.dims[0]], given)
    if hasattr(given, "get_column") and hasattr(given, "columns"):
        if len(given.columns) != 2:
            raise ModelError("a signal is a table of time and value", expected="two columns", got=str(given.columns))
        return _table(*(given.get_column(name) for name in given.columns))
    return given


def _table(times: Any, values: Any) -> dict[str, Any]:
    return {"table": {name: np.asarray(x, dtype=float).tolist() for name, x in (("times", times), ("values", values))}}


def columns_of(table: Any) -> Mapping[str, Any]:
    """The columns of a table by name; a mapping as it is."""
    if isinstance(table, Mapping):
        return table
    return {str(name): table[name] for name in table.columns} if hasattr(table, "columns") else table
