"""What commands share: a group that imports them when they are called, and options that several have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path

import click

__all__ = ["EXTENSIONS", "Command", "LazyGroup", "ModelFile", "base_option", "extensions_option"]


@dataclass(frozen=True)
class Command:
    """Where a command lives, under its own name in a module, and its line in the help."""

    module: str
    summary: str


class LazyGroup(click.Group):
    """A group read from a table: name -> `Command`. Its help imports none of them."""

    def __init__(self, name: str | None = None, *, table: Mapping[str, Command], **attributes: object) -> None:
        super().__init__(name, **attributes)  # type: ignore[arg-type]
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self.table.get(cmd_name)
        if entry is None:
            return None
        command = getattr(import_module(entry.module), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.table[name].summary) for name in self.list_commands(ctx)])


class ModelFile(click.Path):
    """A model or study file, or the name of an example that comes with the package."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self, value: str | PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | PathLike[str]:
        found = super().convert(value, param, ctx)
        if not isinstance(found, Path) or found.suffix or found.exists():
            return found
        from torseur import examples

        return examples.path(found.as_posix())


base_option = click.option(
    "--base",
    type=click.Choice(["fixed", "floating", "planar"]),
    help="How the base moves, whatever the file says.",
)


def _register(context: click.Context, parameter: click.Parameter, modules: tuple[str, ...]) -> None:
    from torseur.extensions import extension_in, register

    for module in modules:
        register(extension_in(module))
    context.meta[EXTENSIONS] = modules


EXTENSIONS = "torseur.extensions"
"""Where the modules that were named stand in the `meta` of a context."""

extensions_option = click.option(
    "--extensions",
    metavar="MODULE",
    multiple=True,
    expose_value=False,
    is_eager=True,
    callback=_register,
    help="A Python module, or a file, with kinds of your own; it is executed. Those of installed packages are known.",
)
