"""Numeric places and tensors, and how they look from a frame turned to its joint's axis.

A joint of URDF moves about any axis n of the link's frame; ours move about z of the body's frame. The body's frame has
the origin of the link's and is turned by C, a rotation with C z = n.
"""

from __future__ import annotations

import math

from torseur.describe import CentralInertia, Place, RigidPose, Tensor
from torseur.formats.urdf.elements import Inertial
from torseur.formats.urdf.visuals import Origin
from torseur.graph import Expr, Graph
from torseur.spatial.pose import Pose, Step, StepKind, product
from torseur.spatial.vectors import Matrix, Vector, matmul, rotate_back, transpose

__all__ = ["axis_in_words", "frame_of", "inertia_in", "place_of", "pose_of", "roll_pitch_yaw", "rotation", "turn_to"]

Triple = tuple[float, float, float]
SAME = 4e-16
QUARTER = math.pi / 2
TURNS = {
    (1.0, 0.0, 0.0): (0.0, QUARTER, 0.0),
    (-1.0, 0.0, 0.0): (0.0, -QUARTER, 0.0),
    (0.0, 1.0, 0.0): (-QUARTER, 0.0, 0.0),
    (0.0, -1.0, 0.0): (QUARTER, 0.0, 0.0),
    (0.0, 0.0, 1.0): (0.0, 0.0, 0.0),
    (0.0, 0.0, -1.0): (math.pi, 0.0, 0.0),
}
"""Roll, pitch, yaw that take z to an axis."""


def pose_of(g: Graph, origin: Origin) -> Pose:
    """A place of the file as a pose of numbers; right angles are exact."""
    P = g.number(origin.xyz[0]), g.number(origin.xyz[1]), g.number(origin.xyz[2])
    return Pose(rotation(g, origin.rpy), P)


def rotation(g: Graph, rpy: Triple) -> Matrix:
    """Rz(yaw) Ry(pitch) Rx(roll)."""
    kinds = (StepKind.ROTATE_Z, StepKind.ROTATE_Y, StepKind.ROTATE_X)
    return product(g, [Step(kind, g.number(angle)) for kind, angle in zip(kinds, reversed(rpy), strict=True)]).R


def turn_to(g: Graph, axis: Triple) -> Matrix | None:
    """C with C z = axis, a unit vector; none where the axis is z already."""
    if axis in TURNS:
        return None if axis == (0.0, 0.0, 1.0) else rotation(g, TURNS[axis])
    x, y, z = axis
    if z < 0.0:
        return matmul(rotation(g, (math.pi, 0.0, 0.0)), _shortest_turn(g, x, -y, -z))
    return _shortest_turn(g, x, y, z)


def axis_in_words(axis: Triple) -> str:
    """x, -x, ... or the components of the unit vector."""
    for k, name in enumerate("xyz"):
        if abs(axis[k]) == 1.0:
            return name if axis[k] > 0.0 else f"-{name}"
    return f"({axis[0]:.4g}, {axis[1]:.4g}, {axis[2]:.4g})"


def _shortest_turn(g: Graph, x: float, y: float, z: float) -> Matrix:
    """The turn from z to a unit vector about the normal of both: R = I + [w]x + [w]x^2 / (1 + z), w = z cross n."""
    k = 1.0 / (1.0 + z)
    rows = ((1.0 - k * x * x, -k * x * y, x), (-k * x * y, 1.0 - k * y * y, y), (-x, -y, z))
    a, b, c = ((g.number(r[0]), g.number(r[1]), g.number(r[2])) for r in rows)
    return (a, b, c)


def seen_from(turn: Matrix | None, pose: Pose) -> Pose:
    """A place in the link's frame, seen from the turned frame: C' pose."""
    return pose if turn is None else Pose(matmul(transpose(turn), pose.R), rotate_back(turn, pose.P))


def place_of(g: Graph, origin: Origin, before: Matrix | None = None, after: Matrix | None = None) -> Place:
    """A place as a record, between frames turned by `before` and by `after`, in the simplest words that are exact."""
    pose = seen_from(before, pose_of(g, origin))
    if after is not None:
        pose = Pose(matmul(pose.R, after), pose.P)
    position = _triple(pose.P)
    rpy = origin.rpy if before is None and after is None else _exact_angles(g, pose.R)
    if rpy is None:
        first, second, third = (_triple(row) for row in pose.R)
        return Place(pose=RigidPose(position=position, matrix=(first, second, third)))
    if not any(rpy):
        return Place(pose=RigidPose(position=position)) if any(position) else Place()
    return Place(pose=RigidPose(position=position, rpy=rpy))


def roll_pitch_yaw(R: Matrix) -> Triple:
    """The angles of a rotation Rz(yaw) Ry(pitch) Rx(roll); sound at pitch = +-pi/2 too, where they are not unique."""
    r = [[float(entry) for entry in row] for row in R]
    pitch = math.atan2(-r[2][0], math.hypot(r[0][0], r[1][0]))
    yaw = math.atan2(r[1][0], r[0][0])
    s, c = math.sin(yaw), math.cos(yaw)
    roll = math.atan2(s * r[0][2] - c * r[1][2], c * r[1][1] - s * r[0][1])
    return (roll + 0.0, pitch + 0.0, yaw + 0.0)


def _exact_angles(g: Graph, R: Matrix) -> Triple | None:
    """The angles of a rotation, if they give it back to the last digits."""
    rpy = roll_pitch_yaw(R)
    again = rotation(g, rpy)
    pairs = [(float(a), float(b)) for row, plain in zip(again, R, strict=True) for a, b in zip(row, plain, strict=True)]
    return rpy if all(abs(a - b) <= SAME for a, b in pairs) else None


def _triple(vector: Vector) -> Triple:
    return (float(vector[0]) + 0.0, float(vector[1]) + 0.0, float(vector[2]) + 0.0)


def inertia_in(g: Graph, turn: Matrix | None, inertial: Inertial | None) -> CentralInertia | None:
    """The inertia of a link in the turned frame; none for a link without mass."""
    if inertial is None or not (inertial.mass or any(inertial.tensor)):
        return None
    xx, xy, xz, yy, yz, zz = inertial.tensor
    if turn is None:
        tensor = Tensor(xx=xx, yy=yy, zz=zz, xy=xy, xz=xz, yz=yz)
        return CentralInertia(mass=inertial.mass, centre=inertial.origin.xyz, tensor=tensor, rpy=inertial.origin.rpy)
    pose = seen_from(turn, pose_of(g, inertial.origin))
    entries: tuple[tuple[float, ...], ...] = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    own = [[g.number(entry) for entry in row] for row in entries]
    I = matmul(matmul(pose.R, _matrix(own)), transpose(pose.R))  # noqa: E741 the book's symbol
    tensor = Tensor(
        xx=float(I[0][0]), yy=float(I[1][1]), zz=float(I[2][2]), xy=float(I[0][1]), xz=float(I[0][2]), yz=float(I[1][2])
    )
    return CentralInertia(mass=inertial.mass, centre=_triple(pose.P), tensor=tensor)


def _matrix(rows: list[list[Expr]]) -> Matrix:
    a, b, c = ((row[0], row[1], row[2]) for row in rows)
    return (a, b, c)


def frame_of(g: Graph, turn: Matrix) -> Place:
    """The link's own frame in the turned one: C'."""
    return place_of(g, Origin(), before=turn)
