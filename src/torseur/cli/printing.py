"""How the command line shows errors and warnings: plain text, with some colour on a terminal."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from torseur.errors import TorseurError, TorseurWarning

__all__ = ["flags_of", "our_warnings", "print_error", "seconds"]

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
    found = {}
    for parameter in command.params:
        for name in parameter.opts if isinstance(parameter, click.Option) else ():
            if name.startswith("--"):
                choices = getattr(parameter.type, "choices", None)
                value = "" if getattr(parameter, "is_flag", False) else " " + (parameter.metavar or _value(choices))
                found[name.removeprefix("--").replace("-", "_")] = (name + value).rstrip()
    return found | {python: found[flag] for python, flag in _WORDS.items() if flag in found}


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
