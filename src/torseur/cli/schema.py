"""``torseur schema``: the JSON Schema of our model and study files."""

from __future__ import annotations

import json
from pathlib import Path

import click

__all__ = ["command"]


@click.command("schema")
@click.option(
    "--of", "what", type=click.Choice(["model", "study"]), default="model", show_default=True, help="Of which files."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write; by default it is printed.")
@click.option("--markdown", is_flag=True, help="Tables of all fields for people, instead of JSON for editors.")
def command(what: str, output: Path | None, markdown: bool) -> None:
    """Print the JSON Schema of model or study files, for editors."""
    from torseur.formats import replace_file

    text = _study(markdown) if what == "study" else _model(markdown)
    if output is None:
        click.echo(text, nl=False)
    else:
        replace_file(output, text.encode("utf-8"))


def _model(markdown: bool) -> str:
    from torseur.formats.yaml.reference import reference
    from torseur.formats.yaml.schema import schema

    return reference() if markdown else json.dumps(schema(), indent=2) + "\n"


def _study(markdown: bool) -> str:
    from torseur.simulation.study.schema import study_reference, study_schema

    return study_reference() if markdown else json.dumps(study_schema(), indent=2) + "\n"
