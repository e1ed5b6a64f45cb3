"""What events decide in a mechanism: dry friction that sticks or slides, contacts and stops that hold or are open.

Each switch is a held number (a mode) that stays as it is between events:

- friction slides with s = +1 or -1, with the force -s level along its path, and sticks with s = 0: then a row
  "rate = 0" holds it, whose multiplier is the friction force;
- a contact or a stop is open (0) or closed (1): its rows count while it is closed;
- a contact or rolling wheel with Coulomb friction slips (1) or sticks (0). While it sticks, rows along the ground hold
  it, whose multipliers are the force of friction. While it slips the force is -mu N t, with t along the sliding
  velocity s. A held direction e, along s when slip began or was looked at last, stands for t where s is zero, and tells
  on which side of zero the motion is: beyond, t goes on as it was, so that the force is smooth until the event is met.

The event function of a switch is positive while its mode is the right one and passes zero when it is not any more:

======================  ============================  ==============================================================
mode                    event function                 at its zero
======================  ============================  ==============================================================
slides                  s rate                         sticks, or slides the other way if sticking takes too much
sticks                  level - |multiplier|           slides against the force that held it
open                    gap                            impact: rebounds, or closes if it would rebound too slowly
closed                  multiplier                     opens
sticks (contact)        mu N - |multipliers|           slips along the resulting relative acceleration
slips                   s . e - |s| / 2                |s| = 0: sticks, or slips on if sticking takes too much;
                                                       else e turns after s
======================  ============================  ==============================================================

Impacts go through all bodies at once, and all that touches and approaches is hit together (`impacts`). Friction has no
share in them: its force is finite, also where it stuck.
After impacts, and after inputs, samples or parameters jump, modes are chosen anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from torseur.describe import Mechanism
from torseur.describe.bodies import Coordinate
from torseur.describe.constraints import Contact, Rolling
from torseur.describe.fields import Scalar
from torseur.describe.loads import PathLoad
from torseur.dynamics.constraints.rows import (
    Constraints,
    FrictionContact,
    Owner,
    Row,
    friction_contacts,
    length_of,
    unit_of_effort,
)
from torseur.dynamics.tree.system import rates
from torseur.errors import ModelError
from torseur.graph import Expr, absolute, equal, jacobian, maximum, minimum, select, tangents, tanh
from torseur.simulation.blocks.context import Context
from torseur.simulation.plant.facts import DryFacts, SidedFacts, SlipFacts, SwitchFacts

__all__ = [
    "HOLDS",
    "SLOW",
    "Dry",
    "Friction",
    "FrictionModel",
    "OneSided",
    "Slip",
    "StopModel",
    "Stops",
    "Switches",
    "accelerations",
    "slip_of",
]


SLOW = 1e-7
"""Slower than this, m/s, the sliding velocity has no direction of its own."""


@dataclass(frozen=True)
class Slip:
    """Friction of one contact: its mode, held direction, and whether the contact is closed."""

    contact: FrictionContact
    mode: Expr
    direction: tuple[Expr, ...]
    closed: Expr

    @property
    def name(self) -> str:
        return self.contact.name

    @property
    def sticks(self) -> Expr:
        """1 while it does."""
        return self.closed * (1.0 - self.mode)

    @property
    def _along(self) -> Expr:
        s = self.contact.slip
        return sum((a * b for a, b in zip(s, self.direction, strict=True)), s[0].graph.zero)

    def force(self) -> list[Expr]:
        """-mu N t, while it slips."""
        speed = length_of(self.contact.slip)
        part = minimum(maximum((speed - SLOW) / SLOW, 0.0), 1.0)
        part = part * part * (3.0 - 2.0 * part)  # from e to s, smoothly
        sense = select(self._along < 0.0, -1.0, 1.0) / select(speed > 0.0, speed, 1.0)
        level = self.closed * self.mode * self.contact.mu * self.contact.N
        pairs = zip(self.contact.slip, self.direction, strict=True)
        return [-(level * (e + part * (sense * s - e))) for s, e in pairs]

    def event(self, normal: Expr, forces: Sequence[Expr], holds: float) -> Expr:
        """See the module.

        Args:
            normal: the multiplier of the contact.
            forces: those of the rows along the ground.
            holds: how much of the level counts, against rounding.
        """
        sticks = holds * self.contact.mu * normal - length_of(forces)
        slips = self._along - 0.5 * length_of(self.contact.slip)
        return select(self.closed > 0.5, select(self.mode > 0.5, slips, sticks), 1.0)

    def facts(self, constraints: Constraints, vdot: Sequence[Expr], normal: Expr, forces: Sequence[Expr]) -> list[Expr]:
        """What decides: sliding velocity, its rate, force along the ground (two numbers each), N, mu."""
        rates = accelerations(self.contact.slip, constraints, vdot)
        missing = [constraints.system.graph.zero] * (2 - len(self.contact.rows))
        groups = (self.contact.slip, rates, list(forces))
        return [*(x for group in groups for x in (*group, *missing)), normal, self.contact.mu]


def accelerations(speeds: Sequence[Expr], constraints: Constraints, vdot: Sequence[Expr]) -> list[Expr]:
    """What speeds change by in a unit of time, under accelerations of the mechanism."""
    rates = tangents(speeds, constraints.seeds)
    for k, row in enumerate(jacobian(speeds, list(constraints.system.v)).dense()):
        rates[k] = sum((a * x for a, x in zip(row, vdot, strict=True)), rates[k])
    return rates


def slip_of(context: Context, contact: FrictionContact, closed: Expr) -> Slip:
    """A contact's friction, its held numbers made."""
    name = contact.name
    mode = context.held(f"{name}_slips", 0.0, is_mode=True)
    axes = [context.held(f"{name}_slip_{row.part}", 1.0, is_mode=True) for row in contact.rows]
    return Slip(contact, mode, tuple(axes), closed)


