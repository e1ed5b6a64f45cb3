"""What shows mechanisms and runs: ``torseur draw``, a kinematic scheme; ``torseur view``, live in the browser;
``torseur compare``, where two runs differ; ``torseur report``, pages to read.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from torseur.cli.assignments import numbers
from torseur.cli.commands import ModelFile, base_option, extensions_option
from torseur.errors import ArgumentError, MissingExtra

if TYPE_CHECKING:
    from torseur.describe import Mechanism
    from torseur.simulation.results.result import Run
    from torseur.simulation.study.reader import StudyFile
    from torseur.simulation.study.study import Study
    from torseur.views.report.document import Document

__all__ = ["compare", "draw", "report", "view"]

RUNS = (".nc", ".csv", ".res", ".parquet")


@click.command("draw")
@click.argument("file", type=ModelFile())
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write; FILE.svg by default."
)
@click.option(
    "--pose", multiple=True, metavar="NAME=VALUE,...", help="Coordinates, rad and m: q1=0.3,q2=pi/4,q3=30*deg."
)
@click.option(
    "--set", "parameters", multiple=True, metavar="NAME=VALUE,...", help="Values of parameters: d2=0.4,r4=0.5."
)
@base_option
@extensions_option
def draw(file: Path, output: Path | None, pose: tuple[str, ...], parameters: tuple[str, ...], base: str | None) -> None:
    """Draw the kinematic scheme of a mechanism.

    The picture is SVG. Coordinates that are not given are where they start, or where loops close; lengths and angles
    without value are replaced by typical ones, which the picture and the output name.
    """
    from torseur.formats import replace_file
    from torseur.simulation.study.reader import load_model
    from torseur.views.scheme import draw_scheme

    target = output or Path(f"{file.stem}.svg")
    if target.suffix.lower() != ".svg":
        raise ArgumentError("only SVG is written", where=str(target), expected="a name that ends in .svg")
    mechanism = load_model(file, base=base)
    picture = draw_scheme(mechanism, pose=numbers(pose, "--pose"), parameters=numbers(parameters, "--set"))
    replace_file(target, picture.svg.encode("utf-8"))
    click.echo(f"{target} written")
    for note in picture.notes:
        click.echo(f"note: {note}")


@click.command("view")
@click.argument("path", metavar="RUN_OR_MODEL", type=ModelFile())
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Port of the server on this machine; a free one by default."
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--sticks", is_flag=True, help="Bars and joints in place of shapes.")
@extensions_option
def view(path: Path, port: int | None, no_browser: bool, sticks: bool) -> None:
    """Show a run or a mechanism in 3-D in the browser.

    RUN_OR_MODEL is a file of a run (.nc .csv .res .parquet), a folder of results, or a model or study file; a run is
    played, a mechanism is moved by sliders.
    """
    from torseur.cli.results import open_result
    from torseur.simulation.study.reader import read_study
    from torseur.views.scene import view as in_browser

    shown: Run | Mechanism
    parameters: dict[str, float] = {}
    if path.is_dir() or path.suffix.lower() in RUNS:
        shown = open_result(path)
    else:
        study = read_study(path).study
        shown, parameters = study.model, dict(study.parameters)
    in_browser(
        shown,
        port=port,
        parameters=parameters,
        browser=not no_browser,
        ready=lambda address: click.echo(f"{address} (Ctrl-C to end)"),
        sticks=sticks or None,
        folder=path.parent,
    )


@click.command("compare")
@click.argument("first", metavar="A", type=click.Path(path_type=Path))
@click.argument("second", metavar="B", type=click.Path(path_type=Path))
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0.0),
    metavar="R",
    help="Exit with code 1 if a channel differs by more than this share.",
)
@extensions_option
@click.option("--figure", type=click.Path(path_type=Path), help="Draw both runs: a .png, .pdf or .svg file.")
def compare(first: Path, second: Path, tolerance: float | None, figure: Path | None) -> None:
    """Compare two runs, channel by channel.

    A and B are files of runs (.nc .csv .res .parquet) or folders of results. A share is the largest difference over
    the largest magnitude of a channel.
    """
    from torseur.cli.results import open_result
    from torseur.simulation.results.comparison import compare as compared

    a, b = open_result(first), open_result(second)
    comparison = compared(a, b)
    click.echo(f"{first}: {a}\n{second}: {b}\nfrom {comparison.start:g} to {comparison.end:g} s:")
    click.echo(str(comparison))
    if figure is not None:
        from torseur.views.plots import Beside, plot

        plot(a, beside=[Beside(b, str(second))], path=figure)
        click.echo(f"{figure} written")
    if tolerance is None:
        return
    beyond = [d.name for d in comparison.differences if not d.relative <= tolerance]
    if beyond:
        click.secho(f"differ by more than {tolerance:g}: {', '.join(beyond)}", fg="red")
        raise click.exceptions.Exit(1)
    click.secho(f"all {len(comparison.differences)} channels within {tolerance:g}", fg="green")


@click.command("report")
@click.argument("path", metavar="MODEL|STUDY|RUN", type=ModelFile())
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder to write; NAME_report by default.")
@click.option("--lang", "language", type=click.Choice(["en", "fr"]), default="en", show_default=True, help="Language.")
@click.option(
    "--format", "formats", help="html, latex, pdf; several by commas. By default all; pdf only if typst is installed."
)
@click.option("--no-run", is_flag=True, help="Describe a study without simulating it.")
@click.option("--date", help="A date, in words, below the title; without it the same input gives the same bytes.")
@base_option
@extensions_option
def report(
    path: Path,
    output: Path | None,
    language: str,
    formats: str | None,
    no_run: bool,
    date: str | None,
    base: str | None,
) -> None:
    """Write a report on a model, study or run: HTML, LaTeX, PDF.

    The report holds the kinematic scheme, bodies, joints, inertias and parameters, the degrees of freedom, the
    equations of motion, method, conventions and references; of a study also its block diagram, results and audit. A
    study is simulated first. A run is a folder of results, or a file (.nc .csv .res .parquet).
    """
    from torseur.cli.results import prepare
    from torseur.views.report import document_of
    from torseur.views.report.document import Language

    wanted = None if formats is None else _formats(formats)
    folder = output or Path(f"{path.stem}_report")
    run, study, read = _what(path, base)
    prepare(folder)
    if read is not None and study is not None and not no_run:
        run = _simulated(read, study)
    mechanism = run.mechanism if run is not None and run.mechanism is not None else None
    if mechanism is None and read is not None:
        mechanism = read.study.model
    made = document_of(mechanism, study, run, language=Language(language), date=date, source=_source(path, read))
    _write(made, folder, wanted)
    _end(run)


def _formats(given: str) -> tuple[str, ...]:
    from torseur.views.report import FORMATS

    formats = tuple(part.strip().lower() for part in given.split(",") if part.strip())
    wrong = [name for name in formats if name not in FORMATS]
    if wrong or not formats:
        expected = ", ".join(FORMATS)
        raise ArgumentError("reports are not written in this format", where="--format", expected=expected, got=given)
    return formats


def _what(path: Path, base: str | None) -> tuple[Run | None, Study | None, StudyFile | None]:
    """The run of a file or folder with its study, if that is beside it; or what is to be simulated, or described."""
    from torseur.cli.results import open_result
    from torseur.simulation.results.result import ENDINGS
    from torseur.simulation.study.reader import load_study, read_study

    if path.is_dir() or path.suffix.lower() in ENDINGS:
        run = open_result(path)
        beside = (path if path.is_dir() else path.parent) / "study.yaml"
        return run, load_study(beside) if beside.is_file() else None, None
    read = read_study(path, base=base)
    for note in read.notes:
        click.secho(f"note: {note}", fg="yellow", err=True)
    return None, None if read.is_model else read.study, read


def _simulated(read: StudyFile, study: Study) -> Run:
    from torseur.cli.simulate import run_of

    return run_of(read, study)


def _source(path: Path, read: StudyFile | None) -> str | None:
    """The file that ``torseur equations`` takes, if it is known: a report names no folders of one machine."""
    if read is None:
        return None
    model = None if read.root is None else read.root.items["model"].value
    return Path(model).name if isinstance(model, str) else path.name if read.root is None else None


def _write(made: Document, folder: Path, wanted: tuple[str, ...] | None) -> None:
    from torseur.views.report import FORMATS, write_report

    for name in FORMATS if wanted is None else wanted:
        try:
            for file in write_report(made, folder, [name]):
                click.echo(f"{file} written")
        except MissingExtra as error:
            if wanted is not None:
                raise
            click.secho(f"note: without {name}: {error.what} ({error.remedy})", fg="yellow", err=True)


def _end(run: Run | None) -> None:
    """The exit code of the run, as ``torseur simulate`` gives it: the report tells what is wrong."""
    from torseur.cli.simulate import FAILED, WRONG

    if run is not None and run.reason is not None:
        click.secho(f"the run failed: {run.reason}", fg="red", bold=True, err=True)
        raise click.exceptions.Exit(FAILED)
    if run is not None and run.audited is not None and not run.audited.holds:
        click.secho("the audit does not hold: this run is not to be trusted", fg="red", bold=True, err=True)
        raise click.exceptions.Exit(WRONG)
