"""``torseur convert``: from one format to another."""

from __future__ import annotations

from pathlib import Path

import click

from torseur.cli.options import base_option, extensions_option
from torseur.describe.faults import printable
from torseur.errors import ArgumentError
from torseur.formats import FORMATS, load, save

__all__ = ["command"]


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
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@base_option
@extensions_option
@click.option("--force", is_flag=True, help="Overwrite OUT if it exists.")
@click.option("--lossy", is_flag=True, help="Leave out what the format of OUT cannot hold, with a line for each kind.")
def command(source: Path, target: Path, base: str | None, force: bool, lossy: bool) -> None:
    if target.exists() and not force:
        raise ArgumentError("the file exists already", where=str(target), remedy="give --force to overwrite it")
    mechanism = load(source, base=base)
    for note in (*mechanism.notes, *save(mechanism, target, lossy=lossy)):
        click.echo(f"note: {printable(note)}", err=True)
