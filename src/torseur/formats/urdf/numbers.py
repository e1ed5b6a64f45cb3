"""A description as plain numbers: formulas of parameters worked out, places as poses."""

from __future__ import annotations

import math
from collections.abc import Iterable

from torseur.describe import Formula, Mechanism, Place, RigidPose, StandardInertia
from torseur.describe.fields import Scalar, names_in
from torseur.describe.inertia import Inertia
from torseur.errors import TorseurError
from torseur.formats.losses import listed
from torseur.formats.urdf.elements import Inertial
from torseur.formats.urdf.places import rotation
from torseur.formats.urdf.visuals import Origin
from torseur.graph import Expr, Graph
from torseur.spatial.pose import Pose, Step, StepKind, about_axis, from_quaternion, product
from torseur.spatial.vectors import Vector, zero_vector

__all__ = ["NoNumber", "Numbers"]

MDH = (("rz", "gamma"), ("tz", "b"), ("rx", "alpha"), ("tx", "d"), ("rz", "theta"), ("tz", "r"))
DH = (("rz", "theta"), ("tz", "d"))
DH_AFTER = (("tx", "a"), ("rx", "alpha"))


class NoNumber(Exception):
    """A formula that depends on something without a value; the message says on what."""


class Numbers:
    """The numbers of a mechanism."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.g, self.tables = Graph(), mechanism.lookups
        self.known = {n: p.value for n, p in mechanism.parameters.items() if isinstance(p.value, float)}
        waiting = {n: p.value for n, p in mechanism.parameters.items() if isinstance(p.value, Formula)}
        while ready := [name for name, formula in waiting.items() if formula.names <= self.known.keys()]:
            for name in ready:
                formula = waiting.pop(name)
                try:
                    self.known[name] = formula.value(self.known, self.tables)
                except TorseurError:
                    continue  # no number; what uses it will say so

    def check(self, *records: object) -> None:
        """Everything in some records that has no value, at once."""
        missing = sorted(names_in(list(records)) - self.known.keys())
        if missing:
            raise NoNumber(f"no value for {listed(missing)}")

    def scalar(self, value: Scalar) -> float:
        if not isinstance(value, Formula):
            return value
        self.check(value)
        try:
            number = value.value(self.known, self.tables)
        except TorseurError as error:
            raise NoNumber(f"{value} has no value") from error
        if not math.isfinite(number):
            raise NoNumber(f"{value} has no value")
        return number

    def triple(self, values: Iterable[Scalar]) -> tuple[float, float, float]:
        x, y, z = (self.scalar(value) for value in values)
        return (x, y, z)

    def vector(self, values: Iterable[Scalar]) -> Vector:
        x, y, z = (self._expr(value) for value in values)
        return (x, y, z)

    def _expr(self, value: Scalar) -> Expr:
        return self.g.number(self.scalar(value))

    # -- places --------------------------------------------------------------------------------------------------------
    def before(self, place: Place) -> Pose:
        """The part of a place before the motion of the joint."""
        if place.mdh is not None:
            return self._row(place.mdh, MDH)
        if place.dh is not None:
            return self._row(place.dh, DH)
        if place.pose is not None:
            return self._rigid(place.pose)
        pose = Pose.identity(self.g)
        for step in place.steps or ():
            if step.rn is not None:
                x, y, z = self.triple(step.rn.axis)
                size = math.hypot(x, y, z) or 1.0
                axis = self.vector((x / size, y / size, z / size))
                pose = pose * Pose(about_axis(axis, self._expr(step.rn.angle)), zero_vector(self.g))
            else:
                kind, amount = next((k, a) for k in StepKind if (a := getattr(step, k.value)) is not None)
                pose = pose * product(self.g, [Step(kind, self._expr(amount))])
        return pose

    def after(self, place: Place) -> Pose:
        """The part after it: a and alpha of a standard Denavit-Hartenberg row."""
        return Pose.identity(self.g) if place.dh is None else self._row(place.dh, DH_AFTER)

    def whole(self, place: Place) -> Pose:
        return self.before(place) * self.after(place)

    def _row(self, row: object, pattern: tuple[tuple[str, str], ...]) -> Pose:
        steps = [Step(StepKind(kind), self._expr(getattr(row, field))) for kind, field in pattern]
        return product(self.g, steps)

    def _rigid(self, pose: RigidPose) -> Pose:
        P = self.vector(pose.position)
        if pose.quaternion is not None:
            w, x, y, z = (self._expr(part) for part in pose.quaternion)
            return Pose(from_quaternion(w, x, y, z), P)
        if pose.matrix is not None:
            a, b, c = (self.vector(row) for row in pose.matrix)
            return Pose((a, b, c), P)
        return Pose(rotation(self.g, self.triple(pose.rpy or (0.0, 0.0, 0.0))), P)

    # -- inertia -------------------------------------------------------------------------------------------------------
    def inertial(self, inertia: Inertia) -> Inertial:
        """Mass, centre and the tensor at the centre; a moment without mass has none."""
        if not isinstance(inertia, StandardInertia):
            t = inertia.tensor
            tensor = tuple(self.scalar(entry) for entry in (t.xx, t.xy, t.xz, t.yy, t.yz, t.zz))
            origin = Origin(self.triple(inertia.centre), self.triple(inertia.rpy))
            return Inertial(origin, self.scalar(inertia.mass), tensor)
        J = [self.scalar(getattr(inertia, name)) for name in ("XX", "XY", "XZ", "YY", "YZ", "ZZ")]
        m, moment = self.scalar(inertia.M), self.triple((inertia.MX, inertia.MY, inertia.MZ))
        if m == 0.0 and any((*moment, *J)):
            raise NoNumber("inertia without mass")
        x, y, z = (part / m if m else 0.0 for part in moment)
        carried = (y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y)
        tensor = tuple(whole - m * part for whole, part in zip(J, carried, strict=True))
        return Inertial(Origin((x, y, z)), m, tensor)
