"""Motions that show parameters: Fourier series and splines, chosen within limits.

A motion that repeats itself after the period T = 2 pi/w (Swevers 1997),

    q(t) = q0 + sum over l of (a_l sin(l w t) - b_l cos(l w t))/(l w),                                           (I.7)

or a periodic spline of fifth degree through points. Among these the one is sought whose base regressor, columns scaled,
has the smallest condition number,

    minimise log cond(W diag^-1) + c sum (what is beyond a limit / limit)^2,                                     (I.8)

by a quasi-Newton method from several starts; the derivatives are differences, all motions of a gradient evaluated in
one native batch. The motion found is then brought within all limits exactly: it shrinks about its middle until it is.
Limits are those of joints, speeds, accelerations, efforts, and clearances between capsules (`clearance`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from torseur.describe import Mechanism
from torseur.errors import ArgumentError, NumericalError
from torseur.formats import load, replace_file
from torseur.identification.clearance import Clearance
from torseur.identification.unknowns import BaseUnknowns
from torseur.model.model import Model, build
from torseur.model.rows import limits as stops_of
from torseur.model.rows import rates_of, start_of

__all__ = ["Excitation", "Limits", "compare_excitations", "excite"]

Array = NDArray[np.float64]
Table = Mapping[str, float] | float | None

_SAMPLES = 120
_PENALTY = 30.0


@dataclass(frozen=True)
class Limits:
    """What a motion must stay within; a number for all joints, or one by coordinate.

    Attributes:
        position: largest distance from the middle, rad or m, where the description has no stops.
        speed, acceleration, effort: in SI; none by default.
        clearance: of bodies.
        margin: share of the limits that is kept free.
    """

    position: Table = None
    speed: Table = None
    acceleration: Table = None
    effort: Table = None
    clearance: Clearance | None = None
    margin: float = 0.02

    def __post_init__(self) -> None:
        for kind in ("position", "speed", "acceleration", "effort"):
            table = getattr(self, kind)
            named = table if isinstance(table, Mapping) else {} if table is None else {"": table}
            for name, x in named.items():
                if not 0.0 < x < np.inf:
                    where = f"{kind}.{name}" if name else kind
                    raise ArgumentError("wrong limit", where=where, expected="a positive number", got=f"{x:g}")
        if not 0.0 <= self.margin < 1.0:
            raise ArgumentError("wrong limit", where="margin", expected="0 to below 1", got=f"{self.margin:g}")


@dataclass(frozen=True, eq=False)
class Excitation:
    """A motion that shows parameters.

    Attributes:
        model: what moves.
        time: (nt,), one period.
        q, v, vdot: (nt, nq), (nt, nv), (nt, nv).
        condition: condition number of the base regressor with scaled columns.
        tightest: for each kind of limit the largest value over its limit, at most one; for clearances one less ten
            times the metres that are left.
    """

    model: Model
    time: Array
    q: Array
    v: Array
    vdot: Array
    condition: float
    tightest: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Excitation: {self.v.shape[1]} speeds over {self.period:g} s, condition number {self.condition:.3g}>"

    @property
    def period(self) -> float:
        return float(self.time[-1] - self.time[0])

    @cached_property
    def effort(self) -> Array:
        """(nt, nv), of the description; an error where it has no values."""
        return np.asarray(self.model.inverse_dynamics(self.q, self.v, self.vdot))

    def deviations(self, noise: Sequence[float] | float, periods: float = 1.0) -> dict[str, float]:
        """What standard deviations base parameters would have, were efforts measured with white noise.

        Args:
            noise: standard deviation of each effort at each instant of `time`.
            periods: how often the motion is repeated.
        """
        W = _regressor(self.model, self.q, self.v, self.vdot) / np.broadcast_to(noise, (self.model.nv,))[:, None]
        R = np.linalg.qr(W.reshape(-1, W.shape[-1])).R
        deviations = np.sqrt(np.sum(np.linalg.inv(R) ** 2, axis=1) / periods)
        return dict(zip(BaseUnknowns(self.model).names, deviations.tolist(), strict=True))

    def csv(self) -> str:
        """A table that the block ``table`` of studies reads, and `read_measurements` too."""
        m = self.model
        second = {"rad/s": "rad/s2", "m/s": "m/s2"}
        heads = [(x.name, x.unit) for x in m.coordinates] + [(x.name, x.unit) for x in m.speeds]
        heads += [(f"d{x.name}", second.get(x.unit, "")) for x in m.speeds]
        lines = [f"# {k}: {n} [{u}]" for k, (n, u) in enumerate([("time", "s"), *heads], 1)]
        lines.append(",".join(["time", *(n for n, _ in heads)]))
        table = np.column_stack([self.time, self.q, self.v, self.vdot])
        return "\n".join([*lines, *(",".join(map(repr, row)) for row in table.tolist())]) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file."""
        replace_file(Path(path), self.csv().encode("utf-8"))


