"""Functions of expressions: elementary ones, comparisons, choice, and interpolated tables.

A table is stored as breakpoints ``b_1 < ... < b_m`` and, for each of the ``m + 1`` intervals they cut, an origin and
polynomial coefficients. Holding or extending the ends, and the derivative, are then the same thing with other numbers.

Derivatives where a function has none in the strict sense are stated in `torseur.graph.derivatives`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from torseur.errors import GraphError, choice
from torseur.graph import folding, ops
from torseur.graph.nodes import Expr, Graph, Truth
from torseur.graph.ops import Op

__all__ = [
    "Interpolation",
    "Outside",
    "Piecewise",
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
    "interpolation",
    "log",
    "maximum",
    "minimum",
    "select",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "table",
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


CONTINUOUS = 1e-8
"""Difference of two sides of a breakpoint, relative to what they are summed of, that is taken as rounding."""


class Interpolation(Enum):
    """How a table passes between its points."""

    LINEAR = "linear"
    MONOTONE_CUBIC = "monotone cubic"  # Fritsch & Carlson 1980: no overshoot, continuous slope
    SMOOTH = "smooth"  # cubic spline: continuous curvature, beyond the ends too; it may overshoot


class Outside(Enum):
    """What a table answers beyond its ends."""

    HOLD = "hold"  # the end value
    EXTEND = "extend"  # a straight line with the end slope


@dataclass(frozen=True)
class Piecewise:
    """A piecewise polynomial: on interval k, sum_i coefficients[k][i] (x - origins[k])^i.

    Interval k holds breaks[k-1] <= x < breaks[k]. Plain tuples, so that equal tables are one node.
    """

    breaks: tuple[float, ...]
    origins: tuple[float, ...]
    coefficients: tuple[tuple[float, ...], ...]

    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The value at each x; nan gives nan, and infinity the end value where the end is flat."""
        k = np.where(np.isnan(x), 0, np.searchsorted(self.breaks, x, side="right"))
        rows, u = np.asarray(self.coefficients)[k], x - np.asarray(self.origins)[k]
        slope = rows[..., 1] if self.degree else 0.0
        u = np.where(np.isinf(u) & (slope == 0.0), 0.0, u)
        value = rows[..., -1] + 0.0 * u
        for i in range(self.degree - 1, -1, -1):
            value = value * u + rows[..., i]
        return value

    def derivative(self) -> Piecewise:
        """d/dx; at a breakpoint, that of the interval to its right."""
        return self._derivative

    @cached_property
    def _derivative(self) -> Piecewise:
        rows = tuple(tuple(i * c for i, c in enumerate(row))[1:] or (0.0,) for row in self.coefficients)
        return Piecewise(self.breaks, self.origins, rows)

    @property
    def degree(self) -> int:
        return len(self.coefficients[0]) - 1

    @cached_property
    def is_c2(self) -> bool:
        """Whether value, slope and curvature are the same on both sides of every breakpoint, to rounding."""
        curve: Piecewise = self
        at = np.asarray(self.breaks)
        left, right = (np.asarray(part) for part in (self.origins[:-1], self.origins[1:]))
        for _ in range(3):
            rows = np.asarray(curve.coefficients)
            powers = np.arange(rows.shape[1])
            before = rows[:-1] * (at - left)[:, None] ** powers
            after = rows[1:] * (at - right)[:, None] ** powers
            size = np.abs(before).sum(axis=1) + np.abs(after).sum(axis=1) + np.abs(rows).max(axis=0)[0]
            if (np.abs(before.sum(axis=1) - after.sum(axis=1)) > CONTINUOUS * size).any():
                return False
            curve = curve.derivative()
        return True

    @property
    def is_zero(self) -> bool:
        return not any(any(row) for row in self.coefficients)


def interpolation(
    x: Sequence[float] | NDArray[np.float64],
    y: Sequence[float] | NDArray[np.float64],
    kind: Interpolation | str = Interpolation.LINEAR,
    outside: Outside | str = Outside.HOLD,
) -> Piecewise:
    """The table through the points (x, y), x strictly increasing."""
    xs, ys = _numbers("x", x), _numbers("y", y)
    _check(xs, ys)
    kind, outside = choice(Interpolation, kind, "kind", GraphError), choice(Outside, outside, "outside", GraphError)
    with np.errstate(all="ignore"):
        rows = _rows(xs, ys, kind, outside)
    if not np.isfinite(rows).all():
        raise GraphError("a table is too steep", expected="slopes that fit in double precision")
    origins = np.concatenate([xs[:1], xs])
    return Piecewise(tuple(xs.tolist()), tuple(origins.tolist()), tuple(map(tuple, rows.tolist())))


