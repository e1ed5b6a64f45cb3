"""Vehicles made of short files, for tests."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import torseur as ts
from torseur.describe import Mechanism

__all__ = ["CAR", "DATA", "car", "merged", "vehicle"]

DATA = Path(__file__).resolve().parent.parent / "data" / "vehicles"

_TYRE = {"linear": {"longitudinal_stiffness": 80000, "cornering_stiffness": 60000, "load": 4000}}
_WHEEL = {"radius": 0.3, "mass": 20, "spin_inertia": 0.8, "tilt_inertia": 0.4}
_STRUT = {"strut": {"stiffness": 30000, "damping": 3000}}

CAR: dict[str, Any] = {
    "torseur_vehicle": 1,
    "name": "car",
    "chassis": {"height": 0.5, "inertia": {"mass": 1400, "tensor": {"xx": 500, "yy": 2000, "zz": 2200}}},
    "axles": {
        "front": {
            "x": 1.2,
            "track": 1.5,
            "steered": True,
            "drive": 1,
            "brake": 0.6,
            "wheel": _WHEEL,
            "suspension": _STRUT,
            "tyre": _TYRE,
        },
        "rear": {"x": -1.4, "track": 1.5, "brake": 0.4, "wheel": _WHEEL, "suspension": _STRUT, "tyre": _TYRE},
    },
}
"""A car of four struts."""


def merged(data: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Changes deep in a table; a value that is none takes its key away."""
    made = copy.deepcopy(data)
    for key, value in changes.items():
        if value is None:
            made.pop(key, None)
        elif isinstance(value, dict) and isinstance(made.get(key), dict):
            made[key] = merged(made[key], value)
        else:
            made[key] = value
    return made


def vehicle(data: dict[str, Any], folder: Path) -> Mechanism:
    """The model of a vehicle file with these contents."""
    path = folder / f"{data['name']}.yaml"
    path.write_text(json.dumps(data, indent=1), encoding="utf-8")
    return ts.load(path)


def car(folder: Path, **changes: Any) -> Mechanism:
    """The car with changes."""
    return vehicle(merged(CAR, changes), folder)
