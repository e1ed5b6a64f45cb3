"""Forces of the air on a chassis (Maakaroun 1 2.8), along its own axes.

With V = (u, v, w) the velocity of the chassis relative to the wind, in its axes, and beta = atan2(v, |u|) the angle of
the flow:

    Fx = -1/2 rho S Cx |V| u,    Fy = -1/2 rho S Cy beta (u^2 + v^2),    Fz = 1/2 rho S Cz u^2
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from torseur.describe.annotations import SignalTriple
from torseur.describe.fields import Scalar, Triple
from torseur.describe.loads import FrameLoad, LoadContext, LoadResult
from torseur.graph import absolute, atan2, maximum, select, sqrt
from torseur.spatial.vectors import Vector, cross

__all__ = ["Air"]

STILL = 1e-9
"""Speed of the flow below which its angle is none, m/s."""


class Air(FrameLoad):
    """Drag, side force and lift at a centre of pressure."""

    kind = "air"
    result_keys: ClassVar[tuple[str, ...]] = ("Fx", "Fy", "Fz")
    area: Scalar = Field(description="frontal, m2")
    density: Scalar = Field(1.225, description="kg/m3")
    drag: Scalar = Field(description="coefficient of drag")
    side: Scalar = Field(0.0, description="slope of the side force coefficient with the angle of the flow, 1/rad")
    lift: Scalar = Field(0.0, description="coefficient of lift, positive upwards")
    at: Triple = Field((0.0, 0.0, 0.0), description="centre of pressure in the frame, m")
    wind: SignalTriple = Field((0.0, 0.0, 0.0), description="in world axes, m/s")

    def _force(self, on: LoadContext) -> Vector:
        frame = on.frame(self.frame)
        u, v, w = frame.V - frame.pose.R.T @ on.vector(self.wind)
        q = 0.5 * on.scalar(self.density) * on.scalar(self.area)
        square = u * u + v * v + w * w
        moves = square > 0.0
        speed = select(moves, sqrt(select(moves, square, 1.0)), 0.0)  # whose derivatives exist at rest
        beta = atan2(v, maximum(absolute(u), STILL))
        drag, side, lift = on.scalar(self.drag), on.scalar(self.side), on.scalar(self.lift)
        return Vector(-(q * drag * speed * u), -(q * side * beta * (u * u + v * v)), q * lift * u * u)

    def act(self, on: LoadContext) -> None:
        force = self._force(on)
        on.apply(self.frame, force, cross(on.vector(self.at), force))

    def results(self, on: LoadContext) -> dict[str, LoadResult]:
        names = ("drag", "side force", "lift")
        return {
            key: LoadResult(value, "N", f"{name} of the air, along {axis} of the frame")
            for key, name, axis, value in zip(self.result_keys, names, "xyz", self._force(on), strict=True)
        }
