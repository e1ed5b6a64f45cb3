"""``torseur view``: a run or a mechanism live in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from torseur.cli.options import extensions_option

if TYPE_CHECKING:
    from torseur.describe import Mechanism
    from torseur.simulation.results.result import Run

__all__ = ["command"]

RUNS = (".nc", ".csv", ".res", ".parquet")


@click.command("view")
@click.argument("path", metavar="RUN_OR_MODEL", type=click.Path(path_type=Path))
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Port of the server on this machine; a free one by default."
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--sticks", is_flag=True, help="Bars and joints in place of shapes.")
@extensions_option
def command(path: Path, port: int | None, no_browser: bool, sticks: bool) -> None:
    """Show a run or a mechanism in 3-D in the browser.

    RUN_OR_MODEL is a file of a run (.nc .csv .res .parquet), a folder of results, or a model or study file; a run is
    played, a mechanism is moved by sliders.
    """
    from torseur.cli.results import open_result
    from torseur.simulation.study.reader import read_study
    from torseur.views.scene import view

    shown: Run | Mechanism
    parameters: dict[str, float] = {}
    if path.is_dir() or path.suffix.lower() in RUNS:
        shown = open_result(path)
    else:
        study = read_study(path).study
        shown, parameters = study.model, dict(study.parameters)
    view(
        shown,
        port=port,
        parameters=parameters,
        browser=not no_browser,
        ready=lambda address: click.echo(f"{address} (Ctrl-C to end)"),
        sticks=sticks or None,
        folder=path.parent,
    )
