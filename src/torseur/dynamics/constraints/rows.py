"""The constraints of a mechanism as rows, at the levels of position, velocity and acceleration; and Coulomb friction in
contacts and rolling wheels.

Cut joints of loops, couplings, prescribed coordinates and free equations are holonomic: they have a position row.
Rolling, knife edges and rows of speeds have a velocity row only (a wheel that rolls also keeps its height, which is
holonomic). Every row is linear in the speeds.

======  =======================================================================  ===============
h       position row, h(q, t) = 0                                                 m, or as an angle
r       velocity row, r(q, v, t) = A(q, t) v + c(q, t) = 0; r = dh/dt              m/s, rad/s
A, c    its matrix (rows, nv), and what is left at v = 0                           Maakaroun (2.53), DeSantis J_h, J_nh
b       right-hand side of the acceleration row A vdot = b, b = -(dr/dt at vdot = 0)
======  =======================================================================  ===============

An input is held: its rate is zero, unless whoever made the symbols gave it one (`System.input_rates`).

Friction is a force in the plane of contact, inside a round cone. With s the sliding velocity (along two directions of
the ground), mu the coefficient and N the normal force,

    slip    F = -mu N s / |s|
    stick   s = 0, |F| <= mu N

Functions of a model know slip only, and no force at rest, as they do of dry friction in joints; wheels that roll do not
slip there. A simulation puts its own law in place, with stick and slip by events: `torseur.simulation.plant.switches`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from torseur.describe import Loop, Mechanism
from torseur.describe.constraints import Contact, Coupling, NoSideSlip, Prescribed, Rolling, SpeedRow
from torseur.describe.fields import Scalar
from torseur.dynamics.loads.forces import Forces, not_negative
from torseur.dynamics.loads.wheels import Acts, acts_on, relative, wheel_on_road
from torseur.dynamics.tree.kinematics import FrameState, Kinematics
from torseur.dynamics.tree.system import rates
from torseur.dynamics.tree.tree import Tree
from torseur.errors import ModelError
from torseur.graph import Expr, jacobian, select, sqrt, substitute, tangents
from torseur.spatial.joint_kind import Closing
from torseur.spatial.pose import Pose, Wrench
from torseur.spatial.vectors import Vector, dot

__all__ = [
    "Constraints",
    "ContactLaw",
    "Cut",
    "FrictionContact",
    "Owner",
    "Row",
    "Switched",
    "add_friction",
    "friction_contacts",
    "length_of",
    "sides_of",
    "slipping",
    "unit_of_effort",
]


class Owner(NamedTuple):
    """Who asks for rows: an entry of a table of the description, written ``constraints.ground``."""

    table: str
    name: str

    def __str__(self) -> str:
        return f"{self.table}.{self.name}"


@dataclass(frozen=True)
class Row:
    """One row: who asks for it, which part of it this is, and its expressions. `position` is None if nonholonomic.

    `unit` is that of its multiplier. A row with a switch counts while that is 1, and not while it is 0. `acts` are the
    wrenches of a unit multiplier on frames, in their axes; empty where it acts along joints only, None if not known.
    """

    owner: Owner
    part: str
    rate: Expr
    position: Expr | None
    unit: str
    switch: Expr | None = None
    acts: Acts | None = None

    @property
    def name(self) -> str:
        """pin_x, steered, ..."""
        return f"{self.owner.name}_{self.part}" if self.part else self.owner.name


Switched = Owner | tuple[Owner, str]
"""All rows of an owner, or one of them by its part."""


@dataclass(frozen=True)
class Cut:
    """A cut joint: the frames it ties, its equations, and the places of their rows (None for those always met)."""

    name: str
    a: FrameState
    b: FrameState
    closings: tuple[Closing, ...]
    places: tuple[int | None, ...]


class Constraints:
    """The rows of a mechanism on its tree of joints.

    Args:
        tree: the links.
        switches: for constraints that come and go, by owner or by owner and part of the row, an expression that is 1
            or 0. The rows of a contact along the ground are there where they have one.
        more: rows beside those of the description, such as those of friction that sticks.
    """

    def __init__(self, tree: Tree, switches: Mapping[Switched, Expr] | None = None, more: Sequence[Row] = ()) -> None:
        self.tree, self.system = tree, tree.system
        self._switches = dict(switches or {})
        self.kinematics = Kinematics(tree)
        self.rows: list[Row] = []
        self.cuts: list[Cut] = []
        self.uprightness: dict[Owner, Expr] = {}
        """Of each wheel that rolls, by owner: the sine of the angle of axle and normal, 0 where it lies flat."""
        g, system = self.system.graph, self.system
        self.seeds = dict(zip(system.q, rates(system), strict=True)) | {system.t: g.one} | system.input_rates
        """What every coordinate, time, and every input that moves changes by in a unit of time."""
        for name, loop in system.mechanism.loops.items():
            self._close(name, loop)
        for name, constraint in system.mechanism.constraints.items():
            owner, form = Owner("constraints", name), constraint.form
            for row in _ROWS[type(form)](self, owner, form) if type(form) in _ROWS else self._equation(owner, form):
                self._keep(row)
        self.rows += more

    def only(self, places: Sequence[int]) -> Constraints:
        """Some of the rows, all of them there for good."""
        chosen = copy(self)
        for name in ("holonomic", "h", "r", "A", "c", "b", "components"):
            chosen.__dict__.pop(name, None)
        new = {old: k for k, old in enumerate(places)}
        chosen.rows = [replace(self.rows[k], switch=None) for k in places]
        chosen.cuts = [
            replace(cut, places=tuple(None if k is None else new.get(k) for k in cut.places)) for cut in self.cuts
        ]
        return chosen

    # -- the matrices --------------------------------------------------------------------------------------------------
    @cached_property
    def holonomic(self) -> list[int]:
        """The places of the rows with a position."""
        return [k for k, row in enumerate(self.rows) if row.position is not None]

    @cached_property
    def h(self) -> list[Expr]:
        return [_switched(row.position, row.switch) for row in self.rows if row.position is not None]

    @cached_property
    def r(self) -> list[Expr]:
        return [_switched(row.rate, row.switch) for row in self.rows]

    @cached_property
    def A(self) -> list[list[Expr]]:
        """(rows, nv)."""
        return jacobian(self.r, list(self.system.v)).dense() if self.rows else []

    @cached_property
    def c(self) -> list[Expr]:
        """What the rows ask for beside A v: driven motions."""
        return substitute(self.r, dict.fromkeys(self.system.v, 0.0))

    @cached_property
    def b(self) -> list[Expr]:
        """A vdot = b."""
        return [-x for x in tangents(self.r, self.seeds)] if self.rows else []

    @cached_property
    def components(self) -> list[tuple[list[int], list[int]]]:
        """Rows and speeds that are coupled, each component apart from all others: (rows, speeds)."""
        groups: list[tuple[list[int], set[int]]] = []
        zero = self.system.graph.zero
        for i, row in enumerate(self.A):
            rows, speeds = [i], {j for j, x in enumerate(row) if x is not zero}
            apart = []
            for group in groups:
                if group[1] & speeds:
                    rows, speeds = group[0] + rows, group[1] | speeds
                else:
                    apart.append(group)
            groups = [*apart, (rows, speeds)]
        return [(sorted(rows), sorted(speeds)) for rows, speeds in groups if speeds]

    # -- how rows are made ---------------------------------------------------------------------------------------------
    def tangential(self, name: str) -> list[Row]:
        """The rows of a contact or rolling wheel along the ground; none along which nothing moves."""
        owner, form = Owner("constraints", name), self.system.mechanism.constraints[name].form
        rows = self._along_ground(owner, form) if isinstance(form, Contact) else self._rolling(owner, form)
        return [row for row in rows if row.position is None and not row.rate.is_number]

    def _keep(self, row: Row) -> int | None:
        """The place of a row; None if it always holds. One that never can is an error."""
        level = row.rate if row.position is None else row.position
        if not level.is_number:
            switch = self._switches.get((row.owner, row.part), self._switches.get(row.owner))
            self.rows.append(replace(row, switch=switch))
            return len(self.rows) - 1
        if abs(float(level)) > 1e-9:
            raise ModelError(
                "a constraint that cannot be satisfied: it depends on no coordinate",
                where=row.owner,
                got=f"{row.part or 'it'} is off by {float(level):.6g}, whatever the coordinates",
                expected="zero",
                remedy="look at the places of its frames",
            )
        return None

    def _rate(self, position: Expr) -> Expr:
        return tangents([position], self.seeds)[0]

    def _holonomic(self, owner: Owner, part: str, position: Expr, unit: str, acts: Acts | None = None) -> Row:
        return Row(owner, part, self._rate(position), position, unit, acts=acts)

    def _close(self, name: str, loop: Loop) -> None:
        owner = Owner("loops", name)
        settings = [] if loop.pitch is None else [self.system.scalar(loop.pitch)]
        a, b = (self.kinematics.frame(end) for end in loop.between)
        closings = loop.algebra.closure(relative_pose(self.tree, a, b), settings)
        places = [self._keep(self._holonomic(owner, c.part, c.value, "N m" if c.is_torque else "N")) for c in closings]
        self.cuts.append(Cut(name, a, b, tuple(closings), tuple(places)))

    def _rolling(self, owner: Owner, form: Rolling) -> Iterator[Row]:
        """The point of contact has no velocity, and touches: see `WheelOnRoad`. A tread with a stiffness is a load."""
        if form.stiffness is not None:
            return
        wheel = wheel_on_road(self.system, self.kinematics, owner.name, form)
        self.uprightness[owner] = wheel.upright

        def acts(direction: Vector) -> Acts:
            return acts_on(wheel.frame, wheel.ground, wheel.pose, direction, wheel.arm)

        yield self._holonomic(owner, "height", wheel.gap, "N", acts(wheel.normal))
        if form.slides == "freely":
            return
        if not form.slides:
            yield Row(owner, "ahead", dot(wheel.ahead, wheel.material), None, "N", acts=acts(wheel.ahead))
        yield Row(owner, "sideways", dot(wheel.side, wheel.material), None, "N", acts=acts(wheel.side))

    def _contact(self, owner: Owner, form: Contact) -> Iterator[Row]:
        if form.gap is not None:
            yield self._holonomic(owner, "", self.system.scalar(form.gap), "N")
        else:
            body, ground = self.kinematics.frame(form.frame or ""), self.kinematics.frame(form.ground)
            pose, g = relative(ground, body)[0], self.system.graph
            acts = acts_on(body, ground, pose, Vector.unit(g, 2), Vector.zero(g))
            yield self._holonomic(owner, "", pose.P[2], "N", acts)
            yield from (row for row in self._along_ground(owner, form) if (owner, row.part) in self._switches)

    def _along_ground(self, owner: Owner, form: Contact) -> Iterator[Row]:
        """The velocity of a contact along x and y of the ground."""
        body, ground = self.kinematics.frame(form.frame or ""), self.kinematics.frame(form.ground)
        (pose, (V, _)), g = relative(ground, body), self.system.graph
        for k, part in enumerate("xy"):
            acts = acts_on(body, ground, pose, Vector.unit(g, k), Vector.zero(g))
            yield Row(owner, part, V[k], None, "N", acts=acts)

    def _no_side_slip(self, owner: Owner, form: NoSideSlip) -> Iterator[Row]:
        direction, frame = self.system.unit(self.system.vector(form.direction)), self.kinematics.frame(form.frame)
        acts = ((frame, Wrench(direction, Vector.zero(self.system.graph))),)
        yield Row(owner, "", dot(direction, frame.V), None, "N", acts=acts)

    def _speeds(self, owner: Owner, form: SpeedRow) -> Iterator[Row]:
        row = -self.system.scalar(form.equals)
        for name, coefficient in form.coefficients.items():
            row = row + self.system.scalar(coefficient) * self.system.scope[name]
        yield Row(owner, "", row, None, "")

    def _follows(self, owner: Owner, form: Coupling | Prescribed) -> Iterator[Row]:
        value = self.system.scope[form.coordinate] - self.system.scalar(form.equals)
        yield self._holonomic(owner, "", value, unit_of_effort(self.system.mechanism, form.coordinate), ())

    def _equation(self, owner: Owner, form: Scalar) -> Iterator[Row]:
        yield self._holonomic(owner, "", self.system.scalar(form), "")


_ROWS: dict[type, Callable[[Constraints, Owner, Any], Iterator[Row]]] = {
    Rolling: Constraints._rolling,
    Contact: Constraints._contact,
    NoSideSlip: Constraints._no_side_slip,
    SpeedRow: Constraints._speeds,
    Coupling: Constraints._follows,
    Prescribed: Constraints._follows,
}


def _switched(value: Expr, switch: Expr | None) -> Expr:
    return value if switch is None else switch * value


def relative_pose(tree: Tree, a: FrameState, b: FrameState) -> Pose:
    """The pose of frame b in frame a, by way of the last link that carries both: what is below it takes no part."""
    below = set(_ancestors(tree, a.link))
    common = next((k for k in _ancestors(tree, b.link) if k in below), -1)
    return _pose_on(tree, a, common).inverse() @ _pose_on(tree, b, common)


def _ancestors(tree: Tree, link: int) -> Iterator[int]:
    while link >= 0:
        yield link
        link = tree.links[link].parent


def _pose_on(tree: Tree, frame: FrameState, link: int) -> Pose:
    pose, k = frame.offset, frame.link
    while k != link:
        pose, k = tree.links[k].pose @ pose, tree.links[k].parent
    return pose


def cut_wrench(cut: Cut, multipliers: Sequence[Expr]) -> Wrench:
    """Force and torque of the joint on b, at b's origin in the axes of a."""
    total = Wrench.zero(cut.a.pose.graph)
    for closing, place in zip(cut.closings, cut.places, strict=True):
        if place is not None:
            total += multipliers[place] * closing.wrench
    return total


