"""From a mechanism to the text of a URDF file.

URDF holds a tree of links with joints of one axis, fixed, planar and free ones, all in numbers; joints that follow
another in a straight line; damping and dry friction of joints; boxes, cylinders, spheres and meshes. Named frames
become links without mass, efforts of inputs are limits of effort. Gravity, starts, outputs and other shapes belong to
other files and are left out; whatever else URDF cannot express is an error, or left out where that is asked for
and something is left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from html import escape

from torseur.describe import (
    BASE,
    WORLD,
    BaseKind,
    Body,
    Coordinate,
    Effort,
    Formula,
    Joint,
    Mechanism,
    Shape,
    SpringDamper,
)
from torseur.describe.evaluation import NoNumber, Numbers, with_numbers
from torseur.describe.fields import Scalar, names_in
from torseur.describe.inertia import CentralInertia, Inertia, ten_parameters
from torseur.formats.files import Names
from torseur.formats.format import Losses
from torseur.formats.urdf.elements import Inertial, JointType, Mimic
from torseur.formats.urdf.markup import one_line
from torseur.formats.urdf.visuals import Origin, place_of
from torseur.spatial.joints import Quantity
from torseur.spatial.pose import Pose
from torseur.spatial.vectors import Matrix

__all__ = ["write_urdf"]

TYPES = {
    "revolute": JointType.REVOLUTE,
    "prismatic": JointType.PRISMATIC,
    "fixed": JointType.FIXED,
    "planar": JointType.PLANAR,
    "free": JointType.FLOATING,
    "free_rpy": JointType.FLOATING,
}
BASES = {BaseKind.FIXED: JointType.FIXED, BaseKind.PLANAR: JointType.PLANAR}
UNLIMITED = 1e9
"""What stands for no limit where URDF demands one."""


def write_urdf(mechanism: Mechanism, losses: Losses | None = None) -> str:
    """The text of a URDF file; a `ModelError` that names everything such a file cannot hold.

    Args:
        mechanism: what to write.
        losses: says whether what cannot be written is left out, and keeps what was.

    >>> from torseur.describe import Body, Joint
    >>> print(write_urdf(Mechanism(name="pendulum", bodies={"bob": Body(joint=Joint(kind="revolute"))})))
    <?xml version="1.0"?>
    <robot name="pendulum">
      <link name="base"/>
      <link name="bob"/>
      <joint name="q_bob" type="continuous">
        <parent link="base"/><child link="bob"/><origin xyz="0.0 0.0 0.0" rpy="0.0 0.0 0.0"/>
        <axis xyz="0 0 1"/>
      </joint>
    </robot>
    """
    writer = _Writer(with_numbers(mechanism), losses or Losses())
    writer.write_all()
    writer.losses.stop_if_refused()
    return "\n".join(writer.lines) + "\n"


class _Writer:
    """Lines of the file, and what it cannot hold."""

    def __init__(self, mechanism: Mechanism, losses: Losses) -> None:
        self.mechanism, self.numbers, self.losses = mechanism, Numbers(mechanism), losses
        self.coordinates = {x.name for x in mechanism.q}
        self.names = Names(self.coordinates)
        self.driven: set[str] = set()
        self.lines: list[str] = []
        self.mimics: dict[str, Mimic] = {}
        self.friction: dict[str, tuple[float, float]] = {}
        base = mechanism.base
        stands_apart = base.kind is not BaseKind.FIXED or bool(base.place.model_fields_set)
        self.has_world = stands_apart or any(body.parent == WORLD for body in mechanism.bodies.values())

    def write_all(self) -> None:
        self._check_rest()
        self._couplings()
        self._loads()
        name = _quoted(one_line(self.mechanism.title or self.mechanism.name))
        self.lines += ['<?xml version="1.0"?>', f"<robot name={name}>"]
        self._base()
        for name, body in self.mechanism.bodies.items():
            with self._in_numbers(f"bodies.{name}"):
                self._body(name, body)
        self.lines.append("</robot>")

    # -- what cannot be written ----------------------------------------------------------------------------------------
    @contextmanager
    def _in_numbers(self, where: str) -> Iterator[None]:
        """What is not a number is a fault of this part of the mechanism."""
        try:
            yield
        except NoNumber as error:
            self.losses.refuse(where, f"URDF holds numbers only: {error}", "give them values")

    def _check_rest(self) -> None:
        mechanism, losses = self.mechanism, self.losses
        for name in mechanism.loops:
            losses.add(f"loops.{name}", "URDF cannot express loops", moves=True)
        for name in mechanism.coordinates:
            losses.refuse(f"coordinates.{name}", "URDF cannot express free-form kinematics")
        if mechanism.base.kind is BaseKind.MOVING:
            losses.refuse("base.kind", "URDF cannot express a base with a given motion")
        elsewhere = {
            "gravity": mechanism.gravity != Mechanism.model_fields["gravity"].default,
            "starts": any(x.start != 0.0 for x in (*mechanism.q, *mechanism.v) if x.quantity is not Quantity.NUMBER),
            "outputs": bool(mechanism.outputs),
        }
        left_out = [name for name, is_there in elsewhere.items() if is_there]
        if left_out:
            losses.note(f"not part of a URDF, to be kept elsewhere: {', '.join(left_out)}")

    def _couplings(self) -> None:
        for name, constraint in self.mechanism.constraints.items():
            coupling = constraint.coupling
            mimic = None if coupling is None else self._mimic_of(coupling.equals)
            if coupling is None or mimic is None:
                text = "URDF expresses no constraint but a joint that follows another one linearly"
                self.losses.add(f"constraints.{name}", text, moves=True)
            else:
                self.mimics[coupling.coordinate] = mimic

    def _mimic_of(self, equals: Scalar) -> Mimic | None:
        leaders = sorted(names_in(equals) - self.numbers.known.keys())
        if not isinstance(equals, Formula) or len(leaders) != 1 or leaders[0] not in self.coordinates:
            return None
        x = (0.0, 1.0, -2.0, 3.0)
        y = [equals.value({**self.numbers.known, leaders[0]: value}) for value in x]
        slope = y[1] - y[0]
        straight = all(abs(y[0] + slope * a - b) <= 1e-9 * (1.0 + abs(b)) for a, b in zip(x, y, strict=True))
        return Mimic(leaders[0], slope, y[0]) if straight else None

    def _loads(self) -> None:
        for name, load in self.mechanism.loads.items():
            coordinate = getattr(load, "coordinate", None)
            if isinstance(load, Effort) and coordinate is not None and str(load.value) in self.mechanism.inputs:
                self.driven.add(coordinate)
                continue
            if not isinstance(load, SpringDamper) or coordinate is None:
                self.losses.add(
                    f"loads.{name}", f"URDF cannot express loads of kind '{load.kind}' as they are", moves=True
                )
                continue
            if load.stiffness != 0.0:
                self.losses.add(f"loads.{name}", "URDF cannot express springs", moves=True)
            with self._in_numbers(f"loads.{name}"):
                damping, friction = self.friction.get(coordinate, (0.0, 0.0))
                more = self.numbers.scalar(load.damping), self.numbers.scalar(load.friction)
                self.friction[coordinate] = (damping + more[0], friction + more[1])

    # -- links ---------------------------------------------------------------------------------------------------------
    def _base(self) -> None:
        """The base is the root; under a link 'world' if it moves in the world or does not sit at its origin."""
        base = self.mechanism.base
        if self.has_world:
            self.lines.append('  <link name="world"/>')
        with self._in_numbers("base"):
            self.numbers.check(base)
            self._link(BASE, base.inertia, base.shapes, Pose.identity(self.numbers.g))
            if self.has_world:
                kind = BASES.get(base.kind, JointType.FLOATING)
                self._joint(self.names.give("world_base"), kind, WORLD, BASE, self.numbers.whole(base.place))
            for name, frame in base.frames.items():
                self._frame(BASE, name, self.numbers.whole(frame.place))

    def _body(self, name: str, body: Body) -> None:
        numbers, kind = self.numbers, TYPES.get(body.joint.kind)
        if kind is None:
            self.losses.refuse(f"bodies.{name}.joint", f"URDF cannot express a {body.joint.kind} joint")
            return
        if names_in(body.place) & self.coordinates:
            self.losses.refuse(f"bodies.{name}.place", "URDF cannot express a place that depends on coordinates")
            return
        numbers.check(body)
        offset = numbers.after(body.place)
        self._link(name, body.inertia, body.shapes, offset)
        pose = self._offset(body.parent) @ numbers.before(body.place)
        own = [x.name for x in self.mechanism.q if x.owner == name]
        if len(own) == 1:
            record = body.joint.coordinates.get(own[0], Coordinate())
            kind, limits = self._limits(kind, record, is_driven=own[0] in self.driven)
            self._joint(own[0], kind, body.parent, name, pose, body.joint, [*limits, *self._extras(own[0])])
        else:
            self._joint(self.names.give(f"{name}_joint"), kind, body.parent, name, pose, body.joint)
        for frame, value in body.frames.items():
            self._frame(name, frame, offset @ numbers.whole(value.place))

    def _offset(self, body: str) -> Pose:
        """Where the body's frame is in the link's: the part of its place that follows the motion."""
        if body in (BASE, WORLD):
            return Pose.identity(self.numbers.g)
        return self.numbers.after(self.mechanism.bodies[body].place)

    def _link(self, name: str, inertia: Inertia | None, shapes: Iterable[Shape], offset: Pose) -> None:
        inside = [] if inertia is None else self._inertial(inertia, offset)
        inside += [line for shape in shapes for line in self._visual(name, shape, offset)]
        begin = f'  <link name="{name}"'
        self.lines += [f"{begin}>", *inside, "  </link>"] if inside else [f"{begin}/>"]

    def _inertial(self, inertia: Inertia, offset: Pose) -> list[str]:
        central = _at_centre(inertia, self.numbers)
        pose = offset @ self.numbers.whole(place_of(central.origin))
        tensor = _attributes(dict(zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), central.tensor, strict=True)))
        return [
            f'    <inertial>{_origin(pose)}<mass value="{central.mass!r}"/>',
            f"      <inertia {tensor}/></inertial>",
        ]

    def _visual(self, name: str, shape: Shape, offset: Pose) -> list[str]:
        form = self._geometry(shape)
        if form is None:
            self.losses.add(f"shapes of {name}", "URDF cannot express cones and lines")
            return []
        colour = "" if shape.colour is None else _material(shape.colour)
        origin = _origin(offset @ self.numbers.whole(shape.place))
        return [f"    <visual>{origin}<geometry>{form}</geometry>{colour}</visual>"]

    def _geometry(self, shape: Shape) -> str | None:
        """The shape, if URDF has its like: a tyre is a cylinder there."""
        number, triple = self.numbers.scalar, self.numbers.triple
        if shape.box is not None:
            return f'<box size="{_spaced(triple(shape.box.size))}"/>'
        if shape.cylinder is not None:
            return f'<cylinder radius="{number(shape.cylinder.radius)!r}" length="{number(shape.cylinder.length)!r}"/>'
        if shape.tyre is not None:
            return f'<cylinder radius="{number(shape.tyre.radius)!r}" length="{number(shape.tyre.width)!r}"/>'
        if shape.sphere is not None:
            return f'<sphere radius="{number(shape.sphere.radius)!r}"/>'
        if shape.mesh is not None:
            return f'<mesh filename={_quoted(shape.mesh.file)} scale="{_spaced(triple(shape.mesh.scale))}"/>'
        return None

    # -- joints --------------------------------------------------------------------------------------------------------
    def _joint(
        self,
        name: str,
        kind: JointType,
        parent: str,
        child: str,
        pose: Pose,
        joint: Joint = Joint(),  # noqa: B008 frozen
        inside: Iterable[str] = (),
    ) -> None:
        direction = " ".join(f"{x:.17g}" for x in self.numbers.triple(joint.direction))
        axis = [f'    <axis xyz="{direction}"/>'] if kind.has_axis else []
        ends = f'    <parent link="{parent}"/><child link="{child}"/>{_origin(pose)}'
        self.lines += [f'  <joint name="{name}" type="{kind.value}">', ends, *axis, *inside, "  </joint>"]

    def _frame(self, body: str, name: str, pose: Pose) -> None:
        """A named frame: a link without mass."""
        self.lines.append(f'  <link name="{name}"/>')
        self._joint(self.names.give(f"{name}_frame"), JointType.FIXED, body, name, pose)

    def _limits(self, kind: JointType, record: Coordinate, *, is_driven: bool) -> tuple[JointType, list[str]]:
        """The type of a joint of one axis, which depends on whether it has stops, and its limits.

        What drives it shows in its limit of effort alone: a joint that nothing drives has none.
        """
        given = {"lower": record.lower, "upper": record.upper}
        if kind is JointType.REVOLUTE and record.lower is None and record.upper is None:
            kind, given = JointType.CONTINUOUS, {}
        effort = record.effort_limit if is_driven or record.effort_limit is not None else 0.0
        given |= {"effort": effort, "velocity": record.speed_limit}
        if kind is JointType.CONTINUOUS and effort == 0.0 and record.speed_limit is None:
            return kind, []
        far = {"lower": -UNLIMITED}
        numbers = {n: far.get(n, UNLIMITED) if v is None else self.numbers.scalar(v) for n, v in given.items()}
        return kind, [f"    <limit {_attributes(numbers)}/>"]

    def _extras(self, coordinate: str) -> Iterator[str]:
        """Losses of a joint, and what it follows."""
        damping, friction = self.friction.get(coordinate, (0.0, 0.0))
        if damping or friction:
            yield f"    <dynamics {_attributes({'damping': damping, 'friction': friction})}/>"
        mimic = self.mimics.get(coordinate)
        if mimic is not None:
            numbers = _attributes({"multiplier": mimic.multiplier, "offset": mimic.offset})
            yield f'    <mimic joint="{mimic.joint}" {numbers}/>'


def _at_centre(inertia: Inertia, numbers: Numbers) -> Inertial:
    """Mass, centre and the tensor at the centre; a moment without mass has none."""
    if isinstance(inertia, CentralInertia):
        t = inertia.tensor
        tensor = tuple(numbers.scalar(entry) for entry in (t.xx, t.xy, t.xz, t.yy, t.yz, t.zz))
        origin = Origin(numbers.triple(inertia.centre), numbers.triple(inertia.rpy))
        return Inertial(origin, numbers.scalar(inertia.mass), tensor)
    numbers.check(inertia)
    *J, mx, my, mz, m = map(float, ten_parameters(inertia, numbers.g, numbers.expr).ten())
    if m == 0.0 and any((*J, mx, my, mz)):
        raise NoNumber("inertia without mass")
    x, y, z = (part / m if m else 0.0 for part in (mx, my, mz))
    carried = (y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y)
    return Inertial(Origin((x, y, z)), m, tuple(whole - m * part for whole, part in zip(J, carried, strict=True)))


def _roll_pitch_yaw(R: Matrix) -> tuple[float, float, float]:
    """The angles of a rotation Rz(yaw) Ry(pitch) Rx(roll); sound at pitch = +-pi/2 too, where they are not unique."""
    r = [[float(entry) for entry in row] for row in R]
    pitch = math.atan2(-r[2][0], math.hypot(r[0][0], r[1][0]))
    yaw = math.atan2(r[1][0], r[0][0])
    s, c = math.sin(yaw), math.cos(yaw)
    roll = math.atan2(s * r[0][2] - c * r[1][2], c * r[1][1] - s * r[0][1])
    return (roll + 0.0, pitch + 0.0, yaw + 0.0)


def _material(colour: str) -> str:
    rgba = " ".join(f"{int(colour[k : k + 2], 16) / 255:.6g}" for k in (1, 3, 5))
    return f'<material name="{colour}"><color rgba="{rgba} 1"/></material>'


def _quoted(text: str) -> str:
    """Text as the value of an attribute."""
    return f'"{escape(text).translate({9: "&#9;", 10: "&#10;", 13: "&#13;"})}"'


def _attributes(values: Mapping[str, float]) -> str:
    return " ".join(f'{name}="{value!r}"' for name, value in values.items())


def _spaced(values: tuple[float, float, float]) -> str:
    return " ".join(f"{value!r}" for value in values)


def _origin(pose: Pose) -> str:
    P = (float(pose.P[0]) + 0.0, float(pose.P[1]) + 0.0, float(pose.P[2]) + 0.0)
    return f'<origin xyz="{_spaced(P)}" rpy="{_spaced(_roll_pitch_yaw(pose.R))}"/>'
