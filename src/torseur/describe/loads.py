"""What pushes, pulls and turns: loads, each kind with its data and its law.

A load is a law on a geometry. Scalar loads act along a *path*, a length or an angle s with rate ds/dt: the force
along it is the law, the generalised forces follow from ds/dq. Wrench loads act at a *frame*: the law gives force and
torque from the motion of that frame. A new kind of load is a subclass with a `kind` and a law, `act`; no reader, writer
or algorithm changes. Packages offer theirs as `torseur.extensions` says.

The law of a load is written on expressions and asks a `LoadContext` for what it needs: the frames' motion, the length
of a path, a normal force. Loads do not depend on accelerations; the inertia of rotors is in the tree.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Protocol, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.annotations import Anything, AnyTriple, BodyName, CoordinateName, FrameName, Signal, SignalTriple
from torseur.describe.fields import FrozenDict, Record, Scalar, Triple
from torseur.extensions import Kinds
from torseur.graph import Expr, Graph, absolute, select, sqrt
from torseur.spatial.pose import Pose
from torseur.spatial.vectors import Vector, dot

__all__ = [
    "KINDS",
    "Drag",
    "Effort",
    "FrameLoad",
    "FrameMotion",
    "Load",
    "LoadContext",
    "LoadResult",
    "Motor",
    "PathLoad",
    "SpringDamper",
    "Transmission",
    "WheelMotion",
    "Wrench",
    "kinds",
]


class FrameMotion(Protocol):
    """A frame in motion."""

    @property
    def pose(self) -> Pose:
        """In the world."""

    @property
    def V(self) -> Vector:
        """Velocity of its origin, in its own axes, m/s."""

    @property
    def w(self) -> Vector:
        """Angular velocity, in its own axes, rad/s."""


class WheelMotion(Protocol):
    """A wheel on its road: see `torseur.dynamics`. Directions and velocities in the axes of the road's frame."""

    @property
    def axle(self) -> Vector:
        """Unit vector along the axle, to the left of the way the wheel rolls."""

    @property
    def normal(self) -> Vector:
        """Unit normal of the road at the point of contact."""

    @property
    def ahead(self) -> Vector:
        """Unit vector along the trace of the wheel's plane on the road."""

    @property
    def velocity(self) -> tuple[Expr, Expr]:
        """Of the point of contact, which does not turn with the wheel: ahead and to the left, m/s."""

    @property
    def spin(self) -> Expr:
        """Angular velocity about the axle, rad/s; positive rolls ahead."""

    @property
    def radius(self) -> Expr:
        """Distance from the centre to the point of contact, m."""

    @property
    def camber(self) -> Expr:
        """Inclination of the wheel's plane about the direction ahead, rad; positive leans to the right."""

    @property
    def load(self) -> Expr:
        """Normal force, N, at least 0."""

    @property
    def adherence(self) -> Expr:
        """Of the road there: what friction is multiplied by."""


class LoadContext(ABC):
    """What the law of a load may ask, and where it leaves its forces."""

    graph: Graph

    @abstractmethod
    def scalar(self, value: Scalar) -> Expr:
        """A number or formula as an expression."""

    @abstractmethod
    def vector(self, value: Triple) -> Vector: ...

    @abstractmethod
    def frame(self, name: str) -> FrameMotion:
        """Pose and velocity of a body's frame or a named one."""

    @abstractmethod
    def path(self, load: PathLoad) -> tuple[Expr, Expr]:
        """The length (or angle) of a load's path, and its rate."""

    @abstractmethod
    def speed(self, coordinate: str) -> Expr:
        """The rate of a coordinate that is a speed itself."""

    @abstractmethod
    def input(self, name: str) -> Expr:
        """The value of an input of the mechanism."""

    @abstractmethod
    def rate(self, value: Expr) -> Expr:
        """The time derivative of an expression of coordinates and time."""

    @abstractmethod
    def wheel(self, constraint: str) -> WheelMotion:
        """A wheel on its road, by the name of its rolling constraint."""

    @abstractmethod
    def friction(self, level: Expr, rate: Expr) -> Expr:
        """The force of dry friction of a level against a rate, by the law that whoever solves has chosen."""

    @abstractmethod
    def push(self, coordinate: str, force: Expr) -> None:
        """A force along a coordinate."""

    @abstractmethod
    def pull(self, load: PathLoad, force: Expr) -> None:
        """A force along a path: positive makes it longer."""

    @abstractmethod
    def apply(self, frame: str, force: Vector, torque: Vector) -> None:
        """A wrench at a frame's origin, in its axes."""

    @abstractmethod
    def apply_at_wheel(self, constraint: str, force: Vector, torque: Vector) -> None:
        """What the road does to a wheel at the point of contact: components ahead, to the left and along the normal."""


