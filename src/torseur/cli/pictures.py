"""``torseur draw`` and ``torseur view``: a mechanism as a kinematic scheme, or with its runs live in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from torseur.cli.assignments import numbers
from torseur.cli.commands import ModelFile, base_option, extensions_option
from torseur.errors import ArgumentError

if TYPE_CHECKING:
    from torseur.describe import Mechanism
    from torseur.simulation.results.result import Run

__all__ = ["draw", "view"]

RUNS = (".nc", ".csv", ".res", ".parquet")


@click.command("draw")
@click.argument("file", type=ModelFile())
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Where to; FILE.svg by default.")
@click.option(
    "--pose", multiple=True, metavar="NAME=VALUE,...", help="Coordinates, rad and m: q1=0.3,q2=pi/4,q3=30*deg."
)
@click.option(
    "--set", "parameters", multiple=True, metavar="NAME=VALUE,...", help="Values of parameters: d2=0.4,r4=0.5."
)
@base_option
@extensions_option
def draw(file: Path, output: Path | None, pose: tuple[str, ...], parameters: tuple[str, ...], base: str | None) -> None:
    """Draw the kinematic scheme of a mechanism.

    The picture is SVG. Coordinates that are not given are where they start, or where loops close; lengths and angles
    without value are replaced by typical ones, which the picture and the output name.
    """
    from torseur.formats import replace_file
    from torseur.simulation.study.reader import load_model
    from torseur.views.scheme import draw_scheme

    target = output or Path(f"{file.stem}.svg")
    if target.suffix.lower() != ".svg":
        raise ArgumentError("only SVG is written", where=str(target), expected="a name that ends in .svg")
    mechanism = load_model(file, base=base)
    picture = draw_scheme(mechanism, pose=numbers(pose, "--pose"), parameters=numbers(parameters, "--set"))
    replace_file(target, picture.svg.encode("utf-8"))
    click.echo(f"{target} written")
    for note in picture.notes:
        click.echo(f"note: {note}")


@click.command("view")
@click.argument("path", metavar="RUN_OR_MODEL", type=ModelFile())
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Port of the server on this machine; a free one by default."
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--sticks", is_flag=True, help="Bars and joints in place of shapes.")
@extensions_option
def view(path: Path, port: int | None, no_browser: bool, sticks: bool) -> None:
    """Show a run or a mechanism in 3-D in the browser.

    RUN_OR_MODEL is a file of a run (.nc .csv .res .parquet), a folder of results, or a model or study file; a run is
    played, a mechanism is moved by sliders.
    """
    from torseur.cli.results import open_result
    from torseur.simulation.study.reader import read_study
    from torseur.views.scene import view as in_browser

    shown: Run | Mechanism
    parameters: dict[str, float] = {}
    if path.is_dir() or path.suffix.lower() in RUNS:
        shown = open_result(path)
    else:
        study = read_study(path).study
        shown, parameters = study.model, dict(study.parameters)
    in_browser(
        shown,
        port=port,
        parameters=parameters,
        browser=not no_browser,
        ready=lambda address: click.echo(f"{address} (Ctrl-C to end)"),
        sticks=sticks or None,
        folder=path.parent,
    )
