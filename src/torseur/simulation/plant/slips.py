"""Coulomb friction of contacts and rolling wheels in a simulation: stick and slip, as expressions.

A contact slips (1) or sticks (0). While it sticks, rows along the ground hold it, whose multipliers are the force of
friction. While it slips the force is -mu N t, with t along the sliding velocity s. A held direction e, along s when
slip began or was looked at last, stands for t where s is zero, and tells on which side of zero the motion is: beyond,
t goes on as it was, so that the force is smooth until the event is met.

======================  ============================  ==============================================================
mode                    event function                at its zero
======================  ============================  ==============================================================
sticks                  mu N - |multipliers|          slips along the relative acceleration that comes of it
slips                   s . e - |s| / 2               |s| = 0: sticks, or slips on if sticking takes too much;
                                                      else e turns after s
======================  ============================  ==============================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.dynamics.constraints.rows import Constraints, Rubbing, length_of
from torseur.graph import Expr, jacobian, maximum, minimum, select, tangents
from torseur.simulation.blocks.context import Context

__all__ = ["SLOW", "Slip", "accelerations", "slip_of"]

SLOW = 1e-7
"""Slower than this, m/s, the sliding velocity has no direction of its own."""


@dataclass(frozen=True)
class Slip:
    """Friction of one contact: its mode, held direction, and whether the contact is closed."""

    contact: Rubbing
    mode: Expr
    direction: tuple[Expr, ...]
    closed: Expr

    @property
    def name(self) -> str:
        return self.contact.name

    @property
    def sticks(self) -> Expr:
        """1 while it does."""
        return self.closed * (1.0 - self.mode)

    @property
    def _along(self) -> Expr:
        s = self.contact.slip
        return sum((a * b for a, b in zip(s, self.direction, strict=True)), s[0].graph.zero)

    def force(self) -> list[Expr]:
        """-mu N t, while it slips."""
        speed = length_of(self.contact.slip)
        part = minimum(maximum((speed - SLOW) / SLOW, 0.0), 1.0)
        part = part * part * (3.0 - 2.0 * part)  # from e to s, smoothly
        sense = select(self._along < 0.0, -1.0, 1.0) / select(speed > 0.0, speed, 1.0)
        level = self.closed * self.mode * self.contact.mu * self.contact.N
        pairs = zip(self.contact.slip, self.direction, strict=True)
        return [-(level * (e + part * (sense * s - e))) for s, e in pairs]

    def event(self, normal: Expr, forces: Sequence[Expr], holds: float) -> Expr:
        """See the module.

        Args:
            normal: the multiplier of the contact.
            forces: those of the rows along the ground.
            holds: how much of the level counts, against rounding.
        """
        sticks = holds * self.contact.mu * normal - length_of(forces)
        slips = self._along - 0.5 * length_of(self.contact.slip)
        return select(self.closed > 0.5, select(self.mode > 0.5, slips, sticks), 1.0)

    def facts(self, constraints: Constraints, vdot: Sequence[Expr], normal: Expr, forces: Sequence[Expr]) -> list[Expr]:
        """What decides: sliding velocity, its rate, force along the ground (two numbers each), N, mu."""
        rates = accelerations(self.contact.slip, constraints, vdot)
        missing = [constraints.system.graph.zero] * (2 - len(self.contact.rows))
        groups = (self.contact.slip, rates, list(forces))
        return [*(x for group in groups for x in (*group, *missing)), normal, self.contact.mu]


def accelerations(speeds: Sequence[Expr], constraints: Constraints, vdot: Sequence[Expr]) -> list[Expr]:
    """What speeds change by in a unit of time, under accelerations of the mechanism."""
    rates = tangents(speeds, constraints.seeds)
    for k, row in enumerate(jacobian(speeds, list(constraints.system.v)).dense()):
        rates[k] = sum((a * x for a, x in zip(row, vdot, strict=True)), rates[k])
    return rates


def slip_of(context: Context, contact: Rubbing, closed: Expr) -> Slip:
    """A contact's friction, its held numbers made."""
    name = contact.name
    mode = context.held(f"{name}_slips", 0.0, is_mode=True)
    axes = [context.held(f"{name}_slip_{row.part}", 1.0, is_mode=True) for row in contact.rows]
    return Slip(contact, mode, tuple(axes), closed)
