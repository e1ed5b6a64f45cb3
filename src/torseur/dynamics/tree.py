"""The moving bodies of a mechanism, ready for recursions.

Bodies that are fixed to another are melted into it, in the parameters; what is left are *links*, each with one joint. A
link's frame is frame b of its joint. The base is a link when it moves, and six when it is a virtual carrier. A base
whose motion is given in time is a link without a joint: its velocity and acceleration are expressions of t.

======  =====================================================================  ===============
K       pose of frame a of the joint in the parent link's frame (no motion)     depends on p
R, P    pose of the link's frame in the parent link's frame                     depends on p, q
S, c    columns of the joint's relative velocity, and their rate times v        link's axes
======  =====================================================================  ===============
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

from torseur.describe import BASE, WORLD, BaseKind, CentralInertia, Motor, StandardInertia, Transmission
from torseur.describe.fields import names_in
from torseur.dynamics.kinematics import coordinates_of, velocity_of
from torseur.dynamics.system import System
from torseur.errors import ModelError
from torseur.graph import Expr, tangents
from torseur.spatial.inertia import Inertia, central
from torseur.spatial.joints import KINDS, JointKind, Motion
from torseur.spatial.pose import Pose, Step, StepKind, product
from torseur.spatial.vectors import Vector, add, rotate, scale, zero_vector

__all__ = ["Link", "Rotor", "Tree"]

_CARRIER = (
    ("prismatic", "x"),
    ("prismatic", "y"),
    ("prismatic", "z"),
    ("revolute", "z"),
    ("revolute", "y"),
    ("revolute", "x"),
)
_AXIS_TO_Z = {"x": (StepKind.ROTATE_Y, 0.5), "y": (StepKind.ROTATE_X, -0.5), "z": (StepKind.ROTATE_Z, 0.0)}


@dataclass(frozen=True)
class Link:
    """One moving body with its joint. `first` is the place of its first speed in v; parent -1 is the world.

    `number` ends the names of what belongs to it; the base is 0. `drive` is the velocity of a driven base and the rate
    of its components.
    """

    name: str
    number: str
    parent: int
    kind: JointKind
    q: tuple[Expr, ...]
    v: tuple[Expr, ...]
    first: int
    settings: tuple[Expr, ...]
    K: Pose
    inertia: Inertia
    drive: tuple[Motion, Motion] | None = None

    @cached_property
    def pose(self) -> Pose:
        """Of the link's frame in its parent's."""
        return self.K * self.kind.pose(self.K.P[0].graph, self.q, self.settings)

    @cached_property
    def S(self) -> list[Motion]:
        return self.kind.subspace(self.K.P[0].graph, self.q, self.settings)

    @cached_property
    def c(self) -> Motion:
        return self.kind.bias(self.K.P[0].graph, self.q, self.v, self.settings)

    @cached_property
    def velocity(self) -> Motion:
        """Relative to the parent, in the link's axes: S v, or what is given in time."""
        return self._combined(self.v) if self.drive is None else self.drive[0]

    def acceleration(self, vdot: Sequence[Expr]) -> Motion:
        """The rate of the components of `velocity`: S vdot + c, or what is given in time."""
        if self.drive is not None:
            return self.drive[1]
        rate = self._combined(vdot)
        return Motion(add(rate.linear, self.c.linear), add(rate.angular, self.c.angular))

    def _combined(self, speeds: Sequence[Expr]) -> Motion:
        linear = angular = zero_vector(self.K.P[0].graph)
        for column, speed in zip(self.S, speeds, strict=True):
            linear = add(linear, scale(speed, column.linear))
            angular = add(angular, scale(speed, column.angular))
        return Motion(linear, angular)


@dataclass(frozen=True)
class Rotor:
    """A rotor that turns `ratio` times faster than one speed, about an axis of the link that carries it.

    Its inertia at rest belongs to the carrier, so it adds the energy ratio * inertia * v * (axis . w) + 1/2 (ratio
    v)^2 inertia. On what does not move, link is -1 and the axis in world axes; a drive known only by its inertia at
    the joint (Khalil's IA) has no axis: zero.
    """

    speed: int
    link: int
    axis: Vector
    ratio: Expr
    inertia: Expr


