"""``torseur export``: programs that need nothing of Torseur."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torseur.cli.commands import ModelFile, base_option, extensions_option
from torseur.errors import ArgumentError

if TYPE_CHECKING:
    from torseur.export import ExportedFunction
    from torseur.model import Model
    from torseur.simulation.study.reader import StudyFile
    from torseur.simulation.study.study import Study

__all__ = ["export"]


@click.group("export")
def export() -> None:
    """Write C, Python, MATLAB or an FMU of a model or study."""


def _shared(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that all languages have."""
    options = [
        base_option,
        extensions_option,
        click.option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="A parameter."),
        click.option("--frame", help="Frame, for poses, Jacobians and the like."),
        click.option(
            "--axes", type=click.Choice(["own", "world"]), default="own", show_default=True, help="Axes of --frame."
        ),
        click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Folder to write."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


functions_option = click.option(
    "--functions", metavar="NAMES", help="Quantities, by commas: inverse_dynamics, mass_matrix, jacobian, ..."
)


def _of_study(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of a study that is exported."""
    options = [
        click.option("--solver", metavar="NAME", help="Fixed-step method: rk4, newmark, hht, generalised_alpha."),
        click.option("--step", type=float, metavar="S", help="Its step, s."),
        click.option("--until", type=float, metavar="S", help="End of the run, s."),
        click.option("--every", type=float, metavar="S", help="Time between records, s."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@export.command("c")
@click.argument("file", metavar="MODEL|STUDY", type=ModelFile())
@functions_option
@_of_study
@_shared
def export_c(
    file: Path,
    functions: str | None,
    output: Path,
    solver: str | None,
    step: float | None,
    until: float | None,
    every: float | None,
    **options: Any,
) -> None:
    """C99 of functions of a model (--functions), or of a whole study: sources, header, CMake.

    No allocation, no library but that of mathematics. A study is a library that makes its steps, and a program that
    makes its run and writes .res and .vol.
    """
    from torseur.export import StudyParts, c_files, study_files

    given = {"solver": solver, "step": step, "until": until, "every": every}
    if functions is not None:
        idle = [name for name, value in given.items() if value is not None]
        if idle:
            raise ArgumentError(
                "--functions exports functions of a model, which are not integrated",
                got=", ".join(f"--{name}" for name in idle),
            )
        write(output, c_files(*_functions(file, functions, **options)))
        return
    read, study = study_in(file, options, **given)
    with read.told():
        files = study_files(StudyParts(study, read.folder, file.stem, stepped=True))
    write(output, files)


def study_in(file: Path, options: Mapping[str, Any], **given: Any) -> tuple[StudyFile, Study]:
    """The study of a file with what the command line says; options of functions are refused."""
    from torseur.cli.simulate import changed_study
    from torseur.simulation.study.reader import read_study

    if options["frame"] is not None:
        raise ArgumentError(
            "the export of a study takes no frame", got="--frame", remedy="name functions: --functions jacobian"
        )
    read = read_study(file, base=options["base"])
    return read, changed_study(read, pairs=options["pairs"], **given)


@export.command("python")
@click.argument("file", metavar="MODEL", type=ModelFile())
@functions_option
@_shared
def export_python(file: Path, functions: str | None, output: Path, **options: Any) -> None:
    """Python of functions of a model, which needs nothing but NumPy."""
    from torseur.export import python_files

    write(output, python_files(*_functions(file, functions, **options)))


@export.command("matlab")
@click.argument("file", metavar="MODEL", type=ModelFile())
@functions_option
@_shared
def export_matlab(file: Path, functions: str | None, output: Path, **options: Any) -> None:
    """Function files of a model for MATLAB and Octave."""
    from torseur.export import matlab_files

    write(output, matlab_files(*_functions(file, functions, **options)))


def _functions(
    file: Path,
    functions: str | None,
    base: str | None,
    pairs: tuple[str, ...],
    frame: str | None,
    axes: str,
) -> tuple[Model, list[ExportedFunction]]:
    from torseur.cli.assignments import numbers
    from torseur.export import exported_functions
    from torseur.formats import load
    from torseur.model import build

    if not functions or not functions.strip(" ,"):
        raise ArgumentError("no function is asked for", where="--functions", expected="such as inverse_dynamics")
    model = build(load(file, base=base), parameters=numbers(pairs, "--set"))
    names = [name.strip() for name in functions.split(",") if name.strip()]
    return model, exported_functions(model, names, frame=frame, axes=None if axes == "own" else axes)


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put files into a folder and say what there is; a folder that holds something else is left alone."""
    from torseur.formats import replace_file

    if folder.exists() and not folder.is_dir():
        raise ArgumentError("there is a file where the folder should be", where=str(folder))
    for path, data in sorted(files.items()):
        target = folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArgumentError("the folder cannot be made", where=str(target.parent), got=str(error)) from error
        replace_file(target, data)
        click.echo(f"  {path:<40} {len(data):>9} bytes")


@export.command("fmu")
@click.argument("file", metavar="STUDY", type=ModelFile())
@click.option(
    "--version", type=click.Choice(["2", "3"]), default="2", show_default=True, help="Version of the FMI standard."
)
@click.option(
    "--kind",
    type=click.Choice(["cs", "me"]),
    default="cs",
    show_default=True,
    help="cs: co-simulation, with the steps of the study; me: model exchange.",
)
@click.option("--sources-only", is_flag=True, help="Do not compile: an FMU of sources only.")
@_of_study
@base_option
@extensions_option
@click.option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="A parameter, start or input.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The file, NAME.fmu.")
def export_fmu(
    file: Path,
    version: str,
    kind: str,
    sources_only: bool,
    solver: str | None,
    step: float | None,
    until: float | None,
    every: float | None,
    base: str | None,
    pairs: tuple[str, ...],
    output: Path,
) -> None:
    """A functional mock-up unit of a study: FMI 2.0 or 3.0, co-simulation or model exchange."""
    from torseur.export import StudyParts, fmu_of
    from torseur.formats import replace_file

    options = {"frame": None, "base": base, "pairs": pairs}
    read, study = study_in(file, options, solver=solver, step=step, until=until, every=every)
    with read.told():
        parts = StudyParts(study, read.folder, file.stem, stepped=kind == "cs", resets=True)
        fmu = fmu_of(parts, version, kind, binary=not sources_only)
    output.parent.mkdir(parents=True, exist_ok=True)
    replace_file(output, fmu.data)
    binary = "with a binary for this machine" if fmu.has_binary else "sources only: compile them where they are used"
    click.echo(f"  {output.name:<40} {len(fmu.data):>9} bytes, {binary}")
