"""The expression graph: every algorithm of Torseur is a function that builds these expressions."""

from torseur.graph.blocks import Block, Role
from torseur.graph.calls import call
from torseur.graph.constrained import ConstrainedSystem
from torseur.graph.counts import Count, count, count_by_stage
from torseur.graph.derivatives import Jacobian, Mode, adjoints, gradient, hessian, jacobian, tangents
from torseur.graph.evaluate import evaluate, substitute
from torseur.graph.function import Function, Output, Stage
from torseur.graph.functions import (
    absolute,
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    equal,
    exp,
    floor,
    log,
    maximum,
    minimum,
    select,
    sign,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)
from torseur.graph.linear import solve
from torseur.graph.nodes import Expr, Graph, Truth
from torseur.graph.piecewise import Interpolation, Outside, Piecewise, table
from torseur.graph.products import products_at
from torseur.graph.rank import minimum_norm_solve, pseudo_inverse
from torseur.graph.roots import newton_matrix, root

__all__ = [
    "Block",
    "ConstrainedSystem",
    "Count",
    "Expr",
    "Function",
    "Graph",
    "Interpolation",
    "Jacobian",
    "Mode",
    "Output",
    "Outside",
    "Piecewise",
    "Role",
    "Stage",
    "Truth",
    "absolute",
    "acos",
    "acosh",
    "adjoints",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "call",
    "cos",
    "cosh",
    "count",
    "count_by_stage",
    "equal",
    "evaluate",
    "exp",
    "floor",
    "gradient",
    "hessian",
    "jacobian",
    "log",
    "maximum",
    "minimum",
    "minimum_norm_solve",
    "newton_matrix",
    "products_at",
    "pseudo_inverse",
    "root",
    "select",
    "sign",
    "sin",
    "sinh",
    "solve",
    "sqrt",
    "substitute",
    "table",
    "tan",
    "tangents",
    "tanh",
]
