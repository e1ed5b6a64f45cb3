"""Elementary functions, comparisons and choice, on expressions.

Derivatives where a function has none in the strict sense are stated in `torseur.graph.derivatives`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from torseur.errors import GraphError
from torseur.graph import folding, ops
from torseur.graph.nodes import Expr, Graph, Truth
from torseur.graph.ops import Op

__all__ = [
    "absolute",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "equal",
    "exp",
    "floor",
    "log",
    "maximum",
    "minimum",
    "select",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]


def _function(op: Op, text: str) -> Callable[[Expr], Expr]:
    def apply(x: Expr) -> Expr:
        if x.__class__ is not Expr:
            raise _no_expression(op, x)
        return folding.unary(op, x)

    apply.__name__ = apply.__qualname__ = op.name
    apply.__doc__ = text
    return apply


def _no_expression(op: Op, *args: object) -> GraphError:
    many = any(isinstance(a, Iterable) for a in args)
    return GraphError(
        f"{op.name} was given no expression",
        expected="at least one expression",
        got=", ".join(repr(a) for a in args),
        remedy="take the elements one by one" if many else "lift numbers with graph.number(value)",
    )


sin = _function(ops.SIN, "Sine.")
cos = _function(ops.COS, "Cosine.")
tan = _function(ops.TAN, "Tangent.")
asin = _function(ops.ASIN, "Arc sine, nan outside [-1, 1].")
acos = _function(ops.ACOS, "Arc cosine, nan outside [-1, 1].")
atan = _function(ops.ATAN, "Arc tangent.")
sinh = _function(ops.SINH, "Hyperbolic sine.")
cosh = _function(ops.COSH, "Hyperbolic cosine.")
tanh = _function(ops.TANH, "Hyperbolic tangent.")
asinh = _function(ops.ASINH, "Inverse hyperbolic sine.")
acosh = _function(ops.ACOSH, "Inverse hyperbolic cosine, nan below 1.")
atanh = _function(ops.ATANH, "Inverse hyperbolic tangent, nan outside [-1, 1].")
sqrt = _function(ops.SQRT, "Square root, nan below 0.")
exp = _function(ops.EXP, "Exponential.")
log = _function(ops.LOG, "Natural logarithm, nan below 0.")
absolute = _function(ops.ABS, "Absolute value.")
sign = _function(ops.SIGN, "-1, 0 or 1; nan for nan.")
floor = _function(ops.FLOOR, "The largest integer not above x.")


def atan2(y: Expr | float, x: Expr | float) -> Expr:
    """The angle of the point (x, y), in ]-pi, pi]."""
    a, b = _pair(ops.ATAN2, y, x)
    return folding.binary(ops.ATAN2, a, b)


def minimum(a: Expr | float, b: Expr | float) -> Expr:
    """The smaller of two; nan if either is."""
    return folding.binary(ops.MIN, *_pair(ops.MIN, a, b))


def maximum(a: Expr | float, b: Expr | float) -> Expr:
    """The larger of two; nan if either is."""
    return folding.binary(ops.MAX, *_pair(ops.MAX, a, b))


def equal(a: Expr | float, b: Expr | float) -> Truth:
    """Whether two values are the same number (``==`` asks whether two expressions are the same expression)."""
    return folding.compare(ops.EQ, *_pair(ops.EQ, a, b))


def select(condition: Truth, a: Expr | float, b: Expr | float) -> Expr:
    """a where the condition holds, else b. Both are computed; only the chosen one counts."""
    if not isinstance(condition, Truth):
        raise GraphError(
            "not a condition",
            expected="a comparison such as x < y",
            got=repr(condition),
            remedy="compare values with equal(a, b), not ==" if isinstance(condition, bool) else None,
        )
    g = condition.graph
    return folding.choice(condition, g.expr(a), g.expr(b))


def _pair(op: Op, a: Expr | float, b: Expr | float) -> tuple[Expr, Expr]:
    graph: Graph | None = next((x.graph for x in (a, b) if isinstance(x, Expr)), None)
    if graph is None:
        raise _no_expression(op, a, b)
    return graph.expr(a), graph.expr(b)
