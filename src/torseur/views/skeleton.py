"""What there is to draw: rigid links, the joints between them, and the paths inside each link.

A body and everything welded to it is one link. Free-form kinematics is read step by step: a step that a coordinate
moves is a joint, and bodies that begin with the same steps share them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from torseur.describe import BASE, WORLD, BaseKind
from torseur.describe.constraints import Loop
from torseur.describe.place import AxisTurn, Elementary, Factor, Place, pose_of_steps, to_steps
from torseur.dynamics.tree.system import System, body_poses, coordinates_of, frame_pose
from torseur.errors import NumericalError
from torseur.graph import Expr
from torseur.spatial.joints import PRISMATIC, REVOLUTE, JointKind
from torseur.spatial.pose import Pose
from torseur.spatial.vectors import Vector
from torseur.views.values import Freedoms, Values, freedoms_of

__all__ = ["Joint", "Link", "Path", "Skeleton", "Wheel", "skeleton_of"]

Array = NDArray[np.float64]

LARGEST = 1e12
"""m"""


@dataclass
class Joint:
    """A joint between two links; `a` and `b` are its frames in the world (4, 4)."""

    freedoms: Freedoms
    parent: int
    child: int
    labels: tuple[str, ...]
    a: Array
    b: Array
    axis: int
    """Which axis of frame a it moves about or along."""
    cut: bool = False
    """It closes a loop."""
    is_base: bool = False
    """It carries the base."""

    @property
    def direction(self) -> Array:
        return self.a[:3, self.axis]


@dataclass
class Path:
    """Points from the joint that carries a link to another joint, a frame, or the end of a body."""

    points: Array
    pose: Array
    """Of its end (4, 4)."""
    joint: Joint | None = None
    name: str | None = None
    is_frame: bool = False
    routed: bool = True
    """Whether the corners are given; a straight displacement may be led around them."""


@dataclass
class Link:
    """A rigid link: the bodies it is made of, the joint that carries it, and the ways to what it carries."""

    names: list[str] = field(default_factory=list)
    carrier: Joint | None = None
    paths: list[Path] = field(default_factory=list)


@dataclass
class Wheel:
    """A wheel: centre, axle, radius (0 if it has none: an edge that cannot slip sideways), and the link it is on."""

    centre: Array
    axle: Array
    radius: float
    link: int


@dataclass
class Skeleton:
    """All links, the ground first; all joints; wheels; the pose of the base. Lengths are in units of `size`."""

    links: list[Link]
    joints: list[Joint]
    wheels: list[Wheel]
    base: Array
    base_kind: BaseKind
    size: float = 1.0
    """The largest extent of the mechanism, m."""

    def points(self) -> Array:
        """Every point that must be in the picture."""
        points = [joint.a[:3, 3] for joint in self.joints] + [joint.b[:3, 3] for joint in self.joints]
        points += [point for link in self.links for path in link.paths for point in path.points]
        points += [wheel.centre for wheel in self.wheels]
        return np.array([*points, self.base[:3, 3]])

    def scaled_to_one(self) -> Skeleton:
        """The same with the largest extent as the unit of length."""
        extent = float(np.max(np.ptp(self.points(), axis=0)))
        radius = max((wheel.radius for wheel in self.wheels), default=0.0)
        size = max(extent, 2.0 * radius)
        self.size = size if size > 1e-12 else 1.0
        matrices = [self.base, *(m for joint in self.joints for m in (joint.a, joint.b))]
        matrices += [path.pose for link in self.links for path in link.paths]
        for matrix in matrices:
            matrix[:3, 3] /= self.size
        for link in self.links:
            for path in link.paths:
                path.points = path.points / self.size
        for wheel in self.wheels:
            wheel.centre, wheel.radius = wheel.centre / self.size, wheel.radius / self.size
        return self


# -- traced as expressions, then numbers -------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Cursor:
    """Where a trace has come to: a link, a pose, the corners since the joint that carries the link, and the steps."""

    link: int
    pose: Pose
    corners: tuple[Pose, ...]
    steps: tuple[Elementary, ...] = ()
    routed: bool = True


@dataclass
class _TracedJoint:
    freedoms: Freedoms
    parent: int
    child: int
    labels: tuple[str, ...]
    a: Pose
    b: Pose
    axis: int
    cut: bool = False
    is_base: bool = False


@dataclass
class _TracedPath:
    cursor: _Cursor
    joint: _TracedJoint | None = None
    name: str | None = None
    is_frame: bool = False


class _Trace:
    """Walks through a mechanism and writes down links, joints and paths as expressions."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.moving = {x.name for x in system.mechanism.q} | {"t"}
        self.poses = body_poses(system)
        self.links: list[Link] = []
        self.carriers: list[_TracedJoint | None] = []
        self.joints: list[_TracedJoint] = []
        self.paths: list[_TracedPath] = []
        self.branches: dict[tuple[int, tuple[Elementary, ...]], _Cursor] = {}
        self.ends: dict[str, _Cursor] = {}
        self._base()
        for body in system.order:
            self._body(body)
        mechanism = system.mechanism
        for name, frames in [(BASE, mechanism.base.frames), *((n, b.frames) for n, b in mechanism.bodies.items())]:
            for frame, value in frames.items():
                self._frame(name, frame, value.place)
        for name, loop in system.mechanism.loops.items():
            self._loop(name, loop)

    # -- links and joints ---------------------------------------------------------------------------------------------
    def _new_link(self, name: str | None, carrier: _TracedJoint | None) -> int:
        self.links.append(Link([] if name is None else [name]))
        self.carriers.append(carrier)
        return len(self.links) - 1

    def _base(self) -> None:
        base = self.system.mechanism.base
        identity, pose = self.poses[WORLD], self.poses[BASE]
        ground = self._new_link(None, None)
        self.ends[WORLD] = _Cursor(ground, identity, (identity,))
        if base.kind in (BaseKind.FIXED, BaseKind.MOVING):
            self.ends[BASE] = _Cursor(ground, pose, (pose,))
            return
        labels = tuple(x.name for x in self.system.mechanism.q if x.owner == BASE)
        moves = freedoms_of(base.joint_kind)
        joint = _TracedJoint(moves, ground, 1, labels, pose, pose, moves.axis, is_base=True)
        self._new_link(BASE, joint)
        self.joints.append(joint)
        self.ends[BASE] = _Cursor(1, pose, (pose,))

    def _join(
        self, cursor: _Cursor, kind: JointKind, labels: tuple[str, ...], motion: Pose, axis: int | None = None
    ) -> _Cursor:
        """A joint at the cursor, and the link behind it; its axis is that of its kind unless it is given."""
        after, moves = cursor.pose @ motion, freedoms_of(kind)
        chosen = moves.axis if axis is None else axis
        joint = _TracedJoint(moves, cursor.link, len(self.links), labels, cursor.pose, after, chosen)
        self.joints.append(joint)
        self.paths.append(_TracedPath(cursor, joint))
        return _Cursor(self._new_link(None, joint), after, (after,))

    # -- bodies --------------------------------------------------------------------------------------------------------
    def _body(self, name: str) -> None:
        record = self.system.mechanism.bodies[name]
        cursor = self._along(self.ends[record.parent], record.place)
        joint = record.joint
        if joint.algebra.nv:
            q = coordinates_of(self.system, name)
            settings = [self.system.scalar(joint.pitch)] if joint.pitch is not None else []
            labels = tuple(x.name for x in self.system.mechanism.q if x.owner == name)
            turn = self.system.turn_of(joint)
            cursor = cursor if turn is None else self._turned(cursor, turn)
            cursor = self._join(cursor, joint.algebra, labels, joint.algebra.pose(self.system.graph, q, settings))
            cursor = cursor if turn is None else self._turned(cursor, turn.inverse())
        cursor = self._steps(cursor, record.place.after)
        self.links[cursor.link].names.append(name)
        self.ends[name] = cursor
        self.paths.append(_TracedPath(cursor, name=name))

    def _turned(self, cursor: _Cursor, turn: Pose) -> _Cursor:
        """In one place, turned to the axis of a joint or back."""
        return replace(cursor, pose=cursor.pose @ turn)

    def _frame(self, body: str, name: str, place: Place) -> None:
        self.paths.append(_TracedPath(self._fixed(self.ends[body], place), name=name, is_frame=True))

    def _loop(self, name: str, loop: Loop) -> None:
        a, b = (frame_pose(self.system, self.poses, frame) for frame in loop.between)
        cursors, moves = [self._at(frame) for frame in loop.between], freedoms_of(loop.algebra)
        joint = _TracedJoint(moves, cursors[0].link, cursors[1].link, (name,), a, b, moves.axis, cut=True)
        self.joints.append(joint)
        self.paths += [_TracedPath(cursor, joint) for cursor in cursors]

    def _at(self, frame: str) -> _Cursor:
        """The cursor at a body or at a frame on it."""
        if frame in self.ends:
            return self.ends[frame]
        body = self.system.mechanism.frames[frame]
        record = self.system.mechanism.base if body == BASE else self.system.mechanism.bodies[body]
        return self._fixed(self.ends[body], record.frames[frame].place)

    # -- places --------------------------------------------------------------------------------------------------------
    def _along(self, cursor: _Cursor, place: Place) -> _Cursor:
        """The part of a place before the motion of the joint."""
        return self._steps(cursor, place.before) if place.pose is None else self._fixed(cursor, place)

    def _fixed(self, cursor: _Cursor, place: Place) -> _Cursor:
        """A whole place: step by step where nothing moves, else in one go."""
        if place.pose is None and not self.system.mechanism.names_in(place) & self.moving:
            return self._steps(cursor, (*place.before, *place.after))
        pose = cursor.pose @ self.system.place(place)
        step = Elementary.model_construct(rn=None)  # never equal to a real one
        return _Cursor(cursor.link, pose, (*cursor.corners, pose), (*cursor.steps, step), routed=False)

    def _steps(self, cursor: _Cursor, steps: Iterable[Factor]) -> _Cursor:
        g, scalar = self.system.graph, self.system.scalar
        for step in steps:
            assert isinstance(step, Elementary)  # poses are taken in one go
            motion = pose_of_steps(g, to_steps([step], scalar))
            known = (cursor.link, (*cursor.steps, step))
            if not self.system.mechanism.names_in(step) & self.moving:
                pose = cursor.pose @ motion
                corners = (*cursor.corners, pose) if _moves(step) else cursor.corners
                cursor = _Cursor(cursor.link, pose, corners, known[1], cursor.routed)
            elif known in self.branches:
                cursor = self.branches[known]
            else:
                kind, axis, label = _read(step)
                cursor = self.branches[known] = self._join(cursor, kind, (label,), motion, axis)
        return cursor


