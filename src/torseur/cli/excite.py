"""``torseur excite``: motions that show parameters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from torseur.cli.commands import ModelFile, extensions_option

__all__ = ["excite"]

F = TypeVar("F", bound=Callable[..., Any])
_POSITIVE = click.FloatRange(min=0.0, min_open=True)


def _count(name: str, default: int, least: int, text: str) -> Callable[[F], F]:
    kind = click.IntRange(min=least)
    return click.option(name, type=kind, default=default, show_default=True, metavar="N", help=text)


def _largest(name: str, text: str) -> Callable[[F], F]:
    return click.option(name, metavar="R", help=f"{text} For all joints, or NAME=R,NAME=R.")


@click.command("excite")
@click.argument("model", metavar="MODEL", type=ModelFile())
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Table to write, by default MODEL_excitation.csv."
)
@click.option(
    "--kind",
    type=click.Choice(["fourier", "spline"]),
    default="fourier",
    show_default=True,
    help="Fourier series, or periodic splines.",
)
@click.option("--period", type=_POSITIVE, default=10.0, show_default=True, metavar="S", help="Period of the motion.")
@_count("--harmonics", 5, 1, "Harmonics of the series; twice as many points of a spline.")
@_largest("--position", "Largest distance from the middle, rad or m.")
@_largest("--speed", "Largest speed.")
@_largest("--acceleration", "Largest acceleration.")
@_largest("--effort", "Largest effort.")
@click.option(
    "--keep-apart", type=_POSITIVE, metavar="R", help="Radius of the capsules around links, which must not collide, m."
)
@click.option("--floor", type=float, metavar="Z", help="Height of the floor that links must not reach, m.")
@_count("--starts", 3, 1, "Random motions from which the optimisation starts.")
@_count("--iterations", 40, 0, "Iterations from each of them, at most.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Seed of the random motions.")
@click.option("--step", type=_POSITIVE, default=0.01, show_default=True, metavar="S", help="Time step of the table.")
@extensions_option
def excite(
    model: Path,
    output: Path | None,
    kind: str,
    period: float,
    harmonics: int,
    position: str | None,
    speed: str | None,
    acceleration: str | None,
    effort: str | None,
    keep_apart: float | None,
    floor: float | None,
    starts: int,
    iterations: int,
    seed: int,
    step: float,
) -> None:
    """Find an exciting motion for the identification of a mechanism.

    The condition number of its base regressor is made small, within the stops of the description and the limits given.
    The table has columns time, coordinates, speeds, accelerations: blocks `table` of a study read it.
    """
    from torseur.identification.clearance import Clearance, capsules_of
    from torseur.identification.excitation import Limits
    from torseur.identification.excitation import excite as excited
    from torseur.model import build
    from torseur.simulation.study.reader import load_model

    built = build(load_model(model))
    clearance = None
    if keep_apart is not None or floor is not None:
        clearance = Clearance(capsules_of(built, keep_apart or 0.05), floor=floor)
    limits = Limits(
        _table(position, "--position"),
        _table(speed, "--speed"),
        _table(acceleration, "--acceleration"),
        _table(effort, "--effort"),
        clearance,
    )
    found = excited(
        built,
        period=period,
        harmonics=harmonics,
        kind=kind,
        limits=limits,
        starts=starts,
        iterations=iterations,
        seed=seed,
        step=step,
    )
    file = output or Path(f"{model.stem}_excitation.csv")
    found.save(file)
    click.echo(f"condition number {found.condition:.4g}")
    for name, share in found.tightest.items():
        if name != "clearance":
            click.echo(f"  {name}: {100 * share:.3g} % of its limit")
        else:
            click.echo(f"  clearance: {100 * (1 - share):.3g} mm to spare")
    click.echo(f"{file} written")


def _table(text: str | None, where: str) -> dict[str, float] | float | None:
    """A number, or numbers by name."""
    from torseur.cli.assignments import number, numbers

    if text is None:
        return None
    return numbers([text], where) if "=" in text else number("", text, where)
