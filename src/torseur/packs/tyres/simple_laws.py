"""Laws with few parameters: linear, of Dugoff, of Burckhardt, and TMeasy.

**The linear tyre: forces in proportion to slip, without end.**

In the axes and signs of `law`:

    Fx = C_kappa kappa,  Fy = C_alpha alpha - C_gamma gamma,  Mz = -t Fy

All stiffnesses are as they are at `load`, in proportion to Fz; without `load` they are the same at any load above zero.
Nothing limits these forces, so that adherence does not count.

**Dugoff's law: two stiffnesses and one friction.**

Dugoff, Fancher & Segel, *An analysis of tire traction properties and their influence on vehicle dynamic performance*,
SAE 700377 (1970). With the slips of a wheel that turns, sx = (Vr - Vx) / Vr and sy = tan(alpha) Vx / Vr,

    lambda = mu Fz / (2 sqrt((Cx sx)^2 + (Cy sy)^2)),  f = (2 - lambda) lambda if lambda < 1, else 1       (D1)
    Fx = Cx sx f,  Fy = Cy sy f                                                                           (D2)

These are (C kappa / (1 + kappa)) f of the paper. Below, numerators and the common divisor Vr / max(Vx, Vr) are kept
apart, so that a locked wheel, where the slips are infinite, has its sliding force mu Fz. Adherence is a factor on mu.
Friction falls with the sliding speed by mu = mu_0 (1 - A_s V sqrt(kappa^2 + tan(alpha)^2)), and never below zero.

Stiffnesses are as they are at `load`, in proportion to Fz; without `load` they are the same at any load above zero.
Camber has no effect; the aligning moment is that of a constant trail.

**Burckhardt's exponential law in the form of Kiencke and Nielsen.**

Burckhardt, *Fahrwerktechnik: Radschlupfregelsysteme*, 1993; Kiencke & Nielsen, *Automotive Control Systems*, 2000;
Maakaroun 2011, (1.7) to (1.9) and table 1-1, corrected: the brackets of (1.9) are Kiencke's, c2 of dry asphalt is
23.99.

    s    = sqrt(kappa^2 + tan(alpha)^2)
    mu_s = (c1 (1 - exp(-c2 s)) - c3 s) exp(-c4 s V) (1 - c5 Fz^2)                     (1.9)
    Fx   = mu_s Fz kappa / s,  Fy = mu_s Fz tan(alpha) / s                           (1.7), (1.8)

Its kappa is that of `law`, normalised by the larger speed, with the sign of traction. In (1.9) s is held at 1, where
the wheel is locked: beyond, the polynomial would fall below zero. Adherence is a factor on mu_s. Camber has no effect;
the aligning moment is that of a constant trail, Mz = -t Fy.

**TMeasy: curves given by slopes, peaks and sliding forces at two loads.**

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
from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.fields import Record, Scalar
from torseur.graph import Expr, absolute, exp, maximum, minimum, select, sinh
from torseur.packs.tyres.law import PlainTyreLaw, Scalars, Slip, TyreForces, length, limited_tan, over_rolling

__all__ = ["ROADS", "BurckhardtTyre", "DugoffTyre", "LinearTyre", "TMeasyAxis", "TMeasyTyre"]


class LinearTyre(PlainTyreLaw):
    """Forces in proportion to slip: for small slips, and for comparison with closed forms."""

    kind = "linear"
    longitudinal_stiffness: Scalar = Field(0.0, description="dFx/dkappa, N")
    cornering_stiffness: Scalar = Field(description="dFy/dalpha, N/rad")
    camber_stiffness: Scalar = Field(0.0, description="dFy/d(-gamma), N/rad")
    trail: Scalar = Field(0.0, description="pneumatic trail, m")
    load: Scalar | None = Field(None, description="at which these hold, N; without it they do not depend on load")

    def rolling_forward(self, slip: Slip, scalar: Scalars) -> TyreForces:
        loaded = select(slip.Fz > 0.0, slip.Fz.graph.one, 0.0)
        share = loaded if self.load is None else slip.Fz / scalar(self.load)
        Fx = scalar(self.longitudinal_stiffness) * slip.kappa * share
        Fy = (scalar(self.cornering_stiffness) * slip.alpha - scalar(self.camber_stiffness) * slip.gamma) * share
        Mz = -(scalar(self.trail) * Fy * self.fade(slip, scalar))
        return TyreForces(Fx, Fy, self.overturning(slip, scalar), self.rolling_moment(slip, scalar), Mz)


class DugoffTyre(PlainTyreLaw):
    """Two stiffnesses and one friction: linear until the contact begins to slide."""

    kind = "dugoff"
    longitudinal_stiffness: Scalar = Field(description="Cx = dFx/dkappa, N")
    cornering_stiffness: Scalar = Field(description="Cy = dFy/dalpha, N/rad")
    friction: Scalar = Field(1.0, description="mu_0, without unit")
    friction_decay: Scalar = Field(0.0, description="A_s, loss of friction with sliding speed, s/m")
    trail: Scalar = Field(0.0, description="pneumatic trail, m")
    load: Scalar | None = Field(None, description="at which stiffnesses hold, N; without it they do not depend on load")

    def rolling_forward(self, slip: Slip, scalar: Scalars) -> TyreForces:
        Fz, fade = slip.Fz, self.fade(slip, scalar)
        loaded = select(Fz > 0.0, Fz.graph.one, 0.0)
        share = loaded if self.load is None else Fz / scalar(self.load)
        Cx, Cy = scalar(self.longitudinal_stiffness) * share, scalar(self.cornering_stiffness) * share
        sx, sy, turn = over_rolling(slip, fade)
        nx, ny = Cx * sx, Cy * sy
        sliding = slip.Vx * length(slip.kappa, limited_tan(slip.alpha)) * scalar(self.friction_decay)
        grip = slip.mu * scalar(self.friction) * maximum(1.0 - sliding, 0.0) * Fz
        size = 2.0 * length(nx, ny)
        ratio = grip * turn / size  # (D1)
        factor = select(ratio < 1.0, (2.0 - ratio) * grip / size, 1.0 / turn)
        Fx, Fy = nx * factor, ny * factor  # (D2)
        Mz = -(scalar(self.trail) * Fy * fade)
        return TyreForces(Fx, Fy, self.overturning(slip, scalar), self.rolling_moment(slip, scalar), Mz)


Road = Literal["asphalt_dry", "asphalt_wet", "concrete_dry", "cobbles_dry", "cobbles_wet", "snow", "ice"]

ROADS: dict[Road, tuple[float, float, float]] = {
    "asphalt_dry": (1.2801, 23.99, 0.52),
    "asphalt_wet": (0.857, 33.822, 0.347),
    "concrete_dry": (1.1973, 25.168, 0.5373),
    "cobbles_dry": (1.3713, 6.4565, 0.6691),
    "cobbles_wet": (0.4004, 33.708, 0.1204),
    "snow": (0.1946, 94.129, 0.0646),
    "ice": (0.05, 306.39, 0.0),
}
"""c1, c2, c3 of table 1-1."""


class BurckhardtTyre(PlainTyreLaw):
    """Friction along the resulting slip: give a road, or c1, c2 and c3."""

    kind = "burckhardt"
    road: Road | None = Field(None, description="a road of Burckhardt's table")
    c1: Scalar | None = Field(None, description="friction that slip tends to, without unit")
    c2: Scalar | None = Field(None, description="how fast it does, without unit")
    c3: Scalar | None = Field(None, description="what friction loses until the wheel is locked, without unit")
    c4: Scalar = Field(0.0, description="loss of friction with speed, s/m; 0.02 to 0.04 is usual")
    c5: Scalar = Field(0.0, description="loss of friction with load squared, 1/N2")
    trail: Scalar = Field(0.0, description="pneumatic trail, m")

    @model_validator(mode="after")
    def _one_road(self) -> Self:
        own = [name for name in ("c1", "c2", "c3") if getattr(self, name) is not None]
        if len(own) != (0 if self.road is not None else 3):
            got = ", ".join([*(["road"] if self.road is not None else []), *own]) or "none"
            raise PydanticCustomError("choice", "give either road, or c1, c2 and c3; got {got}", {"got": got})
        return self

    def friction(self, s: Expr, Fz: Expr, V: Expr, scalar: Scalars) -> Expr:
        """mu_s (1.9), at most that of a locked wheel and at least 0."""
        own = (self.c1, self.c2, self.c3) if self.road is None else ROADS[self.road]
        c1, c2, c3 = (scalar(c) for c in own if c is not None)
        s = minimum(s, 1.0)
        half = 0.5 * c2 * s
        rise = 2.0 * exp(-half) * sinh(half)  # 1 - exp(-c2 s), which keeps its digits at small slip
        level = (c1 * rise - c3 * s) * exp(-(scalar(self.c4) * s * V))
        return maximum(level * (1.0 - scalar(self.c5) * Fz * Fz), 0.0)

    def rolling_forward(self, slip: Slip, scalar: Scalars) -> TyreForces:
        across = limited_tan(slip.alpha)
        s = length(slip.kappa, across)
        grip = slip.mu * self.friction(s, slip.Fz, slip.Vx, scalar) * slip.Fz / s
        Fx, Fy = grip * slip.kappa, grip * across
        Mz = -(scalar(self.trail) * Fy * self.fade(slip, scalar))
        return TyreForces(Fx, Fy, self.overturning(slip, scalar), self.rolling_moment(slip, scalar), Mz)


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
