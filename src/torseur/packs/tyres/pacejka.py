"""The Magic Formulas of 1989 and 1987, in which two curves share the friction of one contact.

    X = x + Sh,  F(x) = y(X) + Sv,  y(X) = D sin(C atan(B X - E (B X - atan(B X))))             (1.10)

**Combined slip** by similarity (Pacejka, *Tire and Vehicle Dynamics*, 2012, section 4.2): slips are compared in units
of D / BCD, the slip at which the tangent at the origin reaches the peak. With n = B C x of the other curve,

    r = sqrt(X^2 + (n / (B C))^2),  F = (X / r) y(r) + Sv / sqrt(1 + n^2)                       (C1)

At n = 0 this is F(x). Without shifts (Fx / Dx)^2 + (Fy / Dy)^2 <= 1, for X / r of the two curves are cosine and sine of
one angle; shifts add their own force to that, no more.

**Adherence** mu is a factor on D and Sv and leaves the slope BCD: mu F(x / mu), the same similarity.

**1989**: coefficients a0 to a13, b0 to b10, c0 to c17.

Bakker, Pacejka & Lidner, SAE 890087 (1989); Maakaroun 2011, table 1-2, corrected (the terms b9, a13 and the bracket of
BCD in the aligning moment).

Its own units and signs: Fz in kN, kappa in percent of the ground speed, alpha and camber g in degrees; forces in N,
moments in N m. A positive alpha gives a positive Fy and, at small slip, a negative Mz; a positive camber leans to the
left. At its border (`law`): kappa_89 = 100 (Vr - Vx) / |Vx|, held within 100 percent; alpha_89 = alpha in degrees;
gamma_89 = -gamma in degrees; forces and Mz are the same.

::

         Fx                             Fy                                       Mz
    C    b0                             a0                                       c0
    D    (b1 Fz + b2) Fz                (a1 Fz + a2) Fz                          (c1 Fz + c2) Fz
    BCD  (b3 Fz^2 + b4 Fz) exp(-b5 Fz)  a3 sin(2 atan(Fz / a4)) (1 - a5 |g|)     (c3 Fz^2 + c4 Fz) (1 - c6 |g|)
                                                                                 exp(-c5 Fz)
    E    b6 Fz^2 + b7 Fz + b8           a6 Fz + a7                               (c7 Fz^2 + c8 Fz + c9) (1 - c10 |g|)
    Sh   b9 Fz + b10                    a8 g + a9 Fz + a10                       c11 g + c12 Fz + c13
    Sv   0                              a11 Fz g + a12 Fz + a13                  (c14 Fz^2 + c15 Fz) g + c16 Fz + c17

Some sets have a111 and a112 in place of a11: Sv = ((a111 Fz + a112) g + a12) Fz + a13. Stiffness never becomes
negative, friction not less than a hundredth of that at no load; below 0.1 kN the constant shifts a13 and c17 fade with
the load, so that a wheel in the air has no force. B is BCD / (C D) with the common factor Fz taken out.

**1987**: three blocks of coefficients a1 to a13, each with its C.

Bakker, Nyborg & Pacejka, SAE 870421 (1987). Units, signs and the border are those of 1989.

======  ==============================================  ======================================================
factor  Fy                                              Fx, Mz
======  ==============================================  ======================================================
D       a1 Fz^2 + a2 Fz                                 the same
BCD     a3 sin(a4 atan(a5 Fz))                          (a3 Fz^2 + a4 Fz) / exp(a5 Fz)
E       a6 Fz^2 + a7 Fz + a8                            the same
camber  Sh = a9 g,  Sv = (a10 Fz^2 + a11 Fz) g,  B is multiplied by 1 - a12 |g|,  E is divided by 1 - a13 |g|
======  ==============================================  ======================================================

Stiffness and the factor on B never become negative, friction not less than a hundredth of that at no load; the divisor
of E is at least 0.1, which large camber would take to zero. Fx does not depend on camber.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from pydantic import Field

from torseur.describe.fields import Record, Scalar
from torseur.graph import Expr, absolute, atan, exp, maximum, minimum, select, sin, sqrt
from torseur.packs.tyres.law import (
    Coefficients,
    PlainTyreLaw,
    Scalars,
    Slip,
    TyreForces,
    length,
    nonzero,
    over_ground,
    over_larger,
    within,
)

__all__ = ["DEGREES", "LEAST_FRICTION", "SLIP_RANGE", "Block1987", "Curve", "Pacejka1987", "Pacejka1989", "in_radians"]


SMALLEST = 1e-9


@dataclass(frozen=True)
class Curve:
    """One curve: its factors at a load, a camber and an adherence."""

    B: Expr
    C: Expr
    D: Expr
    E: Expr
    Sh: Expr
    Sv: Expr
    friction: bool = True
    """Whether it opposes slip at any slip: a force does, an aligning moment need not."""

    def __call__(self, x: Expr) -> Expr:
        """F at pure slip (1.10)."""
        return self.odd(x + self.Sh) + self.Sv

    def odd(self, X: Expr) -> Expr:
        """y(X). Curves of friction end at zero where E > 1 or C > 2 would turn them round at large slips."""
        BX = self.B * X
        psi = BX - self.E * (BX - atan(BX))
        if self.friction:
            psi = select(BX * psi < 0.0, 0.0, psi)
        angle = self.C * atan(psi)
        return self.D * sin(within(angle, -math.pi, math.pi) if self.friction else angle)

    def shifted_less(self, factor: Expr) -> Curve:
        """The same curve with a factor on its shifts."""
        return replace(self, Sh=factor * self.Sh, Sv=factor * self.Sv)

    def normalised(self, x: Expr) -> Expr:
        """n: slip in units of the slip at which the tangent at the origin reaches the peak."""
        return self.B * self.C * x

    def combined(self, x: Expr, n: Expr, own: Curve | None = None) -> Expr:
        """F where the slip along the other axis is n (C1), in the units of slip of this curve, or of another."""
        units = self if own is None else own
        X = x + self.Sh
        r = length(X, n / nonzero(units.B * units.C, SMALLEST))
        return X / r * self.odd(r) + self.Sv / sqrt(1.0 + n * n)


DEGREES = 180.0 / math.pi
SLIP_RANGE = 100.0
FADING_LOAD = 0.1
LEAST_FRICTION = 0.01


class Pacejka1989(PlainTyreLaw):
    """The Magic Formula of 1989, with its own coefficients and units."""

    kind = "pacejka_1989"
    a0: Scalar = Field(description="C of Fy, without unit")
    a1: Scalar = Field(description="peak friction with load, N/kN2")
    a2: Scalar = Field(description="peak friction, N/kN")
    a3: Scalar = Field(description="largest cornering stiffness, N/deg")
    a4: Scalar = Field(description="load at which it is largest, kN")
    a5: Scalar = Field(0.0, description="its loss with camber, 1/deg")
    a6: Scalar = Field(0.0, description="E of Fy with load, 1/kN")
    a7: Scalar = Field(0.0, description="E of Fy, without unit")
    a8: Scalar = Field(0.0, description="horizontal shift with camber, deg/deg")
    a9: Scalar = Field(0.0, description="horizontal shift with load, deg/kN")
    a10: Scalar = Field(0.0, description="horizontal shift, deg")
    a11: Scalar = Field(0.0, description="vertical shift with camber and load, N/(kN deg)")
    a111: Scalar = Field(0.0, description="vertical shift with camber and load squared, N/(kN2 deg)")
    a112: Scalar = Field(0.0, description="the name of a11 beside a111, N/(kN deg)")
    a12: Scalar = Field(0.0, description="vertical shift with load, N/kN")
    a13: Scalar = Field(0.0, description="vertical shift, N")
    b0: Scalar = Field(description="C of Fx, without unit")
    b1: Scalar = Field(description="peak friction with load, N/kN2")
    b2: Scalar = Field(description="peak friction, N/kN")
    b3: Scalar = Field(description="slip stiffness with load squared, N/(kN2 percent)")
    b4: Scalar = Field(description="slip stiffness with load, N/(kN percent)")
    b5: Scalar = Field(0.0, description="its decay with load, 1/kN")
    b6: Scalar = Field(0.0, description="E of Fx with load squared, 1/kN2")
    b7: Scalar = Field(0.0, description="E of Fx with load, 1/kN")
    b8: Scalar = Field(0.0, description="E of Fx, without unit")
    b9: Scalar = Field(0.0, description="horizontal shift with load, percent/kN")
    b10: Scalar = Field(0.0, description="horizontal shift, percent")
    c0: Scalar = Field(0.0, description="C of Mz, without unit")
    c1: Scalar = Field(0.0, description="peak moment with load squared, N m/kN2")
    c2: Scalar = Field(0.0, description="peak moment with load, N m/kN")
    c3: Scalar = Field(0.0, description="aligning stiffness with load squared, N m/(kN2 deg)")
    c4: Scalar = Field(0.0, description="aligning stiffness with load, N m/(kN deg)")
    c5: Scalar = Field(0.0, description="its decay with load, 1/kN")
    c6: Scalar = Field(0.0, description="its loss with camber, 1/deg")
    c7: Scalar = Field(0.0, description="E of Mz with load squared, 1/kN2")
    c8: Scalar = Field(0.0, description="E of Mz with load, 1/kN")
    c9: Scalar = Field(0.0, description="E of Mz, without unit")
    c10: Scalar = Field(0.0, description="its loss with camber, 1/deg")
    c11: Scalar = Field(0.0, description="horizontal shift with camber, deg/deg")
    c12: Scalar = Field(0.0, description="horizontal shift with load, deg/kN")
    c13: Scalar = Field(0.0, description="horizontal shift, deg")
    c14: Scalar = Field(0.0, description="vertical shift with camber and load squared, N m/(kN2 deg)")
    c15: Scalar = Field(0.0, description="vertical shift with camber and load, N m/(kN deg)")
    c16: Scalar = Field(0.0, description="vertical shift with load, N m/kN")
    c17: Scalar = Field(0.0, description="vertical shift, N m")

    def longitudinal(self, Fz: Expr, mu: Expr | float, scalar: Scalars) -> Curve:
        """Fx over kappa in percent, at a load in kN."""
        k = Coefficients(self, scalar)
        peak = mu * maximum(k.b1 * Fz + k.b2, LEAST_FRICTION * k.b2)
        slope = maximum(k.b3 * Fz + k.b4, 0.0) * exp(-(k.b5 * Fz))
        E = k.b6 * Fz * Fz + k.b7 * Fz + k.b8
        return Curve(slope / nonzero(k.b0 * peak, SMALLEST), k.b0, peak * Fz, E, k.b9 * Fz + k.b10, Fz.graph.zero)

    def lateral(self, Fz: Expr, gamma: Expr, mu: Expr | float, scalar: Scalars) -> Curve:
        """Fy over alpha in degrees, at a load in kN and a camber in degrees."""
        k = Coefficients(self, scalar)
        peak = mu * maximum(k.a1 * Fz + k.a2, LEAST_FRICTION * k.a2)
        ratio = Fz / k.a4
        slope = 2.0 * k.a3 / (k.a4 * (1.0 + ratio * ratio)) * maximum(1.0 - k.a5 * absolute(gamma), 0.0)
        Sh = k.a8 * gamma + k.a9 * Fz + k.a10
        Sv = mu * (((k.a111 * Fz + k.a11 + k.a112) * gamma + k.a12) * Fz + k.a13 * _loaded(Fz))
        return Curve(slope / nonzero(k.a0 * peak, SMALLEST), k.a0, peak * Fz, k.a6 * Fz + k.a7, Sh, Sv)

    def aligning(self, Fz: Expr, gamma: Expr, mu: Expr | float, scalar: Scalars) -> Curve:
        """Mz over alpha in degrees, at a load in kN and a camber in degrees."""
        k = Coefficients(self, scalar)
        peak = mu * (k.c1 * Fz + k.c2)
        slope = (k.c3 * Fz + k.c4) * maximum(1.0 - k.c6 * absolute(gamma), 0.0) * exp(-(k.c5 * Fz))
        E = (k.c7 * Fz * Fz + k.c8 * Fz + k.c9) * (1.0 - k.c10 * absolute(gamma))
        Sh = k.c11 * gamma + k.c12 * Fz + k.c13
        Sv = mu * ((k.c14 * Fz + k.c15) * Fz * gamma + k.c16 * Fz + k.c17 * _loaded(Fz))
        return Curve(slope / nonzero(k.c0 * peak, SMALLEST), k.c0, peak * Fz, E, Sh, Sv, friction=False)

    def from_own(self, slip: Slip) -> Slip:
        return in_radians(slip)

    def rolling_forward(self, slip: Slip, scalar: Scalars) -> TyreForces:
        Fz, gamma = 1e-3 * slip.Fz, -DEGREES * slip.gamma
        fade = self.fade(slip, scalar)
        kappa = within(100.0 * over_ground(slip.kappa, fade), -SLIP_RANGE, SLIP_RANGE)
        alpha = DEGREES * slip.alpha
        x = self.longitudinal(Fz, slip.mu, scalar).shifted_less(fade)
        y = self.lateral(Fz, gamma, slip.mu, scalar).shifted_less(fade)
        z = self.aligning(Fz, gamma, slip.mu, scalar)
        along, across = x.normalised(kappa), y.normalised(alpha)
        Fx, Fy, Mz = x.combined(kappa, across), y.combined(alpha, along), z.combined(alpha, along, y)
        return TyreForces(Fx, Fy, self.overturning(slip, scalar), self.rolling_moment(slip, scalar), fade * Mz)


def in_radians(slip: Slip) -> Slip:
    """From kN, percent of the ground speed, degrees and camber to the left to the units and signs of `law`."""
    kappa, alpha, gamma = over_larger(0.01 * slip.kappa), slip.alpha / DEGREES, -slip.gamma / DEGREES
    return replace(slip, kappa=kappa, alpha=alpha, gamma=gamma, Fz=1e3 * slip.Fz)


def _loaded(Fz: Expr) -> Expr:
    return minimum(Fz / FADING_LOAD, 1.0)


SMALLEST_LOAD = 1e-6
LEAST_DIVISOR = 0.1


class Block1987(Record):
    """The coefficients of one curve; units with Fz in kN, slip in percent or degrees, camber in degrees."""

    C: Scalar = Field(description="shape, without unit")
    a1: Scalar = Field(description="peak with load squared, N/kN2 or N m/kN2")
    a2: Scalar = Field(description="peak with load, N/kN or N m/kN")
    a3: Scalar = Field(description="Fy: largest stiffness, N/deg; Fx, Mz: stiffness with load squared, per kN2")
    a4: Scalar = Field(description="Fy: a factor of an angle, without unit; Fx, Mz: stiffness with load, per kN")
    a5: Scalar = Field(description="of the stiffness with load, 1/kN")
    a6: Scalar = Field(0.0, description="E with load squared, 1/kN2")
    a7: Scalar = Field(0.0, description="E with load, 1/kN")
    a8: Scalar = Field(0.0, description="E, without unit")
    a9: Scalar = Field(0.0, description="horizontal shift with camber, deg/deg")
    a10: Scalar = Field(0.0, description="vertical shift with camber and load squared, per kN2 deg")
    a11: Scalar = Field(0.0, description="vertical shift with camber and load, per kN deg")
    a12: Scalar = Field(0.0, description="loss of stiffness with camber, 1/deg")
    a13: Scalar = Field(0.0, description="growth of E with camber, 1/deg")


class Pacejka1987(PlainTyreLaw):
    """The Magic Formula of 1987, with its own coefficients and units."""

    kind = "pacejka_1987"
    longitudinal: Block1987 = Field(description="of Fx")
    lateral: Block1987 = Field(description="of Fy")
    aligning: Block1987 | None = Field(None, description="of Mz; without it there is none")

    def longitudinal_curve(self, Fz: Expr, mu: Expr | float, scalar: Scalars) -> Curve:
        """Fx over kappa in percent, at a load in kN."""
        k = Coefficients(self.longitudinal, scalar)
        slope = maximum(k.a3 * Fz + k.a4, 0.0) / exp(k.a5 * Fz)
        return _curve(k, slope, maximum(k.a1 * Fz + k.a2, LEAST_FRICTION * k.a2), Fz, Fz.graph.zero, mu)

    def lateral_curve(self, Fz: Expr, gamma: Expr, mu: Expr | float, scalar: Scalars) -> Curve:
        """Fy over alpha in degrees, at a load in kN and a camber in degrees."""
        k = Coefficients(self.lateral, scalar)
        load = maximum(Fz, SMALLEST_LOAD)
        slope = maximum(k.a3 * sin(k.a4 * atan(k.a5 * load)), 0.0) / load
        return _curve(k, slope, maximum(k.a1 * Fz + k.a2, LEAST_FRICTION * k.a2), Fz, gamma, mu)

    def aligning_curve(self, Fz: Expr, gamma: Expr, mu: Expr | float, scalar: Scalars) -> Curve | None:
        """Mz over alpha in degrees, at a load in kN and a camber in degrees."""
        if self.aligning is None:
            return None
        k = Coefficients(self.aligning, scalar)
        slope = (k.a3 * Fz + k.a4) / exp(k.a5 * Fz)
        return _curve(k, slope, k.a1 * Fz + k.a2, Fz, gamma, mu, friction=False)

    def from_own(self, slip: Slip) -> Slip:
        return in_radians(slip)

    def rolling_forward(self, slip: Slip, scalar: Scalars) -> TyreForces:
        Fz, gamma = 1e-3 * slip.Fz, -DEGREES * slip.gamma
        fade = self.fade(slip, scalar)
        kappa = within(100.0 * over_ground(slip.kappa, fade), -SLIP_RANGE, SLIP_RANGE)
        alpha = DEGREES * slip.alpha
        x = self.longitudinal_curve(Fz, slip.mu, scalar)
        y = self.lateral_curve(Fz, gamma, slip.mu, scalar).shifted_less(fade)
        z = self.aligning_curve(Fz, gamma, slip.mu, scalar)
        along, across = x.normalised(kappa), y.normalised(alpha)
        Fx, Fy = x.combined(kappa, across), y.combined(alpha, along)
        Mz = Fz.graph.zero if z is None else fade * z.combined(alpha, along, y)
        return TyreForces(Fx, Fy, self.overturning(slip, scalar), self.rolling_moment(slip, scalar), Mz)


def _curve(
    k: Coefficients, slope: Expr, peak: Expr, Fz: Expr, gamma: Expr, mu: Expr | float, friction: bool = True
) -> Curve:
    """The curve of a block, from BCD / Fz and D / Fz."""
    peak = mu * peak
    B = slope / nonzero(k.C * peak, SMALLEST) * maximum(1.0 - k.a12 * absolute(gamma), 0.0)
    E = (k.a6 * Fz * Fz + k.a7 * Fz + k.a8) / maximum(1.0 - k.a13 * absolute(gamma), LEAST_DIVISOR)
    Sv = mu * (k.a10 * Fz + k.a11) * Fz * gamma
    return Curve(B, k.C, peak * Fz, E, k.a9 * gamma, Sv, friction)
