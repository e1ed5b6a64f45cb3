"""One wheel of a vehicle with all that guides it, as bodies, constraints, loads and inputs of a model.

Preloads of struts are those of the car at rest: `static_load`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torseur.describe.bodies import BASE
from torseur.describe.fields import Scalar
from torseur.describe.formulas import Formula
from torseur.describe.inertia import CentralInertia, CompositeInertia, Inertia, Solid, StandardInertia
from torseur.describe.place import Place
from torseur.errors import ModelError
from torseur.packs.tyres.load import TyreLoad
from torseur.packs.vehicles.description import (
    Axle,
    OwnSuspension,
    OwnTyre,
    Rigid,
    Strut,
    TirFile,
    Vehicle,
)
from torseur.packs.vehicles.insertion import Inserted, inserted

if TYPE_CHECKING:
    from torseur.packs.vehicles.expansion import Expansion

__all__ = ["ROAD", "Corner", "at", "formula", "input_field", "static_load", "text"]

ROAD = "road"
"""What the road of a vehicle is called in its model."""


def text(value: Scalar) -> str:
    """A scalar inside a longer formula."""
    return f"({value.text})" if isinstance(value, Formula) else repr(float(value))


def formula(value: str) -> Formula:
    return Formula(value)


def at(*position: Scalar, rpy: tuple[Scalar, Scalar, Scalar] | None = None) -> dict[str, Any]:
    """A place."""
    return {"pose": {"position": position} | ({"rpy": rpy} if rpy is not None else {})}


def input_field(unit: str, description: str) -> dict[str, Any]:
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


def _renamed(value: Scalar, **names: str) -> str:
    """A formula with other names, as text."""
    if not isinstance(value, Formula):
        return repr(float(value))
    return value.with_names({name: formula(new) for name, new in names.items() if name in value.names}).text


class Corner:
    """One wheel with all that guides it."""

    def __init__(self, made: Expansion, name: str, axle: Axle, side: str) -> None:
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
            made.inputs[state] = input_field("m", f"deflection of the tread {way}; a simulation integrates it")
        made.loads[self.name] = TyreLoad(
            wheel=self.name,
            law=law,
            adherence=axle.adherence,
            deflection=states,
            relaxation=axle.relaxation,
            load=axle.load,
            count=axle.wheel.tyres,
        )
