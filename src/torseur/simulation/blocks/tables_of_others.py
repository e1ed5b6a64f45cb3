"""Columns of pandas, polars and xarray as signals, told by their shape: none of these packages is needed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.errors import ModelError

__all__ = ["columns_of", "over_time"]


def over_time(given: Any) -> Any:
    """A `table` block of a series over time; anything else as it is.

    A pandas Series has the times as its index, an xarray DataArray as the coordinate of its one dimension, a polars
    DataFrame as the first of its two columns. Times are numbers, s, or durations.
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
    return {"table": {"times": _numbers("times", np.asarray(times)), "values": _numbers("values", np.asarray(values))}}


def _numbers(name: str, given: NDArray[Any]) -> Any:
    """As numbers; durations in s, whatever they are counted in."""
    if name == "times" and given.dtype.kind == "m":
        given = given / np.timedelta64(1, "s")
    if given.dtype.kind == "O":  # columns that may lack values
        with suppress(TypeError, ValueError):
            given = given.astype(float)
    if given.dtype.kind not in "biuf":
        is_date = given.dtype.kind == "M"
        raise ModelError(
            f"a signal is numbers over time, and its {name} are none",
            expected="numbers, s, or durations" if name == "times" else "numbers",
            got=str(given.dtype),
            remedy="take the first one off: durations since then" if is_date else None,
        )
    return given.astype(float).tolist()


def columns_of(table: Any) -> Mapping[str, Any]:
    """The columns of a table by name; a mapping as it is."""
    if isinstance(table, Mapping):
        return table
    return {str(name): table[name] for name in table.columns} if hasattr(table, "columns") else table
