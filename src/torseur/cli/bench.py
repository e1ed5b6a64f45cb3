"""``torseur bench``: what this machine does."""

from __future__ import annotations

import click

from torseur.cli.printing import print_error
from torseur.errors import ArgumentError

__all__ = ["command"]


@click.command("bench")
@click.option("--native", is_flag=True, help="Measure the expression graph, the compiler and the native code.")
def command(native: bool) -> None:
    """Measure this machine."""
    if not native:
        print_error(
            ArgumentError(
                "there is nothing to compare with other programs yet: that comes with the dynamics of mechanisms",
                remedy="torseur bench --native measures the expression graph and the native code",
            )
        )
        raise click.exceptions.Exit(2)

    from torseur.bench.native import measure

    report = measure(lambda line: click.echo(line, err=True))
    click.echo(report.text())
