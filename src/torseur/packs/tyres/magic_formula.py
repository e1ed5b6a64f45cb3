"""The Magic Formula of property files: what MF 5.2 and MF 6.1 share.

Pacejka, *Tire and Vehicle Dynamics*, 3rd edition, 2012, section 4.3.2, equations (4.E1) to (4.E78), called (E1) to
(E78) here; Besselink, Schmeitz & Pacejka, *An improved Magic Formula/Swift tyre model that can handle inflation
pressure changes*, Vehicle System Dynamics 48 (2010), equations (A..), where programs follow that paper. Without turn
slip: every zeta is 1. A_mu of (E8) is 1.

Its own convention is ISO-W: x forward, y left, z up; kappa = -Vsx / |Vx|, alpha = atan(Vy / |Vx|), so that a positive
alpha gives a negative Fy; a positive gamma leans to the right. At its border (`law`): kappa_W = kappa / (1 - kappa) in
traction and kappa in braking, alpha_W = -alpha, gamma_W = gamma; forces and moments are the same.

- **Ranges.** kappa, alpha, gamma, Fz and pressure are held at the ends of the ranges of the file, alpha within 1.57 rad
  in any case. Below FZMIN the equations are used as they are: they go to zero with the load, as a held load would not.
- **Limits.** Curvatures E are at most 1, as the manuals ask for.
- **Low speed.** Below VXLOW shifts, trail, residual moment and what tells the senses of slip apart fade with
  (1 - cos(pi Vx / VXLOW)) / 2 and rolling resistance with sin(pi/2 Vr / VXLOW): a wheel at rest without slip has no
  force, and forces do not jump where it begins to roll back. Slips do not fade.
- **Adherence** mu is a factor on LMUX and LMUY (E7): on friction, vertical shifts and residual moment, not on
  stiffness.

=======  ==============================================================  ======
symbol   meaning                                                         unit
=======  ==============================================================  ======
a, gs    tan(alpha) (E3), sin(gamma) (E4)                                1
dfz      (Fz - Fz0') / Fz0' (E2a), Fz0' = LFZO Fz0 (E1)                  1
dpi      (p - p0) / p0 (E2b)                                             1
Fx0 Fy0  forces of pure slip                                             N
Kxk Kya  slip and cornering stiffness                                    N
t, Mzr   pneumatic trail, residual moment                                m, N m
=======  ==============================================================  ======
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from torseur.describe.fields import Scalar
from torseur.graph import Expr, absolute, atan, cos, exp, maximum, minimum, select, sign, sin, sqrt, tan
from torseur.packs.tyres.law import (
    STEEPEST,
    Coefficients,
    Scalars,
    Slip,
    TyreForces,
    fade_in,
    length,
    limited_tan,
    over_ground,
    over_larger,
    ramp,
    within,
)
from torseur.packs.tyres.magic_formula_fields import MagicFormulaFields

__all__ = ["Lateral", "Longitudinal", "MagicFormula", "WheelState", "apart"]

EPSILON = 1e-6
LEAST_FRICTION = 1e-6

ASYMMETRIC = (
    *("RHX1", "QSX1", "PEY3", "PHY1", "PHY2", "PVY1", "PVY2", "RBY3", "RVY1", "RVY2"),
    *("QBZ4", "QDZ3", "QDZ6", "QDZ7", "QEZ4", "QHZ1", "QHZ2", "SSZ1"),
)
"""What makes a tyre differ from its mirror image; left out of symmetric ones."""


@dataclass(frozen=True)
class WheelState:
    """What the equations are written in, in ISO-W and within the ranges."""

    Fz: Expr
    kappa: Expr
    a: Expr
    gamma: Expr
    Vx: Expr
    Vr: Expr
    dfz: Expr
    dpi: Expr
    lmux: Expr
    """LMUX* (E7)."""
    lmuy: Expr
    """LMUY* (E7)."""
    cos_alpha: Expr
    """cos(alpha') (E6)."""
    fade: Expr
    """1, or less at low speed: a factor on what a wheel at rest does not have."""
    gx: Expr
    """Camber in mu_x, rad."""
    gs: Expr
    """sin(gamma) of forces, scaled."""
    gz: Expr
    """sin(gamma) of moments, scaled."""
    gt: Expr
    """Camber in the trail, rad."""


@dataclass(frozen=True)
class Longitudinal:
    """Fx at pure slip."""

    Fx0: Expr
    Kxk: Expr
    mux: Expr


@dataclass(frozen=True)
class Lateral:
    """Fy at pure slip."""

    Fy0: Expr
    Kya: Expr
    muy: Expr
    SHy: Expr
    SVy: Expr
    BC: Expr
    """By Cy."""


class MagicFormula(MagicFormulaFields):
    """A tyre of a property file."""

    absent: ClassVar[Mapping[str, float]] = {}
    """Coefficients of other versions that the equations name, at the values at which they do nothing."""

    def coefficients(self, scalar: Scalars) -> Coefficients:
        zeros = dict.fromkeys(ASYMMETRIC, 0.0) if self.side == "symmetric" else {}
        return Coefficients(self, scalar, {**self.absent, **zeros})

    # -- the border ----------------------------------------------------------------------------------------------------
    def from_own(self, slip: Slip) -> Slip:
        """From ISO-W."""
        return replace(slip, kappa=over_larger(slip.kappa), alpha=-slip.alpha)

    def rolling_forward(self, slip: Slip, scalar: Scalars) -> TyreForces:
        k = self.coefficients(scalar)
        w = self.wheel_state(slip, scalar)
        x, y = self.longitudinal(k, w), self.lateral(k, w)
        Fx = self.reduction_x(k, w) * x.Fx0  # (E50)
        Gyk, SVyk = self.reduction_y(k, w), self.induced(k, w, y.muy)
        Fy = Gyk * y.Fy0 + SVyk  # (E58)
        t, Mzr = self.trail(k, w, x, y)
        acting = self.acting_force(k, w, y, Gyk)
        Mz = -t * acting + Mzr + self.arm(k, w, Fy) * Fx  # (E71), (E72)
        My = self.rolling_resistance(k, w, Fx) * ramp(w.Vr / k.VXLOW)
        return TyreForces(Fx, Fy, self.overturning(k, w, Fy), My, Mz)

    def wheel_state(self, slip: Slip, scalar: Scalars) -> WheelState:
        """From the convention of `law` to ISO-W, within the ranges of the file."""
        k = self.coefficients(scalar)

        def end(value: Scalar | None) -> Expr | None:
            return None if value is None else scalar(value)

        fade = fade_in(slip.Vx / k.VXLOW)
        kappa = within(over_ground(slip.kappa, fade), end(self.KPUMIN), end(self.KPUMAX))
        alpha = within(within(-slip.alpha, end(self.ALPMIN), end(self.ALPMAX)), -STEEPEST, STEEPEST)
        gamma = within(slip.gamma, end(self.CAMMIN), end(self.CAMMAX))
        Fz = within(slip.Fz, None, end(self.FZMAX))
        a, V = limited_tan(alpha), slip.Vx
        Fz0 = k.LFZO * k.FNOMIN  # (E1)
        Vc = V * sqrt(1.0 + a * a)
        decay = 1.0 + k.LMUV * V * length(kappa, a) / k.LONGVL
        return self.with_camber(
            k,
            WheelState(
                Fz=Fz,
                kappa=kappa,
                a=a,
                gamma=gamma,
                Vx=V,
                Vr=slip.rolling_speed,
                dfz=(Fz - Fz0) / Fz0,  # (E2a)
                dpi=self.pressure_change(slip.pressure, scalar),  # (E2b)
                lmux=slip.mu * k.LMUX / decay,  # (E7)
                lmuy=slip.mu * k.LMUY / decay,  # (E7)
                cos_alpha=V / (Vc + EPSILON),  # (E6)
                fade=fade,
                gx=gamma,
                gs=sin(gamma),  # (E4)
                gz=sin(gamma),
                gt=gamma,
            ),
        )

    def pressure_change(self, pressure: Expr | None, scalar: Scalars) -> Expr:
        """dpi (E2b)."""
        return scalar(0.0)

    def with_camber(self, k: Coefficients, w: WheelState) -> WheelState:
        """The state with scaled camber."""
        return w

    # -- pure slip -----------------------------------------------------------------------------------------------------
    def longitudinal(self, k: Coefficients, w: WheelState) -> Longitudinal:
        """Fx0 (E9)."""
        C = k.PCX1 * k.LCX  # (E11)
        mux = (k.PDX1 + k.PDX2 * w.dfz) * (1.0 + k.PPX3 * w.dpi + k.PPX4 * w.dpi * w.dpi)
        mux = mux * (1.0 - k.PDX3 * w.gx * w.gx) * w.lmux  # (E13)
        D = mux * w.Fz  # (E12)
        K = w.Fz * (k.PKX1 + k.PKX2 * w.dfz) * exp(k.PKX3 * w.dfz)
        K = K * (1.0 + k.PPX1 * w.dpi + k.PPX2 * w.dpi * w.dpi) * k.LKX  # (E15)
        B = K / apart(C * D)  # (E16)
        SH = (k.PHX1 + k.PHX2 * w.dfz) * k.LHX * w.fade  # (E17)
        SV = w.Fz * (k.PVX1 + k.PVX2 * w.dfz) * k.LVX * w.lmux * w.fade  # (E18)
        x = w.kappa + SH  # (E10)
        E = (k.PEX1 + k.PEX2 * w.dfz + k.PEX3 * w.dfz * w.dfz) * (1.0 - k.PEX4 * w.fade * sign(x)) * k.LEX  # (E14)
        return Longitudinal(D * sin(_magic(B, C, E, x)) + SV, K, mux)  # (E9)

    def lateral(self, k: Coefficients, w: WheelState) -> Lateral:
        """Fy0 (E19)."""
        Fz0, gs = k.LFZO * k.FNOMIN, w.gs
        load = w.Fz / Fz0 / ((k.PKY2 + k.PKY5 * gs * gs) * (1.0 + k.PPY2 * w.dpi))
        K = k.PKY1 * Fz0 * (1.0 + k.PPY1 * w.dpi) * (1.0 - k.PKY3 * absolute(gs))
        K = K * sin(k.PKY4 * atan(load)) * k.LKY  # (E25)
        SVg = w.Fz * (k.PVY3 + k.PVY4 * w.dfz) * gs * k.LKYC * w.lmuy  # (E28)
        SH = ((k.PHY1 + k.PHY2 * w.dfz) * k.LHY + self.camber_shift(k, w, K, SVg)) * w.fade  # (E27)
        SV = (w.Fz * (k.PVY1 + k.PVY2 * w.dfz) * k.LVY * w.lmuy + SVg) * w.fade  # (E29)
        x = w.a + SH  # (E20)
        C = k.PCY1 * k.LCY  # (E21)
        muy = (k.PDY1 + k.PDY2 * w.dfz) * (1.0 + k.PPY3 * w.dpi + k.PPY4 * w.dpi * w.dpi)
        muy = muy * (1.0 - k.PDY3 * gs * gs) * w.lmuy  # (E23)
        D = muy * w.Fz  # (E22)
        E = (k.PEY1 + k.PEY2 * w.dfz) * k.LEY
        E = E * (1.0 + k.PEY5 * gs * gs - (k.PEY3 * w.fade + k.PEY4 * gs) * sign(x))  # (E24)
        B = K / apart(C * D)  # (E26)
        return Lateral(D * sin(_magic(B, C, E, x)) + SV, K, muy, SH, SV, B * C)  # (E19)

    def camber_shift(self, k: Coefficients, w: WheelState, Kya: Expr, SVyg: Expr) -> Expr:
        """The part of SHy that comes of camber (E27)."""
        raise NotImplementedError

    # -- combined slip -------------------------------------------------------------------------------------------------
    def reduction_x(self, k: Coefficients, w: WheelState) -> Expr:
        """Gxa (E51)."""
        B = (k.RBX1 + k.RBX3 * w.gs * w.gs) * cos(atan(k.RBX2 * w.kappa)) * k.LXAL  # (E54)
        E = k.REX1 + k.REX2 * w.dfz  # (E56)
        C, SH = k.RCX1, k.RHX1 * w.fade  # (E55), (E57)
        return cos(_magic(B, C, E, w.a + SH)) / cos(_magic(B, C, E, SH))  # (E51), (E52)

    def reduction_y(self, k: Coefficients, w: WheelState) -> Expr:
        """Gyk (E59)."""
        B = (k.RBY1 + k.RBY4 * w.gs * w.gs) * cos(atan(k.RBY2 * (w.a - k.RBY3 * w.fade))) * k.LYKA  # (E62)
        E = k.REY1 + k.REY2 * w.dfz  # (E64)
        C, SH = k.RCY1, (k.RHY1 + k.RHY2 * w.dfz) * w.fade  # (E63), (E65)
        return cos(_magic(B, C, E, w.kappa + SH)) / cos(_magic(B, C, E, SH))  # (E59), (E60)

    def induced(self, k: Coefficients, w: WheelState, muy: Expr) -> Expr:
        """SVyk (E66): the lateral force that kappa induces."""
        D = muy * w.Fz * (k.RVY1 + k.RVY2 * w.dfz + k.RVY3 * w.gs) * cos(atan(k.RVY4 * w.a))  # (E67)
        return D * sin(k.RVY5 * atan(k.RVY6 * w.kappa)) * k.LVYKA * w.fade

    # -- moments -------------------------------------------------------------------------------------------------------
    def trail(self, k: Coefficients, w: WheelState, x: Longitudinal, y: Lateral) -> tuple[Expr, Expr]:
        """Pneumatic trail t (E73) and residual moment Mzr (E75)."""
        friction = maximum(w.lmuy, LEAST_FRICTION)
        stiffness = apart(y.Kya)  # (E39)
        SHt = k.QHZ1 + k.QHZ2 * w.dfz + (k.QHZ3 + k.QHZ4 * w.dfz) * w.gz  # (E35)
        at = w.a + SHt  # (E34)
        ar = w.a + y.SHy + y.SVy / stiffness  # (E37), (E38)
        Bt = (k.QBZ1 + k.QBZ2 * w.dfz + k.QBZ3 * w.dfz * w.dfz) * k.LKY / friction
        Bt = Bt * (1.0 + k.QBZ4 * w.gt + k.QBZ5 * absolute(w.gt))  # (A58)
        Dt = (k.QDZ1 + k.QDZ2 * w.dfz) * (1.0 - k.PPZ1 * w.dpi) * (1.0 + k.QDZ3 * w.gt + k.QDZ4 * w.gt * w.gt)
        Dt = Dt * w.Fz * (k.UNLOADED_RADIUS / k.FNOMIN) * k.LTR  # (A60)
        Et = k.QEZ1 + k.QEZ2 * w.dfz + k.QEZ3 * w.dfz * w.dfz
        Et = Et * (1.0 + (k.QEZ4 + k.QEZ5 * w.gz) * (2.0 / math.pi) * atan(Bt * k.QCZ1 * at))  # (E44)
        Br = k.QBZ9 * k.LKY / friction + k.QBZ10 * y.BC  # (E45)
        Dr = (k.QDZ6 + k.QDZ7 * w.dfz) * k.LRES + self.residual_camber(k, w)
        Dr = w.Fz * k.UNLOADED_RADIUS * Dr * w.lmuy * cos(w.a)  # (E47)
        other = x.Kxk / stiffness * w.kappa
        at, ar = _equivalent(at, other), _equivalent(ar, other)  # (A55), (A54)
        t = Dt * cos(_magic(Bt, k.QCZ1, Et, at)) * w.cos_alpha * w.fade  # (E73)
        return t, Dr * cos(atan(Br * ar)) * w.fade  # (E75)

    def residual_camber(self, k: Coefficients, w: WheelState) -> Expr:
        """The part of the residual moment that comes of camber (E47)."""
        part = (k.QDZ8 + k.QDZ9 * w.dfz) * (1.0 + k.PPZ2 * w.dpi) + (k.QDZ10 + k.QDZ11 * w.dfz) * absolute(w.gz)
        return part * w.gz * k.LKZC

    def acting_force(self, k: Coefficients, w: WheelState, y: Lateral, Gyk: Expr) -> Expr:
        """The lateral force that acts at the trail (E74): without camber, and without what kappa induces."""
        return Gyk * self.lateral(k, replace(w, gs=w.gs.graph.zero)).Fy0

    def arm(self, k: Coefficients, w: WheelState, Fy: Expr) -> Expr:
        """The arm s of Fx (A56)."""
        part = k.SSZ1 * w.fade + k.SSZ2 * Fy / k.FNOMIN + (k.SSZ3 + k.SSZ4 * w.dfz) * w.gamma
        return k.UNLOADED_RADIUS * part * k.LS

    def overturning(self, k: Coefficients, w: WheelState, Fy: Expr) -> Expr:
        """Mx."""
        raise NotImplementedError

    def rolling_resistance(self, k: Coefficients, w: WheelState, Fx: Expr) -> Expr:
        """My of a wheel that rolls forward faster than VXLOW."""
        raise NotImplementedError

    # -- beside the forces ---------------------------------------------------------------------------------------------
    def effective_radius(self, Fz: Expr, speed: Expr, scalar: Scalars) -> Expr:
        """Re ((7) of 2010), m: forward speed over rate of turn of a free wheel, from its load and rate of turn."""
        k = self.coefficients(scalar)
        turning, load = speed * k.UNLOADED_RADIUS / k.LONGVL, maximum(Fz, 0.0) / k.FNOMIN
        free = k.UNLOADED_RADIUS * (k.Q_RE0 + k.Q_V1 * turning * turning)
        stiffness = self.vertical_stiffness(scalar)
        if stiffness is None:
            return free
        return free - k.FNOMIN / stiffness * (k.DREFF * atan(k.BREFF * load) + k.FREFF * load)

    @property
    def free_radius(self) -> Scalar:
        return self.UNLOADED_RADIUS

    def vertical_stiffness(self, scalar: Scalars) -> Expr | None:
        return None if self.VERTICAL_STIFFNESS is None else scalar(self.VERTICAL_STIFFNESS)

    def vertical_damping(self, scalar: Scalars) -> Expr | None:
        return None if self.VERTICAL_DAMPING is None else scalar(self.VERTICAL_DAMPING)


def _magic(B: Expr, C: Expr, E: Expr, x: Expr) -> Expr:
    """C atan(B x - E (B x - atan(B x))), E at most 1."""
    Bx = B * x
    return C * atan(Bx - minimum(E, 1.0) * (Bx - atan(Bx)))


def apart(x: Expr) -> Expr:
    """x + epsilon sign(x), where zero counts as positive: a divisor."""
    return x + select(x < 0.0, x.graph.number(-EPSILON), EPSILON)


def _equivalent(angle: Expr, other: Expr) -> Expr:
    """atan(sqrt(tan(angle)^2 + other^2)). What is made of it is even, so that its sign does not count."""
    return atan(length(tan(angle), other))
