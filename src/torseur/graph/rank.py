"""Ranks, and linear systems of any shape, inside expressions.

A complete orthogonal decomposition, QR with column pivoting and then an LQ of what is left, finds the rank:
`minimum_norm_solve` for one right-hand side, `pseudo_inverse` for all at once. It works in lanes because every exchange
of columns is a `select`. Reference: Golub & Van Loan, Matrix Computations, 4th ed., 5.5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from torseur.errors import GraphError
from torseur.graph.calls import Callee, Tangent
from torseur.graph.function import Function
from torseur.graph.functions import absolute, maximum, select, sqrt
from torseur.graph.linear import WRITTEN_OUT, Matrix, cut_in_rows, dot, exchange, largest, matrix_of
from torseur.graph.linear_routines import SHORTEST
from torseur.graph.nodes import Bundle, Expr, Graph, Truth
from torseur.graph.routine import Loops

__all__ = ["LEFT_OVER", "minimum_norm_solve", "pseudo_inverse"]

LEFT_OVER = 1e-4
"""A pivot that a given rank leaves over, beside the first one: more than this is no error of closing."""


def minimum_norm_solve(
    A: Sequence[Sequence[Expr | float]], b: Sequence[Expr | float], *, tolerance: float = 1e-10
) -> tuple[list[Expr], Expr]:
    """The shortest x that minimises ``|A x - b|``, and the rank of A (m, n).

    Args:
        A: m rows of n entries.
        b: m entries.
        tolerance: pivots below this fraction of the largest count as zero.

    Where A holds a nan, or entries whose squares overflow, x and the rank are nan.
    """
    g, rows = matrix_of(A, b)
    m, n = len(rows), len(rows[0])
    if len(b) != m or not 0.0 < tolerance < 1.0:
        raise GraphError(
            "wrong right-hand side or tolerance",
            expected=f"{m} entries, 0 < tolerance < 1",
            got=f"{len(b)} entries, {tolerance}",
        )
    bundle = g.call(_minimum_norm(m, n, tolerance), [*(e for row in rows for e in row), *map(g.expr, b)])
    return [bundle[k] for k in range(n)], bundle[n]


def pseudo_inverse(
    A: Sequence[Sequence[Expr | float]],
    *,
    tolerance: float = 1e-10,
    floor: float = 0.0,
    rank: Expr | None = None,
    weak: Expr | None = None,
    checked: bool = True,
) -> tuple[Matrix, Expr]:
    """A^+ (n, m), Moore and Penrose's inverse, and the rank of A (m, n); what `minimum_norm_solve` says holds here too.

    Args:
        A: m rows of n entries.
        tolerance: pivots below this fraction of the largest count as zero.
        floor: pivots below this count as zero as well, for matrices that may hold nothing but rounding.
        rank: how many pivots count at most, whatever their size; all of them by default.
        weak: a tolerance that is known at run time only; where it is larger than the other, it counts.
        checked: where a pivot beyond the rank is not small beside the first (`LEFT_OVER`), the results are nan.
    """
    g, rows = matrix_of(A, [])
    m, n = len(rows), len(rows[0])
    if not 0.0 < tolerance < 1.0 or not 0.0 <= floor < math.inf:
        raise GraphError(
            "wrong tolerance or floor", expected="0 < tolerance < 1, 0 <= floor", got=f"{tolerance!r}, {floor!r}"
        )
    top = g.number(float(min(m, n))) if rank is None else rank
    limit = LEFT_OVER if checked and rank is not None else math.inf
    given = [*(e for row in rows for e in row), top, g.zero if weak is None else weak]
    bundle = g.call(_pseudo_inverse(m, n, tolerance, floor, limit), given)
    return cut_in_rows([bundle[k] for k in range(n * m)], m), bundle[n * m]


class _MinimumNorm(Callee):
    """x = A^+ b and the rank of A, by a complete orthogonal decomposition."""

    def __init__(self, m: int, n: int, tolerance: float) -> None:
        self.m, self.n, self.tolerance = m, n, tolerance
        self.name, self.n_out = f"minimum_norm{m}_{n}", n + 1
        self.meaning = "the shortest x for which A x is nearest to b, and the rank of A"

    @property
    def digest(self) -> str:
        return f"{self.name}:{self.tolerance!r}"

    def lowering(self) -> Function | Loops:
        write = _minimum_norm_function if min(self.m, self.n) <= WRITTEN_OUT else _minimum_norm_loops
        return write(self.m, self.n, self.tolerance)

    def _inverse(self, g: Graph, A: Matrix, b: Sequence[Expr]) -> list[Expr]:
        if all(bi is g.zero for bi in b):
            return [g.zero] * len(A[0])
        return minimum_norm_solve(A, b, tolerance=self.tolerance)[0]

    def _parts(self, bundle: Bundle) -> tuple[Graph, Matrix, Matrix, list[Expr], list[Expr], list[Expr]]:
        """The graph, A, A', x, the residual b - A x and w = A^+' x."""
        g, size = bundle.graph, self.m * self.n
        A, b = cut_in_rows(bundle.args[:size], self.n), bundle.args[size:]
        At = [list(c) for c in zip(*A, strict=True)]
        x = [bundle[k] for k in range(self.n)]
        residual = [bi - dot(row, x, g.zero) for bi, row in zip(b, A, strict=True)]
        return g, A, At, x, residual, self._inverse(g, At, x)

    def tangent(self, bundle: Bundle, tangents: Sequence[Tangent]) -> list[Expr]:
        """Golub & Pereyra 1973: dx = q + A^+ (db - dA x + A^+' dA' r - A q), q = dA' w."""
        g, A, At, x, r, w = self._parts(bundle)
        flat = [t if isinstance(t, Expr) else g.zero for t in tangents]
        dA, db = cut_in_rows(flat[: self.m * self.n], self.n), flat[self.m * self.n :]
        dAt = [list(c) for c in zip(*dA, strict=True)]
        q = [dot(row, w, g.zero) for row in dAt]
        p = self._inverse(g, At, [dot(row, r, g.zero) for row in dAt])
        right = [db[i] - dot(dA[i], x, g.zero) + p[i] - dot(A[i], q, g.zero) for i in range(self.m)]
        return [a + b for a, b in zip(q, self._inverse(g, A, right), strict=True)] + [g.zero]

    def adjoint(self, bundle: Bundle, weights: Sequence[Expr]) -> list[Tangent]:
        g, A, At, x, r, w = self._parts(bundle)
        x_bar = list(weights[: self.n])
        u = self._inverse(g, At, x_bar)
        s = self._inverse(g, A, u)
        p = [xb - dot(row, u, g.zero) for xb, row in zip(x_bar, At, strict=True)]
        A_bar = [r[i] * s[j] + w[i] * p[j] - u[i] * x[j] for i in range(self.m) for j in range(self.n)]
        return [*A_bar, *u]

    def reference(self, args: Sequence[Any]) -> Any:
        size = self.m * self.n
        flat = np.stack(np.broadcast_arrays(*args), axis=-1)
        A, b = flat[..., :size].reshape(*flat.shape[:-1], self.m, self.n), flat[..., size:]
        good = np.isfinite((A * A).sum(axis=(-1, -2)))[..., None]
        A = np.where(good[..., None], A, 0.0)
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
        live = s > self.tolerance * s[..., :1]
        y = np.where(live, np.einsum("...ik,...i->...k", U, b) / np.where(live, s, 1.0), 0.0)
        x = np.where(good, np.einsum("...kj,...k->...j", Vt, y), np.nan)
        return [*np.moveaxis(x, -1, 0), np.where(good[..., 0], live.sum(axis=-1), np.nan)]


