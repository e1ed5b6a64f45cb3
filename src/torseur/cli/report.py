"""``torseur report``: a model, study or run as pages to read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from torseur.cli.commands import ModelFile, base_option, extensions_option
from torseur.errors import ArgumentError, MissingExtra

if TYPE_CHECKING:
    from torseur.simulation.results.result import Run
    from torseur.simulation.study.reader import StudyFile
    from torseur.simulation.study.study import Study
    from torseur.views.report.document import Document

__all__ = ["report"]


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
    from torseur.views.report.build import document_of
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

    found = tuple(part.strip().lower() for part in given.split(",") if part.strip())
    wrong = [name for name in found if name not in FORMATS]
    if wrong or not found:
        expected = ", ".join(FORMATS)
        raise ArgumentError("reports are not written in this format", where="--format", expected=expected, got=given)
    return found


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
