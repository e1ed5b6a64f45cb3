"""Least squares on equations over time, with standard deviations that are right for correlated noise too.

=======  ==========================================================  =================
W        columns of the unknowns, rows of equations                  (nt, m, n)
y        what was measured                                           (nt, m)
s        standard deviation of an equation, from its residuals       (m,)
S        scale of a column                                           (n,)
=======  ==========================================================  =================

The weighted equations with scaled columns, (W S^-1 / s) (S x) = y / s, are decomposed as Q R. Columns whose part across
those before them is nothing but rounding are given up, and how they follow from the others is kept (Gautier 1991).

The weights come from the residuals of ordinary least squares, equation by equation, and are renewed once (Gautier &
Khalil's weighted method). The covariance does not assume that errors at different instants, or in different equations,
have nothing to do with each other: with the covariance C(k) of the residuals at k instants apart,

    cov(x) = A^-1 (sum over k of w(k) sum over t of W'(t) C(k) W(t + k)) A^-1,      A = W'W,                     (I.2)

with weights w(k) that are one for near instants and fall to zero (Politis 2003), at a lag that the residuals tell. For
errors that are white it tends to the classical s^2 A^-1. Residuals are smaller than errors, since the unknowns followed
these: C is divided by the share that is left. Where errors grow and shrink with the motion, the sums of g(t) g'(t + k),
g = W'e, which assume nothing of the kind, give more; then their variances are taken, with residuals enlarged instant by
instant by what the fit took there (HC3, MacKinnon & White 1985).                                                (I.3)

The equations enter as efforts; as power, the sum over the speeds of v times each equation, one equation an instant
(Gautier 1997); or as energy, its integral over windows by the trapezoidal rule: noise of accelerations averages out,
but the rows are few.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from torseur.errors import ArgumentError
from torseur.identification.motion import Motion
from torseur.identification.signals import Filtering, decimated, factor_of
from torseur.identification.unknowns import Unknowns

__all__ = ["Block", "Estimate", "Form", "Weighting", "autocorrelation", "blocks_of", "fitted"]


Array = NDArray[np.float64]

ROUNDING = 1e-9
_CORRELATED = 0.05


@dataclass(frozen=True, eq=False)
class Block:
    """Equations of one stretch of time: W (nt, m, n), y (nt, m), and which of them count (nt, m)."""

    W: Array
    y: Array
    used: NDArray[np.bool_]
    time: Array

    @property
    def cleaned(self) -> Block:
        """With zeros where an equation does not count."""
        return Block(self.W * self.used[..., None], self.y * self.used, self.used, self.time)


@dataclass(frozen=True)
class Weighting:
    """Whether equations are weighted by their residuals, and how often the weights are renewed."""

    weighted: bool = True
    rounds: int = 2


@dataclass(frozen=True, eq=False)
class Estimate:
    """What least squares found.

    Attributes:
        values: (n,); nan for columns that were given up.
        covariance: (n, n); nan likewise.
        kept: places of the columns that were not given up.
        follows: place of a column given up -> how it follows from those kept, by place; empty for one of zeros.
        condition: condition number of the weighted equations with scaled columns.
        deviations_of_equations: (m,), standard deviations of the residuals of each equation.
        count: how many equations count.
        residuals: for each block y - W x, (nt, m).
        R, z: of the kept columns, weighted, not scaled: |R x - z|^2 + rest is the sum of squares.
        rest: that cannot be explained.
        lag: instants over which errors were taken for correlated.
        freedom: degrees of freedom that the deviations rest on.
    """

    values: Array
    covariance: Array
    kept: tuple[int, ...]
    follows: Mapping[int, Mapping[int, float]]
    condition: float
    deviations_of_equations: Array
    count: int
    residuals: tuple[Array, ...]
    R: Array
    z: Array
    rest: float
    lag: int
    freedom: float

    @property
    def deviations(self) -> Array:
        """(n,), standard deviations of the values."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def certainty(self) -> float:
        """How well the deviations are known themselves: their own relative standard deviation."""
        return float(1.0 / np.sqrt(2.0 * self.freedom))


