"""Tyre laws with the coefficients of tests/data/tyres, and their forces and derivatives by the reference evaluator."""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.graph import Expr, Function, Graph, Role, evaluate, jacobian
from torseur.packs.tyres import (
    Block1987,
    BurckhardtTyre,
    DugoffTyre,
    LinearTyre,
    Pacejka1987,
    Pacejka1989,
    Slip,
    TMeasyAxis,
    TMeasyTyre,
    TyreLaw,
    load_tir,
)

__all__ = ["DATA", "INPUTS", "LAWS", "OUTPUTS", "Evaluated", "rows_of"]

DATA = Path(__file__).resolve().parent.parent / "data" / "tyres"
INPUTS = ("kappa", "alpha", "gamma", "Fz", "Vx", "mu")
OUTPUTS = ("Fx", "Fy", "Mx", "My", "Mz")
DEFAULTS = {"kappa": 0.0, "alpha": 0.0, "gamma": 0.0, "Vx": 15.0, "mu": 1.0}


def rows_of(name: str) -> list[dict[str, Any]]:
    """The rows of a table, numbers where they are numbers."""
    lines = [line for line in (DATA / name).read_text().splitlines() if not line.startswith("#")]
    return [{key: _read(text) for key, text in row.items()} for row in csv.DictReader(lines)]


def _read(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _pacejka() -> dict[str, TyreLaw]:
    sets = json.loads((DATA / "pacejka89_coefficients.json").read_text())
    common = {"radius": 0.32, "rolling_resistance": 0.012, "crown_radius": 0.05}
    laws: dict[str, TyreLaw] = {}
    for name in ("adams_pac89", "chrono_hmmwv_pac89", "genta_p510"):
        given = sets[name]
        laws[name] = Pacejka1989(**given["a"], **given["b"], **given.get("c", {}), **common)
    given = sets["sae870421_1987"]
    blocks = {word: Block1987(C=given["C" + key], **given[key]) for word, key in _BLOCKS.items()}
    laws["sae870421_1987"] = Pacejka1987(**blocks, **common)
    return laws


_BLOCKS = {"longitudinal": "Fx", "lateral": "Fy", "aligning": "Mz"}

LAWS: dict[str, TyreLaw] = {
    "linear": LinearTyre(
        longitudinal_stiffness=9e4, cornering_stiffness=6e4, camber_stiffness=4e3, trail=0.03, load=4000.0, radius=0.3
    ),
    "burckhardt": BurckhardtTyre(
        road="asphalt_dry", c4=0.03, c5=1e-9, trail=0.02, radius=0.3, rolling_resistance=0.01, crown_radius=0.1
    ),
    "dugoff": DugoffTyre(
        longitudinal_stiffness=9e4, cornering_stiffness=6e4, friction_decay=0.003, trail=0.03, load=4000.0, radius=0.3
    ),
    "tmeasy": TMeasyTyre(
        load=3000.0,
        longitudinal=TMeasyAxis(
            slope=(9e4, 1.6e5),
            peak_slip=(0.11, 0.12),
            peak=(3300.0, 6500.0),
            slide_slip=(0.4, 0.5),
            slide=(3100.0, 6100.0),
        ),
        lateral=TMeasyAxis(
            slope=(7e4, 1.2e5),
            peak_slip=(0.18, 0.2),
            peak=(3100.0, 6000.0),
            slide_slip=(0.6, 0.8),
            slide=(3000.0, 5900.0),
        ),
        trail=0.03,
        radius=0.3,
    ),
    **_pacejka(),
    "magic_formula_52": load_tir(DATA / "MagicFormula52_Parameters.tir").law,
    "magic_formula_61": load_tir(DATA / "MagicFormula61_Parameters.tir").law,
}


class Evaluated:
    """A law whose forces are called on arrays by name: N and N m, in the order of OUTPUTS."""

    def __init__(self, law: TyreLaw) -> None:
        self.law = law

    @cache  # noqa: B019
    def _functions(self, pressed: bool) -> tuple[Function, Function]:
        names = (*INPUTS, *(["pressure"] if pressed else []))
        graph = Graph()
        block = graph.block("x", len(names), Role.STATE)
        f = self.law.forces(Slip(**dict(zip(names, block, strict=True))), _scalar(graph))
        forces: list[Expr] = [getattr(f, name) for name in OUTPUTS]
        slopes = jacobian(forces, list(block)).dense()
        return Function("forces", [block], {"f": forces}), Function("slopes", [block], {"J": slopes})

    def _columns(self, given: dict[str, ArrayLike]) -> NDArray[np.float64]:
        names = (*INPUTS, *(["pressure"] if "pressure" in given else []))
        arrays = [np.asarray(given.get(name, DEFAULTS.get(name)), dtype=float) for name in names]
        return np.stack(np.broadcast_arrays(*arrays), axis=-1)

    def __call__(self, **given: ArrayLike) -> dict[str, NDArray[np.float64]]:
        found = evaluate(self._functions("pressure" in given)[0], self._columns(given))[0]
        return dict(zip(OUTPUTS, np.moveaxis(found, -1, 0), strict=True))

    def slopes(self, **given: ArrayLike) -> NDArray[np.float64]:
        """d OUTPUTS / d INPUTS, (..., 5, 6 or 7)."""
        return evaluate(self._functions("pressure" in given)[1], self._columns(given))[0]


def _scalar(graph: Graph) -> Any:
    return lambda value: graph.number(value)
