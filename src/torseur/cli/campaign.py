"""``torseur campaign``: many runs from one file to a folder of results, and any of them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torseur.cli.commands import extensions_option
from torseur.errors import ArgumentError

if TYPE_CHECKING:
    from torseur.campaign.answers import Answers
    from torseur.campaign.runner import Cluster, Progress

__all__ = ["campaign"]

INTERRUPTED = 130
MOST_REASONS = 12
BETWEEN_LINES = 30.0
"""Seconds between lines of progress in a log."""


@click.command("campaign")
@click.argument("what", metavar="FILE", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder of results; FILE_runs by default.")
@extensions_option
@click.option(
    "--threads", type=click.IntRange(min=1), metavar="N", help="Threads on this machine; all processors by default."
)
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Worker processes on this machine (Dask).")
@click.option("--on", "address", metavar="ADDRESS", help="Address of a running Dask scheduler, tcp://HOST:PORT.")
@click.option("--slurm", multiple=True, metavar="NAME=VALUE", help="An option of SLURM jobs, which are the workers.")
@click.option("--job-script", is_flag=True, help="Print the script of a SLURM job, and run nothing.")
@click.option("--tls", multiple=True, metavar="NAME=VALUE", help="An option of Dask's security, such as tls_ca_file.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.0, min_open=True),
    metavar="S",
    help="Give up a run that takes longer by the clock; in place of that of the file.",
)
@click.option("--retry", is_flag=True, help="Compute again the chunks with runs that took longer.")
@click.option(
    "--run",
    "number",
    type=click.IntRange(min=0),
    metavar="K",
    help="Compute run K of a folder again, with all its records.",
)
@click.option("--no-figures", is_flag=True, help="Do not draw figures.")
def campaign(
    what: Path,
    output: Path | None,
    threads: int | None,
    workers: int | None,
    address: str | None,
    slurm: tuple[str, ...],
    job_script: bool,
    tls: tuple[str, ...],
    timeout: float | None,
    retry: bool,
    number: int | None,
    no_figures: bool,
) -> None:
    """Run a study many times with varied values: a campaign.

    FILE is a campaign file; the same command goes on with what an earlier one left (code 130 after Ctrl-C or SIGTERM).
    With --run, FILE is the folder of a campaign.
    """
    from torseur.campaign.answers import open_campaign
    from torseur.campaign.reader import read_campaign
    from torseur.campaign.runner import run_work
    from torseur.campaign.work import Work

    if number is not None or what.is_dir():
        answers = open_campaign(what)
        if number is None:
            _tell(answers)
        else:
            _again(answers, number, output or what / f"run_{number}", no_figures)
        return
    cluster = _cluster(workers, address, slurm, tls)
    if job_script:
        _print_script(cluster)
        return
    read = read_campaign(what)
    folder = output or Path(f"{what.stem}_runs")
    click.echo(f"building {read.campaign.called} ...", err=True)
    with read.told():
        work = Work(read.campaign)
    try:
        with _ended_gently(), _bar(read.campaign.called, work.runs) as report:
            run_work(work, folder, threads=threads, cluster=cluster, timeout=timeout, retry=retry, progress=report)
    except KeyboardInterrupt:
        click.secho("interrupted: the same command resumes here", fg="yellow", bold=True, err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    answers = open_campaign(folder)
    _tell(answers)
    if not no_figures:
        _draw(answers, folder)


def _cluster(workers: int | None, address: str | None, slurm: tuple[str, ...], tls: tuple[str, ...]) -> Cluster | None:
    from torseur.campaign.runner import Cluster
    from torseur.cli.assignments import pair

    if address is not None and (workers is not None or slurm):
        text = "a scheduler that is running has its own workers"
        raise ArgumentError(text, where="--on", remedy="leave out --workers and --slurm")
    if address is None and workers is None and not slurm:
        if tls:
            text = "without workers there is no connection to encrypt"
            raise ArgumentError(text, where="--tls", remedy="--on, --workers or --slurm")
        return None

    def options(given: tuple[str, ...], where: str) -> dict[str, object]:
        return {name: _typed(value) for name, value in (pair(text, where) for text in given)}

    return Cluster(address, workers or 2, options(slurm, "--slurm") or None, options(tls, "--tls"))


def _print_script(cluster: Cluster | None) -> None:
    """What would be submitted to SLURM."""
    from torseur.campaign.runner import job_script

    if cluster is None or cluster.slurm is None:
        raise ArgumentError(
            "a job script needs the options of SLURM", where="--job-script", remedy="--slurm NAME=VALUE ..."
        )
    click.echo(job_script(cluster), nl=False)


def _typed(value: str) -> object:
    """An option of Dask: true, false, a whole number, or text.

    >>> [_typed(text) for text in ("8", "true", "16GB")]
    [8, True, '16GB']
    """
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    return int(value) if value.isdecimal() else value


@contextmanager
def _ended_gently() -> Iterator[None]:
    """SIGTERM, which batch systems send before they kill, is as Ctrl-C."""
    import signal

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _bar(name: str, runs: int) -> Iterator[Callable[[Progress], None]]:
    """Runs and the time left: a bar on a terminal, a line now and then elsewhere."""
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    columns = [
        TextColumn("{task.description}"),
        BarColumn(None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
    ]
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(name, total=runs, left="")

        told = time.monotonic()

        def report(now: Progress) -> None:
            nonlocal told
            left = "" if now.left is None else f"{now.left:.0f} s left"
            bar.update(task, completed=now.done, left=left)
            if not console.is_terminal and time.monotonic() - told > BETWEEN_LINES:
                told = time.monotonic()
                click.echo(f"{now.done} of {now.runs} runs, {left}", err=True)

        yield report


def _tell(answers: Answers) -> None:
    """What came of it."""
    from torseur.campaign.work import FAILED, OUTSIDE

    counts = answers.counts()
    click.secho(f"{answers.campaign.called}: {sum(counts.values())} of {answers.runs} runs", bold=True)
    click.echo(f"{counts[FAILED]} failed, {counts[OUTSIDE]} outside a limit")
    for reason, count in list(answers.failures().items())[:MOST_REASONS]:
        click.echo(f"  {count:8d}  {reason}")
    width = max((len(name) for name in answers.indicators), default=0)
    for name in answers.indicators:
        try:
            low, middle, high = answers.quantiles(name).values()
        except ArgumentError:
            click.echo(f"  {name:<{width}}  no value in any run")
            continue
        numbers = f"5 %: {low:<12.5g} median: {middle:<12.5g} 95 %: {high:<12.5g}"
        click.echo(f"  {name:<{width}}  {numbers} {answers.units[name]}".rstrip())
    if answers.campaign.search is not None:
        _tell_search(answers)
    click.echo(f"written to {answers.folder.path}")


def _tell_search(answers: Answers) -> None:
    """The best candidate, or how many are on the front."""
    trials = answers.candidates
    if answers.slopes is not None:
        click.echo(f"slopes by {answers.slopes}")
    best = trials.best
    if best is None:
        click.secho(
            f"{len(trials)} candidates, {int(trials.is_allowed.sum())} allowed, {len(trials.front)} on the Pareto front"
        )
        return
    first = best * (len(answers) // len(trials))
    click.secho(f"best of {len(trials)} candidates: number {best}, run {first}", bold=True)
    for name, values in trials.factors.items():
        click.echo(f"  {name} = {values[best]:.17g}")
    for name, costs in trials.goals.items():
        click.echo(f"  {name}: {costs[best]:.6g} (minimised)")


def _draw(answers: Answers, folder: Path) -> None:
    from torseur.errors import MissingExtra
    from torseur.views.campaign import figures_of_campaign
    from torseur.views.plots import save_figure

    try:
        for name, draw in figures_of_campaign(answers).items():
            (folder / "figures").mkdir(exist_ok=True)
            save_figure(draw(), folder / "figures" / f"{name}.png")
    except MissingExtra as error:
        click.secho(f"note: without figures: {error.what} ({error.remedy})", fg="yellow")


def _again(answers: Answers, number: int, folder: Path, no_figures: bool) -> None:
    """A run of a campaign with full records, figures and playback."""
    from torseur.cli.results import Wanted, add_pictures, prepare, save_results

    run = answers.run(number)
    prepare(folder)
    wanted = Wanted(figures=not no_figures, playback=not no_figures)
    study = answers.study_of(number)
    written = save_results(run, study, folder, wanted)
    add_pictures(run, study, folder, wanted, written)
    click.secho(str(run), bold=True)
    for name, value in answers.values_of(number).items():
        click.echo(f"  {name} = {value:.17g}")
    for failure in written.failures:
        click.secho(f"failed: {failure}", fg="red", err=True)
    click.echo(f"written to {folder}")
