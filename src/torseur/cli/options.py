"""Options that several commands share."""

from __future__ import annotations

import click

__all__ = ["base_option"]

base_option = click.option(
    "--base",
    type=click.Choice(["fixed", "floating", "planar"]),
    help="How the base moves, in place of what the file says.",
)
