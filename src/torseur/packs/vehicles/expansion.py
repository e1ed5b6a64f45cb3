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
from torseur.describe.loads import KINDS, Load
from torseur.errors import ModelError
from torseur.packs.tyres import TyreLaw
from torseur.packs.vehicles.air import Air
from torseur.packs.vehicles.corner import ROAD, Corner, at, formula, input_field, text
from torseur.packs.vehicles.description import (
    Axle,
    Gearbox,
    Motor,
    Strut,
    Vehicle,
)
from torseur.packs.vehicles.gearbox import Clutch, Schedule
from torseur.packs.vehicles.parameters import single_track

__all__ = ["Expansion", "expanded"]


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
    made = Expansion(single_track(vehicle) if vehicle.single_track else vehicle, read, law)
    made.lay_road(folder)
    made.chassis()
    for name, axle in made.vehicle.axles.items():
        for side in axle.sides:
            Corner(made, name, axle, side).build()
        made.anti_roll(name, axle)
    made.steer()
    made.rest()
    return made.mechanism()


@dataclass
class Expansion:
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
            self.inputs["steering_torque"] = input_field(
                "N m", "torque on each steered wheel about its axis, positive left"
            )
            for k in self.steered:
                self.loads[f"torque_{k}"] = {"effort": {"coordinate": k, "value": formula("steering_torque")}}
        elif steering.kind == "angle":
            self.inputs["steering"] = input_field("rad", "mean angle of the steered wheels, positive left")
            for k in self.steered:
                wanted = formula(self._turned("steering", k))
                self.constraints[f"guided_{k}"] = {"prescribed": {"coordinate": k, "equals": wanted}}
        else:
            self._column()

    def _column(self) -> None:
        column = self.vehicle.steering.column
        assert column is not None
        self.inputs["steering_torque"] = input_field("N m", "torque on the steering wheel, positive left")
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
            self.inputs["drive_torque"] = input_field("N m", "on all driven wheels together, positive forward")
        else:
            self.inputs["throttle"] = input_field("", "0 to 1")
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
        self.inputs["gear"] = input_field("", "1, 2, ..., 0 neutral, -1 reverse") | {"default": gearbox.gear}
        self.inputs["clutch"] = input_field("", "how far the clutch is closed, 0 to 1") | {"default": 1.0}
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
            self.inputs["brake_torque"] = input_field("N m", "on all braked wheels together, at least 0")
        for wheel, share in shares.items():
            level = f"({share})*brake_torque"
            if self.vehicle.axles[self.driven[wheel]].releases:
                release = f"release_{wheel}"
                self.inputs[release] = input_field(
                    "", f"share of the brake torque of {wheel} that does not act, 0 to 1"
                )
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
