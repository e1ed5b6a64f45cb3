"""Coordinates at which loops are closed and couplings hold, as near as can be to the wished ones.

Newton's method with the smallest step that solves the linearised equations; what was asked for by name does not move.
Where it does not arrive, the picture shows the gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from torseur.dynamics.kinematics import body_poses, frame_pose
from torseur.dynamics.system import System
from torseur.graph import Expr, atan2, jacobian
from torseur.spatial.joints import Quantity
from torseur.spatial.pose import Pose
from torseur.views.scheme.values import Values

__all__ = ["assembled"]

Array = NDArray[np.float64]

LONGEST_STEP = 0.3
STEPS = 80
CLOSED = 1e-6


def assembled(values: Values) -> Values:
    """The values with coordinates that satisfy loops, couplings and equations, and a note of what had to move."""
    residual = list(_equations(values.system, values.length))
    if not residual:
        return values
    residual += _unit_quaternions(values.system)
    at = values.by_q({"r": residual, "J": jacobian(residual, list(values.system.q)).dense()})
    free = [k for k, x in enumerate(values.system.mechanism.q) if x.name not in values.held]
    q = values.q.copy()
    for _ in range(STEPS):
        found = at(q)
        r, J = found["r"], found["J"]
        if not np.all(np.isfinite(J)) or np.max(np.abs(r)) < 1e-12 or not free:
            break
        step = -np.linalg.pinv(J[:, free], rcond=1e-9) @ r
        q[free] += step * min(1.0, LONGEST_STEP / max(np.max(np.abs(step)), 1e-30))
    gap = float(np.max(np.abs(at(q)["r"])))
    if not gap <= CLOSED:
        values.notes.append("loops and couplings do not close from this pose; the gaps are drawn")
        return values
    return replace(values, q=q)


def _equations(system: System, length: float) -> Iterator[Expr]:
    """h(q) = 0, lengths measured in the typical one."""
    poses = body_poses(system)
    for loop in system.mechanism.loops.values():
        a, b = (frame_pose(system, poses, frame) for frame in loop.between)
        pitch = system.scalar(loop.pitch) if loop.pitch is not None else system.graph.zero
        yield from _closure(loop.joint, a.inverse() * b, pitch, length)
    for constraint in system.mechanism.constraints.values():
        if constraint.coupling is not None:
            yield system.scope[constraint.coupling.coordinate] - system.scalar(constraint.coupling.equals)
        if constraint.prescribed is not None:
            yield system.scope[constraint.prescribed.coordinate] - system.scalar(constraint.prescribed.equals)
        if constraint.zero is not None:
            yield system.scalar(constraint.zero)


def _closure(kind: str, b: Pose, pitch: Expr, length: float) -> list[Expr]:
    """What vanishes when frame b sits in frame a as a joint of a kind allows."""
    (x, y, z), R = b.P, b.R
    here, axis = [x / length, y / length], [R[0][2], R[1][2]]
    if kind == "spherical":
        return [*here, z / length]
    if kind == "revolute":
        return [*here, z / length, *axis]
    if kind == "universal":
        return [*here, z / length, R[0][1]]
    if kind == "cylindrical":
        return [*here, *axis]
    if kind == "screw":
        return [*here, (z - pitch * atan2(R[1][0], R[0][0])) / length, *axis]
    if kind == "planar":
        return [z / length, *axis]
    turned = [R[0][1] - R[1][0], *axis]
    return [*here, *turned] if kind == "prismatic" else [*here, z / length, *turned]


def _unit_quaternions(system: System) -> Iterator[Expr]:
    owners: dict[str, list[Expr]] = {}
    for x, variable in zip(system.q, system.mechanism.q, strict=True):
        if variable.quantity is Quantity.NUMBER:
            owners.setdefault(variable.owner, []).append(x)
    for w, x, y, z in owners.values():
        yield w * w + x * x + y * y + z * z - 1.0
