"""A vehicle made into an ordinary model: bodies, constraints, loads and inputs, with nothing left behind.

For each wheel, called AXLE_left, AXLE_right or AXLE (below W):

=================  ==========================================================================================
body carrier_W     moves with the hub but does not steer; its coordinate travel_W is positive upwards (strut)
body knuckle_W     turns with the steering; its coordinate steer_W is positive to the left
body hub_W         carries toe, camber and the axle, y to the left
body wheel_W       spins; its coordinate spin_W is positive rolling forward
constraint W       the wheel on the road
load W             the tyre; its results are W_Fx, W_Fy, W_Fz, W_kappa, W_alpha, ...
=================  ==========================================================================================

A motor with inertia is a body `rotor` that the constraint `differential` ties to the mean of the driven wheels, or with
a gearbox the load `clutch`.

Inputs: steering or steering_torque, drive_torque or throttle, gear, clutch, brake_torque, as far as the vehicle has
them, and the deflections of the treads, which a simulation integrates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torseur.describe import Mechanism
from torseur.describe.bodies import BASE, Road
from torseur.describe.fields import FrozenDict, Scalar
from torseur.describe.formulas import Formula
from torseur.describe.inertia import CentralInertia, CompositeInertia, Inertia, Solid, StandardInertia
from torseur.describe.loads import KINDS, Load
from torseur.describe.place import Place
from torseur.errors import ModelError
from torseur.packs.tyres import TyreLaw
from torseur.packs.tyres.load import TyreLoad
from torseur.packs.vehicles.air import Air
from torseur.packs.vehicles.description import (
    Axle,
    Gearbox,
    Motor,
    OwnSuspension,
    OwnTyre,
    Rigid,
    Strut,
    TirFile,
    Vehicle,
)
from torseur.packs.vehicles.gearbox import Clutch, Schedule
from torseur.packs.vehicles.insertion import Inserted, inserted
from torseur.packs.vehicles.parameters import single_track

__all__ = ["ROAD", "expanded", "static_load"]

ROAD = "road"
"""What the road of a vehicle is called in its model."""

Reader = Callable[[str], Mechanism]
"""From the name of a model file, relative to the vehicle file, to what it holds."""


def expanded(vehicle: Vehicle, read: Reader, law: Callable[[str], TyreLaw], folder: Path | None = None) -> Mechanism:
    """The model of a vehicle.

    Args:
        vehicle: what the file says.
        read: reads model files of suspensions.
        law: reads tyre property files.
        folder: of the vehicle file, for the files of its road.
    """
    made = _Made(single_track(vehicle) if vehicle.single_track else vehicle, read, law)
    made.lay_road(folder)
    made.chassis()
    for name, axle in made.vehicle.axles.items():
        for side in axle.sides:
            _Corner(made, name, axle, side).build()
        made.anti_roll(name, axle)
    made.steer()
    made.rest()
    return made.mechanism()


def text(value: Scalar) -> str:
    """A scalar inside a longer formula."""
    return f"({value.text})" if isinstance(value, Formula) else repr(float(value))


def formula(value: str) -> Formula:
    return Formula(value)


def at(*position: Scalar, rpy: tuple[Scalar, Scalar, Scalar] | None = None) -> dict[str, Any]:
    """A place."""
    return {"pose": {"position": position} | ({"rpy": rpy} if rpy is not None else {})}


@dataclass
class _Made:
    """A model on its way."""

    vehicle: Vehicle
    read: Reader
    law: Callable[[str], TyreLaw]
    base: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, Any] = field(default_factory=dict)
    road: Road = field(default_factory=Road)
    bodies: dict[str, Any] = field(default_factory=dict)
    loops: dict[str, Any] = field(default_factory=dict)
    constraints: dict[str, Any] = field(default_factory=dict)
    loads: dict[str, Any] = field(default_factory=dict)
    inputs: dict[str, Any] = field(default_factory=dict)
    quantities: dict[str, Any] = field(default_factory=dict)
    steered: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Coordinate that steers a wheel -> (its axle, its side)."""
    driven: dict[str, str] = field(default_factory=dict)
    """Wheel -> its axle."""

    def lay_road(self, folder: Path | None) -> None:
        """A road by its kind brings tables of its own."""
        given = self.vehicle.road
        if isinstance(given, Road):
            self.road = given
            return
        made = given.made(ROAD, folder)
        self.road = made.road
        self.tables |= made.tables

    # -- chassis -------------------------------------------------------------------------------------------------------
    def chassis(self) -> None:
        chassis = self.vehicle.chassis
        common = {"inertia": chassis.inertia, "shapes": chassis.shapes, "frames": dict(chassis.frames)}
        over_ground = {name: {"meaning": f"position of the chassis along {name} of the world"} for name in "xy"}
        if chassis.motion == "planar":
            place = at(0.0, 0.0, chassis.height)
            names = {**over_ground, "yaw": {"meaning": "yaw, positive to the left"}}
            self.base = {"kind": "planar", "place": place, "coordinates": names, **common}
        else:
            meanings = {
                **over_ground,
                "z": {"guess": chassis.height, "meaning": "height of the chassis"},
                "roll": {"meaning": "roll, positive leaning right"},
                "pitch": {"meaning": "pitch, positive nose down"},
                "yaw": {"meaning": "yaw, positive to the left"},
            }
            self.base = {"kind": "floating", "orientation": "rpy", "coordinates": meanings, **common}
        self.parameters |= self.vehicle.parameters
        self.tables |= self.vehicle.tables
        for name, payload in self.vehicle.payload.items():
            self.bodies[name] = {"place": at(*payload.at), "inertia": payload.inertia, "shapes": payload.shapes}

    def anti_roll(self, name: str, axle: Axle) -> None:
        if axle.anti_roll == 0.0:
            return
        if axle.track is None or not isinstance(axle.suspension, Strut):
            raise ModelError(
                "an anti-roll bar needs two struts",
                where=f"axles.{name}.anti_roll",
                remedy="between other suspensions it is a load of `parts`",
            )
        travels: dict[str, Scalar] = {f"travel_{name}_left": 1.0, f"travel_{name}_right": -1.0}
        self.loads[f"anti_roll_{name}"] = {"spring": {"combination": travels, "stiffness": axle.anti_roll}}

    # -- steering ------------------------------------------------------------------------------------------------------
    def steer(self) -> None:
        steering = self.vehicle.steering
        if not self.steered:
            return
        mean = " + ".join(self.steered)
        self.quantities["steering_angle"] = {
            "value": formula(f"({mean})/{len(self.steered)}"),
            "unit": "rad",
            "description": "mean steering angle of the steered wheels, positive left",
        }
        if steering.kind == "torque":
            self.inputs["steering_torque"] = _input("N m", "torque on each steered wheel about its axis, positive left")
            for k in self.steered:
                self.loads[f"torque_{k}"] = {"effort": {"coordinate": k, "value": formula("steering_torque")}}
        elif steering.kind == "angle":
            self.inputs["steering"] = _input("rad", "mean angle of the steered wheels, positive left")
            for k in self.steered:
                wanted = formula(self._turned("steering", k))
                self.constraints[f"guided_{k}"] = {"prescribed": {"coordinate": k, "equals": wanted}}
        else:
            self._column()

    def _column(self) -> None:
        column = self.vehicle.steering.column
        assert column is not None
        self.inputs["steering_torque"] = _input("N m", "torque on the steering wheel, positive left")
        joint = {"kind": "revolute", "coordinate": "steering_wheel", "meaning": "positive to the left"}
        self.bodies["column"] = {"joint": joint, "inertia": {"ZZ": column.inertia}}
        self.loads["driver"] = {"effort": {"coordinate": "steering_wheel", "value": formula("steering_torque")}}
        if column.damping != 0.0 or column.friction != 0.0:
            rubs = {"coordinate": "steering_wheel", "damping": column.damping, "friction": column.friction}
            self.loads["column_friction"] = {"spring": rubs}
        ratio, angle = text(column.ratio), "steering_wheel"
        leader = ""
        if column.stiffness is None:
            angle = f"steering_wheel/{ratio}"
        else:  # the wheels follow the rack, which the column turns by its torsion
            angle = leader = self._rack()
            twist = {"steering_wheel": 1.0, angle: formula(f"-{ratio}")}
            self.loads["torsion"] = {"spring": {"combination": twist, "stiffness": column.stiffness}}
        for k in self.steered:
            if k != leader:
                wanted = formula(self._turned(angle, k))
                self.constraints[f"rack_{k}"] = {"coupling": {"coordinate": k, "equals": wanted}}

    def _rack(self) -> str:
        """The coordinate that stands for the rack: a wheel where all turn alike, or else one that moves no mass."""
        if self.vehicle.steering.ackermann == 0.0:
            return next(iter(self.steered))
        meaning = "mean angle of the steered wheels that the rack asks for, positive left"
        self.bodies["rack"] = {"joint": {"kind": "revolute", "coordinate": "rack_angle", "meaning": meaning}}
        return "rack_angle"

    def _turned(self, angle: str, coordinate: str) -> str:
        """The angle of one wheel for a mean angle d: atan(tan d / (1 - a s tan d w / (2 l))), a = 1 by Ackermann."""
        axle_name, side = self.steered[coordinate]
        share = self.vehicle.steering.ackermann
        if share == 0.0 or not side:
            return angle
        axle = self.vehicle.axles[axle_name]
        s = 1.0 if side == "left" else -1.0
        length = f"({text(axle.x)} - {self._unsteered_x()})"
        bend = f"{s}*{text(share)}*tan({angle})*{text(axle.track or 0.0)}/(2*{length})"
        return f"atan(tan({angle})/(1 - {bend}))"

    def _unsteered_x(self) -> str:
        """Where the axles are about whose middle the vehicle turns, along x of the chassis."""
        if self.vehicle.steering.unsteered_x is not None:
            return text(self.vehicle.steering.unsteered_x)
        steered = {name for name, _ in self.steered.values()}
        found = [text(a.x) for name, a in self.vehicle.axles.items() if a.body == BASE and name not in steered]
        if not found:
            raise ModelError(
                "Ackermann's geometry needs an axle that does not steer, and none is on the chassis",
                where="steering.ackermann",
                expected="steering.unsteered_x, where it is along x of the chassis, m",
                remedy="give unsteered_x, or ackermann: 0",
            )
        return f"(({' + '.join(found)})/{len(found)})"

    # -- drive, brakes, air --------------------------------------------------------------------------------------------
    def rest(self) -> None:
        self._drive()
        self._brakes()
        aero = self.vehicle.aero
        if aero is not None:
            names = ("area", "density", "drag", "side", "lift", "at", "wind")
            self.loads["air"] = Air(frame=BASE, **{n: getattr(aero, n) for n in names})
        parts = self.vehicle.parts
        for table in ("bodies", "loops", "constraints", "loads", "inputs"):
            mine, more = getattr(self, table), dict(getattr(parts, table))
            both = sorted(set(mine) & set(more))
            if both:
                raise ModelError("a name that the vehicle has already", where=f"parts.{table}.{both[0]}")
            mine |= more
        self.quantities |= self.vehicle.quantities

    def _shares(self, of: str) -> dict[str, str]:
        """Wheel -> its share of a torque, as a formula; only wheels that have one."""
        found = {}
        for wheel, axle in self.driven.items():
            record = self.vehicle.axles[axle]
            share = getattr(record, of)
            if share != 0.0:
                found[wheel] = f"{text(share)}/{len(record.sides)}"
        return found

    def _drive(self) -> None:
        shares, motor = self._shares("drive"), self.vehicle.drive.motor
        if not shares:
            return
        torque = "drive_torque"
        if motor is None:
            self.inputs["drive_torque"] = _input("N m", "on all driven wheels together, positive forward")
        else:
            self.inputs["throttle"] = _input("", "0 to 1")
            speeds = " + ".join(f"({share})*dspin_{wheel}" for wheel, share in shares.items())
            self._motor_speed(motor, speeds)
            torque = f"throttle*({_over_speed(motor.torque)})"
            if motor.drag != 0.0:
                torque = f"({torque} - ({_over_speed(motor.drag)}))"
            if motor.inertia != 0.0:
                self._rotor(motor, shares, torque)
                return
            torque = f"{text(motor.reduction)}*{torque}"
        for wheel, share in shares.items():
            value = formula(f"({share})*({torque})")
            self.loads[f"drive_{wheel}"] = {"effort": {"coordinate": f"spin_{wheel}", "value": value}}

    def _motor_speed(self, motor: Motor, speeds: str) -> None:
        gearbox, of_motor = self.vehicle.drive.gearbox, "speed of the motor"
        if gearbox is None:
            omega = formula(f"{text(motor.reduction)}*({speeds})")
        else:
            omega = formula("drotor")
            driven = {"value": formula(speeds), "unit": "rad/s", "description": "mean speed of the driven wheels"}
            self.quantities["driven_speed"] = driven
        self.quantities["motor_speed"] = {"value": omega, "unit": "rad/s", "description": of_motor}

    def _rotor(self, motor: Motor, shares: dict[str, str], torque: str) -> None:
        """A rotor that open differentials tie to the mean of the wheels: torque and inertia go to them in shares."""
        joint = {"kind": "revolute", "axis": "y", "coordinate": "rotor", "meaning": "of the motor, positive forward"}
        across = formula(f"{text(motor.inertia)}/2")
        self.bodies["rotor"] = {
            "joint": joint,
            "inertia": {"XX": across, "YY": motor.inertia, "ZZ": across},
            "shapes": [{"cylinder": {"radius": 0.1, "length": 0.2}, "colour": "#404040"}],
        }
        self.loads["motor"] = {"effort": {"coordinate": "rotor", "value": formula(torque)}}
        gearbox = self.vehicle.drive.gearbox
        if gearbox is not None:
            self._clutch(gearbox, motor, shares)
            return
        turns = " + ".join(f"({share})*spin_{wheel}" for wheel, share in shares.items())
        geared = formula(f"{text(motor.reduction)}*({turns})")
        self.constraints["differential"] = {"coupling": {"coordinate": "rotor", "equals": geared}}

    def _clutch(self, gearbox: Gearbox, motor: Motor, shares: dict[str, str]) -> None:
        self.inputs["gear"] = _input("", "1, 2, ..., 0 neutral, -1 reverse") | {"default": gearbox.gear}
        self.inputs["clutch"] = _input("", "how far the clutch is closed, 0 to 1") | {"default": 1.0}
        gears = dict(enumerate(gearbox.ratios, 1)) | ({} if gearbox.reverse is None else {-1: gearbox.reverse})
        hats = {k: f"max(1 - abs(gear - {k}), 0)" if k > 0 else "max(-gear, 0)" for k in gears}
        ratio = "(" + " + ".join(f"{'-' if k < 0 else ''}{text(N)}*{hats[k]}" for k, N in gears.items()) + ")"
        words = "turns of the motor for one of the wheels in the gear that is in"
        self.quantities["gear_ratio"] = {"value": formula(f"{text(motor.reduction)}*{ratio}"), "description": words}
        self.loads["clutch"] = Clutch(
            coordinate="rotor",
            turns=FrozenDict({f"spin_{wheel}": formula(share) for wheel, share in shares.items()}),
            ratio=formula("gear_ratio"),
            capacity=formula(f"{text(gearbox.clutch)}*min(max(clutch, 0), 1)*min(abs(gear), 1)"),
            schedule=None if gearbox.up is None else _schedule(gearbox, motor),
        )

    def _brakes(self) -> None:
        shares = self._shares("brake")
        if shares:
            self.inputs["brake_torque"] = _input("N m", "on all braked wheels together, at least 0")
        for wheel, share in shares.items():
            level = f"({share})*brake_torque"
            if self.vehicle.axles[self.driven[wheel]].releases:
                release = f"release_{wheel}"
                self.inputs[release] = _input("", f"share of the brake torque of {wheel} that does not act, 0 to 1")
                level += f"*(1 - min(max({release}, 0), 1))"
            friction = {"coordinate": f"spin_{wheel}", "friction": formula(level)}
            self.loads[f"brake_{wheel}"] = {"spring": friction}

    def mechanism(self) -> Mechanism:
        v = self.vehicle
        data = {
            "name": v.name,
            "title": v.title,
            "parameters": self.parameters,
            "tables": self.tables,
            "quantities": self.quantities,
            "gravity": (0.0, 0.0, -v.gravity if isinstance(v.gravity, float) else formula(f"-{text(v.gravity)}")),
            "base": self.base,
            "bodies": self.bodies,
            "loops": self.loops,
            "roads": {ROAD: self.road},
            "constraints": self.constraints,
            "loads": {name: _load(load) for name, load in self.loads.items()},
            "inputs": self.inputs,
            "outputs": dict(v.outputs),
        }
        return Mechanism.model_validate(data)


