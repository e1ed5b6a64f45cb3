"""``torseur bench``: what this machine does."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("bench")
@click.option("--native", is_flag=True, help="Measure the expression graph, the compiler and the native code instead.")
@click.option("--simulate", is_flag=True, help="Measure whole simulations alone.")
def command(native: bool, simulate: bool) -> None:
    """Measure this machine beside the peers that are installed.

    The dynamics of a few mechanisms against Pinocchio and MuJoCo on one thread, then whole simulations of two arms:
    steps, steps by error, batches.
    """
    from torseur.bench import native as ours
    from torseur.bench import peers, simulation

    def tell(line: str) -> None:
        click.echo(line, err=True)

    everything = not (native or simulate)
    if native:
        click.echo(ours.measure(tell).text())
    if everything:
        click.echo(peers.measure(tell).text())
    if simulate or everything:
        click.echo(simulation.measure(tell).text())
