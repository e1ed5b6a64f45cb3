"""Origins, shapes and colours of a URDF file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torseur.describe import Place, RigidPose
from torseur.describe.faults import shown
from torseur.formats.urdf.markup import Element, Report, path_to

__all__ = ["Colours", "Origin", "Visual", "place_of", "read_colours", "read_origin", "read_visual"]

Triple = tuple[float, float, float]

VISUAL = {"elements": "origin geometry material", "attributes": "name group"}
FORMS = {"box": "size", "cylinder": "radius length", "sphere": "radius", "mesh": "filename scale"}
MATERIAL = {"elements": "color texture", "attributes": "name"}


@dataclass(frozen=True)
class Origin:
    """A place in the frame of a link: position, and Rz(yaw) Ry(pitch) Rx(roll)."""

    xyz: Triple = (0.0, 0.0, 0.0)
    rpy: Triple = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Visual:
    """A shape: the fields of the record it becomes, by the name of its form."""

    origin: Origin
    form: str
    fields: dict[str, Any]
    colour: str | None


def place_of(origin: Origin) -> Place:
    """A place as a record, in the simplest words."""
    if any(origin.rpy):
        return Place(pose=RigidPose(position=origin.xyz, rpy=origin.rpy))
    return Place(pose=RigidPose(position=origin.xyz)) if any(origin.xyz) else Place()


def read_origin(parent: Element, path: str, report: Report) -> Origin:
    """The <origin> of an element; the frame itself where there is none."""
    element = report.one(parent, path, "origin")
    if element is None:
        return Origin()
    if "quat_xyzw" in element.attributes:
        report.fault(element, path, "an orientation by quaternion is not read", remedy="give it as rpy")
        return Origin()
    report.allowed(element, path, {"elements": "", "attributes": "xyz rpy"})
    return Origin(report.triple(element, path, "xyz", (0.0, 0.0, 0.0)), report.angles(element, path, "rpy"))


def read_visual(element: Element, path: str, colours: Colours, report: Report) -> Visual | None:
    """A <visual>; none where its geometry is missing or unknown."""
    report.allowed(element, path, VISUAL)
    origin = read_origin(element, path, report)
    geometry = report.one(element, path, "geometry")
    if geometry is None:
        report.fault(element, path, "<visual> without <geometry>")
        return None
    report.allowed(geometry, path, {"elements": " ".join(FORMS), "attributes": ""})
    forms = [child for child in geometry.children if child.tag in FORMS]
    if len(forms) > 1:
        report.fault(
            forms[1], path, "a second shape in one <geometry>", expected="one", remedy="use a <visual> for each"
        )
    if not forms:
        if not geometry.children:
            report.fault(geometry, path, "<geometry> is empty", expected=", ".join(f"<{form}>" for form in FORMS))
        return None
    fields = _form(forms[0], path, report)
    return None if fields is None else Visual(origin, forms[0].tag, fields, _colour_of(element, path, colours, report))


def _form(element: Element, path: str, report: Report) -> dict[str, Any] | None:
    report.allowed(element, path, {"elements": "", "attributes": FORMS[element.tag]})
    if element.tag == "mesh":
        file = report.text(element, path, "filename")
        return None if file is None else {"file": file, "scale": report.triple(element, path, "scale", (1.0, 1.0, 1.0))}
    if element.tag == "box":
        if report.text(element, path, "size") is None:
            return None
        size = report.triple(element, path, "size", (1.0, 1.0, 1.0))
        return {"size": size} if _positive(element, path, "size", min(size), report) else None
    sizes: dict[str, float] = {}
    for name in FORMS[element.tag].split():
        value = report.number(element, path, name) if report.text(element, path, name) is not None else None
        if value is not None and _positive(element, path, name, value, report):
            sizes[name] = value
    return sizes if len(sizes) == len(FORMS[element.tag].split()) else None


def _positive(element: Element, path: str, name: str, value: float, report: Report) -> bool:
    if value < 0.0:
        report.fault(element, path, f"'{name}' of <{element.tag}> is negative", got=f"{value!r}")
    return value >= 0.0


# -- colours -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Colours:
    """Colours as #rrggbb: by the name of the material, and by the element that defines one itself."""

    named: dict[str, str]
    own: dict[Element, str]


def read_colours(root: Element, report: Report) -> Colours:
    """The colours of the whole file: a name may be defined in one place and used in another."""
    inside = (m for link in root.all("link") for visual in link.all("visual") for m in visual.all("material"))
    colours = Colours({}, {})
    for material in [*root.all("material"), *inside]:
        name = material.attributes.get("name", "")
        path = path_to("material", name)
        report.allowed(material, path, MATERIAL)
        colour = _colour(material, path, report)
        if colour is not None:
            colours.own[material] = colour
            colours.named.setdefault(name, colour)
    return colours


def _colour_of(visual: Element, path: str, colours: Colours, report: Report) -> str | None:
    material = report.one(visual, path, "material")
    if material is None or material in colours.own:
        return None if material is None else colours.own[material]
    name = material.attributes.get("name", "")
    if name not in colours.named and not any(material.all("texture")):
        report.group("materials without a colour", shown(name))
    return colours.named.get(name)


def _colour(material: Element, path: str, report: Report) -> str | None:
    if any(material.all("texture")):
        report.group("textures, left out", path)
    colour = report.one(material, path, "color")
    if colour is None:
        return None
    report.allowed(colour, path, {"elements": "", "attributes": "rgba"})
    text = report.text(colour, path, "rgba")
    values = None if text is None else report.numbers(colour, path, "rgba", text, 4)
    if values is None:
        return None
    if not all(0.0 <= value <= 1.0 for value in values):
        report.fault(
            colour, path, "'rgba' of <color> is out of range", expected="4 numbers from 0 to 1", got=shown(text)
        )
        return None
    if values[3] != 1.0:
        report.group("transparency of colours, left out", path)
    return "#" + "".join(f"{round(255 * part):02x}" for part in values[:3])
