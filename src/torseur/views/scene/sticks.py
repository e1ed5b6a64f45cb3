"""Parts for a mechanism that says nothing of its shapes: bars along its frames, and a solid at every joint.

The pieces, joints and paths are those of the kinematic scheme.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from torseur.describe import BASE, WORLD, BaseKind
from torseur.describe.inertia import CentralInertia
from torseur.dynamics.kinematics import body_poses
from torseur.dynamics.tree import inertia_of
from torseur.views.scene.meshes import Triangles, ball, box, cylinder, pointing, tyre
from torseur.views.scene.parts import ACCENT, COLOURS, GREY, Array, Part, Point, Rod
from torseur.views.scene.shapes import polyline
from torseur.views.scheme.skeleton import Joint, Piece, Skeleton
from torseur.views.scheme.values import Values

__all__ = ["loop_parts", "stick_parts"]

BAR, SOLID = 0.011, 0.021
"""Radii of bars and of joints, in units of the size of the mechanism."""


@dataclass(frozen=True, eq=False)
class _Bench:
    """A skeleton in metres, and on which body each of its pieces is."""

    skeleton: Skeleton
    poses: dict[str, Array]
    """Of bodies, at the coordinates of the skeleton (4, 4)."""

    @property
    def size(self) -> float:
        return self.skeleton.size

    def body(self, piece: int) -> str | None:
        """The body of a piece; none for one between two steps of free-form kinematics."""
        if piece == 0:
            fixed = self.skeleton.base_kind in (BaseKind.FIXED, BaseKind.MOVING)
            return BASE if fixed else WORLD
        names = self.skeleton.pieces[piece].names
        return names[0] if names else None

    def point(self, piece: int, place: Array) -> Point | None:
        """A point of the skeleton as one of a body."""
        body = self.body(piece)
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


def _bench(values: Values, skeleton: Skeleton) -> _Bench:
    poses = body_poses(values.system)
    found = values.numbers({name: pose.matrix() for name, pose in poses.items()})
    return _Bench(skeleton, {WORLD: np.eye(4), **found})


def stick_parts(values: Values, skeleton: Skeleton) -> Iterator[Part | Rod]:
    """All parts and rods of a mechanism, its loops included."""
    bench = _bench(values, skeleton)
    for k, piece in enumerate(skeleton.pieces):
        yield from _bars(bench, values, k, piece)
    for joint in skeleton.joints:
        yield from _joint(bench, joint)
    for wheel in skeleton.wheels:
        body = bench.body(wheel.piece)
        if body is not None:
            radius = wheel.radius * bench.size or 0.06 * bench.size
            pose = pointing(wheel.centre, wheel.centre + wheel.axle)
            yield Part(body, bench.on(body, tyre(radius, 0.35 * radius), pose), "#3A3F44")


def loop_parts(values: Values, skeleton: Skeleton) -> Iterator[Part | Rod]:
    """The joints that close loops alone, beside the shapes of a mechanism."""
    bench = _bench(values, skeleton)
    for joint in skeleton.joints:
        if joint.cut:
            yield from _joint(bench, joint)


def _bars(bench: _Bench, values: Values, k: int, piece: Piece) -> Iterator[Part | Rod]:
    """From the joint that carries a piece to all it carries; a piece of no extent reaches to its centre of mass."""
    body, colour = bench.body(k), GREY if k == 0 else COLOURS[(k - 1) % len(COLOURS)]
    if body is None:
        yield from _between(bench, piece)
        return
    radius, reached = BAR * bench.size, False
    for path in piece.paths:
        points = bench.local(body, path.points)
        if k == 0 and path.joint is None and not path.is_frame:
            continue
        if np.ptp(points, axis=0).max() > 1e-6 * bench.size:
            reached = True
            yield Part(body, polyline(points, radius), colour)
            if path.is_frame:
                yield Part(body, ball(1.6 * radius).moved(_at(points[-1])), colour)
    if k > 0 and not reached:
        for name in piece.names:
            centre = _centre_of_mass(values, name)
            if np.linalg.norm(centre) > 1e-6 * bench.size:
                yield Part(name, polyline(np.stack([np.zeros(3), centre]), radius), colour)
                yield Part(name, ball(2.2 * radius).moved(_at(centre)), colour)


def _between(bench: _Bench, piece: Piece) -> Iterator[Rod]:
    """A piece on no body, from the joint that carries it to those it carries."""
    if piece.carrier is None:
        return
    start = bench.point(piece.carrier.parent, piece.carrier.a[:3, 3])
    for path in piece.paths:
        joint = path.joint
        end = None if joint is None else bench.point(joint.child, joint.b[:3, 3])
        if start is not None and end is not None:
            yield Rod(start, end, BAR * bench.size, GREY)


def _joint(bench: _Bench, joint: Joint) -> Iterator[Part | Rod]:
    """A drum about the axis of a turning joint, a sleeve along that of a sliding one, else a ball."""
    colour = ACCENT if joint.cut else "#33383D"
    radius = SOLID * bench.size * (0.8 if joint.cut else 1.0)
    sides = [(joint.parent, joint.a), (joint.child, joint.b)]
    slides = joint.kind in ("prismatic", "cylindrical", "screw")
    for piece, frame in sides if joint.cut else sides[:1] if slides else sides[::-1]:
        body = bench.body(piece)
        if body is None or "base" in joint.kind:
            continue
        direction = frame[:3, joint.axis]
        if joint.kind == "revolute":
            solid = cylinder(radius, 2.6 * radius)
        elif slides:
            solid = box((2.0 * radius, 2.0 * radius, 4.0 * radius))
        else:
            solid = ball(1.2 * radius)
        pose = pointing(frame[:3, 3], frame[:3, 3] + direction)
        yield Part(body, bench.on(body, solid, pose), colour)
        if not joint.cut:
            break
    if slides and not joint.cut:
        ends = [bench.point(joint.parent, joint.a[:3, 3]), bench.point(joint.child, joint.b[:3, 3])]
        if ends[0] is not None and ends[1] is not None:
            yield Rod(ends[0], ends[1], 0.8 * BAR * bench.size, GREY)


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
    found = values.numbers({"c": [*whole.MS, whole.M]})["c"]
    return np.array(found[:3] / found[3]) if found[3] > 0.0 else np.zeros(3)


def _at(point: Array) -> Array:
    pose = np.eye(4)
    pose[:3, 3] = point
    return pose
