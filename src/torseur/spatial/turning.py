"""Rotations that take z to a given axis: joints that move about any axis, written as joints about z.

A joint about or along a unit vector n is C J C': J the joint about z, C a rotation with C z = n. By quarter turns for
x, y, -x, -y and -z, so that zeros stay zeros.
"""

from __future__ import annotations

import math

from torseur.graph import Graph, atan2, sqrt
from torseur.spatial.pose import Pose, Step, StepKind, product
from torseur.spatial.vectors import Matrix, Vector

__all__ = ["turn_to"]

_QUARTER = math.pi / 2
_TURNS = {
    (1.0, 0.0, 0.0): (StepKind.ROTATE_Y, _QUARTER),
    (-1.0, 0.0, 0.0): (StepKind.ROTATE_Y, -_QUARTER),
    (0.0, 1.0, 0.0): (StepKind.ROTATE_X, -_QUARTER),
    (0.0, -1.0, 0.0): (StepKind.ROTATE_X, _QUARTER),
    (0.0, 0.0, 1.0): (StepKind.ROTATE_X, 0.0),
    (0.0, 0.0, -1.0): (StepKind.ROTATE_X, math.pi),
}


def turn_to(axis: Vector) -> Pose:
    """C with C z along an axis of any length, in numbers or not.

    >>> g = Graph()
    >>> turn_to(Vector(g.zero, g.number(2.0), g.zero)).R
    ((1, 0, 0), (0, 0, 1), (0, -1, 0))
    """
    g = axis.graph
    if all(x.is_number for x in axis):
        return _turn_of_numbers(g, float(axis[0]), float(axis[1]), float(axis[2]))
    x, y, z = axis
    about_z, about_y = atan2(y, x), atan2(sqrt(x * x + y * y), z)
    return product(g, [Step(StepKind.ROTATE_Z, about_z), Step(StepKind.ROTATE_Y, about_y)])


def _turn_of_numbers(g: Graph, x: float, y: float, z: float) -> Pose:
    size = math.hypot(x, y, z)
    unit = (x / size + 0.0, y / size + 0.0, z / size + 0.0)
    if unit in _TURNS:
        kind, angle = _TURNS[unit]
        return product(g, [Step(kind, g.number(angle))])
    if z < 0.0:
        half = product(g, [Step(StepKind.ROTATE_X, g.number(math.pi))])
        return half @ Pose.turn(_shortest_turn(g, unit[0], -unit[1], -unit[2]))
    return Pose.turn(_shortest_turn(g, *unit))


def _shortest_turn(g: Graph, x: float, y: float, z: float) -> Matrix:
    """The turn from z to a unit vector about the normal of both: R = I + [w]x + [w]x^2 / (1 + z), w = z cross n."""
    k = 1.0 / (1.0 + z)
    rows = ((1.0 - k * x * x, -k * x * y, x), (-k * x * y, 1.0 - k * y * y, y), (-x, -y, z))
    return Matrix.of((g.number(x) for x in row) for row in rows)
