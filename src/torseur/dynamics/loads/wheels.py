"""Wheels and roads: height, normal and adherence of a road; where a wheel touches, how the point of contact moves, and
how a force there reaches the bodies.

======  ===========================================================================  ======
n       unit vector along the axle, to the left of the way the wheel rolls
k       unit normal of the road's tangent plane at the point of contact
s       sqrt(1 - (k.n)^2): 1 for an upright wheel, 0 for one that lies flat
e       (k - (k.n) n) / s: in the wheel's plane, as upright as it can be
ahead   n x k / s: along the trace of the wheel's plane on the road
arm     from the wheel's centre to the point of contact                                m
gap     distance from the point of the tread to the road, negative if pressed in       m
======  ===========================================================================  ======

All in the axes of the road's frame. A tread of radius R and crown radius c is a torus: the point nearest to a plane is

    arm = -(R - c) e - c k,    gap = k.(centre - foot) - (R - c) s - c

with a foot on the plane; a disc has c = 0. On a road that is not plane, the plane is the tangent plane at the foot of
the arm that the slope under the centre gives: exact for planes, and to the second order of the change of slope along
the arm otherwise. A wheel whose point of contact is fixed under its carrier (Maakaroun, frame of contact of chapters 2
and 3) has arm = -R z, z the upward axis of the carrier.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from torseur.describe.bodies import Road
from torseur.describe.constraints import Rolling
from torseur.describe.fields import Scalar
from torseur.describe.formulas import Formula, normal_of
from torseur.dynamics.tree.kinematics import FrameState, Kinematics
from torseur.dynamics.tree.system import System
from torseur.errors import ModelError
from torseur.graph import Block, Expr, Role, atan2, jacobian, maximum, ops, sqrt, substitute
from torseur.graph.function import reachable
from torseur.spatial.pose import Motion, Pose, Wrench
from torseur.spatial.vectors import Vector, cross, dot

__all__ = [
    "Acts",
    "WheelOnRoad",
    "acts_on",
    "at_place",
    "bends_sharply",
    "check_smooth",
    "compliant_load",
    "height_at",
    "normal",
    "relative",
    "wheel_on_road",
]


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


Acts = tuple[tuple[FrameState, Wrench], ...]
"""Frames, and the wrench on each, in its axes."""

_FLAT_ROAD = Road()

SOFT = 1e-3
"""Depth, as a share of the radius, by which the damping of a tread sets in: half of it there."""


@dataclass(frozen=True)
class WheelOnRoad:
    """A wheel on its road; see the module for the symbols."""

    frame: FrameState
    ground: FrameState
    pose: Pose
    """Of the wheel's frame in the road's."""
    axle: Vector
    normal: Vector
    upright: Expr
    ahead: Vector
    arm: Vector
    gap: Expr
    material: Vector
    """Velocity of the point of the wheel that touches, relative to the road."""
    velocity: tuple[Expr, Expr]
    spin: Expr
    radius: Expr
    load: Expr
    adherence: Expr

    @property
    def side(self) -> Vector:
        return cross(self.normal, self.ahead)

    @property
    def camber(self) -> Expr:
        """atan2(k.n, s): positive leans to the right."""
        return atan2(dot(self.normal, self.axle), self.upright)

    def wrenches(self, force: Vector, torque: Vector) -> Acts:
        """What a force and a torque (ahead, left, normal) on the wheel at the point of contact do to wheel and road."""
        f, n = self._carried(force), self._carried(torque)
        on_wheel = Wrench(f, n + cross(self.arm, f)).turned(self.pose.R.T)
        return (self.frame, on_wheel), (self.ground, -Wrench(f, n + cross(self.pose.P + self.arm, f)))

    def _carried(self, parts: Vector) -> Vector:
        x, y, z = parts
        return x * self.ahead + y * self.side + z * self.normal


def wheel_on_road(system: System, kinematics: Kinematics, name: str, form: Rolling) -> WheelOnRoad:
    """The kinematics of a rolling constraint, by its name."""
    road = system.mechanism.roads[form.road] if form.road is not None else _FLAT_ROAD
    wheel = kinematics.frame(form.wheel)
    ground = kinematics.frame(road.frame if form.road is not None else form.ground)
    pose, motion = relative(ground, wheel)
    n = pose.R @ Vector.unit(system.graph, "xyz".index(form.axle))
    R, c = system.scalar(form.radius), system.scalar(form.crown)
    z = None
    if form.under is not None:
        carrier = relative(ground, kinematics.frame(form.under))[0]
        z = carrier.R @ Vector.unit(system.graph, 2)
    upward = Vector.unit(system.graph, 2)
    if not road.is_flat and form.stiffness is None and not road.smooth:
        check_smooth(system, road, form.road)
    if not road.is_flat:  # the slope under the centre gives a first arm, the one at its foot the plane
        x, y = pose.P[0], pose.P[1]
        first = normal(system, road, x, y)
        foot = pose.P + _arm(first, n, R, c, z)[0]
        upward = normal(system, road, foot[0], foot[1])
        height = height_at(system, road, foot[0], foot[1])
        clear = dot(upward, pose.P - Vector(foot[0], foot[1], height))
    else:
        clear = pose.P[2]
    arm, s, reach = _arm(upward, n, R, c, z)
    gap = clear - reach
    return _in_motion(system, name, form, road, _Touch(wheel, ground, pose, motion, n, upward, s, arm, gap))


@dataclass(frozen=True)
class _Touch:
    """Where a wheel touches."""

    wheel: FrameState
    ground: FrameState
    pose: Pose
    motion: Motion
    n: Vector
    k: Vector
    s: Expr
    arm: Vector
    gap: Expr


def _arm(k: Vector, n: Vector, R: Expr, c: Expr, z: Vector | None) -> tuple[Vector, Expr, Expr]:
    """The arm, s, and how far down the arm reaches along the normal."""
    tilt = dot(k, n)
    s = sqrt(1.0 - tilt * tilt)
    if z is not None:
        return -R * z, s, R * dot(k, z)
    e = (1.0 / s) * (k - tilt * n)
    return -((R - c) * e + c * k), s, (R - c) * s + c


def _in_motion(system: System, name: str, form: Rolling, road: Road, at: _Touch) -> WheelOnRoad:
    V, w = at.motion
    ahead = (1.0 / at.s) * cross(at.n, at.k)
    side = cross(at.k, ahead)
    spin = dot(w, at.n)
    carried = V + cross(w - spin * at.n, at.arm)
    material = V + cross(w, at.arm)
    radius = -dot(ahead, cross(at.n, at.arm))
    arm = at.arm
    N = system.scope[normal_of(name)]
    if form.stiffness is not None:  # the tread is pressed in: the point of contact is on the road
        radius = radius + at.gap / 3.0
        arm = arm - at.gap * at.k
    place = at.pose.P + arm
    adherence = at_place(system, road.adherence, place[0], place[1])
    return WheelOnRoad(
        at.wheel,
        at.ground,
        at.pose,
        at.n,
        at.k,
        at.s,
        ahead,
        arm,
        at.gap,
        material,
        (dot(ahead, carried), dot(side, carried)),
        spin,
        radius,
        N,
        adherence,
    )


def compliant_load(system: System, wheel: WheelOnRoad, form: Rolling, rate: Expr) -> Expr:
    """max(0, stiffness depth - damping d(gap)/dt), nothing where the tread is clear of the road."""
    assert form.stiffness is not None
    depth = maximum(-wheel.gap, 0.0)
    damping = system.scalar(form.damping)
    ramp = depth / (depth + SOFT * system.scalar(form.radius))
    return maximum(system.scalar(form.stiffness) * depth - damping * rate * ramp, 0.0)


def relative(ground: FrameState, body: FrameState) -> tuple[Pose, Motion]:
    """Pose and velocity of a body's frame relative to another, in the axes of that other."""
    X = ground.pose.inverse() @ body.pose
    V, w = body.velocity.turned(X.R)
    return X, Motion(V - (ground.V + cross(ground.w, X.P)), w - ground.w)


def acts_on(body: FrameState, ground: FrameState, X: Pose, direction: Vector, arm: Vector) -> Acts:
    """A unit force on a body, along a direction and at an arm from its origin, and what the ground feels of it.

    X is the pose of the body's frame in the ground's; direction and arm are in the axes of the ground.
    """
    on_body = Wrench(direction, cross(arm, direction)).turned(X.R.T)
    return (body, on_body), (ground, Wrench(-direction, cross(direction, X.P + arm)))
