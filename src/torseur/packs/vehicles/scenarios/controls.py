"""Who drives: blocks for steering, drive and brakes of a vehicle, whatever kind they are.

======  ===========================================================================================  ========
m       mass of all units                                                                             kg
F1      force at the wheels for a unit of the input that drives or brakes                             N
T       time constant of the speed                                                                    s
I       inertia about a steering axis                                                                 kg m2
======  ===========================================================================================  ========

Speed is held by kp = m/(F1 T) and ki = kp/(4 T): both poles of a free-rolling mass are at 1/(2 T). Wheels that are
turned by a torque follow an angle by kp = 30 m times the static load they carry, far stiffer than any tyre turns them
back, and kd = 2 sqrt(kp I), critically damped.
"""

from __future__ import annotations

import math
from typing import Any

from torseur.describe.fields import Scalar
from torseur.errors import ModelError
from torseur.packs.vehicles.layout import STEERING_ANGLE, WANTED_STEERING, Layout
from torseur.packs.vehicles.scenarios.description import (
    Angle,
    Deceleration,
    HoldSpeed,
    Path,
    Scenario,
    Throttle,
    Torque,
)

__all__ = ["Controls", "check_can"]

STEERING, STEERING_TORQUE = "steering", "steering_torque"
DRIVE_TORQUE, THROTTLE, BRAKE_TORQUE = "drive_torque", "throttle", "brake_torque"
GEAR, CLUTCH = "gear", "clutch"
DRIVER, PEDAL = "speed_driver", "pedal"
LEAST = 1e-6
"""Force of a motor that counts as none, N."""
STIFF = 30.0
"""Steering torque for a radian of error over the static load, m."""


