"""What a vehicle file says: chassis, axles, steering, drive, brakes, air, payload, road.

x forward, y left, z up. The chassis is the base of the tree and its frame has its origin at `height` above the road at
rest. Everything named here becomes bodies, constraints and loads of an ordinary model: see `expansion`.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.annotations import Anything, KindOf, Positional, SignalTriple
from torseur.describe.bodies import Body, Frame, Road, Shape
from torseur.describe.constraints import Constraint, Loop
from torseur.describe.fields import FrozenDict, Name, Number, Record, Scalar, Table, Triple
from torseur.describe.inertia import Inertia
from torseur.describe.loads import KINDS as LOADS
from torseur.describe.loads import Load
from torseur.describe.mechanism import Input, LookupTable, NamedQuantity, Output, Parameter
from torseur.packs.roads import KINDS as ROADS
from torseur.packs.roads import RoadKind
from torseur.packs.tyres import LAWS, TyreLaw

__all__ = [
    "Aero",
    "Axle",
    "BumpStop",
    "Chassis",
    "Column",
    "Drive",
    "Gearbox",
    "Motor",
    "OwnSuspension",
    "OwnTyre",
    "Parts",
    "Payload",
    "Rigid",
    "Steering",
    "Strut",
    "Suspension",
    "TirFile",
    "Vehicle",
    "Wheel",
]


class Chassis(Record):
    """The sprung body."""

    inertia: Inertia = Field(description="of the chassis alone, in its own frame")
    height: Scalar = Field(description="of the origin of its frame above the road at rest, m")
    shapes: tuple[Shape, ...] = Field((), description="shapes, for pictures only")
    frames: Table[Frame] = Field(FrozenDict(), description="named frames on it, such as the place of a sensor")
    motion: Literal["free", "planar"] = Field(
        "free", description="free: all six degrees of freedom; planar: x, y and yaw over a flat road, given wheel loads"
    )


class Wheel(Record):
    """One wheel with its tyre; the same on both sides of an axle."""

    radius: Scalar = Field(description="m; with a stiffness, that of the free tyre")
    width: Scalar = Field(0.2, description="to draw, m")
    mass: Scalar = Field(0.0, description="kg")
    spin_inertia: Scalar = Field(description="about the axle, kg m2")
    tilt_inertia: Scalar = Field(0.0, description="about a diameter, kg m2")
    crown: Scalar = Field(0.0, description="radius of the tread's cross-section, m: 0 is a disc")
    stiffness: Scalar | None = Field(None, description="vertical, N/m; by default the contact is rigid")
    damping: Scalar = Field(0.0, description="vertical, N s/m")
    contact: Literal["lowest", "under"] = Field(
        "lowest", description="where it touches: at its lowest point, or fixed under the hub (Maakaroun)"
    )
    lifts: bool = Field(True, strict=True, description="whether a rigid contact may lift off, and land again")
    tyres: Scalar = Field(1.0, description="side by side on it, which share its load: 2 of a twin wheel")


class BumpStop(Record):
    """A stop: a given stiffness beyond a given travel."""

    travel: Scalar = Field(description="at which it begins to act, m")
    stiffness: Scalar = Field(description="N/m")


class Suspension(Record):
    """How the hub of a wheel is guided on the chassis. Travel is positive upwards: compression."""

    kind: ClassVar[str]


class Strut(Suspension):
    """The hub slides along z of the chassis, with spring, damper, stops and dry friction."""

    kind = "strut"
    stiffness: Scalar = Field(0.0, description="of the spring at the wheel, N/m")
    damping: Scalar = Field(0.0, description="of the damper at the wheel, N s/m")
    preload: Scalar | None = Field(
        None, description="force of the spring at rest, N; by default what the chassis and payload press there"
    )
    spring_force: Positional | None = Field(
        None, description="in place of the stiffness: force of the spring beyond the preload, a formula of travel, N"
    )
    damper_force: Anything | None = Field(
        None, description="in place of the damping: force of the damper, a formula of rate (d travel/dt), N"
    )
    friction: Scalar = Field(0.0, description="dry friction F_s, N")
    bump: BumpStop | None = Field(None, description="stop of compression")
    rebound: BumpStop | None = Field(None, description="stop of extension; its travel is negative")
    toe: Positional = Field(0.0, description="toe-in, a number or a formula of travel, rad")
    camber: Positional = Field(0.0, description="positive with the top outwards, a number or a formula of travel, rad")
    caster: Scalar = Field(0.0, description="inclination of the steering axis, its top rearwards, rad")
    kingpin: Scalar = Field(0.0, description="inclination of the steering axis, its top inwards, rad")
    trail: Scalar = Field(0.0, description="of the hub behind the steering axis at the height of the hub, m")
    offset: Scalar = Field(0.0, description="of the hub outside the steering axis at the height of the hub, m")
    toe_stiffness: Scalar | None = Field(
        None, description="of the hub about z, N m/rad: toe under load (elastokinematics); rigid by default"
    )
    toe_damping: Scalar = Field(0.0, description="N m s/rad")
    camber_stiffness: Scalar | None = Field(
        None, description="of the hub about x, N m/rad: camber under load (elastokinematics); rigid by default"
    )
    camber_damping: Scalar = Field(0.0, description="N m s/rad")
    mass: Scalar = Field(0.0, description="that moves with the hub, without the wheel, kg")


class Rigid(Suspension):
    """The hub is fixed to the chassis."""

    kind = "rigid"
    toe: Scalar = Field(0.0, description="toe-in, rad")
    camber: Scalar = Field(0.0, description="positive with the top outwards, rad")


class OwnSuspension(Suspension):
    """A suspension of the user's own: a model file whose base is the chassis, inserted once for each wheel.

    Names of its bodies, frames, coordinates, loops, constraints, loads and inputs get the wheel's name in front. Its
    parameters `side` (1 left, -1 right, 0 middle), `axle_x`, `axle_y` and `hub_z` (the hub at rest, in the chassis'
    frame), if it declares them, are given their values. Its frame `hub` carries the wheel: y along the axle, to the
    left.
    """

    kind = "own"
    file: str = Field(max_length=1000, description="model file, relative to the vehicle file")
    hub: Name = Field("hub", description="the body or frame of that model which carries the wheel")
    steer: Name | None = Field(None, description="its coordinate that steers the wheel, positive left")
    parameters: Table[Scalar] = Field(FrozenDict(), description="values in place of those of that file")


SUSPENSIONS: dict[str, type[Suspension]] = {k.kind: k for k in (Strut, Rigid, OwnSuspension)}


class TirFile(Record):
    """A tyre law out of a property file."""

    kind: ClassVar[str] = "tir"
    file: str = Field(max_length=1000, description=".tir file, relative to the vehicle file")


class OwnTyre(Record):
    """A tyre law out of a file of the user's own: ``torseur_tyre: 1``, then the law by its kind."""

    kind: ClassVar[str] = "own"
    file: str = Field(max_length=1000, description="tyre file, relative to the vehicle file")


