"""Runs as tables of pandas."""

from __future__ import annotations

from typing import Any

from torseur.errors import MissingExtra
from torseur.simulation.results.result import Run

__all__ = ["to_pandas"]


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
