"""An anti-lock system for one wheel, as a block of a study.

======  ================================================================================  ======
v       reference speed: that of the vehicle along its way                                m/s
u       speed of the wheel at its circumference                                           m/s
s       slip of braking, (v - u)/v                                                        1
a       du/dt, the change of u over the last period                                       m/s2
P       brake torque that is let through, as far as the driver asks for more              N m
L       P when the wheel last began to lock; before, what the driver asks for             N m
======  ================================================================================  ======

The usual control cycle (Bosch, *Automotive Handbook*; Kiencke & Nielsen, *Automotive Control Systems*, 2000, on ABS) at
every sample; D, R, S are the thresholds `deceleration`, `recovery`, `strong`:

    phase     dP/dt                          ends
    0 free    P is what the driver asks for  a < -D: 1; s > slip: 2
    1 hold    0                              s > slip: 2; a > -D: 5
    2 dump    -fall L                        a > R, or s < slip and a > -D: 3
    3 wait    0                              a > S: 4; a < R: 2 if s > slip, else 5
    4 refill  rise L                         a < S: 3
    5 build   rise L up to again L,          a < -D or s > slip: 2; P is what the driver asks for: 0
              then build_up max(P, L)

Rates follow L, so that the cycle is the same on ice and on a dry road. A locked wheel has a = 0 and a slip of 1: it
stays in phase 2 until it turns again. Below the least speed slip has no meaning and the brakes are the driver's.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from torseur.describe.annotations import Anything
from torseur.describe.fields import Scalar
from torseur.describe.formulas import Formula
from torseur.graph import Expr, Truth, absolute, equal, maximum, minimum, select
from torseur.simulation.blocks import Block
from torseur.simulation.blocks.context import Context

__all__ = ["BLOCKS", "AntiLock"]

FREE, HOLD, DUMP, WAIT, REFILL, BUILD = range(6)
TINY = 1e-9
"""Brake torque that counts as none, N m."""


class AntiLock(Block):
    """An anti-lock system for one wheel: y is the share of the driver's brake torque that is let go, 0 to 1.

    From slip and acceleration of the wheel, in phases: 0 free, 1 hold, 2 dump, 3 wait, 4 refill, 5 build. It is for the
    input `release_W` of an axle with `releases: true`. ``NAME_torque``, what is let through, and ``NAME_phase`` are
    recorded too. Rates are shares of the torque at which the wheel last began to lock.
    """

    kind = "abs"
    wheel_speed: Anything = Field(description="u, speed of the wheel at its circumference, such as 0.3*dspin_rear, m/s")
    reference: Anything = Field(Formula("vx"), description="v, speed of the vehicle, m/s")
    asked: Anything = Field(Formula("brake_torque"), description="brake torque that the driver asks for, N m")
    slip: Scalar = Field(0.12, description="from which the wheel is about to lock, without unit")
    deceleration: Scalar = Field(30.0, description="of the wheel, from which it is about to lock, m/s2")
    recovery: Scalar = Field(5.0, description="acceleration of the wheel, from which it recovers, m/s2")
    strong: Scalar = Field(60.0, description="acceleration of the wheel, above which it takes more torque, m/s2")
    fall: Scalar = Field(15.0, description="rate at which torque is let go, 1/s")
    rise: Scalar = Field(5.0, description="rate at which it comes back at once, 1/s")
    again: Scalar = Field(0.9, description="share of the locking torque up to which it does, without unit")
    build_up: Scalar = Field(0.5, description="rate at which it grows beyond, 1/s")
    least_speed: Scalar = Field(1.0, description="of the vehicle, below which the brakes are the driver's, m/s")
    period: Scalar = Field(0.005, description="of samples, s")

    def build(self, context: Context, name: str) -> Expr:
        number = context.graph.number
        T = self._positive(context, "period")
        u, v = (absolute(context.value(x)) for x in (self.wheel_speed, self.reference))
        asked = maximum(context.value(self.asked), 0.0)
        before = context.held(f"{name}_speed_before", u, "m/s")
        phase = context.held(f"{name}_phase_held", FREE)
        P = context.held(f"{name}_limit", asked, "N m")
        L = context.held(f"{name}_locking", asked, "N m")
        is_free = equal(phase, float(FREE))
        through = select(is_free, asked, minimum(P, asked))
        least = self._positive(context, "least_speed")
        followed = self._followed(context, phase, through < asked, (v - u) / maximum(v, least), (u - before) / T)
        entered = select(v < least, number(FREE), followed)
        begins = select(equal(entered, float(DUMP)), select(equal(phase, float(DUMP)), L, through), L)
        locking = select(is_free, through, begins)
        context.sample(before, u, self.period)
        context.sample(phase, entered, self.period)
        context.sample(P, maximum(through + T * self._rate(context, entered, through, locking), 0.0), self.period)
        context.sample(L, locking, self.period)
        context.define(f"{name}_torque", through, "N m", "brake torque that the anti-lock system lets through")
        context.define(f"{name}_phase", phase, "", "0 free, 1 hold, 2 dump, 3 wait, 4 refill, 5 build")
        return select(through < asked, 1.0 - through / maximum(asked, TINY), 0.0)

    def _positive(self, context: Context, field: str) -> Expr:
        return context.constant(getattr(self, field), f"'{field}'", least=0.0, open=True)

    def _followed(self, context: Context, phase: Expr, is_less: Truth, s: Expr, a: Expr) -> Expr:
        """The phase that follows one."""
        number = context.graph.number
        D, R, S = (self._positive(context, x) for x in ("deceleration", "recovery", "strong"))
        slips, falls, recovers, refills = s > self._positive(context, "slip"), a < -D, a > R, a > S
        follows = {
            FREE: select(slips, number(DUMP), select(falls, number(HOLD), FREE)),
            HOLD: select(slips, number(DUMP), select(falls, number(HOLD), BUILD)),
            DUMP: select(recovers, number(WAIT), select(slips, number(DUMP), select(falls, number(DUMP), WAIT))),
            WAIT: select(refills, number(REFILL), select(recovers, number(WAIT), select(slips, number(DUMP), BUILD))),
            REFILL: select(refills, number(REFILL), WAIT),
            BUILD: select(slips, number(DUMP), select(falls, number(DUMP), select(is_less, number(BUILD), FREE))),
        }
        return _chosen(phase, follows)

    def _rate(self, context: Context, phase: Expr, P: Expr, L: Expr) -> Expr:
        """dP/dt in a phase."""
        fall, rise, again, build = (self._positive(context, x) for x in ("fall", "rise", "again", "build_up"))
        zero = context.graph.zero
        builds = select(again * L > P, rise * L, build * maximum(P, L))
        return _chosen(phase, {FREE: zero, HOLD: zero, DUMP: -(fall * L), WAIT: zero, REFILL: rise * L, BUILD: builds})


def _chosen(phase: Expr, of: Mapping[int, Expr]) -> Expr:
    """What belongs to a phase."""
    chosen = of[FREE]
    for number, value in of.items():
        if number != FREE:
            chosen = select(equal(phase, float(number)), value, chosen)
    return chosen


BLOCKS: dict[str, type[Block]] = {AntiLock.kind: AntiLock}
"""The kinds of this module."""
