"""What a model shows of a vehicle: its wheels, units, masses, and how it is steered, driven and braked.

Any model is read this way, made of a vehicle file or by hand: a wheel is a load of kind tyre on its rolling constraint,
the inputs have the names of `expansion`, and the quantity steering_angle names the coordinates that steer.

A body on a joint that turns about the vertical and carries two wheels or more is a trailer, with all that hangs on it;
what is left is the first unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from torseur.describe import Mechanism
from torseur.describe.bodies import BASE, BaseKind, Joint
from torseur.describe.constraints import Coupling, Rolling
from torseur.describe.fields import Scalar, names_in
from torseur.describe.formulas import Formula
from torseur.describe.inertia import ten_parameters
from torseur.describe.loads import Effort, SpringDamper
from torseur.dynamics.loads.wheels import wheel_on_road
from torseur.dynamics.tree.kinematics import Kinematics
from torseur.dynamics.workbench import Workbench
from torseur.errors import ModelError
from torseur.graph import Expr, gradient, substitute
from torseur.packs.tyres.load import TyreLoad
from torseur.packs.vehicles.gearbox import Clutch
from torseur.spatial.vectors import Vector

__all__ = ["Layout", "Wheel"]

STEERING_ANGLE = "steering_angle"
WANTED_STEERING = "wanted_steering"
"""The block that says what a driver asks of wheels that a torque turns."""
GEAR_RATIO = "gear_ratio"
"""The quantity that is the ratio of a gearbox with its reduction."""
TURNING = frozenset({"revolute", "spherical", "universal", "cylindrical", "planar"})
"""Kinds of joints that may turn about the vertical."""
UPRIGHT = 0.7
"""A joint turns about the vertical if the cosine of its axis with it is larger."""
DEEPEST = 0.2
"""How far a tread may be pressed in at rest, as a share of its radius."""


@dataclass(frozen=True)
class Wheel:
    """A wheel at the start, in the frame of the chassis.

    Attributes:
        name: of its rolling constraint.
        load: its tyre, a load.
        body: that spins.
        spin: the speed of its rotation; none if it does not spin.
        sign: 1 if that is positive rolling forward, -1 if not.
        radius, width: m; a width that is not drawn is 0.
        rolling: the radius with which it rolls under its static load, m; a compliant tread is pressed in.
        place: of its centre, m.
        unit: the body of the unit that carries it, base or a trailer.
        is_steered: whether a coordinate that steers turns it.
    """

    name: str
    load: str
    body: str
    spin: str | None
    sign: float
    radius: float
    rolling: float
    width: float
    place: tuple[float, float, float]
    unit: str
    is_steered: bool


class Layout:
    """A vehicle as its model shows it.

    Args:
        mechanism: the model.
        parameters: values in place of those of the model.
    """

    def __init__(self, mechanism: Mechanism, parameters: Mapping[str, float] | None = None) -> None:
        self.mechanism = mechanism
        self._bench = Workbench(mechanism, fixed=_values(mechanism, parameters or {}))
        self._system = self._bench.system
        start = {x: self._system.scalar(v.start) for x, v in zip(self._system.q, mechanism.q, strict=True)}
        at_rest = dict.fromkeys([self._system.t, *self._system.v, *self._system.u], 0.0)
        self._start: dict[Expr, Expr | float] = {**at_rest, **start}
        self._frames = Kinematics(self._bench.true_tree)
        check_is_vehicle(mechanism)

    # -- numbers -------------------------------------------------------------------------------------------------------
    def number(self, value: Expr) -> float:
        """An expression at the start of the description, at rest."""
        return float(substitute([value], self._start)[0])

    def scalar(self, value: Scalar, **known: float) -> float:
        """A number or formula of the description at the start, with some names at other values."""
        places = {self._system.scope[name]: x for name, x in known.items()}
        (found,) = substitute([self._system.scalar(value)], places)
        return self.number(found)

    def _place(self, frame: str) -> Vector:
        """Of a frame's origin in the frame of the chassis."""
        base = self._frames.frame(BASE).pose
        return base.R.T @ (self._frames.frame(frame).pose.P - base.P)

    def _axis(self, body: str, joint: Joint) -> Vector:
        """Direction of a joint in the frame of the chassis."""
        base, own = self._frames.frame(BASE).pose.R, self._frames.frame(body).pose.R
        return base.T @ (own @ self._system.vector(joint.direction))

    # -- units and wheels ----------------------------------------------------------------------------------------------
    def _chain(self, body: str) -> Iterator[str]:
        """A body and those it hangs on, the base left out."""
        while body != BASE:
            yield body
            body = self.mechanism.bodies[body].parent

    @cached_property
    def trailers(self) -> tuple[str, ...]:
        """Bodies that begin a further unit."""
        found = []
        for name, body in self.mechanism.bodies.items():
            carried = sum(name in self._chain(self._home(wheel)) for wheel in self._tyres.values())
            if carried >= 2 and body.joint.kind in TURNING and self._turns(name, body.joint):
                found.append(name)
        return tuple(found)

    def _turns(self, name: str, joint: Joint) -> bool:
        if joint.kind in ("spherical", "universal"):
            return True
        return abs(self.number(self._axis(name, joint)[2])) > UPRIGHT

    def unit_of(self, body: str) -> str:
        return next((name for name in self._chain(body) if name in self.trailers), BASE)

    @cached_property
    def _tyres(self) -> dict[str, TyreLoad]:
        return {n: load for n, load in self.mechanism.loads.items() if isinstance(load, TyreLoad)}

    def _rolling(self, tyre: TyreLoad) -> Rolling:
        found = self.mechanism.constraints[tyre.wheel].rolling
        assert found is not None  # a tyre is on a rolling constraint
        return found

    def _home(self, tyre: TyreLoad) -> str:
        return self.mechanism.frames[self._rolling(tyre).wheel]

    @cached_property
    def wheels(self) -> tuple[Wheel, ...]:
        return tuple(self._wheel(name, tyre) for name, tyre in self._tyres.items())

    def _wheel(self, load: str, tyre: TyreLoad) -> Wheel:
        rolling, body = self._rolling(tyre), self._home(tyre)
        record = self.mechanism.bodies[body]
        spins = record.joint.kind == "revolute"
        coordinate = next((x.name for x in self.mechanism.q if x.owner == body), None) if spins else None
        left = self.number(self._axis(body, record.joint)[1]) if spins else 1.0
        widths = [self.scalar(s.tyre.width) for s in record.shapes if s.tyre is not None]
        x, y, z = (self.number(c) for c in self._place(rolling.wheel))
        return Wheel(
            tyre.wheel,
            load,
            body,
            None if coordinate is None else f"d{coordinate}",
            1.0 if left > 0.0 else -1.0,
            self.scalar(rolling.radius),
            self._rolling_radius(tyre.wheel, rolling),
            max(widths, default=0.0),
            (x, y, z),
            self.unit_of(body),
            any(v.owner in self._chain(body) for v in self.mechanism.q if v.name in self.steers),
        )

    def _rolling_radius(self, name: str, rolling: Rolling) -> float:
        """Of the wheel as it is described over level ground at the height zero; the free one where it is not on it."""
        radius = self.scalar(rolling.radius)
        if rolling.stiffness is None:
            return radius
        wheel = wheel_on_road(self._system, self._frames, name, rolling.model_copy(update={"road": None}))
        found, depth = self.number(wheel.radius), -self.number(wheel.gap)
        return found if 0.0 < depth < DEEPEST * radius else radius

    @property
    def own_wheels(self) -> tuple[Wheel, ...]:
        """Those of the first unit."""
        return tuple(wheel for wheel in self.wheels if wheel.unit == BASE)

    # -- measures ------------------------------------------------------------------------------------------------------
    @cached_property
    def wheelbase(self) -> float:
        """From the middle of the unsteered wheels of the first unit to that of the steered ones, or else its length."""
        steered = [w.place[0] for w in self.own_wheels if w.is_steered]
        others = [w.place[0] for w in self.own_wheels if not w.is_steered]
        if steered and others:
            return abs(sum(steered) / len(steered) - sum(others) / len(others))
        xs = [w.place[0] for w in self.own_wheels]
        return max(xs) - min(xs)

    @cached_property
    def width(self) -> float:
        """Over the tyres of the first unit, m."""
        return max(2.0 * abs(w.place[1]) + w.width for w in self.own_wheels)

    @property
    def front(self) -> float:
        """x of the foremost tread of the first unit, m."""
        return max(w.place[0] + w.radius for w in self.own_wheels)

    @property
    def rear(self) -> float:
        return min(w.place[0] - w.radius for w in self.own_wheels)

    def outline(self, unit: str) -> Iterator[tuple[float, float]]:
        """x and y of the outer sides of the wheels of a trailer, in its own frame, m."""
        x, y, _ = (self.number(c) for c in self._place(unit))
        for wheel in self.wheels:
            if wheel.unit == unit:
                half = 0.5 * wheel.width if wheel.place[1] >= y else -0.5 * wheel.width
                yield wheel.place[0] - x, wheel.place[1] - y + half

    @cached_property
    def _masses(self) -> dict[str, tuple[float, tuple[float, float, float]]]:
        """Body -> mass and first moment in the frame of the chassis."""
        g, found = self._system.graph, {}
        base = self._frames.frame(BASE).pose
        for name in (BASE, *self.mechanism.bodies):
            record = self.mechanism.base if name == BASE else self.mechanism.bodies[name]
            if record.inertia is None:
                continue
            own = ten_parameters(record.inertia, g, self._system.scalar)
            pose = self._frames.frame(name).pose
            moment = base.R.T @ (pose.R @ own.MS + own.M * (pose.P - base.P))
            x, y, z = (self.number(c) for c in moment)
            found[name] = (self.number(own.M), (x, y, z))
        return found

    @cached_property
    def mass(self) -> float:
        """Of all units, kg."""
        return sum(mass for mass, _ in self._masses.values())

    @cached_property
    def centre(self) -> tuple[float, float, float]:
        """Centre of mass of the first unit in the frame of the chassis, m."""
        own = [m for body, m in self._masses.items() if body == BASE or self.unit_of(body) == BASE]
        mass = sum(m for m, _ in own)
        x, y, z = (sum(moment[k] for _, moment in own) / mass for k in range(3))
        return x, y, z

    @property
    def gravity(self) -> float:
        return -self.scalar(self.mechanism.gravity[2])

    @property
    def is_planar(self) -> bool:
        return self.mechanism.base.kind is BaseKind.PLANAR

    # -- steering, drive, brakes ---------------------------------------------------------------------------------------
    @cached_property
    def steers(self) -> tuple[str, ...]:
        """Coordinates that steer wheels."""
        quantity = self.mechanism.quantities.get(STEERING_ANGLE)
        if quantity is None:
            return ()
        used = self.mechanism.names_in(quantity.value)
        return tuple(x.name for x in self.mechanism.q if x.name in used)

    def turned_by(self, source: str, **known: float) -> dict[str, float]:
        """Coordinates on which an input acts as an effort, and the effort for a unit of it, at known speeds."""
        found: dict[str, float] = {}
        for load in self.mechanism.loads.values():
            if not isinstance(load, Effort) or load.coordinate is None:
                continue
            if source in self.mechanism.names_in(load.value):
                found[load.coordinate] = found.get(load.coordinate, 0.0) + self._slope(load.value, source, known)
        return found

    def held_by(self, source: str) -> dict[str, float]:
        """Coordinates whose dry friction an input sets, and its level for a unit of it."""
        return {
            load.coordinate: self._slope(load.friction, source, {})
            for load in self.mechanism.loads.values()
            if isinstance(load, SpringDamper)
            and load.coordinate is not None
            and source in self.mechanism.names_in(load.friction)
        }

    def _slope(self, value: Scalar, source: str, known: Mapping[str, float]) -> float:
        return self.scalar(value, **known, **{source: 1.0}) - self.scalar(value, **known, **{source: 0.0})

    def force_of(self, efforts: Mapping[str, float]) -> float:
        """Force of the road on the vehicle that goes with efforts on wheels and gears, N: power over speed, no slip."""
        rates = self.rolling(1.0)
        return sum(abs(effort * rates.get(f"d{name}", 0.0)) for name, effort in efforts.items())

    def force_now(self, source: str) -> str | None:
        """The same for a unit of an input, as a formula of the speeds there are; none if its efforts do not name it."""
        rates, parts = self.rolling(1.0), list[str]()
        for load in self.mechanism.loads.values():
            if not isinstance(load, Effort) or load.coordinate is None or not isinstance(load.value, Formula):
                continue
            if source not in self.mechanism.names_in(load.value):
                continue
            if source not in load.value.names:
                return None
            one, none = (load.value.with_names({source: x}).text for x in (1.0, 0.0))
            rate = repr(abs(rates.get(f"d{load.coordinate}", 0.0)))
            if self.clutch is not None and load.coordinate == self.clutch.coordinate:
                rate = f"{abs(self._driven(rates))!r}*abs({GEAR_RATIO})"
            parts.append(f"abs(({one}) - ({none}))*{rate}")
        return " + ".join(parts) or None

    def rolling(self, speed: float) -> dict[str, float]:
        """Speeds of wheels that roll straight ahead, and of all that couplings turn with them."""
        rates = {w.spin: w.sign * speed / w.rolling for w in self.wheels if w.spin is not None}
        clutch = self.clutch
        if clutch is not None:
            rates[f"d{clutch.coordinate}"] = self.gear_ratio(speed) * self._driven(rates)
        couplings = [c.coupling for c in self.mechanism.constraints.values() if c.coupling is not None]
        for _ in couplings:
            for coupling in couplings:
                rates |= self._geared(coupling, rates)
        return rates

    def _geared(self, coupling: Coupling, rates: Mapping[str, float]) -> dict[str, float]:
        """The speed of the one coordinate of a coupling that is not known yet."""
        follows = self._system.scope[coupling.coordinate] - self._system.scalar(coupling.equals)
        names = self.mechanism.names_in(coupling.equals) | {coupling.coordinate}
        used = [x.name for x in self.mechanism.q if x.name in names]
        unknown = [name for name in used if f"d{name}" not in rates]
        if len(unknown) != 1 or len(used) == 1:
            return {}
        slopes = gradient(follows, [self._system.scope[name] for name in used])
        slope = {name: self.number(x) for name, x in zip(used, slopes, strict=True)}
        (name,) = unknown
        known = sum(slope[n] * rates[f"d{n}"] for n in used if n != name)
        return {f"d{name}": -known / slope[name]} if slope[name] else {}

    @cached_property
    def clutch(self) -> Clutch | None:
        """Between a motor and a gearbox."""
        return next((load for load in self.mechanism.loads.values() if isinstance(load, Clutch)), None)

    def _driven(self, rates: Mapping[str, float]) -> float:
        """Mean speed of the wheels behind the clutch."""
        assert self.clutch is not None
        return sum(self.scalar(k) * rates[f"d{name}"] for name, k in self.clutch.turns.items())

    def gear_ratio(self, speed: float) -> float:
        """Of the gear a driver begins with: the lowest in which the motor is not fast enough to shift up."""
        assert self.clutch is not None
        schedule = self.clutch.schedule
        if schedule is None:
            return self.scalar(self.clutch.ratio, gear=self.mechanism.inputs["gear"].default)
        ratios = [self.scalar(N) for N in schedule.ratios]
        wheels = {w.spin: w.sign * speed / w.rolling for w in self.wheels if w.spin is not None}
        driven, up = self._driven(wheels), self.scalar(schedule.up)
        return next((N for N in ratios if N * driven <= up), ratios[-1])

    def inertia_about(self, coordinate: str) -> float:
        """What a coordinate moves alone, kg m2."""
        place = [x.name for x in self.mechanism.v].index(f"d{coordinate}")
        return self.number(self._bench.matrix[place][place])

    def ratio(self, coordinate: str) -> float:
        """How far a coordinate, such as that of a steering wheel, turns for a unit of the steering angle."""
        racks = set(self.steers)
        for constraint in self.mechanism.constraints.values():
            coupling = constraint.coupling
            if coupling is None or coupling.coordinate not in self.steers:
                continue
            if coordinate in names_in(coupling.equals):
                return 1.0 / (self.scalar(coupling.equals, **{coordinate: 1e-6}) * 1e6)
            racks |= names_in(coupling.equals)
        for load in self.mechanism.loads.values():
            if isinstance(load, SpringDamper) and load.combination and coordinate in load.combination:
                others = [x for name, x in load.combination.items() if name in racks]
                if others:
                    return abs(self.scalar(others[0]) / self.scalar(load.combination[coordinate]))
        return 1.0


def check_is_vehicle(mechanism: Mechanism) -> None:
    """Refuse a model that has no wheels on tyres, or does not move as a vehicle does."""
    names = {x.name for x in (*mechanism.q, *mechanism.v)}
    missing = sorted({"x", "y", "yaw", "vx", "vy", "wz"} - names)
    if not any(isinstance(load, TyreLoad) for load in mechanism.loads.values()):
        raise ModelError(
            "this model has no wheels on tyres, and scenarios are for vehicles",
            where=mechanism.name,
            expected="a vehicle file (torseur_vehicle: 1), or loads of kind tyre",
        )
    if missing:
        raise ModelError(
            "the base of this model does not move as a chassis does",
            where=mechanism.name,
            expected="a planar or floating base with roll, pitch and yaw, and the names x, y, yaw, vx, vy, wz",
            got=f"no {', '.join(missing)}",
        )


def _values(mechanism: Mechanism, given: Mapping[str, float]) -> dict[str, float]:
    """Parameters that are numbers, with others in their place."""
    own = {name: p.value for name, p in mechanism.parameters.items() if isinstance(p.value, float)}
    return own | dict(given)
