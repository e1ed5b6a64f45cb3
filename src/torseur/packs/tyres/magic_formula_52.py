"""MF 5.2 (FITTYP 6): the Magic Formula of property files before inflation pressure.

TNO, *MF-Tyre user manual version 5.2*, 2001. Equations, border and limits: `magic_formula`. What differs from MF 6.1:
the shift of Fy with camber, the force that acts at the trail, Mx, My, relaxation lengths, and no influence of pressure.
"""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from torseur.describe.fields import Scalar
from torseur.graph import Expr, absolute, atan, exp, sin
from torseur.packs.tyres.coefficients import Coefficients
from torseur.packs.tyres.law import Relaxation, Scalars, Slip
from torseur.packs.tyres.magic_formula import Lateral, MagicFormula, WheelState

__all__ = ["MagicFormula52"]


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
