"""Blocks that work at instants and hold their results between them: samples, Python functions, noise; and sensors.

Noise is the same in every run: from a seed, in native code, without a table and without an end. `Noise` draws a new
number at every sample time with L'Ecuyer's combined generator of 1988, two multiplicative congruences s' = a s mod m.
All products stay below 2^47, so doubles hold them exactly and the numbers do not depend on the machine; the state of
the generator is two held numbers, and a run that goes on from a checkpoint draws the same. Normal numbers come from two
uniform ones (Box & Muller 1958). `BandNoise` is a sum of sines with random frequencies and phases: smooth, for those
who integrate with large steps.

Sensors give what instruments on the mechanism would show, in SI units, without lag; filter or sample them with blocks.
Accelerations and reactions are known only when the motion is solved, so a controller cannot use them at the same
instant: it gets them through a filter or a sampled block.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.annotations import Anything, FrameName
from torseur.describe.fields import Name, Number, Scalar, Triple
from torseur.dynamics.tree.kinematics import Axes, acceleration
from torseur.errors import ModelError
from torseur.graph import Expr, atan2, cos, floor, log, select, sin, sqrt
from torseur.simulation.blocks.base import Block
from torseur.simulation.blocks.context import Context
from torseur.simulation.blocks.parts import Seeded
from torseur.spatial.vectors import Matrix

__all__ = [
    "AccelerationSensor",
    "BandNoise",
    "External",
    "ForceSensor",
    "Imu",
    "Noise",
    "PoseSensor",
    "PythonBlock",
    "Sampled",
    "VelocitySensor",
    "generator_start",
    "roll_pitch_yaw",
    "white",
]


class Sampled(Block):
    """y = value at the times offset + k period, held in between (zero-order hold): a digital controller or sensor.

    All samples of one instant read what was there just before it; one that reads another sampled block sees its
    previous sample.
    """

    kind = "sampled"
    value: Anything = Field(description="any formula")
    period: Scalar = Field(description="s")
    offset: Scalar = Field(0.0, description="time of the first sample, s")
    start: Anything = Field(0.0, description="y before the first sample")

    def build(self, context: Context, name: str) -> Expr:
        y = context.held(name, self.start)
        context.sample(y, context.value(self.value), self.period, self.offset)
        return y


def _function(value: Any) -> Callable[..., Any]:
    if not callable(value):
        text = "expected a Python function, got {got}; a file cannot hold one: build the study in Python"
        raise PydanticCustomError("function", text, {"got": repr(value)[:40]})
    return value  # type: ignore[no-any-return]


Function = Annotated[
    Callable[..., Any],
    BeforeValidator(_function),
    PlainSerializer(lambda f: getattr(f, "__qualname__", repr(f))),
    WithJsonSchema({"description": "a Python function; not in files", "type": "null"}),
]


class PythonBlock(Block):
    """y = function(t, *inputs), called at the times offset + k period and held in between: a slow block.

    The function gives one number, or one for each of the names in `outputs`. It runs in Python: choose a period that
    can bear it. If it raises an error, or gives something else, the run ends there and keeps what it has.
    """

    kind = "python"
    function: Function = Field(description="called with t and the inputs")
    inputs: tuple[Anything, ...] = Field((), description="formulas whose values it is given")
    outputs: tuple[Name, ...] = Field((), description="names of its results; none: it gives one number")
    period: Scalar = Field(description="s")
    offset: Scalar = Field(0.0, description="time of the first call, s")
    start: tuple[Scalar, ...] | Scalar = Field(0.0, description="results before the first call")

    def build(self, context: Context, name: str) -> Expr | dict[str, Expr]:
        labels = [f"{name}_{output}" for output in self.outputs] or [name]
        starts = self.start if isinstance(self.start, tuple) else (self.start,) * len(labels)
        if len(starts) != len(labels):
            raise ModelError(
                "wrong number of starts", where=context.where, expected=str(len(labels)), got=str(len(starts))
            )
        held = [context.held(label, start) for label, start in zip(labels, starts, strict=True)]
        values = [context.value(x) for x in self.inputs]
        context.callable(held, self.function, self.period, self.offset, inputs=values)
        return dict(zip(self.outputs, held, strict=True)) if self.outputs else held[0]


class External(Block):
    """y = the answer of an external controller, asked at the times offset + k period and held in between.

    A controller in the loop: a shared library, another process, another machine. It is never named in a file,
    but connected when the study is run, `torseur simulate --connect NAME=...`, see the page of real time.
    """

    kind = "external"
    inputs: tuple[Anything, ...] = Field((), description="formulas whose values are sent")
    outputs: tuple[Name, ...] = Field((), description="names of the answers; none: there is one number")
    period: Scalar = Field(description="s")
    offset: Scalar = Field(0.0, description="time of the first question, s")
    start: tuple[Scalar, ...] | Scalar = Field(0.0, description="answers before the first question")

    def connected(self, function: Callable[..., Any]) -> PythonBlock:
        """The block with somebody who answers: called with t and the values of the inputs."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return PythonBlock(function=function, **fields)

    def build(self, context: Context, name: str) -> Expr | dict[str, Expr]:
        raise ModelError(
            "this block is not connected",
            where=context.where,
            remedy=f"say who answers: --connect {name}=library:FILE:FUNCTION, process:COMMAND or udp:HOST:PORT",
        )