def _load(given: Any) -> Load:
    if isinstance(given, Load):
        return given
    ((kind, fields),) = given.items()
    return KINDS[kind].model_validate(fields)


def _over_speed(value: Scalar) -> str:
    """A formula of omega with the speed of the motor in its place."""
    given = value if isinstance(value, Formula) else formula(repr(float(value)))
    return given.with_names({"omega": formula("motor_speed")}).text


def _schedule(gearbox: Gearbox, motor: Motor) -> Schedule:
    assert gearbox.up is not None  # both are given, or none
    assert gearbox.down is not None
    ratios = tuple(formula(f"{text(motor.reduction)}*{text(N)}") for N in gearbox.ratios)
    return Schedule(ratios=ratios, up=gearbox.up, down=gearbox.down, time=gearbox.time)


def _input(unit: str, description: str) -> dict[str, Any]:
    return {"unit": unit, "description": description}


def static_load(vehicle: Vehicle, axle: Axle) -> str | None:
    """What chassis and payload press on each wheel of an axle at rest, N: the lever rule of two axles."""
    on_chassis = [a for a in vehicle.axles.values() if a.body == BASE]
    more = any(body.inertia is not None for body in vehicle.parts.bodies.values())
    if len(on_chassis) != 2 or axle not in on_chassis or more:
        return None
    moments = [_mass_and_moment(vehicle.chassis.inertia, 0.0)]
    moments += [_mass_and_moment(p.inertia, p.at[0]) for p in vehicle.payload.values()]
    mass, moment = (" + ".join(part) for part in zip(*moments, strict=True))
    other = next(a for a in on_chassis if a is not axle)
    g, xa, xb = text(vehicle.gravity), text(axle.x), text(other.x)
    return f"{g}*(({moment}) - {xb}*({mass}))/({xa} - {xb})/{len(axle.sides)}"