class Axle(Record):
    """One wheel in the middle, or two at a track."""

    x: Scalar = Field(description="of the hubs in the frame of the body that carries the axle, m")
    track: Scalar | None = Field(None, description="between the wheels, m; none: one wheel in the middle")
    body: Name = Field("base", description="that carries the axle: the chassis, or a body of `parts` such as a trailer")
    hub_height: Scalar | None = Field(
        None, description="of the hubs in that body's frame, m; by default such that the wheels stand on the road"
    )
    load: Anything | None = Field(
        None, description="normal load of each wheel, N, where nothing can carry it: a chassis with planar motion"
    )
    wheel: Wheel = Field(description="its wheels")
    suspension: Annotated[Suspension, KindOf(SUSPENSIONS)] = Field(Rigid(), description="strut, rigid or own")
    anti_roll: Scalar = Field(0.0, description="stiffness of the anti-roll bar between the two travels, N/m")
    steered: bool = Field(False, strict=True, description="whether its wheels steer")
    tyre: Annotated[TyreLaw | TirFile | OwnTyre, KindOf({**LAWS, TirFile.kind: TirFile, OwnTyre.kind: OwnTyre})] = (
        Field(description="a tyre law by its kind, or in a file: tir: {file: ...}, own: {file: ...}")
    )
    adherence: Anything = Field(1.0, description="what the friction of its tyres is multiplied by")
    relaxation: bool = Field(False, strict=True, description="whether slip builds up over the relaxation lengths")
    drive: Scalar = Field(0.0, description="share of the drive torque on this axle; shares of all axles add up to 1")
    brake: Scalar = Field(0.0, description="share of the brake torque on this axle; shares of all axles add up to 1")
    releases: bool = Field(
        False,
        strict=True,
        description="whether its brakes may be let go: an input release_W for each wheel W, the share of its brake "
        "torque that does not act, 0 to 1, such as that of the block abs",
    )

    @property
    def sides(self) -> tuple[str, ...]:
        """The wheels: left and right, or the one in the middle."""
        return ("left", "right") if self.track is not None else ("",)


