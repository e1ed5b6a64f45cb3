"""Functions of the expression graph as data, and three readings of them.

A `Recipe` is a straight-line program: blocks of inputs, steps that refer to earlier values by their place, and outputs.
`build` makes a `Function` of it (folded and interned while it is built), `build_raw` one in which nothing was folded,
and `plain` computes it with NumPy and nothing of ours.

>>> recipe = Recipe((("x", (), Role.STATE),), (Step("sin", (0,)),), (("y", (), (1,)),))
>>> build(recipe)
<Function f(x[]) -> y[]: 2 nodes>
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

import torseur.graph as tg
from torseur.graph import Expr, Function, Graph, Interpolation, Outside, Role, Truth, ops

__all__ = [
    "BINARY",
    "COMPARISONS",
    "KINDS",
    "LOGIC",
    "RESIDUALS",
    "TRUTHFUL",
    "UNARY",
    "Recipe",
    "Step",
    "build",
    "build_raw",
    "plain",
]


@dataclass(frozen=True)
class Step:
    """One operation on earlier values; `data` is what is not a value (a constant, a table, a callee)."""

    kind: str
    args: tuple[int, ...] = ()
    data: Any = None


@dataclass(frozen=True)
class Recipe:
    blocks: tuple[tuple[str, tuple[int, ...], Role], ...]
    steps: tuple[Step, ...]
    outputs: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...]
    names: dict[int, str] = field(default_factory=dict)

    @property
    def n_inputs(self) -> int:
        return sum(prod(shape) for _, shape, _ in self.blocks)


# -- the kinds of steps ------------------------------------------------------------------------------------------------
UNARY = {
    "neg": (operator.neg, np.negative),
    "sqrt": (tg.sqrt, np.sqrt),
    "exp": (tg.exp, np.exp),
    "log": (tg.log, np.log),
    "sin": (tg.sin, np.sin),
    "cos": (tg.cos, np.cos),
    "tan": (tg.tan, np.tan),
    "asin": (tg.asin, np.arcsin),
    "acos": (tg.acos, np.arccos),
    "atan": (tg.atan, np.arctan),
    "sinh": (tg.sinh, np.sinh),
    "cosh": (tg.cosh, np.cosh),
    "tanh": (tg.tanh, np.tanh),
    "asinh": (tg.asinh, np.arcsinh),
    "acosh": (tg.acosh, np.arccosh),
    "atanh": (tg.atanh, np.arctanh),
    "abs": (tg.absolute, np.abs),
    "sign": (tg.sign, np.sign),
    "floor": (tg.floor, np.floor),
}
BINARY = {
    "add": (operator.add, np.add),
    "sub": (operator.sub, np.subtract),
    "mul": (operator.mul, np.multiply),
    "div": (operator.truediv, np.divide),
    "pow": (operator.pow, np.power),
    "atan2": (tg.atan2, np.arctan2),
    "min": (tg.minimum, np.minimum),
    "max": (tg.maximum, np.maximum),
}
COMPARISONS = {
    "lt": (operator.lt, np.less),
    "le": (operator.le, np.less_equal),
    "gt": (operator.gt, np.greater),
    "ge": (operator.ge, np.greater_equal),
    "eq": (tg.equal, np.equal),
}
LOGIC = {
    "not": (operator.invert, np.logical_not),
    "and": (operator.and_, np.logical_and),
    "or": (operator.or_, np.logical_or),
}
OTHERS = ("select", "ipow", "table", "call", "solve", "minimum_norm", "root")
KINDS = (*UNARY, *BINARY, *COMPARISONS, *LOGIC, *OTHERS)
_PLAIN = {**UNARY, **BINARY, **COMPARISONS, **LOGIC, "select": (tg.select, np.where)}
TRUTHFUL = {*COMPARISONS, *LOGIC}


def _kepler(x: Any, a: Any, m: Any) -> list[Any]:
    return [x[0] + 0.5 * m.sin(a[1]) * m.sin(x[0]) - a[0]]


def _cubic(x: Any, a: Any, m: Any) -> list[Any]:
    return [x[0] * x[0] * x[0] + x[0] - a[0]]


def _coupled(x: Any, a: Any, m: Any) -> list[Any]:
    return [x[0] + 0.25 * m.sin(x[1]) - m.sin(a[0]), x[1] + 0.25 * m.cos(x[0]) * m.sin(a[1]) - a[1]]


def _residual(
    law: Callable[..., list[Any]], n: int, n_args: int
) -> tuple[Function, int, int, Callable[..., list[Any]]]:
    g = Graph()
    x, a = g.block("x", n), g.block("a", n_args)
    return Function(law.__name__.strip("_"), [x, a], {"r": law(x, a, tg)}), n, n_args, law


RESIDUALS = {"kepler": _residual(_kepler, 1, 2), "cubic": _residual(_cubic, 1, 1), "coupled": _residual(_coupled, 2, 2)}
"""Problems with one root each: the Function, its sizes, and the law for any module that knows sin and cos."""


# -- three readings of a recipe ----------------------------------------------------------------------------------------
def build(recipe: Recipe, graph: Graph | None = None, name: str = "f") -> Function:
    """The recipe as a Function, its named values named."""
    return _written(recipe, Graph() if graph is None else graph, name, _built)


def build_raw(recipe: Recipe) -> Function:
    """The recipe as a Function of one node per elementary step, nothing folded."""
    return _written(recipe, Graph(), "f", _raw)


def _written(recipe: Recipe, g: Graph, name: str, write: Callable[[Graph, Step, list[Any]], list[Any]]) -> Function:
    blocks = [g.block(label, shape, role) for label, shape, role in recipe.blocks]
    values: list[Any] = [symbol for block in blocks for symbol in block]
    for step in recipe.steps:
        values += write(g, step, [values[k] for k in step.args])
    for k, label in recipe.names.items():
        g.name(values[k], label)
    outputs = {label: _shaped([values[k] for k in places], shape) for label, shape, places in recipe.outputs}
    return Function(name, blocks, outputs)


def _shaped(items: list[Any], shape: tuple[int, ...]) -> Any:
    if shape == ():
        return items[0]
    array = np.empty(len(items), object)
    array[:] = items
    return array.reshape(shape)


def _built(g: Graph, step: Step, args: list[Any]) -> list[Any]:
    if step.kind in _PLAIN:
        return [_PLAIN[step.kind][0](*args)]
    if step.kind == "const":
        return [g.number(step.data)]
    if step.kind == "ipow":
        return [args[0] ** step.data]
    if step.kind == "table":
        return [tg.table(args[0], *step.data)]
    if step.kind == "call":
        callee = _callee(step.data)
        sizes = np.cumsum([0, *(b.size for b in callee.inputs)])
        return tg.call(callee, *(args[i:j] for i, j in pairwise(sizes)))
    if step.kind == "solve":
        n = step.data
        return tg.solve([args[i * n : (i + 1) * n] for i in range(n)], args[n * n :])
    if step.kind == "minimum_norm":
        m, n = step.data
        x, rank = tg.minimum_norm_solve([args[i * n : (i + 1) * n] for i in range(m)], args[m * n :])
        return [*x, rank]
    residual, n, _, _ = RESIDUALS[step.data]
    return tg.root(residual, [0.1] * n, args)


_RAW = {op.name: op for op in ops.OPS}


def _raw(g: Graph, step: Step, args: list[Any]) -> list[Any]:
    if step.kind in ("gt", "ge"):
        return [g.node(Truth, _RAW["lt" if step.kind == "gt" else "le"], (args[1], args[0]))]
    if step.kind == "ipow":
        return [g.node(Expr, ops.POW, (args[0], g.number(step.data)))]
    if step.kind in _PLAIN:
        return [g.node(Truth if step.kind in TRUTHFUL else Expr, _RAW[step.kind], tuple(args))]
    if step.kind == "table" and args[0].is_number:
        hidden = g.node(Expr, ops.ADD, (args[0], g.zero))
        return [tg.table(hidden, *step.data)]
    return _built(g, step, args)


_CALLEES: dict[int, tuple[Recipe, Function]] = {}


def _callee(recipe: Recipe) -> Function:
    """One Function per recipe, so that two calls of it call one function."""
    if len(_CALLEES) > 1000:
        _CALLEES.clear()
    return _CALLEES.setdefault(id(recipe), (recipe, build(recipe, name="inner")))[1]


def plain(recipe: Recipe, *args: Any) -> list[NDArray[np.float64]]:
    """The outputs of a recipe by NumPy alone, on arrays of shape (..., *block.shape)."""
    columns, batches = [], []
    for (_, shape, _), arg in zip(recipe.blocks, args, strict=True):
        array = np.asarray(arg, float)
        lead = array.shape[: array.ndim - len(shape)]
        batches.append(lead)
        columns += list(np.moveaxis(array.reshape((*lead, prod(shape))), -1, 0))
    batch = np.broadcast_shapes(*batches)
    with np.errstate(all="ignore"):
        values = _plain_values(recipe, [np.broadcast_to(c, batch) for c in columns])
    return [
        np.stack([np.broadcast_to(np.asarray(values[k], float), batch) for k in places], -1).reshape((*batch, *shape))
        for _, shape, places in recipe.outputs
    ]


def _plain_values(recipe: Recipe, columns: Sequence[Any]) -> list[Any]:
    values = list(columns)
    for step in recipe.steps:
        values += _computed(step, [values[k] for k in step.args])
    return values


def _computed(step: Step, args: list[Any]) -> list[Any]:
    if step.kind in _PLAIN:
        return [_PLAIN[step.kind][1](*args)]
    if step.kind == "const":
        return [np.float64(step.data)]
    if step.kind == "ipow":
        return [np.power(args[0], float(step.data))]
    if step.kind == "table":
        return [_tabulated(args[0], *step.data)]
    if step.kind == "call":
        values = _plain_values(step.data, args)
        return [np.asarray(values[k], float) for _, _, places in step.data.outputs for k in places]
    flat = np.stack(np.broadcast_arrays(*args), axis=-1)
    batch = flat.shape[:-1]
    if step.kind == "solve":
        n = step.data
        A, b = flat[..., : n * n].reshape(*batch, n, n), flat[..., n * n :]
        return list(np.moveaxis(np.linalg.solve(A, b[..., None])[..., 0], -1, 0))
    if step.kind == "minimum_norm":
        m, n = step.data
        A, b = flat[..., : m * n].reshape(*batch, m, n), flat[..., m * n :]
        x = (np.linalg.pinv(A, rcond=1e-10) @ b[..., None])[..., 0]
        s = np.linalg.svd(A, compute_uv=False)
        return [*np.moveaxis(x, -1, 0), (s > 1e-10 * s[..., :1]).sum(-1).astype(float)]
    return list(_plain_root(step.data, flat))


def _tabulated(x: Any, xs: Any, ys: Any, kind: Interpolation, outside: Outside) -> Any:
    from scipy.interpolate import PchipInterpolator

    if kind is Interpolation.LINEAR:
        slope = np.diff(ys) / np.diff(xs)
        inside, slopes = np.interp(x, xs, ys), (slope[0], slope[-1])
    else:
        curve = PchipInterpolator(xs, ys) if kind is Interpolation.MONOTONE_CUBIC else _spline(xs, ys, outside)
        inside, slopes = curve(np.clip(x, xs[0], xs[-1])), curve([xs[0], xs[-1]], 1)
        inside = np.where(np.asarray(x) >= xs[-1], ys[-1], inside)  # scipy leaves the rounding of the last cubic there
    if outside is Outside.HOLD:
        return inside
    beyond = np.minimum(x - xs[0], 0) * slopes[0] + np.maximum(x - xs[-1], 0) * slopes[1]
    return inside + np.where(beyond == 0, 0, beyond)


def _spline(xs: Any, ys: Any, outside: Outside) -> Any:
    """Natural, or with quintic ends that have neither slope nor curvature at the first and the last point."""
    from scipy.interpolate import BPoly, CubicSpline, PPoly

    if outside is Outside.EXTEND:
        return CubicSpline(xs, ys, bc_type="natural")
    inner = CubicSpline(xs, ys, bc_type="clamped")
    given = [[y, inner(x, 1), inner(x, 2)] for x, y in zip(xs, ys, strict=True)]
    given[0][1:] = given[-1][1:] = [0.0, 0.0]
    return PPoly.from_bernstein_basis(BPoly.from_derivatives(xs, given))


def _plain_root(problem: str, flat: NDArray[np.float64]) -> NDArray[np.float64]:
    """Plain Newton, its matrix by complex steps."""
    _, n, _, law = RESIDUALS[problem]
    a = list(np.moveaxis(flat, -1, 0))
    x, h = np.full((n, *flat.shape[:-1]), 0.1), 1e-30
    for _ in range(60):
        r = np.stack(law(x, a, np), axis=-1)
        moved = [x + 1j * h * np.eye(n)[j].reshape(n, *[1] * (flat.ndim - 1)) for j in range(n)]
        J = np.stack([np.stack(np.imag(law(z, a, np)), axis=-1) / h for z in moved], axis=-1)
        x = x - np.moveaxis(np.linalg.solve(J, r[..., None])[..., 0], -1, 0)
    return x
