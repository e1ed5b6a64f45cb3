"""What commands share: a group that imports them when they are called, options that several have, and printing: notes
and errors to the error stream, the rest as tables.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import click

from torseur.errors import TorseurError, TorseurWarning

__all__ = [
    "Command",
    "LazyGroup",
    "ModelFile",
    "base_option",
    "extensions_option",
    "flags_of",
    "our_warnings",
    "print_error",
    "seconds",
]


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
        path = super().convert(value, param, ctx)
        if not isinstance(path, Path) or path.suffix or path.exists():
            return path
        from torseur import examples

        return examples.path(path.as_posix())


base_option = click.option(
    "--base",
    type=click.Choice(["fixed", "floating", "planar"]),
    help="Kind of base, in place of that of the file.",
)


def _register(context: click.Context, parameter: click.Parameter, modules: tuple[str, ...]) -> None:
    from torseur.extensions import extension_in, register

    for module in modules:
        register(extension_in(module))


extensions_option = click.option(
    "--extensions",
    metavar="MODULE",
    multiple=True,
    expose_value=False,
    is_eager=True,
    callback=_register,
    help="A Python module or file with extensions; it is executed. Those of installed packages are always known.",
)


_WORDS = {"parameters": "set"}
"""Keywords of Python that the command line calls otherwise."""


@contextmanager
def our_warnings() -> Iterator[None]:
    """Our own warnings as one line each; others as Python prints them."""
    others = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, TorseurWarning):
            click.secho(f"warning: {message}", fg="yellow", err=True)
        else:
            others(message, category, *place, **more)

    with warnings.catch_warnings():
        warnings.simplefilter("default", TorseurWarning)  # each once
        warnings.showwarning = show
        yield


def seconds(duration: float) -> str:
    """How long something took, in two digits, or in whole seconds.

    >>> seconds(0.0123), seconds(104.4)
    ('0.012 s', '104 s')
    """
    return f"{max(duration, 0.0):.2g} s" if duration < 99.5 else f"{duration:.0f} s"


def flags_of(command: click.Command) -> dict[str, str]:
    """The options of a command by name: frame -> --frame, parameters -> --set NAME=VALUE."""
    flags = {}
    for parameter in command.params:
        for name in parameter.opts if isinstance(parameter, click.Option) else ():
            if name.startswith("--"):
                choices = getattr(parameter.type, "choices", None)
                value = "" if getattr(parameter, "is_flag", False) else " " + (parameter.metavar or _value(choices))
                flags[name.removeprefix("--").replace("-", "_")] = (name + value).rstrip()
    return flags | {python: flags[flag] for python, flag in _WORDS.items() if flag in flags}


def _value(choices: object) -> str:
    return "|".join(map(str, choices)) if isinstance(choices, (list, tuple)) else "NAME"


def print_error(error: TorseurError, flags: Mapping[str, str] | None = None) -> None:
    """Print all that the error says to standard error, remedies in the words of the command line."""
    text = f"error: {error.text(flags or {})}"
    if sys.stderr.isatty():
        _print_styled(text)
    else:
        click.echo(text, err=True)


def _print_styled(text: str) -> None:
    from rich.console import Console
    from rich.text import Text

    styled = Text(text)
    styled.highlight_regex(r"^error:", "bold red")
    styled.highlight_regex(r"(?m)^ +(where|expected|got|remedy):", "bold")
    Console(stderr=True, highlight=False).print(styled, soft_wrap=True)