class Controls:
    """The blocks and inputs of a scenario on a vehicle.

    Args:
        layout: the vehicle.
        scenario: with the names of its parameters in the model.
        speed: at the start, m/s.
    """

    def __init__(self, layout: Layout, scenario: Scenario, speed: float) -> None:
        self.layout, self.scenario, self.speed = layout, scenario, speed
        self.known = layout.mechanism.inputs

    def blocks(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self._is_turned and self.scenario.steer is not None:
            found[WANTED_STEERING] = self._wanted()
        drive = self.scenario.drive
        if isinstance(drive, HoldSpeed) and (drive.until is not None or self._shifts):
            found[DRIVER] = self._speed_control(drive)
        if isinstance(drive, HoldSpeed) and drive.until is not None:
            found[PEDAL] = f"if(t < {_text(drive.until)}, 1, 0)"
        return found

    def inputs(self) -> dict[str, Any]:
        return {**self._steering(), **self._drive(), **self._gears(), **self._brakes()}

    # -- steering ------------------------------------------------------------------------------------------------------
    @property
    def _is_turned(self) -> bool:
        """Whether wheels turn under a torque."""
        return STEERING_TORQUE in self.known

    def _wanted(self) -> Any:
        """The angle of the road wheels that is wanted, as a block."""
        steer = self.scenario.steer
        if isinstance(steer, Angle):
            return {"formula": {"value": steer.value}} if not isinstance(steer.value, float) else steer.value
        if isinstance(steer, Path):
            path = {"offset": steer.offset} if steer.offset is not None else {"xs": steer.xs, "ys": steer.ys}
            return {
                "path_follower": {
                    **path,
                    "wheelbase": self.layout.wheelbase,
                    "understeer": steer.understeer,
                    "time": steer.preview,
                    "distance": steer.distance,
                    "reaction": steer.reaction,
                    "limit": steer.limit,
                }
            }
        return 0.0

    def _steering(self) -> dict[str, Any]:
        if not self._is_turned:
            return {STEERING: self._wanted()} if STEERING in self.known else {}
        turned = self.layout.turned_by(STEERING_TORQUE)
        wanted = WANTED_STEERING if self.scenario.steer is not None else 0.0
        hand = next(iter(turned))
        if set(turned) <= set(self.layout.steers):
            rates = [f"d{name}" for name in turned]
            rate = f"({' + '.join(rates)})/{len(rates)}"
            kp = STIFF * self._static_load
            kd = 2.0 * math.sqrt(kp * self.layout.inertia_about(hand))
            return {STEERING_TORQUE: _pd(wanted, STEERING_ANGLE, rate, kp, kd)}
        n = self.layout.ratio(hand)
        seen = sum(self.layout.inertia_about(name) for name in self.layout.steers) / n**2
        kp = STIFF * len(self.layout.steers) * self._static_load / n**2
        kd = 2.0 * math.sqrt(kp * (self.layout.inertia_about(hand) + seen))
        return {STEERING_TORQUE: _pd(f"{n!r}*{wanted}", hand, f"d{hand}", kp, kd)}

    @property
    def _static_load(self) -> float:
        """What a wheel carries, about: the weight over the number of wheels, N."""
        return self.layout.mass * self.layout.gravity / len(self.layout.wheels)

    # -- drive and brakes ----------------------------------------------------------------------------------------------
    def _force(self, source: str) -> float:
        """F1 at the speed of the start."""
        found = self.layout.force_of(self.layout.turned_by(source, **self.layout.rolling(self.speed)))
        if found <= 0.0:
            raise ModelError(
                f"the drive of this vehicle gives no force at {self.speed:g} m/s",
                where=self.layout.mechanism.name,
                remedy="a lower speed, or a motor whose torque reaches further",
            )
        return found

    def _drive(self) -> dict[str, Any]:
        source = THROTTLE if THROTTLE in self.known else DRIVE_TORQUE
        drive, free = self.scenario.drive, f"*{GEAR}_free" if self._shifts else ""
        if isinstance(drive, HoldSpeed):
            if drive.until is None:
                return {source: f"{DRIVER}{free}"} if free else {source: self._speed_control(drive)}
            return {source: f"{PEDAL}*{DRIVER}{free}"}
        if isinstance(drive, Torque):
            if source == THROTTLE:
                return {source: f"{self._throttle_for(drive.force)}{free}"}
            return {source: f"({_text(drive.force)})/{self._force(source)!r}"}
        if isinstance(drive, Throttle):
            if source == THROTTLE:
                return {source: f"({_text(drive.share)}){free}" if free else drive.share}
            return {source: f"({_text(drive.share)})*({_text(drive.most)})/{self._force(source)!r}"}
        return {}

    def _throttle_for(self, force: Scalar) -> str:
        """For a force at the wheels: its share of what the motor has at its speed, in the gear that is in."""
        F1 = self._force(THROTTLE)
        most = self.layout.force_now(THROTTLE) or repr(F1)
        return f"min(max(({_text(force)})/max({most}, {LEAST!r}), 0), 1)"

    @property
    def _shifts(self) -> bool:
        """Whether the scenario drives a vehicle with a gearbox."""
        return self.scenario.drive is not None and self.layout.clutch is not None

    def _gears(self) -> dict[str, Any]:
        """Who shifts; coasting and braking, the clutch is open."""
        clutch = self.layout.clutch
        if clutch is None:
            return {}
        if not self._shifts:
            return {CLUTCH: 0.0}
        schedule = clutch.schedule
        if schedule is None:
            raise ModelError(
                f"the scenario '{self.scenario.name}' drives, and when this gearbox is shifted is not known",
                where=self.layout.mechanism.name,
                expected="drive.gearbox.up and down: speeds of the motor, rad/s",
            )
        fields = {name: getattr(schedule, name) for name in type(schedule).model_fields}
        return {GEAR: {"gear_shift": fields}, CLUTCH: f"{GEAR}_clutch"}

    def _speed_control(self, drive: HoldSpeed) -> dict[str, Any]:
        source = THROTTLE if THROTTLE in self.known else DRIVE_TORQUE
        F1, m = self._force(source), self.layout.mass
        kp = f"{m / F1!r}/({_text(drive.lag)})"
        fields: dict[str, Any] = {"wanted": drive.wanted, "kp": kp, "ki": f"{kp}/(4*({_text(drive.lag)}))"}
        if source == THROTTLE:
            fields |= {"lower": 0.0, "upper": 1.0}
        return {"speed_control": fields}

    def _brakes(self) -> dict[str, Any]:
        brake = self.scenario.brake
        if not isinstance(brake, Deceleration):
            return {}
        F1 = self.layout.force_of(self.layout.held_by(BRAKE_TORQUE))
        return {BRAKE_TORQUE: f"max({_text(brake.value)}, 0)*{self.layout.mass / F1!r}"}


def check_can(layout: Layout, scenario: Scenario) -> None:
    """Refuse all that a scenario needs and the vehicle cannot do, at once."""
    found = []
    for wants, inputs, what, remedy in (
        (scenario.steer, (STEERING, STEERING_TORQUE), "steering", "give an axle `steered: true`"),
        (scenario.drive, (DRIVE_TORQUE, THROTTLE), "drive", "give an axle a share of the drive, `drive: 1`"),
        (scenario.brake, (BRAKE_TORQUE,), "brakes", "give axles shares of the brakes, such as `brake: 0.6`"),
    ):
        if wants is not None and not any(name in layout.mechanism.inputs for name in inputs):
            found.append(
                ModelError(
                    f"this vehicle has no {what}, and the scenario '{scenario.name}' needs it",
                    where=layout.mechanism.name,
                    expected=f"an input {' or '.join(inputs)}",
                    remedy=remedy,
                )
            )
    if found:
        raise ModelError.of(found)


def _pd(wanted: Scalar | str, angle: str, rate: str, kp: float, kd: float) -> dict[str, Any]:
    return {"steering_pd": {"wanted": wanted, "angle": angle, "rate": rate, "kp": kp, "kd": kd}}


def _text(value: Scalar) -> str:
    """A scalar inside a longer formula."""
    return repr(value) if isinstance(value, float) else f"({value.text})"
