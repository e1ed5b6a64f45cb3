"""A mechanism laid out as the frames of a .par file, and what of it such a file cannot hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from torseur.describe.bodies import BASE, WORLD, BaseKind, Body, Coordinate
from torseur.describe.inertia import StandardInertia
from torseur.describe.loads import Wrench
from torseur.describe.mechanism import Mechanism
from torseur.describe.place import Mdh, Place
from torseur.formats.format import Losses

__all__ = ["Item", "items", "number"]

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
            losses.refuse(f"bodies.{waiting[0]}", "the body has no way to the base")
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
        _row(body.place, f"{where}.place", losses),
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


def _row(place: Place, where: str, losses: Losses) -> Mdh:
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
            yield Item(name, body, 2, _row(frame.place, f"frames.{name}.place", losses))


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
    return Item(name, body, 2, _row(frames[name].place, f"frames.{name}.place", losses) if name in frames else Mdh())