# -- families of motions -----------------------------------------------------------------------------------------------
class _Family(Protocol):
    """Motions with n numbers x (..., joints, n), about zero: their values, rates and second rates (..., nt, joints)."""

    @property
    def n(self) -> int: ...

    def motion(self, x: Array, time: Array) -> tuple[Array, Array, Array]: ...

    def random(self, rng: np.random.Generator, joints: int) -> Array: ...


@dataclass(frozen=True)
class _Fourier:
    """(I.7)."""

    period: float
    harmonics: int

    @property
    def n(self) -> int:
        return 2 * self.harmonics

    def motion(self, x: Array, time: Array) -> tuple[Array, Array, Array]:
        w = 2.0 * np.pi / self.period * np.arange(1, self.harmonics + 1)
        s, c = np.sin(np.outer(time, w)), np.cos(np.outer(time, w))
        bases = np.hstack([s / w, -c / w]), np.hstack([c, s]), np.hstack([-s * w, c * w])
        motion = tuple(np.einsum("tk,...jk->...tj", b, x) for b in bases)
        return motion[0], motion[1], motion[2]

    def random(self, rng: np.random.Generator, joints: int) -> Array:
        size = 2.0 * np.pi / self.period
        return rng.normal(size=(joints, self.n)) * size


@dataclass(frozen=True)
class _Spline:
    """Periodic, of fifth degree, through points evenly spread over the period."""

    period: float
    points: int

    @property
    def n(self) -> int:
        return self.points

    def motion(self, x: Array, time: Array) -> tuple[Array, Array, Array]:
        bases = _spline_bases(self.period, self.points, tuple(time.tolist()))
        motion = tuple(np.einsum("tk,...jk->...tj", b, x) for b in bases)
        return motion[0], motion[1], motion[2]

    def random(self, rng: np.random.Generator, joints: int) -> Array:
        return rng.normal(size=(joints, self.n))


@lru_cache(maxsize=8)
def _spline_bases(period: float, points: int, time: tuple[float, ...]) -> tuple[Array, ...]:
    """Of all points: values, rates and second rates (nt, points)."""
    from scipy.interpolate import make_interp_spline

    knots = np.linspace(0.0, period, points + 1)
    closed = np.concatenate([np.eye(points), np.eye(points)[:1]])
    spline = make_interp_spline(knots, closed, k=5, bc_type="periodic")
    return tuple(np.asarray(spline(np.mod(time, period), nu=k)) for k in range(3))


# -- the search --------------------------------------------------------------------------------------------------------
def excite(
    what: Mechanism | Model | str | os.PathLike[str],
    *,
    period: float = 10.0,
    harmonics: int = 5,
    kind: str = "fourier",
    limits: Limits | None = None,
    middle: Mapping[str, float] | None = None,
    starts: int = 3,
    iterations: int = 40,
    seed: int = 0,
    step: float = 0.01,
) -> Excitation:
    """A motion of all joints that shows the base parameters, within limits.

    Args:
        what: a description, a model, or the file of one; a tree on a fixed base whose speeds are rates.
        period: after which it repeats itself, s.
        harmonics: of the Fourier series; twice as many points of a spline.
        kind: "fourier" or "spline".
        limits: to stay within.
        middle: coordinates about which it moves: by default the middle between stops, or the start.
        starts: random motions from which better ones are sought.
        iterations: at most, from each.
        seed: of the random motions.
        step: of the table, s.

    >>> motion = ts.excite(arm, period=4.0, harmonics=2, starts=1, iterations=5)
    >>> motion
    <Excitation: 2 speeds over 4 s, condition number 3.39>
    >>> motion.q.shape
    (401, 2)
    """
    model = what if isinstance(what, Model) else build(what if isinstance(what, Mechanism) else load(what))
    if kind not in ("fourier", "spline"):
        raise ArgumentError("unknown kind of motion", where="kind", expected='"fourier" or "spline"', got=repr(kind))
    family: _Family = _Fourier(period, harmonics) if kind == "fourier" else _Spline(period, 2 * harmonics)
    search = _Search(model, family, limits or Limits(), period, _middle(model, middle))
    rng = np.random.default_rng(seed)
    candidates = [search.best(search.fitted(family.random(rng, search.joints)), iterations) for _ in range(starts)]
    x = min(candidates, key=search.condition_within)
    x = search.within(x)
    nt = max(2, round(period / step))
    time = np.linspace(0.0, period, nt + 1)
    q, v, vdot = search.motion(x, time)
    tightest = {name: float(np.max(share)) for name, share in search.shares(q, v, vdot).items()}
    return Excitation(model, time, q, v, vdot, _condition(_regressor(model, q[:-1], v[:-1], vdot[:-1])), tightest)


