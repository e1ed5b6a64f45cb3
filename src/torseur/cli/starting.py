"""``torseur new``, ``torseur examples`` and ``torseur completion``: what a first hour needs."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from torseur.errors import ArgumentError

__all__ = ["STARTERS", "completion", "examples", "new"]

STARTERS = ("pendulum", "arm", "linkage", "car")
SHELLS = ("bash", "zsh", "fish")


@click.command("new")
@click.argument("kind", type=click.Choice(STARTERS))
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
def new(kind: str, file: Path, force: bool) -> None:
    """Write a commented file to begin with.

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
    found = get_completion_class(shell)
    assert found is not None  # one of SHELLS
    click.echo(found(context.command, {}, "torseur", "_TORSEUR_COMPLETE").source())