class Column(Record):
    """Steering wheel, column and rack."""

    ratio: Scalar = Field(description="angle of the steering wheel over that of the road wheels")
    inertia: Scalar = Field(description="of the steering wheel and column, kg m2")
    stiffness: Scalar | None = Field(None, description="of the column, N m/rad at the steering wheel; rigid by default")
    damping: Scalar = Field(0.0, description="N m s/rad at the steering wheel")
    friction: Scalar = Field(0.0, description="dry, N m at the steering wheel")


class Steering(Record):
    """How the steered wheels are turned.

    angle: both follow the input `steering`, rad. torque: each turns under the input `steering_torque` (N m on each
    wheel) and its own tyre, as in Maakaroun. column: both follow a rack that the input `steering_torque` turns by the
    steering wheel.
    """

    kind: Literal["angle", "torque", "column"] = Field("angle", description="angle, torque or column")
    ackermann: Scalar = Field(
        0.0, description="1: Ackermann geometry, the inner wheel steers more; 0: both wheels steer alike"
    )
    unsteered_x: Scalar | None = Field(
        None,
        description="where the axles that do not steer are along x of the chassis, for ackermann, m; by default the "
        "mean of those on the chassis",
    )
    column: Column | None = Field(None, description="of kind column")
    inertia: Scalar = Field(0.0, description="of each steered hub about the steering axis, without the wheel, kg m2")
    damping: Scalar = Field(0.0, description="about the steering axis of each wheel, N m s/rad")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.kind == "column") != (self.column is not None):
            raise PydanticCustomError("choice", "kind: column needs a column, and only it has one")
        return self


class Motor(Record):
    """A motor with a torque that falls with its speed, and a reduction to the wheels with an open differential."""

    torque: Anything = Field(description="largest torque, a formula of omega (speed of the motor, rad/s), N m")
    reduction: Scalar = Field(description="turns of the motor for one of the wheels")
    inertia: Scalar = Field(0.0, description="of the rotor, kg m2")
    drag: Anything = Field(
        0.0,
        description="what it takes without throttle, a formula of omega, N m: positive slows down one that turns ahead",
    )


class Gearbox(Record):
    """Gears between a motor and its reduction, with a clutch that sticks and slips.

    The input `gear` is 1, 2, ... from the first of the ratios, 0 neutral, -1 reverse; the input `clutch` says how far
    the clutch is closed, 0 to 1.
    """

    ratios: tuple[Scalar, ...] = Field(
        min_length=1, description="turns of the motor for one of the input of the reduction, gear by gear"
    )
    reverse: Scalar | None = Field(None, description="of the reverse gear, positive")
    clutch: Scalar = Field(description="largest torque of the clutch, N m")
    gear: Number = Field(1.0, description="that is in where nothing drives the input")
    up: Scalar | None = Field(None, description="speed of the motor at which drivers of scenarios shift up, rad/s")
    down: Scalar | None = Field(None, description="and down, rad/s")
    time: Scalar = Field(0.4, description="that they take for a shift, s")


