"""``torseur identify``: parameters from measurements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from torseur.cli.commands import ModelFile, base_option, extensions_option

if TYPE_CHECKING:
    from torseur.identification.identification import Identification, Prediction

__all__ = ["identify"]

_POSITIVE = click.FloatRange(min=0.0, min_open=True)


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
    from torseur.identification.identification import identify as identified
    from torseur.identification.physical import physical_parameters
    from torseur.identification.saving import save_identification
    from torseur.identification.signals import Filtering
    from torseur.simulation.study.reader import load_model

    found = identified(
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
    unseen = None if validate is None else found.validate(validate, checks=checks)
    real = physical_parameters(found) if physical else None
    folder = output or Path(f"{data.stem}_identified")
    written = save_identification(found, folder, physical=real, unseen=unseen)
    click.echo(written[0].read_text(encoding="utf-8"), nl=False)
    if not no_figures:
        _draw(found, unseen, folder, language)
    click.echo(f"written to {folder}")
    if unseen is not None and not unseen.holds:
        raise click.exceptions.Exit(1)


def _draw(found: Identification, unseen: Prediction | None, folder: Path, language: str) -> None:
    from torseur.errors import MissingExtra
    from torseur.views.identification import figures_of_identification
    from torseur.views.plots import save_figure
    from torseur.views.report.identification_report import identification_report

    try:
        for name, draw in figures_of_identification(found, unseen).items():
            (folder / "figures").mkdir(exist_ok=True)
            save_figure(draw(), folder / "figures" / f"{name}.png")
        identification_report(found, folder, unseen=unseen, language=language)
    except MissingExtra as error:
        click.secho(f"note: without figures: {error.what} ({error.remedy})", fg="yellow")