def fitted(blocks: Sequence[Block], weighting: Weighting | None = None, *, known: Array | None = None) -> Estimate:
    """The unknowns that fit best.

    Args:
        blocks: the equations.
        weighting: how equations are weighted.
        known: (n,), values of columns that are given up, nan where there are none: their part of y is taken off.

    >>> rng = np.random.default_rng(1)
    >>> W = rng.normal(size=(500, 1, 2))
    >>> y = W @ np.array([2.0, -1.0]) + 0.1 * rng.normal(size=(500, 1))
    >>> found = fitted([Block(W, y, np.ones((500, 1), dtype=bool), np.arange(500.0))])
    >>> bool((np.abs(found.values - [2.0, -1.0]) < 3 * found.deviations).all())
    True
    """
    plan = weighting or Weighting()
    clean = [b.cleaned for b in blocks]
    n = clean[0].W.shape[2]
    rows = sum(int(b.used.sum()) for b in clean)
    if rows <= n:
        raise ArgumentError("too few equations", expected=f"more than the {n} unknowns", got=str(rows))
    W = np.concatenate([b.W for b in clean])
    y = np.concatenate([b.y for b in clean])
    used = np.concatenate([b.used for b in clean])
    s: Array = np.ones(W.shape[1])
    kept, follows = _independent(W.reshape(-1, n))
    y = y - _known_part(W, kept, known)
    x, spread = np.zeros(len(kept)), s
    for _ in range(plan.rounds + 1 if plan.weighted else 1):
        x = _least(_weighted(W[..., kept], s), (y / s).ravel())
        e = y - W[..., kept] @ x
        spread = _spread(e, used, len(kept))
        s = np.asarray(spread) if plan.weighted else s
    return _estimate(blocks, clean, W, y, kept, follows, x, s, spread, known)


def triangle(W: Array) -> Array:
    """R of W = Q R."""
    return np.asarray(np.linalg.qr(W).R)


def _weighted(W: Array, s: Array) -> Array:
    return np.asarray((W / s[:, None]).reshape(-1, W.shape[2]))


def _least(A: Array, b: Array) -> Array:
    return np.asarray(np.linalg.lstsq(A, b, rcond=None)[0], dtype=float)


def _known_part(W: Array, kept: Sequence[int], known: Array | None) -> Array:
    if known is None:
        return np.zeros(W.shape[:2])
    gone = [k for k in range(W.shape[2]) if k not in set(kept) and np.isfinite(known[k])]
    return np.asarray(W[..., gone] @ known[gone])


def _independent(W: Array) -> tuple[list[int], dict[int, dict[int, float]]]:
    """The columns that are independent of those before them, and how the others follow."""
    sizes = np.linalg.norm(W, axis=0)
    seen = [k for k in range(W.shape[1]) if sizes[k] > ROUNDING * max(sizes.max(), 1e-300)]
    follows: dict[int, dict[int, float]] = {k: {} for k in range(W.shape[1]) if k not in seen}
    R = triangle(W[:, seen] / sizes[seen]) if seen else np.zeros((0, 0))
    kept, places = list[int](), list[int]()
    basis = np.zeros((R.shape[0], 0))
    for i, k in enumerate(seen):
        left = R[:, i] - basis @ (basis.T @ R[:, i])
        left -= basis @ (basis.T @ left)
        size = float(np.linalg.norm(left))
        if size > ROUNDING:
            basis = np.column_stack([basis, left / size])
            kept.append(k)
            places.append(i)
            continue
        factors = np.linalg.lstsq(R[:, places], R[:, i], rcond=None)[0] * sizes[k] / sizes[kept]
        scale = max((abs(f) * sizes[j] for f, j in zip(factors, kept, strict=True)), default=0.0)
        follows[k] = {j: float(f) for f, j in zip(factors, kept, strict=True) if abs(f) * sizes[j] > 1e-6 * scale}
    return kept, follows


def _spread(e: Array, used: NDArray[np.bool_], n: int) -> Array:
    """Of the residuals of each equation; the degrees of freedom that the unknowns took are shared among them."""
    counts = used.sum(axis=0)
    share = max(1.0 - n / max(int(counts.sum()), 1), 1e-3)
    spread = np.sqrt((e**2 * used).sum(axis=0) / np.maximum(counts, 1) / share)
    return np.asarray(np.maximum(spread, 1e-12 * max(float(spread.max()), 1e-300)))


def _estimate(
    blocks: Sequence[Block],
    clean: Sequence[Block],
    W: Array,
    y: Array,
    kept: list[int],
    follows: dict[int, dict[int, float]],
    x: Array,
    s: Array,
    spread: Array,
    known: Array | None,
) -> Estimate:
    n = W.shape[2]
    weighted = _weighted(W[..., kept], s)
    R = triangle(np.column_stack([weighted, (y / s).ravel()]))
    k = len(kept)
    scales = np.linalg.norm(R[:k, :k], axis=0)
    condition = float(np.linalg.cond(R[:k, :k] / scales)) if k else 1.0
    whole = np.where(np.isnan(known), 0.0, known) if known is not None else np.zeros(n)
    whole[kept] = x
    residuals = tuple(np.where(b.used, b.y - b.W @ whole, np.nan) for b in blocks)
    rows = int(sum(b.used.sum() for b in clean))
    covariance, lag, freedom = _covariance(clean, kept, whole, s, R[:k, :k] / scales, scales, rows)
    values, full = np.full(n, np.nan), np.full((n, n), np.nan)
    values[kept] = x
    full[np.ix_(kept, kept)] = covariance
    rest = float(R[k, k] ** 2) if len(R) > k else 0.0
    return Estimate(
        values, full, tuple(kept), follows, condition, spread, rows, residuals, R[:k, :k], R[:k, k], rest, lag, freedom
    )


