"""What pushes, pulls and turns: loads.

A load is a law on a geometry. Scalar loads act along a *path*, a length or an angle s with rate ds/dt: the force
along it is the law, the generalised forces follow from ds/dq. Wrench loads act at a *frame*: the law gives force and
torque from the motion of that frame. A new kind of load is a new record with one of these two bases and an entry in
the table of kinds; no reader, writer or algorithm changes.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.annotations import Anything, AnyTriple, BodyName, CoordinateName, FrameName, Signal, SignalTriple
from torseur.describe.fields import FrozenDict, Record, Scalar, Triple

__all__ = ["KINDS", "Drag", "Effort", "Load", "Motor", "SpringDamper", "Transmission", "Wrench", "kinds"]


class Load(Record):
    """What all loads share."""

    kind: ClassVar[str]
    """How a model file calls it."""


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
    rest: Scalar = Field(0.0, description="s without force, m or rad")
    damping: Scalar = Field(0.0, description="N s/m or N m s/rad")
    friction: Anything = Field(0.0, description="dry friction level, N or N m, at least 0")


class Effort(PathLoad):
    """A given force along a path: what an ideal actuator does."""

    kind = "effort"
    value: Anything = Field(description="formula of inputs, t, coordinates and speeds, N or N m")


class Transmission(Load):
    """The inertia of a drive seen from its joint (Khalil's IA): adds inertia * acceleration on one coordinate."""

    kind = "transmission"
    coordinate: CoordinateName = Field(description="the driven coordinate")
    inertia: Scalar = Field(description="kg m2 or kg")


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


class Wrench(FrameLoad):
    """What the environment does to a body at a frame, as formulas of inputs, t, coordinates and speeds."""

    kind = "wrench"
    force: AnyTriple = Field((0.0, 0.0, 0.0), description="N")
    torque: AnyTriple = Field((0.0, 0.0, 0.0), description="N m")
    axes: Literal["frame", "world"] = Field("frame", description="whose axes the components are in")


class Drag(FrameLoad):
    """Air drag at a frame: -1/2 density area coefficient |V| V, V the velocity of the frame relative to the wind."""

    kind = "drag"
    coefficient: Scalar = Field(description="of drag, without unit")
    area: Scalar = Field(description="m2")
    density: Scalar = Field(1.225, description="kg/m3")
    wind: SignalTriple = Field((0.0, 0.0, 0.0), description="in world axes, m/s")


def kinds(*loads: type[Load]) -> dict[str, type[Load]]:
    """A table of kinds for a reader."""
    return {load.kind: load for load in loads}


KINDS = kinds(SpringDamper, Effort, Transmission, Motor, Wrench, Drag)
"""The kinds the core knows; packs hand in larger tables."""
