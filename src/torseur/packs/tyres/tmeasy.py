"""TMeasy: curves given by slopes, peaks and sliding forces at two loads.

Hirschberg, Rill & Weinfurter, *Tire model TMeasy*, Vehicle System Dynamics 45 (2007) 101; Rill, *Road Vehicle
Dynamics*, 2012, chapter 3. Slips of a wheel that turns, sx = (Vr - Vx) / Vr and sy = tan(alpha) Vx / Vr, are normalised
and joined,

    n_x = sxM / (sxM + syM) + (FxM / dFx0) / (FxM / dFx0 + FyM / dFy0),  n_y likewise                       (T1)
    s = sqrt((sx / n_x)^2 + (sy / n_y)^2),  cos(phi) = (sx / n_x) / s,  sin(phi) = (sy / n_y) / s              (T2)
    dF0 = |(n_x dFx0 cos, n_y dFy0 sin)|,  sM = |(sxM / n_x cos, syM / n_y sin)|,  FM = |(FxM cos, FyM sin)|   (T3)

sS and FS like sM and FM, and one curve gives the force along phi, Fx = F cos(phi), Fy = F sin(phi):

    F = dF0 s / (1 + x (x + dF0 sM / FM - 2)), x = s / sM                     up to sM                      (T4)
    F = FM - a (s - sM)^2, then FS + b (sS - s)^2, then FS                    beyond, with a common tangent  (T5)

Forces and slopes between loads: Y(Fz) = Fz / P (2 Y1 - Y2 / 2 - (Y1 - Y2 / 2) Fz / P) with Y1 at P and Y2 at 2 P;
slips are linear in the load. Adherence: mu F(s / mu). Camber has no effect. The moment is Mz = -n Fy with the trail

    n = n0 ((1 - w) (1 - x) + w (1 - (3 - 2 x) x^2)),  x = |sy| / sy0 <= 1,  w = sy0 / syE                     (T6)
    n = -n0 (1 - w) (x - 1) ((syE - |sy|) / (syE - sy0))^2 until syE, then 0                                   (T7)
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from torseur.describe.fields import Record, Scalar
from torseur.graph import Expr, absolute, maximum, minimum, select
from torseur.packs.tyres.law import PlainTyreLaw, Scalars, Slip, TyreForces, over_rolling
from torseur.packs.tyres.regular import length

__all__ = ["TMeasyAxis", "TMeasyTyre"]

SMALLEST = 1e-6
LEAST_SHARE = 0.01
LEAST_GAP = 1e-3
NO_SLIP = 1e-9
"""Below it there is no direction of slip: both axes by themselves, along their slopes."""

Pair = tuple[Scalar, Scalar]


class TMeasyAxis(Record):
    """The curve along one axis; each value at the load and at twice the load."""

    slope: Pair = Field(description="dF0 at no slip, N")
    peak_slip: Pair = Field(description="sM, without unit")
    peak: Pair = Field(description="FM, N")
    slide_slip: Pair = Field(description="sS, without unit")
    slide: Pair = Field(description="FS, N")


@dataclass(frozen=True)
class _Curve:
    """The values of an axis, or of both joined, at a load; forces over Fz."""

    slope: Expr
    peak_slip: Expr
    peak: Expr
    slide_slip: Expr
    slide: Expr


class TMeasyTyre(PlainTyreLaw):
    """Curves given by slopes, peaks and sliding forces at two loads."""

    kind = "tmeasy"
    load: Scalar = Field(description="P, N; the second values of all pairs are at twice of it")
    longitudinal: TMeasyAxis = Field(description="Fx over sx")
    lateral: TMeasyAxis = Field(description="Fy over sy")
    trail: Scalar = Field(0.0, description="n0 at no slip, m")
    trail_zero: Scalar = Field(0.2, description="sy0 where the trail is zero, without unit")
    trail_end: Scalar = Field(0.5, description="syE beyond which there is none, more than sy0, without unit")

    def rolling_forward(self, slip: Slip, scalar: Scalars) -> TyreForces:
        mu = maximum(slip.Vx.graph.expr(slip.mu), SMALLEST)
        sx, sy, turn = over_rolling(slip, self.fade(slip, scalar))
        sx, sy = sx / turn / mu, sy / turn / mu
        x, y = self._at_load(self.longitudinal, slip.Fz, scalar), self._at_load(self.lateral, slip.Fz, scalar)
        slips, reach = x.peak_slip + y.peak_slip, x.peak / x.slope + y.peak / y.slope
        nx, ny = x.peak_slip / slips + x.peak / x.slope / reach, y.peak_slip / slips + y.peak / y.slope / reach  # (T1)
        s = length(sx / nx, sy / ny)
        still = s < NO_SLIP
        c, d = select(still, 1.0, sx / nx / s), select(still, 0.0, sy / ny / s)  # (T2)
        joined = _Curve(  # (T3)
            length(x.slope * nx * c, y.slope * ny * d),
            length(x.peak_slip / nx * c, y.peak_slip / ny * d),
            length(x.peak * c, y.peak * d),
            length(x.slide_slip / nx * c, y.slide_slip / ny * d),
            length(x.slide * c, y.slide * d),
        )
        grip, F = slip.mu * slip.Fz, _force(s, joined)
        Fx, Fy = grip * select(still, x.slope * sx, F * c), grip * select(still, y.slope * sy, F * d)
        Mz = -(self._trail(sy * mu, scalar) * Fy * self.fade(slip, scalar))
        return TyreForces(Fx, Fy, self.overturning(slip, scalar), self.rolling_moment(slip, scalar), Mz)

    def _at_load(self, axis: TMeasyAxis, Fz: Expr, scalar: Scalars) -> _Curve:
        P = scalar(self.load)
        n = Fz / P

        def force(pair: Pair) -> Expr:
            one, half = scalar(pair[0]), 0.5 * scalar(pair[1])
            return maximum(2.0 * one - half - (one - half) * n, LEAST_SHARE * one) / P

        def slip(pair: Pair) -> Expr:
            one, two = scalar(pair[0]), scalar(pair[1])
            return maximum(one + (two - one) * (n - 1.0), LEAST_SHARE * one)

        dF0, FM = force(axis.slope), force(axis.peak)
        sM = maximum(slip(axis.peak_slip), 2.0 * FM / dF0)  # or the curve would turn before its peak
        return _Curve(dF0, sM, FM, maximum(slip(axis.slide_slip), sM + LEAST_GAP), minimum(force(axis.slide), FM))

    def _trail(self, sy: Expr, scalar: Scalars) -> Expr:
        """(T6), (T7)."""
        n0, s0, sE = scalar(self.trail), scalar(self.trail_zero), scalar(self.trail_end)
        size = absolute(sy)
        w, x = s0 / sE, size / s0
        near = (1.0 - w) * (1.0 - x) + w * (1.0 - (3.0 - 2.0 * x) * x * x)
        rest = maximum(sE - size, 0.0) / (sE - s0)
        far = -(1.0 - w) * (minimum(x, sE / s0) - 1.0) * rest * rest
        return n0 * select(x < 1.0, near, far)


def _force(s: Expr, k: _Curve) -> Expr:
    """F over Fz (T4), (T5): two parabolas lead from the peak to sliding."""
    x = s / k.peak_slip
    rising = k.slope * s / (1.0 + x * (x + k.slope * k.peak_slip / k.peak - 2.0))
    drop, width = k.peak - k.slide, k.slide_slip - k.peak_slip
    steep = k.peak / k.peak_slip
    bend = steep * steep / (k.slope * k.peak_slip)  # half of the curvature of (T4) at its end
    turn = minimum(drop / (bend * width * width), 0.9)  # of the width
    first = drop / maximum(turn, SMALLEST)
    u = minimum((s - k.peak_slip) / width, 1.0)
    falling = select(u < turn, k.peak - first * u * u, k.slide + drop / (1.0 - turn) * (1.0 - u) * (1.0 - u))
    return select(x < 1.0, rising, falling)