# -- the covariance ----------------------------------------------------------------------------------------------------
def autocorrelation(e: Array, lags: int) -> Array:
    """Of residuals (nt,), at lags 0 to `lags`; nan do not count."""
    clean = np.where(np.isnan(e), 0.0, e)
    power = float(clean @ clean)
    if power == 0.0:
        return np.concatenate([[1.0], np.zeros(lags)])
    return np.array([float(clean[: len(clean) - k] @ clean[k:]) / power for k in range(lags + 1)])


def _covariance(
    blocks: Sequence[Block], kept: list[int], x: Array, s: Array, R: Array, scales: Array, rows: int
) -> tuple[Array, int, float]:
    """(I.2), its lag, and the degrees of freedom it rests on."""
    errors = [(b.y - b.W @ x) / s for b in blocks]
    lag = _lag_of(errors)
    # columns in coordinates in which A is one: V = W (s S R)^-1
    inverse = np.linalg.inv(R)
    columns = [(b.W[..., kept] / s[:, None]) / scales @ inverse for b in blocks]
    alike = sum(w * abs(r) * (1.0 if k == 0 else 2.0) for k, (w, r) in enumerate(_shared(errors, lag)))
    more = 1.0 / max(1.0 - len(kept) * alike / rows, 0.1)
    # equivalent ones, of a spectrum that is estimated with these weights (Priestley 1981, 6.2.4)
    freedom = max((rows - len(kept)) / sum(w * w * (1.0 if k == 0 else 2.0) for k, w in enumerate(_weights(lag))), 1.0)
    steady = more * _steady(columns, errors, [b.used.astype(float) for b in blocks], lag)
    loose = _loose(columns, _enlarged(columns, errors), lag)
    T = inverse / scales[:, None]
    one, other = T @ steady @ T.T, T @ loose @ T.T
    growth = np.sqrt(np.maximum(np.diag(other) / np.diag(one), 1.0))
    return np.asarray(growth[:, None] * one * growth), lag, freedom


def _shared(errors: Sequence[Array], lag: int) -> list[tuple[float, float]]:
    """Weights, and the correlation of residuals so many instants apart, of all equations together."""
    weights, power = _weights(lag), sum(float(np.sum(e * e)) for e in errors)
    sums = [sum(float(np.sum(e[: len(e) - k] * e[k:])) for e in errors) for k in range(len(weights))]
    return [(w, x / max(power, 1e-300)) for w, x in zip(weights, sums, strict=True)]


def _weights(lag: int) -> list[float]:
    return [1.0 if k <= lag else 2.0 - k / lag for k in range(2 * lag + 1)]


def _steady(columns: Sequence[Array], errors: Sequence[Array], used: Sequence[Array], lag: int) -> Array:
    """sum V'(t) C(k) V(t + k): errors whose covariance depends on how far apart instants are, no more."""
    total = np.zeros((columns[0].shape[2],) * 2)
    by_row = [np.ascontiguousarray(np.swapaxes(V, 0, 1)) for V in columns]  # (m, nt, n)
    counts = np.maximum(sum(u.T @ u for u in used), 1.0)  # of instants at which two equations count, of all lags alike
    for k, weight in enumerate(_weights(lag)):
        C = sum(e[: len(e) - k].T @ e[k:] for e in errors) / counts
        for V in by_row:
            if (nt := V.shape[1]) > k:
                CV = np.tensordot(C, V, axes=1)
                part = sum(V[i, : nt - k].T @ CV[i, k:] for i in range(len(V)))
                total += weight * np.asarray(part if k == 0 else part + np.transpose(part))
    return _positive(total)


def _enlarged(columns: Sequence[Array], errors: Sequence[Array]) -> list[Array]:
    """(1 - V(t) V'(t))^-1 e(t): residuals of an instant, had it not been fitted."""
    blocks_with_loose = []
    for V, e in zip(columns, errors, strict=True):
        values, vectors = np.linalg.eigh(np.eye(V.shape[1]) - V @ np.swapaxes(V, 1, 2))
        along = np.einsum("tji,tj->ti", vectors, e) / np.maximum(values, 0.1)
        blocks_with_loose.append(np.einsum("tij,tj->ti", vectors, along))
    return blocks_with_loose


