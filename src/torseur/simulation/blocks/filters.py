"""Linear filters (integral, first and second order, rational transfer functions, delay), and limits: saturation, dead
zone, rate limit, crossing of a level. Corners of limits can be located as events.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import factorial
from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.annotations import Anything
from torseur.describe.fields import Scalar
from torseur.graph import Expr, maximum, minimum, select
from torseur.simulation.blocks.base import Block
from torseur.simulation.blocks.context import Context

__all__ = [
    "Crossing",
    "DeadZone",
    "Delay",
    "Integral",
    "Lag",
    "RateLimit",
    "Saturation",
    "SecondOrder",
    "TransferFunction",
]


class Integral(Block):
    """dy/dt = gain x."""

    kind = "integral"
    value: Anything = Field(description="what is integrated")
    gain: Scalar = Field(1.0, description="multiplies it")
    start: Anything = Field(0.0, description="y at the start")

    def build(self, context: Context, name: str) -> Expr:
        y = context.state(f"{name}_state", start=self.start)
        context.rate(y, context.value(self.gain) * context.value(self.value))
        return y


class Lag(Block):
    """T dy/dt = gain x - y: a first-order filter. Without a start it begins settled at its first input."""

    kind = "lag"
    value: Anything = Field(description="what is filtered")
    time: Scalar = Field(description="time constant T, s")
    gain: Scalar = Field(1.0, description="of a constant input")
    start: Anything | None = Field(None, description="y at the start; by default settled")

    def build(self, context: Context, name: str) -> Expr:
        x = context.value(self.gain) * context.value(self.value)
        T = context.constant(self.time, "the time constant", least=0.0, open=True)
        y = context.state(f"{name}_state", start=x if self.start is None else self.start)
        context.rate(y, (x - y) / T)
        return y


class SecondOrder(Block):
    """y'' + 2 damping w y' + w^2 y = w^2 gain x, w = 2 pi frequency. Without a start it begins settled.

    As a filter in front of a reference it makes one that can be differentiated twice.
    """

    kind = "second_order"
    value: Anything = Field(description="what is filtered")
    frequency: Scalar = Field(description="natural frequency, Hz")
    damping: Scalar = Field(0.7071067811865476, description="ratio to the critical one")
    gain: Scalar = Field(1.0, description="of a constant input")
    start: Anything | None = Field(None, description="y at the start; by default settled")

    def build(self, context: Context, name: str) -> Expr:
        x = context.value(self.gain) * context.value(self.value)
        w = 6.283185307179586 * context.constant(self.frequency, "the frequency", least=0.0, open=True)
        y = context.state(f"{name}_state", start=x if self.start is None else self.start)
        rate = context.state(f"{name}_rate")
        context.rate(y, rate)
        context.rate(rate, w * w * (x - y) - 2.0 * context.value(self.damping) * w * rate)
        return y


class TransferFunction(Block):
    """y = N(s)/D(s) x: coefficients from the highest power of s down; N not higher than D.

    In controllable canonical form: x_1' = x_2, ..., D(s) x_1 = input, y = N(s) x_1.
    """

    kind = "transfer_function"
    value: Anything = Field(description="the input x")
    numerator: tuple[Scalar, ...] = Field(description="of N, highest power first", min_length=1)
    denominator: tuple[Scalar, ...] = Field(description="of D, highest power first", min_length=1)
    settled: bool = Field(False, strict=True, description="whether it begins settled at its first input, not at zero")

    @model_validator(mode="after")
    def _proper(self) -> Self:
        if len(self.numerator) > len(self.denominator):
            raise PydanticCustomError("proper", "the numerator is of higher order than the denominator")
        if self.denominator[0] == 0.0:
            raise PydanticCustomError("proper", "the first coefficient of the denominator is zero")
        if self.settled and self.denominator[-1] == 0.0:
            raise PydanticCustomError("proper", "a denominator that ends with zero (an integrator) never settles")
        return self

    def build(self, context: Context, name: str) -> Expr:
        N, D = (
            [context.constant(c, "a coefficient of a transfer function") for c in reversed(row)]
            for row in (self.numerator, self.denominator)
        )
        return rational(context, name, context.value(self.value), N, D, settled=self.settled)


def rational(
    context: Context,
    name: str,
    x: Expr,
    N: Sequence[Expr],
    D: Sequence[Expr],
    *,
    time: Expr | None = None,
    settled: bool,
) -> Expr:
    """N(s)/D(s) x with coefficients from the lowest power up; with a time, N and D are of s time."""
    zero, n = context.graph.zero, len(D) - 1
    a = [c / D[n] for c in D[:n]]
    b = [N[k] / D[n] if k < len(N) else zero for k in range(n + 1)]
    if n == 0:
        return b[0] * x
    begin = [x / a[0] if k == 0 and settled else zero for k in range(n)]
    states = [context.state(f"{name}_x{k + 1}", start=begin[k]) for k in range(n)]
    last = x
    for c, state in zip(a, states, strict=True):
        last = last - c * state
    speed = context.graph.one if time is None else 1.0 / time
    for state, after in pairwise([*states, last]):
        context.rate(state, speed * after)
    y = b[n] * x
    for k, state in enumerate(states):
        y = y + (b[k] - b[n] * a[k]) * state
    return y


class Delay(Block):
    """y(t) = x(t - time).

    By `samples`: x is sampled `points` times per delay into a shift register and read back with straight lines in
    between: exact for inputs that are straight between samples, otherwise off by at most x'' (time/points)^2 / 8. By
    `pade`: the delay exp(-s time) as a rational function of order `order`, without samples, good for inputs slower than
    about order/time rad/s. Before the start x counts as constant.
    """

    kind = "delay"
    value: Anything = Field(description="what is delayed")
    time: Scalar = Field(description="s")
    method: Literal["samples", "pade"] = Field("samples", description="how")
    points: int = Field(50, ge=1, le=10_000, description="samples per delay")
    order: int = Field(3, ge=1, le=10, description="of the rational function")

    def build(self, context: Context, name: str) -> Expr:
        x, T = context.value(self.value), context.constant(self.time, "a delay", least=0.0)
        if T is context.graph.zero:
            return x
        if self.method == "pade":
            n, number = self.order, context.graph.number
            c = [factorial(2 * n - k) / (factorial(k) * factorial(n - k)) for k in range(n + 1)]
            N, D = [number((-1.0) ** k * x) for k, x in enumerate(c)], [number(x) for x in c]
            return rational(context, name, x, N, D, time=T, settled=True)
        return self._register(context, name, x, T)

    def _register(self, context: Context, name: str, x: Expr, T: Expr) -> Expr:
        h, n = T / float(self.points), self.points
        when = context.held(f"{name}_time", start=context.t, unit="s")
        cells = [context.held(f"{name}_{k}", start=x) for k in range(n + 1)]
        context.sample(when, context.t, h)
        for cell, value in zip(cells, [x, *cells], strict=False):
            context.sample(cell, value, h)
        part = (context.t - when) / h
        return cells[n] + (cells[n - 1] - cells[n]) * part


class _Band(Block):
    """Two corners."""

    value: Anything = Field(description="the input x")
    lower: Scalar = Field(-1.0, description="lower corner")
    upper: Scalar = Field(1.0, description="upper corner")
    locate: bool = Field(
        False, strict=True, description="whether the solver steps exactly on the corners instead of across them"
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if isinstance(self.lower, float) and isinstance(self.upper, float) and self.lower >= self.upper:
            raise PydanticCustomError("order", "the lower corner is not below the upper one")
        return self

    def corners(self, context: Context, name: str) -> tuple[Expr, Expr, Expr]:
        """x, lower, upper; events where they meet, if asked for."""
        x, lower, upper = (context.value(each) for each in (self.value, self.lower, self.upper))
        if self.locate:
            context.event(f"{name}_lower", x - lower)
            context.event(f"{name}_upper", x - upper)
        return x, lower, upper


class Saturation(_Band):
    """y = x cut to [lower, upper]."""

    kind = "saturation"

    def build(self, context: Context, name: str) -> Expr:
        x, lower, upper = self.corners(context, name)
        return maximum(minimum(x, upper), lower)


class DeadZone(_Band):
    """y = 0 for x in [lower, upper], x - upper above, x - lower below."""

    kind = "dead_zone"

    def build(self, context: Context, name: str) -> Expr:
        x, lower, upper = self.corners(context, name)
        return maximum(x - upper, 0.0) + minimum(x - lower, 0.0)


class RateLimit(Block):
    """y follows x, but changes at most by `up` and `down` per second.

    Continuously: dy/dt = (x - y)/lag cut to [-down, up]; a slower x is followed with the small lag. With a period: y is
    renewed at samples by x - y cut to what is allowed in one period, without lag, and held between.
    """

    kind = "rate_limit"
    value: Anything = Field(description="what is followed")
    up: Scalar = Field(description="largest rise, 1/s")
    down: Scalar | None = Field(None, description="largest fall, 1/s, positive; by default that of the rise")
    lag: Scalar = Field(0.01, description="time constant while the limits do not act, s")
    period: Scalar | None = Field(None, description="of samples, s; without it the limit acts continuously")
    start: Anything | None = Field(None, description="y at the start; by default the first input")

    def build(self, context: Context, name: str) -> Expr:
        x = context.value(self.value)
        up = context.constant(self.up, "the largest rise", least=0.0)
        down = up if self.down is None else context.constant(self.down, "the largest fall", least=0.0)
        start = x if self.start is None else self.start
        if self.period is not None:
            y, h = context.held(name, start), context.constant(self.period, "the period", least=0.0, open=True)
            context.sample(y, y + maximum(minimum(x - y, up * h), -down * h), h)
            return y
        y, lag = context.state(f"{name}_state", start), context.constant(self.lag, "the lag", least=0.0, open=True)
        context.rate(y, maximum(minimum((x - y) / lag, up), -down))
        return y


class Crossing(Block):
    """y = 1 while x is above the level, 0 while not; the instants at which it passes are events called like the block.

    They end a run (``changes: [{event: NAME, stop: true}]``) or change parameters.
    """

    kind = "crossing"
    value: Anything = Field(description="the input x")
    level: Scalar = Field(0.0, description="that it passes")

    def build(self, context: Context, name: str) -> Expr:
        beyond = context.value(self.value) - context.value(self.level)
        context.event(name, beyond)
        return select(beyond > 0.0, context.graph.one, context.graph.zero)
