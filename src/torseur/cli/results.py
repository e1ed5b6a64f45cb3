"""A folder of results: the run in one or more formats, its study, figures, a playback, and a summary of them all.

The run comes first: it is in its place before anything is drawn, and nothing that fails afterwards costs it. Files are
written to a hidden folder beside and then moved into their place, one by one, the summary last. What an earlier run
left there and this one does not make is removed; files that are not ours are left alone.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from torseur.cli.beside import Beside, process_beside
from torseur.errors import ArgumentError, MissingExtra, TorseurError
from torseur.simulation.results.result import ENDINGS, Run
from torseur.simulation.study.study import Study

__all__ = ["SUMMARY", "Wanted", "Written", "add_pictures", "drawing_beside", "open_result", "prepare", "save_results"]

SUMMARY = "summary.json"
PLAYBACK = "playback.html"
INDICATORS = "indicators.csv"
FIGURES = "figures"
OVERVIEW = "overview"
REPORT = "report_"
"""What the folder of a report is called, before its language."""
_REPORT_FILE = re.compile(REPORT + r"(en|fr)/(report\.(html|tex)|figures/\w+\.pdf)")
SIMPLEST = ".csv"
"""What a run is written to where nothing else works: it needs no other package."""


@dataclass(frozen=True)
class Wanted:
    """What to write.

    Attributes:
        formats: of the run: endings such as .nc
        figures, playback: whether to.
        reports: languages of reports.
        meshes: the folder of the model, where files of its shapes are looked for.
    """

    formats: tuple[str, ...] = (".nc",)
    figures: bool = True
    playback: bool = True
    meshes: Path = Path()
    reports: tuple[str, ...] = ()

    @property
    def pictures(self) -> bool:
        """Whether anything is drawn."""
        return self.figures or self.playback or bool(self.reports)


@dataclass
class Written:
    """What came of it.

    Attributes:
        files: what was written, by name from the folder, and its size in bytes.
        notes: what needs a package that is not installed, in words.
        failures: what went wrong, a line each.
    """

    files: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def prepare(folder: Path) -> None:
    """Make the folder, and see that it can be written to before anything is computed."""
    with _told(folder):
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        got = error.strerror or type(error).__name__
        raise ArgumentError("the folder of results cannot be written to", where=str(folder), got=got) from error


def save_results(run: Run, study: Study, folder: Path, wanted: Wanted) -> Written:
    """Put run and study into the folder. Where that cannot be, the run is saved elsewhere and that is said."""
    written = Written()
    try:
        with _told(folder), _staged(folder) as stage:
            _save_run(run, stage, wanted.formats, written)
            _try("study.yaml", written, partial(_save_study, study, stage))
            if run.indicators:
                _try(INDICATORS, written, partial(_save_indicators, run, stage))
            _publish(run, stage, folder, written)
    except Exception as error:
        written.files.clear()
        written.failures.append(f"{_one_line(error)}; the run is in {_rescued(run, wanted.formats, error)} instead")
    return written


def drawing_beside(wanted: Wanted) -> AbstractContextManager[Beside | None]:
    """A process for figures, if there is something else to draw meanwhile."""
    return process_beside(_prepare_figures, _figures_by_two) if wanted.figures and wanted.playback else nullcontext()


def add_pictures(
    run: Run, study: Study, folder: Path, wanted: Wanted, written: Written, beside: Beside | None = None
) -> None:
    """Put figures, playback and reports beside a run that is saved; one that fails costs nothing but itself.

    Args:
        run, study, folder, wanted: what is drawn, and where.
        written: what is there already; what is added goes into it.
        beside: the process that draws the figures, see `drawing_beside`.
    """

    def add() -> None:
        with _told(folder), _staged(folder) as stage:
            is_handed_over = beside is not None and wanted.figures and beside.begin(run, stage, wanted.meshes)
            if wanted.figures and not is_handed_over:
                _add(written, _figures(run, stage, wanted.meshes))
            if wanted.playback:
                _try("playback", written, partial(_save_playback, run, stage, wanted.meshes))
            for language in wanted.reports:
                _try(f"report in {language}", written, partial(_save_report, run, study, stage, language))
            if beside is not None and is_handed_over:
                _try("figures", written, lambda: _add(written, beside.end()))
            _publish(run, stage, folder, written)

    if written.files and wanted.pictures:
        _try("figures and playback", written, add)


def _try(what: str, written: Written, act: Callable[[], object]) -> None:
    """Do something that the rest does not need; if it fails, for whatever reason, say so in one line."""
    try:
        act()
    except MissingExtra as error:
        written.notes.append(f"without {what}: {error.what} ({error.remedy})")
    except Exception as error:
        written.failures.append(f"{what}: {_one_line(error)}")


def _one_line(error: Exception) -> str:
    """What an error says, on one line; of one that is not ours also its kind."""
    if not isinstance(error, TorseurError):
        return " ".join(f"{type(error).__name__}: {error}".split())
    parts = [part for part in (error.where, error.got, error.remedy) if part]
    return " ".join((f"{error.what} ({'; '.join(parts)})" if parts else error.what).split())


def _rescued(run: Run, formats: Sequence[str], error: Exception) -> Path:
    """The run in a file among temporary ones, in the first format that works; the error itself if none does."""
    for ending in dict.fromkeys((*formats, SIMPLEST)):
        with suppress(Exception):
            file = Path(tempfile.mkdtemp(prefix="torseur-")) / f"run{ending}"
            run.save(file)
            return file
    raise error


# -- the parts ---------------------------------------------------------------------------------------------------------


def _save_run(run: Run, stage: Path, formats: Sequence[str], written: Written) -> None:
    for ending in formats:
        _try(f"run{ending}", written, partial(run.save, stage / f"run{ending}"))
    if not any(stage.glob("run.*")):
        run.save(stage / f"run{SIMPLEST}")


def _save_study(study: Study, stage: Path) -> None:
    from torseur.simulation.study.writer import write_study

    write_study(study, stage / "study.yaml")


def _save_indicators(run: Run, stage: Path) -> None:
    rows = [asdict(measure) for measure in run.indicators.values()]
    with (stage / INDICATORS).open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, ["name", "value", "unit", "at", "said", "fails", "definition"])
        table.writeheader()
        table.writerows({**row, "fails": int(row["fails"])} for row in rows)


def _prepare_figures() -> None:
    """Import what draws, and draw something small: fonts and the reader of formulas take a while to begin with."""
    from torseur.views.overview import draw_overview  # noqa: F401
    from torseur.views.plots.style import new_figure, styled, write_png

    with styled():
        figure = new_figure(1.0)
        figure.subplots().set_title(r"a $\dot{\theta}_1$")
        write_png(figure, io.BytesIO())


def _figures(run: Run, stage: Path, meshes: Path, chosen: Sequence[str] | None = None) -> Written:
    """All of them, or those of some names, and what came of it."""
    written = Written()
    _try("figures", written, partial(_save_figures, run, stage, written, meshes, chosen))
    return written


def _figures_by_two(run: Run, stage: Path, meshes: Path) -> Written:
    """The same with the help of another process, which begins with all that this one has imported."""
    first, second = _halves(list(_figures_of(run, meshes)))
    with process_beside(list, _figures) as helper:
        is_shared = helper is not None and helper.begin(run, stage, meshes, second)
        written = _figures(run, stage, meshes, first if is_shared else None)
        if helper is not None and is_shared:
            _try("figures", written, lambda: _add(written, helper.end()))
    return written


def _halves(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Two lists that take about as long: the overview is worth three others."""
    lists: tuple[list[str], list[str]] = [], []
    weights = [0, 0]
    for name in names:
        k = weights.index(min(weights))
        lists[k].append(name)
        weights[k] += 3 if name == OVERVIEW else 1
    return lists