@dataclass(frozen=True)
class LoadResult:
    """Something that a load computes on its way: recorded, and known to formulas of a study as LOAD_KEY."""

    value: Expr
    unit: str
    meaning: str


class Load(Record):
    """What all loads share."""

    kind: ClassVar[str]
    """How a model file calls it."""

    @abstractmethod
    def act(self, on: LoadContext) -> None:
        """Leave the forces of the load in a context."""

    def energy(self, on: LoadContext) -> Expr | None:
        """What the load has stored, J, as a function of coordinates and parameters; None if it stores nothing."""
        return None

    def energy_rate(self, on: LoadContext) -> Expr | None:
        """The rate of what it has stored, W."""
        stored = self.energy(on)
        return None if stored is None else on.rate(stored)

    @property
    def without_energy(self) -> Load | None:
        """The same load less the forces of its energy; None if these cannot be told apart."""
        return None

    def rates(self, on: LoadContext) -> Mapping[str, Expr]:
        """First-order states of the load: input of the mechanism -> its rate. A simulation integrates them."""
        return {}

    result_keys: ClassVar[tuple[str, ...]] = ()
    """The keys of `results`."""

    def results(self, on: LoadContext) -> Mapping[str, LoadResult]:
        """What is worth recording, by key."""
        return {}

    @property
    def wheels(self) -> tuple[str, ...]:
        """The rolling constraints whose normal forces it depends on."""
        return ()

    @property
    def wheel_radii(self) -> Mapping[str, Scalar]:
        """Rolling constraint -> radius of the wheel that the data of the load are of, m, where they say it."""
        return {}

    @property
    def states(self) -> tuple[str, ...]:
        """The inputs that `rates` gives rates to."""
        return ()


class PathLoad(Load):
    """A load along a path: exactly one of the three says which."""

    coordinate: CoordinateName | None = Field(None, description="the path is a coordinate")
    between: tuple[FrameName, FrameName] | None = Field(
        None, description="the path is the distance between two frames' origins"
    )
    combination: Annotated[dict[CoordinateName, Scalar], AfterValidator(FrozenDict)] | None = Field(
        None, description="the path is a sum of coordinates times factors"
    )

    @model_validator(mode="after")
    def _one_path(self) -> Self:
        forms = ("coordinate", "between", "combination")
        given = [n for n in forms if getattr(self, n) is not None]
        if len(given) != 1:
            text = "give exactly one of {fields}; got {got}"
            raise PydanticCustomError("choice", text, {"fields": ", ".join(forms), "got": ", ".join(given) or "none"})
        return self


class FrameLoad(Load):
    """A load that acts at the origin of a frame."""

    frame: FrameName = Field(description="body or named frame")


class SpringDamper(PathLoad):
    """Spring, damper and dry friction on one path: force = -stiffness (s - rest) - damping ds/dt - friction
    sign(ds/dt).

    On a coordinate: joint spring, damper, friction. Between frames: a strut. On a difference: an anti-roll bar.
    """

    kind = "spring"
    stiffness: Scalar = Field(0.0, description="N/m or N m/rad")
    rest: Scalar = Field(0.0, description="length or angle without force, m or rad")
    damping: Scalar = Field(0.0, description="N s/m or N m s/rad")
    friction: Anything = Field(0.0, description="dry friction level, N or N m, at least 0")

    def act(self, on: LoadContext) -> None:
        k, rest, c, dry = (on.scalar(x) for x in (self.stiffness, self.rest, self.damping, self.friction))
        s, rate = on.path(self)
        force = -(k * (s - rest) + c * rate)
        on.pull(self, force if dry is on.graph.zero else force + on.friction(dry, rate))

    def energy(self, on: LoadContext) -> Expr:
        """1/2 k (s - rest)^2."""
        stretch = on.path(self)[0] - on.scalar(self.rest)
        return 0.5 * on.scalar(self.stiffness) * stretch * stretch

    def energy_rate(self, on: LoadContext) -> Expr:
        s, rate = on.path(self)
        return on.scalar(self.stiffness) * (s - on.scalar(self.rest)) * rate

    @property
    def without_energy(self) -> Load:
        return self.model_copy(update={"stiffness": 0.0})


