"""Velocities of links, and poses and velocities of any frame.

======  =================================================================  ==========
V, w    velocity of a frame's origin and angular velocity, in its axes      m/s, rad/s
======  =================================================================  ==========
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from torseur.describe import BASE
from torseur.dynamics.tree.tree import Tree
from torseur.errors import ModelError
from torseur.spatial.motion import Motion
from torseur.spatial.pose import Pose
from torseur.spatial.vectors import Vector

__all__ = ["FrameState", "Kinematics"]


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
        found: list[Pose] = []
        for link in self.tree.links:
            found.append(link.pose if link.parent < 0 else found[link.parent] @ link.pose)
        return found

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
