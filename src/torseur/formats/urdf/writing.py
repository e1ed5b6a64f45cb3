"""From a mechanism to the text of a URDF file.

URDF holds a tree of links with joints of one axis, fixed, planar and free ones, all in numbers; joints that follow
another linearly; damping and dry friction of joints; boxes, cylinders, spheres and meshes. Named frames become links
without mass. Gravity, starts, inputs, outputs and other shapes belong to other files and are left out; anything else
that URDF cannot hold is an error that names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import quoteattr

from torseur.describe import BASE, WORLD, BaseKind, Body, Coordinate, Mechanism, Shape, SpringDamper
from torseur.describe.fields import Scalar, names_in
from torseur.describe.inertia import Inertia
from torseur.errors import ModelError
from torseur.formats.urdf.elements import Mimic
from torseur.formats.urdf.numbers import NoNumber, Numbers
from torseur.formats.urdf.turning import roll_pitch_yaw
from torseur.spatial.pose import Pose

__all__ = ["write_urdf"]

TYPES = {"revolute": "revolute", "prismatic": "prismatic", "fixed": "fixed", "planar": "planar", "free": "floating"}
TYPES["free_rpy"] = "floating"
UNLIMITED = 1e9
"""What stands for no limit where URDF demands one."""


def write_urdf(mechanism: Mechanism) -> str:
    """The text of a URDF file; a `ModelError` that names everything such a file cannot hold."""
    return _Writer(mechanism).text()


class _Writer:
    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, self.numbers = mechanism, Numbers(mechanism)
        self.faults: list[ModelError] = []
        self.lines: list[str] = []
        self.mimics: dict[str, Mimic] = {}
        self.losses: dict[str, tuple[float, float]] = {}
        self.offsets: dict[str, Pose] = {}
        """Where the body's frame is in the link's."""

    def text(self) -> str:
        self._check_rest()
        name = quoteattr(self.mechanism.title or self.mechanism.name)
        self.lines += ['<?xml version="1.0"?>', f"<robot name={name}>"]
        self._root()
        for body, record in self.mechanism.bodies.items():
            self._attempt(f"bodies.{body}", lambda body=body, record=record: self._body(body, record))
        if self.faults:
            raise ModelError.of(self.faults)
        return "\n".join([*self.lines, "</robot>\n"])

    # -- what cannot be held -------------------------------------------------------------------------------------------
    def _fault(self, where: str, what: str) -> None:
        self.faults.append(ModelError(what, where=where, remedy="write .yaml, which holds every mechanism"))

    def _attempt(self, where: str, step: object) -> None:
        try:
            step()  # type: ignore[operator]
        except NoNumber as error:
            self._fault(where, f"URDF holds numbers only: {error}")

    def _check_rest(self) -> None:
        m = self.mechanism
        for name in m.loops:
            self._fault(f"loops.{name}", "URDF cannot hold loops")
        for name in m.coordinates:
            self._fault(f"coordinates.{name}", "URDF cannot hold free-form kinematics")
        if m.base.kind is BaseKind.MOVING:
            self._fault("base.kind", "URDF cannot hold a base with a given motion")
        for name, constraint in m.constraints.items():
            where = f"constraints.{name}"
            coupling = constraint.coupling
            if coupling is None:
                self._fault(where, "URDF cannot hold constraints other than a joint that follows another")
            else:
                self._attempt(where, lambda c=coupling, w=where: self._follow(w, c.coordinate, c.equals))
        for name, load in m.loads.items():
            plain = isinstance(load, SpringDamper) and load.coordinate is not None and load.stiffness == 0.0
            if plain and isinstance(load, SpringDamper):
                self._attempt(f"loads.{name}", lambda load=load: self._lose(load))
            else:
                self._fault(f"loads.{name}", "URDF cannot hold loads other than damping and dry friction of a joint")

    def _follow(self, where: str, follower: str, equals: Scalar) -> None:
        """Take a coupling as a mimic, if it is linear in one coordinate."""
        leaders = sorted(names_in(equals) - self.numbers.known.keys())
        if len(leaders) != 1 or leaders[0] not in {x.name for x in self.mechanism.q}:
            self._fault(where, "URDF cannot hold a joint that follows several others, or none")
            return
        at = [equals.value({**self.numbers.known, leaders[0]: x}) for x in (0.0, 1.0, -2.0, 3.0)]  # type: ignore[union-attr]
        slope = at[1] - at[0]
        if any(abs(at[0] + slope * x - y) > 1e-9 * (1.0 + abs(y)) for x, y in ((-2.0, at[2]), (3.0, at[3]))):
            self._fault(where, "URDF cannot hold a joint that follows another in other than a straight line")
            return
        self.mimics[follower] = Mimic(leaders[0], slope, at[0])

    def _lose(self, load: SpringDamper) -> None:
        damping, friction = self.losses.get(load.coordinate or "", (0.0, 0.0))
        more = self.numbers.scalar(load.damping), self.numbers.scalar(load.friction)
        self.losses[load.coordinate or ""] = (damping + more[0], friction + more[1])

    # -- links ---------------------------------------------------------------------------------------------------------
    def _root(self) -> None:
        """The base is the root; under a link 'world' if it moves in the world, or does not sit at its origin."""
        base, identity = self.mechanism.base, Pose.identity(self.numbers.g)
        self.offsets = {WORLD: identity, BASE: identity}
        apart = base.kind is not BaseKind.FIXED or base.place.model_fields_set
        apart = apart or any(body.parent == WORLD for body in self.mechanism.bodies.values())
        if apart:
            self.lines.append('  <link name="world"/>')
        self._attempt("base", lambda: self._link(BASE, base.inertia, base.shapes, identity))
        kinds = {BaseKind.FIXED: "fixed", BaseKind.PLANAR: "planar"}
        if apart:
            self._attempt("base.place", lambda: self._base_joint(kinds.get(base.kind, "floating")))
        for name, frame in base.frames.items():
            self._attempt(f"base.frames.{name}", lambda n=name, p=frame.place: self._frame(BASE, n, self.numbers.whole(p)))

    def _base_joint(self, kind: str) -> None:
        self._joint("world_base", kind, WORLD, BASE, self.numbers.whole(self.mechanism.base.place), [])

    def _body(self, name: str, body: Body) -> None:
        numbers, kind = self.numbers, TYPES.get(body.joint.kind)
        if kind is None:
            self._fault(f"bodies.{name}.joint", f"URDF cannot hold a {body.joint.kind} joint")
            return
        if names_in(body.place) & {x.name for x in self.mechanism.q}:
            self._fault(f"bodies.{name}.place", "URDF cannot hold a place that depends on coordinates")
            return
        offset = self.offsets[name] = numbers.after(body.place)
        self._link(name, body.inertia, body.shapes, offset)
        coordinates = [x.name for x in self.mechanism.q if x.owner == name]
        record = next(iter(body.joint.coordinates.values()), Coordinate())
        joint, limits = (coordinates[0], self._limits(record, kind)) if len(coordinates) == 1 else (f"{name}_joint", [])
        kind = "continuous" if kind == "revolute" and not limits else kind
        inside = [*limits, *self._losses(joint), *self._mimic(joint)]
        self._joint(joint, kind, body.parent, name, self._seen(body.parent) * numbers.before(body.place), inside)
        for frame, value in body.frames.items():
            self._frame(name, frame, offset * numbers.whole(value.place))

    def _seen(self, parent: str) -> Pose:
        return self.offsets.get(parent) or self.numbers.after(self.mechanism.bodies[parent].place)

    def _link(self, name: str, inertia: Inertia | None, shapes: tuple[Shape, ...], offset: Pose) -> None:
        inside = [*self._inertial(inertia, offset), *(line for shape in shapes for line in self._visual(shape, offset))]
        if inside:
            self.lines += [f'  <link name="{name}">', *inside, "  </link>"]
        else:
            self.lines.append(f'  <link name="{name}"/>')

    def _inertial(self, inertia: Inertia | None, offset: Pose) -> Iterator[str]:
        if inertia is None:
            return
        found = self.numbers.inertial(inertia)
        pose = offset * Pose(self.numbers.turned(found.origin.rpy), self.numbers.vector(found.origin.xyz))
        entries = zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), found.tensor, strict=True)
        yield f'    <inertial>{_origin(pose)}<mass value="{found.mass!r}"/>'
        yield f"      <inertia {' '.join(f'{name}="{value!r}"' for name, value in entries)}/></inertial>"

    def _visual(self, shape: Shape, offset: Pose) -> Iterator[str]:
        number = self.numbers.scalar
        if shape.box is not None:
            form = f'<box size="{_spaced(self.numbers.triple(shape.box.size))}"/>'
        elif shape.cylinder is not None:
            form = f'<cylinder radius="{number(shape.cylinder.radius)!r}" length="{number(shape.cylinder.length)!r}"/>'
        elif shape.tyre is not None:
            form = f'<cylinder radius="{number(shape.tyre.radius)!r}" length="{number(shape.tyre.width)!r}"/>'
        elif shape.sphere is not None:
            form = f'<sphere radius="{number(shape.sphere.radius)!r}"/>'
        elif shape.mesh is not None:
            form = f'<mesh filename={quoteattr(shape.mesh.file)} scale="{_spaced(self.numbers.triple(shape.mesh.scale))}"/>'
        else:
            return
        colour = ""
        if shape.colour is not None:
            parts = [int(shape.colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
            rgba = " ".join(f"{part:.6g}" for part in (*parts, 1.0))
            colour = f'<material name="{shape.colour}"><color rgba="{rgba}"/></material>'
        origin = _origin(offset * self.numbers.whole(shape.place))
        yield f"    <visual>{origin}<geometry>{form}</geometry>{colour}</visual>"

    # -- joints --------------------------------------------------------------------------------------------------------
    def _joint(self, name: str, kind: str, parent: str, child: str, pose: Pose, inside: list[str]) -> None:
        axis = [] if kind in ("fixed", "floating") else ['    <axis xyz="0 0 1"/>']
        parent = BASE if parent == WORLD and '  <link name="world"/>' not in self.lines else parent
        ends = f'    <parent link="{parent}"/><child link="{child}"/>{_origin(pose)}'
        self.lines += [f'  <joint name="{name}" type="{kind}">', ends, *axis, *inside, "  </joint>"]

    def _frame(self, body: str, name: str, pose: Pose) -> None:
        self.lines.append(f'  <link name="{name}"/>')
        self._joint(f"{name}_frame", "fixed", body, name, pose, [])

    def _limits(self, record: Coordinate, kind: str) -> list[str]:
        given = (record.lower, record.upper, record.effort_limit, record.speed_limit)
        if kind not in ("revolute", "prismatic") or (kind == "revolute" and all(value is None for value in given)):
            return []
        lower, upper, effort, velocity = (None if value is None else self.numbers.scalar(value) for value in given)
        if (lower is None) != (upper is None) or (kind == "revolute" and lower is None):
            far = UNLIMITED if kind == "prismatic" else UNLIMITED
            lower, upper = -far if lower is None else lower, far if upper is None else upper
        words = {"lower": lower, "upper": upper, "effort": effort, "velocity": velocity}
        defaults = {"lower": -UNLIMITED, "upper": UNLIMITED, "effort": UNLIMITED, "velocity": UNLIMITED}
        text = " ".join(f'{name}="{defaults[name] if value is None else value!r}"' for name, value in words.items())
        return [f"    <limit {text}/>"]

    def _losses(self, joint: str) -> list[str]:
        damping, friction = self.losses.get(joint, (0.0, 0.0))
        return [f'    <dynamics damping="{damping!r}" friction="{friction!r}"/>'] if damping or friction else []

    def _mimic(self, joint: str) -> list[str]:
        found = self.mimics.get(joint)
        if found is None:
            return []
        return [f'    <mimic joint="{found.joint}" multiplier="{found.multiplier!r}" offset="{found.offset!r}"/>']


def _spaced(values: tuple[float, float, float]) -> str:
    return " ".join(f"{value!r}" for value in values)


def _origin(pose: Pose) -> str:
    P = (float(pose.P[0]) + 0.0, float(pose.P[1]) + 0.0, float(pose.P[2]) + 0.0)
    return f'<origin xyz="{_spaced(P)}" rpy="{_spaced(roll_pitch_yaw(pose.R))}"/>'
