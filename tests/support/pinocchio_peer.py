"""The same mechanism in Pinocchio, and states brought from our order to its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.plain import Plain
from torseur.describe import BASE, WORLD, CentralInertia, Mechanism, StandardInertia

__all__ = ["InPinocchio"]

Array = NDArray[np.float64]


class InPinocchio:
    """A tree without loads, built joint by joint through Pinocchio's own interface.

    Bases: fixed, planar, floating. Quaternions are x y z w there; a planar joint has the cosine and sine of its angle.
    """

    def __init__(self, pin: Any, mechanism: Mechanism) -> None:
        self.pin, self.mechanism, self.plain = pin, mechanism, Plain(mechanism)
        self.model = pin.Model()
        self.model.gravity = pin.Motion(self.plain.g, np.zeros(3))
        self.joints: dict[str, int] = {}
        self.home: dict[str, tuple[int, Any]] = {WORLD: (0, pin.SE3.Identity())}
        base = mechanism.base
        self._add(BASE, WORLD, base.place, base.joint_kind.name, None, base.inertia)
        for root in (BASE, WORLD):
            self._branch(root)
        self.data = self.model.createData()

    def _branch(self, parent: str) -> None:
        """One branch after the other: Pinocchio needs what a joint carries to follow it without a gap."""
        for name, body in self.mechanism.bodies.items():
            if body.parent == parent:
                self._add(name, parent, body.place, body.joint.kind, body.joint.pitch, body.inertia)
                self._branch(name)

    def _add(self, name: str, parent: str, place: Any, kind: str, pitch: Any, inertia: Any) -> None:
        pin = self.pin
        joint, offset = self.home[parent]
        before, after = (pin.SE3(T[:3, :3].copy(), T[:3, 3].copy()) for T in self.plain._place(place))
        if name == BASE:  # of a base, the whole place comes before its motion
            before, after = before * after, pin.SE3.Identity()
        if kind == "fixed":
            self.home[name] = joint, offset * before * after
        else:
            made = self._joint(kind, pitch)
            joint = self.joints[name] = self.model.addJoint(joint, made, offset * before, name)
            self.home[name] = joint, after
        if inertia is not None:
            link, pose = self.home[name]
            self.model.appendBodyToJoint(link, self._inertia(inertia), pose)

    def _joint(self, kind: str, pitch: Any) -> Any:
        pin = self.pin
        plain = {
            "revolute": pin.JointModelRZ,
            "prismatic": pin.JointModelPZ,
            "spherical": pin.JointModelSpherical,
            "planar": pin.JointModelPlanar,
            "free": pin.JointModelFreeFlyer,
            "free_rpy": pin.JointModelFreeFlyer,
        }
        if kind in plain:
            return plain[kind]()
        if kind == "screw":
            return pin.JointModelHZ(self.plain.value(pitch))
        made = pin.JointModelComposite()
        for part in {
            "cylindrical": (pin.JointModelRZ, pin.JointModelPZ),
            "universal": (pin.JointModelRX, pin.JointModelRY),
        }[kind]:
            made.addJoint(part())
        return made

    def _inertia(self, inertia: StandardInertia | CentralInertia) -> Any:
        x = self.plain.value
        points = self.plain._six_points(inertia)
        M = sum(m for m, _ in points)
        c = sum(m * p for m, p in points) / M
        J = sum(m * ((p - c) @ (p - c) * np.eye(3) - np.outer(p - c, p - c)) for m, p in points)
        assert abs(M - x(inertia.M if isinstance(inertia, StandardInertia) else inertia.mass)) < 1e-12
        return self.pin.Inertia(M, c, J)

    # -- states
    def q(self, q: Array) -> Array:
        found = np.zeros(self.model.nq)
        for owner, joint in self.joints.items():
            own, first = q[self.plain.q_of[owner]], self.model.joints[joint].idx_q
            found[first : first + self.model.joints[joint].nq] = self._coordinates(owner, own)
        return found

    def _coordinates(self, owner: str, q: Array) -> Any:
        mechanism = self.mechanism
        kind = mechanism.base.joint_kind.name if owner == BASE else mechanism.bodies[owner].joint.kind
        if kind == "spherical":
            return [*q[1:], q[0]]
        if kind == "free":
            return [*q[:3], *q[4:], q[3]]
        if kind == "planar":
            return [*q[:2], np.cos(q[2]), np.sin(q[2])]
        if kind == "free_rpy":
            turn = self.pin.rpy.rpyToMatrix(*q[3:])
            return self.pin.SE3ToXYZQUAT(self.pin.SE3(turn, q[:3]))
        return q

    @property
    def rows(self) -> list[int]:
        """Where each of our speeds is in Pinocchio's order."""
        found = [0] * len(self.mechanism.v)
        for owner, joint in self.joints.items():
            for k, place in enumerate(self.plain.v_of[owner]):
                found[place] = self.model.joints[joint].idx_v + k
        return found

    def v(self, v: Array) -> Array:
        found = np.zeros(self.model.nv)
        found[self.rows] = v
        return found
