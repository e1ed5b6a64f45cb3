"""Numbers that cannot be: limits upside down, directions of no length, matrices that do not rotate, negative sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from torseur.describe.bodies import Coordinate, Joint, Tyre
from torseur.describe.checks.scope import Scope
from torseur.describe.constraints import Contact, NoSideSlip, Rolling
from torseur.describe.faults import Fault, Location, Severity
from torseur.describe.inertia import Box, Cone, Cylinder, Sphere, Tube
from torseur.describe.loads import Motor
from torseur.describe.mechanism import Parameter, Variable
from torseur.describe.place import AxisTurn, RigidPose
from torseur.spatial.joints import Quantity

__all__ = ["axes", "coefficients", "limits", "orientations", "sizes", "units", "wheels"]

UNIT_TOLERANCE = 1e-6
ANOTHER_SIZE = 0.1
"""Share by which a wheel may be larger or smaller than that of its tyre data: under load it is a little smaller."""


def limits(scope: Scope) -> Iterator[Fault]:
    """Stops are in order, limits positive, starts between the stops, units those of the joint."""
    for path, coordinate in scope.records(Coordinate):
        begin = coordinate.guess if coordinate.start is None else coordinate.start
        lower, upper, start = (scope.value(x) for x in (coordinate.lower, coordinate.upper, begin))
        if lower is not None and upper is not None and lower > upper:
            yield Fault(path, "the lower stop is above the upper one", got=f"{lower:g} > {upper:g}")
        elif start is not None and not (lower is None or start >= lower):
            yield Fault(path, "it starts below its lower stop", got=f"{start:g} < {lower:g}", severity=Severity.WARNING)
        elif start is not None and not (upper is None or start <= upper):
            yield Fault(path, "it starts above its upper stop", got=f"{start:g} > {upper:g}", severity=Severity.WARNING)
        for field in ("speed_limit", "effort_limit"):
            limit = scope.value(getattr(coordinate, field))
            if limit is not None and limit < 0:
                yield Fault((*path, field), "a limit is a magnitude", expected="at least 0", got=f"{limit:g}")
        yield from _unit(scope, path, coordinate)
        yield from _rate(scope, path, coordinate)
    yield from _quaternions(scope)


def _unit(scope: Scope, path: Location, coordinate: Coordinate) -> Iterator[Fault]:
    variable = scope.coordinates.get(str(path[-1]))
    expected = ("m", "rad") if path[0] == "coordinates" or variable is None else (variable.unit,)
    if coordinate.unit is not None and coordinate.unit not in expected:
        text = "not the unit of this coordinate"
        yield Fault((*path, "unit"), text, expected=" or ".join(expected), got=coordinate.unit)


def _rate(scope: Scope, path: Location, coordinate: Coordinate) -> Iterator[Fault]:
    """A rate at the start belongs to a coordinate whose rate is a speed."""
    name = str(path[-1])
    variable = scope.coordinates.get(name)
    if variable is None or f"d{name}" in scope.speeds:
        return
    own = [speed.name for speed in scope.speeds.values() if speed.owner == variable.owner]
    for field in ("start_speed", "guess_speed"):
        if getattr(coordinate, field) is not None:
            text = f"the rate of '{name}' is not a speed of this joint or base, whose speeds are {', '.join(own)}"
            yield Fault((*path, field), text, remedy="give those in the start of a study", about=name)


def _quaternions(scope: Scope) -> Iterator[Fault]:
    """The quaternions that joints start with have unit length."""
    groups: dict[str, list[Variable]] = {}
    for variable in scope.mechanism.q:
        if variable.quantity is Quantity.NUMBER:
            groups.setdefault(variable.owner, []).append(variable)
    for parts in groups.values():
        starts = scope.values(tuple(part.start for part in parts))
        if starts is not None and abs(math.hypot(*starts) - 1.0) > UNIT_TOLERANCE:
            path = scope.variable_path(parts[0])
            yield Fault(path, "the quaternion at the start has not unit length", got=f"length {math.hypot(*starts):g}")


_NOT_SI = {"cm": 1e-2, "mm": 1e-3, "km": 1e3, "km/h": 1 / 3.6, "kmh": 1 / 3.6, "mph": 0.44704}
_NOT_SI |= {"deg": math.pi / 180, "degree": math.pi / 180, "degrees": math.pi / 180, "rpm": math.pi / 30}


def units(scope: Scope) -> Iterator[Fault]:
    """A unit is a label: a number with one that is not SI is mostly a mistake."""
    for path, parameter in scope.records(Parameter):
        factor, value = _NOT_SI.get(parameter.unit or ""), parameter.value
        if factor is not None and isinstance(value, (int, float)) and value != 0.0:
            yield Fault(
                (*path, "unit"),
                f"the unit '{parameter.unit}' is a label and converts nothing",
                got=f"{value:g}, which is taken as SI",
                remedy=f"write the value in SI units, {value * factor:g}, or convert it in the formulas that use it",
                severity=Severity.WARNING,
            )


def orientations(scope: Scope) -> Iterator[Fault]:
    """Quaternions have unit length, matrices are rotations."""
    for path, pose in scope.records(RigidPose):
        quaternion = scope.values(pose.quaternion)
        if quaternion is not None and abs(math.hypot(*quaternion) - 1.0) > UNIT_TOLERANCE:
            length = math.hypot(*quaternion)
            unit = ", ".join(repr(x / length) for x in quaternion) if length > 0 else ""
            remedy, got = f"its direction is [{unit}]" if unit else None, f"length {length:g}"
            yield Fault((*path, "quaternion"), "a quaternion of unit length is needed", got=got, remedy=remedy)
        rows = None if pose.matrix is None else [scope.values(row) for row in pose.matrix]
        if rows is not None and all(row is not None for row in rows):
            yield from _rotation((*path, "matrix"), [row for row in rows if row is not None])


def _rotation(path: Location, rows: list[tuple[float, ...]]) -> Iterator[Fault]:
    R = np.array(rows)
    with np.errstate(all="ignore"):  # formulas may give anything
        error = float(np.max(np.abs(R @ R.T - np.eye(3))))
    if not error <= UNIT_TOLERANCE:
        yield Fault(path, "not a rotation: its rows are not orthonormal", got=f"off by {error:.3g}")
    elif np.linalg.det(R) < 0:
        yield Fault(path, "not a rotation but a reflection", got="determinant -1")


def axes(scope: Scope) -> Iterator[Fault]:
    """Directions have a length."""
    zero_axes = [
        *((path, "axis", turn.axis) for path, turn in scope.records(AxisTurn)),
        *((path, "axis", motor.axis) for path, motor in scope.records(Motor)),
        *((path, "axis", joint.direction) for path, joint in scope.records(Joint)),
        *((path, "direction", slip.direction) for path, slip in scope.records(NoSideSlip)),
    ]
    for path, field, triple in zero_axes:
        values = scope.values(triple)
        if values is not None and not any(values):
            yield Fault(
                (*path, field), "a direction of zero length", expected="a vector other than zero", got="[0, 0, 0]"
            )


def coefficients(scope: Scope) -> Iterator[Fault]:
    """Friction is not negative, restitution between 0 and 1."""
    bounds = ((Contact, "friction", math.inf), (Rolling, "friction", math.inf), (Contact, "restitution", 1.0))
    for kind, field, most in bounds:
        for path, record in scope.records(kind):
            value = scope.value(getattr(record, field))
            if value is not None and not 0.0 <= value <= most:
                expected = "at least 0" if most == math.inf else f"0 to {most:g}"
                yield Fault(
                    (*path, field), f"a coefficient of {field} out of range", expected=expected, got=f"{value:g}"
                )
    yield from _without_ground(scope)


def _without_ground(scope: Scope) -> Iterator[Fault]:
    """Friction acts along the ground of a frame, or of a wheel that rolls."""
    for path, contact in scope.records(Contact):
        if contact.gap is not None and contact.friction is not None:
            text, remedy = (
                "a gap that is a formula does not say along what it slides",
                "give a frame, or friction as a load",
            )
            yield Fault((*path, "friction"), text, remedy=remedy)
    for path, wheel in scope.records(Rolling):
        if wheel.slides is not False and wheel.friction is not None:
            got, remedy = (
                f"slides: {str(wheel.slides).lower()}",
                "leave out slides, or give the forces of the wheel as loads",
            )
            yield Fault((*path, "friction"), "friction is for wheels that roll", got=got, remedy=remedy)


def sizes(scope: Scope) -> Iterator[Fault]:
    """Radii and lengths are positive."""
    for kind in (Box, Cylinder, Cone, Sphere, Tube, Tyre, Rolling):
        for path, record in scope.records(kind):
            for field in ("size", "radius", "inner", "length", "width"):
                given = getattr(record, field, None)
                for k, scalar in enumerate(given if isinstance(given, tuple) else (given,)):
                    value = scope.value(scalar)
                    if value is not None and value <= 0:
                        place = (*path, field, k) if isinstance(given, tuple) else (*path, field)
                        yield Fault(place, "a size must be positive", got=f"{value:g}")
    for path, tube in scope.records(Tube):
        radius, inner = scope.value(tube.radius), scope.value(tube.inner)
        if radius is not None and inner is not None and inner >= radius:
            got = f"{inner:g} in {radius:g}"
            yield Fault((*path, "inner"), "the hole of a tube is wider than the tube", expected="less", got=got)


def wheels(scope: Scope) -> Iterator[Fault]:
    """Wheels have the size that the data of their tyres are of."""
    for name, load in scope.mechanism.loads.items():
        for wheel, of_data in load.wheel_radii.items():
            constraint = scope.mechanism.constraints.get(wheel)
            if constraint is None or constraint.rolling is None:
                continue
            radius, measured = scope.value(constraint.rolling.radius), scope.value(of_data)
            if radius is not None and measured is not None and abs(radius - measured) > ANOTHER_SIZE * abs(measured):
                yield Fault(
                    ("constraints", wheel, "rolling", "radius"),
                    f"the wheel of '{wheel}' has not the size of the tyre that the data of the load '{name}' are of",
                    expected=f"{measured:g} m without load, to {100 * ANOTHER_SIZE:g} %",
                    got=f"{radius:g} m",
                    remedy="the radius of the wheel in m, or the data of a tyre of its size",
                    severity=Severity.WARNING,
                )
