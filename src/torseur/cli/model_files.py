"""Model files: ``torseur check``, what is in one and what is wrong with it; ``torseur convert``, from one format to
another; ``torseur schema``, what may stand in them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from torseur.cli.commands import ModelFile, base_option, extensions_option
from torseur.describe.bodies import BASE, WORLD
from torseur.describe.checks import Severity
from torseur.describe.faults import printable
from torseur.describe.mechanism import Mechanism
from torseur.describe.plain_data import branches, plain_data
from torseur.errors import ArgumentError, ModelError
from torseur.formats import FORMATS, Reading, replace_file, save
from torseur.model.analysis import MobilityReport, mobility_report
from torseur.simulation.study.reader import read_model

__all__ = ["check", "convert", "schema"]

WIDEST_TREE = 60
_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


@click.command("check")
@click.argument("file", type=ModelFile())
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@base_option
@extensions_option
@click.option("--strict", is_flag=True, help="Exit with code 1 for warnings too.")
def check(file: Path, as_json: bool, base: str | None, strict: bool) -> None:
    """Check a model file: what it contains, and what is wrong with it.

    Of a study it is its model. Ends with 1 if there are errors.
    """
    try:
        reading = read_model(file, base=base)
    except ModelError as error:
        if not as_json:
            raise
        _print_json({"file": str(file), "mechanism": None, "faults": [_error(one) for one in error.faults or (error,)]})
        raise click.exceptions.Exit(1) from error
    mobility = None if reading.errors else mobility_report(reading.mechanism)
    if mobility is not None:
        reading = reading.with_faults(mobility.faults)
    if as_json:
        faults = [{"severity": fault.severity.value, **_parts(fault)} for fault in reading.faults]
        data = {"file": str(file), "mechanism": plain_data(reading.mechanism), "mobility": _mobility(mobility)}
        _print_json({**data, "faults": faults})
    else:
        lines = [*_summary(reading.mechanism), *_freedom(mobility)]
        for line in map(printable, lines):
            click.echo(click.style(line, bold=True) if line and not line.startswith(" ") else line)
        _print_faults(reading)
    bad = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
    if any(fault.severity in bad for fault in reading.faults):
        raise click.exceptions.Exit(1)


def _freedom(mobility: MobilityReport | None) -> Iterator[str]:
    """What can move, under a heading."""
    if mobility is not None:
        yield from ("", "mobility at the start")
        yield from (f"  {line}" for line in mobility.lines)


def _mobility(result: MobilityReport | None) -> dict[str, Any] | None:
    if result is None or result.mobility is None:
        return None
    mobility = result.mobility
    return {
        "degrees_of_freedom": mobility.freedoms,
        "independent_coordinates": mobility.free_coordinates,
        "rows": [row.name for row in mobility.rows],
        "rank": mobility.rank,
        "redundant": [row.name for row in mobility.redundant],
        "contradictory": [row.name for row in mobility.contradictory],
        "singular": mobility.is_singular,
        "massless": list(mobility.massless),
    }


def _print_faults(reading: Reading) -> None:
    click.echo()
    for fault in reading.faults:
        click.echo(f"{click.style(fault.severity.value, fg=_COLOURS[fault.severity])}: {fault}")
    counts = {severity: sum(fault.severity is severity for fault in reading.faults) for severity in Severity}
    words = [f"{count} {severity.value}{'s' * (count != 1)}" for severity, count in counts.items() if count]
    click.echo(", ".join(words) if words else "no faults found")


def _error(error: ModelError) -> dict[str, Any]:
    return {"severity": Severity.ERROR.value, **_parts(error)}


def _parts(error: ModelError) -> dict[str, Any]:
    return {name: getattr(error, name) for name in ("where", "what", "expected", "got", "remedy")}


def _print_json(data: dict[str, Any]) -> None:
    click.echo(json.dumps(data, indent=2))


# -- the mechanism in words: its tree, its coordinates, what ties and loads it, its numbers ----------------------------
def _summary(mechanism: Mechanism) -> Iterator[str]:
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
        yield f"  not connected to the world: {', '.join(lost)}"


def _last_children(drawn: list[tuple[int, str]]) -> list[bool]:
    """For each line of a tree, whether its parent has no further child below it."""
    last, open_depths = [], set[int]()
    for depth, _ in reversed(drawn):
        open_depths = {level for level in open_depths if level <= depth}
        last.append(depth not in open_depths)
        open_depths.add(depth)
    return last[::-1]


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


MANY = 8
"""Entries of a record, such as a tyre law, that are told in a line; all are in the JSON."""


def _fields(fields: dict[str, Any]) -> str:
    return ", ".join(f"{name} {_number(value)}" for name, value in fields.items())


def _number(value: Any) -> str:
    if isinstance(value, dict):
        told = [f"{name}: {_number(item)}" for name, item in value.items()]
        more = len(told) - MANY
        return " ".join(told if more <= 0 else [*told[:MANY], f"and {more} more"])
    if isinstance(value, list):
        return "[" + ", ".join(map(_number, value)) + "]"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value).lower() if isinstance(value, bool) else str(value)


def _help() -> str:
    """With the formats there are, those of extensions too."""
    read = " ".join(ending for ending, format_ in FORMATS.items() if format_.read is not None)
    written = " ".join(ending for ending, format_ in FORMATS.items() if format_.write is not None)
    lost = "\n\n".join(f"{ending} cannot hold {f.loses}." for ending, f in FORMATS.items() if f.write and f.loses)
    return f"""Convert a model file from one format to another.

