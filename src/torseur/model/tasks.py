"""What is asked of a frame: coordinates that bring it to a given pose (annex B of Maakaroun), and its dynamics in the
operational space, where singularities have an answer too: which directions it has lost, and where.

From a guess, the difference between the pose wanted and the pose reached is cut to a largest move and a largest turn,
so that the first-order model holds, and turned into a change of the coordinates by a damped pseudo-inverse of the
Jacobian,

    dq = J' (J J' + lam^2 1)^-1 dX,    lam^2 = 1/2 |dX|^2,

which is the pseudo-inverse near the solution and shy of singularities away from it (Sugihara 2011). Coordinates at a
stop that would be pushed beyond it are left out of the step. What does not converge starts anew from a random
configuration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.dynamics.tree.kinematics import Axes, Task
from torseur.errors import ArgumentError, NumericalError, choice
from torseur.model.rows import is_of_base, limits, moved, random_coordinates, rates_of, start_of, unit

if TYPE_CHECKING:
    from torseur.model.model import Model

__all__ = ["Reached", "Search", "inverse_kinematics", "operational_space"]


Array = NDArray[np.float64]


@dataclass(frozen=True)
class Search:
    """How a configuration is sought.

    Attributes:
        tolerance: largest distance left, m, and largest angle left, rad.
        largest_move, largest_turn: of one step, m and rad (S_p and S_r of annex B).
        iterations: steps from one start.
        restarts: further starts from random configurations.
        seed: of those.
    """

    tolerance: float = 1e-10
    largest_move: float = 0.2
    largest_turn: float = 0.5
    iterations: int = 100
    restarts: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        positive = {n: getattr(self, n) for n in ("tolerance", "largest_move", "largest_turn", "iterations")}
        wrong = [f"{n} = {x}" for n, x in positive.items() if not x > 0] + ["restarts"] * (self.restarts < 0)
        if wrong:
            raise ArgumentError("a search needs positive numbers", got=", ".join(wrong))


@dataclass(frozen=True)
class Reached:
    """A configuration, how far from the target it is, and what it took.

    Attributes:
        q: the coordinates.
        distance, angle: left between the frame and the target, m and rad.
        iterations: steps of the start that ended here.
        starts: how many starts there were.
        at_stops: names of coordinates that are at a stop.
    """

    q: Array
    distance: float
    angle: float
    iterations: int
    starts: int = 1
    at_stops: tuple[str, ...] = ()

    @property
    def left(self) -> float:
        return max(self.distance, self.angle)


def inverse_kinematics(
    model: Model,
    target: ArrayLike,
    frame: str,
    guess: ArrayLike | None = None,
    *,
    search: Search | None = None,
    free: Sequence[str] | None = None,
    **keywords: Any,
) -> Reached:
    """A configuration with the frame at the target; an error that says what is in the way if there is none.

    Args:
        model: whose frame it is.
        target: a pose (4, 4) in the world, or a position (3,) when the orientation does not matter.
        frame: body or named frame.
        guess: coordinates to start from; by default those of the description.
        search: tolerances and patience.
        free: names of the speeds that may move; by default those of the joints, and of the base if there are no others.
        keywords: t, inputs, parameters.
    """
    solver = _Solver(model, _checked_target(target), frame, search or Search(), _places(model, free), keywords)
    start = start_of(model) if guess is None else np.array(guess, dtype=float)
    if start.shape != (model.nq,) or not np.isfinite(start).all():
        raise ArgumentError("the guess does not fit", expected=f"({model.nq},) finite numbers", got=str(start.shape))
    best = solver.from_many(unit(model.mechanism, start))
    if best.left <= solver.search.tolerance:
        return best
    raise solver.failure(best)


def _checked_target(target: ArrayLike) -> Array:
    T = np.asarray(target, dtype=float)
    if T.shape not in ((3,), (4, 4)):
        raise ArgumentError("not a target", expected="a pose (4, 4) or a position (3,)", got=str(T.shape))
    if not np.isfinite(T).all():
        raise ArgumentError("the target is not made of finite numbers")
    if T.shape == (4, 4):
        R = T[:3, :3]
        if np.abs(R.T @ R - np.eye(3)).max() > 1e-9 or np.linalg.det(R) < 0 or np.abs(T[3] - [0, 0, 0, 1]).max() > 0:
            raise ArgumentError("the target is not a pose", expected="a rotation, a position and a last row 0 0 0 1")
    return T


def _places(model: Model, free: Sequence[str] | None) -> list[int]:
    names = [x.name for x in model.speeds]
    if free is None:
        base = is_of_base(model)
        return [k for k in range(model.nv) if base.all() or not base[k]]
    unknown = [n for n in free if n not in names]
    if unknown:
        raise ArgumentError("no such speeds", got=", ".join(unknown), expected=", ".join(names))
    return [names.index(n) for n in free]


@dataclass
class _Solver:
    model: Model
    target: Array
    frame: str
    search: Search
    free: list[int]
    keywords: dict[str, Any]
    stops: tuple[Array, Array] = field(init=False)

    def __post_init__(self) -> None:
        self.pose = self.model.function("pose", self.frame)
        self.jacobian = self.model.function("jacobian", self.frame, Axes.WORLD)
        self.stops = limits(self.model)
        self.coordinate_of = rates_of(self.model.mechanism)

    # -- one start -----------------------------------------------------------------------------------------------------
    def difference(self, q: Array) -> tuple[Array, Array]:
        """dX_p and dX_r, in world axes."""
        T = self.pose(q, **self.keywords)
        if self.target.shape == (3,):
            return self.target - T[:3, 3], np.zeros(0)
        return self.target[:3, 3] - T[:3, 3], rotation_vector(self.target[:3, :3] @ T[:3, :3].T)

    def from_one(self, q: Array) -> Reached:
        search, best, slow = self.search, None, 0
        for k in range(search.iterations + 1):
            move, turn = self.difference(q)
            here = Reached(q, float(np.linalg.norm(move)), float(np.linalg.norm(turn)), k)
            if best is None or here.left < best.left:
                slow = 0 if best is None or here.left < 0.99 * best.left else slow + 1
                best = here
            else:
                slow += 1
            if here.left <= search.tolerance or slow > 15:
                break
            dX = np.concatenate([_cut(move, search.largest_move), _cut(turn, search.largest_turn)])
            q = self.step(q, dX)
        assert best is not None
        return best

    def step(self, q: Array, dX: Array) -> Array:
        """The change along the free speeds, without those that would push on their stops."""
        J = np.asarray(self.jacobian(q, **self.keywords))[: len(dX)]
        moving = list(self.free)
        while moving:
            v = np.zeros(self.model.nv)
            v[moving] = _damped(J[:, moving], dX)
            pushing = [k for k in moving if self.is_blocked(q, k, v[k])]
            if not pushing:
                return self.kept(moved(self.model, q, v))
            moving = [k for k in moving if k not in pushing]
        return q

    def is_blocked(self, q: Array, speed: int, v: float) -> bool:
        k = self.coordinate_of.get(speed)
        return k is not None and bool((v < 0 and q[k] <= self.stops[0][k]) or (v > 0 and q[k] >= self.stops[1][k]))

    def kept(self, q: Array) -> Array:
        places = list(self.coordinate_of.values())
        q[places] = np.clip(q[places], self.stops[0][places], self.stops[1][places])
        return q

    # -- many starts ---------------------------------------------------------------------------------------------------
    def from_many(self, start: Array) -> Reached:
        rng, best = np.random.default_rng(self.search.seed), self.from_one(self.kept(start.copy()))
        n = 1
        while n <= self.search.restarts and best.left > self.search.tolerance:
            other = random_coordinates(self.model, rng, self.stops)
            q = start.copy()
            places = self._moved_coordinates()
            q[places] = other[places]
            reached = self.from_one(q)
            n += 1
            best = reached if reached.left < best.left else best
        at = tuple(self.model.coordinates[k].name for k in self._at_stops(best.q))
        return Reached(best.q, best.distance, best.angle, best.iterations, n, at)

    def _moved_coordinates(self) -> list[int]:
        """The coordinates that belong to the joints of free speeds."""
        owners = {self.model.speeds[k].owner for k in self.free}
        mine = [k for k, x in enumerate(self.model.coordinates) if x.owner in owners]
        held = set(self.coordinate_of.values()) - {self.coordinate_of[k] for k in self.free if k in self.coordinate_of}
        return [k for k in mine if k not in held]

    def _at_stops(self, q: Array) -> list[int]:
        return [k for k in self.coordinate_of.values() if not self.stops[0][k] < q[k] < self.stops[1][k]]

    # -- what is in the way --------------------------------------------------------------------------------------------
    def failure(self, best: Reached) -> NumericalError:
        wanted = "position" if self.target.shape == (3,) else "pose"
        angle = "" if self.target.shape == (3,) else f" and {best.angle:.3g} rad"
        blocked = self._in_the_way(best)
        return NumericalError(
            f"no configuration was found that brings '{self.frame}' to this {wanted}",
            where=self.model.mechanism.name,
            expected=f"at most {self.search.tolerance:g} m or rad left",
            got=f"{best.distance:.3g} m{angle} left at the best of {best.starts} starts" + (blocked and f"; {blocked}"),
            remedy="a target within reach, a better guess, or a longer search" if not blocked else "wider stops",
        )

    def _in_the_way(self, best: Reached) -> str:
        """The stops that hold it back: those that a solution without stops goes beyond."""
        if not best.at_stops:
            return ""
        low, high = self.stops
        self.stops = np.full_like(low, -np.inf), np.full_like(high, np.inf)
        try:
            beyond = self.from_one(best.q)
        finally:
            self.stops = low, high
        if beyond.left > self.search.tolerance:
            return ""
        told = []
        for k in self.coordinate_of.values():
            name, unit_name = self.model.coordinates[k].name, self.model.coordinates[k].unit
            if beyond.q[k] < low[k]:
                told.append(f"{name} would have to be {beyond.q[k]:.4g} {unit_name}, below its stop {low[k]:.4g}")
            elif beyond.q[k] > high[k]:
                told.append(f"{name} would have to be {beyond.q[k]:.4g} {unit_name}, above its stop {high[k]:.4g}")
        return "; ".join(told)


def rotation_vector(R: Array) -> Array:
    """u alpha of a rotation by alpha <= pi about u, from its quaternion, whose largest part is found first."""
    parts = 1.0 + np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) @ np.diag(R)
    k = int(parts.argmax())
    x, y, z = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    xy, xz, yz = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    rows = ((parts[0], x, y, z), (x, parts[1], xy, xz), (y, xy, parts[2], yz), (z, xz, yz, parts[3]))
    q = np.array(rows[k]) * (1.0 if rows[k][0] >= 0 else -1.0)
    size = float(np.linalg.norm(q[1:]))
    return q[1:] * (2.0 * np.arctan2(size, q[0]) / size) if size > 0 else np.zeros(3)


def _cut(x: Array, largest: float) -> Array:
    """A vector shortened to a largest length."""
    size = float(np.linalg.norm(x))
    return x if size <= largest else x * (largest / size)


def _damped(J: Array, dX: Array) -> Array:
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    if not s.size or s[0] == 0.0:
        return np.zeros(J.shape[1])
    damping = 0.5 * float(dX @ dX)
    gains = np.where(s > 1e-12 * s[0], s / (s * s + damping), 0.0)
    return np.asarray(Vt.T @ (gains * (U.T @ dX)), dtype=float)


_TRIALS = 20


def operational_space(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: str,
    axes: Axes | str = Axes.OWN,
    task: Task | str = Task.POSE,
    *,
    allow_singular: bool = False,
    **keywords: Any,
) -> Any:
    """M_x, V_x, g_x, bias_x and rank at a frame (see `torseur.dynamics.operational_space`).

    Args:
        model: whose frame it is.
        q, v: states (..., n).
        frame: body or named frame.
        axes: in which the results are: "own" or "world".
        task: what is asked for: "pose", "position" or "orientation".
        allow_singular: give the shortest answer where the frame has lost directions, instead of an error.
        keywords: t, inputs, parameters.
    """
    axes, task = choice(Axes, axes, "axes"), choice(Task, task, "task")
    result = model.function("operational_space", frame, axes, task)(q, v, **keywords)
    if not allow_singular:
        point = _Point(model, frame, axes, task, keywords)
        point.check(np.asarray(q, dtype=float), np.asarray(result[-1]))
    return result


@dataclass(frozen=True)
class _Point:
    """A frame of a model, and how it is looked at."""

    model: Model
    frame: str
    axes: Axes
    task: Task
    keywords: dict[str, Any]

    def jacobian(self, q: Array) -> Array:
        J = np.asarray(self.model.function("jacobian", self.frame, self.axes)(q, **self.keywords))
        return J[..., self.task.rows, :]

    @property
    def largest_rank(self) -> int:
        """In how many directions the frame can move where it is not singular: the largest rank found."""
        rng, stops = np.random.default_rng(0), limits(self.model)
        J = self.jacobian(np.array([random_coordinates(self.model, rng, stops) for _ in range(_TRIALS)]))
        return int(np.linalg.matrix_rank(J, tol=1e-9 * max(1.0, float(np.abs(J).max(initial=0.0)))).max(initial=0))

    def check(self, q: Array, rank: Array) -> None:
        """Refuse states where it has fewer."""
        full = self.largest_rank
        lost = np.argwhere(~(rank >= full))
        if not len(lost):
            return
        place = tuple(lost[0])
        at = np.broadcast_to(q, (*rank.shape, q.shape[-1]))[place]
        where = f"state {', '.join(map(str, place))} of the batch: " if place else ""
        values = ", ".join(f"{x.name} = {y:.6g}" for x, y in zip(self.model.coordinates, at, strict=True))
        directions = self.lost(at, int(np.nan_to_num(rank[place])), full)
        raise NumericalError(
            f"a singular configuration: '{self.frame}' has lost a direction of motion",
            where=where + values,
            expected=f"rank {full}",
            got=f"rank {rank[place]:g}, lost: {'; '.join(directions)}",
            remedy="stay away from it, or ask with allow_singular=True for the shortest force",
        )

    def lost(self, q: Array, rank: int, full: int) -> list[str]:
        """The directions that there are nearby and not here, in words."""
        near = moved(self.model, q, 1e-4 * np.random.default_rng(0).normal(size=self.model.nv))
        here, there = (np.linalg.svd(self.jacobian(x))[0] for x in (q, near))
        gone = here[:, rank:] @ here[:, rank:].T @ there[:, rank:full]
        whose = "the frame" if self.axes is Axes.OWN else "the world"
        first = self.task.rows.start
        lost = []
        for column in gone.T:
            six = np.zeros(6)
            six[first : first + len(column)] = column / np.linalg.norm(column)
            lost.append(f"{_in_words(six)}, in axes of {whose}")
        return lost


def _in_words(direction: Array) -> str:
    direction = direction * np.sign(direction[np.abs(direction).argmax()])
    linear, angular = np.linalg.norm(direction[:3]), np.linalg.norm(direction[3:])
    parts = []
    if linear > 1e-4:
        parts.append(f"moving along ({_numbers(direction[:3] / linear)})")
    if angular > 1e-4:
        parts.append(f"turning about ({_numbers(direction[3:] / angular)})")
    return " with ".join(parts)


def _numbers(x: Array) -> str:
    return ", ".join(f"{value + 0.0:.3g}" for value in np.round(x, 6))
