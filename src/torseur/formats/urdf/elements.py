"""The elements of a URDF file as typed records, each with the place it was read from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from torseur.describe.faults import shown
from torseur.formats.urdf.markup import Element, Report, path_to
from torseur.formats.urdf.visuals import Colours, Origin, Visual, read_colours, read_origin, read_visual

__all__ = ["Inertial", "JointType", "Limit", "Mimic", "Robot", "UrdfJoint", "UrdfLink", "read_robot"]

Triple = tuple[float, float, float]

OTHERS = frozenset({"gazebo", "transmission", "sensor", "ros2_control", "mujoco", "drake"})
"""Elements of other programs, which say nothing about the mechanism."""
ROBOT = {"elements": f"link joint material {' '.join(OTHERS)}", "attributes": "name version"}
LINK = {"elements": f"inertial visual collision {' '.join(OTHERS)}", "attributes": "name type"}
INERTIAL = {"elements": "origin mass inertia", "attributes": ""}
JOINT = {
    "elements": f"origin parent child axis limit dynamics mimic calibration safety_controller {' '.join(OTHERS)}",
    "attributes": "name type",
}
LEAVES = {
    "axis": "xyz",
    "parent": "link",
    "child": "link",
    "mass": "value",
    "inertia": "ixx ixy ixz iyy iyz izz",
    "limit": "lower upper effort velocity",
    "dynamics": "damping friction",
    "mimic": "joint multiplier offset",
}
MOST_LINKS = 5000
ALONG = 1e-9
"""An axis this close to x, y or z (rad) is along it."""


class JointType(Enum):
    """How URDF calls them; our names beside."""

    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"  # revolute without stops
    PRISMATIC = "prismatic"
    FIXED = "fixed"
    FLOATING = "floating"  # free
    PLANAR = "planar"

    @property
    def kind(self) -> str:
        """The joint kind of ours."""
        return {"continuous": "revolute", "floating": "free"}.get(self.value, self.value)

    @property
    def has_axis(self) -> bool:
        return self not in (JointType.FIXED, JointType.FLOATING)

    @property
    def is_scalar(self) -> bool:
        """Whether one coordinate says it all."""
        return self in (JointType.REVOLUTE, JointType.CONTINUOUS, JointType.PRISMATIC)


@dataclass(frozen=True)
class Inertial:
    """Mass, centre and axes of the tensor in the link's frame; the tensor as xx xy xz yy yz zz, kg m2."""

    origin: Origin
    mass: float
    tensor: tuple[float, ...]


@dataclass(frozen=True)
class Limit:
    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None


