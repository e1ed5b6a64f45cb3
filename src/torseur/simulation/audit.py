"""The audit of a run: two sides of every balance, computed in two ways, and how far apart they are.

A balance holds when its largest error stays below a share (`tolerance`) of the largest amount that was exchanged or
present, or is no more than the rounding of the amounts that are subtracted (a mechanism at rest exchanges nothing).
Gaps of loops are told in metres (or radians) and hold below `closure`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.simulation.problem import Array
from torseur.simulation.result import Audit, Channel, Role

__all__ = ["Balance", "Gap", "audit_of"]

NOTHING = 1e-18
"""Amounts below this are what rounding leaves of a mechanism at rest: a kilogram at a nanometre a second."""


@dataclass(frozen=True)
class Balance:
    """What a mechanism has (nt,) or (nt, k), and what it was given since the start, of the same shape.

    Attributes:
        name: energy, linear momentum, ...
        unit: of both.
        has: the amount.
        given: by each giver, by name.
        scale: what else tells how large amounts are, such as kinetic energy.
        size: of the numbers that were added up to it, though they may have cancelled: it bounds rounding.
    """

    name: str
    unit: str
    has: Array
    given: dict[str, Array]
    scale: float = 0.0
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
        """The largest amount that was there or was exchanged."""
        moved = [np.max(np.abs(part - part[:1]), initial=0.0) for part in self.given.values()]
        gain = np.max(np.abs(self.has - self.has[:1]), initial=0.0)
        return float(max([self.scale, gain, *moved]))

    @property
    def rounding(self) -> float:
        """What is left of equal amounts when they are subtracted, at most: some units in the last place of each."""
        largest = max(float(np.max(np.abs(self.has), initial=0.0)), self.size)
        return max(64.0 * float(np.finfo(float).eps) * largest, NOTHING)


@dataclass(frozen=True)
class Gap:
    """How far constraints are from being met (nt,)."""

    name: str
    unit: str
    error: Array


def audit_of(
    time: Array, balances: Sequence[Balance], gaps: Sequence[Gap], *, tolerance: float = 1e-6, closure: float = 1e-9
) -> Audit:
    """The verdict, the table and the errors over time."""
    rows, channels, said = [], [], []
    for balance in balances:
        error = balance.error
        worst = int(np.argmax(error)) if error.size else 0
        largest, amount = float(error[worst]), balance.amount
        holds = bool(largest <= max(tolerance * amount, balance.rounding))
        relative = largest / amount if amount > 0.0 else 0.0
        rows.append(
            {
                "balance": balance.name,
                "holds": holds,
                "error": largest,
                "unit": balance.unit,
                "at": float(time[worst]),
                "of": amount,
                "relative": relative,
            }
        )
        text = f"{balance.name} to {relative:.1e} of {amount:.3g} {balance.unit}"
        said.append(
            (
                holds,
                text
                if holds
                else f"{balance.name} off by {largest:.3g} {balance.unit} of {amount:.3g} at {time[worst]:.6g} s",
            )
        )
        name = f"{balance.name.replace(' ', '_')}_error"
        channels.append(Channel(name, balance.unit, f"error of the balance of {balance.name}", error, Role.AUDIT))
    for gap in gaps:
        worst = int(np.argmax(gap.error)) if gap.error.size else 0
        largest = float(gap.error[worst])
        holds = largest <= closure
        row = {"balance": gap.name, "holds": holds, "error": largest, "unit": gap.unit, "at": float(time[worst])}
        rows.append(row)
        text = f"{gap.name} to {largest:.1e} {gap.unit}"
        said.append((holds, text if holds else f"{gap.name} off by {largest:.3g} {gap.unit} at {time[worst]:.6g} s"))
        name = f"{gap.name.replace(' ', '_')}_gap"
        channels.append(Channel(name, gap.unit, f"largest gap of {gap.name}", gap.error, Role.AUDIT))
    good = all(holds for holds, _ in said)
    parts = [text for holds, text in said if holds == good]
    verdict = f"audit holds: {', '.join(parts)}" if good else f"audit FAILS: {', '.join(parts)}"
    return Audit(verdict if said else "nothing to audit", good, tuple(channels), tuple(rows))
