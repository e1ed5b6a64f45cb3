"""The motion of closed mechanisms by plain NumPy: constraints found a second time, and solved with multipliers.

Scalars are carried along with two derivatives in time through poses that `Plain` moves, in other equations than the
package's wherever others do as well; the equations of motion and the constraints are one system, solved by singular
values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.jets import Jet, jet_of
from support.moving_poses import Moving
from support.plain import Plain
from torseur.describe import Mechanism
from torseur.describe.constraints import Coupling, NoSideSlip, Prescribed, Rolling, SpeedRow

__all__ = ["PlainClosed", "sixth_order_slope"]

Array = NDArray[np.float64]


def sixth_order_slope(law: Callable[[float], Any], h: float) -> Any:
    """d law / ds at zero."""
    pairs = [np.asarray(law(k * h)) - np.asarray(law(-k * h)) for k in (1, 2, 3)]
    return (45 * pairs[0] - 9 * pairs[1] + pairs[2]) / (60 * h)


# -- poses that move ---------------------------------------------------------------------------------------------------
def rate(j: Jet) -> Jet:
    """The derivative, of which one derivative is left."""
    return Jet(j.d, j.dd, math.nan)


def turn_of(y: Jet, x: Jet) -> Jet:
    """The angle of (x, y), a point on the unit circle."""
    turning = x * rate(y) - y * rate(x)
    return Jet(math.atan2(y.x, x.x), turning.x, turning.d)


def jets(m: Moving) -> Any:
    """A moving transform as an array (4, 4) of jets."""
    found = np.empty((4, 4), dtype=object)
    for i, j in np.ndindex(4, 4):
        found[i, j] = Jet(float(m.T[i, j]), float(m.d[i, j]), float(m.dd[i, j]))
    return found


def seen_from(a: Any, b: Any) -> Any:
    """The pose of b in a."""
    R = a[:3, :3].T
    found = np.empty((4, 4), dtype=object)
    found[:3, :3], found[:3, 3] = R @ b[:3, :3], R @ (b[:3, 3] - a[:3, 3])
    return found


# -- rows --------------------------------------------------------------------------------------------------------------
def cut_rows(kind: str, X: Any, pitch: float) -> list[Jet]:
    """What a joint leaves at zero of the pose of b in a; other equations than the package's where there are any."""
    tilt, shift = [X[2, 0], X[2, 1]], list(X[:3, 3])  # the axes x and y of b have no part along z of a
    turn = turn_of(X[1, 0], X[0, 0])
    if kind == "fixed":
        return [*shift, X[0, 1], X[0, 2], X[1, 2]]
    if kind == "revolute":
        return [*shift, *tilt]
    if kind == "prismatic":
        return [X[1, 3], X[0, 3], X[0, 1], X[0, 2], X[1, 2]]
    if kind == "cylindrical":
        return [X[0, 3], X[1, 3], *tilt]
    if kind == "screw":
        return [X[0, 3], X[1, 3], *tilt, turn - X[2, 3] / pitch]
    if kind == "spherical":
        return list(X[:3, :3].T @ X[:3, 3])  # in the axes of b
    if kind == "universal":
        return [*shift, X[0, 1]]
    assert kind == "planar"
    return [X[2, 3], *tilt]


def slip_rows(X: Any, axle: int, radius: float, slides: bool) -> tuple[list[Jet], list[Jet]]:
    """The height row of a wheel, and the slip of its lowest point along x and y, or across its trace."""
    R, P = X[:3, :3], X[:3, 3]
    n, rates = R[:, axle], np.vectorize(rate)
    s = (1 - n[2] * n[2]) ** 0.5
    arm = [radius * n[2] * n[0] / s, radius * n[2] * n[1] / s, -radius * s]  # from the centre to the lowest point
    W = rates(R) @ R.T  # its spin as a skew matrix
    slip = rates(P) + W @ np.array(arm)
    if slides:
        return [P[2] - radius * s], [(n[0] * slip[0] + n[1] * slip[1]) / s]
    return [P[2] - radius * s], [slip[0], slip[1]]


