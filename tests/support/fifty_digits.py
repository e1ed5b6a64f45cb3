"""Recipes computed with fifty digits by mpmath: values, and derivatives by differences that lose none that matter."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import mpmath as mp
import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator

from support.recipes import RESIDUALS, Recipe, Step
from torseur.graph import Interpolation, Outside
from torseur.graph.functions import interpolation

DIGITS = 50
STEP = mp.mpf(10) ** -15  # a central difference errs by its square

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "neg": operator.neg,
    "sqrt": mp.sqrt,
    "exp": mp.exp,
    "log": mp.log,
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "asin": mp.asin,
    "acos": mp.acos,
    "atan": mp.atan,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "tanh": mp.tanh,
    "asinh": mp.asinh,
    "acosh": mp.acosh,
    "atanh": mp.atanh,
    "abs": abs,
    "sign": mp.sign,
    "floor": mp.floor,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "pow": mp.power,
    "atan2": mp.atan2,
    "min": min,
    "max": max,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "not": operator.not_,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "select": lambda c, a, b: a if c else b,
}


def exact(recipe: Recipe, columns: Sequence[Any]) -> list[Any]:
    """All outputs, flat, from one number per input element."""
    with mp.workdps(DIGITS):
        values = _values(recipe, [mp.mpf(c) for c in columns])
        return [mp.mpf(values[k]) for _, _, places in recipe.outputs for k in places]


def exact_slope(recipe: Recipe, columns: Sequence[float], direction: Sequence[float]) -> NDArray[np.float64]:
    """d/de outputs(columns + e direction) at e = 0, flat."""
    with mp.workdps(DIGITS):
        moves = [STEP * mp.mpf(d) for d in direction]
        ahead = exact(recipe, [mp.mpf(c) + m for c, m in zip(columns, moves, strict=True)])
        back = exact(recipe, [mp.mpf(c) - m for c, m in zip(columns, moves, strict=True)])
        return np.array([float((a - b) / (2 * STEP)) for a, b in zip(ahead, back, strict=True)])


def _values(recipe: Recipe, columns: Sequence[Any]) -> list[Any]:
    values = list(columns)
    for step in recipe.steps:
        values += _computed(step, [values[k] for k in step.args])
    return values


def _computed(step: Step, args: list[Any]) -> list[Any]:
    if step.kind in FUNCTIONS:
        return [FUNCTIONS[step.kind](*args)]
    if step.kind == "const":
        return [mp.mpf(step.data)]
    if step.kind == "ipow":
        return [args[0] ** step.data]
    if step.kind == "table":
        return [_table(args[0], *step.data)]
    if step.kind == "call":
        values = _values(step.data, args)
        return [mp.mpf(values[k]) for _, _, places in step.data.outputs for k in places]
    if step.kind == "solve":
        n = step.data
        return list(mp.lu_solve(mp.matrix(n, n) + _matrix(args[: n * n], n), mp.matrix(args[n * n :])))
    if step.kind == "root":
        return _root(RESIDUALS[step.data][3], RESIDUALS[step.data][0].inputs[0].size, args)
    raise NotImplementedError(step.kind)


def _matrix(flat: Sequence[Any], n: int) -> Any:
    return mp.matrix([list(flat[i : i + n]) for i in range(0, len(flat), n)])


def _table(x: Any, xs: list[float], ys: list[float], kind: Interpolation, outside: Outside) -> Any:
    k = int(np.clip(np.searchsorted(xs, float(x), side="right") - 1, 0, len(xs) - 2))
    if kind is Interpolation.LINEAR:
        rows = [[mp.mpf(ys[i]), (mp.mpf(ys[i + 1]) - ys[i]) / (mp.mpf(xs[i + 1]) - xs[i])] for i in range(len(xs) - 1)]
    elif kind is Interpolation.MONOTONE_CUBIC:
        rows = [[mp.mpf(c) for c in row] for row in PchipInterpolator(xs, ys).c[::-1].T]
    else:  # its coefficients are what tests of tables compare; here its evaluation is
        rows = [[mp.mpf(c) for c in row] for row in interpolation(xs, ys, kind, outside).coefficients[1:-1]]

    def inside(k: int, x: Any) -> Any:
        return mp.polyval(rows[k][::-1], x - mp.mpf(xs[k]))

    if xs[0] <= x < xs[-1]:
        return inside(k, x)
    end, k = (xs[0], 0) if x < xs[0] else (xs[-1], len(xs) - 2)
    u = mp.mpf(end) - xs[k]
    slope = sum(i * c * u ** (i - 1) for i, c in enumerate(rows[k]) if i)
    return mp.mpf(ys[0] if end == xs[0] else ys[-1]) + (slope * (x - end) if outside is Outside.EXTEND else 0)


def _root(residual: Callable[..., list[Any]], n: int, args: list[Any]) -> list[Any]:
    """Newton with its matrix by differences; ten steps more than double precision needs."""
    x, h = mp.matrix([mp.mpf("0.1")] * n), mp.mpf(10) ** -25
    for _ in range(30):
        r = mp.matrix(residual(list(x), args, mp))
        J = mp.matrix(n, n)
        for j in range(n):
            moved = [x[i] + (h if i == j else 0) for i in range(n)]
            for i, value in enumerate(residual(moved, args, mp)):
                J[i, j] = (value - r[i]) / h
        x -= mp.lu_solve(J, r)
    return list(x)
