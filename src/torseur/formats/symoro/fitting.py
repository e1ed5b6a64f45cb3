"""The same mechanism in the forms of a .par file: rows of Denavit and Hartenberg, standard inertias.

Any pose is a row Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r): the rotation gives gamma, alpha and theta, the
position then b, d and r. Where poses are made of symbols, only steps that stand in this order already are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from torseur.describe.bodies import Base, Body, Frame
from torseur.describe.evaluation import NoNumber, Numbers
from torseur.describe.fields import FrozenDict, Scalar, names_in
from torseur.describe.formulas import Formula
from torseur.describe.mechanism import Mechanism
from torseur.describe.place import Mdh, Place, RigidPose
from torseur.formats.symoro.inertias import standard_inertia
from torseur.formats.symoro.joint_frames import with_joint_frames
from torseur.spatial.pose import Pose

__all__ = ["fitted"]

_ORDER = (("rz", "gamma"), ("tz", "b"), ("rx", "alpha"), ("tx", "d"), ("rz", "theta"), ("tz", "r"))
_NEAR = 1e-12
_QUARTERS: dict[int, Scalar] = {0: 0.0, 1: Formula("pi/2"), -1: Formula("-pi/2"), 2: Formula("pi"), -2: Formula("pi")}


def fitted(mechanism: Mechanism) -> Mechanism:
    """A mechanism with rows for its poses and inertias at its frames, as far as there are any."""
    numbers = Numbers(mechanism)
    mechanism = with_joint_frames(mechanism, numbers)
    bodies = {name: _body(body, numbers) for name, body in mechanism.bodies.items()}
    return mechanism.model_copy(update={"bodies": FrozenDict(bodies), "base": _base(mechanism.base, numbers)})


def _body(body: Body, numbers: Numbers) -> Body:
    changed = {"place": _row(body.place, numbers), "frames": _frames(body.frames, numbers)}
    return body.model_copy(update={**changed, "inertia": standard_inertia(body.inertia)})


def _base(base: Base, numbers: Numbers) -> Base:
    changed: dict[str, Any] = {"frames": _frames(base.frames, numbers), "inertia": standard_inertia(base.inertia)}
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
    found: dict[str, Scalar] = {}
    slots = iter(_ORDER)
    for kind, amount in _steps(place):
        field = next((field for name, field in slots if name == kind), None)
        if field is None or amount is None:
            return None
        found[field] = amount
    return Mdh(**found)


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