def _add(written: Written, more: Written) -> None:
    written.notes += more.notes
    written.failures += more.failures


def _figures_of(run: Run, meshes: Path) -> dict[str, Callable[[], Any]]:
    from torseur.views.overview import draw_overview
    from torseur.views.plots import figures_to_draw

    return {OVERVIEW: partial(draw_overview, run, meshes), **figures_to_draw(run)}


def _save_figures(run: Run, stage: Path, written: Written, meshes: Path, chosen: Sequence[str] | None) -> None:
    (stage / FIGURES).mkdir(exist_ok=True)
    for name, draw in _figures_of(run, meshes).items():
        if chosen is None or name in chosen:
            file = stage / FIGURES / f"{name}.png"
            _try(f"{FIGURES}/{file.name}", written, partial(_save_figure, draw, file))


def _save_figure(draw: Callable[[], Any], file: Path) -> None:
    from torseur.views.plots import save_figure

    save_figure(draw(), file)


def _save_playback(run: Run, stage: Path, meshes: Path) -> None:
    from torseur.views.scene import animate

    animate(run, stage / PLAYBACK, folder=meshes)


def _save_report(run: Run, study: Study, stage: Path, language: str) -> None:
    from torseur.views.report import report

    report(run, stage / f"{REPORT}{language}", study=study, language=language, formats=("html", "latex"))


