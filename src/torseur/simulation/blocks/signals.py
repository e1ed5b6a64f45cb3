"""Signals: blocks without states, functions of time or through given points.

Each says at which times it is not smooth, so that a solver can step on them exactly. Values are formulas of parameters
(and of whatever else is in scope, where that makes sense); times are numbers or formulas of parameters.

Columns of pandas, polars and xarray as signals, told by their shape: none of these packages is needed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.annotations import Anything
from torseur.describe.fields import Number, Scalar
from torseur.describe.formulas import Formula
from torseur.errors import ModelError
from torseur.formats.files import columns_of, lines_of
from torseur.graph import Expr, Interpolation, Outside, Piecewise, exp, log, maximum, minimum, select, sin, table
from torseur.graph.functions import evaluate_piecewise
from torseur.simulation.blocks.base import Block
from torseur.simulation.blocks.context import Context

__all__ = [
    "Constant",
    "FormulaSignal",
    "Ramp",
    "Recorded",
    "Sine",
    "Spline",
    "Step",
    "Sweep",
    "as_columns",
    "number_of",
    "over_time",
]

Ends = Literal["natural", "clamped"]


class Constant(Block):
    """y = value."""

    kind = "constant"
    value: Scalar = Field(description="formula of parameters")

    def build(self, context: Context, name: str) -> Expr:
        return context.constant(self.value, "a constant")


class FormulaSignal(Block):
    """y = value, any formula of t, coordinates, speeds, inputs, parameters and results of other blocks.

    Times at which the formula jumps or has a kink are listed under `breaks`.
    """

    kind = "formula"
    value: Anything = Field(description="formula of t, coordinates, speeds, inputs, parameters, results of blocks")
    breaks: tuple[Scalar, ...] = Field((), description="times at which it is not smooth, s")

    def build(self, context: Context, name: str) -> Expr:
        context.breaks(self.breaks)
        return context.value(self.value)


def number_of(block: Block) -> float | None:
    """The number that a block always gives, whatever the parameters; None where it is none of that kind.

    >>> number_of(Constant(value=2.0)), number_of(FormulaSignal(value="30*deg/pi")), number_of(FormulaSignal(value="t"))
    (2.0, 0.16666666666666666, None)
    """
    if type(block) is Constant or (type(block) is FormulaSignal and not block.breaks):
        value = block.value
        if not isinstance(value, Formula):
            return value
        if not value.names:
            number = value.value()
            return number if math.isfinite(number) else None
    return None


class Step(Block):
    """y = before for t < time, after from then on."""

    kind = "step"
    time: Scalar = Field(0.0, description="when it steps, s")
    before: Anything = Field(0.0, description="value before")
    after: Anything = Field(1.0, description="value from then on")

    def build(self, context: Context, name: str) -> Expr:
        time = context.constant(self.time, "the time of a step")
        context.breaks([time])
        return select(context.t < time, context.value(self.before), context.value(self.after))


class Ramp(Block):
    """y = begin until `start`, then a straight line to `end` within `duration`, then y = end.

    With a slope in place of the end and without a duration it does not end.
    """

    kind = "ramp"
    start: Scalar = Field(0.0, description="when it begins to change, s")
    begin: Scalar = Field(0.0, description="value before")
    slope: Scalar | None = Field(None, description="rate of change, 1/s; alone, or with duration in place of end")
    end: Scalar | None = Field(None, description="value after, with a duration")
    duration: Scalar | None = Field(None, description="s")

    @model_validator(mode="after")
    def _one_slope(self) -> Self:
        if (self.slope is None) == (self.end is None) or (self.end is not None and self.duration is None):
            text = "a ramp needs a slope (and possibly a duration), or an end with a duration"
            raise PydanticCustomError("choice", text)
        return self

    def build(self, context: Context, name: str) -> Expr:
        begin, start = context.value(self.begin), context.constant(self.start, "the start of a ramp")
        context.breaks([start], continuous=0)
        passed = maximum(context.t - start, 0.0)
        if self.duration is not None:
            duration = context.constant(self.duration, "the duration of a ramp", least=0.0, open=True)
            context.breaks([start + duration], continuous=0)
            passed = minimum(passed, duration)
            if self.end is not None:
                return begin + (context.value(self.end) - begin) * (passed / duration)
        assert self.slope is not None
        return begin + context.value(self.slope) * passed


class Sine(Block):
    """y = offset + amplitude sin(2 pi frequency (t - start) + phase) from `start` on, offset before."""

    kind = "sine"
    amplitude: Scalar = Field(1.0, description="half the height")
    frequency: Scalar = Field(1.0, description="Hz")
    phase: Scalar = Field(0.0, description="rad")
    offset: Scalar = Field(0.0, description="mean value")
    start: Scalar | None = Field(None, description="before this time y = offset, s; without it, always on")

    def build(self, context: Context, name: str) -> Expr:
        turn = 2.0 * math.pi * context.value(self.frequency)
        amplitude, phase, offset = (context.value(x) for x in (self.amplitude, self.phase, self.offset))
        if self.start is None:
            return offset + amplitude * sin(turn * context.t + phase)
        start = context.constant(self.start, "the start of a sine")
        smooth = phase is context.graph.zero
        context.breaks([start], continuous=0 if smooth else -1)
        wave = amplitude * sin(turn * (context.t - start) + phase)
        return offset + select(context.t < start, 0.0, wave)


class Sweep(Block):
    """y = offset + amplitude sin(theta(t)): a sine whose frequency goes from `begin` to `end` within `duration`.

    Linear: theta = 2 pi (f0 s + (f1 - f0) s^2 / (2 T)). Logarithmic: theta = 2 pi f0 T (r^(s/T) - 1) / log r, r =
    f1/f0. Before, s = 0; afterwards the last frequency goes on without a jump of phase.
    """

    kind = "sweep"
    amplitude: Scalar = Field(1.0, description="half the height")
    begin: Scalar = Field(description="first frequency, Hz")
    end: Scalar = Field(description="last frequency, Hz")
    duration: Scalar = Field(description="of the sweep, s")
    start: Scalar = Field(0.0, description="s")
    offset: Scalar = Field(0.0, description="mean value")
    law: Literal["linear", "logarithmic"] = Field("linear", description="how the frequency grows")

    def build(self, context: Context, name: str) -> Expr:
        positive = self.law == "logarithmic"
        f0 = context.constant(self.begin, "the first frequency", least=0.0, open=positive)
        f1 = context.constant(self.end, "the last frequency", least=0.0, open=positive)
        T = context.constant(self.duration, "the duration of a sweep", least=0.0, open=True)
        start = context.constant(self.start, "the start of a sweep")
        context.breaks([start], continuous=0)
        context.breaks([start + T], continuous=1)
        passed = context.t - start
        s = minimum(maximum(passed, 0.0), T)
        after = maximum(passed - T, 0.0)
        if self.law == "linear" or f0 is f1:
            turns = f0 * s + (f1 - f0) * s * s / (2.0 * T)
        else:
            growth = log(f1 / f0)
            turns = f0 * T * (exp(growth * (s / T)) - 1.0) / growth
        wave = sin(2.0 * math.pi * (turns + f1 * after))
        return context.value(self.offset) + context.value(self.amplitude) * wave


class Spline(Block):
    """y through points by the cubic spline whose second derivative is continuous; beyond the ends the value holds.

    `natural` ends have no curvature, `clamped` ones no slope: then the motion starts and stops without a jump of speed.
    """

    kind = "spline"
    times: tuple[Number, ...] = Field(description="increasing, s", min_length=2)
    values: tuple[Number, ...] = Field(description="one for each time", min_length=2)
    ends: Ends = Field("natural", description="what holds at the first and last time")

    @model_validator(mode="after")
    def _points(self) -> Self:
        if len(self.times) != len(self.values):
            text = "{n} times and {m} values: expected as many of one as of the other"
            raise PydanticCustomError("points", text, {"n": len(self.times), "m": len(self.values)})
        if any(b <= a for a, b in pairwise(self.times)):
            raise PydanticCustomError("points", "expected times that increase")
        return self

    def build(self, context: Context, name: str) -> Expr:
        context.breaks([self.times[0], self.times[-1]], continuous=0 if self.ends == "natural" else 1)
        context.breaks(self.times[1:-1], continuous=2)
        return evaluate_piecewise(_cubic(self.times, self.values, self.ends), context.t)


def _cubic(times: tuple[float, ...], values: tuple[float, ...], ends: Ends) -> Piecewise:
    """The spline as a table of polynomials, flat beyond its ends."""
    from scipy.interpolate import CubicSpline

    curve = CubicSpline(times, values, bc_type=ends)
    rows = [(values[0], 0.0, 0.0, 0.0), *map(tuple, curve.c[::-1].T.tolist()), (values[-1], 0.0, 0.0, 0.0)]
    return Piecewise(tuple(times), (times[0], *times), tuple(rows))


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

    def told(self, folder: Path) -> str | None:
        fields = super().told(folder)
        return fields if fields is None or self.file is None else f"{fields} {self._read(folder)}"

    def _read(self, folder: Path) -> tuple[Sequence[float], Sequence[float]]:
        assert self.file is not None
        path = folder / self.file
        lines, columns = columns_of(_lines(path), str(path), (self.time_column, self.column))
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


def as_columns(table: Any) -> Mapping[str, Any]:
    """The columns of a table by name; a mapping as it is."""
    if isinstance(table, Mapping):
        return table
    return {str(name): table[name] for name in table.columns} if hasattr(table, "columns") else table
