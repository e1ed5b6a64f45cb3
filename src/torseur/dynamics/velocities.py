"""Velocities of links, and poses and velocities of any frame.

======  =================================================================  ==========
V, w    velocity of a frame's origin and angular velocity, in its axes      m/s, rad/s
======  =================================================================  ==========
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from torseur.describe import BASE
from torseur.dynamics.tree import Tree
from torseur.errors import ModelError
from torseur.spatial.joints import Motion
from torseur.spatial.pose import Pose
from torseur.spatial.vectors import Vector, add, cross, rotate, rotate_back, zero_vector

__all__ = ["FrameState", "Kinematics"]


@dataclass(frozen=True)
class FrameState:
    """A frame: the link it sits on, its pose there and in the world, and its velocity in its own axes."""

    link: int
    offset: Pose
    pose: Pose
    V: Vector
    w: Vector

    @cached_property
    def V_world(self) -> Vector:
        return rotate(self.pose.R, self.V)


class Kinematics:
    """Poses and velocities of the links of a tree, computed when first asked for."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    @cached_property
    def poses(self) -> list[Pose]:
        """Of the links in the world."""
        found: list[Pose] = []
        for link in self.tree.links:
            found.append(link.pose if link.parent < 0 else found[link.parent] * link.pose)
        return found

    @cached_property
    def velocities(self) -> list[Motion]:
        """Of the links, in their own axes: V = R'(V_i + w_i x P) + S v."""
        g, found = self.tree.system.graph, list[Motion]()
        still = Motion(zero_vector(g), zero_vector(g))
        for link in self.tree.links:
            below = still if link.parent < 0 else found[link.parent]
            R, P = link.pose.R, link.pose.P
            V, w = rotate_back(R, add(below.linear, cross(below.angular, P))), rotate_back(R, below.angular)
            found.append(Motion(add(V, link.velocity.linear), add(w, link.velocity.angular)))
        return found

    def frame(self, name: str) -> FrameState:
        """A body's frame or a named one."""
        link, offset = self._home(name)
        g = self.tree.system.graph
        if link < 0:
            still = zero_vector(g)
            return FrameState(-1, offset, offset, still, still)
        moving = self.velocities[link]
        V = rotate_back(offset.R, add(moving.linear, cross(moving.angular, offset.P)))
        w = rotate_back(offset.R, moving.angular)
        return FrameState(link, offset, self.poses[link] * offset, V, w)

    def _home(self, name: str) -> tuple[int, Pose]:
        tree, mechanism = self.tree, self.tree.system.mechanism
        if name in tree.home:
            return tree.home[name]
        body = mechanism.frames.get(name)
        if body is None:
            raise ModelError(f"no frame '{name}'", expected=", ".join(mechanism.frames))
        frames = mechanism.base.frames if body == BASE else mechanism.bodies[body].frames
        link, offset = tree.home[body]
        return link, offset * tree.system.place(frames[name].place)
