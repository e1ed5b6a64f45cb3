"""The linear tyre: forces in proportion to slip, without end.

In the axes and signs of `law`:

    Fx = C_kappa kappa,  Fy = C_alpha alpha - C_gamma gamma,  Mz = -t Fy

All stiffnesses are as they are at `load`, in proportion to Fz; without `load` they are the same at any load above zero.
Nothing limits these forces, so that adherence does not count.
"""

from __future__ import annotations

from pydantic import Field

from torseur.describe.fields import Scalar
from torseur.graph import select
from torseur.packs.tyres.law import PlainTyreLaw, Scalars, Slip, TyreForces

__all__ = ["LinearTyre"]


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
