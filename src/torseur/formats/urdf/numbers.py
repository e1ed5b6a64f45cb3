"""A description as plain numbers: formulas of parameters worked out, places as poses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property

from torseur.describe import Formula, Mechanism, Place, StandardInertia
from torseur.describe.fields import Scalar, names_in
from torseur.describe.inertia import CompositeInertia, Inertia, Solid
from torseur.describe.values import Values
from torseur.errors import TorseurError
from torseur.formats.losses import listed
from torseur.formats.urdf.elements import Inertial
from torseur.formats.urdf.visuals import Origin
from torseur.graph import Graph
from torseur.spatial.pose import Pose
from torseur.spatial.vectors import Vector

__all__ = ["NoNumber", "Numbers"]


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

    @cached_property
    def _values(self) -> Values:
        return Values(self.g, lambda value: self.g.number(self.scalar(value)))

    def vector(self, values: Sequence[Scalar]) -> Vector:
        return self._values.vector(values)

    # -- places --------------------------------------------------------------------------------------------------------
    def before(self, place: Place) -> Pose:
        """The part of a place before the motion of the joint."""
        return self._values.before(place)

    def after(self, place: Place) -> Pose:
        """The part after it: a and alpha of a standard Denavit-Hartenberg row."""
        return self._values.after(place)

    def whole(self, place: Place) -> Pose:
        return self._values.whole(place)

    # -- inertia -------------------------------------------------------------------------------------------------------
    def inertial(self, inertia: Inertia) -> Inertial:
        """Mass, centre and the tensor at the centre; a moment without mass has none."""
        if isinstance(inertia, (Solid, CompositeInertia)):
            ten = map(float, self._values.inertia(inertia).ten())
            inertia = StandardInertia(**dict(zip(StandardInertia.model_fields, ten, strict=True)))
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