class Drive(Record):
    """What turns the driven wheels: the input `drive_torque` (N m, all wheels), or a motor with `throttle` 0 to 1."""

    motor: Motor | None = Field(None, description="in place of a given torque")
    gearbox: Gearbox | None = Field(None, description="between the motor, which needs an inertia, and its reduction")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.gearbox is not None and (self.motor is None or self.motor.inertia == 0.0):
            raise PydanticCustomError(
                "choice", "a gearbox needs a motor with an inertia, which turns freely behind the clutch"
            )
        if self.gearbox is not None and (self.gearbox.up is None) != (self.gearbox.down is None):
            raise PydanticCustomError("choice", "give both up and down of a gearbox, or none")
        return self


class Aero(Record):
    """Forces of the air on the chassis, along its axes, with the speed relative to the wind (Maakaroun 1 2.8)."""

    area: Scalar = Field(description="frontal, m2")
    density: Scalar = Field(1.225, description="kg/m3")
    drag: Scalar = Field(description="coefficient of drag")
    side: Scalar = Field(0.0, description="slope of the side force coefficient with the angle of the flow, 1/rad")
    lift: Scalar = Field(0.0, description="coefficient of lift, positive upwards")
    at: Triple = Field((0.0, 0.0, 0.0), description="centre of pressure in the frame of the chassis, m")
    wind: SignalTriple = Field((0.0, 0.0, 0.0), description="in world axes, m/s")


class Payload(Record):
    """A mass carried by the chassis."""

    inertia: Inertia = Field(description="in the frame of the chassis unless moved")
    at: Triple = Field((0.0, 0.0, 0.0), description="where its frame is on the chassis, m")
    shapes: tuple[Shape, ...] = Field((), description="shapes, for pictures only")


class Parts(Record):
    """Anything else, as in a model file: it is added as it stands."""

    bodies: Table[Body] = Field(FrozenDict(), description="further bodies, such as a trailer")
    loops: Table[Loop] = Field(FrozenDict(), description="cut joints")
    constraints: Table[Constraint] = Field(FrozenDict(), description="further constraints")
    loads: Table[Annotated[Load, KindOf(LOADS)]] = Field(FrozenDict(), description="further loads")
    inputs: Table[Input] = Field(FrozenDict(), description="signals from outside")


class Vehicle(Record):
    """A vehicle on tyres."""

    name: Name = Field(description="its name")
    title: str | None = Field(None, max_length=500, description="description")
    parameters: Table[Parameter] = Field(FrozenDict(), description="named numbers, for all formulas here")
    tables: Table[LookupTable] = Field(FrozenDict(), description="curves that formulas look up")
    gravity: Scalar = Field(9.81, description="m/s2")
    chassis: Chassis = Field(description="the sprung body")
    axles: Table[Axle] = Field(description="by name, such as front and rear", min_length=1)
    single_track: bool = Field(
        False, strict=True, description="whether the two wheels of each axle are put together in the middle (table 3-8)"
    )
    steering: Steering = Field(Steering(), description="how steered wheels are turned")
    drive: Drive = Field(Drive(), description="what turns the driven wheels")
    aero: Aero | None = Field(None, description="forces of the air")
    payload: Table[Payload] = Field(FrozenDict(), description="masses on the chassis")
    road: Annotated[Road | RoadKind, KindOf(ROADS, otherwise=Road)] = Field(
        Road(), description="what it drives on: a road by its kind, such as plane: {slope: 0.1}, or its formulas"
    )
    parts: Parts = Field(Parts(), description="anything else, as in a model file")
    quantities: Table[NamedQuantity] = Field(FrozenDict(), description="formulas with a name")
    outputs: Table[Output] = Field(FrozenDict(), description="quantities to record")
