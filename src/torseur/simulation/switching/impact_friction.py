"""Friction in an impact: impulses along the ground that stay in the cone of the normal ones.

The rates of the normal rows after it are those that the impact without friction asks for. A contact that takes part
sticks, if an impulse inside its cone can hold it, and slips otherwise, against the sliding velocity it is left with:

    M (v+ - v-) = sum of A' L,   |L_t| <= mu L_n,   L_t = -mu L_n u_t+ / |u_t+|  where it slips

With the rates u = A v + c before and after, the bodies gain the energy 1/2 sum L (u- + u+). Rebounds with friction may
make that positive (Kane & Levinson 1985): they are taken smaller, by one factor for all, so that none is gained.
Without any rebound none can be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from torseur.simulation.solvers.problem import Array

__all__ = ["Rub", "Struck", "rubbed"]

ROUNDS = 200


@dataclass(frozen=True)
class Rub:
    """A contact with friction that takes part: the places of its rows, and its coefficient."""

    normal: int
    along: tuple[int, ...]
    mu: float


@dataclass(frozen=True)
class Struck:
    """An impact without friction.

    Attributes:
        M: inertia matrix.
        A: rows that take part, and those along the ground (rows, nv).
        rates: u before (rows,).
        jump: v+ - v- without friction.
        holding: the rows that hold, both ways.
        pushing: those that push without friction.
        touching: all that may push, and the rate that each asks for.
    """

    M: Array
    A: Array
    rates: Array
    jump: Array
    holding: Sequence[int]
    pushing: Sequence[int]
    touching: Mapping[int, float] = field(default_factory=dict)


def rubbed(impact: Struck, contacts: Sequence[Rub]) -> Array:
    """v+ - v- with friction."""
    least, most = 0.0, 1.0
    whole = _solved(impact, contacts, 1.0)
    if whole is None:
        return impact.jump
    if _gain(impact, *whole) <= 0.0:
        return whole[0]
    best = _solved(impact, contacts, 0.0)
    if best is None or _gain(impact, *best) > 0.0:
        return impact.jump
    for _ in range(60):
        share = 0.5 * (least + most)
        found = _solved(impact, contacts, share)
        if found is not None and _gain(impact, *found) <= 0.0:
            best, least = found, share
        else:
            most = share
    return best[0]


def _gain(impact: Struck, jump: Array, impulses: Array) -> float:
    """The energy that is gained, beyond rounding."""
    change = impact.A @ jump
    terms = impulses * (impact.rates + 0.5 * change)
    return float(terms.sum()) - 1e-12 * float(np.abs(terms).sum())


def _solved(impact: Struck, contacts: Sequence[Rub], share: float) -> tuple[Array, Array] | None:
    """The jump and the impulses of all rows, with a share of the rebounds; None where no combination fits."""
    pushing = list(impact.pushing)
    slides: dict[int, Array] = {}
    wanted = impact.A @ impact.jump
    wanted[pushing] -= (1.0 - share) * np.maximum(impact.rates + wanted, 0.0)[pushing]
    for _ in range(ROUNDS):
        acting = [c for c in contacts if c.normal in pushing or c.normal in impact.holding]
        jump, L = _balance(impact, [*impact.holding, *pushing], acting, slides, wanted)
        pulling = [k for k in pushing if L[k] < -1e-12 * np.abs(L).max()]
        if pulling:
            pushing.remove(min(pulling, key=lambda k: L[k]))
            continue
        after = impact.rates + impact.A @ jump
        near = 1e-12 * max(1.0, float(np.abs(impact.rates).max()))
        missed = [k for k, rate in impact.touching.items() if k not in pushing and after[k] < share * rate - near]
        if missed:
            worst = min(missed, key=lambda k: after[k])
            pushing.append(worst)
            wanted[worst] = share * impact.touching[worst] - impact.rates[worst]
            continue
        if not _turned(impact, acting, slides, jump, L):
            return jump, L
    return None


def _turned(impact: Struck, acting: Sequence[Rub], slides: dict[int, Array], jump: Array, L: Array) -> bool:
    """Whether a contact must slip, stick or slip along another direction; it is told so."""
    changed = False
    for c in acting:
        along = list(c.along)
        after, pull = (impact.rates + impact.A @ jump)[along], L[along]
        if c.normal not in slides:
            if np.linalg.norm(pull) > c.mu * max(L[c.normal], 0.0) * (1.0 + 1e-12):
                slides[c.normal] = -pull / np.linalg.norm(pull)
                changed = True
            continue
        speed, e = float(np.linalg.norm(after)), slides[c.normal]
        if after @ e < -1e-12 * max(1.0, np.abs(impact.rates).max()) and len(along) == 1:
            del slides[c.normal]
            changed = True
        elif speed > 1e-12 and np.abs(after / speed - e).max() > 1e-10:
            mean = after / speed + e
            length = float(np.linalg.norm(mean))
            slides[c.normal] = mean / length if length > 1e-6 else after / speed
            changed = True
    return changed


def _balance(
    impact: Struck, rows: Sequence[int], acting: Sequence[Rub], slides: dict[int, Array], wanted: Array
) -> tuple[Array, Array]:
    """The jump with given rates of rows, and with sticks or slips of contacts."""
    n, A = len(impact.M), impact.A
    stuck = [k for c in acting if c.normal not in slides for k in c.along]
    held = [*rows, *stuck]
    forces = A[held].T.copy()
    for c in acting:
        if c.normal in slides:
            forces[:, held.index(c.normal)] -= c.mu * slides[c.normal] @ A[list(c.along)]
    K = np.block([[impact.M, -forces], [A[held], np.zeros((len(held), len(held)))]])
    right = np.concatenate([np.zeros(n), wanted[list(rows)], -impact.rates[stuck]])
    found = np.linalg.lstsq(K, right, rcond=1e-13)[0]
    L = np.zeros(len(A))
    L[held] = found[n:]
    for c in acting:
        if c.normal in slides:
            L[list(c.along)] = -c.mu * L[c.normal] * slides[c.normal]
    return found[:n], L
