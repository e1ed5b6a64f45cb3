"""The Magic Formula of 1987: three blocks of coefficients a1 to a13, each with its C.

Bakker, Nyborg & Pacejka, SAE 870421 (1987). Units, signs and the border are those of `pacejka_1989`.

======  ==============================================  ======================================================
factor  Fy                                              Fx, Mz
======  ==============================================  ======================================================
D       a1 Fz^2 + a2 Fz                                 the same
BCD     a3 sin(a4 atan(a5 Fz))                          (a3 Fz^2 + a4 Fz) / exp(a5 Fz)
E       a6 Fz^2 + a7 Fz + a8                            the same
camber  Sh = a9 g,  Sv = (a10 Fz^2 + a11 Fz) g,  B is multiplied by 1 - a12 |g|,  E is divided by 1 - a13 |g|
======  ==============================================  ======================================================

Stiffness and the factor on B never become negative, friction not less than a hundredth of that at no load; the divisor
of E is at least 0.1, which large camber would take to zero. Fx does not depend on camber. Combined slip and adherence:
`curve`.
"""

from __future__ import annotations

from pydantic import Field

from torseur.describe.fields import Record, Scalar
from torseur.graph import Expr, absolute, atan, exp, maximum, sin
from torseur.packs.tyres.coefficients import Coefficients
from torseur.packs.tyres.curve import Curve
from torseur.packs.tyres.law import PlainTyreLaw, Scalars, Slip, TyreForces, over_ground
from torseur.packs.tyres.pacejka_1989 import DEGREES, LEAST_FRICTION, SLIP_RANGE, in_radians
from torseur.packs.tyres.regular import nonzero, within

__all__ = ["Block1987", "Pacejka1987"]

SMALLEST = 1e-9
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
