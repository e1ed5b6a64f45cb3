"""Functions and expressions of other programs: sympy both ways, casadi out. Neither is imported before it is used."""

from torseur.emit.bridges.sympy import SympyStatements, from_sympy, to_sympy, to_sympy_statements
from torseur.emit.bridges.to_casadi import to_casadi

__all__ = ["SympyStatements", "from_sympy", "to_casadi", "to_sympy", "to_sympy_statements"]
