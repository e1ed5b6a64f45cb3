"""Equilibria: states at which nothing accelerates, with loops and constraints; and inputs that make a state so.

With Z a basis of the motions that the constraints allow, forces balance where

    Z' f = 0,    f = bias(q, v, u) - tau,    and what is left of f is A' lambda, the constraint forces.

Newton's method moves along Z, and closes the loops after every step. The stiffness along Z includes that of the
constraint forces, which turn with the bodies: K = df/dq - d(A' lambda)/dq. Steps are the shortest that solve the
linearised equations, and are halved until the forces that are left get less. In a steady motion the rows of the
constraints, r = 0 and b = 0 (A vdot = b), stand beside the forces, and speeds are unknowns too.

Where that leads nowhere (forces that do not change to first order, a body in the air), the motion is followed instead,
in implicit steps (M / s^2 + K) d = -f of a body that loses its speed after each: longer ones while the forces do work,
shorter ones when they do not. That ends at what is stable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.errors import ArgumentError, NumericalError
from torseur.model.assembly import Closing, Loops, coordinates_from
from torseur.model.balance import Point, State
from torseur.model.function import check_names
from torseur.model.modes import Stability

if TYPE_CHECKING:
    from torseur.model.model import Model

__all__ = ["Balance", "Equilibrium", "equilibrium_of"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Balance:
    """How patiently an equilibrium is sought.

    Attributes:
        tolerance: largest force left, as a part of the largest that acts.
        iterations: of Newton's method, and of following the motion.
        largest_turn: of any coordinate in one step, rad.
    """

    tolerance: float = 1e-10
    iterations: int = 200
    largest_turn: float = 0.5

    def __post_init__(self) -> None:
        wrong = [f"{n} = {x}" for n in ("tolerance", "iterations", "largest_turn") if not (x := getattr(self, n)) > 0]
        if wrong:
            raise ArgumentError("a balance needs positive numbers", got=", ".join(wrong))


@dataclass(frozen=True)
class Equilibrium:
    """A state at which nothing accelerates.

    Attributes:
        q, v: the state; v is zero unless a steady motion was asked for.
        multipliers: of the rows of loops and constraints: what they do to the bodies (the shortest, if not unique).
        inputs: all inputs by name; those that were free at their values.
        holding: generalised forces (nv) that hold the held coordinates, where no free input or speed does.
        residual: the largest force left, N or N m.
        iterations: steps it took.
        indifferent: displacements that change no force: the equilibrium is one of many along them.
        stability: what small disturbances do; None where coordinates are held, for what holds them decides, and at
            singular positions.
    """

    q: Array
    v: Array
    multipliers: Array
    inputs: dict[str, float]
    holding: Array
    residual: float
    iterations: int
    indifferent: tuple[str, ...]
    stability: Stability | None


def equilibrium_of(
    model: Model,
    guess: ArrayLike | Mapping[str, float] | None = None,
    *,
    speeds: ArrayLike | Mapping[str, float] | None = None,
    hold: Sequence[str] = (),
    free_inputs: Sequence[str] = (),
    tau: ArrayLike | None = None,
    balance: Balance | None = None,
    t: float | None = None,
    inputs: ArrayLike | Mapping[str, float] | None = None,
    parameters: ArrayLike | Mapping[str, float] | None = None,
) -> Equilibrium:
    """A state of a model at which nothing accelerates; see `torseur.equilibrium`."""
    names, signals = [x.name for x in model.coordinates], list(model.mechanism.inputs)
    check_names(dict.fromkeys(hold), names, "coordinate")
    check_names(dict.fromkeys(free_inputs), signals, "input")
    keywords = {"t": t, "inputs": inputs, "parameters": parameters}
    v, free_speeds = _speeds(model, guess, speeds, hold, keywords)
    search = Search(
        model,
        balance or Balance(),
        [names.index(n) for n in hold],
        [signals.index(n) for n in free_inputs],
        free_speeds,
        np.zeros(model.nv) if tau is None else np.asarray(tau, dtype=float),
        {"t": t, "parameters": parameters},
    )
    start = State(coordinates_from(model, guess), v, _input_values(model, inputs))
    return search.found(replace(start, q=search.loops(start).closed_one(start.q).q[0]))


def _speeds(
    model: Model, guess: Any, speeds: Any, hold: Sequence[str], keywords: dict[str, Any]
) -> tuple[Array, list[int]]:
    """The speeds, and the places of those that may change: in a steady motion those that are not named."""
    if speeds is None:
        return np.zeros(model.nv), []
    if not isinstance(speeds, Mapping):
        return np.array(speeds, dtype=float), []
    wished = {x.name: 0.0 for x in model.speeds} | dict(speeds)
    check_names(speeds, [x.name for x in model.speeds], "speed")
    state = model.assemble(guess, speeds=wished, hold=[*hold, *speeds], **keywords)
    return state.v, [k for k, x in enumerate(model.speeds) if x.name not in speeds]


def _input_values(model: Model, inputs: Any) -> Array:
    names = list(model.mechanism.inputs)
    if inputs is None or isinstance(inputs, Mapping):
        check_names(inputs or {}, names, "input")
        known = dict(zip(names, model.input_values, strict=True)) | dict(inputs or {})
        return np.array([float(known[n]) for n in names])
    return np.array(inputs, dtype=float)


@dataclass(frozen=True)
class Search:
    """The equations of an equilibrium and their solution; unknowns are motions along Z, free speeds, free inputs."""

    model: Model
    settings: Balance
    held: list[int]
    free_inputs: list[int]
    free_speeds: list[int]
    tau: Array
    keywords: dict[str, Any]

    @property
    def is_clamped(self) -> bool:
        """Whether something from outside holds the held coordinates, for nothing else is free to do it."""
        return bool(self.held) and not self.free_inputs and not self.free_speeds

    def at(self, quantity: str, x: State, *args: Array, **more: Any) -> Any:
        return self.model.function(quantity)(*args, **self._given(x), **more)

    def _given(self, x: State) -> dict[str, Any]:
        return self.keywords | ({"inputs": x.u} if x.u.size else {})

    def loops(self, x: State) -> Loops:
        return Loops(self.model, Closing(), self.held, self._given(x))

    def start(self, x: State) -> Point:
        """The first point; the forces that take part there, and those of small changes, measure all others."""
        point = Point(self, x, 1.0)
        gravity, pulls = np.asarray(self.at("gravity", x, x.q)), point.A.T * point.lam
        acting = [np.abs(part).max(initial=0.0) for part in (point.f, gravity, pulls, 1e-3 * point.stiffness[0])]
        return replace(point, size=max(float(max(acting)), 1e-9))

    # -- the solution --------------------------------------------------------------------------------------------------
    def found(self, x: State) -> Equilibrium:
        start = self.start(x)
        point, count = self.newton(start)
        if not point.is_balanced and not self.free_inputs and not np.any(x.v) and point.steps.size:
            near, more = self.relaxed(start)
            point, last = self.newton(near)
            count += more + last
        if not point.is_balanced:
            raise point.failure()
        pulling = point.pulling
        if pulling:
            raise NumericalError(
                "forces balance only where something one-sided pulls",
                where=self.model.mechanism.name,
                got=", ".join(f"{name} {push:.4g} N" for name, push in pulling.items()),
                expected="contacts that push",
                remedy="give a guess elsewhere, or leave these constraints out: they are open",
            )
        return self.result(point, count)

    def newton(self, point: Point) -> tuple[Point, int]:
        """As far as the forces that are left get less."""
        for count in range(self.settings.iterations):
            d, dv, du = point.newton_step()
            for k in range(12):
                there = self.moved(point, *(0.5**k * part for part in (d, dv, du)))
                if there is not None and there.merit < point.merit:
                    break
            else:
                return point, count
            is_slow = there.merit > (1.0 - 1e-6) * point.merit
            point = there
            if is_slow or point.merit <= 1e-15:
                return point, count + 1
        return point, self.settings.iterations

    def relaxed(self, point: Point) -> tuple[Point, int]:
        """Follow the motion in implicit steps that lose their speed."""
        s, none = 0.05, (np.zeros(len(self.free_speeds)), np.zeros(len(self.free_inputs)))
        for count in range(2 * self.settings.iterations):
            d = point.falling_step(s)
            there = self.moved(point, d, *none)
            if there is None or (there.f + point.f) @ d >= 0.0:  # the forces did no work
                s *= 0.5
                continue
            point, s = there, min(2.0 * s, 1e6)
            if point.merit <= 1e-7:
                return point, count + 1
        return point, 2 * self.settings.iterations

    def moved(self, point: Point, d: Array, dv: Array, du: Array) -> Point | None:
        """After a step, loops closed; None where they do not close."""
        x = point.x
        v, u = x.v.copy(), x.u.copy()
        v[self.free_speeds] += dv
        u[self.free_inputs] += du
        loops = self.loops(x)
        q = loops.moved(x.q[None], d[None])
        if loops.rows:
            attempt = loops.newton(q)
            if not attempt.closed[0]:
                return None
            q = attempt.q
        there = Point(self, State(q[0], v, u), point.size)
        return there if np.isfinite(there.merit) else None

    def result(self, point: Point, count: int) -> Equilibrium:
        x, names = point.x, list(self.model.mechanism.inputs)
        inputs = {n: float(value) for n, value in zip(names, x.u, strict=True)}
        left = float(np.abs(point.forces).max(initial=0.0))
        equilibrium = Equilibrium(x.q, x.v, point.lam, inputs, point.holding, left, count, point.indifferent, None)
        if self.is_clamped:
            return equilibrium
        values = {"input_values": x.u} if x.u.size else {}
        try:
            linear = self.model.linearise(equilibrium, inputs=(), outputs=(), tau=self.tau, **values, **self.keywords)
        except NumericalError:  # a singular position, or no inertia along some motion
            return equilibrium
        return replace(equilibrium, stability=linear.stability)
