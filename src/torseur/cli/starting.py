"""``torseur new``, ``examples`` and ``completion``: what a first hour needs; ``bench`` and ``cache``: what this machine
does, and the compiled code it keeps on disk.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from torseur.errors import ArgumentError

__all__ = ["STARTERS", "bench", "cache", "completion", "examples", "new"]

STARTERS = ("pendulum", "arm", "linkage", "car")
SHELLS = ("bash", "zsh", "fish")


@click.command("new")
@click.argument("kind", type=click.Choice(STARTERS))
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
def new(kind: str, file: Path, force: bool) -> None:
    """Write a commented starter file.

    pendulum, arm and linkage are studies with the model inside, car is a vehicle file; each runs as it is.
    """
    from torseur.formats import replace_file

    if file.suffix.lower() not in (".yaml", ".yml"):
        raise ArgumentError("starter files are YAML", where=str(file), expected="a name that ends in .yaml")
    if file.exists() and not force:
        raise ArgumentError("the file exists already", where=str(file), remedy="give --force to overwrite it")
    text = (files("torseur.cli") / "starters" / f"{kind}.yaml").read_text(encoding="utf-8")
    replace_file(file, text.replace("{file}", str(file)).encode("utf-8"))
    click.echo(f"{file} written; try: torseur simulate {file}")


@click.command("examples")
def examples() -> None:
    """List the examples that come with the package.

    Commands take their names in place of files.
    """
    from torseur import examples as shipped

    rows = [(name, shipped.title(name)) for name in shipped.names()]
    width = max(len(name) for name, _ in rows)
    for name, title in rows:
        click.echo(f"{name:<{width}}  {title}".rstrip())


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script that completes commands in a shell.

    For bash: torseur completion bash > ~/.torseur-complete.bash, and `source` that file in ~/.bashrc.
    """
    from click.shell_completion import get_completion_class

    context = click.get_current_context().find_root()
    shell_class = get_completion_class(shell)
    assert shell_class is not None  # one of SHELLS
    click.echo(shell_class(context.command, {}, "torseur", "_TORSEUR_COMPLETE").source())


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
    chains, a first use, then whole simulations of two arms: steps, adaptive steps, batches. MODELS are files for
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

    facts = cache_info()
    click.echo(f"path:    {facts.path}")
    click.echo(f"entries: {facts.entries}")
    click.echo(f"size:    {_megabytes(facts.bytes)} of at most {_megabytes(facts.limit)}")
    click.echo("used:    yes" if facts.usable else f"used:    no, {facts.reason}")


@cache.command("clear")
def clear() -> None:
    """Remove all of it."""
    from torseur.emit.cache import clear_cache

    removed = clear_cache()
    click.echo(f"{removed} {'entry' if removed == 1 else 'entries'} removed")


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB"