def _rows(
    xs: NDArray[np.float64], ys: NDArray[np.float64], kind: Interpolation, outside: Outside
) -> NDArray[np.float64]:
    """The coefficients of every interval, before the first point to beyond the last."""
    if kind is Interpolation.LINEAR:
        slope = np.diff(ys) / np.diff(xs)
        inner = np.column_stack([ys[:-1], slope])
        ends = slope[0], slope[-1]
    else:
        from scipy.interpolate import CubicSpline, PchipInterpolator

        at_ends: Literal["clamped", "natural"] = "clamped" if outside is Outside.HOLD else "natural"
        is_smooth = kind is Interpolation.SMOOTH
        cubic = CubicSpline(xs, ys, bc_type=at_ends) if is_smooth else PchipInterpolator(xs, ys)
        inner = np.ascontiguousarray(cubic.c[::-1].T)
        ends = float(cubic(xs[0], 1)), float(cubic(xs[-1], 1))
        if is_smooth:
            inner = _with_flat_ends(xs, ys, inner) if outside is Outside.HOLD else inner
            inner[:, 0] = ys[:-1]
    first, last = np.zeros(inner.shape[1]), np.zeros(inner.shape[1])
    first[0], last[0] = ys[0], ys[-1]
    if outside is Outside.EXTEND:
        first[1], last[1] = ends
    return np.vstack([first, inner, last])


def _with_flat_ends(
    xs: NDArray[np.float64], ys: NDArray[np.float64], inner: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A spline whose first and last piece are quintics that end without slope and curvature: C2 where it is held."""
    rows = np.hstack([inner, np.zeros((len(inner), 2))])
    if len(xs) == 2:
        return np.array([_quintic(xs[1] - xs[0], (ys[0], 0.0, 0.0), (ys[1], 0.0, 0.0))])
    inside = inner[1, 0], inner[1, 1], 2.0 * inner[1, 2]
    rows[0] = _quintic(xs[1] - xs[0], (ys[0], 0.0, 0.0), inside)
    inside = inner[-1, 0], inner[-1, 1], 2.0 * inner[-1, 2]
    rows[-1] = _quintic(xs[-1] - xs[-2], inside, (ys[-1], 0.0, 0.0))
    return rows


def _quintic(h: float, left: tuple[float, float, float], right: tuple[float, float, float]) -> NDArray[np.float64]:
    """Coefficients of the quintic over a length h with value, slope and curvature given at both ends."""
    y, v, a = left[0], left[1] * h, left[2] * h * h / 2.0
    Y, V, A = right[0] - y - v - a, right[1] * h - v - 2.0 * a, right[2] * h * h - 2.0 * a
    scaled: NDArray[np.float64] = np.array(
        [y, v, a, 10.0 * Y - 4.0 * V + 0.5 * A, -15.0 * Y + 7.0 * V - A, 6.0 * Y - 3.0 * V + 0.5 * A]
    )
    return np.asarray(scaled / h ** np.arange(6), dtype=float)


def table(
    argument: Expr,
    x: Sequence[float] | NDArray[np.float64],
    y: Sequence[float] | NDArray[np.float64],
    kind: Interpolation | str = Interpolation.LINEAR,
    outside: Outside | str = Outside.HOLD,
) -> Expr:
    """The value at `argument` of the table through the points (x, y).

    >>> from torseur.graph import Graph, table
    >>> g = Graph()
    >>> float(table(g.number(0.5), [0, 1, 2], [0, 10, 0]))
    5.0
    """
    if not isinstance(argument, Expr):
        raise GraphError(
            "a table was given no expression",
            expected="an expression",
            got=repr(argument),
            remedy="lift numbers with graph.number(value)",
        )
    return evaluate_piecewise(interpolation(x, y, kind, outside), argument)


def evaluate_piecewise(curve: Piecewise, argument: Expr) -> Expr:
    """The node for a piecewise polynomial at an expression."""
    g = argument.graph
    if curve.is_zero:
        return g.zero
    if argument.op is ops.CONST:
        with np.errstate(all="ignore"):
            value = float(curve(np.asarray(argument.data)))
        if np.isfinite(value):
            return g.number(value)
    return g.node(Expr, ops.PIECEWISE, (argument,), curve)


def _numbers(name: str, values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    try:
        array = np.asarray(values)
    except ValueError:  # rows of several lengths
        raise GraphError(f"'{name}' of a table is ragged", expected="a list of numbers") from None
    if array.dtype.kind not in "biufO":
        raise GraphError(f"'{name}' of a table is not made of numbers", expected="real numbers", got=str(array.dtype))
    try:
        return array.astype(float, copy=False)
    except TypeError as error:
        raise GraphError(
            f"'{name}' of a table is not made of numbers", expected="real numbers", got=str(error)
        ) from None


def _check(x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    if x.ndim != 1 or x.shape != y.shape or x.size < 2:
        raise GraphError(
            "a table needs two lists of one length",
            expected="x and y with at least 2 numbers each",
            got=f"shapes {x.shape} and {y.shape}",
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise GraphError("a table needs finite numbers", expected="x and y without nan or inf", got=_strangers(x, y))
    if not (np.diff(x) > 0).all():
        k = int(np.argmin(np.diff(x) > 0))
        raise GraphError(
            "the abscissae of a table must increase",
            where=f"points {k + 1} and {k + 2}",
            expected="x strictly increasing",
            got=f"{float(x[k])!r}, {float(x[k + 1])!r}",
            remedy="sort the points and drop repeated ones",
        )


def _strangers(x: NDArray[np.float64], y: NDArray[np.float64]) -> str:
    """Where the first number is that is none."""
    k = int(np.argmin(np.isfinite(x) & np.isfinite(y)))
    return f"({float(x[k])!r}, {float(y[k])!r}) at point {k + 1}"
