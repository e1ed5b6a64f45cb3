"""The Jacobian of a frame and what multiplies no acceleration in its acceleration.

V_frame = J(q) v, both (linear; angular) of the frame's origin; in the frame's own axes, or in the world's.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from torseur.dynamics.tree.kinematics import FrameState, Kinematics
from torseur.dynamics.tree.newton_euler import motions
from torseur.dynamics.tree.tree import Tree
from torseur.graph import Expr
from torseur.spatial.motion import Motion
from torseur.spatial.vectors import Vector

__all__ = ["Axes", "Task", "acceleration", "frame_jacobian"]


class Axes(Enum):
    """Whose axes a vector is written in."""

    OWN = "own"
    WORLD = "world"


class Task(Enum):
    """What of a frame's motion is asked for."""

    POSE = "pose"
    POSITION = "position"
    ORIENTATION = "orientation"

    @property
    def rows(self) -> range:
        """Of a Jacobian."""
        return {Task.POSE: range(6), Task.POSITION: range(3), Task.ORIENTATION: range(3, 6)}[self]


def frame_jacobian(tree: Tree, name: str, axes: Axes = Axes.OWN) -> list[list[Expr]]:
    """J (6, nv), linear rows first: column j is the velocity of the frame when only speed j is one."""
    g, frame = tree.system.graph, Kinematics(tree).frame(name)
    J = [Motion.zero(g) for _ in range(tree.nv)]
    k, X = frame.link, frame.offset  # pose of the frame in link k
    while k >= 0:
        for j, S in tree.links[k].columns:
            J[j] += _in(axes, frame, X.inv @ S)
        k, X = tree.links[k].parent, tree.links[k].pose @ X
    return [list(row) for row in zip(*(column.six for column in J), strict=True)]


def acceleration(tree: Tree, name: str, vdot: Sequence[Expr], axes: Axes = Axes.OWN) -> list[Expr]:
    """The absolute acceleration of a frame (6,): of its origin, then angular. With vdot = 0: what is left, (dJ/dt) v in
    world axes."""
    g, frame = tree.system.graph, Kinematics(tree).frame(name)
    if frame.link < 0:
        return [g.zero] * 6
    m, (R, P) = list(motions(tree, vdot, Vector.zero(g)))[frame.link], (frame.offset.R, frame.offset.P)
    return list(_in(axes, frame, Motion(R.T @ (m.a + m.U @ P), R.T @ m.wd)).six)


def _in(axes: Axes, frame: FrameState, V: Motion) -> Motion:
    return V.turned(frame.pose.R) if axes is Axes.WORLD else V
