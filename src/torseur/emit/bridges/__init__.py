"""Functions and expressions of other programs: sympy both ways, casadi out. Neither is imported before it is used."""

from torseur.emit.bridges.from_sympy import from_sympy
from torseur.emit.bridges.to_casadi import to_casadi
from torseur.emit.bridges.to_sympy import SympyStatements, to_sympy, to_sympy_statements

__all__ = ["SympyStatements", "from_sympy", "to_casadi", "to_sympy", "to_sympy_statements"]
