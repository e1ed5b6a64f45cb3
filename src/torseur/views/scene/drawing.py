"""What there is to draw of a mechanism in space: its shapes, or bars and joints where it has none.

Parts ride on bodies, each in its body's own frame; rods span from a point of one body to a point of another.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from torseur.describe import Mechanism
from torseur.describe.loads import PathLoad
from torseur.dynamics.kinematics import body_poses, frame_pose
from torseur.dynamics.system import System
from torseur.errors import ArgumentError
from torseur.views.scene.parts import GREY, Drawing, Part, Point, Rod
from torseur.views.scene.shapes import has_shapes, shape_parts
from torseur.views.scene.sticks import loop_parts, stick_parts
from torseur.views.scheme.assembly import assembled
from torseur.views.scheme.skeleton import Skeleton, skeleton_of
from torseur.views.scheme.values import Values, values_for

__all__ = ["MOST_BODIES", "drawing_of", "start_of"]

MOST_BODIES = 300


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
        found = list(stick_parts(values, skeleton))
    else:
        found = [*shape_parts(values, Path(folder), 0.006 * skeleton.size), *loop_parts(values, skeleton)]
    found += _struts(values, skeleton)
    parts = tuple(x for x in found if isinstance(x, Part))
    rods = tuple(x for x in found if isinstance(x, Rod))
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
                place = poses[body].inverse() * frame_pose(system, poses, frame)
                ends.append(Point(body, np.array(values.numbers({"P": list(place.P)})["P"], dtype=float)))
            yield Rod(ends[0], ends[1], 0.007 * skeleton.size, GREY)


def _size(parts: tuple[Part, ...], skeleton: Skeleton) -> float:
    """The extent of the mechanism, or of what is drawn on one body if that is more, m."""
    largest = max((float(np.ptp(part.triangles.corners, axis=0).max()) for part in parts), default=0.0)
    joints = float(np.ptp(skeleton.points(), axis=0).max()) * skeleton.size
    return max(largest, joints, 1e-6)
