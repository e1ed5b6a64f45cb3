"""From expression graphs to code: native, and as text in several languages."""

from torseur.emit.integrate import EULER, HEUN, RK4, Integrator, Motion, Tableau, integrator
from torseur.emit.jit import Tier
from torseur.emit.native import Backend, NativeFunction, compile, compile_keyed

__all__ = [
    "EULER",
    "HEUN",
    "RK4",
    "Backend",
    "Integrator",
    "Motion",
    "NativeFunction",
    "Tableau",
    "Tier",
    "compile",
    "compile_keyed",
    "integrator",
]
