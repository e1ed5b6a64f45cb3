"""The words of the formula language: constants, functions, operators; and the tables that formulas look up.

Between points of one variable a table is linear, a cubic without overshoot, or a cubic spline, whose curvature is
continuous. On a grid f(x, y) = sum_j h_j(y) f(x, y_j) with h_j the table that is 1 at y_j and 0 at the other points:
linear between, or a spline where the table is smooth: f is then a bicubic spline with continuous second derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Any

from torseur.errors import ModelError
from torseur.graph import (
    Expr,
    Interpolation,
    Outside,
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
    table,
    tan,
    tanh,
)

__all__ = [
    "COMPARISONS",
    "CONSTANTS",
    "FUNCTIONS",
    "MOST_COLUMNS",
    "MOST_POINTS",
    "NORMAL",
    "OPERATORS",
    "RESERVED",
    "TABLE",
    "WORDS",
    "Lookup",
    "normal_of",
]

MOST_POINTS = 100_000
MOST_COLUMNS = 200
"""Of a grid: each is a curve of its own in the code."""


@dataclass(frozen=True)
class Lookup:
    """A table.

    Attributes:
        axes: the points of each variable, increasing.
        rows: of one variable, its values as one row; of two, a row of values over y for each x.
        between: how it passes between points.
        outside: what it answers beyond its ends.

    >>> from torseur.graph import Graph
    >>> g = Graph()
    >>> grid = Lookup(((0.0, 1.0), (0.0, 2.0)), ((1.0, 3.0), (5.0, 7.0)))
    >>> float(grid.at(g.number(0.5), g.number(1.0)))
    4.0
    """

    axes: tuple[tuple[float, ...], ...]
    rows: tuple[tuple[float, ...], ...]
    between: Interpolation = Interpolation.LINEAR
    outside: Outside = Outside.HOLD

    def __post_init__(self) -> None:
        for points in self.axes:
            if len(points) < 2 or any(not a < b for a, b in pairwise(points)):
                got = ", ".join(f"{x:g}" for x in points[:6])
                raise ModelError("the points of a table must increase", expected="at least two, increasing", got=got)
        if not all(map(isfinite, (x for part in (*self.axes, *self.rows) for x in part))):
            raise ModelError("a table holds a number that is not finite", expected="finite numbers", got="nan or inf")
        first = self.axes[0]
        count, length = (1, len(first)) if len(self.axes) == 1 else (len(first), len(self.axes[1]))
        if len(self.rows) != count or any(len(row) != length for row in self.rows):
            rows = f"{count} rows of {length} values" if len(self.axes) == 2 else f"{length} values"
            lengths = sorted({len(row) for row in self.rows})
            got = f"{len(self.rows)} of {' or '.join(map(str, lengths))}" if count > 1 else str(lengths[0])
            raise ModelError("the values of a table do not fit its points", expected=rows, got=got)
        if count * length > MOST_POINTS or (len(self.axes) == 2 and length > MOST_COLUMNS):
            expected = f"at most {MOST_POINTS}, on a grid at most {MOST_COLUMNS} along y"
            raise ModelError("a table with too many points", expected=expected, got=f"{count} x {length}")

    def at(self, *variables: Expr) -> Expr:
        """The value at one or two variables."""
        if len(variables) != len(self.axes):
            expected = f"{len(self.axes)} variable{'s' * (len(self.axes) > 1)}"
            raise ModelError("a table with another number of variables", expected=expected, got=str(len(variables)))
        if len(self.axes) == 1:
            return table(variables[0], self.axes[0], self.rows[0], self.between, self.outside)
        (x, y), (xs, ys) = variables, self.axes
        total = x.graph.zero
        across = Interpolation.SMOOTH if self.between is Interpolation.SMOOTH else Interpolation.LINEAR
        for j in range(len(ys)):
            hat = table(y, ys, [float(i == j) for i in range(len(ys))], across, self.outside)
            total = total + hat * table(x, xs, [row[j] for row in self.rows], self.between, self.outside)
        return total


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
