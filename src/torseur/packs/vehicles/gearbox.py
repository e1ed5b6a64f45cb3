"""A clutch with a gearbox behind it, as a load, and a block that shifts.

======  ====================================================================  ==========
w       speed of the driving shaft, such as that of a motor                   rad/s
W       speed of what is driven: a sum of speeds times factors                rad/s
N       ratio: turns of the shaft for one of what is driven                   1
C       largest torque that the clutch passes on                              N m
T       torque of the clutch on the shaft                                     N m
======  ====================================================================  ==========

The clutch is dry friction between the shaft and the input of the gearbox:

    s = w - N W,    |T| <= C while s = 0,    T = -C sign(s) while it slips                                       (G.1)

What is driven gets -N T in the shares of W. A gear that is changed is another N: no speed jumps, the clutch slips until
the shaft turns with the new gear. In neutral N = 0 and C = 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from torseur.describe.annotations import Anything, CoordinateName
from torseur.describe.fields import FrozenDict, Record, Scalar
from torseur.describe.formulas import Formula
from torseur.describe.loads import Load, LoadContext, LoadResult
from torseur.errors import ModelError
from torseur.graph import Expr, maximum, minimum, select
from torseur.simulation.blocks import Block
from torseur.simulation.blocks.context import Context

__all__ = ["BLOCKS", "Clutch", "GearShift", "Schedule"]

LONG_AGO = -1e6
"""When a gear that is in at the start was shifted, s."""


class Schedule(Record):
    """When drivers of scenarios shift: see the block gear_shift."""

    ratios: tuple[Scalar, ...] = Field(description="turns of the motor for one of the wheels, gear by gear")
    up: Scalar = Field(description="speed of the motor at which they shift up, rad/s")
    down: Scalar = Field(description="speed of the motor at which they shift down, rad/s")
    time: Scalar = Field(0.4, description="of a shift, s")


class Clutch(Load):
    """Dry friction between a shaft and others that turn at a ratio to it, which may change."""

    kind = "clutch"
    result_keys: ClassVar[tuple[str, ...]] = ("slip",)
    coordinate: CoordinateName = Field(description="the driving shaft")
    turns: Annotated[dict[CoordinateName, Scalar], AfterValidator(FrozenDict)] = Field(
        description="what is driven: coordinates times factors"
    )
    ratio: Anything = Field(description="turns of the shaft for one of what is driven, without unit")
    capacity: Anything = Field(description="largest torque, at the shaft, at least 0, N m")
    schedule: Schedule | None = Field(None, description="when drivers of scenarios shift")

    def _slip(self, on: LoadContext) -> Expr:
        """s = w - N W."""
        turned = sum((on.scalar(k) * on.speed(name) for name, k in self.turns.items()), on.graph.zero)
        return on.speed(self.coordinate) - on.scalar(self.ratio) * turned

    def act(self, on: LoadContext) -> None:
        """(G.1)."""
        N = on.scalar(self.ratio)
        T = on.friction(on.scalar(self.capacity), self._slip(on))
        on.push(self.coordinate, T)
        for name, k in self.turns.items():
            on.push(name, -(N * on.scalar(k) * T))

    def results(self, on: LoadContext) -> Mapping[str, LoadResult]:
        return {"slip": LoadResult(self._slip(on), "rad/s", "speed of the shaft beyond that of the gear")}


class GearShift(Block):
    """Who shifts: y is the gear, for the input `gear` of a vehicle with a gearbox.

    With n the speed that the motor would have in the gear without slip, the next gear is taken if n > up, the one
    before if n < down; it begins with the lowest in which n <= up. ``NAME_clutch``, for the input `clutch`, is 0 for
    the first half of the time of a shift, then grows to 1; below the speed `closed` of the motor it is open in part,
    down to `open`, so that the vehicle pulls away and the motor does not stall. ``NAME_free``, which the throttle is
    multiplied by, is 0 in the first half of a shift and grows to 1 with the clutch. Both are recorded.
    """

    kind = "gear_shift"
    ratios: tuple[Scalar, ...] = Field(
        min_length=1, description="turns of the motor for one of the wheels, gear by gear"
    )
    speed: Anything = Field(Formula("driven_speed"), description="mean speed of the driven wheels, rad/s")
    motor: Anything = Field(Formula("motor_speed"), description="speed of the motor, rad/s")
    up: Scalar = Field(description="speed of the motor above which the next gear is taken, rad/s")
    down: Scalar = Field(description="speed of the motor below which the gear before is taken, rad/s")
    time: Scalar = Field(0.4, description="of a shift, s")
    open: Scalar = Field(0.0, description="speed of the motor below which the clutch is open, rad/s")
    closed: Scalar = Field(0.0, description="speed of the motor from which it may be closed, rad/s; 0: it always may")
    period: Scalar = Field(0.01, description="of samples, s")

    def build(self, context: Context, name: str) -> Expr:
        number = context.graph.number
        ratios = [context.constant(r, "a ratio", least=0.0, open=True) for r in self.ratios]
        up, down, time = (
            context.constant(getattr(self, x), f"'{x}'", least=0.0, open=True) for x in ("up", "down", "time")
        )
        _check(context, ratios, up, down)
        W, t = context.value(self.speed), context.t
        first = number(len(ratios))
        for k, N in reversed(list(enumerate(ratios, 1))):
            n = N * W
            first = select(n > up, first, number(k))
        gear = context.held(f"{name}_in", first)
        since = context.held(f"{name}_since", LONG_AGO, "s")
        n = _of(gear, ratios) * W
        wanted = gear + select(n > up, 1.0, 0.0) - select(n < down, 1.0, 0.0)
        wanted = minimum(maximum(wanted, 1.0), float(len(ratios)))
        done = t - since >= time
        taken = select(done, wanted, gear)
        changes = (taken - gear) * (taken - gear) > 0.25
        context.sample(gear, taken, self.period)
        context.sample(since, select(changes, t, since), self.period)
        ramp = minimum(maximum(2.0 * (t - since) / time - 1.0, 0.0), 1.0)
        context.define(f"{name}_clutch", minimum(ramp, self._bite(context)), "", "how far the clutch is closed")
        context.define(f"{name}_free", ramp, "", "what the throttle is multiplied by")
        return gear

    def _bite(self, context: Context) -> Expr:
        open, closed = (context.constant(getattr(self, x), f"'{x}'", least=0.0) for x in ("open", "closed"))
        if closed is context.graph.zero:
            return context.graph.one
        if closed.is_number and open.is_number and float(closed) <= float(open):
            raise ModelError(
                "a clutch closes above the speed at which it opens", where=context.where, got=str(self.closed)
            )
        return minimum(maximum((context.value(self.motor) - open) / (closed - open), 0.0), 1.0)


def _of(gear: Expr, ratios: list[Expr]) -> Expr:
    """The ratio of a gear, 1 to the number of gears."""
    chosen = ratios[0]
    for k, N in enumerate(ratios[1:], 2):
        chosen = select(gear > k - 0.5, N, chosen)
    return chosen


def _check(context: Context, ratios: list[Expr], up: Expr, down: Expr) -> None:
    """A gear that is taken must not be left at once: up N(k+1)/N(k) > down; ratios fall."""
    values = [float(x) for x in (*ratios, up, down) if x.is_number]
    if len(values) != len(ratios) + 2:
        return
    *N, above, below = values
    for k, (one, next) in enumerate(pairwise(N), 1):
        if next >= one:
            raise ModelError("the ratios of gears fall", where=context.where, got=f"{one:g}, then {next:g}")
        if above * next / one <= below:
            raise ModelError(
                f"gear {k + 1} would be left for gear {k} at once",
                where=context.where,
                expected=f"down below {above * next / one:.4g} rad/s, the speed of the motor after shifting up",
                got=f"{below:g}",
            )


BLOCKS: dict[str, type[Block]] = {GearShift.kind: GearShift}
"""The kinds of this module."""
