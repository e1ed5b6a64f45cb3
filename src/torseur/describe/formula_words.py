"""The words of the formula language: constants, functions, operators."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from torseur.graph import (
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

__all__ = ["COMPARISONS", "CONSTANTS", "FUNCTIONS", "NORMAL", "OPERATORS", "RESERVED", "TABLE", "WORDS", "normal_of"]

CONSTANTS = {"pi": math.pi, "deg": math.pi / 180.0, "kmh": 1.0 / 3.6}
FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "sin": (1, sin),
    "cos": (1, cos),
    "tan": (1, tan),
    "asin": (1, asin),
    "acos": (1, acos),
    "atan": (1, atan),
    "sinh": (1, sinh),
    "cosh": (1, cosh),
    "tanh": (1, tanh),
    "asinh": (1, asinh),
    "acosh": (1, acosh),
    "atanh": (1, atanh),
    "sqrt": (1, sqrt),
    "exp": (1, exp),
    "log": (1, log),
    "abs": (1, absolute),
    "sign": (1, sign),
    "floor": (1, floor),
    "atan2": (2, atan2),
    "min": (2, minimum),
    "max": (2, maximum),
    "pow": (2, lambda a, b: a**b),
    "if": (3, select),
}
OPERATORS: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "^": lambda a, b: a**b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": equal,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
}
TABLE = "table"
"""The function that looks up a table, its last argument; without parentheses it is a name like others."""
NORMAL = "normal"
"""The function that gives a normal force, of the constraint that is its argument; likewise."""
WORDS = {"and", "or", "not"}
COMPARISONS = {"<", "<=", ">", ">=", "=="}

RESERVED = frozenset({*CONSTANTS, *FUNCTIONS, *WORDS, "t"})
"""Names that a model cannot give to its own things."""


def normal_of(constraint: str) -> str:
    """What the normal force of a constraint is called among the names of a formula."""
    return f"{NORMAL}({constraint})"
