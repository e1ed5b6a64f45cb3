"""What a first result costs: processor time from a model file to a simulated motion, with an empty and a full cache.

Each figure is that of a process of its own, interpreter and imports included. Python's own bytecode is there, as it is
where the package is installed. The plates on parallel cranks have two equations for each crank beyond the first, all
but one of each pair redundant: how the cost grows with redundant rows. The stacks of Sarrus linkages have five rows for
each linkage, one of them redundant, on a chain that is as long.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from torseur.bench.peers import machine
from torseur.bench.timing import Report, Rows, Section
from torseur.errors import ArgumentError

__all__ = ["first_motion", "measure", "plate", "stack"]

ROWS = (20, 40, 80)
"""Redundant constraint rows of the plates."""

STAGES = (4, 8)
"""Sarrus linkages on top of each other."""

UNTIL = 0.05
"""Of the simulated motion, s."""


def plate(rows: int) -> dict[str, Any]:
    """A plate on parallel cranks, as a model file; it has one degree of freedom, however many rows there are."""
    count = rows // 2 + 1
    places = [(math.cos(2.4 * k) * (1 + 0.1 * k), math.sin(2.4 * k) * (1 + 0.1 * k)) for k in range(count)]
    rod = {"mass": 1.0, "centre": [0.2, 0, 0], "tensor": [1e-3, 0.02, 0.02]}
    bodies: dict[str, Any] = {}
    for k, (x, y) in enumerate(places):
        joint = {"kind": "revolute", "coordinate": f"q{k}", "start": 0.7}
        frames = {f"end{k}": [0.4, 0, 0]}
        bodies[f"crank{k}"] = {"pose": {"position": [x, y, 0]}, "joint": joint, "inertia": rod, "frames": frames}
    (x0, y0), turn = places[0], {"kind": "revolute", "coordinate": "turn", "start": -0.7}
    bodies["plate"] = {
        "parent": "crank0",
        "pose": {"position": [0.4, 0, 0]},
        "joint": turn,
        "inertia": {"mass": 2.0, "centre": [0.1, 0, 0], "tensor": [0.3, 0.3, 0.5]},
        "frames": {f"corner{k}": [x - x0, y - y0, 0] for k, (x, y) in enumerate(places)},
    }
    loops = {f"pin{k}": {"joint": "revolute", "between": [f"corner{k}", f"end{k}"]} for k in range(1, count)}
    return {"torseur": 1, "name": f"plate_{rows}", "gravity": [0, -9.81, 0], "bodies": bodies, "loops": loops}


def stack(stages: int) -> dict[str, Any]:
    """Sarrus linkages (1853) on top of each other, as a model file: each lifts a table on which the next one stands."""
    r, rim = 0.5, 0.3
    rod = {"mass": 1.0, "centre": [r / 2, 0, 0], "tensor": [1e-3, r * r / 12, r * r / 12]}
    table = {"mass": 3.0, "centre": [-rim, 0, 0], "tensor": [0.1, 0.2, 0.1]}
    middle = [{"rx": -math.pi / 2}, {"tx": -rim}]
    bodies: dict[str, Any] = {}
    for n in range(stages):
        ground: dict[str, Any] = {"parent": f"table{n - 1}"} if n else {}
        for side, turn in enumerate((0.0, math.pi / 2)):
            steps = [*(middle if n else []), {"rz": turn}, {"tx": rim}, {"rx": math.pi / 2}]
            lower, upper = (_hinge(f"{name}{n}_{side}", start) for name, start in (("q", 0.5), ("p", math.pi - 1.0)))
            bodies[f"lower{n}_{side}"] = {**ground, "steps": steps, "joint": lower, "inertia": rod}
            bodies[f"upper{n}_{side}"] = {
                "parent": f"lower{n}_{side}",
                "steps": [{"tx": r}],
                "joint": upper,
                "inertia": rod,
                "frames": {f"top{n}_{side}": [r, 0, 0]},
            }
        bodies[f"table{n}"] = {
            "parent": f"upper{n}_0",
            "steps": [{"tx": r}],
            "joint": _hinge(f"turn{n}", math.pi + 0.5),
            "inertia": table,
            "frames": {f"side{n}": {"steps": [*middle, {"rz": math.pi / 2}, {"tx": rim}, {"rx": math.pi / 2}]}},
        }
    loops = {f"guide{n}": {"joint": "revolute", "between": [f"top{n}_1", f"side{n}"]} for n in range(stages)}
    return {"torseur": 1, "name": f"stack_{stages}", "gravity": [0, 0, -9.81], "bodies": bodies, "loops": loops}


def _hinge(coordinate: str, start: float) -> dict[str, Any]:
    return {"kind": "revolute", "coordinate": coordinate, "start": start}


def measure(
    tell: Callable[[str], object] = print,
    files: Sequence[str] = (),
    rows: Sequence[int] = ROWS,
    stages: Sequence[int] = STAGES,
) -> Report:
    """Model files, or the plates and the stacks where none are given.

    Args:
        tell: called with what is being measured.
        files: model files.
        rows: of the plates.
        stages: of the stacks.
    """
    missing = [file for file in files if not Path(file).is_file()]
    if missing:
        raise ArgumentError("no such model files", got=", ".join(missing))
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(file).absolute() for file in files]
        own = {f"plate_on_cranks_{n}_rows": plate(n) for n in rows}
        own |= {f"{n}_stacked_Sarrus_linkages": stack(n) for n in stages}
        for name, model in () if files else own.items():
            path = Path(folder) / f"{name}.yaml"
            path.write_text(json.dumps(model), encoding="utf-8")
            paths.append(path)
        found = tuple(_figures(paths, tell))
    return Report((Section("machine", tuple(machine())), Section("processor time to a first motion", found)))


def _figures(paths: Sequence[Path], tell: Callable[[str], object]) -> Rows:
    for path in paths:
        tell(f"measuring {path.stem}")
        cold, warm = first_motion(path)
        yield path.stem, f"{cold:.2f} s cold, {warm:.2f} s warm"


def first_motion(path: Path) -> tuple[float, float]:
    """Processor time of a model or study with an empty and a full cache, s."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        begin = "import torseur.packs.extension, torseur.simulation.run.simulate"
        processor_time([sys.executable, "-c", begin], folder)
        cold, warm = (_seconds(path, folder) for _ in range(2))
    return cold, warm


def _seconds(path: Path, folder: Path) -> float:
    """Of the processor, in a process of its own."""
    return processor_time(
        [sys.executable, "-c", f"import torseur as ts; ts.simulate({str(path)!r}, until={UNTIL})"], folder
    )


def processor_time(command: Sequence[str], folder: Path) -> float:
    """Of a command with a cache and bytecode of its own in a folder, s."""
    before = _used()
    own = {"TORSEUR_CACHE": str(folder / "cache"), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment = {name: x for name, x in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | own
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ArgumentError("what is measured fails", where=" ".join(command), got=done.stderr.strip()[-500:])
    return _used() - before


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
