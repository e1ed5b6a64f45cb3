"""URDF read with the standard library and computed with NumPy: an independent opinion on what a file means.

Beside it the same quantities of a description of ours: where its frames are, and its mass about the world.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.describe import CentralInertia, Mechanism
from torseur.dynamics.tree.system import System, body_poses, frame_pose
from torseur.graph import Function, evaluate

Matrix = NDArray[np.float64]


def triple(element: ElementTree.Element | None, attribute: str, default: str) -> Matrix:
    return np.array((default if element is None else element.get(attribute, default)).split(), dtype=float)


def turn(axis: Matrix, angle: float) -> Matrix:
    """Rodrigues."""
    x, y, z = axis / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def pose(R: Matrix, P: Matrix) -> Matrix:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, P
    return T


def origin(parent: ElementTree.Element) -> Matrix:
    found = parent.find("origin")
    roll, pitch, yaw = triple(found, "rpy", "0 0 0")
    x, y, z = np.eye(3)
    return pose(turn(z, yaw) @ turn(y, pitch) @ turn(x, roll), triple(found, "xyz", "0 0 0"))


def motion(joint: ElementTree.Element, q: float) -> Matrix:
    axis = triple(joint.find("axis"), "xyz", "1 0 0")
    kind = joint.get("type")
    if kind in ("revolute", "continuous"):
        return pose(turn(axis, q), np.zeros(3))
    if kind == "prismatic":
        return pose(np.eye(3), q * axis / np.linalg.norm(axis))
    assert kind == "fixed"
    return np.eye(4)


def link_poses(root: ElementTree.Element, q: Mapping[str, float]) -> dict[str, Matrix]:
    """The pose of every link of a robot of single-axis and fixed joints."""
    joints = {joint.find("child").get("link"): joint for joint in root.findall("joint")}

    def place(link: str) -> Matrix:
        if link not in joints:
            return np.eye(4)
        joint = joints[link]
        return place(joint.find("parent").get("link")) @ origin(joint) @ motion(joint, q.get(joint.get("name"), 0.0))

    return {link.get("name"): place(link.get("name")) for link in root.findall("link")}


@dataclass(frozen=True)
class Lump:
    """Mass, mass times centre, and inertia about the world's origin, in world axes."""

    mass: float
    moment: Matrix
    tensor: Matrix

    def __add__(self, other: Lump) -> Lump:
        return Lump(self.mass + other.mass, self.moment + other.moment, self.tensor + other.tensor)


def lump(mass: float, centre: Matrix, tensor: Matrix) -> Lump:
    """Huygens: from the centre to the origin."""
    return Lump(mass, mass * centre, tensor + mass * (centre @ centre * np.eye(3) - np.outer(centre, centre)))


def lumps(root: ElementTree.Element, poses: Mapping[str, Matrix]) -> dict[str, Lump]:
    """The mass of every link where it is."""
    found = {}
    for link in root.findall("link"):
        inertial = link.find("inertial")
        if inertial is None:
            continue
        entry: Callable[[str], float] = lambda name, i=inertial: float(i.find("inertia").get(name))  # noqa: E731
        xx, xy, xz, yy, yz, zz = map(entry, ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
        T = poses[link.get("name")] @ origin(inertial)
        R = T[:3, :3]
        own = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        found[link.get("name")] = lump(float(inertial.find("mass").get("value")), T[:3, 3], R @ own @ R.T)
    return found


# -- the same of a description of ours ---------------------------------------------------------------------------------
def frame_poses(mechanism: Mechanism, q: Mapping[str, float]) -> dict[str, Matrix]:
    """The pose of every frame at some coordinates; the others are where they start."""
    system = System(mechanism)
    bodies = body_poses(system)
    frames = {name: frame_pose(system, bodies, name).matrix() for name in mechanism.frames}
    p = [mechanism.parameters[name].value for name in system.p.names]
    values = evaluate(Function("poses", [system.q, system.p], frames), [q.get(x.name, x.start) for x in mechanism.q], p)
    return dict(zip(frames, values, strict=True))


def lumps_of(mechanism: Mechanism, q: Mapping[str, float]) -> dict[str, Lump]:
    """The mass of every body where it is; all inertias must be numbers."""
    poses, found = frame_poses(mechanism, q), {}
    for name, record in [("base", mechanism.base), *mechanism.bodies.items()]:
        inertia, T = record.inertia, poses[name]
        if inertia is None:
            continue
        if isinstance(inertia, CentralInertia):
            t, (roll, pitch, yaw), (x, y, z) = inertia.tensor, inertia.rpy, np.eye(3)
            R = T[:3, :3] @ turn(z, yaw) @ turn(y, pitch) @ turn(x, roll)
            own = np.array([[t.xx, t.xy, t.xz], [t.xy, t.yy, t.yz], [t.xz, t.yz, t.zz]])
            mass, centre = inertia.mass, np.array(inertia.centre)
        else:
            i, R = inertia, T[:3, :3]
            mass, centre = i.M, np.array([i.MX, i.MY, i.MZ]) / i.M
            own = np.array([[i.XX, i.XY, i.XZ], [i.XY, i.YY, i.YZ], [i.XZ, i.YZ, i.ZZ]])
            own = own - lump(mass, centre, np.zeros((3, 3))).tensor
        found[name] = lump(mass, T[:3, :3] @ centre + T[:3, 3], R @ own @ R.T)
    return found
