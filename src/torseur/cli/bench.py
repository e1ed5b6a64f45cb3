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
    from torseur.bench import native as ours
    from torseur.bench import peers

    measure = ours.measure if native else peers.measure
    click.echo(measure(lambda line: click.echo(line, err=True)).text())
