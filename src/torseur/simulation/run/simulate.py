"""The one call that simulates."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from torseur.describe import Mechanism
from torseur.errors import ArgumentError, ModelError
from torseur.simulation.results.result import Run
from torseur.simulation.run.checkpoint import Checkpoint, read_checkpoint
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.solvers.problem import Memory
from torseur.simulation.study.reader import read_study, study_of_text
from torseur.simulation.study.study import Scenario, Study

__all__ = ["resume", "simulate", "study_of"]


def simulate(
    what: Mechanism | Study | str | os.PathLike[str],
    *,
    scenario: Scenario | None = None,
    until: float | None = None,
    start: Mapping[str, float] | None = None,
    guess: Mapping[str, float] | None = None,
    inputs: Mapping[str, Any] | None = None,
    controllers: Mapping[str, Any] | None = None,
    solver: str | Mapping[str, Any] | None = None,
    folder: Path | None = None,
    progress: Callable[[float], object] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every_seconds: float = 60.0,
    **more: Any,
) -> Run:
    """Simulate a mechanism or a study; whatever is given here takes the place of what the study says.

    Args:
        what: a description, a study, or the file of one.
        scenario: what is done with it, such as `torseur.scenario("iso_3888_2", speed=16)` with a vehicle. What is
            given here beside takes the place of what the scenario says.
        until: the end, s.
        start: coordinates and speeds by name, held at these values. The others are as described and move to where
            constraints allow; those that the description names as a start move only if they must, and `run.start`
            says so.
        guess: coordinates and speeds by name from which the start is sought; they may move.
        inputs: input -> number, formula, signal or block that drives it.
        controllers: further blocks by name: controllers, sensors, filters.
        solver: a method by name, or the fields of a `Solver`.
        folder: where files that blocks read are looked for; by default the folder of the study's file.
        progress: called now and then with the time reached.
        checkpoint: a file from which `resume` goes on if the run is lost on the way.
        every_seconds: time between two writings of it.
        more: other fields of a `Study`: every, friction, stops, parameters, outputs, changes, ...

    >>> from torseur.describe import Effort
    >>> slide = Mechanism(
    ...     name="slide",
    ...     gravity=(0.0, 0.0, 0.0),
    ...     bodies={"cart": {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 2.0}}},
    ...     loads={"push": Effort(coordinate="x", value="f")},
    ...     inputs={"f": {}},
    ... )
    >>> run = simulate(slide, until=2.0, inputs={"f": 3.0}, every=0.5)
    >>> [round(float(x), 9) for x in run["x"]]
    [0.0, 0.1875, 0.75, 1.6875, 3.0]
    """
    given = {
        "until": until,
        "start": start,
        "guess": guess,
        "inputs": inputs,
        "blocks": controllers,
        "solver": solver,
        **more,
    }
    if not isinstance(what, (str, os.PathLike)):
        return _run(study_of(_applied(scenario, what), **given), folder, progress, checkpoint, every_seconds)
    file = read_study(what)
    file.warn()
    with file.told():
        study = study_of(_applied(scenario, file.study), **given)
        return _run(study, folder or file.folder, progress, checkpoint, every_seconds)


def _applied(scenario: Scenario | None, what: Mechanism | Study) -> Mechanism | Study:
    return what if scenario is None else scenario.applied(study_of(what))


def resume(
    path: str | os.PathLike[str],
    *,
    progress: Callable[[float], object] | None = None,
    every_seconds: float = 60.0,
) -> Run:
    """Go on with a run from the checkpoint it left; the run is, to the last bit, what it would have been.

    Only its wall time is not. The same version of Torseur and the same kind of processor are taken for granted, and
    that files which blocks read have not changed.

    Args:
        path: the file; the run goes on leaving checkpoints there.
        progress: called now and then with the time reached.
        every_seconds: time between two of them.

    >>> import tempfile
    >>> rod = {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": {"M": 1.0, "MX": 0.5, "ZZ": 0.4}}
    >>> pendulum = Mechanism(name="pendulum", gravity=(9.81, 0.0, 0.0), bodies={"rod": rod})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "left")
    ...     run = simulate(pendulum, start={"a": 0.5}, until=9.0, checkpoint=file, every_seconds=0.0)
    ...     again = resume(file)
    >>> bool((again["a"] == run["a"]).all())
    True
    """
    left = read_checkpoint(path)
    study = study_of_text(left.study, str(path), left.folder).study
    return _run(study, left.folder, progress, path, every_seconds, left.memory)


def _run(
    study: Study,
    folder: Path | None,
    progress: Callable[[float], object] | None,
    checkpoint: str | os.PathLike[str] | None,
    every_seconds: float,
    memory: Memory | None = None,
) -> Run:
    simulation = Simulation(study, folder)
    leaving = None if checkpoint is None else Checkpoint(checkpoint, study, folder, every_seconds)
    return simulation.run(progress=progress, checkpoint=leaving, memory=memory)


def study_of(what: Mechanism | Study, **given: Any) -> Study:
    """A study with some fields replaced; None leaves them as they are."""
    changed = {name: value for name, value in given.items() if value is not None}
    if isinstance(changed.get("solver"), str):
        changed["solver"] = {"method": changed["solver"]}
    if isinstance(what, Study):
        fields = {name: getattr(what, name) for name in Study.model_fields}
    elif isinstance(what, Mechanism):
        fields = {"model": what}
    else:
        raise ArgumentError(
            "only a description or a study can be simulated",
            got=repr(what)[:80],
            remedy="simulate(path), or simulate(load(path))",
        )
    try:
        return Study.model_validate({**fields, **changed})
    except ValidationError as error:
        raise ModelError.of(map(_fault_of, error.errors())) from None


def _fault_of(fault: Any) -> ModelError:
    """What is wrong with a field, in the words of its own error if it has one."""
    own, where = (fault.get("ctx") or {}).get("error"), fault["loc"] or "study"
    if isinstance(own, ModelError):
        return ModelError(own.what, where=own.where or where, expected=own.expected, got=own.got, remedy=own.remedy)
    return ModelError(str(fault["msg"]), where=where, got=_shown(fault))


def _shown(fault: Any) -> str:
    return repr(fault.get("input"))[:60]
