"""From a description to native functions, and to equations a person can read."""

from torseur.model.analysis import assemble
from torseur.model.assembly import Assembled, Closing
from torseur.model.build import Model, ModelFunction, build
from torseur.model.equations import Equations, equations
from torseur.model.rows import ConstraintRow

__all__ = [
    "Assembled",
    "Closing",
    "ConstraintRow",
    "Equations",
    "Model",
    "ModelFunction",
    "assemble",
    "build",
    "equations",
]
