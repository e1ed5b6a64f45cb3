"""Roads of OpenCRG files (`.crg`, ASAM OpenCRG 1.2): heights on a grid along a reference line, as plain text.

======  =============================================================================================  ========
u, v    way along the reference line, and to the left of it                                             m
phi     heading of the line: that of row i leads from point i - 1 to point i, that of the first is none  rad
s, b    slope of the line, read as phi is; banking at each point                                         m/m
z       heights of the grid, (nu, nv)                                                                    m
======  =============================================================================================  ========

The line is a polygon, and heights are those of the file over it, with the sum of slopes for k = 1 .. i:

    (x, y)_i = (x, y)_(i-1) + du (cos phi_i, sin phi_i),   h(u_i, v) = z_i(v) + b_i v + sum of du s_k           (R.5)

Beyond its ends and edges the road is as high as there, as OpenCRG has it by default; where a cross section has no value
at its sides it is as high as the last one that has. A straight line leaves the grid as it is. A bent one is sampled
on a grid along x and y: at each of its points the nearest point of the line gives u, v, and (R.5) is taken straight
between points. Between points both are bicubic splines, on which rigid wheels roll; OpenCRG's tools are bilinear there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from torseur.describe.faults import guess
from torseur.describe.fields import Number
from torseur.describe.mechanism import LookupTable
from torseur.errors import ModelError
from torseur.formats.files import Faults, Mark, beside, contents
from torseur.packs.roads.kind import Height, RoadKind

__all__ = ["CrgRoad", "OpenCrg", "read_crg"]

Array = NDArray[np.float64]

HEADER_WIDTH, RECORD_WIDTH = 72, 80
"""Characters of a line that count, above and below the line of $$."""
WIDTHS = {"R": 10, "D": 20}
"""Characters of a number, by the second letter of the format."""
ROAD_KEYS = frozenset(
    f"reference_line_{name}"
    for name in (
        *(
            f"{at}_{what}"
            for at in ("start", "end")
            for what in ("u", "x", "y", "z", "phi", "s", "b", "lon", "lat", "alt")
        ),
        *(f"offset_{what}" for what in ("x", "y", "z", "phi")),
        "increment",
    )
) | {"long_section_v_right", "long_section_v_left", "long_section_v_increment"}
OPTIONS_AS_TAKEN = {
    "border_mode_u": 2.0,
    "border_mode_v": 2.0,
    "border_offset_u": 0.0,
    "border_offset_v": 0.0,
    "border_smooth_ubeg": 0.0,
    "border_smooth_uend": 0.0,
    "refline_continuation": 0.0,
}
"""Options that change heights, with the one value that is read: all are OpenCRG's defaults."""
SECTIONS = ("CT", "ROAD_CRG", "ROAD_CRG_MPRO", "KD_DEFINITION", "ROAD_CRG_OPTS", "ROAD_CRG_MODS", "ROAD_CRG_FILE")
CLOSE = 1e-3
"""What the end of the line may be off the one that the file says, as a share of its length."""
MOST_POINTS = 250_000
"""Of a grid along x and y."""
STRAIGHT = 1e-9
"""Headings that differ by less are one, rad."""


