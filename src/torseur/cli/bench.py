"""``torseur bench``: what this machine does."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("bench")
@click.option("--native", is_flag=True, help="Measure the expression graph, the compiler and the native code instead.")
def command(native: bool) -> None:
    """Measure this machine beside the peers that are installed.

    The dynamics of a few mechanisms, against Pinocchio and MuJoCo, in one run on one thread.
    """
    if native:
        from torseur.bench.native import measure as measured
    else:
        from torseur.bench.peers import measure as measured

    report = measured(lambda line: click.echo(line, err=True))
    click.echo(report.text())
