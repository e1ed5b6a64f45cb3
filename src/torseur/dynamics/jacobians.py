"""The Jacobian of a frame and what multiplies no acceleration in its acceleration.

V_frame = J(q) v, both (linear; angular) of the frame's origin; in the frame's own axes, or in the world's.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from torseur.dynamics.newton_euler import motions
from torseur.dynamics.tree import Tree
from torseur.dynamics.velocities import FrameState, Kinematics
from torseur.graph import Expr
from torseur.spatial.vectors import Vector, add, cross, rotate, rotate_back, zero_vector

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


def _in(axes: Axes, frame: FrameState, u: Vector) -> Vector:
    return rotate(frame.pose.R, u) if axes is Axes.WORLD else u


def frame_jacobian(tree: Tree, name: str, axes: Axes = Axes.OWN) -> list[list[Expr]]:
    """J (6, nv), linear rows first: column j is the velocity of the frame when only speed j is one."""
    g, frame = tree.system.graph, Kinematics(tree).frame(name)
    columns: list[list[Expr]] = [[g.zero] * 6 for _ in range(tree.nv)]
    k, rest = frame.link, frame.offset  # pose of the frame in link k
    while k >= 0:
        link = tree.links[k]
        for place, column in zip(link.places, link.S, strict=True):
            linear = rotate_back(rest.R, add(column.linear, cross(column.angular, rest.P)))
            angular = rotate_back(rest.R, column.angular)
            parts = [*_in(axes, frame, linear), *_in(axes, frame, angular)]
            columns[place] = [x + more for x, more in zip(columns[place], parts, strict=True)]
        k, rest = link.parent, link.pose * rest
    return [list(row) for row in zip(*columns, strict=True)]


def acceleration(tree: Tree, name: str, vdot: Sequence[Expr], axes: Axes = Axes.OWN) -> list[Expr]:
    """The absolute acceleration of a frame (6,): of its origin, then angular. With vdot = 0: what is left, (dJ/dt) v in
    world axes."""
    g, frame = tree.system.graph, Kinematics(tree).frame(name)
    if frame.link < 0:
        return [g.zero] * 6
    m = list(motions(tree, vdot, zero_vector(g)))[frame.link]
    linear = rotate_back(frame.offset.R, add(m.a, rotate(m.U, frame.offset.P)))
    return [*_in(axes, frame, linear), *_in(axes, frame, rotate_back(frame.offset.R, m.wd))]
