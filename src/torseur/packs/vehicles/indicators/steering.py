"""Indicators of steering: steady turning (ISO 4138), and answers to a step and a sweep (ISO 7401) and to a sine with
dwell (49 CFR 571.126).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from torseur.describe.fields import Scalar
from torseur.errors import ArgumentError
from torseur.packs.vehicles.indicators.motion import (
    Array,
    Mask,
    Motion,
    after,
    crossing,
    fitted_slope,
    mean_over,
    since,
)
from torseur.simulation.results.indicators import Indicator, Measure, number
from torseur.simulation.results.result import Run

__all__ = ["FrequencyResponse", "SineWithDwell", "SteadyTurn", "SteeringAt", "StepSteer"]


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


PERIODS = 3.0
"""Of the lowest frequency, in each span of a frequency response."""
BEYOND = 1e-3
"""A value counts as beyond the steady one if it exceeds it by this share."""


class StepSteer(Indicator):
    """Gains, response and peak times, overshoots and the TB factor of a step of steering (ISO 7401).

    Times count from the instant at which the steering angle has come to half of its steady value. Steady values are
    means over the last part of the run.
    """

    kind = "step_steer"
    begin: Scalar = Field(description="when steering begins, s")
    steady: Scalar = Field(0.5, description="time at the end over which steady values are taken, s")

    def measured(self, run: Run) -> Iterator[Measure]:
        motion, begin = Motion.of(run), number(self.begin)
        t, end = motion.t, float(motion.t[-1])

        def steady(values: Array) -> float:
            before = float(np.interp(begin, t, values))
            return mean_over(t, values, max(end - number(self.steady), begin), end) - before

        delta, V = steady(motion.delta), mean_over(t, motion.V, max(end - number(self.steady), begin), end)
        half = crossing(*after(t, _shown(motion.delta, t, begin, delta), begin), 0.5)
        if delta == 0.0 or half is None:
            said = "not reached: the wheels were not steered"
            yield Measure("steering_angle", None, "rad", "steady angle of the road wheels", said=said, fails=True)
            return
        yield Measure("steering_angle", delta, "rad", "steady mean angle of the road wheels")
        yield Measure("steady_speed", V, "m/s", f"mean speed over the last {number(self.steady):g} s")
        r, ay, beta = steady(motion.r), steady(motion.ay), steady(motion.beta)
        yield Measure("steady_yaw_rate", r, "rad/s", "mean of the last part of the run")
        yield Measure("steady_lateral_acceleration", ay, "m/s2", "mean of the last part of the run")
        yield Measure("steady_side_slip", beta, "rad", "mean of the last part of the run, at the centre of mass")
        yield Measure("yaw_rate_gain", r / delta, "1/s", "steady yaw rate over steady steering angle")
        yield Measure(
            "lateral_acceleration_gain", ay / delta, "m/s2", "steady lateral acceleration over steering angle"
        )
        for name, values, final in (("yaw_rate", motion.r, r), ("lateral_acceleration", motion.ay, ay)):
            yield from _answer(name, t, _shown(values, t, begin, final), half, final)
        peak = _peak(*after(t, _shown(motion.r, t, begin, r), half))
        if peak is not None:
            definition = "peak response time of the yaw rate times steady side slip angle, in degrees (ISO 7401)"
            yield Measure("TB_factor", (peak - half) * abs(float(np.rad2deg(beta))), "s deg", definition)


def _shown(values: Array, t: Array, begin: float, final: float) -> Array:
    """Values as shares of what they come to, from what they were."""
    before = float(np.interp(begin, t, values))
    return (values - before) / final if final != 0.0 else np.zeros_like(values)


def _answer(name: str, t: Array, shown: Array, half: float, final: float) -> Iterator[Measure]:
    """Response time, peak time and overshoot."""
    words = name.replace("_", " ")
    times, values = after(t, shown, half)
    reached = crossing(times, values, 0.9) if final != 0.0 else None
    said = None if reached is not None else "not reached: it never came to 90 % of its steady value"
    definition = f"from half of the steering angle to 90 % of the steady {words} (ISO 7401)"
    took = None if reached is None else reached - half
    yield Measure(f"{name}_response_time", took, "s", definition, reached, said)
    peak = _peak(times, values)
    said = None if peak is not None else "not reached: no value beyond the steady one"
    definition = f"from half of the steering angle to the largest {words} (ISO 7401)"
    yield Measure(f"{name}_peak_time", None if peak is None else peak - half, "s", definition, peak, said)
    overshoot = max(float(values.max()) - 1.0, 0.0)
    definition = f"largest {words} beyond the steady one, as a share of it (ISO 7401)"
    yield Measure(f"{name}_overshoot", overshoot, "", definition)


def _peak(t: Array, values: Array) -> float | None:
    """When values are largest and beyond 1: where a parabola through the largest and its neighbours has its top."""
    k = int(np.argmax(values))
    if values[k] <= 1.0 + BEYOND or not 0 < k < len(values) - 1:
        return None
    near = t[k - 1 : k + 2]
    if len(set(near)) < 3:
        return float(t[k])
    a, b, _ = np.polyfit(near - t[k], values[k - 1 : k + 2], 2)
    return float(t[k] - b / (2.0 * a)) if a < 0.0 else float(t[k])


class SineWithDwell(Indicator):
    """Ratios of the yaw rate after steering ended to its second peak, and the way aside (49 CFR 571.126, S5.2)."""

    kind = "sine_with_dwell"
    begin: Scalar = Field(description="when steering begins, s")
    end: Scalar = Field(description="when steering has come back to zero, s")

    def measured(self, run: Run) -> Iterator[Measure]:
        motion, begin, end = Motion.of(run), number(self.begin), number(self.end)
        t = motion.t
        first = np.sign(float(np.interp(begin + 0.2 * (end - begin), t, motion.delta)))
        turned = since(t, begin) & (first * motion.delta < 0.0)
        peak = float(np.max(-first * motion.r[turned])) if turned.any() else 0.0
        said = None if peak > 0.0 else "not reached: the yaw rate has no second peak"
        yield Measure("second_yaw_rate_peak", peak or None, "rad/s", "largest yaw rate after the reversal", said=said)
        for name, later, bound in (("yaw_rate_ratio_1_00", 1.0, 0.35), ("yaw_rate_ratio_1_75", 1.75, 0.2)):
            definition = f"yaw rate {later:g} s after steering ended over its second peak; at most {bound:g} is asked"
            if t[-1] < end + later or peak <= 0.0:
                missing = said or f"not reached: the run ends at {t[-1]:.4g} s"
                yield Measure(name, None, "", definition, said=missing, fails=True)
                continue
            ratio = abs(float(np.interp(end + later, t, motion.r))) / peak
            why = f"{ratio:.3g} is more than {bound:g}" if ratio > bound else None
            yield Measure(name, ratio, "", definition, end + later, why, fails=why is not None)
        heading = float(np.interp(begin, t, motion.yaw))
        x, y = (float(np.interp(begin + 1.07, t, p) - np.interp(begin, t, p)) for p in motion.place.T)
        aside = abs(-np.sin(heading) * x + np.cos(heading) * y)
        definition = "way aside 1.07 s after steering began; 1.83 m is asked from 5 A on, 1.52 m above 3500 kg"
        yield Measure("side_displacement_1_07", float(aside), "m", definition, begin + 1.07)


class FrequencyResponse(Indicator):
    """Gain and phase of the yaw rate over the frequency of steering, out of a sweep.

    The quotient of spectra of spans of three periods of the lowest frequency; the bandwidth is where the gain has
    fallen to 1/sqrt(2) of that at the lowest frequency.
    """

    kind = "frequency_response"
    begin: Scalar = Field(description="when the sweep begins, s")
    first: Scalar = Field(description="lowest frequency, Hz")
    last: Scalar = Field(description="highest frequency, Hz")

    def measured(self, run: Run) -> Iterator[Measure]:
        motion, begin = Motion.of(run), number(self.begin)
        first, last = number(self.first), number(self.last)
        after(motion.t, motion.r, begin)  # the run must have come there
        f, H = _transfer(motion, begin, first, last)
        gain, low = np.abs(H), float(np.abs(H[0]))
        yield Measure("low_frequency_yaw_gain", low, "1/s", f"yaw rate over steering angle at {f[0]:.3g} Hz")
        k = int(np.argmax(gain))
        yield Measure("peak_yaw_gain_ratio", float(gain[k]) / low, "", "largest gain over that at the lowest frequency")
        yield Measure("peak_yaw_gain_frequency", float(f[k]), "Hz", "frequency of the largest gain")
        below = np.nonzero(gain[k:] < low / np.sqrt(2.0))[0]
        said = None if len(below) else f"not reached: up to {f[-1]:.3g} Hz"
        value = float(f[k + below[0]]) if len(below) else None
        definition = "frequency at which the yaw gain has fallen to 1/sqrt(2) of that at the lowest"
        yield Measure("yaw_bandwidth", value, "Hz", definition, said=said)
        if f[0] <= 1.0 <= f[-1]:
            lag = float(np.interp(1.0, f, np.unwrap(np.angle(H))))
            yield Measure("yaw_phase_at_1_hz", lag, "rad", "phase of the yaw rate against steering at 1 Hz")


def _transfer(motion: Motion, begin: float, first: float, last: float) -> tuple[Array, NDArray[np.complex128]]:
    """Frequencies, and yaw rate over steering there: cross over power spectrum of tapered spans (Welch)."""
    count = 2 * len(motion.t)
    t = np.linspace(begin, float(motion.t[-1]), count)
    step = float(t[1] - t[0])
    size = round(PERIODS / first / step)
    if size > count or size < 3:
        raise ArgumentError(f"not reached: a frequency response takes {PERIODS:g} periods of {first:g} Hz")
    delta, r = (np.interp(t, motion.t, x) for x in (motion.delta, motion.r))
    f = np.fft.rfftfreq(size, step)
    cross, power, taper = np.zeros(len(f), complex), np.zeros(len(f)), np.hanning(size)
    for k in np.linspace(0, count - size, 2 + 8 * count // size).astype(int):
        D, R = (np.fft.rfft(taper * x[k : k + size]) for x in (delta, r))
        cross += np.conj(D) * R
        power += np.abs(D) ** 2
    inside = (f >= 1.2 * first) & (f <= 0.95 * last)  # what the sweep dwells on
    return np.asarray(f[inside], float), np.asarray(cross[inside] / power[inside], complex)
