"""Roads in expressions: height, normal and adherence at a place, and whether a rigid wheel can roll over them."""

from __future__ import annotations

from collections.abc import Iterable

from torseur.describe.fields import Scalar
from torseur.describe.formulas import Formula
from torseur.describe.roads import Road
from torseur.dynamics.tree.system import System
from torseur.errors import ModelError
from torseur.graph import Block, Expr, Role, jacobian, ops, sqrt, substitute
from torseur.graph.function import reachable
from torseur.spatial.vectors import Vector

__all__ = ["at_place", "bends_sharply", "check_smooth", "height_at", "normal"]


def at_place(system: System, value: Scalar, x: Expr, y: Expr) -> Expr:
    """A formula of the road at a place."""
    if not isinstance(value, Formula):
        return system.graph.number(value)
    return value.expr(system.graph, {**system.scope, "x": x, "y": y}, system.tables)


def height_at(system: System, road: Road, x: Expr, y: Expr) -> Expr:
    return at_place(system, road.height, x, y)


def check_smooth(system: System, road: Road, name: str | None) -> None:
    """A rigid wheel differentiates its road twice: what bends sharply is refused."""
    place = _place(system)
    bent = bends_sharply(height_at(system, road, place[0], place[1]), place)
    if bent is not None:
        raise ModelError(
            "a rigid wheel on a road whose slope or curvature jumps",
            where=None if name is None else f"roads.{name}.height",
            expected="a height that is twice continuously differentiable",
            got=bent,
            remedy="give the wheel a stiffness; or make the road smooth: a table with between: smooth, or its mean "
            "over the length of the contact (envelope); or, where it is smooth all the same, say smooth: true",
        )


def bends_sharply(height: Expr, place: Iterable[Expr]) -> str | None:
    """What in a height has a slope or curvature that may jump from place to place, in words; none if nothing has."""
    moving = set(map(id, place))
    for node in reachable([height]):  # operands come first
        if not any(id(a) in moving for a in node.args):
            continue
        moving.add(id(node))
        if node.op is ops.PIECEWISE and not node.data.is_c2:
            return "a table that is not smooth"
        if node.op in _SHARP:
            return f"the function '{_SHARP[node.op]}'"
    return None


_SHARP = {
    ops.ABS: "abs",
    ops.SIGN: "sign",
    ops.FLOOR: "floor",
    ops.MIN: "min",
    ops.MAX: "max",
    ops.SELECT: "if",
    ops.LT: "<",
    ops.LE: "<=",
    ops.EQ: "==",
}
"""Functions that bend or jump, as formulas call them."""


def _place(system: System) -> Block:
    """A place on the road that is a symbol."""
    g = system.graph
    return g.blocks.get("road_place") or g.block("road_place", 2, Role.STATE, names=["road_x", "road_y"])


def normal(system: System, road: Road, x: Expr, y: Expr) -> Vector:
    """(-dz/dx, -dz/dy, 1) made a unit vector."""
    place = _place(system)
    slopes = jacobian([height_at(system, road, place[0], place[1])], list(place)).dense()[0]
    a, b = substitute(slopes, {place[0]: x, place[1]: y})
    size = sqrt(a * a + b * b + 1.0)
    return Vector(-a / size, -b / size, 1.0 / size)
