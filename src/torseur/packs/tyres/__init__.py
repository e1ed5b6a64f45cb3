"""Tyre laws: forces of the road on a wheel from slip and load."""

from torseur.packs.tyres.law import (
    PlainTyreLaw,
    Relaxation,
    Scalars,
    Slip,
    SteadyForces,
    TyreForces,
    TyreLaw,
    steady_forces,
)
from torseur.packs.tyres.magic_formula_versions import MagicFormula52, MagicFormula61
from torseur.packs.tyres.pacejka import Block1987, Pacejka1987, Pacejka1989
from torseur.packs.tyres.simple_laws import ROADS, BurckhardtTyre, DugoffTyre, LinearTyre, TMeasyAxis, TMeasyTyre
from torseur.packs.tyres.tir import TyreFile, load_tir, read_tir

__all__ = [
    "LAWS",
    "ROADS",
    "Block1987",
    "BurckhardtTyre",
    "DugoffTyre",
    "LinearTyre",
    "MagicFormula52",
    "MagicFormula61",
    "Pacejka1987",
    "Pacejka1989",
    "PlainTyreLaw",
    "Relaxation",
    "Scalars",
    "Slip",
    "SteadyForces",
    "TMeasyAxis",
    "TMeasyTyre",
    "TyreFile",
    "TyreForces",
    "TyreLaw",
    "load_tir",
    "read_tir",
    "steady_forces",
]

_EVERY: tuple[type[TyreLaw], ...] = (
    LinearTyre,
    BurckhardtTyre,
    Pacejka1987,
    Pacejka1989,
    MagicFormula52,
    MagicFormula61,
    DugoffTyre,
    TMeasyTyre,
)
LAWS: dict[str, type[TyreLaw]] = {law.kind: law for law in _EVERY}
"""The laws a model file may name, by kind."""
