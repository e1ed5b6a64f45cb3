"""``torseur cache``: the compiled code kept on disk."""

from __future__ import annotations

import click

from torseur.emit.cache import cache_info, clear_cache

__all__ = ["command"]


@click.group("cache")
def command() -> None:
    """Look at the compiled code kept on disk, or remove it."""


@command.command("info")
def info() -> None:
    """Where it is, how much it holds, and whether it is used."""
    cache = cache_info()
    click.echo(f"path:    {cache.path}")
    click.echo(f"entries: {cache.entries}")
    click.echo(f"size:    {_megabytes(cache.bytes)} of at most {_megabytes(cache.limit)}")
    click.echo("used:    yes" if cache.usable else f"used:    no, {cache.reason}")


@command.command("clear")
def clear() -> None:
    """Remove all of it."""
    removed = clear_cache()
    click.echo(f"{removed} {'entry' if removed == 1 else 'entries'} removed")


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB"
