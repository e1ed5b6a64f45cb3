"""What a tyre law is: forces of the road on the wheel from slip and load.

Conventions, at this border (every law has its own inside and is adapted in its own file):

======  =====================================================================================  ======
symbol  meaning                                                                                unit
======  =====================================================================================  ======
axes    of the road at the contact point: x forward in the wheel plane, y left, z up
kappa   (Vr - Vx) / max(|Vx|, |Vr|, eps), Vr = R w; positive in traction going forward         1
alpha   -atan2(Vy, |Vx|); a positive one gives a force to the left, Fy = +f(alpha)             rad
gamma   turn of the wheel about x; positive when it leans to the right                         rad
Fz      load, what the road carries; a negative one counts as zero                             N
Vx      forward speed of the wheel centre over ground                                          m/s
Vr      rolling speed R w                                                                      m/s
mu      adherence, a factor on the friction of the law's own road                              1
======  =====================================================================================  ======

**Reverse.** A wheel that rolls backwards is looked at in axes turned by half a turn about z: there it rolls forward,
with kappa, alpha and gamma of opposite signs; Fx, Fy, Mx and My turn back, Mz stays. Driving, braking and trail are
then what they are going forward.

**Low speed.** Through standstill a law changes from one sense of rolling to the other. Below a speed of its own,
whatever tells them apart fades with (1 - cos(pi Vx / speed)) / 2: shifts, trail, rolling resistance, traction from
braking. Slips and the forces they make do not fade.

**Mirror.** A tyre measured on one side of a car and mounted on the other is its mirror image: alpha and gamma change
signs, and so do Fy, Mx and Mz.

The functions at the top stay finite, with finite derivatives, where the formula of a book does not. `steady_forces`
gives the forces of a law in steady motion as numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from torseur.describe.fields import Record, Scalar, names_in
from torseur.describe.formulas import Formula
from torseur.emit import NativeFunction, compile
from torseur.errors import ArgumentError, MissingValue, ModelError
from torseur.graph import Expr, Function, Graph, Role, absolute, maximum, minimum, select, sin, sqrt

__all__ = [
    "STEEPEST",
    "Coefficients",
    "PlainTyreLaw",
    "Relaxation",
    "Scalars",
    "Slip",
    "SteadyForces",
    "TyreForces",
    "TyreLaw",
    "fade_in",
    "length",
    "limited_tan",
    "nonzero",
    "over_ground",
    "over_larger",
    "over_rolling",
    "ramp",
    "steady_forces",
    "within",
]


STEEPEST = 1.57
"""The largest angle whose tangent is taken, rad; the tangent is 1256 there."""

_TINY = 1e-24


def within(x: Expr, low: Expr | float | None, high: Expr | float | None) -> Expr:
    """x, held at the ends of an interval; None is no end."""
    x = x if high is None else minimum(x, high)
    return x if low is None else maximum(x, low)


def nonzero(x: Expr, least: float) -> Expr:
    """x, with a magnitude of at least `least`; a divisor. Zero counts as positive."""
    return select(absolute(x) > least, x, select(x < 0.0, -least, least))


def length(x: Expr, y: Expr) -> Expr:
    """sqrt(x x + y y), at least 1e-12, so that it has a derivative at zero."""
    return sqrt(maximum(x * x + y * y, _TINY))


def limited_tan(angle: Expr) -> Expr:
    """The tangent of an angle held within 1.57 rad."""
    limited = within(angle, -STEEPEST, STEEPEST)
    return sin(limited) / sin(limited + math.pi / 2)


def ramp(x: Expr) -> Expr:
    """sin(pi x / 2) from -1 at x = -1 to 1 at x = 1, constant beyond: a sign with a finite slope."""
    return sin(math.pi / 2 * within(x, -1.0, 1.0))


def fade_in(x: Expr) -> Expr:
    """(1 - cos(pi x)) / 2 from 0 at x = 0 to 1 at |x| = 1, constant beyond, without a kink."""
    half = sin(math.pi / 2 * minimum(absolute(x), 1.0))
    return half * half


Scalars = Callable[[Scalar], Expr]
"""What turns a described number or formula into an expression."""

Side = Literal["left", "right"]

STEEPEST_CAMBER = 1.4
SMALLEST = 1e-6
FASTEST_SPIN = 10.0
"""(Vr - Vx) / |Vx| up to which kappa says how fast a wheel turns; a wheel that spins on the spot has kappa = 1."""


@dataclass(frozen=True)
class Slip:
    """How a wheel moves over the road, and how it is pressed on it; symbols as above."""

    kappa: Expr
    alpha: Expr
    gamma: Expr
    Fz: Expr
    Vx: Expr
    mu: Expr | float = 1.0
    pressure: Expr | None = None
    """Inflation pressure, Pa; by default that of the law's data."""
    Vr: Expr | None = None
    """By default what kappa and Vx say, up to eleven times Vx."""

    @property
    def rolling_speed(self) -> Expr:
        """Vr, as given or as kappa and Vx say."""
        if self.Vr is not None:
            return self.Vr
        return self.Vx * (1.0 + minimum(over_ground(self.kappa * _sense(self.Vx)), FASTEST_SPIN))


