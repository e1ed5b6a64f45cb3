"""How far rounding may carry a computed value: a first-order running error bound, node by node.

Every node gets a value and a bound on its error, as if each operation erred by a few units in the last place:

    err(f(a, b, ...)) = sum |df/da| err(a) + ulps * eps * |f|

widened where an operand is uncertain enough to leave the first order. Where rounding may decide a comparison, a floor
or a branch, the bound is the whole jump. An infinite bound means: nothing can be said, compare nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.graph import Function, jacobian, ops
from torseur.graph.calls import FunctionCall

EPS = np.finfo(float).eps
SMALLEST_NORMAL = np.finfo(float).smallest_normal
SMALLEST = np.finfo(float).smallest_subnormal
ULPS = 4.0  # of an elementary function, on either side of a comparison

_SLOPES = {
    ops.EXP: np.exp,
    ops.LOG: lambda x: 1 / x,
    ops.SQRT: lambda x: 0.5 / np.sqrt(x),
    ops.SIN: np.cos,
    ops.COS: np.sin,
    ops.TAN: lambda x: 1 + np.tan(x) ** 2,
    ops.ASIN: lambda x: 1 / np.sqrt((1 - x) * (1 + x)),
    ops.ACOS: lambda x: 1 / np.sqrt((1 - x) * (1 + x)),
    ops.ATAN: lambda x: 1 / (1 + x * x),
    ops.SINH: np.cosh,
    ops.COSH: np.sinh,
    ops.TANH: lambda x: 1 / np.cosh(x) ** 2,
    ops.ASINH: lambda x: 1 / np.hypot(1, x),
    ops.ACOSH: lambda x: 1 / np.sqrt((x - 1) * (x + 1)),
    ops.ATANH: lambda x: 1 / ((1 - x) * (1 + x)),
}
_JUMPING = {ops.SIGN, ops.FLOOR, ops.PIECEWISE}
_TRUTHS = {ops.TRUTH, ops.LT, ops.LE, ops.EQ, ops.NOT, ops.AND, ops.OR}


def assert_close(actual: ArrayLike, expected: ArrayLike, bound: ArrayLike = 0.0, *, factor: float = 2.0) -> None:
    """Both agree within the bound; where the bound is finite and a value is not, both are the same inf or both nan."""
    actual, expected = np.asarray(actual, float), np.asarray(expected, float)
    assert actual.shape == expected.shape, f"shapes {actual.shape} and {expected.shape}"
    bound = np.broadcast_to(np.asarray(bound, float), expected.shape)
    with np.errstate(all="ignore"):
        same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
        near = np.abs(actual - expected) <= factor * bound
    wrong = ~(same | near | np.isinf(bound))
    if wrong.any():
        at = tuple(int(k) for k in np.argwhere(wrong)[0])
        raise AssertionError(
            f"{wrong.sum()} of {wrong.size} values differ; first at {at}: "
            f"{actual[at]!r} is not {expected[at]!r} within {factor * bound[at]:.3g}"
        )


def assert_agrees(
    function: Function, args: Sequence[ArrayLike], actual: Sequence[ArrayLike], factor: float = 2.0
) -> None:
    """The outputs computed elsewhere agree with the reference evaluator as far as rounding allows."""
    values, bounds = evaluate_with_bounds(function, *args)
    assert len(actual) == len(values)
    for output, a, v, b in zip(function.outputs, actual, values, bounds, strict=True):
        try:
            assert_close(a, v, b, factor=factor)
        except AssertionError as error:
            raise AssertionError(f"output '{output.name}' of {function!r}: {error}") from None


def evaluate_with_bounds(
    function: Function, *args: ArrayLike
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    """The outputs of a function, and for each a bound on the error of any honest evaluation of it."""
    columns, batches = [], []
    for block, arg in zip(function.inputs, args, strict=True):
        array = np.asarray(arg, float)
        lead = array.shape[: array.ndim - len(block.shape)]
        batches.append(lead)
        flat = array.reshape((*lead, block.size))
        columns += [flat[..., k] for k in range(block.size)]
    batch = np.broadcast_shapes(*batches)
    with np.errstate(all="ignore"):
        pairs = iter(bounds_flat(function, columns, [0.0] * len(columns)))
    values, bounds = [], []
    for output in function.outputs:
        parts = [next(pairs) for _ in output.exprs]
        for k, into in enumerate((values, bounds)):
            full = [np.broadcast_to(np.asarray(p[k], float), batch) for p in parts]
            stacked = np.stack(full, axis=-1) if full else np.empty((*batch, 0))
            into.append(stacked.reshape((*batch, *output.shape)))
    return values, bounds


def bounds_flat(function: Function, columns: Sequence[Any], errors: Sequence[Any]) -> list[tuple[Any, Any]]:
    """(value, bound) of every result, flat, from (value, bound) of every input element."""
    where, offset = {}, 0
    for block in function.inputs:
        where[block.name] = offset
        offset += block.size
    value: dict[int, Any] = {}
    error: dict[int, Any] = {}
    for node in function.nodes:
        args, errs = [value[a.id] for a in node.args], [error[a.id] for a in node.args]
        if node.op is ops.SYMBOL:
            k = where[node.data[0]] + node.data[1]
            value[node.id], error[node.id] = np.asarray(columns[k], float), np.asarray(errors[k], float)
        elif node.op is ops.CALL:
            value[node.id], error[node.id] = _call(node.data, args, errs)
        elif node.op is ops.ITEM:
            value[node.id], error[node.id] = args[0][node.data], errs[0][node.data]
        else:
            value[node.id], error[node.id] = _apply(node, args, errs)
    return [(value[e.id], error[e.id]) for e in function.results]


def _apply(node: Any, x: list[Any], e: list[Any]) -> tuple[Any, Any]:
    op = node.op
    if op is ops.CONST:
        return np.float64(node.data), np.float64(0)
    if op is ops.PIECEWISE:
        return _piecewise(node.data, x[0], e[0])
    if op in _TRUTHS:
        return _truth(node, x, e)
    value = op.numpy(*x)
    if op is ops.SELECT:
        jump = np.where(x[1] == x[2], 0.0, np.abs(x[1] - x[2]))
        return value, np.where(e[0], _finite_or_inf(jump) + e[1] + e[2], np.where(x[0], e[1], e[2]))
    if op is ops.NEG or op is ops.ABS:
        return value, e[0] + np.zeros_like(value)
    if op is ops.MIN or op is ops.MAX:
        return value, _settled(value, x, e, np.maximum(e[0], e[1]))
    if op in _JUMPING:
        return value, _settled(value, x, e, _spread(op.numpy, x[0], e[0], value))
    err = _carried(node, op, x, e, value)
    ulps = ULPS if op in _SLOPES or op is ops.POW or op is ops.ATAN2 else 1.0
    err = err + np.where(np.isinf(value), 0.0, ulps * EPS * np.abs(value))
    if op not in (ops.ADD, ops.SUB):
        lost = (np.abs(value) < SMALLEST_NORMAL) & (x[0] != 0) & ((op is not ops.MUL) | (x[-1] != 0))
        err = err + np.where(lost, 4 * SMALLEST, 0.0)
    return value, _settled(value, x, e, err)


def _carried(node: Any, op: Any, x: list[Any], e: list[Any], value: Any) -> Any:
    """What the errors of the operands do to the result."""
    a, ea = x[0], e[0]
    if op in (ops.ADD, ops.SUB):
        return ea + e[1]
    if op is ops.MUL:
        return _times(ea, x[1]) + _times(e[1], a) + _times(ea, e[1])
    if op is ops.DIV:
        b, eb = np.abs(x[1]), e[1]
        err = (ea + _times(eb, value)) / (b - eb)
        unsigned = (b == 0) & (not _is_leaf(node.args[1]))
        return np.where((eb > 0) & (b <= 2 * eb) | unsigned, np.inf, np.where((ea == 0) & (eb == 0), 0.0, err))
    if op is ops.POW:
        y, ey = x[1], e[1]
        err = 2 * np.abs(value) * (_times(ea, y / a) + _times(ey, np.log(np.abs(a))))
        exact = (ea == 0) & (ey == 0)
        wild = (a <= 2 * ea) | (err > 0.1 * np.abs(value)) | ((a == 0) & (not _is_leaf(node.args[0])))
        return np.where(exact & ((a != 0) | _is_leaf(node.args[0])), 0.0, np.where(wild, np.inf, err))
    if op is ops.ATAN2:
        r, spread = np.hypot(a, x[1]), np.hypot(ea, e[1])
        leaf = _is_leaf(node.args[0]) and _is_leaf(node.args[1])
        cut = (np.abs(a) <= ea) & (x[1] <= e[1]) & (not leaf)
        err = np.where(spread == 0, 0.0, 2 * spread / (r - spread))
        return np.where(cut, 2 * np.pi, np.where((r <= 2 * spread) & (spread > 0), 2 * np.pi, err))
    first = _times(ea, _SLOPES[op](a))
    if op is ops.SIN or op is ops.COS:
        return np.minimum(np.abs(first) + ea * ea, 2.0)
    if op is ops.TAN:
        return np.where(_times(ea, value) > 0.1, np.inf, 2 * np.abs(first))
    return np.maximum(2 * np.abs(first), _spread(op.numpy, a, ea, value))


def _is_leaf(node: Any) -> bool:
    """Whether the sign of a zero is sure."""
    return node.op is ops.SYMBOL or node.op is ops.CONST


def _times(err: Any, slope: Any) -> Any:
    """err |slope|, where no error stays none whatever the slope."""
    return np.where(err == 0, 0.0, err * np.abs(slope))


def _spread(f: Any, x: Any, e: Any, value: Any) -> Any:
    """How far f moves between x - e and x + e; infinite where it leaves the domain."""
    low, high = np.abs(f(x - e) - value), np.abs(f(x + e) - value)
    return np.where(e == 0, 0.0, _finite_or_inf(np.maximum(low, high)))


def _finite_or_inf(x: Any) -> Any:
    return np.where(np.isnan(x), np.inf, x)


def _settled(value: Any, x: list[Any], e: list[Any], err: Any) -> Any:
    """The bound; a result that is inf or nan is certain (0) when exact operands or a certain inf or nan made it so."""
    exact = np.all(np.broadcast_arrays(*[ei == 0 for ei in e]), axis=0) & ~np.isinf(err)
    sure = [(ei == 0) | (np.abs(xi) > ei) for xi, ei in zip(x, e, strict=True)]
    wild = [~np.isfinite(xi) & (ei == 0) for xi, ei in zip(x, e, strict=True)]
    certain = np.all(np.broadcast_arrays(*sure), axis=0) & np.any(np.broadcast_arrays(*wild), axis=0) & ~np.isinf(err)
    certain = exact | certain | (np.any(np.broadcast_arrays(*wild), axis=0) & np.isnan(value) & (len(x) == 1))
    return np.where(np.isfinite(value), _finite_or_inf(err), np.where(certain, 0.0, np.inf))


def _truth(node: Any, x: list[Any], e: list[Any]) -> tuple[Any, Any]:
    """A condition, and whether rounding may decide it."""
    op = node.op
    if op is ops.TRUTH:
        return np.bool_(node.data), np.bool_(False)
    value = op.numpy(*x)
    if op is ops.NOT:
        return value, e[0]
    if op is ops.AND or op is ops.OR:
        return value, e[0] | e[1]
    unsure = (e[0] + e[1] > 0) & ~(np.abs(x[0] - x[1]) > e[0] + e[1])
    return value, unsure | np.isinf(e[0]) | np.isinf(e[1])


def _piecewise(curve: Any, x: Any, e: Any) -> tuple[Any, Any]:
    x = np.asarray(x, float)
    value, slope = curve(x), curve.derivative()
    k = np.searchsorted(curve.breaks, x, side="right")
    rows, u = np.abs(np.asarray(curve.coefficients))[k], np.abs(x - np.asarray(curve.origins)[k])
    size = rows[..., -1]
    for i in range(rows.shape[-1] - 2, -1, -1):
        size = size * u + rows[..., i]
    size = np.where(np.isinf(u), np.abs(value), size)
    steepest = np.maximum(np.abs(slope(x)), np.maximum(np.abs(slope(x - e)), np.abs(slope(x + e))))
    err = _spread(curve, x, e, value) + _times(2 * e, steepest) + 8 * EPS * _finite_or_inf(size)
    return value, _settled(value, [x], [e], err)


# -- calls -------------------------------------------------------------------------------------------------------------
def _call(callee: Any, args: list[Any], errs: list[Any]) -> tuple[Any, Any]:
    if isinstance(callee, FunctionCall):
        pairs = bounds_flat(callee.function, args, errs)
        return [p[0] for p in pairs], [p[1] for p in pairs]
    value = callee.reference(args)
    kind = callee.name.rstrip("0123456789_t")
    if kind == "factor":
        err = np.stack(np.broadcast_arrays(*errs, args[0])[:-1], axis=-1)
        return value, np.broadcast_to(err.reshape(*err.shape[:-1], callee.n, callee.n), value.shape)
    known = {"substitute": _substitute, "minimum_norm": _minimum_norm, "pseudo_inverse": _pseudo_inverse}
    bound = known.get(kind, _root)
    return value, bound(callee, value, args, errs)


def _stack(parts: Sequence[Any]) -> Any:
    return np.stack(np.broadcast_arrays(*parts), axis=-1)


def _safe(matrix: Any) -> tuple[Any, Any]:
    """A matrix that can be decomposed, and whether it is the one that was asked for."""
    good = np.isfinite(matrix).all(axis=(-1, -2))
    return np.where(good[..., None, None], matrix, np.eye(*matrix.shape[-2:])), good


def _substitute(callee: Any, value: Any, args: list[Any], errs: list[Any]) -> list[Any]:
    """Higham, Accuracy and Stability, 7.1: |dx| <= |A^-1| (|dA| |x| + |db|), with the backward error of LU."""
    swap = (lambda m: np.swapaxes(m, -1, -2)) if callee.transposed else (lambda m: m)
    A, good = _safe(swap(args[0]))
    dA, x, db = swap(errs[0]), _stack(value), _stack(errs[1:])
    singular = np.linalg.slogdet(A)[0] == 0
    inverse = np.abs(np.linalg.inv(np.where(singular[..., None, None], np.eye(callee.n), A)))
    dA = dA + 8 * callee.n * EPS * np.max(np.abs(A), axis=(-1, -2), keepdims=True)
    uncertain = (inverse @ dA).sum(axis=-1).max(axis=-1) > 0.1
    err = 2 * (inverse @ (dA @ np.abs(x)[..., None] + db[..., None]))[..., 0] + EPS * np.abs(x)
    err = np.where((uncertain | singular | ~good)[..., None], np.inf, _finite_or_inf(err))
    return list(np.moveaxis(np.where(np.isfinite(x), err, np.inf), -1, 0))


def _minimum_norm(callee: Any, value: Any, args: list[Any], errs: list[Any]) -> list[Any]:
    """Golub & Van Loan 5.3.7: |dx| <= |dA| / s_r (2 |x| + |r| / s_r) + |db| / s_r at constant rank."""
    m, n = callee.m, callee.n
    flat, x = _stack(args), _stack(value[:n])
    A = flat[..., : m * n].reshape(*flat.shape[:-1], m, n)
    A, good = _safe(np.where(np.isfinite((A * A).sum(axis=(-1, -2), keepdims=True)), A, np.nan))
    b = flat[..., m * n :]
    dA = np.linalg.norm(_stack(errs[: m * n]), axis=-1)
    db = np.linalg.norm(_stack(errs[m * n :]), axis=-1) + 8 * m * EPS * np.linalg.norm(b, axis=-1)
    s = np.linalg.svd(A, compute_uv=False)
    rank = np.nan_to_num(np.asarray(value[n])).astype(int)
    last = np.take_along_axis(s, np.maximum(rank - 1, 0)[..., None], axis=-1)[..., 0]
    nothing = rank == 0
    last = np.where(nothing, 1.0, last)
    beyond = np.where(np.arange(s.shape[-1]) >= rank[..., None], s, 0.0).max(axis=-1, initial=0.0)
    noise = dA + 16 * max(m, n) * EPS * s[..., 0]
    threshold = np.maximum(callee.tolerance * s[..., 0], getattr(callee, "floor", 0.0))
    # The rank is sure when noise keeps far from the threshold on both sides.
    sure = (beyond + noise < 0.01 * threshold) | (rank == min(m, n)) | (nothing & (dA == 0))
    sure &= nothing | (last - noise > 100 * threshold)
    relative = (noise + beyond) / last
    r = np.linalg.norm(b - (A @ np.nan_to_num(x)[..., None])[..., 0], axis=-1)
    err = 4 * (relative * (2 * np.linalg.norm(x, axis=-1) + r / last) + db / last)
    err = np.where(nothing, 0.0, err)
    sure &= good & np.isfinite(x).all(axis=-1) & (relative < 0.1)
    lost = ~good & (dA == 0)  # no number: surely no rank either
    err = np.where(sure, _finite_or_inf(err), np.where(lost, 0.0, np.inf))
    return [err] * n + [np.where(sure | lost, 0.0, np.inf)]


def _pseudo_inverse(callee: Any, value: Any, args: list[Any], errs: list[Any]) -> list[Any]:
    """Column by column: each is the shortest solution for a unit right-hand side. The last argument is the rank."""
    m, n = callee.m, callee.n
    columns = []
    for i, unit in enumerate(np.eye(m)):
        column = [value[j * m + i] for j in range(n)]
        columns.append(_minimum_norm(callee, [*column, value[-1]], [*args[:-2], *unit], [*errs[:-2], *np.zeros(m)]))
    return [columns[i][j] for j in range(n) for i in range(m)] + [columns[0][n]]


def _root(callee: Any, value: Any, args: list[Any], errs: list[Any]) -> list[Any]:
    """|dx| <= |J^-1| |error of the residual at the root|, and what the last step leaves: the square of its size."""
    f, n = callee.residual, callee.n
    x = np.stack(np.broadcast_arrays(*value, *args)[:n], axis=-1)
    residual = bounds_flat(f, [*value, *args[n:]], [0.0] * n + list(errs[n:]))
    jac = Function("J", f.inputs, {"J": jacobian(list(f.results), list(f.inputs[0])).dense()})
    entries = [np.asarray(p[0], float) for p in bounds_flat(jac, [*value, *args[n:]], [0.0] * len(args))]
    J, good = _safe(np.stack(np.broadcast_arrays(*entries, x[..., 0])[:-1], axis=-1).reshape(*x.shape, n))
    good &= np.linalg.slogdet(J)[0] != 0
    inverse = np.abs(np.linalg.inv(np.where(good[..., None, None], J, np.eye(n))))
    dr = np.stack(np.broadcast_arrays(*[np.asarray(p[1], float) for p in residual], x[..., 0])[:-1], axis=-1)
    err = 4 * (inverse @ dr[..., None])[..., 0] + 4 * EPS * np.abs(x)
    err = err + 100 * (callee.tolerance * (1 + np.abs(x))) ** 2
    err = np.where(good[..., None] & np.isfinite(x), _finite_or_inf(err), np.inf)
    return list(np.moveaxis(err, -1, 0))
