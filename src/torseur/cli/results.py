"""A folder of results: the run in one or more formats, its study, figures, a playback, and a summary of them all.

Everything is written to a hidden folder beside first and then moved into its place, file by file, the summary last.
What an earlier run left there and this one does not make is removed; files that are not ours are left alone.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from torseur.errors import ArgumentError, MissingExtra, TorseurError
from torseur.simulation.result import Run
from torseur.simulation.result_files import ENDINGS
from torseur.simulation.study import Study

__all__ = ["SUMMARY", "Wanted", "Written", "open_result", "prepare", "write_results"]

SUMMARY = "summary.json"
PLAYBACK = "playback.html"
FIGURES = "figures"
MOST_PICTURES = 3000
"""In a playback; longer runs have fewer of them per second."""


@dataclass(frozen=True)
class Wanted:
    """What to write.

    Attributes:
        formats: of the run: endings such as .nc
        figures, playback: whether to.
        meshes: the folder of the model, where files of its shapes are looked for.
    """

    formats: tuple[str, ...] = (".nc",)
    figures: bool = True
    playback: bool = True
    meshes: Path = Path()


@dataclass
class Written:
    """What was written, by name from the folder with its size in bytes, and what had to be left out, in words."""

    files: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


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


def write_results(run: Run, study: Study, folder: Path, wanted: Wanted) -> Written:
    """Write all that is wanted and possible; what needs a package that is not installed is left out with a note."""
    written = Written()
    with _told(folder):
        stage = Path(tempfile.mkdtemp(prefix=".new-", dir=folder))
        try:
            _save_run(run, stage, wanted.formats, written)
            _try("the study", written, lambda: _save_study(study, stage))
            if wanted.figures:
                _try("figures", written, lambda: _save_figures(run, stage))
            if wanted.playback:
                _try("the playback", written, lambda: _save_playback(run, stage, wanted.meshes))
            made = sorted(path for path in stage.rglob("*") if path.is_file())
            written.files = {path.relative_to(stage).as_posix(): path.stat().st_size for path in made}
            _save_summary(run, stage, written)
            _move(stage, folder, [*written.files, SUMMARY])
        finally:
            shutil.rmtree(stage, ignore_errors=True)
    return written


def _try(what: str, written: Written, act: object) -> None:
    """Do something that is not needed for the rest."""
    assert callable(act)
    try:
        act()
    except TorseurError as error:
        remedy = f" ({error.remedy})" if error.remedy else ""
        written.notes.append(f"without {what}: {error.what}{remedy}")


# -- the parts ---------------------------------------------------------------------------------------------------------


def _save_run(run: Run, stage: Path, formats: Sequence[str], written: Written) -> None:
    for ending in formats:
        try:
            run.save(stage / f"run{ending}")
        except MissingExtra as error:
            instead = ".csv" if not {".csv", ".res"} & set(formats) else None
            written.notes.append(f"without run{ending}: {error.what} ({error.remedy})")
            if instead is not None:
                run.save(stage / f"run{instead}")


def _save_study(study: Study, stage: Path) -> None:
    from torseur.simulation.study_writer import write_study

    write_study(study, stage / "study.yaml")


def _save_figures(run: Run, stage: Path) -> None:
    from torseur.views.plots import save_figures

    folder = stage / FIGURES
    folder.mkdir()
    save_figures(run, folder)


def _save_playback(run: Run, stage: Path, meshes: Path) -> None:
    from torseur.views.scene import animate

    duration = float(run.time[-1] - run.time[0])
    animate(run, stage / PLAYBACK, fps=min(30.0, MOST_PICTURES / duration) if duration > 0.0 else 30.0, folder=meshes)


def _save_summary(run: Run, stage: Path, written: Written) -> None:
    audit = run.audited
    data = {
        "run": str(run),
        "complete": run.complete,
        "reason": run.reason,
        "audit": None if audit is None else {"verdict": audit.verdict, "holds": audit.holds, "table": audit.table},
        "events": len(run.events),
        "info": dict(run.info),
        "files": list(written.files),
        "notes": written.notes,
    }
    (stage / SUMMARY).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


# -- into place --------------------------------------------------------------------------------------------------------


def _move(stage: Path, folder: Path, names: Sequence[str]) -> None:
    stale = _listed(folder) - set(names)
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
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
    ours = {"study.yaml", PLAYBACK, *(f"run{ending}" for ending in ENDINGS)}
    listed = {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()
    figures = {name for name in listed if Path(name).parent == Path(FIGURES) and name.endswith(".png")}
    return figures | (listed & ours)


def open_result(path: Path) -> Run:
    """The run in a file, or in a folder of results."""
    from torseur.simulation.result import open_run

    if not path.is_dir():
        return open_run(path)
    for ending in ENDINGS:
        if (path / f"run{ending}").is_file():
            return open_run(path / f"run{ending}")
    expected = " or ".join(f"run{ending}" for ending in ENDINGS)
    raise ArgumentError("this folder holds no run", where=str(path), expected=expected)
