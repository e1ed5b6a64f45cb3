"""From the text of a URDF file to a mechanism.

Each link becomes a body of the same name and frame, the root link the base. Bodies follow the order of the joints, so
that coordinates do. A joint with an effort is driven by an input.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from torseur.describe import (
    BASE,
    WORLD,
    Base,
    Body,
    Constraint,
    Coordinate,
    Coupling,
    Effort,
    Formula,
    Frame,
    Input,
    Joint,
    Mechanism,
    Shape,
    SpringDamper,
)
from torseur.describe.faults import listed
from torseur.describe.fields import FrozenDict
from torseur.formats.urdf.elements import JointType, Mimic, Robot, UrdfJoint, UrdfLink, read_robot
from torseur.formats.urdf.markup import read_markup
from torseur.formats.urdf.names import Names
from torseur.formats.urdf.places import inertia_of, place_of
from torseur.formats.urdf.report import Report, one_line
from torseur.formats.urdf.tree import check_is_urdf, check_mimics, root_of
from torseur.spatial.joints import KINDS

__all__ = ["read_urdf"]

_AXES = {(1.0, 0.0, 0.0): "x", (0.0, 1.0, 0.0): "y", (0.0, 0.0, 1.0): "z"}


def read_urdf(data: bytes, name: str, where: str) -> Mechanism:
    """The mechanism of a URDF file.

    Args:
        data: the file's content.
        name: what to call the mechanism; the name in the file becomes its title.
        where: how errors call the file.

    >>> text = b'<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
    >>> text += b'<parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>'
    >>> arm = read_urdf(text, "arm", "arm.urdf")
    >>> [x.name for x in arm.q], arm.frames
    (['j'], {'world': 'world', 'base': 'base', 'b': 'b', 'a': 'base'})
    """
    root = read_markup(data, where)
    report = Report(where)
    check_is_urdf(root, report)
    robot = read_robot(root, report)
    top = root_of(robot, report)
    check_mimics(robot, report)
    report.faults.stop_if_any()
    assert top is not None  # a robot without a root is a fault
    return _Assembly(robot, top, report).mechanism(Names().give(name))


class _Assembly:
    """Links and joints made into bodies."""

    def __init__(self, robot: Robot, top: str, report: Report) -> None:
        self.robot, self.report = robot, report
        self.top = robot.links[top]
        self.frames = Names({BASE, WORLD})
        self.scope = Names()
        self.frame_names = {top: top} if top in (BASE, WORLD) else {}
        for link in robot.links:
            if link not in self.frame_names:
                self.frame_names[link] = self.frames.give(link)
        self.body_names = {joint.child: self.frame_names[joint.child] for joint in robot.joints.values()} | {top: BASE}
        self.scope.taken |= {speed for joint in robot.joints.values() for speed in self._own_speeds(joint)}
        self.coordinate_names = {joint.name: self._coordinates(joint) for joint in robot.joints.values()}

    def _own_speeds(self, joint: UrdfJoint) -> list[str]:
        """Speeds that are called after their body, being no rates of coordinates."""
        kind = KINDS[joint.type.kind]
        return [] if kind.nq == 1 else [f"{self.body_names[joint.child]}_{info.suffix}" for info in kind.speeds]

    def _coordinates(self, joint: UrdfJoint) -> tuple[str, ...]:
        """The names of a joint's coordinates; where the speed is a rate its name, with a d before, must be free too."""
        infos = KINDS[joint.type.kind].coordinates
        if len(infos) == 1:
            return (self.scope.give(joint.name, ("{}", "d{}")),)
        patterns = [f"{{}}_{info.suffix}" for info in infos]
        name = self.scope.give(joint.name, patterns) if patterns else ""
        return tuple(pattern.format(name) for pattern in patterns)

    # -- the mechanism -------------------------------------------------------------------------------------------------
    def mechanism(self, name: str) -> Mechanism:
        joints = self.robot.joints.values()
        title = one_line(self.robot.name or "")
        return Mechanism(
            name=name,
            title=title[:500] if title and title != name else None,
            base=self._base(),
            bodies=FrozenDict({self.body_names[joint.child]: self._body(joint) for joint in joints}),
            constraints=FrozenDict(self._couplings()),
            loads=FrozenDict({**self._losses(), **self._efforts()}),
            inputs=FrozenDict(self.inputs),
            notes=self._notes(),
        )

    def _base(self) -> Base:
        own = self.frame_names[self.top.name]
        frames = {} if own in (BASE, WORLD) else {own: Frame()}
        return Base(inertia=inertia_of(self.top.inertial), shapes=self._shapes(self.top), frames=FrozenDict(frames))

    def _body(self, joint: UrdfJoint) -> Body:
        link = self.robot.links[joint.child]
        return Body(
            parent=self.body_names[joint.parent],
            place=place_of(joint.origin),
            joint=self._joint(joint),
            inertia=inertia_of(link.inertial),
            shapes=self._shapes(link),
        )

    def _joint(self, joint: UrdfJoint) -> Joint:
        limit = joint.limit
        one = Coordinate(
            lower=limit.lower,
            upper=limit.upper,
            speed_limit=limit.velocity,
            effort_limit=limit.effort,
        )
        names = self.coordinate_names[joint.name]
        coordinates = dict.fromkeys(names, one if joint.type.is_scalar else Coordinate())
        axis = _AXES.get(joint.axis, joint.axis) if joint.type.has_axis else "z"
        return Joint(kind=joint.type.kind, coordinates=FrozenDict(coordinates), axis=axis)

    def _shapes(self, link: UrdfLink) -> tuple[Shape, ...]:
        return tuple(
            Shape.model_validate(
                {visual.form: visual.fields, "place": place_of(visual.origin), "colour": visual.colour}
            )
            for visual in link.visuals
        )

    def _couplings(self) -> dict[str, Constraint]:
        names, found = Names(), {}
        for joint in self.robot.joints.values():
            if joint.mimic is not None:
                (own,), (other,) = self.coordinate_names[joint.name], self.coordinate_names[joint.mimic.joint]
                coupling = Coupling(coordinate=own, equals=_mimic_formula(joint.mimic, other))
                found[names.give(f"mimic_{own}")] = Constraint(coupling=coupling)
        return found

    def _losses(self) -> dict[str, SpringDamper]:
        names, found = Names(), {}
        for joint in self.robot.joints.values():
            if joint.damping or joint.friction:
                (own,) = self.coordinate_names[joint.name]
                load = SpringDamper(coordinate=own, damping=joint.damping, friction=joint.friction)
                found[names.give(f"losses_{own}")] = load
        return found

    def _efforts(self) -> dict[str, Effort]:
        """What drives the joints that have an effort and follow no other."""
        names, found = Names(), {}
        for own, name in self.effort_names.items():
            found[names.give(f"effort_{own}")] = Effort(coordinate=own, value=Formula(name))
        return found

    @cached_property
    def effort_names(self) -> dict[str, str]:
        """Coordinate -> the input that drives it."""
        return {self.coordinate_names[joint.name][0]: self.scope.give(f"tau_{joint.name}") for joint in self._driven()}

    def _driven(self) -> Iterator[UrdfJoint]:
        for joint in self.robot.joints.values():
            if joint.type.is_scalar and joint.limit.effort and joint.mimic is None:
                yield joint

    @property
    def inputs(self) -> dict[str, Input]:
        units = {True: "N", False: "N m"}
        return {
            self.effort_names[self.coordinate_names[joint.name][0]]: Input(
                unit=units[joint.type is JointType.PRISMATIC]
            )
            for joint in self._driven()
        }

    def _notes(self) -> tuple[str, ...]:
        notes = list(self.report.notes)
        renamed = [f"{old!r} is {new}" for names in (self.frames, self.scope) for old, new in names.changed.items()]
        if renamed:
            notes.append(f"names that had to change: {listed(renamed)}")
        return tuple(notes)


def _mimic_formula(mimic: Mimic, other: str) -> Formula | float:
    """multiplier * other + offset, without what says nothing."""
    if mimic.multiplier == 0.0:
        return mimic.offset
    sign = {1.0: "", -1.0: "-"}.get(mimic.multiplier, f"{mimic.multiplier!r}*")
    shift = "" if mimic.offset == 0.0 else f" {'-' if mimic.offset < 0.0 else '+'} {abs(mimic.offset)!r}"
    return Formula(f"{sign}{other}{shift}")
