"""A run as pictures per second: where every body is in each of them, and from where one looks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from torseur.describe import BASE, WORLD
from torseur.errors import ArgumentError
from torseur.simulation.results.result import Run
from torseur.views.run_poses import frame_poses, mechanism_of
from torseur.views.scene.drawing import drawing_of
from torseur.views.scene.parts import Drawing, Point, Rod

__all__ = ["Animation", "Arrow", "Camera", "ForceArrow", "Scene", "animation_of", "camera_of", "scene_of"]

Array = NDArray[np.float64]

LONGEST = 20_000
"""Pictures in one animation."""
FAR = 4.0
"""A base that travels more than so many times the size of the mechanism is followed."""


@dataclass(frozen=True)
class Arrow:
    """A force to show: a channel (nt, 3) in world axes, at the origin of a frame.

    Attributes:
        frame: where it acts.
        channel: its name in the run.
        scale: m/N; by default the largest one is as long as a third of the mechanism.
    """

    frame: str
    channel: str
    scale: float | None = None


@dataclass(frozen=True, eq=False)
class ForceArrow:
    """An arrow in every picture: foot and tip (n, 3)."""

    name: str
    feet: Array
    tips: Array


@dataclass(frozen=True, eq=False)
class Animation:
    """Where things are in each picture.

    Attributes:
        times: (n,), s from the start of the run.
        positions: body -> (n, 3), m.
        turns: body -> (n, 4), unit quaternions w x y z, without jumps of sign.
        traces: frame -> its whole path (m, 3), finer than the pictures, m.
        arrows: forces.
        up: direction away from gravity.
    """

    times: Array
    positions: dict[str, Array]
    turns: dict[str, Array]
    traces: dict[str, Array]
    arrows: tuple[ForceArrow, ...]
    up: Array

    def pose(self, body: str, k: int) -> Array:
        """Of a body in picture k (4, 4)."""
        pose = np.eye(4)
        pose[:3, :3] = _matrix(self.turns[body][k])
        pose[:3, 3] = self.positions[body][k]
        return pose

    def span(self, rod: Rod, k: int) -> tuple[Array, Array]:
        """The two ends of a rod in picture k."""
        return self.place(rod.start, k), self.place(rod.end, k)

    def place(self, point: Point, k: int) -> Array:
        """A point of a body in picture k, m."""
        return np.asarray(_matrix(self.turns[point.body][k]) @ point.place + self.positions[point.body][k])


@dataclass(frozen=True, eq=False)
class Camera:
    """From where one looks.

    Attributes:
        position, look_at: m.
        basis: (3, 3), by rows: ahead, left, up.
        ground: its height along up, m.
        reach: how far things get, m.
    """

    position: Array
    look_at: Array
    basis: Array
    ground: float
    reach: float


@dataclass(frozen=True, eq=False)
class Scene:
    """What is drawn, where it is in every picture, and the path (n, 3) that stays in the middle, if any."""

    drawing: Drawing
    animation: Animation
    follow: Array | None


def scene_of(
    run: Run,
    *,
    fps: float = 30.0,
    traces: Iterable[str] = (),
    arrows: Sequence[Arrow] = (),
    follow: str | None = None,
    folder: str | os.PathLike[str] = ".",
    sticks: bool | None = None,
) -> Scene:
    """The scene of a run; see `animate` for what the options mean."""
    mechanism = mechanism_of(run)
    start = {x.name: float(value) for x, value in zip(mechanism.q, run.q[0], strict=True)}
    drawing = drawing_of(mechanism, at=start, parameters=run.parameters, folder=folder, sticks=sticks)
    animation = animation_of(run, drawing, fps=fps, traces=traces, arrows=arrows)
    frame = follow
    if frame is None and mechanism.has_moving_base:
        journey = frame_poses(run, BASE)[:, :3, 3]
        frame = BASE if np.ptp(journey, axis=0).max() > FAR * drawing.size else None
    if frame is None:
        return Scene(drawing, animation, None)
    return Scene(drawing, animation, frame_poses(run.resampled(animation.times + run.time[0]), frame)[:, :3, 3])


def animation_of(
    run: Run, drawing: Drawing, *, fps: float = 30.0, traces: Iterable[str] = (), arrows: Sequence[Arrow] = ()
) -> Animation:
    """The pictures of a run, `fps` of them per second of its time."""
    duration = float(run.time[-1] - run.time[0])
    if not 0.0 < fps <= 240.0:
        raise ArgumentError("so many pictures per second cannot be shown", expected="0 to 240", got=f"{fps:g}")
    count = max(round(duration * fps) + 1, 1)
    if count > LONGEST:
        raise ArgumentError(
            "this animation would be too long",
            expected=f"at most {LONGEST} pictures",
            got=f"{count} in {duration:g} s",
            remedy="fewer per second",
            option="fps",
            call=f"fps={LONGEST / duration:.2g}",
        )
    times = np.linspace(run.time[0], run.time[-1], count)
    seen = run.resampled(times)
    positions, turns = {}, {}
    for body in drawing.bodies:
        poses = frame_poses(seen, body)
        _check_finite(poses, body)
        positions[body], turns[body] = poses[:, :3, 3].copy(), _quaternions(poses[:, :3, :3])
    fine = run.resampled(np.linspace(run.time[0], run.time[-1], min(4 * count, LONGEST)))
    paths = {frame: frame_poses(fine, frame)[:, :3, 3].copy() for frame in traces}
    forces = tuple(_force_arrow(seen, arrow, drawing.size) for arrow in arrows)
    return Animation(times - times[0], positions, turns, paths, forces, _up(run))


def _check_finite(poses: Array, body: str) -> None:
    bad = ~np.isfinite(poses.reshape(len(poses), -1)).all(axis=1)
    if bad.any():
        raise ArgumentError(
            f"'{body}' has no place in {bad.sum()} of {len(poses)} pictures",
            remedy="look at the run: it holds values that are not numbers",
        )


def _up(run: Run) -> Array:
    """Away from gravity if that is a number, else z."""
    gravity = np.array([x if isinstance(x, float) else np.nan for x in mechanism_of(run).gravity])
    size = np.linalg.norm(gravity)
    return np.array([0.0, 0.0, 1.0]) if not size > 0.0 else -gravity / size


def _force_arrow(run: Run, arrow: Arrow, size: float) -> ForceArrow:
    force = run[arrow.channel]
    if force.shape[1:] != (3,):
        got = str(force.shape)
        raise ArgumentError("an arrow has three components", where=arrow.channel, expected="(nt, 3)", got=got)
    largest = float(np.linalg.norm(force, axis=1).max(initial=0.0))
    scale = arrow.scale if arrow.scale is not None else size / 3.0 / (largest or 1.0)
    feet = frame_poses(run, arrow.frame)[:, :3, 3].copy()
    return ForceArrow(arrow.channel, feet, feet + scale * force)


def _quaternions(R: Array) -> Array:
    """Of rotation matrices (n, 3, 3), w x y z; each the nearer of the two to the one before."""
    q = np.asarray(Rotation.from_matrix(R).as_quat())[:, [3, 0, 1, 2]]
    signs = np.where(np.sum(q[1:] * q[:-1], axis=1) < 0.0, -1.0, 1.0)
    q[1:] *= np.cumprod(signs)[:, None]
    return q


def _matrix(quaternion: Array) -> Array:
    return np.asarray(Rotation.from_quat(quaternion[[1, 2, 3, 0]]).as_matrix())


def camera_of(animation: Animation, drawing: Drawing) -> Camera:
    """A look from a little above that has the whole motion in view; the ground is under all of it."""
    points = np.concatenate([np.zeros((0, 3)), *(_corners(animation, drawing))])
    low, high = points.min(axis=0), points.max(axis=0)
    centre, reach = (low + high) / 2, max(float(np.linalg.norm(high - low)), 1e-6)
    up = animation.up
    ahead = np.eye(3)[0] - up[0] * up if abs(up[0]) < 0.9 else np.eye(3)[1] - up[1] * up
    ahead /= np.linalg.norm(ahead)
    left = np.cross(up, ahead)
    # More from the side on which there is less to see: a planar mechanism is not looked at on its edge.
    flat = np.ptp(points @ ahead) < 0.5 * np.ptp(points @ left)
    away = (0.85 * ahead - 0.35 * left if flat else 0.4 * ahead - 0.85 * left) + 0.35 * up
    ground = min(float((points @ up).min()), 0.0)
    position = centre + 1.2 * reach * away / np.linalg.norm(away)
    return Camera(position, centre, np.stack([ahead, left, up]), ground, reach)


def _corners(animation: Animation, drawing: Drawing) -> Iterable[Array]:
    """The corners of the box around each part, in a few pictures spread over the animation."""
    some = np.unique(np.linspace(0, len(animation.times) - 1, 60).astype(int))
    for part in drawing.parts:
        low, high = part.triangles.corners.min(axis=0), part.triangles.corners.max(axis=0)
        corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
        if part.body == WORLD:
            yield corners
            continue
        for k in some:
            pose = animation.pose(part.body, int(k))
            yield corners @ pose[:3, :3].T + pose[:3, 3]
    for rod in drawing.rods:
        yield np.array([point for k in some for point in animation.span(rod, int(k))])
    for force in animation.arrows:
        yield force.tips
