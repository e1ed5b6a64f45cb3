"""Burckhardt's exponential law in the form of Kiencke and Nielsen.

Burckhardt, *Fahrwerktechnik: Radschlupfregelsysteme*, 1993; Kiencke & Nielsen, *Automotive Control Systems*, 2000;
Maakaroun 2011, (1.7) to (1.9) and table 1-1, corrected: the brackets of (1.9) are Kiencke's, c2 of dry asphalt is
23.99.

    s    = sqrt(kappa^2 + tan(alpha)^2)
    mu_s = (c1 (1 - exp(-c2 s)) - c3 s) exp(-c4 s V) (1 - c5 Fz^2)                     (1.9)
    Fx   = mu_s Fz kappa / s,  Fy = mu_s Fz tan(alpha) / s                           (1.7), (1.8)

Its kappa is that of `law`, normalised by the larger speed, with the sign of traction. In (1.9) s is held at 1, where
the wheel is locked: beyond, the polynomial would fall below zero. Adherence is a factor on mu_s. Camber has no effect;
the aligning moment is that of a constant trail, Mz = -t Fy.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.fields import Scalar
from torseur.graph import Expr, exp, maximum, minimum, sinh
from torseur.packs.tyres.law import PlainTyreLaw, Scalars, Slip, TyreForces
from torseur.packs.tyres.regular import length, limited_tan

__all__ = ["ROADS", "BurckhardtTyre"]

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
