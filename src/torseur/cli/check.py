"""``torseur check``: what is in a model file, and what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from torseur.cli.options import base_option, extensions_option
from torseur.cli.summary import summary
from torseur.describe.checks import Severity
from torseur.describe.faults import printable
from torseur.describe.plain_data import plain_data
from torseur.errors import ModelError
from torseur.formats import Reading, read
from torseur.model.findings import Findings, findings

__all__ = ["command"]

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


@click.command("check")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@base_option
@extensions_option
@click.option("--strict", is_flag=True, help="End with 1 for warnings too.")
def command(file: Path, as_json: bool, base: str | None, strict: bool) -> None:
    """Say what is in a model file, and what is wrong with it.

    Ends with 1 if there are errors.
    """
    try:
        reading = read(file, base=base)
    except ModelError as error:
        if not as_json:
            raise
        _print_json({"file": str(file), "mechanism": None, "faults": [_error(one) for one in error.faults or (error,)]})
        raise click.exceptions.Exit(1) from error
    found = None if reading.errors else findings(reading.mechanism)
    if found is not None:
        reading = reading.with_faults(found.faults)
    if as_json:
        faults = [{"severity": fault.severity.value, **_parts(fault)} for fault in reading.faults]
        data = {"file": str(file), "mechanism": plain_data(reading.mechanism), "mobility": _mobility(found)}
        _print_json({**data, "faults": faults})
    else:
        lines = [*summary(reading.mechanism), *_freedom(found)]
        for line in map(printable, lines):
            click.echo(click.style(line, bold=True) if line and not line.startswith(" ") else line)
        _print_faults(reading)
    bad = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
    if any(fault.severity in bad for fault in reading.faults):
        raise click.exceptions.Exit(1)


def _freedom(found: Findings | None) -> Iterator[str]:
    """What can move, under a heading."""
    if found is not None:
        yield from ("", "mobility at the start")
        yield from (f"  {line}" for line in found.lines)


def _mobility(found: Findings | None) -> dict[str, Any] | None:
    if found is None or found.mobility is None:
        return None
    mobility = found.mobility
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
    found = [f"{count} {severity.value}{'s' * (count != 1)}" for severity, count in counts.items() if count]
    click.echo(", ".join(found) if found else "no faults found")


def _error(error: ModelError) -> dict[str, Any]:
    return {"severity": Severity.ERROR.value, **_parts(error)}


def _parts(error: ModelError) -> dict[str, Any]:
    return {name: getattr(error, name) for name in ("where", "what", "expected", "got", "remedy")}


def _print_json(data: dict[str, Any]) -> None:
    click.echo(json.dumps(data, indent=2))