class Tree:
    """The links of a mechanism, parents first, and where each body of the description sits.

    Args:
        system: the symbols.
        regroup: move to the parent what a joint does not notice of its child's inertia (base parameters).
    """

    def __init__(self, system: System, *, regroup: bool = False) -> None:
        self.system = system
        g = system.graph
        self.home: dict[str, tuple[int, Pose]] = {WORLD: (-1, Pose.identity(g))}
        """Body -> the link it belongs to, and the pose of its frame in the link's."""
        self.links: list[Link] = []
        self._base()
        for body in system.order:
            self._body(body)
        self._refuse_idle()
        if regroup:
            self._regroup()
        self.rotors = list(self._rotors())

    @property
    def nv(self) -> int:
        return len(self.system.v)

    @property
    def order(self) -> list[int]:
        """The places in v, those of parents before those of children."""
        return [link.first + i for link in self.links for i in range(link.kind.nv)]

    @property
    def parents(self) -> list[int]:
        """For each speed, the one next below it on its branch; -1 at the root."""
        found = [-1] * self.nv
        for link in self.links:
            below = self.links[link.parent] if link.parent >= 0 else None
            root = -1 if below is None else below.first + below.kind.nv - 1
            for i in range(link.kind.nv):
                found[link.first + i] = root if i == 0 else link.first + i - 1
        return found

    def without_mass(self, speed: int) -> ModelError:
        """The error of a motion that nothing resists."""
        moved = self.system.mechanism.v[speed]
        return ModelError(
            f"{moved.name} moves no mass: the inertia matrix is singular, whatever the state",
            where=f"bodies.{moved.owner}" if moved.owner in self.system.mechanism.bodies else moved.owner,
            remedy="give what it moves an inertia, or its drive one (transmission, motor), or prescribe the motion",
        )

    def massless(self) -> Tree:
        """The same links without inertia: what is left are rotors and loads."""
        other = copy(self)
        other.links = [replace(link, inertia=Inertia.zero(self.system.graph)) for link in self.links]
        return other

    def speed_of(self, coordinate: str) -> int:
        """The place in v of the rate of a coordinate that has one of its own."""
        names = [x.name for x in self.system.mechanism.v]
        if f"d{coordinate}" not in names:
            raise ModelError(f"coordinate '{coordinate}' has no speed of its own", expected="a one-motion joint")
        return names.index(f"d{coordinate}")

    def _rotors(self) -> Iterator[Rotor]:
        system = self.system
        for load in system.mechanism.loads.values():
            if isinstance(load, Transmission):
                o, one = zero_vector(system.graph), system.graph.one
                yield Rotor(self.speed_of(load.coordinate), -1, o, one, system.scalar(load.inertia))
            elif isinstance(load, Motor):
                speed = self.speed_of(load.coordinate)
                driven = next(link for link in self.links if link.first <= speed < link.first + link.kind.nv)
                body = system.mechanism.bodies.get(driven.name)
                link, pose = self.home[load.carrier or (WORLD if body is None else body.parent)]
                axis = rotate(pose.R, system.unit(system.vector(load.axis)))
                yield Rotor(speed, link, axis, system.scalar(load.ratio), system.scalar(load.inertia))

    def _refuse_idle(self) -> None:
        """Coordinates of free-form kinematics that no body uses would leave rows of zeros."""
        moved = set(self.order)
        idle = [x.name.removeprefix("d") for k, x in enumerate(self.system.mechanism.v) if k not in moved]
        if idle:
            raise ModelError(
                f"no body moves with {', '.join(map(repr, idle))}",
                where="coordinates",
                remedy="use them in the place of a body, or remove them",
            )

    def _first(self, owner: str) -> int:
        return next((k for k, x in enumerate(self.system.mechanism.v) if x.owner == owner), 0)

    def _link(
        self, name: str, parent: int, kind: JointKind, q: list[Expr], K: Pose, settings: list[Expr], first: int
    ) -> int:
        v = tuple(self.system.v.symbols[first : first + kind.nv])
        nothing = Inertia.zero(self.system.graph)
        number = self.system.numbers.get(name) or name.replace(BASE, "0")
        self.links.append(Link(name, number, parent, kind, tuple(q), v, first, tuple(settings), K, nothing))
        return len(self.links) - 1

    def _base(self) -> None:
        base, system = self.system.mechanism.base, self.system
        place, q = system.place(base.place), coordinates_of(system, BASE)
        signals = names_in(base.place) & {"t", *system.mechanism.inputs}
        if signals and base.kind is not BaseKind.MOVING:
            raise ModelError(
                f"the place of a {base.kind.value} base does not change in time",
                where="base.place",
                got=f"formulas of {', '.join(sorted(signals))}",
                remedy="call its kind 'moving'",
            )
        if base.kind is BaseKind.CARRIER:
            self._carrier(place, q)
        elif base.kind in (BaseKind.FLOATING, BaseKind.PLANAR):
            k = self._link(BASE, -1, base.joint_kind, q, place, [], self._first(BASE))
            self.home[BASE] = (k, Pose.identity(system.graph))
        elif base.kind is BaseKind.MOVING:
            k = self._link(BASE, -1, base.joint_kind, q, place, [], 0)
            self.links[k] = replace(self.links[k], drive=self._drive(place))
            self.home[BASE] = (k, Pose.identity(system.graph))
        else:
            self.home[BASE] = (-1, place)
        if base.inertia is not None:
            self._melt(*self.home[BASE], inertia_of(system, base.inertia))

    def _drive(self, place: Pose) -> tuple[Motion, Motion]:
        """The velocity of a base with a given motion, and its rate, by differentiating its pose twice."""
        system, signals = self.system, set(self.system.mechanism.inputs)
        steered = names_in(system.mechanism.base.place) & signals
        if steered:
            raise ModelError(
                "the velocity of the base is not known: inputs have no rates",
                where="base.place",
                got=", ".join(sorted(steered)),
                expected="formulas of t and parameters",
            )
        one = {system.t: system.graph.one}
        velocity = velocity_of(place, one)
        a, b, c, d, e, f = tangents([*velocity.linear, *velocity.angular], one)
        return velocity, Motion((a, b, c), (d, e, f))

    def _carrier(self, place: Pose, q: list[Expr]) -> None:
        """Six massless joints along x, y, z and about z, y, x, each turned so that its axis is z."""
        g, parent, back = self.system.graph, -1, place
        for k, (kind, axis) in zip((0, 1, 2, 5, 4, 3), _CARRIER, strict=True):
            turn, quarters = _AXIS_TO_Z[axis]
            way = product(g, [Step(turn, g.number(quarters * 3.141592653589793))])
            parent = self._link(f"{BASE}_{k}", parent, KINDS[kind], [q[k]], back * way, [], k)
            back = way.inverse()
        self.home[BASE] = (parent, back)

    def _body(self, name: str) -> None:
        system, body = self.system, self.system.mechanism.bodies[name]
        parent, offset = self.home[body.parent]
        K, after = offset * system.before(body.place), system.after(body.place)
        if names_in(body.place) & {x.name for x in system.mechanism.q}:
            raise ModelError(
                "free-form kinematics has no joint to recurse on",
                where=f"bodies.{name}.place",
                remedy="use the Lagrange equations for this mechanism",
            )
        if body.joint.kind == "fixed":
            self.home[name] = (parent, K * after)
        else:
            settings = [] if body.joint.pitch is None else [system.scalar(body.joint.pitch)]
            q, kind = coordinates_of(system, name), body.joint.algebra
            k = self._link(name, parent, kind, q, K, settings, self._first(name))
            self.home[name] = (k, after)
        if body.inertia is not None:
            self._melt(*self.home[name], inertia_of(system, body.inertia))

    def _melt(self, link: int, pose: Pose, inertia: Inertia) -> None:
        """Give a body's inertia to a link; what is fixed to the world moves nothing."""
        if link >= 0:
            whole = self.links[link].inertia + inertia.seen_from(pose)
            self.links[link] = replace(self.links[link], inertia=whole)

    def _regroup(self) -> None:
        """From the tips to the base: what a joint does not notice goes to its parent."""
        for k in reversed(range(len(self.links))):
            link = self.links[k]
            part = link.kind.unnoticed(link.inertia)
            self.links[k] = replace(link, inertia=self._named(link.inertia - part, link.number))
            self._melt(link.parent, link.K, part)

    def _named(self, inertia: Inertia, number: str) -> Inertia:
        """XXR1, ... as SYMORO calls regrouped parameters."""
        g, names = self.system.graph, StandardInertia.model_fields
        return Inertia.from_ten(*(g.name(x, f"{n}R{number}") for n, x in zip(names, inertia.ten(), strict=True)))


def inertia_of(system: System, inertia: StandardInertia | CentralInertia) -> Inertia:
    """The ten parameters of a described body at its own frame."""
    if isinstance(inertia, StandardInertia):
        return Inertia.from_ten(*(system.scalar(getattr(inertia, n)) for n in StandardInertia.model_fields))
    t = {n: system.scalar(getattr(inertia.tensor, n)) for n in type(inertia.tensor).model_fields}
    tensor = ((t["xx"], t["xy"], t["xz"]), (t["xy"], t["yy"], t["yz"]), (t["xz"], t["yz"], t["zz"]))
    return central(system.scalar(inertia.mass), system.vector(inertia.centre), tensor, system.turn(inertia.rpy))