def _middle(model: Model, given: Mapping[str, float] | None) -> Array:
    rates = rates_of(model.mechanism)
    mechanism = model.mechanism
    if model.nq != model.nv or len(rates) < model.nv or not mechanism.is_tree or mechanism.has_moving_base:
        text = "motions are sought for trees on a fixed base whose speeds are rates of coordinates"
        has = "a base that moves" if mechanism.has_moving_base else "joints with attitudes" if mechanism.is_tree else ""
        remedy = "simulate motions of your own, identify from each run: .condition and .undetermined tell the best"
        raise ArgumentError(text, where=mechanism.name, got=has or "loops or constraints", remedy=remedy)
    low, high = stops_of(model)
    both = np.isfinite(low) & np.isfinite(high)
    middle = np.where(both, 0.5 * (np.where(both, low, 0.0) + np.where(both, high, 0.0)), start_of(model))
    names = [x.name for x in model.coordinates]
    for name, value in (given or {}).items():
        if name not in names:
            raise ArgumentError(f"no coordinate '{name}'", where="middle", expected=", ".join(names))
        middle[names.index(name)] = value
    return np.asarray(middle)


def _regressor(model: Model, q: Array, v: Array, vdot: Array) -> Array:
    return np.asarray(model.base_regressor(q, v, vdot))


def _condition(W: Array) -> float:
    flat = W.reshape(-1, W.shape[-1])
    scaled = flat / np.maximum(np.linalg.norm(flat, axis=0), 1e-300)
    return float(np.linalg.cond(scaled))


