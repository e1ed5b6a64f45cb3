"""``torseur convert`` and ``torseur schema``: model files from one format to another, and what may stand in them."""

from __future__ import annotations

import json
from pathlib import Path

import click

from torseur.cli.commands import ModelFile, base_option, extensions_option
from torseur.describe.faults import printable
from torseur.errors import ArgumentError
from torseur.formats import FORMATS, replace_file, save

__all__ = ["convert", "schema"]


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
@click.option("--lossy", is_flag=True, help="Leave out what the format of OUT cannot hold, with a line for each kind.")
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
    from torseur.simulation.study.schema import study_reference, study_schema

    return study_reference() if markdown else json.dumps(study_schema(), indent=2) + "\n"


def _vehicle_tables(markdown: bool) -> str:
    from torseur.packs.vehicles.reference import vehicle_reference

    if not markdown:
        raise ArgumentError(
            "there is no JSON Schema of vehicle files", where="--of", remedy="add --markdown for tables"
        )
    return vehicle_reference()