def _loose(columns: Sequence[Array], errors: Sequence[Array], lag: int) -> Array:
    """sum g(t) g'(t + k): nothing is assumed but that errors far apart have nothing to do with each other."""
    n = columns[0].shape[2]
    total = np.zeros((n, n))
    for V, e in zip(columns, errors, strict=True):
        g = np.einsum("tmk,tm->tk", V, e)
        for k, weight in enumerate(_weights(lag)[: len(g)]):
            part = g[: len(g) - k].T @ g[k:]
            total += weight * (part if k == 0 else part + part.T)
    return _positive(total)


def _positive(C: Array) -> Array:
    """The nearest covariance with no negative variance."""
    values, vectors = np.linalg.eigh(0.5 * (C + C.T))
    return np.asarray((vectors * np.maximum(values, 1e-3 * max(float(values.max(initial=0.0)), 0.0))) @ vectors.T)


def _lag_of(errors: Sequence[Array]) -> int:
    """The first lag from which on residuals of all equations are hardly correlated."""
    longest = max(len(e) for e in errors) // 8
    if longest < 2:
        return 0
    block = max(errors, key=len)
    rho = np.array([autocorrelation(e, longest) for e in block.T if np.any(e)])
    if not len(rho):
        return 0
    size = np.sqrt(np.mean(rho**2, axis=0))
    # Politis' rule: the first of five lags in a row below the bound
    bound = max(_CORRELATED, 2.0 * np.sqrt(np.log10(len(block)) / len(block)))
    for k in range(1, len(size)):
        if (size[k : k + 5] < bound).all():
            return k
    return longest // 2


class Form(Enum):
    """Of the equations."""

    EFFORTS = "efforts"
    POWER = "power"
    ENERGY = "energy"


def blocks_of(
    unknowns: Unknowns, motions: Sequence[Motion], x: Array, filtering: Filtering, form: Form = Form.EFFORTS
) -> list[Block]:
    """The equations of motions as blocks, filtered, decimated, and with their ends left out."""
    return [_block(unknowns, motion, x, filtering, form) for motion in motions]


def _block(unknowns: Unknowns, motion: Motion, x: Array, filtering: Filtering, form: Form) -> Block:
    W, y = unknowns.equations(motion, x)
    lost = motion.lost
    if lost.shape != y.shape:
        lost = np.tile(np.asarray(lost.any(axis=1))[:, None], y.shape[1])
    band = filtering.band or 2.0 * motion.band
    if form is not Form.EFFORTS:
        rows = _speeds(unknowns, motion, y.shape[1])
        W, y = np.einsum("tj,tjk->tk", rows, W)[:, None], np.einsum("tj,tj->t", rows, y)[:, None]
        lost = np.asarray(lost.any(axis=1))[:, None]
    if form is Form.ENERGY:
        return _energies(motion, W, y, lost, band)
    inner = slice(motion.trim, len(y) - motion.trim)
    W, y, lost, time = W[inner], y[inner], lost[inner], motion.time[inner]  # before the filter mixes ends with the rest
    if not filtering.decimate:
        return Block(W, y, ~lost, time)
    trim = min(len(y) // 8, int(1.0 / (band * motion.step)))
    wide = _widened(lost, int(0.75 / (band * motion.step)))
    W, y = (decimated(a, motion.step, band, trim) for a in (W, y))
    places = np.arange(trim, len(time) - trim, factor_of(motion.step, band))
    return Block(W, y, ~wide[places], time[places])


def _speeds(unknowns: Unknowns, motion: Motion, rows: int) -> Array:
    """Of the equations: v, or the independent speeds where they are projected."""
    if rows == motion.v.shape[1]:
        return motion.v
    N = unknowns.allowed(motion)
    return np.stack([np.linalg.lstsq(n, v, rcond=None)[0] for n, v in zip(N, motion.v, strict=True)])


def _energies(motion: Motion, W: Array, y: Array, lost: NDArray[np.bool_], band: float) -> Block:
    """Integrals over windows of half a period of the fastest motion."""
    width = max(2, int(0.5 / (band * motion.step)))
    begin, end = motion.trim, len(y) - motion.trim
    edges = np.arange(begin, end - 1, width)

    def integral(a: Array) -> Array:
        middle = 0.5 * motion.step * (a[1:] + a[:-1])
        total = np.concatenate([np.zeros((1, *a.shape[1:])), np.cumsum(middle, axis=0)])
        return np.asarray(np.diff(total[edges], axis=0))

    used = np.array([[not lost[a : b + 1].any()] for a, b in pairwise(edges)])
    return Block(integral(W), integral(y), used.reshape(-1, 1), motion.time[edges[:-1]])


def _widened(lost: NDArray[np.bool_], reach: int) -> NDArray[np.bool_]:
    """With the samples that a filter mixes with them."""
    if not lost.any():
        return lost
    from scipy.ndimage import binary_dilation

    return np.asarray(binary_dilation(lost, np.ones((2 * reach + 1, 1), dtype=bool)))
