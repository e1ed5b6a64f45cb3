"""Impacts: the speeds after everything that touches and approaches has been hit, at once.

With u = A v + c the rate of a gap, e the restitution of its contact and L its impulse, before (-) and after (+):

    M (v+ - v-) = A' L,    0 <= L,    u+ >= -e u-,    L (u+ + e u-) = 0        for every contact that touches

the impact law of Newton in the form of Moreau and Glocker (Leine & van de Wouw, Stability and Convergence of Mechanical
Systems with Unilateral Constraints, 2008, 3.6): contacts push or do nothing. Each of them then takes the energy
1/2 L (1 - e) |u-|, so none is gained, however many there are and however different their restitutions. Solving u+ =
-e u- for all of them instead lets some pull, and energy may grow.

Rows that hold without a side (loops, and the tangential ones of rolling) have a part in it; where these would let
energy grow together with rebounds, all rebounds are smaller by one common factor, so that none is gained.

Friction: impulses along the ground that stay in the cone of the normal ones. The rates of the normal rows after it are
those that the impact without friction asks for. A contact that takes part sticks, if an impulse inside its cone can
hold it, and slips otherwise, against the sliding velocity it is left with:

    M (v+ - v-) = sum of A' L,   |L_t| <= mu L_n,   L_t = -mu L_n u_t+ / |u_t+|  where it slips

With the rates u = A v + c before and after, the bodies gain the energy 1/2 sum L (u- + u+). Rebounds with friction may
make that positive (Kane & Levinson 1985): they are taken smaller, by one factor for all, so that none is gained.
Without any rebound none can be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations

import numpy as np

from torseur.errors import NumericalError
from torseur.simulation.solvers.problem import Array

__all__ = ["Impact", "Rub", "Solved", "Struck", "rubbed", "struck"]

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
        impulses = _solved(impact, contacts, share)
        if impulses is not None and _gain(impact, *impulses) <= 0.0:
            best, least = impulses, share
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
    impulses = np.linalg.lstsq(K, right, rcond=1e-13)[0]
    L = np.zeros(len(A))
    L[held] = impulses[n:]
    for c in acting:
        if c.normal in slides:
            L[list(c.along)] = -c.mu * L[c.normal] * slides[c.normal]
    return impulses[:n], L


Set = frozenset[int]

MOST = 12
"""Contacts of one instant among which all combinations are tried."""

FINE = 1e-9
"""Rates that differ by less, m/s or rad/s, or as a share of the largest, are equal."""


@dataclass(frozen=True)
class Impact:
    """What an impact is made of, at one instant.

    Attributes:
        before: the state (n,) that comes to it.
        rebounds: of every contact that touches and does not separate: the rate it asks for after, -e u- >= 0.
        solve: (contacts that act, factor) -> the state after, where each of them has its rebound times the factor.
        rates: state -> the rate of every gap.
        energy: (state, contacts) -> kinetic energy relative to those contacts, J: a driven one may give energy.
    """

    before: Array
    rebounds: Mapping[int, float]
    solve: Callable[[Set, float], Array]
    rates: Callable[[Array], list[float]]
    energy: Callable[[Array, Set], float]


@dataclass(frozen=True)
class Solved:
    """What came of it: the state after, and the kinetic energy before and after, J.

    Attributes:
        reached: the contacts whose gaps go on with just the rebound they asked for: those that pushed, and others that
            these took along. The rest are open.
    """

    after: Array
    reached: Set
    energies: tuple[float, float]


def struck(impact: Impact) -> Solved:
    """Solve an impact; the energies are relative to the contacts that pushed."""
    pushed = _pushing(impact)
    before, after = impact.energy(impact.before, pushed), impact.solve(pushed, 1.0)
    energy, share = impact.energy(after, pushed), 1.0
    if energy > before * (1.0 + FINE):
        share = _share(impact, pushed, before, energy)
        after = impact.solve(pushed, share)
        energy = impact.energy(after, pushed)
    rates = impact.rates(after)
    near = _near(rates)
    reached = {k for k, rebound in impact.rebounds.items() if rates[k] - share * rebound <= near}
    return Solved(after, pushed | reached, (before, energy))


def _share(impact: Impact, pushed: Set, before: float, full: float) -> float:
    """The share of all rebounds with which as much energy is left as there was.

    The energy is a quadratic of the share, T(0) + b k + a k^2; without rebounds, T(0), it cannot have grown.
    """
    none, half = (impact.energy(impact.solve(pushed, k), pushed) for k in (0.0, 0.5))
    a, b = 2.0 * (full + none - 2.0 * half), 4.0 * half - full - 3.0 * none
    left = max(before - none, 0.0)
    root = b + math.sqrt(max(b * b + 4.0 * a * left, 0.0))
    return min(max(2.0 * left / root, 0.0), 1.0) if root > 0.0 else 0.0


def _pushing(impact: Impact) -> Set:
    """The contacts that push: with them every rebound is reached or exceeded, and none of them pulls.

    From none, the contact that is missed most is added, and one that pulls is taken out again. So those that repeat
    others stay out. Should that go in a circle, all combinations are tried, small ones first.
    """
    chosen, seen = Set(), set[Set]()
    while chosen not in seen:
        seen.add(chosen)
        misplaced = _misplaced(impact, chosen)
        if misplaced is None:
            return chosen
        chosen = chosen ^ {misplaced}
    contacts = sorted(impact.rebounds)
    if len(contacts) <= MOST:
        for some in chain.from_iterable(combinations(contacts, n) for n in range(len(contacts) + 1)):
            if _misplaced(impact, frozenset(some)) is None:
                return frozenset(some)
    raise NumericalError(
        "the impact has no unique solution: which contacts push is not determined",
        remedy="use equal restitutions, or a little compliance",
    )


def _misplaced(impact: Impact, chosen: Set) -> int | None:
    """The contact that is missed most in a set, or else pulls most in it; None where it is the right one.

    One pulls if its gap would open faster than it asks for without it.
    """
    wanted = impact.rebounds
    rates = impact.rates(impact.solve(chosen, 1.0))
    near = _near(rates)
    missed = {k: wanted[k] - rates[k] for k in wanted if k not in chosen}
    if missed and max(missed.values()) > near:
        return max(missed, key=lambda k: missed[k])
    pulls = {k: impact.rates(impact.solve(chosen - {k}, 1.0))[k] - wanted[k] for k in chosen}
    is_short = any(wanted[k] - rates[k] > near for k in chosen)
    if pulls and (is_short or max(pulls.values()) > near):
        return max(pulls, key=lambda k: pulls[k])
    return None


def _near(rates: list[float]) -> float:
    return FINE * max([1.0, *(abs(x) for x in rates)])