@dataclass(frozen=True, eq=False)
class _Search:
    """For one motion; x is (joints, n), and an offset from the middle for every joint is its last column."""

    model: Model
    family: _Family
    limits: Limits
    period: float
    middle: Array

    @property
    def joints(self) -> int:
        return self.model.nv

    @cached_property
    def time(self) -> Array:
        return np.linspace(0.0, self.period, _SAMPLES, endpoint=False)

    def motion(self, x: Array, time: Array) -> tuple[Array, Array, Array]:
        q, v, vdot = self.family.motion(x[..., :-1], time)
        return q + self.middle + x[..., None, :, -1], v, vdot

    def _table(self, given: Table, what: str) -> Array:
        names = [x.name for x in self.model.coordinates]
        if given is None or isinstance(given, (int, float)):
            return np.full(self.joints, np.inf if given is None else float(given))
        wrong = [n for n in given if n not in names]
        if wrong:
            raise ArgumentError("no such coordinates", where=what, got=", ".join(wrong), expected=", ".join(names))
        return np.array([float(given.get(n, np.inf)) for n in names])

    @cached_property
    def _bounds(self) -> tuple[Array, Array, dict[str, Array]]:
        low, high = stops_of(self.model)
        reach = self._table(self.limits.position, "position")
        usual = np.array([np.pi / 2 if x.unit == "rad" else 0.3 for x in self.model.coordinates])
        reach = np.where(np.isfinite(reach), reach, np.where(np.isfinite(high - low), np.inf, usual))
        low, high = np.maximum(low, self.middle - reach), np.minimum(high, self.middle + reach)
        known = {n: self._table(getattr(self.limits, n), n) for n in ("speed", "acceleration", "effort")}
        return low, high, known

    def shares(self, q: Array, v: Array, vdot: Array) -> dict[str, Array]:
        """Values over their limits (..., nt, k), by kind of limit; clearances as one less what is left over them."""
        low, high, known = self._bounds
        half = 0.5 * (high - low)
        shares = {"position": np.abs(q - 0.5 * (low + high)) / half}
        for name, values in (("speed", v), ("acceleration", vdot)):
            if np.isfinite(known[name]).any():
                shares[name] = np.abs(values) / known[name]
        if np.isfinite(known["effort"]).any():
            shares["effort"] = np.abs(np.asarray(self.model.inverse_dynamics(q, v, vdot))) / known["effort"]
        if self.limits.clearance is not None:
            shares["clearance"] = 1.0 - 10.0 * self.limits.clearance.distances(self.model, q)
        return shares

    def cost(self, xs: Array) -> Array:
        """(I.8), of many motions (m, joints, n) at once."""
        q, v, vdot = self.motion(xs, self.time)
        W = _regressor(self.model, q, v, vdot)
        W = W.reshape(len(xs), -1, W.shape[-1])
        W = W / np.maximum(np.linalg.norm(W, axis=1, keepdims=True), 1e-12)
        values = np.linalg.eigvalsh(np.swapaxes(W, 1, 2) @ W)
        total = 0.5 * np.log(values[:, -1] / np.maximum(values[:, 0], 1e-14))
        free = 1.0 - self.limits.margin
        for share in self.shares(q, v, vdot).values():
            over = np.maximum(share - free, 0.0).max(axis=1)
            total = total + _PENALTY * np.sum(over**2, axis=-1)
        return np.asarray(total)

    def fitted(self, x: Array) -> Array:
        """A start, without offsets, that uses half of what the limits allow."""
        x = np.concatenate([x, np.zeros((self.joints, 1))], axis=1)
        return x * self._scale(x, 0.7)

    def best(self, x: Array, iterations: int) -> Array:
        """From x by a quasi-Newton method, with differences in one batch."""
        from scipy.optimize import minimize

        size = np.maximum(np.abs(x).max(axis=1, keepdims=True), 1e-6) * np.ones_like(x)
        size[:, -1] = 0.2

        def value_and_slope(y: Array) -> tuple[float, Array]:
            n, h = len(y), 1e-5
            many = np.concatenate([y[None], y + h * np.eye(n), y - h * np.eye(n)])
            cost = self.cost(many.reshape(-1, *x.shape) * size)
            return float(cost[0]), (cost[1 : n + 1] - cost[n + 1 :]) / (2.0 * h)

        optimum = minimize(
            value_and_slope, (x / size).ravel(), jac=True, method="L-BFGS-B", options={"maxiter": iterations}
        )
        return np.asarray(optimum.x.reshape(x.shape) * size)

    def _worst(self, x: Array, time: Array) -> float:
        shares = self.shares(*self.motion(x, time))
        return max(float(s.max()) for s in shares.values())

    def _scale(self, x: Array, wanted: float) -> float:
        """The largest factor, one at most, with all values within this share of their limits."""
        time = np.linspace(0.0, self.period, 8 * _SAMPLES, endpoint=False)
        low, high = 0.0, 1.0
        if self._worst(x, time) <= wanted:
            return 1.0
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._worst(middle * x, time) <= wanted else (low, middle)
        return low

    def within(self, x: Array) -> Array:
        """x, shrunk until it is within all limits."""
        scale = self._scale(x, 1.0 - 0.5 * self.limits.margin)
        if scale < 1e-3:
            text = "no motion was found within these limits"
            remedy = "start from a posture that is within them (middle), or widen them"
            raise NumericalError(text, where=self.model.mechanism.name, remedy=remedy)
        return scale * x

    def condition_within(self, x: Array) -> float:
        """Of x once it is within the limits; infinite if that cannot be."""
        try:
            q, v, vdot = self.motion(self.within(x), self.time)
        except NumericalError:
            return np.inf
        return _condition(_regressor(self.model, q, v, vdot))


def compare_excitations(
    model: Model, motions: Mapping[str, Excitation], noise: Sequence[float] | float
) -> dict[str, dict[str, float]]:
    """Motions side by side: by name the condition number and the largest relative deviation they would leave.

    Args:
        model: whose values relate deviations to parameters.
        motions: by name.
        noise: standard deviation of each effort.
    """
    values = np.abs(np.asarray(model.function("base_parameters")()))
    size = np.maximum(values, 0.01 * float(values.max()))
    by_name = {}
    for name, motion in motions.items():
        deviations = np.array(list(motion.deviations(noise).values()))
        by_name[name] = {
            "condition": motion.condition,
            "worst": float(np.max(deviations / size)),
            "typical": float(np.median(deviations / size)),
            "period": motion.period,
        }
    return by_name
