"""A description turned into symbols: the graph, its blocks of inputs, every name of the model as an expression; and the
poses of its bodies and frames, as expressions of q (and of t, where the base is driven).

Everything in this layer starts here. Parameters with a formula are expressions of the others; parameters whose values
are fixed for good become numbers, and fold.

============  ==================================================  ============
R, P          rotation and position of a frame in the world       (3, 3), m
============  ==================================================  ============
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from torseur.describe import BASE, WORLD, BaseKind, Body, Formula, Joint, Mechanism
from torseur.describe.fields import Scalar, names_in
from torseur.describe.formulas import normal_of
from torseur.describe.place import Place, RigidPose
from torseur.errors import ModelError
from torseur.graph import Block, Expr, Graph, Role, jacobian, ops, sqrt, tangents
from torseur.spatial.joints import KINDS, JointKind
from torseur.spatial.pose import Motion, Pose, Step, StepKind, about_axis, from_quaternion, product, turn_to
from torseur.spatial.vectors import Matrix, Vector, dot

__all__ = [
    "NORMALS",
    "System",
    "Turn",
    "along_speeds",
    "body_poses",
    "carrier_steps",
    "coordinates_of",
    "displaced",
    "frame_pose",
    "joint_pose",
    "joints",
    "rates",
    "velocity_of",
]


NORMALS = "normals"
"""The block of normal forces."""

COMPLIANT = "compliant"
"""The block of normal forces of treads with a stiffness."""

_MDH = (
    (StepKind.ROTATE_Z, "gamma"),
    (StepKind.MOVE_Z, "b"),
    (StepKind.ROTATE_X, "alpha"),
    (StepKind.MOVE_X, "d"),
    (StepKind.ROTATE_Z, "theta"),
    (StepKind.MOVE_Z, "r"),
)
_DH_BEFORE = ((StepKind.ROTATE_Z, "theta"), (StepKind.MOVE_Z, "d"))
_MOVES = (StepKind.MOVE_X, StepKind.MOVE_Y, StepKind.MOVE_Z)
_DH_AFTER = ((StepKind.MOVE_X, "a"), (StepKind.ROTATE_X, "alpha"))


@dataclass(frozen=True)
class Turn:
    """A rotation by an angle about a unit vector."""

    axis: Vector
    angle: Expr


class System:
    """The symbols of a mechanism.

    Args:
        mechanism: the description.
        fixed: parameters that are numbers for good; the others stay in the block ``p``.
    """

    def __init__(self, mechanism: Mechanism, fixed: Mapping[str, float] | None = None) -> None:
        self.mechanism = mechanism
        self.graph = g = Graph()
        known = dict(fixed or {})
        free = [
            name
            for name, parameter in mechanism.parameters.items()
            if name not in known and not isinstance(parameter.value, Formula)
        ]
        self.t = g.symbol("t", Role.TIME)
        self.q = _block(g, "q", [x.name for x in mechanism.q], Role.STATE)
        self.v = _block(g, "v", [x.name for x in mechanism.v], Role.STATE)
        self.u = _block(g, "u", list(mechanism.inputs), Role.INPUT)
        self.p = _block(g, "p", free, Role.PARAMETER)
        self.normals = _block(g, NORMALS, [f"normal_{name}" for name in mechanism.pushing], Role.INPUT)
        """Normal forces of contacts and rolling wheels; see `torseur.dynamics.constrained_motion.normal_forces`."""
        names = [f"normal_{name}" for name in mechanism.compliant]
        self.compliant = _block(g, COMPLIANT, names, Role.INPUT)
        """Normal forces of treads with a stiffness; forces have their values in their place."""
        self.scope: dict[str, Expr] = {"t": self.t}
        self.scope |= {normal_of(n): N for n, N in zip(mechanism.pushing, self.normals, strict=True)}
        self.scope |= {normal_of(n): N for n, N in zip(mechanism.compliant, self.compliant, strict=True)}
        for block in (self.q, self.v, self.u, self.p):
            self.scope |= dict(zip(block.names, block, strict=True))
        self.input_rates: dict[Expr, Expr] = {}
        """Input -> its rate -> its second rate, of those that may change; without an entry an input is held."""
        self.scope |= {name: g.number(value) for name, value in known.items()}
        self.tables = mechanism.lookups
        self._derive_parameters(known)

    @cached_property
    def owned(self) -> dict[str, list[Expr]]:
        """Body (or base) -> its coordinates."""
        owned: dict[str, list[Expr]] = {}
        for x, variable in zip(self.q, self.mechanism.q, strict=True):
            owned.setdefault(variable.owner, []).append(x)
        return owned

    def _derive_parameters(self, known: Mapping[str, float]) -> None:
        """Formulas of parameters and quantities, in whatever order makes each ready before it is used."""
        waiting: dict[str, Scalar] = {
            name: parameter.value
            for name, parameter in self.mechanism.parameters.items()
            if isinstance(parameter.value, Formula) and name not in known
        }
        waiting |= {name: quantity.value for name, quantity in self.mechanism.quantities.items()}
        while waiting:
            ready = [name for name, value in waiting.items() if not names_in(value) & waiting.keys()]
            if not ready:
                raise ModelError("circular definition", where=self.mechanism.name, got=", ".join(waiting))
            for name in ready:
                e = self.scope[name] = self.graph.name(self.scalar(waiting.pop(name)), name)
                if e.op is ops.NEG:  # signs move outwards: what is left behind keeps a name that tells
                    self.graph.name(e.args[0], f"minus_{name}")

    def scalar(self, value: Scalar) -> Expr:
        """A number or formula of the description as an expression."""
        return (
            value.expr(self.graph, self.scope, self.tables) if isinstance(value, Formula) else self.graph.number(value)
        )

    def vector(self, values: tuple[Scalar, Scalar, Scalar]) -> Vector:
        return Vector(*(self.scalar(value) for value in values))

    # -- places --------------------------------------------------------------------------------------------------------
    def steps_before(self, place: Place) -> Iterator[Step | Turn | Pose]:
        """The part of a place that comes before the motion of the joint, as a product."""
        if place.mdh is not None:
            yield from self._row(place.mdh, _MDH)
        elif place.dh is not None:
            yield from self._row(place.dh, _DH_BEFORE)
        elif place.pose is not None:
            yield from self._rigid(place.pose)
        for step in place.steps or ():
            if step.rn is not None:
                yield Turn(self.unit(self.vector(step.rn.axis)), self.scalar(step.rn.angle))
            else:
                kind, amount = next((k, a) for k in StepKind if (a := getattr(step, k.value)) is not None)
                yield Step(kind, self.scalar(amount))

    def steps_after(self, place: Place) -> Iterator[Step]:
        """The part that comes after the motion: a and alpha of a standard Denavit-Hartenberg row."""
        if place.dh is not None:
            yield from self._row(place.dh, _DH_AFTER)

    def turn_of(self, joint: Joint) -> Pose | None:
        """C, which takes z to the axis of a joint; none where that is z."""
        return None if joint.axis == "z" else turn_to(self.vector(joint.direction))

    def steps_to(self, body: Body) -> Iterator[Step | Turn | Pose]:
        """All that comes before the motion of a body's joint, about or along z."""
        yield from self.steps_before(body.place)
        turn = self.turn_of(body.joint)
        if turn is not None:
            yield turn

    def steps_from(self, body: Body) -> Iterator[Step | Turn | Pose]:
        """All that comes after it."""
        turn = self.turn_of(body.joint)
        if turn is not None:
            yield turn.inverse()
        yield from self.steps_after(body.place)

    def before(self, place: Place) -> Pose:
        """The part of a place that comes before the motion of the joint."""
        return self.product(self.steps_before(place))

    def product(self, steps: Iterable[Step | Turn | Pose]) -> Pose:
        """Factors of a place, multiplied."""
        pose = Pose.identity(self.graph)
        for step in steps:
            pose = pose @ self.pose_of(step)
        return pose

    def after(self, place: Place) -> Pose:
        """The part that comes after the motion."""
        return product(self.graph, self.steps_after(place))

    def pose_of(self, step: Step | Turn | Pose) -> Pose:
        """One factor of a place."""
        if isinstance(step, Turn):
            return Pose.turn(about_axis(step.axis, step.angle))
        return product(self.graph, [step]) if isinstance(step, Step) else step

    def place(self, place: Place) -> Pose:
        """A whole place, without motion."""
        return self.before(place) @ self.after(place)

    def _row(self, row: object, pattern: tuple[tuple[StepKind, str], ...]) -> Iterator[Step]:
        for kind, field in pattern:
            yield Step(kind, self.scalar(getattr(row, field)))

    def _rigid(self, pose: RigidPose) -> Iterator[Step | Pose]:
        """A position, then a rotation; angles are steps."""
        P = self.vector(pose.position)
        yield from (Step(kind, x) for kind, x in zip(_MOVES, P, strict=True))
        if pose.quaternion is not None:
            w, x, y, z = (self.scalar(c) for c in pose.quaternion)
            yield Pose.turn(from_quaternion(w, x, y, z))
        elif pose.matrix is not None:
            yield Pose.turn(Matrix(*(self.vector(row) for row in pose.matrix)))
        else:
            yield from self._turns(pose.rpy or (0.0, 0.0, 0.0))

    def turn(self, rpy: tuple[Scalar, Scalar, Scalar]) -> Matrix:
        """Rz(yaw) Ry(pitch) Rx(roll)."""
        return product(self.graph, self._turns(rpy)).R

    def _turns(self, rpy: tuple[Scalar, Scalar, Scalar]) -> list[Step]:
        roll, pitch, yaw = (self.scalar(angle) for angle in rpy)
        return [Step(StepKind.ROTATE_Z, yaw), Step(StepKind.ROTATE_Y, pitch), Step(StepKind.ROTATE_X, roll)]

    def unit(self, axis: Vector) -> Vector:
        return axis / sqrt(dot(axis, axis))

    @cached_property
    def numbers(self) -> dict[str, str]:
        """The bodies' numbers: what their names end with (body7) if all do and differ, or their places in the file."""
        digits = {name: re.search(r"\d*$", name) for name in self.mechanism.bodies}
        ends = {name: end[0] for name, end in digits.items() if end is not None and end[0]}
        if len(ends) == len(digits) == len(set(ends.values())) and "0" not in ends.values():
            return ends
        return {name: str(k) for k, name in enumerate(self.mechanism.bodies, 1)}

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The bodies, parents before children, otherwise in file order."""
        placed = {"world", "base"}
        waiting = list(self.mechanism.bodies)
        order: list[str] = []
        while waiting:
            ready = [name for name in waiting if self.mechanism.bodies[name].parent in placed]
            if not ready:
                raise ModelError("bodies that are not connected to the base", where=("bodies",), got=", ".join(waiting))
            order += ready
            placed |= set(ready)
            waiting = [name for name in waiting if name not in placed]
        return tuple(order)


def _block(graph: Graph, name: str, names: list[str], role: Role) -> Block:
    return graph.block(name, len(names), role, names=names)


_CARRIER = (
    (StepKind.MOVE_X, 0),
    (StepKind.MOVE_Y, 1),
    (StepKind.MOVE_Z, 2),
    (StepKind.ROTATE_Z, 5),
    (StepKind.ROTATE_Y, 4),
    (StepKind.ROTATE_X, 3),
)


def coordinates_of(system: System, owner: str) -> list[Expr]:
    """The coordinates of one joint, or of the base."""
    return list(system.owned.get(owner, ()))


def joints(system: System) -> list[tuple[JointKind, list[Expr], list[Expr]]]:
    """Kind, coordinates and speeds of the base and of every joint, in order. A carrier is six plain joints."""
    mechanism, triples, first = system.mechanism, [], 0
    kinds = [(BASE, mechanism.base.joint_kind), *((n, b.joint.algebra) for n, b in mechanism.bodies.items())]
    if mechanism.base.kind is BaseKind.CARRIER:
        plain, q = KINDS["revolute"], coordinates_of(system, BASE)
        triples = [(plain, [x], [v]) for x, v in zip(q, system.v.symbols[:6], strict=True)]
        kinds, first = kinds[1:], 6
    for owner, kind in kinds:
        v = list(system.v.symbols[first : first + kind.nv])
        triples.append((kind, coordinates_of(system, owner), v))
        first += kind.nv
    return triples


def rates(system: System) -> list[Expr]:
    """dq/dt in the order of q; the coordinates that no joint owns come last, their rates are their speeds."""
    rates_of_q: list[Expr] = []
    for kind, q, v in joints(system):
        rates_of_q += kind.rates(system.graph, q, v)
    free = len(system.mechanism.coordinates)
    return [*rates_of_q, *system.v.symbols[len(system.v) - free :]] if free else rates_of_q


def displaced(system: System, q: Sequence[Expr], d: Sequence[Expr]) -> list[Expr]:
    """Coordinates after a small motion d (nv) along the speeds; quaternions stay unit."""
    q_moved: list[Expr] = []
    moved = 0
    for kind, own, _ in joints(system):
        q_moved += kind.displaced(system.graph, q[len(q_moved) : len(q_moved) + len(own)], d[moved : moved + kind.nv])
        moved += kind.nv
    return [*q_moved, *(x + r for x, r in zip(q[len(q_moved) :], d[moved:], strict=True))]


def joint_pose(system: System, body: str) -> Pose:
    """The pose of a body in its parent: place, motion, and what comes after it."""
    record = system.mechanism.bodies[body]
    joint = record.joint
    settings = [system.scalar(joint.pitch)] if joint.pitch is not None else []
    motion = joint.algebra.pose(system.graph, coordinates_of(system, body), settings)
    return system.product(system.steps_to(record)) @ motion @ system.product(system.steps_from(record))


def velocity_of(pose: Pose, seeds: dict[Expr, Expr]) -> Motion:
    """V and w in the frame's axes, by differentiating its pose: V = R' dP/dt, [w]x = R' dR/dt."""
    flat = [*pose.R[0], *pose.R[1], *pose.R[2], *pose.P]
    d = tangents(flat, seeds)
    turn = pose.R.T @ Matrix.of((d[0:3], d[3:6], d[6:9]))
    return Motion(pose.R.T @ Vector(*d[9:12]), Vector(turn[2][1], turn[0][2], turn[1][0]))


