"""Translation along z."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.graph import Expr, Graph
from torseur.spatial.inertia import Inertia
from torseur.spatial.joints.closure import Closing, no_shift, no_turn
from torseur.spatial.joints.kind import CoordinateInfo, JointKind, Quantity, along
from torseur.spatial.motion import Motion
from torseur.spatial.pose import Pose, Step, StepKind, elementary
from torseur.spatial.vectors import Vector

__all__ = ["PRISMATIC"]


class _Prismatic(JointKind):
    name = "prismatic"
    coordinates = (CoordinateInfo("", Quantity.LENGTH, "translation along z"),)
    speeds = (CoordinateInfo("", Quantity.SPEED, "its rate"),)

    def pose(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> Pose:
        return elementary(g, Step(StepKind.MOVE_Z, q[0]))

    def subspace(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> list[Motion]:
        return [along(g, 2, None)]

    def closure(self, pose: Pose, settings: Sequence[Expr] = ()) -> list[Closing]:
        return [*no_shift(pose, 0, 1), *no_turn(pose)]

    def unnoticed(self, inertia: Inertia) -> Inertia:
        """The whole tensor: the axes do not turn."""
        g = inertia.graph
        return Inertia(inertia.J, Vector.zero(g), g.zero)


PRISMATIC = _Prismatic()
