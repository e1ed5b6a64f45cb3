"""Distances between the bodies of a mechanism, as capsules: segments with a radius.

The distance of two segments p + s d and q + t e, s and t in [0, 1], is found in closed form (Ericson 2005, 5.1.9), for
all postures at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.errors import ArgumentError
from torseur.model.model import Model

__all__ = ["Capsule", "Clearance", "capsules_of", "segment_distance"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Capsule:
    """A segment with a radius, m, in a frame of the mechanism."""

    frame: str
    begin: tuple[float, float, float]
    end: tuple[float, float, float]
    radius: float


@dataclass(frozen=True, eq=False)
class Clearance:
    """What must stay apart.

    Attributes:
        capsules: on bodies and in the world.
        pairs: of capsules by place; by default those whose bodies are neither the same nor neighbours.
        least: distance, m.
        floor: height z of the world below which no capsule may go.
    """

    capsules: tuple[Capsule, ...]
    pairs: tuple[tuple[int, int], ...] | None = None
    least: float = 0.02
    floor: float | None = None

    def distances(self, model: Model, q: Array) -> Array:
        """Clearances of postures (..., nq), less what is asked: (..., pairs and capsules above a floor)."""
        ends = [self._ends(model, q, c) for c in self.capsules]
        distances = []
        for i, j in self._pairs(model):
            gap = segment_distance(*ends[i], *ends[j])
            distances.append(gap - self.capsules[i].radius - self.capsules[j].radius - self.least)
        if self.floor is not None:
            moving = [k for k, c in enumerate(self.capsules) if c.frame not in ("world", "base")]
            for k in moving:
                low = np.minimum(ends[k][0][..., 2], ends[k][1][..., 2])
                distances.append(low - self.capsules[k].radius - self.floor - self.least)
        return np.stack(distances, axis=-1) if distances else np.full((*q.shape[:-1], 1), np.inf)

    def _ends(self, model: Model, q: Array, capsule: Capsule) -> tuple[Array, Array]:
        T = np.asarray(model.pose(q, capsule.frame))
        points = np.array([[*capsule.begin, 1.0], [*capsule.end, 1.0]])
        there = T[..., :3, :] @ points.T
        return there[..., 0], there[..., 1]

    def _pairs(self, model: Model) -> Sequence[tuple[int, int]]:
        if self.pairs is not None:
            return self.pairs
        mechanism = model.mechanism
        wrong = [c.frame for c in self.capsules if c.frame not in mechanism.frames]
        if wrong:
            raise ArgumentError("no such frames", where=mechanism.name, got=", ".join(wrong))
        bodies = [mechanism.frames[c.frame] for c in self.capsules]
        parents = {n: b.parent for n, b in mechanism.bodies.items()} | {"world": "base", "base": "world"}

        def near(a: str, b: str) -> bool:
            return a == b or parents.get(a) == b or parents.get(b) == a

        n = len(bodies)
        return [(i, j) for i in range(n) for j in range(i + 1, n) if not near(bodies[i], bodies[j])]


def capsules_of(model: Model, radius: float = 0.05) -> tuple[Capsule, ...]:
    """One for every body that carries another one away from its own origin: from origin to origin."""
    mechanism, capsules = model.mechanism, list[Capsule]()
    q = np.zeros(model.nq)
    for name, body in mechanism.bodies.items():
        if body.parent not in mechanism.bodies:
            continue
        T = np.linalg.inv(model.pose(q, body.parent)) @ model.pose(q, name)
        x, y, z = (float(a) for a in T[:3, 3])
        if np.hypot(np.hypot(x, y), z) > 1e-6:
            capsules.append(Capsule(body.parent, (0.0, 0.0, 0.0), (x, y, z), radius))
    return tuple(capsules)


def segment_distance(p: Array, p1: Array, q: Array, q1: Array) -> Array:
    """Between segments from p to p1 and from q to q1 (..., 3).

    >>> a = np.array([[0.0, 0, 0], [2.0, 0, 0]]); b = np.array([[1.0, 1, -1], [1.0, 1, 1]])
    >>> float(segment_distance(a[0], a[1], b[0], b[1]))
    1.0
    """
    d, e, r = p1 - p, q1 - q, p - q
    a, b, f = (np.sum(x * y, axis=-1) for x, y in ((d, d), (e, e), (e, r)))
    c, g = np.sum(d * r, axis=-1), np.sum(d * e, axis=-1)
    tiny = 1e-300
    below = a * b - g * g
    s = np.where(below > 1e-12 * a * b, np.clip((g * f - c * b) / np.maximum(below, tiny), 0.0, 1.0), 0.0)
    t = (g * s + f) / np.maximum(b, tiny)
    s = np.where(t < 0.0, np.clip(-c / np.maximum(a, tiny), 0.0, 1.0), s)
    s = np.where(t > 1.0, np.clip((g - c) / np.maximum(a, tiny), 0.0, 1.0), s)
    t = np.clip(t, 0.0, 1.0)
    return np.asarray(np.linalg.norm(r + s[..., None] * d - t[..., None] * e, axis=-1))