def sides_of(tree: Tree, cut: Cut) -> Iterator[Expr]:
    """On which side a cut joint closes: cosines of the tilt of its axis, of its turn, of what a screw is ahead by.

    The equations of a joint say that axes are parallel by saying that a sine vanishes; it vanishes at half a turn as
    well. The cosine that goes with it tells them apart: 1 where the joint is closed as described, -1 upside down.
    """
    R = relative_pose(tree, cut.a, cut.b).R
    torques = sum(closing.is_torque for closing in cut.closings)
    if torques == 2:
        yield R[2][2]
    elif torques == 3:
        yield 0.5 * (R[0][0] + R[1][1] + R[2][2] - 1.0)
    for closing in cut.closings:
        if not closing.is_torque and not all(x.is_number for x in closing.wrench.force):
            yield closing.wrench.force[2]


def unit_of_effort(mechanism: Mechanism, coordinate: str) -> str:
    """The unit of a generalised force along a coordinate; empty where the coordinate is neither length nor angle."""
    variable = next(x for x in mechanism.q if x.name == coordinate)
    return {"m": "N", "rad": "N m"}.get(variable.unit, "")


@dataclass(frozen=True)
class FrictionContact:
    """A contact or rolling wheel with friction: coefficient, normal force, its rows along the ground."""

    name: str
    mu: Expr
    N: Expr
    rows: tuple[Row, ...]
    rolls: bool

    @property
    def slip(self) -> list[Expr]:
        """The sliding velocity, as many numbers as the mechanism can move along the ground in."""
        return [row.rate for row in self.rows]


