"""Limits: saturation, dead zone, rate limit. Their corners can be located as events."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.annotations import Anything
from torseur.describe.fields import Scalar
from torseur.graph import Expr, maximum, minimum
from torseur.simulation.blocks.base import Block
from torseur.simulation.blocks.context import Context

__all__ = ["DeadZone", "RateLimit", "Saturation"]


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