class Effort(PathLoad):
    """A given force along a path: what an ideal actuator does."""

    kind = "effort"
    value: Anything = Field(description="formula of inputs, t, coordinates and speeds, N or N m")

    def act(self, on: LoadContext) -> None:
        on.pull(self, on.scalar(self.value))


class Transmission(Load):
    """The inertia of a drive seen from its joint (Khalil's IA): adds inertia * acceleration on one coordinate."""

    kind = "transmission"
    coordinate: CoordinateName = Field(description="the driven coordinate")
    inertia: Scalar = Field(description="kg m2 or kg")

    def act(self, on: LoadContext) -> None:
        """Nothing: it acts through accelerations."""


class Motor(Load):
    """A motor with rotor and gear (Llibre, Mampey & Chretien 1983).

    The rotor sits on a body, turns about an axis fixed in it and drives a coordinate through a gear: rotor angle =
    ratio times coordinate. Its mass and its inertia at rest belong to the carrying body.
    """

    kind = "motor"
    coordinate: CoordinateName = Field(description="the driven coordinate")
    carrier: BodyName | None = Field(
        None, description="body that carries the motor; by default the parent of the joint"
    )
    axis: Triple = Field((0.0, 0.0, 1.0), description="direction of the rotor in the carrier's axes, any length")
    ratio: Scalar = Field(1.0, description="rotor turns per turn of the joint (rad/m for a slide)")
    inertia: Scalar = Field(0.0, description="of the rotor about its axis, kg m2")
    inertia_across: Scalar = Field(0.0, description="of the rotor across its axis, kg m2")
    torque: Signal = Field(0.0, description="on the rotor: formula of inputs and t, N m")
    motor_damping: Scalar = Field(0.0, description="viscous friction on the motor shaft, N m s/rad")
    motor_friction: Anything = Field(0.0, description="dry friction on the motor shaft, N m")
    joint_damping: Scalar = Field(0.0, description="viscous friction on the joint shaft, N m s/rad or N s/m")
    joint_friction: Anything = Field(0.0, description="dry friction on the joint shaft, N m or N")

    def act(self, on: LoadContext) -> None:
        """ratio times what is left of the torque after the motor's own friction, less the joint's friction (II)."""
        v, ratio = on.speed(self.coordinate), on.scalar(self.ratio)
        shaft = on.scalar(self.torque) - on.scalar(self.motor_damping) * ratio * v
        force = ratio * shaft - on.scalar(self.joint_damping) * v
        dry = absolute(ratio) * on.scalar(self.motor_friction) + on.scalar(self.joint_friction)
        on.push(self.coordinate, force if dry is on.graph.zero else force + on.friction(dry, v))


class Wrench(FrameLoad):
    """What the environment does to a body at a frame, as formulas of inputs, t, coordinates and speeds."""

    kind = "wrench"
    force: AnyTriple = Field((0.0, 0.0, 0.0), description="N")
    torque: AnyTriple = Field((0.0, 0.0, 0.0), description="N m")
    axes: Literal["frame", "world"] = Field("frame", description="whose axes the components are in")

    def act(self, on: LoadContext) -> None:
        force, torque = on.vector(self.force), on.vector(self.torque)
        if self.axes == "world":
            R = on.frame(self.frame).pose.R
            force, torque = R.T @ force, R.T @ torque
        on.apply(self.frame, force, torque)


class Drag(FrameLoad):
    """Air drag at a frame: -1/2 density area coefficient |V| V, V the velocity of the frame relative to the wind."""

    kind = "drag"
    coefficient: Scalar = Field(description="of drag, without unit")
    area: Scalar = Field(description="m2")
    density: Scalar = Field(1.225, description="kg/m3")
    wind: SignalTriple = Field((0.0, 0.0, 0.0), description="in world axes, m/s")

    def act(self, on: LoadContext) -> None:
        frame = on.frame(self.frame)
        V = frame.V - frame.pose.R.T @ on.vector(self.wind)
        factor = -0.5 * on.scalar(self.density) * on.scalar(self.area) * on.scalar(self.coefficient)
        square = dot(V, V)
        moves = square > 0.0
        speed = select(moves, sqrt(select(moves, square, 1.0)), 0.0)  # whose derivatives exist at rest
        on.apply(self.frame, (factor * speed) * V, Vector.zero(on.graph))


def kinds(*loads: type[Load]) -> dict[str, type[Load]]:
    """A table of kinds for a reader."""
    return {load.kind: load for load in loads}


KINDS: Kinds[type[Load]] = Kinds("loads", kinds(SpringDamper, Effort, Transmission, Motor, Wrench, Drag))
"""The kinds of the core, and those of extensions."""
