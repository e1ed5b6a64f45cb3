"""Forces that contacts and friction can have, where redundant constraints leave a choice; what opens where none fit.

At given accelerations the multipliers are lambda + Z c, with Z the forces that hold each other: A' Z = 0. Contacts
push, friction stays in its cone: a contact opens, or a stick breaks, only if no c gives such multipliers. The c with
the largest margin is a linear program, in which cones are planes that touch them, more of them as they are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.simulation.solvers.problem import Array

__all__ = ["Demands", "Instant", "admissible", "best", "opening"]

MARGIN = 1e-8
"""Of the largest force: what is left of it where multipliers still fit."""

CUTS = 40

PRECISE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass(frozen=True)
class Demands:
    """What multipliers must meet, by places of rows.

    Attributes:
        pushing: they are not below zero.
        cones: of a normal force, of the rows along the ground, and the coefficient of friction.
        levels: of a row, and what it is at most, either way.
    """

    pushing: Sequence[int]
    cones: Sequence[tuple[int, Sequence[int], float]] = ()
    levels: Sequence[tuple[int, float]] = ()


@dataclass(frozen=True)
class Instant:
    """Rows, those that are off as zeros, and the motion: M x = f + A' lam, A x = b."""

    A: Array
    b: Array
    lam: Array
    M: Array
    f: Array

    @property
    def size(self) -> float:
        """Of the forces."""
        return float(np.abs(self.lam).max(initial=0.0)) or 1.0

    @property
    def active(self) -> list[int]:
        return [int(k) for k in np.flatnonzero(np.abs(self.A).max(axis=1, initial=0.0) > 0.0)]


def admissible(now: Instant, rank: int, demands: Demands) -> Array | None:
    """Multipliers of all rows that meet demands with the largest margin; None where there are none."""
    forces = best(now, rank, demands)
    return forces[0] if forces is not None and forces[1] >= MARGIN else None


def best(now: Instant, rank: int, demands: Demands) -> tuple[Array, float] | None:
    """Multipliers with the largest margin to what is demanded, and that margin; below zero they miss it.

    None where rows are not redundant, so that there is no choice.
    """
    from scipy.optimize import linprog

    active = now.active
    if rank >= len(active) or not (np.isfinite(now.lam).all() and np.isfinite(now.A).all()):
        return None
    Z = np.zeros((len(now.lam), len(active) - rank))
    Z[active] = np.linalg.svd(now.A[active])[0][:, rank:]
    size = now.size
    cuts = _planes(demands, len(now.lam), size)
    for _ in range(CUTS):
        left = np.array([[*(-(row @ Z)), 1.0] for row, _ in cuts])
        right = np.array([row @ now.lam + level for row, level in cuts])
        bounds = [(None, None)] * Z.shape[1] + [(None, 1.0)]
        goal = [0.0] * Z.shape[1] + [-1.0]
        optimum = linprog(goal, left, right, bounds=bounds, options=PRECISE)  # type: ignore[call-overload]
        if optimum.x is None:
            return None
        lam, margin = np.asarray(now.lam + Z @ optimum.x[:-1]), float(optimum.x[-1])
        more = _violated(demands, lam, size, margin - 0.1 * MARGIN)
        if not more or margin < MARGIN:
            return lam, margin
        cuts += more
    return None


Plane = tuple[Array, float]
"""w and c of w . lambda + c >= margin."""


def _planes(demands: Demands, n: int, size: float) -> list[Plane]:
    planes: list[Plane] = []
    for k in demands.pushing:
        planes.append((_unit(n, {k: 1.0 / size}), 0.0))
    for k, level in demands.levels:
        planes += [(_unit(n, {k: sense / max(level, 1e-300)}), 1.0) for sense in (1.0, -1.0)]
    for normal, rows, mu in demands.cones:
        angles = np.arange(8) * np.pi / 4.0 if len(rows) > 1 else [0.0, np.pi]
        planes += [_touching(n, normal, rows, mu, np.array([np.cos(a), np.sin(a)]), size) for a in angles]
    return planes


def _touching(n: int, normal: int, rows: Sequence[int], mu: float, u: Array, size: float) -> Plane:
    """The plane that touches a cone along a direction."""
    return _unit(n, {normal: mu / size, **{k: -x / size for k, x in zip(rows, u, strict=False)}}), 0.0


def _violated(demands: Demands, lam: Array, size: float, margin: float) -> list[Plane]:
    violated = []
    for normal, rows, mu in demands.cones:
        pull = lam[list(rows)]
        length = float(np.linalg.norm(pull))
        if len(rows) > 1 and mu * lam[normal] - length < margin * size:
            violated.append(_touching(len(lam), normal, rows, mu, pull / length, size))
    return violated


def _unit(n: int, entries: dict[int, float]) -> Array:
    row = np.zeros(n)
    for k, x in entries.items():
        row[k] += x
    return row


def opening(now: Instant, rank: int, demands: Demands) -> list[int]:
    """The contacts that open, where some would have to pull: those that accelerate, and at the very limit, where none
    does yet, those that have no force left."""
    if not all(np.isfinite(part).all() for part in (now.A, now.b, now.lam, now.M, now.f)):
        return []
    opens = _accelerating(now, demands.pushing)
    if opens:
        return opens
    at_limit = best(now, rank, demands)
    lam = now.lam if at_limit is None else at_limit[0]
    return [k for k in demands.pushing if lam[k] <= 100.0 * MARGIN * now.size]


def _accelerating(now: Instant, pushing: Sequence[int]) -> list[int]:
    """The contacts that move away: accelerations are those of Gauss under rows that push or let go.

    The nearest to the free accelerations, by inertia, with A x = b, for contacts A x >= b: its dual is a problem of
    least squares with forces that are not below zero.
    """
    from scipy.optimize import nnls

    fixed = [k for k in now.active if k not in pushing]
    N, B = now.A[list(pushing)], now.A[fixed]
    stiff = float(np.trace(now.M)) / len(now.M) or 1.0
    M = now.M + stiff * B.T @ B  # nothing along what the other rows allow
    x = np.linalg.lstsq(np.vstack([now.M, now.A]), np.concatenate([now.f + now.A.T @ now.lam, now.b]), rcond=None)[0]
    free = np.linalg.solve(M, now.f + stiff * B.T @ now.b[fixed])
    L = np.linalg.cholesky(M)
    C = np.linalg.solve(L, np.hstack([N.T, B.T, -B.T]))
    d = L.T @ (free - x)
    push = nnls(C, -d)[0]
    gains = np.linalg.solve(L, N.T).T @ (d + C @ push)
    size = float(np.abs(np.linalg.solve(L, N.T).T @ d).max(initial=0.0))
    return [k for k, gain in zip(pushing, gains, strict=True) if gain > 1e-9 * size]
