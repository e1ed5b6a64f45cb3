"""No motion."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.graph import Expr, Graph
from torseur.spatial.joints.closure import Closing, no_shift, no_turn
from torseur.spatial.joints.kind import JointKind
from torseur.spatial.motion import Motion
from torseur.spatial.pose import Pose

__all__ = ["FIXED"]


class _Fixed(JointKind):
    name = "fixed"
    coordinates = ()
    speeds = ()

    def pose(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> Pose:
        return Pose.identity(g)

    def subspace(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> list[Motion]:
        return []

    def closure(self, pose: Pose, settings: Sequence[Expr] = ()) -> list[Closing]:
        return [*no_shift(pose, 0, 1, 2), *no_turn(pose)]


FIXED = _Fixed()