@cache
def _minimum_norm(m: int, n: int, tolerance: float) -> _MinimumNorm:
    return _MinimumNorm(m, n, tolerance)


@cache
def _minimum_norm_loops(m: int, n: int, tolerance: float) -> Loops:
    g = Graph()
    return Loops(SHORTEST, (m, n), (g.block("A", (m, n)), g.block("b", m)), ((tolerance,),))


@cache
def _minimum_norm_function(m: int, n: int, tolerance: float) -> Function:
    g = Graph()
    block, right = g.block("A", (m, n)), g.block("b", m)
    (x,), rank = _shortest(list(block), n, [list(right)], tolerance)
    return Function(f"minimum_norm{m}_{n}", [block, right], {"x": x, "rank": rank})


def _shortest(
    A: list[Expr],
    n: int,
    right: Matrix,
    tolerance: float,
    floor: float = 0.0,
    top: Expr | None = None,
    limit: float = math.inf,
    weak: Expr | None = None,
) -> tuple[Matrix, Expr]:
    """For each b in `right` the shortest x that minimises |A x - b|; and the rank.

    Q R P' = A with the dead rows of R masked, T' Z' = R, then x = P Z T^-T Q' b.
    """
    g, m = A[0].graph, len(A) // n
    size = largest([absolute(x) for x in A])  # squares of the entries must neither vanish nor overflow
    unit = 1.0 / select(size > 0.0, size, 1.0)
    columns = [[x * unit for x in column] for column in zip(*cut_in_rows(A, n), strict=True)]
    steps = min(m, n)
    swaps: list[tuple[int, int, Truth]] = []
    live: list[Truth] = []
    threshold = g.zero
    least = floor * unit
    first = beyond = g.zero
    for k in range(steps):
        norms = [dot(col[k:], col[k:], g.zero) for col in columns]
        for j in range(k + 1, n):
            swap = norms[j] > norms[k]
            columns[k], columns[j] = exchange(swap, columns[k], columns[j])
            (norms[k],), (norms[j],) = exchange(swap, [norms[k]], [norms[j]])
            swaps.append((k, j, swap))
        pivot = sqrt(norms[k])
        alive = pivot > threshold if k else pivot > least
        live.append(alive if top is None else alive & (top > k + 0.5))
        if k == 0:
            part = tolerance if weak is None else maximum(weak, tolerance)
            threshold, first = maximum(part * pivot, least) if floor else part * pivot, pivot
        if top is not None and limit < math.inf:
            beyond = maximum(beyond, select(top > k + 0.5, 0.0, pivot))
        others = [*columns[k + 1 :], *right]
        _, others = _reflect(columns[k], k, pivot, norms[k], live[k], others)
        columns[k + 1 :], right = others[: n - k - 1], others[n - k - 1 :]
    # Rows of the masked R are the columns of its transpose.
    rows = [[select(live[k], col[k], 0.0) if j >= k else g.zero for j, col in enumerate(columns)] for k in range(steps)]
    masked = [[select(live[k], c[k], 0.0) for k in range(steps)] for c in right]
    known = dot(A, A, g.zero) < math.inf  # a nan pivot counts as dead: it must not pass for a rank
    if limit < math.inf and top is not None:  # beside a rank of zero there is nothing to measure by
        known = known & ((beyond <= maximum(limit * first, least)) | (top < 0.5))
    parts = []
    for z in _lower_solve_and_back(g, rows, masked, live, n):
        for k, j, swap in reversed(swaps):
            (z[k],), (z[j],) = exchange(swap, [z[k]], [z[j]])
        parts.append([select(known, x * unit, g.zero / g.zero) for x in z])
    rank = g.zero
    for alive in live:
        rank = rank + select(alive, 1.0, 0.0)
    return parts, select(known, rank, g.zero / g.zero)


