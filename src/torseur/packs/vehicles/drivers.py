"""Drivers and controllers of vehicles, as blocks of a study.

======  ==========================================================================  ======
V       speed of the vehicle along its own x                                         m/s
psi     yaw, positive to the left                                                    rad
delta   steering angle of the wheels, positive to the left                           rad
theta   roll or tilt, positive leaning right                                         rad
D       distance at which the driver looks ahead                                     m
e       distance of a point from the path, positive to the left of it                m
======  ==========================================================================  ======
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.annotations import Anything, Symbols, Uses
from torseur.describe.fields import Scalar
from torseur.describe.formula_words import Lookup
from torseur.describe.formulas import Formula
from torseur.errors import ModelError
from torseur.graph import Expr, Interpolation, atan, cos, maximum, minimum, sin
from torseur.simulation.blocks import Block
from torseur.simulation.blocks.context import Context

__all__ = ["BLOCKS", "PathFollower", "SpeedControl", "SteeringPd", "TiltPd", "WantedAcceleration", "within_limits"]

OfPlace = Annotated[Scalar, Uses(Symbols.ALL, frozenset("xy"))]
"""A formula in which x and y are a place on the ground."""

NEAREST = 1.0
"""Least distance at which a driver looks ahead, m."""


class SpeedControl(Block):
    """A driver's foot: u = feedforward + kp (wanted - speed) + I, cut to the limits; y = u, N m at all wheels.

    dI/dt = ki (wanted - speed) + (u - u_uncut) ki/kp: at a limit the integral follows what is really done, so it does
    not wind up. With `brakes`, y = max(u, 0) is for the drive and ``NAME_brake`` = max(-u, 0), recorded too, for the
    brakes. On a free-rolling mass m with wheels of radius R, P control alone makes V follow with the time constant
    m R/kp.
    """

    kind = "speed_control"
    wanted: Anything = Field(description="speed that is wanted, m/s")
    speed: Anything = Field(Formula("vx"), description="speed, m/s")
    kp: Scalar = Field(description="torque for an error of 1 m/s, N s; of a throttle, s/m")
    ki: Scalar = Field(0.0, description="torque that builds up in a second for an error of 1 m/s, N")
    feedforward: Anything = Field(0.0, description="added, N m")
    lower: Scalar | None = Field(None, description="least u (negative brakes), N m")
    upper: Scalar | None = Field(None, description="largest u, N m")
    brakes: bool = Field(False, strict=True, description="whether what is negative goes to the brakes")

    def build(self, context: Context, name: str) -> Expr:
        error = context.value(self.wanted) - context.value(self.speed)
        kp = context.constant(self.kp, "kp", least=0.0, open=True)
        ki = context.constant(self.ki, "ki", least=0.0)
        u = context.value(self.feedforward) + kp * error
        if ki is not context.graph.zero:
            integral = context.state(f"{name}_integral", unit="N m")
            u = u + integral
            cut = within_limits(context, u, self.lower, self.upper)
            context.rate(integral, ki * error + (ki / kp) * (cut - u))
        else:
            cut = within_limits(context, u, self.lower, self.upper)
        if not self.brakes:
            return cut
        context.define(f"{name}_brake", maximum(-cut, 0.0), "N m", "demanded of the brakes")
        return maximum(cut, 0.0)


class PathFollower(Block):
    """A driver who looks ahead and steers towards a path; y = delta, rad.

    The point looked at is (x + D cos psi, y + D sin psi) with D = distance + time V, at least 1 m. With e its distance
    from the path, the circle through the vehicle, tangent to its heading, that meets the path there has the curvature
    -2 e/D^2, so

        delta_wanted = -(wheelbase + understeer V^2) 2 e/D^2,  cut to the limit,
        reaction d(delta)/dt = delta_wanted - delta

    The path is `offset`, a formula of e at a place x, y (y - 3 follows the line y = 3; R - sqrt(x^2 + (y - R)^2) a
    circle to the left through the origin), or points `xs`, `ys` with increasing xs, joined by cubics without
    overshoot; e is then measured along y. V is seen through a lag of the reaction time, so that delta has the two
    derivatives that a steering angle which drives a constraint needs. e of the vehicle itself is recorded as
    ``NAME_offset``.
    """

    kind = "path_follower"
    offset: OfPlace | None = Field(None, description="distance of a place x, y from the path, positive left of it, m")
    xs: tuple[Scalar, ...] = Field((), description="in place of the offset: points of the path, m")
    ys: tuple[Scalar, ...] = Field((), description="one for each of xs, m")
    wheelbase: Scalar = Field(description="from front to rear axle, m")
    understeer: Scalar = Field(0.0, description="understeer gradient that the driver knows of, rad/(m/s2)")
    distance: Scalar = Field(0.0, description="part of the preview distance that does not depend on speed, m")
    time: Scalar = Field(0.0, description="preview time, s")
    reaction: Scalar = Field(0.1, description="reaction time: the time constant of a first-order lag, s")
    limit: Scalar = Field(0.6, description="largest steering angle, rad")
    x: Anything = Field(Formula("x"), description="where the vehicle is, m")
    y: Anything = Field(Formula("y"), description="m")
    yaw: Anything = Field(Formula("yaw"), description="psi, rad")
    speed: Anything = Field(Formula("vx"), description="speed, m/s")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.offset is None) == (not self.xs):
            raise PydanticCustomError("choice", "give exactly one of offset, xs with ys")
        if len(self.xs) != len(self.ys) or len(self.xs) == 1:
            raise PydanticCustomError("points", "a path has at least two points, each with an x and a y")
        if self.distance == 0.0 and self.time == 0.0:
            raise PydanticCustomError("choice", "give a preview distance, a preview time, or both")
        return self

    def build(self, context: Context, name: str) -> Expr:
        reaction = context.constant(self.reaction, "the reaction time", least=0.0, open=True)
        wheelbase = context.constant(self.wheelbase, "the wheelbase", least=0.0, open=True)
        limit = context.constant(self.limit, "the largest steering angle", least=0.0)
        understeer = context.constant(self.understeer, "the understeer gradient")
        x, y, psi = (context.value(each) for each in (self.x, self.y, self.yaw))
        V = self._seen_speed(context, name, reaction)
        time = context.constant(self.time, "the preview time", least=0.0)
        D = maximum(context.constant(self.distance, "the preview distance", least=0.0) + time * V, NEAREST)
        e = self._offset(context, x + D * cos(psi), y + D * sin(psi))
        wanted = -(wheelbase + understeer * V * V) * 2.0 * e / (D * D)
        delta = context.state(f"{name}_delta", unit="rad")
        context.rate(delta, (maximum(minimum(wanted, limit), -limit) - delta) / reaction)
        here = self._offset(context, x, y)
        context.define(f"{name}_offset", here, "m", "distance from the path, positive left of it")
        return delta

    def _seen_speed(self, context: Context, name: str, reaction: Expr) -> Expr:
        if self.time == 0.0 and self.understeer == 0.0:
            return context.graph.zero
        speed = context.value(self.speed)
        V = context.state(f"{name}_speed", start=speed, unit="m/s")
        context.rate(V, (speed - V) / reaction)
        return V

    def _offset(self, context: Context, x: Expr, y: Expr) -> Expr:
        if self.offset is not None:
            return context.value(self.offset, x=x, y=y)
        xs, ys = ([_number(context, each) for each in points] for points in (self.xs, self.ys))
        return y - Lookup((tuple(xs),), (tuple(ys),), Interpolation.MONOTONE_CUBIC).at(x)


class SteeringPd(Block):
    """A torque that turns wheels to an angle (Maakaroun 2011, figure 3.12): y = kp (wanted - angle) - kd d(angle)/dt.

    On wheels of inertia I about their steering axes it makes I delta'' + kd delta' + kp delta = kp wanted: critically
    damped with kd = 2 sqrt(kp I).
    """

    kind = "steering_pd"
    wanted: Anything = Field(description="steering angle that is wanted, rad")
    angle: Anything = Field(Formula("steering_angle"), description="steering angle, rad")
    rate: Anything | None = Field(None, description="its rate, rad/s; by default the derivative of the angle")
    kp: Scalar = Field(description="N m/rad")
    kd: Scalar = Field(description="N m s/rad")
    limit: Scalar | None = Field(None, description="largest torque, N m")

    def build(self, context: Context, name: str) -> Expr:
        angle = context.value(self.angle)
        rate = context.derivative([angle], "the angle")[0] if self.rate is None else context.value(self.rate)
        torque = context.value(self.kp) * (context.value(self.wanted) - angle) - context.value(self.kd) * rate
        return _limited(context, torque, self.limit)


class WantedAcceleration(Block):
    """The torque of all wheels that a wanted acceleration takes: y = (mass a) radius, N m.

    Rolling resistance, the air and the inertia of the wheels are not accounted for; `mass` may include the latter as
    m + sum I/R^2.
    """

    kind = "wanted_acceleration"
    acceleration: Anything = Field(description="wanted, m/s2")
    mass: Scalar = Field(description="of the vehicle, kg")
    radius: Scalar = Field(description="of the wheels, m")
    limit: Scalar | None = Field(None, description="largest torque, N m")

    def build(self, context: Context, name: str) -> Expr:
        mass = context.constant(self.mass, "the mass", least=0.0)
        radius = context.constant(self.radius, "the radius", least=0.0)
        return _limited(context, mass * context.value(self.acceleration) * radius, self.limit)


class TiltPd(Block):
    """The torque that tilts a narrow vehicle into a turn: y = kp (theta_ref - theta) - kd d(theta)/dt, N m.

    theta_ref = -atan(V yaw_rate/g): there weight and centripetal force have no moment about the ground (Maakaroun 2011,
    (3.12) with its sign corrected: theta > 0 leans right, a turn to the left asks for a lean to the left). It is
    recorded as ``NAME_reference``. A balanced turn of radius R has theta = -atan(V^2/(R g)).
    """

    kind = "tilt_pd"
    tilt: Anything = Field(Formula("roll"), description="theta, rad")
    rate: Anything | None = Field(None, description="its rate, rad/s; by default the derivative of the tilt")
    speed: Anything = Field(Formula("vx"), description="V, m/s")
    yaw_rate: Anything = Field(Formula("wz"), description="positive to the left, rad/s")
    gravity: Scalar = Field(9.81, description="m/s2")
    kp: Scalar = Field(description="N m/rad")
    kd: Scalar = Field(description="N m s/rad")
    limit: Scalar | None = Field(None, description="largest torque, N m")

    def build(self, context: Context, name: str) -> Expr:
        g = context.constant(self.gravity, "gravity", least=0.0, open=True)
        reference = -atan(context.value(self.speed) * context.value(self.yaw_rate) / g)
        tilt = context.value(self.tilt)
        rate = context.derivative([tilt], "the tilt")[0] if self.rate is None else context.value(self.rate)
        context.define(f"{name}_reference", reference, "rad", "balanced tilt, positive leaning right")
        torque = context.value(self.kp) * (reference - tilt) - context.value(self.kd) * rate
        return _limited(context, torque, self.limit)


BLOCKS: Mapping[str, type[Block]] = {
    block.kind: block for block in (SpeedControl, PathFollower, SteeringPd, WantedAcceleration, TiltPd)
}
"""The kinds of this module."""


def within_limits(context: Context, u: Expr, lower: Scalar | None, upper: Scalar | None) -> Expr:
    u = u if upper is None else minimum(u, context.value(upper))
    return u if lower is None else maximum(u, context.value(lower))


def _limited(context: Context, torque: Expr, limit: Scalar | None) -> Expr:
    if limit is None:
        return torque
    most = context.constant(limit, "the largest torque", least=0.0)
    return maximum(minimum(torque, most), -most)


def _number(context: Context, given: Scalar) -> float:
    value = context.constant(given, "a point of the path")
    if not value.is_number:
        raise ModelError(
            "the points of a path are numbers",
            where=context.where,
            got=str(given),
            remedy="write the path as `offset`, a formula, where parameters decide",
        )
    return float(value)
