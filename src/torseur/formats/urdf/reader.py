"""From the text of a URDF file to a mechanism.

Each link becomes a body of the same name and frame, the root link the base. Bodies follow the order of the joints, so
that coordinates do. A joint with an effort is driven by an input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from torseur.describe import (
    BASE,
    WORLD,
    Base,
    Body,
    CentralInertia,
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
    Tensor,
)
from torseur.describe.faults import listed, shown
from torseur.describe.fields import FrozenDict
from torseur.formats.files import Names
from torseur.formats.urdf.elements import OTHERS, Inertial, JointType, Mimic, Robot, UrdfJoint, UrdfLink, read_robot
from torseur.formats.urdf.markup import Element, Report, one_line, path_to, read_markup
from torseur.formats.urdf.visuals import place_of
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
    _check_is_urdf(root, report)
    robot = read_robot(root, report)
    top = _root_of(robot, report)
    _check_mimics(robot, report)
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
        return Base(inertia=_inertia_of(self.top.inertial), shapes=self._shapes(self.top), frames=FrozenDict(frames))

    def _body(self, joint: UrdfJoint) -> Body:
        link = self.robot.links[joint.child]
        return Body(
            parent=self.body_names[joint.parent],
            place=place_of(joint.origin),
            joint=self._joint(joint),
            inertia=_inertia_of(link.inertial),
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
        names, couplings = Names(), {}
        for joint in self.robot.joints.values():
            if joint.mimic is not None:
                (own,), (other,) = self.coordinate_names[joint.name], self.coordinate_names[joint.mimic.joint]
                coupling = Coupling(coordinate=own, equals=_mimic_formula(joint.mimic, other))
                couplings[names.give(f"mimic_{own}")] = Constraint(coupling=coupling)
        return couplings

    def _losses(self) -> dict[str, SpringDamper]:
        names, losses = Names(), {}
        for joint in self.robot.joints.values():
            if joint.damping or joint.friction:
                (own,) = self.coordinate_names[joint.name]
                load = SpringDamper(coordinate=own, damping=joint.damping, friction=joint.friction)
                losses[names.give(f"losses_{own}")] = load
        return losses

    def _efforts(self) -> dict[str, Effort]:
        """What drives the joints that have an effort and follow no other."""
        names, efforts = Names(), {}
        for own, name in self.effort_names.items():
            efforts[names.give(f"effort_{own}")] = Effort(coordinate=own, value=Formula(name))
        return efforts

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


def _inertia_of(inertial: Inertial | None) -> CentralInertia | None:
    """The inertia of a link; none for a link without mass."""
    if inertial is None or not (inertial.mass or any(inertial.tensor)):
        return None
    xx, xy, xz, yy, yz, zz = inertial.tensor
    tensor = Tensor(xx=xx, yy=yy, zz=zz, xy=xy, xz=xz, yz=yz)
    return CentralInertia(mass=inertial.mass, centre=inertial.origin.xyz, tensor=tensor, rpy=inertial.origin.rpy)


# -- one tree of links -------------------------------------------------------------------------------------------------
MACRO = re.compile(r"\$\{|\$\(")
OTHER_FORMATS = {
    "sdf": "this is SDF, the description of Gazebo's worlds",
    "mujoco": "this is MJCF, the description of MuJoCo's models",
    "robots": "a file with several robots",
}


def _check_is_urdf(root: Element, report: Report) -> None:
    """Refuse XML of another kind, and xacro, which is a program that writes URDF."""
    macro = _macro(root)
    if macro is not None:
        text = "this is xacro, a macro language that produces URDF, not URDF itself"
        remedy = "expand it first, where its packages are installed: xacro robot.urdf.xacro > robot.urdf"
        report.fault(macro, f"<{macro.tag[:60]}>", text, remedy=remedy)
        raise report.faults.error()
    if root.tag != "robot":
        what = OTHER_FORMATS.get(root.tag, "this XML is not URDF")
        report.faults.stop(root.mark, what, expected="<robot>", got=f"<{root.tag[:60]}>")


def _macro(element: Element) -> Element | None:
    """The first element that only xacro understands; the parts of other programs may contain what they like."""
    if element.tag.startswith("xacro:") or any(MACRO.search(value) for value in element.attributes.values()):
        return element
    inside = (_macro(child) for child in element.children if child.tag not in OTHERS)
    return next((macro for macro in inside if macro is not None), None)


def _root_of(robot: Robot, report: Report) -> str | None:
    """The root link; everything that keeps the links from being a tree is a fault."""
    carried_by: dict[str, UrdfJoint] = {}
    for joint in robot.joints.values():
        path = path_to("joint", joint.name)
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in robot.links:
                remedy = report.suggestion(link, robot.links)
                report.fault(joint.element, path, f"no {role} link {shown(link)}", remedy=remedy)
        if joint.child in carried_by:
            report.fault(
                joint.element,
                path,
                f"link {shown(joint.child)} is carried by two joints",
                expected="a tree: each link is the child of one joint",
                got=f"also the child of joint {shown(carried_by[joint.child].name)}",
                remedy="loops can be written in our own format, the joint that closes one under 'loops'",
            )
        carried_by.setdefault(joint.child, joint)
    roots = [name for name in robot.links if name not in carried_by]
    if len(roots) > 1:
        second = robot.links[roots[1]].element
        got = listed(shown(name) for name in roots)
        report.fault(second, "", "several links without a parent", expected="one root", got=got)
    for circle in _circles({link: joint.parent for link, joint in carried_by.items()}):
        element = carried_by[circle[0]].element
        report.fault(element, "", "the links form a cycle", got=listed(map(shown, circle)))
    return roots[0] if len(roots) == 1 else None


def _check_mimics(robot: Robot, report: Report) -> None:
    """Every joint that follows another must find it, and not follow itself."""
    follows = {joint.name: joint.mimic.joint for joint in robot.joints.values() if joint.mimic is not None}
    leaders = [name for name, joint in robot.joints.items() if joint.type.is_scalar]
    for name, other in follows.items():
        leader = robot.joints.get(other)
        if leader is not None and leader.type.is_scalar:
            continue
        what = "which does not exist" if leader is None else "which has no single coordinate"
        remedy = report.suggestion(other, leaders)
        report.fault(
            robot.joints[name].element, path_to("joint", name), f"it follows {shown(other)}, {what}", remedy=remedy
        )
    for circle in _circles(follows):
        element = robot.joints[circle[0]].element
        report.fault(element, "", "the joints that follow others form a cycle", got=listed(map(shown, circle)))


def _circles(following: Mapping[str, str]) -> Iterator[list[str]]:
    """Things that lead back to themselves, where each leads to one other at most."""
    settled: set[str] = set()
    for name in following:
        way: dict[str, None] = {}
        while name in following and name not in settled and name not in way:
            way[name] = None
            name = following[name]
        if name in way:
            yield list(way)[list(way).index(name) :]
        settled |= way.keys()
