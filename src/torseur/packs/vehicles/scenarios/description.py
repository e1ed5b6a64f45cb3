"""What a scenario file says: how a vehicle is driven, on what road, through which gates, and what is told of it.

Formulas may use the parameters of the scenario, what is known of the vehicle (`KNOWN`), and, where something happens in
time, t and the names of the model.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from torseur.describe.annotations import Anything, KindOf
from torseur.describe.bodies import Road
from torseur.describe.fields import FrozenDict, Name, Record, Scalar, Table
from torseur.packs.roads import KINDS as ROADS
from torseur.packs.roads import RoadKind
from torseur.packs.vehicles.indicators.course import Gate
from torseur.simulation.results.indicators import KINDS as INDICATORS
from torseur.simulation.results.indicators import Indicator
from torseur.simulation.study.study import Solver

__all__ = ["KNOWN", "Angle", "Brake", "Drive", "Found", "HoldSpeed", "Path", "Scenario", "ScenarioParameter", "Steer"]

KNOWN = {
    "vehicle_mass": "kg, of all units",
    "vehicle_width": "m, over the tyres of the first unit",
    "vehicle_front": "m, from the origin of the chassis to the foremost tread",
    "vehicle_rear": "m, from the origin of the chassis to the rearmost tread, negative",
    "wheelbase": "m, of the first unit",
    "gravity": "m/s2",
}
"""Names of the vehicle in formulas of a scenario."""


class Found(Record):
    """A value that another scenario finds with the same vehicle, unless it is given."""

    scenario: Name = Field(description="that is run before")
    indicator: Name = Field(description="whose value it is")
    times: Scalar = Field(1.0, description="what that is multiplied by")
    set: Table[Scalar] = Field(FrozenDict(), description="parameters of that scenario")


class ScenarioParameter(Record):
    """A number that a user may choose."""

    value: Scalar | None = Field(None, description="by default: a number, or a formula of parameters before it")
    found: Found | None = Field(None, description="in place of a value: what a run before this one finds")
    unit: str = Field("", max_length=40, description="of the value")
    description: str = Field(max_length=500, description="what it is")
    above: Scalar | None = Field(None, description="it must be larger")
    least: Scalar | None = Field(None, description="it must be at least this")
    most: Scalar | None = Field(None, description="it must be at most this")


class Drive(Record):
    """What is done with the drive; nothing: the vehicle coasts."""

    kind: ClassVar[str]


class HoldSpeed(Drive):
    """A speed is held, or followed, by PI control of the drive."""

    kind = "speed"
    wanted: Anything = Field(description="m/s, a number or a formula of t")
    until: Scalar | None = Field(None, description="time at which the foot leaves the pedal, s")
    lag: Scalar = Field(0.5, description="time constant of the control, s")


class Torque(Drive):
    """A force at the wheels, whatever speed comes of it."""

    kind = "force"
    force: Anything = Field(description="at all driven wheels together, a number or a formula of t, N")


class Throttle(Drive):
    """As much as the drive gives: the throttle of a motor, or a share of the given largest force."""

    kind = "throttle"
    share: Anything = Field(description="0 to 1, a number or a formula of t")
    most: Scalar = Field(description="largest force at the wheels where the drive has no motor, N")


class Steer(Record):
    """What is done with the steering; nothing: straight ahead."""

    kind: ClassVar[str]


class Angle(Steer):
    """The mean angle of the steered wheels."""

    kind = "angle"
    value: Anything = Field(description="rad, positive left, a formula of t")


class Path(Steer):
    """A driver who looks ahead and follows a path: see the block path_follower."""

    kind = "path"
    offset: Scalar | None = Field(None, description="formula of x and y: distance from the path, positive left of it")
    xs: tuple[Scalar, ...] = Field((), description="in place of the offset: points of the path, m")
    ys: tuple[Scalar, ...] = Field((), description="one for each of xs, m")
    preview: Scalar = Field(0.5, description="preview time, s")
    distance: Scalar = Field(0.0, description="preview distance beside, m")
    reaction: Scalar = Field(0.05, description="time constant of the driver's arms, s")
    understeer: Scalar = Field(0.0, description="understeer gradient that the driver knows of, rad/(m/s2)")
    limit: Scalar = Field(0.6, description="largest steering angle, rad")


class Brake(Record):
    """What is done with the brakes."""

    kind: ClassVar[str]


class Deceleration(Brake):
    """The brake torque that a wanted deceleration takes, m a R, if no wheel locks."""

    kind = "deceleration"
    value: Anything = Field(description="m/s2, at least 0, a formula of t")


DRIVES: dict[str, type[Drive]] = {k.kind: k for k in (HoldSpeed, Torque, Throttle)}
STEERS: dict[str, type[Steer]] = {k.kind: k for k in (Angle, Path)}
BRAKES: dict[str, type[Brake]] = {k.kind: k for k in (Deceleration,)}


class Scenario(Record):
    """A manoeuvre, for any vehicle that can do it."""

    name: Name = Field(description="its name")
    title: str = Field(max_length=500, description="description")
    source: str | None = Field(None, max_length=1000, description="standard or document it follows")
    unverified: str | None = Field(
        None, max_length=2000, description="what of it was not compared with the text of the source"
    )
    parameters: Table[ScenarioParameter] = Field(FrozenDict(), description="what a user may choose")
    quantities: Table[Scalar] = Field(
        FrozenDict(), description="numbers that follow from them, for formulas: each from those before it"
    )
    speed: Scalar = Field(description="at the start, m/s")
    x: Scalar = Field(0.0, description="where the chassis starts, m")
    y: Scalar = Field(0.0, description="m")
    drive: Annotated[Drive | None, KindOf(DRIVES)] = Field(None, description="speed, force or throttle; none: coasting")
    steer: Annotated[Steer | None, KindOf(STEERS)] = Field(None, description="angle or path; none: straight ahead")
    brake: Annotated[Brake | None, KindOf(BRAKES)] = Field(None, description="deceleration; none: no braking")
    road: Annotated[Road | RoadKind | None, KindOf(ROADS, otherwise=Road)] = Field(
        None, description="what is driven on; by default the road of the vehicle"
    )
    gates: Table[Gate] = Field(FrozenDict(), description="lanes between cones, in the order they are passed")
    width: Scalar = Field(0.0, description="of the vehicle between the cones, m; 0: over its tyres")
    until: Scalar = Field(description="the end, s")
    ends_when: Table[Anything] = Field(
        FrozenDict(), description="formulas that end the run where they change their sign"
    )
    every: Scalar = Field(0.01, description="time between records, s")
    solver: Solver = Field(Solver(method="rodas", rtol=1e-6, atol=1e-8), description="how it is integrated")
    indicators: Table[Annotated[Indicator, KindOf(INDICATORS)]] = Field(
        FrozenDict(), description="what is measured of the run"
    )
