"""Linkages with more constraints than their motion needs, and what geometry says of them in closed form.

Each is a description and a function that gives every coordinate from the first one, the crank's angle (its turns
counted), on the branch of the start.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from torseur.describe import Mechanism
from torseur.formats.yaml.reader import read_yaml
from torseur.formats.yaml.writer import write_yaml

__all__ = ["LINKAGES", "Linkage", "bennett", "cranks", "described", "locomotive", "sarrus", "scissors"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Linkage:
    """A description, its coordinates as functions of the first one, and a speed to start with."""

    mechanism: Mechanism
    closed_form: Callable[[Array], Array]
    start: dict[str, float]
    spin: float
    redundant: int
    time: float = 2.0


def described(model: dict[str, Any] | Mechanism, **fields: Any) -> Mechanism:
    """As if it came from a file; with other fields, what such a file says with them."""
    data = yaml.safe_load(write_yaml(model)) if isinstance(model, Mechanism) else {"torseur": 1, **model}
    return read_yaml(json.dumps({**data, **fields}))


def _rod(length: float, mass: float = 1.0) -> dict[str, Any]:
    J = mass * length**2 / 12.0
    return {"mass": mass, "centre": [length / 2, 0, 0], "tensor": [1e-3, J, J]}


def _revolute(coordinate: str, start: float = 0.0) -> dict[str, Any]:
    return {"kind": "revolute", "coordinate": coordinate, "start": start}


def cranks(count: int = 3, gravity: float = 0.0, lengths: tuple[float | str, ...] | None = None) -> Linkage:
    """A plate on parallel cranks: it moves along a circle without turning. Each crank beyond two is redundant."""
    lengths = lengths or (0.4,) * count
    places = [(0.0, 0.0), (1.0, 0.0), (0.3, 0.8), (0.9, -0.5), (-0.6, 0.4)][:count]
    bodies: dict[str, Any] = {}
    for k, (x, y) in enumerate(places, 1):
        bodies[f"crank{k}"] = {
            "pose": {"position": [x, y, 0]},
            "joint": _revolute(f"q{k}", 0.7),
            "inertia": _rod(0.4),
            "frames": {f"end{k}": [lengths[k - 1], 0, 0]},
        }
    corner = {f"corner{k}": [x, y, 0] for k, (x, y) in enumerate(places, 1)}
    bodies["plate"] = {
        "parent": "crank1",
        "pose": {"position": [lengths[0], 0, 0]},
        "joint": _revolute("plate_turn", -0.7),
        "inertia": {"mass": 2.0, "centre": [0.4, 0.2, 0], "tensor": [0.3, 0.3, 0.5]},
        "frames": corner,
    }
    loops = {f"pin{k}": {"joint": "revolute", "between": [f"corner{k}", f"end{k}"]} for k in range(2, count + 1)}
    model = {"name": "plate_on_cranks", "gravity": [0, -gravity, 0], "bodies": bodies, "loops": loops}
    symbols = [length for length in lengths if isinstance(length, str)]
    if symbols:
        model["parameters"] = {symbol: {"value": 0.4} for symbol in symbols}

    def closed(q1: Array) -> Array:
        return np.stack([q1] * count + [-q1], axis=-1)

    return Linkage(described(model), closed, {"q1": 0.7}, 3.0, (count - 2))


def locomotive() -> Linkage:
    """Two axles with cranks on both ends, at right angles, and a coupling rod on each side (in one model plane each).

    Each side alone passes its dead points; both together always have a good one.
    """
    r, base = 0.3, 1.5
    bodies: dict[str, Any] = {}
    for k, x in ((1, 0.0), (2, base)):
        bodies[f"axle{k}"] = {
            "pose": {"position": [x, 0, 0]},
            "joint": _revolute(f"q{k}", 0.2),
            "inertia": {"mass": 30.0, "centre": [0, 0, 0], "tensor": [1.0, 1.0, 1.5]},
            "frames": {f"left{k}": [r, 0, 0.7], f"right{k}": [0, r, -0.7]},
        }
    loops = {}
    for side, z, turn in (("left", 0.7, 0.0), ("right", -0.7, math.pi / 2)):
        bodies[f"{side}_rod"] = {
            "parent": "axle1",
            "pose": {"position": [r * math.cos(turn), r * math.sin(turn), z]},
            "joint": _revolute(f"{side}_turn", -0.2),
            "inertia": _rod(base, 5.0),
            "frames": {f"{side}_end": [base, 0, 0]},
        }
        loops[side] = {"joint": "revolute", "between": [f"{side}_end", f"{side}2"]}
    model = {"name": "locomotive", "gravity": [0, -9.81, 0], "bodies": bodies, "loops": loops}

    def closed(q1: Array) -> Array:
        return np.stack([q1, q1, -q1, -q1], axis=-1)

    return Linkage(described(model), closed, {"q1": 0.2}, 8.0, 1)


def bennett(a: float = 0.4, b: float = 0.7, alpha: float = 0.6, digits: int | None = None) -> Linkage:
    """Bennett 1903: four bars in space, sin(alpha)/a = sin(beta)/b; it moves with three rows too many.

    tan(q1/2) tan(q2/2) = sin((beta + alpha)/2) / sin((beta - alpha)/2), q3 = -q1, q4 = -q2.
    """
    beta = math.asin(b * math.sin(alpha) / a)
    if digits is not None:
        beta = round(beta, digits)
    links = [(a, alpha), (b, beta), (a, alpha), (b, beta)]
    ratio = math.sin((beta + alpha) / 2) / math.sin((beta - alpha) / 2)

    def second(q1: Array) -> Array:
        """tan(q1/2) tan(q2/2) = ratio, up to whole turns."""
        return np.asarray(2 * np.arctan2(ratio * np.cos(q1 / 2), np.sin(q1 / 2)))

    q1 = np.array(0.9)
    bodies: dict[str, Any] = {}
    parent, start = "base", [float(q1), float(second(q1)), -float(q1)]
    # frame k: z along axis k, x along link k; MDH with the joint first, then the link
    previous = (0.0, 0.0)
    for k in range(1, 4):
        bodies[f"link{k}"] = {
            "parent": parent,
            "mdh": {"d": previous[0], "alpha": previous[1]},
            "joint": _revolute(f"q{k}", start[k - 1]),
            "inertia": _rod(links[k - 1][0]),
        }
        parent, previous = f"link{k}", links[k - 1]
    bodies["link3"]["frames"] = {"end": {"mdh": {"d": links[2][0], "alpha": links[2][1]}}}
    # the fourth link is the ground: its far axis is joint 1 of the base
    base = {"frames": {"ground_end": {"steps": [{"rx": -links[3][1]}, {"tx": -links[3][0]}]}}}
    loops = {"last": {"joint": "revolute", "between": ["end", "ground_end"]}}
    model = {"name": "bennett", "gravity": [0, 0, 0], "base": base, "bodies": bodies, "loops": loops}

    def closed(q: Array) -> Array:
        return np.stack([q, second(q), -q], axis=-1)

    return Linkage(described(model), closed, {"q1": 0.9}, 2.0, 3)


def sarrus() -> Linkage:
    """Sarrus 1853: two folding pairs of plates at right angles guide a table along a straight line."""
    r = 0.5
    bodies: dict[str, Any] = {}
    loops = {}
    for k, turn in enumerate((0.0, math.pi / 2)):
        bodies[f"lower{k}"] = {
            "steps": [{"rz": turn}, {"tx": 0.3}, {"rx": math.pi / 2}],
            "joint": _revolute(f"q{k}", 0.5),
            "inertia": _rod(r),
        }
        bodies[f"upper{k}"] = {
            "parent": f"lower{k}",
            "steps": [{"tx": r}],
            "joint": _revolute(f"p{k}", math.pi - 1.0),
            "inertia": _rod(r),
            "frames": {f"top{k}": {"steps": [{"tx": r}]}},
        }
    bodies["table"] = {
        "parent": "upper0",
        "steps": [{"tx": r}],
        "joint": _revolute("table_turn", math.pi + 0.5),
        "inertia": {"mass": 3.0, "centre": [-0.3, 0, 0], "tensor": [0.1, 0.2, 0.1]},
        "frames": {
            "side": {
                "steps": [{"rx": -math.pi / 2}, {"tx": -0.3}, {"rz": math.pi / 2}, {"tx": 0.3}, {"rx": math.pi / 2}]
            }
        },
    }
    loops["guide"] = {"joint": "revolute", "between": ["top1", "side"]}
    model = {"name": "sarrus", "gravity": [0, 0, -9.81], "bodies": bodies, "loops": loops}

    def closed(q0: Array) -> Array:
        return np.stack([q0, math.pi - 2 * q0, q0, math.pi - 2 * q0, math.pi + q0], axis=-1)

    return Linkage(described(model), closed, {"q0": 0.5}, 0.5, 1, 0.3)


def scissors(stages: int = 5) -> Linkage:
    """A lazy-tongs lattice: crossed bars, pinned in the middle and at their ends, kept level: one freedom."""
    half = 0.4
    bodies: dict[str, Any] = {
        "a1": {
            "joint": _revolute("q1", 0.4),
            "inertia": {"mass": 1.0, "centre": [0, 0, 0], "tensor": [1e-3, 0.05, 0.05]},
            "frames": {"a1_right": [half, 0, 0]},
        },
        "b1": {
            "parent": "a1",
            "joint": _revolute("cross1", -0.8),
            "inertia": {"mass": 1.0, "centre": [0, 0, 0], "tensor": [1e-3, 0.05, 0.05]},
            "frames": {"b1_right": [half, 0, 0]},
        },
    }
    loops = {}
    for k in range(2, stages + 1):
        bodies[f"a{k}"] = {
            "parent": f"b{k - 1}",
            "steps": [{"tx": half}],
            "joint": _revolute(f"a{k}_turn", 0.8),
            "inertia": {"mass": 1.0, "centre": [half, 0, 0], "tensor": [1e-3, 0.05, 0.05]},
            "frames": {f"a{k}_middle": [half, 0, 0], f"a{k}_right": [2 * half, 0, 0]},
        }
        bodies[f"b{k}"] = {
            "parent": f"a{k - 1}",
            "steps": [{"tx": half if k == 2 else 2 * half}],
            "joint": _revolute(f"b{k}_turn", -0.8),
            "inertia": {"mass": 1.0, "centre": [half, 0, 0], "tensor": [1e-3, 0.05, 0.05]},
            "frames": {f"b{k}_middle": [half, 0, 0], f"b{k}_right": [2 * half, 0, 0]},
        }
        if k > 2:
            bodies[f"a{k}"]["steps"] = [{"tx": 2 * half}]
        loops[f"pin{k}"] = {"joint": "revolute", "between": [f"a{k}_middle", f"b{k}_middle"]}
    even = {"even": {"coupling": {"coordinate": "cross1", "equals": "-2*q1"}}}
    model = {"name": "scissors", "gravity": [0, -9.81, 0], "bodies": bodies, "loops": loops, "constraints": even}

    def closed(q1: Array) -> Array:
        columns = [q1, -2 * q1]
        for _ in range(2, stages + 1):
            columns += [2 * q1, -2 * q1]
        return np.stack(columns, axis=-1)

    return Linkage(described(model), closed, {"q1": 0.4}, 0.3, 0, 0.3)


LINKAGES = {
    "plate on three cranks": cranks(3),
    "plate on five cranks": cranks(5, gravity=9.81),
    "locomotive": locomotive(),
    "Bennett": bennett(),
    "Sarrus": sarrus(),
    "scissors": scissors(),
}
