"""From a description to native functions, and to equations a person can read."""

from torseur.model.build import Model, ModelFunction, build
from torseur.model.equations import Equations, equations

__all__ = ["Equations", "Model", "ModelFunction", "build", "equations"]
