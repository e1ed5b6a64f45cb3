"""Runs in files: netCDF (.nc), text for spreadsheets and Gnuplot (.csv), the columns of EasyDyn (.res), and Parquet.

All of them hold everything a `Run` does and give it back exactly. A file is made in memory first, since a disk that is
full must not meet a library in the middle of its work, and appears complete or not at all.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from torseur.errors import ArgumentError
from torseur.formats import replace_file

if TYPE_CHECKING:
    from torseur.simulation.results.result import Run

__all__ = ["ENDINGS", "read_run", "save_run"]

ENDINGS = (".nc", ".csv", ".res", ".parquet")


def save_run(run: Run, path: str | os.PathLike[str]) -> None:
    """Write a run to a file whose ending says the format: .nc, .csv, .res or .parquet."""
    file = Path(path)
    ending = _ending(file, "written")
    if ending == ".nc":
        from torseur.simulation.results.files.netcdf import netcdf_bytes

        data = netcdf_bytes(run)
    elif ending == ".parquet":
        from torseur.simulation.results.files.parquet import parquet_bytes

        data = parquet_bytes(run)
    else:
        from torseur.simulation.results.files.text import csv_text, res_text

        data = (csv_text(run) if ending == ".csv" else res_text(run)).encode("utf-8")
    replace_file(file, data)


def read_run(path: str | os.PathLike[str]) -> Run:
    """The run in a file, as it was saved."""
    file = Path(path)
    ending = _ending(file, "read")
    if not file.is_file():
        raise ArgumentError("there is no such file", where=str(file))
    if ending == ".nc":
        from torseur.simulation.results.files.netcdf import read_netcdf

        return read_netcdf(file)
    if ending == ".parquet":
        from torseur.simulation.results.files.parquet import read_parquet

        return read_parquet(file)
    from torseur.simulation.results.files.text import read_text

    return read_text(file, "," if ending == ".csv" else None)


def _ending(file: Path, done: str) -> str:
    ending = file.suffix.lower()
    if ending not in ENDINGS:
        raise ArgumentError(
            f"runs are not {done} in this format",
            where=str(file),
            expected=f"a name that ends in {' or '.join(ENDINGS)}",
            got=ending or "no ending",
        )
    return ending
