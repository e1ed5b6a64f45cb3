"""``torseur excite``: motions that show parameters. ``torseur identify``: parameters from measurements."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from torseur.cli.commands import ModelFile, base_option, extensions_option

if TYPE_CHECKING:
    from torseur.identification.identification import Identification, Prediction

__all__ = ["excite", "identify"]

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
    excitation = excited(
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
    excitation.save(file)
    click.echo(f"condition number {excitation.condition:.4g}")
    for name, share in excitation.tightest.items():
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


@click.command("identify")
@click.argument("model", metavar="MODEL", type=ModelFile())
@click.argument("data", metavar="DATA", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder of results; DATA_identified by default.")
@click.option(
    "--validate", type=click.Path(path_type=Path), metavar="DATA2", help="Other measurements, for cross-validation."
)
@click.option("--described", is_flag=True, help="Identify the parameters of the model file, not base parameters.")
@click.option("--parameter", "names", multiple=True, metavar="NAME", help="Identify this parameter of the model file.")
@click.option("--along", multiple=True, metavar="TERM", help="A further term on every joint: FV, FS, IA, OF or KS.")
@click.option(
    "--form",
    type=click.Choice(["efforts", "power", "energy"]),
    default="efforts",
    show_default=True,
    help="Equations that are fitted: inverse dynamics, or the balance of power or energy.",
)
@click.option("--physical", is_flag=True, help="Also find physically consistent inertias: model.yaml.")
@click.option("--cutoff", type=_POSITIVE, metavar="HZ", help="Cutoff frequency of the filter of positions.")
@click.option(
    "--band", type=_POSITIVE, metavar="HZ", help="Cutoff frequency of the decimation filter of the equations."
)
@click.option("--period", type=_POSITIVE, metavar="S", help="Period of a periodic motion.")
@click.option("--imu", metavar="FRAME", default="base", show_default=True, help="Frame of an IMU.")
@click.option(
    "--set", "given", multiple=True, metavar="NAME=VALUE", help="Value of a parameter, instead of that of the file."
)
@click.option(
    "--checks",
    type=click.Choice(["refuse", "tell"]),
    default="refuse",
    show_default=True,
    help="With faults in the measurements: stop, or name them and go on.",
)
@click.option(
    "--language", type=click.Choice(["en", "fr"]), default="en", show_default=True, help="Language of the report."
)
@click.option("--no-figures", is_flag=True, help="Write neither figures nor a report.")
@base_option
@extensions_option
def identify(
    model: Path,
    data: Path,
    output: Path | None,
    validate: Path | None,
    described: bool,
    names: tuple[str, ...],
    along: tuple[str, ...],
    form: str,
    physical: bool,
    cutoff: float | None,
    band: float | None,
    period: float | None,
    imu: str,
    given: tuple[str, ...],
    checks: str,
    language: str,
    no_figures: bool,
    base: str | None,
) -> None:
    """Identify the parameters of a mechanism from measurements.

    DATA is a .csv or .nc file: a column for the time, for every coordinate, and for every effort, each under the name
    it has in MODEL, with its unit in brackets. The exit code is 1 if those of --validate are not predicted.
    """
    from torseur.cli.assignments import numbers
    from torseur.identification.assessment import physical_parameters
    from torseur.identification.described import save_identification
    from torseur.identification.identification import identify as identified
    from torseur.identification.signals import Filtering
    from torseur.simulation.study.reader import load_model

    result = identified(
        load_model(model, base=base),
        data,
        unknowns=list(names) or ("described" if described else "base"),
        along=along,
        form=form,
        filtering=Filtering(cutoff=cutoff, band=band, period=period),
        parameters=numbers(given, "--set"),
        imu_frame=imu,
        checks=checks,
    )
    unseen = None if validate is None else result.validate(validate, checks=checks)
    real = physical_parameters(result) if physical else None
    folder = output or Path(f"{data.stem}_identified")
    written = save_identification(result, folder, physical=real, unseen=unseen)
    click.echo(written[0].read_text(encoding="utf-8"), nl=False)
    if not no_figures:
        _draw(result, unseen, folder, language)
    click.echo(f"written to {folder}")
    if unseen is not None and not unseen.holds:
        raise click.exceptions.Exit(1)


def _draw(result: Identification, unseen: Prediction | None, folder: Path, language: str) -> None:
    from torseur.errors import MissingExtra
    from torseur.views.identification import figures_of_identification
    from torseur.views.plots import save_figure
    from torseur.views.report.identification_report import identification_report

    try:
        for name, draw in figures_of_identification(result, unseen).items():
            (folder / "figures").mkdir(exist_ok=True)
            save_figure(draw(), folder / "figures" / f"{name}.png")
        identification_report(result, folder, unseen=unseen, language=language)
    except MissingExtra as error:
        click.secho(f"note: without figures: {error.what} ({error.remedy})", fg="yellow")
