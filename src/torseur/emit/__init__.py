"""From expression graphs to code: native, and as text in several languages."""

from torseur.emit.bridges import SympyStatements, from_sympy, to_casadi, to_sympy, to_sympy_statements
from torseur.emit.integrate import EULER, HEUN, RK4, Integrator, Motion, Tableau, integrator, integrator_keyed
from torseur.emit.jit import Tier
from torseur.emit.native import (
    Backend,
    NativeFunction,
    compile,
    compile_keyed,
    compile_together,
    compile_together_keyed,
)
from torseur.emit.store import Store
from torseur.emit.text import Precision, to_c, to_c_header, to_julia, to_latex, to_listing, to_matlab, to_python

__all__ = [
    "EULER",
    "HEUN",
    "RK4",
    "Backend",
    "Integrator",
    "Motion",
    "NativeFunction",
    "Precision",
    "Store",
    "SympyStatements",
    "Tableau",
    "Tier",
    "compile",
    "compile_keyed",
    "compile_together",
    "compile_together_keyed",
    "from_sympy",
    "integrator",
    "integrator_keyed",
    "to_c",
    "to_c_header",
    "to_casadi",
    "to_julia",
    "to_latex",
    "to_listing",
    "to_matlab",
    "to_python",
    "to_sympy",
    "to_sympy_statements",
]
