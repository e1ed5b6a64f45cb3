"""Poses of every body and frame, as expressions of q (and of t, where the base is driven).

============  ==================================================  ============
R, P          rotation and position of a frame in the world       (3, 3), m
============  ==================================================  ============
"""

from __future__ import annotations

from collections.abc import Sequence

from torseur.describe import BASE, WORLD, BaseKind
from torseur.dynamics.tree.system import System
from torseur.errors import ModelError
from torseur.graph import Expr, jacobian, tangents
from torseur.spatial.joints import KINDS, JointKind
from torseur.spatial.motion import Motion
from torseur.spatial.pose import Pose, Step, StepKind, product
from torseur.spatial.vectors import Matrix, Vector

__all__ = [
    "along_speeds",
    "body_poses",
    "carrier_steps",
    "coordinates_of",
    "displaced",
    "frame_pose",
    "joint_pose",
    "joints",
    "rates",
    "velocity_of",
]

_CARRIER = (
    (StepKind.MOVE_X, 0),
    (StepKind.MOVE_Y, 1),
    (StepKind.MOVE_Z, 2),
    (StepKind.ROTATE_Z, 5),
    (StepKind.ROTATE_Y, 4),
    (StepKind.ROTATE_X, 3),
)


def coordinates_of(system: System, owner: str) -> list[Expr]:
    """The coordinates of one joint, or of the base."""
    return list(system.owned.get(owner, ()))


def joints(system: System) -> list[tuple[JointKind, list[Expr], list[Expr]]]:
    """Kind, coordinates and speeds of the base and of every joint, in order. A carrier is six plain joints."""
    mechanism, triples, first = system.mechanism, [], 0
    kinds = [(BASE, mechanism.base.joint_kind), *((n, b.joint.algebra) for n, b in mechanism.bodies.items())]
    if mechanism.base.kind is BaseKind.CARRIER:
        plain, q = KINDS["revolute"], coordinates_of(system, BASE)
        triples = [(plain, [x], [v]) for x, v in zip(q, system.v.symbols[:6], strict=True)]
        kinds, first = kinds[1:], 6
    for owner, kind in kinds:
        v = list(system.v.symbols[first : first + kind.nv])
        triples.append((kind, coordinates_of(system, owner), v))
        first += kind.nv
    return triples


def rates(system: System) -> list[Expr]:
    """dq/dt in the order of q; the coordinates that no joint owns come last, their rates are their speeds."""
    rates_of_q: list[Expr] = []
    for kind, q, v in joints(system):
        rates_of_q += kind.rates(system.graph, q, v)
    free = len(system.mechanism.coordinates)
    return [*rates_of_q, *system.v.symbols[len(system.v) - free :]] if free else rates_of_q


def displaced(system: System, q: Sequence[Expr], d: Sequence[Expr]) -> list[Expr]:
    """Coordinates after a small motion d (nv) along the speeds; quaternions stay unit."""
    q_moved: list[Expr] = []
    moved = 0
    for kind, own, _ in joints(system):
        q_moved += kind.displaced(system.graph, q[len(q_moved) : len(q_moved) + len(own)], d[moved : moved + kind.nv])
        moved += kind.nv
    return [*q_moved, *(x + r for x, r in zip(q[len(q_moved) :], d[moved:], strict=True))]


def joint_pose(system: System, body: str) -> Pose:
    """The pose of a body in its parent: place, motion, and what comes after it."""
    record = system.mechanism.bodies[body]
    joint = record.joint
    settings = [system.scalar(joint.pitch)] if joint.pitch is not None else []
    motion = joint.algebra.pose(system.graph, coordinates_of(system, body), settings)
    return system.product(system.steps_to(record)) @ motion @ system.product(system.steps_from(record))


def velocity_of(pose: Pose, seeds: dict[Expr, Expr]) -> Motion:
    """V and w in the frame's axes, by differentiating its pose: V = R' dP/dt, [w]x = R' dR/dt."""
    flat = [*pose.R[0], *pose.R[1], *pose.R[2], *pose.P]
    d = tangents(flat, seeds)
    turn = pose.R.T @ Matrix.of((d[0:3], d[3:6], d[6:9]))
    return Motion(pose.R.T @ Vector(*d[9:12]), Vector(turn[2][1], turn[0][2], turn[1][0]))


def body_poses(system: System) -> dict[str, Pose]:
    """The pose of every body in the world."""
    poses = {WORLD: Pose.identity(system.graph), BASE: _base_pose(system)}
    for body in system.order:
        poses[body] = poses[system.mechanism.bodies[body].parent] @ joint_pose(system, body)
    return poses


def _base_pose(system: System) -> Pose:
    base, g = system.mechanism.base, system.graph
    if base.kind is BaseKind.CARRIER:
        return system.place(base.place) @ product(g, carrier_steps(system))
    return system.place(base.place) @ base.joint_kind.pose(g, coordinates_of(system, BASE))


def carrier_steps(system: System) -> list[Step]:
    """The motion of a virtual carrier: along x, y and z, then about z, y and x."""
    q = coordinates_of(system, BASE)
    return [Step(kind, q[k]) for kind, k in _CARRIER]


def frame_pose(system: System, poses: dict[str, Pose], name: str) -> Pose:
    """The pose of a body or named frame in the world."""
    body = system.mechanism.frames.get(name)
    if body is None:
        raise ModelError(f"no frame '{name}'", expected=", ".join(system.mechanism.frames))
    if name == body:
        return poses[body]
    frames = system.mechanism.base.frames if body == BASE else system.mechanism.bodies[body].frames
    return poses[body] @ system.place(frames[name].place)


def along_speeds(system: System, rows: list[Expr]) -> list[list[Expr]]:
    """Derivatives of rows (rows, nv) by a small motion d along the speeds: dq = G(q) d, with dq/dt = G v."""
    G, zero = jacobian(rates(system), list(system.v)), system.graph.zero
    table = jacobian(rows, list(system.q)).dense() if rows else []
    result = [[zero] * len(system.v) for _ in table]
    for i, j, entry in zip(G.rows, G.columns, G.entries, strict=True):
        for row, source in zip(result, table, strict=True):
            row[j] = row[j] + source[i] * entry
    return result
