"""The curve of Bakker, Nyborg and Pacejka, and how two of them share the friction of one contact.

    X = x + Sh,  F(x) = y(X) + Sv,  y(X) = D sin(C atan(B X - E (B X - atan(B X))))             (1.10)

**Combined slip** by similarity (Pacejka, *Tire and Vehicle Dynamics*, 2012, section 4.2): slips are compared in units
of D / BCD, the slip at which the tangent at the origin reaches the peak. With n = B C x of the other curve,

    r = sqrt(X^2 + (n / (B C))^2),  F = (X / r) y(r) + Sv / sqrt(1 + n^2)                       (C1)

At n = 0 this is F(x). Without shifts (Fx / Dx)^2 + (Fy / Dy)^2 <= 1, for X / r of the two curves are cosine and sine of
one angle; shifts add their own force to that, no more.

**Adherence** mu is a factor on D and Sv and leaves the slope BCD: mu F(x / mu), the same similarity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from torseur.graph import Expr, atan, select, sin, sqrt
from torseur.packs.tyres.regular import length, nonzero, within

__all__ = ["Curve"]

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
