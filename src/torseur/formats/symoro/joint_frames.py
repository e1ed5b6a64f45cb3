"""Bodies whose frame is not the one their joint moves about z, seen from that one.

A joint about another axis n is C J C', a row of standard Denavit-Hartenberg parameters has Tx(a) Rx(alpha) behind its
joint: in both cases the body's frame is a fixed pose A behind the joint's. The body is then described in the frame of
the joint: its inertia and frames are moved by A, what it carries too, and its own frame is a named one on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from torseur.describe.annotations import FoundName, Thing, walk
from torseur.describe.bodies import Body, Frame, Joint
from torseur.describe.evaluation import NoNumber, Numbers
from torseur.describe.fields import FrozenDict, Record, names_in
from torseur.describe.inertia import Inertia as DescribedInertia
from torseur.describe.inertia import StandardInertia
from torseur.describe.mechanism import Mechanism
from torseur.describe.place import Place, RigidPose
from torseur.formats.expressions import legal_name
from torseur.formats.symoro.inertias import standard_inertia
from torseur.spatial.inertia import Inertia
from torseur.spatial.pose import Pose
from torseur.spatial.turning import turn_to

__all__ = ["with_joint_frames"]

R = TypeVar("R", bound=Record)


def with_joint_frames(mechanism: Mechanism, numbers: Numbers) -> Mechanism:
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


def _inertia(inertia: DescribedInertia, own: Pose, numbers: Numbers) -> StandardInertia:
    ten = standard_inertia(inertia)
    values = [numbers.g.number(numbers.scalar(getattr(ten, key))) for key in StandardInertia.model_fields]
    moved = (own @ Inertia.from_ten(*values)).ten()
    return StandardInertia(**{k: float(x) for k, x in zip(StandardInertia.model_fields, moved, strict=True)})


def _frames_used(tables: Iterable[Mapping[str, Record]]) -> set[str]:
    found = (name for table in tables for record in table.values() for name in walk(record))
    return {name.name for name in found if isinstance(name, FoundName) and name.thing is Thing.FRAME}


def _renamed(record: R, names: Mapping[str, str]) -> R:
    """A load or loop with other names of frames."""
    changes: dict[str, Any] = {}
    for found in walk(record):
        if isinstance(found, FoundName) and found.thing is Thing.FRAME and found.name in names:
            field = str(found.path[0])
            old = changes.get(field, getattr(record, field))
            new = names[found.name]
            changes[field] = new if isinstance(old, str) else tuple(new if x == found.name else x for x in old)
    return record.model_copy(update=changes) if changes else record
