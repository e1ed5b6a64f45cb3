"""Values of a vehicle file that no vehicle has: sizes and masses below zero, shares that do not add up."""

from __future__ import annotations

from collections.abc import Iterator

from torseur.describe.annotations import records
from torseur.describe.faults import Fault
from torseur.describe.fields import Record, Scalar
from torseur.describe.formulas import Formula
from torseur.describe.inertia import CentralInertia, StandardInertia
from torseur.errors import ModelError, TorseurError
from torseur.packs.tyres import TyreLaw
from torseur.packs.vehicles import description as d
from torseur.packs.vehicles.expansion import static_load

__all__ = ["out_of_range"]

ABOVE: dict[type[Record], tuple[str, ...]] = {
    d.Chassis: ("height",),
    d.Wheel: ("radius", "stiffness"),
    d.Axle: ("track",),
    d.BumpStop: ("stiffness",),
    d.Column: ("ratio", "stiffness"),
    d.Motor: ("reduction",),
    d.Gearbox: ("clutch", "reverse", "up", "down", "time"),
    d.Strut: ("toe_stiffness",),
    d.Aero: ("area",),
}
"""Fields that are more than zero."""

AT_LEAST: dict[type[Record], tuple[str, ...]] = {
    d.Wheel: ("width", "mass", "spin_inertia", "tilt_inertia", "crown", "damping"),
    d.Strut: ("stiffness", "damping", "friction", "toe_damping", "mass"),
    d.Axle: ("anti_roll", "drive", "brake", "adherence", "load"),
    d.Column: ("inertia", "damping", "friction"),
    d.Steering: ("inertia", "damping"),
    d.Motor: ("inertia",),
    d.Aero: ("density", "drag"),
    d.Vehicle: ("gravity",),
    CentralInertia: ("mass",),
    StandardInertia: ("M",),
}
"""Fields that are zero or more."""

OF_LAWS = ("longitudinal_stiffness", "cornering_stiffness", "friction", "load", "relaxation_x", "relaxation_y", "trail")
"""Fields of any tyre law that are zero or more."""

SHARES = 1e-6
"""What shares may be off by."""


def out_of_range(vehicle: d.Vehicle) -> Iterator[Fault]:
    """Fields whose numbers cannot be; formulas count if parameters alone decide them."""
    known = _numbers(vehicle)
    for path, record in records(vehicle):
        above = ABOVE.get(type(record), ())
        least = OF_LAWS if isinstance(record, TyreLaw) else AT_LEAST.get(type(record), ())
        for name in (*above, *least):
            value = _number(getattr(record, name), known) if name in type(record).model_fields else None
            if value is not None and (value < 0.0 or (value == 0.0 and name in above)):
                words = "more than 0" if name in above else "at least 0"
                yield Fault((*path, name), f"'{name}' is out of range", expected=words, got=f"{value:g}")
    yield from _not_carrying(vehicle, known)
    gearbox = vehicle.drive.gearbox
    for k, ratio in enumerate(gearbox.ratios if gearbox is not None else ()):
        value = _number(ratio, known)
        if value is not None and not value > 0.0:
            path = ("drive", "gearbox", "ratios", k)
            yield Fault(path, "'ratios' of gears are out of range", expected="more than 0", got=f"{value:g}")
    for share in ("drive", "brake"):
        yield from _shares(vehicle, share, known)
    for name, axle in vehicle.axles.items():
        if axle.releases and _number(axle.brake, known) == 0.0:
            path = ("axles", name, "releases")
            yield Fault(path, "an axle without brakes has none to let go", remedy="give it a share: brake: 0.6")


def _not_carrying(vehicle: d.Vehicle, known: dict[str, float]) -> Iterator[Fault]:
    """Struts that would have to pull the chassis down for it to stand."""
    for name, axle in vehicle.axles.items():
        if not isinstance(axle.suspension, d.Strut) or axle.suspension.preload is not None:
            continue
        try:
            load = static_load(vehicle, axle)
        except ModelError:  # told where the vehicle is expanded
            return
        value = None if load is None else _number(Formula(load), known)
        if value is not None and not value > 0.0:
            text = "this axle does not carry the vehicle at rest: its centre of mass is not between the axles"
            remedy = "move axles or masses along x, or give the preload of every strut"
            yield Fault(("axles", name, "x"), text, got=f"{value:.4g} N on each wheel", remedy=remedy)


def _shares(vehicle: d.Vehicle, share: str, known: dict[str, float]) -> Iterator[Fault]:
    values = {name: _number(getattr(axle, share), known) for name, axle in vehicle.axles.items()}
    given = [value for value in values.values() if value is not None]
    if len(given) == len(values) and any(given) and abs(sum(given) - 1.0) > SHARES:
        got = ", ".join(f"{name} {value:g}" for name, value in values.items())
        owner = next(name for name, value in values.items() if value)
        text = f"the shares of the {share} do not add up to 1"
        yield Fault(("axles", owner, share), text, expected="1 over all axles", got=f"{sum(given):g}: {got}")


def _numbers(vehicle: d.Vehicle) -> dict[str, float]:
    """Parameters that have a value."""
    known: dict[str, float] = {}
    waiting = {name: parameter.value for name, parameter in vehicle.parameters.items()}
    for _ in waiting:  # in whatever order makes each ready
        for name, value in waiting.items():
            number = None if name in known else _number(value, known)
            if number is not None:
                known[name] = number
    return known


def _number(value: Scalar | None, known: dict[str, float]) -> float | None:
    """A number, or a formula of known names; none if it is not known here."""
    if not isinstance(value, Formula):
        return value
    if value.tables or not value.names <= known.keys():
        return None
    try:
        return value.value({name: known[name] for name in value.names})
    except TorseurError:  # a formula that has no value is told elsewhere
        return None
