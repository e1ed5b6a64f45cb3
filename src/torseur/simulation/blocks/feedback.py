"""Proportional, integral and derivative control of one quantity."""

from __future__ import annotations

from pydantic import Field

from torseur.describe.annotations import Anything
from torseur.describe.fields import Scalar
from torseur.errors import ModelError
from torseur.graph import Expr, maximum, minimum
from torseur.simulation.blocks.base import Block
from torseur.simulation.blocks.context import Context

__all__ = ["Pd", "Pid", "within"]


class Pd(Block):
    """y = feedforward + kp (reference - value) + kd (reference_rate - rate), cut to the limits."""

    kind = "pd"
    value: Anything = Field(description="what is controlled, e.g. q1")
    rate: Anything = Field(description="its rate, e.g. dq1")
    reference: Anything = Field(0.0, description="what it should be")
    reference_rate: Anything | None = Field(
        None, description="rate of the reference; by default its derivative, which needs a function of t"
    )
    kp: Scalar = Field(description="stiffness of the control")
    kd: Scalar = Field(0.0, description="damping of the control")
    feedforward: Anything = Field(0.0, description="added")
    lower: Scalar | None = Field(None, description="least result")
    upper: Scalar | None = Field(None, description="largest result")

    def build(self, context: Context, name: str) -> Expr:
        reference = context.value(self.reference)
        e = reference - context.value(self.value)
        ed = _rate_of(context, reference, self.reference_rate) - context.value(self.rate)
        y = context.value(self.feedforward) + context.value(self.kp) * e + context.value(self.kd) * ed
        return within(context, y, self.lower, self.upper)


class Pid(Block):
    """y = feedforward + kp e + I + D cut to the limits, with e = reference - value.

    dI/dt = ki e + (y - y_uncut) / tracking: at a limit the integral follows what is really done (back-calculation, no
    windup). D = kd (e - x) / filter with dx/dt = (e - x) / filter: the derivative seen through a first-order filter,
    kd s / (1 + filter s).
    """

    kind = "pid"
    value: Anything = Field(description="what is controlled")
    reference: Anything = Field(0.0, description="what it should be")
    kp: Scalar = Field(0.0, description="proportional gain")
    ki: Scalar = Field(0.0, description="integral gain, 1/s")
    kd: Scalar = Field(0.0, description="derivative gain, s")
    filter: Scalar = Field(0.01, description="time constant of the derivative, s")
    feedforward: Anything = Field(0.0, description="added")
    lower: Scalar | None = Field(None, description="least result")
    upper: Scalar | None = Field(None, description="largest result")
    tracking: Scalar | None = Field(
        None, description="time in which the integral follows a limit, s; by default kp/ki, the integral time"
    )
    start: Scalar = Field(0.0, description="of the integral")

    def build(self, context: Context, name: str) -> Expr:
        e = context.value(self.reference) - context.value(self.value)
        kp, ki, kd = (context.value(gain) for gain in (self.kp, self.ki, self.kd))
        y = context.value(self.feedforward) + kp * e
        zero = context.graph.zero
        if kd is not zero:
            filter = context.constant(self.filter, "the time constant of the derivative", least=0.0, open=True)
            x = context.state(f"{name}_filtered", start=e)
            context.rate(x, (e - x) / filter)
            y = y + kd * ((e - x) / filter)
        if ki is zero:
            return within(context, y, self.lower, self.upper)
        integral = context.state(f"{name}_integral", start=self.start)
        y = y + integral
        cut = within(context, y, self.lower, self.upper)
        back = zero if cut is y else (cut - y) / self._tracking(context, kp, ki)
        context.rate(integral, ki * e + back)
        return cut

    def _tracking(self, context: Context, kp: Expr, ki: Expr) -> Expr:
        if self.tracking is not None:
            return context.constant(self.tracking, "the tracking time", least=0.0, open=True)
        if kp is context.graph.zero:
            raise ModelError(
                "the integral of a limited controller without proportional part needs a tracking time",
                where=context.where,
                expected="tracking, s",
            )
        return kp / ki


def _rate_of(context: Context, reference: Expr, given: Scalar | None) -> Expr:
    if given is not None:
        return context.value(given)
    return context.derivative([reference], "the reference")[0]


def within(context: Context, y: Expr, lower: Scalar | None, upper: Scalar | None) -> Expr:
    """y cut to limits that may be absent."""
    y = y if upper is None else minimum(y, context.value(upper))
    return y if lower is None else maximum(y, context.value(lower))
