"""The two versions of the Magic Formula of property files. Equations, border and limits: `magic_formula`.

**MF 5.2**, before inflation pressure: TNO, *MF-Tyre user manual version 5.2*, 2001. What differs from MF 6.1: the shift
of Fy with camber, the force that acts at the trail, Mx, My, relaxation lengths, and no influence of pressure.

**MF 6.1** and the steady part of **MF 6.2** (FITTYP 61 and 62), with inflation pressure: Pacejka 2012, section 4.3.2;
Besselink, Schmeitz & Pacejka 2010.
"""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from torseur.describe.fields import Scalar
from torseur.errors import ModelError
from torseur.graph import Expr, absolute, atan, cos, exp, maximum, sin, sqrt
from torseur.packs.tyres.law import Coefficients, Relaxation, Scalars, Slip, within
from torseur.packs.tyres.magic_formula import Lateral, MagicFormula, WheelState, apart

__all__ = ["MagicFormula52", "MagicFormula61"]


class MagicFormula52(MagicFormula):
    """A tyre of a property file with FITTYP = 6."""

    kind = "magic_formula_52"
    absent = {  # noqa: RUF012
        **dict.fromkeys(("PPX1", "PPX2", "PPX3", "PPX4", "PPY1", "PPY2", "PPY3", "PPY4", "PPZ1", "PPZ2"), 0.0),
        **dict.fromkeys(("RBX3", "RBY4", "PEY5", "PKY5", "QDZ10", "QDZ11", "LMUV"), 0.0),
        **{"LKYC": 1.0, "LKZC": 1.0, "PKY4": 2.0, "Q_RE0": 1.0, "Q_V1": 0.0},
    }
    LGAX: Scalar = Field(1.0, description="factor on camber in Fx, without unit")
    LGAY: Scalar = Field(1.0, description="factor on camber in Fy, without unit")
    LGAZ: Scalar = Field(1.0, description="factor on camber in Mz, without unit")
    LSGKP: Scalar = Field(1.0, description="factor on the relaxation length of kappa, without unit")
    LSGAL: Scalar = Field(1.0, description="factor on the relaxation length of alpha, without unit")
    PHY3: Scalar = Field(0.0, description="change of the horizontal shift of Fy with camber, without unit")
    PTX1: Scalar = Field(0.0, description="relaxation length of kappa over R0 at nominal load, without unit")
    PTX2: Scalar = Field(0.0, description="its change with load, without unit")
    PTX3: Scalar = Field(0.0, description="its change with load, in an exponent, without unit")
    PTY1: Scalar = Field(0.0, description="largest relaxation length of alpha over R0, without unit")
    PTY2: Scalar = Field(1.0, description="load at which it is largest, over nominal load, without unit")

    def with_camber(self, k: Coefficients, w: WheelState) -> WheelState:
        return replace(w, gx=w.gx * k.LGAX, gs=w.gs * k.LGAY, gz=w.gz * k.LGAZ, gt=w.gt * k.LGAZ)

    def camber_shift(self, k: Coefficients, w: WheelState, Kya: Expr, SVyg: Expr) -> Expr:
        return k.PHY3 * w.gs

    def acting_force(self, k: Coefficients, w: WheelState, y: Lateral, Gyk: Expr) -> Expr:
        """All of Fy but what kappa induces."""
        return Gyk * y.Fy0

    def overturning(self, k: Coefficients, w: WheelState, Fy: Expr) -> Expr:
        """Mx = R0 Fz (QSX1 LVMX + (-QSX2 gamma + QSX3 Fy / Fz0) LMX)."""
        part = k.QSX1 * k.LVMX * w.fade + (k.QSX3 * Fy / k.FNOMIN - k.QSX2 * w.gamma) * k.LMX
        return k.UNLOADED_RADIUS * w.Fz * part

    def rolling_resistance(self, k: Coefficients, w: WheelState, Fx: Expr) -> Expr:
        """My = -R0 Fz LMY (QSY1 + QSY2 Fx / Fz0 + QSY3 |Vx / V0| + QSY4 (Vx / V0)^4)."""
        v = w.Vx / k.LONGVL
        part = k.QSY1 + k.QSY2 * Fx / k.FNOMIN + k.QSY3 * v + k.QSY4 * v**4
        return -(k.UNLOADED_RADIUS * w.Fz * k.LMY * part)

    def relaxation(self, slip: Slip, scalar: Scalars) -> Relaxation:
        """Lengths over R0: Fz / Fz0 (PTX1 + PTX2 dfz) exp(-PTX3 dfz), and PTY1 sin(2 atan(Fz / (PTY2 Fz0')))."""
        k, w = self.coefficients(scalar), self.wheel_state(self.ahead(slip), scalar)
        x = w.Fz / k.FNOMIN * (k.PTX1 + k.PTX2 * w.dfz) * exp(-(k.PTX3 * w.dfz)) * k.LSGKP
        y = k.PTY1 * sin(2.0 * atan(w.Fz / (k.PTY2 * k.LFZO * k.FNOMIN))) * (1.0 - k.PKY3 * absolute(w.gamma))
        return Relaxation(k.UNLOADED_RADIUS * x, k.UNLOADED_RADIUS * k.LFZO * k.LSGAL * y)


