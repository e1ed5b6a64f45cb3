"""Numeric places and inertias of a URDF file as records."""

from __future__ import annotations

import math

from torseur.describe import CentralInertia, Place, RigidPose, Tensor
from torseur.formats.urdf.elements import Inertial
from torseur.formats.urdf.visuals import Origin
from torseur.graph import Graph
from torseur.spatial.pose import Pose, Step, StepKind, product
from torseur.spatial.vectors import Matrix, Vector

__all__ = ["inertia_of", "place_of", "pose_of", "roll_pitch_yaw", "rotation"]

Triple = tuple[float, float, float]


def pose_of(g: Graph, origin: Origin) -> Pose:
    """A place of the file as a pose of numbers; right angles are exact."""
    return Pose(rotation(g, origin.rpy), Vector(*(g.number(x) for x in origin.xyz)))


def rotation(g: Graph, rpy: Triple) -> Matrix:
    """Rz(yaw) Ry(pitch) Rx(roll)."""
    kinds = (StepKind.ROTATE_Z, StepKind.ROTATE_Y, StepKind.ROTATE_X)
    return product(g, [Step(kind, g.number(angle)) for kind, angle in zip(kinds, reversed(rpy), strict=True)]).R


def place_of(origin: Origin) -> Place:
    """A place as a record, in the simplest words."""
    if any(origin.rpy):
        return Place(pose=RigidPose(position=origin.xyz, rpy=origin.rpy))
    return Place(pose=RigidPose(position=origin.xyz)) if any(origin.xyz) else Place()


def roll_pitch_yaw(R: Matrix) -> Triple:
    """The angles of a rotation Rz(yaw) Ry(pitch) Rx(roll); sound at pitch = +-pi/2 too, where they are not unique."""
    r = [[float(entry) for entry in row] for row in R]
    pitch = math.atan2(-r[2][0], math.hypot(r[0][0], r[1][0]))
    yaw = math.atan2(r[1][0], r[0][0])
    s, c = math.sin(yaw), math.cos(yaw)
    roll = math.atan2(s * r[0][2] - c * r[1][2], c * r[1][1] - s * r[0][1])
    return (roll + 0.0, pitch + 0.0, yaw + 0.0)


def inertia_of(inertial: Inertial | None) -> CentralInertia | None:
    """The inertia of a link; none for a link without mass."""
    if inertial is None or not (inertial.mass or any(inertial.tensor)):
        return None
    xx, xy, xz, yy, yz, zz = inertial.tensor
    tensor = Tensor(xx=xx, yy=yy, zz=zz, xy=xy, xz=xz, yz=yz)
    return CentralInertia(mass=inertial.mass, centre=inertial.origin.xyz, tensor=tensor, rpy=inertial.origin.rpy)
