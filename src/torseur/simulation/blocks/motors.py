"""Electric motors as blocks: from voltage to torque. Gear, rotor and friction are the load `motor` of a description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from torseur.describe.annotations import Anything
from torseur.describe.fields import Scalar
from torseur.graph import Expr, maximum, minimum, select
from torseur.simulation.blocks.actuation import force_unit
from torseur.simulation.blocks.base import Block
from torseur.simulation.blocks.context import Context

__all__ = ["Armature", "Force"]


class Armature(Block):
    """The armature of a direct-current motor: inductance di/dt + resistance i + constant w = voltage.

    Gives ``torque`` = constant i, N m, and ``current`` i, A. With a limit the drive's electronics keep |i| below it: at
    the limit the current does not grow. Without inductance the current follows at once.
    """

    kind = "armature"
    units: ClassVar[Mapping[str, str]] = {"torque": "N m", "current": "A"}
    voltage: Anything = Field(description="at the terminals, V")
    speed: Anything = Field(description="w of the rotor, rad/s: ratio times the joint's speed, e.g. 50*dq1")
    resistance: Scalar = Field(description="ohm")
    inductance: Scalar = Field(0.0, description="H")
    constant: Scalar = Field(description="k, N m/A and V s/rad")
    current_limit: Scalar | None = Field(None, description="A")
    start: Scalar = Field(0.0, description="current at the start, A")

    def build(self, context: Context, name: str) -> dict[str, Expr]:
        k = context.constant(self.constant, "the motor constant")
        R = context.constant(self.resistance, "the resistance", least=0.0, open=True)
        L = context.constant(self.inductance, "the inductance", least=0.0)
        drop = context.value(self.voltage) - k * context.value(self.speed)
        if L is context.graph.zero:
            i = self._limited(context, drop / R)
        else:
            state = context.state(f"{name}_armature", self.start, unit="A")
            rate = (drop - R * state) / L
            i = self._limited(context, state)
            if self.current_limit is not None:
                limit = context.constant(self.current_limit, "the current limit", least=0.0, open=True)
                context.event(f"{name}_limit_above", state - limit)
                context.event(f"{name}_limit_below", state + limit)
                rate = select(state >= limit, minimum(rate, 0.0), select(state <= -limit, maximum(rate, 0.0), rate))
            context.rate(state, rate)
        return {"torque": k * i, "current": i}

    def _limited(self, context: Context, i: Expr) -> Expr:
        if self.current_limit is None:
            return i
        limit = context.constant(self.current_limit, "the current limit", least=0.0, open=True)
        return maximum(minimum(i, limit), -limit)


class Force(Block):
    """A generalised force on one speed of the mechanism, added to its loads: an ideal motor at a joint."""

    kind = "force"
    speed: str = Field(description="the speed it acts on, e.g. dq1")
    value: Anything = Field(description="N or N m")

    def build(self, context: Context, name: str) -> Expr:
        value = context.value(self.value)
        context.force(self.speed, value)
        context.note(name, force_unit(context, self.speed), f"force on {self.speed}")
        return value
