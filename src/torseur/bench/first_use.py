"""What a first use costs, cold and warm: studies of two joints from the shell, and large models to a first motion.

Each figure is that of a process of its own, interpreter and imports included. Python's own bytecode is there, as it is
where the package is installed. Beside the studies stand what a peer takes to read an arm and make one step; on a busy
machine the clock shows who else is at work. The plates on parallel cranks have two equations for each crank beyond the
first, all but one of each pair redundant: how the cost grows with redundant rows. The stacks of Sarrus linkages have
five rows for each linkage, one of them redundant, on a chain that is as long.
"""

from __future__ import annotations

import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from torseur.bench.peers import machine
from torseur.bench.timing import Report, Rows, Section
from torseur.errors import ArgumentError

__all__ = ["STUDIES", "first_motion", "first_uses", "measure", "plate", "stack"]

REPEATS = 3
_CART: dict[str, Any] = {
    "torseur": 1,
    "name": "cart_and_rod",
    "bodies": {
        "cart": {"joint": {"kind": "prismatic", "axis": "x", "coordinate": "x"}, "inertia": {"mass": 3}},
        "rod": {
            "parent": "cart",
            "joint": {"kind": "revolute", "axis": "y", "coordinate": "a", "start": 1.2},
            "inertia": {"mass": 1.5, "centre": [0, 0, -0.7]},
        },
    },
    "inputs": {"f": {"unit": "N"}},
    "loads": {"drive": {"effort": {"coordinate": "x", "value": "f"}}},
}
_FRICTION = _CART | {"loads": _CART["loads"] | {"rail": {"spring": {"coordinate": "x", "friction": 2}}}}
_CRANK: dict[str, Any] = {
    "torseur": 1,
    "name": "slider_crank",
    "bodies": {
        "crank": {
            "mdh": {"alpha": "pi/2"},
            "joint": {"kind": "revolute", "coordinate": "a"},
            "inertia": {"mass": 1, "centre": [0.1, 0, 0], "tensor": [0, 0.01, 0.01]},
            "frames": {"pin": [0.2, 0, 0]},
        },
        "piston": {
            "steps": [{"ry": "pi/2"}],
            "joint": {"kind": "prismatic", "coordinate": "x", "start": 0.8},
            "inertia": {"mass": 2},
        },
        "rod": {
            "parent": "piston",
            "mdh": {"alpha": "pi/2"},
            "joint": {"kind": "revolute", "coordinate": "b", "start": "pi/2"},
            "inertia": {"mass": 1.5, "centre": [0.3, 0, 0], "tensor": [0, 0.03, 0.03]},
            "frames": {"eye": [0.6, 0, 0]},
        },
    },
    "loops": {"pin": {"joint": "revolute", "between": ["pin", "eye"]}},
}
_PID = {"pid": {"value": "x", "reference": 0.5, "kp": 30, "ki": 4, "kd": 12}}
STUDIES: dict[str, dict[str, Any]] = {
    "cart and rod": {"model": _CART},
    "with a controller": {"model": _CART, "blocks": {"f": _PID}},
    "with dry friction": {"model": _FRICTION},
    "a closed loop": {"model": _CRANK, "start": {"da": 8}},
}
"""What is run: nothing of it comes with the package."""


def first_uses() -> Rows:
    """Cold, warm, and with figures and playback."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, study in STUDIES.items():
            file = folder / f"{title.replace(' ', '_')}.yaml"
            data = {"torseur_study": 1, "name": file.stem, "until": 5, "every": 0.01, **study}
            file.write_text(json.dumps(data), encoding="utf-8")
            start = [sys.executable, "-m", "torseur", "simulate", str(file), "-o", str(folder / "results")]
            plain = [*start, "--no-figures", "--no-playback"]
            processor_time(start, folder)  # bytecode, and what packages make for themselves
            yield f"{title}, cold", _best(plain, folder, is_cold=True)
            yield f"{title}, warm", _best(plain, folder)
            yield f"{title}, cold, all figures and playback", _best(start, folder, is_cold=True)
            yield f"{title}, warm, where all is imported", _again(file, folder)
        yield "Python with NumPy alone", _best([sys.executable, "-c", "import numpy"], folder)
        yield from _peers(folder)


def _best(command: Sequence[str], folder: Path, *, is_cold: bool = False) -> str:
    found = []
    for _ in range(REPEATS):
        if is_cold:
            shutil.rmtree(folder / "cache", ignore_errors=True)
        began = time.perf_counter()
        used = processor_time(command, folder)
        found.append((used, time.perf_counter() - began))
    used, clock = (min(x) for x in zip(*found, strict=True))
    return f"{used:.2f} s of processor time, {clock:.2f} s by the clock"


_AGAIN = """
import time
import torseur as ts
def seconds():
    began = time.process_time(), time.perf_counter()
    ts.simulate({file!r})
    return time.process_time() - began[0], time.perf_counter() - began[1]
seconds()
print(*map(min, zip(*(seconds() for _ in range({repeats})))))
"""


def _again(file: Path, folder: Path) -> str:
    """From the file to the run in a process that has made such a run before, of which nothing is kept."""
    used, clock = map(float, _output([sys.executable, "-c", _AGAIN.format(file=str(file), repeats=3)], folder).split())
    return f"{used:.3f} s of processor time, {clock:.3f} s by the clock"


def _peers(folder: Path) -> Rows:
    """From a file to one step or one call, with the start of Python."""
    with resources.as_file(resources.files("torseur.bench") / "models" / "ur5.urdf") as path:
        programs = {
            "mujoco": f"import mujoco as m; x = m.MjModel.from_xml_path({str(path)!r}); m.mj_step(x, m.MjData(x))",
            "pinocchio": f"import pinocchio as p; x = p.buildModelFromUrdf({str(path)!r}); "
            "p.aba(x, x.createData(), *3 * [p.neutral(x)])",
        }
        for package, program in programs.items():
            if find_spec(package) is not None:
                yield f"{package}: an arm is read, one step", _best([sys.executable, "-c", program], folder)


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
    _output(command, folder)
    return _used() - before


def _output(command: Sequence[str], folder: Path) -> str:
    """What a command prints, with a cache and bytecode of its own in a folder."""
    own = {"TORSEUR_CACHE": str(folder / "cache"), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment = {name: x for name, x in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | own
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ArgumentError("what is measured fails", where=" ".join(command), got=done.stderr.strip()[-500:])
    return done.stdout


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
