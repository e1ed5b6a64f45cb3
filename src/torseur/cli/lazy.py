"""A click group whose commands are imported when they are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

import click

__all__ = ["Command", "LazyGroup"]


@dataclass(frozen=True)
class Command:
    """Where a command lives, as the attribute ``command`` of `module`, and its line in the help."""

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
        command = import_module(entry.module).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.table[name].summary) for name in self.list_commands(ctx)])
