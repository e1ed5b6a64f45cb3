"""From a description to native functions, and to equations a person can read."""

from torseur.model.analysis import assemble, equilibrium, linearise
from torseur.model.assembly import Assembled, Closing
from torseur.model.equations import Equations, equations
from torseur.model.equations.kane_lagrange import KaneSteps, LagrangeSteps, kane_steps, lagrange_steps
from torseur.model.equilibria import Balance, Equilibrium
from torseur.model.linearisation import Linearised
from torseur.model.mobility import Mobility
from torseur.model.model import Model, ModelFunction, build
from torseur.model.modes import Mode, Stability
from torseur.model.rows import ConstraintRow

__all__ = [
    "Assembled",
    "Balance",
    "Closing",
    "ConstraintRow",
    "Equations",
    "Equilibrium",
    "KaneSteps",
    "LagrangeSteps",
    "Linearised",
    "Mobility",
    "Mode",
    "Model",
    "ModelFunction",
    "Stability",
    "assemble",
    "build",
    "equations",
    "equilibrium",
    "kane_steps",
    "lagrange_steps",
    "linearise",
]
