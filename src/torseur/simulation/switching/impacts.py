"""Impacts: the speeds after everything that touches and approaches has been hit, at once.

With u = A v + c the rate of a gap, e the restitution of its contact and L its impulse, before (-) and after (+):

    M (v+ - v-) = A' L,    0 <= L,    u+ >= -e u-,    L (u+ + e u-) = 0        for every contact that touches

the impact law of Newton in the form of Moreau and Glocker (Leine & van de Wouw, Stability and Convergence of Mechanical
Systems with Unilateral Constraints, 2008, 3.6): contacts push or do nothing. Each of them then takes the energy
1/2 L (1 - e) |u-|, so none is gained, however many there are and however different their restitutions. Solving u+ =
-e u- for all of them instead lets some pull, and energy may grow.

Rows that hold without a side (loops, and the tangential ones of rolling) have a part in it; where these would let
energy grow together with rebounds, all rebounds are smaller by one common factor, so that none is gained.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain, combinations

from torseur.errors import NumericalError
from torseur.simulation.solvers.problem import Array

__all__ = ["Impact", "Solved", "struck"]

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
        "it cannot be said which contacts push in an impact", remedy="use equal restitutions, or a little compliance"
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
