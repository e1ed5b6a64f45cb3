"""The audit of a run: two sides of every balance, computed in two ways, and how far apart they are.

A balance holds when its largest error stays below a share (`Margins.share`) of what was exchanged. What is merely
present does not count: the energy of a flywheel that turns at a steady rate would hide a pendulum that is wrong. Two
things are allowed beside: rounding of the amounts that are subtracted (a mechanism at rest exchanges nothing), and what
adaptive steps promise, which is a share of the energy itself wherever that is not steady.

Each impact is looked at by itself: it may take energy, never give any. Gaps of loops are told in metres (or radians)
and hold below `CLOSURE`.

What no audit can see: what is described wrongly, and what the method never looked at, such as a force that comes and
goes between two of its evaluations. Both sides of a balance then agree on something else than was meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.simulation.results.channels import Audit, Channel, Role
from torseur.simulation.solvers.problem import Array

__all__ = ["CLOSURE", "Balance", "Gap", "Margins", "audit_of", "energy_balance"]

NOTHING = 1e-18
"""Amounts below this are what rounding leaves of a mechanism at rest: a kilogram at a nanometre a second."""

CLOSURE = 1e-9
"""Gaps of loops and contacts that hold, m or rad."""

STEADY = 1e-12
"""A share of kinetic energy that changes by no more than this part of itself in a whole run is steady."""

FEW = 16
"""Instants of a record that are too few to say what was exchanged between them: all that is present counts."""

UNITS = 64.0
"""Units in the last place that rounding may leave of amounts which are subtracted."""

PROMISED = 100.0
"""The error of a whole run with adaptive steps, in tolerances of one step."""


@dataclass(frozen=True)
class Margins:
    """How far off balances may be.

    Attributes:
        share: of what was exchanged.
        rtol: relative tolerance of the steps; 0 where they are given.
    """

    share: float = 1e-6
    rtol: float = 0.0

    @property
    def of_unsteady(self) -> float:
        """Of what unsteady speeds hold; never more than the share of what is exchanged."""
        return min(PROMISED * self.rtol, self.share)


@dataclass(frozen=True)
class Balance:
    """What a mechanism has (nt,) or (nt, k), and what it was given since the start, of the same shape.

    Attributes:
        name: energy, linear momentum, ...
        unit: of both.
        has: the amount.
        given: by each giver, by name.
        exchanged: inside, without showing in the amount itself.
        unsteady: the amount that the tolerance of steps is a share of.
        size: of the numbers that were added up to it, though they may have cancelled: it bounds rounding.
    """

    name: str
    unit: str
    has: Array
    given: dict[str, Array]
    exchanged: float = 0.0
    unsteady: float = 0.0
    size: float = 0.0

    @property
    def error(self) -> Array:
        """(nt,): what it has gained less what it was given; the length of the vector where it is one."""
        gained = self.has - self.has[:1]
        for part in self.given.values():
            gained = gained - (part - part[:1])
        return np.abs(gained) if gained.ndim == 1 else np.linalg.norm(gained, axis=1)

    @property
    def amount(self) -> float:
        """The largest amount that was exchanged."""
        moved = [np.max(np.abs(part - part[:1]), initial=0.0) for part in self.given.values()]
        gain = np.max(np.abs(self.has - self.has[:1]), initial=0.0)
        return float(max([self.exchanged, gain, *moved]))

    @property
    def rounded_from(self) -> float:
        """The largest number that was added up."""
        return max(float(np.max(np.abs(self.has), initial=0.0)), self.size)

    @property
    def rounding(self) -> float:
        """What is left of equal amounts when they are subtracted, at most: some units in the last place of each."""
        return max(UNITS * float(np.finfo(float).eps) * self.rounded_from, NOTHING)

    def allowed(self, margins: Margins) -> float:
        """The largest error with which it holds."""
        return max(margins.share * self.amount, margins.of_unsteady * self.unsteady, self.rounding)


def energy_balance(name: str, kinetic: Array, potential: Array, given: dict[str, Array]) -> Balance:
    """The balance of energy of bodies, J.

    Shares of kinetic energy exchange half of what all of them change by, and more with the potential energy.

    Args:
        kinetic: in shares (nt, k), such as those of each body about its axes.
        potential: (nt,).
        given: as in `Balance`.
    """
    changes, held = np.abs(kinetic - kinetic[:1]), np.abs(kinetic)
    T, U = kinetic.sum(axis=1), potential
    if len(U) < FEW:
        exchanged = np.max(held.sum(axis=1), initial=0.0)
    else:
        exchanged = max(
            np.max(x, initial=0.0) for x in (0.5 * changes.sum(axis=1), np.abs(T - T[:1]), np.abs(U - U[:1]))
        )
    unsteady = np.max(changes, axis=0, initial=0.0) > STEADY * np.max(held, axis=0, initial=0.0)
    moving = np.max(held[:, unsteady].sum(axis=1), initial=0.0)
    return Balance(name, "J", T + U, given, float(exchanged), float(moving))


@dataclass(frozen=True)
class Gap:
    """How far constraints are from being met (nt,)."""

    name: str
    unit: str
    error: Array


@dataclass(frozen=True)
class _Finding:
    """One line of an audit: its row of the table, what it says of itself, its error over time if it has one."""

    row: dict[str, Any]
    text: str
    channel: Channel | None = None


def audit_of(
    time: Array,
    balances: Sequence[Balance],
    gaps: Sequence[Gap] = (),
    impacts: Sequence[tuple[float, float, float]] = (),
    margins: Margins = Margins(),
) -> Audit:
    """The verdict, the table and the errors over time.

    Args:
        time: of the run (nt,).
        balances, gaps: what is watched over it.
        impacts: of each its time, and the energy before and after it, J.
        margins: how far off balances may be.
    """
    findings = [_of_balance(time, balance, margins) for balance in balances]
    findings += [_of_impacts(impacts)] if impacts else []
    findings += [_of_gap(time, gap) for gap in gaps]
    good = all(one.row["holds"] for one in findings)
    said = ", ".join(one.text for one in findings if one.row["holds"] == good)
    verdict = f"audit {'holds' if good else 'FAILS'}: {said}" if findings else "nothing to audit"
    channels = tuple(one.channel for one in findings if one.channel is not None)
    return Audit(verdict, good, channels, tuple(one.row for one in findings))


def _of_balance(time: Array, balance: Balance, margins: Margins) -> _Finding:
    error, amount, name, unit = balance.error, balance.amount, balance.name, balance.unit
    worst = int(np.argmax(error)) if error.size else 0
    largest, at = float(error[worst]), float(time[worst])
    holds = bool(np.isfinite(largest) and largest <= balance.allowed(margins))  # infinity is not within infinity
    relative = largest / amount if 0.0 < amount < np.inf else 0.0
    row = {"balance": name, "holds": holds, "error": largest, "unit": unit, "at": at, "of": amount}
    right = f"{name} to {_small(relative)} of {_large(amount)} {unit}"
    wrong = f"{name} off by {largest:.3g} {unit} of {_large(amount)} at {at:.6g} s"
    channel = Channel(_named(name, "error"), unit, f"error of the balance of {name}", error, Role.AUDIT)
    return _Finding(row | {"relative": relative}, right if holds else wrong, channel)


def _of_gap(time: Array, gap: Gap) -> _Finding:
    worst = int(np.argmax(gap.error)) if gap.error.size else 0
    largest, at = float(gap.error[worst]), float(time[worst])
    holds = largest <= CLOSURE
    row = {"balance": gap.name, "holds": holds, "error": largest, "unit": gap.unit, "at": at}
    text = (
        f"{gap.name} to {_small(largest)} {gap.unit}"
        if holds
        else f"{gap.name} off by {largest:.3g} {gap.unit} at {at:.6g} s"
    )
    channel = Channel(_named(gap.name, "gap"), gap.unit, f"largest gap of {gap.name}", gap.error, Role.AUDIT)
    return _Finding(row, text, channel)


def _of_impacts(impacts: Sequence[tuple[float, float, float]]) -> _Finding:
    """The impact that gave most energy, as a share of what it had; none may."""
    shares = [(after - before) / before if before > 0.0 else float(after > 0.0) for _, before, after in impacts]
    worst = int(np.argmax(shares))
    at, before, after = impacts[worst]
    gain, relative = max(after - before, 0.0), max(shares[worst], 0.0)
    holds = bool(shares[worst] <= 1e-9)
    row = {"balance": "impacts", "holds": holds, "error": gain, "unit": "J", "at": at, "of": before}
    text = (
        f"{len(impacts)} impacts gain nothing"
        if holds
        else f"an impact gains {gain:.3g} J of {_large(before)} at {at:.6g} s"
    )
    return _Finding(row | {"relative": relative}, text)


def _named(name: str, what: str) -> str:
    return f"{name.replace(' ', '_')}_{what}"


def _small(error: float) -> str:
    """Two digits and a power of ten; 0 where there is no error at all."""
    return f"{error:.1e}" if error else "0"


def _large(amount: float) -> str:
    """Three digits, up to a million without a power of ten.

    >>> _large(46.1834), _large(28431.0), _large(3.2e7)
    ('46.2', '28400', '3.2e+07')
    """
    return f"{float(f'{amount:.3g}'):.6g}"