class _PseudoInverse(Callee):
    """A^+ and the rank of A."""

    def __init__(self, m: int, n: int, tolerance: float, floor: float, limit: float) -> None:
        self.m, self.n, self.tolerance, self.floor, self.limit = m, n, tolerance, floor, limit
        self.name, self.n_out = f"pseudo_inverse{m}_{n}", n * m + 1
        self.meaning = "the inverse of Moore and Penrose, and the rank"

    @property
    def digest(self) -> str:
        return f"{self.name}:{self.tolerance!r}:{self.floor!r}:{self.limit!r}"

    def lowering(self) -> Function:
        return _pseudo_inverse_function(self.m, self.n, self.tolerance, self.floor, self.limit)

    def _parts(self, bundle: Bundle) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """A, X = A^+, I - A X, I - X A."""
        g = bundle.graph
        A, X = cut_in_rows(bundle.args[:-2], self.n), cut_in_rows([bundle[k] for k in range(self.n * self.m)], self.m)
        return A, X, _from_one(g, _product(A, X)), _from_one(g, _product(X, A))

    def tangent(self, bundle: Bundle, tangents: Sequence[Tangent]) -> list[Expr]:
        """Golub & Pereyra 1973, rank constant: dX = -X dA X + X X' dA' (I - A X) + (I - X A) dA' X' X."""
        g = bundle.graph
        _, X, beyond, free = self._parts(bundle)
        dA = cut_in_rows([t if isinstance(t, Expr) else g.zero for t in tangents[:-2]], self.n)
        dAt, Xt = _transposed(dA), _transposed(X)
        first = _product(_product(X, dA), X)
        second = _product(X, _product(Xt, _product(dAt, beyond)))
        third = _product(_product(free, dAt), _product(Xt, X))
        flat = [b + c - a for i in range(self.n) for a, b, c in zip(first[i], second[i], third[i], strict=True)]
        return [*flat, g.zero]

    def adjoint(self, bundle: Bundle, weights: Sequence[Expr]) -> list[Tangent]:
        _, X, beyond, free = self._parts(bundle)
        W, Xt = cut_in_rows(weights[: self.n * self.m], self.m), _transposed(X)
        Wt = _transposed(W)
        first = _product(_product(Xt, W), Xt)
        second = _product(_product(beyond, Wt), _product(X, Xt))
        third = _product(_product(Xt, X), _product(Wt, free))
        flat = [b + c - a for i in range(self.m) for a, b, c in zip(first[i], second[i], third[i], strict=True)]
        return [*flat, None, None]

    def reference(self, args: Sequence[Any]) -> Any:
        flat = np.stack(np.broadcast_arrays(*args), axis=-1)
        A, top, weak = flat[..., :-2].reshape(*flat.shape[:-1], self.m, self.n), flat[..., -2:-1], flat[..., -1:]
        good = np.isfinite((A * A).sum(axis=(-1, -2)))
        U, s, Vt = np.linalg.svd(np.where(good[..., None, None], A, 0.0), full_matrices=False)
        beyond = np.where(np.arange(s.shape[-1]) < top, 0.0, s).max(axis=-1, initial=0.0)
        most = np.inf if self.limit == math.inf else np.maximum(self.limit * s[..., 0], self.floor)
        good &= (beyond <= most) | (top[..., 0] < 0.5)
        least = np.maximum(np.maximum(self.tolerance, weak) * s[..., :1], self.floor)
        live = (s > least) & (np.arange(s.shape[-1]) < top)
        inverse = np.where(live, 1.0 / np.where(live, s, 1.0), 0.0)
        X = np.einsum("...kj,...k,...ik->...ji", Vt, inverse, U).reshape(*flat.shape[:-1], -1)
        X = np.where(good[..., None], X, np.nan)
        return [*np.moveaxis(X, -1, 0), np.where(good, live.sum(axis=-1), np.nan)]


