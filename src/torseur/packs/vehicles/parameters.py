"""Parameters of vehicles put together: on a single track, and regrouped (Maakaroun 2011, tables 3-8, 3-4 and 3-7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from torseur.describe import Mechanism
from torseur.describe.bodies import BASE, Body
from torseur.describe.constraints import Rolling
from torseur.describe.fields import FrozenDict, Record, Scalar, names_in
from torseur.describe.formulas import Formula
from torseur.describe.inertia import StandardInertia
from torseur.errors import ModelError
from torseur.packs.vehicles.description import Axle, OwnSuspension, Rigid, Strut, Vehicle

__all__ = ["grouped_parameters", "single_track"]

R = TypeVar("R", bound=Record)


# -- table 3-8 ---------------------------------------------------------------------------------------------------------
def single_track(vehicle: Vehicle) -> Vehicle:
    """The two wheels of each axle put together in the middle, table 3-8.

    Chassis, payload and air stay. Of suspensions, wheels and hubs that are alike on both sides, masses, inertias,
    stiffnesses, dampings and friction are doubled, and the wheel has the tyres of both. What the two sides balance
    between them is left out: tracks, anti-roll bars, toe, camber, kingpin inclination and offset. A steering torque is
    that on each wheel: the one wheel needs twice as much.
    """
    axles = {name: _middle(name, axle) for name, axle in vehicle.axles.items()}
    twice = any(axle.track is not None and axle.steered for axle in vehicle.axles.values())
    steering = _doubled(vehicle.steering, ("inertia", "damping")) if twice else vehicle.steering
    made = vehicle.model_copy(update={"axles": FrozenDict(axles), "steering": steering, "single_track": False})
    gone = names_in(vehicle) - names_in(made)  # parameters of what was left out
    kept = {name: parameter for name, parameter in vehicle.parameters.items() if name not in gone}
    return made.model_copy(update={"parameters": FrozenDict(kept)})


def _middle(name: str, axle: Axle) -> Axle:
    if axle.track is None:
        return axle
    if isinstance(axle.suspension, OwnSuspension):
        raise ModelError(
            "a suspension file of your own cannot be put on a single track",
            where=f"axles.{name}.suspension.own",
            remedy="describe it by a strut",
        )
    wheel = _doubled(axle.wheel, ("mass", "spin_inertia", "tilt_inertia", "stiffness", "damping", "tyres"))
    suspension = _strut(axle.suspension) if isinstance(axle.suspension, Strut) else Rigid()
    new = {"track": None, "anti_roll": 0.0, "wheel": wheel, "suspension": suspension}
    return _doubled(axle, ("load",)).model_copy(update=new)


def _strut(strut: Strut) -> Strut:
    forces = ("stiffness", "damping", "preload", "spring_force", "damper_force", "friction", "mass")
    both = _doubled(strut, (*forces, "toe_stiffness", "toe_damping", "camber_stiffness", "camber_damping"))
    stops = {
        end: stop and _doubled(stop, ("stiffness",)) for end, stop in (("bump", strut.bump), ("rebound", strut.rebound))
    }
    return both.model_copy(update={**stops, "toe": 0.0, "camber": 0.0, "kingpin": 0.0, "offset": 0.0})


def _doubled(record: R, fields: tuple[str, ...]) -> R:
    return record.model_copy(update={name: _twice(getattr(record, name)) for name in fields})


def _twice(value: Scalar | None) -> Scalar | None:
    if value is None:
        return None
    return Formula(f"2*({value.text})") if isinstance(value, Formula) else 2.0 * value


# -- tables 3-4 and 3-7 ------------------------------------------------------------------------------------------------
def grouped_parameters(mechanism: Mechanism) -> Mechanism:
    """The same motion with fewer parameters: those of wheels that the spin does not notice, on what carries them.

    The mass of a wheel and its inertia about a diameter go to its hub (annex A: YY, MZ, M of a revolute joint; XX = YY
    leaves no XXR), through fixed joints on to the fork, and the mass through the steering axis to the suspension:
    M2R = M2 + M3 + M5, ZZ3R = ZZ3 + XX5 (tables 3-4 and 3-7). They go as far as the frames are the same: a hub with
    toe, camber or an offset keeps them. `torseur equations --of base_parameters` goes on to the fewest of all.
    """
    held: dict[str, dict[str, Scalar]] = {}
    for constraint in mechanism.constraints.values():
        if constraint.rolling is not None:
            _regroup(mechanism, constraint.rolling, held)
    bodies = dict(mechanism.bodies)
    for name, values in held.items():
        zero = all(value == 0.0 for value in values.values())
        inertia = None if zero else StandardInertia.model_validate(values)
        bodies[name] = bodies[name].model_copy(update={"inertia": inertia})
    return mechanism.model_copy(update={"bodies": FrozenDict(bodies)})


def _regroup(mechanism: Mechanism, rolling: Rolling, held: dict[str, dict[str, Scalar]]) -> None:
    name, spin = rolling.wheel, 2 * rolling.axle.upper()
    wheel = mechanism.bodies.get(name)
    if wheel is None or wheel.parent == BASE or not _is_round(wheel, spin) or not _moves_with(wheel):
        return
    ten = _ten(mechanism, name, held)
    across = [key for key in ("XX", "YY", "ZZ") if key != spin]
    going = {**dict.fromkeys(across, ten[across[0]]), "M": ten["M"]}
    ten.update({**dict.fromkeys(across, 0.0), "M": 0.0})
    below = wheel.parent
    while _takes(mechanism, below):
        _add(_ten(mechanism, below, held), going)
        body = mechanism.bodies[below]
        if not _moves_with(body) or not _takes(mechanism, body.parent) or body.joint.kind not in ("fixed", "revolute"):
            return
        ten = _ten(mechanism, below, held)
        going = dict(ten) if body.joint.kind == "fixed" else {"M": ten["M"]}
        if body.joint.kind == "revolute" and any(ten[key] != 0.0 for key in ("MX", "MY", "MZ")):
            return
        ten.update(dict.fromkeys(going, 0.0))
        below = body.parent


def _is_round(body: Body, spin: str) -> bool:
    inertia = body.inertia
    if body.joint.kind != "revolute" or not isinstance(inertia, StandardInertia):
        return False
    first, second = (getattr(inertia, key) for key in ("XX", "YY", "ZZ") if key != spin)
    return first == second and all(getattr(inertia, key) == 0.0 for key in ("XY", "XZ", "YZ", "MX", "MY", "MZ"))


def _moves_with(body: Body) -> bool:
    """Whether its frame is that of its parent where its joint is at rest."""
    return not body.place.before and not body.place.after


def _takes(mechanism: Mechanism, name: str) -> bool:
    body = mechanism.bodies.get(name)
    return body is not None and (body.inertia is None or isinstance(body.inertia, StandardInertia))


def _ten(mechanism: Mechanism, name: str, held: dict[str, dict[str, Scalar]]) -> dict[str, Scalar]:
    if name not in held:
        inertia = mechanism.bodies[name].inertia or StandardInertia()
        held[name] = {key: getattr(inertia, key) for key in StandardInertia.model_fields}
    return held[name]


def _add(ten: dict[str, Scalar], more: Mapping[str, Scalar]) -> None:
    for key, value in more.items():
        ten[key] = _sum(ten[key], value)


def _sum(a: Scalar, b: Scalar) -> Any:
    if a == 0.0 or b == 0.0:
        return b if a == 0.0 else a
    if isinstance(a, float) and isinstance(b, float):
        return a + b
    return Formula(f"{_text(a)} + {_text(b)}")


def _text(value: Scalar) -> str:
    return value.text if isinstance(value, Formula) else repr(value)