ContactLaw = Callable[[FrictionContact], Sequence[Expr] | None]
"""The force of friction along the rows of a contact; None where it has none."""


def friction_contacts(tree: Tree) -> list[FrictionContact]:
    """The contacts and rolling wheels of a mechanism that have friction."""
    system = tree.system
    forms = {n: c.form for n, c in system.mechanism.constraints.items()}
    rough = [n for n in system.mechanism.pushing if forms[n].friction is not None]
    if not rough:
        return []
    rows, contacts = Constraints(tree).tangential, []
    for name in rough:
        N = system.normals[system.mechanism.pushing.index(name)]
        form = forms[name]
        mu = not_negative(system.scalar(form.friction))
        contacts.append(FrictionContact(name, mu, N, tuple(rows(name)), isinstance(form, Rolling)))
    return contacts


def length_of(s: Sequence[Expr]) -> Expr:
    """|s|, whose derivatives exist at zero."""
    square = sum((x * x for x in s), s[0].graph.zero)
    moves = square > 0.0
    return select(moves, sqrt(select(moves, square, 1.0)), 0.0)


def slipping(contact: FrictionContact) -> Sequence[Expr] | None:
    """-mu N s / |s|, nothing at rest; of wheels that roll none."""
    if contact.rolls or not contact.rows:
        return None
    speed = length_of(contact.slip)
    factor = select(speed > 0.0, -(contact.mu * contact.N) / select(speed > 0.0, speed, 1.0), 0.0)
    return [factor * s for s in contact.slip]


def add_friction(tree: Tree, forces: Forces, law: ContactLaw = slipping) -> dict[str, Expr]:
    """Add the friction of all contacts; the power of each."""
    powers = {}
    for contact in friction_contacts(tree):
        push = law(contact)
        if push is None:
            continue
        for force, row in zip(push, contact.rows, strict=True):
            for frame, wrench in row.acts or ():
                forces.act(frame, force * wrench)
        powers[contact.name] = sum((f * s for f, s in zip(push, contact.slip, strict=True)), tree.system.graph.zero)
    return powers
