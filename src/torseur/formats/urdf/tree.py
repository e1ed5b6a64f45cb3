"""The links of a URDF file as a tree: one root, every other link the child of one joint."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from torseur.describe.faults import listed, shown
from torseur.formats.urdf.elements import OTHERS, Robot, UrdfJoint
from torseur.formats.urdf.markup import Element
from torseur.formats.urdf.report import Report, path_to

__all__ = ["check_is_urdf", "check_mimics", "root_of"]

MACRO = re.compile(r"\$\{|\$\(")
OTHER_FORMATS = {
    "sdf": "this is SDF, the description of Gazebo's worlds",
    "mujoco": "this is MJCF, the description of MuJoCo's models",
    "robots": "a file with several robots",
}


def check_is_urdf(root: Element, report: Report) -> None:
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
    return next((found for found in inside if found is not None), None)


def root_of(robot: Robot, report: Report) -> str | None:
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
        report.fault(element, "", "links that carry each other in a circle", got=listed(map(shown, circle)))
    return roots[0] if len(roots) == 1 else None


def check_mimics(robot: Robot, report: Report) -> None:
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
        report.fault(element, "", "joints that follow each other in a circle", got=listed(map(shown, circle)))


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