HOLDS = 1.0 + 1e-13
"""What friction holds, as a share of its level: a push of just that level must not slip through by rounding."""


class FrictionModel(Enum):
    """How dry friction is computed."""

    STICK = "stick"  # true stick and slip, by events
    SMOOTH = "smooth"  # level * tanh(rate / width): a regularisation; nothing ever sticks
    SIGN = "sign"  # level * sign(rate) as it stands: chatters around rest


@dataclass(frozen=True)
class Friction:
    """The choice for a study; `width` (m/s or rad/s) is that of the smooth one."""

    model: FrictionModel = FrictionModel.STICK
    width: float = 1e-3


class StopModel(Enum):
    """What lower and upper limits of coordinates do."""

    REPORT = "report"  # passing one is an event of the run, nothing more
    HARD = "hard"  # they hold
    IGNORE = "ignore"


@dataclass(frozen=True)
class Stops:
    """The choice for a study; `restitution` is that of all stops."""

    model: StopModel = StopModel.REPORT
    restitution: float = 0.0


@dataclass(frozen=True)
class Dry:
    """Dry friction of a load: its mode, level, rate of path, and the row that holds it while it sticks."""

    name: str
    mode: Expr
    level: Expr
    rate: Expr
    row: Row


@dataclass(frozen=True)
class OneSided:
    """A contact or stop: its mode, whether it is being hit, who owns its rows (the first one pushes), its rebound."""

    name: str
    mode: Expr
    hit: Expr
    owner: Owner
    restitution: Expr