@dataclass(frozen=True)
class TyreForces:
    """What the road does to the wheel at the contact point, in the axes of the road; N and N m."""

    Fx: Expr
    Fy: Expr
    Mx: Expr
    """Overturning moment."""
    My: Expr
    """Rolling resistance."""
    Mz: Expr
    """Aligning moment."""


@dataclass(frozen=True)
class Relaxation:
    """Lengths that a tyre rolls until slip has built up by 1 - 1/e, m."""

    x: Expr
    y: Expr


def over_ground(kappa: Expr, fade: Expr | float = 1.0) -> Expr:
    """(Vr - Vx) / |Vx| from kappa, of a wheel that rolls forward.

    Both are the same in braking. In traction kappa = 1 - Vx / Vr, so that it is kappa / (1 - kappa); it is held at 1e6,
    where a wheel spins on the spot. At standstill, where `fade` is 0, it is kappa: neither sense is traction there.
    """
    return kappa / maximum(1.0 - fade * maximum(kappa, 0.0), SMALLEST)


def over_rolling(slip: Slip, fade: Expr) -> tuple[Expr, Expr, Expr]:
    """(Vr - Vx) / M, tan(alpha) Vx / M and Vr / M of a wheel that rolls forward, M = max(Vx, Vr).

    The first two over the third are the slips in units of the rolling speed, which are infinite of a locked wheel; the
    third is at least 1e-6. At standstill, where `fade` is 0, they are kappa, tan(alpha) and 1.
    """
    Vx, Vr = 1.0 - fade * maximum(slip.kappa, 0.0), 1.0 - fade * maximum(-slip.kappa, 0.0)
    return slip.kappa, limited_tan(slip.alpha) * maximum(Vx, 0.0), maximum(Vr, SMALLEST)


def over_larger(kappa: Expr) -> Expr:
    """kappa from (Vr - Vx) / |Vx|: the inverse of `over_ground`."""
    return kappa / (1.0 + maximum(kappa, 0.0))


def _sense(Vx: Expr) -> Expr:
    """1 forward and at rest, -1 in reverse."""
    return select(Vx < 0.0, Vx.graph.number(-1.0), 1.0)


