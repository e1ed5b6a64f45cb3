"""Proportional, integral and derivative control of one quantity."""

from __future__ import annotations

from pydantic import Field

from torseur.describe.fields import Scalar
from torseur.describe.marks import Anything
from torseur.graph import Expr, maximum, minimum
from torseur.simulation.blocks.base import Block
from torseur.simulation.context import Context

__all__ = ["Pd", "within"]


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


def _rate_of(context: Context, reference: Expr, given: Scalar | None) -> Expr:
    if given is not None:
        return context.value(given)
    return context.derivative([reference], "the reference")[0]


def within(context: Context, y: Expr, lower: Scalar | None, upper: Scalar | None) -> Expr:
    """y cut to limits that may be absent."""
    y = y if upper is None else minimum(y, context.value(upper))
    return y if lower is None else maximum(y, context.value(lower))
