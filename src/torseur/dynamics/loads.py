"""What the loads of a description do: generalised forces along coordinates, wrenches on links.

A load on coordinates is a force times the derivative of its path's rate by the speeds; a load at a frame, or between
two, is a wrench that the recursions carry on. Nothing here depends on accelerations: rotors are in `tree`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from torseur.describe import Drag, Effort, Load, Motor, SpringDamper, Transmission, Wrench
from torseur.describe.fields import Scalar, Table
from torseur.describe.loads import PathLoad
from torseur.dynamics.kinematics import rates
from torseur.dynamics.newton_euler import Wrench as LinkWrench
from torseur.dynamics.tree import Tree
from torseur.dynamics.velocities import FrameState, Kinematics
from torseur.errors import ModelError
from torseur.graph import Expr, Graph, absolute, jacobian, maximum, ops, select, sign, sqrt
from torseur.graph.function import reachable
from torseur.spatial.vectors import Vector, add, cross, dot, minus, rotate, rotate_back, scale, sub

__all__ = ["Forces", "FrictionLaw", "coulomb", "forces_of", "not_negative", "path_of"]


FrictionLaw = Callable[[str, Expr, Expr], Expr]
"""(load, level, rate of the path) -> the force of dry friction along the path."""


def coulomb(load: str, level: Expr, rate: Expr) -> Expr:
    """-level sign(rate): at rest there is none. What sticks needs events; see `torseur.simulation`."""
    return -(level * sign(rate))


def not_negative(level: Expr) -> Expr:
    """A level or coefficient of friction; where a formula of more than parameters makes it negative there is none.

    Those of parameters alone are checked with their values.
    """
    used = {node.data[0] for node in reachable([level]) if node.op is ops.SYMBOL}
    return maximum(level, 0.0) if used - {"p"} else level


@dataclass
class Forces:
    """Generalised forces by place in v, and wrenches on links (at their origins, in their axes)."""

    graph: Graph
    law: FrictionLaw = coulomb
    Q: dict[int, Expr] = field(default_factory=dict)
    wrenches: dict[int, LinkWrench] = field(default_factory=dict)

    def friction(self, load: str, level: Expr, rate: Expr) -> Expr:
        """Dry friction along a path."""
        return self.law(load, not_negative(level), rate)

    def push(self, speed: int, force: Expr) -> None:
        self.Q[speed] = self.Q.get(speed, self.graph.zero) + force

    def act(self, frame: FrameState, force: Vector, torque: Vector) -> None:
        """A wrench at a frame's origin, in the frame's axes."""
        if frame.link < 0:
            return
        f, n = rotate(frame.offset.R, force), rotate(frame.offset.R, torque)
        n = add(n, cross(frame.offset.P, f))
        old = self.wrenches.get(frame.link)
        self.wrenches[frame.link] = (f, n) if old is None else (add(old[0], f), add(old[1], n))


def forces_of(tree: Tree, loads: Mapping[str, Load] | None = None, friction: FrictionLaw = coulomb) -> Forces:
    """The forces of the loads of the description, or of others in their place."""
    forces, kinematics = Forces(tree.system.graph, friction), Kinematics(tree)
    for name, load in (tree.system.mechanism.loads if loads is None else loads).items():
        law = _LAWS.get(type(load))
        if law is None:
            raise ModelError(f"no law for loads of kind '{load.kind}'", where=f"loads.{name}")
        law(tree, kinematics, forces, load, name)
    return forces


# -- along a path ------------------------------------------------------------------------------------------------------
def _along(
    tree: Tree, kinematics: Kinematics, forces: Forces, load: PathLoad, law: Callable[[Expr, Expr], Expr]
) -> None:
    """Apply force(s, ds/dt) along the path of a load."""
    system = tree.system
    if load.between is not None:
        length, rate, unit, a, b = _strut(kinematics, load.between)
        pull = scale(law(length, rate), unit)
        still = scale(system.graph.zero, unit)
        forces.act(b, rotate_back(b.pose.R, pull), still)
        forces.act(a, rotate_back(a.pose.R, minus(pull)), still)
        return
    s, rate = path_of(tree, kinematics, load)
    force = law(s, rate)
    slopes = jacobian([rate], list(system.v))
    for place, slope in zip(slopes.columns, slopes.entries, strict=True):
        forces.push(place, force * slope)


def path_of(tree: Tree, kinematics: Kinematics, load: PathLoad) -> tuple[Expr, Expr]:
    """The length of a load's path and its rate."""
    if load.between is not None:
        length, rate, _, _, _ = _strut(kinematics, load.between)
        return length, rate
    one: dict[str, Scalar] = {load.coordinate: 1.0} if load.coordinate is not None else {}
    return _path(tree, load.combination or one)