LEAST_LOAD = 1e-6
LEAST_PRESSURE = 1e-3


class MagicFormula61(MagicFormula):
    """A tyre of a property file with FITTYP = 61 or 62."""

    kind = "magic_formula_61"
    # pressure
    INFLPRES: Scalar | None = Field(None, description="pressure where a wheel gives none, Pa; by default NOMPRES")
    NOMPRES: Scalar | None = Field(None, description="nominal pressure, Pa")
    PRESMIN: Scalar | None = Field(None, description="smallest pressure, Pa")
    PRESMAX: Scalar | None = Field(None, description="largest pressure, Pa")
    PPX1: Scalar = Field(0.0, description="slip stiffness with pressure, without unit")
    PPX2: Scalar = Field(0.0, description="slip stiffness with pressure squared, without unit")
    PPX3: Scalar = Field(0.0, description="friction mu_x with pressure, without unit")
    PPX4: Scalar = Field(0.0, description="friction mu_x with pressure squared, without unit")
    PPY1: Scalar = Field(0.0, description="cornering stiffness with pressure, without unit")
    PPY2: Scalar = Field(0.0, description="load of the largest cornering stiffness with pressure, without unit")
    PPY3: Scalar = Field(0.0, description="friction mu_y with pressure, without unit")
    PPY4: Scalar = Field(0.0, description="friction mu_y with pressure squared, without unit")
    PPY5: Scalar = Field(0.0, description="camber stiffness with pressure, without unit")
    PPZ1: Scalar = Field(0.0, description="trail with pressure, without unit")
    PPZ2: Scalar = Field(0.0, description="residual moment with pressure, without unit")
    PPMX1: Scalar = Field(0.0, description="overturning moment with pressure, without unit")
    PFZ1: Scalar = Field(0.0, description="vertical stiffness with pressure, without unit")
    # scaling
    LKYC: Scalar = Field(1.0, description="factor on the camber stiffness of Fy, without unit")
    LKZC: Scalar = Field(1.0, description="factor on the camber stiffness of Mz, without unit")
    LMUV: Scalar = Field(0.0, description="loss of friction with slip speed over V0, without unit")
    # forces
    PEY5: Scalar = Field(0.0, description="curvature of Fy with camber squared, without unit")
    PKY4: Scalar = Field(2.0, description="curvature of the cornering stiffness over load, without unit")
    PKY5: Scalar = Field(0.0, description="load of the largest cornering stiffness with camber squared, without unit")
    PKY6: Scalar = Field(0.0, description="camber stiffness over load, at nominal load, without unit")
    PKY7: Scalar = Field(0.0, description="its change with load, without unit")
    RBX3: Scalar = Field(0.0, description="slope of the reduction of Fx with camber squared, without unit")
    RBY4: Scalar = Field(0.0, description="slope of the reduction of Fy with camber squared, without unit")
    # moments
    QDZ10: Scalar = Field(0.0, description="residual moment with camber squared, without unit")
    QDZ11: Scalar = Field(0.0, description="residual moment with camber squared and load, without unit")
    QSX4: Scalar = Field(0.0, description="peak of the moment by load, camber and Fy, without unit")
    QSX5: Scalar = Field(0.0, description="shape of its change with load, without unit")
    QSX6: Scalar = Field(0.0, description="slope of its change with load, without unit")
    QSX7: Scalar = Field(0.0, description="camber in it, 1/rad")
    QSX8: Scalar = Field(0.0, description="Fy in it, without unit")
    QSX9: Scalar = Field(0.0, description="slope of Fy in it, without unit")
    QSX10: Scalar = Field(0.0, description="camber and load, without unit")
    QSX11: Scalar = Field(0.0, description="slope of load with camber, without unit")
    QSX12: Scalar = Field(0.0, description="camber squared, 1/rad2")
    QSX13: Scalar = Field(0.0, description="moment over R0 Fy, without unit")
    QSX14: Scalar = Field(0.0, description="its change with camber, 1/rad")
    QSY5: Scalar = Field(0.0, description="rolling resistance with camber squared, 1/rad2")
    QSY6: Scalar = Field(0.0, description="rolling resistance with camber squared and load, 1/rad2")
    QSY7: Scalar = Field(1.0, description="rolling resistance with load, an exponent, without unit")
    QSY8: Scalar = Field(0.0, description="rolling resistance with pressure, an exponent, without unit")
    # structure
    Q_RE0: Scalar = Field(1.0, description="free radius over R0 at rest, without unit")
    Q_V2: Scalar = Field(0.0, description="growth of the vertical stiffness with speed, without unit")
    Q_FZ1: Scalar | None = Field(None, description="load over R0 deflection; by default that of VERTICAL_STIFFNESS")
    Q_FZ2: Scalar = Field(0.0, description="load with the square of the deflection over R0, without unit")
    Q_V1: Scalar = Field(0.0, description="growth of the radius with speed squared, without unit")
    LONGITUDINAL_STIFFNESS: Scalar | None = Field(None, description="of the tyre on the road, N/m")
    LATERAL_STIFFNESS: Scalar | None = Field(None, description="of the tyre on the road, N/m")
    PCFX1: Scalar = Field(0.0, description="longitudinal stiffness with load, without unit")
    PCFX2: Scalar = Field(0.0, description="longitudinal stiffness with load squared, without unit")
    PCFX3: Scalar = Field(0.0, description="longitudinal stiffness with pressure, without unit")
    PCFY1: Scalar = Field(0.0, description="lateral stiffness with load, without unit")
    PCFY2: Scalar = Field(0.0, description="lateral stiffness with load squared, without unit")
    PCFY3: Scalar = Field(0.0, description="lateral stiffness with pressure, without unit")

    def pressure_change(self, pressure: Expr | None, scalar: Scalars) -> Expr:
        """dpi = (p - p0) / p0 (E2b), the pressure within its range."""
        given = self.NOMPRES if self.INFLPRES is None else self.INFLPRES
        p = scalar(given) if pressure is None and given is not None else pressure
        if p is None:
            return scalar(0.0)
        if self.NOMPRES is None:
            raise ModelError("a tyre under a given pressure needs the nominal one", expected="NOMPRES: pascals")
        low, high = (None if end is None else scalar(end) for end in (self.PRESMIN, self.PRESMAX))
        return maximum(within(p, low, high) / scalar(self.NOMPRES), LEAST_PRESSURE) - 1.0

    def camber_shift(self, k: Coefficients, w: WheelState, Kya: Expr, SVyg: Expr) -> Expr:
        """(Kyg0 gs - SVyg) / Kya (E27), with the camber stiffness Kyg0 (E30)."""
        Kyg0 = w.Fz * (k.PKY6 + k.PKY7 * w.dfz) * (1.0 + k.PPY5 * w.dpi) * k.LKYC
        return (Kyg0 * w.gs - SVyg) / apart(Kya)

    def overturning(self, k: Coefficients, w: WheelState, Fy: Expr) -> Expr:
        """Mx: (49) of the draft of Besselink, Schmeitz & Pacejka, which has QSX12 to QSX14 beside (E69)."""
        R0, Fz, g = k.UNLOADED_RADIUS, w.Fz, w.gamma
        load, side = Fz / k.FNOMIN, Fy / k.FNOMIN
        peak = k.QSX4 * cos(k.QSX5 * atan((k.QSX6 * load) ** 2)) * sin(k.QSX7 * g + k.QSX8 * atan(k.QSX9 * side))
        camber = k.QSX2 * (1.0 + k.PPMX1 * w.dpi) + k.QSX12 * absolute(g) - k.QSX10 * atan(k.QSX11 * load)
        part = k.QSX1 * k.LVMX * w.fade + k.QSX3 * side + peak - camber * g
        return R0 * Fz * k.LMX * part + R0 * Fy * k.LMX * (k.QSX13 + k.QSX14 * absolute(g))

    def rolling_resistance(self, k: Coefficients, w: WheelState, Fx: Expr) -> Expr:
        """My (A48). The power of the load is a straight line below 1e-6 of the nominal one, where it has no slope."""
        v, load = w.Vx / k.LONGVL, w.Fz / k.FNOMIN
        part = k.QSY1 + k.QSY2 * Fx / k.FNOMIN + k.QSY3 * v + k.QSY4 * v**4
        part = part + (k.QSY5 + k.QSY6 * load) * w.gamma * w.gamma
        powers = load * maximum(load, LEAST_LOAD) ** (k.QSY7 - 1.0) * (1.0 + w.dpi) ** k.QSY8
        return -(k.UNLOADED_RADIUS * k.FNOMIN * k.LMY * part * powers)

    def spring_force(self, rho: Expr, speed: Expr, scalar: Scalars, pressure: Expr | None = None) -> Expr | None:
        """(1 + Q_V2 R0 |w| / V0) (Q_FZ1 d + Q_FZ2 d^2) (1 + PFZ1 dpi) Fz0, d = rho / R0: (3) of 2010.

        Without the influence of Fx and Fy on it. Q_FZ1 = sqrt((Cz R0 / Fz0)^2 - 4 Q_FZ2), (4), unless it is given.
        """
        k, Cz = self.coefficients(scalar), self.vertical_stiffness(scalar)
        if Cz is None and self.Q_FZ1 is None:
            return None
        if Cz is None or self.Q_FZ1 is not None:
            slope = k.Q_FZ1
        else:
            slope = sqrt(maximum((Cz * k.UNLOADED_RADIUS / k.FNOMIN) ** 2 - 4.0 * k.Q_FZ2, 0.0))
        d = maximum(rho, 0.0) / k.UNLOADED_RADIUS
        growth = 1.0 + k.Q_V2 * k.UNLOADED_RADIUS * absolute(speed) / k.LONGVL
        inflation = 1.0 + k.PFZ1 * self.pressure_change(pressure, scalar)
        return growth * (slope * d + k.Q_FZ2 * d * d) * inflation * k.FNOMIN

    def relaxation(self, slip: Slip, scalar: Scalars) -> Relaxation:
        """Stiffness against slip over stiffness of the structure: |Kxk / Cx| and |Kya / Cy| ((17) to (19) of 2010)."""
        k, w = self.coefficients(scalar), self.wheel_state(self.ahead(slip), scalar)
        zero = w.Fz.graph.zero
        x = y = zero
        if self.LONGITUDINAL_STIFFNESS is not None:
            share = (1.0 + k.PCFX1 * w.dfz + k.PCFX2 * w.dfz * w.dfz) * (1.0 + k.PCFX3 * w.dpi)
            x = absolute(self.longitudinal(k, w).Kxk / (scalar(self.LONGITUDINAL_STIFFNESS) * share))
        if self.LATERAL_STIFFNESS is not None:
            share = (1.0 + k.PCFY1 * w.dfz + k.PCFY2 * w.dfz * w.dfz) * (1.0 + k.PCFY3 * w.dpi)
            y = absolute(self.lateral(k, w).Kya / (scalar(self.LATERAL_STIFFNESS) * share))
        return Relaxation(x, y)
