"""What there is to draw of a mechanism in space: its shapes, or bars and joints where it has none.

The links, joints and paths of bars are those of the kinematic scheme.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from torseur.describe import BASE, WORLD, BaseKind, Mechanism
from torseur.describe.inertia import CentralInertia
from torseur.describe.loads import PathLoad
from torseur.dynamics.tree.system import System, body_poses, frame_pose
from torseur.dynamics.tree.tree import inertia_of
from torseur.errors import ArgumentError
from torseur.views.scene.parts import (
    ACCENT,
    COLOURS,
    GREY,
    Array,
    Drawing,
    Part,
    Point,
    Rod,
    Triangles,
    ball,
    box,
    cylinder,
    has_shapes,
    placed_at,
    pointing,
    polyline,
    rim,
    shape_parts,
    tyre,
)
from torseur.views.skeleton import Joint, Link, Skeleton, skeleton_of
from torseur.views.values import Values, assembled, values_for

__all__ = ["MOST_BODIES", "drawing_of", "start_of"]

MOST_BODIES = 300
BAR, SOLID = 0.011, 0.021
"""Radii of bars and of joints, in units of the size of the mechanism."""


def drawing_of(
    mechanism: Mechanism,
    *,
    at: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
    folder: str | os.PathLike[str] = ".",
    sticks: bool | None = None,
) -> Drawing:
    """The parts of a mechanism.

    Args:
        mechanism: what to draw.
        at: coordinates of some pose in which it can be.
        parameters: values that come before those of the description.
        folder: where files of triangles are looked for.
        sticks: bars and joints in place of shapes; by default only where there are no shapes.
    """
    if len(mechanism.bodies) > MOST_BODIES:
        got = str(len(mechanism.bodies))
        raise ArgumentError("too many bodies for one picture", expected=f"at most {MOST_BODIES}", got=got)
    values = values_for(System(mechanism), at or {}, parameters or {})
    skeleton = skeleton_of(values)
    if sticks or (sticks is None and not has_shapes(mechanism)):
        all_parts = list(stick_parts(values, skeleton))
    else:
        all_parts = [*shape_parts(values, Path(folder), 0.006 * skeleton.size), *loop_parts(values, skeleton)]
    all_parts += _struts(values, skeleton)
    parts = tuple(x for x in all_parts if isinstance(x, Part))
    rods = tuple(x for x in all_parts if isinstance(x, Rod))
    return Drawing(parts, rods, _size(parts, skeleton), tuple(values.notes))


def start_of(mechanism: Mechanism, parameters: Mapping[str, float] | None = None) -> dict[str, float]:
    """Coordinates to look at a mechanism that does not move: where they start, loops closed."""
    values = assembled(values_for(System(mechanism), {}, parameters or {}))
    return {x.name: float(value) for x, value in zip(mechanism.q, values.q, strict=True)}


def _struts(values: Values, skeleton: Skeleton) -> Iterator[Rod]:
    """Loads between two frames: springs, dampers, jacks."""
    system, mechanism = values.system, values.system.mechanism
    poses = body_poses(system)
    for load in mechanism.loads.values():
        if isinstance(load, PathLoad) and load.between is not None:
            ends = []
            for frame in load.between:
                body = mechanism.frames[frame]
                place = poses[body].inverse() @ frame_pose(system, poses, frame)
                ends.append(Point(body, np.array(values.numbers({"P": list(place.P)})["P"], dtype=float)))
            yield Rod(ends[0], ends[1], 0.007 * skeleton.size, GREY)


def _size(parts: tuple[Part, ...], skeleton: Skeleton) -> float:
    """The extent of the mechanism, or of what is drawn on one body if that is more, m."""
    largest = max((float(np.ptp(part.triangles.corners, axis=0).max()) for part in parts), default=0.0)
    joints = float(np.ptp(skeleton.points(), axis=0).max()) * skeleton.size
    return max(largest, joints) or 1.0


# -- bars and joints ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class _Placing:
    """A skeleton in metres, and on which body each of its links is."""

    skeleton: Skeleton
    poses: dict[str, Array]
    """Of bodies, at the coordinates of the skeleton (4, 4)."""

    @property
    def size(self) -> float:
        return self.skeleton.size

    def body(self, link: int) -> str | None:
        """The body of a link; none for one between two steps of free-form kinematics."""
        if link == 0:
            fixed = self.skeleton.base_kind in (BaseKind.FIXED, BaseKind.MOVING)
            return BASE if fixed else WORLD
        names = self.skeleton.links[link].names
        return names[0] if names else None

    def point(self, link: int, place: Array) -> Point | None:
        """A point of the skeleton as one of a body."""
        body = self.body(link)
        return None if body is None else Point(body, self.local(body, place[None])[0])

    def local(self, body: str, points: Array) -> Array:
        """Points (n, 3) of the skeleton in the frame of a body, m."""
        pose = self.poses[body]
        return np.asarray((points * self.size - pose[:3, 3]) @ pose[:3, :3])

    def on(self, body: str, shape: Triangles, pose: Array) -> Triangles:
        """A shape at a pose of the skeleton, in the frame of a body."""
        metres = pose.copy()
        metres[:3, 3] *= self.size
        return shape.moved(np.linalg.inv(self.poses[body]) @ metres)


def _placing(values: Values, skeleton: Skeleton) -> _Placing:
    poses = body_poses(values.system)
    matrices = values.numbers({name: pose.matrix() for name, pose in poses.items()})
    return _Placing(skeleton, {WORLD: np.eye(4), **matrices})


def stick_parts(values: Values, skeleton: Skeleton) -> Iterator[Part | Rod]:
    """All parts and rods of a mechanism, its loops included."""
    placing = _placing(values, skeleton)
    for k, link in enumerate(skeleton.links):
        yield from _bars(placing, values, k, link)
    for joint in skeleton.joints:
        yield from _joint(placing, joint)
    for wheel in skeleton.wheels:
        body = placing.body(wheel.link)
        if body is not None:
            radius = wheel.radius * placing.size or 0.06 * placing.size
            pose = pointing(wheel.centre, wheel.centre + wheel.axle)
            width = 0.35 * radius
            for solid, colour in ((tyre(radius, width), "#3A3F44"), *rim(radius, width)):
                yield Part(body, placing.on(body, solid, pose), colour)


def loop_parts(values: Values, skeleton: Skeleton) -> Iterator[Part | Rod]:
    """The joints that close loops alone, beside the shapes of a mechanism."""
    placing = _placing(values, skeleton)
    for joint in skeleton.joints:
        if joint.cut:
            yield from _joint(placing, joint)


def _bars(placing: _Placing, values: Values, k: int, link: Link) -> Iterator[Part | Rod]:
    """From the joint that carries a link to all it carries; a link of no extent reaches to its centre of mass."""
    body, colour = placing.body(k), GREY if k == 0 else COLOURS[(k - 1) % len(COLOURS)]
    if body is None:
        yield from _between(placing, link)
        return
    radius, reached = BAR * placing.size, False
    for path in link.paths:
        points = placing.local(body, path.points)
        if k == 0 and path.joint is None and not path.is_frame:
            continue
        if np.ptp(points, axis=0).max() > 1e-6 * placing.size:
            reached = True
            yield Part(body, polyline(points, radius), colour)
            if path.is_frame:
                yield Part(body, ball(1.6 * radius).moved(placed_at(points[-1])), colour)
    is_base = link.carrier is not None and link.carrier.is_base
    for name in link.names if k > 0 and (is_base or not reached) else ():
        centre = _centre_of_mass(values, name)
        if not is_base and np.linalg.norm(centre) > 1e-6 * placing.size:
            yield Part(name, polyline(np.stack([np.zeros(3), centre]), radius), colour)
            yield Part(name, ball(2.2 * radius).moved(placed_at(centre)), colour)
        else:
            slides = link.carrier is not None and link.carrier.freedoms.is_prismatic
            yield Part(name, _block(values, name, placing, 0.5 if reached else 1.0, slides), colour)


def _block(values: Values, name: str, placing: _Placing, share: float, slides: bool) -> Triangles:
    """A body of which nothing else is known: a share of the uniform block that has its mass and inertia, or, of a mass
    alone, a ball, a cube if it slides."""
    record = values.system.mechanism.base if name == BASE else values.system.mechanism.bodies[name]
    extent = float(np.ptp(placing.skeleton.points(), axis=0).max()) * placing.size
    largest = 0.5 * extent or np.inf
    radius = min(0.05 * placing.size, largest)
    plain = (box((2.0 * radius,) * 3) if slides else ball(radius)).moved(placed_at(_centre_of_mass(values, name)))
    if record.inertia is None:
        return plain
    whole = inertia_of(values.system, record.inertia)
    found = values.numbers({"J": [list(row) for row in whole.J], "MS": list(whole.MS), "M": whole.M})
    mass = float(found["M"])
    if not 0.0 < mass < np.inf:
        return plain
    c = found["MS"] / mass
    central = found["J"] - mass * (c @ c * np.eye(3) - np.outer(c, c))
    moments, axes = np.linalg.eigh((central + central.T) / 2)
    sides = np.sqrt(np.maximum(6.0 * (moments.sum() - 2.0 * moments) / mass, 0.0))
    if not 0.0 < sides.max() < np.inf:
        return plain
    sides = np.maximum(sides * min(share, largest / sides.max()), 0.05 * sides.max() * share)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = axes * np.linalg.det(axes), c
    return box(sides).moved(pose)


def _between(placing: _Placing, link: Link) -> Iterator[Rod]:
    """A link on no body, from the joint that carries it to those it carries."""
    if link.carrier is None:
        return
    start = placing.point(link.carrier.parent, link.carrier.a[:3, 3])
    for path in link.paths:
        joint = path.joint
        end = None if joint is None else placing.point(joint.child, joint.b[:3, 3])
        if start is not None and end is not None:
            yield Rod(start, end, BAR * placing.size, GREY)


def _joint(placing: _Placing, joint: Joint) -> Iterator[Part | Rod]:
    """A drum about the axis of a turning joint, a sleeve along that of a sliding one, else a ball."""
    colour = ACCENT if joint.cut else "#33383D"
    radius = SOLID * placing.size * (0.8 if joint.cut else 1.0)
    sides = [(joint.parent, joint.a), (joint.child, joint.b)]
    slides = joint.freedoms.slides or joint.freedoms.is_screw
    for link, frame in sides if joint.cut else sides[:1] if slides else sides[::-1]:
        body = placing.body(link)
        if body is None or joint.is_base:
            continue
        direction = frame[:3, joint.axis]
        if slides:
            solid = box((2.0 * radius, 2.0 * radius, 4.0 * radius))
        elif joint.freedoms.turns:
            solid = cylinder(radius, 2.6 * radius)
        else:
            solid = ball(1.2 * radius)
        pose = pointing(frame[:3, 3], frame[:3, 3] + direction)
        yield Part(body, placing.on(body, solid, pose), colour)
        if not joint.cut:
            break
    if slides and not joint.cut:
        ends = [placing.point(joint.parent, joint.a[:3, 3]), placing.point(joint.child, joint.b[:3, 3])]
        if ends[0] is not None and ends[1] is not None:
            yield Rod(ends[0], ends[1], 0.8 * BAR * placing.size, GREY)


def _centre_of_mass(values: Values, body: str) -> Array:
    """In the body's frame, m; its origin where there is no mass."""
    record = values.system.mechanism.base if body == BASE else values.system.mechanism.bodies[body]
    inertia = record.inertia
    if inertia is None:
        return np.zeros(3)
    scalar = values.system.scalar
    if isinstance(inertia, CentralInertia):
        return np.array(values.numbers({"c": [scalar(x) for x in inertia.centre]})["c"], dtype=float)
    whole = inertia_of(values.system, inertia)
    moments = values.numbers({"c": [*whole.MS, whole.M]})["c"]
    return np.array(moments[:3] / moments[3]) if moments[3] > 0.0 else np.zeros(3)
