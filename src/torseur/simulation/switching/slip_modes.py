"""Who sets the modes of friction in contacts: sticks or slips, and along what; for what they mean see `switches`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.emit import NativeFunction
from torseur.simulation.plant.native_plant import NativePlant
from torseur.simulation.plant.switches import HOLDS, SLOW
from torseur.simulation.solvers.problem import Array, Held
from torseur.simulation.switching.admissible import Demands, Instant, admissible, opening
from torseur.simulation.switching.impacts import Rub, Struck, rubbed

__all__ = ["SlipModes", "Slipping"]

Evaluate = Callable[[NativeFunction | None, float, Array, Held], Any]

DIRECTIONS = 32
"""Among which the one of slip is looked for first."""


@dataclass(frozen=True)
class Slipping:
    """Of a contact with friction: sliding velocity, its rate, force along the ground; normal force, coefficient."""

    slip: Array
    rate: Array
    force: Array
    normal: float
    mu: float

    @property
    def speed(self) -> float:
        return float(np.linalg.norm(self.slip))

    @property
    def excess(self) -> float:
        """The force over what friction can give."""
        return float(np.linalg.norm(self.force)) / max(self.mu * self.normal * HOLDS, 1e-300)


class SlipModes:
    """The frictions of a plant's contacts.

    Args:
        plant: whose.
        evaluate: calls its functions at a time, state and held numbers.
    """

    def __init__(
        self,
        plant: NativePlant,
        evaluate: Evaluate,
    ) -> None:
        self.facts, self.evaluate, self._speeds = plant.facts, evaluate, plant.problem.columns("v")
        self.decide, self.instant, self.strike = (plant.native(name) for name in ("decisions", "instant", "impact"))
        names, switches = plant.facts.held_names, plant.facts.switches
        self.slips = switches.slips
        self.modes = [s.mode for s in self.slips]
        self.axes = [list(s.axes) for s in self.slips]
        self.shares = [names.index(name) for name in plant.facts.shares]
        half = len(plant.facts.ranks) // 2
        self._ranks = [names.index(name) for name in plant.facts.ranks[:half]]
        self._first = 4 * len(switches.dry) + 4 * len(switches.sided)
        self.dry_rows, self.sided_rows = [d.row for d in switches.dry], [s.row for s in switches.sided]
        self.rows = [(slip.normal, slip.along) for slip in self.slips]

    def look(self, t: float, x: Array, held: Held) -> list[Slipping]:
        if not self.slips:
            return []
        values = np.asarray(self.evaluate(self.decide, t, x, held)).ravel()[self._first :].reshape(-1, 8)
        return [Slipping(row[0:2], row[2:4], row[4:6], float(row[6]), float(row[7])) for row in values]

    def is_closed(self, k: int, held: Held) -> bool:
        place = self.slips[k].closed
        return place is None or held.m[place] > 0.5

    def sticks(self, k: int, held: Held) -> bool:
        return self.is_closed(k, held) and held.m[self.modes[k]] < 0.5

    def slide(self, held: Held) -> None:
        """Nothing holds by friction, as in an impact."""
        held.m[self.modes] = 1.0

    def face(self, t: float, x: Array, held: Held, slid: Collection[int]) -> None:
        """Slip along the motion there is; stick where there is none, unless that has been tried."""
        for k, slip in enumerate(self.look(t, x, held)):
            if not self.is_closed(k, held):
                held.m[self.modes[k]] = 0.0
            elif slip.speed > SLOW:
                self._turn(k, held, slip.slip / slip.speed)
            elif self.modes[k] not in slid:
                held.m[self.modes[k]] = 0.0

    def _turn(self, k: int, held: Held, direction: Array) -> None:
        held.m[self.modes[k]] = 1.0
        held.m[self.axes[k]] = direction[: len(self.axes[k])]

    def broken(self, t: float, x: Array, held: Held) -> list[int]:
        """The sticks that take more than friction can give, the worst first."""
        over = [(f.excess, k) for k, f in enumerate(self.look(t, x, held)) if self.sticks(k, held) and f.excess > 1.0]
        return [k for _, k in sorted(over, reverse=True)]

    def release(self, k: int, t: float, x: Array, held: Held) -> None:
        """Let a stick slip, along the relative acceleration that comes of it.

        The force that held it tells the direction where it is just enough; where it is more, as after a jump, the
        direction is sought.
        """
        self._aim(k, t, x, held, -self.look(t, x, held)[k].force)

    def _aim(self, k: int, t: float, x: Array, held: Held, first: Array) -> None:
        """Slip along the relative acceleration that comes of it, next to a direction."""
        if len(self.axes[k]) == 1:
            self._turn(k, held, np.array([np.sign(first[0]) or 1.0, 0.0]))
            return
        begin = float(np.arctan2(first[1], first[0]))

        def across(angle: float) -> tuple[float, float]:
            """The relative acceleration across a direction, and along it."""
            e = np.array([np.cos(angle), np.sin(angle)])
            self._turn(k, held, e)
            a = self.look(t, x, held)[k].rate
            return float(e[0] * a[1] - e[1] * a[0]), float(a @ e)

        self._turn(k, held, _aligned(across, begin))

    def reversed(self, t: float, x: Array, held: Held) -> list[int]:
        """The contacts that begin to slip against the direction of their slip."""
        reversed_slips = []
        for k, place in enumerate(self.modes):
            if not self.is_closed(k, held) or held.m[place] < 0.5:
                continue
            now, e = self.look(t, x, held)[k], held.m[self.axes[k]].copy()
            if now.speed > SLOW:
                continue
            held.m[self.axes[k]] = -e
            other = self.look(t, x, held)[k]
            held.m[self.axes[k]] = e
            a, b = (float(some.rate[: len(e)] @ e) for some in (now, other))
            if a < -1e-9 * abs(a - b):
                reversed_slips.append(k)
        return reversed_slips

    def turn(self, k: int, t: float, x: Array, held: Held, *, sticks: bool) -> None:
        """Let a contact slip the way it accelerates, or stick if that was tried."""
        if sticks:
            held.m[self.modes[k]] = 0.0
        else:
            self._aim(k, t, x, held, self.look(t, x, held)[k].rate)

    def meet(self, k: int, t: float, x: Array, held: Held) -> bool:
        """At the event of a slip: turn its direction after the motion; whether there is none, and it may stick."""
        slip = self.look(t, x, held)[k]
        if slip.speed > SLOW:
            self._turn(k, held, slip.slip / slip.speed)
            return False
        held.m[self.modes[k]] = 0.0
        return True

    # -- where redundant rows share a load -----------------------------------------------------------------------------
    def _now(self, t: float, x: Array, held: Held) -> Instant:
        A, b, lam, M, f = self.evaluate(self.instant, t, x, held)
        n = len(np.ravel(f))
        return Instant(np.reshape(A, (-1, n)), np.ravel(b), np.ravel(lam), np.reshape(M, (n, n)), np.ravel(f))

    def _demands(
        self, t: float, x: Array, held: Held, pushing: Sequence[int], levels: Sequence[tuple[int, float]]
    ) -> Demands:
        slips = self.look(t, x, held)
        stuck = [k for k in range(len(self.slips)) if self.sticks(k, held)]
        cones = [(self.rows[k][0], self.rows[k][1], slips[k].mu) for k in stuck]
        pushes = [self.sided_rows[k] for k in pushing]
        return Demands(pushes, cones, [(self.dry_rows[k], level) for k, level in levels])

    def _rank(self, held: Held) -> int:
        return round(float(held.m[self._ranks].sum()))

    def share(
        self, t: float, x: Array, held: Held, pushing: Sequence[int], levels: Sequence[tuple[int, float]]
    ) -> bool:
        """Judge switches by other multipliers, which they can have; whether there are any.

        Args:
            t, x, held: where.
            pushing: closed contacts and stops, of the one-sided.
            levels: those of dry friction that sticks, by their numbers.
        """
        if not self.shares:
            return False
        now = self._now(t, x, held)
        if self._rank(held) >= len(now.active):
            return False
        lam = admissible(now, self._rank(held), self._demands(t, x, held, pushing, levels))
        if lam is None:
            return False
        held.m[self.shares] = lam
        return True

    def sharing(self, pulling: int, t: float, x: Array, held: Held) -> int | None:
        """The stick that holds most of those whose rows share a load with a contact; None where none does."""
        stuck = [k for k in range(len(self.slips)) if self.sticks(k, held)]
        if not stuck:
            return None
        now, rank = self._now(t, x, held), self._rank(held)
        active = now.active
        if rank >= len(active) or not np.isfinite(now.A).all():
            return None
        U = np.linalg.svd(now.A[active])[0][:, rank:]  # forces that hold each other
        together = dict(zip(active, U @ U[active.index(self.sided_rows[pulling])], strict=True))
        size = np.abs(list(together.values())).max()
        with_it = [k for k in stuck if any(abs(together.get(row, 0.0)) > 1e-9 * size for row in self.rows[k][1])]
        slips = self.look(t, x, held)
        return max(with_it, key=lambda k: slips[k].excess, default=None)

    def opening(
        self, t: float, x: Array, held: Held, pushing: Sequence[int], levels: Sequence[tuple[int, float]]
    ) -> list[int]:
        """Which of the closed contacts open, where some would pull; arguments as of `share`."""
        demands = self._demands(t, x, held, pushing, levels)
        opens = opening(self._now(t, x, held), self._rank(held), demands)
        return [k for k in pushing if self.sided_rows[k] in opens]

    # -- impacts -------------------------------------------------------------------------------------------------------
    def rub(
        self,
        t: float,
        before: Array,
        after: Array,
        held: Held,
        acting: Collection[int],
        rebounds: Mapping[int, float],
    ) -> Array:
        """The state after an impact, with friction in it.

        Args:
            t: when.
            before, after: the states that come to it, and that it leaves without friction.
            held: what is held.
            acting: the one-sided that push then.
            rebounds: of all that touch, the rates they ask for.
        """
        rows, v = self.facts.rows, self._speeds
        n = v.stop - v.start
        if not self.slips or np.array_equal(before, after):
            return after
        A, u, M = (np.asarray(part, dtype=float) for part in self.evaluate(self.strike, t, before, held))
        A, M = A.reshape(-1, n), M.reshape(n, n)
        slips = self.look(t, after, held)
        sided = {self.sided_rows[k]: k for k in range(len(self.sided_rows))}
        owners = {rows[row].owner: k for row, k in sided.items()}
        loose = {*self.dry_rows, *(k for _, along in self.rows for k in along)}
        pushing = [row for row, k in sided.items() if k in acting]
        holding = [
            k
            for k, row in enumerate(rows)
            if k not in loose and k not in sided and (row.owner not in owners or owners[row.owner] in rebounds)
        ]
        rubs = [Rub(normal, tuple(along), f.mu) for (normal, along), f in zip(self.rows, slips, strict=True)]
        wanted = {self.sided_rows[k]: rebound for k, rebound in rebounds.items()}
        jump = rubbed(Struck(M, A, np.ravel(u), after[v] - before[v], holding, pushing, wanted), rubs)
        result = after.copy()
        result[v] = before[v] + jump
        return result


def _aligned(across: Callable[[float], tuple[float, float]], begin: float) -> Array:
    """The direction, next to an angle, along which the relative acceleration goes."""
    angles = begin + np.pi * np.arange(-DIRECTIONS // 2, DIRECTIONS // 2 + 1) / DIRECTIONS
    values = [across(float(angle)) for angle in angles]
    size = max(abs(c) + abs(a) for c, a in values) or 1.0
    if abs(values[DIRECTIONS // 2][0]) <= 1e-12 * size:
        return np.array([np.cos(begin), np.sin(begin)])
    changes = [
        k
        for k in range(DIRECTIONS)
        if values[k][0] * values[k + 1][0] <= 0.0 and values[k][1] + values[k + 1][1] >= 0.0
    ]
    if not changes:
        return np.array([np.cos(begin), np.sin(begin)])
    k = min(changes, key=lambda k: abs(k - DIRECTIONS // 2))
    low, high, sign = float(angles[k]), float(angles[k + 1]), np.sign(values[k][0]) or 1.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if across(middle)[0] * sign > 0.0 else (low, middle)
    return np.array([np.cos(low), np.sin(low)])
