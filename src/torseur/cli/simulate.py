"""``torseur simulate``: a study from its file to a folder of results."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torseur.cli.commands import ModelFile, base_option, extensions_option, seconds
from torseur.errors import ArgumentError, UnseenWarning
from torseur.errors import written as path_text

if TYPE_CHECKING:
    from torseur.cli.results import Written
    from torseur.describe import Mechanism
    from torseur.simulation.results.channels import Audit, Event
    from torseur.simulation.results.indicators import Measure
    from torseur.simulation.results.result import Run
    from torseur.simulation.run.connections import Connection
    from torseur.simulation.run.simulation import Simulation
    from torseur.simulation.study.reader import StudyFile
    from torseur.simulation.study.study import Study

__all__ = ["ASTRAY", "FAILED", "INTERRUPTED", "UNWRITTEN", "WRONG", "changed_study", "run_of", "simulate"]

FAILED, WRONG, UNWRITTEN, ASTRAY, INTERRUPTED = 3, 4, 5, 6, 130
MOST_EVENTS = 12


@click.command("simulate")
@click.argument("file", metavar="STUDY", type=ModelFile())
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder of results; STUDY_results by default.")
@base_option
@extensions_option
@click.option(
    "--scenario",
    metavar="NAME",
    help="Manoeuvre of a vehicle: a name of `torseur scenarios`, or a file of your own (.yaml).",
)
@click.option("--until", type=float, metavar="S", help="End of the run, s.")
@click.option("--every", type=float, metavar="S", help="Time between records, s.")
@click.option("--solver", metavar="NAME", help="Method of integration, such as dop853, rk4, rodas or newmark.")
@click.option("--step", type=float, metavar="S", help="Step of a fixed-step method, s.")
@click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the scenario or the model, a coordinate or speed at the start, an input.",
)
@click.option(
    "--format",
    "formats",
    default="nc",
    show_default=True,
    help="Format of the run: nc, csv, res, parquet; several by commas.",
)
@click.option(
    "--real-time", is_flag=True, help="Run in real time, by the clock; latency, jitter and overruns are printed."
)
@click.option(
    "--connect",
    "connect",
    multiple=True,
    metavar="BLOCK=WHERE",
    help="What computes an external block: library:FILE:FUNCTION, process:COMMAND, udp:HOST:PORT; it is executed.",
)
@click.option("--allow-network", is_flag=True, help="Connect to addresses of other machines too.")
@click.option("--no-figures", is_flag=True, help="Do not draw figures.")
@click.option("--no-playback", is_flag=True, help="Do not write the 3-D playback.")
@click.option(
    "--write-study",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the study that would be run to a file (.yaml), and run nothing.",
)
@click.option("--ignore-audit", is_flag=True, help="Exit with code 0 even if the audit does not hold.")
def simulate(
    file: Path,
    output: Path | None,
    base: str | None,
    scenario: str | None,
    until: float | None,
    every: float | None,
    solver: str | None,
    step: float | None,
    pairs: tuple[str, ...],
    formats: str,
    real_time: bool,
    connect: tuple[str, ...],
    allow_network: bool,
    no_figures: bool,
    no_playback: bool,
    write_study: Path | None,
    ignore_audit: bool,
) -> None:
    """Simulate a study: results, audit, figures, playback.

    STUDY is a study file, or a model file, which is a study with defaults. Whatever is computed is kept: after a
    failure (code 3) and after Ctrl-C (code 130) the results so far are written too, and a figure, playback or file
    that fails (code 5) leaves the rest. A run whose audit does not hold ends with code 4, one of a vehicle that did not
    do what its scenario asks with code 6.
    """
    from torseur.cli.assignments import pair
    from torseur.cli.results import Wanted, add_pictures, drawing_beside, prepare, save_results
    from torseur.cli.scenarios import with_scenario
    from torseur.simulation.study.reader import read_study

    endings = _endings(formats)
    read = read_study(file, base=base)
    if scenario is not None:
        read, pairs = with_scenario(read, scenario, pairs), ()
    study = changed_study(read, until=until, every=every, solver=solver, step=step, pairs=pairs)
    for note in [*(f"note: {x}" for x in read.notes), *_warnings(read.study.model)]:
        click.secho(note, fg="yellow", err=True)
    kept = read.with_study(study).anchored
    if write_study is not None:
        _write(kept, write_study)
        return
    folder = output or Path(f"{file.stem}_results")
    prepare(folder)
    outside = Outside(real_time, dict(pair(text, "--connect") for text in connect), allow_network)
    drawn = study.figures and not no_figures, study.playback and not no_playback
    wanted = Wanted(endings, *drawn, read.folder, study.reports)
    with drawing_beside(wanted) as beside:
        began = time.perf_counter()
        run = run_of(read, study, outside)
        built = time.perf_counter() - began - float(run.info["wall_time"])
        _report(run)
        written = save_results(run, kept, folder, wanted)
        if wanted.pictures:
            click.echo("drawing ...", err=True)
        began = time.perf_counter()
        add_pictures(run, study, folder, wanted, written, beside)
    drawing = f", drawing {seconds(time.perf_counter() - began)}" if wanted.pictures else ""
    click.echo(f"building {seconds(built)}, running {seconds(float(run.info['wall_time']))}{drawing}")
    _print_indicators(run)
    _tell(written, folder)
    _end(run, written, ignore_audit)


def _warnings(model: Mechanism) -> list[str]:
    """What `torseur check` warns of, a line each."""
    from torseur.describe.checks import Severity, faults

    found = [fault for fault in faults(model) if fault.severity is Severity.WARNING]
    return [f"warning: {path_text(f.path)}: {'; '.join(x for x in (f.what, f.got, f.remedy) if x)}" for f in found]


def _endings(formats: str) -> tuple[str, ...]:
    from torseur.simulation.results.result import ENDINGS

    endings = tuple(
        dict.fromkeys(f".{part.strip().lstrip('.').lower()}" for part in formats.split(",") if part.strip())
    )
    wrong = [ending[1:] for ending in endings if ending not in ENDINGS]
    if wrong or not endings:
        expected = ", ".join(ending[1:] for ending in ENDINGS)
        raise ArgumentError("runs are not written in this format", where="--format", expected=expected, got=formats)
    return endings


def changed_study(
    read: StudyFile, *, pairs: Sequence[str], solver: str | None, step: float | None, **given: Any
) -> Study:
    """The study with what the command line says in place of its own fields."""
    from torseur.cli.assignments import assigned
    from torseur.simulation.run.simulate import study_of
    from torseur.simulation.solvers.methods import method_of

    if solver is not None:
        method_of(solver)
    new = {"method": solver, "step": step}
    changed = {key: value for key, value in new.items() if value is not None}
    if changed:
        own = read.study.solver.model_dump()
        if solver is not None:  # numbers of another method mean nothing to this one
            own |= {name: None for name in read.study.solver.numbers if name not in method_of(solver).numbers}
        given["solver"] = {**own, **changed}
    return study_of(read.study, **given, **assigned(read.study, pairs))


def _write(study: Study, file: Path) -> None:
    from torseur.simulation.study.writer import write_study

    write_study(study, file)
    click.echo(f"written: {file}")


# -- the run -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outside:
    """The clock, and who answers external blocks."""

    real_time: bool = False
    connect: Mapping[str, str] = field(default_factory=dict)
    anywhere: bool = False


def run_of(read: StudyFile, study: Study, outside: Outside | None = None) -> Run:
    """The run of a study, with a bar on the terminal on the way."""
    from torseur.simulation.run.connections import connected, connections
    from torseur.simulation.run.simulation import Simulation

    click.echo(f"building {study.called} ...", err=True)
    outside = outside or Outside()
    opened = connections(study, outside.connect, waits=not outside.real_time, anywhere=outside.anywhere)
    try:
        with read.told(), opened as answering:
            simulation = Simulation(connected(study, answering), read.folder)
            if outside.real_time:
                return _paced(simulation, answering)
            with simulation.code_ahead(), _progress(study) as report, warnings.catch_warnings():
                warnings.simplefilter("ignore", UnseenWarning)  # they are printed with the run
                return simulation.run(progress=report)
    except KeyboardInterrupt:  # the run itself keeps what it has and returns it
        click.secho("interrupted before the run began: there is nothing to save", fg="red", bold=True, err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None


def _paced(simulation: Simulation, answering: Mapping[str, Connection]) -> Run:
    from torseur.simulation.run.connections import Udp
    from torseur.simulation.run.control_steps import Pace, undisturbed

    pace = Pace(simulation)
    with undisturbed(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        run = simulation.run(samplings=[pace.sampling])
    for line in pace.figures.lines():
        click.echo(line)
    for name, connection in answering.items():
        if isinstance(connection, Udp):
            click.echo(f"  {name}: {connection.missed} of {connection.asked} requests were not answered in time")
    return run


@contextmanager
def _progress(study: Study) -> Iterator[Callable[[float], None]]:
    """A bar on the terminal: simulated time, and how much faster than real time it goes."""
    if not sys.stderr.isatty():
        yield lambda t: None
        return
    span, began = study.until - study.begin, time.perf_counter()
    with click.progressbar(
        length=1000, label=study.called, file=sys.stderr, item_show_func=lambda reached: reached or ""
    ) as bar:

        def report(t: float) -> None:
            passed, took = t - study.begin, max(time.perf_counter() - began, 1e-9)
            reached = f"{t:.4g} of {study.until:g} s, {_significant(passed / took)} times real time"
            bar.update(round(1000.0 * passed / span) - bar.pos, reached)

        yield report


# -- what is said ------------------------------------------------------------------------------------------------------


def _report(run: Run) -> None:
    info, span = run.info, float(run.time[-1] - run.time[0])
    click.secho(f"{run.name}: {run.time[0]:g} to {run.time[-1]:g} s, {len(run)} instants", bold=True)
    wall = max(float(info["wall_time"]), 1e-9)
    rejected = f" ({info['rejected']} rejected)" if info["rejected"] else ""
    pace = f"{_significant(span / wall)} times real time"
    click.echo(f"{info['solver']}: {info['steps']} steps{rejected} in {wall:.3g} s, {pace}")
    _print_start(run)
    _print_events(run.events)
    if run.audited is not None:
        _print_audit(run.audited)
    for note in info.get("notes", ()):
        click.secho(f"note: {note}", fg="yellow")


def _significant(ratio: float) -> str:
    """A ratio with three digits, never as a power of ten: 0.42, 12.3, 1070."""
    return f"{float(f'{ratio:.3g}'):.12g}"


def _print_start(run: Run) -> None:
    from torseur.simulation.start.report import start_lines

    head, *rest = start_lines(run.start)
    click.secho(head, fg="yellow" if run.start["stability"] in ("unstable", "not known") else None)
    for line in rest:
        click.echo(line)


def _print_events(events: Sequence[Event]) -> None:
    for event in events[:MOST_EVENTS]:
        click.echo(f"  {event.time:12.6g} s  {event.name}: {event.what}")
    if len(events) > MOST_EVENTS:
        click.echo(f"  ... {len(events) - MOST_EVENTS} events more")


def _print_audit(audit: Audit) -> None:
    click.secho(audit.verdict, fg="green" if audit.holds else "red", bold=True)
    for line in audit_lines(audit):
        click.echo(f"  {line}")


def audit_lines(audit: Audit) -> list[str]:
    """The table of an audit as lines of text."""
    if not audit.table:
        return []
    width = max(7, *(len(str(row["balance"])) for row in audit.table))
    lines = [f"{'balance':<{width}}  holds  largest error  unit          at s   relative"]
    for row in audit.table:
        relative = f"{row['relative']:9.1e}" if "relative" in row else ""
        holds = "yes" if row["holds"] else "NO"
        numbers = f"{row['error']:13.3e}  {row['unit']:<6}  {row['at']:10.5g}  {relative}"
        lines.append(f"{row['balance']:<{width}}  {holds:<5}  {numbers}".rstrip())
    return lines


def _print_indicators(run: Run) -> None:
    measures = run.indicators
    if not measures:
        return
    click.secho("indicators", bold=True)
    for line in indicator_lines(measures.values()):
        click.echo(f"  {line}")
    for one in measures.values():
        if one.fails:
            click.secho(f"requirement of the scenario not met: {one.name}: {one.said}", fg="red", bold=True)


def indicator_lines(measures: Iterable[Measure]) -> list[str]:
    """Indicators as lines of text: name, value, unit, time, what else is said."""
    rows = []
    for one in measures:
        value = "-" if one.value is None else f"{one.value:.5g}"
        at = "" if one.at is None else f"at {one.at:.4g} s"
        rows.append((one.name, value, one.unit, at, one.said or ""))
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    return [
        f"{name:<{widths[0]}}  {value:>{widths[1]}}  {unit:<{widths[2]}}  {at:<{widths[3]}}  {said}".rstrip()
        for name, value, unit, at, said in rows
    ]


def _tell(written: Written, folder: Path) -> None:
    click.echo(f"written to {folder}:")
    figures = [name for name in written.files if name.startswith("figures/")]
    for name, size in written.files.items():
        if name not in figures:
            click.echo(f"  {name:<24} {_size(size):>9}")
    if figures:
        names = ", ".join(Path(name).stem for name in figures)
        click.echo(f"  {'figures/*.png':<24} {_size(sum(written.files[f] for f in figures)):>9}  {names}")
    for note in written.notes:
        click.secho(f"note: {note}", fg="yellow")
    for failure in written.failures:
        click.secho(f"failed: {failure}", fg="red", bold=True, err=True)


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"


def _end(run: Run, written: Written, ignore_audit: bool) -> None:
    """Say how it ended if it did not end well, and end the program accordingly."""
    if run.reason is not None:
        is_interrupted = run.info["outcome"] == "INTERRUPTED"
        head, _, remedy = run.reason.partition("; ")
        click.secho(f"{'interrupted' if is_interrupted else 'failed'}: {head}", fg="red", bold=True, err=True)
        if remedy:
            click.echo(f"  {remedy}", err=True)
        raise click.exceptions.Exit(INTERRUPTED if is_interrupted else FAILED)
    if run.audited is not None and not run.audited.holds and not ignore_audit:
        click.secho("the audit does not hold: this run is not to be trusted", fg="red", bold=True, err=True)
        click.echo("  a smaller solver.rtol, or --step, tells whether steps were too long", err=True)
        raise click.exceptions.Exit(WRONG)
    if written.failures:
        raise click.exceptions.Exit(UNWRITTEN)
    if any(one.fails for one in run.indicators.values()):
        raise click.exceptions.Exit(ASTRAY)
