"""``torseur schema``: the JSON Schema of our model files."""

from __future__ import annotations

import json
from pathlib import Path

import click

__all__ = ["command"]


@click.command("schema")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write; by default it is printed.")
@click.option("--markdown", is_flag=True, help="Tables of all fields for people, instead of JSON for editors.")
def command(output: Path | None, markdown: bool) -> None:
    """Print the JSON Schema of model files, for editors."""
    from torseur.formats import replace_file
    from torseur.formats.yaml_reference import reference
    from torseur.formats.yaml_schema import schema

    text = reference() if markdown else json.dumps(schema(), indent=2) + "\n"
    if output is None:
        click.echo(text, nl=False)
    else:
        replace_file(output, text.encode("utf-8"))