def body_poses(system: System) -> dict[str, Pose]:
    """The pose of every body in the world."""
    poses = {WORLD: Pose.identity(system.graph), BASE: _base_pose(system)}
    for body in system.order:
        poses[body] = poses[system.mechanism.bodies[body].parent] @ joint_pose(system, body)
    return poses


def _base_pose(system: System) -> Pose:
    base, g = system.mechanism.base, system.graph
    if base.kind is BaseKind.CARRIER:
        return system.place(base.place) @ product(g, carrier_steps(system))
    return system.place(base.place) @ base.joint_kind.pose(g, coordinates_of(system, BASE))


def carrier_steps(system: System) -> list[Step]:
    """The motion of a virtual carrier: along x, y and z, then about z, y and x."""
    q = coordinates_of(system, BASE)
    return [Step(kind, q[k]) for kind, k in _CARRIER]


def frame_pose(system: System, poses: dict[str, Pose], name: str) -> Pose:
    """The pose of a body or named frame in the world."""
    body = system.mechanism.frames.get(name)
    if body is None:
        raise ModelError(f"no frame '{name}'", expected=", ".join(system.mechanism.frames))
    if name == body:
        return poses[body]
    frames = system.mechanism.base.frames if body == BASE else system.mechanism.bodies[body].frames
    return poses[body] @ system.place(frames[name].place)


def along_speeds(system: System, rows: list[Expr]) -> list[list[Expr]]:
    """Derivatives of rows (rows, nv) by a small motion d along the speeds: dq = G(q) d, with dq/dt = G v."""
    G, zero = jacobian(rates(system), list(system.v)), system.graph.zero
    table = jacobian(rows, list(system.q)).dense() if rows else []
    result = [[zero] * len(system.v) for _ in table]
    for i, j, entry in zip(G.rows, G.columns, G.entries, strict=True):
        for row, source in zip(result, table, strict=True):
            row[j] = row[j] + source[i] * entry
    return result
