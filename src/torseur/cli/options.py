"""Options that several commands share."""

from __future__ import annotations

import click

__all__ = ["base_option", "extensions_option"]

base_option = click.option(
    "--base",
    type=click.Choice(["fixed", "floating", "planar"]),
    help="How the base moves, in place of what the file says.",
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
    help="A Python module, or a file, with kinds of your own; it is executed. Those of installed packages are known.",
)
