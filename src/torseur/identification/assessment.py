"""What an estimate says of parameters: values that bodies can have, which unknowns are essential, and which motion
would show the others.

Ten parameters belong to a real body if its pseudo-inertia is positive definite (Traversaro et al. 2016, Wensing et al.
2018), which is more than a positive inertia tensor: it holds the triangle inequality too,

    J = [ S  h ]      S = tr(I)/2 1 - I,   h = (MX, MY, MZ),                                                     (I.5)
        [ h' M ]

Written J = U U' with U upper triangular and exponentials on its diagonal (Rucker & Wensing 2022) it always is. What is
minimised is the increase of the sum of squares over that of the free estimate, in which all that the measurements say
is kept, and a little of the distance to the description, which settles what the measurements leave open:

    |R (B K - b)|^2 + g sum over links of |U0^-1 J U0^-' - 1|^2,                                                 (I.6)

with b the base parameters, R'R the inverse of their covariance. Inertias of drives and friction are squares, so
not negative.

Essential parameters (Gautier): the least significant unknown is left out, one after the other, as long as the sum of
squares does not grow by more than noise explains: t^2 = (x/s)^2 of the one left out stays below a bound.

What motion shows an unknown: the mechanism is moved in thought, one joint or two of them at a time, slowly for what
weighs, fast for what resists being accelerated. With the information A the measurements gave, the variance left with
such a motion added is that of (A + A_motion)^-1; the motion that leaves least is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from torseur.dynamics.parameters.regressor import TEN
from torseur.errors import ArgumentError
from torseur.identification.identification import Identification
from torseur.identification.motion import Motion
from torseur.identification.unknowns import BaseUnknowns, Unknowns
from torseur.model.model import Model
from torseur.model.rows import limits, rates_of

__all__ = [
    "Advice",
    "Physical",
    "advice",
    "essential",
    "is_physical",
    "physical_parameters",
    "pseudo_inertia",
    "ten_of",
]


Array = NDArray[np.float64]

PULL = 1e-3
"""Of the distance to the description, beside one standard deviation."""
_ROUND = 1e-3


@dataclass(frozen=True, eq=False)
class Physical:
    """Standard parameters that bodies can have.

    Attributes:
        standard: XX1, ..., by name.
        base: the base parameters that follow, by name.
        worse: root mean square of (base - free estimate) over the standard deviations. Beyond about two, the free
            estimate is no physical body within its own uncertainty: model or data are wrong.
        converged: whether the search ended where nothing improves.
    """

    standard: Mapping[str, float]
    base: Mapping[str, float]
    worse: float
    converged: bool


def pseudo_inertia(ten: Array) -> Array:
    """J (..., 4, 4) of ten parameters (..., 10), (I.5).

    >>> pseudo_inertia(np.array([2.0, 0, 0, 2.0, 0, 2.0, 0, 0, 0, 5.0])).diagonal()
    array([1., 1., 1., 5.])
    """
    XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = np.moveaxis(np.asarray(ten, dtype=float), -1, 0)
    half = 0.5 * (XX + YY + ZZ)
    rows = [[half - XX, -XY, -XZ, MX], [-XY, half - YY, -YZ, MY], [-XZ, -YZ, half - ZZ, MZ], [MX, MY, MZ, M]]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def ten_of(J: Array) -> Array:
    """The ten parameters of a pseudo-inertia."""
    trace = J[0, 0] + J[1, 1] + J[2, 2]
    I = trace * np.eye(3) - J[:3, :3]  # noqa: E741
    return np.array([I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2], J[0, 3], J[1, 3], J[2, 3], J[3, 3]])


def is_physical(ten: Array) -> bool:
    """Whether a body can have these ten parameters."""
    return bool(np.linalg.eigvalsh(pseudo_inertia(ten)).min() > 0.0)


_UPPER = [(i, j) for i in range(4) for j in range(i + 1, 4)]


def _of_factors(theta: Array) -> tuple[Array, Array]:
    """The pseudo-inertia of four logarithms and six entries, and its derivatives (10, 4, 4)."""
    d = np.exp(theta[:4])
    unit = np.eye(4)
    for value, (i, j) in zip(theta[4:], _UPPER, strict=True):
        unit[i, j] = value
    U = unit * d
    by = np.zeros((10, 4, 4))
    for k in range(4):
        by[k][:, k] = U[:, k]
    for k, (i, j) in enumerate(_UPPER, 4):
        by[k][i, j] = d[j]
    half = by @ U.T
    return np.asarray(U @ U.T), np.asarray(half + np.swapaxes(half, 1, 2))


def _factors(J: Array) -> Array:
    """The inverse of `_of_factors`."""
    U = np.linalg.cholesky(J[::-1, ::-1])[::-1, ::-1]
    return np.array([*np.log(np.diag(U)), *(U[i, j] / U[j, j] for i, j in _UPPER)])


def physical_parameters(identified: Identification, *, pull: float = PULL) -> Physical:
    """The standard parameters of real bodies that fit the measurements best, (I.6).

    Args:
        identified: base parameters, as `identify` finds them.
        pull: g, of the distance to the description.
    """
    from scipy.optimize import least_squares

    if not isinstance(identified.unknowns, BaseUnknowns):
        text = "physical parameters need base parameters"
        raise ArgumentError(text, got="parameters of the description", remedy='identify(..., unknowns="base")')
    base = identified.unknowns.base
    links = sorted({p.link for p in base.standard if p.symbol in TEN})
    places = [[i for i, p in enumerate(base.standard) if p.link == k and p.symbol in TEN] for k in links]
    drives = [i for i, p in enumerate(base.standard) if p.symbol not in TEN]
    kept = [k for k in identified.estimate.kept if k < len(base.kept)]
    B, b = identified.unknowns.combination[kept], identified.estimate.values[kept]
    C = identified.estimate.covariance[np.ix_(kept, kept)]
    R = np.linalg.inv(np.linalg.cholesky(C))
    start = _start(identified, len(base.standard))
    J0 = [_rounded(pseudo_inertia(start[i])) for i in places]
    roots = [np.linalg.inv(np.linalg.cholesky(J)) for J in J0]

    lower = np.tril_indices(4)
    n, size = 10 * len(places), np.maximum(np.abs(start[drives]), 1e-3)

    def standard(x: Array) -> tuple[Array, Array]:
        """K, and dK/dx."""
        K, by = np.zeros(len(base.standard)), np.zeros((len(base.standard), len(x)))
        for i, own in enumerate(places):
            J, by_theta = _of_factors(x[10 * i : 10 * i + 10])
            K[own] = ten_of(J)
            by[own, 10 * i : 10 * i + 10] = np.array([ten_of(dJ) for dJ in by_theta]).T
        K[drives] = x[n:] ** 2
        by[drives, np.arange(n, len(x))] = 2.0 * x[n:]
        return K, by

    def residuals(x: Array) -> Array:
        K, _ = standard(x)
        far = [
            (root @ pseudo_inertia(K[own]) @ root.T - np.eye(4))[lower] for root, own in zip(roots, places, strict=True)
        ]
        more = (K[drives] - start[drives]) / size
        return np.concatenate([R @ (B @ K - b), np.sqrt(pull) * np.concatenate([*far, more])])

    def jacobian(x: Array) -> Array:
        _, by = standard(x)
        far = np.zeros((10 * len(places) + len(drives), len(x)))
        for i, (root, own) in enumerate(zip(roots, places, strict=True)):
            moved = root @ pseudo_inertia(by[own].T) @ root.T
            far[10 * i : 10 * i + 10] = moved[:, lower[0], lower[1]].T
        far[n:] = by[drives] / size[:, None]
        return np.concatenate([R @ B @ by, np.sqrt(pull) * far])

    x0 = np.concatenate([*(_factors(J) for J in J0), np.sqrt(np.maximum(start[drives], 1e-4 * size))])
    best = least_squares(residuals, x0, jacobian, method="lm", x_scale="jac", xtol=1e-10, ftol=1e-10, max_nfev=2000)
    K, _ = standard(best.x)
    off = R @ (B @ K - b)
    return Physical(
        {p.name: float(x) for p, x in zip(base.standard, K, strict=True)},
        {n: float(x) for n, x in zip(base.names, identified.unknowns.combination @ K, strict=True)},
        float(np.sqrt(np.mean(off**2))),
        bool(best.status > 0),
    )


def _start(identified: Identification, n: int) -> Array:
    """The standard parameters of the description; balls of a kilogram where it has none."""
    function = identified.model.function("standard_parameters")
    if function.has_values():
        return np.asarray(function())
    assert isinstance(identified.unknowns, BaseUnknowns)
    ball = dict.fromkeys(("XX", "YY", "ZZ"), 4e-3) | {"M": 1.0}
    return np.array([ball.get(p.symbol, 0.0) for p in identified.unknowns.base.standard])


def _rounded(J: Array) -> Array:
    """Positive definite: a body that the description has no size or mass of gets a little of both."""
    mass = max(float(J[3, 3]), 1e-6)
    size = max(float(np.trace(J[:3, :3])) / mass, 1e-4)
    J = J.copy()
    J[3, 3] = mass
    values, vectors = np.linalg.eigh(J[:3, :3] - np.outer(J[:3, 3], J[:3, 3]) / mass)
    values = np.maximum(values, _ROUND * mass * size)
    J[:3, :3] = (vectors * values) @ vectors.T + np.outer(J[:3, 3], J[:3, 3]) / mass
    return J


SIGNIFICANT = 2.0
MOST_JOINTS = 10
_SAMPLES = 60


def essential(identified: Identification, significant: float = SIGNIFICANT) -> Mapping[str, float]:
    """The essential unknowns with their values once the others are left out (zero).

    Args:
        identified: what was identified.
        significant: standard deviations that a value must be off zero.
    """
    kept = list(identified.estimate.kept)
    x, C = identified.estimate.values[kept], identified.estimate.covariance[np.ix_(kept, kept)]
    while len(kept):
        t = np.abs(x) / np.sqrt(np.diag(C))
        k = int(np.argmin(t))
        if t[k] >= significant:
            break
        # the others, given that this one is zero
        rest = [i for i in range(len(kept)) if i != k]
        gain = C[rest, k] / C[k, k]
        x, C = x[rest] - gain * x[k], C[np.ix_(rest, rest)] - np.outer(gain, C[k, rest])
        kept = [kept[i] for i in rest]
    return {identified.names[i]: float(value) for i, value in zip(kept, x, strict=True)}


@dataclass(frozen=True)
class Advice:
    """What motion would show an unknown.

    Attributes:
        name: of the unknown.
        motion: in words; empty if none of those that were tried helps.
        deviation: what its standard deviation would become.
    """

    name: str
    motion: str
    deviation: float

    def __str__(self) -> str:
        return f"{self.name}: {self.motion or 'no motion of one or two joints shows it'}"


def advice(identified: Identification) -> tuple[Advice, ...]:
    """For every unknown that was not determined the simplest motion that would show it."""
    wanted = [k for k, x in enumerate(identified.levels) if x.name in identified.undetermined]
    if not wanted or not (identified.model.mechanism.is_tree or identified.motions[0].multipliers is not None):
        return ()
    n, s = len(identified.names), identified.estimate.deviations_of_equations
    if len(s) != identified.model.nv:
        return ()
    kept = list(identified.estimate.kept)
    F = np.zeros((len(kept), n))  # what follows from the others told the same about them
    F[np.arange(len(kept)), kept] = 1.0
    for k, factors in identified.estimate.follows.items():
        for j, factor in factors.items():
            F[kept.index(j), k] = factor
    before = F.T @ np.linalg.inv(identified.estimate.covariance[np.ix_(kept, kept)]) @ F
    trials = list(_trials(identified.model, identified.motions[0]))
    s = np.maximum(s, 1e-9 * float(s.max()))
    after = [_deviations(before + _information(identified.unknowns, m, identified.filled, s)) for _, m in trials]
    now = _deviations(before)
    return tuple(_best(identified, k, now[k], [w for w, _ in trials], [d[k] for d in after]) for k in wanted)


def _best(identified: Identification, k: int, now: float, words: Sequence[str], then: Sequence[float]) -> Advice:
    """The first trial that does nearly as well as the best: trials of one joint come first."""
    least = min(then, default=np.inf)
    if not least < 0.7 * now:
        return Advice(identified.names[k], "", float(now))
    i = next(i for i, d in enumerate(then) if d <= 1.5 * least)
    return Advice(identified.names[k], words[i], float(then[i]))


def _deviations(A: Array) -> Array:
    """Of all unknowns, infinite where the information says nothing."""
    scale = np.sqrt(np.maximum(np.diag(A), 1e-300))
    values, vectors = np.linalg.eigh(A / np.outer(scale, scale))
    live = values > 1e-10
    variance = np.sum(vectors[:, live] ** 2 / values[live], axis=1)
    lost = np.sum(vectors[:, ~live] ** 2, axis=1) > 1e-6
    return np.asarray(np.where(lost, np.inf, np.sqrt(variance) / scale))


def _information(unknowns: Unknowns, motion: Motion, x: Array, s: Array) -> Array:
    W, _ = unknowns.equations(motion, x)
    W = W / s[:, None]
    return np.asarray(np.einsum("tmi,tmj->ij", W, W))


def _trials(model: Model, like: Motion) -> list[tuple[str, Motion]]:
    """Motions of one joint, then of two, about other postures."""
    rates = rates_of(model.mechanism)
    joints = [k for k in sorted(rates) if model.speeds[k].owner != "base"][:MOST_JOINTS]
    trials = [_trial(model, like, (k,), fast) for k in joints for fast in (False, True)]
    return [*trials, *(_trial(model, like, pair, True) for pair in combinations(joints, 2))]


def _trial(model: Model, like: Motion, joints: Sequence[int], fast: bool) -> tuple[str, Motion]:
    rates, (low, high) = rates_of(model.mechanism), limits(model)
    t = np.linspace(0.0, 2.0 * np.pi, _SAMPLES)
    middle, nv = like.q.mean(axis=0), model.nv
    q, v, vdot = np.tile(middle, (_SAMPLES, 1)), np.zeros((_SAMPLES, nv)), np.zeros((_SAMPLES, nv))
    speed = max(float(np.abs(like.v).max()), 1.0) if fast else 1e-3
    for i, k in enumerate(joints):
        c, w = rates[k], i + 1.0
        wide = 1.0 if model.speeds[k].unit == "rad/s" else 0.2
        if np.isfinite(low[c]) and np.isfinite(high[c]):
            wide = min(wide, 0.4 * (high[c] - low[c]))
        q[:, c] = middle[c] + wide * np.sin(w * t + i)
        v[:, k], vdot[:, k] = speed * np.cos(w * t + i), -speed * w * speed / wide * np.sin(w * t + i)
    names = " and ".join(model.coordinates[rates[k]].name for k in joints)
    words = f"move {names} {'together, ' if len(joints) > 1 else ''}{'fast' if fast else 'slowly'}"
    inputs = np.tile(like.inputs.mean(axis=0), (_SAMPLES, 1))
    rows = None if like.multipliers is None else np.zeros((_SAMPLES, like.multipliers.shape[1]))
    lost = np.zeros((_SAMPLES, nv), dtype=bool)
    return words, Motion(t, float(t[1]), q, v, vdot, np.zeros((_SAMPLES, nv)), inputs, rows, lost, 0, 1.0)
