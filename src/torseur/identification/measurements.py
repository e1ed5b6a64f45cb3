"""Measurements: columns over time, read from a file or taken from a run, in SI.

A unit in the head of a column is a product of symbols with whole powers, as model files write them: ``N m s/rad``,
``deg/s2``, ``kg*m^2``. Angles count as a dimension, so that degrees are not taken for metres; in products such as
N m/rad they may be left out.

>>> import numpy as np
>>> time = np.linspace(0.0, 1.0, 5)
>>> data = Measurements.of({"time": time, "q1 [deg]": 90.0 * time})
>>> float(data.columns["q1"][-1]), data.units["q1"]
(1.5707963267948966, 'deg')
>>> unit_of("deg/s")
Unit(factor=0.017453292519943295, dimensions=(('rad', 1), ('s', -1)))
>>> unit_of("kN mm") == unit_of("N m")
True
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.errors import ArgumentError, MissingExtra
from torseur.simulation.results.result import Run, open_run

__all__ = ["Measurements", "Unit", "alike", "read_measurements", "unit_of"]

Dimensions = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Unit:
    """A unit.

    Attributes:
        factor: a value in it times this is one in SI.
        dimensions: powers of kg, m, s, rad, A, K that are not zero.
    """

    factor: float
    dimensions: Dimensions


_G = 9.80665
_KNOWN: dict[str, tuple[float, dict[str, int]]] = {
    "m": (1.0, {"m": 1}),
    "in": (0.0254, {"m": 1}),
    "ft": (0.3048, {"m": 1}),
    "g": (1e-3, {"kg": 1}),
    "t": (1e3, {"kg": 1}),
    "s": (1.0, {"s": 1}),
    "min": (60.0, {"s": 1}),
    "h": (3600.0, {"s": 1}),
    "rad": (1.0, {"rad": 1}),
    "deg": (math.pi / 180.0, {"rad": 1}),
    "°": (math.pi / 180.0, {"rad": 1}),
    "rev": (2.0 * math.pi, {"rad": 1}),
    "tr": (2.0 * math.pi, {"rad": 1}),
    "rpm": (2.0 * math.pi / 60.0, {"rad": 1, "s": -1}),
    "Hz": (1.0, {"s": -1}),
    "N": (1.0, {"kg": 1, "m": 1, "s": -2}),
    "Nm": (1.0, {"kg": 1, "m": 2, "s": -2}),
    "kgf": (_G, {"kg": 1, "m": 1, "s": -2}),
    "lbf": (4.4482216152605, {"kg": 1, "m": 1, "s": -2}),
    "J": (1.0, {"kg": 1, "m": 2, "s": -2}),
    "W": (1.0, {"kg": 1, "m": 2, "s": -3}),
    "Pa": (1.0, {"kg": 1, "m": -1, "s": -2}),
    "A": (1.0, {"A": 1}),
    "V": (1.0, {"kg": 1, "m": 2, "s": -3, "A": -1}),
    "K": (1.0, {"K": 1}),
    "gn": (_G, {"m": 1, "s": -2}),
    "1": (1.0, {}),
    "%": (1e-2, {}),
}
_PREFIXES = {"k": 1e3, "M": 1e6, "c": 1e-2, "m": 1e-3, "µ": 1e-6, "u": 1e-6, "d": 1e-1}
_WITH_PREFIX = {"m", "g", "s", "rad", "N", "Nm", "J", "W", "Pa", "A", "V", "Hz"}
_SYMBOL = re.compile(r"([^\d\s*/^().·-]+|1|%)(?:\^?\(?(-?\d+)\)?)?")


def unit_of(text: str) -> Unit:
    """A unit from its text; one that is not known is an error."""
    factor, total = 1.0, dict[str, int]()
    text = "1" if text.strip() == "-" else text
    above, *below = text.replace("²", "2").replace("³", "3").split("/")
    for side, part in ((1, above), *((-1, piece) for piece in below)):
        rest = _SYMBOL.sub("", part)
        if re.search(r"[^\s*().·]", rest):
            raise _unknown(text, rest.strip())
        for symbol, power in _SYMBOL.findall(part):
            size, dimensions = _symbol(symbol, text)
            n = side * int(power or 1)
            factor *= size**n
            for name, m in dimensions.items():
                total[name] = total.get(name, 0) + n * m
    return Unit(factor, tuple(sorted((name, n) for name, n in total.items() if n)))


def alike(a: Unit, b: Unit) -> bool:
    """Whether two units measure the same; an angle may be left out in products with other dimensions."""

    def without_angle(unit: Unit) -> Dimensions:
        return tuple(x for x in unit.dimensions if x[0] != "rad")

    if a.dimensions == b.dimensions:
        return True
    has_force = any(name == "kg" for name, _ in a.dimensions)
    return has_force and without_angle(a) == without_angle(b)


def _symbol(symbol: str, text: str) -> tuple[float, dict[str, int]]:
    if symbol in _KNOWN:
        return _KNOWN[symbol]
    if symbol == "kg":
        return 1.0, {"kg": 1}
    prefix, rest = _PREFIXES.get(symbol[0]), symbol[1:]
    if prefix is not None and rest in _WITH_PREFIX:
        size, dimensions = _KNOWN[rest]
        return prefix * size, dimensions
    raise _unknown(text, symbol)


def _unknown(text: str, symbol: str) -> ArgumentError:
    return ArgumentError(
        f"'{symbol}' is not a known unit",
        got=text,
        expected=f"products of {', '.join(sorted(_KNOWN))}, kg, with prefixes",
    )


Array = NDArray[np.float64]

_TIME = ("time", "t", "temps", "Time", "timestamp")
_HEAD = re.compile(r"^\s*\"?(?P<name>[^\[(\"]+?)\s*(?:[\[(](?P<unit>[^\])]*)[\])])?\s*\"?\s*$")
_TOLD = re.compile(r"^#\s*\d+:\s*(?P<name>\S+)\s*\[(?P<unit>[^\]]*)\]")


@dataclass(frozen=True, eq=False)
class Measurements:
    """What was measured.

    Attributes:
        time: (nt,), s, as recorded; it need not be regular.
        columns: name -> values (nt,), in SI; nan where nothing was measured.
        units: name -> the unit in the head of the column; none where nothing was said.
        source: where they come from, for messages.
    """

    time: Array
    columns: Mapping[str, Array]
    units: Mapping[str, str] = field(default_factory=dict)
    source: str = "measurements"

    def __post_init__(self) -> None:
        if self.time.ndim != 1 or len(self.time) < 2:
            raise ArgumentError("too few instants", where=self.source, expected="at least two", got=str(len(self.time)))
        for name, values in self.columns.items():
            if values.shape != self.time.shape:
                text = "a column has a value for every instant"
                raise ArgumentError(text, where=f"{self.source}, {name}", got=str(values.shape))

    @classmethod
    def of(cls, table: Mapping[str, ArrayLike], source: str = "measurements") -> Measurements:
        """From columns by head, ``name`` or ``name [unit]``, one of them the time."""
        columns, units, faults = dict[str, Array](), dict[str, str](), []
        for head, given in table.items():
            name, unit = _split(head)
            try:
                factor = unit_of(unit).factor if unit else 1.0
            except ArgumentError as error:
                faults.append(f"{name}: {error.what} ({unit})")
                continue
            if name in columns:
                raise ArgumentError("two columns have the same name", where=source, got=name)
            columns[name] = factor * np.asarray(given, dtype=float)
            if unit is not None:
                units[name] = unit
        if faults:
            raise ArgumentError("units that are not known", where=source, got="; ".join(faults))
        known = [name for name in _TIME if name in columns]
        if not known:
            expected = f"a column called {' or '.join(_TIME)}"
            raise ArgumentError("there is no time", where=source, expected=expected, got=", ".join(columns))
        time, unit = columns.pop(known[0]), units.pop(known[0], None)
        if unit and not alike(unit_of(unit), unit_of("s")):
            raise ArgumentError("time is in a unit of something else", where=source, expected="s, ms, min", got=unit)
        return cls(time, columns, units, source)

    @classmethod
    def of_run(cls, run: Run, names: Sequence[str] | None = None) -> Measurements:
        """The channels of a run, all or some."""
        chosen = list(run.channels) if names is None else list(names)
        columns, units = dict[str, Array](), dict[str, str]()
        for name in chosen:
            channel = run.channel(name)
            columns |= channel.columns
            units |= dict.fromkeys(channel.columns, channel.unit)
        return cls(run.time, columns, units, str(run))

    @classmethod
    def joined(cls, parts: Sequence[Measurements], pause: float = 1.0) -> Measurements:
        """Several records as one, with a gap of `pause` seconds between them; columns that not all have are left out.

        >>> one = Measurements.of({"time": [0.0, 0.1], "q": [1.0, 2.0]})
        >>> Measurements.joined([one, one]).time
        array([0. , 0.1, 1.1, 1.2])
        """
        if not parts:
            raise ArgumentError("there are no measurements to join")
        names = [n for n in parts[0].columns if all(n in p.columns for p in parts)]
        times, end = list[Array](), float(parts[0].time[0]) - pause
        for part in parts:
            times.append(part.time - part.time[0] + end + pause)
            end = float(times[-1][-1])
        columns = {n: np.concatenate([p.columns[n] for p in parts]) for n in names}
        units = {n: u for p in parts for n, u in p.units.items() if n in columns}
        return cls(np.concatenate(times), columns, units, ", ".join(dict.fromkeys(p.source for p in parts)))

    def with_columns(self, columns: Mapping[str, ArrayLike | None]) -> Measurements:
        """With some columns, in SI, in place of those there are, or beside them; None takes one away."""
        merged = {n: x for n, x in self.columns.items() if n not in columns}
        merged |= {n: np.asarray(x, dtype=float) for n, x in columns.items() if x is not None}
        return Measurements(self.time, merged, {n: u for n, u in self.units.items() if n in merged}, self.source)

    def part(self, begin: float, end: float) -> Measurements:
        """What lies between two instants, s."""
        inside = (self.time >= begin) & (self.time <= end)
        return Measurements(self.time[inside], {n: x[inside] for n, x in self.columns.items()}, self.units, self.source)

    def csv(self) -> str:
        """As text that `read_measurements` reads; values in SI again."""
        si = {n: _si_text(unit) for n, unit in self.units.items()}
        heads = [f"{n} [{si[n]}]" if si.get(n) else n for n in self.columns]
        rows = zip(self.time.tolist(), *(x.tolist() for x in self.columns.values()), strict=True)
        lines = [",".join(["time [s]", *heads]), *(",".join(map(repr, row)) for row in rows)]
        return "\n".join(lines) + "\n"


def read_measurements(path: str | os.PathLike[str]) -> Measurements:
    """Measurements from a .csv file, or a .nc file (netCDF); files of runs are read too.

    In text, columns stand between commas, semicolons or tabs. One line of names comes first, each with its unit in
    brackets, ``q1 [deg]``; a second line may hold the units alone. Lines that begin with # do not count. Cells that are
    empty or hold nan are gaps. Values without a unit are in SI.
    """
    file = Path(path)
    if not file.is_file():
        raise ArgumentError("there is no such file", where=str(file))
    ending = file.suffix.lower()
    if ending == ".nc":
        return _from_netcdf(file)
    if ending in (".res", ".parquet"):
        return Measurements.of_run(open_run(file))
    if ending not in (".csv", ".txt", ".tsv", ".dat"):
        expected = "a name that ends in .csv, .txt, .tsv, .dat, .nc, .res or .parquet"
        raise ArgumentError("measurements are not read in this format", where=str(file), expected=expected, got=ending)
    return _from_text(file)


# -- text --------------------------------------------------------------------------------------------------------------
def _from_text(file: Path) -> Measurements:
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ArgumentError("this is not a text file in UTF-8", where=str(file), got=str(error)) from None
    told = {m["name"]: m["unit"] for line in lines if (m := _TOLD.match(line))}
    body = [(k, line) for k, line in enumerate(lines, 1) if line.strip() and not line.lstrip().startswith("#")]
    if len(body) < 3:
        raise ArgumentError("there are no measurements in this file", where=str(file), expected="names, then numbers")
    first = body[0][1]
    separator = max(",;\t", key=first.count)
    decimal_comma = separator == ";"
    heads = [head.strip().strip('"') for head in first.split(separator)]
    if all(_number(head, decimal_comma) is not None for head in heads):
        raise ArgumentError("the columns have no names", where=f"{file}:{body[0][0]}", expected="a line of names")
    units, rows = _unit_line([x.strip() for x in body[1][1].split(separator)], decimal_comma), body[1:]
    if units is not None:
        heads, rows = [f"{_split(h)[0]} [{u}]" if u else h for h, u in zip(heads, units, strict=False)], body[2:]
    heads = [f"{h} [{told[h]}]" if told.get(h) else h for h in heads]
    table = np.full((len(rows), len(heads)), np.nan)
    faults = list[str]()
    for i, (number, line) in enumerate(rows):
        cells = line.split(separator)
        if len(cells) != len(heads):
            faults.append(f"line {number}: {len(cells)} cells where there are {len(heads)} columns")
            continue
        for j, cell in enumerate(cells):
            value = _number(cell, decimal_comma)
            if value is None:
                faults.append(f"line {number}, {heads[j]}: {cell.strip()!r} is not a number")
            else:
                table[i, j] = value
    if faults:
        more = f"; and {len(faults) - 8} more" if len(faults) > 8 else ""
        raise ArgumentError("some lines are not rows of numbers", where=str(file), got="; ".join(faults[:8]) + more)
    names = [_split(h)[0] for h in heads]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise ArgumentError("two columns have the same name", where=str(file), got=", ".join(twice))
    return Measurements.of(dict(zip(heads, table.T, strict=True)), str(file))


def _unit_line(cells: Sequence[str], decimal_comma: bool) -> list[str] | None:
    """The units of a line that holds nothing else."""
    if any(_number(c, decimal_comma) is not None and c not in ("", "1", "-") for c in cells) or not any(cells):
        return None
    units = [c.strip('[]() "') for c in cells]
    if all(_number(c, decimal_comma) is not None for c in cells):
        return None
    return units


def _number(cell: str, decimal_comma: bool) -> float | None:
    """A number, nan for an empty cell, None for words."""
    text = cell.strip().strip('"')
    if text.lower() in ("", "nan", "na", "null", "-"):
        return float("nan")
    try:
        return float(text.replace(",", ".") if decimal_comma else text)
    except ValueError:
        return None


def _split(head: str) -> tuple[str, str | None]:
    """``q1 [deg]`` -> q1, deg."""
    match = _HEAD.match(head)
    if match is None:
        raise ArgumentError("this is not the heading of a column", expected="name [unit]", got=repr(head))
    return match["name"].strip(), match["unit"]


def _si_text(unit: str) -> str:
    """The unit of values that were brought to SI."""
    return " ".join(f"{name}{n if n != 1 else ''}" for name, n in unit_of(unit).dimensions) if unit else ""


# -- netCDF ------------------------------------------------------------------------------------------------------------
def _from_netcdf(file: Path) -> Measurements:
    try:
        import xarray
    except ImportError:
        raise MissingExtra("xarray", extra="results", purpose="netCDF files") from None
    try:
        with xarray.open_dataset(file, engine="h5netcdf", decode_cf=False) as data:
            data.load()
    except (OSError, ValueError, ImportError) as error:
        raise ArgumentError("this is not a netCDF file", where=str(file), got=str(error).splitlines()[0]) from error
    table = dict[str, ArrayLike]()
    for name, variable in data.variables.items():
        values = np.asarray(variable.values)
        if not np.issubdtype(values.dtype, np.number) or values.ndim != 1:
            continue
        unit = variable.attrs.get("units")
        table[f"{name} [{unit}]" if unit else str(name)] = values
    return Measurements.of(table, str(file))
