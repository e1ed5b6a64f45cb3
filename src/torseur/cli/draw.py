"""``torseur draw``: the kinematic scheme of a mechanism as a picture."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from torseur.cli.options import base_option, extensions_option
from torseur.describe.formulas import Formula
from torseur.errors import ArgumentError, GraphError, ModelError

__all__ = ["command"]


@click.command("draw")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Where to; FILE.svg by default.")
@click.option(
    "--pose", multiple=True, metavar="NAME=VALUE,...", help="Coordinates, rad and m: q1=0.3,q2=pi/4,q3=30*deg."
)
@click.option(
    "--set", "parameters", multiple=True, metavar="NAME=VALUE,...", help="Values of parameters: d2=0.4,r4=0.5."
)
@base_option
@extensions_option
def command(
    file: Path, output: Path | None, pose: tuple[str, ...], parameters: tuple[str, ...], base: str | None
) -> None:
    """Draw the kinematic scheme of a mechanism.

    The picture is SVG. Coordinates that are not given are where they start, or where loops close; lengths and angles
    without value are replaced by typical ones, which the picture and the output name.
    """
    from torseur.formats import load, replace_file
    from torseur.views.scheme import draw_scheme

    target = output or Path(f"{file.stem}.svg")
    if target.suffix.lower() != ".svg":
        raise ArgumentError("only SVG is written", where=str(target), expected="a name that ends in .svg")
    picture = draw_scheme(load(file, base=base), pose=_numbers(pose), parameters=_numbers(parameters))
    replace_file(target, picture.svg.encode("utf-8"))
    click.echo(f"{target} written")
    for note in picture.notes:
        click.echo(f"note: {note}")


def _numbers(given: Iterable[str]) -> dict[str, float]:
    """name=value pairs; a value is a number or a formula without names."""
    found: dict[str, float] = {}
    for pair in (pair for text in given for pair in text.split(",") if pair.strip()):
        name, mark, value = (part.strip() for part in pair.partition("="))
        if not mark or not name:
            raise ArgumentError("not a pair", expected="name=value", got=pair.strip())
        try:
            formula = Formula(value)
            if formula.names:
                raise ArgumentError(f"the value of '{name}' is no number", got=", ".join(sorted(formula.names)))
            found[name] = formula.value()
        except (ModelError, GraphError) as error:
            raise ArgumentError(f"the value of '{name}' is no number", got=value or "nothing") from error
    return found
