"""The operations an expression is made of: one table; and one-line pictures of expressions, for messages.

An operation is a plain object; two nodes are the same operation when their ``op`` is the same object. What an operation
*means* lives beside it (``python`` on floats, used for folding; ``numpy`` on arrays, used by the reference evaluator);
how it is folded, differentiated or written in a language is each consumer's own table, keyed by these objects.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torseur.graph.nodes import Node

__all__ = ["OPS", "Op", "Parity"]


class Parity(Enum):
    """How a function of one argument answers to a change of its sign."""

    NONE = "none"
    EVEN = "even"  # f(-x) = f(x)
    ODD = "odd"  # f(-x) = -f(x)


@dataclass(frozen=True, eq=False, slots=True)
class Op:
    """One operation: its name, how many operands it takes (-1: any number) and what it does to numbers."""

    name: str
    arity: int
    python: Callable[..., Any] | None = None
    numpy: Callable[..., Any] | None = None
    parity: Parity = Parity.NONE
    commutative: bool = False

    def __repr__(self) -> str:
        return self.name


def _sign(x: float) -> float:
    return 0.0 if x == 0 else math.copysign(1.0, x)


# -- leaves and structure ----------------------------------------------------------------------------------------------
CONST = Op("const", 0)
SYMBOL = Op("symbol", 0)
TRUTH = Op("truth", 0)
CALL = Op("call", -1)
ITEM = Op("item", 1)
PIECEWISE = Op("piecewise", 1)

# -- arithmetic --------------------------------------------------------------------------------------------------------
NEG = Op("neg", 1, operator.neg, np.negative, Parity.ODD)
ADD = Op("add", 2, operator.add, np.add, commutative=True)
SUB = Op("sub", 2, operator.sub, np.subtract)
MUL = Op("mul", 2, operator.mul, np.multiply, commutative=True)
DIV = Op("div", 2, operator.truediv, np.divide)
POW = Op("pow", 2, math.pow, np.power)
SQRT = Op("sqrt", 1, math.sqrt, np.sqrt)

# -- functions ---------------------------------------------------------------------------------------------------------
EXP = Op("exp", 1, math.exp, np.exp)
LOG = Op("log", 1, math.log, np.log)
SIN = Op("sin", 1, math.sin, np.sin, Parity.ODD)
COS = Op("cos", 1, math.cos, np.cos, Parity.EVEN)
TAN = Op("tan", 1, math.tan, np.tan, Parity.ODD)
ASIN = Op("asin", 1, math.asin, np.arcsin, Parity.ODD)
ACOS = Op("acos", 1, math.acos, np.arccos)
ATAN = Op("atan", 1, math.atan, np.arctan, Parity.ODD)
ATAN2 = Op("atan2", 2, math.atan2, np.arctan2)
SINH = Op("sinh", 1, math.sinh, np.sinh, Parity.ODD)
COSH = Op("cosh", 1, math.cosh, np.cosh, Parity.EVEN)
TANH = Op("tanh", 1, math.tanh, np.tanh, Parity.ODD)
ASINH = Op("asinh", 1, math.asinh, np.arcsinh, Parity.ODD)
ACOSH = Op("acosh", 1, math.acosh, np.arccosh)
ATANH = Op("atanh", 1, math.atanh, np.arctanh, Parity.ODD)
ABS = Op("abs", 1, abs, np.abs, Parity.EVEN)
SIGN = Op("sign", 1, _sign, np.sign, Parity.ODD)
FLOOR = Op("floor", 1, lambda x: float(math.floor(x)), np.floor)
MIN = Op("min", 2, min, np.minimum, commutative=True)
MAX = Op("max", 2, max, np.maximum, commutative=True)

# -- truths and choice -------------------------------------------------------------------------------------------------
LT = Op("lt", 2, operator.lt, np.less)
LE = Op("le", 2, operator.le, np.less_equal)
EQ = Op("eq", 2, operator.eq, np.equal, commutative=True)
NOT = Op("not", 1, operator.not_, np.logical_not)
AND = Op("and", 2, operator.and_, np.logical_and, commutative=True)
OR = Op("or", 2, operator.or_, np.logical_or, commutative=True)
SELECT = Op("select", 3, None, np.where)

OPS: tuple[Op, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Op))
"""Every operation, in a fixed order (the order is part of cache keys)."""


_INFIX = {
    ADD: "+",
    SUB: "-",
    MUL: "*",
    DIV: "/",
    LT: "<",
    LE: "<=",
    EQ: "==",
    AND: "and",
    OR: "or",
}
_DEPTH = 4
_WIDTH = 6


def short(node: Node, depth: int = _DEPTH) -> str:
    """Infix text down to a few levels, then an ellipsis.

    >>> from torseur.graph import Graph, sin
    >>> x = Graph().symbol("x")
    >>> sin(x) * 2 + 1
    ((2*sin(x)) + 1)
    """
    label = node.graph.label(node) if depth < _DEPTH or node.op is SYMBOL else None
    if label is not None:
        return label
    if node.op is CONST:
        return f"{node.data:.12g}"
    if node.op is TRUTH:
        return str(node.data)
    if depth == 0:
        return "…"
    parts = [short(a, depth - 1) for a in node.args[:_WIDTH]]
    if node.op in _INFIX:
        symbol = _INFIX[node.op]
        return f"({parts[0]}{symbol}{parts[1]})" if symbol in "*/" else f"({parts[0]} {symbol} {parts[1]})"
    if node.op is NEG:
        return f"-{parts[0]}"
    if node.op is ITEM:
        return f"{parts[0]}[{node.data}]"
    name = node.op.name if node.op is not CALL else node.data.name
    return f"{name}({', '.join(parts)}{', …' if len(node.args) > _WIDTH else ''})"
