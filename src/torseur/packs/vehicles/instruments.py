"""Sensors and actuators of an instrumented vehicle (Maakaroun 2011, figures 3.7 to 3.9), as blocks of a study.

Every sensor shows x + bias + noise, cut to its range and rounded to its resolution, at the times k period, and holds it
in between. The inertial unit is the block `imu`, which `measured` samples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.annotations import Anything, BodyName
from torseur.describe.fields import Scalar
from torseur.graph import Expr, floor, maximum, minimum
from torseur.packs.vehicles.drivers import within_limits
from torseur.simulation.blocks import Block
from torseur.simulation.blocks.context import Context
from torseur.simulation.blocks.measuring import white
from torseur.spatial.vectors import Vector

__all__ = ["BLOCKS", "Actuator", "DynamometricWheel", "Encoder", "Measured"]


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


BLOCKS: dict[str, type[Block]] = {kind.kind: kind for kind in (Measured, Encoder, DynamometricWheel, Actuator)}
"""The instruments by kind."""
