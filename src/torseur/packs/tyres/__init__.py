"""Tyre laws: forces of the road on a wheel from slip and load, one law a file."""

from torseur.packs.tyres.burckhardt import ROADS, BurckhardtTyre
from torseur.packs.tyres.law import PlainTyreLaw, Relaxation, Scalars, Slip, TyreForces, TyreLaw
from torseur.packs.tyres.linear import LinearTyre
from torseur.packs.tyres.pacejka_1987 import Block1987, Pacejka1987
from torseur.packs.tyres.pacejka_1989 import Pacejka1989
from torseur.packs.tyres.steady import SteadyForces, steady_forces

__all__ = [
    "LAWS",
    "ROADS",
    "Block1987",
    "BurckhardtTyre",
    "LinearTyre",
    "Pacejka1987",
    "Pacejka1989",
    "PlainTyreLaw",
    "Relaxation",
    "Scalars",
    "Slip",
    "SteadyForces",
    "TyreForces",
    "TyreLaw",
    "steady_forces",
]

LAWS: dict[str, type[TyreLaw]] = {law.kind: law for law in (LinearTyre, BurckhardtTyre, Pacejka1987, Pacejka1989)}
"""The laws a model file may name, by kind."""
