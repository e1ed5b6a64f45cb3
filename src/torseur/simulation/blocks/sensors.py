"""Sensors: what instruments on the mechanism would show, in SI units, without lag; filter or sample them with blocks.

Accelerations and reactions are known only when the motion is solved, so a controller cannot use them at the same
instant: it gets them through a filter or a sampled block.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from torseur.describe.annotations import FrameName
from torseur.describe.fields import Scalar, Triple
from torseur.dynamics.tree.kinematics import Axes, acceleration
from torseur.graph import Expr, atan2, sqrt
from torseur.simulation.blocks.base import Block
from torseur.simulation.blocks.context import Context
from torseur.simulation.blocks.sampled import white
from torseur.spatial.vectors import Matrix

__all__ = ["AccelerationSensor", "ForceSensor", "Imu", "PoseSensor", "VelocitySensor", "roll_pitch_yaw"]


class PoseSensor(Block):
    """Position x, y, z and roll, pitch, yaw of a frame, in the world or in another frame."""

    kind = "pose"
    units = dict.fromkeys("xyz", "m") | dict.fromkeys(("roll", "pitch", "yaw"), "rad")
    frame: FrameName = Field(description="body or named frame")
    seen_from: FrameName | None = Field(None, description="the other frame; by default the world")

    def build(self, context: Context, name: str) -> dict[str, Expr]:
        pose = context.kinematics.frame(self.frame).pose
        if self.seen_from is not None:
            pose = context.kinematics.frame(self.seen_from).pose.inverse() @ pose
        angles = dict(zip(("roll", "pitch", "yaw"), roll_pitch_yaw(pose.R), strict=True))
        return dict(zip("xyz", pose.P, strict=True)) | angles


def roll_pitch_yaw(R: Matrix) -> tuple[Expr, Expr, Expr]:
    """The angles with R = Rz(yaw) Ry(pitch) Rx(roll), pitch within a quarter turn."""
    across = sqrt(R[0][0] * R[0][0] + R[1][0] * R[1][0])
    return atan2(R[2][1], R[2][2]), atan2(-R[2][0], across), atan2(R[1][0], R[0][0])


class VelocitySensor(Block):
    """Velocity vx, vy, vz of a frame's origin and its angular velocity wx, wy, wz."""

    kind = "velocity"
    units = dict.fromkeys(("vx", "vy", "vz"), "m/s") | dict.fromkeys(("wx", "wy", "wz"), "rad/s")
    frame: FrameName = Field(description="body or named frame")
    axes: Literal["own", "world"] = Field("own", description="whose axes the components are in")

    def build(self, context: Context, name: str) -> dict[str, Expr]:
        frame = context.kinematics.frame(self.frame)
        V = frame.velocity.turned(frame.pose.R) if self.axes == "world" else frame.velocity
        return dict(zip(("vx", "vy", "vz", "wx", "wy", "wz"), V.six, strict=True))


class AccelerationSensor(Block):
    """Absolute acceleration ax, ay, az of a frame's origin and its angular acceleration bx, by, bz."""

    kind = "acceleration"
    units = dict.fromkeys(("ax", "ay", "az"), "m/s2") | dict.fromkeys(("bx", "by", "bz"), "rad/s2")
    frame: FrameName = Field(description="body or named frame")
    axes: Literal["own", "world"] = Field("own", description="whose axes the components are in")

    def build(self, context: Context, name: str) -> dict[str, Expr]:
        a = acceleration(context.bench.tree, self.frame, context.vdot, Axes(self.axes))
        return dict(zip(("ax", "ay", "az", "bx", "by", "bz"), a, strict=True))


class Imu(Block):
    """An inertial measurement unit at a frame: specific force fx, fy, fz = R'(a - g) and rates wx, wy, wz, own axes.

    With a period it shows, beside the bias, seeded normal noise renewed every period.
    """

    kind = "imu"
    units = dict.fromkeys(("fx", "fy", "fz"), "m/s2") | dict.fromkeys(("wx", "wy", "wz"), "rad/s")
    frame: FrameName = Field(description="body or named frame")
    force_bias: Triple = Field((0.0, 0.0, 0.0), description="added to the specific force, m/s2")
    rate_bias: Triple = Field((0.0, 0.0, 0.0), description="added to the rates, rad/s")
    force_noise: Scalar = Field(0.0, description="standard deviation, m/s2")
    rate_noise: Scalar = Field(0.0, description="standard deviation, rad/s")
    period: Scalar | None = Field(None, description="of the noise, s; without it there is none")
    seed: int = Field(0, ge=0, description="of the noise")

    def build(self, context: Context, name: str) -> dict[str, Expr]:
        frame = context.kinematics.frame(self.frame)
        a = acceleration(context.bench.tree, self.frame, context.vdot)
        g = frame.pose.R.T @ context.bench.gravity
        shown = [x - y for x, y in zip(a[:3], g, strict=True)] + list(frame.w)
        biases = (*self.force_bias, *self.rate_bias)
        deviations = (self.force_noise,) * 3 + (self.rate_noise,) * 3
        outputs: dict[str, Expr] = {}
        for k, key in enumerate(("fx", "fy", "fz", "wx", "wy", "wz")):
            outputs[key] = shown[k] + context.value(biases[k])
            deviation = context.value(deviations[k])
            if self.period is not None and deviation is not context.graph.zero:
                grain = white(context, f"{name}_noise_{key}", self.period, (self.seed, k + 1))
                outputs[key] = outputs[key] + deviation * grain
        return outputs


class ForceSensor(Block):
    """Force fx, fy, fz and moment nx, ny, nz that a joint or a loop transmits.

    A joint is called by its body: what the joint does to the body, at the body's origin in its axes. A loop: what it
    does to its second frame, there, in the axes of its first.
    """

    kind = "force_sensor"
    units = dict.fromkeys(("fx", "fy", "fz"), "N") | dict.fromkeys(("nx", "ny", "nz"), "N m")
    joint: str = Field(description="body whose joint it is, or loop")

    def build(self, context: Context, name: str) -> dict[str, Expr]:
        return dict(zip(("fx", "fy", "fz", "nx", "ny", "nz"), context.reaction(self.joint), strict=True))
