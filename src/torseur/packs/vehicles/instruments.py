"""Sensors and actuators of an instrumented vehicle (Maakaroun 2011, figures 3.7 to 3.9) and an anti-lock system, as
blocks of a study.

Every sensor shows x + bias + noise, cut to its range and rounded to its resolution, at the times k period, and holds it
in between. The inertial unit is the block `imu`, which `measured` samples.

**The anti-lock system** works on one wheel.

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

import math
from collections.abc import Mapping
from typing import ClassVar, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.annotations import Anything, BodyName
from torseur.describe.fields import Scalar
from torseur.describe.formulas import Formula
from torseur.graph import Expr, Truth, absolute, equal, floor, maximum, minimum, select
from torseur.packs.vehicles.drivers import within_limits
from torseur.simulation.blocks import Block
from torseur.simulation.blocks.context import Context
from torseur.simulation.blocks.measuring import white
from torseur.spatial.vectors import Vector

__all__ = ["BLOCKS", "BRAKES", "Actuator", "AntiLock", "DynamometricWheel", "Encoder", "Measured"]


class Measured(Block):
    """What an instrument shows of a quantity: x + bias + noise, cut and rounded, at the times k period.

    A steering angle, a torque, a channel of the inertial unit: anything a formula can say.
    """

    kind = "measured"
    value: Anything = Field(description="x, any formula")
    period: Scalar = Field(description="of samples, s")
    bias: Scalar = Field(0.0, description="added, in the unit of x")
    noise: Scalar = Field(0.0, description="standard deviation of normal noise, in the unit of x")
    resolution: Scalar = Field(0.0, description="of its last digit, in the unit of x; 0: none")
    lower: Scalar | None = Field(None, description="of its range, in the unit of x")
    upper: Scalar | None = Field(None, description="of its range, in the unit of x")
    seed: int = Field(0, ge=0, description="of the noise")

    def build(self, context: Context, name: str) -> Expr:
        shown = context.value(self.value) + context.value(self.bias)
        shown = shown + _noise(context, name, self.noise, self.period, (self.seed, 1))
        return _held(context, name, _read(context, shown, self.resolution, self.lower, self.upper), self.period)


class Encoder(Block):
    """An incremental encoder on a shaft, such as that of a wheel: it counts marks.

    `angle` is the last mark that was passed, `speed` the change of the angle over the last period, so that it is known
    to a mark a period.
    """

    kind = "encoder"
    units: ClassVar[Mapping[str, str]] = {"angle": "rad", "speed": "rad/s"}
    angle: Anything = Field(description="of the shaft, such as spin_front_left, rad")
    marks: Scalar = Field(description="on a turn")
    period: Scalar = Field(description="of samples, s")

    def build(self, context: Context, name: str) -> dict[str, Expr]:
        marks = context.constant(self.marks, "the number of marks", least=0.0, open=True)
        h = context.constant(self.period, "the period", least=0.0, open=True)
        step = 2.0 * math.pi / marks
        now = floor(context.value(self.angle) / step) * step
        angle = context.held(f"{name}_held", now, "rad")
        speed = context.held(f"{name}_rate", 0.0, "rad/s")
        context.sample(angle, now, self.period)
        context.sample(speed, (now - angle) / h, self.period)  # samples of one instant read what was there before it
        return {"angle": angle, "speed": speed}


class DynamometricWheel(Block):
    """Force and moment of a wheel on its hub, at the wheel's centre, in the axes of the hub, which do not spin.

    They are those of the road less what the wheel's own weight and inertia take.
    """

    kind = "dynamometric_wheel"
    units = dict.fromkeys(("Fx", "Fy", "Fz"), "N") | dict.fromkeys(("Mx", "My", "Mz"), "N m")
    wheel: BodyName = Field(description="body of the wheel, such as wheel_front_left")
    period: Scalar = Field(description="of samples, s")
    force_bias: Scalar = Field(0.0, description="added to each force, N")
    moment_bias: Scalar = Field(0.0, description="added to each moment, N m")
    force_noise: Scalar = Field(0.0, description="standard deviation, N")
    moment_noise: Scalar = Field(0.0, description="standard deviation, N m")
    seed: int = Field(0, ge=0, description="of the noise")

    def build(self, context: Context, name: str) -> dict[str, Expr]:
        body = context.bench.system.mechanism.bodies[self.wheel]
        hub, wheel = (context.kinematics.frame(frame).pose.R for frame in (body.parent, self.wheel))
        six = context.reaction(self.wheel)
        R = hub.T @ wheel
        turned = [-x for part in (six[:3], six[3:]) for x in R @ Vector(*part)]
        found = {}
        for k, key in enumerate(("Fx", "Fy", "Fz", "Mx", "My", "Mz")):
            bias, noise = (
                (self.force_bias, self.force_noise) if key[0] == "F" else (self.moment_bias, self.moment_noise)
            )
            grain = _noise(context, f"{name}_{key}", noise, self.period, (self.seed, k + 1))
            found[key] = _held(context, f"{name}_{key}", turned[k] + context.value(bias) + grain, self.period)
        return found


class Actuator(Block):
    """An actuator that follows a wanted value u: dy/dt = (u - y)/lag, u cut to its limits and dy/dt to its rate."""

    kind = "actuator"
    value: Anything = Field(description="u, the wanted value")
    lag: Scalar = Field(description="time constant, s")
    rate: Scalar | None = Field(None, description="largest dy/dt, per second")
    lower: Scalar | None = Field(None, description="least value")
    upper: Scalar | None = Field(None, description="largest value")
    start: Anything | None = Field(None, description="y at the start; by default settled")

    @model_validator(mode="after")
    def _limits(self) -> Self:
        if isinstance(self.lower, float) and isinstance(self.upper, float) and self.lower > self.upper:
            raise PydanticCustomError("limits", "the least value is larger than the largest")
        return self

    def build(self, context: Context, name: str) -> Expr:
        u = within_limits(context, context.value(self.value), self.lower, self.upper)
        y = context.state(f"{name}_state", start=u if self.start is None else self.start)
        change = (u - y) / context.constant(self.lag, "the lag", least=0.0, open=True)
        if self.rate is not None:
            rate = context.constant(self.rate, "the largest rate", least=0.0)
            change = maximum(minimum(change, rate), -rate)
        context.rate(y, change)
        return y


def _held(context: Context, name: str, shown: Expr, period: Scalar) -> Expr:
    y = context.held(f"{name}_held")
    context.sample(y, shown, period)
    return y


def _noise(context: Context, name: str, deviation: Scalar, period: Scalar, seed: tuple[int, ...]) -> Expr:
    size = context.value(deviation)
    return size if size is context.graph.zero else size * white(context, f"{name}_noise", period, seed)


def _read(context: Context, shown: Expr, resolution: Scalar, lower: Scalar | None, upper: Scalar | None) -> Expr:
    digit = context.constant(resolution, "the resolution", least=0.0)
    if digit is not context.graph.zero:
        shown = floor(shown / digit + 0.5) * digit
    return within_limits(context, shown, lower, upper)


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


BLOCKS: dict[str, type[Block]] = {kind.kind: kind for kind in (Measured, Encoder, DynamometricWheel, Actuator)}
"""The instruments by kind."""
BRAKES: dict[str, type[Block]] = {AntiLock.kind: AntiLock}
