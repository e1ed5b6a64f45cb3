"""SYMORO and CAGeM files read with regular expressions and computed with NumPy: an independent opinion on them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from torseur.describe import Mechanism
from torseur.dynamics.tree.system import System, body_poses, frame_pose
from torseur.graph import Function, evaluate

Matrix = NDArray[np.float64]

_KNOWN = {"pi": math.pi, "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "atan2": math.atan2}


# -- what the package says ---------------------------------------------------------------------------------------------
def posed(mechanism: Mechanism, q: Mapping[str, float], parameters: Mapping[str, float]) -> dict[str, Matrix]:
    """The pose of every body and frame, from the package; coordinates that are not given are zero."""
    values = dict.fromkeys(mechanism.parameters, 0.0) | dict(parameters)
    fixed = {name: x for name, x in values.items() if not isinstance(mechanism.parameters[name].value, (float, int))}
    system = System(mechanism, fixed)
    poses = body_poses(system)
    names = [name for name in mechanism.frames if name != "world"]
    outputs = {name: frame_pose(system, poses, name).matrix() for name in names}
    function = Function("poses", [system.q, system.p], outputs)
    given = [q.get(x.name, x.start if x.name == "qw" else 0.0) for x in mechanism.q]
    numbers = [mechanism.parameters[name].value for name in system.p.names]
    return dict(zip(names, evaluate(function, given, numbers), strict=True))


# -- what the file says ------------------------------------------------------------------------------------------------
def Rx(a: float) -> Matrix:
    return np.array([[1, 0, 0, 0], [0, np.cos(a), -np.sin(a), 0], [0, np.sin(a), np.cos(a), 0], [0, 0, 0, 1]])


def Ry(a: float) -> Matrix:
    return np.array([[np.cos(a), 0, np.sin(a), 0], [0, 1, 0, 0], [-np.sin(a), 0, np.cos(a), 0], [0, 0, 0, 1]])


def Rz(a: float) -> Matrix:
    return np.array([[np.cos(a), -np.sin(a), 0, 0], [np.sin(a), np.cos(a), 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def move(x: float, y: float, z: float) -> Matrix:
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def vectors(text: str) -> dict[str, list[str]]:
    """The vectors of a .par file, by key in lower case."""
    plain = re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)
    return {
        key.lower(): re.split(r"\s*,\s*", body.strip()) for key, body in re.findall(r"(\w+)\s*=\s*\{([^}]*)\}", plain)
    }


def symbols(text: str) -> set[str]:
    """The symbols of the geometry of a .par file."""
    found = vectors(text)
    words = " ".join(" ".join(found[key]) for key in ("b", "d", "r", "gamma", "alpha", "theta"))
    return {word for word in re.findall(r"[A-Za-z]\w*", words) if word.lower() != "pi"}


def frames(text: str, values: Mapping[str, float], moved: Mapping[int, float] | None = None) -> list[Matrix]:
    """The poses of frames 0, 1, ... of a .par file on a base at rest: products of its rows.

    `moved` is added to theta or r of frames whose coordinate has no symbol.
    """
    found = vectors(text)
    number = {key: [_number(x, values) for x in found[key]] for key in ("b", "d", "r", "gamma", "alpha", "theta")}
    sigma, ant = [int(x) for x in found["sigma"]], [int(x) for x in found["ant"]]
    poses = {0: np.eye(4)}
    for j in range(1, len(ant) + 1):
        row = {key: number[key][j - 1] for key in number}
        if moved is not None:
            row["theta" if sigma[j - 1] == 0 else "r"] += moved.get(j, 0.0)
        before = Rz(row["gamma"]) @ move(0, 0, row["b"]) @ Rx(row["alpha"]) @ move(row["d"], 0, 0)
        poses[j] = poses[ant[j - 1]] @ before @ Rz(row["theta"]) @ move(0, 0, row["r"])
    return [poses[j] for j in range(len(poses))]


def _number(text: str, values: Mapping[str, float]) -> float:
    return float(eval(text.replace("Pi", "pi").replace("^", "**"), {"__builtins__": {}}, {**_KNOWN, **values}))


class _Product:
    def __init__(self, T: Matrix) -> None:
        self.T = T

    def __mul__(self, other: _Product) -> _Product:
        return _Product(self.T @ other.T)


def listed_poses(text: str, q: list[float]) -> dict[int, Matrix]:
    """T0G of every body of a CAGeM listing."""
    plain = re.sub(r"//[^\n]*", "", text)
    scope = {"__builtins__": {}, "q": q, **_KNOWN}
    scope |= {
        "Trotx": lambda a: _Product(Rx(a)),
        "Troty": lambda a: _Product(Ry(a)),
        "Trotz": lambda a: _Product(Rz(a)),
    }
    scope["Tdisp"] = lambda x, y, z: _Product(move(x, y, z))
    found = {}
    for name, index, value in re.findall(r"(\w+)(?:\[(\d+)\])?\s*:=([^:]*):", plain):
        if not index and re.fullmatch(r"[\d. ]+", value):
            scope[name] = float(value)
        elif name == "T0G":
            found[int(index)] = eval(value.strip(), scope).T
    return found
