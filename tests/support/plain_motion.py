"""How a mechanism moves: plain NumPy on the records of the description, nothing of ours.

Poses are moved along with their first and second derivatives in time, so nothing is differenced.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.jets import Jet, jet_of
from support.moving_poses import (
    Moving,
    about,
    joint_motion,
    joint_rates,
    product_of_steps,
    quaternion,
    rotation,
    translation,
)
from torseur.describe import BASE, WORLD, BaseKind, Formula, Mechanism, Place
from torseur.describe.fields import names_in

__all__ = ["PlainMotion", "number", "parameter_values"]

Array = NDArray[np.float64]

_FUNCTIONS = (math.sin, math.cos, math.tan, math.asin, math.acos, math.atan, math.atan2, math.sqrt, abs)
_WORDS = {"pi": math.pi, "deg": math.pi / 180, **{f.__name__: f for f in _FUNCTIONS}}


def number(value: Any, names: Mapping[str, float]) -> float:
    """A number or formula, read as Python reads it."""
    if not isinstance(value, Formula):
        return float(value)
    return float(eval(value.text.replace("^", "**"), {"__builtins__": {}}, {**_WORDS, **names}))


def parameter_values(mechanism: Mechanism, given: Mapping[str, float] | None = None) -> dict[str, float]:
    """Every parameter of a mechanism as a number."""
    known = dict(given or {})
    waiting = {name: p.value for name, p in mechanism.parameters.items() if name not in known}
    while waiting:
        for name, value in list(waiting.items()):
            if not isinstance(value, Formula) or value.names <= known.keys():
                known[name] = number(waiting.pop(name), known)
    return known


class PlainMotion:
    """The description read as numbers."""

    def __init__(self, mechanism: Mechanism, parameters: Mapping[str, float] | None = None) -> None:
        self.mechanism = mechanism
        self.names = parameter_values(mechanism, parameters)
        self.g = np.array([number(x, self.names) for x in mechanism.gravity])
        self.nv = len(mechanism.v)
        self.q_of = self._places(mechanism.q)
        self.v_of = self._places(mechanism.v)

    @staticmethod
    def _places(variables: Any) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for k, x in enumerate(variables):
            found.setdefault(x.owner, []).append(k)
        return found

    def value(self, scalar: Any) -> float:
        return number(scalar, self.names)

    # -- places
    def _place(self, place: Place) -> tuple[Array, Array]:
        """Before and after the motion of the joint."""
        x, T = self.value, np.eye(4)
        if place.mdh is not None:
            r = place.mdh
            T = rotation(2, x(r.gamma)) @ translation(2, x(r.b)) @ rotation(0, x(r.alpha)) @ translation(0, x(r.d))
            return T @ rotation(2, x(r.theta)) @ translation(2, x(r.r)), np.eye(4)
        if place.dh is not None:
            r = place.dh
            return rotation(2, x(r.theta)) @ translation(2, x(r.d)), translation(0, x(r.a)) @ rotation(0, x(r.alpha))
        if place.pose is not None:
            p = place.pose
            if p.quaternion is not None:
                T = quaternion(*(x(c) for c in p.quaternion))
            elif p.matrix is not None:
                T[:3, :3] = [[x(c) for c in row] for row in p.matrix]
            elif p.rpy is not None:
                roll, pitch, yaw = (x(c) for c in p.rpy)
                T = rotation(2, yaw) @ rotation(1, pitch) @ rotation(0, roll)
            T[:3, 3] = [x(c) for c in p.position]
            return T, np.eye(4)
        for step in place.steps or ():
            for k, axis in enumerate("xyz"):
                if getattr(step, f"r{axis}") is not None:
                    T = T @ rotation(k, x(getattr(step, f"r{axis}")))
                if getattr(step, f"t{axis}") is not None:
                    T = T @ translation(k, x(getattr(step, f"t{axis}")))
            if step.rn is not None:
                T = T @ about(np.array([x(c) for c in step.rn.axis]), x(step.rn.angle))
        return T, np.eye(4)

    def _place_of(self, body: str, q: Array, v: Array, vdot: Array) -> tuple[Moving, Moving]:
        """Of a body, before and after the motion of its joint; its formulas may move with coordinates."""
        place = self.mechanism.bodies[body].place
        if not self._drivers(body):
            before, after = self._place(place)
            return Moving.still(before), Moving.still(after)
        speeds, names = [x.name for x in self.mechanism.v], dict[str, Any](self.names)
        for k, x in enumerate(self.mechanism.q):
            if f"d{x.name}" in speeds:  # others have rates that are not speeds: such formulas fail here
                i = speeds.index(f"d{x.name}")
                names[x.name] = Jet(float(q[k]), v[..., i], vdot[..., i])

        def jet(scalar: Any) -> Jet:
            return jet_of(scalar, names)

        if place.mdh is not None:
            r = place.mdh
            steps = [("rz", r.gamma), ("tz", r.b), ("rx", r.alpha), ("tx", r.d), ("rz", r.theta), ("tz", r.r)]
            return product_of_steps([(kind, jet(x)) for kind, x in steps]), Moving.still(np.eye(4))
        if place.dh is not None:
            r = place.dh
            before, after = [("rz", r.theta), ("tz", r.d)], [("tx", r.a), ("rx", r.alpha)]
            return product_of_steps([(k, jet(x)) for k, x in before]), product_of_steps([(k, jet(x)) for k, x in after])
        return self._rigid_or_steps(place, jet), Moving.still(np.eye(4))

    def _rigid_or_steps(self, place: Place, jet: Any) -> Moving:
        if place.pose is None:
            moving = Moving.still(np.eye(4))
            for step in place.steps or ():
                if step.rn is not None:
                    moving = moving @ Moving.about(np.array([jet(c).x for c in step.rn.axis]), jet(step.rn.angle))
                else:
                    kind = next(name for name in type(step).model_fields if getattr(step, name) is not None)
                    moving = moving @ product_of_steps([(kind, jet(getattr(step, kind)))])
            return moving
        p = place.pose
        x, y, z = (jet(c) for c in p.position)
        shift = product_of_steps([("tx", x), ("ty", y), ("tz", z)])
        if p.matrix is not None:
            return shift @ Moving.entries([[*(jet(c) for c in row), Jet(0.0)] for row in p.matrix])
        if p.quaternion is not None:
            w, a, b, c = (jet(e) for e in p.quaternion)
            rows = [
                [1 - 2 * (b * b + c * c), 2 * (a * b - w * c), 2 * (a * c + w * b), Jet(0.0)],
                [2 * (a * b + w * c), 1 - 2 * (a * a + c * c), 2 * (b * c - w * a), Jet(0.0)],
                [2 * (a * c - w * b), 2 * (b * c + w * a), 1 - 2 * (a * a + b * b), Jet(0.0)],
            ]
            return shift @ Moving.entries(rows)
        roll, pitch, yaw = (jet(c) for c in p.rpy or (0.0, 0.0, 0.0))
        return shift @ product_of_steps([("rz", yaw), ("ry", pitch), ("rx", roll)])

    def _drivers(self, body: str) -> set[str]:
        """The coordinates in the place of a body."""
        return set(names_in(self.mechanism.bodies[body].place)) & {x.name for x in self.mechanism.q}

    # -- motion
    def motion(self, q: Array, v: Array, vdot: Array) -> dict[str, Moving]:
        """Every body and frame; v and vdot (..., nv)."""
        m = self.mechanism
        before, after = self._place(m.base.place)
        base = Moving.still(before @ after) @ self._base(q, v, vdot)
        found = {WORLD: Moving.still(np.eye(4)), BASE: base}
        waiting = dict(m.bodies)
        while waiting:
            for name, body in list(waiting.items()):
                if body.parent in found:
                    before, after = self._place_of(name, q, v, vdot)
                    inner = self._joint(name, body.joint.kind, body.joint.pitch, q, v, vdot)
                    found[name] = found[body.parent] @ before @ inner @ after
                    del waiting[name]
        for owner, frames in [(BASE, m.base.frames), *((n, b.frames) for n, b in m.bodies.items())]:
            for name, frame in frames.items():
                before, after = self._place(frame.place)
                found[name] = found[owner] @ Moving.still(before @ after)
        return found

    def _joint(self, owner: str, kind: str, pitch: Any, q: Array, v: Array, vdot: Array) -> Moving:
        if kind == "fixed":
            return Moving.still(np.eye(4))
        i, j = self.q_of[owner], self.v_of[owner]
        return joint_motion(kind, q[i], v[..., j], vdot[..., j], 0.0 if pitch is None else self.value(pitch))

    def _base(self, q: Array, v: Array, vdot: Array) -> Moving:
        base = self.mechanism.base
        if base.kind is not BaseKind.CARRIER:
            return self._joint(BASE, base.joint_kind.name, None, q, v, vdot)
        found = Moving.still(np.eye(4))
        for kind, axis, k in (
            ("shift", 0, 0),
            ("shift", 1, 1),
            ("shift", 2, 2),
            ("turn", 2, 5),
            ("turn", 1, 4),
            ("turn", 0, 3),
        ):
            found = found @ Moving.scalar(kind, axis, q[k], v[..., k], vdot[..., k])
        return found

    def along_speeds(self, q: Array) -> dict[str, Moving]:
        """How everything moves when one speed at a time is one: derivatives (nv, 4, 4)."""
        return self.motion(q, np.eye(self.nv), np.zeros((self.nv, self.nv)))

    def rates(self, q: Array, v: Array) -> Array:
        """dq/dt."""
        m, found = self.mechanism, np.zeros(len(q))
        kinds = {BASE: m.base.joint_kind.name, **{n: b.joint.kind for n, b in m.bodies.items()}}
        if m.base.kind is BaseKind.CARRIER:
            kinds[BASE] = "carrier"
        for owner, i in self.q_of.items():
            found[i] = joint_rates(kinds.get(owner, "free form"), q[i], v[self.v_of[owner]])
        return found

    def moved(self, q: Array, v: Array, step: float) -> Array:
        """q after a small step along v, unit quaternions kept so (second order)."""
        middle = self._kept(q + 0.5 * step * self.rates(q, v))
        return self._kept(q + step * self.rates(middle, v))

    def _kept(self, q: Array) -> Array:
        names = [x.name for x in self.mechanism.q]
        for k, name in enumerate(names):
            if name.endswith("qw"):
                q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        return q
