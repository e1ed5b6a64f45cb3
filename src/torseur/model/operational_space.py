"""The operational space with an answer at singularities: which directions a frame has lost, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.dynamics.tree.kinematics import Axes, Task
from torseur.errors import NumericalError, choice
from torseur.model.rows import limits, moved, random_coordinates

if TYPE_CHECKING:
    from torseur.model.model import Model

__all__ = ["operational_space"]

Array = NDArray[np.float64]

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
