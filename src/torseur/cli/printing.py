"""How the command line shows an error: plain text, with some colour on a terminal."""

from __future__ import annotations

import sys

import click

from torseur.errors import TorseurError

__all__ = ["print_error"]


def print_error(error: TorseurError) -> None:
    """Print all that the error says to standard error."""
    text = f"error: {error}"
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