def _save_summary(run: Run, stage: Path, written: Written) -> None:
    audit = run.audited
    data = {
        "run": str(run),
        "complete": run.complete,
        "reason": run.reason,
        "audit": None if audit is None else {"verdict": audit.verdict, "holds": audit.holds, "table": audit.table},
        "events": len(run.events),
        "indicators": {name: one.value for name, one in run.indicators.items()},
        "info": dict(run.info),
        "files": list(written.files),
        "notes": written.notes,
        "failures": written.failures,
    }
    (stage / SUMMARY).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


# -- into place --------------------------------------------------------------------------------------------------------


@contextmanager
def _staged(folder: Path) -> Iterator[Path]:
    """A hidden folder beside the results, for the time it takes to make them."""
    stage = Path(tempfile.mkdtemp(prefix=".new-", dir=folder))
    try:
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _publish(run: Run, stage: Path, folder: Path, written: Written) -> None:
    """Move what was made into its place, with a summary of all that is there."""
    made = sorted(path for path in stage.rglob("*") if path.is_file())
    names = [path.relative_to(stage).as_posix() for path in made]
    listed = replace(written, files=written.files | {n: p.stat().st_size for n, p in zip(names, made, strict=True)})
    _save_summary(run, stage, listed)
    _move(stage, folder, [*names, SUMMARY], stale=_listed(folder) - listed.files.keys())
    written.files = listed.files


def _move(stage: Path, folder: Path, names: Sequence[str], stale: Iterable[str]) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (stage / name).replace(folder / name)
    for name in stale:
        (folder / name).unlink(missing_ok=True)
    left = folder / FIGURES
    if left.is_dir() and not any(left.iterdir()):
        left.rmdir()


def _listed(folder: Path) -> set[str]:
    """What an earlier run says it wrote, as far as that can be ours."""
    try:
        names = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    ours = {"study.yaml", PLAYBACK, INDICATORS, *(f"run{ending}" for ending in ENDINGS)}
    listed = {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()
    figures = {name for name in listed if Path(name).parent == Path(FIGURES) and name.endswith(".png")}
    reports = {n for n in listed if _REPORT_FILE.fullmatch(n)}
    return figures | reports | (listed & ours)


def open_result(path: Path) -> Run:
    """The run in a file, or in a folder of results."""
    from torseur.simulation.results.result import open_run

    if not path.is_dir():
        return open_run(path)
    for ending in ENDINGS:
        if (path / f"run{ending}").is_file():
            return open_run(path / f"run{ending}")
    expected = " or ".join(f"run{ending}" for ending in ENDINGS)
    raise ArgumentError("this folder holds no run", where=str(path), expected=expected)
