"""What the loads of a description do: generalised forces along coordinates, wrenches on links; and energies, momenta,
powers: the quantities that an audit watches (Llibre, Mampey & Chretien 1983, IV.2).

The laws are in the records themselves (`torseur.describe.loads`); here is the context they are given. A load on
coordinates is a force times the derivative of its path's rate by the speeds; a load at a frame, or between two, is a
wrench that the recursions carry on. Nothing here depends on accelerations: rotors are in `tree`.

======  ===============================================================================  ======
T       kinetic energy                                                                    J
U       potential energy: gravity, with the world origin at zero, and loads               J
p, L    linear momentum, angular momentum about the world origin, in world axes           N s, N m s
P       power of a load: Q . v + sum of f . V + n . w                                     W
======  ===============================================================================  ======

Bodies that cannot move count for nothing in any of them. A drive known only by its inertia at the joint has kinetic
energy, but no axis, and so no angular momentum. Energy changes by the power of all forces:

    d(T + U)/dt = tau . v + sum over loads of P + what springs give back

where U holds the springs already: their P counts what they store as a loss, and the rate of what they store takes it
back.
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
from torseur.dynamics.tree.kinematics import FrameState, Kinematics
from torseur.dynamics.tree.system import rates
from torseur.dynamics.tree.tree import Tree
from torseur.errors import ModelError, TorseurError
from torseur.graph import Expr, Graph, jacobian, maximum, ops, sign, sqrt, substitute, tangents
from torseur.graph.function import reachable
from torseur.spatial.pose import Wrench
from torseur.spatial.vectors import Vector, dot

__all__ = [
    "Forces",
    "FrictionLaw",
    "LoadOnTree",
    "Part",
    "add_compliance",
    "centre_of_mass",
    "compliant_loads",
    "coulomb",
    "forces_of",
    "kinetic_energy",
    "kinetic_shares",
    "momentum",
    "not_negative",
    "potential_energy",
    "power_of",
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
                "a load between two frames that always coincide has no direction",
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


@dataclass(frozen=True)
class Part:
    """Some of a tree: numbers of links, places of speeds, names of loads."""

    links: frozenset[int]
    speeds: frozenset[int]
    loads: frozenset[str]


def kinetic_energy(tree: Tree) -> Expr:
    """T = sum 1/2 (M V.V + w.J w) + V.(w x MS), and what rotors add by turning faster than their carriers."""
    kinematics, v = Kinematics(tree), tree.system.v.symbols
    total = tree.system.graph.zero
    for link, motion in zip(tree.links, kinematics.velocities, strict=True):
        total = total + link.inertia.kinetic_energy(motion)
    for rotor in tree.rotors:
        spin = rotor.ratio * v[rotor.speed]
        total = total + 0.5 * rotor.inertia * spin * spin
        if rotor.link >= 0:
            total = total + rotor.inertia * spin * dot(rotor.axis, kinematics.velocities[rotor.link].angular)
    return total


def kinetic_shares(tree: Tree, part: Part) -> list[Expr]:
    """The kinetic energy of a part in shares that add up to it: of each link along and about its three axes, of rotors.

    1/2 V_i (M V + w x MS)_i and 1/2 w_i (J w + MS x V)_i. What turns or slides steadily keeps its share.
    """
    kinematics, v = Kinematics(tree), tree.system.v.symbols
    shares: list[Expr] = []
    for k in sorted(part.links):
        V = kinematics.velocities[k]
        h = tree.links[k].inertia @ V
        shares += [0.5 * a * b for a, b in zip(V.six, h.six, strict=True)]
    for rotor in tree.rotors:
        if rotor.speed in part.speeds:
            spin = rotor.ratio * v[rotor.speed]
            shares.append(0.5 * rotor.inertia * spin * spin)
            if rotor.link >= 0:
                shares.append(rotor.inertia * spin * dot(rotor.axis, kinematics.velocities[rotor.link].angular))
    return [e for e in shares if e is not tree.system.graph.zero]


def potential_energy(tree: Tree, gravity: Vector, part: Part | None = None) -> Expr:
    """U = -sum g.(M P + R MS) + what loads have stored."""
    kinematics, system = Kinematics(tree), tree.system
    total = system.graph.zero
    for k, (link, pose) in enumerate(zip(tree.links, kinematics.poses, strict=True)):
        if part is not None and k not in part.links:
            continue
        total = total - dot(gravity, link.inertia.moment_of_mass(pose))
    for name, load in system.mechanism.loads.items():
        if part is None or name in part.loads:
            stored = load.energy(LoadOnTree(tree, name, kinematics))
            total = total if stored is None else total + stored
    return total


def centre_of_mass(tree: Tree) -> Vector:
    """sum (M P + R MS) / sum M, of the bodies that move."""
    g, kinematics = tree.system.graph, Kinematics(tree)
    moment, mass = Vector.zero(g), g.zero
    for link, pose in zip(tree.links, kinematics.poses, strict=True):
        moment, mass = moment + link.inertia.moment_of_mass(pose), mass + link.inertia.M
    if mass is g.zero:
        raise ModelError(
            "no moving body has a mass: the centre of mass is not defined", where=tree.system.mechanism.name
        )
    return (1.0 / mass) * moment


def momentum(tree: Tree) -> Wrench:
    """p and L: of each link I V at its origin, with the spin of the rotors it carries, brought to the world's."""
    g, kinematics, v = tree.system.graph, Kinematics(tree), tree.system.v.symbols
    still = Vector.zero(g)
    spins: dict[int, Vector] = {}
    for rotor in tree.rotors:
        h = (rotor.inertia * rotor.ratio * v[rotor.speed]) * rotor.axis
        spins[rotor.link] = spins.get(rotor.link, still) + h
    total = Wrench.zero(g)
    for k, (link, X, V) in enumerate(zip(tree.links, kinematics.poses, kinematics.velocities, strict=True)):
        total += X @ (link.inertia @ V + Wrench(still, spins.get(k, still)))
    return total + Wrench(still, spins.get(-1, still))


# -- power -------------------------------------------------------------------------------------------------------------
def power_of(tree: Tree, load: str, friction: FrictionLaw = coulomb) -> Expr:
    """What a load gives to the bodies that move, W."""
    forces = forces_of(tree, {load: tree.system.mechanism.loads[load]}, friction)
    velocities = Kinematics(tree).velocities
    power = tree.system.graph.zero
    for place, force in forces.Q.items():
        power = power + force * tree.system.v.symbols[place]
    for k, wrench in forces.wrenches.items():
        power = power + dot(velocities[k], wrench)
    known = compliant_loads(tree)
    return substitute([power], known)[0] if known else power