def _mass_and_moment(inertia: Inertia, x: Scalar) -> tuple[str, str]:
    """Mass, and mass times distance along x, as formulas."""
    if isinstance(inertia, StandardInertia):
        return text(inertia.M), f"{text(inertia.MX)} + {text(inertia.M)}*{text(x)}"
    if isinstance(inertia, CentralInertia):
        return text(inertia.mass), f"{text(inertia.mass)}*({text(inertia.centre[0])} + {text(x)})"
    solids = inertia.solids if isinstance(inertia, CompositeInertia) else (inertia,)
    parts = [(_mass_of(solid), _middle_of(solid)) for solid in solids]
    mass = " + ".join(m for m, _ in parts)
    return mass, " + ".join(f"{m}*({middle} + {text(x)})" for m, middle in parts)


def _mass_of(solid: Solid) -> str:
    if solid.mass is not None:
        return text(solid.mass)
    return f"{text(solid.density or 0.0)}*{_volume_of(solid)}"


def _volume_of(solid: Solid) -> str:
    if solid.box is not None:
        return "*".join(text(x) for x in solid.box.size)
    if solid.sphere is not None:
        return f"4*pi/3*{text(solid.sphere.radius)}^3"
    if solid.cone is not None:
        return f"pi/3*{text(solid.cone.radius)}^2*{text(solid.cone.length)}"
    if solid.tube is not None:
        return f"pi*({text(solid.tube.radius)}^2 - {text(solid.tube.inner)}^2)*{text(solid.tube.length)}"
    assert solid.cylinder is not None  # a solid has exactly one form
    return f"pi*{text(solid.cylinder.radius)}^2*{text(solid.cylinder.length)}"


