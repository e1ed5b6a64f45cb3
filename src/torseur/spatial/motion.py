"""Motions and wrenches: pairs of vectors at a frame's origin, in its axes (Featherstone's spatial vectors).

============  =====================================================  ==========================================
Motion        linear, angular                                        velocity, acceleration, column of a joint
Wrench        force, moment                                          what acts on a body, or its momentum
============  =====================================================  ==========================================

The linear part is that of the origin. ``dot(V, F)`` is a power; ``cross(V, x)`` is the rate of a motion or wrench x
that a velocity V carries along; ``X @ x`` and ``X.inv @ x`` take both to another frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self, TypeVar

from torseur.graph import Expr, Graph
from torseur.spatial.pose import Pose
from torseur.spatial.vectors import Linear, Matrix, Vector, cross, dot

__all__ = ["Motion", "Wrench"]


class _Pair(Linear[Vector]):
    """Two vectors at one origin, in the same axes."""

    __slots__ = ()

    def __new__(cls, a: Vector, b: Vector) -> Self:
        return tuple.__new__(cls, (a, b))

    @classmethod
    def zero(cls, g: Graph) -> Self:
        return cls(Vector.zero(g), Vector.zero(g))

    @classmethod
    def of(cls, six: Iterable[Expr]) -> Self:
        """From six components."""
        a, b, c, d, e, f = six
        return cls(Vector(a, b, c), Vector(d, e, f))

    @property
    def six(self) -> tuple[Expr, ...]:
        """All components."""
        return (*self[0], *self[1])

    def turned(self, R: Matrix) -> Self:
        """At the same origin, in axes where these are the columns of R."""
        return type(self)(R @ self[0], R @ self[1])


class Motion(_Pair):
    """A velocity, an acceleration, or a column of a joint's subspace."""

    __slots__ = ()

    @property
    def linear(self) -> Vector:
        return self[0]

    @property
    def angular(self) -> Vector:
        return self[1]

    def to_parent(self, X: Pose) -> Motion:
        """R v + P x R w, R w."""
        w = X.R @ self[1]
        return Motion(X.R @ self[0] + cross(X.P, w), w)

    def to_child(self, X: Pose) -> Motion:
        """R' (v + w x P), R' w."""
        v, w = self
        Rt = X.R.T
        return Motion(Rt @ (v + cross(w, X.P)), Rt @ w)

    def dot(self, F: Wrench) -> Expr:
        """The power of a wrench."""
        return dot(self[0], F[0]) + dot(self[1], F[1])

    def cross(self, x: P) -> P:
        """Featherstone (2.31), (2.32)."""
        (v, w), (a, b) = self, x
        if isinstance(x, Motion):
            return type(x)(cross(w, a) + cross(v, b), cross(w, b))
        return type(x)(cross(w, a), cross(w, b) + cross(v, a))


class Wrench(_Pair):
    """A force and its moment at the origin; or a momentum."""

    __slots__ = ()

    @property
    def force(self) -> Vector:
        return self[0]

    @property
    def moment(self) -> Vector:
        return self[1]

    def to_parent(self, X: Pose) -> Wrench:
        """R f, R n + P x R f."""
        f = X.R @ self[0]
        return Wrench(f, X.R @ self[1] + cross(X.P, f))

    def to_child(self, X: Pose) -> Wrench:
        """R' f, R' (n - P x f)."""
        f, n = self
        Rt = X.R.T
        return Wrench(Rt @ f, Rt @ (n - cross(X.P, f)))


P = TypeVar("P", Motion, Wrench)
