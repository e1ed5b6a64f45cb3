"""Poses, velocities, accelerations and Jacobians of links and of any frame.

======  =================================================================  ==========
V, w    velocity of a frame's origin and angular velocity, in its axes      m/s, rad/s
J       V_frame = J(q) v, both (linear; angular) of the frame's origin
======  =================================================================  ==========
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from torseur.describe import BASE
from torseur.dynamics.tree.newton_euler import motions
from torseur.dynamics.tree.tree import Tree
from torseur.errors import ModelError
from torseur.graph import Expr
from torseur.spatial.pose import Motion, Pose
from torseur.spatial.vectors import Vector

__all__ = ["Axes", "FrameState", "Kinematics", "Task", "acceleration", "frame_jacobian"]


@dataclass(frozen=True)
class FrameState:
    """A frame: the link it sits on, its pose there and in the world, and its velocity in its own axes."""

    link: int
    offset: Pose
    pose: Pose
    velocity: Motion

    @property
    def V(self) -> Vector:
        return self.velocity.linear

    @property
    def w(self) -> Vector:
        return self.velocity.angular

    @cached_property
    def V_world(self) -> Vector:
        return self.pose.R @ self.V


class Kinematics:
    """Poses and velocities of the links of a tree, computed when first asked for."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    @cached_property
    def poses(self) -> list[Pose]:
        """Of the links in the world."""
        poses: list[Pose] = []
        for link in self.tree.links:
            poses.append(link.pose if link.parent < 0 else poses[link.parent] @ link.pose)
        return poses

    @cached_property
    def velocities(self) -> list[Motion]:
        """Of the links, in their own axes."""
        V: list[Motion] = []
        for link in self.tree.links:
            V.append(link.velocity if link.parent < 0 else link.pose.inv @ V[link.parent] + link.velocity)
        return V

    def frame(self, name: str) -> FrameState:
        """A body's frame or a named one."""
        link, offset = self._home(name)
        if link < 0:
            return FrameState(-1, offset, offset, Motion.zero(self.tree.system.graph))
        return FrameState(link, offset, self.poses[link] @ offset, offset.inv @ self.velocities[link])

    def _home(self, name: str) -> tuple[int, Pose]:
        tree, mechanism = self.tree, self.tree.system.mechanism
        if name in tree.home:
            return tree.home[name]
        body = mechanism.frames.get(name)
        if body is None:
            raise ModelError(f"no frame '{name}'", expected=", ".join(mechanism.frames))
        frames = mechanism.base.frames if body == BASE else mechanism.bodies[body].frames
        link, offset = tree.home[body]
        return link, offset @ tree.system.place(frames[name].place)


# -- frames ------------------------------------------------------------------------------------------------------------
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
