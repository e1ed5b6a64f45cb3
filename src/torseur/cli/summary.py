"""A mechanism in words: its tree, its coordinates, what ties and loads it, its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from torseur.describe.bodies import BASE, WORLD
from torseur.describe.mechanism import Mechanism
from torseur.describe.plain_data import branches, plain_data

__all__ = ["summary"]

WIDEST_TREE = 60


def summary(mechanism: Mechanism) -> Iterator[str]:
    """The lines that describe a mechanism; headings begin at the margin."""
    data = plain_data(mechanism)
    yield f"{data['name']}: {data['title']}" if data["title"] else data["name"]
    yield ""
    yield "tree"
    yield from _tree(mechanism, data)
    yield from _variables(data)
    yield from _closures(data)
    yield from _signals(data)
    yield from _parameters(data["parameters"])
    yield from _list("notes of the reader", [f"  {note}" for note in data["notes"]])


def _list(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield title
        yield from lines


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells, in columns."""
    if not rows:
        return []
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


# -- the tree ----------------------------------------------------------------------------------------------------------


def _tree(mechanism: Mechanism, data: dict[str, Any]) -> Iterator[str]:
    """One line a body, with lines from parents to children."""
    bodies = {entry["name"]: entry for entry in data["bodies"]}
    drawn = list(branches(mechanism))
    is_last = _last_children(drawn)
    bars: list[str] = []
    for (depth, name), last in zip(drawn, is_last, strict=True):
        del bars[max(0, depth - 1) :]
        stem = "" if depth == 0 else "└─ " if last else "├─ "
        yield f"  {''.join(bars)[:WIDEST_TREE]}{stem}{_node(name, bodies, data)}"
        if depth:
            bars.append("   " if last else "│  ")
    reached = {name for _, name in drawn}
    lost = [name for name in bodies if name not in reached]
    if lost:
        yield f"  without a way to the world: {', '.join(lost)}"


def _last_children(drawn: list[tuple[int, str]]) -> list[bool]:
    """For each line of a tree, whether its parent has no further child below it."""
    found, open_depths = [], set[int]()
    for depth, _ in reversed(drawn):
        open_depths = {level for level in open_depths if level <= depth}
        found.append(depth not in open_depths)
        open_depths.add(depth)
    return found[::-1]


def _node(name: str, bodies: dict[str, Any], data: dict[str, Any]) -> str:
    if name == WORLD:
        return name
    if name == BASE:
        own = [entry["name"] for entry in data["coordinates"] if entry["owner"] == BASE]
        parts, entry = [name, data["base"]["kind"], *own], data["base"]
    else:
        entry = bodies[name]
        parts = [name, entry["joint"], *entry["coordinates"]]
        parts += [f"(place depends on {', '.join(entry['free_form'])})"] if entry["free_form"] else []
        parts += ["(massless)"] if entry["inertia"] is None else []
    parts += [f"[frames: {', '.join(entry['frames'])}]"] if entry["frames"] else []
    return " ".join(parts)


# -- tables ------------------------------------------------------------------------------------------------------------


def _variables(data: dict[str, Any]) -> Iterator[str]:
    rows = [
        [
            entry["name"],
            entry["unit"] or "-",
            entry["owner"],
            entry["meaning"],
            f"start {_number(entry['start'])}",
            _range(entry),
        ]
        for entry in data["coordinates"]
    ]
    yield from _list(f"coordinates q ({len(rows)})", _columns(rows))
    if rows:
        yield "  signs: rotations by the right-hand rule about the named axis, translations along it"
    rows = [[entry["name"], entry["unit"] or "-", entry["owner"], entry["meaning"]] for entry in data["speeds"]]
    yield from _list(f"speeds v ({len(rows)})", _columns(rows))


def _range(entry: dict[str, Any]) -> str:
    if entry["lower"] is None and entry["upper"] is None:
        return ""
    lower, upper = ("-" if entry[end] is None else _number(entry[end]) for end in ("lower", "upper"))
    return f"from {lower} to {upper}"


def _closures(data: dict[str, Any]) -> Iterator[str]:
    loops = [
        [entry["name"], entry["joint"], " to ".join(entry["between"]), f"{entry['rows']} equations"]
        for entry in data["loops"]
    ]
    yield from _list(f"loops ({len(loops)})", _columns(loops))
    rows = [[entry["name"], entry["kind"], _fields(entry["fields"])] for entry in data["constraints"]]
    yield from _list(f"constraints ({len(rows)})", _columns(rows))
    rows = [[entry["name"], entry["kind"], _fields(entry["fields"])] for entry in data["loads"]]
    yield from _list(f"loads ({len(rows)})", _columns(rows))


def _signals(data: dict[str, Any]) -> Iterator[str]:
    rows = [
        [entry["name"], f"default {_number(entry['default'])}", entry["unit"] or "", entry["description"] or ""]
        for entry in data["inputs"]
    ]
    yield from _list(f"inputs ({len(rows)})", _columns(rows))
    rows = [[entry["name"], _size(entry), entry["unit"] or "", entry["description"] or ""] for entry in data["tables"]]
    yield from _list(f"tables ({len(rows)})", _columns(rows))
    for table in ("quantities", "outputs"):
        rows = [
            [entry["name"], f"= {_number(entry['value'])}", entry["unit"] or "", entry["description"] or ""]
            for entry in data[table]
        ]
        yield from _list(f"{table} ({len(rows)})", _columns(rows))


def _size(entry: dict[str, Any]) -> str:
    """How many points a table has, and from where to where."""
    ranges = [
        f"{axis} from {_number(entry[axis][0])} to {_number(entry[axis][-1])}" for axis in "xy" if entry.get(axis)
    ]
    return f"{' x '.join(map(str, entry['points']))} points, {', '.join(ranges)}"


def _parameters(data: dict[str, Any]) -> Iterator[str]:
    rows = [[entry["name"], _value(entry), entry["unit"] or "", entry["description"] or ""] for entry in data["set"]]
    yield from _list(f"parameters set ({len(rows)})", _columns(rows))
    rows = [[entry["name"], entry["unit"] or "", entry["description"] or ""] for entry in data["unset"]]
    yield from _list(f"parameters without a value ({len(rows)})", _columns(rows))


def _value(entry: dict[str, Any]) -> str:
    parts = [entry["formula"], None if entry["value"] is None else _number(entry["value"])]
    return "= " + " = ".join(part for part in parts if part is not None)


def _fields(fields: dict[str, Any]) -> str:
    return ", ".join(f"{name} {_number(value)}" for name, value in fields.items())


def _number(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}: {_number(item)}" for name, item in value.items())
    if isinstance(value, list):
        return "[" + ", ".join(map(_number, value)) + "]"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value).lower() if isinstance(value, bool) else str(value)