@dataclass(frozen=True)
class Mimic:
    """value = multiplier * (value of the other joint) + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class UrdfLink:
    name: str
    element: Element
    inertial: Inertial | None
    visuals: tuple[Visual, ...]


@dataclass(frozen=True)
class UrdfJoint:
    name: str
    element: Element
    type: JointType
    parent: str
    child: str
    origin: Origin
    axis: Triple
    limit: Limit = Limit()
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None


@dataclass(frozen=True)
class Robot:
    name: str | None
    element: Element
    links: dict[str, UrdfLink]
    joints: dict[str, UrdfJoint]


def read_robot(root: Element, report: Report) -> Robot:
    """Links and joints in file order; what is wrong goes to the report."""
    report.allowed(root, "", ROBOT)
    version = root.attributes.get("version", "1.0")
    if version not in ("1.0", "1"):
        report.note(f"the file says URDF version {shown(version)}; it is read as version 1.0")
    colours = read_colours(root, report)
    links: dict[str, UrdfLink] = {}
    for element in root.all("link"):
        name = _new_name(element, links, report)
        if name is not None:
            links[name] = _link(element, name, colours, report)
    joints: dict[str, UrdfJoint] = {}
    for element in root.all("joint"):
        name = _new_name(element, joints, report)
        joint = None if name is None else _joint(element, name, report)
        if joint is not None:
            joints[joint.name] = joint
    if not 0 < len(links) <= MOST_LINKS:
        what = "too many links" if links else "the robot has no link"
        report.fault(root, "", what, expected=f"from 1 to {MOST_LINKS}", got=str(len(links)))
    _say_what_is_ignored(root, report)
    return Robot(root.attributes.get("name"), root, links, joints)


def _new_name(element: Element, known: Mapping[str, UrdfLink | UrdfJoint], report: Report) -> str | None:
    name = report.text(element, "", "name")
    if name is not None and name in known:
        first = known[name].element
        report.fault(
            element, "", f"a second {element.tag} called {shown(name)}", got=f"the first is in line {first.mark.line}"
        )
        return None
    return name


def _say_what_is_ignored(root: Element, report: Report) -> None:
    ignored: dict[str, int] = {}
    for element in [root, *root.all("link"), *root.all("joint")]:
        for child in element.children:
            if child.tag in OTHERS or child.tag in ("collision", "calibration", "safety_controller"):
                ignored[child.tag] = ignored.get(child.tag, 0) + 1
    if ignored:
        report.note("not part of the mechanism, left out: " + ", ".join(f"<{tag}> ({n})" for tag, n in ignored.items()))


def _leaf(parent: Element, path: str, tag: str, report: Report) -> Element | None:
    """The only child of a name that holds attributes alone."""
    child = report.one(parent, path, tag)
    if child is not None:
        report.allowed(child, path, {"elements": "", "attributes": LEAVES[tag]})
    return child


# -- links -------------------------------------------------------------------------------------------------------------
def _link(element: Element, name: str, colours: Colours, report: Report) -> UrdfLink:
    path = path_to("link", name)
    report.allowed(element, path, LINK)
    inertial = report.one(element, path, "inertial")
    visuals = (read_visual(visual, path, colours, report) for visual in element.all("visual"))
    return UrdfLink(
        name,
        element,
        None if inertial is None else _inertial(inertial, path, report),
        tuple(visual for visual in visuals if visual is not None),
    )


def _inertial(element: Element, path: str, report: Report) -> Inertial | None:
    report.allowed(element, path, INERTIAL)
    origin = read_origin(element, path, report)
    mass, inertia = _leaf(element, path, "mass", report), _leaf(element, path, "inertia", report)
    for tag, child in (("mass", mass), ("inertia", inertia)):
        if child is None:
            report.fault(element, path, f"<inertial> without <{tag}>", remedy="give it, or remove <inertial>")
    if mass is None or inertia is None:
        return None
    value = _needed(mass, path, "value", report)
    tensor = [_needed(inertia, path, name, report) for name in LEAVES["inertia"].split()]
    if value is not None and value < 0.0:
        report.fault(mass, path, "a negative mass", got=f"{value!r}")
    if value is None or any(entry is None for entry in tensor):
        return None
    return Inertial(origin, value, tuple(entry for entry in tensor if entry is not None))


def _needed(element: Element, path: str, attribute: str, report: Report) -> float | None:
    if report.text(element, path, attribute) is None:
        return None
    return report.number(element, path, attribute)


# -- joints ------------------------------------------------------------------------------------------------------------
def _joint(element: Element, name: str, report: Report) -> UrdfJoint | None:
    path = path_to("joint", name)
    report.allowed(element, path, JOINT)
    kind = _type(element, path, report)
    ends = [_end(element, path, tag, report) for tag in ("parent", "child")]
    origin = read_origin(element, path, report)
    axis = _axis(element, path, kind, report)
    limit = _limit(element, path, kind, report)
    damping, friction = _losses(element, path, kind, report)
    mimic = _mimic(element, path, kind, report)
    if kind is None or ends[0] is None or ends[1] is None:
        return None
    return UrdfJoint(name, element, kind, ends[0], ends[1], origin, axis, limit, damping, friction, mimic)


def _type(element: Element, path: str, report: Report) -> JointType | None:
    text = report.text(element, path, "type")
    known = [kind.value for kind in JointType]
    if text is None or text in known:
        return None if text is None else JointType(text)
    remedy = report.suggestion(text, known)
    report.fault(element, path, "no such type of joint", expected=", ".join(known), got=shown(text), remedy=remedy)
    return None


def _end(element: Element, path: str, tag: str, report: Report) -> str | None:
    child = _leaf(element, path, tag, report)
    if child is None:
        report.fault(element, path, f"the joint has no <{tag}>", remedy=f'add <{tag} link="..."/>')
        return None
    return report.text(child, path, "link")


def _axis(element: Element, path: str, kind: JointType | None, report: Report) -> Triple:
    child = _leaf(element, path, "axis", report)
    if child is None:
        return (1.0, 0.0, 0.0)  # what URDF says
    axis = report.triple(child, path, "xyz", (1.0, 0.0, 0.0))
    if kind is None or not kind.has_axis:
        return axis
    size = math.hypot(*axis)
    if size < 1e-6:
        report.fault(child, path, "an axis of zero length", got=shown(child.attributes.get("xyz")))
        return axis
    x, y, z = (part / size for part in axis)
    straight = (float(round(x)), float(round(y)), float(round(z)))
    if math.dist((x, y, z), straight) > ALONG:
        return (x, y, z)
    if any(part and not whole for part, whole in zip((x, y, z), straight, strict=True)):
        report.group("axes within 1e-9 rad of x, y or z taken as along it", path)
    return straight


def _limit(element: Element, path: str, kind: JointType | None, report: Report) -> Limit:
    child = _leaf(element, path, "limit", report)
    if child is None:
        if kind in (JointType.REVOLUTE, JointType.PRISMATIC):
            report.group("joints without <limit>, taken as unlimited", path)
        return Limit()
    lower, upper, velocity, effort = (
        report.number(child, path, name) for name in ("lower", "upper", "velocity", "effort")
    )
    for name, value in (("velocity", velocity), ("effort", effort)):
        if value is not None and value < 0.0:
            report.fault(child, path, f"'{name}' of <limit> is negative", expected="a magnitude", got=f"{value!r}")
        elif value == 0.0:
            report.group("limits of velocity or effort that are 0, kept as they are", f"{path} {name}")
    if kind is None or not kind.is_scalar:
        if kind is not None and kind is not JointType.FIXED:
            report.group("limits of joints with several coordinates, left out", path)
        return Limit()
    if kind is JointType.CONTINUOUS:
        if lower is not None or upper is not None:
            report.group("stops of continuous joints, left out", path)
        return Limit(None, None, velocity, effort)
    return Limit(*_stops(child, path, lower, upper, report), velocity, effort)


def _stops(
    element: Element, path: str, lower: float | None, upper: float | None, report: Report
) -> tuple[float | None, float | None]:
    """The stops; one that is not given is 0 (URDF), but when both are missing there are none."""
    if lower is None and upper is None:
        report.group("<limit> without lower and upper, taken as without stops", path)
        return None, None
    if lower is None or upper is None:
        report.group("<limit> with one stop only: the other is 0, as URDF says", path)
    stops = (lower or 0.0, upper or 0.0)
    if stops[0] > stops[1]:
        report.fault(element, path, "the lower stop is above the upper one", got=f"{stops[0]!r} > {stops[1]!r}")
    return stops


def _losses(element: Element, path: str, kind: JointType | None, report: Report) -> tuple[float, float]:
    child = _leaf(element, path, "dynamics", report)
    if child is None:
        return 0.0, 0.0
    damping, friction = (report.number(child, path, name, 0.0) or 0.0 for name in ("damping", "friction"))
    for name, value in (("damping", damping), ("friction", friction)):
        if value < 0.0:
            report.fault(child, path, f"'{name}' of <dynamics> is negative", got=f"{value!r}")
    if kind is not None and not kind.is_scalar:
        if damping or friction:
            report.group("<dynamics> of joints without one coordinate, left out", path)
        return 0.0, 0.0
    return damping, friction


def _mimic(element: Element, path: str, kind: JointType | None, report: Report) -> Mimic | None:
    child = _leaf(element, path, "mimic", report)
    if child is None:
        return None
    other = report.text(child, path, "joint")
    multiplier, offset = report.number(child, path, "multiplier", 1.0), report.number(child, path, "offset", 0.0)
    if kind is not None and not kind.is_scalar:
        report.fault(
            child, path, f"a {kind.value} joint cannot follow another", expected="revolute, continuous or prismatic"
        )
        return None
    return None if other is None or multiplier is None or offset is None else Mimic(other, multiplier, offset)