The endings say which: {read} are read, {written} are written. OUT is written whole or not at all. In .par and .urdf,
numbers stand for parameters that have a value.

{lost}
"""


@click.command("convert", help=_help())
@click.argument("source", metavar="IN", type=ModelFile())
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@base_option
@extensions_option
@click.option("--force", is_flag=True, help="Overwrite OUT if it exists.")
@click.option(
    "--lossy", is_flag=True, help="Leave out what the format of OUT cannot express, with a line for each kind."
)
def convert(source: Path, target: Path, base: str | None, force: bool, lossy: bool) -> None:
    if target.exists() and not force:
        raise ArgumentError("the file exists already", where=str(target), remedy="give --force to overwrite it")
    from torseur.simulation.study.reader import load_model

    mechanism = load_model(source, base=base)
    for note in (*mechanism.notes, *save(mechanism, target, lossy=lossy)):
        click.echo(f"note: {printable(note)}", err=True)


@click.command("schema")
@click.option(
    "--of",
    "what",
    type=click.Choice(["model", "study", "vehicle"]),
    default="model",
    show_default=True,
    help="Kind of file; for vehicles there are tables only.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write; by default it is printed.")
@click.option("--markdown", is_flag=True, help="Tables of all fields for people, instead of JSON for editors.")
def schema(what: str, output: Path | None, markdown: bool) -> None:
    """Print the JSON Schema of model or study files, for editors."""
    text = {"model": _model_schema, "study": _study_schema, "vehicle": _vehicle_tables}[what](markdown)
    if output is None:
        click.echo(text, nl=False)
    else:
        replace_file(output, text.encode("utf-8"))


def _model_schema(markdown: bool) -> str:
    from torseur.formats.yaml.schema import reference
    from torseur.formats.yaml.schema import schema as of_models

    return reference() if markdown else json.dumps(of_models(), indent=2) + "\n"


def _study_schema(markdown: bool) -> str:
    from torseur.simulation.study.writer import study_reference, study_schema

    return study_reference() if markdown else json.dumps(study_schema(), indent=2) + "\n"


def _vehicle_tables(markdown: bool) -> str:
    from torseur.packs.vehicles.document import vehicle_reference

    if not markdown:
        raise ArgumentError(
            "there is no JSON Schema of vehicle files", where="--of", remedy="add --markdown for tables"
        )
    return vehicle_reference()
