"""Tyre laws: forces of the road on a wheel from slip and load, one law a file."""

from torseur.packs.tyres.burckhardt import ROADS, BurckhardtTyre
from torseur.packs.tyres.dugoff import DugoffTyre
from torseur.packs.tyres.law import PlainTyreLaw, Relaxation, Scalars, Slip, TyreForces, TyreLaw
from torseur.packs.tyres.linear import LinearTyre
from torseur.packs.tyres.magic_formula_52 import MagicFormula52
from torseur.packs.tyres.magic_formula_61 import MagicFormula61
from torseur.packs.tyres.pacejka_1987 import Block1987, Pacejka1987
from torseur.packs.tyres.pacejka_1989 import Pacejka1989
from torseur.packs.tyres.steady import SteadyForces, steady_forces
from torseur.packs.tyres.tir import TyreFile, load_tir, read_tir
from torseur.packs.tyres.tmeasy import TMeasyAxis, TMeasyTyre

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