def _strut(kinematics: Kinematics, ends: tuple[str, str]) -> tuple[Expr, Expr, Vector, FrameState, FrameState]:
    """Length, rate, direction from a to b in world axes, and the two ends."""
    a, b = (kinematics.frame(name) for name in ends)
    span = sub(b.pose.P, a.pose.P)
    length = sqrt(dot(span, span))
    if length is length.graph.zero:
        raise ModelError(
            "a load between two frames that are always in one place has no direction",
            got=" and ".join(ends),
            expected="frames with a distance between them",
        )
    unit = (span[0] / length, span[1] / length, span[2] / length)
    return length, dot(unit, sub(b.V_world, a.V_world)), unit, a, b


def _path(tree: Tree, factors: Table[Scalar] | dict[str, Scalar]) -> tuple[Expr, Expr]:
    """A sum of coordinates times factors, and its rate."""
    system, rate_of = tree.system, _coordinate_rates(tree)
    s = rate = system.graph.zero
    for name, factor in factors.items():
        k = system.scalar(factor)
        s, rate = s + k * system.scope[name], rate + k * rate_of[name]
    return s, rate


def _coordinate_rates(tree: Tree) -> dict[str, Expr]:
    return dict(zip(tree.system.q.names, rates(tree.system), strict=True))


def _spring_damper(tree: Tree, kinematics: Kinematics, forces: Forces, load: SpringDamper, name: str) -> None:
    k, rest, c, dry = (tree.system.scalar(x) for x in (load.stiffness, load.rest, load.damping, load.friction))

    def law(s: Expr, rate: Expr) -> Expr:
        smooth = -(k * (s - rest) + c * rate)
        return smooth if dry is tree.system.graph.zero else smooth + forces.friction(name, dry, rate)

    _along(tree, kinematics, forces, load, law)


def _effort(tree: Tree, kinematics: Kinematics, forces: Forces, load: Effort, name: str) -> None:
    value = tree.system.scalar(load.value)
    _along(tree, kinematics, forces, load, lambda s, rate: value)


def _motor(tree: Tree, kinematics: Kinematics, forces: Forces, load: Motor, name: str) -> None:
    """ratio times what is left of the torque after the motor's own friction, less the joint's friction (Llibre II)."""
    scalar, g = tree.system.scalar, tree.system.graph
    place = tree.speed_of(load.coordinate)
    v, ratio = tree.system.v.symbols[place], scalar(load.ratio)
    smooth = ratio * (scalar(load.torque) - scalar(load.motor_damping) * ratio * v) - scalar(load.joint_damping) * v
    dry = absolute(ratio) * scalar(load.motor_friction) + scalar(load.joint_friction)
    forces.push(place, smooth if dry is g.zero else smooth + forces.friction(name, dry, v))


# -- at a frame --------------------------------------------------------------------------------------------------------
def _wrench(tree: Tree, kinematics: Kinematics, forces: Forces, load: Wrench, name: str) -> None:
    frame = kinematics.frame(load.frame)
    force, torque = tree.system.vector(load.force), tree.system.vector(load.torque)
    if load.axes == "world":
        force, torque = rotate_back(frame.pose.R, force), rotate_back(frame.pose.R, torque)
    forces.act(frame, force, torque)


def _drag(tree: Tree, kinematics: Kinematics, forces: Forces, load: Drag, name: str) -> None:
    frame, scalar = kinematics.frame(load.frame), tree.system.scalar
    V = sub(frame.V, rotate_back(frame.pose.R, tree.system.vector(load.wind)))
    factor = -0.5 * scalar(load.density) * scalar(load.area) * scalar(load.coefficient)
    square = dot(V, V)
    moves = square > 0.0
    speed = select(moves, sqrt(select(moves, square, 1.0)), 0.0)  # whose derivatives exist at rest
    force = scale(factor * speed, V)
    forces.act(frame, force, scale(tree.system.graph.zero, force))


def _no_force(tree: Tree, kinematics: Kinematics, forces: Forces, load: Load, name: str) -> None:
    """A drive's inertia acts through accelerations only."""


_LAWS: dict[type[Load], Callable[..., None]] = {
    SpringDamper: _spring_damper,
    Effort: _effort,
    Motor: _motor,
    Wrench: _wrench,
    Drag: _drag,
    Transmission: _no_force,
}
