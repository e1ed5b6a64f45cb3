"""Dugoff's law: two stiffnesses and one friction.

Dugoff, Fancher & Segel, *An analysis of tire traction properties and their influence on vehicle dynamic performance*,
SAE 700377 (1970). With the slips of a wheel that turns, sx = (Vr - Vx) / Vr and sy = tan(alpha) Vx / Vr,

    lambda = mu Fz / (2 sqrt((Cx sx)^2 + (Cy sy)^2)),  f = (2 - lambda) lambda if lambda < 1, else 1       (D1)
    Fx = Cx sx f,  Fy = Cy sy f                                                                           (D2)

These are (C kappa / (1 + kappa)) f of the paper. Below, numerators and the common divisor Vr / max(Vx, Vr) are kept
apart, so that a locked wheel, where the slips are infinite, has its sliding force mu Fz. Adherence is a factor on mu.
Friction falls with the sliding speed by mu = mu_0 (1 - A_s V sqrt(kappa^2 + tan(alpha)^2)), and never below zero.

Stiffnesses are as they are at `load`, in proportion to Fz; without `load` they are the same at any load above zero.
Camber has no effect; the aligning moment is that of a constant trail.
"""

from __future__ import annotations

from pydantic import Field

from torseur.describe.fields import Scalar
from torseur.graph import maximum, select
from torseur.packs.tyres.law import PlainTyreLaw, Scalars, Slip, TyreForces, over_rolling
from torseur.packs.tyres.regular import length, limited_tan

__all__ = ["DugoffTyre"]


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
