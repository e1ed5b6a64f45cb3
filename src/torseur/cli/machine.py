"""``torseur bench`` and ``torseur cache``: what this machine does, and the compiled code it keeps on disk."""

from __future__ import annotations

import click

__all__ = ["bench", "cache"]


@click.command("bench")
@click.option("--native", is_flag=True, help="Measure the expression graph, the compiler and the native code instead.")
@click.option("--simulate", is_flag=True, help="Measure whole simulations only.")
@click.option("--build", is_flag=True, help="Measure the way from model files to a first motion, cold and warm.")
@click.option("--calls", is_flag=True, help="Measure single calls, few states, long chains and a first use only.")
@click.option("--vehicles", is_flag=True, help="Measure a car on tyres, and CommonRoad's models beside ours.")
@click.option("--campaign", is_flag=True, help="Measure a million runs of an arm: memory, and time beside native time.")
@click.argument("models", nargs=-1, type=click.Path(exists=True, dir_okay=False))
def bench(
    native: bool, simulate: bool, build: bool, calls: bool, vehicles: bool, campaign: bool, models: tuple[str, ...]
) -> None:
    """Benchmark this machine, beside other packages if installed.

    The dynamics of a few mechanisms against Pinocchio and MuJoCo on one thread, single calls and few states, long
    chains, a first use, then whole simulations of two arms: steps, steps by error, batches. MODELS are files for
    --build.
    """
    if models and not build:
        raise click.UsageError("model files go with --build")
    from torseur.bench import native as ours
    from torseur.bench import peers, simulation

    def tell(line: str) -> None:
        click.echo(line, err=True)

    everything = not (native or simulate or build or calls or vehicles or campaign)
    if build:
        from torseur.bench import first_use as first

        click.echo(first.measure(tell, models).text())
    if vehicles:
        from torseur.bench import vehicles as cars

        click.echo(cars.measure(tell).text())
    if campaign:
        from torseur.bench import campaign as many

        click.echo(many.measure(tell).text())
    if native:
        click.echo(ours.measure(tell).text())
    if everything:
        click.echo(peers.measure(tell).text())
    if calls or everything:
        from torseur.bench import calls as single

        click.echo(single.measure(tell).text())
    if simulate or everything:
        click.echo(simulation.measure(tell).text())


@click.group("cache")
def cache() -> None:
    """Show the cache of compiled code on disk, or clear it."""


@cache.command("info")
def info() -> None:
    """Where it is, how much it holds, and whether it is used."""
    from torseur.emit.cache import cache_info

    found = cache_info()
    click.echo(f"path:    {found.path}")
    click.echo(f"entries: {found.entries}")
    click.echo(f"size:    {_megabytes(found.bytes)} of at most {_megabytes(found.limit)}")
    click.echo("used:    yes" if found.usable else f"used:    no, {found.reason}")


@cache.command("clear")
def clear() -> None:
    """Remove all of it."""
    from torseur.emit.cache import clear_cache

    removed = clear_cache()
    click.echo(f"{removed} {'entry' if removed == 1 else 'entries'} removed")


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB"
