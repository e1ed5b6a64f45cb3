"""Indicators of steady turning (ISO 4138).

The steering angle of a steady turn is delta = l r/V + K ay, K the understeer gradient: what is beyond the angle that
the turn takes without slip grows with the lateral acceleration. It is fitted between two lateral accelerations, on
either side, whatever was held: speed, radius or steering.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from torseur.describe.fields import Scalar
from torseur.packs.vehicles.indicators.motion import Mask, Motion, fitted_slope
from torseur.simulation.results.indicators import Indicator, Measure, number
from torseur.simulation.results.result import Run

__all__ = ["SteadyTurn", "SteeringAt"]

FEWEST = 5
"""Instants that a line is fitted to."""


class SteadyTurn(Indicator):
    """Understeer gradient, characteristic speed, gains and gradients of a turn that changes slowly (ISO 4138)."""

    kind = "steady_turn"
    least: Scalar = Field(0.5, description="lateral acceleration from which lines are fitted, m/s2")
    most: Scalar = Field(3.0, description="lateral acceleration up to which they are fitted, m/s2")
    begin: Scalar = Field(0.0, description="from when on, s")

    def measured(self, run: Run) -> Iterator[Measure]:
        motion = Motion.of(run)
        least, most = number(self.least), number(self.most)
        ay = motion.ay
        last = int(np.argmax(np.abs(ay)))
        slow = (np.abs(ay) >= least) & (np.abs(ay) <= most) & (motion.t >= number(self.begin)) & (motion.V > 0.0)
        slow &= np.arange(len(ay)) <= last  # beyond, more steering turns less
        yield Measure(
            "max_lateral_acceleration",
            float(np.abs(ay[last])),
            "m/s2",
            "largest lateral acceleration of the centre of mass",
            float(motion.t[last]),
            said=f"at {motion.V[last]:.4g} m/s, steering {motion.delta[last]:.4g} rad",
        )
        span = f"fitted from {least:g} to {most:g} m/s2"
        if slow.sum() < FEWEST:
            why = f"not reached: no lateral acceleration from {least:g} to {most:g} m/s2"
            yield Measure("understeer_gradient", None, "rad/(m/s2)", _UNDERSTEER, said=why, fails=True)
            return
        yield from self._gradients(motion, slow, span)

    def _gradients(self, motion: Motion, slow: Mask, span: str) -> Iterator[Measure]:
        L, ay = motion.layout.wheelbase, motion.ay[slow]
        V, r, delta = motion.V[slow], motion.r[slow], motion.delta[slow]
        K, _ = fitted_slope(ay, delta - L * r / V)
        yield Measure("understeer_gradient", K, "rad/(m/s2)", _UNDERSTEER, said=span)
        yield from _characteristic(K, L)
        v = float(np.mean(V))
        if np.ptp(V) <= 0.02 * v:
            # At one speed the gains are slopes of the same line: r = gain delta.
            yaw, _ = fitted_slope(delta, r)
            lateral, _ = fitted_slope(delta, ay)
            said = f"at {v:.4g} m/s, {span}"
            yield Measure("yaw_rate_gain", yaw, "1/s", "d(yaw rate)/d(steering angle)", said=said)
            yield Measure(
                "lateral_acceleration_gain", lateral, "m/s2", "d(lateral acceleration)/d(steering angle)", said=said
            )
        R = V / np.abs(r)
        if np.ptp(R) <= 0.05 * float(np.mean(R)):
            yield Measure("radius", float(np.mean(R)), "m", "mean of V/|yaw rate| of the centre of mass", said=span)
        beta, _ = fitted_slope(ay, motion.beta[slow])
        definition = "d(side slip angle)/d(lateral acceleration) of the centre of mass, on the way that was driven"
        yield Measure("side_slip_gradient", beta, "rad/(m/s2)", definition, said=span)
        if not motion.layout.is_planar:
            roll, _ = fitted_slope(ay, motion.roll[slow])
            yield Measure(
                "roll_gradient",
                roll,
                "rad/(m/s2)",
                "d(roll)/d(lateral acceleration), positive leaning outwards",
                said=span,
            )


class SteeringAt(Indicator):
    """The steering angle of a turn that changes slowly at a lateral acceleration.

    A line is fitted to the angle from 3/4 to 5/4 of that acceleration, or to its end. Where the wheels are turned by a
    torque it is the angle that is asked for: behind a soft column they turn less.
    """

    kind = "steering_at"
    acceleration: Scalar = Field(description="lateral acceleration, m/s2")

    def measured(self, run: Run) -> Iterator[Measure]:
        motion, wanted = Motion.of(run), number(self.acceleration)
        ay = np.abs(motion.ay)
        near = (ay >= 0.75 * wanted) & (ay <= 1.25 * wanted) & (np.arange(len(ay)) <= int(np.argmax(ay)))
        definition = f"angle asked of the road wheels at a lateral acceleration of {wanted:.4g} m/s2, by a fitted line"
        if ay.max() < wanted or near.sum() < FEWEST:
            said = f"not reached: {ay.max():.4g} m/s2 is the most, at {motion.t[int(np.argmax(ay))]:.4g} s"
            yield Measure("steering_angle", None, "rad", definition, said=said, fails=True)
            return
        slope, first = fitted_slope(ay[near], motion.wanted_delta[near])
        yield Measure("steering_angle", first + slope * wanted, "rad", definition)


_UNDERSTEER = "K of delta = l r/V + K ay, delta at the road wheels (ISO 4138)"


def _characteristic(K: float, L: float) -> Iterator[Measure]:
    """sqrt(l/K) of an understeering vehicle; an oversteering one has a critical speed instead."""
    if K > 0.0:
        definition = "sqrt(l/K): speed at which the yaw rate gain is largest"
        yield Measure("characteristic_speed", float(np.sqrt(L / K)), "m/s", definition)
    elif K < 0.0:
        definition = "sqrt(-l/K): speed from which an oversteering vehicle is unstable"
        yield Measure("critical_speed", float(np.sqrt(-L / K)), "m/s", definition)
