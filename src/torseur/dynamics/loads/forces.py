"""What the loads of a description do: generalised forces along coordinates, wrenches on links.

The laws are in the records themselves (`torseur.describe.loads`); here is the context they are given. A load on
coordinates is a force times the derivative of its path's rate by the speeds; a load at a frame, or between two, is a
wrench that the recursions carry on. Nothing here depends on accelerations: rotors are in `tree`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from torseur.describe import Load
from torseur.describe.constraints import Rolling
from torseur.describe.fields import Scalar, Triple
from torseur.describe.loads import LoadContext, PathLoad
from torseur.dynamics.loads.wheels import WheelOnRoad, compliant_load, wheel_on_road
from torseur.dynamics.tree.coordinates import rates
from torseur.dynamics.tree.kinematics import FrameState, Kinematics
from torseur.dynamics.tree.tree import Tree
from torseur.errors import ModelError, TorseurError
from torseur.graph import Expr, Graph, jacobian, maximum, ops, sign, sqrt, substitute, tangents
from torseur.graph.function import reachable
from torseur.spatial.motion import Wrench
from torseur.spatial.vectors import Vector, dot

__all__ = [
    "Forces",
    "FrictionLaw",
    "LoadOnTree",
    "add_compliance",
    "compliant_loads",
    "coulomb",
    "forces_of",
    "not_negative",
]

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
    Q: dict[int, Expr] = field(default_factory=dict)
    wrenches: dict[int, Wrench] = field(default_factory=dict)

    def push(self, speed: int, force: Expr) -> None:
        self.Q[speed] = self.Q.get(speed, self.graph.zero) + force

    def replaced(self, known: Mapping[Expr, Expr]) -> Forces:
        """The same forces with expressions in place of symbols."""
        if not known:
            return self
        Q = dict(zip(self.Q, substitute(list(self.Q.values()), known), strict=True)) if self.Q else {}
        flat = substitute([x for wrench in self.wrenches.values() for x in wrench.six], known) if self.wrenches else []
        wrenches = {k: Wrench.of(flat[6 * i : 6 * i + 6]) for i, k in enumerate(self.wrenches)}
        return Forces(self.graph, Q, wrenches)

    def act(self, frame: FrameState, wrench: Wrench) -> None:
        """A wrench at a frame's origin, in the frame's axes."""
        if frame.link >= 0:
            old = self.wrenches.get(frame.link, Wrench.zero(self.graph))
            self.wrenches[frame.link] = old + frame.offset @ wrench


def forces_of(tree: Tree, loads: Mapping[str, Load] | None = None, friction: FrictionLaw = coulomb) -> Forces:
    """The forces of the loads of the description, or of others in their place."""
    forces, kinematics = Forces(tree.system.graph), Kinematics(tree)
    for name, load in (tree.system.mechanism.loads if loads is None else loads).items():
        try:
            load.act(LoadOnTree(tree, name, kinematics, forces, friction))
        except TorseurError as error:
            error.where = error.where or f"loads.{name}"
            raise
    return forces


class LoadOnTree(LoadContext):
    """One load on the tree of a mechanism.

    Args:
        tree: the links.
        name: of the load.
        kinematics: of the tree, shared by all loads.
        forces: where they are left.
        friction: the law of dry friction.
    """

    def __init__(
        self,
        tree: Tree,
        name: str,
        kinematics: Kinematics | None = None,
        forces: Forces | None = None,
        friction: FrictionLaw = coulomb,
    ) -> None:
        self.graph = tree.system.graph
        self.name = name
        self._tree, self._kinematics = tree, kinematics or Kinematics(tree)
        self._forces, self._law = forces or Forces(self.graph), friction

    # -- what a law may ask --------------------------------------------------------------------------------------------
    def scalar(self, value: Scalar) -> Expr:
        return self._tree.system.scalar(value)

    def vector(self, value: Triple) -> Vector:
        return self._tree.system.vector(value)

    def frame(self, name: str) -> FrameState:
        return self._kinematics.frame(name)

    def speed(self, coordinate: str) -> Expr:
        return self._tree.system.v.symbols[self._tree.speed_of(coordinate)]

    def path(self, load: PathLoad) -> tuple[Expr, Expr]:
        if load.between is not None:
            length, rate, _ = self._strut(load.between)
            return length, rate
        one: dict[str, Scalar] = {load.coordinate: 1.0} if load.coordinate is not None else {}
        s = rate = self.graph.zero
        for name, factor in (load.combination or one).items():
            k = self.scalar(factor)
            s, rate = s + k * self._tree.system.scope[name], rate + k * self._rates[name]
        return s, rate

    def input(self, name: str) -> Expr:
        return self._tree.system.u[name]

    def rate(self, value: Expr) -> Expr:
        system = self._tree.system
        seeds = dict(zip(system.q, rates(system), strict=True)) | {system.t: self.graph.one}
        return tangents([value], seeds)[0]

    def wheel(self, constraint: str) -> WheelOnRoad:
        described = self._tree.system.mechanism.constraints.get(constraint)
        form = None if described is None else described.form
        if not isinstance(form, Rolling):
            raise ModelError(
                f"'{constraint}' is not a wheel on a road",
                where=("loads", self.name),
                expected="the name of a rolling constraint",
            )
        return wheel_on_road(self._tree.system, self._kinematics, constraint, form)

    def friction(self, level: Expr, rate: Expr) -> Expr:
        return self._law(self.name, not_negative(level), rate)

    # -- where it leaves its forces ------------------------------------------------------------------------------------
    def push(self, coordinate: str, force: Expr) -> None:
        self._forces.push(self._tree.speed_of(coordinate), force)

    def pull(self, load: PathLoad, force: Expr) -> None:
        if load.between is not None:
            a, b = (self._kinematics.frame(name) for name in load.between)
            pull = Wrench(force * self._strut(load.between)[2], Vector.zero(self.graph))
            self._forces.act(b, pull.turned(b.pose.R.T))
            self._forces.act(a, -pull.turned(a.pose.R.T))
            return
        slopes = jacobian([self.path(load)[1]], list(self._tree.system.v))
        for place, slope in zip(slopes.columns, slopes.entries, strict=True):
            self._forces.push(place, force * slope)

    def apply(self, frame: str, force: Vector, torque: Vector) -> None:
        self._forces.act(self._kinematics.frame(frame), Wrench(force, torque))

    def apply_at_wheel(self, constraint: str, force: Vector, torque: Vector) -> None:
        for frame, wrench in self.wheel(constraint).wrenches(force, torque):
            self._forces.act(frame, wrench)

    # -- paths ---------------------------------------------------------------------------------------------------------
    @cached_property
    def _rates(self) -> dict[str, Expr]:
        return dict(zip(self._tree.system.q.names, rates(self._tree.system), strict=True))

    def _strut(self, ends: tuple[str, str]) -> tuple[Expr, Expr, Vector]:
        """Length, rate, and direction from a to b in world axes."""
        a, b = (self._kinematics.frame(name) for name in ends)
        span = b.pose.P - a.pose.P
        length = sqrt(dot(span, span))
        if length is self.graph.zero:
            raise ModelError(
                "a load between two frames that are always in one place has no direction",
                where=("loads", self.name),
                got=" and ".join(ends),
                expected="frames with a distance between them",
            )
        unit = span / length
        return length, dot(unit, b.V_world - a.V_world), unit


# -- treads with a stiffness -------------------------------------------------------------------------------------------
def compliant_loads(tree: Tree) -> dict[Expr, Expr]:
    """Symbol of the normal force of each tread with a stiffness -> what it is."""
    system, known = tree.system, {}
    for N, (name, wheel) in zip(system.compliant, _treads(tree).items(), strict=True):
        form = system.mechanism.constraints[name].form
        known[N] = system.graph.name(compliant_load(system, wheel, form, _gap_rate(tree, wheel)), f"N_{name}")
    return known


def add_compliance(tree: Tree, forces: Forces) -> dict[str, Expr]:
    """Add the normal forces of treads with a stiffness; the power of each."""
    zero, powers = tree.system.graph.zero, {}
    for N, (name, wheel) in zip(tree.system.compliant, _treads(tree).items(), strict=True):
        for frame, wrench in wheel.wrenches(Vector(zero, zero, N), Vector(zero, zero, zero)):
            forces.act(frame, wrench)
        powers[name] = N * _gap_rate(tree, wheel)
    return powers


def _treads(tree: Tree) -> dict[str, WheelOnRoad]:
    system, kinematics = tree.system, Kinematics(tree)
    forms = {name: system.mechanism.constraints[name].form for name in system.mechanism.compliant}
    return {name: wheel_on_road(system, kinematics, name, form) for name, form in forms.items()}


def _gap_rate(tree: Tree, wheel: WheelOnRoad) -> Expr:
    """The velocity of the point of contact along the normal: the rate of the gap on a plane road."""
    return dot(wheel.normal, wheel.material)
