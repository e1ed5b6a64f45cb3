"""``torseur compare``: where two runs differ."""

from __future__ import annotations

from pathlib import Path

import click

from torseur.cli.commands import extensions_option

__all__ = ["compare"]


@click.command("compare")
@click.argument("first", metavar="A", type=click.Path(path_type=Path))
@click.argument("second", metavar="B", type=click.Path(path_type=Path))
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0.0),
    metavar="R",
    help="Exit with code 1 if a channel differs by more than this share.",
)
@extensions_option
@click.option("--figure", type=click.Path(path_type=Path), help="Draw both runs: a .png, .pdf or .svg file.")
def compare(first: Path, second: Path, tolerance: float | None, figure: Path | None) -> None:
    """Compare two runs, channel by channel.

    A and B are files of runs (.nc .csv .res .parquet) or folders of results. A share is the largest difference over
    the largest magnitude of a channel.
    """
    from torseur.cli.results import open_result
    from torseur.simulation.results.comparison import compare as compared

    a, b = open_result(first), open_result(second)
    found = compared(a, b)
    click.echo(f"{first}: {a}\n{second}: {b}\nfrom {found.start:g} to {found.end:g} s:")
    click.echo(str(found))
    if figure is not None:
        from torseur.views.plots import Beside, plot

        plot(a, beside=[Beside(b, str(second))], path=figure)
        click.echo(f"{figure} written")
    if tolerance is None:
        return
    beyond = [d.name for d in found.differences if not d.relative <= tolerance]
    if beyond:
        click.secho(f"differ by more than {tolerance:g}: {', '.join(beyond)}", fg="red")
        raise click.exceptions.Exit(1)
    click.secho(f"all {len(found.differences)} channels within {tolerance:g}", fg="green")
