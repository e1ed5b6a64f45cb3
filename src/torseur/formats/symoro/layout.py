"""A mechanism laid out as the frames of a .par file: rows of Denavit and Hartenberg, standard inertias; and what such a
file cannot hold.

Any pose is a row Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r): the rotation gives gamma, alpha and theta, the
position then b, d and r. Where poses are made of symbols, only steps that stand in this order already are.

A joint about another axis n is C J C', a row of standard Denavit-Hartenberg parameters has Tx(a) Rx(alpha) behind its
joint: in both cases the body's frame is a fixed pose A behind the joint's. The body is then described in the frame of
the joint: its inertia and frames are moved by A, what it carries too, and its own frame is a named one on it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from torseur.describe.annotations import NameUse, Thing, walk
from torseur.describe.bodies import BASE, WORLD, Base, BaseKind, Body, Coordinate, Frame, Joint
from torseur.describe.evaluation import NoNumber, Numbers
from torseur.describe.fields import FrozenDict, Record, Scalar, names_in
from torseur.describe.formulas import Formula
from torseur.describe.inertia import Inertia, StandardInertia, ten_parameters
from torseur.describe.loads import Wrench
from torseur.describe.mechanism import Mechanism
from torseur.describe.place import Mdh, Place, RigidPose
from torseur.errors import ModelError
from torseur.formats.files import legal_name
from torseur.formats.format import Losses
from torseur.graph import Expr, Graph, ops
from torseur.spatial import inertia as spatial
from torseur.spatial.pose import Pose, turn_to

__all__ = ["Item", "in_standard_form", "items", "number"]


_ORDER = (("rz", "gamma"), ("tz", "b"), ("rx", "alpha"), ("tx", "d"), ("rz", "theta"), ("tz", "r"))
_NEAR = 1e-12
_QUARTERS: dict[int, Scalar] = {0: 0.0, 1: Formula("pi/2"), -1: Formula("-pi/2"), 2: Formula("pi"), -2: Formula("pi")}


def in_standard_form(mechanism: Mechanism) -> Mechanism:
    """A mechanism with rows for its poses and inertias at its frames, as far as there are any."""
    numbers = Numbers(mechanism)
    mechanism = _with_joint_frames(mechanism, numbers)
    bodies = {name: _body(body, numbers) for name, body in mechanism.bodies.items()}
    return mechanism.model_copy(update={"bodies": FrozenDict(bodies), "base": _base(mechanism.base, numbers)})


def _body(body: Body, numbers: Numbers) -> Body:
    changed = {"place": _row(body.place, numbers), "frames": _frames(body.frames, numbers)}
    return body.model_copy(update={**changed, "inertia": _standard_inertia(body.inertia)})


def _base(base: Base, numbers: Numbers) -> Base:
    changed: dict[str, Any] = {"frames": _frames(base.frames, numbers), "inertia": _standard_inertia(base.inertia)}
    is_held = base.place.pose is not None and base.place.pose.rpy is None and base.place.pose.quaternion is None
    if base.place != Place() and not is_held and not names_in(base.place):
        pose = numbers.whole(base.place)
        a, b, c = ((float(x), float(y), float(z)) for x, y, z in pose.R)
        P = (float(pose.P[0]), float(pose.P[1]), float(pose.P[2]))
        changed["place"] = Place(pose=RigidPose(position=P, matrix=(a, b, c)))
    return base.model_copy(update=changed)


def _frames(frames: Mapping[str, Frame], numbers: Numbers) -> FrozenDict[Frame]:
    return FrozenDict({n: f.model_copy(update={"place": _row(f.place, numbers)}) for n, f in frames.items()})


# -- poses -------------------------------------------------------------------------------------------------------------
def _row(place: Place, numbers: Numbers) -> Place:
    """The place as a row; as it is where that cannot be."""
    if place.mdh is not None or place.dh is not None or place == Place():
        return place
    row = _from_steps(place)
    try:
        return Place(mdh=row if row is not None else _from_pose(numbers.whole(place)))
    except NoNumber:
        return place


def _from_steps(place: Place) -> Mdh | None:
    """The steps that a place consists of, each in the first slot of a row that is left."""
    parameters: dict[str, Scalar] = {}
    slots = iter(_ORDER)
    for kind, amount in _steps(place):
        field = next((field for name, field in slots if name == kind), None)
        if field is None or amount is None:
            return None
        parameters[field] = amount
    return Mdh(**parameters)


def _steps(place: Place) -> Iterator[tuple[str, Scalar | None]]:
    """Elementary steps in order; one without amount where it is no rotation about x or z, nor a move along them."""
    for step in place.steps or ():
        kind = next(name for name in type(step).model_fields if getattr(step, name) is not None)
        yield kind, None if kind == "rn" else getattr(step, kind)
    if place.pose is not None:
        pose, (x, y, z) = place.pose, place.pose.position
        roll, pitch, yaw = pose.rpy or (0.0, 0.0, 0.0)
        is_general = pose.quaternion is not None or pose.matrix is not None or pitch != 0.0 or y != 0.0
        along, about = (("tz", z), ("tx", x)), (("rz", yaw), ("rx", roll))
        parts = (*along, *about) if yaw != 0.0 else (along[0], about[1], along[1])  # about and along x in any order
        parts = (about[0], along[0], about[1]) if x == 0.0 else parts
        yield from [("ty", None)] if is_general else [part for part in parts if part[1] != 0.0]


def _from_pose(pose: Pose) -> Mdh:
    """gamma, b, alpha, d, theta, r of a pose of numbers."""
    R = [[float(x) for x in row] for row in pose.R]
    x, y, z = (float(part) for part in pose.P)
    tilt = math.hypot(R[0][2], R[1][2])
    if tilt > _NEAR:
        sign = 1.0 if -R[1][2] > -_NEAR else -1.0  # gamma within a quarter turn
        gamma = math.atan2(sign * R[0][2], -sign * R[1][2])
        alpha, theta = math.atan2(sign * tilt, R[2][2]), math.atan2(sign * R[2][0], sign * R[2][1])
        c, s = math.cos(gamma), math.sin(gamma)
        d, r = c * x + s * y, (s * x - c * y) / (sign * tilt)
        b = z - r * R[2][2]
    else:
        turn = math.atan2(R[1][0], R[0][0])
        gamma, d, b, r = (math.atan2(y, x) if math.hypot(x, y) > _NEAR else 0.0), math.hypot(x, y), z, 0.0
        alpha, theta = (0.0, turn - gamma) if R[2][2] > 0.0 else (math.pi, gamma - turn)
    angles = {"gamma": _angle(gamma), "alpha": _angle(alpha), "theta": _angle(theta)}
    return Mdh(**angles, **{name: x if abs(x) > _NEAR else 0.0 for name, x in (("b", b), ("d", d), ("r", r))})


def _angle(angle: float) -> Scalar:
    angle = math.remainder(angle, 2.0 * math.pi)
    quarters = round(angle / (0.5 * math.pi))
    return _QUARTERS[quarters] if abs(angle - quarters * 0.5 * math.pi) < _NEAR else angle


# -- frames of joints --------------------------------------------------------------------------------------------------
R = TypeVar("R", bound=Record)


def _with_joint_frames(mechanism: Mechanism, numbers: Numbers) -> Mechanism:
    """The same mechanism with all frames of bodies where their joints move about z, as far as they are numbers."""
    behind = {name: pose for name, body in mechanism.bodies.items() if (pose := _behind(body, numbers)) is not None}
    if not behind:
        return mechanism
    taken = set(mechanism.frames)
    used = _frames_used([mechanism.loads, mechanism.loops, mechanism.constraints])
    names = {name: legal_name(f"{name}_frame", taken.__contains__) for name in behind if name in used}
    bodies = {name: _moved(name, body, behind, names, numbers) for name, body in mechanism.bodies.items()}
    return mechanism.model_copy(
        update={
            "bodies": FrozenDict(bodies),
            "loads": FrozenDict({key: _renamed(load, names) for key, load in mechanism.loads.items()}),
            "loops": FrozenDict({key: _renamed(loop, names) for key, loop in mechanism.loops.items()}),
        }
    )


def _behind(body: Body, numbers: Numbers) -> Pose | None:
    """A; none where it is nothing, or not known in numbers."""
    try:
        if (body.joint.axis == "z" and body.place.dh is None) or names_in(body.place) - numbers.known.keys():
            return None
        if body.inertia is not None:
            numbers.check(body.inertia)
        return turn_to(numbers.vector(body.joint.direction)).inverse() @ numbers.after(body.place)
    except NoNumber:
        return None


def _moved(name: str, body: Body, behind: Mapping[str, Pose], names: Mapping[str, str], numbers: Numbers) -> Body:
    own, carrier = behind.get(name), behind.get(body.parent)
    place = body.place
    if own is not None:
        place = _place(_carried(carrier, numbers.before(place) @ turn_to(numbers.vector(body.joint.direction))))
    elif carrier is not None:
        place = _place(carrier @ numbers.whole(place))
    if own is None:
        return body.model_copy(update={"place": place})
    frames = {key: Frame(place=_place(own @ numbers.whole(frame.place))) for key, frame in body.frames.items()}
    if name in names:
        frames[names[name]] = Frame(place=_place(own))
    joint: Joint = body.joint.model_copy(update={"axis": "z"})
    inertia = None if body.inertia is None else _inertia(body.inertia, own, numbers)
    changes = {"place": place, "joint": joint, "frames": FrozenDict(frames), "inertia": inertia}
    return body.model_copy(update=changes)


def _carried(carrier: Pose | None, pose: Pose) -> Pose:
    return pose if carrier is None else carrier @ pose


def _place(pose: Pose) -> Place:
    a, b, c = ((float(x), float(y), float(z)) for x, y, z in pose.R)
    position = (float(pose.P[0]), float(pose.P[1]), float(pose.P[2]))
    return Place(pose=RigidPose(position=position, matrix=(a, b, c)))


def _inertia(inertia: Inertia, own: Pose, numbers: Numbers) -> StandardInertia:
    ten = _standard_inertia(inertia)
    values = [numbers.g.number(numbers.scalar(getattr(ten, key))) for key in StandardInertia.model_fields]
    moved = (own @ spatial.Inertia.from_ten(*values)).ten()
    return StandardInertia(**{k: float(x) for k, x in zip(StandardInertia.model_fields, moved, strict=True)})


def _frames_used(tables: Iterable[Mapping[str, Record]]) -> set[str]:
    uses = (name for table in tables for record in table.values() for name in walk(record))
    return {name.name for name in uses if isinstance(name, NameUse) and name.thing is Thing.FRAME}


def _renamed(record: R, names: Mapping[str, str]) -> R:
    """A load or loop with other names of frames."""
    changes: dict[str, Any] = {}
    for use in walk(record):
        if isinstance(use, NameUse) and use.thing is Thing.FRAME and use.name in names:
            field = str(use.path[0])
            old = changes.get(field, getattr(record, field))
            new = names[use.name]
            changes[field] = new if isinstance(old, str) else tuple(new if x == use.name else x for x in old)
    return record.model_copy(update=changes) if changes else record


# -- inertias ----------------------------------------------------------------------------------------------------------
_SIGNS = {ops.ADD: " + ", ops.SUB: " - ", ops.MUL: "*", ops.DIV: "/"}


def _standard_inertia(inertia: Inertia | None) -> Inertia | None:
    """The ten parameters at the frame; as it is where formulas would become too long."""
    if inertia is None or isinstance(inertia, StandardInertia):
        return inertia
    g = Graph()
    scope = {name: g.symbol(name) for name in sorted(names_in(inertia))}

    def expr(value: Scalar) -> Expr:
        return value.expr(g, scope) if isinstance(value, Formula) else g.number(value)

    return _written(ten_parameters(inertia, g, expr).ten()) or inertia


def _written(ten: Sequence[Expr]) -> StandardInertia | None:
    """Expressions as numbers and formulas, if these can be written."""
    try:
        return StandardInertia(**dict(zip(StandardInertia.model_fields, map(_scalar, ten), strict=True)))
    except ModelError:
        return None


def _scalar(e: Expr) -> Scalar:
    return float(e) if e.is_number else Formula(_text(e))


def _text(e: Expr) -> str:
    """An expression as a formula."""
    if not isinstance(e, Expr) or e.op is ops.PIECEWISE:
        raise ModelError("an expression that no formula of this file can hold")
    if e.is_number:
        return repr(float(e)) if float(e) >= 0.0 else f"({float(e)!r})"
    if e.op is ops.SYMBOL:
        return e.graph.label(e) or ""
    parts = [_text(arg) for arg in e.args]
    if e.op in _SIGNS:
        return f"({_SIGNS[e.op].join(parts)})"
    if e.op is ops.POW:
        return f"({parts[0]})^({parts[1]})"
    return f"(-{parts[0]})" if e.op is ops.NEG else f"{e.op.name}({', '.join(parts)})"


_SIGMA = {"revolute": 0, "prismatic": 1, "fixed": 2}
_JOINTS = "only revolute, prismatic and fixed joints can"
_ANNOTATIONS = {"unit", "meaning"}


@dataclass(frozen=True)
class Item:
    """A frame of the file to be: the body or frame it stands for, and the body it hangs on."""

    name: str
    parent: str
    sigma: int
    place: Mdh
    coordinate: str | None = None
    inertia: StandardInertia | None = None
    is_body: bool = False
    number: int = 0


def items(mechanism: Mechanism, losses: Losses) -> tuple[list[Item], list[Item], list[Item]]:
    """Frames of the tree, first frames of the loops, second frames of the loops."""
    first, second, used_up = _loop_items(mechanism, losses)
    tree = list(_frames_on(mechanism, BASE, used_up, losses))
    for name in _in_order(mechanism, losses):
        tree.append(_body_item(mechanism, name, losses))
        tree += _frames_on(mechanism, name, used_up, losses)
    return tree, first, second


def number(tree: list[Item], first: list[Item], second: list[Item]) -> list[Item]:
    """All frames by number: the numbers their names end in if those make a file, else in the order given."""
    sections = (tree, first, second)
    wanted = [[_number_in(item) for item in section] for section in sections]
    start, fits = 1, True
    for numbers in wanted:
        fits = fits and sorted(numbers) == list(range(start, start + len(numbers)))
        start += len(numbers)
    pairs = all(b == a + len(first) for a, b in zip(wanted[1], wanted[2], strict=True))
    if not fits or not pairs:
        listed = [item for section in sections for item in section]
        return [replace(item, number=k) for k, item in enumerate(listed, 1)]
    numbered = [
        replace(item, number=k)
        for section, numbers in zip(sections, wanted, strict=True)
        for item, k in zip(section, numbers, strict=True)
    ]
    return sorted(numbered, key=lambda item: item.number)


def _number_in(item: Item) -> int:
    match = re.fullmatch(r"body([1-9][0-9]{0,3})" if item.is_body else r"frame([1-9][0-9]{0,3})", item.name)
    return int(match[1]) if match else 0


def _in_order(mechanism: Mechanism, losses: Losses) -> list[str]:
    """Bodies, parents before children."""
    placed, waiting = {BASE, WORLD}, list(mechanism.bodies)
    order: list[str] = []
    while waiting:
        ready = [name for name in waiting if mechanism.bodies[name].parent in placed]
        if not ready:
            losses.refuse(f"bodies.{waiting[0]}", "the body is not connected to the base")
            return order
        order += ready[:1]
        placed.add(ready[0])
        waiting.remove(ready[0])
    return order


def _body_item(mechanism: Mechanism, name: str, losses: Losses) -> Item:
    body, where = mechanism.bodies[name], f"bodies.{name}"
    if body.parent == WORLD and mechanism.base.kind is not BaseKind.FIXED:
        losses.refuse(f"{where}.parent", "a body on the world, beside a base that moves, cannot be written")
    if body.shapes:
        losses.add(f"{where}.shapes", "shapes cannot be written")
    if body.joint.kind not in _SIGMA:
        losses.refuse(f"{where}.joint", f"a {body.joint.kind} joint cannot be written", _JOINTS)
    if body.joint.axis != "z":
        losses.refuse(
            f"{where}.joint.axis", "an axis of formulas cannot be written", "give it, and the inertia, numbers"
        )
    if body.inertia is not None and not isinstance(body.inertia, StandardInertia):
        remedy = "give the ten standard parameters at the frame"
        losses.refuse(f"{where}.inertia", "such formulas of an inertia at the centre of mass cannot be written", remedy)
    coordinate = _coordinate(mechanism, name, body, losses)
    return Item(
        name,
        BASE if body.parent == WORLD else body.parent,
        _SIGMA.get(body.joint.kind, 2),
        _frame_row(body.place, f"{where}.place", losses),
        coordinate,
        body.inertia if isinstance(body.inertia, StandardInertia) else None,
        is_body=True,
    )


def _coordinate(mechanism: Mechanism, name: str, body: Body, losses: Losses) -> str | None:
    for key, record in body.joint.coordinates.items():
        check_plain(record, f"bodies.{name}.joint.coordinates.{key}", losses)
    names = [variable.name for variable in mechanism.q if variable.owner == name]
    return names[0] if len(names) == 1 else None


def check_plain(record: Coordinate, where: str, losses: Losses) -> None:
    """Starts and stops of a coordinate have no place in the file."""
    plain = Coordinate()
    for key in Coordinate.model_fields:
        if key not in _ANNOTATIONS and getattr(record, key) != getattr(plain, key):
            losses.add(f"{where}.{key}", f"{key.replace('_', ' ')} of a coordinate cannot be written")


def _frame_row(place: Place, where: str, losses: Losses) -> Mdh:
    if place.mdh is not None:
        return place.mdh
    if place != Place():
        remedy = "write it as mdh, or give its symbols numbers"
        losses.refuse(where, "a pose that is not a modified Denavit-Hartenberg row cannot be written", remedy)
    return Mdh()


def _frames_on(mechanism: Mechanism, body: str, used_up: set[str], losses: Losses) -> Iterator[Item]:
    frames = mechanism.base.frames if body == BASE else mechanism.bodies[body].frames
    for name, frame in frames.items():
        if name not in used_up:
            yield Item(name, body, 2, _frame_row(frame.place, f"frames.{name}.place", losses))


def _loop_items(mechanism: Mechanism, losses: Losses) -> tuple[list[Item], list[Item], set[str]]:
    """Both frames of every loop, and the named frames that serve for nothing else."""
    ends = [name for loop in mechanism.loops.values() if loop.joint in _SIGMA for name in loop.between]
    elsewhere = {load.frame for load in mechanism.loads.values() if isinstance(load, Wrench)}
    first, second = list[Item](), list[Item]()
    for name, loop in mechanism.loops.items():
        if loop.joint not in _SIGMA:
            losses.add(f"loops.{name}.joint", f"a cut {loop.joint} joint cannot be written", moves=True)
            continue
        a, b = (_loop_end(mechanism, end, f"loops.{name}", losses) for end in loop.between)
        first.append(replace(a, sigma=_SIGMA[loop.joint]))
        second.append(b)
    used_up = {end for end in ends if ends.count(end) == 1 and end not in elsewhere and end not in mechanism.bodies}
    return first, second, used_up


def _loop_end(mechanism: Mechanism, name: str, where: str, losses: Losses) -> Item:
    body = mechanism.frames.get(name)
    if body is None or (body == WORLD and mechanism.base.kind is not BaseKind.FIXED):
        losses.refuse(f"{where}.between", f"'{name}' is not a frame of the tree")
        body = BASE
    body = BASE if body == WORLD else body
    if name in (body, WORLD):
        return Item(name, body, 2, Mdh())
    frames = mechanism.base.frames if body == BASE else mechanism.bodies[body].frames
    return Item(
        name, body, 2, _frame_row(frames[name].place, f"frames.{name}.place", losses) if name in frames else Mdh()
    )