_A = 40014.0, 40692.0
_M = 2147483563.0, 2147483399.0


class Noise(Block):
    """y = mean + a random number, drawn anew every `period` and held in between.

    Its one-sided spectral density is 2 deviation^2 period up to frequencies of some 0.4/period.
    """

    kind = "noise"
    deviation: Scalar = Field(1.0, description="standard deviation")
    mean: Scalar = Field(0.0, description="added")
    period: Scalar = Field(description="s")
    seed: int = Field(0, ge=0, description="of the generator; other seeds, other noise")
    law: Literal["normal", "uniform"] = Field("normal", description="distribution of the numbers")

    def build(self, context: Context, name: str) -> Expr:
        y = white(context, name, self.period, self.seed, self.law)
        return context.value(self.mean) + context.value(self.deviation) * y


def white(context: Context, name: str, period: Scalar, seed: int | tuple[int, ...], law: str = "normal") -> Expr:
    """Independent numbers of mean 0 and deviation 1, drawn anew every period.

    Args:
        context: of the block.
        name: of the numbers.
        period: s.
        seed: of the block; where it has several generators, with what tells them from each other behind it.
        law: normal or uniform.
    """
    own, *more = seed if isinstance(seed, tuple) else (seed,)
    one, two = generator_start(own, more)
    table, block = map(str, context.where[:2])
    s = (
        context.held(f"{name}_s1", one, seeded=Seeded((table, block), tuple(more), 0)),
        context.held(f"{name}_s2", two, seeded=Seeded((table, block), tuple(more), 1)),
    )
    y = context.held(name)
    first = _next(s)
    last = _next(first) if law == "normal" else first
    u = _uniform(first)
    value = (u - 0.5) * math.sqrt(12.0)
    if law == "normal":
        value = sqrt(-2.0 * log(u)) * cos(2.0 * math.pi * _uniform(last))
    context.sample(y, value, period)
    for old, new in zip(s, last, strict=True):
        context.sample(old, new, period)
    return y


def generator_start(seed: int, more: Sequence[int] = ()) -> tuple[float, float]:
    """The two numbers that the generator begins with.

    >>> generator_start(0)
    (821328149.0, 1529665762.0)
    """
    words = np.random.SeedSequence((seed, *more) if more else seed).generate_state(2)
    one, two = (1.0 + int(word) % (m - 1.0) for word, m in zip(words, _M, strict=True))
    return one, two


def _next(s: tuple[Expr, Expr]) -> tuple[Expr, Expr]:
    """a s mod m of both; the quotient is at least 1/m away from an integer, so its rounding cannot change the floor."""
    one, two = (a * x - m * floor(a * x / m) for a, m, x in zip(_A, _M, s, strict=True))
    return one, two


def _uniform(s: tuple[Expr, Expr]) -> Expr:
    """In ]0, 1[."""
    z = s[0] - s[1]
    return select(z < 1.0, z + (_M[0] - 1.0), z) / _M[0]


class BandNoise(Block):
    """y = mean + deviation sqrt(2/count) sum of sin(2 pi f_k t + phi_k): smooth noise in a band of frequencies.

    The band is cut into `count` equal pieces with one random frequency in each; phases are random. The mean power is
    deviation^2, and it repeats only after a time much longer than count/(highest - lowest).
    """

    kind = "band_noise"
    deviation: Scalar = Field(1.0, description="standard deviation")
    mean: Scalar = Field(0.0, description="added")
    lowest: Number = Field(0.0, description="of the band, Hz")
    highest: Number = Field(description="of the band, Hz")
    count: int = Field(32, ge=1, le=1000, description="of sines; each costs some nanoseconds an evaluation")
    seed: int = Field(0, ge=0, description="of the generator")

    @model_validator(mode="after")
    def _band(self) -> Self:
        if not 0.0 <= self.lowest < self.highest:
            raise PydanticCustomError("band", "expected 0 <= lowest < highest")
        return self

    def build(self, context: Context, name: str) -> Expr:
        rng = np.random.default_rng(self.seed)
        width = (self.highest - self.lowest) / self.count
        frequencies = self.lowest + width * (np.arange(self.count) + rng.random(self.count))
        phases = 2.0 * math.pi * rng.random(self.count)
        total = context.graph.zero
        for f, phase in zip(frequencies.tolist(), phases.tolist(), strict=True):
            total = total + sin(2.0 * math.pi * f * context.t + phase)
        return context.value(self.mean) + context.value(self.deviation) * math.sqrt(2.0 / self.count) * total


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

    With a period it shows, beside the bias, seeded normal noise drawn anew every period.
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