def _moves(step: Elementary) -> bool:
    return any(amount is not None for amount in (step.tx, step.ty, step.tz))


def _read(step: Elementary) -> tuple[JointKind, int, str]:
    """The kind of joint a moving step is, the axis, and what to write beside it."""
    name = next(n for n in type(step).model_fields if getattr(step, n) is not None)
    amount = getattr(step, name)
    text = str(amount.angle if isinstance(amount, AxisTurn) else amount)
    return PRISMATIC if name[0] == "t" else REVOLUTE, {"x": 0, "y": 1}.get(name[1], 2), text


# -- numbers -----------------------------------------------------------------------------------------------------------
def skeleton_of(values: Values) -> Skeleton:
    """What there is to draw of a mechanism, at given coordinates."""
    trace = _Trace(values.system)
    matrices: dict[str, list[list[Expr]]] = {"base": trace.poses[BASE].matrix()}
    for k, joint in enumerate(trace.joints):
        matrices |= {f"a{k}": joint.a.matrix(), f"b{k}": joint.b.matrix()}
    corners = {f"p{k}": [list(c.P) for c in path.cursor.corners] for k, path in enumerate(trace.paths)}
    ends = {f"e{k}": path.cursor.pose.matrix() for k, path in enumerate(trace.paths)}
    numbers = values.numbers({**matrices, **corners, **ends})
    _check_places(numbers.values())
    joints = [
        Joint(j.freedoms, j.parent, j.child, j.labels, numbers[f"a{k}"], numbers[f"b{k}"], j.axis, j.cut, j.is_base)
        for k, j in enumerate(trace.joints)
    ]
    numeric = {id(traced): joint for traced, joint in zip(trace.joints, joints, strict=True)}
    for link, carrier in zip(trace.links, trace.carriers, strict=True):
        link.carrier = None if carrier is None else numeric[id(carrier)]
    for k, path in enumerate(trace.paths):
        target = None if path.joint is None else numeric[id(path.joint)]
        points, routed = numbers[f"p{k}"], path.cursor.routed
        trace.links[path.cursor.link].paths.append(
            Path(points, numbers[f"e{k}"], target, path.name, path.is_frame, routed)
        )
    wheels = list(_wheels(values, trace))
    skeleton = Skeleton(trace.links, joints, wheels, numbers["base"], values.system.mechanism.base.kind)
    return skeleton.scaled_to_one()