class TyreLaw(Record):
    """What all tyre laws share."""

    kind: ClassVar[str]
    """How a model file calls it."""

    side: Side | Literal["symmetric"] = Field("left", description="the side of the car on which it was measured")
    mounted: Side | None = Field(None, description="the side on which it is used; by default that of the measurement")

    @property
    def mirrored(self) -> bool:
        """Whether the mirror image of the measured tyre is used."""
        return self.mounted is not None and self.side != "symmetric" and self.mounted != self.side

    def forces(self, slip: Slip, scalar: Scalars) -> TyreForces:
        """What the road does to the wheel."""
        f = self.rolling_forward(self.ahead(slip), scalar)
        back = _sense(slip.Vx)
        side = -back if self.mirrored else back
        return TyreForces(back * f.Fx, side * f.Fy, side * f.Mx, back * f.My, -f.Mz if self.mirrored else f.Mz)

    def ahead(self, slip: Slip) -> Slip:
        """The slip in axes in which the wheel rolls forward, of the tyre on the side of its measurement."""
        back = _sense(slip.Vx)
        side = -back if self.mirrored else back
        return replace(
            slip,
            kappa=back * slip.kappa,
            alpha=side * slip.alpha,
            gamma=side * slip.gamma,
            Fz=maximum(slip.Fz, 0.0),
            Vx=absolute(slip.Vx),
            Vr=None if slip.Vr is None else back * slip.Vr,
        )

    def from_own(self, slip: Slip) -> Slip:
        """The slip of this module from one in the law's own convention and units, those of its data."""
        return slip

    def rolling_forward(self, slip: Slip, scalar: Scalars) -> TyreForces:
        """The law itself: of a wheel with Vx >= 0 and Fz >= 0, on the side on which it was measured."""
        raise NotImplementedError

    def relaxation(self, slip: Slip, scalar: Scalars) -> Relaxation:
        """How far the wheel rolls until slip has built up; zero where the law follows at once."""
        raise NotImplementedError

    @property
    def free_radius(self) -> Scalar | None:
        """The radius of the wheel without load, m, where the data have it."""
        return None

    def unloaded_radius(self, scalar: Scalars) -> Expr:
        """The radius of the wheel without load, m."""
        if self.free_radius is None:
            raise ModelError(f"a tyre of kind '{self.kind}' has no radius", expected="radius: metres")
        return scalar(self.free_radius)

    def vertical_stiffness(self, scalar: Scalars) -> Expr | None:
        """N/m, where the data have it."""
        raise NotImplementedError

    def vertical_damping(self, scalar: Scalars) -> Expr | None:
        """N s/m, where the data have it."""
        raise NotImplementedError

    def spring_force(self, rho: Expr, speed: Expr, scalar: Scalars, pressure: Expr | None = None) -> Expr | None:
        """The load of a tyre pressed in by rho, m, that turns at `speed`, rad/s; N, where the data have it."""
        stiffness = self.vertical_stiffness(scalar)
        return None if stiffness is None else stiffness * maximum(rho, 0.0)


class PlainTyreLaw(TyreLaw):
    """A law for forces in the plane of the road; overturning and rolling resistance are those of every such law."""

    radius: Scalar | None = Field(
        None, description="of the wheel without load, m; in a vehicle file by default that of the wheel"
    )
    stiffness: Scalar | None = Field(None, description="vertical, N/m")
    damping: Scalar | None = Field(None, description="vertical, N s/m")
    crown_radius: Scalar = Field(0.0, description="of the tread across, which moves the contact in camber, m")
    rolling_resistance: Scalar = Field(0.0, description="coefficient f of rolling resistance, without unit")
    low_speed: Scalar = Field(
        0.1, description="below this speed what depends on the sense of rolling fades to zero, m/s"
    )
    relaxation_x: Scalar = Field(0.0, description="relaxation length of kappa, m")
    relaxation_y: Scalar = Field(0.0, description="relaxation length of alpha, m")

    def relaxation(self, slip: Slip, scalar: Scalars) -> Relaxation:
        return Relaxation(scalar(self.relaxation_x), scalar(self.relaxation_y))

    @property
    def free_radius(self) -> Scalar | None:
        return self.radius

    def vertical_stiffness(self, scalar: Scalars) -> Expr | None:
        return None if self.stiffness is None else scalar(self.stiffness)

    def vertical_damping(self, scalar: Scalars) -> Expr | None:
        return None if self.damping is None else scalar(self.damping)

    def fade(self, slip: Slip, scalar: Scalars) -> Expr:
        """1, and below the low speed less, to 0 at standstill."""
        return fade_in(slip.Vx / scalar(self.low_speed))

    def overturning(self, slip: Slip, scalar: Scalars) -> Expr:
        """Mx = -t Fz (1.11), t = crown_radius tan(gamma): how far a round tread moves its contact towards the lean."""
        camber = maximum(-STEEPEST_CAMBER, -maximum(-STEEPEST_CAMBER, -slip.gamma))
        return -(scalar(self.crown_radius) * limited_tan(camber) * slip.Fz)

    def rolling_moment(self, slip: Slip, scalar: Scalars) -> Expr:
        """My = -R f Fz sign(w) (1.12); the sign is sin(pi/2 Vr / low_speed) below that speed."""
        f = scalar(self.rolling_resistance)
        if f is f.graph.zero:
            return f
        return -(self.unloaded_radius(scalar) * f * slip.Fz * ramp(slip.rolling_speed / scalar(self.low_speed)))


