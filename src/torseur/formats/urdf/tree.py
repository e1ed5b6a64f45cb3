"""The links of a URDF file as a tree: one root, every other link the child of one joint."""

from __future__ import annotations

import re

from torseur.formats.faults import FileFault, nearest, shown
from torseur.formats.urdf.elements import OTHERS, Robot, UrdfJoint
from torseur.formats.urdf.markup import Element
from torseur.formats.urdf.report import Report, listed

__all__ = ["check_is_urdf", "check_mimics", "root_of"]

MACRO = re.compile(r"\$\{|\$\(")
OTHER_FORMATS = {
    "sdf": "this is SDF, the description of Gazebo's worlds",
    "mujoco": "this is MJCF, the description of MuJoCo's models",
    "robots": "a file with several robots",
}


def check_is_urdf(root: Element, where: str) -> None:
    """Refuse XML of another kind, and xacro, which is a program that writes URDF."""
    macro = _macro(root)
    if macro is not None:
        raise FileFault(
            "this is xacro, a macro language that produces URDF, not URDF itself",
            where=f"{where}:{macro.line}:{macro.column}: <{macro.tag[:60]}>",
            remedy="expand it first, where its packages are installed: xacro robot.urdf.xacro > robot.urdf",
        )
    if root.tag != "robot":
        what = OTHER_FORMATS.get(root.tag, "this XML is not URDF")
        raise FileFault(what, where=f"{where}:{root.line}:{root.column}", expected="<robot>", got=f"<{root.tag[:60]}>")


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
        path = f"joint {joint.name[:60]}"
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in robot.links:
                close = nearest(link, robot.links)
                remedy = None if close is None else f"did you mean {shown(close)}?"
                report.fault(joint.element, path, f"no {role} link {shown(link)}", remedy=remedy)
        if joint.child in carried_by:
            report.fault(
                joint.element,
                path,
                f"link {shown(joint.child)} is carried by two joints",
                expected="a tree: each link is the child of one joint",
                got=f"also the child of joint {shown(carried_by[joint.child].name)}",
                remedy="a mechanism with loops can be written in our own format, with the joint that closes it under 'loops'",
            )
        carried_by.setdefault(joint.child, joint)
    roots = [name for name in robot.links if name not in carried_by]
    if len(roots) > 1:
        second = robot.links[roots[1]].element
        got = listed(shown(name) for name in roots)
        report.fault(second, "", "several links without a parent", expected="one root", got=got)
    _find_circles(robot, carried_by, report)
    return roots[0] if len(roots) == 1 else None


def _find_circles(robot: Robot, carried_by: dict[str, UrdfJoint], report: Report) -> None:
    """Links from which the way up never ends."""
    settled: set[str] = set()
    for name in robot.links:
        way: dict[str, None] = {}
        link = name
        while link in carried_by and link not in settled and link not in way:
            way[link] = None
            link = carried_by[link].parent
        if link in way:
            circle = list(way)[list(way).index(link) :]
            got = listed(shown(member) for member in reversed(circle))
            report.fault(carried_by[link].element, "", "links that carry each other in a circle", got=got)
        settled |= way.keys()


def check_mimics(robot: Robot, report: Report) -> None:
    """Every joint that follows another must find it, and not follow itself."""
    for joint in robot.joints.values():
        if joint.mimic is None:
            continue
        path, seen = f"joint {joint.name[:60]}", {joint.name}
        followed = robot.joints.get(joint.mimic.joint)
        if followed is None or not followed.type.is_scalar:
            what = f"it follows {shown(joint.mimic.joint)}, " + ("which does not exist" if followed is None else "which has no coordinate")
            close = nearest(joint.mimic.joint, (n for n, j in robot.joints.items() if j.type.is_scalar and n != joint.name))
            report.fault(joint.element, path, what, remedy=None if close is None else f"did you mean {shown(close)}?")
        while followed is not None and followed.name not in seen and followed.mimic is not None:
            seen.add(followed.name)
            followed = robot.joints.get(followed.mimic.joint)
        if followed is not None and followed.name == joint.name:
            report.fault(joint.element, path, "it follows itself", got=listed(shown(name) for name in sorted(seen)))
