"""A run as pictures per second: where every body is in each of them, and from where one looks."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from torseur.describe import BASE, WORLD, Mechanism
from torseur.dynamics.tree.system import System
from torseur.errors import ArgumentError
from torseur.simulation.results.result import Run
from torseur.views.scene.drawing import drawing_of
from torseur.views.scene.parts import Drawing, ForceArrow, Part, Point, Rod
from torseur.views.scene.wheels_on_roads import road_parts, tyre_arrows
from torseur.views.values import frame_poses, mechanism_of, values_for

__all__ = [
    "FIELD_OF_VIEW",
    "Animation",
    "Arrow",
    "Camera",
    "Scene",
    "animation_of",
    "camera_of",
    "clock",
    "pace_of",
    "quaternion_of",
    "round_length",
    "scene_of",
]

Array = NDArray[np.float64]

LONGEST = 20_000
"""Pictures in one animation."""
PLAYED = 1.0, 100.0
"""Durations that are shown in real time, s: what is over sooner is slowed, what takes longer is quickened."""
SLOWED = 2.0
"""What is slowed takes at least so long, s."""
FIELD_OF_VIEW = 0.75
"""Angle of the picture from top to bottom, rad."""
ASPECT = 1.2
"""Width over height of a picture in which everything must be in view; wider ones show more."""
MARGIN = 1.12
"""Of the distance from which everything would just be in view."""
FAR = 4.0
"""A mechanism that travels more than so many times its size is followed."""


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
class Animation:
    """Where things are in each picture.

    Attributes:
        times: (n,), s from the start of the run.
        positions: body -> (n, 3), m.
        turns: body -> (n, 4), unit quaternions w x y z, without jumps of sign.
        traces: frame -> its whole path (m, 3), finer than the pictures, m.
        arrows: forces.
        up: direction away from gravity.
        pace: seconds of the run in a second of its playback.
    """

    times: Array
    positions: dict[str, Array]
    turns: dict[str, Array]
    traces: dict[str, Array]
    arrows: tuple[ForceArrow, ...]
    up: Array
    pace: float = 1.0

    def scaled(self, factor: float) -> Animation:
        """With all lengths times a factor."""
        return replace(
            self,
            positions={body: factor * p for body, p in self.positions.items()},
            traces={frame: factor * p for frame, p in self.traces.items()},
            arrows=tuple(replace(x, feet=factor * x.feet, tips=factor * x.tips) for x in self.arrows),
        )

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
    """What is drawn, where it is in every picture, the path (n, 3) that stays in the middle, if any, and the road."""

    drawing: Drawing
    animation: Animation
    follow: Array | None
    road: tuple[Part, ...] = ()

    def scaled(self, factor: float) -> Scene:
        """With all lengths times a factor."""
        follow = None if self.follow is None else factor * self.follow
        road = tuple(part.scaled(factor) for part in self.road)
        return Scene(self.drawing.scaled(factor), self.animation.scaled(factor), follow, road)


def scene_of(
    run: Run,
    *,
    fps: float = 30.0,
    pace: float | None = None,
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
    animation = animation_of(run, drawing, fps=fps, pace=pace, traces=traces, arrows=arrows)
    frame = follow or _traveller(run, mechanism, drawing, animation)
    if frame is None:
        return Scene(drawing, animation, None, road_parts(run))
    middle = frame_poses(run.resampled(animation.times + run.time[0]), frame)[:, :3, 3]
    return Scene(drawing, animation, middle, road_parts(run))


def _traveller(run: Run, mechanism: Mechanism, drawing: Drawing, animation: Animation) -> str | None:
    """The base that travels far; on a fixed base the first body, where nothing that is drawn stays behind."""
    paths = animation.positions
    if mechanism.has_moving_base:
        paths = {BASE: frame_poses(run, BASE)[:, :3, 3]}
    far = [np.ptp(path, axis=0).max() > FAR * drawing.size for path in paths.values()]
    return next(iter(paths)) if far and all(far) else None


def round_length(length: float) -> float:
    """The next of ..., 0.1, 0.2, 0.5, 1, 2, 5, ... above a length.

    >>> round_length(0.03), round_length(5.1)
    (0.05, 10.0)
    """
    power = 10.0 ** math.floor(math.log10(length))
    return float(next(f"{step * power:.1g}" for step in (1.0, 2.0, 5.0, 10.0) if step * power >= length * (1.0 - 1e-9)))


def pace_of(duration: float) -> float:
    """Seconds of a run in a second of its playback: one, but for what is over at once or takes very long.

    >>> pace_of(20.0), pace_of(0.001), pace_of(5400.0)
    (1.0, 0.0005, 100.0)
    """
    shortest, longest = PLAYED
    if duration > longest:
        return round_length(duration / longest)
    return 1.0 / round_length(SLOWED / duration) if 0.0 < duration < shortest else 1.0


def clock(time: float, duration: float, end: float, pace: float) -> str:
    """The time that a picture shows, in as many digits as its run needs.

    >>> clock(0.5, 10.0, 10.0, 1.0), clock(2e-4, 1e-3, 1e-3, 5e-4)
    ('0.50 s of 10 s', '0.000200 s of 0.001 s, 2000 times slower than real time')
    """
    digits = min(max(3 - math.ceil(math.log10(duration)), 2), 12) if duration > 0.0 else 2
    slower, faster = f", {1.0 / pace:g} times slower than real time", f", {pace:g} times faster than real time"
    return f"{time:.{digits}f} s of {end:g} s" + (slower if pace < 1.0 else faster if pace > 1.0 else "")


def animation_of(
    run: Run,
    drawing: Drawing,
    *,
    fps: float = 30.0,
    pace: float | None = None,
    traces: Iterable[str] = (),
    arrows: Sequence[Arrow] = (),
) -> Animation:
    """The pictures of a run, `fps` of them in a second of its playback."""
    duration = float(run.time[-1] - run.time[0])
    if not 0.0 < fps <= 240.0:
        raise ArgumentError("the rate of pictures per second is out of range", expected="0 to 240", got=f"{fps:g}")
    pace = pace_of(duration) if pace is None else pace
    if not 0.0 < pace < math.inf:
        raise ArgumentError("the pace of a playback is a positive number", got=f"{pace:g}", option="pace")
    count = max(round(duration / pace * fps) + 1, 1)
    if count > LONGEST:
        raise ArgumentError(
            "this animation would be too long",
            expected=f"at most {LONGEST} pictures",
            got=f"{count} in {duration / pace:g} s",
            remedy="fewer per second",
            option="fps",
            call=f"fps={LONGEST / duration * pace:.2g}",
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
    forces += tyre_arrows(seen, drawing.size)
    return Animation(times - times[0], positions, turns, paths, forces, _up(run), pace)


def _check_finite(poses: Array, body: str) -> None:
    bad = ~np.isfinite(poses.reshape(len(poses), -1)).all(axis=1)
    if bad.any():
        raise ArgumentError(
            f"'{body}' has no place in {bad.sum()} of {len(poses)} pictures",
            remedy="look at the run: it holds values that are not numbers",
        )


def _up(run: Run) -> Array:
    """Away from gravity; z where there is none."""
    system = System(mechanism_of(run))
    values = values_for(system, {}, run.parameters)
    gravity = np.array(values.numbers({"g": [system.scalar(x) for x in system.mechanism.gravity]})["g"], dtype=float)
    size = float(np.linalg.norm(gravity))
    return -gravity / size + 0.0 if 0.0 < size < np.inf else np.array([0.0, 0.0, 1.0])


def _force_arrow(run: Run, arrow: Arrow, size: float) -> ForceArrow:
    force = run[arrow.channel]
    if force.shape[1:] != (3,):
        got = str(force.shape)
        raise ArgumentError("an arrow has three components", where=arrow.channel, expected="(nt, 3)", got=got)
    largest = float(np.linalg.norm(force, axis=1).max(initial=0.0))
    scale = arrow.scale if arrow.scale is not None else size / 3.0 / (largest or 1.0)
    feet = frame_poses(run, arrow.frame)[:, :3, 3].copy()
    return ForceArrow(arrow.channel, feet, feet + scale * force)


def quaternion_of(R: Array) -> Array:
    """Of rotation matrices (..., 3, 3), w x y z (scipy's way takes 0.2 s to import).

    Four times each component times all of them; the largest is divided by (Shepperd 1978).

    >>> quaternion_of(np.diag([1.0, -1.0, -1.0]))
    array([0., 1., 0., 0.])
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = np.moveaxis(R, (-2, -1), (0, 1))
    products = [
        [1.0 + xx + yy + zz, zy - yz, xz - zx, yx - xy],
        [zy - yz, 1.0 + xx - yy - zz, xy + yx, xz + zx],
        [xz - zx, xy + yx, 1.0 - xx + yy - zz, yz + zy],
        [yx - xy, xz + zx, yz + zy, 1.0 - xx - yy + zz],
    ]
    table = np.moveaxis(np.array(products), (0, 1), (-2, -1))
    largest = np.argmax(np.diagonal(table, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(table, largest[..., None, None], axis=-2)[..., 0, :]
    return np.asarray(q / np.linalg.norm(q, axis=-1, keepdims=True))


def _quaternions(R: Array) -> Array:
    """Of rotation matrices (n, 3, 3), w x y z; each the nearer of the two to the one before."""
    q = quaternion_of(R)
    signs = np.where(np.sum(q[1:] * q[:-1], axis=1) < 0.0, -1.0, 1.0)
    q[1:] *= np.cumprod(signs)[:, None]
    return q


def _matrix(quaternion: Array) -> Array:
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def camera_of(animation: Animation, drawing: Drawing, follow: Array | None = None) -> Camera:
    """A look that has the whole motion in view and is as near as that allows; the ground is under all of it.

    Args:
        animation: the motion.
        drawing: what is drawn.
        follow: the path (n, 3) that stays in the middle, if any.
    """
    every = [*_corners(animation, drawing)]
    some = [k for k, _ in every]
    world = np.concatenate([points for _, points in every])
    shift = np.zeros((1, 3)) if follow is None else (follow - follow[0])[np.concatenate(some)]
    points, up = world - shift, animation.up
    ahead = np.eye(3)[0] - up[0] * up if abs(up[0]) < 0.9 else np.eye(3)[1] - up[1] * up
    ahead /= np.linalg.norm(ahead)
    basis = np.stack([ahead, np.cross(up, ahead), up])
    away = _direction(*np.ptp(points @ basis.T, axis=0)) @ basis
    low, high = points.min(axis=0), points.max(axis=0)
    reach = max(float(np.linalg.norm(high - low)), 1e-12)
    position, look_at = _framed(points, away, up, (low + high) / 2, reach)
    return Camera(position, look_at, basis, min(float((world @ up).min()), 0.0), reach)


def _direction(length: float, width: float, height: float) -> Array:
    """From where to look at a box, along ahead, left, up: on the broad side of what is flat, else on a corner."""
    if height < 0.15 * min(length, width):
        away = np.array([-0.35, -0.6, 0.9])
    elif length < 0.5 * width:
        away = np.array([0.85, -0.35, 0.35])
    else:
        away = np.array([0.4, -0.85, 0.35])
    return np.asarray(away / np.linalg.norm(away))


def _framed(points: Array, away: Array, up: Array, centre: Array, reach: float) -> tuple[Array, Array]:
    """Position and look-at of a camera that looks against a direction and has points (n, 3) in view with a margin."""
    right = np.cross(up, away)
    right /= np.linalg.norm(right)
    above = np.cross(away, right)
    x, y, z = ((points - centre) @ axis for axis in (right, above, away))
    middle = centre + (x.max() + x.min()) / 2 * right + (y.max() + y.min()) / 2 * above
    x, y = x - (x.max() + x.min()) / 2, y - (y.max() + y.min()) / 2
    tall = np.tan(0.5 * FIELD_OF_VIEW)
    distance = MARGIN * float(np.max(np.maximum(np.abs(y) / tall, np.abs(x) / (ASPECT * tall)) + z))
    return middle + max(distance, 0.3 * reach) * away, middle


def _corners(animation: Animation, drawing: Drawing) -> Iterable[tuple[NDArray[np.int64], Array]]:
    """The corners of the box around each part in a few pictures spread over the animation, and the picture of each."""
    some = np.unique(np.linspace(0, len(animation.times) - 1, 60).astype(int))
    for part in drawing.parts:
        low, high = part.triangles.corners.min(axis=0), part.triangles.corners.max(axis=0)
        corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
        if part.body == WORLD:
            yield np.zeros(len(corners), dtype=np.int64), corners
            continue
        for k in some:
            pose = animation.pose(part.body, int(k))
            yield np.full(len(corners), k), corners @ pose[:3, :3].T + pose[:3, 3]
    for rod in drawing.rods:
        for k in some:
            yield np.full(2, k), np.array(animation.span(rod, int(k)))
    for force in animation.arrows:
        yield np.arange(len(force.tips)), force.tips
