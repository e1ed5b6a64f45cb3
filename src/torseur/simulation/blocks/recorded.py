"""Signals through given points, typed in or read from a table of numbers in a file (CSV)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.fields import Number, Scalar
from torseur.errors import ModelError
from torseur.formats.csv_tables import columns_of, lines_of
from torseur.graph import Expr, Interpolation, Outside, Piecewise, table
from torseur.graph.piecewise import evaluate_piecewise
from torseur.simulation.blocks.base import Block
from torseur.simulation.blocks.context import Context

__all__ = ["Recorded", "read_columns"]

LARGEST = 100_000_000
"""Bytes of a file that is still read."""

_CONTINUOUS = {"held": -1, "linear": 0, "monotone": 1}


class Recorded(Block):
    """y through points, from lists or from two columns of a file; beyond its ends the value holds.

    `linear`: straight lines. `monotone`: cubics with a continuous slope that do not overshoot (Fritsch & Carlson 1980).
    `held`: each value until the next time. Times are shifted by `start` and values multiplied by `scale`. In a file,
    numbers are separated by commas, semicolons or tabs; lines that begin with # and empty ones do not count, and a
    first line of words names the columns.
    """

    kind = "table"
    times: tuple[Number, ...] | None = Field(None, description="increasing, s")
    values: tuple[Number, ...] | None = Field(None, description="one for each time")
    file: str | None = Field(None, max_length=1000, description="in place of both: a file, from the study's folder")
    time_column: str | int = Field(1, description="of the file: name, or number from 1")
    column: str | int = Field(2, description="of the file: name, or number from 1")
    between: Literal["linear", "monotone", "held"] = Field("linear", description="how it passes between points")
    start: Scalar = Field(0.0, description="added to the times, s")
    scale: Scalar = Field(1.0, description="multiplies the values")

    @model_validator(mode="after")
    def _points(self) -> Self:
        if (self.file is None) == (self.times is None) or (self.times is None) != (self.values is None):
            raise PydanticCustomError("choice", "give times and values, or a file")
        if self.times is not None and self.values is not None:
            if len(self.times) != len(self.values) or len(self.times) < 2:
                raise PydanticCustomError("points", "expected at least two times and as many values")
            if any(b <= a for a, b in pairwise(self.times)):
                raise PydanticCustomError("points", "expected times that increase")
        return self

    def build(self, context: Context, name: str) -> Expr:
        x, y = self._read(context.folder) if self.file is not None else (self.times or (), self.values or ())
        start = context.constant(self.start, "the start of a table")
        context.breaks([start + time for time in x], continuous=_CONTINUOUS[self.between])
        when = context.t - start
        if self.between == "held":
            rows = tuple((value,) for value in (y[0], *y))
            curve = evaluate_piecewise(Piecewise(tuple(x), (x[0], *x), rows), when)
        else:
            kind = Interpolation.LINEAR if self.between == "linear" else Interpolation.MONOTONE_CUBIC
            curve = table(when, x, y, kind, Outside.HOLD)
        return context.value(self.scale) * curve

    def _read(self, folder: Path) -> tuple[Sequence[float], Sequence[float]]:
        assert self.file is not None
        path = folder / self.file
        lines, columns = read_columns(path, (self.time_column, self.column))
        x, y = columns
        for k, (a, b) in enumerate(pairwise(x)):
            if b <= a:
                raise ModelError(
                    "the times of a table must increase",
                    where=f"{path}:{lines[k + 1]}",
                    expected=f"more than {a:.9g}",
                    got=f"{b:.9g}",
                )
        if len(x) < 2:
            raise ModelError("a table needs two points", where=str(path), got=f"{len(x)} lines of numbers")
        return x, y


def read_columns(path: Path, wanted: Sequence[str | int]) -> tuple[list[int], list[list[float]]]:
    """Columns of a file of numbers, and the line each row stands on; every error says the line."""
    return columns_of(_lines(path), str(path), wanted)


def _lines(path: Path) -> list[tuple[int, str]]:
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST + 1)  # what a file says of its size need not be true: /dev/zero has none
        text = data.decode("utf-8-sig") if len(data) <= LARGEST else ""
    except (OSError, ValueError) as error:
        raise ModelError(
            "a file cannot be read", where=str(path), expected="a file of text (UTF-8)", got=str(error)
        ) from None
    if len(data) > LARGEST:
        raise ModelError("a file is too large", where=str(path), expected=f"at most {LARGEST} bytes")
    return lines_of(text)
