"""The moving bodies of a mechanism, ready for recursions.

Bodies that are fixed to another are melted into it, in the parameters, unless the forces between them are asked for
(`welds`); what is left are *links*, each with one joint. A link's frame is frame b of its joint. The base is a link
when it moves, and six when it is a virtual carrier. A base whose motion is given in time is a link without a joint: its
velocity and acceleration are expressions of t. Free-form kinematics is cut into joints that are geared to the speeds
(`free_form`): one speed may move several links, and several one link. Equal joints behind one link are one joint, so
bodies whose places begin alike share them.

======  =====================================================================  ===============
K       pose of frame a of the joint in the parent link's frame (no motion)     depends on p
R, P    pose of the link's frame in the parent link's frame                     depends on p, q
S, c    columns of the relative velocity by speeds of the mechanism, and their  link's axes
        rate times v
======  =====================================================================  ===============
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product

from torseur.describe import BASE, WORLD, BaseKind, Motor, StandardInertia, Transmission
from torseur.describe.inertia import Inertia as DescribedInertia
from torseur.describe.inertia import ten_parameters
from torseur.dynamics.tree.free_form import Gearing, Move, cut, geared
from torseur.dynamics.tree.system import System, carrier_steps, coordinates_of, velocity_of
from torseur.errors import ModelError
from torseur.graph import Expr, Graph, tangents
from torseur.spatial.inertia import Inertia
from torseur.spatial.joints import FIXED, JointKind
from torseur.spatial.pose import Motion, Pose
from torseur.spatial.vectors import Vector

__all__ = ["Link", "Rotor", "Tree"]


@dataclass(frozen=True)
class Link:
    """One moving body with its joint; parent -1 is the world.

    Attributes:
        number: ends the names of what belongs to it; the base is 0.
        q, v: of the joint, expressions of those of the mechanism.
        places: in the mechanism's v, of the speeds that move the joint: those of the columns of S.
        gearing: how they do; None where they are the joint's own.
        drive: velocity of a driven base, and the rate of its components.
    """

    name: str
    number: str
    parent: int
    kind: JointKind
    q: tuple[Expr, ...]
    v: tuple[Expr, ...]
    places: tuple[int, ...]
    settings: tuple[Expr, ...]
    K: Pose
    inertia: Inertia
    gearing: Gearing | None = None
    drive: tuple[Motion, Motion] | None = None

    @property
    def graph(self) -> Graph:
        return self.K.graph

    @cached_property
    def pose(self) -> Pose:
        """Of the link's frame in its parent's."""
        return self.K @ self.motion

    @cached_property
    def motion(self) -> Pose:
        """Of frame b of the joint in its frame a."""
        return self.kind.pose(self.graph, self.q, self.settings)

    @cached_property
    def own_columns(self) -> list[Motion]:
        """Of the joint, by its own speeds."""
        return self.kind.subspace(self.graph, self.q, self.settings)

    @cached_property
    def S(self) -> list[Motion]:
        if self.gearing is None:
            return self.own_columns
        return [self._combined(column) for column in zip(*self.gearing.W, strict=True)]

    @cached_property
    def columns(self) -> list[tuple[int, Motion]]:
        """Places in the mechanism's v, and the columns of S that belong to them."""
        return list(zip(self.places, self.S, strict=True))

    @property
    def turns_its_columns(self) -> bool:
        """Whether S changes with q in the link's axes."""
        return self.kind.turns_its_columns or (self.gearing is not None and not self.gearing.is_steady)

    @cached_property
    def velocity(self) -> Motion:
        """Relative to the parent, in the link's axes: S v, or what is given in time."""
        return self._combined(self.v) if self.drive is None else self.drive[0]

    def acceleration(self, vdot: Sequence[Expr]) -> Motion:
        """The rate of the components of `velocity`: S vdot + c, or what is given in time; vdot is the mechanism's."""
        if self.drive is not None:
            return self.drive[1]
        c = self.kind.bias(self.graph, self.q, self.v, self.settings)
        return self._combined(self._own_rates(vdot)) + c

    def _own_rates(self, vdot: Sequence[Expr]) -> list[Expr]:
        """Of the joint's own speeds."""
        mine = [vdot[k] for k in self.places]
        if self.gearing is None:
            return mine
        rates = []
        for row, c in zip(self.gearing.W, self.gearing.c, strict=True):
            total = self.graph.zero
            for factor, rate in zip(row, mine, strict=True):
                total = total + factor * rate
            rates.append(total + c)
        return rates

    def _combined(self, speeds: Sequence[Expr]) -> Motion:
        total = Motion.zero(self.graph)
        for column, speed in zip(self.own_columns, speeds, strict=True):
            total += column * speed
        return total


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
        welds: keep bodies that are fixed to another, or to the world, as links of their own, which do not move on it.
    """

    def __init__(self, system: System, *, regroup: bool = False, welds: bool = False) -> None:
        self.system, self._welds = system, welds
        g = system.graph
        self.home: dict[str, tuple[int, Pose]] = {WORLD: (-1, Pose.identity(g))}
        """Body -> the link it belongs to, and the pose of its frame in the link's."""
        self.links: list[Link] = []
        self._known: dict[tuple[object, ...], int] = {}
        self._base()
        for body in system.order:
            self._body(body)
        if regroup:
            self._regroup()
        self.rotors = list(self._rotors())

    @property
    def nv(self) -> int:
        return len(self.system.v)

    @property
    def tips_first(self) -> list[tuple[int, Link]]:
        """The links and their numbers, children before parents."""
        return list(enumerate(self.links))[::-1]

    @property
    def moved(self) -> list[int]:
        """The places in v of what moves a link, those of parents before those of children."""
        return list(dict.fromkeys(place for link in self.links for place in link.places))

    @property
    def order(self) -> list[int]:
        """The places in v, those of parents before those of children; what moves no link comes last."""
        return list(dict.fromkeys([*self.moved, *range(self.nv)]))

    @property
    def moves_links(self) -> bool:
        """Whether every speed moves a link; coordinates of free-form kinematics may be used by frames alone."""
        return len(self.moved) == self.nv

    @property
    def shares_speeds(self) -> bool:
        """Whether a speed moves several links, which only free-form kinematics can do."""
        return sum(len(link.places) for link in self.links) > len(self.moved)

    @property
    def has_steady_columns(self) -> bool:
        """Whether every speed moves one link, along a column that is fixed in it."""
        return not self.shares_speeds and not any(link.turns_its_columns for link in self.links)

    @property
    def parents(self) -> list[int]:
        """For each speed, the one next below it on its branch; -1 at the root. One chain where speeds are shared."""
        parents = [-1] * self.nv
        if self.shares_speeds:
            for below, place in pairwise(self.order):
                parents[place] = below
            return parents
        for link in self.links:
            below = self._last_place(link.parent)
            for place in link.places:
                parents[place], below = below, place
        return parents

    @cached_property
    def pairs_on_branches(self) -> list[tuple[int, int]]:
        """Speeds of which the first one's joint carries that of the second."""
        pairs = list[tuple[int, int]]()
        for link in self.links:
            below = link.parent
            while below >= 0:
                pairs += product(self.links[below].places, link.places)
                below = self.links[below].parent
        return pairs

    def _last_place(self, link: int) -> int:
        """The speed nearest to the tip that moves a link; -1 if none does."""
        while link >= 0 and not self.links[link].places:
            link = self.links[link].parent
        return self.links[link].places[-1] if link >= 0 else -1

    def without_mass(self, speed: int) -> ModelError:
        """The error of a motion that nothing resists."""
        moved = self.system.mechanism.v[speed]
        return ModelError(
            f"{moved.name} moves no mass: the inertia matrix is singular, whatever the state",
            where=("bodies", moved.owner) if moved.owner in self.system.mechanism.bodies else moved.owner,
            remedy="give what it moves an inertia, or its drive one (transmission, motor), or prescribe the motion",
        )

    def massless(self) -> Tree:
        """The same links without inertia: what is left are rotors and loads."""
        return self.carrying({}, self.rotors)

    def carrying(self, inertias: Mapping[int, Inertia], rotors: Sequence[Rotor]) -> Tree:
        """The same links with other inertias, zero where none is given, and other rotors."""
        other, nothing = copy(self), Inertia.zero(self.system.graph)
        other.links = [replace(link, inertia=inertias.get(k, nothing)) for k, link in enumerate(self.links)]
        other.rotors = list(rotors)
        return other

    def drive(self, speed: int, inertia: Expr) -> Rotor:
        """A drive known by its inertia at the joint alone."""
        return Rotor(speed, -1, Vector.zero(self.system.graph), self.system.graph.one, inertia)

    def speed_of(self, coordinate: str) -> int:
        """The place in v of the rate of a coordinate that has one of its own."""
        place = next((k for k, x in enumerate(self.system.mechanism.v) if x.rate_of == coordinate), None)
        if place is None:
            raise ModelError(f"coordinate '{coordinate}' has no speed of its own", expected="a one-motion joint")
        return place

    def _rotors(self) -> Iterator[Rotor]:
        system = self.system
        for load in system.mechanism.loads.values():
            if isinstance(load, Transmission):
                yield self.drive(self.speed_of(load.coordinate), system.scalar(load.inertia))
            elif isinstance(load, Motor):
                speed = self.speed_of(load.coordinate)
                link, pose = self.home[load.carrier or self._carrier_of(load, speed)]
                axis = pose.R @ system.unit(system.vector(load.axis))
                yield Rotor(speed, link, axis, system.scalar(load.ratio), system.scalar(load.inertia))

    def _carrier_of(self, load: Motor, speed: int) -> str:
        """Where a motor sits by default: on the parent of the joint it drives."""
        mechanism = self.system.mechanism
        owner = mechanism.v[speed].owner
        if owner in mechanism.bodies:
            return mechanism.bodies[owner].parent
        if owner != BASE and self.system.scalar(load.inertia) is not self.system.graph.zero:
            raise ModelError(
                f"which body carries the motor of '{load.coordinate}' is not known: no joint owns this coordinate",
                where=next(("loads", name) for name, x in mechanism.loads.items() if x is load),
                remedy="name its carrier",
            )
        return WORLD

    # -- links ---------------------------------------------------------------------------------------------------------
    def _joint(
        self, owner: str, number: str, parent: int, K: Pose, kind: JointKind, settings: tuple[Expr, ...] = ()
    ) -> int:
        """The link behind a joint that owns its coordinates and speeds."""
        places = tuple(k for k, x in enumerate(self.system.mechanism.v) if x.owner == owner)
        v = tuple(self.system.v.symbols[k] for k in places)
        move = Move(K, kind, tuple(coordinates_of(self.system, owner)), settings)
        return self._link(owner, number, parent, move, v, places)

    def _link(
        self,
        name: str,
        number: str,
        parent: int,
        move: Move,
        v: tuple[Expr, ...],
        places: tuple[int, ...],
        gearing: Gearing | None = None,
    ) -> int:
        """A new link; or the one that is there, if it moves alike."""
        same = (parent, move.kind, move.K, move.q, move.settings)
        if same not in self._known:
            nothing = Inertia.zero(self.system.graph)
            link = Link(name, number, parent, move.kind, move.q, v, places, move.settings, move.K, nothing, gearing)
            self.links.append(link)
            self._known[same] = len(self.links) - 1
        return self._known[same]

    def _follow(
        self, name: str, numbers: Iterator[str], at: tuple[int, Pose], way: tuple[list[Move], Pose]
    ) -> tuple[int, Pose]:
        """Where a place leads to that has been cut into joints and what is left behind them."""
        (link, offset), (moves, rest) = at, way
        for move in moves:
            number = next(numbers)
            v, places, gearing = geared(self.system, move, number)
            link = self._link(name, number, link, replace(move, K=offset @ move.K), v, places, gearing)
            offset = Pose.identity(self.system.graph)
        return link, offset @ rest

    def _welded(self, name: str, number: str, at: tuple[int, Pose]) -> tuple[int, Pose]:
        """A place on a link, or a link of its own there if the body has none and welds are kept."""
        parent, K = at
        if not self._welds or (parent >= 0 and self.links[parent].name == name):
            return at
        g = self.system.graph
        self.links.append(Link(name, number, parent, FIXED, (), (), (), (), K, Inertia.zero(g)))
        return len(self.links) - 1, Pose.identity(g)

    def _base(self) -> None:
        base, system = self.system.mechanism.base, self.system
        place = system.place(base.place)
        signals = system.mechanism.names_in(base.place) & {"t", *system.mechanism.inputs}
        if signals and base.kind is not BaseKind.MOVING:
            raise ModelError(
                f"the place of a {base.kind.value} base does not change in time",
                where=("base", "place"),
                got=f"formulas of {', '.join(sorted(signals))}",
                remedy="call its kind 'moving'",
            )
        if base.kind is BaseKind.CARRIER:
            numbers = iter([f"0_{k}" for k in (0, 1, 2, 5, 4, 3)])
            self.home[BASE] = self._follow(BASE, numbers, (-1, place), cut(system, carrier_steps(system)))
        elif base.kind in (BaseKind.FLOATING, BaseKind.PLANAR):
            k = self._joint(BASE, "0", -1, place, base.joint_kind)
            self.home[BASE] = (k, Pose.identity(system.graph))
        elif base.kind is BaseKind.MOVING:
            k = self._joint(BASE, "0", -1, place, base.joint_kind)
            self.links[k] = replace(self.links[k], drive=self._drive(place))
            self.home[BASE] = (k, Pose.identity(system.graph))
        else:
            self.home[BASE] = self._welded(BASE, "0", (-1, place))
        if base.inertia is not None:
            self._melt(*self.home[BASE], inertia_of(system, base.inertia))

    def _drive(self, place: Pose) -> tuple[Motion, Motion]:
        """The velocity of a base with a given motion, and its rate, by differentiating its pose twice."""
        system, signals = self.system, set(self.system.mechanism.inputs)
        steered = system.mechanism.names_in(system.mechanism.base.place) & signals
        if steered:
            raise ModelError(
                "the velocity of the base is not known: inputs have no rates",
                where=("base", "place"),
                got=", ".join(sorted(steered)),
                expected="formulas of t and parameters",
            )
        one = {system.t: system.graph.one}
        velocity = velocity_of(place, one)
        return velocity, Motion.of(tangents(velocity.six, one))

    def _body(self, name: str) -> None:
        system, body = self.system, self.system.mechanism.bodies[name]
        signals = system.mechanism.names_in(body.place) & {"t", *system.mechanism.inputs}
        if signals:
            raise ModelError(
                "the place of a body does not change in time by itself",
                where=("bodies", name, "place"),
                got=f"formulas of {', '.join(sorted(signals))}",
                remedy="make it depend on a coordinate, and prescribe that",
            )
        before, after = cut(system, system.steps_to(body)), cut(system, system.steps_from(body))
        has_joint, number = body.joint.kind != "fixed", system.numbers[name]
        links = len(before[0]) + has_joint + len(after[0])
        numbers = iter([*(f"{number}s{k}" for k in range(1, links)), number])
        at = self._follow(name, numbers, self.home[body.parent], before)
        if has_joint:
            settings = () if body.joint.pitch is None else (system.scalar(body.joint.pitch),)
            at = (self._joint(name, next(numbers), *at, body.joint.algebra, settings), Pose.identity(system.graph))
        self.home[name] = self._welded(name, number, self._follow(name, numbers, at, after))
        if body.inertia is not None:
            self._melt(*self.home[name], inertia_of(system, body.inertia))

    def _melt(self, link: int, pose: Pose, inertia: Inertia) -> None:
        """Give a body's inertia to a link; what is fixed to the world moves nothing."""
        if link >= 0:
            whole = self.links[link].inertia + pose @ inertia
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


def inertia_of(system: System, inertia: DescribedInertia) -> Inertia:
    """The ten parameters of a described body at its own frame."""
    return ten_parameters(inertia, system.graph, system.scalar)