@dataclass
class Switches:
    """The switches of a plant, collected while its forces and constraints are built.

    Args:
        context: where modes are left.
        friction, stops: the choices of the study.
    """

    context: Context
    friction: Friction = Friction()
    stops: Stops = Stops()
    dry: list[Dry] = field(default_factory=list)
    sided: list[OneSided] = field(default_factory=list)
    slips: list[Slip] = field(default_factory=list)
    reports: dict[str, Expr] = field(default_factory=dict)
    """Stops that are only reported: name -> distance."""

    def install(self) -> None:
        """Put the laws and switches into the workbench, before anything is derived."""
        bench = self.context.bench
        switching = bench.switching
        laws = {FrictionModel.STICK: self._stick, FrictionModel.SMOOTH: self._smooth}
        if self.friction.model in laws:
            switching.friction = laws[self.friction.model]
        for name, constraint in bench.system.mechanism.constraints.items():
            form, owner = constraint.form, Owner("constraints", name)
            if isinstance(form, Contact) or (isinstance(form, Rolling) and form.lifts):
                restitution = form.restitution if isinstance(form, Contact) else 0.0
                switching.switches[owner] = self._one_sided(name, owner, restitution)
        self._install_contact_friction()
        self._install_stops()

    def _install_contact_friction(self) -> None:
        bench = self.context.bench
        switching, one = bench.switching, bench.system.graph.one
        for contact in friction_contacts(bench.tree):
            owner = Owner("constraints", contact.name)
            closed = switching.switches.get(owner, one)
            if self.friction.model is FrictionModel.STICK and contact.rows:
                slip = slip_of(self.context, contact, closed)
                self.slips.append(slip)
                sticks = slip.sticks
            else:
                sticks = bench.system.graph.zero
            if self.friction.model is FrictionModel.STICK or contact.rolls:
                switching.switches |= {(owner, row.part): sticks for row in contact.rows}
        switching.contact_friction = self._friction_of

    def _friction_of(self, contact: FrictionContact) -> Sequence[Expr] | None:
        """The force of friction in a contact."""
        if not contact.rows:
            return None
        slip = next((x for x in self.slips if x.name == contact.name), None)
        if slip is not None:
            return slip.force()
        speed, bench = length_of(contact.slip), self.context.bench
        closed = bench.switching.switches.get(Owner("constraints", contact.name), bench.system.graph.one)
        level = closed * contact.mu * contact.N / select(speed > 0.0, speed, 1.0)
        if self.friction.model is FrictionModel.SMOOTH:
            level = level * tanh(speed / self._width)
        return [-(level * s) for s in contact.slip]

    def _one_sided(self, name: str, owner: Owner, restitution: Scalar) -> Expr:
        context = self.context
        mode = context.held(f"{name}_closed", 0.0, is_mode=True)
        hit = context.held(f"{name}_hit", 0.0, is_mode=True)
        self.sided.append(OneSided(name, mode, hit, owner, context.value(restitution)))
        return mode

    def _install_stops(self) -> None:
        if self.stops.model is StopModel.IGNORE:
            return
        bench = self.context.bench
        system = bench.system
        speeds = dict(zip(system.q.names, rates(system), strict=True))
        for name, record in _coordinates(self.context):
            for side, limit, sense in (("lower", record.lower, 1.0), ("upper", record.upper, -1.0)):
                if limit is None:
                    continue
                label, gap = f"{name}_{side}", sense * (system.scope[name] - system.scalar(limit))
                if self.stops.model is StopModel.REPORT:
                    self.reports[label] = gap
                    continue
                owner = Owner("stops", label)
                mode = self._one_sided(label, owner, self.stops.restitution)
                unit = unit_of_effort(system.mechanism, name)
                bench.switching.rows.append(Row(owner, "", sense * speeds[name], gap, unit, mode))

    # -- friction ------------------------------------------------------------------------------------------------------
    def _smooth(self, load: str, level: Expr, rate: Expr) -> Expr:
        return -(level * tanh(rate / self._width))

    @property
    def _width(self) -> float:
        if not self.friction.width > 0.0:
            raise ModelError("the width of smooth friction must be above zero", got=repr(self.friction.width))
        return self.friction.width

    def _stick(self, load: str, level: Expr, rate: Expr) -> Expr:
        known = next((d for d in self.dry if d.name == load), None)
        if known is None:
            mode = self.context.held(f"{load}_slides", 0.0, is_mode=True)
            unit = _unit_along(self.context.bench.system.mechanism, load)
            row = Row(Owner("loads", load), "friction", rate, None, unit, select(equal(mode, 0.0), 1.0, 0.0))
            known = Dry(load, mode, level, rate, row)
            self.dry.append(known)
            self.context.bench.switching.rows.append(row)
        return -(level * known.mode)

    # -- what the plant needs of them ----------------------------------------------------------------------------------
    def __bool__(self) -> bool:
        return bool(self.dry or self.sided or self.slips)

    def places(self, constraints: Constraints) -> tuple[list[int], list[int]]:
        """The rows of frictions, and the pushing rows of the one-sided."""
        dry = [next(k for k, row in enumerate(constraints.rows) if row is d.row) for d in self.dry]
        sided = [next(k for k, row in enumerate(constraints.rows) if row.owner == s.owner) for s in self.sided]
        return dry, sided

    def along_ground(self, constraints: Constraints) -> list[tuple[int, list[int]]]:
        """For each slip the place of the row of its normal force, and of its rows along the ground."""
        rows = []
        for slip in self.slips:
            mine = [k for k, row in enumerate(constraints.rows) if row.owner == Owner("constraints", slip.name)]
            rows.append((mine[0], [k for k in mine if constraints.rows[k].position is None]))
        return rows

    def facts(self, constraints: Constraints, places: Mapping[Expr, Expr], first: int) -> SwitchFacts:
        """Everything by its place.

        Args:
            constraints: the rows.
            places: the symbol of a held number -> its entry in m.
            first: the place of the first event of `event_functions`.
        """
        at = {symbol: entry.data[1] for symbol, entry in places.items()}
        dry, sided = self.places(constraints)
        along = zip(self.slips, self.along_ground(constraints), strict=True)
        return SwitchFacts(
            first,
            tuple(DryFacts(d.name, at[d.mode], row) for d, row in zip(self.dry, dry, strict=True)),
            tuple(SidedFacts(s.name, at[s.mode], at[s.hit], row) for s, row in zip(self.sided, sided, strict=True)),
            tuple(
                SlipFacts(s.name, at[s.mode], tuple(at[e] for e in s.direction), at.get(s.closed), normal, tuple(rows))
                for s, (normal, rows) in along
            ),
            tuple(self.reports),
        )

    def event_functions(self, constraints: Constraints, multipliers: Sequence[Expr]) -> dict[str, Expr]:
        """One for each switch, in the order of `dry`, `sided` and `slips`; then the stops that are reported."""
        dry_places, sided_places = self.places(constraints)
        functions: dict[str, Expr] = {}
        for d, k in zip(self.dry, dry_places, strict=True):
            stuck = equal(d.mode, 0.0)
            functions[f"{d.name}_friction"] = select(stuck, HOLDS * d.level - absolute(multipliers[k]), d.mode * d.rate)
        for s, k in zip(self.sided, sided_places, strict=True):
            gap = constraints.rows[k].position
            assert gap is not None
            functions[s.name] = select(s.mode > 0.5, multipliers[k], gap)
        for slip, (normal, rows) in zip(self.slips, self.along_ground(constraints), strict=True):
            value = slip.event(multipliers[normal], [multipliers[k] for k in rows], HOLDS)
            functions[f"{slip.name}_friction"] = value
        return functions | self.reports

    def gaps(self, constraints: Constraints) -> list[Expr]:
        """How far each contact and stop is from touching, m or rad; never below zero."""
        _, places = self.places(constraints)
        return [gap for k in places if (gap := constraints.rows[k].position) is not None]

    def rebound(self, constraints: Constraints) -> list[Expr]:
        """b of the rows at an impact: those that are hit come back with a share of the rate they came with."""
        b = [-c for c in constraints.c]
        _, places = self.places(constraints)
        for s, k in zip(self.sided, places, strict=True):
            rate = constraints.rows[k].rate
            b[k] = b[k] - s.hit * s.restitution * rate
        return b

    def resting(self, constraints: Constraints, multipliers: Sequence[Expr], vdot: Sequence[Expr]) -> list[Expr]:
        """For each switch what decides at rest: rate, multiplier, level and acceleration of frictions; gap, rate,
        multiplier, restitution of contacts; of slips what `Slip.facts` gives."""
        dry_places, sided_places = self.places(constraints)
        conditions: list[Expr] = []
        along = accelerations([d.rate for d in self.dry], constraints, vdot) if self.dry else []
        for d, k, acceleration in zip(self.dry, dry_places, along, strict=True):
            conditions += [d.rate, multipliers[k], d.level, acceleration]
        for s, k in zip(self.sided, sided_places, strict=True):
            row = constraints.rows[k]
            assert row.position is not None
            conditions += [row.position, row.rate, multipliers[k], s.restitution]
        for slip, (normal, rows) in zip(self.slips, self.along_ground(constraints), strict=True):
            conditions += slip.facts(constraints, vdot, multipliers[normal], [multipliers[k] for k in rows])
        return conditions


def _coordinates(context: Context) -> Iterator[tuple[str, Coordinate]]:
    """The coordinates that have a record of their own."""
    mechanism = context.bench.system.mechanism
    tables = [mechanism.base.coordinates, *(b.joint.coordinates for b in mechanism.bodies.values())]
    for table in [*tables, mechanism.coordinates]:
        yield from table.items()


def _unit_along(mechanism: Mechanism, load: str) -> str:
    """The unit of a load's force: along a distance, or along the coordinates it acts on; empty if unknown."""
    record = mechanism.loads[load]
    if isinstance(record, PathLoad) and record.between is not None:
        return "N"
    combination = record.combination or {} if isinstance(record, PathLoad) else {}
    coordinate = getattr(record, "coordinate", None) or next(iter(combination), None)
    return unit_of_effort(mechanism, coordinate) if coordinate is not None else ""