class PlainClosed:
    """Constraints and motion of a description, by NumPy and `Plain`."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, self.plain = mechanism, Plain(mechanism)
        self.nv = self.plain.nv

    def _coordinates(self, q: Array, v: Array) -> dict[str, Jet]:
        """Every coordinate with its derivatives at vdot = 0: how its rate changes, by differences of high order."""
        rates = self.plain.rates(q, v)
        second = sixth_order_slope(lambda s: self.plain.rates(q + s * rates, v), 1e-3)
        names = [x.name for x in self.mechanism.q]
        return {name: Jet(*map(float, row)) for name, *row in zip(names, q, rates, second, strict=True)}

    def rows(self, q: Array, v: Array, t: float) -> tuple[list[Jet], list[Jet]]:
        """Position rows, then velocity rows, at vdot = 0."""
        still = np.zeros(self.nv)
        frames = {name: jets(m) for name, m in self.plain.motion(q, v, still).items()}
        names = self.plain.names | {"t": Jet(t, 1.0)} | self._coordinates(q, v)
        speeds = {x.name: Jet(float(s)) for x, s in zip(self.mechanism.v, v, strict=True)}

        def value(scalar: Any) -> Jet:
            return jet_of(scalar, names)

        positions, velocities = [], []
        for loop in self.mechanism.loops.values():
            a, b = (frames[end] for end in loop.between)
            positions += cut_rows(loop.joint, seen_from(a, b), value(loop.pitch or 1.0).x)
        for constraint in self.mechanism.constraints.values():
            form = constraint.form
            if isinstance(form, (Coupling, Prescribed)):
                positions.append(names[form.coordinate] - value(form.equals))
            elif isinstance(form, SpeedRow):
                terms = [value(x) * speeds[name] for name, x in form.coefficients.items()]
                velocities.append(sum(terms, -value(form.equals)))
            elif isinstance(form, NoSideSlip):
                T, along = frames[form.frame], np.array([value(x) for x in form.direction])
                velocities.append(along @ T[:3, :3].T @ np.array([rate(x) for x in T[:3, 3]]))
            elif isinstance(form, Rolling):
                X = seen_from(frames[form.ground], frames[form.wheel])
                height, slip = slip_rows(X, "xyz".index(form.axle), value(form.radius).x, form.slides)
                positions, velocities = positions + height, velocities + slip
            else:
                positions.append(value(form))
        return positions, velocities

    def closure(self, q: Array, t: float = 0.0) -> Array:
        return np.array([h.x for h in self.rows(q, np.zeros(self.nv), t)[0]])

    def rates(self, q: Array, v: Array, t: float = 0.0) -> Array:
        positions, velocities = self.rows(q, v, t)
        return np.array([*(h.d for h in positions), *(r.x for r in velocities)])

    def matrix(self, q: Array, t: float = 0.0) -> tuple[Array, Array]:
        """A and c, with the rates A v + c."""
        c = self.rates(q, np.zeros(self.nv), t)
        return np.array([self.rates(q, e, t) - c for e in np.eye(self.nv)]).T.reshape(-1, self.nv), c

    def bias(self, q: Array, v: Array, t: float = 0.0) -> Array:
        positions, velocities = self.rows(q, v, t)
        return -np.array([*(h.dd for h in positions), *(r.d for r in velocities)])

    def consistent(self, q: Array, v: Array, t: float = 0.0) -> Array:
        """Speeds that the constraints allow."""
        A, c = self.matrix(q, t)
        return v - np.linalg.pinv(A, rcond=1e-9) @ (A @ v + c)

    def forward_dynamics(self, q: Array, v: Array, tau: Array, t: float = 0.0, u: Any = ()) -> tuple[Array, Array]:
        """vdot, and A' lambda: one system, solved by singular values."""
        M, (A, _) = self.plain.mass_matrix(q), self.matrix(q, t)
        f = tau - self.plain.inverse_dynamics(q, v, 0 * v, t, u)
        n = self.nv
        K = np.block([[M, -A.T], [A, np.zeros((len(A), len(A)))]])
        found = np.linalg.lstsq(K, np.concatenate([f, self.bias(q, v, t)]), rcond=1e-11)[0]
        return found[:n], A.T @ found[n:]
