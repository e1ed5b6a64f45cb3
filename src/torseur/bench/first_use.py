"""What a first use costs: studies of two joints by the command line, with an empty and a full cache, from a shell.

Processor time and time by the clock, the start of Python and all imports in them, the best of a few: on a busy machine
the clock shows who else is at work. Beside them stand what a peer takes to read an arm and make one step.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from torseur.bench.build import processor_time
from torseur.bench.timing import Rows

__all__ = ["STUDIES", "first_uses"]

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