class Coefficients:
    """What equations are written with: ``k.a1`` is the field a1 of a record, as an expression.

    `fixed` are numbers that count before fields of the same name.
    """

    def __init__(self, record: Record, scalar: Scalars, fixed: Mapping[str, float] | None = None) -> None:
        self._record = record
        self._scalar = scalar
        self._fixed = fixed or {}

    def __getattr__(self, name: str) -> Expr:
        return self._scalar(self._fixed[name] if name in self._fixed else getattr(self._record, name))


@dataclass(frozen=True)
class SteadyForces:
    """What the road does to the wheel: arrays over all slips asked for, N and N m."""

    Fx: NDArray[np.float64]
    Fy: NDArray[np.float64]
    Mx: NDArray[np.float64]
    My: NDArray[np.float64]
    Mz: NDArray[np.float64]


def steady_forces(
    law: TyreLaw,
    *,
    Fz: ArrayLike,
    kappa: ArrayLike = 0.0,
    alpha: ArrayLike = 0.0,
    gamma: ArrayLike = 0.0,
    Vx: ArrayLike = 15.0,
    mu: ArrayLike = 1.0,
    pressure: ArrayLike | None = None,
    parameters: Mapping[str, float] | None = None,
    own: bool = False,
) -> SteadyForces:
    """The forces of a law at given slips and loads, in the conventions of `torseur.packs.tyres.law`.

    Arrays broadcast. `parameters` are the values of the names in formulas of the law. With `own`, slips and loads are
    in the convention and units of the law's own data: ISO-W of property files, kN, percent and degrees of Pacejka's.

    >>> from torseur.packs.tyres import BurckhardtTyre, steady_forces
    >>> round(float(steady_forces(BurckhardtTyre(road="asphalt_dry"), Fz=1000.0, kappa=-0.17).Fx))
    -1170
    """
    names = tuple(sorted(names_in(law)))
    given = parameters or {}
    missing = [name for name in names if name not in given]
    if missing:
        raise MissingValue("parameters of the tyre have no value", expected=", ".join(missing))
    columns = [Fz, kappa, alpha, gamma, Vx, mu, *([] if pressure is None else [pressure])]
    try:
        slips = np.stack(np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in columns)), axis=-1)
    except ValueError as error:
        raise ArgumentError("slips and loads are not arrays that broadcast", got=str(error)) from error
    function = _compiled(law, names, pressure is not None, own)
    values = [given[name] for name in names]
    found = function(slips, values) if names else function(slips)
    return SteadyForces(*np.moveaxis(np.asarray(found), -1, 0))


@lru_cache(maxsize=64)
def _compiled(law: TyreLaw, names: tuple[str, ...], pressed: bool, own: bool) -> NativeFunction:
    graph = Graph()
    slips = graph.block("slip", 7 if pressed else 6)
    parameters = graph.block("p", len(names), Role.PARAMETER) if names else None
    scope = {} if parameters is None else {name: parameters[k] for k, name in enumerate(names)}

    def scalar(value: Scalar) -> Expr:
        return value.expr(graph, scope) if isinstance(value, Formula) else graph.number(value)

    Fz, kappa, alpha, gamma, Vx, mu = (slips[k] for k in range(6))
    slip = Slip(kappa, alpha, gamma, Fz, Vx, mu, slips[6] if pressed else None)
    f = law.forces(law.from_own(slip) if own else slip, scalar)
    blocks = [slips] if parameters is None else [slips, parameters]
    return compile(Function("tyre", blocks, {"forces": [f.Fx, f.Fy, f.Mx, f.My, f.Mz]}))