@dataclass(frozen=True)
class CrgRoad:
    """What a file says: points of the line (x, y), positions v across, and heights (nu, nv) with slope and banking."""

    u: Array
    x: Array
    y: Array
    phi: Array
    v: Array
    z: Array

    @property
    def is_straight(self) -> bool:
        return bool(np.ptp(self.phi) < STRAIGHT)

    def height(self, x: Array, y: Array) -> Array:
        """Of places in the axes of the file: the nearest point of the line, then straight between points."""
        u, v = self.along(x, y)
        i = np.clip(np.searchsorted(self.u, u, side="right") - 1, 0, self.u.size - 2)
        j = np.clip(np.searchsorted(self.v, v, side="right") - 1, 0, self.v.size - 2)
        a = np.clip((u - self.u[i]) / (self.u[i + 1] - self.u[i]), 0.0, 1.0)
        b = np.clip((v - self.v[j]) / (self.v[j + 1] - self.v[j]), 0.0, 1.0)
        z = self.z
        first, second = (1 - b) * z[i, j] + b * z[i, j + 1], (1 - b) * z[i + 1, j] + b * z[i + 1, j + 1]
        found: Array = (1 - a) * first + a * second
        return found

    def along(self, x: Array, y: Array) -> tuple[Array, Array]:
        """u and v of places: the foot on the nearest piece of the line."""
        px, py = self.x[:-1], self.y[:-1]
        du = np.diff(self.u)
        cx, cy = np.diff(self.x) / du, np.diff(self.y) / du
        u, v = np.empty(x.size), np.empty(x.size)
        step = max(1, 4_000_000 // px.size)
        for k in range(0, x.size, step):
            X, Y = x[k : k + step, None] - px, y[k : k + step, None] - py
            s = np.clip(X * cx + Y * cy, 0.0, du)
            off = (X - s * cx) ** 2 + (Y - s * cy) ** 2
            best = np.argmin(off, axis=1)
            rows = np.arange(best.size)
            u[k : k + step] = self.u[best] + s[rows, best]
            side = cx[best] * Y[rows, best] - cy[best] * X[rows, best]
            v[k : k + step] = np.where(side >= 0.0, 1.0, -1.0) * np.sqrt(off[rows, best])
        return u, v


class OpenCrg(RoadKind):
    """The road of an OpenCRG file: heights along a reference line, straight or bent; beyond its edges it is held."""

    kind = "open_crg"
    file: str = Field(max_length=1000, description=".crg file beside the vehicle, as plain text (LRFI, LDFI)")
    at_origin: bool = Field(
        True,
        strict=True,
        description="whether the reference line begins at the origin, at height 0, along x, as OpenCRG has it by "
        "default; false: where the file puts it",
    )
    spacing: Number | None = Field(
        None,
        gt=0.0,
        description="of the grid along x and y on which a bent road is sampled, m; by default as the file's",
    )

    def height(self, name: str, folder: Path | None) -> Height:
        if folder is None:
            raise ModelError("a road of a file, without a folder to look for it", got=self.file)
        path = beside(folder, self.file, "the file of a road")
        road = read_crg(contents(path), str(path))
        key = f"{name}_heights"
        if not road.is_straight:
            return self._sampled(road, key)
        z = road.z - road_start(road) if self.at_origin else road.z
        table = _table(road.u - road.u[0], road.v, z)
        if self.at_origin:
            return Height(f"table(x, y, {key})", {key: table})
        phi = road.phi[0]
        x0, y0, c, s = (f"({float(k)!r})" for k in (road.x[0], road.y[0], np.cos(phi), np.sin(phi)))
        u, v = f"{c}*(x - {x0}) + {s}*(y - {y0})", f"{c}*(y - {y0}) - {s}*(x - {x0})"
        return Height(f"table({u}, {v}, {key})", {key: table})

    def _sampled(self, road: CrgRoad, key: str) -> Height:
        """A bent road on a grid along x and y of its own frame."""
        c, s = (np.cos(road.phi[0]), np.sin(road.phi[0])) if self.at_origin else (1.0, 0.0)
        x0, y0 = (road.x[0], road.y[0]) if self.at_origin else (0.0, 0.0)
        edges = np.array([road.v[0], road.v[-1]])
        X = (road.x[:, None] - np.sin(road.phi)[:, None] * edges - x0).ravel()
        Y = (road.y[:, None] + np.cos(road.phi)[:, None] * edges - y0).ravel()
        X, Y = c * X + s * Y, c * Y - s * X
        step = self.spacing or float(min(np.diff(road.u).min(), np.diff(road.v).min()))
        xs, ys = (np.arange(k.min() - step, k.max() + 2 * step, step) for k in (X, Y))
        if xs.size * ys.size > MOST_POINTS:
            raise ModelError(
                "the grid on which this bent road would be sampled has too many points",
                where=self.file,
                expected=f"at most {MOST_POINTS}",
                got=f"{xs.size} x {ys.size}",
                remedy="a larger spacing, or a shorter piece of the road",
            )
        gx, gy = (k.ravel() for k in np.meshgrid(xs, ys, indexing="ij"))
        z = road.height(x0 + c * gx - s * gy, y0 + s * gx + c * gy).reshape(xs.size, ys.size)
        return Height(f"table(x, y, {key})", {key: _table(xs, ys, z - road_start(road) if self.at_origin else z)})


def road_start(road: CrgRoad) -> float:
    """Height of the beginning of the line, m."""
    return float(np.interp(0.0, road.v, road.z[0]))


def _table(x: Array, y: Array, z: Array) -> LookupTable:
    fields = {"x": tuple(x.tolist()), "y": tuple(y.tolist()), "values": tuple(map(tuple, z.tolist()))}
    return LookupTable.model_validate(fields | {"between": "smooth", "unit": "m"})


# -- reading -----------------------------------------------------------------------------------------------------------
@dataclass
class _Header:
    """Sections of the header: entries with their lines."""

    road: dict[str, float] = field(default_factory=dict)
    options: dict[str, float] = field(default_factory=dict)
    columns: list[tuple[int, str]] = field(default_factory=list)
    format: str = "KRBI"
    u_step: float | None = None
    line: int = 0


def read_crg(data: bytes, where: str = "text") -> CrgRoad:
    """The road of the contents of a file; all that is wrong with its header is told at once."""
    head, payload = _cut(data)
    faults = Faults(where)
    header = _header(head, faults)
    if "B" in header.format[2:3] or b"\0" in payload:
        remedy = "write it as plain text (LRFI or LDFI), as crg_write of OpenCRG's tools does"
        faults.stop(Mark(header.line or 1, 1), "binary data are not read", got=header.format, remedy=remedy)
    columns = list(_columns(header, faults))
    faults.stop_if_any()
    first = head.count(b"\n") + 1
    rows = _rows(payload.decode("latin-1"), first, WIDTHS[header.format[1]], len(columns), faults)
    faults.stop_if_any()
    return _road(header, columns, rows, faults)


def _cut(data: bytes) -> tuple[bytes, bytes]:
    """Above and below the line of $$ that ends the header."""
    found = re.search(rb"(?m)^\$\$[^\n]*(\n|\Z)", data)
    return (data, b"") if found is None else (data[: found.end()], data[found.end() :])


def _header(head: bytes, faults: Faults) -> _Header:
    header, section = _Header(), ""
    for k, raw in enumerate(head.decode("latin-1").splitlines(), 1):
        text = raw[:HEADER_WIDTH]
        if text.startswith("$"):
            name = re.match(r"\$([A-Za-z]\w*)", text)
            section = name.group(1).upper() if name else ""
            if name and section not in SECTIONS:
                faults.fault(Mark(k, 1), (), f"a section that is not known: ${section}", expected=", ".join(SECTIONS))
            continue
        text = text.partition("!")[0].strip()
        if not text or text.startswith("*") or section in ("", "CT", "ROAD_CRG_MPRO"):
            continue
        _entry(header, section, k, text, faults)
    return header


def _entry(header: _Header, section: str, k: int, text: str, faults: Faults) -> None:
    mark = Mark(k, 1)
    if section == "KD_DEFINITION":
        _definition(header, k, text, faults)
    elif section == "ROAD_CRG_FILE":
        faults.fault(mark, (), "data in another file are not read", got=text, remedy="name that file")
    elif section == "ROAD_CRG_MODS":
        remedy = "apply them with OpenCRG's tools (crg_mods), and leave them out"
        faults.fault(mark, (), "modifiers are not applied", got=text, remedy=remedy)
    else:
        name, _, value = (part.strip() for part in text.partition("="))
        key, number = name.lower(), _number(value)
        table = header.road if section == "ROAD_CRG" else header.options
        if section == "ROAD_CRG" and key not in ROAD_KEYS:
            expected, near = guess(key, ROAD_KEYS)
            faults.fault(mark, (), f"unknown parameter '{name}'", expected=expected, remedy=near)
        elif number is None:
            faults.fault(mark, (), f"'{name}' is not a number", expected="NAME = a number", got=value or "nothing")
        elif key in table:
            faults.fault(mark, (), f"'{name}' is given twice")
        elif section == "ROAD_CRG_OPTS" and number != OPTIONS_AS_TAKEN.get(key, number):
            expected = f"{OPTIONS_AS_TAKEN[key]:g}, OpenCRG's default"
            faults.fault(mark, (), f"this value of the option '{name}' is not read", expected=expected, got=value)
        else:
            table[key] = number


def _definition(header: _Header, k: int, text: str, faults: Faults) -> None:
    mark, (kind, _, rest) = Mark(k, 1), text.partition(":")
    if kind == "#":
        header.format, header.line = rest.strip().upper(), k
        if not re.fullmatch(r"[LK][RD][FB]I?", header.format):
            expected = "LRFI or LDFI: numbers of 10 or 20 characters"
            faults.fault(mark, (), "a format that is not known", expected=expected, got=rest.strip())
            header.format = "LRFI"
    elif kind.upper() == "U":
        parts = [_number(part.strip()) for part in rest.split(",")]
        header.u_step = parts[3] if len(parts) > 3 else None
    elif kind.upper() == "D":
        header.columns.append((k, rest.partition(",")[0].strip()))
    else:
        faults.fault(mark, (), "a line of the data definition that is not known", expected="#:, U: or D:", got=text)


def _columns(header: _Header, faults: Faults) -> Iterator[tuple[str, float]]:
    """What each column is: phi, slope, banking, or z with its v."""
    first, step = (header.road.get(f"long_section_v_{name}") for name in ("right", "increment"))
    forms = set()
    for k, name in header.columns:
        mark, words = Mark(k, 1), " ".join(name.lower().split())
        known = re.fullmatch(r"reference line (phi|slope|banking)", words)
        at, number = re.fullmatch(r"long section at v = ?(.+)", words), re.fullmatch(r"long section (\d+)", words)
        if known:
            yield known.group(1), 0.0
        elif at and _number(at.group(1)) is not None:
            forms.add("v")
            yield "z", float(at.group(1))
        elif number:
            forms.add("number")
            if first is None or step is None:
                expected = "LONG_SECTION_V_RIGHT and LONG_SECTION_V_INCREMENT"
                faults.fault(mark, (), "where this long section is, is not said", expected=expected, got=name)
            yield "z", (first or 0.0) + (int(number.group(1)) - 1) * (step or 0.0)
        else:
            expected = "long section N, long section at v = ..., or reference line phi, slope or banking"
            faults.fault(mark, (), "a channel that is not known", expected=expected, got=name)
    if not forms:
        faults.fault(Mark(header.line or 1, 1), (), "a road without long sections", expected="D:long section 1,m")
    if len(forms) == 2:
        faults.fault(Mark(header.columns[0][0], 1), (), "long sections by number and by v in one file")


def _rows(text: str, first: int, width: int, count: int, faults: Faults) -> Array:
    """Rows of numbers of a fixed width, each beginning on a line of its own; what begins with * is no number."""
    rows: list[list[float]] = []
    row: list[float] = []
    for k, line in enumerate(text.splitlines(), first):
        if not line.strip():
            continue
        for at in range(0, len(line.rstrip()), width):
            cell = line[at : at + width].strip()
            value = np.nan if cell.startswith("*") else _number(cell)
            if value is None:
                expected = f"numbers of {width} characters each"
                faults.fault(Mark(k, at + 1), (), "not a number", expected=expected, got=cell or "spaces")
                value = np.nan
            row.append(value)
        is_short = len(row) < count and len(line.rstrip()) <= RECORD_WIDTH - width
        if is_short or len(row) > count:
            faults.fault(Mark(k, 1), (), "a row of another length", expected=f"{count} numbers", got=str(len(row)))
        if is_short or len(row) >= count:
            rows.append((row + [np.nan] * count)[:count])
            row = []
    if row:
        faults.fault(Mark(first + text.count("\n"), 1), (), "the last row is not whole", expected=f"{count} numbers")
    return np.array(rows, dtype=float).reshape(len(rows), count)


def _road(header: _Header, columns: list[tuple[str, float]], rows: Array, faults: Faults) -> CrgRoad:
    given, mark = header.road, Mark(header.line or 1, 1)
    count = len(rows)
    if count < 2:
        faults.stop(mark, "a road of fewer than two cross sections", expected="at least 2", got=str(count))
    u = _ways(header, count, mark, faults)
    du = float(u[1] - u[0])
    ends = ("phi", "slope", "banking")
    keys = dict(zip(ends, ("phi", "s", "b"), strict=True))
    phi, slope, banking = (_along(given, columns, rows, what, key) for what, key in keys.items())
    if not any(name == "phi" for name, _ in columns):
        phi[:] = _heading_between(given)
    for name, values in zip(ends, (phi, slope, banking), strict=True):
        if not np.isfinite(values).all():
            i = int(np.argmin(np.isfinite(values)))
            faults.stop(mark, f"cross section {i + 1} has no {name}", expected="a number in every row, but the first")
    x, y, rise = (
        start + np.concatenate([[0.0], np.cumsum(du * step[1:])])
        for start, step in zip(
            (given.get(f"reference_line_start_{k}", 0.0) for k in "xyz"), (np.cos(phi), np.sin(phi), slope), strict=True
        )
    )
    _check_end(given, x, y, u, mark, faults)
    v = np.array([at for name, at in columns if name == "z"])
    z = rows[:, [k for k, (name, _) in enumerate(columns) if name == "z"]]
    order = np.argsort(v)
    v, z = v[order], z[:, order]
    if v.size < 2 or not (np.diff(v) > 0.0).all():
        got = ", ".join(f"{k:g}" for k in v[:8])
        faults.stop(
            mark, "long sections at the same place, or only one", expected="two or more, each at its v", got=got
        )
    return CrgRoad(u, x, y, phi, v, _filled(z, faults, mark) + banking[:, None] * v + rise[:, None])


def _ways(header: _Header, count: int, mark: Mark, faults: Faults) -> Array:
    """u of the rows, from what the file says of beginning, end and increment."""
    start, end, step = (header.road.get(f"reference_line_{k}") for k in ("start_u", "end_u", "increment"))
    step = header.u_step if step is None else step
    begin = start or 0.0
    if step is None and end is not None:
        step = (end - begin) / (count - 1)
    if step is None or not step > 0.0:
        got = "none" if step is None else f"{step:g}"
        faults.stop(
            mark, "the way between cross sections is not known", expected="REFERENCE_LINE_INCREMENT, m", got=got
        )
    found: Array = np.array(begin + step * np.arange(count), dtype=float)
    if end is not None and abs(found[-1] - end) > 0.5 * step:
        expected = f"{(end - begin) / step + 1:.6g} by REFERENCE_LINE_END_U and REFERENCE_LINE_INCREMENT"
        faults.stop(mark, "the number of cross sections is another", expected=expected, got=str(count))
    return found


def _along(given: dict[str, float], columns: list[tuple[str, float]], rows: Array, what: str, key: str) -> Array:
    """A channel of the line; a constant of the header where there is none. phi and slope have no first value."""
    start = given.get(f"reference_line_start_{key}", 0.0)
    place = next((k for k, (name, _) in enumerate(columns) if name == what), None)
    if place is None:
        return np.full(len(rows), start)
    found: Array = rows[:, place].copy()
    if what != "banking":
        found[0] = found[1]
    return found


def _heading_between(given: dict[str, float]) -> float:
    """Of a straight line: what the header says, or from its beginning to its end."""
    if "reference_line_start_phi" in given:
        return given["reference_line_start_phi"]
    x0, y0, x1, y1 = (given.get(f"reference_line_{at}_{k}", 0.0) for at in ("start", "end") for k in "xy")
    has_end = "reference_line_end_x" in given or "reference_line_end_y" in given
    return float(np.arctan2(y1 - y0, x1 - x0)) if has_end else 0.0


def _check_end(given: dict[str, float], x: Array, y: Array, u: Array, mark: Mark, faults: Faults) -> None:
    for key, values in (("x", x), ("y", y)):
        wanted = given.get(f"reference_line_end_{key}")
        if wanted is not None and abs(values[-1] - wanted) > CLOSE * (u[-1] - u[0]):
            text = f"the line does not lead to REFERENCE_LINE_END_{key.upper()}"
            faults.stop(mark, text, expected=f"{wanted:g}", got=f"{values[-1]:.6g}")


def _filled(z: Array, faults: Faults, mark: Mark) -> Array:
    """Cross sections that begin or end without a value have the nearest one there."""
    made = z.copy()
    for i, row in enumerate(made):
        there = np.nonzero(np.isfinite(row))[0]
        if not there.size or not np.isfinite(row[there[0] : there[-1] + 1]).all():
            expected = "values without gaps, but at the sides"
            faults.stop(mark, f"cross section {i + 1} has no height somewhere", expected=expected)
        row[: there[0]], row[there[-1] + 1 :] = row[there[0]], row[there[-1]]
    return made


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None