def _middle_of(solid: Solid) -> str:
    """x of the centre of mass of a solid, whose place is a position; that of a cone is upright."""
    pose = solid.place.pose
    turned = pose is not None and (pose.rpy, pose.quaternion, pose.matrix) != (None, None, None)
    if (pose is None and solid.place != Place()) or (turned and solid.cone is not None):
        raise ModelError(
            "where the centre of mass of a solid of the chassis or payload lies is not known",
            expected="its place as a position: place: [x, y, z]",
            remedy="or give the preload of every strut",
        )
    return "0.0" if pose is None else text(pose.position[0])


class _Corner:
    """One wheel with all that guides it."""

    def __init__(self, made: _Made, name: str, axle: Axle, side: str) -> None:
        self.made, self.axle_name, self.axle, self.side = made, name, axle, side
        self.name = f"{name}_{side}" if side else name
        self.sign = {"left": 1.0, "right": -1.0, "": 0.0}[side]
        track = axle.track if axle.track is not None else 0.0
        self.y: Scalar = formula(f"{self.sign / 2}*{text(track)}") if side else 0.0

    def build(self) -> None:
        suspension = self.axle.suspension
        if isinstance(suspension, OwnSuspension):
            hub = self._own(suspension)
        else:
            hub = self._steered(self._guided(suspension), suspension)
        self._wheel(hub)
        self._tyre()

    @property
    def _deflection(self) -> str:
        """How far the tread is pressed in at rest."""
        wheel, suspension = self.axle.wheel, self.axle.suspension
        if wheel.stiffness is None:
            return "0"
        given = text(suspension.preload) if isinstance(suspension, Strut) and suspension.preload is not None else None
        load = given or static_load(self.made.vehicle, self.axle)
        if load is None:
            return "0"
        below = f"{text(self.made.vehicle.gravity)}*({text(wheel.mass)} + {self._hub_mass})"
        return f"({load} + {below})/{text(wheel.stiffness)}"

    @property
    def _hub_mass(self) -> str:
        suspension = self.axle.suspension
        return text(suspension.mass) if isinstance(suspension, Strut) else "0"

    @property
    def _hub_z(self) -> Scalar:
        """Of the hub at rest, in the frame of the body that carries the axle."""
        if self.axle.hub_height is not None:
            return self.axle.hub_height
        if self.axle.body != BASE:
            raise ModelError(
                "where the hubs of an axle on another body are is not known",
                where=f"axles.{self.axle_name}.hub_height",
                expected="their height in the frame of that body, m",
            )
        height = text(self.made.vehicle.chassis.height)
        return formula(f"{self._standing_radius} - {self._deflection} - {height}")

    @property
    def _standing_radius(self) -> str:
        """Of the hub above the lowest point of a wheel with its camber at rest: c + (R - c) cos(camber)."""
        wheel, suspension = self.axle.wheel, self.axle.suspension
        radius, crown = text(wheel.radius), text(wheel.crown)
        camber = suspension.camber if isinstance(suspension, (Strut, Rigid)) else 0.0
        if camber == 0.0 or wheel.contact == "under":
            return radius
        return f"({crown} + ({radius} - {crown})*cos({_renamed(camber, travel='0.0')}))"

    # -- guides --------------------------------------------------------------------------------------------------------
    def _guided(self, suspension: Any) -> str:
        """The body that moves with the hub and does not steer."""
        place = at(self.axle.x, self.y, self._hub_z)
        carrier, made = f"carrier_{self.name}", self.made
        if isinstance(suspension, Rigid):
            made.bodies[carrier] = {"parent": self.axle.body, "place": place}
            return carrier
        assert isinstance(suspension, Strut)
        travel = f"travel_{self.name}"
        meaning = "travel of the suspension, positive upwards (compression)"
        made.bodies[carrier] = {
            "parent": self.axle.body,
            "place": place,
            "joint": {"kind": "prismatic", "coordinate": travel, "meaning": meaning},
            "shapes": [{"cylinder": {"radius": 0.03, "length": 0.3}, "place": at(0.0, 0.0, 0.15), "colour": "#8c8c8c"}],
        }
        if suspension.mass != 0.0:
            made.bodies[carrier]["inertia"] = {"M": suspension.mass}
        self._strut(suspension, travel)
        return carrier

    def _strut(self, strut: Strut, travel: str) -> None:
        loads, name = self.made.loads, self.name
        preload = self._preload(strut)
        spring: dict[str, Any] = {"coordinate": travel, "friction": strut.friction}
        if strut.damper_force is None:
            spring["damping"] = strut.damping
        force = preload
        if strut.spring_force is None:
            spring["stiffness"] = strut.stiffness
        else:
            force = f"{preload} + ({_renamed(strut.spring_force, travel=travel)})"
        loads[f"strut_{name}"] = {"spring": spring}
        loads[f"preload_{name}"] = {"effort": {"coordinate": travel, "value": formula(f"-({force})")}}
        if strut.damper_force is not None:
            rate = formula(f"-({_renamed(strut.damper_force, rate=f'd{travel}', travel=travel)})")
            loads[f"damper_{name}"] = {"effort": {"coordinate": travel, "value": rate}}
        for what, stop, limit in (("bump", strut.bump, "max"), ("rebound", strut.rebound, "min")):
            if stop is not None:
                push = formula(f"-{text(stop.stiffness)}*{limit}({travel} - {text(stop.travel)}, 0)")
                loads[f"{what}_{name}"] = {"effort": {"coordinate": travel, "value": push}}

    def _preload(self, strut: Strut) -> str:
        if strut.preload is not None:
            return text(strut.preload)
        found = static_load(self.made.vehicle, self.axle)
        if found is None:
            raise ModelError(
                "the load of this strut at rest does not follow from a chassis with payload on two axles",
                where=f"axles.{self.axle_name}.suspension.strut.preload",
                expected="the force of the spring at rest, N",
            )
        return found

    def _steered(self, carrier: str, suspension: Any) -> str:
        """Steering axis, compliance, and the hub with toe and camber."""
        made, steering = self.made, self.made.vehicle.steering
        s, below, hub_at = self.sign, carrier, dict[str, Any]()
        outwards = s if s else 1.0
        is_strut = isinstance(suspension, Strut)
        if self.axle.steered:
            coordinate = f"steer_{self.name}"
            made.steered[coordinate] = (self.axle_name, self.side)
            joint = {"kind": "revolute", "coordinate": coordinate, "meaning": "steering, positive to the left"}
            knuckle: dict[str, Any] = {"parent": carrier, "joint": joint}
            if is_strut:
                trail, offset = text(suspension.trail), text(suspension.offset)
                lean = (formula(f"{outwards}*{text(suspension.kingpin)}"), formula(f"-{text(suspension.caster)}"), 0.0)
                is_upright = suspension.caster == 0.0 and suspension.kingpin == 0.0
                to_axis = formula(trail), formula(f"-{outwards}*{offset}"), 0.0
                back = formula(f"-{trail}"), formula(f"{outwards}*{offset}"), 0.0
                if not is_upright:
                    knuckle["place"] = at(*to_axis, rpy=lean)
                    straight = [{"rx": formula(f"-({lean[0].text})")}, {"ry": formula(f"-({lean[1].text})")}]
                    moves = [{"tx": back[0]}, {"ty": back[1]}]
                    hub_at = {"steps": [*straight, *moves]}
                elif suspension.trail != 0.0 or suspension.offset != 0.0:
                    knuckle["place"], hub_at = at(*to_axis), at(*back)
            if steering.inertia != 0.0:
                knuckle["inertia"] = {"ZZ": steering.inertia}
            if steering.damping != 0.0:
                damper = {"coordinate": coordinate, "damping": steering.damping}
                made.loads[f"steering_damper_{self.name}"] = {"spring": damper}
            below = f"knuckle_{self.name}"
            made.bodies[below] = knuckle
        return self._hub(below, hub_at, suspension, outwards)

    def _hub(self, below: str, place: dict[str, Any], suspension: Any, outwards: float) -> str:
        made, hub = self.made, f"hub_{self.name}"
        if isinstance(suspension, Strut) and suspension.toe_stiffness is not None:
            soft, angle = f"bush_{self.name}", f"bush_angle_{self.name}"
            joint = {"kind": "revolute", "coordinate": angle, "meaning": "toe under load, positive to the left"}
            made.bodies[soft] = {"parent": below, "place": place, "joint": joint}
            stiff = {"stiffness": suspension.toe_stiffness, "damping": suspension.toe_damping}
            made.loads[soft] = {"spring": {"coordinate": angle, **stiff}}
            below, place = soft, {}
        if isinstance(suspension, Strut) and suspension.camber_stiffness is not None:
            soft, angle = f"camber_bush_{self.name}", f"camber_angle_{self.name}"
            joint = {"kind": "revolute", "axis": "x", "coordinate": angle, "meaning": "tilt under load, to the right"}
            made.bodies[soft] = {"parent": below, "place": place, "joint": joint}
            stiff = {"stiffness": suspension.camber_stiffness, "damping": suspension.camber_damping}
            made.loads[soft] = {"spring": {"coordinate": angle, **stiff}}
            below, place = soft, {}
        travel = f"travel_{self.name}"
        toe, camber = (_renamed(x, travel=travel) for x in (suspension.toe, suspension.camber))
        turns = []
        if suspension.toe != 0.0:
            turns.append({"rz": formula(f"-{outwards}*({toe})")})
        if suspension.camber != 0.0:
            turns.append({"rx": formula(f"-{outwards}*({camber})")})
        if turns:
            steps = place.get("steps", [])
            if "pose" in place and any(x != 0.0 for x in place["pose"]["position"]):
                position = place["pose"]["position"]
                steps = [{axis: x} for axis, x in zip(("tx", "ty", "tz"), position, strict=True)]
            place = {"steps": [*steps, *turns]}
        made.bodies[hub] = {"parent": below, "place": place}
        return hub

    def _own(self, own: OwnSuspension) -> str:
        given: dict[str, Scalar] = {
            "side": self.sign,
            "axle_x": self.axle.x,
            "axle_y": self.y,
            "hub_z": self._hub_z,
        }
        part = inserted(self.made.read(own.file), self.name, self.axle.body, given, dict(own.parameters), own.file)
        for table in ("parameters", "tables", "quantities", "bodies", "loops", "constraints", "loads", "inputs"):
            getattr(self.made, table).update(getattr(part, table))
        self.made.base.setdefault("frames", {}).update(part.frames)
        if own.steer is not None:
            self._own_steering(f"{self.name}_{own.steer}")
        elif self.axle.steered:
            raise ModelError(
                "which coordinate of this suspension steers its wheel is not known",
                where=f"axles.{self.axle_name}.suspension.own.steer",
                expected="the name of a coordinate of that file",
                got=own.file,
            )
        return self._own_hub(own, part)

    def _own_steering(self, coordinate: str) -> None:
        made, steering = self.made, self.made.vehicle.steering
        made.steered[coordinate] = (self.axle_name, self.side)
        if steering.damping != 0.0:
            damper = {"coordinate": coordinate, "damping": steering.damping}
            made.loads[f"steering_damper_{self.name}"] = {"spring": damper}
        if steering.inertia != 0.0:
            raise ModelError(
                "the inertia of steered hubs has no body where the suspension is one of your own",
                where="steering.inertia",
                remedy=f"give it to the body that turns with '{coordinate}' in that suspension",
            )

    def _own_hub(self, own: OwnSuspension, part: Inserted) -> str:
        """The body that carries the wheel: one of the part, or a new one where the part has a frame."""
        name = f"{self.name}_{own.hub}"
        if name in part.bodies:
            return name
        owners = [(body, record.frames[name]) for body, record in part.bodies.items() if name in record.frames]
        if not owners:
            raise ModelError(
                f"the suspension has no body or frame '{own.hub}'",
                where=f"axles.{self.axle_name}.suspension.own.hub",
                expected="the body or frame that carries the wheel",
                got=own.file,
            )
        body, frame = owners[0]
        self.made.bodies[f"hub_{self.name}"] = {"parent": body, "place": frame.place}
        return f"hub_{self.name}"

    # -- wheel and tyre ------------------------------------------------------------------------------------------------
    def _wheel(self, hub: str) -> None:
        wheel, made = self.axle.wheel, self.made
        spin = f"spin_{self.name}"
        tilt = wheel.tilt_inertia
        inertia = {"XX": tilt, "YY": wheel.spin_inertia, "ZZ": tilt, "M": wheel.mass}
        drawn = {"radius": wheel.radius, "width": wheel.width}
        made.bodies[f"wheel_{self.name}"] = {
            "parent": hub,
            "joint": {"kind": "revolute", "axis": "y", "coordinate": spin, "meaning": "positive rolling forward"},
            "inertia": inertia,
            "shapes": [
                {"tyre": drawn, "place": at(0.0, 0.0, 0.0, rpy=(formula("pi/2"), 0.0, 0.0)), "colour": "#202020"}
            ],
        }
        made.driven[self.name] = self.axle_name
        rigid = wheel.stiffness is None
        contact: dict[str, Any] = {
            "wheel": f"wheel_{self.name}",
            "axle": "y",
            "radius": wheel.radius,
            "crown": wheel.crown,
            "road": ROAD,
            "slides": "freely",
            "lifts": wheel.lifts and rigid and self.axle.load is None,
            "stiffness": wheel.stiffness,
            "damping": wheel.damping,
        }
        if wheel.contact == "under":
            contact["under"] = hub
        made.constraints[self.name] = {"rolling": contact}

    def _tyre(self) -> None:
        axle, made = self.axle, self.made
        law = made.law(axle.tyre.file) if isinstance(axle.tyre, (TirFile, OwnTyre)) else axle.tyre
        if law.free_radius is None:
            law = law.model_copy(update={"radius": axle.wheel.radius})
        if self.side:
            law = law.model_copy(update={"mounted": self.side})
        states = (f"tread_x_{self.name}", f"tread_y_{self.name}")
        for state, way in zip(states, ("ahead", "to the left"), strict=True):
            made.inputs[state] = _input("m", f"deflection of the tread {way}; a simulation integrates it")
        made.loads[self.name] = TyreLoad(
            wheel=self.name,
            law=law,
            adherence=axle.adherence,
            deflection=states,
            relaxation=axle.relaxation,
            load=axle.load,
            count=axle.wheel.tyres,
        )


def _renamed(value: Scalar, **names: str) -> str:
    """A formula with other names, as text."""
    if not isinstance(value, Formula):
        return repr(float(value))
    return value.with_names({name: formula(new) for name, new in names.items() if name in value.names}).text
