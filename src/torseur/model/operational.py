"""The operational space with an answer at singularities: which directions a frame has lost, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.dynamics.jacobians import Axes
from torseur.errors import NumericalError
from torseur.model.sampling import limits, moved, random_coordinates

if TYPE_CHECKING:
    from torseur.model.build import Model

__all__ = ["largest_rank", "operational_space"]

Array = NDArray[np.float64]

_TRIALS = 20


def operational_space(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: str,
    axes: Axes = Axes.OWN,
    *,
    allow_singular: bool = False,
    **keywords: Any,
) -> Any:
    """M_x, V_x, g_x, bias_x and rank at a frame (see `torseur.dynamics.operational`).

    Args:
        model: whose frame it is.
        q, v: states (..., n).
        frame: body or named frame.
        axes: in which the results are.
        allow_singular: give the shortest answer where the frame has lost directions, instead of an error.
        keywords: t, inputs, parameters.
    """
    result = model.function("operational_space", frame, axes)(q, v, **keywords)
    if not allow_singular:
        _check(model, frame, axes, np.asarray(q, dtype=float), np.asarray(result[-1]), keywords)
    return result


def largest_rank(model: Model, frame: str, **keywords: Any) -> int:
    """In how many directions a frame can move where it is not singular: the largest rank of its Jacobian found."""
    rng, stops = np.random.default_rng(0), limits(model)
    q = np.array([random_coordinates(model, rng, stops) for _ in range(_TRIALS)])
    J = np.asarray(model.function("jacobian", frame)(q, **keywords))
    return int(np.linalg.matrix_rank(J, tol=1e-9 * max(1.0, float(np.abs(J).max(initial=0.0)))).max(initial=0))


def _check(model: Model, frame: str, axes: Axes, q: Array, rank: Array, keywords: dict[str, Any]) -> None:
    full = largest_rank(model, frame, **keywords)
    lost = np.argwhere(~(rank >= full))
    if not len(lost):
        return
    place = tuple(lost[0])
    at = np.broadcast_to(q, (*rank.shape, q.shape[-1]))[place]
    lost_here = _directions(model, frame, axes, at, full, int(np.nan_to_num(rank[place])), keywords)
    where = f"state {', '.join(map(str, place))} of the batch: " if place else ""
    values = ", ".join(f"{x.name} = {value:.6g}" for x, value in zip(model.coordinates, at, strict=True))
    raise NumericalError(
        f"'{frame}' cannot move in {full} directions here: a singular configuration",
        where=where + values,
        expected=f"rank {full}",
        got=f"rank {rank[place]:g}, lost: {'; '.join(lost_here)}",
        remedy="stay away from it, or ask with allow_singular=True for the shortest force",
    )


def _directions(
    model: Model, frame: str, axes: Axes, q: Array, full: int, rank: int, keywords: dict[str, Any]
) -> list[str]:
    """The directions the frame has nearby and not here, in words."""
    jacobian = model.function("jacobian", frame, axes)
    near = moved(model, q, 1e-4 * np.random.default_rng(0).normal(size=model.nv))
    U_here, U_near = (np.linalg.svd(np.asarray(jacobian(x, **keywords)))[0] for x in (q, near))
    gone = U_here[:, rank:] @ U_here[:, rank:].T @ U_near[:, rank:full]
    whose = "the frame" if axes is Axes.OWN else "the world"
    return [f"{_in_words(column / np.linalg.norm(column))}, in axes of {whose}" for column in gone.T]


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