@cache
def _pseudo_inverse(m: int, n: int, tolerance: float, floor: float, limit: float) -> _PseudoInverse:
    return _PseudoInverse(m, n, tolerance, floor, limit)


@cache
def _pseudo_inverse_function(m: int, n: int, tolerance: float, floor: float, limit: float) -> Function:
    g = Graph()
    block, top, weak = g.block("A", (m, n)), g.symbol("top"), g.symbol("weak")
    units = [[g.one if i == j else g.zero for i in range(m)] for j in range(m)]
    columns, rank = _shortest(list(block), n, units, tolerance, floor, top, limit, weak)
    return Function(
        f"pseudo_inverse{m}_{n}", [block, g.blocks["top"], g.blocks["weak"]], {"X": _transposed(columns), "rank": rank}
    )


def _transposed(A: Matrix) -> Matrix:
    return [list(column) for column in zip(*A, strict=True)]


def _product(A: Matrix, B: Matrix) -> Matrix:
    g, columns = A[0][0].graph, _transposed(B)
    return [[dot(row, column, g.zero) for column in columns] for row in A]


def _from_one(g: Graph, A: Matrix) -> Matrix:
    """I - A."""
    return [[(g.one if i == j else g.zero) - x for j, x in enumerate(row)] for i, row in enumerate(A)]


def _reflect(
    column: list[Expr], k: int, norm: Expr, square: Expr, live: Truth, others: list[list[Expr]]
) -> tuple[tuple[list[Expr], Expr], list[list[Expr]]]:
    """Householder: column[k:] becomes (alpha, 0, ...) in place; the same reflection on the others. Gives (v, beta)."""
    g, head = square.graph, column[k]
    alpha = select(head > 0.0, -norm, norm)
    v = [head - alpha, *column[k + 1 :]]
    beta = select(live, 1.0 / select(live, square - alpha * head, 1.0), 0.0)
    column[k:] = [select(live, alpha, head), *([g.zero] * (len(column) - k - 1))]
    return (v, beta), [_reflected(v, beta, k, other) for other in others]


def _reflected(v: list[Expr], beta: Expr, k: int, x: list[Expr]) -> list[Expr]:
    s = beta * dot(v, x[k:], beta.graph.zero)
    return [*x[:k], *(xi - s * vi for xi, vi in zip(x[k:], v, strict=True))]


def _lower_solve_and_back(g: Graph, rows: Matrix, right: Matrix, live: list[Truth], n: int) -> Matrix:
    """For each c in `right` the shortest y with R y = c, R of `rows`, some dead: LQ, forward substitution, Q back."""
    rows, reflectors = [list(r) for r in rows], []
    for k in range(len(rows)):
        square = dot(rows[k][k:], rows[k][k:], g.zero)
        reflector, rows[k + 1 :] = _reflect(rows[k], k, sqrt(square), square, live[k], rows[k + 1 :])
        reflectors.append(reflector)
    pivots = [select(live[k], row[k], 1.0) for k, row in enumerate(rows)]
    column = []
    for c in right:
        z = [g.zero] * n
        for k, row in enumerate(rows):
            z[k] = select(live[k], (c[k] - dot(row[:k], z[:k], g.zero)) / pivots[k], 0.0)
        for k in reversed(range(len(rows))):
            z = _reflected(*reflectors[k], k, z)
        column.append(z)
    return column
