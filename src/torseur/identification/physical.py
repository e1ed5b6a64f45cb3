"""Parameters that a body can have: a positive mass, and a mass that is spread over space somehow.

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
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.dynamics.parameters.regressor import TEN
from torseur.errors import ArgumentError
from torseur.identification.identification import Identification
from torseur.identification.unknowns import BaseUnknowns

__all__ = ["Physical", "is_physical", "physical_parameters", "pseudo_inertia", "ten_of"]

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
