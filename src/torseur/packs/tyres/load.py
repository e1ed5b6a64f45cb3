"""A tyre as a load of a model: slip from the motion of a wheel on its road, forces by a law, carried to the wheel.

======  =============================================================================  ======
Vx, Vy  velocity of the point of contact over the road, ahead and to the left           m/s
Vr      rolling speed: spin times rolling radius                                        m/s
V       max(|Vx|, |Vr|)                                                                 m/s
ux, uy  Vr - Vx and -Vy: what the tread is carried along the road by                    m/s
sx, sy  deflections of the tread on the road, states of the load                        m
======  =============================================================================  ======

**Steady slip.** kappa = ux / max(V, eps), alpha = -atan2(Vy, max(|Vx|, eps)).

**Relaxation** (with `relaxation`): kappa = sx / sigma_x, alpha = atan(sy / sigma_y), with

    d(sx)/dt = ux - V sx / sigma_x,    d(sy)/dt = uy - V sy / sigma_y                                        (T.1)

and the relaxation lengths of the law: after a step of slip the force has built up by 1 - 1/e when the wheel has rolled
sigma (Pacejka 2012, section 7.2).

**Standstill.** A law of slip alone lets a car creep down every slope: at rest it is a damper. Below the speed `low` the
slip is that of (T.1) with sigma = `patch`, a spring that holds the car; with w = cos^2(pi/2 V/low), 1 at rest and 0
from `low` on,

    kappa = w (sx + w tau ux) / patch + (1 - w) kappa_steady                                                (T.2)

where tau damps the spring, and V in (T.1) is held at `low`. The states are inputs of the mechanism, `deflection`;
without them slip is steady at all speeds, with eps = `low`. Below `low` a law that is not the same in both directions
is used as rolling forward: its shifts would jump at rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.annotations import Anything, ConstraintName, InputName, KindOf
from torseur.describe.fields import Scalar
from torseur.describe.loads import Load, LoadContext, LoadResult, WheelMotion
from torseur.errors import ModelError
from torseur.graph import Expr, absolute, atan, atan2, maximum, minimum, select, sqrt
from torseur.packs.tyres import LAWS
from torseur.packs.tyres.law import Slip, TyreForces, TyreLaw, fade_in, within
from torseur.spatial.vectors import Vector

__all__ = ["TyreLoad"]

TAU = 0.02
"""Time by which the spring of a standing tyre is damped, s."""

EPS = 1e-3
"""Speed below which steady slip is no longer a ratio of speeds, where the tread carries it, m/s."""


class TyreLoad(Load):
    """What the road does to a wheel, by a tyre law; the wheel is a rolling constraint that slides freely."""

    kind = "tyre"
    result_keys: ClassVar[tuple[str, ...]] = ("kappa", "alpha", "camber", "Fx", "Fy", "Fz", "Mx", "My", "Mz", "grip")

    wheel: ConstraintName = Field(description="the rolling constraint of the wheel, with slides: freely")
    law: Annotated[TyreLaw, KindOf(LAWS)] = Field(description="a tyre law by its kind, such as pacejka_1989: {...}")
    load: Anything | None = Field(
        None, description="normal load, N, in place of that of the contact, where nothing can carry it"
    )
    adherence: Anything = Field(1.0, description="what friction is multiplied by, beside the adherence of the road")
    pressure: Scalar | None = Field(None, description="inflation pressure, Pa; by default that of the law's data")
    count: Scalar = Field(1.0, description="tyres side by side on the wheel, which share its load")
    deflection: tuple[InputName, InputName] | None = Field(
        None, description="inputs that are the deflections of the tread, ahead and to the left, m"
    )
    relaxation: bool = Field(False, strict=True, description="true: slip builds up over the relaxation lengths")
    low: Scalar = Field(1.0, description="speed below which the tread's deflection carries the slip, m/s")
    patch: Scalar = Field(0.1, description="length over which it does, m")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.relaxation and self.deflection is None:
            raise PydanticCustomError("choice", "relaxation needs deflection: two inputs that are its states")
        return self

    @property
    def wheels(self) -> tuple[str, ...]:
        return (self.wheel,) if self.load is None else ()

    @property
    def wheel_radii(self) -> Mapping[str, Scalar]:
        radius = self.law.free_radius
        return {} if radius is None else {self.wheel: radius}

    @property
    def states(self) -> tuple[str, ...]:
        return self.deflection or ()

    def act(self, on: LoadContext) -> None:
        f, zero = self._forces(on, self._motion(on)), on.graph.zero
        on.apply_at_wheel(self.wheel, Vector(f.Fx, f.Fy, zero), Vector(f.Mx, f.My, f.Mz))

    def rates(self, on: LoadContext) -> Mapping[str, Expr]:
        """(T.1)."""
        if self.deflection is None:
            return {}
        m = self._motion(on)
        sigma_x, sigma_y = self._lengths(on, m)
        V = m.V if self.relaxation else minimum(m.V, on.scalar(self.low))
        sx, sy = self.deflection
        return {sx: m.ux - V / sigma_x * m.sx, sy: m.uy - V / sigma_y * m.sy}

    def results(self, on: LoadContext) -> Mapping[str, LoadResult]:
        m = self._motion(on)
        slip, f = self._slip(on, m), self._forces(on, m)
        used = sqrt(f.Fx * f.Fx + f.Fy * f.Fy) / maximum(m.Fz, 1.0)
        return {
            "kappa": LoadResult(slip.kappa, "", "longitudinal slip, positive in traction"),
            "alpha": LoadResult(slip.alpha, "rad", "side slip angle, positive for a force to the left"),
            "camber": LoadResult(slip.gamma, "rad", "camber, positive leaning to the right"),
            "Fx": LoadResult(f.Fx, "N", "longitudinal force of the road on the tyre"),
            "Fy": LoadResult(f.Fy, "N", "lateral force of the road on the tyre, to the left"),
            "Fz": LoadResult(m.Fz, "N", "normal load"),
            "Mx": LoadResult(f.Mx, "N m", "overturning moment"),
            "My": LoadResult(f.My, "N m", "moment of rolling resistance"),
            "Mz": LoadResult(f.Mz, "N m", "aligning moment, positive to the left"),
            "grip": LoadResult(used, "", "friction used: force in the road plane over the normal load"),
        }

    # -- slip ----------------------------------------------------------------------------------------------------------
    def _motion(self, on: LoadContext) -> _Motion:
        wheel, zero = on.wheel(self.wheel), on.graph.zero
        (Vx, Vy), Vr = wheel.velocity, wheel.radius * wheel.spin
        sx, sy = (on.input(name) for name in self.deflection) if self.deflection is not None else (zero, zero)
        Fz = wheel.load if self.load is None else on.scalar(self.load)
        return _Motion(wheel, Fz, Vx, Vy, Vr, maximum(absolute(Vx), absolute(Vr)), sx, sy)

    def _slip(self, on: LoadContext, m: _Motion) -> Slip:
        low, g = on.scalar(self.low), on.graph
        eps = low if self.deflection is None else g.number(EPS)
        kappa, alpha = m.ux / maximum(m.V, eps), -atan2(m.Vy, maximum(absolute(m.Vx), eps))
        if self.deflection is not None:
            still = 1.0 - fade_in(m.V / low)
            sigma_x, sigma_y = self._lengths(on, m)
            damped = TAU * still
            along, across = (m.sx + damped * m.ux) / sigma_x, (m.sy + damped * m.uy) / sigma_y
            w = g.one if self.relaxation else still
            kappa = w * within(along, -1.0, 1.0) + (1.0 - w) * kappa
            alpha = w * atan(across) + (1.0 - w) * alpha
        forward = select(m.Vx < -low, m.Vx, absolute(m.Vx))
        mu = m.wheel.adherence * on.scalar(self.adherence)
        pressure = None if self.pressure is None else on.scalar(self.pressure)
        return Slip(kappa, alpha, m.wheel.camber, m.Fz / on.scalar(self.count), forward, mu, pressure, m.Vr)

    def _lengths(self, on: LoadContext, m: _Motion) -> tuple[Expr, Expr]:
        if not self.relaxation:
            return on.scalar(self.patch), on.scalar(self.patch)
        zero = on.graph.zero
        slip = Slip(zero, zero, m.wheel.camber, m.Fz / on.scalar(self.count), m.Vx)
        found = self.law.relaxation(slip, on.scalar)
        if found.x is zero or found.y is zero:
            raise ModelError(
                f"a tyre of kind '{self.law.kind}' without relaxation lengths",
                got="relaxation: true",
                remedy="give relaxation_x and relaxation_y, m, or leave relaxation out",
            )
        least = 0.1 * on.scalar(self.patch)
        return maximum(found.x, least), maximum(found.y, least)

    def _forces(self, on: LoadContext, m: _Motion) -> TyreForces:
        n, one = on.scalar(self.count), self.law.forces(self._slip(on, m), on.scalar)
        return TyreForces(n * one.Fx, n * one.Fy, n * one.Mx, n * one.My, n * one.Mz)


@dataclass(frozen=True)
class _Motion:
    """A wheel in motion; see the module for the symbols."""

    wheel: WheelMotion
    Fz: Expr
    Vx: Expr
    Vy: Expr
    Vr: Expr
    V: Expr
    sx: Expr
    sy: Expr

    @property
    def ux(self) -> Expr:
        return self.Vr - self.Vx

    @property
    def uy(self) -> Expr:
        return -self.Vy