def _check_places(numbers: Iterable[Array]) -> None:
    """Refuse places that are nowhere."""
    if not all(np.all(np.abs(array) < LARGEST) for array in numbers):  # false for what is not a number, too
        raise NumericalError(
            "some frames have no place at these coordinates and parameters",
            remedy="give other ones; lengths without value stand for typical ones, which may not fit their formulas",
        )


def _wheels(values: Values, trace: _Trace) -> Iterator[Wheel]:
    """Wheels that roll or cannot slip sideways, and tyres among the shapes."""
    system, mechanism, g = values.system, values.system.mechanism, values.system.graph
    z = Vector.unit(g, 2)
    wheels: list[tuple[str, Pose, Vector, Expr]] = []
    for constraint in mechanism.constraints.values():
        roll, edge = constraint.rolling, constraint.no_side_slip
        if roll is not None:
            axle = Vector.unit(g, "xyz".index(roll.axle))
            pose = frame_pose(system, trace.poses, roll.wheel)
            wheels.append((mechanism.frames[roll.wheel], pose, axle, system.scalar(roll.radius)))
        if edge is not None:
            pose = frame_pose(system, trace.poses, edge.frame)
            wheels.append((mechanism.frames[edge.frame], pose, system.vector(edge.direction), g.zero))
    for name, body in mechanism.bodies.items():
        for shape in body.shapes:
            if shape.tyre is not None:
                pose = trace.poses[name] @ system.place(shape.place)
                wheels.append((name, pose, z, system.scalar(shape.tyre.radius)))
    for name, pose, axle, radius in wheels:
        numbers = values.numbers({"centre": list(pose.P), "axle": list(pose.R @ axle), "radius": radius})
        _check_places(numbers.values())
        size = max(float(np.linalg.norm(numbers["axle"])), 1e-12)
        yield Wheel(numbers["centre"], numbers["axle"] / size, float(numbers["radius"]), trace.ends[name].link)
